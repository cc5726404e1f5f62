//! Whether what another tool printed can be believed, from that output alone.

use crate::{Analysis, Steadiness};
use plimsoll_record::{ExperimentRecord, Severity, Warning, WarningId};
use plimsoll_stats::{median, theil_sen};
use serde::Serialize;
use std::collections::BTreeMap;

/// Seconds that a result should rest on at least.
const FEWEST_SECONDS: f64 = 10.0;
/// Reports between begin and end from which on a trend can be found.
const FEWEST_REPORTS: usize = 20;
/// A trend is one with a p below this, of at least this change from begin to end.
const TREND_P: f64 = 0.001;
const TREND_CHANGE: f64 = 0.1;

/// How far a result can be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Belief {
    /// The output shows no reason against it.
    Believable,
    /// Its user must know something.
    WithCare,
    /// Its figures contradict each other, or are not those of the whole.
    NotBelievable,
}

impl Belief {
    /// As it stands in a table.
    pub fn words(self) -> &'static str {
        match self {
            Self::Believable => "believable",
            Self::WithCare => "with care",
            Self::NotBelievable => "not believable",
        }
    }
}

/// Why a result cannot be believed as it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// The same for all results with such a reason: the id of a warning, `short`, `trend`, `broken`.
    pub id: String,
    pub message: String,
    /// Whether it alone makes the result one that cannot be believed.
    pub grave: bool,
}

/// One output of another tool, judged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Audited {
    /// The file, and which of its outputs where it has several.
    pub source: String,
    /// The tool; empty where the file cannot be read.
    pub tool: String,
    pub workload: String,
    pub load: String,
    pub seconds: Option<f64>,
    pub throughput: Option<f64>,
    /// The gravest of its reasons.
    pub belief: Belief,
    pub reasons: Vec<Reason>,
}

impl Audited {
    /// A file that holds results which cannot be read.
    pub fn broken(source: String, message: String) -> Self {
        Self {
            source,
            tool: String::new(),
            workload: String::new(),
            load: String::new(),
            seconds: None,
            throughput: None,
            belief: Belief::NotBelievable,
            reasons: vec![Reason { id: "broken".into(), message, grave: true }],
        }
    }

    /// Audits a record that holds nothing but this output, with its analysis.
    pub fn of(
        source: String,
        tool: String,
        record: &ExperimentRecord,
        analysis: &Analysis,
    ) -> Self {
        let curve = analysis.curves.first();
        let point = curve.and_then(|curve| curve.points.first());
        let result = point.and_then(|point| point.results.first());
        // Remarks on the whole, such as that one run decides nothing, are true of every output.
        let of_run = record.runs.iter().flat_map(|run| &run.warnings);
        let of_point = result.iter().flat_map(|result| &result.warnings);
        let weighty = of_run.chain(of_point);
        let weighty = weighty.filter(|warning| warning.severity() >= Severity::Caution);
        let mut reasons = without_repetition(weighty.map(reason).collect());
        reasons.extend(result.and_then(|result| short(result.seconds)));
        let is_steady = result.is_none_or(|one| one.steadiness != Steadiness::NotSteady);
        // An unsteady output has a trend, which is reported already.
        reasons.extend(trend(analysis).filter(|_| is_steady));
        reasons.sort_by_key(|reason| !reason.grave);
        let is_valid = result.is_some_and(|result| result.valid);
        let belief = match () {
            () if !is_valid || reasons.iter().any(|reason| reason.grave) => Belief::NotBelievable,
            () if !reasons.is_empty() => Belief::WithCare,
            () => Belief::Believable,
        };
        Self {
            source,
            tool,
            workload: curve.map(|curve| curve.mix.clone()).unwrap_or_default(),
            load: point.map(|point| point.load_label.clone()).unwrap_or_default(),
            seconds: result.map(|result| result.seconds),
            throughput: result.map(|result| result.throughput),
            belief,
            reasons,
        }
    }
}

impl Audited {
    /// Adds a reason that follows from other results and is not grave.
    pub fn add(&mut self, id: &str, message: String) {
        self.reasons.push(Reason { id: id.into(), message, grave: false });
        self.belief = self.belief.max(Belief::WithCare);
    }
}

/// A kind of reason in words.
pub fn meaning(id: &str) -> &str {
    match id {
        "W-LITTLES-LAW" => "throughput, times and threads contradict each other",
        "W-ERRORS" => "operations failed",
        "W-NOT-FOUND" => "operations found no record",
        "W-RATE-NOT-ACHIEVED" => "the target rate was not reached",
        "W-NOT-STEADY" => "it had not settled",
        "W-STALL" => "there were stalls",
        "W-TWO-STATES" => "it had two states",
        "W-IMPORT-DAMAGED" => "the output is not whole",
        "W-UNACKNOWLEDGED" => "writes were not acknowledged",
        "short" => "it was measured for less than 10 s",
        "trend" => "it became faster or slower all the time",
        "client" => "it is one of several outputs of the same time",
        "copy" => "it is a copy of another one",
        "broken" => "it cannot be read",
        other => other,
    }
}

