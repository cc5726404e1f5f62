//! One simulation, repeated, and what it had to show.

/// The share that a method promises, before allowing for chance.
#[derive(Clone, Copy)]
pub enum Promise {
    /// Exactly this share.
    Exactly(f64),
    /// At most this share.
    AtMost(f64),
    /// At least this share.
    AtLeast(f64),
    /// A known weakness, or a property without an exact law: between these shares.
    Between(f64, f64),
}

/// A counted share against what was promised.
pub struct Study {
    simulated: &'static str,
    counted: &'static str,
    promise: Promise,
    hits: usize,
    repeats: usize,
}

impl Study {
    /// Repeats `trial`, which says whether the counted thing happened; `None` leaves the repeat out.
    pub fn new(
        simulated: &'static str,
        counted: &'static str,
        promise: Promise,
        repeats: usize,
        mut trial: impl FnMut() -> Option<bool>,
    ) -> Study {
        let (mut hits, mut counted_repeats) = (0, 0);
        for _ in 0..repeats {
            let Some(hit) = trial() else { continue };
            counted_repeats += 1;
            hits += usize::from(hit);
        }
        Study {
            simulated,
            counted,
            promise,
            hits,
            repeats: counted_repeats,
        }
    }

    fn share(&self) -> f64 {
        self.hits as f64 / self.repeats as f64
    }

    /// Whether the share lies in the promised band, chance allowed for.
    pub fn kept(&self) -> bool {
        let chance =
            |promised: f64| 3.3 * (promised * (1.0 - promised) / self.repeats as f64).sqrt();
        let (low, high) = match self.promise {
            Promise::Exactly(share) => (share - chance(share), share + chance(share)),
            Promise::AtMost(share) => (0.0, share + chance(share)),
            Promise::AtLeast(share) => (share - chance(share), 1.0),
            Promise::Between(low, high) => (low - chance(low), high + chance(high)),
        };
        low <= self.share() && self.share() <= high
    }

    /// One row of the table.
    pub fn row(&self) -> String {
        let percent = |share: f64| {
            let text = format!("{:.2}", share * 100.0);
            let text = text.trim_end_matches('0').trim_end_matches('.').to_string();
            format!("{text} %")
        };
        let promised = match self.promise {
            Promise::Exactly(share) => percent(share),
            Promise::AtMost(share) => format!("at most {}", percent(share)),
            Promise::AtLeast(share) => format!("at least {}", percent(share)),
            Promise::Between(low, high) => format!("{} to {}", percent(low), percent(high)),
        };
        format!(
            "| {} | {} | {promised} | {:.1} % | {} |\n",
            self.simulated,
            self.counted,
            self.share() * 100.0,
            self.repeats
        )
    }
}
