//! Are duets as honest as blocks in turn, and how much sharper are they? And are the halves of a machine distinguished rightly?

use crate::{Comparison, Duet, halves, without_halves};

use crate::calibration::comparing::{covers, excludes_zero};
use crate::calibration::simulate::Source;
use crate::calibration::study::{Promise, Studies, Study};
use Promise::{AtLeast, AtMost, Between, Exactly};

const REPEATS: usize = 4000;
/// How much the second half of the machine is above the first.
const HALF: f64 = 0.02;
const BLOCKS: usize = 8;

/// What a machine does to both sides of each duet, as logarithms.
type Common = fn(&mut Source, usize) -> Vec<f64>;

fn normal(source: &mut Source, count: usize) -> Vec<f64> {
    (0..count).map(|_| 0.05 * source.normal()).collect()
}

fn wild(source: &mut Source, count: usize) -> Vec<f64> {
    (0..count).map(|_| 0.05 * source.wild()).collect()
}

fn drifting(source: &mut Source, count: usize) -> Vec<f64> {
    let slower = |block: usize| (1.0 - 0.06 * block as f64 / (count - 1) as f64).ln();
    (0..count).map(|block| slower(block) + 0.03 * source.normal()).collect()
}

fn wandering(source: &mut Source, count: usize) -> Vec<f64> {
    let wander = source.autoregressive(0.9, count);
    wander.iter().map(|x| 0.05 * x).collect()
}

/// What each side does to itself, as a logarithm.
type Own = fn(&mut Source) -> f64;

fn little(source: &mut Source) -> f64 {
    0.007 * source.normal()
}

fn stalling(source: &mut Source) -> f64 {
    let stall = if source.chance(0.1) { 0.9_f64.ln() } else { 0.0 };
    stall + 0.007 * source.normal()
}

/// Duets on halves that differ, every second one mirroring the one before: the other arm has `ratio` times the baseline's speed.
fn duets(source: &mut Source, common: Common, own: Own, ratio: f64) -> Vec<Duet> {
    let machine = common(source, BLOCKS);
    let mut duets: Vec<Duet> = Vec::new();
    for (block, of_machine) in machine.into_iter().enumerate() {
        let other_is_second = match duets.last() {
            Some(last) if block % 2 == 1 => !last.other_is_second,
            _ => source.coin(),
        };
        let (of_baseline, of_other) = if other_is_second { (0.0, HALF) } else { (HALF, 0.0) };
        duets.push(Duet {
            baseline: of_machine + of_baseline + own(source),
            other: of_machine + of_other + own(source) + ratio.ln(),
            other_is_second,
        });
    }
    duets
}

fn compared(duets: &[Duet]) -> Comparison {
    let alike = without_halves(duets, None).expect("four duets on each side");
    let ratios: Vec<f64> = alike.iter().map(|one| one.exp()).collect();
    Comparison::paired(&vec![1.0; ratios.len()], &ratios).expect("simulated runs are positive")
}

fn as_measured(duets: &[Duet]) -> Comparison {
    let side = |of: fn(&Duet) -> f64| duets.iter().map(|duet| of(duet).exp()).collect::<Vec<_>>();
    Comparison::paired(&side(|duet| duet.baseline), &side(|duet| duet.other))
        .expect("simulated runs are positive")
}

/// The same machine and arms in turn, each run at another time of it.
fn in_turn(source: &mut Source, common: Common, ratio: f64) -> Comparison {
    let machine = common(source, 2 * BLOCKS);
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for times in machine.chunks_exact(2) {
        let (first, second) =
            if source.coin() { (times[0], times[1]) } else { (times[1], times[0]) };
        a.push((first + little(source)).exp());
        b.push(ratio * (second + little(source)).exp());
    }
    Comparison::paired(&a, &b).expect("simulated runs are positive")
}

pub fn studies() -> Vec<Study> {
    let coverage = "interval holds the truth, 95 %";
    let mut studies = Studies::repeated(REPEATS);
    // Mirrored halves make the interval wider than it need be, never narrower.
    let covered = AtLeast(0.95);
    let cases: [(u64, &str, Common, Own); 5] = [
        (
            401,
            "8 duets, halves 2 % apart, 5 % noise in common, 0.7 % of each side, B 5 % faster",
            normal,
            little,
        ),
        (402, "the same, common noise without variance (t, 2 degrees)", wild, little),
        (403, "the same, 6 % drift", drifting, little),
        (404, "the same, machine wanders (AR 0.9 from duet to duet, 5 %)", wandering, little),
        (405, "the same, one side in ten stalls by 10 %", normal, stalling),
    ];
    for (seed, simulated, common, own) in cases {
        studies.add(seed, simulated, coverage, covered, |source| {
            Some(covers(&compared(&duets(source, common, own, 1.05)), 0.05))
        });
    }
    let simulated = "8 duets, halves 2 % apart, 5 % noise in common, 0.7 % of each side";
    let false_alarm = "“different” for equal arms, 95 %";
    studies.add(411, simulated, false_alarm, AtMost(0.05), |source| {
        Some(excludes_zero(&compared(&duets(source, normal, little, 1.0))))
    });
    let of_halves = "interval of the half effect holds the truth, 95 %";
    for (seed, simulated, own, promise) in [
        (421, simulated, little as Own, Exactly(0.95)),
        (422, "the same, one side in ten stalls by 10 %", stalling, Between(0.93, 0.99)),
    ] {
        studies.add(seed, simulated, of_halves, promise, |source| {
            let found = halves(&duets(source, normal, own, 1.05), 0.95)?;
            Some(found.interval.contains(HALF))
        });
    }
    let simulated = "a control 2 % slower in 8 duets, halves 2 % apart, 5 % noise in common, 0.7 % of each side";
    studies.add(431, simulated, coverage, covered, |source| {
        Some(covers(&compared(&duets(source, normal, little, 0.98)), -0.02))
    });
    studies.add(432, "the same", "control found", AtLeast(0.9), |source| {
        Some(excludes_zero(&compared(&duets(source, normal, little, 0.98))))
    });
    let simulated = "the same, but the effect of the halves left in";
    studies.add(433, simulated, "control found", AtMost(0.5), |source| {
        Some(excludes_zero(&as_measured(&duets(source, normal, little, 0.98))))
    });
    let simulated = "the same, but in turn";
    studies.add(434, simulated, "control found", AtMost(0.2), |source| {
        Some(excludes_zero(&in_turn(source, normal, 0.98)))
    });
    studies.all
}
