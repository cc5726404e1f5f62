//! Decides the limits of an arm, the machine that they are those of, and its price.

use crate::arms::ReadArm;
use crate::presets::{MachinePreset, machine_presets};
use crate::reader::{Checked, Value, join};
use crate::rig::RigReader;
use crate::rig_mistake::RigMistake;
use crate::source::Place;
use plimsoll_plan::estimate::{MEMORY_BESIDES_CACHE, MEMORY_BESIDES_CACHE_OF_SERVER};
use plimsoll_plan::words::price_words;
use plimsoll_plan::{SettingValue, Source};
use plimsoll_quantities::units;
use plimsoll_record::{LimitsSpec, Price, ServerSpec};

const GIB: f64 = (1u64 << 30) as f64;

impl RigReader<'_, '_> {
    /// The published machine that an arm names.
    pub(crate) fn machine(&mut self, path: &str, arm: &ReadArm) -> Option<&'static MachinePreset> {
        let given = arm.given.get("machine")?;
        let name = given.checked.text()?;
        let found = machine_presets()
            .iter()
            .find(|machine| machine.name.eq_ignore_ascii_case(name));
        let Some(machine) = found else {
            let mistake = RigMistake::UnknownPreset {
                what: "machine",
                name: name.to_owned(),
                presets: machine_presets()
                    .iter()
                    .map(|machine| machine.name.clone())
                    .collect(),
            };
            self.wrong(&given.path, given.checked.place, mistake);
            return None;
        };
        self.origins.add_file(
            &join(path, "machine"),
            machine.name.clone(),
            given.checked.place,
        );
        Some(machine)
    }

    /// What the arm says, else what its machine has; refused where this machine cannot give it.
    pub(crate) fn limits(
        &mut self,
        path: &str,
        arm: &ReadArm,
        machine: Option<&MachinePreset>,
        cache_bytes: Option<u64>,
        server: Option<&ServerSpec>,
    ) -> LimitsSpec {
        let path = join(path, "limits");
        let given = arm.given.get("limits");
        let machine_given = arm.given.get("machine");
        let stands = |key: &str| {
            let own = given.and_then(|given| given.checked.get(key).map(|value| (given, value)));
            match (own, machine_given) {
                (Some((given, value)), _) => Some((join(&given.path, key), value.place, true)),
                (None, Some(given)) => Some((given.path.clone(), given.checked.place, false)),
                (None, None) => None,
            }
        };
        let value = |key: &str| given.and_then(|given| given.checked.get(key));
        let mut limits = LimitsSpec {
            memory_bytes: value("memory").and_then(Checked::whole).or(machine
                .filter(|_| value("page_cache").is_none())
                .map(|machine| machine.memory_bytes)),
            page_cache_bytes: value("page_cache").and_then(Checked::whole),
            cpus: value("cpus")
                .and_then(Checked::number)
                .or(machine.map(|machine| f64::from(machine.cores))),
            pin: Vec::new(),
        };
        let mut origin = |key: &str, text: String, (_, place, own): &(String, Place, bool)| {
            let path = join(&path, key);
            match (own, machine) {
                (false, Some(machine)) => {
                    let name = machine.name.clone();
                    self.origins.add(&path, text, Source::Preset { name });
                }
                _ => self.origins.add_file(&path, text, *place),
            }
        };
        let has_bytes = self.limits.memory_bytes;
        let more_memory = |asked_bytes: u64| RigMistake::MoreThanMachine {
            what: "of memory",
            asked: units::size(asked_bytes),
            has: format!("{:.1} GiB", has_bytes as f64 / GIB),
        };
        let mut mistakes = Vec::new();
        if let (Some(bytes), Some(stands)) = (limits.page_cache_bytes, stands("page_cache")) {
            origin("page_cache", units::size(bytes), &stands);
            if bytes > has_bytes {
                let mistake = more_memory(bytes);
                mistakes.push((stands.clone(), mistake));
            }
            if value("memory").is_some() {
                mistakes.push((stands, RigMistake::MemoryAndPageCache));
            }
        }
        if let (Some(memory_bytes), Some(stands)) = (limits.memory_bytes, stands("memory")) {
            origin("memory", units::size(memory_bytes), &stands);
            if memory_bytes > has_bytes {
                let mistake = more_memory(memory_bytes);
                mistakes.push((stands.clone(), mistake));
            }
            let (besides, members) = match server {
                Some(server) => (MEMORY_BESIDES_CACHE_OF_SERVER, server.members),
                None => (MEMORY_BESIDES_CACHE, 1),
            };
            if let Some(cache_bytes) = cache_bytes {
                let needed_bytes = cache_bytes
                    .saturating_add(besides)
                    .saturating_mul(u64::from(members));
                if memory_bytes < needed_bytes {
                    let mistake = RigMistake::MemoryBelowCache {
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
        if let (Some(cpus), Some(stands)) = (limits.cpus, stands("cpus")) {
            origin("cpus", cpus.to_string(), &stands);
            if cpus > f64::from(self.limits.cores) {
                let mistake = RigMistake::MoreThanMachine {
                    what: "processors",
                    asked: cpus.to_string(),
                    has: self.limits.cores.to_string(),
                };
                mistakes.push((stands, mistake));
            }
        }
        for item in value("pin").map_or(&[][..], Checked::items) {
            let Some(number) = item.whole() else { continue };
            if number >= u64::from(self.limits.cores) {
                let stands = (join(&path, "pin"), item.place, true);
                let cores = self.limits.cores;
                mistakes.push((stands, RigMistake::NoProcessor { number, cores }));
            } else if let Ok(number) = u32::try_from(number)
                && !limits.pin.contains(&number)
            {
                limits.pin.push(number);
            }
        }
        limits.pin.sort_unstable();
        if let (false, Some(stands)) = (limits.pin.is_empty(), stands("pin")) {
            let numbers: Vec<String> = limits.pin.iter().map(u32::to_string).collect();
            origin("pin", numbers.join(", "), &stands);
        }
        for ((path, place, _), mistake) in mistakes {
            self.wrong(&path, place, mistake);
        }
        limits
    }

    /// What the arm says, else what its machine costs.
    pub(crate) fn price(
        &mut self,
        path: &str,
        arm: &ReadArm,
        machine: Option<&MachinePreset>,
    ) -> Option<Price> {
        let path = join(path, "price");
        let Some(given) = arm.given.get("price") else {
            let machine = machine?;
            let name = machine.name.clone();
            self.origins
                .add(&path, price_words(&machine.price), Source::Preset { name });
            return Some(machine.price.clone());
        };
        let map = &given.checked;
        let text = |key: &str| {
            map.get(key)
                .map(|checked| (checked, checked.text().unwrap_or_default().to_owned()))
        };
        let base = machine.map(|machine| &machine.price);
        let per_hour = map
            .get("per_hour")
            .map_or(base.map(|price| price.per_hour), Checked::number);
        let currency = text("currency");
        if let Some((checked, currency)) = &currency
            && (currency.len() != 3 || !currency.bytes().all(|byte| byte.is_ascii_alphabetic()))
            && matches!(checked.value, Value::One(SettingValue::Text(_)))
        {
            let currency = currency.clone();
            self.wrong(
                &join(&given.path, "currency"),
                checked.place,
                RigMistake::BadCurrency { currency },
            );
        }
        let date = text("date");
        if let Some((checked, date)) = &date
            && !is_date(date)
        {
            let date = date.clone();
            self.wrong(
                &join(&given.path, "date"),
                checked.place,
                RigMistake::BadDate { date },
            );
        }
        let currency = currency
            .map(|(_, currency)| currency.to_ascii_uppercase())
            .or_else(|| base.map(|price| price.currency.clone()));
        // Source and date of a machine's price are not those of another one.
        let base = base.filter(|_| map.get("per_hour").is_none());
        for (key, missing) in [
            (
                "per_hour",
                per_hour.is_none() && map.get("per_hour").is_none(),
            ),
            ("currency", currency.is_none()),
        ] {
            if missing {
                self.wrong(&given.path, map.place, RigMistake::PriceWithout { key });
            }
        }
        let price = Price {
            per_hour: per_hour?,
            currency: currency?,
            source: text("source")
                .map(|(_, source)| source)
                .or_else(|| base.and_then(|price| price.source.clone())),
            date: date
                .map(|(_, date)| date)
                .or_else(|| base.and_then(|price| price.date.clone())),
        };
        self.origins.add_file(&path, price_words(&price), map.place);
        Some(price)
    }
}

/// A year, a month or a day, such as `2014`, `2014-09` or `2014-09-30`.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let number = |part: &str, digits: usize, least: u32, most: u32| {
        part.len() == digits
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && part
                .parse()
                .is_ok_and(|number: u32| (least..=most).contains(&number))
    };
    match parts.as_slice() {
        [year] => number(year, 4, 1970, 9999),
        [year, month] => number(year, 4, 1970, 9999) && number(month, 2, 1, 12),
        [year, month, day] => {
            number(year, 4, 1970, 9999) && number(month, 2, 1, 12) && number(day, 2, 1, 31)
        }
        _ => false,
    }
}
