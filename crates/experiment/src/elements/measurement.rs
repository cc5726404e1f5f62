//! `measurement`: how long, how often and in which order.

use crate::document::{Checked, Place};
use crate::elements::blocks::{BLOCKS, MOST_BLOCKS, blocks};
use crate::elements::file::file;
use crate::mistake::Mistake;
use crate::origins::Origins;
use crate::table::*;
use crate::{Collector, Overrides};
use plimsoll_plan::{
    Arm, Caches, Checkpoints, END_TIMEOUT_NS, EngineKind, Measurement, Order, Pairing,
    SettingValue, Source, keeps_data_here,
};
use plimsoll_record::ShapedFrom;
use plimsoll_record::quantities::units;

/// Operations at the end of which a point can end.
const MOST_OPERATIONS: u64 = 1_000_000_000_000_000;
/// Operations of a point whose begin and end can be recorded: each session takes memory for as many, and the record holds them all.
const MOST_LOGGED: u64 = 10_000;
const COLD: &str = "cold";
const WARM: &str = "warm";
const AS_WRITTEN: &str = "as-written";
const DUET: &str = "duet";
const FROM_WARM_UP: &str = "warm-up";
const FROM_MEASURING: &str = "measuring";
const BEFORE_POINTS: &str = "before-points";

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

pub(crate) const PATH: &str = file::measurement.name;

/// Reads the measurement. `stages_ns` is how long the stages of the load last, if it has any, and `load_place` where they are written.
pub(crate) fn measurement(
    map: Option<&Checked>,
    stages_ns: Option<u64>,
    load_place: Option<Place>,
    overrides: &Overrides,
    origins: &mut Origins<'_>,
    problems: &mut Collector<'_>,
) -> Measurement {
    check_flags(overrides, problems);
    let flag = overrides.warm_up_ns;
    let flag = flag.map(|nanos| (SettingValue::Nanos(nanos), "--warm-up"));
    let warm_up = origins.settle_or_flag(PATH, map, measurement::warm_up, flag);
    let warm_up_ns = warm_up.and_then(|value| value.whole()).unwrap_or(0);
    let duration_ns = match stages_ns {
        None => {
            let flag = overrides.duration_ns;
            let flag = flag.map(|nanos| (SettingValue::Nanos(nanos), "--duration"));
            let duration = origins.settle_or_flag(PATH, map, measurement::duration, flag);
            duration.and_then(|value| value.whole()).unwrap_or(SHORTEST_NS)
        }
        Some(stages_ns) => stages_ns.saturating_sub(warm_up_ns),
    };
    let flag = overrides.operations;
    let flag = flag.map(|count| (SettingValue::Count(count), "--operations"));
    let operations = origins.settle_or_flag(PATH, map, measurement::operations, flag);
    let (blocks, looks) = blocks(map, overrides, origins, problems);
    if let Some(stages_ns) = stages_ns {
        let place = |key: &Key| map.and_then(|map| map.get(key)).map(|checked| checked.place);
        let own = place(measurement::duration);
        if own.is_some() || overrides.duration_ns.is_some() {
            problems.add(PATH, own, Mistake::DurationOfStages);
        } else if duration_ns < SHORTEST_NS {
            let mistake = Mistake::WarmUpOfStages { warm_up_ns, stages_ns };
            let place = place(measurement::warm_up).or(load_place);
            problems.add(&measurement::warm_up.under(PATH), place, mistake);
        }
        let text = format!("{}, what the stages leave", units::duration(duration_ns));
        let path = measurement::duration.under(PATH);
        origins.add(&path, text, Source::Default);
    }
    let order = match origins.settle(PATH, map, measurement::order) {
        Some(SettingValue::Text(word)) if word == AS_WRITTEN => Order::AsWritten,
        _ => Order::Shuffled,
    };
    let flag = overrides.duet;
    let flag = flag.then(|| (SettingValue::Text(DUET.into()), "--duet"));
    let pairing = match origins.settle_or_flag(PATH, map, measurement::pairing, flag) {
        Some(SettingValue::Text(word)) if word == DUET => Pairing::Duet,
        _ => Pairing::InTurn,
    };
    let flag = overrides.seed;
    let flag = flag.map(|seed| (SettingValue::Count(seed), "--seed"));
    let seed =
        origins.settle_or_flag(PATH, map, measurement::seed, flag).and_then(|value| value.whole());
    let shaped_from = match origins.settle(PATH, map, measurement::shaped_from) {
        Some(SettingValue::Text(word)) if word == FROM_WARM_UP => ShapedFrom::WarmUp,
        Some(SettingValue::Text(word)) if word == FROM_MEASURING => ShapedFrom::Measuring,
        _ => ShapedFrom::Load,
    };
    let checkpoints = match origins.settle(PATH, map, measurement::checkpoints) {
        Some(SettingValue::Text(word)) if word == BEFORE_POINTS => Checkpoints::BeforePoints,
        _ => Checkpoints::AsTheyCome,
    };
    let caches = match origins.settle(PATH, map, measurement::caches) {
        Some(SettingValue::Text(word)) if word == WARM => {
            let within = origins.settle(PATH, map, measurement::warm_within);
            let within_ns = within.and_then(|value| value.whole());
            Caches::Warm { within_ns: within_ns.unwrap_or(SHORTEST_NS) }
        }
        Some(SettingValue::Text(word)) if word == COLD => Caches::Cold,
        _ => Caches::AsLoaded,
    };
    let log_operations = origins
        .settle(PATH, map, measurement::log_operations)
        .and_then(|value| u32::try_from(value.whole()?).ok());
    let spare_blocks = origins.settle(PATH, map, measurement::spare_blocks);
    let end_timeout =
        origins.settle(PATH, map, measurement::end_timeout).and_then(|value| value.whole());
    Measurement {
        warm_up_ns,
        duration_ns,
        operations: operations.and_then(|value| value.whole()),
        blocks,
        looks,
        order,
        pairing,
        seed: seed.unwrap_or(0),
        shaped_from,
        checkpoints,
        caches,
        log_operations: log_operations.unwrap_or(0),
        spare_blocks: spare_blocks.and_then(|value| u32::try_from(value.whole()?).ok()),
        end_timeout_ns: end_timeout.unwrap_or(END_TIMEOUT_NS),
    }
}

