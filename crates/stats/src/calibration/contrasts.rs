//! Do effects of factors, their families, cliffs and crossings keep their promises?

use crate::{KeepsUp, cliff, crossing, hodges_lehmann, sign_flips};

use crate::calibration::simulate::Source;
use crate::calibration::study::{Promise, Study};

const REPEATS: usize = 2000;
const SCREENED: usize = 1000;
const NOISE: f64 = 0.03;
const ROWS: usize = 3;
const COLUMNS: usize = 4;
/// First row of the design of Plackett and Burman in 24 cells, as printed.
const PRINTED: &str = "+++++-+-++--++--+-+----";
const FACTORS: usize = 20;

/// What a grid measures in each block, as logarithms: `truth` for each cell, what the block has in common, and noise.
fn measured(
    source: &mut Source,
    blocks: usize,
    truth: &[[f64; COLUMNS]; ROWS],
    heavy: bool,
) -> Vec<Vec<[f64; COLUMNS]>> {
    let mut all = Vec::new();
    for _ in 0..blocks {
        let common = 0.1 * source.normal();
        let mut block = Vec::new();
        for row in truth {
            block.push(row.map(|value| {
                let noise = if heavy { source.wild() / 2.0 } else { source.normal() };
                value + common + NOISE * noise
            }));
        }
        all.push(block);
    }
    all
}

/// Main effects, interactions and simple effects of the first factor, each against the first level: values by block, and the truth.
fn contrasts(
    blocks: &[Vec<[f64; COLUMNS]>],
    truth: &[[f64; COLUMNS]; ROWS],
) -> Vec<(Vec<Option<f64>>, f64)> {
    type Cells = [[f64; COLUMNS]; ROWS];
    let mut weights: Vec<Cells> = Vec::new();
    let mut add = |cells: &[(usize, usize, f64)]| {
        let mut one = [[0.0; COLUMNS]; ROWS];
        for (row, column, weight) in cells {
            one[*row][*column] += weight;
        }
        weights.push(one);
    };
    for row in 1..ROWS {
        let main: Vec<_> =
            (0..COLUMNS).flat_map(|column| [(row, column, 0.25), (0, column, -0.25)]).collect();
        add(&main);
        for column in 0..COLUMNS {
            add(&[(row, column, 1.0), (0, column, -1.0)]);
        }
        for column in 1..COLUMNS {
            add(&[(row, column, 1.0), (0, column, -1.0), (row, 0, -1.0), (0, 0, 1.0)]);
        }
    }
    for column in 1..COLUMNS {
        let share = 1.0 / ROWS as f64;
        let main: Vec<_> =
            (0..ROWS).flat_map(|row| [(row, column, share), (row, 0, -share)]).collect();
        add(&main);
    }
    let apply = |one: &Cells, of: &dyn Fn(usize, usize) -> f64| {
        let mut sum = 0.0;
        for (row, weights) in one.iter().enumerate() {
            for (column, weight) in weights.iter().enumerate() {
                sum += weight * of(row, column);
            }
        }
        sum
    };
    weights
        .iter()
        .map(|one| {
            let values =
                blocks.iter().map(|block| Some(apply(one, &|row, column| block[row][column])));
            (values.collect(), apply(one, &|row, column| truth[row][column]))
        })
        .collect()
}

/// Whether any contrast without an effect is called one.
fn false_alarm(
    source: &mut Source,
    blocks: usize,
    truth: &[[f64; COLUMNS]; ROWS],
    heavy: bool,
) -> bool {
    let all = contrasts(&measured(source, blocks, truth, heavy), truth);
    let rows: Vec<_> = all.iter().map(|(values, _)| values.clone()).collect();
    let called = sign_flips(&rows).into_iter().zip(&all);
    called.into_iter().any(|(p, (_, truth))| p <= 0.05 && truth.abs() < 1e-9)
}

