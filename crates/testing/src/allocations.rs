//! What the calling thread allocates. A test binary counts once it has said
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: plimsoll_testing::allocations::CountingAllocator =
//!     plimsoll_testing::allocations::CountingAllocator;
//! # fn main() {}
//! ```

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, which counts.
#[derive(Debug)]
pub struct CountingAllocator;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<u64> = const { Cell::new(0) };
}

/// Allocations of this thread so far.
pub fn count() -> u64 {
    COUNT.get()
}

/// Bytes that this thread has allocated so far.
pub fn bytes() -> u64 {
    BYTES.get()
}

/// Allocations of this thread during `work`.
pub fn during(work: impl FnOnce()) -> u64 {
    let before = count();
    work();
    count() - before
}

fn note(bytes: usize) {
    COUNT.set(COUNT.get() + 1);
    BYTES.set(BYTES.get() + bytes as u64);
}

// SAFETY: everything is handed on to the system's allocator.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller's promises are handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
