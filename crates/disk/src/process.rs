//! What the daemon is to the system.

/// From `linux/prctl.h`.
const PR_SET_IO_FLUSHER: libc::c_int = 57;

/// What must be so before the first thread is made, because threads inherit it. What this user or kernel does not allow is done without: the
/// lateness of the answers shows what it costs.
pub(crate) fn prepare_process() {
    // Where memory is short, whoever fills it is to go, and not the disk on which he does.
    let _ = std::fs::write("/proc/self/oom_score_adj", "-900");
    // SAFETY: calls with plain numbers, about this process alone.
    unsafe {
        // Timers that fire when they are due, and not up to 50 µs later.
        libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64, 0, 0, 0);
        // Memory that is asked for here must never wait for pages to be written, which would wait for this disk.
        libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE | libc::MCL_ONFAULT);
        libc::prctl(PR_SET_IO_FLUSHER, 1_u64, 0, 0, 0);
        // A disk does not wait for a processor. Nothing here spins for longer than a sleep of this machine is late.
        let priority = libc::sched_param { sched_priority: 1 };
        libc::sched_setscheduler(0, libc::SCHED_RR, &raw const priority);
        // Signals come to the thread that waits for them, and to no other.
        let signals = terminating();
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const signals, std::ptr::null_mut());
    }
}

fn terminating() -> libc::sigset_t {
    let mut signals = std::mem::MaybeUninit::uninit();
    // SAFETY: the set is made empty first.
    unsafe {
        libc::sigemptyset(signals.as_mut_ptr());
        for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
            libc::sigaddset(signals.as_mut_ptr(), signal);
        }
        signals.assume_init()
    }
}

pub(crate) fn wait_for_signal() {
    let (signals, mut came) = (terminating(), 0);
    // SAFETY: both live until the call returns.
    unsafe { libc::sigwait(&raw const signals, &raw mut came) };
}
