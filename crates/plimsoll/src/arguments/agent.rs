//! The arguments of `plimsoll remote agent`, `plimsoll remote hosts` and `plimsoll remote nats`.

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  plimsoll remote agent --stdio                             what `plimsoll run` starts over ssh by itself
  kubectl exec -i db1 -- plimsoll remote agent --stdio --allow server
                                                     as a `command` of a host in an experiment file
  plimsoll remote agent --nats tls://nats.example --nats-seed r6g.seed --name r6g --allow load,server
                                                     joins a NATS server, and serves one `plimsoll run` after the other

An agent that has not heard its `plimsoll run` for 5 seconds ends what it started and removes what it made.")]
pub struct Agent {
    /// Speak over the standard input and output with the program that started this one, and not over NATS.
    #[arg(long, conflicts_with = "name", required_unless_present = "nats")]
    pub stdio: bool,
    #[command(flatten)]
    pub nats: Nats,
    /// The name by which experiment files call this machine; with --nats.
    #[arg(long, requires = "nats")]
    pub name: Option<String>,
    /// What this machine may be used for, with commas between.
    #[arg(long, value_delimiter = ',', value_name = "USE,USE", default_value = "load")]
    pub allow: Vec<AgentUse>,
}

/// How a NATS server is reached that agents have joined.
#[derive(Args, Clone, Debug, Default)]
pub struct Nats {
    /// The NATS server that agents join, e.g. tls://nats.example.
    #[arg(long, value_name = "URL", env = "PLIMSOLL_NATS")]
    pub nats: Option<String>,
    /// File with the seed of an nkey, as `plimsoll remote nats init` writes it.
    #[arg(long, value_name = "FILE", env = "PLIMSOLL_NATS_SEED", value_hint = ValueHint::FilePath)]
    pub nats_seed: Option<PathBuf>,
    /// File with a user's credentials, as NATS' own tools write it.
    #[arg(long, value_name = "FILE", env = "PLIMSOLL_NATS_CREDS", value_hint = ValueHint::FilePath, conflicts_with = "nats_seed")]
    pub nats_creds: Option<PathBuf>,
    /// File with the certificates that the server's is trusted by, in place of the system's.
    #[arg(long, value_name = "FILE", env = "PLIMSOLL_NATS_CA", value_hint = ValueHint::FilePath)]
    pub nats_ca: Option<PathBuf>,
}

/// What a machine may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AgentUse {
    /// Generate load for servers elsewhere.
    Load,
    /// Start servers, with disks and limits.
    Server,
    /// Make emulated disks and filesystems, and set the kernel, which needs root.
    Disk,
    /// Erase block devices that an experiment names with `erase: true`.
    Erase,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  plimsoll remote hosts mine.yaml
  plimsoll remote hosts --nats tls://nats.example           the agents that have joined a NATS server")]
pub struct Hosts {
    /// The experiment file; without it the agents that have joined a NATS server.
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// A scale defined in the file, e.g. hosts.
    #[arg(long)]
    pub scale: Option<String>,
    #[command(flatten)]
    pub nats: Nats,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum NatsCommand {
    /// Write the configuration of a nats-server for agents, and a secret seed for each and for `plimsoll run`.
    Init(NatsInit),
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  plimsoll remote nats init --agent db1 --agent bench1 --directory nats
  nats-server --config nats/nats.conf
  plimsoll remote agent --nats nats://192.168.1.4 --nats-seed nats/db1.seed --name db1

The same command with more agents keeps the seeds that are there. Give each machine its own seed, and no other.")]
pub struct NatsInit {
    /// An agent; can be repeated.
    #[arg(long, value_name = "NAME", required = true)]
    pub agent: Vec<String>,
    /// Where the server will listen.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:4222")]
    pub listen: String,
    /// Folder for nats.conf, the seeds and what the server stores.
    #[arg(long, value_hint = ValueHint::DirPath, default_value = "nats")]
    pub directory: PathBuf,
}
