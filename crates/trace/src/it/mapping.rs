//! What the map says of a file is where its bytes lie on the device, on every filesystem.

use crate::it::filesystem::{Filesystem, root_and, run};
use crate::{Extent, ExtentMap, MappedFile, Place, Resolver, TraceError, Unmapped};
use plimsoll_testing::{Need, assert_err, needs};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use tempfile::tempdir_in;

const PIECE: u64 = 96 << 10;
const PIECES: u64 = 24;

/// Bytes that show their file and their place in it.
fn pattern(file: u64, offset: u64, length: u64) -> Vec<u8> {
    (offset / 8..(offset + length).div_ceil(8))
        .flat_map(|number| (file << 40 | number).to_le_bytes())
        .take(length as usize)
        .collect()
}

/// Two files that grow in turns, so that they lie in several pieces; one with a hole; one in a folder that ends within a block; one of a few bytes; one with
/// two names; one that has room, but nothing in it; an empty one.
fn fill(root: &Path) {
    let mut turns: Vec<File> =
        (1..3).map(|file| File::create(root.join(format!("turn-{file}"))).unwrap()).collect();
    for piece in 0..PIECES {
        for (file, turn) in (1..).zip(&mut turns) {
            turn.write_all(&pattern(file, piece * PIECE, PIECE)).unwrap();
            turn.sync_all().unwrap();
        }
    }
    let hole = File::create(root.join("hole")).unwrap();
    hole.write_all_at(&pattern(3, 0, PIECE), 0).unwrap();
    hole.write_all_at(&pattern(3, 8 << 20, PIECE), 8 << 20).unwrap();
    fs::create_dir_all(root.join("folder/deep")).unwrap();
    let end = pattern(4, 0, 3 * PIECE + 777);
    fs::write(root.join("folder/deep/end, \"odd\""), end).unwrap();
    fs::write(root.join("few"), pattern(5, 0, 30)).unwrap();
    fs::hard_link(root.join("turn-1"), root.join("folder/turn-1 again")).unwrap();
    let room = File::create(root.join("room")).unwrap();
    rustix::fs::fallocate(&room, rustix::fs::FallocateFlags::empty(), 0, PIECE).unwrap();
    fs::write(root.join("empty"), "").unwrap();
    std::os::unix::fs::symlink("turn-1", root.join("link")).unwrap();
}

/// Compares every extent's bytes on the device with those of the file; gives how many were compared.
fn compare(filesystem: &Filesystem, file: &MappedFile) -> u64 {
    let device = File::open(filesystem.backing()).unwrap();
    let bytes = fs::read(filesystem.path().join(&file.path)).unwrap();
    assert_eq!(bytes.len() as u64, file.size);
    let mut compared = 0;
    for extent in file.extents.iter().filter(|extent| extent.is_placed()) {
        if extent.flags & Extent::UNWRITTEN != 0 || extent.logical >= file.size {
            continue;
        }
        let length = extent.length.min(file.size - extent.logical);
        let mut found = vec![0; length as usize];
        device.read_exact_at(&mut found, extent.physical).unwrap();
        let expected = &bytes[extent.logical as usize..][..length as usize];
        assert!(found == expected, "{}: {extent:?}", file.path);
        compared += length;
    }
    compared
}

fn file<'a>(map: &'a ExtentMap, path: &str) -> &'a MappedFile {
    map.files.iter().find(|file| file.path == path).unwrap()
}

