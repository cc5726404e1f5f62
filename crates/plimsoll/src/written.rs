//! A folder that a command keeps up to date: it knows which files it has written there, replaces those alone, and takes away those that belong to
//! nothing any more.

use anyhow::{Context, bail};
use plimsoll_record::files::{read_text, write_whole};
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Bytes of the list of what was written.
const LARGEST_LIST: u64 = 16 << 20;

/// A folder that is being written.
pub struct Written<'a> {
    folder: &'a Path,
    list: PathBuf,
    before: BTreeSet<String>,
    now: BTreeSet<String>,
}

impl<'a> Written<'a> {
    /// Makes the folder, and reads the list in it of what was written before. Names that lead out of the folder are none of ours.
    pub fn begin(folder: &'a Path, list: &str) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        let list = folder.join(list);
        let mut before = BTreeSet::new();
        if list.exists() {
            let text = read_text(&list, LARGEST_LIST)
                .with_context(|| format!("cannot read {}", list.display()))?;
            before.extend(
                text.lines()
                    .filter(|name| is_inside(name))
                    .map(str::to_owned),
            );
        }
        Ok(Self {
            folder,
            list,
            before,
            now: BTreeSet::new(),
        })
    }

    /// Names of what was written before.
    pub fn before(&self) -> impl Iterator<Item = &str> {
        self.before.iter().map(String::as_str)
    }

    /// Refuses a file that is there and that this command did not write.
    pub fn may_write(&self, name: &str) -> anyhow::Result<()> {
        let path = self.folder.join(name);
        let is_ours = self.before.contains(name) || self.now.contains(name);
        if path.exists() && !is_ours {
            bail!(
                "{} was not written by this command, so it is not replaced: name another folder",
                path.display()
            );
        }
        Ok(())
    }

    /// Writes a file as a whole or not at all.
    pub fn write(&mut self, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
        self.may_write(name)?;
        let path = self.folder.join(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        }
        if self.now.insert(name.to_owned()) && !self.before.contains(name) {
            // Before the file, so that what a killed command has written is still known to be its own.
            let list = OpenOptions::new()
                .append(true)
                .create(true)
                .open(&self.list);
            list.and_then(|mut list| writeln!(list, "{name}"))
                .with_context(|| format!("cannot write {}", self.list.display()))?;
        }
        write_whole(&path, bytes).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Leaves a file as it was written before.
    pub fn keep(&mut self, name: &str) {
        self.now.insert(name.to_owned());
    }

    /// Takes away what is neither written nor kept, and writes the list.
    pub fn end(self) -> anyhow::Result<()> {
        for name in self.before.difference(&self.now) {
            let _ = std::fs::remove_file(self.folder.join(name));
        }
        let list: Vec<&str> = self.now.iter().map(String::as_str).collect();
        write_whole(&self.list, (list.join("\n") + "\n").as_bytes())
            .with_context(|| format!("cannot write {}", self.list.display()))
    }
}

fn is_inside(name: &str) -> bool {
    let mut parts = name.split('/');
    parts.all(|part| !part.is_empty() && !part.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_testing::assert_contains;
    use std::fs;

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
        assert_eq!(list, "a/1\n");
    }

    #[test]
    fn only_what_was_written_is_replaced_or_taken_away() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("new");
        let mut first = Written::begin(&folder, ".list").unwrap();
        first.write("a/1", b"one").unwrap();
        first.write("a/2", b"two").unwrap();
        first.write("3", b"three").unwrap();
        first.end().unwrap();
        fs::write(folder.join("theirs"), "theirs").unwrap();
        fs::write(home.path().join("outside"), "theirs").unwrap();
        let list = fs::read_to_string(folder.join(".list")).unwrap();
        assert_eq!(list, "3\na/1\na/2\n");
        fs::write(folder.join(".list"), list + "../outside\n/etc/passwd\n").unwrap();

        let mut second = Written::begin(&folder, ".list").unwrap();
        assert_eq!(second.before().collect::<Vec<_>>(), ["3", "a/1", "a/2"]);
        second.keep("a/1");
        second.write("3", b"four").unwrap();
        let refused = second.write("theirs", b"ours").unwrap_err();
        assert_contains(refused, "was not written by this command");
        second.end().unwrap();
        assert_eq!(fs::read_to_string(folder.join("3")).unwrap(), "four");
        assert_eq!(fs::read_to_string(folder.join("a/1")).unwrap(), "one");
        assert!(!folder.join("a/2").exists());
        assert_eq!(fs::read_to_string(folder.join("theirs")).unwrap(), "theirs");
        assert!(home.path().join("outside").exists());
    }
}
