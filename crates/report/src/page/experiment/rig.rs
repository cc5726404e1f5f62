//! Storage and limits: disks, filesystems, limits, prices, and whether they are what was requested.

use super::Page;
use crate::page::prose;
use crate::page::rig;
use crate::{text, words};
use maud::{Markup, html};
use plimsoll_judge::{Analysis, ArmSummary};
use plimsoll_plan::words::filesystem_line;
use plimsoll_record::quantities::numbers::PAGE;
use plimsoll_record::{Calibration, Lateness, RigRecord, RigSpec, TraceReference, kernel_line};

const ROWS: usize = 60;
/// Arms named in one row.
const NAMED: usize = 12;

/// Whether any arm stands on more than a plain directory, or has its size by a share of the cache.
pub(super) fn is_known(page: &Page<'_>) -> bool {
    let Analysis { arms, .. } = page.report.analysis;
    arms.iter().any(|arm| !rig::is_plain(&arm.rig) || arm.working_set.is_some())
        || !page.report.record.calibrations.is_empty()
}

/// In the table of the arms, below the name: what differs between them.
pub(super) fn small_print(arm: &ArmSummary, arms: &[ArmSummary]) -> Markup {
    let columns: [fn(&ArmSummary) -> Option<String>; 6] = [
        |arm| {
            let size = arm.working_set.as_ref()?;
            let share = PAGE.percent(size.got.unwrap_or(size.requested));
            Some(format!("working set {share}"))
        },
        |arm| rig::disk_of(&arm.rig, PAGE),
        |arm| filesystem_line(&arm.rig),
        |arm| kernel_line(&arm.rig.kernel),
        |arm| rig::limits(&arm.rig.limits, PAGE),
        |arm| arm.rig.server.as_ref()?.members_in_words(),
    ];
    let differs = |of: &fn(&ArmSummary) -> Option<String>| {
        arms.len() == 1 || arms.iter().any(|other| of(other) != of(arm))
    };
    let parts: Vec<String> =
        columns.iter().filter(|of| differs(of)).filter_map(|of| of(arm)).collect();
    html! { @if !parts.is_empty() { small { (text::short(&parts.join(" · "), 160)) } } }
}

pub(super) fn section(page: &Page<'_>) -> Markup {
    html! {
        (rigs(page))
        (working_sets(page))
        (shares(page))
        (calibrations(page))
        (lateness(page))
        (traces(page))
    }
}

/// Arms on equal rigs share a row.
fn rigs(page: &Page<'_>) -> Markup {
    let mut kinds: Vec<(&RigSpec, Option<&RigRecord>, Vec<&str>)> = Vec::new();
    for arm in &page.report.analysis.arms {
        match kinds.iter_mut().find(|(known, _, _)| **known == arm.rig) {
            Some((_, made, arms)) => {
                *made = made.or(arm.made.as_ref());
                arms.push(&arm.name);
            }
            None => kinds.push((&arm.rig, arm.made.as_ref(), vec![&arm.name])),
        }
    }
    if kinds.iter().all(|(rig, _, _)| rig::is_plain(rig)) {
        return html! {};
    }
    let is_served = kinds.iter().any(|(rig, _, _)| rig.server.is_some());
    html! {
        div.scroll tabindex="0" role="region" aria-label="Storage and limits" {
            table.rigs {
                thead { tr {
                    @for title in ["Arms", "Disk", "Filesystem", "Limits", "Machine and price"] { th scope="col" { (title) } }
                    @if is_served { th scope="col" { "Server" } }
                } }
                tbody { @for (requested, made, arms) in kinds.iter().take(ROWS) {
                    tr {
                        th scope="row" {
                            @for arm in arms.iter().take(NAMED) { div { (page.arm(arm)) } }
                            @if arms.len() > NAMED { small { "and " (arms.len() - NAMED) " more" } }
                        }
                        (cells(requested, *made))
                        @if is_served { (server_cell(requested, *made)) }
                    }
                } }
            }
        }
        @if kinds.len() > ROWS { p.remark { "The first " (ROWS) " of " (kinds.len()) "; all are in analysis.json." } }
    }
}

