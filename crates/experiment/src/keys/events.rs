//! `events`: what is done to the servers and disks of the arms while they are measured.

use crate::keys::latency::LONGEST_WAIT_NS;
use crate::table::*;

pub(crate) const MOST_EVENTS: usize = 100;

pub(crate) const SECONDARY: &str = "secondary";

/// As in files and commands that other programs read, which may hold numbers as floats.
const MOST_SEED: u64 = u32::MAX as u64;
const SHORTEST_EVERY_NS: u64 = 1_000_000_000;
pub(crate) const SECTOR_512: &str = "512B";
const SECTOR_4096: &str = "4KiB";

pub(crate) const ROLE: Shape = Shape::choice(&["primary", SECONDARY]);

object! {
    /// Something that is done to a server or a disk.
    EVENT event: "Something that is deliberately done to the server or the emulated disk of each arm, at each point."
    at = Shape::duration(0, LONGEST_NS), Required, "30s";
        "Time from the beginning of the measured part of the point.";
    step_down = FLAG, Optional, "true";
        "The primary steps down, and another member is elected. Needs a server with several members.";
    kill = ROLE, Optional, "primary";
        "This member is killed (SIGKILL) and restarted on the data that it left: after `restart_after`, otherwise at the end of the point. A server of \
         one process is its own primary.";
    restart_after = Shape::duration(SHORTEST_NS, LONGEST_NS), Optional, "10s";
        "How long the killed member stays down.";
    pause = Shape::duration(SHORTEST_NS, LONGEST_NS), Optional, "5s";
        "A member is paused for this time (SIGSTOP, SIGCONT).";
    member = ROLE, Optional, "secondary";
        "The member that is paused. Without it, the primary.";
    disk = Shape::Object(&DISK_EVENT), Optional, "{latency: 200ms}";
        "The emulated disk changes its behaviour for a time. Its trace has a mark where that begins and where it ends. A disk does one such thing at a time.";
    lasts as "for" = Shape::duration(SHORTEST_NS, LONGEST_NS), Optional, "5s";
        "How long the disk does so; a `stall` has its own time.";
    power_cut = Shape::Object(&POWER_CUT), Optional, "{seed: 7}";
        "The power fails: the server is killed, and the emulated disk loses, keeps or tears what no flush has covered. Then the filesystem is mounted and the \
         server started again, and after the point every acknowledged write is checked. `{}` is a cut with seed 1. The disks of all arms then have a volatile \
         write cache, as by `disk mount --volatile`.";
    => one of [step_down, kill, pause, disk, power_cut];
}

object! {
    POWER_CUT power_cut: "What a power cut leaves, and how often the power fails."
    seed = Shape::count(0, MOST_SEED), Default("1"), "7";
        "With another seed the disk keeps other writes. Each run has its own numbers from it, which its record holds.";
    every = Shape::duration(SHORTEST_EVERY_NS, LONGEST_NS), Optional, "5s";
        "The power fails again and again: from `at` on once in each interval of this length, at a random moment of its first half. Needs a server. \
         Take a workload of inserts: an update that is lost is not seen where a later one took its place.";
    sector = Shape::choice(&[SECTOR_512, SECTOR_4096]), Default(SECTOR_4096), "512B";
        "What is kept or lost as a whole. Disks promise 4 KiB; one of `512B` breaks the promise.";
}

object! {
    DISK_EVENT disk_event: "What an emulated disk does during an event. Afterwards it is as before."
    latency = Shape::duration(1, LONGEST_WAIT_NS), Optional, "200ms";
        "Latency added to each request that arrives.";
    errors = Shape::Object(&DISK_ERRORS), Optional, "{write: 1%}";
        "Requests that fail with an I/O error (EIO). Filesystems and databases may give up after one: XFS shuts down after a failed write of its log. A run \
         that ends so is marked failed.";
    stall = Shape::duration(SHORTEST_NS, LONGEST_NS), Optional, "3s";
        "No request is answered for this time. Its length, in place of `for`.";
    throttle = Shape::choice(&["burst"]), Optional, "burst";
        "`burst`: no burst credits can be spent, so the disk has its base rates. Credits are earned on.";
    => one of [latency, errors, stall, throttle];
}

object! {
    DISK_ERRORS disk_errors: "Shares of the requests to a disk that fail."
    read = SHARE, Optional, "1%";
        "Share of reads that fail.";
    write = SHARE, Optional, "1%";
        "Share of writes that fail; they change nothing on the disk.";
    flush = SHARE, Optional, "1%";
        "Share of flushes that fail.";
    => any of [read, write, flush];
}
