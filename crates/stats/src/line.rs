//! The plimsoll line: the highest rate that holds an objective, searched by trials.
//!
//! A trial offers one rate for a while and says whether the objective was met. The search has two parts:
//!
//! 1. **Bracketing**, in the manner of MLRsearch (RFC 9971): by doubling and halving, then by bisection, on a grid of rates that are half of the requested width
//!    apart. All trials at one rate count together by their durations: let *bad* be the seconds in which the objective was not met, *whole* all seconds, at least
//!    the required ones. When more than the share ρ of *whole* is bad, whatever the missing seconds would bring, the rate is above the line; when not more
//!    than ρ is bad even if all missing seconds were, it is below. Trials that ended early are worth less: short bad ones are first set off against short good ones.
//! 2. **Confirming**: near the line trials come out either way, so that a bracket from few of them often misses it. Both ends of the interval are therefore
//!    tried until an exact binomial test tells their bad share from ρ. Where it cannot, because the capacity itself varies too much, the interval gets wider.

use crate::StatsError;
use serde::{Deserialize, Serialize};
use statrs::distribution::{Binomial, DiscreteCDF};

/// When a search is over, and how it weighs its trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LineGoal {
    /// Share of the time at a rate that may be bad, above 0 and below 1: ρ.
    pub bad_share: f64,
    /// Seconds after which a rate is decided while the line is being bracketed.
    pub required_seconds: f64,
    /// Length of a full trial, seconds. Trials that are shorter ended early.
    pub trial_seconds: f64,
    /// (upper - lower) / upper at which the search ends, above 0 and below 1.
    pub width: f64,
    /// With which each end of the interval is confirmed, above 0 and below 1.
    pub confidence: f64,
    /// Full trials at one rate after which it is given up as too near to the line to be distinguished from it.
    pub most_trials: u32,
}

impl LineGoal {
    /// Half of the time may be bad, the line is bracketed with one full trial of this length at a rate, and known within 2 %, each end with 95 % confidence.
    /// A second trial while bracketing would cost more than the wrong turns that it saves: confirming finds them.
    pub fn with_trials_of(seconds: f64) -> LineGoal {
        LineGoal {
            bad_share: 0.5,
            required_seconds: seconds,
            trial_seconds: seconds,
            width: 0.02,
            confidence: 0.95,
            most_trials: 15,
        }
    }
}

/// One rate offered for a while.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LineTrial {
    /// Offered rate of the trial, operations per second.
    pub rate: f64,
    /// Length of the trial, in seconds.
    pub seconds: f64,
    /// Whether the objective was met.
    pub is_good: bool,
}

/// On which side of the line a rate lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The objective holds at this rate.
    Below,
    /// The objective is violated at this rate.
    Above,
    /// Further trials at this rate are needed.
    Undecided,
}

/// What a search wants next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LineStep {
    /// A full trial at this rate.
    Try {
        /// Offered rate of the trial, operations per second.
        rate: f64,
    },
    /// Nothing: the line is known as well as it can be.
    Done(Line),
}

/// What is known of the line after the trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The highest rate at which the objective was confirmed to hold; `None` when there is none, not even the lowest of the search.
    pub lower: Option<f64>,
    /// The lowest rate, above that, at which it was confirmed not to hold; `None` when there is none, not even the highest of the search.
    pub upper: Option<f64>,
}

impl Line {
    /// (upper - lower) / upper; `None` where one of them is open.
    pub fn width(&self) -> Option<f64> {
        Some(1.0 - self.lower? / self.upper?)
    }
}

/// A search for the line. It keeps nothing but its trials, so that one which was interrupted goes on when they are handed in again.
///
/// ```
/// use plimsoll_stats::{LineGoal, LineSearch, LineStep, LineTrial};
///
/// let mut search = LineSearch::new(LineGoal::with_trials_of(10.0), 100.0, 1e6, 1000.0)?;
/// let line = loop {
///     match search.next() {
///         LineStep::Try { rate } => search.add(LineTrial { rate, seconds: 10.0, is_good: rate <= 7_350.0 })?,
///         LineStep::Done(line) => break line,
///     }
/// };
/// assert!(line.lower <= Some(7_350.0) && line.upper > Some(7_350.0));
/// assert!(line.width() < Some(0.0201));
/// # Ok::<(), plimsoll_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LineSearch {
    goal: LineGoal,
    /// Ratio of neighbouring rates of the grid, above 1.
    step: f64,
    first: f64,
    /// Steps from the first rate to the lowest and to the highest.
    reach: (i32, i32),
    /// Whether the first rate is believed to be near the line.
    is_near: bool,
    trials: Vec<LineTrial>,
}

