//! Who holds a lock, for messages.

use std::fmt;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;

/// The process that holds a lock, as far as this user can see: not where it is another user's, or in another container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holder(Option<(u32, String)>);

impl Holder {
    /// Finds the process that holds a byte of a lock file.
    ///
    /// `F_OFD_GETLK` and `/proc/locks` tell no process for a lock that belongs to an open file. The descriptors of each process do: `lock:` lines
    /// in `/proc/PID/fdinfo` (proc_pid_fdinfo(5)).
    pub(crate) fn of(file: &File, offset: i64) -> Self {
        let Ok(about) = file.metadata() else {
            return Self(None);
        };
        let numbers = |folder: &str| {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        };
        for process in numbers("/proc") {
            for descriptor in numbers(&format!("/proc/{process}/fd")) {
                let is_it = fs::metadata(format!("/proc/{process}/fd/{descriptor}"))
                    .is_ok_and(|other| (other.dev(), other.ino()) == (about.dev(), about.ino()));
                let holds = || {
                    fs::read_to_string(format!("/proc/{process}/fdinfo/{descriptor}"))
                        .is_ok_and(|info| info.lines().any(|line| covers(line, offset)))
                };
                if is_it && holds() {
                    let name = fs::read_to_string(format!("/proc/{process}/comm"));
                    let name = name.unwrap_or_default().trim_end().to_owned();
                    return Self(Some((process, name)));
                }
            }
        }
        Self(None)
    }
}

/// Whether a line such as `lock:\t1: OFDLCK ADVISORY  WRITE -1 fd:01:396 0 0` is of a lock of this byte.
fn covers(line: &str, offset: i64) -> bool {
    let Some(lock) = line.strip_prefix("lock:") else {
        return false;
    };
    let mut from_the_end = lock.split_whitespace().rev();
    let (end, start) = (from_the_end.next(), from_the_end.next());
    let starts =
        start.and_then(|start| start.parse().ok()).is_some_and(|start: i64| start <= offset);
    let ends = match end {
        Some("EOF") => true,
        end => end.and_then(|end| end.parse().ok()).is_some_and(|end: i64| offset <= end),
    };
    starts && ends
}

impl fmt::Display for Holder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some((process, name)) => write!(formatter, "process {process} ({name})"),
            None => formatter.write_str("another program"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_locks_are_understood() {
        let line = "lock:\t1: OFDLCK ADVISORY  WRITE -1 fd:01:396 3 5";
        assert!(covers(line, 3) && covers(line, 5));
        assert!(!covers(line, 2) && !covers(line, 6));
        assert!(covers("lock:\t1: POSIX  ADVISORY  READ 12 00:2f:7 0 EOF", 9));
        assert!(!covers("ino:\t1", 1) && !covers("lock:", 0));
    }
}
