//! `arms` and `defaults`: what arms have in common, what each gives itself, and the settings of their engines.

use crate::document::OpenMap;
use crate::keys::disk::DISK_OR_PRESET;
use crate::keys::filesystem::FILESYSTEM_OR_KIND;
use crate::keys::kernel::KERNEL;
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
        "A few words for legends.";
    engine = Shape::Text { most: 40 }, Default(DEFAULT_ENGINE), "wiredtiger";
        "The database.";
    records = RECORDS, Optional, "400k";
        "Number of records, if it differs from the workload's.";
    size = DATA_SIZE, Optional, "480MB";
        "Size of the data, if it differs from the workload's.";
    working_set = WORKING_SET, Optional, "138%";
        "Size of the data on disk as a share of the cache that the engine can use, if it differs from the workload's.";
    collections = Shape::Open(&CHOICES), Optional, "{orders: {indexes: []}}";
        "`indexes`, `options` and `expire_after` of the workload's collections, if they differ from those that the workload gives. `indexes: []` is none besides that of `_id`. \
         What documents hold, and how many there are, is the same for all arms; see [own workloads](own-workloads.md).";
    on = Shape::Name, Optional, "db1";
        "The machine that the arm runs on, one of `hosts`. Without it, the machine that `plimsoll run` is started on. An embedded engine runs there \
         together with its load.";
    directory = Shape::Text { most: 1_000 }, Optional, "/mnt/data";
        "Folder for the data directory, or for the file of the emulated disk; relative paths start at the folder of the experiment file. Without it, \
         the program's own data folder.";
    disk = DISK_OR_PRESET, Optional, "san-raid10";
        "The disk under the data, with a filesystem of its own: the name of a preset, a file that `plimsoll disk clone` wrote (`my-ssd.yaml`), or figures. \
         `none`, the default, is a plain directory.";
    filesystem = FILESYSTEM_OR_KIND, Default("xfs"), "ext4";
        "The filesystem made on the disk, with its stock options unless more are given. Only with a disk.";
    readahead = Shape::size(0, 1 << 30), Optional, "32KiB";
        "The kernel's readahead on the disk, a multiple of 4 KiB; with 0 it reads a page of the database in requests of 4 KiB. It is set before the \
         filesystem is made, and restored afterwards. Without it, 128 KiB on an emulated disk, and on a device what the device has; Btrfs uses 4 MiB of \
         its own.";
    kernel = Shape::Object(&KERNEL), Optional, "{transparent_huge_pages: never}";
        "Settings of the kernel while the arm runs. Needs root.";
    limits = Shape::Object(&LIMITS), Optional, "{memory: 382MiB, cpus: 1.5}";
        "Limits of the process under test, including the page cache that it fills.";
    server = SERVER_OR_PRESET, Optional, "mongod";
        "The server that is started for the arm, on its disk and under its limits, and stopped afterwards: the name of a preset, the path of its \
         program, or a map. Without it, the server of the engine, unless the arm names a running server with `uri`.";
    machine = Shape::Text { most: 40 }, Optional, "m3.medium";
        "A published machine, by name: limits of memory and processors, and a price. Values in `limits` and `price` override it.";
    price = Shape::Object(&PRICE), Optional, "{per_hour: 0.07, currency: USD}";
        "The price of the arm.";
    => at most one of [records, size, working_set];
}

/// What an arm chooses of the workload's collections.
pub(crate) static CHOICES: OpenMap = OpenMap {
    expected: "a map of collections such as {orders: {indexes: [{customer: 1}]}}",
    summary: "indexes and options of collections",
};

/// An arm in the table of the file: its keys depend on its engine.
pub(crate) static OPEN_ARM: OpenMap = OpenMap {
    expected: "a map of settings such as {cache_size: 256MiB}",
    summary: "an arm, see below",
};

/// The same of what arms have in common.
pub(crate) static OPEN_DEFAULTS: OpenMap =
    OpenMap { expected: OPEN_ARM.expected, summary: "keys of an arm but `about`" };
