//! Which experiments a live program is working on.
//!
//! One lock file beside the store, `plimsoll.db-lock`, one byte of it for each experiment: a program that works on the experiment holds the
//! lock of its byte. The kernel lets go of it when the program ends, however it ends, so nothing has to be cleaned up or guessed from
//! process ids, which differ between containers. The locks belong to the open file and not to the process ("open file description
//! locks", fcntl(2)), so two stores opened by one process exclude each other too, and a child that was started does not keep them.
//! Byte 0 is held while a store is being created or migrated. The file itself has no content and stays.
//!
//! Who may read the file can hold a lock of it, so it is for its owner alone, and nobody waits for a lock without end.

use crate::StoreError;
use crate::holder::Holder;
use crate::place::StorePath;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The byte that guards creation and migration. Keys of experiments start at 1.
const SETTING_UP: i64 = 0;

const BETWEEN_TRIES: Duration = Duration::from_millis(10);

#[derive(Debug)]
pub(crate) struct Claims {
    store: PathBuf,
    /// `None` where there is no lock file and none can be made: nobody can be working there.
    file: Option<File>,
    held: BTreeSet<i64>,
}

impl Claims {
    /// For a program that writes.
    pub(crate) fn open(place: &StorePath) -> Result<Self, StoreError> {
        let file = place
            .folder
            .open(&place.beside("-lock"))
            .map_err(|error| StoreError::from_io(&place.shown, error))?;
        Ok(Self { store: place.shown.clone(), file: Some(file), held: BTreeSet::new() })
    }

    /// For a program that only looks.
    pub(crate) fn look(place: &StorePath) -> Self {
        let file = place.folder.open_to_read(&place.beside("-lock")).ok();
        Self { store: place.shown.clone(), file, held: BTreeSet::new() }
    }

    /// Waits until no other program is creating or migrating the store, and keeps others out until [`Self::end_set_up`].
    pub(crate) fn begin_set_up(&self, timeout: Duration) -> Result<(), StoreError> {
        let lock = byte(SETTING_UP, libc::F_WRLCK);
        let started = Instant::now();
        loop {
            match fcntl(self.file()?, FcntlArg::F_OFD_SETLK(&lock)) {
                Ok(_) => return Ok(()),
                Err(Errno::EAGAIN | Errno::EACCES) if started.elapsed() < timeout => {
                    std::thread::sleep(BETWEEN_TRIES);
                }
                Err(Errno::EAGAIN | Errno::EACCES) => {
                    return Err(StoreError::Locked {
                        path: self.store.clone(),
                        holder: self.holder(SETTING_UP),
                    });
                }
                Err(errno) => return Err(self.failed(errno)),
            }
        }
    }

    /// Who works on the experiment with this key, as far as this user can see.
    pub(crate) fn holder(&self, key: i64) -> Holder {
        self.file.as_ref().map_or(Holder::default(), |file| Holder::of(file, key))
    }

    pub(crate) fn end_set_up(&self) -> Result<(), StoreError> {
        self.unlock(SETTING_UP)
    }

    /// Takes the experiment with this key, or says who has it.
    pub(crate) fn take(&mut self, key: i64, id: &str, name: &str) -> Result<(), StoreError> {
        let lock = byte(key, libc::F_WRLCK);
        match fcntl(self.file()?, FcntlArg::F_OFD_SETLK(&lock)) {
            Ok(_) => {
                self.held.insert(key);
                Ok(())
            }
            Err(Errno::EAGAIN | Errno::EACCES) => Err(StoreError::Busy {
                id: id.to_owned(),
                name: name.to_owned(),
                holder: self.holder(key),
            }),
            Err(errno) => Err(self.failed(errno)),
        }
    }

    /// Lets go of the experiment with this key.
    pub(crate) fn release(&mut self, key: i64) -> Result<(), StoreError> {
        if self.held.remove(&key) {
            self.unlock(key)?;
        }
        Ok(())
    }

    /// Whether this store has taken the experiment.
    pub(crate) fn holds(&self, key: i64) -> bool {
        self.held.contains(&key)
    }

    /// Whether any program, this one included, is working on the experiment.
    pub(crate) fn anybody_holds(&self, key: i64) -> Result<bool, StoreError> {
        if self.holds(key) {
            return Ok(true);
        }
        let Some(file) = &self.file else {
            return Ok(false);
        };
        let mut lock = byte(key, libc::F_WRLCK);
        fcntl(file, FcntlArg::F_OFD_GETLK(&mut lock)).map_err(|errno| self.failed(errno))?;
        Ok(i32::from(lock.l_type) != libc::F_UNLCK)
    }

    fn unlock(&self, offset: i64) -> Result<(), StoreError> {
        let lock = byte(offset, libc::F_UNLCK);
        fcntl(self.file()?, FcntlArg::F_OFD_SETLK(&lock)).map_err(|errno| self.failed(errno))?;
        Ok(())
    }

    fn file(&self) -> Result<&File, StoreError> {
        self.file.as_ref().ok_or_else(|| self.failed(Errno::EBADF))
    }

    fn failed(&self, errno: Errno) -> StoreError {
        // A descriptor that is open for reading alone takes no such lock.
        if errno == Errno::EBADF {
            return StoreError::ReadOnly { path: self.store.clone() };
        }
        StoreError::from_io(&self.store, io::Error::from(errno))
    }
}

fn byte(offset: i64, kind: i32) -> libc::flock {
    libc::flock {
        l_type: i16::try_from(kind).expect("lock types are 0 to 2"),
        l_whence: i16::try_from(libc::SEEK_SET).expect("SEEK_SET is 0"),
        l_start: offset,
        l_len: 1,
        l_pid: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_ever_and_the_holder_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let place = StorePath::to_write(&directory.path().join("plimsoll.db")).unwrap();
        let mut first = Claims::open(&place).unwrap();
        let second = Claims::open(&place).unwrap();
        first.begin_set_up(Duration::ZERO).unwrap();
        first.take(7, "9b2c", "compression").unwrap();
        let refused = second.begin_set_up(Duration::from_millis(1)).unwrap_err();
        let name = std::fs::read_to_string("/proc/self/comm").unwrap();
        let this = format!("process {} ({})", std::process::id(), name.trim_end());
        assert_eq!(
            refused.to_string(),
            format!(
                "{this} keeps the store {} locked: wait until it is done, or end it",
                place.shown.display()
            )
        );
        assert_eq!(second.holder(7).to_string(), this);
        assert_eq!(second.holder(8).to_string(), "another program");
        first.end_set_up().unwrap();
        second.begin_set_up(Duration::ZERO).unwrap();
    }
}
