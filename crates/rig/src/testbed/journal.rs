//! What is made on this machine and has to be undone, written down before it is made.
//!
//! One file of lines for each running program: a first line that says who it is, then one line before a thing is made and one after it
//! is undone. Every line is on the disk before the next step. The program holds a lock on the file for as long as it lives, so that a
//! journal which can be locked is that of a program which is gone.

use crate::testbed::TestbedError;
use crate::testbed::privileged::HeldDirectory;
use crate::testbed::privileged::held::OwnFile;
use crate::testbed::processes::{boot_id, started_ticks};
use crate::testbed::step::{Making, SettingOf, Step};
use plimsoll_record::KernelSetting;
use rustix::fs::FlockOperation;
use rustix::rand::{GetRandomFlags, getrandom};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

const JOURNAL_VERSION: u32 = 2;

const MOST_TRIES: u32 = 10;

/// Ends the names of journals.
pub(crate) const EXTENSION: &str = "ndjson";

/// Longest journal that is read, bytes. A line is a few hundred long, and there are some twenty for each run.
pub(crate) const LONGEST_JOURNAL_BYTES: u64 = 64 << 20;

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "kebab-case")]
pub(crate) enum JournalLine {
    Opened(Owner),
    /// Comes before the thing is made.
    Making {
        id: u64,
        step: Step,
    },
    /// The inode of what was made, where that proves that it is the same.
    Made {
        id: u64,
        inode: u64,
    },
    /// It is undone, or was never made.
    Undone {
        id: u64,
    },
}

/// The program that a journal belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Owner {
    plimsoll_journal: u32,
    pub(crate) label: String,
    pub(crate) process: u32,
    pub(crate) started_ticks: u64,
    /// Id of the kernel's boot; after another boot only files can be left.
    pub(crate) boot: String,
    /// Random; in the names and environments of what it makes.
    pub(crate) token: String,
    pub(crate) opened_unix_s: u64,
    /// The program on whose orders it is made: while it lives, or this program undoes what it had ordered, everything is in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) client: Option<Client>,
}

/// A program that orders rigs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Client {
    process: u32,
    started_ticks: u64,
}

impl Client {
    /// A process that lives; `None` of one that is gone.
    pub fn of(process: u32) -> Option<Self> {
        Some(Self { process, started_ticks: started_ticks(process)? })
    }

    pub fn process(&self) -> u32 {
        self.process
    }

    pub fn lives(&self) -> bool {
        started_ticks(self.process) == Some(self.started_ticks)
    }
}

/// The journal of this program. It is deleted when it is closed and everything in it is undone.
#[derive(Debug)]
pub struct Journal {
    file: Arc<Mutex<JournalFile>>,
    token: String,
}

/// The folder of the journals.
pub(crate) fn folder(state_dir: &Path) -> PathBuf {
    state_dir.join("journal")
}

impl Journal {
    /// Opens a new journal for this program in the state directory, which is made where it is missing. `label` says what it is at, for
    /// people.
    pub fn open(state_dir: &Path, label: &str) -> Result<Self, TestbedError> {
        Self::open_for(state_dir, label, None)
    }

    /// The same, of a program that works on the orders of another.
    pub fn open_for(
        state_dir: &Path,
        label: &str,
        client: Option<Client>,
    ) -> Result<Self, TestbedError> {
        let folder = HeldDirectory::make(&folder(state_dir))?;
        let failed =
            |error: std::io::Error| TestbedError::io("make a journal in", folder.path(), error);
        let token = random_token().map_err(|error| failed(error.into()))?;
        let process = std::process::id();
        let owner = Owner {
            plimsoll_journal: JOURNAL_VERSION,
            label: label.to_owned(),
            process,
            started_ticks: started_ticks(process).unwrap_or_default(),
            boot: boot_id(),
            token: token.clone(),
            opened_unix_s: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default()
                .as_secs(),
            client,
        };
        let name = format!("{}-{token}.{EXTENSION}", owner.opened_unix_s);
        let file = create(&folder, &name, &owner).map_err(failed)?;
        folder.sync().map_err(failed)?;
        Ok(Self {
            file: Arc::new(Mutex::new(JournalFile {
                file,
                path: folder.path().join(&name),
                folder,
                name,
                next: 1,
                open: BTreeMap::new(),
            })),
            token,
        })
    }

