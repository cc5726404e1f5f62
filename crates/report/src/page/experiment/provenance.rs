//! Where the numbers come from, complete enough to make them again.

use super::{NAME, Page};
use crate::page::prose;
use crate::{hosts, text, words};
use jiff::Timestamp;
use maud::{Markup, html};
use plimsoll_judge::{Analysis, ArmSummary};
use plimsoll_record::quantities::numbers::PAGE;
use plimsoll_record::{ExperimentRecord, Machine, RunState, Storage, WarmedCaches};
use std::collections::BTreeMap;

/// A list of names and values; values that are not known are left out.
type Facts = Vec<(&'static str, Option<String>)>;

fn duration(record: &ExperimentRecord) -> Option<String> {
    let begin: Timestamp = record.started_at.parse().ok()?;
    let end: Timestamp = record.ended_at.as_ref()?.parse().ok()?;
    Some(PAGE.span(end.duration_since(begin).as_secs_f64()))
}

/// Whether another program measured it.
pub(super) fn is_imported(page: &Page<'_>) -> bool {
    page.report.record.imported().next().is_some()
}

/// Files of an imported record that are listed.
const FILES: usize = 200;

/// Machines of hosts that are listed.
const MACHINES: usize = 12;

/// Where an imported record comes from.
fn imported(page: &Page<'_>) -> Markup {
    let (record, analysis) = (page.report.record, page.report.analysis);
    let points = || {
        record.runs.iter().flat_map(|run| {
            let imported = |point: &plimsoll_record::PointRecord| point.imported().cloned();
            run.points.iter().filter_map(move |point| Some((run, point, imported(point)?)))
        })
    };
    html! {
        p { "Other programs measured this. It was imported by:" }
        pre.command { code { (plimsoll_record::redact::lines(&record.command)) } }
        div.facts { div { h3 { "Record" } (list(&vec![
            ("Record", Some(format!("{}, format version {}", record.id, record.plimsoll_record))),
            ("Imported", Some(words::date(&record.started_at))),
            ("Program", Some(format!("plimsoll {}, commit {}", record.program.version, record.program.commit))),
            ("Machine", Some("not known: no output describes it".into())),
        ])) } }
        h3 { "What was read" }
        div.scroll tabindex="0" role="region" aria-label="Table of the files" {
            table {
                thead { tr { th scope="col" { "Arm" } th scope="col" { "Load" } th scope="col" { "Measured by" } th scope="col" { "Begun" } th scope="col" { "Files" } th scope="col" { "Command line" } } }
                tbody {
                    @for (run, point, imported) in points().take(FILES) {
                        tr {
                            th scope="row" { (page.arm(&run.arm)) small { "run " (u64::from(run.block) + 1) } }
                            td { (text::short(&point.label.mix, NAME)) " at " (prose::label(&point.label.load_label, NAME)) }
                            td { (text::short(imported.version.as_deref().unwrap_or(&imported.tool), NAME)) }
                            td { @if point.started_at.is_empty() { "not known" } @else { (words::date(&point.started_at)) } }
                            td { @for file in &imported.files {
                                div { (text::short(&file.name, 80)) small { (PAGE.bytes(file.bytes)) ", SHA-256 " (text::short(&file.sha256, 16)) } }
                            } }
                            td { @match &imported.command { Some(command) => code { (text::short(command, 400)) }, None => "not known" } }
                        }
                    }
                }
            }
        }
        @if points().count() > FILES { p.remark { "The first " (FILES) " of " (points().count()) " outputs; all are in record.json." } }
        (settings(page, analysis))
        (failures(record))
    }
}

pub(super) fn section(page: &Page<'_>) -> Markup {
    let (record, analysis) = (page.report.record, page.report.analysis);
    if is_imported(page) {
        return imported(page);
    }
    html! {
        p { "To repeat it:" }
        pre.command { code { (plimsoll_record::redact::lines(&record.command)) } }
        p.remark { "On another machine, keep the experiment file below and name it there." }
        div.facts {
            div { h3 { "Experiment" } (list(&experiment(record))) }
            @let machines = hosts::machines(&page.report);
            div {
                h3 { "Machine" @if !machines.is_empty() { " of the controller" } }
                (list(&machine(&record.machine)))
            }
            @for (host, of_host) in machines.iter().take(MACHINES) {
                div { h3 { "Machine of " (text::short(host, 24)) } (list(&machine(of_host))) }
            }
            (storages(page))
        }
        @if machines_of(page) > MACHINES { p.remark { "The first " (MACHINES) " of " (machines_of(page)) " machines; all are in record.json." } }
        @if let Some(hosts) = crate::section::hosts(page.report.analysis, PAGE) {
            h3 { "Hosts" }
            (super::section::section(page, &hosts))
        }
        (settings(page, analysis))
        (failures(record))
        h3 { "The experiment file" }
        (file(record, page.budget.file_bytes))
    }
}

fn machines_of(page: &Page<'_>) -> usize {
    hosts::machines(&page.report).len()
}

fn list(facts: &Facts) -> Markup {
    html! {
        dl {
            @for (name, value) in facts {
                @if let Some(value) = value { dt { (name) } dd { (text::short(value, 200)) } }
            }
        }
    }
}

/// How the caches stood when the first point of a run began; `None` where no run stored or filled anything.
fn caches(record: &ExperimentRecord) -> Option<String> {
    let warmed = record.runs.iter().filter_map(|run| run.warmed);
    let warmed: Vec<WarmedCaches> = warmed.collect();
    if record.runs.iter().any(|run| run.caches_emptied) {
        return Some("empty: the engine's and the page cache".to_owned());
    }
    if warmed.is_empty() {
        let is_loaded = record.runs.iter().any(|run| run.load.is_some());
        return is_loaded.then(|| "as storing the data left them".to_owned());
    }
    let settled = warmed.iter().filter(|caches| caches.settled).count();
    let longest = warmed.iter().map(|caches| caches.seconds).fold(0.0, f64::max);
    Some(format!(
        "warm: settled in {settled} of {}, after {} at most",
        words::counted(warmed.len() as u64, "run", PAGE),
        PAGE.span(longest)
    ))
}

fn experiment(record: &ExperimentRecord) -> Facts {
    vec![
        ("Record", Some(format!("{}, format version {}", record.id, record.plimsoll_record))),
        ("Begun", Some(words::date(&record.started_at))),
        ("Ended", record.ended_at.as_deref().map(words::date)),
        ("Duration", duration(record)),
        ("Seed", Some(record.seed.to_string())),
        ("Caches at the first point", caches(record)),
        (
            "Program",
            Some(format!("plimsoll {}, commit {}", record.program.version, record.program.commit)),
        ),
        ("SHA-256 of the file", Some(record.file_hash.clone())),
        ("SHA-256 of the plan", Some(record.plan_hash.clone())),
    ]
}

fn machine(machine: &Machine) -> Facts {
    let bytes = |bytes: u64| (bytes > 0).then(|| PAGE.bytes(bytes));
    vec![
        ("Processor", machine.cpu_model.clone()),
        ("Cores", Some(machine.cores.to_string())),
        ("Memory", bytes(machine.memory_bytes)),
        ("Swap", Some(bytes(machine.swap_bytes).unwrap_or_else(|| "none".into()))),
        ("Kernel", machine.kernel.clone()),
        ("Distribution", machine.distribution.clone()),
        (
            "Virtualisation",
            Some(machine.virtualisation.clone().unwrap_or_else(|| "none seen".into())),
        ),
        ("Governor", machine.governor.clone()),
        ("Boost", machine.boost.map(|on| if on { "on".into() } else { "off".into() })),
        ("Transparent huge pages", machine.transparent_huge_pages.clone()),
        (
            "Address randomisation",
            machine.layout_is_random.map(|random| if random { "on" } else { "off" }.into()),
        ),
        ("Clock source", machine.clock_source.clone()),
        ("Clock of the program", machine.program_clock.clone()),
        ("Memory limit", machine.memory_limit_bytes.map(|bytes| PAGE.bytes(bytes))),
        (
            "CPU limit",
            machine.cpu_limit.map(|limit| {
                format!(
                    "{} processor{}",
                    PAGE.compact_count(limit),
                    if limit == 1.0 { "" } else { "s" }
                )
            }),
        ),
    ]
}

fn storage(storage: &Storage) -> Facts {
    let mut facts = vec![
        ("Directory", Some(storage.directory.clone())),
        ("Filesystem", storage.filesystem.clone()),
        ("Mounted with", storage.mount_options.clone()),
        ("Device", storage.device.clone()),
        ("Model", storage.device_model.clone()),
        (
            "Rotational",
            storage.rotational.map(|turns| if turns { "yes".into() } else { "no".into() }),
        ),
        ("Scheduler", storage.scheduler.clone()),
        ("Read-ahead", storage.readahead_bytes.map(|bytes| PAGE.bytes(bytes))),
        ("Size", storage.size_bytes.map(|bytes| PAGE.bytes(bytes))),
        ("Free at the start", storage.free_bytes.map(|bytes| PAGE.bytes(bytes))),
    ];
    for (name, value) in &storage.other {
        let (name, value) = match name.as_str() {
            "driver" => ("Driver", value.clone()),
            "write_cache" => ("Write cache", value.clone()),
            "logical_block_bytes" => ("Logical block (bytes)", value.clone()),
            "device_mapper_name" => ("Device-mapper name", value.clone()),
            "raid_level" => ("RAID level", value.clone()),
            "loop_backing_file" => ("Loop file", value.clone()),
            "made_of" => ("Built from", value.clone()),
            "overlay_upper_directory" => ("Overlay directory", value.clone()),
            other => ("Other", format!("{other}: {value}")),
        };
        facts.push((name, Some(value)));
    }
    facts
}

/// Each kind of storage once, with the arms on it.
fn storages(page: &Page<'_>) -> Markup {
    let mut kinds: Vec<(Storage, Vec<&str>)> = Vec::new();
    for arm in &page.report.analysis.arms {
        let Some(storage) = &arm.storage else {
            continue;
        };
        // Free space changes from arm to arm and makes no other storage; directories do not either.
        let kind = Storage { free_bytes: None, directory: String::new(), ..storage.clone() };
        let same = |known: &Storage| {
            Storage { free_bytes: None, directory: String::new(), ..known.clone() } == kind
        };
        match kinds.iter_mut().find(|(known, _)| same(known)) {
            Some((_, arms)) => arms.push(&arm.name),
            None => kinds.push((storage.clone(), vec![&arm.name])),
        }
    }
    html! {
        @for (kind, arms) in kinds.iter().take(4) {
            div {
                h3 { "Storage" @if kinds.len() > 1 { " of " @for arm in arms.iter().take(3) { (text::short(arm, 24)) " " } } }
                (list(&storage(kind)))
            }
        }
    }
}

fn settings(page: &Page<'_>, analysis: &Analysis) -> Markup {
    let mut engines: Vec<(&str, Vec<&ArmSummary>)> = Vec::new();
    for arm in &analysis.arms {
        match engines.iter_mut().find(|(engine, _)| *engine == arm.engine) {
            Some((_, arms)) => arms.push(arm),
            None => engines.push((&arm.engine, vec![arm])),
        }
    }
    html! {
        @for (engine, arms) in engines.iter().take(8) {
            @let (common, differing) = split(arms);
            @let notes = notes_of(page, arms[0]);
            details {
                summary { "Settings of " (text::short(engine, NAME)) }
                p.lead { "In force as the engine itself reports them" @if arms.len() > 1 { ", the same in " (arms.len()) " arms" } "." }
                dl.columns {
                    @for (name, value) in common.iter().take(300) { dt { (text::short(name, 80)) } dd { (text::short(value, 120)) } }
                    @for (name, value) in &notes { dt { (text::short(name, 80)) } dd { (text::short(value, 120)) } }
                }
                @if !differing.is_empty() {
                    p.remark { "Different between arms, see " a href="#differed" { "what differed" } ": " (text::short(&differing.join(", "), 400)) "." }
                }
            }
        }
    }
}

/// Settings equal in all arms, and the names of the others.
fn split<'a>(arms: &[&'a ArmSummary]) -> (Vec<(&'a str, &'a str)>, Vec<&'a str>) {
    let (mut common, mut differing) = (Vec::new(), Vec::new());
    let mut names: Vec<&str> =
        arms.iter().flat_map(|arm| arm.settings.keys()).map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let first = arms[0].settings.get(name);
        match first {
            Some(value) if arms.iter().all(|arm| arm.settings.get(name) == first) => {
                common.push((name, value.as_str()))
            }
            _ => differing.push(name),
        }
    }
    (common, differing)
}

