//! `plimsoll disk cut`: what was flushed is there afterwards, and what was not may be gone.

use crate::laboratory::{Laboratory, Said, wait_until};
use crate::mounted::{DISKS, disk, is_clean, keeper, mounted};
use plimsoll_testing::{assert_contains, needs};
use rustix::mount::UnmountFlags;
use rustix::process::{Signal, kill_process};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const BLOCK: usize = 4096;
/// How long a disk may take to be removed after a test that failed.
const LONGEST_REMOVAL: Duration = Duration::from_secs(60);
/// A user who has nothing here.
const STRANGER: u32 = 4_242;

fn record(number: u64) -> Vec<u8> {
    number.to_le_bytes().repeat(BLOCK / 8)
}

/// A thread that appends records to a file, each with an fsync, until the disk is gone.
struct Writer {
    file: PathBuf,
    acknowledged: Arc<AtomicU64>,
    thread: JoinHandle<std::io::Error>,
}

impl Writer {
    fn start(file: PathBuf) -> Self {
        let acknowledged = Arc::new(AtomicU64::new(0));
        let (path, counted) = (file.clone(), Arc::clone(&acknowledged));
        let thread = std::thread::spawn(move || {
            let mut file = File::create(&path).unwrap();
            File::open(path.parent().unwrap()).unwrap().sync_all().unwrap();
            for number in 1.. {
                let written = file.write_all(&record(number)).and_then(|()| file.sync_all());
                match written {
                    Ok(()) => counted.store(number, Ordering::SeqCst),
                    Err(error) => return error,
                }
            }
            unreachable!("there are enough numbers")
        });
        Self { file, acknowledged, thread }
    }

    fn wait_for(&self, records: u64) {
        wait_until("the records", || {
            assert!(!self.thread.is_finished(), "the disk is gone too early");
            self.acknowledged.load(Ordering::SeqCst) >= records
        });
    }

    /// Ends with the error that the cut causes, and gives the file with the number of its acknowledged records.
    fn ended(self) -> (PathBuf, u64) {
        self.thread.join().unwrap();
        (self.file, self.acknowledged.load(Ordering::SeqCst))
    }
}

/// The first record that is not there as it was written.
fn first_lost(file: &Path, records: u64) -> Option<u64> {
    let mut all = Vec::new();
    let read = File::open(file).and_then(|mut file| file.read_to_end(&mut all));
    if read.is_err() {
        return Some(1);
    }
    let mut blocks = all.chunks(BLOCK);
    (1..=records).find(|number| blocks.next() != Some(&record(*number)[..]))
}

fn cut(laboratory: &Laboratory, seed: u64) -> Value {
    let said = disk(laboratory, &["cut", "slow", "--seed", &seed.to_string(), "--json"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    serde_json::from_str(&said.out).unwrap()
}

/// A disk with a volatile cache. A test that fails removes it, too.
struct Volatile<'a> {
    laboratory: &'a Laboratory,
    directory: PathBuf,
}

impl<'a> Volatile<'a> {
    fn mounted(laboratory: &'a Laboratory, further: &[&str]) -> Self {
        let directory = mounted(laboratory, &[&["--volatile"], further].concat());
        Self { laboratory, directory }
    }

    fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.directory.join(name)
    }

    fn unmount(&self) {
        unmount(self.laboratory);
    }
}

