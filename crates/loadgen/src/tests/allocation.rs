//! The loops take no memory: neither for an operation nor for a slice.

use super::{Jumping, MILLISECOND, SECOND, Server, workload};
use crate::asking::SessionParts;
use crate::closed::ClosedPace;
use crate::grid::Grid;
use crate::recorder::Recording;
use crate::session_end::SessionEnd;
use crate::shared::Shared;
use crate::{closed, open};
use plimsoll_engine::Engine;
use plimsoll_record::Operation;
use plimsoll_testing::allocations::{CountingAllocator, during};
use plimsoll_workload::Mix;
use plimsoll_workload::schedule::Share;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The test reads no slice meanwhile, so there is one table for each.
const SLICES: u64 = 2;

/// What one session allocates while it fills all slices with an operation each millisecond.
fn allocations(mix: &str, open_loop: bool) -> u64 {
    let clock = Jumping::default();
    let server = Server::new(&clock, |begin| begin + MILLISECOND);
    let operations = [Operation::Read, Operation::Update];
    let mix = Mix::preset(mix).unwrap();
    let mut generator = workload(&mix).generator(0);
    let grid = Grid::new(0);
    let recording = Recording::new(grid, &operations, 1, open_loop, open_loop);
    let parts = SessionParts {
        clock,
        session: server.session().unwrap(),
        recorder: recording.recorder(0),
        end: SessionEnd::default(),
        copied: None,
        observer: (),
    };
    let shared = Shared::new(SLICES * SECOND);
    let times: Vec<u64> = (0..SLICES * 500).map(|index| index * 2 * MILLISECOND).collect();
    let allocations = during(|| {
        if open_loop {
            open::run(parts, &mut generator, &shared, 0, &times, Share::WHOLE);
        } else {
            let pacing = ClosedPace {
                warm_up_ns: 0,
                think_time_ns: 0,
                share: SLICES * 1_000 - 1,
                pace: None,
            };
            closed::run(parts, &mut generator, &shared, pacing);
        }
    });
    let slices = (0..SLICES).map(|index| recording.take(index as u32));
    let recorded: u64 = slices.map(|slice| slice.completed.ok).sum();
    let expected = match open_loop {
        true => SLICES * 500,
        false => SLICES * 1_000 - 1,
    };
    assert_eq!(recorded, expected);
    allocations
}

#[test]
fn a_session_allocates_nothing() {
    for mix in ["a", "c"] {
        for open_loop in [false, true] {
            let allocations = allocations(mix, open_loop);
            assert_eq!(allocations, 0, "workload {mix}, open {open_loop}");
        }
    }
}
