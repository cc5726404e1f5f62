//! Servers that can be started, by name.
//!
//! Places in braces are filled when a server starts: `{data}` its empty data directory, `{run}` a directory for sockets and the like, `{port}` a free
//! port of 127.0.0.1, `{members}` host and port of all members, `{plimsoll}` this program. In a replica set, each member has its own `{data}` and `{port}`.

use crate::{SettingValue, Settings};
use plimsoll_record::{RoleCommands, ServerSpec};
use std::collections::BTreeMap;
use std::sync::OnceLock;

const SECOND_NS: u64 = 1_000_000_000;

/// A server that can be started.
#[derive(Debug)]
pub struct ServerPreset {
    /// The word for it in experiment files.
    pub name: &'static str,
    /// With the arguments that it always gets.
    pub spec: ServerSpec,
    /// Settings of engines that become further arguments, in their order.
    pub settings: Vec<ServerSetting>,
    /// What is different in a replica set; `None` for a server that cannot be one.
    pub set: Option<ReplicaSetPreset>,
}

/// A server as a replica set.
#[derive(Debug)]
pub struct ReplicaSetPreset {
    /// Further arguments of each member. The first is the option that makes it a member.
    pub arguments: Vec<String>,
    /// The URI of the set.
    pub address: String,
    /// The command that initiates it.
    pub after_start: Vec<String>,
    /// Disk space that each member's log of changes may take, bytes.
    pub log_bytes: u64,
    /// Commands about the roles of its members.
    pub roles: RoleCommands,
}

impl ReplicaSetPreset {
    /// Whether an argument is the option that makes a server a member of a set.
    pub fn is_made_by(&self, argument: &str) -> bool {
        let name = |word: &str| word.split('=').next().map(str::to_owned);
        self.arguments.first().is_some_and(|first| name(first) == name(argument))
    }
}

/// A setting of an engine, as arguments.
#[derive(Debug)]
pub struct ServerSetting {
    /// Name of the setting that becomes an argument.
    pub name: &'static str,
    /// Divides its text into several values.
    pub between: Option<char>,
    /// With `{value}` for the value, once for each; sizes are bytes, times seconds.
    pub arguments: &'static [&'static str],
}

impl ServerPreset {
    /// The arguments of the preset, and after them those of the settings.
    pub fn arguments_with(&self, settings: &Settings) -> Vec<String> {
        let mut arguments = self.spec.arguments.clone();
        for setting in &self.settings {
            let texts: Vec<String> = match settings.0.get(setting.name) {
                None | Some(SettingValue::Flag(false)) => continue,
                Some(SettingValue::Bytes(whole) | SettingValue::Count(whole)) => {
                    vec![whole.to_string()]
                }
                Some(SettingValue::Nanos(nanos)) => vec![(*nanos as f64 / 1e9).to_string()],
                Some(value) => {
                    let text = value.to_string();
                    match setting.between {
                        Some(between) => text
                            .split(between)
                            .map(str::trim)
                            .filter(|part| !part.is_empty())
                            .map(str::to_owned)
                            .collect(),
                        None => vec![text],
                    }
                }
            };
            for text in texts {
                let filled = |word: &&str| word.replace("{value}", &text);
                arguments.extend(setting.arguments.iter().map(filled));
            }
        }
        arguments
    }
}

/// All servers that can be started.
pub fn server_presets() -> &'static [ServerPreset] {
    static PRESETS: OnceLock<[ServerPreset; 2]> = OnceLock::new();
    PRESETS.get_or_init(|| [mongod(), ferretdb()])
}

/// The preset of this name, if there is one.
pub fn server_preset(name: &str) -> Option<&'static ServerPreset> {
    server_presets().iter().find(|preset| preset.name.eq_ignore_ascii_case(name))
}

fn setting(
    name: &'static str,
    between: Option<char>,
    arguments: &'static [&'static str],
) -> ServerSetting {
    ServerSetting { name, between, arguments }
}

