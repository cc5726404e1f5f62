//! The second of each slice, and how many of the first measured ones are still warm-up.

use crate::{Figures, SeriesSecond, Steadiness};
use plimsoll_record::{Histogram, Operation, PointRecord, Slice, Status, unit_percentiles_ns};
use plimsoll_stats::{Scale, Signal, WarmUp, median, warm_up};

/// Points of a hundred by which a share must be off before the cut to have a vote.
const TELLING: f64 = 0.05;

/// Every slice of a point in a few numbers, in order, warm-up included.
pub(crate) fn seconds(point: &PointRecord) -> Vec<SeriesSecond> {
    let mut seconds = Vec::with_capacity(point.slices.len());
    let summed_up = point.summed_up();
    for (at, slice) in point.slices.iter().enumerate() {
        let [p50_ns, p99_ns] = match summed_up {
            Some(sums) => sums.units.get(at).copied().unwrap_or_default(),
            None => unit_percentiles_ns(&successful_units(slice), [50.0, 99.0]),
        };
        let length = slice.length_ns as f64 / 1e9;
        seconds.push(SeriesSecond {
            at: slice.start_ns as f64 / 1e9,
            length,
            throughput: rate(slice.completed.ok, length),
            p50_ns: p50_ns.map(|value| value as f64),
            p99_ns: p99_ns.map(|value| value as f64),
        });
    }
    seconds
}

/// Operations per second; a stretch without length has no rate.
pub(crate) fn rate(operations: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { operations as f64 / seconds } else { 0.0 }
}

/// Response times of what succeeded in a slice.
pub(crate) fn successful_units(slice: &Slice) -> Vec<(Operation, &Histogram)> {
    let mut parts = Vec::with_capacity(slice.operations.len());
    for part in &slice.operations {
        if part.status == Status::Ok {
            parts.push((part.operation, part.latencies.response()));
        }
    }
    parts
}

/// What was found about the warm-up of a point.
pub(crate) struct Settling {
    /// Measured slices to leave out at the start.
    pub(crate) cut: usize,
    /// How the series settled; its seconds are those of the slices left out.
    pub(crate) steadiness: Steadiness,
    /// In words, where it did not settle or where it is not known.
    pub(crate) remark: Option<String>,
}

/// Looks for warm-up that goes on after the one requested, in throughput, in the logarithm of the median response, and in the shares of the engine's cache that
/// are full and dirty. The cut is moved on to the end of a checkpoint.
///
/// A share has a vote only where it shows a warm-up: known in every second, with a cut found in it by itself, before which it was on average at
/// least 5 points off, and steady after it. Such a vote can move the cut and nothing else: a point whose throughput and response are steady
/// stays so, whatever its cache goes on doing, as a dirty share rises and falls with every checkpoint.
///
/// `measured` are the seconds after the requested warm-up, `watched` what was watched in them (empty where nothing was). A second without any operation has no median; operations then took at least that second, which is
/// put in its place. A last slice of less than half the usual length says too little to vote.
pub(crate) fn settling(measured: &[SeriesSecond], watched: &[Figures]) -> Settling {
    let longest = measured.iter().map(|second| second.length).fold(0.0, f64::max);
    let voting = match measured.split_last() {
        Some((last, before)) if last.length < longest / 2.0 => before,
        _ => measured,
    };
    let mut throughput = Vec::with_capacity(voting.len());
    let mut p50 = Vec::with_capacity(voting.len());
    for second in voting {
        throughput.push(second.throughput);
        p50.push(second.p50_ns.unwrap_or(second.length * 1e9).max(1.0));
    }
    in_units_of_median(&mut throughput);
    in_units_of_median(&mut p50);
    let mut signals = vec![
        Signal { samples: &throughput, scale: Scale::Linear },
        Signal { samples: &p50, scale: Scale::Logarithmic },
    ];
    let watched = &watched[..watched.len().min(voting.len())];
    let ends = checkpoint_ends(watched);
    let mut found = warm_up(&signals, &ends);
    let mut shares = Vec::new();
    if matches!(found, Ok(WarmUp::Steady { .. })) && watched.len() == voting.len() {
        shares.extend(telling(watched, |one| one.engine_cache_fill));
        shares.extend(telling(watched, |one| one.engine_cache_dirty));
    }
    for samples in &shares {
        signals.push(Signal { samples, scale: Scale::Share });
        match warm_up(&signals, &ends) {
            Ok(WarmUp::Steady { cut }) => found = Ok(WarmUp::Steady { cut }),
            _ => {
                signals.pop();
            }
        }
    }
    let (cut, steadiness, remark) = match found {
        Ok(WarmUp::Steady { cut }) => {
            let cut_seconds = voting[..cut].iter().map(|second| second.length).sum();
            (cut, Steadiness::Steady { cut_seconds }, None)
        }
        Ok(WarmUp::StillSettling { signal, drift }) => (
            0,
            Steadiness::NotSteady,
            Some(format!("{} still settling to the end", moved(signal, drift))),
        ),
        Ok(WarmUp::Drifting { cut, signal, drift }) => (
            cut,
            Steadiness::NotSteady,
            Some(format!("{} drifting to the end", moved(signal, drift))),
        ),
        Ok(WarmUp::TooShort { samples, needed }) => {
            let slices = if samples == 1 { "slice" } else { "slices" };
            let remark = format!("{samples} {slices}, {needed} are needed");
            (0, Steadiness::Unknown, Some(remark))
        }
        Err(error) => (0, Steadiness::Unknown, Some(error.to_string())),
    };
    Settling { cut, steadiness, remark }
}