/// Replaces many reasons of one kind, such as stalls, by the first of them and their number.
fn without_repetition(all: Vec<Reason>) -> Vec<Reason> {
    const MOST: usize = 3;
    let mut reasons: Vec<Reason> = Vec::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for reason in &all {
        *counts.entry(reason.id.clone()).or_default() += 1;
    }
    for mut reason in all {
        let count = counts[&reason.id];
        if count <= MOST {
            reasons.push(reason);
        } else if reasons.iter().all(|known| known.id != reason.id) {
            reason.message.push_str(&format!(", and {} more", count - 1));
            reasons.push(reason);
        }
    }
    reasons
}

fn reason(warning: &Warning) -> Reason {
    Reason {
        id: warning.id.id().to_owned(),
        message: warning.message.clone(),
        grave: warning.severity() == Severity::Invalid || warning.id == WarningId::ImportDamaged,
    }
}

fn short(seconds: f64) -> Option<Reason> {
    (seconds < FEWEST_SECONDS).then(|| Reason {
        id: "short".into(),
        message: format!("only {seconds:.1} s were measured"),
        grave: false,
    })
}

/// Whether it got slower or faster all the time, where the tool reported often enough between.
fn trend(analysis: &Analysis) -> Option<Reason> {
    let series = analysis.series.first()?;
    // The last report is of less than its time.
    let (_, whole) = series.seconds.split_last()?;
    let rates: Vec<f64> = whole.iter().map(|second| second.throughput).collect();
    if rates.len() < FEWEST_REPORTS {
        return None;
    }
    let found = theil_sen(&rates).ok()?;
    let change = found.slope_per_sample * (rates.len() - 1) as f64 / median(&rates)?;
    (found.p < TREND_P && change.abs() >= TREND_CHANGE).then(|| Reason {
        id: "trend".into(),
        message: format!(
            "throughput {} by {:.0} % from begin to end",
            if change < 0.0 { "fell" } else { "rose" },
            100.0 * change.abs()
        ),
        grave: false,
    })
}

/// What an audit comes to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Audit {
    /// In the order of the files.
    pub results: Vec<Audited>,
    /// Files that hold nothing of a known format.
    pub passed_over: usize,
    /// Number of files in known forms without a result, by name of the form.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub other_forms: BTreeMap<String, usize>,
}

impl Audit {
    /// How many have this belief.
    pub fn count(&self, belief: Belief) -> usize {
        let results = self.results.iter();
        results.filter(|result| result.belief == belief).count()
    }

    /// How many results have each kind of reason, the most frequent first.
    pub fn kinds(&self) -> Vec<(&str, usize)> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for result in &self.results {
            let mut ids: Vec<&str> = result.reasons.iter().map(|one| one.id.as_str()).collect();
            ids.sort_unstable();
            ids.dedup();
            for id in ids {
                *counts.entry(id).or_default() += 1;
            }
        }
        let mut kinds: Vec<(&str, usize)> = counts.into_iter().collect();
        kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        kinds
    }

    /// `134 results: 90 believable, 23 with care, 21 not believable. 5 files hold nothing that is known.`
    pub fn sentence(&self) -> String {
        let each = [Belief::Believable, Belief::WithCare, Belief::NotBelievable];
        let parts = each.map(|belief| format!("{} {}", self.count(belief), belief.words()));
        let mut text = format!(
            "{}: {}.",
            crate::words::counted(self.results.len(), "result"),
            parts.join(", ")
        );
        let copies = self.results.iter();
        let copies = copies.filter(|one| one.reasons.iter().any(|reason| reason.id == "copy"));
        match copies.count() {
            0 => {}
            1 => text.push_str(" 1 is a copy of another one."),
            count => text.push_str(&format!(" {count} are copies of others.")),
        }
        text + &self.without_result()
    }

    /// ` 2 files cannot be judged: fio's terse form. 5 files passed over: of no known format.`, or nothing.
    pub fn without_result(&self) -> String {
        let mut text = String::new();
        for (form, count) in &self.other_forms {
            let files = crate::words::counted(*count, "file");
            text.push_str(&format!(" {files} cannot be judged: {form}."));
        }
        if self.passed_over > 0 {
            let files = crate::words::counted(self.passed_over, "file");
            text.push_str(&format!(" {files} passed over: of no known format."));
        }
        text
    }
}
