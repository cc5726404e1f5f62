//! The things that were made for one rig, to be undone in reverse.

use crate::testbed::TestbedError;
use crate::testbed::journal::Journal;
use crate::testbed::step::{Step, Undone};
use crate::testbed::tools::Tools;
use crate::testbed::undo::undo;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The things that were made for one rig.
#[derive(Debug)]
pub(crate) struct RigParts {
    journal: Journal,
    tools: Tools,
    ids: Mutex<Vec<u64>>,
}

impl RigParts {
    pub(crate) fn new(journal: &Journal) -> Self {
        Self { journal: journal.share(), tools: Tools::of(journal.token()), ids: Mutex::default() }
    }

    pub(crate) fn journal(&self) -> &Journal {
        &self.journal
    }

    pub(crate) fn tools(&self) -> &Tools {
        &self.tools
    }

    /// Another for everything in this program's journal.
    pub(crate) fn next_number(&self) -> u64 {
        self.journal.next_number()
    }

    /// Says what is about to be made.
    pub(crate) fn making(&self, step: Step) -> Result<u64, TestbedError> {
        let id = self.journal.making(step)?;
        self.ids().push(id);
        Ok(id)
    }

    /// Undoes one thing before all others. What cannot be undone stays for later.
    pub(crate) fn undo_one(&self, id: u64) -> Result<(), TestbedError> {
        if let Some(making) = self.journal.open_making(id) {
            undo(&making, &self.tools, true)?;
            self.journal.undone(id)?;
        }
        self.ids().retain(|other| *other != id);
        Ok(())
    }

    /// As if this program were gone.
    #[cfg(test)]
    pub(crate) fn forget(&self) {
        self.ids().clear();
    }

    fn ids(&self) -> MutexGuard<'_, Vec<u64>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Undoes everything in reverse, and returns what the user should know. What cannot be undone stays in the journal for later.
    pub(crate) fn undo(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for last in [false, true] {
            let ids = std::mem::take(&mut *self.ids());
            let mut left = Vec::new();
            for id in ids.into_iter().rev() {
                let Some(making) = self.journal.open_making(id) else {
                    continue;
                };
                let outcome = match self.journal.is_set_by_another(id) {
                    true => Ok(Undone::WasGone),
                    false => undo(&making, &self.tools, last),
                };
                let undone = outcome.and_then(|undone| self.journal.undone(id).map(|()| undone));
                match undone {
                    Ok(Undone::Going(note) | Undone::Foreign(note)) => notes.push(note),
                    Ok(Undone::WasGone | Undone::Gone) => {}
                    Err(error) if last => notes.push(format!("{} stays: {error}", making.step)),
                    Err(_) => left.push(id),
                }
            }
            left.reverse();
            *self.ids() = left;
        }
        notes
    }
}
