//! An invented trace: single reads by their key, each of a page of the index and one of the collection, while a journal is written.

use plimsoll_record::{
    LoadKind, NotedOperation, Operation, PointEnd, PointLabel, PointRecord, RunRecord, Status,
};
use plimsoll_trace::diskmap::{Access, Accesses, File, Moment};

const START_NS: u64 = 5_000_000_000;
/// Duration of a find; the disk takes two thirds.
const FIND_NS: u64 = 60_000;
const NOTED: usize = 100;

/// About this many accesses; and a further point of the run, whose first hundred operations are noted.
pub fn accesses(run: &mut RunRecord, number: usize) -> Accesses {
    let file = |path: &str, size| File { path: path.into(), size, accesses: 0, bytes: 0 };
    let files = vec![
        file("data/collection.wt", 420 << 20),
        file("data/index.wt", 31 << 20),
        file("data/journal/WiredTigerLog.0000000001", 100 << 20),
    ];
    let mut state = 7_u64;
    let mut drawn = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let mut all = Vec::with_capacity(number);
    let mut operations = Vec::new();
    let (mut time_ns, mut logged) = (0, 0);
    // The data is stored, one page after the other.
    for page in 0..number as u64 / 10 {
        time_ns += 5_000;
        let offset = page * 32_768 % files[0].size;
        all.push(access(time_ns, 0, offset, 32_768, true));
    }
    let measuring_ns = time_ns + 1_000_000;
    time_ns = measuring_ns;
    while all.len() < number {
        let begin_ns = time_ns;
        all.push(access(begin_ns + 1_000, 1, drawn(7_900) * 4_096, 4_096, false));
        let offset = drawn(13_400) * 32_768;
        all.push(access(begin_ns + 20_000, 0, offset, 28_672, false));
        if drawn(4) == 0 {
            all.push(access(begin_ns + 41_000, 2, logged, 4_096, true));
            logged = (logged + 4_096) % files[2].size;
        }
        if operations.len() < NOTED {
            operations.push(NotedOperation {
                begin_ns: START_NS + begin_ns,
                end_ns: START_NS + begin_ns + FIND_NS / 3 * 2,
                session: 0,
                operation: Operation::Read,
                status: Status::Ok,
            });
        }
        time_ns += FIND_NS;
    }
    run.points.push(point(operations));
    let moment = |time_ns, label: &str| Moment { time_ns, label: label.into() };
    Accesses {
        files,
        all,
        files_left_out: 3,
        moments: vec![moment(0, "load"), moment(measuring_ns, "reads, 1 thread: measuring")],
        start_ns: START_NS,
        elsewhere: 12,
        overwritten: 0,
    }
}

fn point(operations: Vec<NotedOperation>) -> PointRecord {
    PointRecord {
        label: PointLabel {
            point: Some(0),
            mix: "reads".into(),
            load_label: "1 thread".into(),
            load: LoadKind::Closed { sessions: 1, think_time_ns: 0, target: None },
            trial: None,
        },
        warm_up_ns: 0,
        started_at: String::new(),
        slices: Vec::new(),
        end: Some(PointEnd { operations, ..PointEnd::default() }),
    }
}

fn access(time_ns: u64, file: u16, offset: u64, length: u64, is_write: bool) -> Access {
    Access { time_ns, file, offset, length, is_write }
}
