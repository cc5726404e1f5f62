//! The arguments of `plimsoll history`.

use clap::{Args, ValueHint};
use plimsoll_experiment::Metric;
use std::path::PathBuf;

/// `plimsoll history`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  plimsoll history filesystems                                  throughput of the baseline, where its mix is judged
  plimsoll history filesystems --arm xfs --metric response.p99
  plimsoll history filesystems --metric line --page line.html

Records of the same machine and the same plan as the newest are one series, the oldest first. Changes are marked where they stay, from 8 results on.")]
pub struct History {
    /// Name of the experiment, or an id, its beginning, or `last`, whose name is meant.
    pub experiment: String,
    /// What is followed, such as throughput, response.p99, cpu, line, cost.
    #[arg(long, default_value = "throughput", value_parser = metric)]
    pub metric: Metric,
    /// The arm [default: the one that the others are compared with].
    #[arg(long)]
    pub arm: Option<String>,
    /// The mix [default: the first].
    #[arg(long)]
    pub mix: Option<String>,
    /// The load as reports spell it, such as "8 threads" [default: where the mix is judged].
    #[arg(long, value_name = "LOAD")]
    pub at: Option<String>,
    /// Take records of other plans as well. What they measured may differ.
    #[arg(long)]
    pub any_plan: bool,
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
    /// Write a page with the series as well.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub page: Option<PathBuf>,
}

fn metric(text: &str) -> Result<Metric, String> {
    Metric::parse(text).ok_or_else(|| {
        format!("`{text}` is no metric: throughput, response.mean, response.p99, service.p50, cpu, errors, line or cost")
    })
}
