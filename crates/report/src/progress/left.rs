//! How long the rest of an experiment will take.

use plimsoll_plan::Needs;

/// How long the rest will take: by the plan before the first run has ended, by the runs that have ended from then on. Instants are
/// seconds on any clock that only runs forward, always the same one.
#[derive(Clone, Debug, Default)]
pub struct TimeLeft {
    measuring_seconds: f64,
    /// Everything else of one run: estimated before the first has ended, then the mean of those that have.
    other_seconds: f64,
    runs_ended: u32,
    measured_total: f64,
    other_total: f64,
    /// The run that is going on.
    run: Option<RunInProgress>,
}

#[derive(Clone, Copy, Debug)]
struct RunInProgress {
    begun: f64,
    /// How much measuring is done, of the whole run and of its point.
    measured_seconds: f64,
    point_seconds: f64,
    /// How long its point takes.
    point_requested: f64,
}

impl TimeLeft {
    pub fn of(needs: &Needs) -> Self {
        let runs = needs.runs.max(1) as f64;
        Self {
            measuring_seconds: (needs.measuring_ns.saturating_add(needs.searching_ns)) as f64
                / 1e9
                / runs,
            other_seconds: (needs.loading_ns + needs.filling_ns + needs.starting_ns) as f64
                / 1e9
                / runs,
            ..Self::default()
        }
    }

    /// A run of this experiment was finished before and took this long from its begin to its end. How much of that was measuring is taken from the plan.
    pub fn finished_before(&mut self, seconds: f64) {
        let measuring = if self.runs_ended == 0 {
            self.measuring_seconds
        } else {
            self.measured_total / f64::from(self.runs_ended)
        };
        self.ended(measuring.min(seconds), seconds);
    }

    fn ended(&mut self, measured: f64, all: f64) {
        self.runs_ended += 1;
        self.other_total += (all - measured).max(0.0);
        self.other_seconds = self.other_total / f64::from(self.runs_ended);
        // Points may end early, after a number of operations, and searches may take more trials: then the plan's time is wrong.
        self.measured_total += measured;
        self.measuring_seconds = self.measured_total / f64::from(self.runs_ended);
    }

    pub fn run_begins(&mut self, now: f64) {
        self.run = Some(RunInProgress {
            begun: now,
            measured_seconds: 0.0,
            point_seconds: 0.0,
            point_requested: 0.0,
        });
    }

    /// A point begins, which takes this long with its warm-up.
    pub fn point_begins(&mut self, seconds: f64) {
        if let Some(run) = &mut self.run {
            run.point_seconds = 0.0;
            run.point_requested = seconds;
        }
    }

    /// So much of the point was measured, warm-up included.
    pub fn measured(&mut self, seconds: f64) {
        if let Some(run) = &mut self.run {
            run.measured_seconds += seconds;
            run.point_seconds += seconds;
        }
    }

    /// A point is over, perhaps before its time.
    pub fn point_ends(&mut self) {
        self.point_begins(0.0);
    }

    /// The run is over. Only of runs that finished anything is learnt.
    pub fn run_ends(&mut self, finished: bool, now: f64) {
        let Some(run) = self.run.take() else { return };
        if finished {
            self.ended(run.measured_seconds, now - run.begun);
        }
    }

    /// Seconds until the end, where this many runs are still to begin.
    pub fn seconds(&self, runs_to_begin: u32, now: f64) -> f64 {
        let (mut measuring, mut other) = (self.measuring_seconds, self.other_seconds);
        let mut this = 0.0;
        if let Some(run) = self.run {
            let other_so_far = now - run.begun - run.measured_seconds;
            if self.runs_ended == 0 {
                // A search that takes longer than was thought ends with the trial that it is in at the earliest, and the other runs are
                // taken to search as long. Once a run has ended its time is better known than that of any point, which may end early.
                let at_least =
                    run.measured_seconds + (run.point_requested - run.point_seconds).max(0.0);
                measuring = measuring.max(at_least);
                // A load that takes longer than was thought is taken to take as long in the other runs.
                other = other.max(other_so_far);
            }
            this = measuring - run.measured_seconds + (other - other_so_far).max(0.0);
        }
        f64::from(runs_to_begin) * (measuring + other) + this.max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four runs of 20 s of measuring and 5 s of loading each.
    fn left() -> TimeLeft {
        TimeLeft::of(&Needs {
            runs: 4,
            measuring_ns: 60_000_000_000,
            searching_ns: 20_000_000_000,
            searching_longer_ns: 60_000_000_000,
            searching_most_ns: 300_000_000_000,
            loading_ns: 20_000_000_000,
            filling_ns: 0,
            starting_ns: 4_000_000_000,
            calibration_ns: 0,
            disk_bytes: 0,
            memory_bytes: 0,
            disk_memory_bytes: 0,
            root: false,
            packages: Vec::new(),
        })
    }

    #[test]
    fn the_plan_is_believed_until_a_run_has_ended() {
        let mut left = left();
        assert_eq!(left.seconds(4, 0.0), 4.0 * 26.0);
        left.run_begins(0.0);
        assert_eq!(left.seconds(3, 6.0), 3.0 * 26.0 + 20.0);
        left.point_begins(20.0);
        left.measured(15.0);
        assert_eq!(left.seconds(3, 21.0), 3.0 * 26.0 + 5.0);
        // It measured 16 s instead of 20, and took 3 for everything else instead of 6.
        left.measured(1.0);
        left.point_ends();
        left.run_ends(true, 19.0);
        assert_eq!(left.seconds(3, 19.0), 3.0 * 19.0);
    }

    #[test]
    fn a_load_that_is_slower_than_was_thought_makes_the_rest_longer() {
        let mut left = left();
        left.run_begins(0.0);
        // Six seconds were thought enough for all but measuring.
        assert_eq!(left.seconds(3, 30.0), 3.0 * (20.0 + 30.0) + 20.0);
        left.point_begins(20.0);
        left.measured(20.0);
        left.run_ends(true, 50.0);
        assert_eq!(left.seconds(3, 50.0), 3.0 * 50.0);
        // Once a run has ended, one that is slower says nothing of the others.
        left.run_begins(50.0);
        assert_eq!(left.seconds(2, 110.0), 2.0 * 50.0 + 20.0);
    }

    /// Two runs took three and five times as long as was thought.
    #[test]
    fn runs_that_finished_before_say_how_long_the_others_take() {
        let mut left = left();
        left.finished_before(78.0);
        left.finished_before(130.0);
        assert_eq!(left.seconds(2, 0.0), 2.0 * 104.0);
    }

    #[test]
    fn nothing_is_learnt_from_a_run_that_failed() {
        let mut left = left();
        left.run_begins(0.0);
        left.measured(1.0);
        left.run_ends(false, 2.0);
        assert_eq!(left.seconds(3, 2.0), 3.0 * 26.0);
    }

    #[test]
    fn a_search_that_takes_longer_makes_the_rest_longer() {
        let mut left = left();
        left.run_begins(0.0);
        for _ in 0..4 {
            left.point_begins(10.0);
            left.measured(10.0);
            left.point_ends();
        }
        // Twice what was thought, and a further trial has just begun.
        left.point_begins(10.0);
        assert_eq!(left.seconds(3, 46.0), 10.0 + 3.0 * (50.0 + 6.0));
        left.measured(10.0);
        left.run_ends(true, 56.0);
        assert_eq!(left.seconds(3, 56.0), 3.0 * (50.0 + 6.0));
    }
}
