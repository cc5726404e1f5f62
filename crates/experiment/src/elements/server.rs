//! `server`: which server is started for an arm: a preset with the arm's changes, and its settings as arguments.

use crate::Collector;
use crate::document::{Checked, Value, join};
use crate::elements::arm::{ArmValue, ReadArm};
use crate::elements::rig::RigReader;
use crate::keys::arm::arm;
use crate::keys::server::server;
use crate::mistake::Mistake;
use plimsoll_plan::{
    Arm, EngineKind, ServerPreset, Settings, Source, URI, measures_existing, server_preset,
    server_presets, server_uri,
};
use plimsoll_record::quantities::units;
use plimsoll_record::{ServerSpec, StatementKind};
use plimsoll_workload::Mix;

/// The setting for documents that already exist.
const EXISTING: &str = "existing";

/// Where the documents of an arm on an unmanaged server are kept, if the server would refuse existing ones.
fn refusing_collection(arm: &Arm) -> Option<(&str, Option<&str>, &str)> {
    let uri = server_uri(&arm.settings)?;
    let refuses = arm.settings.text(EXISTING) == Some("refuse");
    refuses.then(|| (uri, arm.settings.text("database"), arm.data.table.as_str()))
}

/// Refuses several runs on one collection of a server that runs by itself, where they would refuse each other's documents: found out now, and not by the
/// second run. Arms that were made of others have no place of their own.
pub(crate) fn check_collections(
    arms: &[Arm],
    read: &[ReadArm],
    mixes: &[Mix],
    blocks: u32,
    problems: &mut Collector<'_>,
) {
    let inserts = |mix: &&Mix| {
        let mut own = mix.operations.iter().map(|(operation, _)| operation.kind());
        mix.insert > 0.0 || own.any(|kind| kind == StatementKind::Insert)
    };
    let inserting = mixes.iter().find(inserts);
    for arm in read {
        let made = arms.iter().find(|made| made.name == arm.name);
        if let Some(settings) = made.map(|made| &made.settings)
            && measures_existing(settings)
            && let Some(given) = arm.setting(EXISTING)
        {
            let mut refuse =
                |mistake| problems.add(&given.path, Some(given.checked.place), mistake);
            if settings.flag("upsert") == Some(true) {
                refuse(Mistake::UpsertsExisting);
            }
            if let Some(mix) = inserting
                && settings.flag("insert_into_existing") != Some(true)
            {
                refuse(Mistake::InsertsIntoExisting { mix: mix.name.clone() });
            }
        }
        let Some(given) = arm.setting(EXISTING).or_else(|| arm.setting(URI)) else {
            continue;
        };
        let collections = arms.iter().filter(|made| made.name == arm.name);
        let Some(collection) = collections.filter_map(refusing_collection).next() else {
            continue;
        };
        let sharing = arms.iter().filter(|other| refusing_collection(other) == Some(collection));
        let runs = sharing.count() as u64 * u64::from(blocks);
        if runs > 1 {
            let mistake = Mistake::RunsOnOneCollection { runs };
            problems.add(&given.path, Some(given.checked.place), mistake);
        }
    }
}

