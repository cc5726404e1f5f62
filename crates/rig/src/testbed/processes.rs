//! Processes, found again without mistaking one for another.

use crate::testbed::wait::bounded;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

const PROC: &str = "/proc";

/// Set in the environment of every process that is started, to what it was started for.
pub const MARK_VARIABLE: &str = "PLIMSOLL_MARK";

/// How long the kernel may take to show a process's environment or arguments. Of one that is stuck it may take forever.
const LONGEST_LOOK: Duration = Duration::from_secs(1);

/// The same, of one process that must be ours or not.
const LONGEST_LOOK_AT_ONE: Duration = Duration::from_secs(10);

/// How long all processes may take together until their programs are begun, where they are looked through. A program that took its
/// arguments and environment away looks the same, and must not hold everybody up.
const LONGEST_BEGINNING: Duration = Duration::from_millis(200);

/// How long a process that shows arguments may take to show its environment. The kernel sets both in turn, and may be interrupted between.
const BETWEEN_BOTH: Duration = Duration::from_millis(50);

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
    let fields = living(&proc.join(process.to_string()))?;
    fields.split_ascii_whitespace().nth(19)?.parse().ok()
}

/// What the kernel says of a process behind its name; `None` when it is gone, or has ended and only waits to be reaped.
fn living(process: &Path) -> Option<String> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    // The name before may contain anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let is_over = fields.trim_start().starts_with(['Z', 'X']);
    (!is_over).then(|| fields.to_owned())
}

/// The processes whose parent this is, also those that have ended and wait to be reaped.
pub(crate) fn children_of(parent: u32) -> Vec<u32> {
    let is_child = |process: &u32| {
        let stat = fs::read_to_string(Path::new(PROC).join(process.to_string()).join("stat"));
        let stat = stat.unwrap_or_default();
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
        fields.split_ascii_whitespace().nth(1) == Some(&parent.to_string())
    };
    all(Path::new(PROC)).into_iter().filter(is_child).collect()
}

/// Whether a thread of the kernel, which has neither arguments nor an environment.
fn is_of_the_kernel(fields: &str) -> bool {
    const PF_KTHREAD: u64 = 0x0020_0000;
    let flags = fields.split_ascii_whitespace().nth(6);
    flags.and_then(|flags| flags.parse::<u64>().ok()).is_some_and(|flags| flags & PF_KTHREAD != 0)
}

/// The processes that were started with this mark, by a program that was started at `since` itself, with the time of their start.
pub(crate) fn marked(mark: &str, since: u64) -> Vec<(u32, u64)> {
    marked_in(Path::new(PROC), mark, since)
}