impl LineSearch {
    /// A search between two rates that begins with `first`, all in operations per second.
    ///
    /// # Errors
    /// When the rates are not positive and in order, or the goal is out of its bounds.
    pub fn new(
        goal: LineGoal,
        lowest: f64,
        highest: f64,
        first: f64,
    ) -> Result<LineSearch, StatsError> {
        for (what, value) in [
            ("the bad share", goal.bad_share),
            ("the width", goal.width),
            ("the confidence", goal.confidence),
        ] {
            if !(value > 0.0 && value < 1.0) {
                return Err(StatsError::BadSetting {
                    what,
                    value,
                    allowed: "between 0 and 1, both excluded",
                });
            }
        }
        for (what, value) in [
            ("the required duration", goal.required_seconds),
            ("the duration of a trial", goal.trial_seconds),
            ("the lowest rate", lowest),
        ] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(StatsError::BadSetting { what, value, allowed: "above 0" });
            }
        }
        for (what, value) in [("the highest rate", highest), ("the first rate", first)] {
            if !(value >= lowest && value <= highest && value.is_finite()) {
                return Err(StatsError::BadSetting {
                    what,
                    value,
                    allowed: "between the lowest and the highest rate",
                });
            }
        }
        let step = (1.0 - goal.width).powf(-0.5);
        let steps = |ratio: f64| (ratio.ln() / step.ln()).floor() as i32;
        Ok(LineSearch {
            goal,
            step,
            first,
            reach: (-steps(first / lowest), steps(highest / first)),
            is_near: false,
            trials: Vec::new(),
        })
    }

    /// The same search, of which the first rate is believed to be within a few percent of the line, as of a block before. While all trials lie on one side of
    /// the line, it goes outwards by 2, 4, 8 and so on steps of the grid instead of doubling the rate. Nothing else changes: the same trials are the same line.
    pub fn near(self) -> Self {
        Self { is_near: true, ..self }
    }

    /// Hands in a trial, of this search or of one that was interrupted. Trials at rates that the search did not ask for tell it nothing.
    ///
    /// # Errors
    /// When its rate or duration is not positive.
    pub fn add(&mut self, trial: LineTrial) -> Result<(), StatsError> {
        crate::error::check_positive("rate or duration of a trial", &[trial.rate, trial.seconds])?;
        self.trials.push(trial);
        Ok(())
    }

    /// Every trial, in the order in which they were handed in.
    pub fn trials(&self) -> &[LineTrial] {
        &self.trials
    }

    /// On which side of the line this rate seems to lie, by its own trials alone and after the required duration.
    pub fn side(&self, rate: f64) -> Side {
        let goal = &self.goal;
        let sum = |is_good: bool, is_full: bool| {
            self.trials
                .iter()
                .filter(|trial| trial.rate == rate && trial.is_good == is_good)
                .filter(|trial| (trial.seconds >= goal.trial_seconds) == is_full)
                .map(|trial| trial.seconds)
                .sum::<f64>()
        };
        let offset = sum(true, false) * goal.bad_share / (1.0 - goal.bad_share);
        let bad = sum(false, true) + (sum(false, false) - offset).max(0.0);
        let counted = sum(true, true) + bad;
        let whole = counted.max(goal.required_seconds);
        let allowed = whole * goal.bad_share;
        if bad > allowed {
            Side::Above
        } else if bad + (whole - counted) <= allowed {
            Side::Below
        } else {
            Side::Undecided
        }
    }

    /// On which side of the line this rate lies for certain: by an exact binomial test of its full trials against the share that may be bad. Trials that came
    /// out both ways are held to half of the doubt.
    pub fn confirmed(&self, rate: f64) -> Side {
        let (all, bad) = self.full_trials(rate);
        let doubt = 1.0 - self.goal.confidence;
        let Ok(law) = Binomial::new(self.goal.bad_share, all) else {
            return Side::Undecided;
        };
        // The trials are looked at after each of them. All alike, they are enough at one look only; when they are not, every further look is another chance
        // to be wrong, for which half of the doubt has to do.
        let are_alike = bad == 0 || bad == all;
        let doubt = if are_alike { doubt } else { doubt / 2.0 };
        if law.cdf(bad) <= doubt {
            Side::Below
        } else if bad > 0 && law.sf(bad - 1) <= doubt {
            Side::Above
        } else {
            Side::Undecided
        }
    }

    /// Full trials at a rate, and how many of them were bad.
    fn full_trials(&self, rate: f64) -> (u64, u64) {
        let full = self
            .trials
            .iter()
            .filter(|trial| trial.rate == rate && trial.seconds >= self.goal.trial_seconds);
        full.fold((0, 0), |(all, bad), trial| (all + 1, bad + u64::from(!trial.is_good)))
    }

    /// The rate this many steps from the first.
    fn rate(&self, index: i32) -> f64 {
        self.first * self.step.powi(index)
    }

    /// The rates that were tried, as steps from the first.
    fn tried(&self) -> Vec<i32> {
        let mut tried = Vec::new();
        for trial in &self.trials {
            let index = ((trial.rate / self.first).ln() / self.step.ln()).round() as i32;
            if self.rate(index) == trial.rate && !tried.contains(&index) {
                tried.push(index);
            }
        }
        tried
    }

    /// Among the rates on which `side` has decided, the lowest above the line and the highest below that.
    fn bracket(&self, side: impl Fn(f64) -> Side) -> (Option<i32>, Option<i32>) {
        let tried = self.tried();
        let on = |wanted: Side| {
            let side = &side;
            tried.iter().copied().filter(move |index| side(self.rate(*index)) == wanted)
        };
        let upper = on(Side::Above).min();
        let lower = on(Side::Below).filter(|index| upper.is_none_or(|upper| *index < upper)).max();
        (lower, upper)
    }

    /// What is certain by now.
    pub fn line(&self) -> Line {
        let (lower, upper) = self.bracket(|rate| self.confirmed(rate));
        Line {
            lower: lower.map(|index| self.rate(index)),
            upper: upper.map(|index| self.rate(index)),
        }
    }

    /// What to do next. The answer follows from the trials alone.
    pub fn next(&self) -> LineStep {
        let (lower, upper) = self.bracket(|rate| self.side(rate));
        let between = |index: i32| {
            lower.is_none_or(|lower| index > lower) && upper.is_none_or(|upper| index < upper)
        };
        // What was begun is decided first.
        let begun = self
            .tried()
            .into_iter()
            .find(|index| between(*index) && self.side(self.rate(*index)) == Side::Undecided);
        if let Some(index) = begun {
            return LineStep::Try { rate: self.rate(index) };
        }
        let (lowest, highest) = self.reach;
        let doubled = (2.0_f64.ln() / self.step.ln()).round() as i32;
        // Who has come 0, 2, 6, 14 steps goes 2, 4, 8, 16 further.
        let outwards = |come: i32| match self.is_near {
            true => (come + 2).clamp(2, doubled.max(2)),
            false => doubled,
        };
        let index = match (lower, upper) {
            (None, None) => 0,
            (Some(lower), None) if lower < highest => (lower + outwards(lower)).min(highest),
            (None, Some(upper)) if upper > lowest => (upper - outwards(-upper)).max(lowest),
            (Some(lower), Some(upper)) if upper - lower > 1 => lower + (upper - lower) / 2,
            (Some(lower), None) => return self.confirm(lower, lower + 1),
            (None, Some(upper)) => return self.confirm(upper - 1, upper),
            (Some(lower), Some(upper)) => return self.confirm(lower, upper),
        };
        LineStep::Try { rate: self.rate(index) }
    }

    /// The next trial that helps to make both ends certain, for a line that seems to lie between two neighbours of the grid.
    fn confirm(&self, below: i32, above: i32) -> LineStep {
        let (lowest, highest) = self.reach;
        let (certain_below, certain_above) = self.bracket(|rate| self.confirmed(rate));
        let is_wide = |lower: i32, upper: i32| upper - lower > 2;
        // An end beyond the reach of the search stays open.
        let open_below = below < lowest;
        let open_above = above > highest;
        let is_done = match (certain_below, certain_above) {
            (Some(lower), Some(upper)) => !is_wide(lower, upper),
            (Some(lower), None) => open_above && lower >= below,
            (None, Some(upper)) => open_below && upper <= above,
            (None, None) => false,
        };
        if is_done {
            return LineStep::Done(self.line());
        }
        // Two steps are the requested width: one end may move outwards by one. Wider intervals are for ends that cannot be distinguished from the line.
        for width in 2..=highest - lowest + 2 {
            let mut windows: Vec<(f64, i32, i32)> = (0..width)
                .map(|moved| (below - moved, below - moved + width))
                .filter(|(_, upper)| *upper >= above)
                .map(|(lower, upper)| (self.doubt(lower) + self.doubt(upper), lower, upper))
                .collect();
            windows.sort_by(|a, b| a.0.total_cmp(&b.0));
            for (_, lower, upper) in windows {
                let ends = [(lower, Side::Below), (upper, Side::Above)];
                let ends = ends.map(|(index, side)| {
                    let beyond = !(lowest..=highest).contains(&index);
                    let rate = self.rate(index);
                    let certain = beyond || self.confirmed(rate) == side;
                    let spent = self.full_trials(rate).0 >= u64::from(self.goal.most_trials);
                    (index, certain, spent)
                });
                if ends.iter().all(|(_, certain, _)| *certain) {
                    return LineStep::Done(self.line());
                }
                if ends.iter().any(|(_, certain, spent)| *spent && !*certain) {
                    continue;
                }
                let next = ends
                    .iter()
                    .filter(|(_, certain, _)| !*certain)
                    .max_by(|a, b| self.doubt(a.0).total_cmp(&self.doubt(b.0)));
                if let Some((index, ..)) = next {
                    return LineStep::Try { rate: self.rate(*index) };
                }
            }
        }
        LineStep::Done(self.line())
    }

    /// How far a rate is from being distinguished from the line: the smaller tail of the test.
    fn doubt(&self, index: i32) -> f64 {
        let (all, bad) = self.full_trials(self.rate(index));
        match Binomial::new(self.goal.bad_share, all) {
            Ok(law) if all > 0 => {
                let above = if bad > 0 { law.sf(bad - 1) } else { 1.0 };
                law.cdf(bad).min(above)
            }
            _ => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn search() -> LineSearch {
        let goal = LineGoal { required_seconds: 30.0, ..LineGoal::with_trials_of(10.0) };
        LineSearch::new(goal, 10.0, 10_000.0, 100.0).expect("in order")
    }

    fn trial(rate: f64, seconds: f64, is_good: bool) -> LineTrial {
        LineTrial { rate, seconds, is_good }
    }

    fn side_of(trials: &[(f64, bool)]) -> Side {
        let mut search = search();
        for (seconds, is_good) in trials {
            search.add(trial(100.0, *seconds, *is_good)).expect("positive");
        }
        search.side(100.0)
    }

    /// Thirty seconds are required, and more than half must be bad.
    #[test]
    fn a_rate_is_decided_when_the_missing_seconds_could_not_change_it() {
        assert_eq!(side_of(&[]), Side::Undecided);
        assert_eq!(side_of(&[(10.0, true)]), Side::Undecided);
        assert_eq!(side_of(&[(10.0, true), (10.0, true)]), Side::Below);
        assert_eq!(side_of(&[(10.0, false), (10.0, true)]), Side::Undecided);
        assert_eq!(side_of(&[(10.0, false), (10.0, false)]), Side::Above);
        let mixed = [(10.0, false), (10.0, true), (10.0, true)];
        assert_eq!(side_of(&mixed), Side::Below);
    }

    #[test]
    fn short_trials_set_each_other_off() {
        // Nine bad seconds against five good ones leave four, of thirty.
        assert_eq!(side_of(&[(9.0, false), (5.0, true)]), Side::Undecided);
        let with_full = [(9.0, false), (5.0, true), (10.0, true), (10.0, true)];
        assert_eq!(side_of(&with_full), Side::Below);
        // Short good ones alone decide nothing.
        assert_eq!(side_of(&[(9.0, true); 10]), Side::Undecided);
    }

    #[test]
    fn objectives_that_every_rate_or_no_rate_meets_leave_an_end_open() {
        for (is_good, lower, upper) in [(true, Some(10_000.0), None), (false, None, Some(10.0))] {
            let mut search = search();
            let line = loop {
                match search.next() {
                    LineStep::Try { rate } => {
                        search.add(trial(rate, 10.0, is_good)).expect("positive");
                    }
                    LineStep::Done(line) => break line,
                }
            };
            let near = |found: Option<f64>, wanted: Option<f64>| match (found, wanted) {
                (Some(found), Some(wanted)) => (found / wanted - 1.0).abs() < 0.02,
                (found, wanted) => found == wanted,
            };
            assert!(near(line.lower, lower) && near(line.upper, upper), "{line:?}");
            assert_eq!(line.width(), None);
        }
    }

    #[test]
    fn what_is_out_of_bounds_is_refused() {
        let goal = LineGoal::with_trials_of(10.0);
        assert!(LineSearch::new(goal, 0.0, 10.0, 5.0).is_err());
        assert!(LineSearch::new(goal, 10.0, 5.0, 7.0).is_err());
        assert!(LineSearch::new(goal, 1.0, 10.0, 11.0).is_err());
        let all_bad = LineGoal { bad_share: 1.0, ..goal };
        assert!(LineSearch::new(all_bad, 1.0, 10.0, 5.0).is_err());
        assert!(search().add(trial(f64::NAN, 1.0, true)).is_err());
    }

    /// The rates that a search asks for while every trial comes out alike.
    fn requested(mut search: LineSearch, is_good: bool, count: usize) -> Vec<f64> {
        let mut rates = Vec::new();
        while rates.len() < count {
            let LineStep::Try { rate } = search.next() else {
                break;
            };
            if rates.last() != Some(&rate) {
                rates.push(rate);
            }
            search.add(trial(rate, 30.0, is_good)).expect("positive");
        }
        rates
    }

    /// A step of the grid is half of the requested width of 2 %: 1.0102 = 0.98^-0.5.
    #[test]
    fn near_the_line_a_search_goes_outwards_by_a_few_steps_of_the_grid() {
        for (is_good, sign) in [(true, 1), (false, -1)] {
            let found = requested(search().near(), is_good, 5);
            let wanted =
                [0, 2, 6, 14, 30].map(|steps| 100.0 * 0.98_f64.powf(-0.5).powi(sign * steps));
            for (found, wanted) in found.iter().zip(wanted) {
                assert!((found / wanted - 1.0).abs() < 1e-9, "{found} for {wanted}");
            }
            // It never goes further than by doubling, and ends where the others do.
            let far = requested(search().near(), is_good, 100);
            let others = requested(search(), is_good, 100);
            assert_eq!(far.last(), others.last());
            let largest = far.windows(2).map(|pair| (pair[1] / pair[0]).max(pair[0] / pair[1]));
            assert!(largest.fold(0.0, f64::max) < 2.03, "{far:?}");
        }
    }

    #[test]
    fn what_came_out_both_ways_is_held_to_half_of_the_doubt() {
        // Bin(5, ½): none bad has probability 1/32 = 3.1 %. Bin(8, ½): at most one 9/256 = 3.5 %; Bin(9, ½): 10/512 = 2.0 %.
        let mut search = search();
        let mut sides = Vec::new();
        for is_good in [true, true, true, true, false, true, true, true, true] {
            search.add(trial(100.0, 10.0, is_good)).expect("positive");
            sides.push(search.confirmed(100.0));
        }
        assert_eq!(sides[7], Side::Undecided);
        assert_eq!(sides[8], Side::Below);
        let mut search = self::search();
        for _ in 0..5 {
            search.add(trial(100.0, 10.0, true)).expect("positive");
        }
        assert_eq!(search.confirmed(100.0), Side::Below);
    }

    proptest! {
        #[test]
        fn a_search_from_near_the_line_is_short_and_replayed_without_knowing(steps in -4.0..4.0_f64) {
            let first = 1000.0;
            let truth = first * 1.0102_f64.powf(steps);
            let goal = LineGoal::with_trials_of(10.0);
            let mut search = LineSearch::new(goal, 10.0, 1e6, first).expect("in order").near();
            let line = loop {
                match search.next() {
                    LineStep::Try { rate } => search.add(trial(rate, 10.0, rate <= truth)).expect("positive"),
                    LineStep::Done(line) => break line,
                }
            };
            prop_assert!(search.trials().len() <= 14, "{} trials", search.trials().len());
            prop_assert!(line.lower.is_some_and(|lower| lower <= truth) && line.upper.is_some_and(|upper| upper > truth));
            let mut replayed = LineSearch::new(goal, 10.0, 1e6, first).expect("in order");
            for trial in search.trials() {
                replayed.add(*trial).expect("positive");
            }
            prop_assert_eq!(replayed.line(), line);
        }

        #[test]
        fn without_noise_the_line_is_found_and_an_interruption_changes_nothing(
            truth in 10.2..9_800.0_f64,
            interrupted_after in 0_usize..60,
        ) {
            let mut search = search();
            let mut tries = 0;
            let line = loop {
                if tries == interrupted_after {
                    let mut other = self::search();
                    for trial in search.trials() {
                        other.add(*trial).expect("positive");
                    }
                    prop_assert_eq!(other.next(), search.next());
                    search = other;
                }
                match search.next() {
                    LineStep::Try { rate } => {
                        search.add(trial(rate, 10.0, rate <= truth)).expect("positive");
                    }
                    LineStep::Done(line) => break line,
                }
                tries += 1;
                prop_assert!(tries < 100, "it does not end");
            };
            prop_assert!(line.lower.is_some_and(|lower| lower <= truth));
            prop_assert!(line.upper.is_some_and(|upper| upper > truth));
            prop_assert!(line.width().is_some_and(|width| width <= 0.02 + 1e-12));
        }
    }
}
