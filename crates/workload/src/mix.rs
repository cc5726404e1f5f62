//! Which operations run, how often, and with which keys.

use crate::problem::{Problem, Wrong, in_range};
use plimsoll_record::{Operation, OwnOperation, StatementKind};
use serde::{Deserialize, Serialize};

/// A mix of operations. Proportions are weights: only their ratios count.
///
/// Names and defaults are those of YCSB's core workload, except that a proportion which is not given is zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mix {
    /// Name of the mix, for screens and legends.
    pub name: String,
    /// Weight of reading one record.
    #[serde(default)]
    pub read: f64,
    /// Weight of changing fields of one record.
    #[serde(default)]
    pub update: f64,
    /// Weight of storing one new record.
    #[serde(default)]
    pub insert: f64,
    /// Weight of reading a range of records.
    #[serde(default)]
    pub scan: f64,
    /// Weight of reading one record and then changing it.
    #[serde(default)]
    pub read_modify_write: f64,
    /// How the key of an operation is chosen.
    #[serde(default)]
    pub request_distribution: RequestDistribution,
    /// How many records a scan asks for.
    #[serde(default)]
    pub scan_length: ScanLength,
    /// Reads ask for all fields, otherwise for one.
    #[serde(default = "default_true")]
    pub read_all_fields: bool,
    /// Reads of all fields name each of them.
    #[serde(default)]
    pub read_all_fields_by_name: bool,
    /// Updates change all fields, otherwise one.
    #[serde(default)]
    pub write_all_fields: bool,
    /// Operations of an application with their weights, in place of YCSB's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<(OwnOperation, f64)>,
}

/// How the key of a read, update, scan or read-modify-write is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum RequestDistribution {
    /// Every key is chosen equally often.
    #[default]
    Uniform,
    /// One key after the other, all sessions together, again from the start at the end.
    Sequential,
    /// Few keys very often, scattered over the key space (Zipf's law with exponent 0.99 over 10^10 ranks).
    Zipfian,
    /// The newest keys most often (Zipf's law with exponent 0.99 over the age).
    Latest,
    /// One part of the keys gets one part of the operations.
    Hotspot {
        /// Share of the keys that is hot, 0 to 1.
        #[serde(default = "default_hot_data")]
        data_fraction: f64,
        /// Share of the operations that goes there, 0 to 1.
        #[serde(default = "default_hot_operations")]
        operation_fraction: f64,
    },
    /// The newest keys most often, falling off exponentially with the age.
    Exponential {
        /// This many percent of the operations ...
        #[serde(default = "default_percentile")]
        percentile: f64,
        /// ... go to this share of the records.
        #[serde(default = "default_exponential_fraction")]
        fraction: f64,
    },
}

/// How many records a scan asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScanLength {
    /// Smallest number of records of a scan.
    #[serde(default = "default_scan_min")]
    pub min: u32,
    /// Largest number of records of a scan.
    #[serde(default = "default_scan_max")]
    pub max: u32,
    /// How often each length is.
    #[serde(default)]
    pub distribution: ScanDistribution,
}

/// How often each length of a scan is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScanDistribution {
    /// Every length is chosen equally often.
    #[default]
    Uniform,
    /// The shortest length is chosen most often.
    Zipfian,
}

impl Default for ScanLength {
    fn default() -> Self {
        Self {
            min: default_scan_min(),
            max: default_scan_max(),
            distribution: ScanDistribution::Uniform,
        }
    }
}

impl RequestDistribution {
    /// YCSB's hot spot: a fifth of the keys gets four fifths of the operations.
    pub fn hotspot() -> Self {
        Self::Hotspot {
            data_fraction: default_hot_data(),
            operation_fraction: default_hot_operations(),
        }
    }

    /// YCSB's exponential: 95 % of the operations go to the newest six sevenths of the records.
    pub fn exponential() -> Self {
        Self::Exponential {
            percentile: default_percentile(),
            fraction: default_exponential_fraction(),
        }
    }
}

