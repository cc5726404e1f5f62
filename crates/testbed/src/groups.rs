//! Control groups, of both versions: limits for a process and for the page cache that it fills.
//!
//! Written with plain files rather than with a library for control groups: a group must be journaled before it is made and known again
//! by its inode, in whichever version the controllers are (machines have both at once), and that is most of the work.

mod find;
mod limits;

use crate::TestbedError;
use crate::privileged::group;
use crate::rig_parts::RigParts;
use crate::step::Step;
use crate::undo::Undone;
use crate::wait::until;
use find::Homes;
pub(crate) use limits::parse_cpus;
use plimsoll_record::LimitsSpec;
use rustix::fs::Access;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;

const NAME: &str = "plimsoll-";

/// How long the kernel may take to free what is beyond a limit.
const LONGEST_RECLAIM: Duration = Duration::from_secs(10);

/// The directories of a control group. In version 1 each controller has its own, in version 2 they are one and the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupPaths {
    /// 1 or 2.
    pub version: u32,
    /// Where memory is limited and accounted.
    pub memory: Option<PathBuf>,
    /// Where CPU time is limited; in version 2 it is accounted there too.
    pub cpu: Option<PathBuf>,
    /// Where CPU time is accounted in version 1.
    pub cpuacct: Option<PathBuf>,
}

/// A control group with its limits in force.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) paths: GroupPaths,
    /// All, each once.
    directories: Vec<PathBuf>,
    /// As the kernel tells them.
    pub(crate) limits: LimitsSpec,
}

impl Group {
    /// Makes a group with these limits.
    pub(crate) fn make(limits: &LimitsSpec, made: &RigParts) -> Result<Self, TestbedError> {
        let homes = Homes::find(limits)?;
        if !homes.to_enable.is_empty() {
            enable(&homes, made)?;
        }
        let name = format!("{NAME}{}-{}", made.journal().token(), made.next_number());
        let directory_of = |controller: &str| {
            let (_, home) = homes.of.iter().find(|(found, _)| *found == controller)?;
            Some(home.join(&name))
        };
        let mut directories: Vec<PathBuf> =
            homes.of.iter().map(|(_, home)| home.join(&name)).collect();
        directories.sort();
        directories.dedup();
        for directory in &directories {
            let id = made.making(Step::Group {
                path: directory.clone(),
            })?;
            let inode = group::make(directory)?;
            made.journal().made(id, inode)?;
        }
        let paths = GroupPaths {
            version: homes.version,
            memory: directory_of("memory"),
            cpu: directory_of("cpu"),
            cpuacct: directory_of("cpuacct"),
        };
        let cpuset = directory_of("cpuset");
        for (file, value) in limits::to_write(limits, &paths, cpuset.as_deref())? {
            group::write(&file, &value)?;
        }
        let limits = limits::in_force(limits, &paths, cpuset.as_deref());
        Ok(Self {
            paths,
            directories,
            limits,
        })
    }

    /// Puts a process into the group.
    pub(crate) fn admit(&self, process: u32) -> Result<(), TestbedError> {
        for directory in &self.directories {
            group::write(&directory.join("cgroup.procs"), &process.to_string())?;
        }
        Ok(())
    }

    /// Limits the memory to what the processes take now and so much page cache.
    ///
    /// # Errors
    /// When it is not known what they take, or the kernel cannot free so much.
    pub(crate) fn size_memory(&mut self, page_cache_bytes: u64) -> Result<(), TestbedError> {
        let Some(processes) = limits::of_processes(&self.paths) else {
            return Err(TestbedError::NotAccounted);
        };
        let bytes = processes.saturating_add(page_cache_bytes);
        let mut files = limits::of_memory(bytes, &self.paths);
        // In version 1 memory and swap together may never be limited to less than memory.
        if self.limits.memory_bytes.is_some_and(|now| bytes > now) {
            files.reverse();
        }
        for (file, value) in files {
            // The kernel gives up a moment after pages that are still being written.
            let mut written = Ok(());
            until(LONGEST_RECLAIM, || {
                written = group::write(&file, &value);
                written.is_ok()
            });
            written?;
        }
        self.limits.memory_bytes = Some(bytes);
        Ok(())
    }

    /// Whether all is well with its memory.
    ///
    /// # Errors
    /// [`TestbedError::OutOfMemory`] when the kernel had to end a process of the group.
    pub(crate) fn has_room(&self) -> Result<(), TestbedError> {
        if limits::ended_processes(&self.paths) == 0 {
            return Ok(());
        }
        Err(TestbedError::OutOfMemory {
            limit_bytes: self.limits.memory_bytes,
        })
    }
}

/// Whether groups with these limits can be made here.
pub(crate) fn can_be_made(limits: &LimitsSpec) -> Result<(), TestbedError> {
    let homes = Homes::find(limits)?;
    // Systems can give a user groups of his own.
    let is_ours = |home: &Path| rustix::fs::access(home, Access::WRITE_OK).is_ok();
    if homes.of.iter().all(|(_, home)| is_ours(home)) {
        Ok(())
    } else {
        Err(TestbedError::NeedsRoot {
            what: "an arm with limits",
        })
    }
}

fn enable(homes: &Homes, made: &RigParts) -> Result<(), TestbedError> {
    // They are all in one place: only version 2 has to enable any.
    let Some((_, home)) = homes.of.first() else {
        return Ok(());
    };
    made.making(Step::Controllers {
        group: home.clone(),
        controllers: homes.to_enable.clone(),
    })?;
    let words: Vec<String> = homes
        .to_enable
        .iter()
        .map(|name| format!("+{name}"))
        .collect();
    group::write(&home.join("cgroup.subtree_control"), &words.join(" "))
}

/// Takes back what `enable` did, unless other groups have come to use it.
pub(crate) fn disable(group_path: &Path, controllers: &[String]) -> Undone {
    let words: Vec<String> = controllers.iter().map(|name| format!("-{name}")).collect();
    match group::write(&group_path.join("cgroup.subtree_control"), &words.join(" ")) {
        Ok(()) => Undone::Gone,
        Err(error) => Undone::Foreign(format!(
            "the controllers {} below {} stay, because another group uses them by now ({error})",
            controllers.join(" "),
            group_path.display()
        )),
    }
}

/// Removes a group that the owner of a journal with this token made. `inode` is what the group got then, if that was written down in time.
pub(crate) fn remove(path: &Path, token: &str, inode: Option<u64>) -> Result<Undone, TestbedError> {
    group::remove(path, &format!("{NAME}{token}-"), inode)
}

#[cfg(test)]
mod tests;