impl RigReader<'_, '_> {
    /// The server that is started for an arm. Settings that are for other servers are taken out.
    pub(crate) fn server(
        &mut self,
        arm: &ReadArm,
        engine: &EngineKind,
        settings: &mut Settings,
    ) -> Option<ServerSpec> {
        let given = arm.get(arm::server);
        let Some(usual) = engine.server else {
            // In the defaults it is for the arms whose engines have one.
            if let Some(given) = given.filter(|given| given.is_own()) {
                let engine = engine.name;
                let mistake = Mistake::ServerOfEmbedded { engine };
                self.wrong(&given.path, given.checked.place, mistake);
            }
            return None;
        };
        if server_uri(settings).is_some() {
            if let Some(given) = given.filter(|given| given.is_own()) {
                let mistake = Mistake::ServerBesideUri;
                self.wrong(&given.path, given.checked.place, mistake);
            }
            self.only_settings(arm, &[], settings, |key| Mistake::SettingOfManaged { key });
            return None;
        }
        let preset = self.preset(usual, given)?;
        let path = arm::server.under(&arm.path());
        match given {
            Some(given) => {
                self.origins.add_file(&path, preset.name.to_owned(), given.checked.place)
            }
            None => self.origins.add(&path, preset.name.to_owned(), Source::Default),
        }
        let takes: Vec<&str> = preset.settings.iter().map(|setting| setting.name).collect();
        self.only_settings(arm, &takes, settings, |key| Mistake::ServerWithout {
            server: preset.name.to_owned(),
            key,
        });
        let mut spec =
            ServerSpec { arguments: preset.arguments_with(settings), ..preset.spec.clone() };
        self.replica_set(&path, given, preset, &mut spec);
        if let Some(given) = given {
            self.changes(&path, given, &mut spec);
        }
        self.no_set_by_argument(arm, preset);
        Some(spec)
    }

    /// The number of members, and the changes for a replica set.
    fn replica_set(
        &mut self,
        path: &str,
        given: Option<&ArmValue>,
        preset: &ServerPreset,
        spec: &mut ServerSpec,
    ) {
        let Some(given) = given else { return };
        let (members, flag) =
            (given.checked.get(server::members), given.checked.get(server::replica_set));
        if let Some(checked) = members
            && let Some(number) = checked.whole()
        {
            let path = server::members.under(path);
            self.origins.add_file(&path, number.to_string(), checked.place);
            // Too many are refused elsewhere.
            spec.members = u32::try_from(number).unwrap_or(1);
        }
        if let Some(checked) = flag
            && let Some(is_set) = checked.flag()
        {
            let path = server::replica_set.under(path);
            self.origins.add_file(&path, is_set.to_string(), checked.place);
            if !is_set && spec.members > 1 {
                let mistake = Mistake::MembersWithoutSet { members: spec.members };
                let path = server::replica_set.under(&given.path);
                self.wrong(&path, checked.place, mistake);
            }
        }
        let is_set = flag.and_then(Checked::flag).unwrap_or(spec.members > 1);
        if !is_set {
            return;
        }
        let Some(set) = &preset.set else {
            let (key, checked) = match (members, flag) {
                (Some(members), _) if spec.members > 1 => (server::members, members),
                (_, Some(flag)) => (server::replica_set, flag),
                _ => return,
            };
            let server = preset.name.to_owned();
            let path = key.under(&given.path);
            let key = key.name;
            self.wrong(&path, checked.place, Mistake::ServerOfOne { server, key });
            return;
        };
        spec.arguments.extend(set.arguments.iter().cloned());
        spec.address.clone_from(&set.address);
        spec.after_start.clone_from(&set.after_start);
        spec.log_bytes = set.log_bytes;
        spec.roles = Some(set.roles.clone());
    }

    /// Refuses the option that makes a server a member of a set: the set would never be initiated.
    fn no_set_by_argument(&mut self, arm: &ReadArm, preset: &ServerPreset) {
        let Some(set) = &preset.set else { return };
        let of_server = arm.get(arm::server).and_then(|given| {
            let words = given.checked.get(server::arguments)?;
            Some((server::arguments.under(&given.path), words.items()))
        });
        let of_setting = arm.setting(server::arguments.name);
        let of_setting =
            of_setting.map(|given| (given.path.clone(), std::slice::from_ref(&given.checked)));
        for (path, items) in of_server.into_iter().chain(of_setting) {
            for item in items {
                let mut words = item.text().unwrap_or_default().split_whitespace();
                if let Some(argument) = words.find(|word| set.is_made_by(word)) {
                    let argument = argument.to_owned();
                    self.wrong(&path, item.place, Mistake::SetByArgument { argument });
                }
            }
        }
    }