impl Mix {
    /// Names of the presets: YCSB's core workloads.
    pub const PRESETS: [&'static str; 6] = ["a", "b", "c", "d", "e", "f"];

    /// A mix of this name without any operation.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.into(),
            read: 0.0,
            update: 0.0,
            insert: 0.0,
            scan: 0.0,
            read_modify_write: 0.0,
            request_distribution: RequestDistribution::Zipfian,
            scan_length: ScanLength::default(),
            read_all_fields: true,
            read_all_fields_by_name: false,
            write_all_fields: false,
            operations: Vec::new(),
        }
    }

    /// One of YCSB's core workloads, by its letter in either case.
    pub fn preset(name: &str) -> Option<Self> {
        let letter = name.to_ascii_lowercase();
        let mut mix = Self::named(&letter);
        match letter.as_str() {
            "a" => (mix.read, mix.update) = (0.5, 0.5),
            "b" => (mix.read, mix.update) = (0.95, 0.05),
            "c" => mix.read = 1.0,
            "d" => {
                (mix.read, mix.insert) = (0.95, 0.05);
                mix.request_distribution = RequestDistribution::Latest;
            }
            "e" => {
                (mix.scan, mix.insert) = (0.95, 0.05);
                mix.scan_length.max = 100;
            }
            "f" => (mix.read, mix.read_modify_write) = (0.5, 0.5),
            _ => return None,
        }
        Some(mix)
    }

    /// The operations that are measured of this mix, as records name them: the parts of a read-modify-write are reads and updates too.
    pub fn measured_operations(&self) -> Vec<Operation> {
        let own = self.operations.iter().map(|(own, _)| Operation::Own(*own));
        let all = Operation::YCSB.into_iter().chain(own);
        all.filter(|operation| self.share_of(*operation) > 0.0).collect()
    }

    /// Share of the units of work that contain this operation, 0 to 1.
    pub fn share_of(&self, operation: Operation) -> f64 {
        let own = self.operations.iter().map(|(_, weight)| weight);
        let total: f64 = self.weights().iter().map(|(_, weight)| weight).chain(own).sum();
        let weight = match operation {
            Operation::Read => self.read + self.read_modify_write,
            Operation::Update => self.update + self.read_modify_write,
            Operation::Insert => self.insert,
            Operation::Scan => self.scan,
            Operation::ReadModifyWrite => self.read_modify_write,
            Operation::Delete | Operation::Verify => 0.0,
            Operation::Own(own) => {
                let mut operations = self.operations.iter();
                operations.find(|(known, _)| *known == own).map_or(0.0, |(_, weight)| *weight)
            }
        };
        if total > 0.0 { weight / total } else { 0.0 }
    }

    /// Whether any of its operations reads.
    pub fn reads(&self) -> bool {
        self.read + self.scan + self.read_modify_write > 0.0 || self.has_own(false)
    }

    /// Whether any of its operations writes.
    pub fn writes(&self) -> bool {
        self.update + self.insert + self.read_modify_write > 0.0 || self.has_own(true)
    }

    fn has_own(&self, writes: bool) -> bool {
        let mut operations = self.operations.iter();
        operations.any(|(own, weight)| own.kind().writes() == writes && *weight > 0.0)
    }

    /// Everything impossible in this description by itself. What is impossible for certain data is found by
    /// [`Workload::new`](crate::Workload::new).
    pub fn check(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (field, weight) in self.weights() {
            in_range(&mut problems, field, weight, 0.0, 1e12);
        }
        for (_, weight) in &self.operations {
            in_range(&mut problems, "operations", *weight, 0.0, 1e12);
        }
        let mut own = self.operations.iter();
        if self.weights().iter().all(|(_, weight)| *weight == 0.0)
            && own.all(|(_, weight)| *weight == 0.0)
        {
            problems.push(Problem { field: "read", wrong: Wrong::NothingToDo });
        }
        match self.request_distribution {
            RequestDistribution::Hotspot { data_fraction, operation_fraction } => {
                in_range(
                    &mut problems,
                    "request_distribution.data_fraction",
                    data_fraction,
                    0.0,
                    1.0,
                );
                in_range(
                    &mut problems,
                    "request_distribution.operation_fraction",
                    operation_fraction,
                    0.0,
                    1.0,
                );
            }
            RequestDistribution::Exponential { percentile, fraction } => {
                in_range(
                    &mut problems,
                    "request_distribution.percentile",
                    percentile,
                    1e-9,
                    100.0 - 1e-9,
                );
                in_range(&mut problems, "request_distribution.fraction", fraction, 1e-12, 1e12);
            }
            _ => {}
        }
        let ScanLength { min, max, .. } = self.scan_length;
        in_range(&mut problems, "scan_length.min", f64::from(min), 1.0, f64::from(u32::MAX));
        if min > max {
            let wrong =
                Wrong::MinimumAboveMaximum { minimum: u64::from(min), maximum: u64::from(max) };
            problems.push(Problem { field: "scan_length", wrong });
        }
        problems
    }

    /// The share of inserts among all operations, 0 to 1.
    pub fn insert_share(&self) -> f64 {
        let own = |kind| {
            let operations = self.operations.iter();
            operations.filter(move |(own, _)| own.kind() == kind).map(|(_, weight)| weight)
        };
        let all: f64 = StatementKind::ALL.into_iter().flat_map(own).sum();
        let inserts: f64 = own(StatementKind::Insert).sum();
        let total: f64 = self.weights().iter().map(|(_, weight)| weight).sum::<f64>() + all;
        if total > 0.0 { (self.insert + inserts) / total } else { 0.0 }
    }

    /// The weights with their names, in the order in which YCSB draws.
    pub(crate) fn weights(&self) -> [(&'static str, f64); 5] {
        [
            ("read", self.read),
            ("update", self.update),
            ("insert", self.insert),
            ("scan", self.scan),
            ("read_modify_write", self.read_modify_write),
        ]
    }
}

