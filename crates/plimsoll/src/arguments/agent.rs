//! The arguments of `plimsoll agent` and `plimsoll hosts`.

use super::ExperimentFile;
use clap::{Args, ValueEnum};

/// `plimsoll agent`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  plimsoll agent --stdio                             what `plimsoll run` starts over ssh by itself
  kubectl exec -i db1 -- plimsoll agent --stdio --allow server
                                                     as a `command` of a host in an experiment file

An agent that has not heard its `plimsoll run` for 5 seconds ends what it started, removes what it made, and ends.")]
pub struct Agent {
    /// Speak over the standard input and output with the program that started this one.
    #[arg(long, required = true)]
    pub stdio: bool,
    /// What this machine may be used for, with commas between.
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "USE,USE",
        default_value = "load"
    )]
    pub allow: Vec<AgentUse>,
}

/// What a machine may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AgentUse {
    /// Ask servers.
    Load,
    /// Start servers.
    Server,
    /// Make emulated disks and filesystems, which needs root.
    Disk,
    /// Erase block devices that an experiment names with `erase: true`.
    Erase,
}

/// `plimsoll hosts`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  plimsoll hosts mine.yaml")]
pub struct Hosts {
    #[command(flatten)]
    pub experiment: ExperimentFile,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
