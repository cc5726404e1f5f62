//! Whether the machine was the same one in every block, by fixed tasks that were timed before and after them.

use crate::DriftResult;
use crate::select::Selection;
use crate::words::{list, percent};
use crate::{Validity, ValidityState};
use plimsoll_record::{ProbeTime, Warning, WarningId};
use plimsoll_stats::over_median;
use std::collections::{BTreeMap, BTreeSet};

/// How far the CPU task may be off the median of all. No figure of the experiment widens it: a machine that is restless throughout is not thereby a steady one.
const CPU_OFF: f64 = 0.05;
/// How far the disk task may be off.
const DISK_OFF: f64 = 0.25;

/// One probe task: block, place, time over the median of all.
type Ratio = (u32, ProbeTime, f64);

/// What the probe tasks say; `None` where none were timed.
pub(crate) fn drift(selection: &Selection<'_>) -> Option<DriftResult> {
    // A machine is compared only with itself.
    let mut by_host: BTreeMap<Option<&str>, (Vec<Ratio>, Vec<Ratio>)> = BTreeMap::new();
    for run in &selection.latest {
        for probe in &run.probe_tasks {
            let (cpu, disk) = by_host.entry(probe.host.as_deref()).or_default();
            cpu.push((run.block, probe.place, probe.cpu_ns as f64));
            disk.extend(probe.disk_ns.map(|ns| (run.block, probe.place, ns as f64)));
        }
    }
    if by_host.is_empty() {
        return None;
    }
    let (mut cpu, mut disk, mut marked) = (Vec::new(), Vec::new(), BTreeSet::new());
    for (of_cpu, of_disk) in by_host.into_values() {
        for (all, one, allowed) in [(&mut cpu, of_cpu, CPU_OFF), (&mut disk, of_disk, DISK_OFF)] {
            let (mut ratios, off) = ratios(one, allowed);
            all.append(&mut ratios);
            marked.extend(off);
        }
    }
    for all in [&mut cpu, &mut disk] {
        in_order(all);
    }
    let mut result = DriftResult {
        cpu,
        disk,
        allowed: (CPU_OFF, DISK_OFF),
        marked: marked.into_iter().collect(),
        sentence: String::new(),
    };
    result.sentence = sentence(&result);
    Some(result)
}

fn in_order(probes: &mut [Ratio]) {
    probes.sort_by_key(|(block, place, _)| (*block, *place == ProbeTime::AfterBlock));
}

/// In order of blocks, as shares of the median; and the blocks of those that are further off than is allowed.
fn ratios(mut times: Vec<Ratio>, allowed: f64) -> (Vec<Ratio>, BTreeSet<u32>) {
    in_order(&mut times);
    let all: Vec<f64> = times.iter().map(|(_, _, ns)| *ns).collect();
    let Some(ratios) = over_median(&all) else {
        return (Vec::new(), BTreeSet::new());
    };
    for ((_, _, time), ratio) in times.iter_mut().zip(&ratios) {
        *time = *ratio;
    }
    let off = times.iter().filter(|(_, _, ratio)| (ratio - 1.0).abs() > allowed);
    let blocks = off.map(|(block, _, _)| *block).collect();
    (times, blocks)
}

fn sentence(drift: &DriftResult) -> String {
    if drift.marked.is_empty() {
        return match standing(drift) {
            Steadiness::Once => "The machine was timed in one block only.".into(),
            Steadiness::Same => {
                format!("The machine was the same in every block: {}.", within(drift))
            }
        };
    }
    let remarks: Vec<String> = drift
        .marked
        .iter()
        .map(|block| format!("in block {} {}", u64::from(*block) + 1, of_block(drift, *block)))
        .collect();
    format!("The machine drifted: {}.", list(&remarks))
}

/// What the probe tasks say where no block stands out.
enum Steadiness {
    /// There is nothing to compare a block with.
    Once,
    /// All within what is always allowed.
    Same,
}

fn standing(drift: &DriftResult) -> Steadiness {
    let first = drift.cpu.first().map(|(block, _, _)| *block);
    if drift.cpu.iter().all(|(block, _, _)| Some(*block) == first) {
        return Steadiness::Once;
    }
    Steadiness::Same
}

fn furthest(ratios: &[Ratio]) -> Option<f64> {
    let off = ratios.iter().map(|(_, _, one)| (one - 1.0).abs());
    off.reduce(f64::max)
}

/// `a fixed test of the CPU within 2.0 % and a fixed test of the disk within 7.0 % of the median`.
fn within(drift: &DriftResult) -> String {
    let of =
        |what: &str, off: f64| format!("a fixed test of the {what} within {}", percent(off, 1));
    let mut parts: Vec<String> = Vec::new();
    parts.extend(furthest(&drift.cpu).map(|off| of("CPU", off)));
    parts.extend(furthest(&drift.disk).map(|off| of("disk", off)));
    format!("{} of the median", list(&parts))
}

/// `a fixed test of the CPU took 12.0 % longer than usual (5.0 % is allowed)`, of the probe task of this block that is furthest off, for each task that is.
fn of_block(drift: &DriftResult, block: u32) -> String {
    let mut parts = Vec::new();
    for (what, ratios, allowed) in
        [("CPU", &drift.cpu, drift.allowed.0), ("disk", &drift.disk, drift.allowed.1)]
    {
        let of_block = ratios.iter().filter(|(of, _, _)| *of == block);
        let furthest = of_block
            .map(|(_, _, ratio)| ratio - 1.0)
            .max_by(|left, right| left.abs().total_cmp(&right.abs()));
        if let Some(off) = furthest.filter(|off| off.abs() > allowed) {
            let side = if off > 0.0 { "longer" } else { "shorter" };
            parts.push(format!(
                "a fixed test of the {what} took {} {side} than usual ({} is allowed)",
                percent(off.abs(), 1),
                percent(allowed, 1)
            ));
        }
    }
    list(&parts)
}

/// One for each block in which the machine was another one.
pub(crate) fn warnings(drift: Option<&DriftResult>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let Some(drift) = drift else {
        return warnings;
    };
    for block in &drift.marked {
        let subject = format!("block {}", u64::from(*block) + 1);
        warnings.push(Warning::new(WarningId::Drift, subject, of_block(drift, *block)));
    }
    warnings
}

pub(crate) fn validity(drift: Option<&DriftResult>) -> Option<Validity> {
    let drift = drift?;
    let state = match standing(drift) {
        _ if !drift.marked.is_empty() => ValidityState::Caution,
        Steadiness::Same => ValidityState::Good,
        Steadiness::Once => ValidityState::Note,
    };
    let text = if drift.marked.is_empty() {
        match standing(drift) {
            Steadiness::Once => "timed in one block only".to_owned(),
            Steadiness::Same => format!("the same in every block: {}", within(drift)),
        }
    } else {
        let blocks: Vec<String> =
            drift.marked.iter().map(|block| (u64::from(*block) + 1).to_string()).collect();
        let noun = if blocks.len() == 1 { "block" } else { "blocks" };
        format!("the machine ran at a different speed in {noun} {}", list(&blocks))
    };
    Some(Validity::of("drift", state, text))
}
