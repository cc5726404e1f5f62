//! The metrics by which points are judged, and the words for them.

use plimsoll_record::Operation;
use serde::{Deserialize, Serialize};

/// Something of a point that can be judged.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "metric", rename_all = "kebab-case")]
pub enum Metric {
    /// Successful operations per second, over the measured time.
    Throughput,
    /// Mean of the response times, in nanoseconds.
    ResponseMean,
    /// A percentile (0 to 100) of the response time, nanoseconds.
    Response {
        /// Which percentile, from 0 to 100.
        percentile: f64,
    },
    /// A percentile (0 to 100) of the service time, nanoseconds.
    Service {
        /// Which percentile, from 0 to 100.
        percentile: f64,
    },
    /// CPU time per operation, nanoseconds: of the server, without its client, or of an embedded engine with its client.
    CpuPerOperation,
    /// Share of operations that failed, 0 to 1.
    Errors,
    /// The plimsoll line: the highest rate that holds the objective, operations per second. Only at the point that searches it.
    Line,
    /// Price of a million successful operations, in the currency of the arm's price; at the point that searches the line, at the rate of the line.
    Cost,
    /// Bytes of data and indexes on the disk after the load.
    Size,
    /// Bytes that the engine writes for each operation, to its data and its journal.
    Written,
    /// Bytes that the engine writes for each byte that operations insert or change.
    WriteAmplification,
    /// A metric of one operation alone.
    Of {
        /// Place and name of the operation.
        operation: Operation,
        /// What of the operation is judged.
        of: OfOperation,
    },
}

/// What can be judged of one operation; as the metric of the same name, which is of all operations together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "metric", rename_all = "kebab-case")]
pub enum OfOperation {
    /// Its successful calls per second.
    Throughput,
    /// Mean of its response times, in nanoseconds.
    ResponseMean,
    /// A percentile (0 to 100) of its response time, nanoseconds.
    Response {
        /// Which percentile, from 0 to 100.
        percentile: f64,
    },
    /// A percentile (0 to 100) of its service time, nanoseconds.
    Service {
        /// Which percentile, from 0 to 100.
        percentile: f64,
    },
}

/// Whether a higher or a lower value is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// A higher value is better: throughput.
    HigherIsBetter,
    /// A lower value is better: response time, cost.
    LowerIsBetter,
}

impl Direction {
    /// 1 where more is better, else -1: what turns a logarithm so that more is better.
    pub fn sign(self) -> f64 {
        match self {
            Self::HigherIsBetter => 1.0,
            Self::LowerIsBetter => -1.0,
        }
    }
}

impl Metric {
    /// The word in files and on screens: `throughput`, `response.p99`, `service.p50`, `response.mean`, `cpu`, `errors`, `line`, `cost`, `size`, `written`,
    /// `write-amplification`; of one operation `response.p99 of by-customer`.
    pub fn name(self) -> String {
        match self {
            Self::Throughput => "throughput".into(),
            Self::ResponseMean => "response.mean".into(),
            Self::Response { percentile } => format!("response.p{percentile}"),
            Self::Service { percentile } => format!("service.p{percentile}"),
            Self::CpuPerOperation => "cpu".into(),
            Self::Errors => "errors".into(),
            Self::Line => "line".into(),
            Self::Cost => "cost".into(),
            Self::Size => "size".into(),
            Self::Written => "written".into(),
            Self::WriteAmplification => "write-amplification".into(),
            Self::Of { operation, .. } => {
                format!("{} of {}", self.of_all().name(), operation.name())
            }
        }
    }

    /// The metric of a word that [`Self::name`] writes, of all operations together.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "throughput" => Some(Self::Throughput),
            "response.mean" => Some(Self::ResponseMean),
            "cpu" => Some(Self::CpuPerOperation),
            "errors" => Some(Self::Errors),
            "line" => Some(Self::Line),
            "cost" => Some(Self::Cost),
            "size" => Some(Self::Size),
            "written" => Some(Self::Written),
            "write-amplification" => Some(Self::WriteAmplification),
            _ => match word.split_once('.') {
                Some(("response", rest)) => {
                    percentile(rest).map(|percentile| Self::Response { percentile })
                }
                Some(("service", rest)) => {
                    percentile(rest).map(|percentile| Self::Service { percentile })
                }
                _ => None,
            },
        }
    }

    /// The same of one operation alone; `None` of what is known of all together only.
    pub fn of(self, operation: Operation) -> Option<Self> {
        let of = match self {
            Self::Throughput => OfOperation::Throughput,
            Self::ResponseMean => OfOperation::ResponseMean,
            Self::Response { percentile } => OfOperation::Response { percentile },
            Self::Service { percentile } => OfOperation::Service { percentile },
            _ => return None,
        };
        Some(Self::Of { operation, of })
    }

    /// The same of all operations together.
    pub fn of_all(self) -> Self {
        match self {
            Self::Of { of: OfOperation::Throughput, .. } => Self::Throughput,
            Self::Of { of: OfOperation::ResponseMean, .. } => Self::ResponseMean,
            Self::Of { of: OfOperation::Response { percentile }, .. } => {
                Self::Response { percentile }
            }
            Self::Of { of: OfOperation::Service { percentile }, .. } => {
                Self::Service { percentile }
            }
            all => all,
        }
    }

    /// The operation that it measures; `None` for all together.
    pub fn operation(self) -> Option<Operation> {
        match self {
            Self::Of { operation, .. } => Some(operation),
            _ => None,
        }
    }

    /// Whether a higher or a lower value is better.
    pub fn direction(self) -> Direction {
        match self.of_all() {
            Self::Throughput | Self::Line => Direction::HigherIsBetter,
            _ => Direction::LowerIsBetter,
        }
    }
}

/// The number of `p99.9`, above 0 and at most 100.
pub fn percentile(word: &str) -> Option<f64> {
    let percentile = table_percentile(word)?;
    (percentile > 0.0).then_some(percentile)
}

/// The number of `p99.9`, from 0 to 100.
pub fn table_percentile(word: &str) -> Option<f64> {
    let digits = word.strip_prefix('p')?;
    let plain = digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    if !plain || digits.len() > 12 || digits.starts_with('.') || digits.ends_with('.') {
        return None;
    }
    let percentile: f64 = digits.parse().ok()?;
    (percentile <= 100.0).then_some(percentile)
}
