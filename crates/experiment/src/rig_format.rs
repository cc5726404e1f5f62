//! The keys of what an arm stands on: disk, filesystem, limits and price.

use crate::format::{FLAG, RATE, choice, count, duration, keyed, list, number, object, size};
use crate::shape::{Choice, Key, Keys, Need, Object, Shape};
use Need::Optional;
use plimsoll_record::MOST_MEMBERS;

/// The most that a request can be made to wait.
const LONGEST_WAIT_NS: u64 = 3_600_000_000_000;
const WAIT: Shape = duration(0, LONGEST_WAIT_NS);
const LAW: Shape = Shape::Any(&[WAIT, Shape::Object(&LATENCY)]);
const CAPACITY: Shape = size(1 << 20, 1 << 50);
const BURST_OR_OFF: Shape = Shape::Any(&[choice(&["off"]), Shape::Object(&BURST)]);
/// 32 bytes of memory each.
const MOST_TRACED: u64 = 1_000_000_000;

/// A disk by its name or by its figures.
pub(crate) const DISK_OR_PRESET: Shape =
    Shape::Any(&[Shape::Text { most: 40 }, Shape::Object(&DISK)]);
/// A filesystem by its name, or with options.
pub(crate) const FILESYSTEM_OR_KIND: Shape =
    Shape::Any(&[FILESYSTEM_KIND, Shape::Object(&FILESYSTEM)]);
const FILESYSTEM_KIND: Shape = choice(&["xfs", "ext4", "btrfs"]);

object! {
    /// A disk.
    DISK: "A disk: an emulated one with these figures, or a block device of this machine. What is not given is that of the preset, \
           or has no limit."
    "preset" = Shape::Text { most: 40 }, Optional, "gp3";
        "Begins with this preset; the other keys change it.";
    "capacity" = CAPACITY, Optional, "100GiB";
        "Bytes that it holds, a multiple of 4096. Some presets are faster the larger they are. Without it that of the preset, or \
         enough: four times the data or what there is at worst after all inserts, at least 2 GiB.";
    "iops" = RATE, Optional, "5000";
        "Most requests per second, reads and writes together.";
    "read_iops" = RATE, Optional, "6000";
        "Most reads per second.";
    "write_iops" = RATE, Optional, "3000";
        "Most writes per second.";
    "bandwidth" = Shape::Bandwidth, Optional, "125MiB/s";
        "Most bytes per second, reads and writes together.";
    "read_bandwidth" = Shape::Bandwidth, Optional, "560MB/s";
        "Most bytes read per second.";
    "write_bandwidth" = Shape::Bandwidth, Optional, "530MB/s";
        "Most bytes written per second.";
    "io_unit" = size(512, 1 << 30), Optional, "256KiB";
        "A larger request counts as several of this size.";
    "latency" = LAW, Optional, "7ms";
        "Added to every read and write after the limits have let it pass: a duration, or a distribution.";
    "read_latency" = LAW, Optional, "5ms";
        "Of reads, where it is not that of both.";
    "write_latency" = LAW, Optional, "{lognormal: {median: 1ms, p99: 8ms}}";
        "Of writes, where it is not that of both.";
    "flush" = LAW, Optional, "1ms";
        "What a flush takes.";
    "queue_depth" = count(1, 65_536), Optional, "32";
        "Requests that are served at once, each for its latency; others wait.";
    "burst" = BURST_OR_OFF, Optional, "{iops: 3000, credits: 5.4M}";
        "Credits that are saved while little is asked and spent while much is; `off` for none where the preset has some.";
    "backing" = choice(&["memory", "file"]), Optional, "file";
        "Where the blocks are kept. Without it in memory, when that is ample.";
    "trace" = Shape::CountOrOff { most: MOST_TRACED }, Need::Default("1M"), "off";
        "How many requests are remembered, the last ones; 32 bytes of memory each.";
    "device" = Shape::Text { most: 1_000 }, Optional, "/dev/disk/by-id/nvme-eui.0025385b71b0c3a1";
        "A block device of this machine instead of an emulated disk, by a name that stays. Everything on it is lost.";
    "erase" = FLAG, Optional, "true";
        "Must be `true` with a device: says that everything on it may be lost.";
    at most one of ["preset", "device"];
}

object! {
    /// A distribution of latencies.
    LATENCY: "A distribution of latencies."
    "lognormal" = Shape::Object(&LOGNORMAL), Optional, "{median: 5ms, p99: 20ms}";
        "Most near the median, few much longer.";
    "table" = keyed(Keys::TablePercentiles, &WAIT, 2, 1_000), Optional, "{p0: 1ms, p50: 3ms, p99: 10ms, p100: 40ms}";
        "By percentiles that were measured somewhere, in straight lines between them.";
    one of ["lognormal", "table"];
}

