//! Processes, found again without mistaking one for another.

use crate::wait::bounded;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

const PROC: &str = "/proc";

/// Set in the environment of every process that is started, to what it was started for.
pub const MARK_VARIABLE: &str = "PLIMSOLL_MARK";

/// How long the kernel may take to show a process's environment or arguments. Of one that is stuck it may take for ever.
const LONGEST_LOOK: Duration = Duration::from_secs(1);

/// The same, where one is asked that must be ours or not.
const LONGEST_LOOK_AT_ONE: Duration = Duration::from_secs(10);

/// Another with every start of the kernel. Empty where there is none.
pub(crate) fn boot_id() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}

/// When a process was started, in clock ticks since the start of the kernel: with its id, the process itself. `None` when it is gone
/// or has ended and only waits to be reaped.
pub(crate) fn started_ticks(process: u32) -> Option<u64> {
    started_in(Path::new(PROC), process)
}

/// When this program was started; 0 where that is not known.
pub(crate) fn own_start() -> u64 {
    started_ticks(std::process::id()).unwrap_or_default()
}

fn started_in(proc: &Path, process: u32) -> Option<u64> {
    let stat = fs::read_to_string(proc.join(process.to_string()).join("stat")).ok()?;
    // The name before may contain anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    if matches!(*fields.first()?, "Z" | "X") {
        return None;
    }
    fields.get(19)?.parse().ok()
}

/// The processes that were started with this mark, by a program that was started at `since` itself, with the time of their start.
pub(crate) fn marked(mark: &str, since: u64) -> Vec<(u32, u64)> {
    marked_in(Path::new(PROC), mark, since)
}

/// Only the environments and arguments of processes are read that are younger than who would have started them: those of a stuck process cannot be
/// read, and whoever tries is stuck as well. One that is nevertheless, is passed over, now and later.
fn marked_in(proc: &Path, mark: &str, since: u64) -> Vec<(u32, u64)> {
    static STUCK: Mutex<BTreeSet<(u32, u64)>> = Mutex::new(BTreeSet::new());
    let stuck = || STUCK.lock().unwrap_or_else(PoisonError::into_inner);
    let mut candidates: Vec<(u32, u64)> = all(proc)
        .into_iter()
        .filter_map(|process| Some((process, started_in(proc, process)?)))
        .filter(|candidate| candidate.1 >= since && !stuck().contains(candidate))
        .collect();
    let mut found = Vec::new();
    while !candidates.is_empty() {
        let (tell, told) = mpsc::channel();
        let assignment = format!("{MARK_VARIABLE}={mark}");
        let (proc, looked_at) = (proc.to_owned(), candidates.clone());
        std::thread::spawn(move || {
            for (process, _) in looked_at {
                let is_marked = carries(&proc.join(process.to_string()), &assignment);
                if tell.send(is_marked).is_err() {
                    return;
                }
            }
        });
        let mut seen = 0;
        while seen < candidates.len() {
            let Ok(is_marked) = told.recv_timeout(LONGEST_LOOK) else {
                // The thread stays with the kernel.
                stuck().insert(candidates[seen]);
                seen += 1;
                break;
            };
            if is_marked {
                found.push(candidates[seen]);
            }
            seen += 1;
        }
        candidates.drain(..seen);
    }
    found
}

/// Whether a process has this mark; `None` while the kernel does not show it.
pub(crate) fn is_marked(process: u32, mark: &str) -> Option<bool> {
    let folder = Path::new(PROC).join(process.to_string());
    let assignment = format!("{MARK_VARIABLE}={mark}");
    bounded(LONGEST_LOOK_AT_ONE, move || carries(&folder, &assignment))
}

fn carries(process: &Path, assignment: &str) -> bool {
    // It is among the arguments until `env` has put it into the environment.
    ["environ", "cmdline"].iter().any(|file| {
        fs::read(process.join(file)).is_ok_and(|bytes| {
            bytes
                .split(|byte| *byte == 0)
                .any(|entry| entry == assignment.as_bytes())
        })
    })
}

fn all(proc: &Path) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(proc) else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privileged::kill::end_marked;
    use std::process::{Command, Stdio};

    #[test]
    fn a_process_is_found_by_its_mark_and_ended() {
        let mut child = Command::new("sleep")
            .arg("1000")
            .env(MARK_VARIABLE, "plimsoll-test-1")
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let since = own_start();
        let started = started_ticks(child.id()).unwrap();
        assert_eq!(marked("plimsoll-test-1", since), [(child.id(), started)]);
        assert_eq!(is_marked(child.id(), "plimsoll-test-1"), Some(true));
        assert_eq!(is_marked(child.id(), "plimsoll-test-2"), Some(false));
        let none = [(0_u32, 0_u64); 0];
        assert_eq!(
            marked("plimsoll-test", since),
            none,
            "the whole mark counts"
        );
        assert_eq!(marked("plimsoll-test-1", started + 1), none, "it is older");
        assert_eq!(end_marked("plimsoll-test-1", since), Ok(1));
        child.wait().unwrap();
        assert_eq!(end_marked("plimsoll-test-1", since), Ok(0));
    }

    /// Whose environment is a pipe that nobody writes into, as a process that is stuck in the kernel.
    #[test]
    fn a_stuck_process_holds_nobody_up() {
        let proc = tempfile::tempdir().unwrap();
        let process = |id: u32, started: u64| {
            let folder = proc.path().join(id.to_string());
            fs::create_dir(&folder).unwrap();
            let nothing = "0 ".repeat(18);
            fs::write(
                folder.join("stat"),
                format!("{id} (a) D {nothing}{started}"),
            )
            .unwrap();
            folder.join("environ")
        };
        let stuck: Vec<_> = [(10, 700), (30, 700), (40, 100)]
            .map(|(id, started)| process(id, started))
            .into();
        for environ in &stuck {
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            rustix::fs::mkfifoat(rustix::fs::CWD, environ, mode).unwrap();
        }
        for id in [5, 20, 50] {
            fs::write(process(id, 700), format!("A=b\0{MARK_VARIABLE}=mine\0")).unwrap();
        }
        let found = || {
            let mut found = marked_in(proc.path(), "mine", 500);
            found.sort_unstable();
            found
                .into_iter()
                .map(|(process, _)| process)
                .collect::<Vec<_>>()
        };
        assert_eq!(found(), [5, 20, 50]);
        // Those that were stuck are not asked again.
        assert_eq!(found(), [5, 20, 50]);
        // What waits for them may go. Nobody waits for the one that is too old.
        for environ in &stuck[..2] {
            drop(fs::File::options().write(true).open(environ).unwrap());
        }
    }
}
