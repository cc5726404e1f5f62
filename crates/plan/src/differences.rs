//! What differs between two arms of a plan.

use crate::Arm;
use crate::server::{own_after_start, own_arguments};
use crate::words::{DISK_FIGURES, disk_line, disk_words, price_words};
use plimsoll_record::quantities::units;
use plimsoll_record::quantities::words::{grouped, numbers};
use plimsoll_record::redact::redact;
use plimsoll_record::{
    DiskChoice, DiskSpec, FilesystemSpec, KernelSetting, LimitsSpec, ServerSpec,
};
use plimsoll_workload::documents::DocumentsSpec;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

/// Shown for a side without a value.
const NOTHING: &str = "none";
/// Options of a filesystem that were left as they are.
const STOCK: &str = "stock";
/// A setting of the kernel that was left alone.
const AS_IT_IS: &str = "as it is";

/// One thing that two arms do not have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The key, as in the file: `cache_size`, `disk.iops`, `filesystem`.
    pub what: String,
    /// Value of the first arm, in people's units.
    pub left: String,
    /// Value in the second arm, in words.
    pub right: String,
}

/// Everything in the plan that differs between two arms but their names: what was planted in a control, engine and its settings, data, directory, figures of the disk,
/// filesystem with its options, readahead, settings of the kernel, limits, server, machine and price, in this order.
///
/// Settings that only one of two engines has are no difference beside that of the engines.
pub fn differences(left: &Arm, right: &Arm) -> Vec<Difference> {
    let mut found = DifferenceList(Vec::new());
    let planted = |arm: &Arm| arm.planted.map_or_else(|| NOTHING.to_owned(), units::share);
    found.add("planted slow-down", &planted(left), &planted(right));
    found.add("engine", &left.engine, &right.engine);
    settings(left, right, &mut found);
    data(left, right, &mut found);
    let directory = |arm: &Arm| {
        arm.directory
            .as_ref()
            .map_or_else(|| "the program's own place".to_owned(), |path| path.display().to_string())
    };
    found.add("directory", &directory(left), &directory(right));
    disk(left.rig.disk.as_ref(), right.rig.disk.as_ref(), &mut found);
    filesystem(left.rig.filesystem.as_ref(), right.rig.filesystem.as_ref(), &mut found);
    let readahead = |arm: &Arm| or_nothing(arm.rig.readahead().map(units::size));
    found.add("readahead", &readahead(left), &readahead(right));
    for setting in KernelSetting::all() {
        let words = |arm: &Arm| {
            let text = arm.rig.kernel.get(&setting).map(|text| setting.in_words(text));
            text.unwrap_or_else(|| AS_IT_IS.to_owned())
        };
        found.add(&format!("kernel.{}", setting.name()), &words(left), &words(right));
    }
    limits(&left.rig.limits, &right.rig.limits, &mut found);
    server(left, right, &mut found);
    let machine = |arm: &Arm| or_nothing(arm.rig.machine.clone());
    found.add("machine", &machine(left), &machine(right));
    let price = |arm: &Arm| or_nothing(arm.rig.price.as_ref().map(price_words));
    found.add("price", &price(left), &price(right));
    found.0
}

struct DifferenceList(Vec<Difference>);

impl DifferenceList {
    fn add(&mut self, what: &str, left: &str, right: &str) {
        if left != right {
            self.0.push(Difference {
                what: what.to_owned(),
                left: left.to_owned(),
                right: right.to_owned(),
            });
        }
    }
}

/// What the settings make of its command line is no difference beside that of the settings.
fn server(left: &Arm, right: &Arm, found: &mut DifferenceList) {
    let word =
        |arm: &Arm, of: fn(&ServerSpec) -> String| or_nothing(arm.rig.server.as_ref().map(of));
    let mut add = |what: &str, of: fn(&ServerSpec) -> String| {
        found.add(what, &word(left, of), &word(right, of));
    };
    add("server", |server| server.name.clone());
    if left.rig.server.is_none() || right.rig.server.is_none() {
        return;
    }
    add("server.members", |server| {
        let members = server.members_in_words();
        members.unwrap_or_else(|| "1".to_owned())
    });
    add("server.program", |server| server.program.clone());
    add("server.environment", |server| {
        let pairs = server.environment.iter();
        let pairs: Vec<String> = pairs.map(|(name, value)| format!("{name}={value}")).collect();
        or_nothing(Some(pairs.join(" ")).filter(|text| !text.is_empty()))
    });
    add("server.after_start", |server| or_nothing(own_after_start(server)));
    let arguments =
        |arm: &Arm| or_nothing(Some(own_arguments(arm).join(" ")).filter(|text| !text.is_empty()));
    found.add("server.arguments", &arguments(left), &arguments(right));
}

fn or_nothing(text: Option<String>) -> String {
    text.unwrap_or_else(|| NOTHING.to_owned())
}

fn settings(left: &Arm, right: &Arm, found: &mut DifferenceList) {
    let names: BTreeSet<&String> = left.settings.0.keys().chain(right.settings.0.keys()).collect();
    for name in names {
        let value = |arm: &Arm| arm.settings.0.get(name).map(|value| redact(&value.to_string()));
        let (one, other) = (value(left), value(right));
        let of_both = one.is_some() && other.is_some();
        if left.engine == right.engine || of_both {
            found.add(name, &or_nothing(one), &or_nothing(other));
        }
    }
}