    /// Random, the same for all that this program makes.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// The same journal, for those who undo what they made when they are dropped.
    pub(crate) fn share(&self) -> Self {
        Self { file: Arc::clone(&self.file), token: self.token.clone() }
    }

    /// The number of the next thing that is made.
    pub(crate) fn next_number(&self) -> u64 {
        self.lock().next
    }

    /// Writes down what is about to be made.
    pub(crate) fn making(&self, step: Step) -> Result<u64, TestbedError> {
        let mut journal = self.lock();
        let id = journal.next;
        journal.write(&JournalLine::Making { id, step: step.clone() })?;
        journal.next += 1;
        tracing::debug!("making {step}");
        journal.open.insert(id, Making { step, inode: None });
        Ok(id)
    }

    /// Writes down which inode the thing got.
    pub(crate) fn made(&self, id: u64, inode: u64) -> Result<(), TestbedError> {
        let mut journal = self.lock();
        journal.write(&JournalLine::Made { id, inode })?;
        if let Some(making) = journal.open.get_mut(&id) {
            making.inode = Some(inode);
        }
        Ok(())
    }

    /// What was written down and is not undone yet.
    pub(crate) fn open_making(&self, id: u64) -> Option<Making> {
        self.lock().open.get(&id).cloned()
    }

    /// Writes down that it is undone.
    pub(crate) fn undone(&self, id: u64) -> Result<(), TestbedError> {
        let mut journal = self.lock();
        journal.write(&JournalLine::Undone { id })?;
        if let Some(Making { step, .. }) = journal.open.remove(&id) {
            tracing::debug!("removed {step}");
        }
        Ok(())
    }

    /// What a setting of the kernel was before this program first set it, and what it was set to; `None` where it is not set.
    pub(crate) fn set_here(
        &self,
        setting: KernelSetting,
        of: &SettingOf,
    ) -> Option<(String, String)> {
        self.lock().open.values().find_map(|making| match &making.step {
            Step::Setting { was, set, .. } if making.step.setting() == Some((setting, of)) => {
                Some((was.clone(), set.clone()))
            }
            _ => None,
        })
    }

    /// Whether another rig of this program needs the same setting of the kernel as this step.
    pub(crate) fn is_set_by_another(&self, id: u64) -> bool {
        let journal = self.lock();
        let setting = journal.open.get(&id).and_then(|making| making.step.setting());
        let mut others = journal.open.iter().filter(|(other, _)| **other != id);
        setting.is_some() && others.any(|(_, making)| making.step.setting() == setting)
    }

    /// The process of another journal in this folder that has made the same setting since the machine started, and not put it back.
    pub(crate) fn set_elsewhere(&self, step: &Step) -> Result<Option<u32>, TestbedError> {
        let journal = self.lock();
        let names = journal.folder.names();
        let names = names.map_err(|error| {
            TestbedError::io("list the journals in", journal.folder.path(), error)
        })?;
        for name in names.iter().filter(|name| ***name != *journal.name) {
            let Ok(OwnFile::Open(file)) = journal.folder.own_file(name) else {
                continue;
            };
            let mut text = String::new();
            if file.take(LONGEST_JOURNAL_BYTES).read_to_string(&mut text).is_err() {
                continue;
            }
            let Ok((owner, open)) = read(&text) else {
                continue;
            };
            let has_set = |making: &Making| making.step.setting() == step.setting();
            if owner.boot == boot_id() && open.values().any(has_set) {
                return Ok(Some(owner.process));
            }
        }
        Ok(None)
    }

    /// Waits until everything that was written is on the disk, names and lengths too.
    pub(crate) fn sync(&self) -> Result<(), TestbedError> {
        let journal = self.lock();
        let synced = journal.file.sync_all();
        synced.map_err(|error| TestbedError::io("write to the journal", &journal.path, error))
    }

