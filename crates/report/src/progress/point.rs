//! One running point.

use super::Phase;
use plimsoll_record::Slice;

/// How far a point is, or the load phase: the same for everything that shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PointProgress {
    /// Whether it is the load phase.
    pub is_load: bool,
    /// Under load, before the measured part.
    pub warm_up_seconds: f64,
    /// Measured part as requested; 0 where that is not known.
    pub requested_seconds: f64,
    /// Measuring so far, warm-up included.
    pub seconds: f64,
    /// End of the last slice from the start of the point.
    reached_seconds: f64,
    is_measured: bool,
}

impl PointProgress {
    pub fn load() -> Self {
        Self { is_load: true, ..Self::default() }
    }

    /// A point with this warm-up and this duration.
    pub fn begins(warm_up_ns: u64, asked_ns: u64) -> Self {
        Self {
            warm_up_seconds: warm_up_ns as f64 / 1e9,
            requested_seconds: asked_ns as f64 / 1e9,
            is_measured: warm_up_ns == 0,
            ..Self::default()
        }
    }

    pub fn add(&mut self, slice: &Slice) {
        self.seconds += slice.length_ns as f64 / 1e9;
        self.reached_seconds = (slice.start_ns + slice.length_ns) as f64 / 1e9;
        self.is_measured = !slice.warm_up;
    }

    pub fn phase(&self) -> Phase {
        match self {
            Self { is_load: true, .. } => Phase::Load,
            Self { is_measured: true, .. } => Phase::Measure,
            _ => Phase::WarmUp,
        }
    }

    /// Seconds of the phase so far, and those that it takes; 0 where that is not known.
    pub fn of_phase(&self) -> (f64, f64) {
        match self.phase() {
            Phase::WarmUp => (self.reached_seconds, self.warm_up_seconds),
            Phase::Measure => {
                let measured = self.reached_seconds - self.warm_up_seconds;
                (measured.max(0.0), self.requested_seconds)
            }
            Phase::Prepare | Phase::Load | Phase::TearDown => (self.reached_seconds, 0.0),
        }
    }
}
