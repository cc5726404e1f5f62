//! Are differences from which is taken what other programs did still honest, and how much sharper are they?

use crate::{Comparison, Duet, Observation, disturbance, duets_beside_others, without_explained};

use crate::calibration::comparing::{covers, excludes_zero};
use crate::calibration::simulate::Source;
use crate::calibration::study::{Promise, Studies, Study};
use Promise::{AtLeast, AtMost, Between};

const REPEATS: usize = 4000;
const BLOCKS: usize = 12;

/// What each run does to itself, as a logarithm.
type Own = fn(&mut Source) -> f64;

fn little(source: &mut Source) -> f64 {
    0.01 * source.normal()
}

fn wild(source: &mut Source) -> f64 {
    0.005 * source.wild()
}

fn stalling(source: &mut Source) -> f64 {
    let stall = if source.chance(0.1) { 0.1 } else { 0.0 };
    0.01 * source.normal() - stall
}

/// What others leave to each run of a series: all of it, or in half of the runs 40 to 90 %.
type Left = fn(&mut Source, usize) -> Vec<f64>;

fn coming_and_going(source: &mut Source, runs: usize) -> Vec<f64> {
    let run = |source: &mut Source| match source.coin() {
        true => 1.0,
        false => 0.65 + 0.25 * source.normal().clamp(-1.0, 1.0),
    };
    (0..runs).map(|_| run(source)).collect()
}

/// The other programs come and go slowly, over many runs.
fn lasting(source: &mut Source, runs: usize) -> Vec<f64> {
    let wander = source.autoregressive(0.9, runs);
    let left = wander.iter().map(|level| 0.75 + 0.15 * level);
    left.map(|left| left.clamp(0.3, 1.0)).collect()
}

/// What a run loses by what others take, as a logarithm.
type Loss = fn(f64) -> f64;

fn in_proportion(left: f64) -> f64 {
    1.1 * left.ln()
}

/// It has room: only what is taken beyond a fifth slows it down.
fn beyond_a_fifth(left: f64) -> f64 {
    (left + 0.2).min(1.0).ln()
}

fn nothing(_left: f64) -> f64 {
    0.0
}

/// An experiment in turn, in shuffled order: as it was measured, and as it is judged.
struct Experiment {
    measured: Comparison,
    judged: Comparison,
}

fn experiment(source: &mut Source, (own, left, loss): (Own, Left, Loss), ratio: f64) -> Experiment {
    let machine = source.autoregressive(0.9, 2 * BLOCKS);
    let left = left(source, 2 * BLOCKS);
    let (mut differences, mut of_both) = (Vec::new(), [Vec::new(), Vec::new()]);
    for block in 0..BLOCKS {
        let order = if source.coin() { [0, 1] } else { [1, 0] };
        let mut sides = [0.0; 2];
        for (run, side) in order.into_iter().enumerate() {
            let run = 2 * block + run;
            sides[side] = 0.01 * machine[run] + own(source) + loss(left[run]);
            of_both[side].push(left[run]);
        }
        differences.push(sides[1] + ratio.ln() - sides[0]);
    }
    let [baseline, other] = &of_both;
    let taken = disturbance(baseline, other);
    let taken = taken.and_then(|taken| without_explained(&differences, [&taken]));
    Experiment {
        measured: compared(&differences),
        judged: compared(&taken.unwrap_or_else(|| differences.clone())),
    }
}

fn compared(differences: &[f64]) -> Comparison {
    let other: Vec<f64> = differences.iter().map(|one| one.exp()).collect();
    Comparison::paired(&vec![1.0; other.len()], &other).expect("simulated runs are positive")
}

fn compared_within(ranges: &[[f64; 2]]) -> Comparison {
    let range = |[lower, upper]: &[f64; 2]| Observation::between(lower.exp(), upper.exp());
    let other: Vec<Observation> = ranges.iter().map(range).collect();
    Comparison::paired_within(&vec![Observation::exactly(1.0); other.len()], &other)
        .expect("simulated runs are positive")
}

/// What a program that runs where a processor is idle leaves to both sides of a duet: in three of five it is beside one, nine times in ten the other arm's, and takes 10 to 90 %.
fn beside_the_idle(source: &mut Source) -> [f64; 2] {
    let mut left = [1.0; 2];
    if source.chance(0.6) {
        let side = usize::from(source.chance(0.9));
        left[side] = 0.5 + 0.4 * source.normal().clamp(-1.0, 1.0);
    }
    left
}

/// Each answer waits for it: that costs a tenth wherever it is, and then more than in proportion.
fn at_each_answer(left: f64) -> f64 {
    if left < 1.0 { 2.0 * left.ln() - 0.1 } else { 0.0 }
}

/// Two programs that never sleep leave to each side what it takes, which is less the more it waits for answers; one duet in twenty has both beside one side.
fn kept_busy(source: &mut Source) -> [f64; 2] {
    let mut left = [(); 2].map(|()| 0.33 * (0.15 * source.normal()).exp());
    if source.chance(0.05) {
        left[usize::from(source.coin())] = 0.97;
    }
    left
}

/// An arm does in proportion to what it takes.
fn as_it_takes(left: f64) -> f64 {
    1.3 * left.ln()
}

/// What others leave to both sides of a duet, what each loses by it, and whether they keep both busy.
type Others = (fn(&mut Source) -> [f64; 2], Loss, bool);

