//! Where groups can be made: below our own, as far as the rules of control groups allow it.

use crate::testbed::TestbedError;
use crate::testbed::mounts;
use plimsoll_record::LimitsSpec;
use plimsoll_telemetry::Mount;
use std::fs;
use std::path::{Path, PathBuf};

/// The directories below which a group is made.
#[derive(Debug)]
pub(super) struct Homes {
    pub(super) version: u32,
    pub(super) of: Vec<(&'static str, PathBuf)>,
    /// Controllers that the children of the home may not use yet; version 2 alone.
    pub(super) to_enable: Vec<String>,
}

impl Homes {
    /// Finds where all the limits can be had.
    pub(super) fn find(limits: &LimitsSpec) -> Result<Self, TestbedError> {
        let mounted = mounts::all()?;
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        match in_version_2(limits, &mounted, &own) {
            Ok(homes) => Ok(homes),
            Err(why_not_2) => in_version_1(limits, &mounted, &own)
                .map_err(|why_not_1| TestbedError::NoGroups { why_not_2, why_not_1 }),
        }
    }
}

/// Which controllers the limits need, `cpuacct` aside, which only version 1 has.
fn controllers(limits: &LimitsSpec) -> Vec<&'static str> {
    // Memory and CPU time are watched even where they are not limited.
    let mut controllers = vec!["memory", "cpu"];
    if limits.is_of_places() {
        controllers.push("cpuset");
    }
    controllers
}

fn in_version_1(limits: &LimitsSpec, mounted: &[Mount], own: &str) -> Result<Homes, String> {
    let mut of = Vec::new();
    let mut names = controllers(limits);
    names.push("cpuacct");
    for name in names {
        match home_in_version_1(name, mounted, own) {
            Some(home) => of.push((name, home)),
            None if name == "cpuacct" => {}
            None => return Err(format!("the controller {name} is not mounted")),
        }
    }
    Ok(Homes { version: 1, of, to_enable: Vec::new() })
}

fn home_in_version_1(name: &str, mounted: &[Mount], own: &str) -> Option<PathBuf> {
    let hierarchy =
        mounted.iter().find(|mounted| mounted.kind == "cgroup" && mounted.has_option(name))?;
    let path = own.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let names = fields.next()?;
        let path = fields.next()?;
        names.split(',').any(|found| found == name).then_some(path)
    })?;
    Some(below(hierarchy, path))
}

/// Where a group is seen. In containers the root of the mount is a group too; one outside of it is seen as the root.
fn below(hierarchy: &Mount, path: &str) -> PathBuf {
    match Path::new(path).strip_prefix(&hierarchy.root) {
        Ok(rest) if rest.as_os_str().is_empty() => hierarchy.point.clone(),
        Ok(rest) => hierarchy.point.join(rest),
        Err(_) => hierarchy.point.clone(),
    }
}

fn in_version_2(limits: &LimitsSpec, mounted: &[Mount], own: &str) -> Result<Homes, String> {
    let hierarchy =
        mounted.iter().find(|mounted| mounted.kind == "cgroup2").ok_or("it is not mounted")?;
    let path = own
        .lines()
        .find_map(|line| line.strip_prefix("0::"))
        .ok_or("this process is in no group of it")?;
    let needed = controllers(limits);
    let at_root = words(&hierarchy.point.join("cgroup.controllers"));
    if let Some(missing) = needed.iter().find(|name| !at_root.iter().any(|found| found == *name)) {
        return Err(format!("it does not have the controller {missing}"));
    }
    let own_group = below(hierarchy, path);
    // A group with processes cannot have children with controllers, so the way leads up from our own.
    for home in own_group.ancestors() {
        let offered = words(&home.join("cgroup.controllers"));
        let enabled = words(&home.join("cgroup.subtree_control"));
        let has = |list: &[String], name: &str| list.iter().any(|found| found == name);
        let to_enable: Vec<String> = needed
            .iter()
            .filter(|name| !has(&enabled, name))
            .map(|name| (*name).to_owned())
            .collect();
        let is_real_root = !home.join("cgroup.type").exists();
        let is_free = is_real_root || words(&home.join("cgroup.procs")).is_empty();
        if needed.iter().all(|name| has(&offered, name)) && (to_enable.is_empty() || is_free) {
            return Ok(Homes {
                version: 2,
                of: needed.iter().map(|name| (*name, home.to_owned())).collect(),
                to_enable,
            });
        }
        if home == hierarchy.point {
            break;
        }
    }
    Err("no group above this process may have children with these controllers, because there are processes in it".to_owned())
}

