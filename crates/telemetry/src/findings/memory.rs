//! Memory.

use super::{Finding, bad, good, note, size};
use plimsoll_record::Machine;

pub(super) fn huge_pages(machine: &Machine) -> Option<Finding> {
    let setting = machine.transparent_huge_pages.as_deref()?;
    if setting == "always" {
        return Some(bad(
            "huge-pages",
            "transparent huge pages are always on",
            "The kernel joins pages behind the engine's back, which costs memory and stalls at moments that differ from run to run. \
             Until the next start: echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
        ));
    }
    Some(good(
        "huge-pages",
        format!("transparent huge pages are set to {setting}"),
    ))
}

pub(super) fn swap(machine: &Machine) -> Option<Finding> {
    if machine.memory_bytes == 0 {
        return None;
    }
    if machine.swap_bytes == 0 {
        return Some(good("swap", "there is no swap space"));
    }
    Some(note(
        "swap",
        format!("there are {} of swap space", size(machine.swap_bytes)),
        "Under pressure the kernel moves parts of the engine's cache to the disk, which then looks like a slow engine. Until the next \
         start: sudo swapoff --all",
    ))
}

pub(super) fn memory_limit(machine: &Machine) -> Option<Finding> {
    let limit = machine.memory_limit_bytes?;
    Some(note(
        "memory-limit",
        format!("the control group limits memory to {}", size(limit)),
        "The page cache counts towards it, so the files of the engine compete with its own cache sooner than the size of the machine \
         suggests. Compare arms under the same limit.",
    ))
}
