//! Ending processes, and never one that took the id of another.

use crate::testbed::processes::{children_of, marked, started_ticks};
use crate::testbed::wait::until;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, kill_process, kill_process_group, pidfd_open,
    pidfd_send_signal, waitpid,
};
use std::process::Child;
use std::time::Duration;

/// How long a process may take to go once it is killed.
const LONGEST_END: Duration = Duration::from_secs(10);

/// Ends a process, if it is still the one that was started then and is ours by another proof as well. Returns whether it is gone.
pub(crate) fn end(process: u32, started: u64, is_ours: impl Fn() -> bool) -> bool {
    let is_it = || started_ticks(process) == Some(started);
    let Some(pid) = pid_of(process) else {
        return true;
    };
    // Opened first and looked at then, so that the signal reaches no other process that gets its id meanwhile.
    let Ok(opened) = pidfd_open(pid, PidfdFlags::empty()) else {
        return !is_it();
    };
    if !is_it() || !is_ours() {
        return !is_it();
    }
    let _ = pidfd_send_signal(&opened, Signal::KILL);
    until(LONGEST_END, || !is_it())
}

/// Ends the processes of a mark, at once. A process that is just being started has no mark for an instant, so they are looked for until
/// none was seen for a while. Returns how many there were, or the one that does not go.
pub(crate) fn end_marked(mark: &str, since: u64) -> Result<usize, u32> {
    let mut ended = 0;
    let mut quiet = 0;
    while quiet < 2 {
        let found = marked(mark, since);
        quiet = if found.is_empty() { quiet + 1 } else { 0 };
        for (process, started) in found {
            // Its mark was read before it was opened, but the time of its start before its mark.
            if !end(process, started, || true) {
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

/// Ends and reaps every child of this process. Once everything else has ended, these are what servers left behind, also without a mark.
pub(crate) fn end_children() {
    // The children of one that was ended come in its place.
    let end_all = || {
        let children = children_of(std::process::id());
        for process in children.iter().copied() {
            if let Some(started) = started_ticks(process) {
                end(process, started, || true);
            }
            if let Some(pid) = pid_of(process) {
                let _ = waitpid(Some(pid), WaitOptions::NOHANG);
            }
        }
        children.is_empty()
    };
    until(LONGEST_END, end_all);
}

/// Sends SIGTERM to a child that was not waited for, whose id is therefore still its own. Returns whether it could be sent.
pub(crate) fn ask(child: &Child, signal: Signal) -> bool {
    pid_of(child.id()).is_some_and(|pid| kill_process(pid, signal).is_ok())
}

/// Kills a child that was not waited for with all processes of its group, and waits for it.
pub(crate) fn end_group(child: &mut Child) {
    if let Some(group) = pid_of(child.id()) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.kill();
    until(LONGEST_END, || !matches!(child.try_wait(), Ok(None)));
}

fn pid_of(process: u32) -> Option<Pid> {
    i32::try_from(process).ok().and_then(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_process_that_took_the_id_of_another_or_lacks_the_proof_is_left_alone() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let started = started_ticks(child.id()).unwrap();
        assert!(end(child.id(), started + 1, || true));
        assert_eq!(started_ticks(child.id()), Some(started), "it lives");
        assert!(!end(child.id(), started, || false));
        assert_eq!(started_ticks(child.id()), Some(started), "it lives");
        assert!(end(child.id(), started, || true));
        let found = started_ticks(child.id());
        assert_eq!(found, None, "ended, though not yet reaped");
        child.wait().unwrap();
    }
}
