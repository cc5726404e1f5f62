//! What the daemon is to the system.

use nix::sys::signal::{SigSet, Signal};
use rustix::mm::MlockAllFlags;
use std::num::NonZero;

/// What must be so before the first thread is made, because threads inherit it. What this user or kernel does not allow is done without: the
/// lateness of the answers shows what it costs.
pub(crate) fn prepare_process() {
    // Where memory is short, the kernel is to end another program than the disk.
    let _ = std::fs::write("/proc/self/oom_score_adj", "-900");
    // Timers that fire when they are due, and not up to 50 µs later.
    let _ = rustix::thread::set_current_timer_slack(NonZero::new(1));
    // Memory that is requested here must never wait for pages to be written, which would wait for this disk.
    let _ = rustix::mm::mlockall(
        MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT,
    );
    let _ = rustix::process::configure_io_flusher_behavior(true);
    be_real_time(true);
    // Signals come to the thread that waits for them, and to no other.
    let _ = terminating().thread_block();
}

/// Gives this thread, and those that it makes from now on, real-time priority: a disk does not wait for a processor. Nothing here spins for longer
/// than a sleep of this machine is late. Or takes it away.
pub(crate) fn be_real_time(real_time: bool) {
    let (policy, sched_priority) =
        if real_time { (libc::SCHED_RR, 1) } else { (libc::SCHED_OTHER, 0) };
    let priority = libc::sched_param { sched_priority };
    // SAFETY: plain numbers, about this thread alone.
    unsafe { libc::sched_setscheduler(0, policy, &raw const priority) };
}

fn terminating() -> SigSet {
    SigSet::from_iter([Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP])
}

pub(crate) fn wait_for_signal() {
    let _ = terminating().wait();
}
