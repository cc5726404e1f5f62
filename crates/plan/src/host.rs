//! Machines of an experiment beside the one that the program runs on.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A machine of an experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostSpec {
    /// By which arms name it.
    pub name: String,
    /// How the program reaches the host.
    pub way: HostWay,
    /// What it may be used for.
    pub roles: Vec<HostRole>,
    /// At which other machines reach servers on it, an IP address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// What the link through which it reaches the others carries each way, bytes a second, where the file says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_bytes_per_second: Option<u64>,
}

/// The word for the machine that the program runs on, among the hosts that make load.
pub const CONTROLLER: &str = "controller";

/// How a machine is reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostWay {
    /// With the system's ssh: what would be typed behind it, `root@db1.example`.
    Ssh(String),
    /// An agent of this name that has joined NATS.
    Agent(String),
    /// An agent that a command starts; it gets its orders over its input and answers over its output.
    Command(Vec<String>),
}

impl fmt::Display for HostWay {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ssh(target) => write!(formatter, "ssh {target}"),
            Self::Agent(name) => write!(formatter, "agent {name}"),
            Self::Command(words) => formatter.write_str(&words.join(" ")),
        }
    }
}

/// What a machine may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostRole {
    /// The host generates load for a server elsewhere.
    Load,
    /// Under test: arms stand on it.
    Server,
}

impl HostRole {
    /// Both roles, in the order of the documentation.
    pub const ALL: [Self; 2] = [Self::Load, Self::Server];

    /// The word for it in experiment files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Server => "server",
        }
    }
}
