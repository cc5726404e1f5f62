//! `limits` of an arm, and the published `machine` that they may come from.

use crate::document::{Checked, Span};
use crate::elements::arm::ReadArm;
use crate::elements::rig::RigReader;
use crate::keys::arm::arm;
use crate::keys::limits::limits;
use crate::mistake::Mistake;
use crate::presets::{MachinePreset, machine_presets};
use crate::table::*;
use plimsoll_plan::Source;
use plimsoll_plan::estimate::{MEMORY_BESIDES_CACHE, MEMORY_BESIDES_CACHE_OF_SERVER};
use plimsoll_record::quantities::units;
use plimsoll_record::quantities::words::numbers;
use plimsoll_record::{LimitsSpec, ServerSpec};
use std::collections::BTreeSet;

const GIB: f64 = (1u64 << 30) as f64;

impl RigReader<'_, '_> {
    /// The published machine that an arm names.
    pub(crate) fn machine(&mut self, path: &str, arm: &ReadArm) -> Option<&'static MachinePreset> {
        let given = arm.get(arm::machine)?;
        let name = given.checked.text()?;
        let found =
            machine_presets().iter().find(|machine| machine.name.eq_ignore_ascii_case(name));
        let Some(machine) = found else {
            let mistake = Mistake::UnknownPreset {
                what: "machine",
                name: name.to_owned(),
                presets: machine_presets().iter().map(|machine| machine.name.clone()).collect(),
            };
            self.wrong(&given.path, given.checked.place, mistake);
            return None;
        };
        self.origins.add_file(&arm::machine.under(path), machine.name.clone(), given.checked.place);
        Some(machine)
    }

    /// The limits from the arm, else those of its machine; refused if this machine has less.
    pub(crate) fn limits(
        &mut self,
        path: &str,
        arm: &ReadArm,
        machine: Option<&MachinePreset>,
        cache_bytes: Option<u64>,
        server: Option<&ServerSpec>,
    ) -> LimitsSpec {
        let path = arm::limits.under(path);
        let given = arm.get(arm::limits);
        let machine_given = arm.get(arm::machine);
        let stands = |key: &Key| {
            let own = given.and_then(|given| given.checked.get(key).map(|value| (given, value)));
            match (own, machine_given) {
                (Some((given, value)), _) => Some((key.under(&given.path), value.place, true)),
                (None, Some(given)) => Some((given.path.clone(), given.checked.place, false)),
                (None, None) => None,
            }
        };
        let value = |key: &Key| given.and_then(|given| given.checked.get(key));
        let mut limits = LimitsSpec {
            memory_bytes: value(limits::memory).and_then(Checked::whole).or(machine
                .filter(|_| value(limits::page_cache).is_none())
                .map(|machine| machine.memory_bytes)),
            page_cache_bytes: value(limits::page_cache).and_then(Checked::whole),
            cpus: value(limits::cpus)
                .and_then(Checked::number)
                .or(machine.map(|machine| f64::from(machine.cores))),
            pin: Vec::new(),
            memory_nodes: Vec::new(),
        };
        let mut origin = |key: &Key, text: String, (_, place, own): &(String, Span, bool)| {
            let path = key.under(&path);
            match (own, machine) {
                (false, Some(machine)) => {
                    let name = machine.name.clone();
                    self.origins.add(&path, text, Source::Preset { name });
                }
                _ => self.origins.add_file(&path, text, *place),
            }
        };
        let has_bytes = self.limits.memory_bytes;
        let more_memory = |requested_bytes: u64| Mistake::MoreThanMachine {
            what: "of memory",
            requested: units::size(requested_bytes),
            has: format!("{:.1} GiB", has_bytes as f64 / GIB),
        };
        let mut mistakes = Vec::new();
        if let (Some(bytes), Some(stands)) = (limits.page_cache_bytes, stands(limits::page_cache)) {
            origin(limits::page_cache, units::size(bytes), &stands);
            if bytes > has_bytes {
                let mistake = more_memory(bytes);
                mistakes.push((stands.clone(), mistake));
            }
            if value(limits::memory).is_some() {
                mistakes.push((stands, Mistake::MemoryAndPageCache));
            }
        }
        if let (Some(memory_bytes), Some(stands)) = (limits.memory_bytes, stands(limits::memory)) {
            origin(limits::memory, units::size(memory_bytes), &stands);
            if memory_bytes > has_bytes {
                let mistake = more_memory(memory_bytes);
                mistakes.push((stands.clone(), mistake));
            }
            let (besides, members) = match server {
                Some(server) => (MEMORY_BESIDES_CACHE_OF_SERVER, server.members),
                None => (MEMORY_BESIDES_CACHE, 1),
            };
            if let Some(cache_bytes) = cache_bytes {
                let needed_bytes =
                    cache_bytes.saturating_add(besides).saturating_mul(u64::from(members));
                if memory_bytes < needed_bytes {
                    let mistake = Mistake::MemoryBelowCache {
                        memory_bytes,
                        cache_bytes,
                        besides,
                        members,
                        needed_bytes,
                    };
                    mistakes.push((stands, mistake));
                }
            }
        }
        if let (Some(cpus), Some(stands)) = (limits.cpus, stands(limits::cpus)) {
            origin(limits::cpus, cpus.to_string(), &stands);
            if cpus > f64::from(self.limits.cores) {
                let mistake = Mistake::MoreThanMachine {
                    what: "processors",
                    requested: cpus.to_string(),
                    has: self.limits.cores.to_string(),
                };
                mistakes.push((stands, mistake));
            }
        }
        let pins = value(limits::pin).map_or(&[][..], Checked::items);
        let cores = self.limits.cores;
        for (number, place) in pins.iter().filter_map(|item| Some((item.whole()?, item.place))) {
            if number >= u64::from(cores) {
                let stands = (limits::pin.under(&path), place, true);
                mistakes.push((stands, Mistake::NoProcessor { number, cores }));
            }
        }
        let mut list = |key: &Key, below: u64| {
            let items = value(key).map_or(&[][..], Checked::items).iter();
            let numbers_below = items.filter_map(Checked::whole).filter(|number| *number < below);
            let set: BTreeSet<u32> =
                numbers_below.filter_map(|number| u32::try_from(number).ok()).collect();
            let list: Vec<u32> = set.into_iter().collect();
            if let (false, Some(stands)) = (list.is_empty(), stands(key)) {
                origin(key, numbers(&list), &stands);
            }
            list
        };
        limits.pin = list(limits::pin, u64::from(cores));
        limits.memory_nodes = list(limits::memory_nodes, u64::MAX);
        for ((path, place, _), mistake) in mistakes {
            self.wrong(&path, place, mistake);
        }
        limits
    }
}
