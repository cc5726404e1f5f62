//! `hosts`: machines beside the one that the program runs on.

use crate::Collector;
use crate::elements::arm::{ReadArm, arm};
use crate::elements::file::file;
use crate::mistake::Mistake;
use crate::origins::Origins;
use crate::table::*;
use plimsoll_document::Checked;
use plimsoll_plan::{HostRole, HostSpec, HostWay};

/// Machines of an experiment.
pub(crate) const MOST_HOSTS: usize = 1_000;

object! {
    /// A machine.
    HOST host: "A machine beside the one that `plimsoll run` is started on."
    ssh = Shape::Text { most: 300 }, Optional, "root@db1.example";
        "It is reached with the system's `ssh` and the user's own configuration and keys; what would be typed behind `ssh`. The program's own file is copied \
         there once.";
    agent = Shape::Name, Optional, "r6g";
        "It is reached over NATS: `plimsoll agent --nats URL --name r6g` runs there.";
    command = Shape::list(&Shape::Text { most: 1_000 }, 1, 100), Optional, "[kubectl, exec, -i, db1, --, plimsoll, agent, --stdio]";
        "It is reached by a command that starts `plimsoll agent --stdio` there: a container, a pod, a namespace.";
    roles = Shape::list(&Shape::choice(&["load", "server"]), 1, 2), Default("[load, server]"), "[server]";
        "What it may be used for: `server` for arms that stand on it, `load` to ask them.";
    => one of [ssh, agent, command];
}

/// The machines of a file.
pub(crate) fn hosts(file: &Checked, origins: &mut Origins<'_>) -> Vec<HostSpec> {
    let Some(map) = file.get(file::hosts) else {
        return Vec::new();
    };
    let mut hosts = Vec::new();
    for field in map.fields() {
        let given = &field.checked;
        let text = |key: &Key| given.get(key).and_then(Checked::text).map(str::to_owned);
        let words = |key: &Key| {
            let list = given.get(key)?;
            let words = list.items().iter().filter_map(Checked::text);
            Some(words.map(str::to_owned).collect::<Vec<_>>())
        };
        let ways = [
            text(host::ssh).map(HostWay::Ssh),
            text(host::agent).map(HostWay::Agent),
            words(host::command).map(HostWay::Command),
        ];
        let Some(way) = ways.into_iter().flatten().next() else {
            continue;
        };
        let roles = words(host::roles).map_or_else(
            || HostRole::ALL.to_vec(),
            |words| {
                let all = HostRole::ALL.into_iter();
                all.filter(|role| words.iter().any(|word| word == role.name()))
                    .collect()
            },
        );
        let path = format!("{}.{}", file::hosts.name, field.key);
        origins.add_file(&path, way.to_string(), given.place);
        hosts.push(HostSpec {
            name: field.key.clone(),
            way,
            roles,
        });
    }
    hosts
}

/// The machine that an arm stands on.
pub(crate) fn on(
    arm: &ReadArm,
    hosts: &[HostSpec],
    origins: &mut Origins<'_>,
    problems: &mut Collector<'_>,
) -> Option<String> {
    let given = arm.get(arm::on)?;
    let name = given.checked.text()?;
    let place = Some(given.checked.place);
    match hosts.iter().find(|host| host.name == name) {
        None => problems.add(
            &given.path,
            place,
            Mistake::UnknownHost {
                name: name.to_owned(),
                hosts: hosts.iter().map(|host| host.name.clone()).collect(),
            },
        ),
        Some(host) if !host.roles.contains(&HostRole::Server) => problems.add(
            &given.path,
            place,
            Mistake::HostWithoutRole {
                name: name.to_owned(),
                role: HostRole::Server.name(),
            },
        ),
        Some(_) => {
            let path = arm::on.under(&arm.path());
            origins.add_file(&path, name.to_owned(), given.checked.place);
        }
    }
    if let Some(directory) = arm.get(arm::directory)
        && let Some(text) = directory.checked.text()
        && !text.starts_with('/')
    {
        problems.add(
            &directory.path,
            Some(directory.checked.place),
            Mistake::RelativeElsewhere {
                path: text.to_owned(),
                host: name.to_owned(),
            },
        );
    }
    Some(name.to_owned())
}
