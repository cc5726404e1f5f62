//! What programs that are gone have left behind.

use crate::TestbedError;
use crate::journal::{EXTENSION, Line, Owner, folder, is_token, read, write_line};
use crate::processes::{boot_id, end_marked};
use crate::step::{Making, Step};
use crate::tools::{Tools, mark_of_tools};
use crate::undo::{Undone, undo};
use rustix::fs::FlockOperation;
use rustix::io::Errno;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The journal of a program that is gone, with what it had not undone. Nobody else can undo it while this lives.
#[derive(Debug)]
pub struct Abandoned {
    path: PathBuf,
    /// Held for its lock.
    file: RefCell<File>,
    /// It can be read and not written.
    is_of_other_user: bool,
    /// Or why it cannot be read.
    found: Result<Found, String>,
}

#[derive(Debug)]
struct Found {
    owner: Owner,
    open: BTreeMap<u64, Making>,
}

/// The journals in the state directory whose owner is gone and has left something behind, the oldest first.
///
/// # Errors
/// When the journals cannot be listed or opened.
pub fn abandoned(state_dir: &Path) -> Result<Vec<Abandoned>, TestbedError> {
    let folder = folder(state_dir);
    let failed = |error| TestbedError::io("list the journals in", &folder, error);
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|found| found == EXTENSION) {
            paths.push(path);
        } else {
            clear_away(&path);
        }
    }
    paths.sort();
    let mut abandoned = Vec::new();
    for path in paths {
        if let Some(left) = open(path)? {
            abandoned.push(left);
        }
    }
    Ok(abandoned)
}

/// Removes a journal whose owner had no time to name it, and so to make anything.
fn clear_away(path: &Path) {
    let is_unfinished = path
        .file_name()
        .and_then(|name| name.to_str())
        .and_then(|name| name.strip_prefix('.'))
        .is_some_and(is_token);
    if !is_unfinished {
        return;
    }
    let Ok(file) = File::open(path) else {
        return;
    };
    if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
        // Whoever may not remove it has no need to.
        let _ = std::fs::remove_file(path);
    }
}

/// `None` for one whose owner lives, or that is gone or has nothing left in it.
fn open(path: PathBuf) -> Result<Option<Abandoned>, TestbedError> {
    let failed = |error: std::io::Error| TestbedError::io("open the journal", &path, error);
    let mut is_of_other_user = false;
    let opened = match File::options().read(true).append(true).open(&path) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            is_of_other_user = true;
            File::open(&path)
        }
        opened => opened,
    };
    let mut file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => return Ok(None),
        Err(error) => return Err(failed(error.into())),
    }
    // Its owner may have deleted it before it let go of the lock.
    let inode = file.metadata().map_err(failed)?.ino();
    if !path.metadata().is_ok_and(|found| found.ino() == inode) {
        return Ok(None);
    }
    let mut text = String::new();
    let found = match file.read_to_string(&mut text) {
        Ok(_) => read(&text).map(|(owner, open)| Found { owner, open }),
        Err(error) => Err(format!("it cannot be read: {error}")),
    };
    if found.as_ref().is_ok_and(|found| found.open.is_empty()) {
        if !is_of_other_user {
            std::fs::remove_file(&path).map_err(failed)?;
        }
        return Ok(None);
    }
    // A line that its owner had no time to finish would spoil the next one.
    if let Some(end) = text.rfind('\n').filter(|end| end + 1 < text.len())
        && !is_of_other_user
    {
        file.set_len(end as u64 + 1).map_err(failed)?;
    }
    Ok(Some(Abandoned {
        path,
        file: RefCell::new(file),
        is_of_other_user,
        found,
    }))
}

impl Abandoned {
    /// What would be undone, a line for each thing, the last that was made first.
    #[must_use]
    pub fn describe(&self) -> Vec<String> {
        match &self.found {
            Ok(found) => found
                .open
                .values()
                .rev()
                .map(|making| format!("{} (of {})", making.step, found.owner.label))
                .collect(),
            Err(why) => vec![format!("the journal {}: {why}", self.path.display())],
        }
    }

    /// Undoes everything in reverse and deletes the journal. Tells what it does, a line for each thing. What is gone already is passed
    /// over, and what has something foreign in its place is left and named. When it is interrupted, it can be taken up again.
    ///
    /// # Errors
    /// [`TestbedError::NotUndone`] with what stays and why; it stays in the journal too.
    pub fn undo(&self, tell: &mut dyn FnMut(&str)) -> Result<(), TestbedError> {
        let not_undone = |left| TestbedError::NotUndone {
            journal: self.path.clone(),
            left,
        };
        let found = match &self.found {
            Ok(found) => found,
            Err(why) => return Err(not_undone(vec![why.clone()])),
        };
        if self.is_of_other_user {
            let why = "it was made by another user: run `sudo plimsoll clean`";
            return Err(not_undone(vec![why.to_owned()]));
        }
        let same_boot = found.owner.boot == boot_id();
        let tools = Tools::of_owner(&found.owner.token, found.owner.started_ticks);
        if same_boot {
            // What was just being made goes on without its owner.
            if let Err(process) = end_marked(&mark_of_tools(&found.owner.token), tools.since()) {
                tell(&TestbedError::DoesNotEnd { process }.to_string());
            }
        }
        let mut left: Vec<(&u64, &Making)> = found.open.iter().collect();
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
        if !reasons.is_empty() {
            return Err(not_undone(reasons));
        }
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(TestbedError::io("delete the journal", &self.path, error))
            }
            _ => Ok(()),
        }
    }

    fn write_undone(&self, id: u64) -> Result<(), TestbedError> {
        write_line(&mut self.file.borrow_mut(), &Line::Undone { id })
            .map_err(|error| TestbedError::io("write to the journal", &self.path, error))
    }
}
