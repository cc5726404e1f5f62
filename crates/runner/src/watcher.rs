//! What the program can show of a running experiment.

use plimsoll_plan::{Plan, PlannedRun};
use plimsoll_record::{PointLabel, RunState, Slice};
use tracing::{info, trace, warn};

/// Takes what happens, on the runner's own thread. It should return soon.
pub trait Watcher {
    fn event(&mut self, event: &Event<'_>);

    /// How often the user pressed Ctrl-C: once ends the point cleanly, twice ends the worker at once.
    fn interruptions(&self) -> u32;
}

#[derive(Debug)]
pub enum Event<'a> {
    /// The experiment begins or resumes.
    Begins {
        id: &'a str,
        plan: &'a Plan,
        /// Runs that were finished before.
        finished: u32,
        /// What they took from begin to end, seconds.
        took: Vec<f64>,
        missing: u32,
        /// How many of these are made now: the others are left for later.
        to_make: u32,
    },
    /// Something that the user should know and that stops nothing.
    Note(&'a str),
    RunBegins {
        run: &'a PlannedRun,
        arm: &'a str,
        /// Counted from 1 over the whole plan.
        number: u32,
        runs: u32,
    },
    LoadBegins {
        /// Records that will be stored.
        records: u64,
    },
    PointBegins {
        label: &'a PointLabel,
        warm_up_ns: u64,
        duration_ns: u64,
    },
    Slice(&'a Slice),
    /// The load phase or point is over.
    PointEnds,
    /// The engine is being closed and the data removed.
    Closing,
    RunEnds {
        state: &'a RunState,
        /// Why a gate refused a point of it.
        refused: Option<String>,
    },
}

/// A watcher before which every event is logged.
pub(crate) struct LoggedWatcher<'a>(pub(crate) &'a mut dyn Watcher);

impl Watcher for LoggedWatcher<'_> {
    fn event(&mut self, event: &Event<'_>) {
        // The first event names the experiment, and so the place of its log.
        self.0.event(event);
        event.log();
    }

    fn interruptions(&self) -> u32 {
        self.0.interruptions()
    }
}

impl Event<'_> {
    fn log(&self) {
        let seconds = |nanos: &u64| *nanos as f64 / 1e9;
        match self {
            Self::Begins { id, plan, finished, missing, .. } => info!(
                "experiment {} ({id}): {finished} runs finished, {missing} missing",
                plan.name
            ),
            Self::Note(note) => warn!("{note}"),
            Self::RunBegins { run, arm, number, runs } => {
                info!("run {number} of {runs} begins: arm {arm}, block {}", run.block)
            }
            Self::LoadBegins { records } => info!("loading {records} records"),
            Self::PointBegins { label, warm_up_ns, duration_ns } => info!(
                "point begins: mix {}, {}, warm-up {} s, duration {} s",
                label.mix,
                label.load_label,
                seconds(warm_up_ns),
                seconds(duration_ns)
            ),
            Self::Slice(slice) => trace!(
                "slice from {} s, {} s long",
                seconds(&slice.start_ns),
                seconds(&slice.length_ns)
            ),
            Self::PointEnds => info!("load phase or point ends"),
            Self::Closing => info!("closing the engine"),
            Self::RunEnds { state, refused } => match (state, refused) {
                (RunState::Failed { message }, _) => warn!("run failed: {message}"),
                (_, Some(reason)) => warn!("run ends, and is not valid: {reason}"),
                (state, None) => info!("run ends: {state:?}"),
            },
        }
    }
}