object! {
    /// The lognormal distribution.
    LOGNORMAL: "The lognormal distribution by two of its percentiles."
    "median" = duration(1, LONGEST_WAIT_NS), Need::Required, "5ms";
        "Half are below it.";
    "p99" = duration(1, LONGEST_WAIT_NS), Need::Required, "20ms";
        "One of a hundred is above it. At least the median.";
}

object! {
    /// Burst credits.
    BURST: "Credits that are saved while little is asked and spent while much is: one is one request. Without any left, the other \
            limits of the disk hold."
    "iops" = RATE, Need::Required, "3000";
        "Most requests per second while there are credits.";
    "bandwidth" = Shape::Bandwidth, Optional, "170MB/s";
        "Most bytes per second while there are credits, where that is more than without.";
    "credits" = count(1, 1_000_000_000_000), Need::Required, "5.4M";
        "The most that can be saved.";
    "refill" = RATE, Optional, "100";
        "Credits that come in per second; without it, the IOPS of the disk.";
    "start" = number(0.0, 1.0), Need::Default("100%"), "0%";
        "Share of the most that is there at the beginning of a run.";
}

object! {
    /// A filesystem with options.
    FILESYSTEM: "A filesystem with more than its stock options."
    "kind" = FILESYSTEM_KIND, Need::Default("xfs"), "xfs";
        "Which.";
    "mkfs" = Shape::Text { most: 500 }, Optional, "-m reflink=0";
        "More options for mkfs: any that name no path and no device.";
    "mount" = Shape::Text { most: 500 }, Optional, "noatime";
        "More mount options, with commas between them: any that name no path and no device.";
}

/// A server by its name or its program, or with more.
pub(crate) const SERVER_OR_PRESET: Shape =
    Shape::Any(&[Shape::Text { most: 4_096 }, Shape::Object(&SERVER)]);
const WORD: Shape = Shape::Text { most: 4_096 };
const WITHIN: Shape = duration(1_000_000, LONGEST_WAIT_NS);

object! {
    /// A server that is started.
    SERVER: "A server that is started. In arguments and environment `{data}` stands for its data directory, `{run}` for one for \
             sockets and the like, and `{port}` for its port of 127.0.0.1; of a replica set, each member has a data directory and a \
             port of its own, and `{members}` stands for host and port of all of them, with commas between them."
    "preset" = Shape::Text { most: 40 }, Optional, "mongod";
        "Begins with this preset; the other keys change it. Without it that of the engine.";
    "program" = WORD, Optional, "/opt/mongodb/bin/mongod";
        "Its program: a path, found from the folder of the experiment file, or a name that is looked for on PATH, and then in the \
         folder that the environment variable PLIMSOLL_SERVERS names.";
    "arguments" = list(&WORD, 0, 200), Optional, "[--quiet]";
        "More arguments, after those of the preset and of the settings.";
    "environment" = keyed(Keys::Names("variable"), &WORD, 0, 200), Optional, "{GLIBC_TUNABLES: glibc.pthread.rseq=1}";
        "Variables of its environment, besides those that are set here anyway.";
    "members" = count(1, MOST_MEMBERS as u64), Need::Default("1"), "3";
        "Processes of the server: more than one are a replica set, on the same storage, under the same limits together, with a cache of \
         `cache_size` each.";
    "replica_set" = FLAG, Optional, "true";
        "A replica set even of one member. One member is a server that stands alone without it.";
    "after_start" = list(&WORD, 1, 200), Optional, "[/opt/setup, '{port}']";
        "A program and its arguments, run once when all members answer; a path is found from the folder of the experiment file. It \
         runs as the user of the server and in `{run}`. The server is ready when it has ended with 0. Of a replica set, it takes the \
         place of the command that initiates the set, and must do that.";
    "ready_within" = WITHIN, Optional, "120s";
        "How long it may take until it answers, and what is run after that has ended.";
    "stop_within" = WITHIN, Optional, "300s";
        "Longest time to stop after the signal; after that it is killed, and the run is marked failed.";
}

object! {
    /// Limits.
    LIMITS: "Limits of what is under test: of the server where one is started, and not of its client."
    "memory" = size(1 << 20, 1 << 50), Optional, "382MiB";
        "Of the process and the page cache that it fills together.";
    "page_cache" = size(1 << 20, 1 << 50), Optional, "190MiB";
        "In place of `memory`: what there is room for in the page cache. When the data is stored, and again when each point has \
         warmed up, the memory is limited to this and to what the process, or the server with all its members, takes by then.";
    "cpus" = number(0.01, 10_000.0), Optional, "1.5";
        "Processor time per time: 1.5 is one and a half processors.";
    "pin" = list(&count(0, 100_000), 1, 1_024), Optional, "[0, 1]";
        "Numbers of the processors that it may run on.";
}

