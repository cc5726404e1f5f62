//! One simulation, repeated, and what it had to show.

use crate::calibration::simulate::Source;
use std::cell::Cell;

thread_local! {
    /// Whether studies that run on this thread make a small part of their repeats.
    static IS_SHORT: Cell<bool> = const { Cell::new(false) };
}

/// What `work` returns, with a fortieth of the repeats of every study in it.
pub fn short<T>(work: impl FnOnce() -> T) -> T {
    IS_SHORT.set(true);
    let result = work();
    IS_SHORT.set(false);
    result
}

/// How many of these repeats this thread makes.
pub fn repeats(all: usize) -> usize {
    if IS_SHORT.get() { (all / 40).max(40) } else { all }
}

/// The share that a method promises, before allowing for chance.
#[derive(Clone, Copy)]
pub enum Promise {
    Exactly(f64),
    AtMost(f64),
    AtLeast(f64),
    /// A known weakness, or a property without an exact law: between these shares.
    Between(f64, f64),
}

/// What came out of the repeats.
enum StudyOutcome {
    /// How often the counted thing happened, against what was promised.
    Count { hits: usize, promise: Promise },
    /// A mean, and the most that it may be.
    Mean { mean: f64, most: f64 },
}

/// What repeats of a simulation showed, against what was promised.
pub struct Study {
    simulated: String,
    counted: String,
    found: StudyOutcome,
    repeats: usize,
}

/// The studies of a chapter.
pub struct Studies {
    pub all: Vec<Study>,
    /// How often the next ones are repeated.
    pub repeats: usize,
}

impl Studies {
    pub fn repeated(repeats: usize) -> Self {
        let all = Vec::new();
        Self { all, repeats }
    }

    /// Adds what a simulation shows that is repeated with draws from one seed.
    pub fn add(
        &mut self,
        seed: u64,
        simulated: &str,
        counted: &str,
        promise: Promise,
        mut trial: impl FnMut(&mut Source) -> Option<bool>,
    ) {
        let mut source = Source::new(seed);
        let trial = || trial(&mut source);
        let study = Study::new(simulated, counted, promise, self.repeats, trial);
        self.all.push(study);
    }
}

impl Study {
    /// Repeats `trial`, which says whether the counted thing happened; `None` leaves the repeat out.
    pub fn new(
        simulated: &str,
        counted: &str,
        promise: Promise,
        repeats: usize,
        mut trial: impl FnMut() -> Option<bool>,
    ) -> Study {
        let (mut hits, mut counted_repeats) = (0, 0);
        for _ in 0..self::repeats(repeats) {
            let Some(hit) = trial() else { continue };
            counted_repeats += 1;
            hits += usize::from(hit);
        }
        Study {
            simulated: simulated.into(),
            counted: counted.into(),
            found: StudyOutcome::Count { hits, promise },
            repeats: counted_repeats,
        }
    }

    /// A mean that may not be above `most`. Nothing is allowed for chance.
    pub fn mean(simulated: &str, counted: &str, most: f64, values: &[f64]) -> Study {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        Study {
            simulated: simulated.into(),
            counted: counted.into(),
            found: StudyOutcome::Mean { mean, most },
            repeats: values.len(),
        }
    }

    /// Whether the share lies in the promised band, chance allowed for.
    pub fn kept(&self) -> bool {
        let (hits, promise) = match self.found {
            StudyOutcome::Count { hits, promise } => (hits, promise),
            StudyOutcome::Mean { mean, most } => return mean <= most,
        };
        let share = hits as f64 / self.repeats as f64;
        let chance =
            |promised: f64| 3.3 * (promised * (1.0 - promised) / self.repeats as f64).sqrt();
        let (low, high) = match promise {
            Promise::Exactly(share) => (share - chance(share), share + chance(share)),
            Promise::AtMost(share) => (0.0, share + chance(share)),
            Promise::AtLeast(share) => (share - chance(share), 1.0),
            Promise::Between(low, high) => (low - chance(low), high + chance(high)),
        };
        low <= share && share <= high
    }

    /// One row of the table.
    pub fn row(&self) -> String {
        let percent = |share: f64| {
            let text = format!("{:.2}", share * 100.0);
            let text = text.trim_end_matches('0').trim_end_matches('.').to_string();
            format!("{text} %")
        };
        let (promised, found) = match self.found {
            StudyOutcome::Count { hits, promise } => {
                let promised = match promise {
                    Promise::Exactly(share) => percent(share),
                    Promise::AtMost(share) => format!("at most {}", percent(share)),
                    Promise::AtLeast(share) => format!("at least {}", percent(share)),
                    Promise::Between(low, high) => format!("{} to {}", percent(low), percent(high)),
                };
                let share = hits as f64 / self.repeats as f64;
                (promised, format!("{:.1} %", share * 100.0))
            }
            StudyOutcome::Mean { mean, most } => (format!("at most {most}"), format!("{mean:.1}")),
        };
        format!(
            "| {} | {} | {promised} | {found} | {} |\n",
            self.simulated, self.counted, self.repeats
        )
    }
}
