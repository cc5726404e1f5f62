//! What is recorded is read, by many threads at once, after many rounds, and after the writer was killed.

use crate::it::requests::{head, request};
use crate::{Head, MARKS, Request, Trace, TraceError, Writer};
use plimsoll_record::DiskSpec;
use plimsoll_testing::assert_err;
use std::collections::HashSet;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use tempfile::tempdir;

#[test]
fn requests_and_marks_are_read_in_order_of_time() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("disk.trace");
    let head = head();
    let writer = Writer::create(&path, 100, &head).unwrap();
    for number in [3, 1, 2] {
        writer.record(&request(number));
    }
    writer.mark(5, "block 1, arm san, point 3 measuring");
    writer.mark(4, "ä".repeat(200).as_str());

    let trace = Trace::open(&path).unwrap();
    assert_eq!(trace.head(), &head);
    assert_eq!(trace.requests(), [request(1), request(2), request(3)]);
    assert_eq!((trace.overwritten(), trace.incomplete()), (0, 0));
    assert_eq!(trace.marks()[0].label, "ä".repeat(120));
    let expected = "block 1, arm san, point 3 measuring";
    assert_eq!(trace.marks()[1].label, expected);
    assert_eq!(writer.recorded(), 3);
}

#[test]
fn the_last_requests_are_kept_and_the_others_counted() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("disk.trace");
    let writer = Writer::create(&path, 7, &head()).unwrap();
    for number in 0..1000 {
        writer.record(&request(number));
    }
    let trace = Trace::open(&path).unwrap();
    let expected: Vec<Request> = (993..1000).map(request).collect();
    assert_eq!(trace.requests(), expected);
    assert_eq!((trace.overwritten(), trace.incomplete()), (993, 0));
}

#[test]
fn marks_beyond_the_room_for_them_are_counted() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("disk.trace");
    let writer = Writer::create(&path, 1, &head()).unwrap();
    for time in 0..MARKS + 3 {
        writer.mark(time, "again");
    }
    let trace = Trace::open(&path).unwrap();
    assert_eq!(trace.marks().len() as u64, MARKS);
    assert_eq!(trace.marks_missing(), 3);
}

fn record_from_threads(writer: &Writer, threads: u64, each: u64) {
    let start = Barrier::new(threads as usize);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let start = &start;
            scope.spawn(move || {
                start.wait();
                for number in 0..each {
                    writer.record(&request(thread * each + number));
                }
            });
        }
    });
}

#[test]
fn many_threads_lose_nothing_and_repeat_nothing() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("disk.trace");
    let (threads, each) = (8, 20_000);
    let writer = Writer::create(&path, threads * each, &head()).unwrap();
    record_from_threads(&writer, threads, each);
    let trace = Trace::open(&path).unwrap();
    let expected: Vec<Request> = (0..threads * each).map(request).collect();
    assert_eq!(trace.requests(), expected);
    assert_eq!((trace.overwritten(), trace.incomplete()), (0, 0));
}

#[test]
fn many_threads_going_round_and_round_mix_no_two_requests() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("disk.trace");
    let (threads, each, capacity) = (8, 50_000, 13);
    let writer = Writer::create(&path, capacity, &head()).unwrap();
    record_from_threads(&writer, threads, each);
    let trace = Trace::open(&path).unwrap();
    let mut seen = HashSet::new();
    for found in trace.requests() {
        assert_eq!(*found, request(found.time_ns));
        assert!(seen.insert(found.time_ns));
    }
    let kept = trace.requests().len() as u64;
    let found = kept + trace.overwritten() + trace.incomplete();
    assert_eq!(found, threads * each);
    // A thread can hold at most one place up in the last round.
    assert!(trace.incomplete() <= threads);
}

#[test]
fn a_trace_is_read_whole_while_it_is_written() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("disk.trace");
    let writer = Writer::create(&path, 1000, &head()).unwrap();
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            for number in 0..200_000 {
                writer.record(&request(number));
            }
        });
        while !writing.is_finished() {
            for found in Trace::open(&path).unwrap().requests() {
                assert_eq!(*found, request(found.time_ns));
            }
        }
    });
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Is the process that the next test kills; does nothing unless a variable says where to write.
#[test]
fn recording_until_killed() {
    let Some(path) = std::env::var_os("PLIMSOLL_TRACE_TO_WRITE") else {
        return;
    };
    let writer = Writer::create(Path::new(&path), 5000, &head()).unwrap();
    for number in 0.. {
        writer.record(&request(number % 1_000_000_000));
        if number % 1000 == 0 {
            writer.mark(number, &format!("number {number}"));
        }
    }
}

#[test]
fn what_a_killed_writer_wrote_is_read() {
    for _ in 0..20 {
        let folder = tempdir().unwrap();
        let path = folder.path().join("disk.trace");
        let mut writer = Killed(
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "it::recording::recording_until_killed"])
                .env("PLIMSOLL_TRACE_TO_WRITE", &path)
                .stdout(Stdio::null())
                .spawn()
                .unwrap(),
        );
        while Trace::open(&path).map_or(0, |trace| trace.overwritten()) < 10_000 {
            assert_eq!(writer.0.try_wait().unwrap(), None);
        }
        drop(writer);
        let trace = Trace::open(&path).unwrap();
        assert!(trace.incomplete() <= 1);
        assert_eq!(
            trace.requests().len() as u64 + trace.incomplete(),
            5000,
            "of a file for 5000 requests"
        );
        for (found, next) in trace.requests().iter().zip(&trace.requests()[1..]) {
            assert_eq!(*found, request(found.time_ns));
            assert!(next.time_ns <= found.time_ns + 1 + trace.incomplete());
        }
    }
}

#[test]
fn what_is_no_trace_is_refused_with_the_reason() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("disk.trace");
    let refusal = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let said = Trace::open(&path).unwrap_err().to_string();
        said.replace(path.to_str().unwrap(), "FILE")
    };
    assert_eq!(refusal(b""), "FILE is not a trace of an emulated disk");
    let expected = "FILE is not a trace of an emulated disk";
    assert_eq!(refusal(b"a text of more than sixteen bytes"), expected);

    let whole = folder.path().join("whole.trace");
    Writer::create(&whole, 10, &head()).unwrap();
    let whole = std::fs::read(whole).unwrap();
    let mut newer = whole.clone();
    newer[8] = 9;
    let expected =
        "FILE is a trace of version 9; this program reads versions up to 1: use a newer one";
    assert_eq!(refusal(&newer), expected);
    let mut damaged = whole.clone();
    damaged[200] ^= 1;
    assert_eq!(refusal(&damaged), "FILE is a damaged trace: the checksum of its head is wrong");
    let found = refusal(&whole[..100]);
    assert_eq!(found, "FILE is a damaged trace: it ends within its head");
    let cut = &whole[..whole.len() - 32];
    let said = format!(
        "FILE is a damaged trace: its length of {} bytes is not that of its records",
        cut.len()
    );
    assert_eq!(refusal(cut), said);
}

#[test]
fn what_cannot_be_made_is_refused_and_leaves_nothing() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("disk.trace");
    assert_err!(Writer::create(&path, 0, &head()), TraceError::Empty);
    assert_err!(Writer::create(&path, u64::MAX, &head()), TraceError::Io { .. });
    let large = Head::new(&DiskSpec::unlimited(1 << 50));
    assert_err!(Writer::create(&path, 1, &large), TraceError::DiskTooLarge { .. });
    assert!(!path.exists());
}