object! {
    /// A price.
    PRICE: "A price. Beside a machine, what is not given is that of the machine."
    "per_hour" = number(0.0, 1e9), Optional, "0.07";
        "For one hour.";
    "currency" = Shape::Text { most: 40 }, Optional, "USD";
        "Three letters.";
    "source" = Shape::Text { most: 500 }, Optional, "aws.amazon.com/ec2/pricing, us-east-1, on demand";
        "Where it was read.";
    "date" = Shape::Text { most: 40 }, Optional, "2014-09";
        "When it was read: a year, a month or a day.";
}

object! {
    /// A disk of the presets' data file.
    DISK_PRESET: "A published disk."
    "about" = Shape::Text { most: 200 }, Need::Required, "AWS EBS gp3";
        "What it is.";
    "source" = Shape::Text { most: 500 }, Need::Required, "AWS documentation";
        "Where its figures are from.";
    "date" = Shape::Text { most: 40 }, Need::Required, "2023-11";
        "When they were read.";
    "capacity" = CAPACITY, Optional, "100GiB";
        "Where it says nothing else; only where figures depend on it.";
    "iops" = IOPS_BY_CAPACITY, Optional, "3000";
        "Requests per second.";
    "read_iops" = IOPS_BY_CAPACITY, Optional, "3000";
        "Reads per second.";
    "write_iops" = IOPS_BY_CAPACITY, Optional, "3000";
        "Writes per second.";
    "bandwidth" = BANDWIDTH_BY_CAPACITY, Optional, "125MiB";
        "Bytes per second.";
    "read_bandwidth" = BANDWIDTH_BY_CAPACITY, Optional, "125MiB";
        "Bytes read per second.";
    "write_bandwidth" = BANDWIDTH_BY_CAPACITY, Optional, "125MiB";
        "Bytes written per second.";
    "io_unit" = size(512, 1 << 30), Optional, "256KiB";
        "Largest request that counts as one.";
    "latency" = LAW, Optional, "7ms";
        "Of reads and writes.";
    "read_latency" = LAW, Optional, "7ms";
        "Of reads.";
    "write_latency" = LAW, Optional, "7ms";
        "Of writes.";
    "flush" = LAW, Optional, "1ms";
        "Of a flush.";
    "queue_depth" = count(1, 65_536), Optional, "32";
        "Requests that are served at once.";
    "burst" = BURST_OR_OFF, Optional, "{iops: 3000, credits: 5.4M}";
        "Credits.";
}

const IOPS_BY_CAPACITY: Shape = Shape::Any(&[RATE, Shape::Object(&IOPS_PER_GIB)]);
const BANDWIDTH_BY_CAPACITY: Shape =
    Shape::Any(&[Shape::Bandwidth, Shape::Object(&BANDWIDTH_PER_GIB)]);

object! {
    /// A rate that grows with the capacity.
    IOPS_PER_GIB: "A rate that grows with the capacity."
    "per_gib" = RATE, Need::Required, "3";
        "For each GiB.";
    "least" = RATE, Optional, "100";
        "However small.";
    "most" = RATE, Optional, "16k";
        "However large.";
}

object! {
    /// A bandwidth that grows with the capacity.
    BANDWIDTH_PER_GIB: "A bandwidth that grows with the capacity."
    "mib_per_gib" = number(0.0, 1e6), Need::Required, "0.75";
        "MiB per second for each GiB.";
    "least" = Shape::Bandwidth, Optional, "128MiB";
        "However small.";
    "most" = Shape::Bandwidth, Optional, "250MiB";
        "However large.";
}

object! {
    /// A machine of the presets' data file.
    MACHINE_PRESET: "A published machine."
    "about" = Shape::Text { most: 200 }, Need::Required, "AWS";
        "What it is.";
    "source" = Shape::Text { most: 500 }, Need::Required, "AWS price list";
        "Where its figures are from.";
    "date" = Shape::Text { most: 40 }, Need::Required, "2014-09";
        "When they were read.";
    "cores" = count(1, 10_000), Need::Required, "1";
        "Processors.";
    "memory" = size(1 << 20, 1 << 50), Need::Required, "3.75GiB";
        "Bytes.";
    "per_hour" = number(0.0, 1e9), Need::Required, "0.07";
        "Price of an hour.";
    "currency" = Shape::Text { most: 40 }, Need::Required, "USD";
        "Of the price.";
}
