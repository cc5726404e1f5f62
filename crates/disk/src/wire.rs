//! Requests and answers as the kernel lays them out in memory (`linux/fuse.h`, protocol 7.42), as far as a disk gets them.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Nothing on a disk's own filesystem ever changes by itself. In seconds.
const FOR_EVER: u64 = 1 << 30;
/// The protocol that these structures are of.
pub(crate) const MAJOR: u32 = 7;
const MINOR: u32 = 42;
/// The oldest protocol in which an answer to [`Hello`] is as long as here (Linux 3.15).
pub(crate) const OLDEST_MINOR: u32 = 23;
/// In which the kernel counts the longest request, bytes.
const PAGE: u32 = 4096;
/// Entries of a directory begin at multiples of this, bytes.
const ENTRY_ALIGNMENT: usize = 8;

/// Numbers of the requests that a disk answers.
pub(crate) mod opcode {
    pub(crate) const LOOKUP: u32 = 1;
    pub(crate) const FORGET: u32 = 2;
    pub(crate) const GETATTR: u32 = 3;
    pub(crate) const OPEN: u32 = 14;
    pub(crate) const READ: u32 = 15;
    pub(crate) const WRITE: u32 = 16;
    pub(crate) const STATFS: u32 = 17;
    pub(crate) const RELEASE: u32 = 18;
    pub(crate) const FSYNC: u32 = 20;
    pub(crate) const FLUSH: u32 = 25;
    pub(crate) const INIT: u32 = 26;
    pub(crate) const OPENDIR: u32 = 27;
    pub(crate) const READDIR: u32 = 28;
    pub(crate) const RELEASEDIR: u32 = 29;
    pub(crate) const DESTROY: u32 = 38;
    pub(crate) const FORGET_MANY: u32 = 42;
    pub(crate) const FALLOCATE: u32 = 43;
}

/// What a connection can do, as the kernel offers it and the daemon takes it.
pub(crate) mod can {
    pub(crate) const ASYNC_READ: u64 = 1;
    pub(crate) const BIG_WRITES: u64 = 1 << 5;
    pub(crate) const ASYNC_DIRECT_IO: u64 = 1 << 15;
    pub(crate) const MAX_PAGES: u64 = 1 << 22;
    /// There are flags beyond 32.
    pub(crate) const MORE: u64 = 1 << 30;
    pub(crate) const RINGS: u64 = 1 << 41;
}

/// How a file is opened.
pub(crate) mod opened {
    pub(crate) const DIRECT_IO: u32 = 1;
    pub(crate) const PARALLEL_DIRECT_WRITES: u32 = 1 << 6;
}

/// Commands of a ring to the kernel.
pub(crate) mod command {
    pub(crate) const REGISTER: u32 = 1;
    pub(crate) const COMMIT_AND_FETCH: u32 = 2;
}

/// What is beside the data of a request, and of its answer.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct Headers {
    /// The head of the request, and later that of its answer.
    pub(crate) head: Head,
    rest_of_head: [u8; 88],
    /// The arguments of the request.
    pub(crate) arguments: [u8; 128],
    flags: u64,
    /// What the request is called in the answer.
    pub(crate) commit: u64,
    /// Length of the data.
    pub(crate) data_bytes: u32,
    padding: u32,
    reserved: u64,
}

/// The head of a request. That of an answer has the error in the place of the opcode.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct Head {
    pub(crate) length: u32,
    pub(crate) opcode: u32,
    pub(crate) unique: u64,
    pub(crate) inode: u64,
    user: u32,
    group: u32,
    process: u32,
    extensions: u16,
    padding: u16,
}

impl Headers {
    pub(crate) fn arguments<T: FromBytes>(&self) -> T {
        T::read_from_prefix(&self.arguments).expect("no arguments are longer than their place").0
    }
}

