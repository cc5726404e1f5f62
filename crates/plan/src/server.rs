//! The server under an arm, as the plan and its reports need it.

use crate::server_presets::server_preset;
use crate::{Arm, EngineKind, SettingValue, Settings};
use plimsoll_record::ServerSpec;

/// The setting by which an arm names a server that runs by itself.
pub const URI: &str = "uri";

/// Whether the arm's data is kept by its engine on this machine, so that disk and a data directory are needed: not where a server that
/// runs by itself keeps it.
pub fn keeps_data_here(engine: &EngineKind, server: Option<&ServerSpec>) -> bool {
    engine.keeps_data && (engine.server.is_none() || server.is_some())
}

/// Whether the arm's engine is a server that runs by itself, so that a run starts only its client.
pub fn is_by_uri(arm: &Arm) -> bool {
    server_uri(&arm.settings).is_some()
}

/// The URI of the server that runs by itself, if the settings name one.
pub fn server_uri(settings: &Settings) -> Option<&str> {
    match settings.0.get(URI) {
        Some(SettingValue::Text(uri)) if !uri.is_empty() => Some(uri),
        _ => None,
    }
}

/// Names of the variables of the environment that the URI asks for, as `${NAME}`.
pub fn uri_variables(settings: &Settings) -> Vec<String> {
    let uri = server_uri(settings).unwrap_or_default();
    let after = uri.split("${").skip(1);
    let names = after.filter_map(|rest| Some(rest.split_once('}')?.0.to_owned()));
    names.collect()
}

/// Whether these settings ask to measure what a server that runs by itself holds already, so that nothing is loaded.
pub fn measures_existing(settings: &Settings) -> bool {
    server_uri(settings).is_some() && settings.text("existing") == Some("use")
}

/// The same server as a single process: a record takes the same space as on each member of a set, and is stored far sooner.
pub fn standing_alone(server: &ServerSpec) -> ServerSpec {
    let mut alone = server.clone();
    let preset = server_preset(&server.name);
    if let Some((preset, set)) = preset.and_then(|preset| Some((preset, preset.set.as_ref()?)))
        && server.members_in_words().is_some()
    {
        alone.arguments.retain(|word| !set.arguments.contains(word));
        alone.address.clone_from(&preset.spec.address);
        alone.after_start.clear();
        (alone.members, alone.log_bytes, alone.roles) = (1, 0, None);
    }
    alone
}

/// The arguments of an arm's server beyond its preset and its settings.
pub(crate) fn own_arguments(arm: &Arm) -> Vec<String> {
    let Some(server) = &arm.rig.server else {
        return Vec::new();
    };
    let Some(preset) = server_preset(&server.name) else {
        return server.arguments.clone();
    };
    let known = preset.arguments_with(&arm.settings);
    let all = server.arguments.as_slice();
    let beyond = all.strip_prefix(known.as_slice()).unwrap_or(all);
    let of_set = preset.set.as_ref().map(|set| set.arguments.as_slice());
    let beyond = of_set.and_then(|words| beyond.strip_prefix(words)).unwrap_or(beyond);
    beyond.to_vec()
}

/// The command after the start, if it is not that of the preset.
pub(crate) fn own_after_start(server: &ServerSpec) -> Option<String> {
    let set = server_preset(&server.name).and_then(|preset| preset.set.as_ref());
    let is_own = set.is_none_or(|set| set.after_start != server.after_start);
    (is_own && !server.after_start.is_empty()).then(|| server.after_start.join(" "))
}

/// A server in one line: `mongod, /opt/mongod, --quiet`.
pub(crate) fn server_line(arm: &Arm) -> Option<String> {
    let server = arm.rig.server.as_ref()?;
    let mut parts = vec![server.in_words()];
    if server.program != server.name {
        parts.push(server.program.clone());
    }
    let own = own_arguments(arm);
    if !own.is_empty() {
        parts.push(own.join(" "));
    }
    for (name, value) in &server.environment {
        parts.push(format!("{name}={value}"));
    }
    parts.extend(own_after_start(server).map(|words| format!("then {words}")));
    Some(parts.join(", "))
}