fn data(left: &Arm, right: &Arm, found: &mut DifferenceList) {
    let share = |arm: &Arm| or_nothing(arm.working_set.map(|set| units::share(set.share)));
    found.add("working_set", &share(left), &share(right));
    // As many documents as the share of the cache says.
    let is_sized = left.working_set.is_some() && right.working_set.is_some();
    documents(left.data.documents.as_ref(), right.data.documents.as_ref(), is_sized, found);
    let of = |arm: &Arm| {
        let mut data = arm.data.clone();
        if data.documents.take().is_some() {
            // Each collection says its own.
            data.records = 0;
        }
        match serde_json::to_value(&data) {
            Ok(Value::Object(map)) => map,
            _ => serde_json::Map::new(),
        }
    };
    let (one, other) = (of(left), of(right));
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    for name in names {
        let text = |map: &serde_json::Map<String, Value>| match map.get(name) {
            None | Some(Value::Null) => NOTHING.to_owned(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => {
                value.as_u64().map_or_else(|| value.to_string(), |number| grouped(number as f64, 0))
            }
        };
        found.add(name, &text(&one), &text(&other));
    }
}

/// Each piece of two descriptions by itself, such as the indexes of a collection.
fn documents(
    left: Option<&DocumentsSpec>,
    right: Option<&DocumentsSpec>,
    is_sized: bool,
    found: &mut DifferenceList,
) {
    let (Some(left), Some(right)) = (left, right) else {
        let names = |of: Option<&DocumentsSpec>| {
            or_nothing(of.map(|documents| documents.collection_names().join(", ")))
        };
        found.add("collections", &names(left), &names(right));
        return;
    };
    let (one, other) = (left.parts(), right.parts());
    let value = |parts: &[(String, String)], what: &str| {
        let part = parts.iter().find(|(name, _)| name == what);
        or_nothing(part.map(|(_, value)| value.clone()))
    };
    let only_right = other.iter().filter(|(what, _)| one.iter().all(|(known, _)| known != what));
    for (what, _) in one.iter().chain(only_right) {
        if is_sized && what.starts_with("records of ") {
            continue;
        }
        found.add(what, &value(&one, what), &value(&other, what));
    }
}

fn disk(left: Option<&DiskChoice>, right: Option<&DiskChoice>, found: &mut DifferenceList) {
    if let (Some(DiskChoice::Emulated { spec: one }), Some(DiskChoice::Emulated { spec: other })) =
        (left, right)
    {
        emulated(one, other, found);
        return;
    }
    let text = |disk: Option<&DiskChoice>| or_nothing(disk.map(disk_line));
    found.add("disk", &text(left), &text(right));
}

fn emulated(left: &DiskSpec, right: &DiskSpec, found: &mut DifferenceList) {
    let preset = |disk: &DiskSpec| or_nothing(disk.preset.clone());
    found.add("disk", &preset(left), &preset(right));
    let one_law = |disk: &DiskSpec| disk.read_latency == disk.write_latency;
    let one_latency = one_law(left) && one_law(right);
    let (one, other) = (disk_words(left, one_latency), disk_words(right, one_latency));
    for key in DISK_FIGURES {
        let text = |words: &[(&str, String)]| {
            let word = words.iter().find(|(name, _)| *name == key);
            or_nothing(word.map(|(_, text)| text.clone()))
        };
        found.add(&format!("disk.{key}"), &text(&one), &text(&other));
    }
}

fn filesystem(
    left: Option<&FilesystemSpec>,
    right: Option<&FilesystemSpec>,
    found: &mut DifferenceList,
) {
    let kind =
        |spec: Option<&FilesystemSpec>| or_nothing(spec.map(|spec| spec.kind.name().to_owned()));
    found.add("filesystem", &kind(left), &kind(right));
    let (Some(left), Some(right)) = (left, right) else {
        return;
    };
    let options = |words: &[String], between: &str| match words {
        [] => STOCK.to_owned(),
        words => words.join(between),
    };
    found.add("filesystem.mkfs", &options(&left.mkfs, " "), &options(&right.mkfs, " "));
    found.add("filesystem.mount", &options(&left.mount, ","), &options(&right.mount, ","));
}

fn limits(left: &LimitsSpec, right: &LimitsSpec, found: &mut DifferenceList) {
    let memory = |limits: &LimitsSpec| or_nothing(limits.memory_bytes.map(units::size));
    found.add("limits.memory", &memory(left), &memory(right));
    let page_cache = |limits: &LimitsSpec| or_nothing(limits.page_cache_bytes.map(units::size));
    found.add("limits.page_cache", &page_cache(left), &page_cache(right));
    let cpus = |limits: &LimitsSpec| or_nothing(limits.cpus.map(|cpus| cpus.to_string()));
    found.add("limits.cpus", &cpus(left), &cpus(right));
    let places = |places: &[u32]| match places {
        [] => NOTHING.to_owned(),
        places => numbers(places),
    };
    found.add("limits.pin", &places(&left.pin), &places(&right.pin));
    found.add("limits.memory_nodes", &places(&left.memory_nodes), &places(&right.memory_nodes));
}
