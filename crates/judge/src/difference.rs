//! What differs between the arms: what the file says, and everything else that the runs themselves report.

use crate::select::Selection;
use crate::{Difference, PairDifferences};
use plimsoll_plan::{Arm, Order, Plan};
use plimsoll_record::{DiskChoice, RigRecord, RunRecord, Warning, WarningId};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Arms run in random order, so one may have the same position in a few blocks by chance. From this many blocks on it is reported.
const BLOCKS_BY_CHANCE: usize = 4;
/// How many standard deviations the mean place of an arm may be from the middle by chance.
const UNBALANCED: f64 = 3.0;
/// What no two runs have in common.
const OF_THE_RUN: [&str; 2] = ["storage.directory", "storage.free_bytes"];

/// What no two loop devices have in common.
const OF_A_LOOP_DEVICE: [&str; 2] = ["storage.device", "storage.other.loop_backing_file"];

/// What no two servers have in common that are started for their runs, each on a port that is free.
const OF_A_STARTED_SERVER: &str = "engine.server_address";
/// What a server says about the machine and the place in which it was started, which are compared by themselves.
const STARTUP_WARNINGS: &str = "engine.startup_warnings";
/// What a server says of its options, as words and as JSON.
const SERVER_COMMAND: &str = "engine.server_command";
const SERVER_OPTIONS: &str = "engine.server_options";
/// Options that say where a server listens, keeps and logs: section, key, and the word of the command line.
const PLACES: [(&str, &str, &str); 9] = [
    ("net", "port", "--port"),
    ("net", "bindIp", "--bind_ip"),
    ("net", "unixDomainSocket", "--unixSocketPrefix"),
    ("storage", "dbPath", "--dbpath"),
    ("systemLog", "path", "--logpath"),
    ("systemLog", "destination", "--syslog"),
    ("systemLog", "logAppend", "--logappend"),
    ("processManagement", "pidFilePath", "--pidfilepath"),
    ("processManagement", "fork", "--fork"),
];
/// Settings of a client that a URI may hold: where the URIs differ, they are declared by that.
const BY_URI: [&str; 9] = [
    "database",
    "write_concern",
    "journal",
    "write_timeout",
    "read_concern",
    "read_preference",
    "compressors",
    "retry_reads",
    "retry_writes",
];

/// One arm with the runs that count. Reports call it by its label.
pub(crate) struct ComparedArm<'a> {
    pub(crate) label: String,
    pub(crate) arm: &'a Arm,
    pub(crate) runs: Vec<&'a RunRecord>,
}

/// Everything that differs between the arms of one plan, declared factors first, then by name.
pub(crate) fn differences(plan: &Plan, selection: &Selection<'_>) -> Vec<Difference> {
    let mut seen = Vec::with_capacity(plan.arms.len());
    for (arm, runs) in plan.arms.iter().zip(&selection.finished) {
        seen.push(ComparedArm {
            label: arm.name.clone(),
            arm,
            runs: runs.values().copied().collect(),
        });
    }
    let mut differences = between(&seen);
    if !crate::imported::is_imported(selection) {
        differences.extend(place_in_block(plan, selection));
    }
    differences
}

/// What differs between the two arms of each comparison, one entry for each pair in the order in which they are compared.
pub(crate) fn pair_differences(plan: &Plan, selection: &Selection<'_>) -> Vec<PairDifferences> {
    let mut pairs = Vec::new();
    for [baseline, other] in plan.pairs() {
        let seen = [baseline, other].map(|index| ComparedArm {
            label: plan.arms[index].name.clone(),
            arm: &plan.arms[index],
            runs: selection.finished[index].values().copied().collect(),
        });
        pairs.push(PairDifferences {
            baseline: plan.arms[baseline].name.clone(),
            arm: plan.arms[other].name.clone(),
            differences: between(&seen),
        });
    }
    pairs
}

