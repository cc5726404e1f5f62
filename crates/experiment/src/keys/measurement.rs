//! `measurement`: how long, how often and in which order.

use crate::keys::blocks::{BLOCKS, MOST_BLOCKS};
use crate::table::*;

/// Most operations after which a point can be set to end.
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
    MEASUREMENT measurement: "How long, how often and in which order to measure."
    warm_up = Shape::duration(0, LONGEST_NS), Default("5s"), "5s";
        "Time under load before each point that is not counted; with stages, their beginning. The analysis finds and cuts what had not settled by then.";
    duration = Shape::duration(SHORTEST_NS, LONGEST_NS), Default("30s"), "30s";
        "Measured time of each point, after its warm-up. Not with stages, whose steps set it.";
    operations = Shape::count(1, MOST_OPERATIONS), Optional, "10M";
        "Ends a point early, when this many operations are complete after the warm-up.";
    blocks = Shape::Any(&[Shape::count(1, MOST_BLOCKS), Shape::Object(&BLOCKS)]), Default("8"), "8";
        "Number of rounds through all arms, or bounds within which they end when the intervals are narrow enough. Arms are compared over blocks: below 6, \
         no verdict is possible.";
    spare_blocks = Shape::count(0, MOST_BLOCKS), Optional, "2";
        "Number of blocks that are measured again at the end, each once, because the machine was disturbed during a point. By default a quarter of the \
         blocks; 0 is none. An arm's own failures are not measured again.";
    order = Shape::choice(&["shuffled", AS_WRITTEN]), Default("shuffled"), "shuffled";
        "Order of the arms in a block: shuffled for each block, from the seed, or always that of the file. With the latter, drift of the machine can look \
         like a difference.";
    pairing = Shape::choice(&["in-turn", DUET]), Default("in-turn"), "duet";
        "How the arms of a pair are measured: in turn, each on the whole machine; or as a duet, both at the same time, each on half of its processors, \
         so that a disturbance of the machine affects both. Halves change from block to block. It pays if the noise comes from the machine, not from \
         the engine. Each pair of arms is a block of its own.";
    seed = Shape::count(0, u64::MAX), Default("42"), "42";
        "Random seed: the same seed gives the same operations in the same order.";
    shaped_from = Shape::choice(&["load", FROM_WARM_UP, FROM_MEASURING]), Default("load"), "warm-up";
        "When the limits of emulated disks begin: with loading the data, with the warm-up of each point, or with its measured part. Before, the disks \
         have no limits.";
    checkpoints = Shape::choice(&["as-they-come", BEFORE_POINTS]), Default("as-they-come"), "before-points";
        "Whether the engine writes a checkpoint before the warm-up of each point, so that all points begin in the same phase. With \
         `checkpoint_interval: 0s` in the arms, or one longer than a point, no other checkpoint falls within a point. mongod: by `fsync`.";
    caches = Shape::choice(&["as-loaded", COLD, WARM]), Default("as-loaded"), "warm";
        "State of the caches at the first point of a run: as loading the data left them; cold, with the engine's cache and its files in the page cache \
         emptied; or warm, filled by the reads of the first workload that reads, on a disk without limits, until the hit ratios of engine and page \
         cache have settled. The record of each run has the state that was reached.";
    warm_within = Shape::duration(SHORTEST_NS, LONGEST_NS), Default("5m"), "10m";
        "Time limit of `caches: warm`. After it, the run continues with the state that was reached, and reports it.";
    log_operations = Shape::count(0, MOST_LOGGED), Default("0"), "100";
        "Number of measured operations of each point, the first ones, whose begin and end are recorded, so that the disk map can show what each of them \
         reads and writes. With one session, each request to the disk belongs to one operation.";
    end_timeout = Shape::duration(SHORTEST_NS, LONGEST_NS), Default("30s"), "2m";
        "Time limit for the last operations of a point after its end. An operation that a server has not answered 5 s after the end counts as \
         unfinished, and its connection is closed; an operation that has not returned after this time ends the run.";
}
