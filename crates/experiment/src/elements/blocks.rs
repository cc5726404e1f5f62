//! `measurement.blocks`: how many rounds are made through all arms.

use crate::document::{Checked, Value};
use crate::keys::blocks::blocks;
use crate::keys::file::file;
use crate::keys::measurement::measurement as keys;
use crate::mistake::Mistake;
use crate::origins::Origins;
use crate::table::*;
use crate::{Collector, Overrides};
use plimsoll_plan::{Looks, SettingValue, Source};

/// Blocks of a pilot: enough to see how much results differ from run to run.
const PILOT_BLOCKS: u32 = 5;
/// Below this many blocks no interval of 95 % can be made.
const LEAST_BLOCKS: u32 = 6;

/// How many blocks, at most where looks may end the experiment earlier.
pub(crate) fn blocks(
    map: Option<&Checked>,
    overrides: &Overrides,
    origins: &mut Origins<'_>,
    problems: &mut Collector<'_>,
) -> (u32, Option<Looks>) {
    if let Some(gate) = &overrides.gate {
        let flag = Some((SettingValue::Count(gate.at_most.into()), "gate"));
        origins.settle_or_flag(file::measurement.name, map, keys::blocks, flag);
        return (gate.at_most, Some(gate.looks()));
    }
    let flag = match (overrides.pilot, overrides.blocks) {
        (true, None) => Some((PILOT_BLOCKS, "--pilot")),
        (_, blocks) => blocks.map(|blocks| (blocks, "--blocks")),
    };
    let given = map.and_then(|map| map.get(keys::blocks));
    let bounds = given.filter(|given| matches!(given.value, Value::Map(_)));
    let (Some(bounds), None) = (bounds, flag) else {
        let flag = flag.map(|(blocks, name)| (SettingValue::Count(blocks.into()), name));
        let blocks = origins.settle_or_flag(file::measurement.name, map, keys::blocks, flag);
        return (blocks_of(blocks.as_ref()), None);
    };
    let path = keys::blocks.under(file::measurement.name);
    let at_least = origins.settle(&path, Some(bounds), blocks::at_least);
    let at_most = origins.settle(&path, Some(bounds), blocks::at_most);
    let half_width = match origins.settle(&path, Some(bounds), blocks::until) {
        Some(SettingValue::Number(half_width)) => Some(half_width),
        _ => None,
    };
    if bounds.get(blocks::until).is_none() {
        let path = blocks::until.under(&path);
        origins.add(&path, "the margin of each metric", Source::Default);
    }
    let mut wrong = |key: &Key, mistake: Mistake| {
        let place = bounds.get(key).unwrap_or(bounds).place;
        problems.add(&key.under(&path), Some(place), mistake);
    };
    let (first, most) = (blocks_of(at_least.as_ref()), blocks_of(at_most.as_ref()));
    if at_least.is_some() && first < LEAST_BLOCKS {
        let mistake = Mistake::LooksTooEarly { at_least: first, least: LEAST_BLOCKS };
        wrong(blocks::at_least, mistake);
    } else if at_most.is_some() && most < first {
        let mistake = Mistake::FewerThanAtLeast { at_most: most, at_least: first };
        wrong(blocks::at_most, mistake);
    }
    let looks = Looks { first, half_width, gate: None };
    (most, Some(looks))
}

fn blocks_of(value: Option<&SettingValue>) -> u32 {
    let blocks = value.and_then(SettingValue::whole);
    blocks.and_then(|blocks| u32::try_from(blocks).ok()).unwrap_or(1)
}
