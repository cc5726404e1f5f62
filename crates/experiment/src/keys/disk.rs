//! `disk`: an emulated disk, by a preset or by figures, or a device of this machine.

use crate::keys::burst::BURST_OR_OFF;
use crate::keys::latency::LAW;
use crate::table::*;

pub(crate) const CAPACITY: Shape = Shape::size(1 << 20, 1 << 50);

/// 32 bytes of memory each.
pub(crate) const MOST_TRACED: u64 = 1_000_000_000;

/// The word for blocks that are kept in a file.
pub(crate) const FILE: &str = "file";

/// A disk by its name or by its figures.
pub(crate) const DISK_OR_PRESET: Shape =
    Shape::Any(&[Shape::Text { most: 40 }, Shape::Object(&DISK)]);

object! {
    DISK disk: "A disk: an emulated one with these figures, or a block device of this machine. What is not given is that of the preset, \
           or has no limit."
    preset = Shape::Text { most: 40 }, Optional, "gp3";
        "Begins with this preset; the other keys change it.";
    capacity = CAPACITY, Optional, "100GiB";
        "Bytes that it holds, a multiple of 4096. Some presets are faster the larger they are. Without it that of the preset, or \
         enough: four times the data or what there is at worst after all inserts, at least 2 GiB.";
    iops = RATE, Optional, "5000";
        "Most requests per second, reads and writes together.";
    read_iops = RATE, Optional, "6000";
        "Most reads per second.";
    write_iops = RATE, Optional, "3000";
        "Most writes per second.";
    bandwidth = Shape::Bandwidth, Optional, "125MiB/s";
        "Most bytes per second, reads and writes together.";
    read_bandwidth = Shape::Bandwidth, Optional, "560MB/s";
        "Most bytes read per second.";
    write_bandwidth = Shape::Bandwidth, Optional, "530MB/s";
        "Most bytes written per second.";
    io_unit = Shape::size(512, 1 << 30), Optional, "256KiB";
        "A larger request counts as several of this size.";
    latency = LAW, Optional, "7ms";
        "Added to every read and write after the limits have let it pass: a duration, or a distribution.";
    read_latency = LAW, Optional, "5ms";
        "Of reads, where it is not that of both.";
    write_latency = LAW, Optional, "{lognormal: {median: 1ms, p99: 8ms}}";
        "Of writes, where it is not that of both.";
    flush = LAW, Optional, "1ms";
        "What a flush takes.";
    queue_depth = Shape::count(1, 65_536), Optional, "32";
        "Requests that are served at once, each for its latency; others wait.";
    burst = BURST_OR_OFF, Optional, "{iops: 3000, credits: 5.4M}";
        "Credits that are saved while little is asked and spent while much is; `off` for none where the preset has some.";
    backing = Shape::choice(&["memory", FILE]), Optional, "file";
        "Where the blocks are kept. Without it in memory, when that is ample.";
    trace = Shape::CountOrOff { most: MOST_TRACED }, Default("1M"), "off";
        "How many requests are remembered, the last ones; 32 bytes of memory each.";
    device = Shape::Text { most: 1_000 }, Optional, "/dev/disk/by-id/nvme-eui.0025385b71b0c3a1";
        "A block device of this machine instead of an emulated disk, by a name that stays. Everything on it is lost.";
    erase = FLAG, Optional, "true";
        "Must be `true` with a device: says that everything on it may be lost.";
    => at most one of [preset, device];
}

/// The word for no disk at all.
pub(crate) const NO_DISK: &str = "none";

/// Requests that a trace holds where nothing is said.
pub(crate) const TRACED: u64 = 1_000_000;

/// Capacity of a disk whose speed does not depend on it, unless the file gives one, bytes.
pub(crate) const USUAL_CAPACITY: u64 = 16 << 30;

pub(crate) const BLOCK: u64 = 4096;
