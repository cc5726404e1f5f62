//! What was seen in a span of time.

use plimsoll_record::{Histogram, Operation, Slice, Status};

/// Slices added up as far as progress shows them.
#[derive(Clone, Debug, Default)]
pub struct Span {
    pub seconds: f64,
    /// Units of work that ended as requested.
    pub completed: u64,
    /// Units of work that failed.
    pub errors: u64,
    response: Histogram,
}

impl Span {
    pub fn add(&mut self, slice: &Slice) {
        self.seconds += slice.length_ns as f64 / 1e9;
        self.add_late(slice);
    }

    /// The late share of a slice that was added before, as early records hold them.
    pub fn add_late(&mut self, slice: &Slice) {
        self.completed += slice.completed.ok;
        self.errors += slice.completed.error;
        for part in &slice.operations {
            if part.status == Status::Ok && part.operation != Operation::Verify {
                self.response.merge(part.latencies.response());
            }
        }
    }

    pub fn rate(&self) -> f64 {
        if self.seconds > 0.0 { self.completed as f64 / self.seconds } else { 0.0 }
    }

    pub fn p99_ns(&self) -> Option<f64> {
        self.response.percentile_ns(99.0).map(|value| value as f64)
    }
}