fn words(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.split_ascii_whitespace().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hierarchy(kind: &str, point: &Path, root: &str, options: &str) -> Mount {
        Mount {
            device_number: "0:30".to_owned(),
            root: root.into(),
            point: point.to_owned(),
            kind: kind.to_owned(),
            source: kind.into(),
            options: "rw".to_owned(),
            filesystem_options: options.to_owned(),
        }
    }

    fn memory_and_pin() -> LimitsSpec {
        LimitsSpec { memory_bytes: Some(64 << 20), pin: vec![0], ..LimitsSpec::default() }
    }

    #[test]
    fn in_version_1_each_controller_has_its_place_below_our_own_group() {
        let mounted = [
            hierarchy("cgroup", Path::new("/c/memory"), "/", "rw,memory"),
            hierarchy("cgroup", Path::new("/c/cpu,cpuacct"), "/box", "rw,cpu,cpuacct"),
            hierarchy("cgroup", Path::new("/c/cpuset"), "/", "rw,cpuset"),
        ];
        let own = "4:memory:/a/b\n2:cpu,cpuacct:/box\n3:cpuset:/\n";
        let homes = in_version_1(&memory_and_pin(), &mounted, own).unwrap();
        let expected: Vec<(&str, PathBuf)> = vec![
            ("memory", "/c/memory/a/b".into()),
            ("cpu", "/c/cpu,cpuacct".into()),
            ("cpuset", "/c/cpuset".into()),
            ("cpuacct", "/c/cpu,cpuacct".into()),
        ];
        assert_eq!(homes.of, expected);
        let error = in_version_1(&memory_and_pin(), &mounted[..2], own).unwrap_err();
        assert_eq!(error, "the controller cpuset is not mounted");
    }

    /// A tree of version 2 as a system with services has it: a session with this process in a slice in the root.
    fn version_2(root: &Path) -> [Mount; 1] {
        let group = |path: &str, controllers: &str, enabled: &str, processes: &str| {
            let folder = root.join(path);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("cgroup.controllers"), controllers).unwrap();
            fs::write(folder.join("cgroup.subtree_control"), enabled).unwrap();
            fs::write(folder.join("cgroup.procs"), processes).unwrap();
            if !path.is_empty() {
                fs::write(folder.join("cgroup.type"), "domain\n").unwrap();
            }
        };
        group("", "cpuset cpu io memory pids\n", "cpu memory pids\n", "1\n2\n");
        group("user.slice", "cpu memory pids\n", "memory pids\n", "");
        group("user.slice/session", "memory pids\n", "", "77\n");
        [hierarchy("cgroup2", root, "/", "rw")]
    }

    #[test]
    fn in_version_2_the_nearest_group_that_can_have_such_children_is_taken() {
        let root = tempfile::tempdir().unwrap();
        let mounted = version_2(root.path());
        let own = "0::/user.slice/session\n";
        let limits = LimitsSpec { pin: Vec::new(), ..memory_and_pin() };
        let homes = in_version_2(&limits, &mounted, own).unwrap();
        assert_eq!(homes.of[0], ("memory", root.path().join("user.slice")));
        assert_eq!(homes.to_enable, ["cpu"]);

        let homes = in_version_2(&memory_and_pin(), &mounted, own).unwrap();
        assert_eq!(homes.of[2], ("cpuset", root.path().to_owned()));
        assert_eq!(homes.to_enable, ["cpuset"]);
    }

    #[test]
    fn a_container_that_may_not_make_groups_is_told_why() {
        let root = tempfile::tempdir().unwrap();
        let mounted = version_2(root.path());
        fs::write(root.path().join("cgroup.type"), "domain\n").unwrap();
        let error = in_version_2(&memory_and_pin(), &mounted, "0::/\n").unwrap_err();
        assert!(error.contains("processes in it"), "{error}");
        fs::write(root.path().join("cgroup.controllers"), "cpu\n").unwrap();
        let error = in_version_2(&memory_and_pin(), &mounted, "0::/\n").unwrap_err();
        assert_eq!(error, "it does not have the controller memory");
    }
}
