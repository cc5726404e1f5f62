use super::characterise::target;
use super::progress::ProgressLine;
use super::{aligned, folder_of_new};
use crate::arguments;
use crate::exit::Exit;
use crate::rig::Rigs;
use crate::screen::{print, print_json, tell};
use anyhow::{Context, bail};
use plimsoll_experiment::disk_as_file;
use plimsoll_plan::words::figures_line;
use plimsoll_record::files::write_whole;
use plimsoll_record::{DiskLatency, DiskSpec};
use plimsoll_rig::Characterised;
use plimsoll_rig::fio::{
    Characterisation, Kind, Profile, Row, Target, alone, corrected, fit, grid, own_cost, single,
};
use serde_json::json;
use std::path::Path;

/// Milliseconds of each job, usually and with --quick, and before each.
const USUAL_MS: u64 = 4_000;
const QUICK_MS: u64 = 1_000;
const RAMP_MS: u64 = 250;

/// By how much a clone may differ from its original.
const BOUNDS: [f64; 3] = [0.03, 0.05, 0.15];
const BOUNDS_IN_WORDS: &str = "IOPS within 3 %, p50 within 5 %, p99 within 15 %";

/// `plimsoll disk clone`: measure, describe, emulate, measure again. 106 when the clone misses its original.
pub fn clone(arguments: &arguments::CloneDisk, rigs: &Rigs) -> anyhow::Result<Exit> {
    let to = arguments.to.as_path();
    check_file(to)?;
    let original = target(&arguments.target, arguments.erase)?;
    if !original.takes_writes() {
        bail!(
            "a clone needs writes, too: name a directory on {0}, or --erase to write over all of {0}",
            arguments.target.display()
        );
    }
    let process = rigs.get()?;
    process.open("clone")?;
    let mut shown = ProgressLine::new()?;
    let mut measure = |title: &str, what: Characterised, profile: Profile| {
        shown.next(title);
        process.characterise(what, profile, &mut |note| tell(note), &mut |progress| {
            shown.watch(progress)
        })
    };
    let lasts_ms = if arguments.quick { QUICK_MS } else { USUAL_MS };
    let emulated = |disk: &DiskSpec| Characterised::Emulated(Box::new(disk.clone()));
    // First what needs root, then what takes long.
    let without_limits = emulated(&DiskSpec::unlimited(1 << 30));
    let own =
        measure("an emulated disk without limits", without_limits, own_cost(QUICK_MS, RAMP_MS))?;
    let name = arguments.target.display().to_string();
    let found = measure(&name, Characterised::Target(original), grid(lasts_ms, RAMP_MS))?;
    let mut fitted = fit(&found, &own);
    if let Some(alone_disk) = alone(&fitted.disk) {
        let title = "its clone with latencies that do not vary";
        let jobs = single(lasts_ms, RAMP_MS);
        let measured = measure(title, emulated(&alone_disk), jobs)?;
        fitted.disk = corrected(&fitted.disk, &found, &measured);
    }
    let copy = measure("its clone", emulated(&fitted.disk), grid(lasts_ms, RAMP_MS))?;
    drop(shown);

    let rows = compared(&found, &copy);
    let bad = rows.iter().filter(|row| !row.is_good()).count();
    let verdict = match bad {
        0 => format!("in all {} jobs the clone is like its original", rows.len()),
        bad => format!("in {bad} of {} jobs the clone is not like its original", rows.len()),
    };
    write_whole(to, description(&found, &fitted.disk, &verdict).as_bytes())
        .with_context(|| format!("cannot write {}", to.display()))?;
    if arguments.json {
        print_json(&json!({
            "disk": fitted.disk, "beyond_this_machine": fitted.beyond, "jobs": rows.len(), "jobs_off": bad,
            "without_limits": own, "original": found, "clone": copy,
        }))?;
    } else {
        let beyond: String = fitted.beyond.iter().map(|what| format!("{what}\n")).collect();
        print(format!(
            "{}\n{}: {}\n{}{verdict}: {BOUNDS_IN_WORDS}\n",
            table(&rows),
            to.display(),
            figures_line(&with_medians(&fitted.disk), false),
            beyond
        ))?;
    }
    Ok(if bad == 0 { Exit::Good } else { Exit::InvalidMeasurement })
}

/// With the median in place of a table.
fn with_medians(disk: &DiskSpec) -> DiskSpec {
    let mut disk = disk.clone();
    for law in [&mut disk.read_latency, &mut disk.write_latency, &mut disk.flush_latency] {
        if let DiskLatency::Table { .. } = law {
            *law = DiskLatency::Constant { ns: law.median_ns() as u64 };
        }
    }
    disk
}

/// Before anything is measured.
fn check_file(to: &Path) -> anyhow::Result<()> {
    let ending = to.extension().unwrap_or_default();
    if ending != "yaml" && ending != "yml" {
        bail!("{} should end in .yaml, so that an experiment can name it", to.display());
    }
    if !folder_of_new(to)?.is_dir() {
        bail!("there is no folder for {}", to.display());
    }
    Ok(())
}

fn description(found: &Characterisation, disk: &DiskSpec, verdict: &str) -> String {
    format!(
        "# A clone of {}, measured at {} by {}.\n# Held against it: {verdict} ({BOUNDS_IN_WORDS}).\n{}",
        match &found.target {
            Target::Device { path, .. } => path.display().to_string(),
            Target::Directory { path } => format!("the disk below {}", path.display()),
        },
        found.at,
        found.fio_version,
        disk_as_file(disk)
    )
}

/// One job on the original and on the clone: IOPS, and the median and the 99th percentile of its latency in nanoseconds.
struct Compared<'a> {
    row: &'a Row,
    original: [f64; 3],
    copy: [f64; 3],
}

impl Compared<'_> {
    fn off(&self) -> [f64; 3] {
        std::array::from_fn(|place| self.copy[place] / self.original[place] - 1.0)
    }

    fn is_good(&self) -> bool {
        self.off().iter().zip(BOUNDS).all(|(off, bound)| off.abs() <= bound)
    }
}

fn compared<'a>(original: &'a Characterisation, copy: &Characterisation) -> Vec<Compared<'a>> {
    let pairs = original.rows.iter().zip(&copy.rows);
    pairs
        .filter_map(|(row, other)| {
            Some(Compared { row, original: figures(row)?, copy: figures(other)? })
        })
        .collect()
}

/// Latencies; for a mix, those of its reads.
fn figures(row: &Row) -> Option<[f64; 3]> {
    let measured = &row.measured;
    let latency = match row.job.kind {
        Kind::RandomWriteDatasync => measured.syncs.as_ref()?,
        _ => &measured.reads.as_ref().or(measured.writes.as_ref())?.latency,
    };
    Some([measured.iops(), latency.p50_ns, latency.p99_ns])
}

fn table(rows: &[Compared<'_>]) -> String {
    let titles = ["", "", "IOPS", "off by", "p50", "off by", "p99", "off by"];
    let mut lines = vec![titles.map(str::to_owned).to_vec()];
    for one in rows {
        let [iops, p50, p99] = one.off().map(|off| format!("{:+.1} %", off * 100.0));
        let ms = |nanos: f64| format!("{:.3} ms", nanos / 1e6);
        lines.push(vec![
            if one.is_good() { "good" } else { "OFF" }.to_owned(),
            one.row.job.label.clone(),
            format!("{:.0}", one.original[0]),
            iops,
            ms(one.original[1]),
            p50,
            ms(one.original[2]),
            p99,
        ]);
    }
    aligned(&lines, 2)
}
