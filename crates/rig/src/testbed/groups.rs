//! Control groups, of both versions: limits for a process and for the page cache that it fills.
//!
//! Written with plain files rather than with a library for control groups: a group must be journaled before it is made and known again
//! by its inode, in whichever version the controllers are (machines have both at once), and that is most of the work.

mod find;
mod limits;
mod paths;
mod room;

use crate::testbed::TestbedError;
use crate::testbed::privileged::group;
use crate::testbed::rig_parts::RigParts;
use crate::testbed::step::Step;
use find::Homes;
pub(crate) use limits::parse_list;
pub use paths::GroupPaths;
use plimsoll_record::LimitsSpec;
use room::PageCacheRoom;
use rustix::fs::Access;
use std::path::{Path, PathBuf};

/// A control group with its limits in force.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) paths: GroupPaths,
    directories: Vec<PathBuf>,
    /// As the kernel reports them.
    pub(crate) limits: LimitsSpec,
    /// Kept beside the processes once it was requested.
    room: Option<PageCacheRoom>,
}

impl Group {
    /// Makes a group with these limits.
    pub(crate) fn make(limits: &LimitsSpec, made: &RigParts) -> Result<Self, TestbedError> {
        let homes = Homes::find(limits)?;
        if !homes.to_enable.is_empty() {
            enable(&homes, made)?;
        }
        let name = format!("{}{}", group::prefix(made.journal().token()), made.next_number());
        let directory_of = |controller: &str| {
            let (_, home) = homes.of.iter().find(|(found, _)| *found == controller)?;
            Some(home.join(&name))
        };
        let mut directories: Vec<PathBuf> =
            homes.of.iter().map(|(_, home)| home.join(&name)).collect();
        directories.sort();
        directories.dedup();
        for directory in &directories {
            let id = made.making(Step::Group { path: directory.clone() })?;
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
        Ok(Self { paths, directories, limits, room: None })
    }

    /// Gives the group the swappiness of the kernel: in version 1 each group has one of its own, that of its parent when it was made.
    pub(crate) fn set_swappiness(&self, value: &str) -> Result<(), TestbedError> {
        let file = self.paths.memory.as_ref().map(|memory| memory.join("memory.swappiness"));
        match file.filter(|file| file.exists()) {
            Some(file) => group::write(&file, value),
            None => Ok(()),
        }
    }

    /// Puts a process into the group.
    pub(crate) fn admit(&self, process: u32) -> Result<(), TestbedError> {
        for directory in &self.directories {
            group::write(&directory.join("cgroup.procs"), &process.to_string())?;
        }
        Ok(())
    }

    /// Where room for page cache was requested, limits the memory to what the processes take and that. The limit follows what they take from now on, as long as
    /// the group is here. Returns it, bytes.
    pub(crate) fn size_memory(&mut self) -> Result<Option<u64>, TestbedError> {
        let Some(bytes) = self.limits.page_cache_bytes else {
            return Ok(None);
        };
        let paths = &self.paths;
        let room = self.room.get_or_insert_with(|| PageCacheRoom::keep(paths.clone(), bytes));
        self.limits.memory_bytes = Some(room.size()?);
        Ok(self.limits.memory_bytes)
    }

    /// Whether all is well with its memory.
    pub(crate) fn has_room(&self) -> Result<(), TestbedError> {
        if limits::ended_processes(&self.paths) == 0 {
            return Ok(());
        }
        let limit_bytes = limits::memory_in_force(&self.paths).first().copied();
        let raise = match self.room {
            Some(_) => "page_cache",
            None => "memory",
        };
        Err(TestbedError::OutOfMemory { limit_bytes, raise })
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
        Err(TestbedError::NeedsRoot { what: "an arm with limits" })
    }
}

fn enable(homes: &Homes, made: &RigParts) -> Result<(), TestbedError> {
    // They are all in one place: only version 2 has to enable any.
    let Some((_, home)) = homes.of.first() else {
        return Ok(());
    };
    made.making(Step::Controllers { group: home.clone(), controllers: homes.to_enable.clone() })?;
    let words: Vec<String> = homes.to_enable.iter().map(|name| format!("+{name}")).collect();
    group::write(&home.join("cgroup.subtree_control"), &words.join(" "))
}

#[cfg(test)]
mod tests;
