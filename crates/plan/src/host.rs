//! Machines of an experiment beside the one that the program runs on.

use crate::{Arm, EngineKind, Plan};
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
    /// An agent that a command starts, which is spoken to over its input and output.
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
    /// To be asked: arms stand on it.
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

impl Plan {
    /// The machines that make the load of an arm, in order; `None` is the one that the program runs on. An embedded engine that keeps data is asked where it
    /// stands.
    pub fn load_hosts_of<'a>(&'a self, arm: &'a Arm, engine: &EngineKind) -> Vec<Option<&'a str>> {
        if engine.keeps_data && engine.server.is_none() {
            return vec![arm.on.as_deref()];
        }
        if self.load_hosts.is_empty() {
            // Without a server of its own there is nobody to be asked from elsewhere.
            let stands = if engine.server.is_some() {
                None
            } else {
                arm.on.as_deref()
            };
            return vec![stands];
        }
        let hosts = self.load_hosts.iter();
        hosts
            .map(|host| (host != CONTROLLER).then_some(host.as_str()))
            .collect()
    }

    /// Every machine that takes part, once: those that arms stand on, and those that make load.
    pub fn all_host_names(&self, engines: &[EngineKind]) -> Vec<Option<&str>> {
        let mut names = self.host_names();
        for arm in &self.arms {
            let kind = engines.iter().find(|kind| kind.name == arm.engine);
            for host in kind.map_or_else(Vec::new, |kind| self.load_hosts_of(arm, kind)) {
                if !names.contains(&host) {
                    names.push(host);
                }
            }
        }
        names
    }

    /// Every machine that arms stand on, once, in the order of the arms. `None` is the one that the program runs on.
    pub fn host_names(&self) -> Vec<Option<&str>> {
        let mut names = Vec::new();
        for Arm { on, .. } in &self.arms {
            if !names.contains(&on.as_deref()) {
                names.push(on.as_deref());
            }
        }
        names
    }
}