    fn lock(&self) -> MutexGuard<'_, JournalFile> {
        // A line is written whole or reported, so what a panicking thread left is in order.
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct JournalFile {
    file: File,
    folder: HeldDirectory,
    name: String,
    path: PathBuf,
    next: u64,
    open: BTreeMap<u64, Making>,
}

impl JournalFile {
    fn write(&mut self, line: &JournalLine) -> Result<(), TestbedError> {
        write_line(&mut self.file, line)
            .map_err(|error| TestbedError::io("write to the journal", &self.path, error))
    }
}

impl Drop for JournalFile {
    fn drop(&mut self) {
        if self.open.is_empty() {
            // One that stays has nothing open, and the next program that finds it deletes it.
            let _ = self.folder.remove_file(&self.name);
        }
    }
}

/// Makes the file. It gets its name only when it is locked and says whose it is, so that nobody takes it for the journal of a program
/// that is gone. Those who clear away unfinished ones may be quicker than the lock; then it is made again.
fn create(folder: &HeldDirectory, name: &str, owner: &Owner) -> std::io::Result<File> {
    let unfinished = format!(".{}", owner.token);
    let mut tries = 0;
    loop {
        let mut file = folder.new_file(&unfinished)?;
        let made = rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)
            .map_err(std::io::Error::from)
            .and_then(|()| write_line(&mut file, &JournalLine::Opened(owner.clone())))
            .and_then(|()| folder.rename(&unfinished, name));
        match made {
            Ok(()) => return Ok(file),
            Err(error)
                if tries < MOST_TRIES
                    && matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::NotFound) =>
            {
                tries += 1;
                // A quicker program may still have it.
                let _ = folder.remove_file(&unfinished);
            }
            Err(error) => return Err(error),
        }
    }
}

/// Appends a line, whole or not at all, and waits until it is on the disk.
pub(crate) fn write_line(file: &mut File, line: &JournalLine) -> std::io::Result<()> {
    let mut text = serde_json::to_string(line)?;
    text.push('\n');
    let before = file.metadata()?.len();
    let written = file.write_all(text.as_bytes());
    if written.is_err() {
        // The disk is full. The beginning of a line would spoil the next one.
        file.set_len(before)?;
    }
    written?;
    file.sync_data()
}

/// What is in a journal: whose it is, and what is not undone, in the order of making.
pub(crate) fn read(text: &str) -> Result<(Owner, BTreeMap<u64, Making>), String> {
    let mut owner = None;
    let mut open = BTreeMap::new();
    for (number, line) in text.split_inclusive('\n').enumerate() {
        // Without its end it was never finished, and so what it speaks of never begun.
        let Some(line) = line.strip_suffix('\n') else {
            break;
        };
        if number == 0 {
            check_version(line)?;
        }
        let line = serde_json::from_str(line)
            .map_err(|error| format!("its line {} cannot be read: {error}", number + 1))?;
        match line {
            JournalLine::Opened(found) => owner = Some(found),
            JournalLine::Making { id, step } => {
                open.insert(id, Making { step, inode: None });
            }
            JournalLine::Made { id, inode } => {
                if let Some(making) = open.get_mut(&id) {
                    making.inode = Some(inode);
                }
            }
            JournalLine::Undone { id } => {
                open.remove(&id);
            }
        }
    }
    let owner = owner.ok_or_else(|| "it does not say whose it is".to_owned())?;
    Ok((owner, open))
}

fn check_version(line: &str) -> Result<(), String> {
    let value: serde_json::Value =
        serde_json::from_str(line).map_err(|error| format!("it cannot be read: {error}"))?;
    match value.get("plimsoll_journal").and_then(serde_json::Value::as_u64) {
        Some(version) if version == u64::from(JOURNAL_VERSION) => Ok(()),
        Some(_) => Err("it was written by another version of plimsoll".to_owned()),
        None => Err("it is no journal of plimsoll".to_owned()),
    }
}

