//! `hosts`: machines beside the one that the program runs on.

use crate::Collector;
use crate::document::Checked;
use crate::elements::arm::ReadArm;
use crate::keys::arm::arm;
use crate::keys::file::file;
use crate::keys::hosts::host;
use crate::mistake::Mistake;
use crate::origins::Origins;
use crate::table::*;
use plimsoll_plan::{Arm, CONTROLLER, HostRole, HostSpec, HostWay};
use std::net::Ipv4Addr;

/// The machines of a file.
pub(crate) fn hosts(
    file: &Checked,
    origins: &mut Origins<'_>,
    problems: &mut Collector<'_>,
) -> Vec<HostSpec> {
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
                all.filter(|role| words.iter().any(|word| word == role.name())).collect()
            },
        );
        let path = format!("{}.{}", file::hosts.name, field.key);
        origins.add_file(&path, way.to_string(), given.place);
        hosts.push(HostSpec {
            name: field.key.clone(),
            way,
            roles,
            address: text(host::address),
            link_bytes_per_second: given.get(host::link).and_then(Checked::whole),
        });
        if let Some(address) = given.get(host::address)
            && let Some(text) = address.text()
            && !text.parse().is_ok_and(|ip: Ipv4Addr| !ip.is_unspecified())
        {
            let mistake = Mistake::NoIpAddress { text: text.to_owned() };
            problems.add(&host::address.under(&path), Some(address.place), mistake);
        }
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
            Mistake::HostWithoutRole { name: name.to_owned(), role: HostRole::Server.name() },
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
            Mistake::RelativeElsewhere { path: text.to_owned(), host: name.to_owned() },
        );
    }
    Some(name.to_owned())
}

/// The machines that make load.
pub(crate) fn load_hosts(
    file: &Checked,
    hosts: &[HostSpec],
    origins: &mut Origins<'_>,
    problems: &mut Collector<'_>,
) -> Vec<String> {
    let Some(list) = file.get(file::load_hosts) else {
        return Vec::new();
    };
    let path = file::load_hosts.name;
    let mut names: Vec<String> = Vec::new();
    for item in list.items() {
        let Some(name) = item.text() else { continue };
        let host = hosts.iter().find(|host| host.name == name);
        let mistake = match host {
            _ if names.iter().any(|known| known == name) => {
                Some(Mistake::Repeated { value: name.to_owned() })
            }
            None if name != CONTROLLER => Some(Mistake::UnknownHost {
                name: name.to_owned(),
                hosts: hosts.iter().map(|host| host.name.clone()).collect(),
            }),
            Some(host) if !host.roles.contains(&HostRole::Load) => Some(Mistake::HostWithoutRole {
                name: name.to_owned(),
                role: HostRole::Load.name(),
            }),
            _ => None,
        };
        match mistake {
            Some(mistake) => problems.add(path, Some(item.place), mistake),
            None => names.push(name.to_owned()),
        }
    }
    origins.add_file(path, names.join(", "), list.place);
    names
}

/// Has servers listen where their load comes from other machines.
pub(crate) fn listen(
    arms: &mut [Arm],
    read: &[ReadArm],
    load_hosts: &[String],
    hosts: &[HostSpec],
    problems: &mut Collector<'_>,
) {
    for arm in arms {
        let Some(server) = &mut arm.rig.server else {
            continue;
        };
        let stands = arm.on.as_deref().unwrap_or(CONTROLLER);
        let is_apart = match load_hosts {
            [] => arm.on.is_some(),
            hosts => hosts.iter().any(|host| host != stands),
        };
        if !is_apart {
            continue;
        }
        let host = hosts.iter().find(|host| host.name == stands);
        server.host = host.and_then(|host| host.address.clone());
        if server.host.is_none() {
            let of_arm = read.iter().find(|read| read.name == arm.name);
            let on = of_arm.and_then(|read| read.get(self::arm::on));
            problems.add(
                &self::arm::on.under(&format!("arms.{}", arm.name)),
                on.map(|on| on.checked.place),
                Mistake::HostWithoutAddress { arm: arm.name.clone(), host: stands.to_owned() },
            );
        }
    }
}