/// Everything that differs between arms, of one plan or of several. An arm without runs has nothing to report.
pub(crate) fn between(seen: &[ComparedArm<'_>]) -> Vec<Difference> {
    let mut differences = Vec::new();
    let mut names = Vec::new();
    for (what, values) in declared(seen.iter().map(|one| one.arm)) {
        names.push(what.clone());
        let labels = seen.iter().map(|one| one.label.clone());
        differences.push(Difference { what, values: labels.zip(values).collect(), declared: true });
    }
    let said = Declared { names, seen };

    let with_runs = seen.iter().filter(|one| !one.runs.is_empty());
    for (what, values) in table(with_runs.map(|one| (one.label.clone(), reported(&one.runs)))) {
        if !said.restates(&what) {
            differences.push(Difference { declared: said.implies(&what), what, values });
        }
    }
    differences.sort_by_key(|difference| !difference.declared);
    differences
}

/// What the file says about the arms' differences, to tell what else follows from it.
struct Declared<'a> {
    names: Vec<String>,
    seen: &'a [ComparedArm<'a>],
}

impl Declared<'_> {
    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|one| one == name)
    }

    /// Whether this or something below it is declared: `disk` and `disk.iops` are both of the disk.
    fn is_about(&self, topic: &str) -> bool {
        self.names.iter().any(|name| {
            name.strip_prefix(topic).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }

    /// Whether what was found only repeats what the file says.
    fn restates(&self, what: &str) -> bool {
        let other_engine = self.has("engine");
        match what.split_once('.') {
            Some(("settings", name)) => {
                // Where there is another server to send to, clients send once more.
                let by_set = self.has("server.members") && name.starts_with("retry_");
                let by_uri = self.has("uri") && BY_URI.contains(&name);
                other_engine || self.has(name) || by_set || by_uri
            }
            Some(("storage", "readahead_bytes")) => self.has("readahead"),
            Some(
                ("storage", name @ "scheduler")
                | ("machine", name @ ("transparent_huge_pages" | "governor")),
            ) => self.has(&format!("kernel.{name}")),
            // The engine's notes restate its settings in its own words.
            Some(("engine", "version")) => false,
            Some(("engine", _)) => {
                let mut settings = self.seen.iter().flat_map(|one| one.arm.settings.0.keys());
                // A replica set has other options and defaults than a server that stands alone, and so has another program.
                let other_server = self.has("server.members") || self.has("server.program");
                other_engine || other_server || settings.any(|name| self.has(name))
            }
            Some(("rig", limits)) if limits.starts_with("limits") => {
                let is_sized =
                    |one: &ComparedArm<'_>| one.arm.rig.limits.page_cache_bytes.is_some();
                // Where page cache is requested, each run has the memory that it comes to.
                self.is_about("limits") || self.seen.iter().all(is_sized)
            }
            _ => false,
        }
    }

    /// Whether it comes with what the file says: another engine has another version, another filesystem another mkfs, another directory may lie on another disk.
    fn implies(&self, what: &str) -> bool {
        let other_place = self.has("directory") || self.other_kind_of_disk();
        match what {
            "engine.version" => self.has("engine") || self.has("server.program"),
            // Btrfs has a readahead of its own.
            "storage.filesystem"
            | "storage.mount_options"
            | "storage.readahead_bytes"
            | "rig.mkfs"
            | "rig.mkfs_version" => self.is_about("filesystem") || other_place,
            // What a filesystem leaves of its disk is its own affair.
            "storage.size_bytes" => {
                self.is_about("disk") || self.is_about("filesystem") || other_place
            }
            _ if what.starts_with("rig.server.") => self.is_about("server") || self.has("engine"),
            // An arm without limits has no control group; and a server sees the processors and the memory that it may use.
            "rig.control_groups" | "engine.server_host" => self.is_about("limits"),
            _ => what.starts_with("storage.") && other_place,
        }
    }

    /// Whether one arm is on an emulated disk, another on a device or in a directory.
    fn other_kind_of_disk(&self) -> bool {
        let kind = |one: &ComparedArm<'_>| match &one.arm.rig.disk {
            None => 0,
            Some(DiskChoice::Emulated { .. }) => 1,
            Some(DiskChoice::Device { .. }) => 2,
        };
        self.seen.windows(2).any(|pair| kind(&pair[0]) != kind(&pair[1]))
    }
}

