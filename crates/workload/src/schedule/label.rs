//! A load in a few words, for tables and charts.

use crate::schedule::load::Load;
use std::fmt;

impl fmt::Display for Load {
    /// `16 threads`, `1 thread, 5 ms think time`, `16 threads, paced at 10,000 op/s`, `20,000 op/s`, `3 stages, 100 to 20,000 op/s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed { sessions, think_time_ns, target } => {
                match sessions {
                    // Another tool measured it and did not say.
                    0 => f.write_str("threads not known")?,
                    1 => f.write_str("1 thread")?,
                    _ => write!(f, "{} threads", grouped(f64::from(*sessions)))?,
                }
                if *think_time_ns > 0 {
                    write!(f, ", {} think time", duration(*think_time_ns))?;
                }
                if let Some(target) = target {
                    write!(f, ", paced at {} op/s", grouped(*target))?;
                }
                Ok(())
            }
            Self::Open { rate, .. } => write!(f, "{} op/s", grouped(*rate)),
            Self::Stages { stages, .. } => {
                let mut lowest = f64::INFINITY;
                let mut highest = 0.0_f64;
                for stage in stages {
                    lowest = lowest.min(stage.rate_from).min(stage.rate_to);
                    highest = highest.max(stage.rate_from).max(stage.rate_to);
                }
                write!(
                    f,
                    "{} {}",
                    stages.len(),
                    if stages.len() == 1 { "stage" } else { "stages" }
                )?;
                if lowest < highest {
                    write!(f, ", {} to {} op/s", grouped(lowest), grouped(highest))
                } else {
                    write!(f, ", {} op/s", grouped(highest))
                }
            }
        }
    }
}

/// A number with a comma between each three digits before the point.
fn grouped(number: f64) -> String {
    let plain = number.to_string();
    let (whole, fraction) = plain.split_at(plain.find('.').unwrap_or(plain.len()));
    let mut text = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + fraction
}

/// A duration in the largest unit that it fills at least once.
fn duration(nanos: u64) -> String {
    let (size, unit) = match nanos {
        0..1_000 => (1.0, "ns"),
        1_000..1_000_000 => (1e3, "µs"),
        1_000_000..1_000_000_000 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{} {unit}", grouped(nanos as f64 / size))
}

#[cfg(test)]
mod tests {
    use crate::schedule::{Arrivals, Load, Stage};

    fn open(rate: f64) -> String {
        Load::Open { rate, arrivals: Arrivals::Poisson, sessions: 3 }.to_string()
    }

    fn closed(sessions: u32, think_time_ns: u64) -> String {
        Load::Closed { sessions, think_time_ns, target: None }.to_string()
    }

    fn stages(rates: &[(f64, f64)]) -> String {
        let stages = rates.iter().map(|(rate_from, rate_to)| Stage {
            rate_from: *rate_from,
            rate_to: *rate_to,
            duration_ns: 1,
        });
        Load::Stages { stages: stages.collect(), arrivals: Arrivals::Constant, sessions: 3 }
            .to_string()
    }

    #[test]
    fn loads_are_told_in_a_few_words() {
        assert_eq!(closed(16, 0), "16 threads");
        assert_eq!(closed(0, 0), "threads not known");
        assert_eq!(closed(1, 0), "1 thread");
        assert_eq!(closed(2_048, 5_000_000), "2,048 threads, 5 ms think time");
        assert_eq!(closed(4, 1_500_000_000), "4 threads, 1.5 s think time");
        assert_eq!(closed(4, 250), "4 threads, 250 ns think time");
        let paced = Load::Closed { sessions: 16, think_time_ns: 0, target: Some(10_000.0) };
        assert_eq!(paced.to_string(), "16 threads, paced at 10,000 op/s");
        assert_eq!(open(20_000.0), "20,000 op/s");
        assert_eq!(open(0.5), "0.5 op/s");
        assert_eq!(open(1_234_567.25), "1,234,567.25 op/s");
        assert_eq!(open(100.0), "100 op/s");
        let expected = "2 stages, 0 to 20,000 op/s";
        assert_eq!(stages(&[(0.0, 500.0), (500.0, 20_000.0)]), expected);
        assert_eq!(stages(&[(500.0, 500.0)]), "1 stage, 500 op/s");
    }
}
