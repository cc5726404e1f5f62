//! Where to read about a machine.

use std::fs;
use std::path::{Path, PathBuf};

/// A machine as its files show it, below a root directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    root: PathBuf,
}

impl Host {
    pub fn here() -> Self {
        Self::at("/")
    }

    /// A machine whose `/proc`, `/sys` and so on were copied to below `root`.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Whether this is the machine that the program runs on, whose kernel can be read too.
    pub(crate) fn is_here(&self) -> bool {
        self.root == Path::new("/")
    }

    /// The load average of the last minute: how many tasks ran or waited for a processor or a disk.
    pub fn load_average(&self) -> Option<f64> {
        self.read("proc/loadavg")?.split_ascii_whitespace().next()?.parse().ok()
    }

    /// Where the file lies. Paths are given without their first slash.
    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    pub(crate) fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.path(path).exists()
    }

    /// The text of a small file without white space around it, or `None` when it cannot be read or is empty.
    pub(crate) fn read(&self, path: impl AsRef<Path>) -> Option<String> {
        let bytes = fs::read(self.path(path)).ok()?;
        // Firmware and USB bridges put whatever they like into the names of their models.
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_matches(|letter: char| letter.is_whitespace() || letter == '\0');
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// The number that is all of a file.
    pub(crate) fn number(&self, path: impl AsRef<Path>) -> Option<u64> {
        self.read(path)?.parse().ok()
    }

    /// The names in a directory, sorted.
    pub(crate) fn names(&self, path: impl AsRef<Path>) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path(path)) else {
            return Vec::new();
        };
        let mut names: Vec<String> =
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }
}

/// The value of the first line `key: value` in files such as `/proc/meminfo`.
pub(crate) fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    for line in text.lines() {
        if let Some((name, value)) = line.split_once(':')
            && name.trim() == key
        {
            return Some(value.trim()).filter(|value| !value.is_empty());
        }
    }
    None
}

/// The word in square brackets, by which sysfs shows the choice among several.
pub(crate) fn chosen(text: &str) -> Option<&str> {
    let (_, after) = text.split_once('[')?;
    let (word, _) = after.split_once(']')?;
    Some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text = "MemTotal:       1024 kB\nSwapTotal: 0 kB\nmodel name\t: A: B\nempty :\n";
        assert_eq!(field(text, "MemTotal"), Some("1024 kB"));
        assert_eq!(field(text, "model name"), Some("A: B"));
        assert_eq!(field(text, "Total"), None);
        assert_eq!(field(text, "empty"), None);
    }

    #[test]
    fn the_choice_is_in_brackets() {
        assert_eq!(chosen("none [mq-deadline] kyber"), Some("mq-deadline"));
        assert_eq!(chosen("none"), None);
    }
}
