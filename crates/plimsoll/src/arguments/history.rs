//! The arguments of `plimsoll history`.

use clap::{Args, ValueHint};
use plimsoll_plan::Metric;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  plimsoll history filesystems                                  throughput of the baseline, at the load where it is judged
  plimsoll history filesystems --arm xfs --metric response.p99
  plimsoll history filesystems --metric line --page line.html

The series holds the records with the machine and plan of the newest one, oldest first. Lasting changes are marked, given 8 results or more.")]
pub struct History {
    /// Name of the experiment; an id or `last` stands for the name of that experiment.
    pub experiment: String,
    /// The metric, e.g. throughput, response.p99, cpu, line, cost.
    #[arg(long, default_value = "throughput", value_parser = metric)]
    pub metric: Metric,
    /// The arm [default: the baseline].
    #[arg(long)]
    pub arm: Option<String>,
    /// The mix [default: the first].
    #[arg(long)]
    pub mix: Option<String>,
    /// The load as spelled in reports, e.g. "8 threads" [default: where the mix is judged].
    #[arg(long, value_name = "LOAD")]
    pub at: Option<String>,
    /// Include records of other plans, which may have measured something else.
    #[arg(long)]
    pub any_plan: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
    /// Also write a page with the series.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub page: Option<PathBuf>,
}

fn metric(text: &str) -> Result<Metric, String> {
    Metric::parse(text).ok_or_else(|| {
        format!("`{text}` is not a metric; choose throughput, response.mean, response.p99, service.p50, cpu, errors, line, cost, size, written or write-amplification")
    })
}
