//! The first operations of a point are noted with when they were under way.

use crate::it::fake::{Keep, closed, key_space, remembering, workload};
use crate::{PointSpec, run_point_noting};
use plimsoll_record::{NotedOperation, Operation, Status};
use plimsoll_workload::Mix;
use rustix::time::{ClockId, clock_gettime};

fn now_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    u64::try_from(time.tv_sec * 1_000_000_000 + time.tv_nsec).unwrap()
}

fn noted(preset: &str, spec: &PointSpec, most: usize) -> Vec<NotedOperation> {
    let (engine, _) = remembering();
    let mix = Mix::preset(preset).unwrap();
    let workload = workload(&key_space(1_000), &mix);
    let mut keep = Keep::default();
    run_point_noting(&engine, &workload, spec, &mix, &mut keep, most).unwrap().operations
}

fn count(operations: &[NotedOperation], kind: Operation) -> usize {
    let of_kind = operations.iter().filter(|one| one.operation == kind);
    of_kind.count()
}

#[test]
fn the_first_operations_are_noted_one_after_the_other() {
    let begin = now_ns();
    let operations = noted("a", &closed(1, 500), 100);
    let end = now_ns();
    assert_eq!(operations.len(), 100);
    assert!(operations[0].begin_ns >= begin && operations[99].end_ns <= end);
    for (one, next) in operations.iter().zip(&operations[1..]) {
        assert!(one.begin_ns <= one.end_ns, "{one:?}");
        let in_order = one.end_ns <= next.end_ns && one.begin_ns <= next.begin_ns;
        assert!(in_order, "{one:?} {next:?}");
        assert_eq!((one.session, one.status), (0, Status::Ok));
    }
    let [reads, updates] =
        [Operation::Read, Operation::Update].map(|kind| count(&operations, kind));
    assert_eq!(reads + updates, 100);
    assert!(reads > 0 && updates > 0);
}

#[test]
fn of_several_sessions_the_first_of_all_are_noted() {
    let operations = noted("c", &closed(3, 600), 90);
    assert_eq!(operations.len(), 90);
    assert!(operations.is_sorted_by_key(|operation| operation.begin_ns));
    assert!(operations.iter().all(|operation| operation.session < 3));
}

#[test]
fn a_read_modify_write_is_one_operation() {
    let operations = noted("f", &closed(1, 200), 1_000);
    assert_eq!(operations.len(), 200, "its parts are none");
    assert!(count(&operations, Operation::ReadModifyWrite) > 0);
    assert_eq!(count(&operations, Operation::Update), 0);
}

#[test]
fn the_warm_up_is_not_noted() {
    let begin = now_ns();
    let spec = PointSpec { warm_up_ns: 20_000_000, ..closed(1, 50) };
    let operations = noted("c", &spec, 10);
    assert_eq!(operations.len(), 10);
    // The loop's clock may differ from the kernel's by a little; a tenth of the warm-up is far more.
    assert!(operations[0].begin_ns >= begin + 18_000_000);
}
