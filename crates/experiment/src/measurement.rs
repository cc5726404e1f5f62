//! Makes the measurement from what was read and from the flags of the command line.

use crate::format::{LONGEST_NS, MEASUREMENT, MOST_BLOCKS, MOST_OPERATIONS, SHORTEST_NS};
use crate::mistake::Mistake;
use crate::problems::Collector;
use crate::reader::{Checked, join};
use crate::settle::Origins;
use crate::source::Place;
use crate::{Measurement, Order, Overrides, SettingValue, Source, units};
use plimsoll_record::ShapedFrom;

const PATH: &str = "measurement";

/// Reads how long, how often and in which order. `stages_ns` is how long the stages of the load last, if it has any, and
/// `load_place` where it stands.
pub(crate) fn measurement(
    map: Option<&Checked>,
    stages_ns: Option<u64>,
    load_place: Option<Place>,
    overrides: &Overrides,
    origins: &mut Origins<'_>,
    problems: &mut Collector<'_>,
) -> Measurement {
    check_flags(overrides, problems);
    let mut whole = |name: &str, flag: Option<(SettingValue, &str)>| {
        origins
            .settle_or_flag(PATH, &MEASUREMENT, map, name, flag)
            .and_then(|value| value.whole())
    };
    let warm_up_ns = whole(
        "warm_up",
        overrides
            .warm_up_ns
            .map(|nanos| (SettingValue::Nanos(nanos), "--warm-up")),
    );
    let duration_ns = match stages_ns {
        None => whole(
            "duration",
            overrides
                .duration_ns
                .map(|nanos| (SettingValue::Nanos(nanos), "--duration")),
        ),
        Some(_) => stages_ns,
    };
    let operations = whole(
        "operations",
        overrides
            .operations
            .map(|count| (SettingValue::Count(count), "--operations")),
    );
    let blocks = whole(
        "blocks",
        overrides
            .blocks
            .map(|blocks| (SettingValue::Count(blocks.into()), "--blocks")),
    );
    let mut duration_ns = duration_ns.unwrap_or(SHORTEST_NS);
    if let Some(stages_ns) = stages_ns {
        duration_ns = stages_ns.saturating_sub(warm_up_ns.unwrap_or(0));
        let place = |name: &str| {
            map.and_then(|map| map.get(name))
                .map(|checked| checked.place)
        };
        if place("duration").is_some() || overrides.duration_ns.is_some() {
            problems.add(PATH, place("duration"), Mistake::DurationOfStages);
        } else if duration_ns < SHORTEST_NS {
            let warm_up_ns = warm_up_ns.unwrap_or(0);
            let mistake = Mistake::WarmUpOfStages {
                warm_up_ns,
                stages_ns,
            };
            problems.add(
                &join(PATH, "warm_up"),
                place("warm_up").or(load_place),
                mistake,
            );
        }
        let text = format!("{}, what the stages leave", units::duration(duration_ns));
        origins.add(&join(PATH, "duration"), text, Source::Default);
    }
    let order = match origins.settle(PATH, &MEASUREMENT, map, "order") {
        Some(SettingValue::Text(word)) if word == "as-written" => Order::AsWritten,
        _ => Order::Shuffled,
    };
    let seed = overrides
        .seed
        .map(|seed| (SettingValue::Count(seed), "--seed"));
    let seed = origins
        .settle_or_flag(PATH, &MEASUREMENT, map, "seed", seed)
        .and_then(|value| value.whole());
    let shaped_from = match origins.settle(PATH, &MEASUREMENT, map, "shaped_from") {
        Some(SettingValue::Text(word)) if word == "warm-up" => ShapedFrom::WarmUp,
        Some(SettingValue::Text(word)) if word == "measuring" => ShapedFrom::Measuring,
        _ => ShapedFrom::Load,
    };
    Measurement {
        shaped_from,
        warm_up_ns: warm_up_ns.unwrap_or(0),
        duration_ns,
        operations,
        blocks: blocks
            .and_then(|blocks| u32::try_from(blocks).ok())
            .unwrap_or(1),
        looks: None,
        order,
        seed: seed.unwrap_or(0),
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
    check(
        "--blocks",
        overrides.blocks.map(u64::from),
        (1, MOST_BLOCKS),
        units::count,
    );
    check(
        "--operations",
        overrides.operations,
        (1, MOST_OPERATIONS),
        units::count,
    );
    check(
        "--warm-up",
        overrides.warm_up_ns,
        (0, LONGEST_NS),
        units::duration,
    );
    check(
        "--duration",
        overrides.duration_ns,
        (SHORTEST_NS, LONGEST_NS),
        units::duration,
    );
}
