//! A folder that a command keeps up to date: it knows which files it has written there, replaces only those, and removes the obsolete ones.
//!
//! The list of what was written has a line for each file, its SHA-256 and its name. A file that holds anything else was written by somebody else, or changed
//! since, and is left alone.

use anyhow::{Context, bail};
use plimsoll_plan::sha256;
use plimsoll_record::files::SharedFolder;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::Path;

/// Bytes of the list of what was written.
const LARGEST_LIST: u64 = 16 << 20;
/// Bytes of a file that was written.
const LARGEST_FILE: u64 = 4 << 30;

/// A folder that is being written.
pub struct Written<'a> {
    folder: SharedFolder,
    list: &'a OsStr,
    /// By name, the hashes of what was written under it.
    before: BTreeMap<String, BTreeSet<String>>,
    now: BTreeMap<String, String>,
}

impl<'a> Written<'a> {
    /// Makes the folder, and reads the list in it of what was written before. It must be this user's own; names in it that lead out of the folder do not
    /// count.
    pub fn begin(folder: &Path, list: &'a str) -> anyhow::Result<Self> {
        let folder = SharedFolder::make(folder)
            .with_context(|| format!("cannot use the folder {}", folder.display()))?;
        let list: &OsStr = list.as_ref();
        let shown = || folder.path().join(list).display().to_string();
        let text = folder
            .read_own(list, LARGEST_LIST)
            .with_context(|| format!("cannot use {}", shown()))?;
        let text = String::from_utf8(text.unwrap_or_default())
            .with_context(|| format!("cannot read {}", shown()))?;
        let mut before: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for line in text.lines() {
            if let Some((hash, name)) = line.split_once("  ").filter(|(_, name)| is_inside(name)) {
                before.entry(name.into()).or_default().insert(hash.into());
            }
        }
        Ok(Self { folder, list, before, now: BTreeMap::new() })
    }

    /// Names of what was written before.
    pub fn before(&self) -> impl Iterator<Item = &str> {
        self.before.keys().map(String::as_str)
    }

    /// Refuses an existing file that this command did not write.
    pub fn may_write(&self, name: &str) -> anyhow::Result<()> {
        let path = self.folder.path().join(name);
        if !is_inside(name) {
            bail!("{name:?} is no name of a file in {}", self.folder.path().display());
        }
        let there = self.read(name).with_context(|| format!("cannot write {}", path.display()))?;
        if let Some(bytes) = there
            && !self.is_ours(name, &bytes)
        {
            bail!(
                "{} was not written by this command, or has changed since, so it is not replaced: name another folder",
                path.display()
            );
        }
        Ok(())
    }

    /// Writes a file as a whole or not at all.
    pub fn write(&mut self, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
        self.may_write(name)?;
        let shown = || format!("cannot write {}", self.folder.path().join(name).display());
        let hash = sha256(bytes);
        // Before the file, so that what a killed command has written is still known to be its own.
        self.folder.append(self.list, &format!("{hash}  {name}")).with_context(shown)?;
        self.at(name, SharedFolder::inside, |folder, file| folder.write_whole(file, bytes))
            .with_context(shown)?;
        self.now.insert(name.to_owned(), hash);
        Ok(())
    }

    /// Leaves a file as it was written before.
    pub fn keep(&mut self, name: &str) {
        let hashes = self.before.get(name);
        if let Some(hash) = hashes.and_then(BTreeSet::first) {
            self.now.insert(name.to_owned(), hash.clone());
        }
    }

    /// Removes what is neither written nor kept, and writes the list.
    pub fn end(self) -> anyhow::Result<()> {
        for name in self.before.keys() {
            let is_over = !self.now.contains_key(name);
            if is_over
                && let Ok(Some(bytes)) = self.read(name)
                && self.is_ours(name, &bytes)
            {
                // What cannot be removed stays.
                let _ = self.at(name, SharedFolder::existing_inside, SharedFolder::remove);
            }
        }
        let lines = self.now.iter().map(|(name, hash)| format!("{hash}  {name}\n"));
        let list: String = lines.collect();
        self.folder.write_whole(self.list, list.as_bytes()).with_context(|| {
            format!("cannot write {}", self.folder.path().join(self.list).display())
        })
    }

    fn is_ours(&self, name: &str, bytes: &[u8]) -> bool {
        let hash = sha256(bytes);
        self.now.get(name) == Some(&hash)
            || self.before.get(name).is_some_and(|hashes| hashes.contains(&hash))
    }

    /// What lies there under this name.
    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let read = self.at(name, SharedFolder::existing_inside, |folder, file| {
            folder.read(file, LARGEST_FILE)
        });
        match read {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            read => read,
        }
    }

    /// Does something with a file in its folder, to which `step` leads from one folder to the next.
    fn at<T>(
        &self,
        name: &str,
        step: impl Fn(&SharedFolder, &OsStr) -> io::Result<SharedFolder>,
        act: impl FnOnce(&SharedFolder, &OsStr) -> io::Result<T>,
    ) -> io::Result<T> {
        let (folders, file) = match name.rsplit_once('/') {
            Some((folders, file)) => (folders, file),
            None => ("", name),
        };
        let mut below: Option<SharedFolder> = None;
        for folder in folders.split('/').filter(|folder| !folder.is_empty()) {
            let from = below.as_ref().unwrap_or(&self.folder);
            below = Some(step(from, folder.as_ref())?);
        }
        act(below.as_ref().unwrap_or(&self.folder), file.as_ref())
    }
}

