//! What programs that are gone have left behind.

use crate::testbed::TestbedError;
use crate::testbed::journal::{
    EXTENSION, JournalLine, LONGEST_JOURNAL_BYTES, Owner, folder, is_token, read, write_line,
};
use crate::testbed::privileged::HeldDirectory;
use crate::testbed::privileged::held::OwnFile;
use crate::testbed::privileged::kill::end_marked;
use crate::testbed::processes::boot_id;
use crate::testbed::step::{Making, Step, Undone};
use crate::testbed::tools::{Tools, mark_of_tools};
use crate::testbed::undo::undo;
use rustix::fs::FlockOperation;
use rustix::io::Errno;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

const LONGEST_FIRST_LINE: usize = 4 << 10;

/// How long a process may take to undo what a program had ordered that is gone. It may be waiting for a server to begin.
const LONGEST_TIDYING: Duration = Duration::from_secs(180);

/// The journal of a program that is gone, with what it had not undone. While this lives, no other program can undo it.
#[derive(Debug)]
pub struct Abandoned {
    folder: Rc<HeldDirectory>,
    name: OsString,
    path: PathBuf,
    file: RefCell<File>,
    /// Where its last whole line ends, bytes. What follows its owner had no time to finish.
    end: u64,
    /// Or why it cannot be read.
    found: Result<JournalContent, String>,
}

#[derive(Debug, Default)]
struct JournalContent {
    /// `None` of one that was never named, and so has nothing in it.
    owner: Option<Owner>,
    open: BTreeMap<u64, Making>,
}

/// The journals in the state directory whose owner is gone, the oldest first, also those with nothing left in them. Nothing is written.
pub fn abandoned(state_dir: &Path) -> Result<Vec<Abandoned>, TestbedError> {
    let Some(folder) = HeldDirectory::open(&folder(state_dir))? else {
        return Ok(Vec::new());
    };
    let folder = Rc::new(folder);
    let names = folder
        .names()
        .map_err(|error| TestbedError::io("list the journals in", folder.path(), error))?;
    let mut abandoned = Vec::new();
    for name in names {
        let is_unfinished =
            name.to_str().and_then(|name| name.strip_prefix('.')).is_some_and(is_token);
        let is_journal = Path::new(&name).extension().is_some_and(|found| found == EXTENSION);
        if is_unfinished || is_journal {
            abandoned.extend(open(&folder, name, is_unfinished)?);
        }
    }
    Ok(abandoned)
}

