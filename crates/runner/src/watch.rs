//! A worker that watches the machine on which a server stands, whose load comes from other machines.

use crate::frames::{Frame, Order, Word};
use crate::rig_access::{network_of, sampler_of};
use crate::worker::{Runner, Speaker};
use plimsoll_loadgen::{Grid, monotonic_ns};
use plimsoll_record::{Completed, PointEnd, Slice, WorkerUse};
use plimsoll_telemetry::{ForeignSampler, Host, SliceSampler, SystemSampler};
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::atomic::Ordering;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

/// How long to wait for a message before the next check whether the worker is to stop.
const LOOK: Duration = Duration::from_millis(200);

/// Watches one phase after the other until it is stopped. Each second of a phase, counted from its begin, is sent as a slice without operations.
pub(crate) fn watch<W: Write>(
    order: &Order,
    runner: &Runner,
    speaker: &mut Speaker<W>,
) -> Result<bool, String> {
    let host = Host::here();
    let network = network_of(&order.standing, &host)
        .map(|network| network.with_link(order.link_bytes_per_second));
    let mut sampler = sampler_of(&order.standing, &host)?.with_network(network);
    let mut ours = vec![std::process::id(), std::os::unix::process::parent_id()];
    let servers = order.standing.server.iter();
    ours.extend(servers.flat_map(|server| &server.processes));
    while !runner.stop.load(Ordering::Relaxed) {
        match runner.receiver.recv_timeout(LOOK) {
            Ok(Word::Begin { at_ns, warm_up_ns }) => {
                let foreign = ForeignSampler::start(&host, &ours);
                let system = SystemSampler::start(&host);
                phase(&mut sampler, at_ns, warm_up_ns, runner, speaker);
                let used = system.since_start();
                speaker.say(&Frame::PointEnds {
                    end: Box::new(PointEnd {
                        stolen_ns: used.stolen_ns,
                        clock_jump_ns: used.clock_jump_ns,
                        foreign: Some(Box::new(foreign.since_start())),
                        ..PointEnd::default()
                    }),
                    records: u64::MAX,
                });
            }
            // Words for those that make load.
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(false),
        }
    }
    Ok(true)
}

/// Until the word that it is over.
fn phase<W: Write>(
    sampler: &mut SliceSampler,
    at_ns: u64,
    warm_up_ns: u64,
    runner: &Runner,
    speaker: &mut Speaker<W>,
) {
    let grid = Grid::new(warm_up_ns);
    let mut is_over = wait_until(at_ns, runner);
    // What was before belongs to nothing.
    sampler.sample(&mut |_| {}, &mut BTreeMap::new());
    let mut index = 0;
    while !is_over {
        is_over = wait_until(at_ns + grid.end_of(index), runner);
        let start_ns = grid.start_of(index);
        let now_ns = monotonic_ns().saturating_sub(at_ns);
        let length_ns = now_ns.min(grid.end_of(index)).saturating_sub(start_ns);
        let mut telemetry = BTreeMap::new();
        sampler.sample(&mut |_| {}, &mut telemetry);
        if length_ns > 0 {
            speaker.say(&Frame::Watched {
                slice: Box::new(Slice {
                    index,
                    start_ns,
                    length_ns,
                    warm_up: grid.is_warm_up(index),
                    completed: Completed::default(),
                    operations: Vec::new(),
                    by_host: Vec::new(),
                    worker: WorkerUse::default(),
                    telemetry,
                }),
            });
        }
        index += 1;
    }
}

/// Waits until then, and says whether the phase was over before.
fn wait_until(then_ns: u64, runner: &Runner) -> bool {
    loop {
        let rest = then_ns.saturating_sub(monotonic_ns());
        if rest == 0 {
            return runner.stop.load(Ordering::Relaxed);
        }
        let rest = Duration::from_nanos(rest).min(LOOK);
        match runner.receiver.recv_timeout(rest) {
            Ok(Word::Over) | Err(RecvTimeoutError::Disconnected) => return true,
            Ok(_) | Err(RecvTimeoutError::Timeout) if runner.stop.load(Ordering::Relaxed) => {
                return true;
            }
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
        }
    }
}
