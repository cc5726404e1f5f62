//! Files of the kernel that are read again and again.

use crate::Host;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// A file of the kernel, kept open: each reading gives its present text.
pub(crate) struct KeptFile(Option<File>);

impl KeptFile {
    /// What cannot be opened stays unreadable: kernels differ in what they show.
    pub(crate) fn open(host: &Host, path: impl AsRef<Path>) -> Self {
        Self(File::open(host.path(path)).ok())
    }

    /// The whole text. The buffer, which must not be empty, grows as it must and is meant to be used again.
    pub(crate) fn read<'a>(&self, buffer: &'a mut Vec<u8>) -> Option<&'a str> {
        let file = self.0.as_ref()?;
        // The kernel makes a new text at offset 0; in two parts it would be of two moments.
        let length = loop {
            let length = file.read_at(buffer, 0).ok()?;
            if length < buffer.len() {
                break length;
            }
            buffer.resize(2 * buffer.len(), 0);
        };
        std::str::from_utf8(&buffer[..length]).ok()
    }

    /// The number that is all of the file.
    pub(crate) fn number(&self, buffer: &mut Vec<u8>) -> Option<u64> {
        self.read(buffer)?.trim().parse().ok()
    }
}

/// Key and first number of each line that has both, with or without a colon between them.
pub(crate) fn keyed(text: &str) -> impl Iterator<Item = (&str, u64)> {
    text.lines().filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let key = words.next()?;
        let number = words.next()?.parse().ok()?;
        Some((key.trim_end_matches(':'), number))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[test]
    fn a_file_is_read_anew_each_time() {
        let tree = Tree::new(&[("a", "1\n")]);
        let file = KeptFile::open(&tree.host(), "a");
        let mut buffer = vec![0; 4];
        assert_eq!(file.number(&mut buffer), Some(1));
        std::fs::write(tree.host().path("a"), "123456789\n").unwrap();
        assert_eq!(file.number(&mut buffer), Some(123_456_789));
        std::fs::write(tree.host().path("a"), "7\n").unwrap();
        assert_eq!(file.number(&mut buffer), Some(7));
        assert_eq!(KeptFile::open(&tree.host(), "b").number(&mut buffer), None);
    }

    #[test]
    fn lines_of_other_forms_are_passed_over() {
        let text = "MemTotal:  24 kB\ntotal_rss 7\nname\nsome avg10=0.00 total=9\n\nintr 1 2 3\n";
        let expected = [("MemTotal", 24), ("total_rss", 7), ("intr", 1)];
        assert_eq!(keyed(text).collect::<Vec<_>>(), expected);
    }
}
