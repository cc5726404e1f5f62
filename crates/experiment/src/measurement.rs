//! Makes the measurement from what was read and from the flags of the command line.

use crate::Overrides;
use crate::format::{BLOCKS, LONGEST_NS, MEASUREMENT, MOST_BLOCKS, MOST_OPERATIONS, SHORTEST_NS};
use crate::mistake::Mistake;
use crate::problems::Collector;
use crate::reader::{Checked, Value, join};
use crate::settle::Origins;
use crate::source::Place;
use plimsoll_plan::{Looks, Measurement, Order, SettingValue, Source};
use plimsoll_quantities::units;
use plimsoll_record::ShapedFrom;

const PATH: &str = "measurement";
/// Blocks of a pilot: enough to see how much results differ from run to run.
const PILOT_BLOCKS: u32 = 5;
/// Below so many blocks no interval of 95 % can be made.
const LEAST_BLOCKS: u32 = 6;

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
    let (blocks, looks) = blocks(map, overrides, origins, problems);
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
    let log_operations = origins
        .settle(PATH, &MEASUREMENT, map, "log_operations")
        .and_then(|value| u32::try_from(value.whole()?).ok())
        .unwrap_or(0);
    Measurement {
        log_operations,
        shaped_from,
        warm_up_ns: warm_up_ns.unwrap_or(0),
        duration_ns,
        operations,
        blocks,
        looks,
        order,
        seed: seed.unwrap_or(0),
    }
}

/// How many blocks, at most where looks may end the experiment earlier.
fn blocks(
    map: Option<&Checked>,
    overrides: &Overrides,
    origins: &mut Origins<'_>,
    problems: &mut Collector<'_>,
) -> (u32, Option<Looks>) {
    let path = join(PATH, "blocks");
    let flag = match (overrides.pilot, overrides.blocks) {
        (true, None) => Some((PILOT_BLOCKS, "--pilot")),
        (_, blocks) => blocks.map(|blocks| (blocks, "--blocks")),
    };
    let given = map.and_then(|map| map.get("blocks"));
    let bounds = given.filter(|given| matches!(given.value, Value::Map(_)));
    let (Some(bounds), None) = (bounds, flag) else {
        let flag = flag.map(|(blocks, name)| (SettingValue::Count(blocks.into()), name));
        let blocks = origins.settle_or_flag(PATH, &MEASUREMENT, map, "blocks", flag);
        return (blocks_of(blocks.as_ref()), None);
    };
    let at_least = origins.settle(&path, &BLOCKS, Some(bounds), "at_least");
    let at_most = origins.settle(&path, &BLOCKS, Some(bounds), "at_most");
    let half_width = match origins.settle(&path, &BLOCKS, Some(bounds), "until") {
        Some(SettingValue::Number(half_width)) => Some(half_width),
        _ => None,
    };
    if bounds.get("until").is_none() {
        origins.add(
            &join(&path, "until"),
            "the margin of each metric",
            Source::Default,
        );
    }
    let place = |key: &str| Some(bounds.get(key).map_or(bounds.place, |given| given.place));
    let (first, most) = (blocks_of(at_least.as_ref()), blocks_of(at_most.as_ref()));
    if at_least.is_some() && first < LEAST_BLOCKS {
        let mistake = Mistake::LooksTooEarly {
            at_least: first,
            least: LEAST_BLOCKS,
        };
        problems.add(&join(&path, "at_least"), place("at_least"), mistake);
    } else if at_most.is_some() && most < first {
        let mistake = Mistake::FewerThanAtLeast {
            at_most: most,
            at_least: first,
        };
        problems.add(&join(&path, "at_most"), place("at_most"), mistake);
    }
    (most, Some(Looks { first, half_width }))
}

fn blocks_of(value: Option<&SettingValue>) -> u32 {
    let blocks = value.and_then(SettingValue::whole);
    blocks
        .and_then(|blocks| u32::try_from(blocks).ok())
        .unwrap_or(1)
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
