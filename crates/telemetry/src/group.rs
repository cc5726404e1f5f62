//! What a control group uses, in both versions of control groups.

use crate::kept_file::{KeptFile, keyed};
use crate::{Figures, Host};
use plimsoll_record::figures;
use std::path::{Path, PathBuf};

/// The directories of a control group. In version 1 each controller has its own, in version 2 they are one and the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupSource {
    pub version: u32,
    pub memory: Option<PathBuf>,
    /// Where CPU time is limited; in version 2 it is accounted there too.
    pub cpu: Option<PathBuf>,
    /// Where CPU time is accounted in version 1.
    pub cpuacct: Option<PathBuf>,
}

/// From here on a limit of version 1 is none, bytes.
const UNLIMITED: u64 = 1 << 60;

/// The files of a control group, kept open.
pub(crate) struct Group {
    version: u32,
    memory_used: Option<KeptFile>,
    memory_limit: Option<KeptFile>,
    memory_kinds: Option<KeptFile>,
    cpu: Option<KeptFile>,
    cpu_used: Option<KeptFile>,
}

impl Group {
    pub(crate) fn open(host: &Host, source: &GroupSource) -> Self {
        let open = |directory: &Option<PathBuf>, name: &str| {
            let directory: &Path = directory.as_deref()?;
            Some(KeptFile::open(host, directory.join(name)))
        };
        let (memory_used, memory_limit, cpu_used) = match source.version {
            1 => (
                open(&source.memory, "memory.usage_in_bytes"),
                open(&source.memory, "memory.limit_in_bytes"),
                open(&source.cpuacct, "cpuacct.usage"),
            ),
            _ => (open(&source.memory, "memory.current"), open(&source.memory, "memory.max"), None),
        };
        Self {
            version: source.version,
            memory_used,
            memory_limit,
            memory_kinds: open(&source.memory, "memory.stat"),
            cpu: open(&source.cpu, "cpu.stat"),
            cpu_used,
        }
    }

    pub(crate) fn tell(&self, buffer: &mut Vec<u8>, into: &mut Figures) {
        let numbers = [
            (figures::GROUP_MEMORY, &self.memory_used),
            (figures::GROUP_MEMORY_LIMIT, &self.memory_limit),
            (figures::GROUP_CPU, &self.cpu_used),
        ];
        for (name, file) in numbers {
            // Version 1 states "no limit" as one beyond any memory, version 2 as a word.
            if let Some(number) = file.as_ref().and_then(|file| file.number(buffer))
                && number < UNLIMITED
            {
                into.push((name, number as f64));
            }
        }
        if let Some(text) = self.memory_kinds.as_ref().and_then(|file| file.read(buffer)) {
            tell_memory(self.version, text, into);
        }
        if let Some(text) = self.cpu.as_ref().and_then(|file| file.read(buffer)) {
            tell_cpu(self.version, text, into);
        }
    }
}

fn tell_memory(version: u32, text: &str, into: &mut Figures) {
    // Version 1 counts the group alone in lines of the same names without `total_`. Refaults of anonymous pages and of files were one
    // number before Linux 5.9.
    let (processes, cache, without, refaults, all_refaults) = match version {
        1 => (
            "total_rss",
            "total_cache",
            ["total_shmem", "total_mapped_file"],
            "total_workingset_refault_file",
            "total_workingset_refault",
        ),
        _ => (
            "anon",
            "file",
            ["shmem", "file_mapped"],
            "workingset_refault_file",
            "workingset_refault",
        ),
    };
    let (mut cached, mut in_use) = (None, 0);
    for (key, number) in keyed(text) {
        if key == processes {
            into.push((figures::GROUP_MEMORY_PROCESSES, number as f64));
        } else if key == cache {
            cached = Some(number);
        } else if without.contains(&key) {
            in_use += number;
        } else if key == refaults || key == all_refaults {
            into.push((figures::GROUP_REFAULTS, number as f64));
        }
    }
    // The kernel counts as page cache what processes use: shared memory, which has no disk below it, and files that they have mapped, such as their
    // programs.
    if let Some(cached) = cached {
        let cached = u64::saturating_sub(cached, in_use);
        into.push((figures::GROUP_PAGE_CACHE, cached as f64));
    }
}

