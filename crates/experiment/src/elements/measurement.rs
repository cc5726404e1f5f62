//! `measurement`: how long, how often and in which order.

use crate::document::{Checked, Span};
use crate::elements::blocks::blocks;
use crate::keys::blocks::MOST_BLOCKS;
use crate::keys::file::file;
use crate::keys::measurement::{
    AS_WRITTEN, BEFORE_POINTS, COLD, DUET, FROM_MEASURING, FROM_WARM_UP, MOST_OPERATIONS, WARM,
    measurement,
};
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

pub(crate) const PATH: &str = file::measurement.name;

/// Reads the measurement. `stages_ns` is how long the stages of the load last, if it has any, and `load_place` where they are written.
pub(crate) fn measurement(
    map: Option<&Checked>,
    stages_ns: Option<u64>,
    load_place: Option<Span>,
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
    let Some(requested) = map.and_then(|map| map.get(measurement::caches)) else {
        return;
    };
    if requested.text() != Some(COLD) {
        return;
    }
    for arm in arms {
        let server = arm.rig.server.as_ref();
        let kind = engines.iter().find(|kind| kind.name == arm.engine);
        let why = if !kind.is_some_and(|kind| kind.keeps_data) {
            "its engine keeps no data"
        } else if !kind.is_some_and(|kind| keeps_data_here(kind, server)) {
            "they are those of a running server"
        } else if server.is_some_and(|server| server.members > 1) {
            "each member of its replica set has its own"
        } else {
            continue;
        };
        let arm = arm.name.clone();
        let mistake = Mistake::CachesNotOurs { arm, why };
        problems.add(&measurement::caches.under(PATH), Some(requested.place), mistake);
    }
}
