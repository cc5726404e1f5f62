//! The form for keeping holds all that the trace held, and is refused when it is damaged.

use crate::it::requests::{head, request};
use crate::{Extent, ExtentMap, MappedFile, Trace, TraceError, Unmapped, Writer, finish};
use plimsoll_testing::assert_err;
use tempfile::tempdir;

fn map(time_ns: u64) -> ExtentMap {
    ExtentMap {
        time_ns,
        files: vec![MappedFile {
            path: "db/collection-7.wt".into(),
            size: 4097,
            extents: vec![Extent {
                logical: 0,
                physical: 1 << 20,
                length: 8192,
                flags: Extent::UNWRITTEN,
            }],
            unmapped: Some(Unmapped::Delayed),
        }],
    }
}

#[test]
fn all_that_was_held_is_kept() {
    let folder = tempdir().unwrap();
    let live = folder.path().join("live.trace");
    let kept = folder.path().join("disk.trace");
    let writer = Writer::create(&live, 70_000, &head()).unwrap();
    for number in 0..100_000 {
        writer.record(&request(number));
    }
    writer.mark(7, "block 0, arm san, point 0 measuring");
    let said = finish(&live, &kept, &[map(9), map(5)]).unwrap();
    assert_eq!(said.reference.path, kept);
    assert_eq!(said.reference.requests, 70_000);
    assert_eq!(said.reference.overwritten, 30_000);
    assert_eq!(said.incomplete, 0);
    assert_eq!(said.bytes, std::fs::metadata(&kept).unwrap().len());

    let (live, kept_trace) = (Trace::open(&live).unwrap(), Trace::open(&kept).unwrap());
    assert_eq!(kept_trace.head(), live.head());
    assert_eq!(kept_trace.requests(), live.requests());
    assert_eq!(kept_trace.marks(), live.marks());
    assert_eq!(kept_trace.overwritten(), 30_000);
    assert_eq!(kept_trace.maps(), [map(5), map(9)]);

    // What is kept can be finished again, with further maps.
    let again = folder.path().join("again.trace");
    finish(&kept, &again, &[map(7)]).unwrap();
    let again = Trace::open(&again).unwrap();
    assert_eq!(again.maps(), [map(5), map(7), map(9)]);
    assert_eq!(again.requests(), kept_trace.requests());
}

#[test]
fn a_trace_of_nothing_is_kept() {
    let folder = tempdir().unwrap();
    let live = folder.path().join("live.trace");
    let kept = folder.path().join("disk.trace");
    Writer::create(&live, 1, &head()).unwrap();
    finish(&live, &kept, &[]).unwrap();
    assert_eq!(Trace::open(&kept).unwrap().requests(), []);
}

#[test]
fn what_exists_is_not_overwritten_and_nothing_else_left() {
    let folder = tempdir().unwrap();
    let live = folder.path().join("live.trace");
    let kept = folder.path().join("disk.trace");
    Writer::create(&live, 1, &head()).unwrap();
    std::fs::write(&kept, "dear").unwrap();
    assert_err!(finish(&live, &kept, &[]), TraceError::Io { .. });
    assert_eq!(std::fs::read(&kept).unwrap(), b"dear");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

mod slow {
    use super::*;

    #[test]
    fn every_damage_is_noticed() {
        let folder = tempdir().unwrap();
        let live = folder.path().join("live.trace");
        let kept = folder.path().join("disk.trace");
        let damaged = folder.path().join("damaged.trace");
        let writer = Writer::create(&live, 100, &head()).unwrap();
        for number in 0..100 {
            writer.record(&request(number));
        }
        finish(&live, &kept, &[map(1)]).unwrap();
        let trace = Trace::open(&kept).unwrap();
        let whole = std::fs::read(&kept).unwrap();
        for end in 0..whole.len() {
            std::fs::write(&damaged, &whole[..end]).unwrap();
            assert!(Trace::open(&damaged).is_err(), "cut to {end} bytes");
        }
        // Bytes 64 to 191 are the counters of the live form, without meaning here.
        for at in (0..64).chain(192..whole.len()) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x10;
            std::fs::write(&damaged, &bytes).unwrap();
            // Some bits of the compression's own head, such as the size of its window, change nothing of what is held.
            let harmless = Trace::open(&damaged).is_ok_and(|found| found == trace);
            let refused = Trace::open(&damaged).is_err();
            assert!(refused || harmless, "byte {at} changed");
        }
    }
}
