//! The disk task of probe tasks: what a megabyte takes until it is durable.

use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Instant;

/// Odd, so that the median is one of them.
const REPEATS: usize = 7;
/// Bytes that are written and made durable.
const BYTES: usize = 1 << 20;

/// The median of some, nanoseconds; `None` where the folder cannot be written to.
pub(crate) fn median_ns(folder: &Path) -> Option<u64> {
    let mut times = Vec::with_capacity(REPEATS);
    for _ in 0..REPEATS {
        let begun = Instant::now();
        once(folder)?;
        times.push(u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX));
    }
    times.sort_unstable();
    times.get(REPEATS / 2).copied()
}

/// In a file without a name, which nothing can leave behind.
fn once(folder: &Path) -> Option<()> {
    let mut file = tempfile::tempfile_in(folder).ok()?;
    let block = vec![0xA5_u8; BYTES];
    file.write_all(&block).ok()?;
    file.sync_data().ok()?;
    // Once more in place: the first time the filesystem had to find room as well.
    file.seek(SeekFrom::Start(0)).ok()?;
    file.write_all(&block).ok()?;
    file.sync_data().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_timed_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        assert!(median_ns(folder.path()).is_some_and(|ns| ns > 0));
        let left = std::fs::read_dir(folder.path()).expect("it is there").count();
        assert_eq!(left, 0);
    }

    #[test]
    fn a_folder_that_is_not_there_is_left_out() {
        assert_eq!(median_ns(Path::new("/nowhere/at/all")), None);
    }
}