/// Whether the interval of one contrast holds the truth.
fn covered(source: &mut Source, which: usize, truth: &[[f64; COLUMNS]; ROWS]) -> bool {
    let all = contrasts(&measured(source, 8, truth, false), truth);
    let (values, truth) = &all[which];
    let known: Vec<f64> = values.iter().copied().flatten().collect();
    hodges_lehmann(&known, 0.95).is_ok_and(|one| one.interval.contains(*truth))
}

/// The cells of a block: rows of the design, turned round in every other block.
fn cells(block: usize) -> Vec<[f64; FACTORS]> {
    let signs: Vec<f64> =
        PRINTED.chars().map(|sign| if sign == '+' { 1.0 } else { -1.0 }).collect();
    let turn = if block.is_multiple_of(2) { 1.0 } else { -1.0 };
    let mut rows = vec![[-turn; FACTORS]];
    for shift in 0..signs.len() {
        rows.push(std::array::from_fn(|factor| {
            turn * signs[(factor + signs.len() - shift) % signs.len()]
        }));
    }
    rows
}

/// P of each factor in a screening of 20 factors in 24 cells and 8 blocks. Three matter, by 4, 6 and −5 %, and two of those interact by 4 %.
fn screened(source: &mut Source) -> Vec<f64> {
    let mut effects = vec![Vec::new(); FACTORS];
    for block in 0..8 {
        let cells = cells(block);
        let common = 0.1 * source.normal();
        let measured: Vec<f64> = cells
            .iter()
            .map(|cell| {
                let planted =
                    0.02 * cell[2] + 0.03 * cell[7] - 0.025 * cell[13] + 0.02 * cell[2] * cell[7];
                common + planted + NOISE * source.normal()
            })
            .collect();
        for (factor, values) in effects.iter_mut().enumerate() {
            let sum: f64 =
                cells.iter().zip(&measured).map(|(cell, value)| cell[factor] * value).sum();
            values.push(Some(sum / 12.0));
        }
    }
    sign_flips(&effects)
}

const PLANTED: [usize; 3] = [2, 7, 13];

