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
    Some(good("huge-pages", format!("transparent huge pages are set to {setting}")))
}

pub(super) fn layout(machine: &Machine) -> Option<Finding> {
    if machine.layout_is_random? {
        return Some(good("memory-layout", "each process has its own addresses"));
    }
    Some(bad(
        "memory-layout",
        "every process has the same addresses",
        "What shares a cache line or a cache set is then alike in every run of an arm, and another setting, or a longer name of a file, shifts it: the luck of a \
         layout is taken for the effect of an arm, and no repetition shows it. Until the next start: sudo sysctl kernel.randomize_va_space=2",
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
