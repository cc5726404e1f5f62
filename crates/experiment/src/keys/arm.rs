//! `arms` and `defaults`: what arms have in common, what each gives itself, and the settings of their engines.

use crate::document::OpenMap;
use crate::keys::disk::DISK_OR_PRESET;
use crate::keys::filesystem::FILESYSTEM_OR_KIND;
use crate::keys::limits::LIMITS;
use crate::keys::price::PRICE;
use crate::keys::server::SERVER_OR_PRESET;
use crate::keys::workload::{DATA_SIZE, RECORDS, WORKING_SET};
use crate::table::*;

/// The engine of an arm that names none.
pub(crate) const DEFAULT_ENGINE: &str = "wiredtiger";

object! {
    /// What every arm has, whatever its engine.
    ARM arm: "One thing being compared. The settings of its engine stand beside these keys."
    about = Shape::Text { most: 200 }, Optional, "cache larger than the data";
        "In a few words, for legends.";
    engine = Shape::Text { most: 40 }, Default(DEFAULT_ENGINE), "wiredtiger";
        "Which database.";
    records = RECORDS, Optional, "400k";
        "Number of records, where it is not that of the workload.";
    size = DATA_SIZE, Optional, "480MB";
        "Size of the data, where it is not that of the workload.";
    working_set = WORKING_SET, Optional, "138%";
        "Size of the data on disk as a share of the cache that the engine can use, where it is not that of the workload.";
    on = Shape::Name, Optional, "db1";
        "The machine that it stands on, one of `hosts`; without it the one that `plimsoll run` is started on. An embedded engine runs there together with its load.";
    directory = Shape::Text { most: 1_000 }, Optional, "/mnt/data";
        "Folder in which the data directory is made, or the emulated disk is kept, found from the folder of the experiment file; \
         without it, the program's own place.";
    disk = DISK_OR_PRESET, Optional, "san-raid10";
        "The disk that the data lies on, with a filesystem of its own: the name of a preset, or its figures; `none` for a plain \
         directory, which is also what there is without this key.";
    filesystem = FILESYSTEM_OR_KIND, Default("xfs"), "ext4";
        "What is made on the disk, with its stock options unless more is said. Only with a disk.";
    readahead = Shape::size(0, 1 << 30), Optional, "32KiB";
        "How far the kernel reads ahead at most on the disk, a multiple of 4 KiB; 0 makes it read a page of the database in requests of 4 KiB. \
         It is set before the filesystem is made, and put back afterwards. Without it 128 KiB on an emulated disk, and on a device what that has; \
         Btrfs has 4 MiB of its own.";
    limits = Shape::Object(&LIMITS), Optional, "{memory: 382MiB, cpus: 1.5}";
        "What is under test may use no more, the page cache that it fills included.";
    server = SERVER_OR_PRESET, Optional, "mongod";
        "The server that is started for the arm, on its disk and under its limits, and ended afterwards: the name of a preset, the path of \
         its program, or more. Without it that of the engine, if it has one, unless the arm names a server that runs by itself with `uri`.";
    machine = Shape::Text { most: 40 }, Optional, "m3.medium";
        "A published machine, by name: limits of memory and processors, and a price. What `limits` and `price` say beside it wins.";
    price = Shape::Object(&PRICE), Optional, "{per_hour: 0.07, currency: USD}";
        "What the arm costs.";
    => at most one of [records, size, working_set];
}

/// An arm in the table of the file: its keys depend on its engine.
pub(crate) static OPEN_ARM: OpenMap = OpenMap {
    expected: "a map of settings such as {cache_size: 256MiB}",
    summary: "an arm, see below",
};

/// The same of what arms have in common.
pub(crate) static OPEN_DEFAULTS: OpenMap =
    OpenMap { expected: OPEN_ARM.expected, summary: "keys of an arm but `about`" };
