//! The files of an export: their names, who reads them, and what is in them. The page lists them, and [`export`](crate::export) writes them.

use crate::{Report, text};
use plimsoll_record::{FioResult, RunRecord, Slice};

/// One file of an export: its name and what is in it, not yet written.
#[derive(Clone, Debug)]
pub struct ExportFile<'a> {
    /// A plain file name, without a folder.
    pub name: String,
    /// What is in it, in a few words.
    pub about: &'static str,
    pub form: Form,
    /// What is written into it.
    pub content: Content<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Form {
    Csv,
    Parquet,
    Json,
    Hdr,
    /// What fio said of emulated disks.
    Fio,
    Perfkit,
    Prometheus,
    Perfetto,
}

impl Form {
    /// All of them, in the order in which help lists them.
    pub const ALL: [Self; 8] = [
        Self::Csv,
        Self::Parquet,
        Self::Json,
        Self::Hdr,
        Self::Fio,
        Self::Perfkit,
        Self::Prometheus,
        Self::Perfetto,
    ];

    /// As it is called on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Parquet => "parquet",
            Self::Json => "json",
            Self::Hdr => "hdr",
            Self::Fio => "fio",
            Self::Perfkit => "perfkit",
            Self::Prometheus => "prometheus",
            Self::Perfetto => "perfetto",
        }
    }
}

/// What is written into a file.
#[derive(Clone, Copy, Debug)]
pub enum Content<'a> {
    /// Rows of a table as CSV.
    Csv(Table, Report<'a>),
    /// Rows of a table as Parquet.
    Parquet(Table, Report<'a>),
    Record(Report<'a>),
    Analysis(Report<'a>),
    Fio(&'a FioResult),
    HdrLog(&'a RunRecord),
    Perfkit(Report<'a>),
    Prometheus(Report<'a>),
    /// The course of the experiment.
    Perfetto(Report<'a>),
}

/// What is written as rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    Points,
    Slices,
    Figures,
    /// Trials of searches for the plimsoll line.
    Trials,
    /// Machines, where several took part.
    Hosts,
    /// What was found of what was planted, where it was.
    Controls,
    /// The experiment itself: for many of them in one data set.
    Experiments,
    Verdicts,
}

impl Table {
    const OF_ONE: [Self; 6] =
        [Self::Points, Self::Slices, Self::Figures, Self::Trials, Self::Hosts, Self::Controls];

    pub fn name(self) -> &'static str {
        match self {
            Self::Experiments => "experiments",
            Self::Verdicts => "verdicts",
            Self::Points => "points",
            Self::Slices => "slices",
            Self::Figures => "figures",
            Self::Trials => "trials",
            Self::Hosts => "hosts",
            Self::Controls => "controls",
        }
    }

    /// The tables of an experiment, for a data set of many.
    pub fn of(report: &Report<'_>) -> Vec<Self> {
        let mut tables = vec![Self::Experiments, Self::Verdicts];
        tables.extend(Self::OF_ONE);
        tables.retain(|table| !table.is_empty(report));
        tables
    }

    fn is_empty(self, report: &Report<'_>) -> bool {
        match self {
            Self::Trials => report.analysis.lines.is_empty(),
            Self::Hosts => report.analysis.hosts.is_empty(),
            Self::Controls => report.analysis.controls.is_empty(),
            Self::Verdicts => report.analysis.comparisons.is_empty(),
            Self::Experiments | Self::Points | Self::Slices | Self::Figures => false,
        }
    }

    fn about(self) -> &'static str {
        match self {
            Self::Experiments => "one row for each experiment",
            Self::Verdicts => "one row for each comparison",
            Self::Points => "one row for each point of each run",
            Self::Slices => "one row for each second, operation and status",
            Self::Figures => "one row for each point of each run with what was watched there",
            Self::Trials => "one row for each trial of each search for the plimsoll line",
            Self::Hosts => "one row for each machine of each arm with what it did",
            Self::Controls => "one row for each control with what was found of it",
        }
    }
}

/// Every file of a report: tables and documents, the trials where lines were searched, the hosts where there are several, the controls where there are any, what fio said in each of its jobs, and an HDR log for each run that has
/// slices.
pub fn files<'a>(report: &Report<'a>) -> Vec<ExportFile<'a>> {
    let mut files = Vec::new();
    let mut add = |name: String, about, form, content| {
        files.push(ExportFile { name, about, form, content });
    };
    for table in Table::OF_ONE {
        if table.is_empty(report) {
            continue;
        }
        let (name, about) = (table.name(), table.about());
        let csv = Content::Csv(table, *report);
        add(format!("{name}.csv"), about, Form::Csv, csv);
        let parquet = Content::Parquet(table, *report);
        add(format!("{name}.parquet"), about, Form::Parquet, parquet);
    }
    for (name, about, form, content) in [
        ("record.json", "everything that was measured", Form::Json, Content::Record(*report)),
        (
            "analysis.json",
            "everything that follows from it",
            Form::Json,
            Content::Analysis(*report),
        ),
        (
            "perfkit.json",
            "a sample of PerfKit Benchmarker for each figure of each valid run",
            Form::Perfkit,
            Content::Perfkit(*report),
        ),
        (
            "metrics.prom",
            "the figures of each run in Prometheus' text form",
            Form::Prometheus,
            Content::Prometheus(*report),
        ),
        (
            "perfetto.json",
            "runs, points, checkpoints, stalls and curves over time for Perfetto and Chrome",
            Form::Perfetto,
            Content::Perfetto(*report),
        ),
    ] {
        add(name.into(), about, form, content);
    }
    let results = report.record.calibrations.iter().flat_map(|calibration| &calibration.results);
    for (place, result) in results.enumerate() {
        let stem = text::file_stem(&result.label);
        add(
            format!("calibration-{}-{stem}.json", place + 1),
            "what fio said of an emulated disk",
            Form::Fio,
            Content::Fio(result),
        );
    }
    for run in report.record.runs.iter().filter(|run| has_log(run)) {
        let mut arms = report.analysis.arms.iter();
        let arm = arms.position(|arm| arm.name == run.arm);
        add(
            hdr_name(run, arm),
            "response times of each second for the HdrHistogram tools",
            Form::Hdr,
            Content::HdrLog(run),
        );
    }
    files
}

/// Whether a run has anything for a log.
fn has_log(run: &RunRecord) -> bool {
    let mut points = run.points.iter().chain(&run.load);
    points.any(|point| point.slices.iter().any(has_histogram))
}

/// Whether a slice has anything for a log. One without operations has an empty place in it; imported ones may have figures without histograms.
fn has_histogram(slice: &Slice) -> bool {
    slice.operations.iter().all(|part| part.latencies.service.summary().is_none())
}

/// `block-01-arm-2-small-cache.hlog`: the number of the arm keeps names apart that look alike without their special characters.
fn hdr_name(run: &RunRecord, arm: Option<usize>) -> String {
    let number = arm.map_or_else(|| "x".to_owned(), |index| (index + 1).to_string());
    let attempt = if run.attempt > 1 { format!("-attempt-{}", run.attempt) } else { String::new() };
    format!(
        "block-{:02}-arm-{number}-{}{attempt}.hlog",
        u64::from(run.block) + 1,
        text::file_stem(&run.arm)
    )
}
