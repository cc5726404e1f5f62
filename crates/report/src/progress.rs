//! How far an experiment is, as the terminal's line and the live page show it: [`Phase`] says what a run is doing, [`PointProgress`] how far its point is,
//! [`Span`] adds up what was seen, [`TimeLeft`] says how long the rest will take.

mod left;
mod point;
mod span;

pub use left::TimeLeft;
pub use point::PointProgress;
pub use span::Span;

/// What a run is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Prepare,
    Load,
    /// Before the measured part of a point.
    WarmUp,
    /// The measured part of a point.
    Measure,
    TearDown,
}

impl Phase {
    pub fn word(self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::Load => "load",
            Self::WarmUp => "warm up",
            Self::Measure => "measure",
            Self::TearDown => "tear down",
        }
    }
}