fn default_true() -> bool {
    true
}

fn default_hot_data() -> f64 {
    0.2
}

fn default_hot_operations() -> f64 {
    0.8
}

fn default_percentile() -> f64 {
    95.0
}

fn default_exponential_fraction() -> f64 {
    0.857_142_857_1
}

fn default_scan_min() -> u32 {
    1
}

fn default_scan_max() -> u32 {
    1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_the_core_workloads() {
        for name in Mix::PRESETS {
            let mix = Mix::preset(name).unwrap();
            assert!(mix.check().is_empty());
            let total: f64 = mix.weights().iter().map(|(_, weight)| weight).sum();
            assert!((total - 1.0).abs() < 1e-12);
            let latest = mix.request_distribution == RequestDistribution::Latest;
            assert_eq!(latest, name == "d");
            assert_eq!(Mix::preset(&name.to_uppercase()), Some(mix));
        }
        assert_eq!(Mix::preset("a").unwrap().update, 0.5);
        assert_eq!(Mix::preset("b").unwrap().read, 0.95);
        assert_eq!(Mix::preset("d").unwrap().insert, 0.05);
        assert_eq!(
            Mix::preset("e").unwrap().scan_length,
            ScanLength { max: 100, ..ScanLength::default() }
        );
        assert_eq!(Mix::preset("f").unwrap().read_modify_write, 0.5);
        assert_eq!(Mix::preset("g"), None);
    }

    #[test]
    fn every_problem_is_reported_at_once() {
        let mut mix = Mix::preset("a").unwrap();
        mix.read = f64::NAN;
        mix.update = -1.0;
        mix.request_distribution =
            RequestDistribution::Hotspot { data_fraction: 1.5, operation_fraction: -0.5 };
        mix.scan_length = ScanLength { min: 0, max: 0, ..ScanLength::default() };
        let fields: Vec<_> = mix.check().into_iter().map(|problem| problem.field).collect();
        assert_eq!(
            fields,
            [
                "read",
                "update",
                "request_distribution.data_fraction",
                "request_distribution.operation_fraction",
                "scan_length.min",
            ]
        );
    }

    #[test]
    fn something_must_be_asked_for() {
        let mut mix = Mix::preset("c").unwrap();
        mix.read = 0.0;
        assert_eq!(mix.check(), [Problem { field: "read", wrong: Wrong::NothingToDo }]);
        mix.scan = 3.0;
        mix.scan_length = ScanLength { min: 5, max: 4, ..ScanLength::default() };
        assert_eq!(mix.check()[0].field, "scan_length");
    }

    #[test]
    fn shares_are_ratios_of_weights() {
        let mut mix = Mix::preset("d").unwrap();
        (mix.read, mix.insert) = (30.0, 10.0);
        assert!((mix.insert_share() - 0.25).abs() < 1e-12);
    }

    #[test]
    fn serialised_forms_are_plain() {
        let text =
            r#"{"name":"hot","read":1,"request_distribution":{"hotspot":{"data_fraction":0.1}}}"#;
        let mix: Mix = serde_json::from_str(text).unwrap();
        let expected = RequestDistribution::Hotspot { data_fraction: 0.1, operation_fraction: 0.8 };
        assert_eq!(mix.request_distribution, expected);
        let text = r#"{"name":"new","read":1,"request_distribution":"latest"}"#;
        let mix: Mix = serde_json::from_str(text).unwrap();
        assert_eq!(mix.request_distribution, RequestDistribution::Latest);
        let again: Mix = serde_json::from_str(&serde_json::to_string(&mix).unwrap()).unwrap();
        assert_eq!(again, mix);
    }
}
