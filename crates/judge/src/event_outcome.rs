//! What was done to the servers and disks at one point of one run.

use crate::SeriesEvent;
use plimsoll_plan::{Plan, words::event_in_words};
use plimsoll_record::{Disturbance, EventRecord, PointRecord};

/// Begin and end, nanoseconds from the start of the point.
pub(crate) type Window = (u64, u64);

/// What was done to the server or its disk at one point of one run, and its consequences.
pub(crate) struct EventOutcome {
    pub(crate) disturbance: Disturbance,
    /// Failed operations of each slice.
    pub(crate) errors: Vec<u64>,
}

impl EventOutcome {
    /// `None` where nothing was done on purpose.
    pub(crate) fn of(point: &PointRecord) -> Option<Self> {
        let slices = point.slices.iter();
        Some(Self {
            disturbance: point.disturbance()?.clone(),
            errors: slices.map(|slice| slice.completed.error).collect(),
        })
    }

    /// What was done, for drawing.
    pub(crate) fn drawn(&self, plan: &Plan) -> Vec<SeriesEvent> {
        let events = self.disturbance.events.iter();
        events
            .filter_map(|event| {
                let spec = plan.events.get(event.event as usize)?;
                Some(SeriesEvent {
                    at: seconds(event.at_ns),
                    until: event.until_ns.map(seconds),
                    words: match &event.member {
                        Some(member) => format!("{} ({member})", event_in_words(*spec)),
                        None => event_in_words(*spec),
                    },
                })
            })
            .collect()
    }

    /// From each time that an event happened to what was done next, or to the end of the point.
    pub(crate) fn windows(&self, event: usize) -> Vec<Window> {
        let all = &self.disturbance.events;
        let of_event = all.iter().filter(|one| one.event as usize == event);
        let window = |one: &EventRecord| {
            let next = all.iter().map(|next| next.at_ns).filter(|next| *next > one.at_ns).min();
            (one.at_ns, next.unwrap_or(u64::MAX))
        };
        of_event.map(window).collect()
    }
}

#[allow(clippy::cast_precision_loss)] // Times of a point are far below 2^53 ns.
pub(crate) fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}
