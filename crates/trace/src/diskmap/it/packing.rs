//! What is packed is what is unpacked, here and in the page's script: `web/tests/map-unpack.spec.ts` reads the golden files as well.

use crate::diskmap::{
    Access, Accesses, DiskmapError, File, FileKind, Moment, NotedPoint, Unpacked, pack,
    pack_within, shortened, unpack,
};
use plimsoll_record::{NotedOperation, Operation, Status};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::Path;

const START: u64 = 77_000_000_000;

fn accesses(all: Vec<Access>) -> Accesses {
    let file = |path: &str, size| File { path: path.into(), size, accesses: 0, bytes: 0 };
    let moment = |time_ns, label: &str| Moment { time_ns, label: label.into() };
    Accesses {
        files: vec![
            file("data/collection.wt", 8 << 20),
            file("data/index.wt", 1 << 20),
            file("data/journal/WiredTigerLog.0000000001", 1 << 20),
        ],
        all,
        files_left_out: 2,
        moments: vec![
            moment(0, "load"),
            moment(4_000_000, "reads, 1 thread: warm-up"),
            moment(6_000_000, "reads, 1 thread: measuring"),
            moment(60_000_000, "over"),
        ],
        start_ns: START,
        elsewhere: 5,
        overwritten: 0,
    }
}

fn access(time_us: u64, file: u16, offset: u64, length: u64, is_write: bool) -> Access {
    Access { time_ns: time_us * 1_000, file, offset, length, is_write }
}

/// A load of three writes; then two reads, each of a page of the index and one of the collection, and a write of the journal between them.
fn two_finds() -> Accesses {
    accesses(vec![
        access(1_000, 0, 0, 65_536, true),
        access(2_000, 0, 65_536, 65_536, true),
        access(3_000, 2, 0, 4_096, true),
        access(6_100, 1, 4_096, 4_096, false),
        access(13_200, 0, 7 << 20, 28_672, false),
        access(15_000, 2, 4_096, 512, true),
        access(21_000, 1, 409_600, 4_096, false),
        access(28_500, 0, 81_920, 32_768, false),
    ])
}

fn find(begin_us: u64, end_us: u64) -> NotedOperation {
    NotedOperation {
        begin_ns: START + begin_us * 1_000,
        end_ns: START + end_us * 1_000,
        session: 0,
        operation: Operation::Read,
        status: Status::Ok,
    }
}

fn finds() -> [NotedOperation; 3] {
    [find(6_050, 13_900), find(20_950, 28_900), find(90_000, 90_500)]
}

fn point(operations: &[NotedOperation]) -> NotedPoint<'_> {
    NotedPoint { label: "reads, 1 thread".into(), sessions: 1, operations }
}

#[test]
fn operations_know_their_accesses() {
    let finds = finds();
    let packed = pack(&two_finds(), &[point(&finds)], 1_000);
    let Unpacked { head, accesses } = unpack(&packed).expect("it was packed just now");
    assert_eq!(accesses, two_finds().all);
    let operations = head.operations.expect("two of them");
    assert_eq!(operations.sessions, 1);
    assert_eq!(operations.first, vec![3, 6]);
    assert_eq!(operations.count, vec![2, 2]);
    assert_eq!(operations.number, [0, 1]);
    let found = head.left_out.operations;
    assert_eq!(found, 1, "the last came after all accesses");
    let kinds: Vec<FileKind> = head.files.iter().map(|file| file.kind).collect();
    let expected = [FileKind::Collection, FileKind::Index, FileKind::Journal];
    assert_eq!(kinds, expected);
    let labels: Vec<(u64, &str)> =
        head.moments.iter().map(|moment| (moment.tick, moment.label.as_str())).collect();
    assert_eq!(
        labels,
        [(0, "load"), (3_000, "reads, 1 thread: warm-up"), (5_000, "reads, 1 thread: measuring")]
    );
}

#[test]
fn a_budget_keeps_what_was_measured() {
    let finds = finds();
    let packed = pack(&two_finds(), &[point(&finds)], 4);
    let Unpacked { head, accesses } = unpack(&packed).expect("it was packed just now");
    assert_eq!(accesses, two_finds().all[3..7]);
    assert_eq!((head.left_out.before, head.left_out.after), (3, 1));
    assert_eq!(head.begin_ns, 6_100_000);
    let labels: Vec<&str> = head.moments.iter().map(|moment| moment.label.as_str()).collect();
    assert_eq!(labels, ["reads, 1 thread: measuring"]);
    // The whole budget is used also where the end is near.
    let packed = pack(&two_finds(), &[], 6);
    let Unpacked { head, accesses } = unpack(&packed).expect("it was packed just now");
    assert_eq!(accesses, two_finds().all[2..]);
    assert_eq!((head.left_out.before, head.left_out.after), (2, 0));
    // The figures of the files cover all accesses.
    assert_eq!(head.files[0].writes, 2);
}

#[test]
fn a_budget_of_bytes_is_kept() {
    // Offsets that look random, so that each access takes some bytes.
    let mut state = 42_u64;
    let mut drawn = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let mut time_us = 0;
    let all = (0..20_000)
        .map(|_| {
            time_us += drawn(900);
            access(time_us, 0, drawn(2_048) * 4_096, 4_096, false)
        })
        .collect();
    let accesses = accesses(all);
    let packed = pack_within(&accesses, &[], 20_000);
    assert!((10_000..=20_000).contains(&packed.len()), "{}", packed.len());
    let head = unpack(&packed).expect("it was packed just now").head;
    let found = head.left_out.before + head.accesses + head.left_out.after;
    assert_eq!(found, 20_000);
    assert!(pack_within(&accesses, &[], 1_000_000).len() > packed.len());
}