/// The head of an answer through `/dev/fuse`.
#[derive(IntoBytes, Immutable)]
#[repr(C)]
pub(crate) struct AnswerHead {
    pub(crate) length: u32,
    /// The number of an error below zero, or zero.
    pub(crate) error: i32,
    pub(crate) unique: u64,
}

/// How the kernel begins a connection.
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct Hello {
    pub(crate) major: u32,
    pub(crate) minor: u32,
    readahead: u32,
    flags: u32,
    more_flags: u32,
}

impl Hello {
    /// What it offers.
    pub(crate) fn offers(&self) -> u64 {
        let more = if u64::from(self.flags) & can::MORE == 0 { 0 } else { self.more_flags };
        u64::from(self.flags) | u64::from(more) << 32
    }
}

/// The answer to it.
#[derive(Default, IntoBytes, Immutable)]
#[repr(C)]
pub(crate) struct HelloAnswer {
    major: u32,
    minor: u32,
    readahead: u32,
    flags: u32,
    most_in_background: u16,
    congested_from: u16,
    largest_write: u32,
    nanos_of_times: u32,
    pages: u16,
    alignment: u16,
    more_flags: u32,
    depth: u32,
    unused: [u16; 12],
}

impl HelloAnswer {
    /// Accepts the capabilities `taken`, at most `in_background` requests at once, and at most `largest_write` bytes in each.
    pub(crate) fn to(hello: &Hello, taken: u64, in_background: u16, largest_write: u32) -> Self {
        Self {
            major: MAJOR,
            minor: hello.minor.min(MINOR),
            readahead: hello.readahead,
            flags: taken as u32,
            more_flags: (taken >> 32) as u32,
            most_in_background: in_background,
            congested_from: in_background,
            largest_write,
            nanos_of_times: 1,
            pages: (largest_write / PAGE) as u16,
            ..Self::default()
        }
    }
}

/// The head of a command to the kernel.
#[derive(IntoBytes, Immutable)]
#[repr(C)]
pub(crate) struct Command {
    flags: u64,
    commit: u64,
    queue: u16,
    padding: [u8; 6],
}

impl Command {
    /// To a queue, for the request that is called that, if there is one.
    pub(crate) fn of(queue: u16, commit: u64) -> Self {
        Self { flags: 0, commit, queue, padding: [0; 6] }
    }
}

/// The arguments of reads and writes, and as far as the length those of the others that concern an open file.
#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct At {
    pub(crate) handle: u64,
    pub(crate) offset: u64,
    pub(crate) size: u32,
}

#[derive(FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct Allocate {
    pub(crate) handle: u64,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) mode: i32,
}

#[derive(Default, IntoBytes, Immutable)]
#[repr(C)]
pub(crate) struct Attributes {
    pub(crate) inode: u64,
    pub(crate) size: u64,
    pub(crate) blocks: u64,
    /// Times of the last access, modification and change: seconds first, then nanoseconds.
    pub(crate) seconds: [u64; 3],
    pub(crate) nanos: [u32; 3],
    pub(crate) mode: u32,
    pub(crate) links: u32,
    pub(crate) user: u32,
    pub(crate) group: u32,
    pub(crate) device: u32,
    pub(crate) block_size: u32,
    pub(crate) flags: u32,
}

/// The answer to a lookup.
#[derive(Default, IntoBytes, Immutable)]
#[repr(C)]
pub(crate) struct Found {
    inode: u64,
    generation: u64,
    entry_valid_seconds: u64,
    attributes_valid_seconds: u64,
    valid_nanos: [u32; 2],
    pub(crate) attributes: Attributes,
}

impl Found {
    pub(crate) fn forever(attributes: Attributes) -> Self {
        Self {
            inode: attributes.inode,
            entry_valid_seconds: FOR_EVER,
            attributes_valid_seconds: FOR_EVER,
            attributes,
            ..Self::default()
        }
    }
}