/// Only the environments and arguments of processes are read that are younger than who would have started them: those of a stuck process cannot be
/// read, and an attempt is stuck as well. One that is nevertheless, is passed over, now and later.
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
        let (tell, receiver) = mpsc::channel();
        let assignment = format!("{MARK_VARIABLE}={mark}");
        let (proc, looked_at) = (proc.to_owned(), candidates.clone());
        std::thread::spawn(move || {
            let until = Instant::now() + LONGEST_BEGINNING;
            for (process, _) in looked_at {
                let folder = proc.join(process.to_string());
                let is_marked = carries(&folder, &assignment, until, BETWEEN_BOTH);
                if tell.send(is_marked).is_err() {
                    return;
                }
            }
        });
        let mut seen = 0;
        while seen < candidates.len() {
            let Ok(is_marked) = receiver.recv_timeout(LONGEST_LOOK) else {
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
    let until = Instant::now() + LONGEST_LOOK_AT_ONE;
    bounded(LONGEST_LOOK_AT_ONE, move || carries(&folder, &assignment, until, BETWEEN_BOTH))
}

/// The call that starts a program returns before the kernel has given it arguments and environment. Until then both are empty, and are looked
/// at again; and so is, for as long as `between`, an environment that is empty where there are arguments already.
fn carries(process: &Path, assignment: &str, until: Instant, between: Duration) -> bool {
    let read = |file| fs::read(process.join(file)).unwrap_or_default();
    let mut has_arguments = None::<Instant>;
    loop {
        // It is among the arguments until `env` has put it into the environment.
        let texts = [read("cmdline"), read("environ")];
        let mut entries = texts.iter().flat_map(|text| text.split(|byte| *byte == 0));
        if entries.any(|entry| entry == assignment.as_bytes()) {
            return true;
        }
        let now = Instant::now();
        let [arguments, environment] = texts;
        if !arguments.is_empty() {
            has_arguments.get_or_insert(now);
        }
        let is_late = has_arguments.is_some_and(|since| now >= since + between);
        let is_beginning = environment.is_empty()
            && !is_late
            && living(process).is_some_and(|fields| !is_of_the_kernel(&fields));
        if !is_beginning || now >= until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The programs, except this one, that have files or directories below these paths open, such as `mongod (4711)`.
pub(crate) fn users_below(paths: &[&Path]) -> Vec<String> {
    let is_below = |link: PathBuf| {
        fs::read_link(link).is_ok_and(|file| paths.iter().any(|path| file.starts_with(path)))
    };
    let ours = fs::read_link(Path::new(PROC).join("self/exe")).ok();
    let named = |process: u32| {
        let folder = Path::new(PROC).join(process.to_string());
        if fs::read_link(folder.join("exe")).ok() == ours {
            return None;
        }
        let open = fs::read_dir(folder.join("fd")).into_iter().flatten().flatten();
        let others = ["cwd", "exe"].map(|name| folder.join(name));
        if open.map(|entry| entry.path()).chain(others).any(is_below) {
            let name = fs::read_to_string(folder.join("comm")).unwrap_or_default();
            return Some(format!("{} ({process})", name.trim_end()));
        }
        None
    };
    all(Path::new(PROC)).into_iter().filter_map(named).collect()
}

fn all(proc: &Path) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(proc) else {
        return Vec::new();
    };
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testbed::privileged::kill::end_marked;
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
        let found = marked("plimsoll-test", since);
        assert_eq!(found, none, "the whole mark counts");
        assert_eq!(marked("plimsoll-test-1", started + 1), none, "it is older");
        assert_eq!(end_marked("plimsoll-test-1", since), Ok(1));
        child.wait().unwrap();
        assert_eq!(end_marked("plimsoll-test-1", since), Ok(0));
    }

    /// Its starter is quicker than the kernel most of the time.
    #[test]
    fn a_process_is_known_from_its_first_instant() {
        for turn in 0..200 {
            let mark = format!("plimsoll-test-first-{turn}");
            let mut child =
                Command::new("/bin/sleep").arg("1000").env(MARK_VARIABLE, &mark).spawn().unwrap();
            let seen = is_marked(child.id(), &mark);
            child.kill().unwrap();
            child.wait().unwrap();
            assert_eq!(seen, Some(true), "turn {turn}");
        }
    }

    #[test]
    fn what_has_no_environment_yet_is_looked_at_again() {
        let proc = tempfile::tempdir().unwrap();
        let process = |id: u32, flags: u64, mark: &str| {
            let folder = proc.path().join(id.to_string());
            fs::create_dir(&folder).unwrap();
            let nothing = "0 ".repeat(12);
            let stat = format!("{id} (a) S 1 1 1 0 -1 {flags} {nothing}700");
            fs::write(folder.join("stat"), stat).unwrap();
            fs::write(folder.join("cmdline"), "").unwrap();
            fs::write(folder.join("environ"), mark).unwrap();
            folder
        };
        let assignment = format!("{MARK_VARIABLE}=mine");
        let long = Duration::from_secs(60);
        let begins = process(10, 0x0040_0000, "");
        let other = begins.clone();
        let writer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(30));
            fs::write(other.join("environ"), format!("{MARK_VARIABLE}=mine\0")).unwrap();
        });
        assert!(carries(&begins, &assignment, Instant::now() + long, long));
        writer.join().unwrap();
        // Neither a thread of the kernel nor one that has another environment is waited for.
        let requested = Instant::now();
        let kernel = process(20, 0x0020_8040, "");
        assert!(!carries(&kernel, &assignment, requested + long, long));
        let another = process(30, 0x0040_0000, "A=b\0");
        assert!(!carries(&another, &assignment, requested + long, long));
        assert!(requested.elapsed() < long);
        // One that never shows any is given up.
        let never = process(40, 0x0040_0000, "");
        assert!(!carries(&never, &assignment, requested, long));
    }

    #[test]
    fn an_environment_may_come_after_the_arguments() {
        let proc = tempfile::tempdir().unwrap();
        let folder = proc.path().to_owned();
        let nothing = "0 ".repeat(12);
        fs::write(folder.join("stat"), format!("10 (a) S 1 1 1 0 -1 4194304 {nothing}700"))
            .unwrap();
        fs::write(folder.join("cmdline"), "sleep\x001000\x00").unwrap();
        fs::write(folder.join("environ"), "").unwrap();
        let assignment = format!("{MARK_VARIABLE}=mine");
        let until = Instant::now() + Duration::from_secs(60);
        // One that was started without any.
        assert!(!carries(&folder, &assignment, until, Duration::ZERO));
        let other = folder.clone();
        let writer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(30));
            fs::write(other.join("environ"), format!("{MARK_VARIABLE}=mine\0")).unwrap();
        });
        assert!(carries(&folder, &assignment, until, Duration::from_secs(60)));
        writer.join().unwrap();
    }

    mod slow {
        use super::*;

        /// Processes whose environment is a pipe without a writer, as if they were stuck in the kernel.
        #[test]
        fn a_stuck_process_holds_nobody_up() {
            let proc = tempfile::tempdir().unwrap();
            let process = |id: u32, started: u64| {
                let folder = proc.path().join(id.to_string());
                fs::create_dir(&folder).unwrap();
                let nothing = "0 ".repeat(18);
                fs::write(folder.join("stat"), format!("{id} (a) D {nothing}{started}")).unwrap();
                folder.join("environ")
            };
            let stuck: Vec<_> =
                [(10, 700), (30, 700), (40, 100)].map(|(id, started)| process(id, started)).into();
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
                found.into_iter().map(|(process, _)| process).collect::<Vec<_>>()
            };
            assert_eq!(found(), [5, 20, 50]);
            // Stuck processes are not looked at again.
            assert_eq!(found(), [5, 20, 50]);
            // The waiters may go. None waits for the one that is too old.
            for environ in &stuck[..2] {
                drop(fs::File::options().write(true).open(environ).unwrap());
            }
        }
    }
}