/// `None` for one whose owner lives, or that is gone.
fn open(
    folder: &Rc<HeldDirectory>,
    name: OsString,
    is_unfinished: bool,
) -> Result<Option<Abandoned>, TestbedError> {
    let path = folder.path().join(&name);
    let failed = |error: std::io::Error| TestbedError::io("open the journal", &path, error);
    let mut file = match folder.own_file(&name) {
        Ok(OwnFile::Open(file)) => file,
        Ok(OwnFile::Foreign(reason)) => {
            return Err(TestbedError::InTheWay { path, reason });
        }
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    if !lock(&file).map_err(failed)? {
        return Ok(None);
    }
    // Its owner may have deleted it before it let go of the lock.
    let inode = file.metadata().map_err(failed)?.ino();
    if !folder.inode_of(&name).is_ok_and(|found| found == inode) {
        return Ok(None);
    }
    let mut text = String::new();
    let read_whole = (&mut file).take(LONGEST_JOURNAL_BYTES).read_to_string(&mut text);
    let found = match read_whole {
        // Its owner had no time to name it, and so to make anything.
        _ if is_unfinished => Ok(JournalContent::default()),
        Ok(_) => read(&text).map(|(owner, open)| JournalContent { owner: Some(owner), open }),
        Err(error) => Err(format!("it cannot be read: {error}")),
    };
    Ok(Some(Abandoned {
        folder: Rc::clone(folder),
        name,
        path,
        file: RefCell::new(file),
        end: text.rfind('\n').map_or(0, |end| end as u64 + 1),
        found,
    }))
}

/// Whether it is free. A process that works on the orders of a program that is gone is about to undo everything itself, so this waits for it.
fn lock(file: &File) -> std::io::Result<bool> {
    let mut is_ending = None;
    let begun = Instant::now();
    loop {
        match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(true),
            Err(Errno::WOULDBLOCK) => {}
            Err(error) => return Err(error.into()),
        }
        if !*is_ending.get_or_insert_with(|| client_is_gone(file)) {
            return Ok(false);
        }
        if begun.elapsed() > LONGEST_TIDYING {
            return Err(std::io::Error::other(
                "the process that works on it has lost its program, and does not end",
            ));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn client_is_gone(file: &File) -> bool {
    let mut bytes = [0; LONGEST_FIRST_LINE];
    let Ok(length) = file.read_at(&mut bytes, 0) else {
        return false;
    };
    let first = bytes[..length].split(|byte| *byte == b'\n').next();
    let owner = match first.map(serde_json::from_slice) {
        Some(Ok(JournalLine::Opened(owner))) => owner,
        _ => return false,
    };
    owner.client.is_some_and(|client| !client.lives())
}

impl Abandoned {
    /// What would be undone, a line for each thing, the last that was made first.
    pub fn describe(&self) -> Vec<String> {
        match &self.found {
            Ok(found) => {
                let of = found.owner.as_ref().map_or("", |owner| &owner.label);
                let lines = found.open.values().rev();
                lines.map(|making| format!("{} (of {of})", making.step)).collect()
            }
            Err(why) => vec![format!("the journal {}: {why}", self.path.display())],
        }
    }

    /// Undoes everything in reverse and deletes the journal. Reports what it does, a line for each thing. What is gone already is passed
    /// over, and what has something foreign in its place is left and named. When it is interrupted, it can be taken up again.
    pub fn undo(&self, tell: &mut dyn FnMut(&str)) -> Result<(), TestbedError> {
        let not_undone = |left| TestbedError::NotUndone { journal: self.path.clone(), left };
        let found = match &self.found {
            Ok(found) => found,
            Err(why) => return Err(not_undone(vec![why.clone()])),
        };
        if let Some(owner) = &found.owner
            && !found.open.is_empty()
        {
            let reasons = self.undo_open(owner, &found.open, tell)?;
            if !reasons.is_empty() {
                return Err(not_undone(reasons));
            }
        }
        match self.folder.remove_file(&self.name) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(TestbedError::io("delete the journal", &self.path, error))
            }
            _ => Ok(()),
        }
    }

    /// Undoes what is open in reverse, and returns what stays and why.
    fn undo_open(
        &self,
        owner: &Owner,
        open: &BTreeMap<u64, Making>,
        tell: &mut dyn FnMut(&str),
    ) -> Result<Vec<String>, TestbedError> {
        // A line that its owner had no time to finish would spoil the next one.
        let cut = self.file.borrow().set_len(self.end);
        cut.map_err(|error| TestbedError::io("write to the journal", &self.path, error))?;
        let same_boot = owner.boot == boot_id();
        let tools = Tools::of_owner(&owner.token, owner.started_ticks);
        if same_boot {
            // A tool that its owner started goes on without it.
            if let Err(process) = end_marked(&mark_of_tools(&owner.token), tools.since()) {
                tell(&TestbedError::DoesNotEnd { process }.to_string());
            }
        }
        let mut left: Vec<(&u64, &Making)> = open.iter().collect();
        let mut reasons = Vec::new();
        for last in [false, true] {
            let mut failed = Vec::new();
            for (id, making) in left.into_iter().rev() {
                let outcome = if same_boot || matches!(making.step, Step::Directory { .. }) {
                    undo(making, &tools, last)
                } else {
                    Ok(Undone::WasGone)
                };
                match outcome {
                    Ok(undone) => {
                        self.write_undone(*id)?;
                        match undone {
                            Undone::WasGone => {}
                            Undone::Gone => tell(&format!("undone: {}", making.step)),
                            Undone::Going(note) | Undone::Foreign(note) => tell(&note),
                        }
                    }
                    Err(error) if last => reasons.push(format!("{}: {error}", making.step)),
                    Err(_) => failed.push((id, making)),
                }
            }
            failed.reverse();
            left = failed;
        }
        Ok(reasons)
    }

    fn write_undone(&self, id: u64) -> Result<(), TestbedError> {
        write_line(&mut self.file.borrow_mut(), &JournalLine::Undone { id })
            .map_err(|error| TestbedError::io("write to the journal", &self.path, error))
    }
}
