-- Text columns hold JSON in the record's own format, so that a person with sqlite3 can read them. The columns beside them repeat what
-- is searched for. Keys rise in the order of writing, which is the order in which a record lists its parts.

CREATE TABLE experiment (
    key           INTEGER PRIMARY KEY,
    id            TEXT    NOT NULL UNIQUE,
    name          TEXT    NOT NULL,
    question      TEXT,
    state         TEXT    NOT NULL CHECK (state IN ('unfinished', 'finished')),
    plan_hash     TEXT    NOT NULL,
    fingerprint   TEXT    NOT NULL,  -- of the machine
    started_at    TEXT    NOT NULL,
    ended_at      TEXT,
    arms          TEXT    NOT NULL,  -- JSON list of names
    runs_planned  INTEGER NOT NULL,
    record        TEXT    NOT NULL   -- the experiment record without its runs
) STRICT;

CREATE TABLE run (
    key           INTEGER PRIMARY KEY,
    experiment    INTEGER NOT NULL REFERENCES experiment (key) ON DELETE CASCADE,
    block         INTEGER NOT NULL,
    arm           TEXT    NOT NULL,
    attempt       INTEGER NOT NULL,
    state         TEXT    NOT NULL CHECK (state IN ('started', 'finished', 'interrupted', 'failed')),
    record        TEXT    NOT NULL,  -- the run record without its load phase and its points
    UNIQUE (experiment, block, arm, attempt)
) STRICT;

CREATE TABLE point (
    key           INTEGER PRIMARY KEY,
    run           INTEGER NOT NULL REFERENCES run (key) ON DELETE CASCADE,
    is_load       INTEGER NOT NULL CHECK (is_load IN (0, 1)),
    record        TEXT    NOT NULL,  -- the point record without its slices and its end
    ending        TEXT               -- the end of the point, once it is over
) STRICT;
CREATE INDEX point_of_run ON point (run);
CREATE UNIQUE INDEX load_of_run ON point (run) WHERE is_load = 1;

CREATE TABLE slice (
    key           INTEGER PRIMARY KEY,
    point         INTEGER NOT NULL REFERENCES point (key) ON DELETE CASCADE,
    record        BLOB    NOT NULL   -- the slice as JSON, deflated
) STRICT;
CREATE INDEX slice_of_point ON slice (point);