/// Warnings about what was found by looking, and about runs of one experiment made under different conditions.
pub(crate) fn warnings(
    plan: &Plan,
    differences: &[Difference],
    selection: &Selection<'_>,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for difference in differences {
        if !difference.declared {
            let mut arms_of: Vec<(&str, Vec<&str>)> = Vec::new();
            for (arm, value) in &difference.values {
                match arms_of.iter_mut().find(|(known, _)| known == value) {
                    Some((_, arms)) => arms.push(arm),
                    None => arms_of.push((value, vec![arm])),
                }
            }
            let parts = arms_of.into_iter().map(|(value, arms)| match &arms[..] {
                [first, second, _, rest @ ..] if !rest.is_empty() => {
                    format!("{value} for {first}, {second} and {} others", rest.len() + 1)
                }
                all => format!("{value} for {}", all.join(", ")),
            });
            let parts: Vec<String> = parts.collect();
            warnings.push(Warning::new(
                WarningId::OtherDifference,
                &difference.what,
                parts.join("; "),
            ));
        }
    }
    // Arms may stand on hosts of their own, but a host is one machine.
    let mut machines: BTreeMap<Option<&str>, BTreeSet<String>> = BTreeMap::new();
    // Arms may have versions of their own, but not one arm several.
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (arm, runs) in plan.arms.iter().zip(&selection.finished) {
        let mut of_arm: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for run in runs.values() {
            let of_host = machines.entry(arm.on.as_deref()).or_default();
            of_host.insert(run.machine.fingerprint());
            let ends = run.points.iter().filter_map(|point| point.end.as_ref());
            for host in ends.flat_map(|end| &end.hosts) {
                let of_host = machines.entry(host.host.as_deref()).or_default();
                of_host.extend(host.machine.clone());
            }
            if let Some(engine) = &run.engine {
                let of_engine = of_arm.entry(&engine.name).or_default();
                of_engine.insert(&engine.version);
            }
        }
        for (engine, of_arm) in of_arm.into_iter().filter(|(_, found)| found.len() > 1) {
            versions.entry(engine).or_default().extend(of_arm);
        }
    }
    for (host, machines) in machines.into_iter().filter(|(_, found)| found.len() > 1) {
        let machines: Vec<String> = machines.into_iter().collect();
        let subject = host.map_or_else(|| "machine".to_owned(), |host| format!("host {host}"));
        warnings.push(Warning::new(WarningId::MixedMachines, subject, machines.join("; ")));
    }
    for (engine, versions) in versions {
        let versions: Vec<&str> = versions.into_iter().collect();
        warnings.push(Warning::new(
            WarningId::MixedMachines,
            engine,
            format!("versions {}", versions.join(", ")),
        ));
    }
    warnings
}

/// The factors alone, for each arm by its index.
pub(crate) fn factors(plan: &Plan) -> Vec<BTreeMap<String, String>> {
    let mut factors = vec![BTreeMap::new(); plan.arms.len()];
    for (what, values) in declared(plan.arms.iter()) {
        for (of_arm, value) in factors.iter_mut().zip(values) {
            of_arm.insert(what.clone(), value);
        }
    }
    factors
}