/// Whether it looks like one of ours.
pub(crate) fn is_token(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn random_token() -> rustix::io::Result<String> {
    let mut token = [0_u8; 8];
    getrandom(&mut token, GetRandomFlags::empty())?;
    Ok(token.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(name: &str) -> Step {
        Step::Directory { path: name.into() }
    }

    #[test]
    fn what_is_not_undone_is_read_again_and_an_unfinished_line_is_none() {
        let state = tempfile::tempdir().unwrap();
        let journal = Journal::open(state.path(), "a test").unwrap();
        let first = journal.making(step("/a")).unwrap();
        let second = journal.making(step("/b")).unwrap();
        journal.made(second, 7).unwrap();
        journal.undone(first).unwrap();
        let path = journal.lock().path.clone();
        let mut text = std::fs::read_to_string(&path).unwrap();
        text.push_str("{\"line\":\"making\",\"id\":3,\"st");
        let (owner, open) = read(&text).unwrap();
        assert_eq!(owner.label.as_str(), "a test");
        assert_eq!(owner.process, std::process::id());
        let expected = Making { step: step("/b"), inode: Some(7) };
        assert_eq!(open, BTreeMap::from([(2, expected)]));

        let other = journal.share();
        drop(journal);
        assert!(path.exists());
        other.undone(second).unwrap();
        drop(other);
        assert!(!path.exists(), "nothing is open in it");
    }

    /// A later version cleans up what an earlier one left.
    #[test]
    fn lines_of_journals_stay_as_they_are() {
        let lines = [
            r#"{"line":"making","id":2,"step":{"thing":"directory","path":"/b"}}"#,
            r#"{"line":"made","id":2,"inode":7}"#,
            r#"{"line":"undone","id":2}"#,
            r#"{"line":"making","id":3,"step":{"thing":"setting","setting":"swappiness","of":"machine","was":"60","set":"1"}}"#,
        ];
        let read = lines.map(|line| serde_json::from_str::<JournalLine>(line).unwrap());
        let making = JournalLine::Making { id: 2, step: step("/b") };
        let made = JournalLine::Made { id: 2, inode: 7 };
        let step = Step::Setting {
            setting: KernelSetting::Swappiness,
            of: SettingOf::Machine,
            was: "60".into(),
            set: "1".into(),
        };
        let setting = JournalLine::Making { id: 3, step };
        assert_eq!(read, [making, made, JournalLine::Undone { id: 2 }, setting]);
    }

    #[test]
    fn a_journal_that_was_never_named_is_cleared_away_and_one_in_the_making_is_not() {
        let state = tempfile::tempdir().unwrap();
        let folder = folder(state.path());
        std::fs::create_dir_all(&folder).unwrap();
        let unfinished = folder.join(".0123456789abcdef");
        let other = folder.join(".gitignore");
        for path in [&unfinished, &other] {
            std::fs::write(path, "").unwrap();
        }
        let clear = || {
            for left in crate::testbed::abandoned(state.path()).unwrap() {
                left.undo(&mut |line| panic!("{line}")).unwrap();
            }
        };
        let file = File::open(&unfinished).unwrap();
        rustix::fs::flock(&file, FlockOperation::LockExclusive).unwrap();
        clear();
        assert!(unfinished.exists(), "somebody has it");
        drop(file);
        let found = crate::testbed::abandoned(state.path()).unwrap();
        assert!(found.iter().all(|left| left.describe().is_empty()));
        assert!(unfinished.exists(), "looking removes nothing");
        drop(found);
        clear();
        assert!(!unfinished.exists());
        assert!(other.exists());
    }

    #[test]
    fn journals_of_others_are_refused() {
        for (text, reason) in [
            ("", "it does not say whose it is"),
            ("{}\n", "it is no journal of plimsoll"),
            (
                "{\"line\":\"opened\",\"plimsoll_journal\":1}\n",
                "it was written by another version of plimsoll",
            ),
        ] {
            assert_eq!(read(text).unwrap_err(), reason);
        }
    }
}
