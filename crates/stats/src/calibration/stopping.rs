//! Does an experiment that ends by looks still claim what is true? And does a gate?

use crate::{Comparison, Interval, Rule, Standing, gate_confidences, is_enough, looks};

use crate::calibration::simulate::Source;
use crate::calibration::study::{Promise, Studies, Study, repeats};
use Promise::{AtLeast, AtMost};

const REPEATS: usize = 1000;
const MOST: u32 = 33;

/// How the blocks of an experiment differ from each other.
#[derive(Clone, Copy)]
enum Noise {
    /// 3 % for each run, independently.
    Independent,
    /// 3 % for each run, and the machine wanders by 5 % from run to run, keeping nine tenths of it.
    Wandering,
    /// 3 % for each run, and one run in ten stalls to half.
    Stalls,
    /// 3 % for each run, and the machine loses 6 % from the first run to the last that may be made.
    Drift,
}

/// When an experiment ends before its last block.
#[derive(Clone, Copy)]
enum Stop {
    /// When the interval was narrow enough, ± 3 %, at two looks in a row.
    Narrow,
    /// When it leaves zero out at a look.
    Different,
}

/// The runs of all blocks that may be made, in shuffled order within each.
fn runs(source: &mut Source, noise: Noise, ratio: f64) -> (Vec<f64>, Vec<f64>) {
    let count = 2 * MOST as usize;
    let wander = source.autoregressive(0.9, count);
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for (run, level) in wander.iter().enumerate() {
        let machine = match noise {
            Noise::Independent => 1.0,
            Noise::Wandering => (0.05 * level).exp(),
            Noise::Stalls => 1.0 - if source.chance(0.1) { 0.5 } else { 0.0 },
            Noise::Drift => 1.0 - 0.06 * run as f64 / (count - 1) as f64,
        };
        let value = machine * (0.03 * source.normal()).exp();
        // A coin decides which of a block's two runs is A's.
        let is_a = match run % 2 {
            0 => source.coin(),
            _ => a.len() < b.len(),
        };
        match is_a {
            true => a.push(value),
            false => b.push(ratio * value),
        }
    }
    (a, b)
}

/// The interval of B over A, as logarithms, with which an experiment ends.
fn stopped(source: &mut Source, noise: Noise, ratio: f64, stop: Stop) -> (Interval, u32) {
    let (a, b) = runs(source, noise, ratio);
    let mut half_widths = Vec::new();
    for look in looks(6, MOST) {
        let blocks = look as usize;
        let interval = Comparison::paired(&a[..blocks], &b[..blocks])
            .expect("simulated runs are positive")
            .ln_ratio(0.95)
            .expect("95 % is valid")
            .interval;
        half_widths.push(Some((interval.upper - interval.lower) / 2.0));
        let ends = match stop {
            Stop::Narrow => is_enough(&half_widths, 0.03),
            Stop::Different => !interval.contains(0.0),
        };
        if ends || look == MOST {
            return (interval, look);
        }
    }
    unreachable!("the last look is after the last block")
}

/// A gate of the margin of throughput, 3 %: how B stands in the end, by which interval of its change, after how many blocks.
fn gated(source: &mut Source, noise: Noise, ratio: f64) -> (Standing, Interval, u32) {
    let (a, b) = runs(source, noise, ratio);
    let looks = looks(10, MOST);
    let (before, last) = gate_confidences(0.95, looks.len());
    for look in looks {
        let blocks = look as usize;
        let demanded = if look == MOST { last } else { before };
        let change = Comparison::paired(&a[..blocks], &b[..blocks])
            .expect("simulated runs are positive")
            .change(demanded)
            .expect("what is demanded is valid");
        let interval = change.interval;
        let attained = (interval.confidence >= demanded).then_some(interval);
        let standing = Standing::of(attained, change.value, Rule::throughput());
        if standing.is_certain() || look == MOST {
            return (standing, interval, look);
        }
    }
    unreachable!("the last look is after the last block")
}