/// What the file sets differently for the arms: (what, value of each arm). Every arm is compared with the first.
fn declared<'a>(mut arms: impl Iterator<Item = &'a Arm>) -> Vec<(String, Vec<String>)> {
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    let Some(first) = arms.next() else {
        return rows;
    };
    let others: Vec<&Arm> = arms.collect();
    for (index, other) in others.iter().enumerate() {
        for one in plimsoll_plan::differences(first, other) {
            let place = rows.iter().position(|(what, _)| *what == one.what);
            let place = place.unwrap_or_else(|| {
                // Arms without an entry of their own are as the first.
                rows.push((one.what, vec![one.left; others.len() + 1]));
                rows.len() - 1
            });
            rows[place].1[index + 1] = one.right;
        }
    }
    rows
}

/// Rows whose values differ: (what, (arm, value) in the order of the arms).
fn table(
    described: impl Iterator<Item = (String, BTreeMap<String, String>)>,
) -> Vec<(String, Vec<(String, String)>)> {
    let described: Vec<(String, BTreeMap<String, String>)> = described.collect();
    let names: BTreeSet<&String> = described.iter().flat_map(|(_, values)| values.keys()).collect();
    let mut rows = Vec::new();
    for name in names {
        let value = |(arm, values): &(String, BTreeMap<String, String>)| {
            (arm.clone(), values.get(name).cloned().unwrap_or_else(|| "not set".into()))
        };
        let values: Vec<(String, String)> = described.iter().map(value).collect();
        if values.windows(2).any(|pair| pair[0].1 != pair[1].1) {
            rows.push((name.clone(), values));
        }
    }
    rows
}

/// What the runs of an arm report: each value that occurred, in words.
fn reported(runs: &[&RunRecord]) -> BTreeMap<String, String> {
    let mut occurred: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for run in runs {
        let mut values = BTreeMap::new();
        flatten("machine", &run.machine, &mut values);
        if let Some(storage) = &run.storage {
            flatten("storage", storage, &mut values);
        }
        if let Some(engine) = &run.engine {
            values.insert("engine.version".into(), format!("{} {}", engine.name, engine.version));
            flatten("engine", &engine.notes, &mut values);
            flatten("settings", &engine.settings, &mut values);
        }
        if let Some(rig) = &run.rig {
            flatten_rig(rig, &mut values);
        }
        values.retain(|what, _| {
            let is_of_the_run = OF_THE_RUN.contains(&what.as_str()) || what == STARTUP_WARNINGS;
            !is_of_the_run && !what.starts_with("machine.foreign")
        });
        without_places(&mut values);
        for (what, value) in values {
            occurred.entry(what).or_default().insert(value);
        }
    }
    let in_words = |values: BTreeSet<String>| values.into_iter().collect::<Vec<_>>().join(" or ");
    occurred.into_iter().map(|(what, values)| (what, in_words(values))).collect()
}

/// Leaves out where a server listens, keeps and logs. Its options say all that its command line says.
fn without_places(values: &mut BTreeMap<String, String>) {
    let options = values.get(SERVER_OPTIONS);
    let parsed = options.and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok());
    if let Some(mut parsed) = parsed {
        for (section, key, _) in PLACES {
            if let Some(section) = parsed.get_mut(section).and_then(|one| one.as_object_mut()) {
                section.remove(key);
            }
        }
        if let Some(sections) = parsed.as_object_mut() {
            sections.retain(|_, one| one.as_object().is_none_or(|keys| !keys.is_empty()));
        }
        values.insert(SERVER_OPTIONS.into(), parsed.to_string());
        values.remove(SERVER_COMMAND);
    }
    if let Some(command) = values.get_mut(SERVER_COMMAND) {
        let mut kept = Vec::new();
        let mut words = command.split_whitespace().peekable();
        while let Some(word) = words.next() {
            let name = word.split('=').next().unwrap_or(word);
            if !PLACES.iter().any(|(_, _, option)| *option == name) {
                kept.push(word);
            } else if !word.contains('=') {
                words.next_if(|value| !value.starts_with('-'));
            }
        }
        *command = kept.join(" ");
    }
}