#[derive(Default, IntoBytes, Immutable)]
#[repr(C)]
pub(crate) struct AttributesAnswer {
    valid_seconds: u64,
    valid_nanos: u32,
    padding: u32,
    pub(crate) attributes: Attributes,
}

impl AttributesAnswer {
    pub(crate) fn forever(attributes: Attributes) -> Self {
        Self { valid_seconds: FOR_EVER, attributes, ..Self::default() }
    }
}

#[derive(Default, IntoBytes, Immutable)]
#[repr(C)]
pub(crate) struct Opened {
    handle: u64,
    flags: u32,
    backing: u32,
}

impl Opened {
    pub(crate) fn of(handle: u64, flags: u32) -> Self {
        Self { handle, flags, ..Self::default() }
    }
}

#[derive(Default, IntoBytes, Immutable)]
#[repr(C)]
pub(crate) struct Written {
    bytes: u32,
    padding: u32,
}

impl Written {
    pub(crate) fn of(bytes: u32) -> Self {
        Self { bytes, padding: 0 }
    }
}

/// What a filesystem has and has left.
#[derive(Default, IntoBytes, Immutable)]
#[repr(C)]
pub(crate) struct Room {
    blocks_and_files: [u64; 5],
    block_size: u32,
    longest_name: u32,
    fragment_size: u32,
    reserved: [u32; 7],
}

impl Room {
    /// The room of a kernel that does not report it.
    pub(crate) fn none() -> Self {
        Self { block_size: 512, longest_name: 255, ..Self::default() }
    }
}

/// The head of an entry of a directory. Its name follows, and zeros up to a multiple of eight bytes.
#[derive(IntoBytes, Immutable)]
#[repr(C)]
pub(crate) struct Entry {
    pub(crate) inode: u64,
    /// Where the listing continues after this entry.
    pub(crate) next: u64,
    pub(crate) name_bytes: u32,
    pub(crate) kind: u32,
}

/// Copies a structure to the beginning of the data of an answer. Returns its length.
pub(crate) fn put(data: &mut [u8], structure: &(impl IntoBytes + Immutable)) -> u32 {
    let bytes = structure.as_bytes();
    data[..bytes.len()].copy_from_slice(bytes);
    bytes.len() as u32
}

/// Writes the entries of a directory, as inode, mode and name, from this one on, until there is no more room. Returns the length of the list.
pub(crate) fn list(entries: &[(u64, u32, &str)], from: u64, into: &mut [u8]) -> u32 {
    let mut length = 0;
    for (next, &(inode, mode, name)) in (1..).zip(entries).skip(from as usize) {
        let head = Entry { inode, next, name_bytes: name.len() as u32, kind: mode >> 12 };
        let end = (size_of::<Entry>() + name.len()).next_multiple_of(ENTRY_ALIGNMENT);
        let Some(place) = into.get_mut(length..length + end) else {
            break;
        };
        place.fill(0);
        place[..size_of::<Entry>()].copy_from_slice(head.as_bytes());
        place[size_of::<Entry>()..][..name.len()].copy_from_slice(name.as_bytes());
        length += end;
    }
    length as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes as `linux/fuse.h` has them.
    #[test]
    fn structures_have_the_sizes_of_the_kernel() {
        assert_eq!(size_of::<Headers>(), 128 + 128 + 32);
        assert_eq!(size_of::<Head>(), 40);
        assert_eq!(size_of::<AnswerHead>(), 16);
        assert_eq!(size_of::<HelloAnswer>(), 64);
        assert_eq!(size_of::<Command>(), 24);
        assert_eq!(size_of::<Attributes>(), 88);
        assert_eq!(size_of::<Found>(), 128);
        assert_eq!(size_of::<AttributesAnswer>(), 104);
        assert_eq!(size_of::<Opened>(), 16);
        assert_eq!(size_of::<Written>(), 8);
        assert_eq!(size_of::<Room>(), 80);
        assert_eq!(size_of::<Entry>(), 24);
    }
}
