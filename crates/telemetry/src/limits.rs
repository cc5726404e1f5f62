//! Limits of the control group, in both versions of control groups.

use crate::Host;
use crate::mounts::Mount;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Limits {
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) cpus: Option<f64>,
}

/// Version 1 shows "no limit" as the largest whole number of pages in 63 bits.
const NO_LIMIT_BYTES: u64 = 1 << 62;

impl Host {
    /// The tightest limits on this process: a group is bound by the limits of all groups above it.
    pub(crate) fn limits(&self) -> Limits {
        let groups = self.read("proc/self/cgroup").unwrap_or_default();
        let mounts = self.mounts();
        let mut limits = Limits::default();
        for line in groups.lines() {
            // hierarchy:controllers:path
            let mut fields = line.splitn(3, ':');
            let (Some(_), Some(controllers), Some(path)) =
                (fields.next(), fields.next(), fields.next())
            else {
                continue;
            };
            for directory in self.directories(&mounts, controllers, Path::new(path)) {
                let memory = self.memory_limit(&directory);
                limits.memory_bytes = smaller(limits.memory_bytes, memory);
                let cpus = self.cpu_limit(&directory);
                limits.cpus = smaller(limits.cpus, cpus);
            }
        }
        limits
    }

    /// The directories of a group and of all groups above it that can be seen from here.
    fn directories(&self, mounts: &[Mount], controllers: &str, group: &Path) -> Vec<PathBuf> {
        let is_hierarchy = |mount: &&Mount| match controllers {
            "" => mount.kind == "cgroup2",
            _ => {
                mount.kind == "cgroup" && controllers.split(',').all(|name| mount.has_option(name))
            }
        };
        let Some(mount) = mounts.iter().find(is_hierarchy) else {
            return Vec::new();
        };
        // In a container, only the part of the hierarchy below its own group may be mounted.
        let below = group.strip_prefix(&mount.root).unwrap_or(Path::new(""));
        let group = mount.point.join(below);
        let group = if self.exists(&group) { group } else { mount.point.clone() };
        let up_to_the_mount =
            group.ancestors().take_while(|directory| directory.starts_with(&mount.point));
        up_to_the_mount.map(Path::to_owned).collect()
    }

    fn memory_limit(&self, group: &Path) -> Option<u64> {
        let limit = self
            .number(group.join("memory.max"))
            .or_else(|| self.number(group.join("memory.limit_in_bytes")))?;
        (limit < NO_LIMIT_BYTES).then_some(limit)
    }

    fn cpu_limit(&self, group: &Path) -> Option<f64> {
        let (quota, period) = match self.read(group.join("cpu.max")) {
            Some(text) => {
                let (quota, period) = text.split_once(' ')?;
                (quota.parse().ok()?, period.parse().ok()?)
            }
            // The quota is -1 where there is no limit, which is no number here.
            None => (
                self.number(group.join("cpu.cfs_quota_us"))?,
                self.number(group.join("cpu.cfs_period_us"))?,
            ),
        };
        (period > 0).then(|| quota as f64 / period as f64)
    }
}

fn smaller<T: PartialOrd>(left: Option<T>, right: Option<T>) -> Option<T> {
    match (left, right) {
        (Some(left), Some(right)) if right < left => Some(right),
        (Some(left), _) => Some(left),
        (None, right) => right,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    const VERSION_2: (&str, &str) = (
        "proc/self/mountinfo",
        "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
    );

    #[test]
    fn version_2_takes_the_tightest_limit_of_all_groups_above() {
        let tree = Tree::new(&[
            VERSION_2,
            ("proc/self/cgroup", "0::/user.slice/session.scope\n"),
            ("sys/fs/cgroup/user.slice/memory.max", "4294967296\n"),
            ("sys/fs/cgroup/user.slice/cpu.max", "150000 100000\n"),
            ("sys/fs/cgroup/user.slice/session.scope/memory.max", "max\n"),
            ("sys/fs/cgroup/user.slice/session.scope/cpu.max", "max 100000\n"),
        ]);
        assert_eq!(tree.host().limits(), Limits { memory_bytes: Some(4 << 30), cpus: Some(1.5) });
    }

    #[test]
    fn version_2_in_a_container_with_its_own_namespace() {
        let tree = Tree::new(&[
            VERSION_2,
            ("proc/self/cgroup", "0::/\n"),
            ("sys/fs/cgroup/memory.max", "536870912\n"),
            ("sys/fs/cgroup/cpu.max", "50000 100000\n"),
        ]);
        assert_eq!(tree.host().limits(), Limits { memory_bytes: Some(512 << 20), cpus: Some(0.5) });
    }

    #[test]
    fn version_1_has_a_hierarchy_for_each_controller() {
        let tree = Tree::new(&[
            (
                "proc/self/mountinfo",
                "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
                 35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                 41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
            ),
            ("proc/self/cgroup", "4:memory:/jobs/one\n1:cpu,cpuacct:/jobs\n0::/\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("sys/fs/cgroup/memory/jobs/memory.limit_in_bytes", "9223372036854771712\n"),
            ("sys/fs/cgroup/memory/jobs/one/memory.limit_in_bytes", "268435456\n"),
            ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"),
            ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
            ("sys/fs/cgroup/cpu/jobs/cpu.cfs_quota_us", "400000\n"),
            ("sys/fs/cgroup/cpu/jobs/cpu.cfs_period_us", "100000\n"),
            ("sys/fs/cgroup/unified/cgroup.procs", "1\n"),
        ]);
        assert_eq!(tree.host().limits(), Limits { memory_bytes: Some(256 << 20), cpus: Some(4.0) });
    }

    #[test]
    fn version_1_in_a_container_mounts_its_own_group_alone() {
        let tree = Tree::new(&[
            (
                "proc/self/mountinfo",
                "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
            ),
            ("proc/self/cgroup", "4:memory:/docker/abc/inner\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n"),
            ("sys/fs/cgroup/memory/inner/memory.limit_in_bytes", "9223372036854771712\n"),
        ]);
        assert_eq!(tree.host().limits().memory_bytes, Some(1 << 30));
    }

    #[test]
    fn a_group_that_cannot_be_seen_has_the_limits_of_the_mount() {
        let tree = Tree::new(&[
            VERSION_2,
            ("proc/self/cgroup", "0::/../elsewhere\n"),
            ("sys/fs/cgroup/memory.max", "1073741824\n"),
        ]);
        assert_eq!(tree.host().limits().memory_bytes, Some(1 << 30));
    }

    #[test]
    fn no_groups_no_limits() {
        assert_eq!(Tree::new(&[]).host().limits(), Limits::default());
        let unlimited = Tree::new(&[
            VERSION_2,
            ("proc/self/cgroup", "0::/\n"),
            ("sys/fs/cgroup/cgroup.procs", ""),
        ]);
        assert_eq!(unlimited.host().limits(), Limits::default());
    }
}