fn tell_cpu(version: u32, text: &str, into: &mut Figures) {
    const MICROSECOND: f64 = 1e3;
    for (key, number) in keyed(text) {
        let number = number as f64;
        match (version, key) {
            (1, "throttled_time") => into.push((figures::GROUP_CPU_THROTTLED, number)),
            (2, "throttled_usec") => {
                into.push((figures::GROUP_CPU_THROTTLED, number * MICROSECOND));
            }
            (2, "usage_usec") => into.push((figures::GROUP_CPU, number * MICROSECOND)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;
    use std::collections::BTreeMap;

    fn describe(tree: &Tree, source: &GroupSource) -> BTreeMap<&'static str, f64> {
        let mut figures = Vec::new();
        Group::open(&tree.host(), source).tell(&mut vec![0; 64], &mut figures);
        figures.into_iter().collect()
    }

    #[test]
    fn version_1_has_a_directory_for_each_controller() {
        let tree = Tree::new(&[
            ("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "1073741824\n"),
            ("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "2147483648\n"),
            (
                "sys/fs/cgroup/memory/a/memory.stat",
                "cache 1\nrss 2\nshmem 3\nworkingset_refault_file 4\nhierarchical_memory_limit 9223372036854771712\n\
                 total_cache 600\ntotal_rss 200\ntotal_rss_huge 0\ntotal_shmem 50\ntotal_mapped_file 20\ntotal_workingset_refault_anon 5\n\
                 total_workingset_refault_file 244134\ntotal_pgfault 27544395\n",
            ),
            (
                "sys/fs/cgroup/cpu/a/cpu.stat",
                "nr_periods 30\nnr_throttled 3\nthrottled_time 123456789\nnr_bursts 0\nburst_time 0\n",
            ),
            ("sys/fs/cgroup/cpuacct/a/cpuacct.usage", "987654321\n"),
        ]);
        let directory =
            |controller: &str| Some(Path::new("/sys/fs/cgroup").join(controller).join("a"));
        let source = GroupSource {
            version: 1,
            memory: directory("memory"),
            cpu: directory("cpu"),
            cpuacct: directory("cpuacct"),
        };
        let expected = [
            (figures::GROUP_MEMORY, 1_073_741_824.0),
            (figures::GROUP_MEMORY_LIMIT, 2_147_483_648.0),
            (figures::GROUP_MEMORY_PROCESSES, 200.0),
            (figures::GROUP_PAGE_CACHE, 530.0),
            (figures::GROUP_REFAULTS, 244_134.0),
            (figures::GROUP_CPU, 987_654_321.0),
            (figures::GROUP_CPU_THROTTLED, 123_456_789.0),
        ];
        assert_eq!(describe(&tree, &source), BTreeMap::from(expected));
        let memory_alone = GroupSource { cpu: None, cpuacct: directory("nowhere"), ..source };
        assert_eq!(describe(&tree, &memory_alone).len(), 5);
    }

    #[test]
    fn version_2_has_one_directory_and_microseconds() {
        let tree = Tree::new(&[
            ("sys/fs/cgroup/a/memory.current", "5000\n"),
            ("sys/fs/cgroup/a/memory.max", "max\n"),
            (
                "sys/fs/cgroup/a/memory.stat",
                "anon 2000\nfile 2500\nkernel 100\nshmem 500\nfile_mapped 7\nworkingset_refault_anon 5\nworkingset_refault_file 6\n",
            ),
            (
                "sys/fs/cgroup/a/cpu.stat",
                "usage_usec 3000\nuser_usec 1000\nsystem_usec 2000\nnr_periods 9\nnr_throttled 2\nthrottled_usec 70\n",
            ),
        ]);
        let source = GroupSource {
            version: 2,
            memory: Some("/sys/fs/cgroup/a".into()),
            cpu: Some("/sys/fs/cgroup/a".into()),
            cpuacct: None,
        };
        let expected = [
            (figures::GROUP_MEMORY, 5_000.0),
            (figures::GROUP_MEMORY_PROCESSES, 2_000.0),
            (figures::GROUP_PAGE_CACHE, 1_993.0),
            (figures::GROUP_REFAULTS, 6.0),
            (figures::GROUP_CPU, 3_000_000.0),
            (figures::GROUP_CPU_THROTTLED, 70_000.0),
        ];
        assert_eq!(describe(&tree, &source), BTreeMap::from(expected));
    }

    #[test]
    fn a_group_without_a_limit_has_none() {
        let tree =
            Tree::new(&[("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n")]);
        let source = GroupSource {
            version: 1,
            memory: Some("/sys/fs/cgroup/memory/a".into()),
            ..GroupSource::default()
        };
        assert_eq!(describe(&tree, &source), BTreeMap::new());
    }

    #[test]
    fn before_5_9_all_refaults_are_one_number() {
        let mut figures = Vec::new();
        tell_memory(2, "workingset_refault 8\n", &mut figures);
        tell_memory(1, "workingset_refault 1\ntotal_workingset_refault 9\n", &mut figures);
        let expected = [8.0, 9.0].map(|number| (figures::GROUP_REFAULTS, number));
        assert_eq!(figures, expected);
    }

    /// The group of this process in version 2, the topmost ones in version 1, which have all files there.
    #[test]
    fn a_group_of_this_machine_can_be_read() {
        let top = Path::new("/sys/fs/cgroup");
        let own = Host::here().read("proc/self/cgroup").unwrap_or_default();
        let own = own.lines().find_map(|line| line.strip_prefix("0::/"));
        let source = match own {
            _ if top.join("memory/memory.stat").exists() => GroupSource {
                version: 1,
                memory: Some(top.join("memory")),
                cpu: Some(top.join("cpu")),
                cpuacct: Some(top.join("cpuacct")),
            },
            Some(own) if top.join(own).join("memory.current").exists() => GroupSource {
                version: 2,
                memory: Some(top.join(own)),
                cpu: Some(top.join(own)),
                cpuacct: None,
            },
            _ => {
                let test = "a_group_of_this_machine_can_be_read";
                plimsoll_testing::skip(test, "no control group accounts memory here");
                return;
            }
        };
        let mut figures_read = Vec::new();
        Group::open(&Host::here(), &source).tell(&mut vec![0; 64], &mut figures_read);
        for name in [
            figures::GROUP_MEMORY,
            figures::GROUP_MEMORY_PROCESSES,
            figures::GROUP_PAGE_CACHE,
            figures::GROUP_REFAULTS,
        ] {
            assert!(figures_read.iter().any(|(known, _)| *known == name), "{name}");
        }
    }
}