impl Drop for Volatile<'_> {
    fn drop(&mut self) {
        let begun = Instant::now();
        let _ = rustix::mount::unmount(&self.directory, UnmountFlags::DETACH);
        while !is_clean(self.laboratory) && begun.elapsed() < LONGEST_REMOVAL {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn unmount(laboratory: &Laboratory) {
    let said = disk(laboratory, &["unmount", "slow"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    wait_until("everything is undone", || is_clean(laboratory));
}

/// Cuts the power several times while records are appended, and once while a program has a file open that it does not use.
fn what_was_flushed_is_there(filesystem: &str) {
    needs!(DISKS);
    let laboratory = Laboratory::new();
    let volatile = Volatile::mounted(&laboratory, &["--filesystem", filesystem]);
    let mut files = Vec::new();
    for seed in 1..=4 {
        let writer = Writer::start(volatile.path(format!("records-{seed}")));
        writer.wait_for(5 + seed * 7);
        let idle = (seed == 4).then(|| File::open(&writer.file).unwrap());
        let outcome = cut(&laboratory, seed);
        assert_eq!(outcome["is_mounted"], true, "{outcome}");
        assert_eq!(outcome["seed"], seed, "{outcome}");
        assert!(outcome["since_flush_ns"].is_number(), "{outcome}");
        if let Some(idle) = idle {
            let this = format!("({})", std::process::id());
            assert_contains(&outcome["users"], &this);
            drop(idle);
        }
        files.push(writer.ended());
        for (file, records) in &files {
            assert_eq!(first_lost(file, *records), None, "{filesystem}, seed {seed}: {outcome}");
        }
    }
    volatile.unmount();
}

#[test]
fn what_was_flushed_to_xfs_is_there() {
    what_was_flushed_is_there("xfs");
}

#[test]
fn what_was_flushed_to_ext4_is_there() {
    what_was_flushed_is_there("ext4");
}

#[test]
fn what_was_flushed_to_btrfs_is_there() {
    what_was_flushed_is_there("btrfs");
}

/// Without barriers no fsync reaches the disk as a flush, so that the disk may lose what the writer believes to be safe.
#[test]
fn a_filesystem_that_does_not_flush_loses_records() {
    needs!(DISKS);
    let loses = |seed| {
        let laboratory = Laboratory::new();
        let unsafe_mount = ["--filesystem", "ext4", "--mount-options", "noatime,nobarrier"];
        let volatile = Volatile::mounted(&laboratory, &unsafe_mount);
        let writer = Writer::start(volatile.path("records"));
        writer.wait_for(40);
        let said = disk(&laboratory, &["cut", "slow", "--seed", seed]);
        let (file, records) = writer.ended();
        assert!(said.code == Some(0) || said.err.contains("did not survive"), "{said:?}");
        let lost = first_lost(&file, records).is_some();
        volatile.unmount();
        lost
    };
    assert!(["1", "2", "3", "4", "5", "6", "7", "8"].into_iter().any(loses));
}

/// Direct writes that were acknowledged, and that no flush has covered.
#[test]
fn what_was_not_flushed_is_kept_or_lost() {
    needs!(DISKS);
    let laboratory = Laboratory::new();
    let volatile = Volatile::mounted(&laboratory, &["--filesystem", "ext4"]);
    let path = volatile.path("blocks");
    fs::write(&path, vec![1; 64 * BLOCK]).unwrap();
    File::open(&path).unwrap().sync_all().unwrap();
    let mut options = File::options();
    let direct = options.write(true).custom_flags(0o40000).open(&path).unwrap();
    let memory = vec![2; 2 * BLOCK];
    let begin = memory.as_ptr().align_offset(BLOCK);
    for number in 0..64 {
        direct.write_all_at(&memory[begin..begin + BLOCK], number * BLOCK as u64).unwrap();
    }
    drop(direct);
    let said = disk(&laboratory, &["cut", "slow", "--seed", "7", "--sector", "4KiB"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    for line in [
        "after its last flush",
        "not flushed: ",
        "sectors of 4096 bytes: ",
        "mounted again at ",
        "repeat it: --seed 7 --sector 4096",
    ] {
        assert_contains(&said.out, line);
    }
    let left = fs::read(&path).unwrap();
    let values: Vec<u8> = left
        .chunks(BLOCK)
        .map(|block| {
            assert!(block.iter().all(|byte| *byte == block[0]), "a sector is torn");
            block[0]
        })
        .collect();
    assert_eq!(values.len(), 64);
    assert!(values.iter().all(|value| [1, 2].contains(value)), "{values:?}");
    assert!(values.contains(&1) && values.contains(&2), "{values:?}");
    volatile.unmount();
}

/// The image of the emulated disk at a directory.
fn image(directory: &Path) -> PathBuf {
    let directory = fs::canonicalize(directory).unwrap();
    let all = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let is_it = |line: &&str| line.split(' ').nth(4) == directory.to_str();
    let device = all.lines().rfind(is_it).unwrap().split(" - ").nth(1).unwrap();
    let device = device.split(' ').nth(1).unwrap().trim_start_matches("/dev/");
    let file = fs::read_to_string(format!("/sys/block/{device}/loop/backing_file")).unwrap();
    PathBuf::from(file.trim())
}

/// Cuts the power of a disk whose filesystem was destroyed, and looks at what is then at its directory.
fn a_destroyed_filesystem_leaves_its_image(end: impl FnOnce(&Volatile<'_>)) {
    let laboratory = Laboratory::new();
    let volatile = Volatile::mounted(&laboratory, &[]);
    let disk_file = File::options().write(true).open(image(&volatile.directory)).unwrap();
    disk_file.write_all_at(&[0; BLOCK], 0).unwrap();
    disk_file.sync_all().unwrap();
    drop(disk_file);
    let said = disk(&laboratory, &["cut", "slow", "--seed", "1"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert_contains(&said.err, "the filesystem did not survive");
    assert_contains(&said.err, "mount");
    assert_contains(&said.err, "slow/disk.img");
    assert!(!said.out.contains("mounted again"), "{said:?}");
    assert_eq!(volatile.path("disk.img").metadata().unwrap().len(), 512 << 20);
    let again = disk(&laboratory, &["cut", "slow"]);
    assert_eq!(again.code, Some(1), "{again:?}");
    assert_contains(&again.err, "did not survive an earlier power cut");
    end(&volatile);
    wait_until("everything is undone", || is_clean(&laboratory));
    assert_eq!(fs::read_dir(&volatile.directory).unwrap().count(), 0);
}

#[test]
fn a_filesystem_that_does_not_survive_leaves_its_image() {
    needs!(DISKS);
    a_destroyed_filesystem_leaves_its_image(|volatile| volatile.unmount());
    a_destroyed_filesystem_leaves_its_image(|volatile| {
        kill_process(keeper(volatile.laboratory), Signal::KILL).unwrap();
    });
}

#[test]
fn a_power_cut_that_cannot_be_is_told() {
    needs!(DISKS);
    let laboratory = Laboratory::new();
    let directory = mounted(&laboratory, &[]);
    fs::write(directory.join("file"), "kept").unwrap();
    fs::create_dir(laboratory.path("empty")).unwrap();
    for (arguments, code, why) in [
        (&["cut", "slow"][..], 1, "mount it with --volatile"),
        (&["cut", "empty"], 1, "is no disk that plimsoll has mounted"),
        (&["cut", "nowhere"], 1, "No such file or directory"),
        (&["cut", "slow", "--sector", "1000"], 2, "neither 512 nor 4KiB"),
        (&["mount", "gp3", "empty", "--mount-options", "bind"], 1, "`bind` is not an option"),
    ] {
        let said = disk(&laboratory, arguments);
        assert_eq!((said.code, said.out.as_str()), (Some(code), ""), "{arguments:?}: {said:?}");
        assert_contains(&said.err, why);
    }
    let mut command = laboratory.command(&["disk", "cut", "slow"]);
    let stranger = Said::of(command.uid(STRANGER).gid(STRANGER).output().unwrap());
    assert_eq!(stranger.code, Some(1), "{stranger:?}");
    assert_contains(&stranger.err, "belongs to another user");
    assert_eq!(fs::read_to_string(directory.join("file")).unwrap(), "kept");
    unmount(&laboratory);
}
