//! The kernel's switch that lets the daemons of new disks use io_uring.

use rustix::fs::{FlockOperation, flock};
use std::fs::{File, OpenOptions, read_to_string};
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// Longest wait for the lock. Any process can hold it, so the wait is bounded.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(2);

/// The switch, which no other program turns while this lives, if it asks as well. It is machine-wide and normally off. A connection that
/// began while it was on keeps its rings.
#[derive(Debug)]
pub struct RingSwitch(File);

impl RingSwitch {
    /// Where the kernel has it.
    pub const FILE: &str = "/sys/module/fuse/parameters/enable_uring";

    /// Waits a few seconds for others who turn it. `None` where they do not give it back, where this kernel has none, or this user may not turn it.
    pub fn lock() -> Option<Self> {
        let file = OpenOptions::new().write(true).open(Self::FILE).ok()?;
        let begun = Instant::now();
        while flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            if begun.elapsed() > LONGEST_WAIT {
                return None;
            }
            std::thread::sleep(LOOK);
        }
        Some(Self(file))
    }

    pub fn is_on() -> bool {
        read_to_string(Self::FILE).is_ok_and(|text| text.trim() == "Y")
    }

    /// Runs this while the switch is on, or off, and turns it back. Where it cannot be turned, it stays as it is.
    pub fn turned<T>(on: bool, begin: impl FnOnce() -> T) -> T {
        let mut switch = Self::lock();
        let was_on = Self::is_on();
        let mut turn = |on| {
            if let Some(switch) = &mut switch {
                let _ = switch.turn(on);
            }
        };
        turn(on);
        let begun = begin();
        turn(was_on);
        begun
    }

    pub fn turn(&mut self, on: bool) -> io::Result<()> {
        self.0.write_all(if on { b"Y" } else { b"N" })
    }
}
