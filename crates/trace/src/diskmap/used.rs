//! What was read and written of each file, in numbers.

use crate::diskmap::{Access, Accesses};
use serde::{Deserialize, Serialize};

/// Parts of this many bytes are touched or not.
const PAGE_BYTES: u64 = 4096;

/// What a database uses a file for, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileKind {
    Collection,
    /// From keys to their places.
    Index,
    /// What was done since the last checkpoint.
    Journal,
    /// Catalogues, statistics and all else.
    Other,
}

impl FileKind {
    /// By the names that WiredTiger, MongoDB and PostgreSQL give.
    pub fn of(path: &str) -> Self {
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_below = |folder: &str| {
            let mut folders = path.split('/').rev().skip(1);
            folders.any(|part| part == folder)
        };
        let is_named = |stem: &str| {
            name.ends_with(".wt")
                && name
                    .strip_prefix(stem)
                    .is_some_and(|rest| rest.starts_with('-') || rest == ".wt")
        };
        if is_below("journal")
            || is_below("pg_wal")
            || name.starts_with("WiredTigerLog.")
            || name.starts_with("WiredTigerPreplog.")
            || name.ends_with("-wal")
        {
            Self::Journal
        } else if is_named("index") {
            Self::Index
        } else if is_named("collection") {
            Self::Collection
        } else {
            Self::Other
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Collection => "collection",
            Self::Index => "index",
            Self::Journal => "journal",
            Self::Other => "other",
        }
    }
}

/// A file and what was done to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileUse {
    /// Relative to the mount point.
    pub path: String,
    pub kind: FileKind,
    /// Bytes: the largest that was seen.
    pub size: u64,
    pub reads: u64,
    pub writes: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
    /// Bytes that were read or written at least once, in whole pages of 4096.
    pub touched_bytes: u64,
}

impl FileUse {
    /// Part of the file that was read or written at least once, 0 to 1.
    pub fn touched_share(&self) -> f64 {
        if self.size == 0 {
            return 0.0;
        }
        (self.touched_bytes as f64 / self.size as f64).min(1.0)
    }
}

impl Accesses {
    /// What was done to each file, in the order of the files.
    pub fn used(&self) -> Vec<FileUse> {
        let mut used: Vec<FileUse> = self
            .files
            .iter()
            .map(|file| FileUse {
                path: file.path.clone(),
                kind: FileKind::of(&file.path),
                size: file.size,
                reads: 0,
                writes: 0,
                read_bytes: 0,
                written_bytes: 0,
                touched_bytes: 0,
            })
            .collect();
        let mut touched: Vec<Pages> = self.files.iter().map(|file| Pages::of(file.size)).collect();
        for access in &self.all {
            let Some(file) = used.get_mut(usize::from(access.file)) else {
                continue;
            };
            let (number, bytes) = if access.is_write {
                (&mut file.writes, &mut file.written_bytes)
            } else {
                (&mut file.reads, &mut file.read_bytes)
            };
            *number += 1;
            *bytes += access.length;
            touched[usize::from(access.file)].touch(access);
        }
        for (file, pages) in used.iter_mut().zip(&touched) {
            file.touched_bytes = pages.count() * PAGE_BYTES;
        }
        used
    }
}

/// A bit for each page of a file.
struct Pages(Vec<u64>);

impl Pages {
    fn of(size: u64) -> Self {
        let words = size.div_ceil(PAGE_BYTES * 64);
        Self(vec![0; usize::try_from(words).unwrap_or(0)])
    }

    fn touch(&mut self, access: &Access) {
        let last = (access.offset + access.length.max(1) - 1) / PAGE_BYTES;
        for page in access.offset / PAGE_BYTES..=last {
            let word = usize::try_from(page / 64).unwrap_or(usize::MAX);
            if let Some(word) = self.0.get_mut(word) {
                *word |= 1 << (page % 64);
            }
        }
    }

    fn count(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diskmap::File;

    #[test]
    fn kinds_are_told_from_the_names_that_databases_give() {
        for (path, kind) in [
            ("data/collection.wt", FileKind::Collection),
            ("data/index.wt", FileKind::Index),
            ("collection-4-7187.wt", FileKind::Collection),
            ("ycsb/index-5--31415.wt", FileKind::Index),
            ("journal/WiredTigerLog.0000000001", FileKind::Journal),
            ("data/WiredTigerLog.0000000002", FileKind::Journal),
            ("pg_wal/000000010000000000000001", FileKind::Journal),
            ("state.sqlite-wal", FileKind::Journal),
            ("data/WiredTigerHS.wt", FileKind::Other),
            ("indexes.txt", FileKind::Other),
            ("journal", FileKind::Other),
            ("indexed.wt", FileKind::Other),
        ] {
            assert_eq!(FileKind::of(path), kind, "{path}");
        }
    }

    #[test]
    fn what_is_touched_twice_counts_once() {
        let access =
            |offset, length, is_write| Access { time_ns: 0, file: 0, offset, length, is_write };
        let accesses = Accesses {
            files: vec![File {
                path: "collection.wt".into(),
                size: 40_960,
                accesses: 3,
                bytes: 12_800,
            }],
            all: vec![access(0, 4096, false), access(512, 512, true), access(4096, 8192, false)],
            files_left_out: 0,
            moments: Vec::new(),
            start_ns: 0,
            elsewhere: 0,
            overwritten: 0,
        };
        let used = &accesses.used()[0];
        assert_eq!((used.reads, used.writes), (2, 1));
        assert_eq!((used.read_bytes, used.written_bytes), (12_288, 512));
        assert_eq!(used.touched_bytes, 3 * 4096);
        assert!((used.touched_share() - 0.3).abs() < 1e-12);
    }
}