    /// The preset that an arm names, or the one of its engine.
    fn preset(&mut self, usual: &str, given: Option<&ArmValue>) -> Option<&'static ServerPreset> {
        let usual = server_preset(usual).expect("the preset of an engine is in the data file");
        let Some(given) = given else {
            return Some(usual);
        };
        let named = given.checked.get(server::preset).unwrap_or(&given.checked);
        let Some(name) = named.text() else {
            return matches!(given.checked.value, Value::Map(_)).then_some(usual);
        };
        if is_path(name) {
            // A program; its name says what it is.
            let file_name = name.rsplit('/').next().unwrap_or(name);
            return Some(server_preset(file_name).unwrap_or(usual));
        }
        let found = server_preset(name);
        if found.is_none() {
            let mistake = Mistake::UnknownPreset {
                what: "server",
                name: name.to_owned(),
                presets: server_presets().iter().map(|preset| preset.name.to_owned()).collect(),
            };
            self.wrong(&given.path, named.place, mistake);
        }
        found
    }

    /// The arm's own changes to its server.
    fn changes(&mut self, path: &str, given: &ArmValue, spec: &mut ServerSpec) {
        let map = &given.checked;
        let as_path = Some(map).filter(|one| one.text().is_some_and(is_path));
        if let Some(program) = map.get(server::program).or(as_path)
            && let Some(text) = program.text()
        {
            spec.program = if is_path(text) {
                self.base_dir.join(text).display().to_string()
            } else {
                text.to_owned()
            };
            let path = server::program.under(path);
            self.origins.add_file(&path, spec.program.clone(), program.place);
        }
        if let Some(words) = map.get(server::arguments) {
            let words: Vec<String> =
                words.items().iter().filter_map(Checked::text).map(str::to_owned).collect();
            let place = map.get(server::arguments).map_or(map.place, |words| words.place);
            self.origins.add_file(&server::arguments.under(path), words.join(" "), place);
            spec.arguments.extend(words);
        }
        if let Some(words) = map.get(server::after_start) {
            let words_of = words.items().iter().filter_map(Checked::text);
            spec.after_start = words_of.map(str::to_owned).collect();
            if let Some(program) = spec.after_start.first_mut()
                && is_path(program)
                && !program.starts_with('{')
            {
                *program = self.base_dir.join(&*program).display().to_string();
            }
            let path = server::after_start.under(path);
            self.origins.add_file(&path, spec.after_start.join(" "), words.place);
        }
        for field in map.get(server::environment).map_or(&[][..], Checked::fields) {
            if let Some(text) = field.checked.text() {
                let path = join(&server::environment.under(path), &field.key);
                self.origins.add_file(&path, text, field.checked.place);
                spec.environment.insert(field.key.clone(), text.to_owned());
            }
        }
        for (key, time) in [
            (server::ready_within, &mut spec.ready_within_ns),
            (server::stop_within, &mut spec.stop_within_ns),
        ] {
            if let Some(checked) = map.get(key)
                && let Some(nanos) = checked.whole()
            {
                let text = units::duration(nanos);
                self.origins.add_file(&key.under(path), text, checked.place);
                *time = nanos;
            }
        }
    }

    /// Takes out what only servers take that are started here, unless it is one of these.
    fn only_settings(
        &mut self,
        arm: &ReadArm,
        takes: &[&str],
        settings: &mut Settings,
        mistake: impl Fn(String) -> Mistake,
    ) {
        for preset in server_presets() {
            for setting in &preset.settings {
                let key = setting.name;
                if takes.contains(&key) || settings.0.remove(key).is_none() {
                    continue;
                }
                let path = join(&arm.path(), key);
                self.origins.list.retain(|origin| origin.path != path);
                if let Some(given) = arm.setting(key).filter(|given| given.is_own()) {
                    self.wrong(&given.path, given.checked.place, mistake(key.to_owned()));
                }
            }
        }
    }
}

fn is_path(text: &str) -> bool {
    text.contains('/')
}