/// Gates: what they promise whatever the noise, and how soon they answer.
fn gates(studies: &mut Studies) {
    let failed = |standing| matches!(standing, Standing::Lost { .. });
    for (name, seed, noise) in [
        ("gate of 3 %, 3 % noise", 51, Noise::Independent),
        ("gate of 3 %, machine wanders (AR 0.9 from run to run, 5 %)", 52, Noise::Wandering),
        ("gate of 3 %, one run in ten stalls to half", 53, Noise::Stalls),
        ("gate of 3 %, 6 % drift over the experiment", 54, Noise::Drift),
    ] {
        let simulated = &format!("{name}, equal arms");
        studies.add(seed, simulated, "fails", AtMost(0.025), |source| {
            Some(failed(gated(source, noise, 1.0).0))
        });
        let simulated = &format!("{name}, B slower by just that");
        studies.add(100 + seed, simulated, "passes", AtMost(0.025), |source| {
            Some(gated(source, noise, 1.0 / 1.03).0 == Standing::Kept)
        });
        let simulated = &format!("{name}, B 8 % slower");
        let counted = "interval at the end holds the truth, 95 %";
        studies.add(200 + seed, simulated, counted, AtLeast(0.95), |source| {
            Some(gated(source, noise, 0.92).1.contains(-0.08))
        });
    }
    for (simulated, seed, ratio, promise) in [
        ("gate of 3 %, 3 % noise, equal arms", 55, 1.0, "passes"),
        ("gate of 3 %, 3 % noise, B 8 % slower", 56, 0.92, "fails"),
    ] {
        studies.add(seed, simulated, promise, AtLeast(0.8), |source| {
            let standing = gated(source, Noise::Independent, ratio).0;
            Some(match promise {
                "fails" => failed(standing),
                _ => standing == Standing::Kept,
            })
        });
        let mut source = Source::new(seed);
        let blocks: Vec<f64> = (0..repeats(REPEATS))
            .map(|_| f64::from(gated(&mut source, Noise::Independent, ratio).2))
            .collect();
        studies.all.push(Study::mean(
            simulated,
            "blocks until the end, on average",
            f64::from(MOST),
            &blocks,
        ));
    }
}

pub fn studies() -> Vec<Study> {
    let mut studies = Studies::repeated(REPEATS);
    for (name, seed, noise) in [
        ("looks at 6 to 33 blocks for ± 3 %, 3 % noise", 41, Noise::Independent),
        ("looks for ± 3 %, machine wanders (AR 0.9 from run to run, 5 %)", 42, Noise::Wandering),
        ("looks for ± 3 %, one run in ten stalls to half", 43, Noise::Stalls),
        ("looks for ± 3 %, 6 % drift over the experiment", 44, Noise::Drift),
    ] {
        let promise = Promise::Between(0.93, 0.97);
        let simulated = &format!("{name}, B 5 % faster");
        let counted = "interval at the end holds the truth, 95 %";
        studies.add(seed, simulated, counted, promise, |source| {
            let (interval, _) = stopped(source, noise, 1.05, Stop::Narrow);
            Some(interval.contains(1.05_f64.ln()))
        });
        let simulated = &format!("{name}, equal arms");
        let counted = "“different”";
        studies.add(100 + seed, simulated, counted, AtMost(0.07), |source| {
            let (interval, _) = stopped(source, noise, 1.0, Stop::Narrow);
            Some(!interval.contains(0.0))
        });
    }
    let mut source = Source::new(45);
    let blocks: Vec<f64> = (0..repeats(REPEATS))
        .map(|_| f64::from(stopped(&mut source, Noise::Independent, 1.0, Stop::Narrow).1))
        .collect();
    studies.all.push(Study::mean(
        "looks at 6 to 33 blocks for ± 3 %, 3 % noise",
        "blocks until the end, on average",
        25.0,
        &blocks,
    ));
    // What looking does when it looks at the wrong thing.
    let simulated = "the same, but stopped when the arms differ, equal arms";
    let counted = "“different”";
    studies.add(46, simulated, counted, AtLeast(0.1), |source| {
        let (interval, _) = stopped(source, Noise::Independent, 1.0, Stop::Different);
        Some(!interval.contains(0.0))
    });
    gates(&mut studies);
    studies.all
}
