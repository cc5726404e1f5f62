//! What a plan would do, before it does it: in which order, for how long, needing how much, and where each value comes from.

use crate::mistake::bytes;
use crate::units::shortened;
use crate::{Arm, EngineKind, Order, Origin, Plan, Point, units};
use plimsoll_schedule::Load;
use serde::Serialize;

/// Records that an engine stores in a second, about: embedded WiredTiger on two cores does 43,000 to 70,000 of 1 kB.
const LOADED_RECORDS_PER_SECOND: f64 = 50_000.0;
/// Bytes that an engine stores in a second, about: what binds where records are large.
const LOADED_BYTES_PER_SECOND: f64 = 50e6;
/// Bytes on disk for a byte of a record: 1.2 kB for ten fields of 100 bytes, measured on WiredTiger with snappy.
const DISK_PER_BYTE: f64 = 1.15;
/// Bytes on disk that each record takes besides, mostly in the index.
const DISK_PER_RECORD: f64 = 40.0;
/// Checkpoints write anew before they free what they replace: at worst there is everything twice.
const DISK_COPIES: f64 = 2.0;
/// Journal, metadata and the statistics of an engine.
const DISK_BESIDES: f64 = 256e6;
/// The program itself with its histograms.
const MEMORY_BESIDES: f64 = 100e6;

/// What a plan would do. The figures of [`Needs`] are estimates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlanExplanation {
    /// Of the experiment.
    pub name: String,
    /// Of the experiment.
    pub question: Option<String>,
    /// [`Plan::hash`].
    pub hash: String,
    /// The arms, in the order of the file.
    pub arms: Vec<ArmExplanation>,
    /// The points of each run in words, in the order in which they are measured.
    pub points: Vec<String>,
    /// Names of the arms in the order in which they run, for each block.
    pub blocks: Vec<Vec<String>>,
    /// How that order came about.
    pub order: Order,
    /// Of everything random.
    pub seed: u64,
    /// Time, disk and memory.
    pub needs: Needs,
    /// Whether points can end before their time, after a number of operations.
    pub may_end_early: bool,
    /// Every value with its origin.
    pub origins: Vec<Origin>,
}

/// An arm in words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArmExplanation {
    /// Of the arm.
    pub name: String,
    /// From the file.
    pub about: Option<String>,
    /// Name of the engine.
    pub engine: String,
    /// Number of records after the load.
    pub records: u64,
    /// Mean bytes of all records together, as asked: before the engine adds or compresses anything.
    pub data_bytes: u64,
    /// Bytes of the engine's cache, if it has one.
    pub cache_bytes: Option<u64>,
}

/// What an experiment needs. Runs are made one after the other, so disk and memory are those of the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Needs {
    /// Number of runs.
    pub runs: u64,
    /// Warm-up and measuring of all points of all runs, nanoseconds: exact, unless points end early.
    pub measuring_ns: u64,
    /// Storing the data before the points, for all runs, nanoseconds.
    pub loading_ns: u64,
    /// Bytes of disk at the worst moment.
    pub disk_bytes: u64,
    /// Bytes of memory of the process that is measured, without the page cache.
    pub memory_bytes: u64,
}

/// Explains a plan. `engines` are those that it was checked against.
#[must_use]
pub fn explain(plan: &Plan, engines: &[EngineKind]) -> PlanExplanation {
    let mut blocks: Vec<Vec<String>> = Vec::new();
    for run in &plan.runs {
        if run.position == 0 {
            blocks.push(Vec::new());
        }
        if let Some(block) = blocks.last_mut() {
            block.push(plan.arms[run.arm as usize].name.clone());
        }
    }
    PlanExplanation {
        name: plan.name.clone(),
        question: plan.question.clone(),
        hash: plan.hash(),
        arms: plan
            .arms
            .iter()
            .map(|arm| explain_arm(arm, engines))
            .collect(),
        points: plan
            .points
            .iter()
            .map(|point| point_text(plan, point))
            .collect(),
        blocks,
        order: plan.measurement.order,
        seed: plan.measurement.seed,
        needs: needs(plan, engines),
        may_end_early: plan.measurement.operations.is_some(),
        origins: plan.origins.clone(),
    }
}

fn explain_arm(arm: &Arm, engines: &[EngineKind]) -> ArmExplanation {
    ArmExplanation {
        name: arm.name.clone(),
        about: arm.about.clone(),
        engine: arm.engine.clone(),
        records: arm.data.key_count(),
        data_bytes: data_bytes(arm) as u64,
        cache_bytes: cache_bytes(arm, engines),
    }
}

fn data_bytes(arm: &Arm) -> f64 {
    arm.data.mean_record_bytes() * arm.data.key_count() as f64
}

fn kind<'e>(arm: &Arm, engines: &'e [EngineKind]) -> Option<&'e EngineKind> {
    engines.iter().find(|kind| kind.name == arm.engine)
}

fn cache_bytes(arm: &Arm, engines: &[EngineKind]) -> Option<u64> {
    arm.settings.bytes(kind(arm, engines)?.cache_setting?)
}

fn point_text(plan: &Plan, point: &Point) -> String {
    let mix = &plan.mixes[point.mix as usize].name;
    let kind = if matches!(point.load, Load::Closed { .. }) {
        "closed"
    } else {
        "open"
    };
    format!("mix {mix}, {kind} loop, {}", point.load)
}

