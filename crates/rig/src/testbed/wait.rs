//! Waiting, never without an end.

use std::sync::mpsc;
use std::time::{Duration, Instant};

const STEP: Duration = Duration::from_millis(5);

/// Asks again and again until it is so; `false` when it still is not after the longest time.
pub(crate) fn until(longest: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    loop {
        if is_so() {
            return true;
        }
        if begun.elapsed() >= longest {
            return false;
        }
        std::thread::sleep(STEP);
    }
}

/// Does what the kernel may keep waiting forever, in a thread of its own. `None` when it has not ended after the longest time; the
/// thread then stays with the kernel.
pub(crate) fn bounded<T: Send + 'static>(
    longest: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (tell, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        // The receiver is gone if it took too long.
        let _ = tell.send(work());
    });
    receiver.recv_timeout(longest).ok()
}