fn check(filesystem: &Filesystem, copies: u64) {
    fill(filesystem.path());
    let map = ExtentMap::take(filesystem.path()).unwrap();
    assert!(map.is_complete());
    let paths: Vec<&str> = map.files.iter().map(|file| file.path.as_str()).collect();
    let once = paths.iter().filter(|path| path.contains("turn-1")).count();
    assert_eq!(once, 1, "a file with two names is listed once");
    assert_eq!(map.files.len(), 7, "{paths:?}");

    for file in &map.files {
        let compared = compare(filesystem, file);
        let expected = match file.path.as_str() {
            "hole" => 2 * PIECE,
            "room" | "empty" => 0,
            "few" if compared == 0 => {
                assert!(file.extents[0].flags & Extent::INLINE != 0);
                0
            }
            _ => file.size,
        };
        assert_eq!(compared, expected * copies, "{}", file.path);
    }
    let room = file(&map, "room");
    assert!(room.extents[0].flags & Extent::UNWRITTEN != 0 && room.extents[0].is_placed());

    // Every block resolves to where the pattern says that it came from; so does a request over the end of an extent.
    let maps = [map];
    let resolver = Resolver::new(&maps);
    let device = File::open(filesystem.backing()).unwrap();
    let turn = file(&maps[0], "turn-2");
    for extent in &turn.extents {
        for piece in resolver.resolve(0, extent.physical, extent.length + (64 << 10)) {
            let Place::File { path, offset, .. } = piece.place else {
                assert!(piece.offset >= extent.physical + extent.length);
                continue;
            };
            let number = match path {
                "turn-2" => 2,
                "folder/turn-1 again" | "turn-1" => 1,
                _ => continue,
            };
            let mut found = vec![0; piece.length as usize];
            device.read_exact_at(&mut found, piece.offset).unwrap();
            assert!(found == pattern(number, offset, piece.length));
        }
    }
    let [superblock] = resolver.resolve(0, 0, 4096)[..] else {
        panic!("the first block is one piece");
    };
    assert_eq!(superblock.place, Place::Metadata);
}

#[test]
fn a_filesystem_that_tells_nothing_is_refused() {
    needs!([Need::File("/dev/shm")]);
    let folder = tempdir_in("/dev/shm").unwrap();
    fs::write(folder.path().join("file"), "text").unwrap();
    assert_err!(ExtentMap::take(folder.path()), TraceError::NoExtents { .. });
}

mod slow {
    use super::*;

    #[test]
    fn xfs_files_lie_where_the_map_says() {
        needs!(root_and(&["losetup", "mkfs.xfs"]));
        check(&Filesystem::make(&["mkfs.xfs", "-q"], "defaults"), 1);
    }

    #[test]
    fn ext4_files_lie_where_the_map_says() {
        needs!(root_and(&["losetup", "mkfs.ext4"]));
        check(&Filesystem::make(&["mkfs.ext4", "-q"], "defaults"), 1);
    }

    #[test]
    fn btrfs_files_lie_where_the_map_says() {
        needs!(root_and(&["losetup", "mkfs.btrfs"]));
        check(&Filesystem::make(&["mkfs.btrfs", "-q"], "defaults"), 1);
    }

    #[test]
    fn both_copies_of_btrfs_files_lie_where_the_map_says() {
        needs!(root_and(&["losetup", "mkfs.btrfs"]));
        let mkfs = ["mkfs.btrfs", "-q", "-d", "dup"];
        check(&Filesystem::make(&mkfs, "defaults"), 2);
    }

    #[test]
    fn compressed_files_are_said_to_be_unmapped() {
        needs!(root_and(&["losetup", "mkfs.btrfs"]));
        let filesystem = Filesystem::make(&["mkfs.btrfs", "-q"], "compress-force=zstd");
        fs::write(filesystem.path().join("zeros"), vec![0; 1 << 20]).unwrap();
        let map = ExtentMap::take(filesystem.path()).unwrap();
        assert_eq!(file(&map, "zeros").unmapped, Some(Unmapped::Encoded));
        assert!(!map.is_complete());
    }

    #[test]
    fn a_filesystem_that_was_balanced_is_mapped_anew() {
        needs!(root_and(&["losetup", "mkfs.btrfs", "btrfs"]));
        let filesystem = Filesystem::make(&["mkfs.btrfs", "-q"], "defaults");
        fill(filesystem.path());
        let before = ExtentMap::take(filesystem.path()).unwrap();
        let point = filesystem.path().to_str().unwrap();
        run("btrfs", &["balance", "start", "--full-balance", point]);
        let after = ExtentMap::take(filesystem.path()).unwrap();
        let (before, after) = (file(&before, "turn-2"), file(&after, "turn-2"));
        assert_ne!(before.extents, after.extents);
        assert_eq!(compare(&filesystem, after), after.size);
    }
}