fn needs(plan: &Plan, engines: &[EngineKind]) -> Needs {
    let measurement = &plan.measurement;
    let point_ns = measurement
        .warm_up_ns
        .saturating_add(measurement.duration_ns);
    let run_ns = point_ns.saturating_mul(plan.points.len() as u64);
    let (mut loading_seconds, mut disk, mut memory) = (0.0, 0f64, 0f64);
    for arm in &plan.arms {
        memory = memory.max(cache_bytes(arm, engines).unwrap_or(0) as f64 + MEMORY_BESIDES);
        if !kind(arm, engines).is_some_and(|kind| kind.keeps_data) {
            continue;
        }
        let (records, bytes) = (arm.data.key_count() as f64, data_bytes(arm));
        loading_seconds +=
            (records / LOADED_RECORDS_PER_SECOND).max(bytes / LOADED_BYTES_PER_SECOND);
        let all_records = records + inserted_records(plan, point_ns);
        let on_disk =
            all_records * (arm.data.mean_record_bytes() * DISK_PER_BYTE + DISK_PER_RECORD);
        disk = disk.max(on_disk * DISK_COPIES + DISK_BESIDES);
    }
    loading_seconds *= f64::from(measurement.blocks);
    Needs {
        runs: plan.runs.len() as u64,
        measuring_ns: run_ns.saturating_mul(plan.runs.len() as u64),
        loading_ns: (loading_seconds * 1e9) as u64,
        disk_bytes: disk as u64,
        memory_bytes: memory as u64,
    }
}

/// Records that the points of one run insert, about.
fn inserted_records(plan: &Plan, point_ns: u64) -> f64 {
    let mut records = 0.0;
    for point in &plan.points {
        let expected = point.load.expected_arrivals(point_ns);
        let operations = expected.unwrap_or(LOADED_RECORDS_PER_SECOND * point_ns as f64 / 1e9);
        let most = plan
            .measurement
            .operations
            .map_or(f64::INFINITY, |most| most as f64);
        let operations = operations.min(most);
        records += operations * plan.mixes[point.mix as usize].insert_share();
    }
    records
}

/// Nanoseconds for the eye: whole seconds.
fn about(nanos: u64) -> String {
    const SECOND: u64 = 1_000_000_000;
    units::duration(nanos.saturating_add(SECOND / 2) / SECOND * SECOND)
}

impl std::fmt::Display for PlanExplanation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let plural = |count: usize, thing: &str| {
            format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
        };
        writeln!(f, "experiment {}", self.name)?;
        if let Some(question) = &self.question {
            writeln!(f, "  {question}")?;
        }
        writeln!(f)?;
        writeln!(
            f,
            "runs    {}: {}, {}; {} in each",
            self.needs.runs,
            plural(self.arms.len(), "arm"),
            plural(self.blocks.len(), "block"),
            plural(self.points.len(), "point"),
        )?;
        let total = self
            .needs
            .measuring_ns
            .saturating_add(self.needs.loading_ns);
        let most = if self.may_end_early { "at most " } else { "" };
        write!(
            f,
            "time    about {}: {most}{} of warm-up and measuring",
            about(total),
            about(self.needs.measuring_ns)
        )?;
        if self.needs.loading_ns >= 500_000_000 {
            write!(
                f,
                ", about {} of storing data",
                about(self.needs.loading_ns)
            )?;
        }
        writeln!(f)?;
        match self.needs.disk_bytes {
            0 => writeln!(f, "disk    nothing but the results")?,
            disk_bytes => writeln!(
                f,
                "disk    up to about {}, one run at a time",
                bytes(disk_bytes as f64)
            )?,
        }
        writeln!(
            f,
            "memory  about {} without the page cache",
            bytes(self.needs.memory_bytes as f64)
        )?;

        writeln!(f, "\narms")?;
        let mut rows = Vec::new();
        for arm in &self.arms {
            rows.push(vec![
                arm.name.clone(),
                arm.engine.clone(),
                format!("{} records", units::count(arm.records)),
                format!("{} of data", bytes(arm.data_bytes as f64)),
                arm.cache_bytes.map_or_else(
                    || "no cache".to_owned(),
                    |cache| format!("cache {}", units::size(cache)),
                ),
                arm.about.clone().unwrap_or_default(),
            ]);
        }
        write_table(f, &rows)?;

        let how = match self.order {
            Order::Shuffled => format!("shuffled in each block, seed {}", self.seed),
            Order::AsWritten => "as in the file in each block".to_owned(),
        };
        writeln!(f, "\norder ({how})")?;
        for (block, arms) in self.blocks.iter().enumerate() {
            writeln!(f, "  block {:<3} {}", block + 1, arms.join(", "))?;
        }
        writeln!(f, "\npoints of each run")?;
        for (index, point) in self.points.iter().enumerate() {
            writeln!(f, "  {:<3} {point}", index + 1)?;
        }
        writeln!(f, "\nvalues")?;
        let rows: Vec<Vec<String>> = self
            .origins
            .iter()
            .map(|origin| {
                vec![
                    origin.path.clone(),
                    shortened(&origin.value),
                    origin.source.to_string(),
                ]
            })
            .collect();
        write_table(f, &rows)?;
        write!(f, "\nplan {}", self.hash)
    }
}

/// Rows with their columns below each other. A cell that is too wide for a column does not widen it.
fn write_table(f: &mut std::fmt::Formatter<'_>, rows: &[Vec<String>]) -> std::fmt::Result {
    const WIDEST: usize = 52;
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut widths = vec![0; columns];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count().min(WIDEST));
        }
    }
    for row in rows {
        let mut line = String::from(" ");
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(&format!(" {cell:<width$} "));
        }
        writeln!(f, "{}", line.trim_end())?;
    }
    Ok(())
}