fn notes_of(page: &Page<'_>, arm: &ArmSummary) -> BTreeMap<String, String> {
    let runs = page.runs_of(&arm.name);
    runs.filter_map(|run| run.engine.as_ref())
        .map(|engine| engine.notes.clone())
        .next()
        .unwrap_or_default()
}

fn failures(record: &ExperimentRecord) -> Markup {
    let failed: Vec<_> = record
        .runs
        .iter()
        .filter_map(|run| match &run.state {
            RunState::Failed { message } => Some((run, message)),
            _ => None,
        })
        .collect();
    if failed.is_empty() {
        return html! {};
    }
    html! {
        h3 { "Runs that failed" }
        ul {
            @for (run, message) in failed.iter().take(20) {
                li { (text::short(&run.arm, NAME)) ", block " (u64::from(run.block) + 1) ", attempt " (run.attempt) ": " (text::short(message, 600)) }
            }
        }
        @if failed.len() > 20 { p.remark { "And " (failed.len() - 20) " more; all are in record.json." } }
    }
}

fn file(record: &ExperimentRecord, limit: usize) -> Markup {
    let shown = match record.file_text.char_indices().find(|(at, _)| *at >= limit) {
        Some((at, _)) => &record.file_text[..at],
        None => record.file_text.as_str(),
    };
    html! {
        pre.file { code { (plimsoll_record::redact::lines(shown)) } }
        @if shown.len() < record.file_text.len() {
            p.remark { "The first " (PAGE.bytes(shown.len() as u64)) " of " (PAGE.bytes(record.file_text.len() as u64)) "; all of it is in record.json." }
        }
    }
}
