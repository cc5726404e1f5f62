//! `measurement`: how long, how often and in which order.

use crate::keys::blocks::{BLOCKS, MOST_BLOCKS};
use crate::table::*;

/// Operations at the end of which a point can end.
pub(crate) const MOST_OPERATIONS: u64 = 1_000_000_000_000_000;

/// Operations of a point whose begin and end can be recorded: each session takes memory for as many, and the record holds them all.
pub(crate) const MOST_LOGGED: u64 = 10_000;

pub(crate) const COLD: &str = "cold";

pub(crate) const WARM: &str = "warm";

pub(crate) const AS_WRITTEN: &str = "as-written";

pub(crate) const DUET: &str = "duet";

pub(crate) const FROM_WARM_UP: &str = "warm-up";

pub(crate) const FROM_MEASURING: &str = "measuring";

pub(crate) const BEFORE_POINTS: &str = "before-points";

object! {
    /// How long, how often and in which order.
    MEASUREMENT measurement: "How long, how often and in which order."
    warm_up = Shape::duration(0, LONGEST_NS), Default("5s"), "5s";
        "Time under load before each point, not counted; with stages, their beginning. What else of a series had not \
         settled is found and cut by the analysis.";
    duration = Shape::duration(SHORTEST_NS, LONGEST_NS), Default("30s"), "30s";
        "Time that each point is measured, after its warm-up. Not with stages, which last as long as they say.";
    operations = Shape::count(1, MOST_OPERATIONS), Optional, "10M";
        "Ends a point early, when this many operations are complete after the warm-up.";
    blocks = Shape::Any(&[Shape::count(1, MOST_BLOCKS), Shape::Object(&BLOCKS)]), Default("8"), "8";
        "Rounds through all arms. They are what a comparison is made of: below 6 no verdict is possible. Either a number, or as many as are \
         needed until the intervals are narrow enough.";
    spare_blocks = Shape::count(0, MOST_BLOCKS), Optional, "2";
        "How many blocks are measured again at the end, each once, because a gate refused a point in them for what happened to the machine. By default a \
         quarter of the blocks; 0 is none. What an arm did wrong itself is not measured again.";
    order = Shape::choice(&["shuffled", AS_WRITTEN]), Default("shuffled"), "shuffled";
        "Order of the arms in a block: anew in each, from the seed; or always that of the file, by which drift of the \
         machine can pass for a difference.";
    pairing = Shape::choice(&["in-turn", DUET]), Default("in-turn"), "duet";
        "How the arms of a pair are measured: in turn, each on the whole machine; or as a duet, both at the same time, each on a half of its processors, \
         so that what happens to the machine happens to both. Halves change from block to block. It pays where the noise is the machine's, not the engine's. \
         Each pair of arms is a block of its own.";
    seed = Shape::count(0, u64::MAX), Default("42"), "42";
        "Random seed: the same seed gives the same operations in the same order.";
    shaped_from = Shape::choice(&["load", FROM_WARM_UP, FROM_MEASURING]), Default("load"), "warm-up";
        "From when on emulated disks are as slow as they were asked to be: from the storing of the data, from the warm-up of each \
         point, or from its measured part. Before, they have no limits.";
    checkpoints = Shape::choice(&["as-they-come", BEFORE_POINTS]), Default("as-they-come"), "before-points";
        "Whether the engine writes a checkpoint before the warm-up of each point, so that all points begin in the same phase. Together with \
         `checkpoint_interval: 0s` in the arms, or one that is longer than a point, no other comes within a point. mongod: by `fsync`.";
    caches = Shape::choice(&["as-loaded", COLD, WARM]), Default("as-loaded"), "warm";
        "How the caches stand when the first point of a run begins: as storing the data left them; cold, emptied, the engine's as well as what the page cache holds of \
         its files; or warm, filled by the reads of the first workload that reads, from a disk without limits, until the hit ratios of engine and page cache have \
         settled. What was reached is in the record of each run.";
    warm_within = Shape::duration(SHORTEST_NS, LONGEST_NS), Default("5m"), "10m";
        "How long `caches: warm` may take. Then the run goes on with what was reached, and says so.";
    log_operations = Shape::count(0, MOST_LOGGED), Default("0"), "100";
        "Begin and end of the first so many measured operations of each point are noted in the record, so that the disk map can \
         show what one of them reads and writes. With one session, each request to the disk belongs to one operation.";
    end_timeout = Shape::duration(SHORTEST_NS, LONGEST_NS), Default("30s"), "2m";
        "How long the last operations of a point may go on after its end. What a server has not answered 5 s after the end is counted as \
         unfinished and its connection is closed; what has not returned after this time ends the run.";
}