/// A share that shows a warm-up, if it does.
fn telling(watched: &[Figures], share: impl Fn(&Figures) -> Option<f64>) -> Option<Vec<f64>> {
    let samples: Option<Vec<f64>> = watched.iter().map(share).collect();
    let samples = samples?;
    let signal = Signal { samples: &samples, scale: Scale::Share };
    let Ok(WarmUp::Steady { cut }) = warm_up(&[signal], &[]) else {
        return None;
    };
    let (before, after) = samples.split_at(cut);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let is_higher = cut > 0 && (mean(before) - mean(after)).abs() >= TELLING;
    is_higher.then_some(samples)
}

/// Numbers of seconds from the start after which a checkpoint was over.
fn checkpoint_ends(watched: &[Figures]) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut was_running = false;
    for (index, second) in watched.iter().enumerate() {
        let is_running = second.checkpoint_share.is_some_and(|share| share >= 0.5);
        let completed = match second.checkpoints {
            Some(count) => count > 0.0,
            None => was_running && !is_running,
        };
        if completed {
            ends.push(index + 1);
        }
        was_running = is_running;
    }
    ends
}

/// Neither the cut nor the drift depends on the unit. But the median of a histogram has three digits and is often the same in every second, and only ones
/// add up without rounding errors, among which the search for the smallest variance would otherwise choose.
fn in_units_of_median(samples: &mut [f64]) {
    let unit = median(samples).unwrap_or_default();
    if unit > 0.0 {
        for sample in samples {
            *sample /= unit;
        }
    }
}