/// What was made for the run. The device is another one in every run, and the mount options are those of the storage.
fn flatten_rig(rig: &RigRecord, values: &mut BTreeMap<String, String>) {
    if let Some(command) = &rig.mkfs {
        let device = rig.device.as_deref().unwrap_or_default();
        let words = command.split_whitespace().filter(|word| *word != device);
        values.insert("rig.mkfs".into(), words.collect::<Vec<_>>().join(" "));
    }
    flatten("rig.mkfs_version", &rig.mkfs_version, values);
    if let Some(server) = &rig.server {
        flatten("rig.server.program", &server.program, values);
        flatten("rig.server.version", &server.version, values);
        flatten("rig.server.user", &server.user, values);
        values.remove(OF_A_STARTED_SERVER);
    }
    flatten("rig.control_groups", &rig.control_groups, values);
    flatten("rig.limits", &rig.limits, values);
    if let Some(options) = &rig.mount_options {
        values.insert("storage.mount_options".into(), options.clone());
    }
    let is_loop = |device: &String| device.starts_with("/dev/loop");
    if rig.device.as_ref().is_some_and(is_loop) {
        values.retain(|what, _| !OF_A_LOOP_DEVICE.contains(&what.as_str()));
    }
}

/// Every field of a value under a dotted name; absent fields are left out.
fn flatten(name: &str, value: &impl Serialize, into: &mut BTreeMap<String, String>) {
    if let Ok(value) = serde_json::to_value(value) {
        flatten_json(name, &value, into);
    }
}

fn flatten_json(name: &str, value: &serde_json::Value, into: &mut BTreeMap<String, String>) {
    match value {
        serde_json::Value::Null => {}
        serde_json::Value::Object(fields) => {
            for (field, value) in fields {
                flatten_json(&format!("{name}.{field}"), value, into);
            }
        }
        serde_json::Value::String(text) => {
            into.insert(name.into(), text.clone());
        }
        other => {
            into.insert(name.into(), other.to_string());
        }
    }
}

/// An arm that always, or nearly always, came at the same place of its block may owe its numbers to that.
fn place_in_block(plan: &Plan, selection: &Selection<'_>) -> Option<Difference> {
    if plan.arms.len() < 2 {
        return None;
    }
    let telling = match plan.measurement.order {
        Order::Shuffled => BLOCKS_BY_CHANCE,
        Order::AsWritten => 2,
    };
    // A design that is folded over has half of its arms in each block.
    let of_block = plan.runs.iter().filter(|run| run.block == 0).count();
    let mut always = false;
    let mut values = Vec::new();
    let mut means = Vec::new();
    let mut is_unbalanced = false;
    for (arm, runs) in plan.arms.iter().zip(&selection.finished) {
        let mean = runs.values().map(|run| f64::from(run.position) + 1.0).sum::<f64>()
            / (runs.len() as f64).max(1.0);
        let places = if of_block > 0 { of_block } else { plan.arms.len() } as f64;
        // Each place is as likely as any other: their variance is (k² - 1)/12.
        let deviation = ((places * places - 1.0) / 12.0 / (runs.len() as f64).max(1.0)).sqrt();
        let off = (mean - (places + 1.0) / 2.0).abs();
        is_unbalanced |= runs.len() >= telling && off > UNBALANCED * deviation;
        means.push((arm.name.clone(), format!("{mean:.1} of {places}")));
        let places: BTreeSet<u64> = runs.values().map(|run| u64::from(run.position) + 1).collect();
        always |= runs.len() >= telling && places.len() == 1;
        let places: Vec<String> = places.iter().map(u64::to_string).collect();
        values.push((arm.name.clone(), places.join(" or ")));
    }
    if !always && is_unbalanced {
        return Some(Difference {
            what: "mean place in the block".into(),
            values: means,
            declared: false,
        });
    }
    always.then(|| Difference { what: "place in the block".into(), values, declared: false })
}
