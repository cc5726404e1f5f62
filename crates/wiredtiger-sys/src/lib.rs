//! Raw bindings to WiredTiger 11.3, the storage engine inside MongoDB.
//!
//! The names, types and rules are WiredTiger's own: a connection gives sessions, a session gives cursors, and each of them is a C
//! structure of function pointers. `plimsoll-engine` wraps what it needs of them; nothing else should use this crate.
//!
//! WiredTiger is licensed under the GPL, versions 2 and 3. A program that links it can only be passed on under the GPL, which is why
//! this crate is only reached through a Cargo feature.
//!
//! # Where the library comes from
//!
//! The build script looks for version 11.3 in this order: the prefix in `WIREDTIGER_DIR`; what `scripts/wiredtiger.sh` has built in
//! `target/wiredtiger/11.3.1`; pkg-config. Structures change between minor versions, so no other minor version will do.
//!
//! # Regenerating
//!
//! `src/bindings.rs` is checked in, so that building needs no libclang. `regenerate.sh` beside this crate's `Cargo.toml` writes it
//! again: it needs `bindgen` and `libclang-dev`, and holds the list of what is let through. The assertions on the layout of every
//! structure are checked at compile time.
//!
//! # Example
//!
//! ```
//! let (mut major, mut minor, mut patch) = (0, 0, 0);
//! // SAFETY: the three pointers are valid for writing; the returned string is static.
//! let text = unsafe {
//!     std::ffi::CStr::from_ptr(plimsoll_wiredtiger_sys::wiredtiger_version(&mut major, &mut minor, &mut patch))
//! };
//! assert_eq!((major, minor), (11, 3));
//! assert!(text.to_string_lossy().starts_with("WiredTiger 11.3"));
//! ```

#[allow(non_camel_case_types, clippy::all)]
mod bindings;

pub use bindings::*;

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    #[test]
    fn the_library_is_of_the_version_of_the_bindings() {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both pointers are valid, and WiredTiger accepts a null for what is not wanted.
        unsafe { wiredtiger_version(&mut major, &mut minor, std::ptr::null_mut()) };
        assert_eq!((major, minor), (11, 3));
        assert_eq!(WIREDTIGER_VERSION_MAJOR, 11);
        assert_eq!(WIREDTIGER_VERSION_MINOR, 3);
    }

    #[test]
    fn error_numbers_mean_what_the_library_says() {
        for (number, word) in [
            (WT_ROLLBACK, "WT_ROLLBACK"),
            (WT_DUPLICATE_KEY, "WT_DUPLICATE_KEY"),
            (WT_NOTFOUND, "WT_NOTFOUND"),
            (WT_PANIC, "WT_PANIC"),
            (WT_CACHE_FULL, "WT_CACHE_FULL"),
        ] {
            // SAFETY: the returned string is static for the library's own numbers.
            let text = unsafe { CStr::from_ptr(wiredtiger_strerror(number)) };
            assert!(text.to_string_lossy().starts_with(word), "{number} is {text:?}");
        }
    }
}