#[test]
fn what_is_packed_can_be_shortened() {
    let finds: Vec<NotedOperation> =
        (0..2_000).map(|number| find(number * 20, number * 20 + 15)).collect();
    let all = (0..20_000_u64)
        .map(|number| access(number * 2, 0, number * 7_919 % 2_048 * 4_096, 4_096, false));
    let accesses = accesses(all.collect());
    let whole =
        unpack(&pack(&accesses, &[point(&finds)], usize::MAX)).expect("it was packed just now");
    let short =
        shortened(&pack(&accesses, &[point(&finds)], usize::MAX), 40_000).expect("it was packed");
    assert!((20_000..=40_000).contains(&short.len()), "{}", short.len());
    let Unpacked { head, accesses } = unpack(&short).expect("it was packed just now");
    assert!(accesses.len() > 1_000);
    assert_eq!(accesses, whole.accesses[..accesses.len()]);
    assert_eq!(head.accesses + head.left_out.after, 20_000);
    let (operations, of_all) =
        (head.operations.expect("hundreds"), whole.head.operations.expect("all"));
    let kept = operations.begin.len();
    assert_eq!(
        head.left_out.operations + kept as u64,
        whole.head.left_out.operations + of_all.begin.len() as u64
    );
    assert_eq!(operations.number, of_all.number[..kept]);
    let ends = operations.first.iter().zip(&operations.count).map(|(first, count)| first + count);
    assert_eq!(ends.max(), Some(head.accesses));
    assert_eq!(shortened(&short, usize::MAX).expect("it was packed"), short);
}

#[test]
fn days_fit_into_the_ticks() {
    let day_us = 86_400_000_000;
    let packed = pack(
        &accesses(vec![access(0, 0, 0, 512, false), access(3 * day_us, 0, 512, 512, false)]),
        &[],
        10,
    );
    let Unpacked { head, accesses } = unpack(&packed).expect("it was packed just now");
    assert_eq!(head.tick_ns, 100_000);
    assert_eq!(accesses[1].time_ns, 3 * day_us * 1_000);
}

#[test]
fn what_is_damaged_is_refused() {
    let packed = pack(&two_finds(), &[], 10);
    for length in [0, 7, 15, 40, packed.len() - 3] {
        let result = unpack(&packed[..length]);
        assert!(matches!(result, Err(DiskmapError::Packed(_))), "{length}");
    }
    for (at, byte) in [(0, b'X'), (8, 2), (15, 0xff)] {
        let mut damaged = packed.clone();
        damaged[at] = byte;
        let result = unpack(&damaged);
        assert!(matches!(result, Err(DiskmapError::Packed(_))), "{at}");
    }
}

proptest! {
    #[test]
    fn every_access_comes_back(
        drawn in vec((0..5_000_000_u64, 0..3_u16, 0..4_000_000_000_u64, 1..5_000_u64, any::<bool>()), 0..200),
    ) {
        let mut time_us = 0;
        let all: Vec<Access> = drawn
            .into_iter()
            .map(|(gap_us, file, sector, sectors, is_write)| {
                time_us += gap_us;
                access(time_us, file, sector * 512, sectors * 512, is_write)
            })
            .collect();
        let unpacked = unpack(&pack(&accesses(all.clone()), &[], usize::MAX)).expect("it was packed just now");
        prop_assert_eq!(unpacked.accesses, all);
    }

    #[test]
    fn nothing_makes_it_panic(bytes in vec(any::<u8>(), 0..200), at in 0..400_usize) {
        let mut packed = pack(&two_finds(), &[], 10);
        let at = at.min(packed.len());
        packed.truncate(at);
        packed.extend(bytes);
        let _ = unpack(&packed);
    }
}

/// The layout, held by two files: what is packed there means what is written in words beside it. A change of the layout is a new version: write the files
/// again with `PLIMSOLL_WRITE_GOLDEN=1` then, and change the page's script.
#[test]
fn the_layout_stays() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let (packed_path, words_path) = (folder.join("finds.map"), folder.join("finds.json"));
    let finds = finds();
    let packed = pack(&two_finds(), &[point(&finds)], 7);
    let words = in_words(&unpack(&packed).expect("it was packed just now"));
    if std::env::var_os("PLIMSOLL_WRITE_GOLDEN").is_some() {
        std::fs::write(&packed_path, &packed).expect("the folder is there");
        let text = serde_json::to_string_pretty(&words).expect("it is JSON");
        std::fs::write(&words_path, text + "\n").expect("the folder is there");
    }
    let kept = std::fs::read(&packed_path).expect("it is in the repository");
    let text = std::fs::read_to_string(&words_path).expect("it is in the repository");
    let text: Value = serde_json::from_str(&text).expect("it is JSON");
    let found = in_words(&unpack(&kept).expect("it is of this version"));
    assert_eq!(found, text);
    assert_eq!(words, text);
}

fn in_words(unpacked: &Unpacked) -> Value {
    let column =
        |of: &dyn Fn(&Access) -> u64| -> Vec<u64> { unpacked.accesses.iter().map(of).collect() };
    json!({
        "head": unpacked.head,
        "time_ns": column(&|access| access.time_ns),
        "file": column(&|access| access.file.into()),
        "offset": column(&|access| access.offset),
        "length": column(&|access| access.length),
        "is_write": column(&|access| access.is_write.into()),
    })
}
