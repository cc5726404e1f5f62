//! `kernel` of an arm: settings of the kernel while the arm runs.

use crate::table::*;
use plimsoll_record::{CENTISECOND_NS, MOST_CENTISECONDS};

/// A share of the memory, in whole percents.
const PERCENT: Shape = Shape::number(0.01, 1.0);
const LONGEST_NS: u64 = MOST_CENTISECONDS * CENTISECOND_NS;

object! {
    KERNEL kernel: "Settings of the kernel. Each is set before the arm's data is stored, verified, and restored afterwards; the others stay as they are."
    transparent_huge_pages = Shape::choice(&["always", "madvise", "never"]), Optional, "never";
        "Whether the kernel gives out memory in pages of 2 MiB: always, to programs that ask for it with madvise, or never.";
    swappiness = Shape::count(0, 200), Optional, "1";
        "How readily the kernel swaps memory of processes out rather than dropping page cache; above 100 only from Linux 5.8 on.";
    dirty_ratio = PERCENT, Optional, "10%";
        "Share of the available memory that may wait to be written before the writing programs have to wait; whole percents.";
    dirty_background_ratio = PERCENT, Optional, "5%";
        "Share of the available memory from which on the kernel writes in the background; whole percents. The kernel takes half of `dirty_ratio` where \
         this is not below it.";
    dirty_expire = Shape::duration(CENTISECOND_NS, LONGEST_NS), Optional, "30s";
        "Age at which changed data is written, a multiple of 10 ms.";
    dirty_writeback = Shape::duration(0, LONGEST_NS), Optional, "5s";
        "Interval at which the kernel looks for changed data that is old enough, a multiple of 10 ms; `0s` is never.";
    scheduler = Shape::choice(&["none", "mq-deadline", "kyber", "bfq"]), Optional, "mq-deadline";
        "The I/O scheduler of the arm's disk. Only with a disk.";
    governor = Shape::choice(&["performance", "powersave", "ondemand", "conservative", "schedutil"]), Optional, "performance";
        "How the frequency of all processors follows their load.";
}