fn cells(requested: &RigSpec, made: Option<&RigRecord>) -> Markup {
    let made = made.cloned().unwrap_or_default();
    html! {
        td {
            @match rig::disk_of(requested, PAGE) { Some(disk) => (text::short(&disk, 200)), None => span.quiet { "a plain directory" } }
            @if let Some(backing) = rig::backing(requested, PAGE) { small { (backing) } }
            @if let Some(device) = &made.device { small { "as " (text::short(device, 80)) } }
        }
        td {
            @match filesystem_line(requested) { Some(filesystem) => (text::short(&filesystem, 200)), None => (PAGE.nothing()) }
            @if let Some(command) = &made.mkfs { small { code { (text::short(command, 300)) } } }
            @if let Some(version) = &made.mkfs_version { small { (text::short(version, 80)) } }
            @if let Some(options) = &made.mount_options { small { "in force: " code { (text::short(options, 300)) } } }
        }
        td {
            @match rig::limits(&requested.limits, PAGE) { Some(limits) => (text::short(&limits, 160)), None => "none" }
            @if made.limits != requested.limits { @if let Some(limits) = rig::limits(&made.limits, PAGE) {
                small { "in force: " (text::short(&limits, 160)) }
            } }
            @if let Some(kernel) = kernel_line(&requested.kernel) { small { "kernel: " (text::short(&kernel, 300)) } }
            @if let Some(version) = made.control_groups { small { "control groups, version " (version) } }
        }
        td {
            @match &requested.machine { Some(machine) => (text::short(machine, 80)), None => (PAGE.nothing()) }
            @if let Some(price) = &requested.price { small { (text::short(&rig::price(price, PAGE), 200)) } }
        }
    }
}

/// The server that was started, in its own words, and where its log is.
fn server_cell(requested: &RigSpec, made: Option<&RigRecord>) -> Markup {
    let started = made.and_then(|made| made.server.as_ref());
    html! {
        td {
            @match &requested.server { Some(server) => (text::short(&server.in_words(), 80)), None => (PAGE.nothing()) }
            @if let Some(started) = started {
                @if let Some(version) = &started.version { small { (text::short(version, 200)) } }
                small { code { (text::short(&started.command, 600)) } }
                @if let Some(user) = &started.user { small { "as the user " (text::short(user, 80)) } }
                @for (number, member) in started.members.iter().enumerate().skip(1) {
                    small { "member " (number + 1) ": " (text::short(&member.address, 80)) }
                }
                @if let Some(log) = &started.log { small { "log: " (text::short(&log.display().to_string(), 300)) } }
            }
        }
    }
}

fn working_sets(page: &Page<'_>) -> Markup {
    let sized = || {
        page.report
            .analysis
            .arms
            .iter()
            .filter_map(|arm| arm.working_set.as_ref().map(|size| (arm, size)))
    };
    if sized().next().is_none() {
        return html! {};
    }
    html! {
        h3 { "Working sets" }
        div.scroll tabindex="0" role="region" aria-label="Working sets" {
            table.data {
                thead { tr {
                    th scope="col" { "Arm" }
                    @for title in ["requested", "got", "records", "data and indexes", "usable cache"] { th.num scope="col" { (title) } }
                } }
                tbody { @for (arm, size) in sized().take(ROWS) { tr {
                    th scope="row" { (page.arm(&arm.name)) }
                    td.num { (PAGE.percent(size.requested)) }
                    td.num { @match size.got { Some(share) => (PAGE.percent(share)), None => (PAGE.nothing()) } }
                    td.num { (PAGE.count(size.records)) }
                    td.num { @match size.data_bytes { Some(bytes) => (PAGE.bytes_of(bytes)), None => (PAGE.nothing()) } }
                    td.num { (PAGE.bytes(size.usable_cache_bytes)) }
                } } }
            }
        }
    }
}

/// What had to be read from the disks.
fn shares(page: &Page<'_>) -> Markup {
    let known = || {
        let arms = page.report.analysis.arms.iter();
        arms.filter_map(|arm| Some((arm, arm.shares?)))
    };
    if known().next().is_none() {
        return html! {};
    }
    html! {
        h3 { "What the data fitted into" }
        p.lead { "What the caches held while it was measured, as shares of the data after the load. A page that is read goes through both: what fits into neither is the least where no page is in both, and the most where all of the smaller is in the larger." }
        div.scroll tabindex="0" role="region" aria-label="What the data fitted into" {
            table.data {
                thead { tr {
                    th scope="col" { "Arm" }
                    @for title in ["engine's cache", "page cache", "neither"] { th.num scope="col" { (title) } }
                } }
                tbody { @for (arm, shares) in known().take(ROWS) { tr {
                    th scope="row" { (page.arm(&arm.name)) }
                    @for share in [shares.engine_cache, shares.page_cache] { td.num { (PAGE.percent(share)) } }
                    td.num { (neither(shares.neither())) }
                } } }
            }
        }
    }
}

fn neither((least, most): (f64, f64)) -> String {
    let (least, most) = (PAGE.percent(least), PAGE.percent(most));
    if least == most {
        return most;
    }
    format!("{least} to {most}")
}

