//! What is stored on a disk, and what of it survives a cut of its power.

use crate::blocks::Blocks;
use crate::cache::{MOST_BYTES, WriteLog};
use plimsoll_record::{DiskSpec, PowerCut};
use serde::{Deserialize, Serialize};
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Sizes that a sector may have, bytes.
const SECTORS: [u64; 2] = [512, 4096];

/// Whether a disk with a volatile cache has power.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Power {
    On {
        /// Programs that had files open when the power was last cut, such as `mongod (4711)`.
        users: Vec<String>,
    },
    /// It was cut, and the filesystem is not mounted again yet.
    Off,
    /// It was cut, and the filesystem can no longer be mounted.
    Unmountable { users: Vec<String>, why: String },
}

/// The blocks of a disk, with its volatile cache where it has one.
pub(crate) struct Storage {
    blocks: Blocks,
    log: Option<Mutex<WriteLog>>,
    /// How often the power was cut. Users who opened the disk before the last time get errors.
    cuts: AtomicU64,
    power: Mutex<Power>,
}

/// What to log when a request is answered.
#[derive(Debug, Default)]
pub(crate) struct Receipt {
    session: u64,
    logged: Logged,
}

#[derive(Debug, Default)]
enum Logged {
    #[default]
    Nothing,
    /// The numbers of the writes in the log.
    Writes(Range<u64>),
    Flush(u64),
}

impl Storage {
    pub(crate) fn new(spec: &DiskSpec, blocks: Blocks) -> Self {
        Self {
            blocks,
            log: spec.volatile_cache.then(|| Mutex::new(WriteLog::new(MOST_BYTES))),
            cuts: AtomicU64::new(0),
            power: Mutex::new(Power::On { users: Vec::new() }),
        }
    }

    /// The session of a user who opens the disk now. A power cut ends it.
    pub(crate) fn session(&self) -> u64 {
        // Not while the power is being cut.
        let _log = self.log();
        self.cuts.load(Ordering::SeqCst)
    }

    pub(crate) fn is_over(&self, session: u64) -> bool {
        session != self.cuts.load(Ordering::SeqCst)
    }

    /// Locks the log. `None` where every write is durable at once.
    fn log(&self) -> Option<MutexGuard<'_, WriteLog>> {
        self.log.as_ref().map(|log| log.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The same, in a session that lasts until the lock is released.
    fn log_in(&self, session: u64) -> io::Result<Option<MutexGuard<'_, WriteLog>>> {
        let log = self.log();
        match self.is_over(session) {
            true => Err(io::Error::from_raw_os_error(libc::EIO)),
            false => Ok(log),
        }
    }

    /// The blocks, where to read or write them is all that a request needs.
    pub(crate) fn plain_blocks(&self) -> Option<&Blocks> {
        self.log.is_none().then_some(&self.blocks)
    }

    /// The receipt of a request for which nothing is logged.
    pub(crate) fn plain_receipt(session: u64) -> Receipt {
        Receipt { session, logged: Logged::Nothing }
    }

    pub(crate) fn read(&self, session: u64, into: &mut [u8], offset: u64) -> io::Result<Receipt> {
        self.blocks.read(into, offset)?;
        Ok(Self::plain_receipt(session))
    }

    pub(crate) fn write(&self, session: u64, data: &[u8], offset: u64) -> io::Result<Receipt> {
        let log = self.log_in(session)?;
        let Some(mut log) = log else {
            self.blocks.write(data, offset)?;
            return Ok(Self::plain_receipt(session));
        };
        let number = log.remember(&self.blocks, offset, data.len() as u64)?;
        self.blocks.write(data, offset)?;
        Ok(Receipt { session, logged: Logged::Writes(number..number + 1) })
    }

    pub(crate) fn flush(&self, session: u64) -> io::Result<Receipt> {
        let number = self.log_in(session)?.map(|mut log| log.receive_flush());
        self.blocks.flush()?;
        Ok(Receipt { session, logged: number.map_or(Logged::Nothing, Logged::Flush) })
    }

    pub(crate) fn discard(&self, session: u64, offset: u64, length: u64) -> io::Result<Receipt> {
        let log = self.log_in(session)?;
        let Some(mut log) = log else {
            self.blocks.discard(offset, length)?;
            return Ok(Self::plain_receipt(session));
        };
        let numbers = log.remember_data(&self.blocks, offset..offset + length)?;
        self.blocks.discard(offset, length)?;
        Ok(Receipt { session, logged: Logged::Writes(numbers) })
    }