fn mongod() -> ServerPreset {
    let command = |verb| words(&["{plimsoll}", "replica-set", verb, "{members}"]);
    ServerPreset {
        name: "mongod",
        spec: ServerSpec {
            arguments: words(&[
                "--dbpath",
                "{data}",
                "--bind_ip",
                "127.0.0.1",
                "--port",
                "{port}",
                "--nounixsocket",
            ]),
            ..alone("mongod", 120, 300)
        },
        settings: vec![
            // mongod's own option takes no less than 256 MiB.
            setting("cache_size", None, &["--wiredTigerEngineConfigString", "cache_size={value}"]),
            setting(
                "block_compressor",
                None,
                &["--wiredTigerCollectionBlockCompressor", "{value}"],
            ),
            setting("journal_compressor", None, &["--wiredTigerJournalCompressor", "{value}"]),
            setting("checkpoint_interval", None, &["--syncdelay", "{value}"]),
            setting("directory_per_db", None, &["--directoryperdb"]),
            setting("parameters", Some(','), &["--setParameter", "{value}"]),
            setting("arguments", Some(' '), &["{value}"]),
        ],
        set: Some(ReplicaSetPreset {
            arguments: words(&["--replSet=plimsoll"]),
            address: "mongodb://{members}/?replicaSet=plimsoll".to_owned(),
            after_start: command("initiate"),
            // By itself a mongod gives its log 5 % of the free disk, and at least this much.
            log_bytes: 990 << 20,
            roles: RoleCommands {
                primary: command("primary"),
                step_down: command("step-down"),
                whole: command("whole"),
            },
        }),
    }
}

/// FerretDB 1, which speaks MongoDB's protocol over SQLite.
fn ferretdb() -> ServerPreset {
    ServerPreset {
        name: "ferretdb",
        spec: ServerSpec {
            arguments: words(&[
                "--handler=sqlite",
                "--sqlite-url=file:{data}/",
                "--telemetry=disable",
                "--listen-addr=127.0.0.1:{port}",
                "--debug-addr=-",
                "--state-dir={run}",
            ]),
            ..alone("ferretdb", 60, 60)
        },
        settings: vec![setting("arguments", Some(' '), &["{value}"])],
        set: None,
    }
}

/// One process that speaks MongoDB's protocol.
fn alone(program: &str, ready_within_s: u64, stop_within_s: u64) -> ServerSpec {
    ServerSpec {
        name: program.to_owned(),
        program: program.to_owned(),
        arguments: Vec::new(),
        environment: BTreeMap::new(),
        version_arguments: words(&["--version"]),
        address: "mongodb://127.0.0.1:{port}/".to_owned(),
        host: None,
        stop_signal: "TERM".to_owned(),
        ready_within_ns: ready_within_s * SECOND_NS,
        stop_within_ns: stop_within_s * SECOND_NS,
        members: 1,
        after_start: Vec::new(),
        log_bytes: 0,
        roles: None,
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_can_be_started_and_reached() {
        let names: Vec<&str> = server_presets().iter().map(|preset| preset.name).collect();
        assert_eq!(names, ["mongod", "ferretdb"]);
        for preset in server_presets() {
            let spec = &preset.spec;
            assert!(!spec.program.is_empty() && spec.address.contains("{port}"));
            let all = spec.arguments.join(" ");
            assert!(all.contains("{port}") && all.contains("{data}"), "{all}");
            assert!(all.contains("127.0.0.1"), "only this machine reaches it");
            assert!(!spec.version_arguments.is_empty());
            let Some(set) = &preset.set else { continue };
            assert!(set.address.contains("{members}"));
            assert_eq!(set.after_start[0], "{plimsoll}");
            assert!(set.is_made_by("--replSet") && set.is_made_by("--replSet=rs0"));
            assert!(!set.is_made_by("--replSetName"));
        }
    }
}
