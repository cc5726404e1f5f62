//! What was made in a data directory, with the emulated disk that it lies on.

use crate::testbed::emulated::EmulatedDisk;
use crate::testbed::journal::Journal;
use crate::testbed::rig_parts::RigParts;

/// What was made in a data directory. It is undone when it is dropped.
#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) made: RigParts,
    pub(crate) disk: Option<EmulatedDisk>,
}

impl Ground {
    pub(crate) fn new(journal: &Journal) -> Self {
        Self { made: RigParts::new(journal), disk: None }
    }

    /// Undoes everything, and returns what the user should know. The emulated disk is made fast first: what is still to be written to it is of
    /// no use to anyone.
    pub(crate) fn undo(&mut self) -> Vec<String> {
        let disk = self.disk.take();
        if let Some(disk) = &disk {
            disk.hurry();
        }
        let notes = self.made.undo();
        drop(disk);
        notes
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        // There is no one to report to; what could not be undone is in the journal.
        self.undo();
    }
}
