//! Servers that can be started, by name, from a data file of this crate.

use crate::presets::{read, words};
use crate::problems::Collector;
use crate::reader::Checked;
use crate::rig_format::SERVER_PRESET;
use plimsoll_record::{RoleCommands, ServerSpec};
use std::sync::OnceLock;

const SERVERS: &str = include_str!("../presets/servers.yaml");

/// A server that can be started.
#[derive(Debug)]
pub(crate) struct ServerPreset {
    /// The word in files.
    pub name: String,
    /// With the arguments that it always gets.
    pub spec: ServerSpec,
    /// Settings of engines that become further arguments, in their order.
    pub settings: Vec<ServerSetting>,
    /// What is different where it is a replica set; `None` where it cannot be one.
    pub set: Option<SetPreset>,
}

/// A server as a replica set.
#[derive(Debug)]
pub(crate) struct SetPreset {
    /// Of each member, after all others that it always gets. The first is the option that makes it a member.
    pub arguments: Vec<String>,
    /// Under which the set is reached.
    pub address: String,
    /// What initiates it.
    pub after_start: Vec<String>,
    /// What the log of changes of each member may take on disk.
    pub log_bytes: u64,
    /// How its members are asked while they run.
    pub roles: Option<RoleCommands>,
}

impl SetPreset {
    /// Whether an argument is the option that makes a server a member of a set.
    pub(crate) fn is_made_by(&self, argument: &str) -> bool {
        let name = |word: &str| word.split('=').next().map(str::to_owned);
        self.arguments
            .first()
            .is_some_and(|first| name(first) == name(argument))
    }
}

/// A setting of an engine, as arguments.
#[derive(Debug)]
pub(crate) struct ServerSetting {
    /// Of the setting.
    pub name: String,
    /// Divides its text into several values.
    pub between: Option<char>,
    /// With `{value}` for the value, once for each.
    pub arguments: Vec<String>,
}

/// All servers that can be started, in the order of their data file.
pub(crate) fn server_presets() -> &'static [ServerPreset] {
    static PRESETS: OnceLock<Vec<ServerPreset>> = OnceLock::new();
    PRESETS.get_or_init(|| read(SERVERS, &SERVER_PRESET, made))
}

/// One by its name.
pub(crate) fn server_preset(name: &str) -> Option<&'static ServerPreset> {
    server_presets()
        .iter()
        .find(|preset| preset.name.eq_ignore_ascii_case(name))
}

fn made(name: String, map: &Checked, _: &mut Collector<'_>) -> Option<ServerPreset> {
    let fields = |key: &str| map.get(key).map_or(&[][..], Checked::fields);
    let environment = fields("environment").iter();
    let setting = |field: &crate::reader::Field| ServerSetting {
        name: field.key.clone(),
        between: field
            .checked
            .get("between")
            .and_then(Checked::text)
            .map(|word| if word == "comma" { ',' } else { ' ' }),
        arguments: list(&field.checked, "arguments"),
    };
    Some(ServerPreset {
        settings: fields("settings").iter().map(setting).collect(),
        set: match map.get("replica_set") {
            Some(set) => Some(SetPreset {
                arguments: list(set, "arguments"),
                address: words(set, "address"),
                after_start: list(set, "after_start"),
                log_bytes: set.get("log")?.whole()?,
                roles: set.get("roles").map(|roles| RoleCommands {
                    primary: list(roles, "primary"),
                    step_down: list(roles, "step_down"),
                    whole: list(roles, "whole"),
                }),
            }),
            None => None,
        },
        spec: ServerSpec {
            name: name.clone(),
            program: words(map, "program"),
            arguments: list(map, "arguments"),
            environment: environment
                .filter_map(|field| Some((field.key.clone(), field.checked.text()?.to_owned())))
                .collect(),
            version_arguments: list(map, "version"),
            address: words(map, "address"),
            stop_signal: words(map, "stop_signal"),
            ready_within_ns: map.get("ready_within")?.whole()?,
            stop_within_ns: map.get("stop_within")?.whole()?,
            members: 1,
            after_start: Vec::new(),
            log_bytes: 0,
            roles: None,
        },
        name,
    })
}

fn list(map: &Checked, key: &str) -> Vec<String> {
    let items = map.get(key).map_or(&[][..], Checked::items);
    items
        .iter()
        .filter_map(Checked::text)
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_can_be_started_and_reached() {
        let names: Vec<&str> = server_presets()
            .iter()
            .map(|preset| preset.name.as_str())
            .collect();
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
