//! Where btrfs keeps what, on its device. The addresses that it gives for extents are of a space of its own, which chunks map to devices, also when there is a
//! single device and no redundancy: the first chunk for data of a fresh filesystem lies somewhere else on the device than in that space.

use crate::extents::{Extent, Unmapped};
use rustix::ioctl::{Opcode, Updater, ioctl, opcode};
use std::fs::File;
use std::io;

const CHUNK_TREE: u64 = 3;
const FIRST_CHUNK: u64 = 256;
const CHUNK_ITEM: u32 = 228;
/// Bits of a chunk's type that tell how it is spread; none is a single copy.
const PROFILES: u64 = 0x7f8;
const DUPLICATED: u64 = 1 << 5;
/// Bytes of an item up to its stripes, and of a stripe.
const CHUNK_BYTES: usize = 48;
const STRIPE_BYTES: usize = 32;

/// Chunks, and where their copies begin.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    chunks: Vec<Chunk>,
}

#[derive(Debug)]
struct Chunk {
    /// Address of the filesystem's own, bytes.
    address: u64,
    length: u64,
    profile: u64,
    /// Device and offset on it, bytes.
    copies: Vec<(u64, u64)>,
}

impl Chunks {
    /// Reads the chunks of the filesystem with this folder.
    pub fn of(folder: &File) -> io::Result<Self> {
        let mut chunks = Vec::new();
        let mut first_address = 0;
        loop {
            let mut search = Search::from(first_address);
            // SAFETY: The opcode is BTRFS_IOC_TREE_SEARCH, whose argument is this struct.
            let call = unsafe { Updater::<TREE_SEARCH, Search>::new(&mut search) };
            // SAFETY: The kernel writes only into the struct, for which any bits are valid.
            unsafe { ioctl(folder, call) }?;
            let before = chunks.len();
            search.read(&mut chunks)?;
            let Some(last) = chunks[before..].last() else {
                return Ok(Self { chunks });
            };
            first_address = last.address + 1;
        }
    }

    /// The extent's parts on the device, one for each copy of them.
    pub fn translate(&self, extent: Extent) -> Result<Vec<Extent>, Unmapped> {
        let mut parts = Vec::new();
        let mut done = 0;
        while done < extent.length {
            let address = extent.physical + done;
            let index = self.chunks.partition_point(|chunk| chunk.address <= address);
            let chunk = index
                .checked_sub(1)
                .map(|index| &self.chunks[index])
                .filter(|chunk| address - chunk.address < chunk.length)
                .ok_or(Unmapped::Moved)?;
            self.check(chunk)?;
            let within = address - chunk.address;
            let length = (extent.length - done).min(chunk.length - within);
            for (_, offset) in &chunk.copies {
                parts.push(Extent {
                    logical: extent.logical + done,
                    physical: offset + within,
                    length,
                    flags: extent.flags,
                });
            }
            done += length;
        }
        Ok(parts)
    }

    fn check(&self, chunk: &Chunk) -> Result<(), Unmapped> {
        let (device, _) = self.chunks[0].copies[0];
        let mut copies = self.chunks.iter().flat_map(|chunk| &chunk.copies);
        if copies.any(|copy| copy.0 != device) {
            return Err(Unmapped::SeveralDevices);
        }
        match chunk.profile {
            0 | DUPLICATED => Ok(()),
            _ => Err(Unmapped::Spread),
        }
    }
}

const TREE_SEARCH: Opcode = opcode::read_write::<Search>(0x94, 17);

#[repr(C)]
struct Search {
    tree: u64,
    object: [u64; 2],
    offset: [u64; 2],
    transaction: [u64; 2],
    kind: [u32; 2],
    items: u32,
    unused: u32,
    spare: [u64; 4],
    found: [u8; 4096 - 104],
}

const _: () = assert!(size_of::<Search>() == 4096);

impl Search {
    fn from(first_address: u64) -> Self {
        Self {
            tree: CHUNK_TREE,
            object: [FIRST_CHUNK, FIRST_CHUNK],
            offset: [first_address, u64::MAX],
            transaction: [0, u64::MAX],
            kind: [CHUNK_ITEM, CHUNK_ITEM],
            items: u32::MAX,
            unused: 0,
            spare: [0; 4],
            found: [0; 4096 - 104],
        }
    }

    /// Each item is preceded by the transaction and the object that it belongs to, its offset (8 bytes each), its kind and its length (4 bytes each).
    fn read(&self, chunks: &mut Vec<Chunk>) -> io::Result<()> {
        let mut at = 0;
        for _ in 0..self.items {
            let address = self.number(at + 16, 8)?;
            let kind = self.number(at + 24, 4)?;
            let length = self.number(at + 28, 4)? as usize;
            let item = at + 32;
            at = item + length;
            if kind != u64::from(CHUNK_ITEM) {
                continue;
            }
            let stripes = self.number(item + 44, 2)? as usize;
            let mut copies = Vec::with_capacity(stripes);
            for stripe in 0..stripes {
                let stripe = item + CHUNK_BYTES + stripe * STRIPE_BYTES;
                copies.push((self.number(stripe, 8)?, self.number(stripe + 8, 8)?));
            }
            if copies.is_empty() {
                return Err(io::ErrorKind::InvalidData.into());
            }
            chunks.push(Chunk {
                address,
                length: self.number(item, 8)?,
                profile: self.number(item + 24, 8)? & PROFILES,
                copies,
            });
        }
        Ok(())
    }

    fn number(&self, at: usize, length: usize) -> io::Result<u64> {
        let bytes = self.found.get(at..at + length).ok_or(io::ErrorKind::InvalidData)?;
        let mut eight = [0; 8];
        eight[..length].copy_from_slice(bytes);
        Ok(u64::from_le_bytes(eight))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(address: u64, profile: u64, copies: &[(u64, u64)]) -> Chunk {
        Chunk { address, length: 50, profile, copies: copies.to_vec() }
    }

    fn extent(logical: u64, physical: u64, length: u64) -> Extent {
        Extent { logical, physical, length, flags: 0 }
    }

    #[test]
    fn an_extent_over_two_chunks_has_parts_in_both_and_of_every_copy() {
        let chunks = Chunks {
            chunks: vec![
                chunk(100, 0, &[(1, 1000)]),
                chunk(150, DUPLICATED, &[(1, 3000), (1, 4000)]),
            ],
        };
        let parts = chunks.translate(extent(7, 140, 20)).unwrap();
        assert_eq!(parts, [extent(7, 1040, 10), extent(17, 3000, 10), extent(17, 4000, 10)]);
        assert_eq!(chunks.translate(extent(0, 99, 2)), Err(Unmapped::Moved));
        assert_eq!(chunks.translate(extent(0, 199, 2)), Err(Unmapped::Moved));
    }

    #[test]
    fn what_is_spread_or_on_several_devices_is_not_mapped() {
        let striped = Chunks { chunks: vec![chunk(0, 1 << 3, &[(1, 0), (1, 500)])] };
        assert_eq!(striped.translate(extent(0, 0, 1)), Err(Unmapped::Spread));
        let several = Chunks { chunks: vec![chunk(0, 0, &[(1, 0)]), chunk(50, 0, &[(2, 0)])] };
        let expected = Err(Unmapped::SeveralDevices);
        assert_eq!(several.translate(extent(0, 0, 1)), expected);
    }
}