pub fn studies() -> Vec<Study> {
    let nothing = [[9.0; COLUMNS]; ROWS];
    let mut some = nothing;
    // The last disk is slower by 10 % where the data is largest.
    some[2][3] -= 0.1;
    let alarm = "any of 19 effects called where there is none";
    let mut studies = Vec::new();
    for (simulated, truth, blocks, heavy, seed) in [
        ("3 × 4 cells, 6 blocks, no effect", &nothing, 6, false, 1),
        ("3 × 4 cells, 8 blocks, no effect", &nothing, 8, false, 2),
        (
            "3 × 4 cells, 8 blocks, no effect, noise without variance (t, 2 degrees)",
            &nothing,
            8,
            true,
            3,
        ),
        ("3 × 4 cells, 16 blocks (drawn flips), no effect", &nothing, 16, false, 4),
        ("3 × 4 cells, 8 blocks, one cell 10 % slower", &some, 8, false, 5),
    ] {
        let mut source = Source::new(900 + seed);
        studies.push(Study::new(simulated, alarm, Promise::AtMost(0.05), REPEATS, || {
            Some(false_alarm(&mut source, blocks, truth, heavy))
        }));
    }
    let mut source = Source::new(910);
    studies.push(Study::new(
        "3 × 4 cells, 8 blocks, one cell 10 % slower",
        "its simple effect found among 19",
        Promise::AtLeast(0.8),
        REPEATS,
        || {
            let all = contrasts(&measured(&mut source, 8, &some, false), &some);
            let rows: Vec<_> = all.iter().map(|(values, _)| values.clone()).collect();
            // The second disk's eight come first: main, four simple, three interactions; then the third's.
            Some(sign_flips(&rows)[8 + 4] <= 0.05)
        },
    ));
    let coverage = "interval holds the truth, 95 %";
    for (effect, which, seed) in
        [("main effect", 8, 20), ("interaction", 15, 21), ("simple effect", 12, 22)]
    {
        let mut source = Source::new(900 + seed);
        let simulated = format!("{effect} in 3 × 4 cells, 8 blocks, one cell 10 % slower");
        studies.push(Study::new(&simulated, coverage, Promise::AtLeast(0.95), REPEATS, || {
            Some(covered(&mut source, which, &some))
        }));
    }

    let mut source = Source::new(930);
    studies.push(Study::new(
        "screening of 20 factors, 24 cells, 8 blocks, of which 3 matter (4, 6, −5 %)",
        "all three found",
        Promise::AtLeast(0.95),
        SCREENED,
        || {
            let p = screened(&mut source);
            Some(PLANTED.iter().all(|factor| p[*factor] <= 0.05))
        },
    ));
    let mut source = Source::new(931);
    studies.push(Study::new(
        "screening of 20 factors, 24 cells, 8 blocks, of which 3 matter (4, 6, −5 %)",
        "any other called",
        Promise::AtMost(0.05),
        SCREENED,
        || {
            let p = screened(&mut source);
            let mut others = p.iter().enumerate().filter(|(factor, _)| !PLANTED.contains(factor));
            Some(others.any(|(_, p)| *p <= 0.05))
        },
    ));

    // A curve that falls by 80 % between the second and the third level, 20 % before and after.
    let levels = [0.92, 1.38, 1.82, 2.30];
    let curve = [9.0, 8.8, 7.2, 7.0];
    let mut source = Source::new(940);
    studies.push(Study::new(
        "curve over 4 levels, 8 blocks, the steepest step known",
        "cliff holds it",
        Promise::AtLeast(0.95),
        REPEATS,
        || {
            let blocks = curves(&mut source, &curve);
            let found = cliff(&levels, &blocks, 0.03, 0.95)?;
            Some(found.between.0 <= 1 && found.between.1 >= 2)
        },
    ));
    // Steps that fall alike: the one that is a little steeper is the truth.
    let even = [9.0, 9.0 - 0.46, 9.0 - 0.46 - 0.46, 9.0 - 0.46 - 0.46 - 0.48];
    let mut source = Source::new(941);
    studies.push(Study::new(
        "curve over 4 levels, 8 blocks, steps nearly alike",
        "cliff holds the steepest",
        Promise::AtLeast(0.93),
        REPEATS,
        || {
            let blocks = curves(&mut source, &even);
            let found = cliff(&levels, &blocks, 0.03, 0.95)?;
            Some(found.between.0 <= 1 && found.between.1 >= 2)
        },
    ));
    let mut source = Source::new(942);
    studies.push(Study::new(
        "curve over 4 levels, 8 blocks, level everywhere",
        "called a cliff",
        Promise::AtMost(0.05),
        REPEATS,
        || Some(cliff(&levels, &curves(&mut source, &[9.0; 4]), 0.0, 0.95).is_some()),
    ));
    // The ratio of two curves: level, then 20 % behind, then far behind; through a margin of 3 % between the first and the second level.
    let ratio = [0.0, -0.2, -1.2, -1.3];
    let truth = 0.92 + 0.46 * 1.03f64.ln() / 0.2;
    let mut source = Source::new(943);
    studies.push(Study::new(
        "two curves over 4 levels, 8 blocks, the one falls behind",
        "crossing holds the truth, 95 %",
        Promise::AtLeast(0.93),
        REPEATS,
        || {
            let blocks = curves(&mut source, &ratio);
            let found = crossing(&levels, &blocks, KeepsUp::UpTo, 1.03f64.ln(), 0.95).ok()?;
            Some(found.interval.contains(truth))
        },
    ));
    studies
}

/// A curve in 8 blocks with noise at each level.
fn curves(source: &mut Source, curve: &[f64; COLUMNS]) -> Vec<Vec<f64>> {
    (0..8).map(|_| curve.iter().map(|value| value + NOISE * source.normal()).collect()).collect()
}