fn moved(signal: usize, drift: f64) -> String {
    let name = if signal == 0 { "throughput" } else { "median response" };
    format!("{name} moved by {:+.0} %,", drift * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(throughput: f64, p50_ns: Option<f64>) -> SeriesSecond {
        SeriesSecond { at: 0.0, length: 1.0, throughput, p50_ns, p99_ns: None }
    }

    /// A ripple without a trend.
    fn steady(count: usize) -> Vec<SeriesSecond> {
        (0..count).map(|i| second(1_000.0 + (i * 7 % 5) as f64, Some(1_000.0))).collect()
    }

    #[test]
    fn a_slow_start_is_cut() {
        let mut measured = steady(40);
        for (index, slow) in measured[..5].iter_mut().enumerate() {
            slow.throughput = 300.0 + 50.0 * index as f64;
        }
        let settling = settling(&measured, &[]);
        assert_eq!(settling.cut, 5);
        assert_eq!(settling.steadiness, Steadiness::Steady { cut_seconds: 5.0 });
    }

    #[test]
    fn latency_alone_can_show_the_warm_up() {
        let mut measured = steady(40);
        for slow in &mut measured[..10] {
            slow.p50_ns = Some(50_000.0);
        }
        assert_eq!(settling(&measured, &[]).cut, 10);
    }

    #[test]
    fn few_slices_cannot_be_judged() {
        let found = settling(&steady(9), &[]);
        assert_eq!(found.steadiness, Steadiness::Unknown);
        assert_eq!(found.remark.as_deref(), Some("9 slices, 10 are needed"));
        assert_eq!(settling(&[], &[]).cut, 0);
    }

    #[test]
    fn a_series_that_climbs_to_its_end_is_not_steady() {
        let climbing: Vec<SeriesSecond> =
            (0..60).map(|i| second(500.0 + 10.0 * f64::from(i), Some(1e6))).collect();
        assert_eq!(settling(&climbing, &[]).steadiness, Steadiness::NotSteady);
    }

    #[test]
    fn a_second_without_operations_is_no_obstacle() {
        let mut measured = steady(40);
        measured[20] = second(0.0, None);
        assert_eq!(settling(&measured, &[]).steadiness, Steadiness::Steady { cut_seconds: 0.0 });
    }

    #[test]
    fn a_perfectly_even_series_is_not_cut() {
        for p50_ns in [80_063.0, 1_234.0, 3.0] {
            let even = vec![second(0.1 * p50_ns, Some(p50_ns)); 60];
            assert_eq!(settling(&even, &[]).cut, 0, "{p50_ns}");
        }
    }

    #[test]
    fn a_short_last_slice_does_not_vote() {
        let mut measured = steady(40);
        measured.push(SeriesSecond { length: 0.01, ..second(90_000.0, Some(5.0)) });
        assert_eq!(settling(&measured, &[]).steadiness, Steadiness::Steady { cut_seconds: 0.0 });
    }

    /// Seconds with these shares of the cache full and dirty.
    fn shares(fill: impl Fn(usize) -> f64, dirty: impl Fn(usize) -> f64) -> Vec<Figures> {
        (0..60)
            .map(|index| Figures {
                engine_cache_fill: Some(fill(index)),
                engine_cache_dirty: Some(dirty(index)),
                ..Figures::default()
            })
            .collect()
    }

    #[test]
    fn a_cache_that_fills_moves_the_cut() {
        let filling = shares(|i| (0.4 + 0.03 * i as f64).min(0.8), |_| 0.01);
        let found = settling(&steady(60), &filling);
        assert!((10..=20).contains(&found.cut), "{}", found.cut);
        assert!(matches!(found.steadiness, Steadiness::Steady { .. }));
    }

    #[test]
    fn no_share_makes_a_steady_point_unsteady() {
        let courses: [fn(usize) -> f64; 7] = [
            |_| 0.8,
            |i| 0.8 + 0.002 * (i * 7 % 5) as f64,
            // Filling to the end, and emptying.
            |i| 0.1 + 0.01 * i as f64,
            |i| 0.9 - 0.01 * i as f64,
            // Rising and falling with checkpoints, and one single rise.
            |i| 0.01 * (i % 20) as f64,
            |i| 0.002 * (i % 60) as f64,
            // A jump near the end.
            |i| if i < 55 { 0.1 } else { 0.5 },
        ];
        for (number, fill) in courses.iter().enumerate() {
            for (other, dirty) in courses.iter().enumerate() {
                let found = settling(&steady(60), &shares(fill, dirty));
                let is_steady = matches!(found.steadiness, Steadiness::Steady { .. });
                assert!(is_steady, "{number}, {other}: {:?}", found.steadiness);
                assert!(found.cut <= 30, "{number}, {other}: {}", found.cut);
            }
        }
    }

    #[test]
    fn even_shares_cut_nothing() {
        let even = shares(|i| 0.8 + 0.002 * (i * 7 % 5) as f64, |_| 0.05);
        assert_eq!(settling(&steady(60), &even).cut, 0);
        assert_eq!(settling(&steady(60), &shares(|_| 0.0, |_| 0.0)).cut, 0);
    }

    #[test]
    fn a_share_that_is_not_known_throughout_has_no_vote() {
        let mut filling = shares(|i| (0.4 + 0.03 * i as f64).min(0.8), |_| 0.01);
        filling[30].engine_cache_fill = None;
        assert_eq!(settling(&steady(60), &filling).cut, 0);
    }

    #[test]
    fn the_cut_moves_on_to_the_end_of_a_checkpoint() {
        let mut measured = steady(60);
        for slow in &mut measured[..5] {
            slow.throughput = 300.0;
        }
        let counted = |at: usize| -> Vec<Figures> {
            (0..60)
                .map(|index| Figures {
                    checkpoints: Some(f64::from(u8::from(index == at))),
                    ..Figures::default()
                })
                .collect()
        };
        assert_eq!(settling(&measured, &counted(11)).cut, 12);
        // Not past the half, and not where there was nothing to cut.
        assert_eq!(settling(&measured, &counted(50)).cut, 5);
        assert_eq!(settling(&steady(60), &counted(11)).cut, 0);
        let running: Vec<Figures> = (0..60)
            .map(|index| Figures {
                checkpoint_share: Some(f64::from(u8::from((4..9).contains(&index)))),
                ..Figures::default()
            })
            .collect();
        assert_eq!(settling(&measured, &running).cut, 10);
    }
}