fn check_flags(overrides: &Overrides, problems: &mut Collector<'_>) {
    let mut check =
        |flag, value: Option<u64>, (least, most): (u64, u64), write: fn(u64) -> String| {
            if let Some(value) = value
                && (value < least || value > most)
            {
                let mistake = Mistake::FlagOutOfRange {
                    flag,
                    value: write(value),
                    least: write(least),
                    most: write(most),
                };
                problems.add("", None, mistake);
            }
        };
    check("--blocks", overrides.blocks.map(u64::from), (1, MOST_BLOCKS), units::count);
    check("--operations", overrides.operations, (1, MOST_OPERATIONS), units::count);
    check("--warm-up", overrides.warm_up_ns, (0, LONGEST_NS), units::duration);
    check("--duration", overrides.duration_ns, (SHORTEST_NS, LONGEST_NS), units::duration);
}

/// Refuses `caches: cold` where an arm has caches that this program does not reach.
pub(crate) fn check_caches(
    map: Option<&Checked>,
    arms: &[Arm],
    engines: &[EngineKind],
    problems: &mut Collector<'_>,
) {
    let Some(asked) = map.and_then(|map| map.get(measurement::caches)) else {
        return;
    };
    if asked.text() != Some(COLD) {
        return;
    }
    for arm in arms {
        let server = arm.rig.server.as_ref();
        let kind = engines.iter().find(|kind| kind.name == arm.engine);
        let why = if !kind.is_some_and(|kind| kind.keeps_data) {
            "its engine keeps no data"
        } else if !kind.is_some_and(|kind| keeps_data_here(kind, server)) {
            "they are those of a server that runs by itself"
        } else if server.is_some_and(|server| server.members > 1) {
            "each member of its replica set has its own"
        } else {
            continue;
        };
        let arm = arm.name.clone();
        let mistake = Mistake::CachesNotOurs { arm, why };
        problems.add(&measurement::caches.under(PATH), Some(asked.place), mistake);
    }
}