    /// Whether the power was cut since such a request came.
    pub(crate) fn is_cut_off(&self, receipt: &Receipt) -> bool {
        self.is_over(receipt.session)
    }

    /// A request is answered. Returns whether it was, or the power was cut meanwhile, so that the answer must be an error.
    pub(crate) fn answered(&self, receipt: Receipt) -> bool {
        let Receipt { session, logged } = receipt;
        if matches!(logged, Logged::Nothing) {
            return !self.is_over(session);
        }
        let Ok(log) = self.log_in(session) else { return false };
        if let Some(mut log) = log {
            match logged {
                Logged::Nothing => {}
                Logged::Writes(numbers) => log.acknowledge(numbers),
                Logged::Flush(number) => log.complete_flush(number),
            }
        }
        true
    }

    /// Cuts the power: from now on nothing of what the present users of the disk request is done, and of what no flush has covered only a part is left.
    pub(crate) fn cut(&self, seed: u64, sector_bytes: u64) -> Result<PowerCut, String> {
        let Some(mut log) = self.log() else {
            return Err(
                "the disk has no volatile cache, so that a power cut would lose nothing: mount it with --volatile".into(),
            );
        };
        if !SECTORS.contains(&sector_bytes) {
            return Err(format!("a sector has 512 or 4096 bytes, and not {sector_bytes}"));
        }
        let mut power = self.power.lock().unwrap_or_else(PoisonError::into_inner);
        match &*power {
            Power::On { .. } => {}
            Power::Off => return Err("the power of the disk is cut already".into()),
            Power::Unmountable { .. } => {
                return Err(
                    "the filesystem did not survive an earlier power cut: unmount the disk".into(),
                );
            }
        }
        self.cuts.fetch_add(1, Ordering::SeqCst);
        *power = Power::Off;
        log.cut(&self.blocks, seed, sector_bytes)
            .map_err(|error| format!("what the power cut loses cannot be taken back: {error}"))
    }

    pub(crate) fn power(&self) -> Power {
        self.power.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_power(&self, power: Power) {
        *self.power.lock().unwrap_or_else(PoisonError::into_inner) = power;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn storage(volatile_cache: bool) -> Storage {
        let spec = DiskSpec { volatile_cache, ..DiskSpec::unlimited(1 << 20) };
        Storage::new(&spec, Blocks::create(&spec, None).unwrap())
    }

    fn first_byte(storage: &Storage) -> u8 {
        let mut block = [0; 4096];
        storage.read(storage.session(), &mut block, 0).unwrap();
        block[0]
    }

    #[test]
    fn nothing_of_an_earlier_session_is_applied_or_answered() {
        let storage = storage(true);
        let before = storage.session();
        let write = storage.write(before, &[1; 4096], 0).unwrap();
        let flush = storage.flush(before).unwrap();
        storage.cut(1, 4096).unwrap();
        let left = first_byte(&storage);
        assert!(!storage.answered(write));
        assert!(!storage.answered(flush));
        let eio = |result: io::Result<Receipt>| result.unwrap_err().raw_os_error();
        let expected = Some(libc::EIO);
        assert_eq!(eio(storage.write(before, &[2; 4096], 0)), expected);
        assert_eq!(eio(storage.discard(before, 0, 4096)), expected);
        assert_eq!(eio(storage.flush(before)), expected);
        let mut block = [0; 4096];
        let read = storage.read(before, &mut block, 0).unwrap();
        assert!(!storage.answered(read));
        assert_eq!(first_byte(&storage), left);

        let now = storage.session();
        let write = storage.write(now, &[3; 4096], 0).unwrap();
        assert!(storage.answered(write));
        let flush = storage.flush(now).unwrap();
        assert!(storage.answered(flush));
        storage.set_power(Power::On { users: Vec::new() });
        assert_eq!(storage.cut(2, 4096).unwrap().unflushed_writes, 0);
        assert_eq!(first_byte(&storage), 3);
    }

    #[test]
    fn a_power_cut_is_refused_where_it_makes_no_sense() {
        assert!(storage(false).cut(1, 4096).unwrap_err().contains("--volatile"));
        let storage = storage(true);
        assert!(storage.cut(1, 0).unwrap_err().contains("512 or 4096"));
        storage.cut(1, 512).unwrap();
        assert!(storage.cut(1, 512).unwrap_err().contains("cut already"));
        let (users, why) = (Vec::new(), String::new());
        storage.set_power(Power::Unmountable { users, why });
        assert!(storage.cut(1, 512).unwrap_err().contains("unmount the disk"));
    }
}