fn calibrations(page: &Page<'_>) -> Markup {
    let calibrations = &page.report.record.calibrations;
    if calibrations.is_empty() {
        return html! {};
    }
    let total: usize = calibrations.iter().map(|one| one.checks.len()).sum();
    let rows = calibrations
        .iter()
        .flat_map(|one| one.checks.iter().map(move |check| (one, check)))
        .take(ROWS);
    html! {
        h3 { "Are the disks as described?" }
        div.scroll tabindex="0" role="region" aria-label="Calibration of the emulated disks" {
            table.data {
                thead { tr {
                    th scope="col" { "Disk" } th scope="col" { "What fio did" }
                    @for title in ["requested", "measured", "off by", "allowed"] { th.num scope="col" { (title) } }
                    th scope="col" { "Verdict" } th scope="col" { "fio" }
                } }
                tbody { @for (one, check) in rows { tr {
                    th scope="row" { (text::short(&rig::disk_in(&one.disk, PAGE), 60)) }
                    td { (prose::label(&check.what, 80)) }
                    @for value in [check.requested, check.measured] { td.num { (rig::calibration_value(&check.unit, value)) } }
                    td.num { (PAGE.difference(check.measured / check.requested - 1.0)) }
                    td.num { "±\u{202f}" (rig::calibration_value(&check.unit, check.allowed)) }
                    td { @if check.passed() { "✓ as requested" } @else { strong.failed { "✗ off" } } }
                    td { (fio(one)) }
                } } }
            }
        }
        @if total > ROWS { p.remark { "The first " (ROWS) " of " (total) " checks; all are in record.json." } }
    }
}

fn fio(calibration: &Calibration) -> Markup {
    html! { (text::short(&calibration.fio_version, 24)) ", " (words::date(&calibration.at)) }
}

/// How late the emulator was, of all runs of an arm the worst.
fn lateness(page: &Page<'_>) -> Markup {
    let mut arms: Vec<(&str, Lateness)> = Vec::new();
    for arm in &page.report.analysis.arms {
        let runs = page.runs_of(&arm.name);
        let mut worst: Option<Lateness> = None;
        for lateness in runs.filter_map(|run| run.rig.as_ref()?.lateness) {
            let sum = worst.get_or_insert_default();
            sum.held += lateness.held;
            sum.p50_ns = sum.p50_ns.max(lateness.p50_ns);
            sum.p99_ns = sum.p99_ns.max(lateness.p99_ns);
            sum.max_ns = sum.max_ns.max(lateness.max_ns);
            sum.rings = lateness.rings;
        }
        arms.extend(worst.map(|worst| (arm.name.as_str(), worst)));
    }
    if arms.is_empty() {
        return html! {};
    }
    html! {
        h3 { "How late the emulated disks answered" }
        p.lead { "After the moment at which an answer was due; this is the emulator's own error, in the worst run of each arm." }
        div.scroll tabindex="0" role="region" aria-label="Lateness of the emulated disks" {
            table.data {
                thead { tr {
                    th scope="col" { "Arm" }
                    @for title in ["answers held", "p50", "p99", "latest"] { th.num scope="col" { (title) } }
                    th scope="col" { "requests through" }
                } }
                tbody { @for (arm, late) in arms.iter().take(ROWS) { tr {
                    th scope="row" { (page.arm(arm)) }
                    td.num { (PAGE.count(late.held)) }
                    @for nanos in [late.p50_ns, late.p99_ns, late.max_ns] { td.num { (PAGE.latency(nanos as f64)) } }
                    td { (late.rings.map_or("not known", |rings| if rings { "io_uring" } else { "/dev/fuse" })) }
                } } }
            }
        }
    }
}

fn traces(page: &Page<'_>) -> Markup {
    let mut traces: Vec<(&str, u32, &TraceReference)> = page
        .report
        .record
        .runs
        .iter()
        .filter_map(|run| Some((run.arm.as_str(), run.block, run.rig.as_ref()?.trace.as_ref()?)))
        .collect();
    if traces.is_empty() {
        return html! {};
    }
    let arms = &page.report.analysis.arms;
    let place = |name: &str| arms.iter().position(|arm| arm.name == name);
    traces.sort_by_key(|(arm, block, _)| (place(arm), *block));
    html! {
        details {
            summary { "Traces of every request" }
            p.lead { "They lie on the machine that measured. Each command draws one." }
            ul.traces {
                @for (arm, block, trace) in traces.iter().take(ROWS) {
                    li {
                        (page.arm(arm)) ", block " (u64::from(*block) + 1) ": " (PAGE.count(trace.requests)) " requests"
                        @if trace.overwritten > 0 { ", " (PAGE.count(trace.overwritten)) " earlier ones were written over" }
                        small { code { "plimsoll disk trace " (text::short(&quoted(&trace.path.display().to_string()), 400)) } }
                    }
                }
            }
            @if traces.len() > ROWS { p.remark { "The first " (ROWS) " of " (traces.len()) " traces; all are in record.json." } }
        }
    }
}

/// As a shell wants it.
fn quoted(path: &str) -> String {
    let plain = |character: char| {
        character.is_ascii_alphanumeric() || matches!(character, '/' | '.' | '-' | '_')
    };
    if path.chars().all(plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', "'\\''"))
    }
}
