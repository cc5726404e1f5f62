//! `disk`: an emulated disk, by a preset or by figures, or a device of this machine.

use crate::keys::burst::BURST_OR_OFF;
use crate::keys::latency::LAW;
use crate::table::*;

pub(crate) const CAPACITY: Shape = Shape::size(1 << 20, 1 << 50);

/// 32 bytes of memory each.
pub(crate) const MOST_TRACED: u64 = 1_000_000_000;

/// The word for blocks that are kept in a file.
pub(crate) const FILE: &str = "file";

/// A disk by the name of a preset or of a file, or by its figures.
pub(crate) const DISK_OR_PRESET: Shape =
    Shape::Any(&[Shape::Text { most: 1_000 }, Shape::Object(&DISK)]);

/// Endings of files that describe a disk, by the same keys.
pub(crate) const DISK_FILES: [&str; 2] = [".yaml", ".yml"];

object! {
    DISK disk: "A disk: an emulated one with these figures, or a block device of this machine. A missing figure is that of the preset, or has no limit."
    preset = Shape::Text { most: 40 }, Optional, "gp3";
        "The preset to start from; the other keys change it.";
    capacity = CAPACITY, Optional, "100GiB";
        "Capacity in bytes, a multiple of 4096. Some presets are faster the larger they are. Without it, that of the preset, or enough: four times the \
         data, or the largest size after all inserts, at least 2 GiB.";
    iops = RATE, Optional, "5000";
        "Highest rate of requests per second, reads and writes together.";
    read_iops = RATE, Optional, "6000";
        "Highest rate of reads per second.";
    write_iops = RATE, Optional, "3000";
        "Highest rate of writes per second.";
    bandwidth = Shape::Bandwidth, Optional, "125MiB/s";
        "Highest rate of bytes per second, reads and writes together.";
    read_bandwidth = Shape::Bandwidth, Optional, "560MB/s";
        "Highest rate of bytes read per second.";
    write_bandwidth = Shape::Bandwidth, Optional, "530MB/s";
        "Highest rate of bytes written per second.";
    io_unit = Shape::size(512, 1 << 30), Optional, "256KiB";
        "A larger request counts as several requests of this size.";
    latency = LAW, Optional, "7ms";
        "Latency added to each read and write after the limits have admitted it: a duration, or a distribution.";
    read_latency = LAW, Optional, "5ms";
        "Latency of reads, if it differs from `latency`.";
    write_latency = LAW, Optional, "{lognormal: {median: 1ms, p99: 8ms}}";
        "Latency of writes, if it differs from `latency`.";
    transfer = Shape::Bandwidth, Optional, "2GB/s";
        "Rate at which the bytes of one request are moved, beside its latency, so that larger requests take longer even on an idle disk.";
    read_transfer = Shape::Bandwidth, Optional, "2GB/s";
        "The same of reads, if it differs.";
    write_transfer = Shape::Bandwidth, Optional, "1GB/s";
        "The same of writes, if it differs.";
    flush = LAW, Optional, "1ms";
        "Duration of a flush.";
    queue_depth = Shape::count(1, 65_536), Optional, "32";
        "Number of requests that are served at once, each for its latency; others wait.";
    burst = BURST_OR_OFF, Optional, "{iops: 3000, credits: 5.4M}";
        "Credits that are saved while the load is low and spent while it is high; `off` for none if the preset has some.";
    backing = Shape::choice(&["memory", FILE]), Optional, "file";
        "Where the blocks are kept. By default in memory, if there is ample memory.";
    trace = Shape::CountOrOff { most: MOST_TRACED }, Default("1M"), "off";
        "Number of requests that the trace keeps, the latest ones; 32 bytes of memory each.";
    device = Shape::Text { most: 1_000 }, Optional, "/dev/disk/by-id/nvme-eui.0025385b71b0c3a1";
        "A block device of this machine instead of an emulated disk, by a stable name. Everything on it is lost.";
    erase = FLAG, Optional, "true";
        "Must be `true` with a device: confirms that everything on it may be lost.";
    => at most one of [preset, device];
}

/// The word for no disk at all.
pub(crate) const NO_DISK: &str = "none";

/// Default number of requests that a trace holds.
pub(crate) const TRACED: u64 = 1_000_000;

/// Capacity of a disk whose speed does not depend on it, unless the file gives one, bytes.
pub(crate) const USUAL_CAPACITY: u64 = 16 << 30;

pub(crate) const BLOCK: u64 = 4096;
