//! Measuring path: no allocation, lock, log or formatting here, save before the first operation and after the last.
//!
//! Notes when the first operations of a point were under way, on the clock of the traces of disks. A session that notes nothing has no such
//! observer, so that it pays nothing; one that does pays for a reading of the clock with each noted operation, and a comparison with all others.

use crate::clock::monotonic_ns;
use crate::observer::{After, ObservedOp, OpObserver};
use crate::point::run_point_with;
use crate::spec::{LoadError, PointSpec, SliceSink};
use plimsoll_engine::Engine;
use plimsoll_record::{NotedOperation, Operation, PointEnd, Status};
use plimsoll_workload::{Mix, Workload};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

/// As [`run_point`](crate::run_point), and notes the first `most` operations that begin in the measured part: in the end, in the order in which they
/// began. Each session has memory for as many, because it is not known before which session asks how many of them.
/// Sessions are numbered over all hosts.
pub fn run_point_noting(
    engine: &dyn Engine,
    workload: &Arc<Workload>,
    spec: &PointSpec,
    mix: &Mix,
    sink: &mut dyn SliceSink,
    most: usize,
) -> Result<PointEnd, LoadError> {
    let (to, noted) = channel();
    let notebook = |session| Notebook {
        session,
        measured_from_ns: spec.warm_up_ns,
        last: None,
        operations: Vec::with_capacity(most),
        to: to.clone(),
    };
    let mut end = run_point_with(engine, workload, spec, mix, sink, notebook)?;
    drop(to);
    let mut operations: Vec<NotedOperation> = noted.into_iter().flatten().collect();
    operations.sort_by_key(|operation| (operation.begin_ns, operation.session));
    operations.truncate(most);
    end.operations = operations;
    Ok(end)
}

struct Notebook {
    session: u32,
    measured_from_ns: u64,
    /// The operation that was seen last, and when on the clock of the traces, until it is known to be a whole one.
    last: Option<(ObservedOp, u64)>,
    /// Never more than it has room for.
    operations: Vec<NotedOperation>,
    to: Sender<Vec<NotedOperation>>,
}

impl Notebook {
    #[inline(always)]
    fn is_full(&self) -> bool {
        self.operations.len() == self.operations.capacity()
    }
}

impl OpObserver for Notebook {
    #[inline(always)]
    fn saw(&mut self, seen: &ObservedOp) {
        // A verification is seen after the operation and is no part of it.
        if self.is_full()
            || seen.operation == Operation::Verify
            || seen.dispatched_ns < self.measured_from_ns
        {
            return;
        }
        // The loop's own clock may be the processor's counter, which runs a little faster or slower than the kernel's. Read here, right after the
        // answer, the two never drift apart.
        self.last = Some((*seen, monotonic_ns()));
    }

    #[inline(always)]
    fn after(&mut self, _operation: Operation, _status: Status, _attempts: u32) -> After {
        // The whole of a read-modify-write was seen last.
        if let Some((seen, end_ns)) = self.last.take() {
            let took_ns = seen.completed_ns.saturating_sub(seen.dispatched_ns);
            self.operations.push(NotedOperation {
                begin_ns: end_ns.saturating_sub(took_ns),
                end_ns,
                session: self.session,
                operation: seen.operation,
                status: seen.status,
            });
        }
        After::GoOn
    }

    fn closed(&mut self, _begun_ns: u64, _ended_ns: u64) {
        // The notes of a point that was given up are useless.
        let _ = self.to.send(std::mem::take(&mut self.operations));
    }
}