/// Duets beside such programs, as the program judges them; `None` where it does not. The other arm does so much of what the baseline does, and takes so much.
fn duets_beside(
    source: &mut Source,
    own: Own,
    (left, loss, is_busy): Others,
    count: usize,
    [ratio, takes]: [f64; 2],
) -> Option<Comparison> {
    let (mut duets, mut of_both) = (Vec::new(), [Vec::new(), Vec::new()]);
    for block in 0..count {
        let common = 0.05 * source.normal();
        let left = left(source);
        let [baseline, other] = left.map(|left| common + own(source) + loss(left));
        duets.push(Duet { baseline, other: other + ratio.ln(), other_is_second: block % 2 == 1 });
        of_both[0].push(left[0]);
        of_both[1].push(left[1] * takes);
    }
    let [baseline, other] = &of_both;
    let differences = duets_beside_others(&duets, [baseline, other], is_busy)?;
    Some(compared_within(&differences))
}

pub fn studies() -> Vec<Study> {
    let coverage = "interval holds the truth, 95 %";
    let different = "“different” for equal arms, 95 %";
    let mut studies = Studies::repeated(REPEATS);
    let name = "12 blocks, 1 % noise, others take 10 to 60 % of half of the runs";
    type Case = (u64, &'static str, (Own, Left, Loss));
    let cases: [Case; 6] = [
        (801, name, (little, coming_and_going, in_proportion)),
        (
            802,
            "the same, noise without variance (t, 2 degrees)",
            (wild, coming_and_going, in_proportion),
        ),
        (
            803,
            "the same, one run in ten stalls by 10 %",
            (stalling, coming_and_going, in_proportion),
        ),
        (804, "the same, others wander (AR 0.9 from run to run)", (little, lasting, in_proportion)),
        (
            805,
            "the same, only what is taken beyond a fifth is felt",
            (little, coming_and_going, beyond_a_fifth),
        ),
        (806, "the same, what others take is not felt at all", (little, coming_and_going, nothing)),
    ];
    for (seed, simulated, case) in cases {
        studies.add(seed, simulated, coverage, AtLeast(0.93), |source| {
            Some(covers(&experiment(source, case, 1.05).judged, 0.05))
        });
        studies.add(seed + 10, simulated, different, AtMost(0.05), |source| {
            Some(excludes_zero(&experiment(source, case, 1.0).judged))
        });
    }
    let case: (Own, Left, Loss) = (little, coming_and_going, in_proportion);
    let found = "2 % slower found";
    studies.add(821, name, found, AtLeast(0.8), |source| {
        Some(excludes_zero(&experiment(source, case, 0.98).judged))
    });
    let simulated = "the same, but with what others did left in";
    studies.add(822, simulated, found, Between(0.0, 0.15), |source| {
        Some(excludes_zero(&experiment(source, case, 0.98).measured))
    });
    // Where it is not felt, taking it out costs hardly anything.
    let case: (Own, Left, Loss) = (little, coming_and_going, nothing);
    let simulated = "the same, what others take is not felt at all";
    studies.add(823, simulated, found, AtLeast(0.8), |source| {
        Some(excludes_zero(&experiment(source, case, 0.98).judged))
    });
    let cases: [(u64, usize, &str, Own); 4] = [
        (831, 40, "40 duets, others take 10 to 90 % of one side in 24, mostly of the same", little),
        (832, 40, "the same, noise without variance (t, 2 degrees)", wild),
        (833, 40, "the same, one side in ten stalls by 10 %", stalling),
        (834, 12, "the same in 12 duets, 1 % noise", little),
    ];
    let visitor: Others = (beside_the_idle, at_each_answer, false);
    for (seed, count, simulated, own) in cases {
        studies.add(seed, simulated, coverage, AtLeast(0.93), |source| {
            let judged = duets_beside(source, own, visitor, count, [1.05, 1.0])?;
            Some(covers(&judged, 0.05))
        });
        studies.add(seed + 10, simulated, different, AtMost(0.05), |source| {
            let judged = duets_beside(source, own, visitor, count, [1.0; 2]);
            Some(judged.is_some_and(|judged| excludes_zero(&judged)))
        });
    }
    let simulated = "40 duets, others take 10 to 90 % of one side in 24, mostly of the same";
    studies.add(851, simulated, found, AtLeast(0.8), |source| {
        let judged = duets_beside(source, little, visitor, 40, [0.98, 1.0]);
        Some(judged.is_some_and(|judged| excludes_zero(&judged)))
    });
    let busy: Others = (kept_busy, as_it_takes, true);
    let simulated = "12 duets, others keep both sides busy, 3 % noise of each side";
    let own: Own = |source| 0.03 * source.normal();
    studies.add(861, simulated, different, AtMost(0.05), |source| {
        let judged = duets_beside(source, own, busy, 12, [1.0; 2]);
        Some(judged.is_some_and(|judged| excludes_zero(&judged)))
    });
    studies.add(862, simulated, coverage, AtLeast(0.93), |source| {
        let judged = duets_beside(source, own, busy, 12, [1.05, 1.0])?;
        Some(covers(&judged, 0.05))
    });
    // The slower one waits more, and takes less.
    let found = "30 % slower, and taking 10 % less, found";
    studies.add(863, simulated, found, AtLeast(0.9), |source| {
        let judged = duets_beside(source, own, busy, 12, [0.7, 0.9]);
        Some(judged.is_some_and(|judged| excludes_zero(&judged)))
    });
    studies.all
}
