//! `server`: which server is started for an arm: a preset with the arm's changes, and its settings as arguments.

use crate::table::*;
use plimsoll_record::MOST_MEMBERS;

/// A server by its name or its program, or with more.
pub(crate) const SERVER_OR_PRESET: Shape =
    Shape::Any(&[Shape::Text { most: 4_096 }, Shape::Object(&SERVER)]);

pub(crate) const WORD: Shape = Shape::Text { most: 4_096 };

pub(crate) const WITHIN: Shape = Shape::duration(1_000_000, 3_600_000_000_000);

object! {
    /// A server that is started.
    SERVER server: "A server that is started. In arguments and environment, `{data}` stands for its data directory, `{run}` for a directory for sockets and the \
         like, and `{port}` for its port of 127.0.0.1. Of a replica set, each member has a data directory and a port of its own, and `{members}` stands \
         for host and port of all of them, separated by commas."
    preset = Shape::Text { most: 40 }, Optional, "mongod";
        "The preset to start from; the other keys change it. Without it, that of the engine.";
    program = WORD, Optional, "/opt/mongodb/bin/mongod";
        "Its program: a path, which starts at the folder of the experiment file if it is relative, or a name that is searched on PATH, and then in the \
         folder that the environment variable PLIMSOLL_SERVERS names.";
    arguments = Shape::list(&WORD, 0, 200), Optional, "[--quiet]";
        "More arguments, after those of the preset and of the settings.";
    environment = Shape::keyed(Keys::Names("variable"), &WORD, 0, 200), Optional, "{GLIBC_TUNABLES: glibc.pthread.rseq=1}";
        "Environment variables, besides those that are always set.";
    members = Shape::count(1, MOST_MEMBERS as u64), Default("1"), "3";
        "Processes of the server: several are a replica set, on the same storage, under the same limits together, with a cache of `cache_size` each.";
    replica_set = FLAG, Optional, "true";
        "Makes a replica set even of one member. Without it, one member is a standalone server.";
    after_start = Shape::list(&WORD, 1, 200), Optional, "[/opt/setup, '{port}']";
        "A program and its arguments, run once when all members answer; a relative path starts at the folder of the experiment file. It runs as the \
         user of the server and in `{run}`. The server is ready when it has ended with 0. Of a replica set, it replaces the command that initiates the \
         set, and must do that.";
    ready_within = WITHIN, Optional, "120s";
        "Time limit until the server answers and `after_start` has ended.";
    stop_within = WITHIN, Optional, "300s";
        "Time limit for stopping after the signal; then the server is killed, and the run is marked failed.";
}
