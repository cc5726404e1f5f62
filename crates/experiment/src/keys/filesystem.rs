//! `filesystem` and `readahead`: what is made on the disk of an arm, and how it is read.

use crate::table::*;

/// A filesystem by its name, or with options.
pub(crate) const FILESYSTEM_OR_KIND: Shape =
    Shape::Any(&[FILESYSTEM_KIND, Shape::Object(&FILESYSTEM)]);

pub(crate) const FILESYSTEM_KIND: Shape = Shape::choice(&["xfs", "ext4", "btrfs"]);

object! {
    FILESYSTEM filesystem: "A filesystem with more than its stock options."
    kind = FILESYSTEM_KIND, Default("xfs"), "xfs";
        "The kind of filesystem.";
    mkfs = Shape::Text { most: 500 }, Optional, "-m reflink=0";
        "More options for mkfs: any that name no path and no device.";
    mount = Shape::Text { most: 500 }, Optional, "noatime";
        "More mount options, separated by commas: any that name no path and no device.";
}