fn is_inside(name: &str) -> bool {
    let mut parts = name.split('/');
    !name.contains(char::is_control) && parts.all(|part| !part.is_empty() && !part.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_testing::assert_contains;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_a_killed_command_wrote_is_known_to_the_next_one() {
        let home = tempfile::tempdir().unwrap();
        let mut killed = Written::begin(home.path(), ".list").unwrap();
        killed.write("a/1", b"one").unwrap();
        drop(killed);
        let mut next = Written::begin(home.path(), ".list").unwrap();
        next.write("a/1", b"two").unwrap();
        next.end().unwrap();
        let list = fs::read_to_string(home.path().join(".list")).unwrap();
        assert_eq!(list, format!("{}  a/1\n", sha256("two")));
    }

    #[test]
    fn only_what_was_written_is_replaced_or_removed() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("new");
        let mut first = Written::begin(&folder, ".list").unwrap();
        first.write("a/1", b"one").unwrap();
        first.write("a/2", b"two").unwrap();
        first.write("a/changed", b"three").unwrap();
        first.write("3", b"three").unwrap();
        first.end().unwrap();
        fs::write(folder.join("theirs"), "theirs").unwrap();
        fs::write(folder.join("a/changed"), "mine now").unwrap();
        fs::write(home.path().join("outside"), "theirs").unwrap();
        let mut list = fs::read_to_string(folder.join(".list")).unwrap();
        for name in ["../outside", "/etc/passwd", "a/../../outside"] {
            list += &format!("{}  {name}\n", sha256("theirs"));
        }
        fs::write(folder.join(".list"), list).unwrap();

        let mut second = Written::begin(&folder, ".list").unwrap();
        let before: Vec<&str> = second.before().collect();
        assert_eq!(before, ["3", "a/1", "a/2", "a/changed"]);
        second.keep("a/1");
        second.write("3", b"four").unwrap();
        for (name, words) in [
            ("theirs", "was not written by this command"),
            ("../outside", "is no name of a file"),
            ("a/x\nb", "is no name of a file"),
        ] {
            assert_contains(second.write(name, b"ours").unwrap_err(), words);
        }
        second.end().unwrap();
        let found = |name: &str| fs::read_to_string(folder.join(name)).ok();
        assert_eq!(found("3").as_deref(), Some("four"));
        assert_eq!(found("a/1").as_deref(), Some("one"));
        assert_eq!(found("a/2"), None);
        assert_eq!(found("a/changed").as_deref(), Some("mine now"));
        assert_eq!(found("theirs").as_deref(), Some("theirs"));
        assert!(home.path().join("outside").exists());
    }

    /// A list that another user planted, and links in the place of folders and files.
    #[test]
    fn nothing_is_written_or_removed_through_what_others_planted() {
        let home = tempfile::tempdir().unwrap();
        let (folder, victim) = (home.path().join("new"), home.path().join("victim"));
        for made in [&folder, &victim] {
            fs::create_dir(made).unwrap();
        }
        fs::write(victim.join("shadow"), "secret").unwrap();
        symlink(&victim, folder.join("l")).unwrap();
        let list = format!("{}  l/shadow\n", sha256("secret"));
        fs::write(folder.join(".list"), &list).unwrap();
        let mut written = Written::begin(&folder, ".list").unwrap();
        assert!(written.write("l/new", b"x").is_err());
        written.end().unwrap();
        assert_eq!(fs::read_to_string(victim.join("shadow")).unwrap(), "secret");
        assert!(!victim.join("new").exists());

        fs::remove_file(folder.join(".list")).unwrap();
        symlink(victim.join("shadow"), folder.join(".list")).unwrap();
        assert!(Written::begin(&folder, ".list").is_err());
        if rustix::process::geteuid().is_root() {
            fs::remove_file(folder.join(".list")).unwrap();
            fs::write(folder.join(".list"), &list).unwrap();
            std::os::unix::fs::chown(folder.join(".list"), Some(65_534), None).unwrap();
            let refused = Written::begin(&folder, ".list").err().unwrap();
            assert_contains(format!("{refused:#}"), "belongs to user 65534");
        }
        assert_eq!(fs::read_to_string(victim.join("shadow")).unwrap(), "secret");
    }

    /// There is one way to write into a folder, and one to write a file that the user names.
    #[test]
    fn nothing_else_in_this_program_writes_files() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut folders = vec![source];
        let mut found = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let text = fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]").next().unwrap();
                let words = ["fs::write", "File::create(", "remove_file(", "create_dir"];
                if words.iter().any(|word| code.contains(word)) {
                    found.push(path.file_name().unwrap().to_owned());
                }
            }
        }
        found.sort();
        // `rm` removes what lies beside the store; the others make new files where the user says, and remove what they could not finish.
        assert_eq!(found, ["bundle.rs", "diskmap.rs", "export.rs", "rm.rs"]);
    }
}
