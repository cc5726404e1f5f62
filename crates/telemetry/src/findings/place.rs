//! Where the data and the store go.

use super::{Finding, bad, good, note, size};
use crate::WritablePath;
use crate::storage::NETWORK_FILESYSTEMS;
use plimsoll_record::{Storage, USUAL_READAHEAD_BYTES};

pub(super) fn writable(id: &'static str, name: &str, place: &WritablePath) -> Finding {
    let path = &place.storage.directory;
    if place.writable {
        return good(id, format!("{name} {path} is writable"));
    }
    bad(
        id,
        format!("{name} {path} cannot be written"),
        "Nothing can be measured or kept there by this user. Change its permissions, or name another place in the experiment file or with \
         --store.",
    )
}

pub(super) fn filesystem(storage: &Storage) -> Option<Finding> {
    let kind = storage.filesystem.as_deref()?;
    let directory = &storage.directory;
    let what = format!("data in {directory} lies on {kind}");
    if matches!(kind, "tmpfs" | "ramfs") {
        return Some(note(
            "filesystem",
            what,
            "That is memory: nothing measured there says anything about a disk, and the data takes memory from the engine. Name a directory \
             on a disk unless that is what you want.",
        ));
    }
    if matches!(kind, "overlay" | "aufs" | "fuse.fuse-overlayfs") {
        return Some(bad(
            "filesystem",
            what,
            "The layers of a container's own filesystem stand between the engine and the disk. Mount a volume and name it: docker run \
             --volume /srv/plimsoll:/data",
        ));
    }
    if NETWORK_FILESYSTEMS.contains(&kind) {
        return Some(bad(
            "filesystem",
            what,
            "Every read and flush goes to another machine, whose load is measured too. Name a directory on a disk of this machine unless \
             that is what you want.",
        ));
    }
    Some(match &storage.device {
        Some(device) => good("filesystem", format!("{what} on {device}")),
        None => good("filesystem", what),
    })
}

/// Above this a random read that misses may cost more than a hundred times what was requested.
const HUGE_READAHEAD_BYTES: u64 = 1 << 20;

pub(super) fn readahead(storage: &Storage) -> Option<Finding> {
    let bytes = storage.readahead_bytes?;
    let device = storage.device.as_deref().unwrap_or("the device");
    let what = format!("{device} reads {} ahead", size(bytes));
    let advice = format!(
        "Where random reads look sequential to the kernel, it reads that much more than was asked for, and throws other pages out. Until \
         the next start: sudo blockdev --setra 64 {device} (64 sectors are 32 KiB)"
    );
    if bytes >= HUGE_READAHEAD_BYTES {
        return Some(bad("readahead", what, advice));
    }
    if bytes > USUAL_READAHEAD_BYTES {
        return Some(note("readahead", what, advice));
    }
    Some(good("readahead", what))
}
