//! Processes, found again without mistaking one for another.

use crate::wait::until;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::fs;
use std::time::Duration;

/// Set in the environment of every process that is started, to what it was started for.
pub(crate) const MARK_VARIABLE: &str = "PLIMSOLL_MARK";

/// How long a process may take to go once it is killed.
const LONGEST_END: Duration = Duration::from_secs(10);

/// Another with every start of the kernel. Empty where there is none.
pub(crate) fn boot_id() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}

/// When a process was started, in clock ticks since the start of the kernel: with its id, the process itself. `None` when it is gone
/// or has ended and only waits to be reaped.
pub(crate) fn started_ticks(process: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name before may contain anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    if matches!(*fields.first()?, "Z" | "X") {
        return None;
    }
    fields.get(19)?.parse().ok()
}

/// The processes that were started with this mark.
pub(crate) fn marked(mark: &str) -> Vec<u32> {
    let assignment = format!("{MARK_VARIABLE}={mark}");
    let carries = |process: &u32| {
        // It is among the arguments until `env` has put it into the environment.
        ["environ", "cmdline"].iter().any(|file| {
            fs::read(format!("/proc/{process}/{file}")).is_ok_and(|bytes| {
                bytes
                    .split(|byte| *byte == 0)
                    .any(|entry| entry == assignment.as_bytes())
            })
        })
    };
    all().into_iter().filter(carries).collect()
}

fn all() -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect()
}

/// Ends the processes of a mark, at once. A process that is just being started has no mark for an instant, so they are looked for until
/// none was seen for a while. Returns how many there were, or the one that does not go.
pub(crate) fn end_marked(mark: &str) -> Result<usize, u32> {
    let mut ended = 0;
    let mut quiet = 0;
    while quiet < 2 {
        let found = marked(mark);
        quiet = if found.is_empty() { quiet + 1 } else { 0 };
        for process in found {
            let Some(started) = started_ticks(process) else {
                continue;
            };
            if !end(process, started) {
                return Err(process);
            }
            ended += 1;
        }
        if quiet < 2 {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    Ok(ended)
}

/// Ends a process, if it is still the one that was started then. Returns whether it is gone.
pub(crate) fn end(process: u32, started: u64) -> bool {
    let Some(pid) = i32::try_from(process).ok().and_then(Pid::from_raw) else {
        return true;
    };
    // Opened first and looked at then, so that the signal reaches no other process that gets its id meanwhile.
    let Ok(opened) = pidfd_open(pid, PidfdFlags::empty()) else {
        return started_ticks(process) != Some(started);
    };
    if started_ticks(process) != Some(started) {
        return true;
    }
    let _ = pidfd_send_signal(&opened, Signal::KILL);
    until(LONGEST_END, || started_ticks(process) != Some(started))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_process_is_found_by_its_mark_and_ended() {
        let mut child = Command::new("sleep")
            .arg("1000")
            .env(MARK_VARIABLE, "plimsoll-test-1")
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        assert_eq!(marked("plimsoll-test-1"), [child.id()]);
        assert_eq!(marked("plimsoll-test"), [0_u32; 0], "the whole mark counts");
        assert_eq!(end_marked("plimsoll-test-1"), Ok(1));
        child.wait().unwrap();
        assert_eq!(end_marked("plimsoll-test-1"), Ok(0));
    }

    #[test]
    fn a_process_that_took_the_id_of_another_is_left_alone() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let started = started_ticks(child.id()).unwrap();
        assert!(end(child.id(), started + 1));
        assert_eq!(started_ticks(child.id()), Some(started), "it lives");
        assert!(end(child.id(), started));
        assert_eq!(
            started_ticks(child.id()),
            None,
            "ended, though not yet reaped"
        );
        child.wait().unwrap();
    }
}
