//! Measuring path: no allocation, lock, log or formatting here after [`Counts::new`].
//!
//! A counter for each bucket of a histogram. The kernel allocates a page of counters when one of them is first used. A mix of many operations has so many tables
//! that allocating all pages would take a gigabyte, although most buckets stay empty. A general allocator would write the zeroes, and so touch every page.

use plimsoll_record::BUCKETS;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

const BYTES: usize = BUCKETS * size_of::<AtomicU32>();
/// Pages of no machine are smaller.
const PAGE_COUNTS: usize = 4_096 / size_of::<AtomicU32>();

/// Counts wrap around: only differences are read.
pub(crate) struct Counts(NonNull<AtomicU32>);

// SAFETY: it owns its memory alone, and counts are atomic.
unsafe impl Send for Counts {}
// SAFETY: as above.
unsafe impl Sync for Counts {}

impl Counts {
    /// All of them 0. `at_once` has the kernel give all memory now, so that counting never waits for it.
    pub(crate) fn new(at_once: bool) -> Self {
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: the address is left to the kernel, so nothing else is mapped there.
        let mapped = unsafe { mmap_anonymous(std::ptr::null_mut(), BYTES, access, flags) };
        let mapped = mapped.expect("there is memory for the tables of a point");
        // In huge pages two megabytes would be given for the first count. Kernels without them need no advice.
        // SAFETY: the advice changes no content.
        let _ = unsafe { madvise(mapped, BYTES, Advice::LinuxNoHugepage) };
        let counts =
            Self(NonNull::new(mapped.cast()).expect("the kernel maps nothing at address 0"));
        if at_once {
            counts.iter().step_by(PAGE_COUNTS).for_each(|count| count.store(0, Relaxed));
        }
        counts
    }
}

impl Deref for Counts {
    type Target = [AtomicU32];

    #[inline(always)]
    fn deref(&self) -> &[AtomicU32] {
        // SAFETY: as many counts were mapped, aligned to a page, and the kernel filled them with zeroes.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr(), BUCKETS) }
    }
}

impl Drop for Counts {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and no reference to it is left.
        let unmapped = unsafe { munmap(self.0.as_ptr().cast(), BYTES) };
        debug_assert!(unmapped.is_ok(), "{unmapped:?}");
    }
}
