//! What is found in how many minutes, in turn and in duets: by blocks that `./x power` measured once and that are resampled into many experiments.
//!
//! ```sh
//! cargo run --release -p plimsoll-judge --example power collect target/power/power.db > crates/judge/examples/power.csv
//! cargo run --release -p plimsoll-judge --example power resample crates/judge/examples/power.csv
//! ```
//!
//! `collect` writes a row for each run. `resample` draws experiments from them: stretches of ten blocks that follow each other, so that what lasts for longer than a
//! block stays together, each from a random place (moving-block bootstrap). Stretches begin with a pair of duets that mirror each other, as experiments do. Each
//! experiment is judged as the program judges it. Intervals come from resampling the record itself, in the same stretches.
//!
//! False alarms are counted on the exact copy, with both names exchanged in a random half of the stretches: then no difference is the truth, whatever the sample
//! happens to show.

use plimsoll_judge::{analyse, plan_of};
use plimsoll_plan::Pairing;
use plimsoll_stats::{
    Comparison, Duet, duets_beside_others, median, without_explained, without_halves,
};
use plimsoll_store::{Filter, Store};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;

const MINUTES: [f64; 6] = [2.0, 5.0, 10.0, 15.0, 20.0, 30.0];
/// Blocks that are drawn together: five pairs of duets.
const STRETCH: usize = 10;
const EXPERIMENTS: usize = 1000;
/// Records resampled for each interval, and experiments of each.
const RECORDS: usize = 100;
const EXPERIMENTS_OF_EACH: usize = 100;
const CONFIDENCE: f64 = 0.95;
const SEED: u64 = 20;

type Random = Xoshiro256PlusPlus;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["collect", store] => collect(Path::new(store)),
        ["resample", file] => resample(&fs::read_to_string(file)?),
        _ => Err("say `collect STORE` or `resample FILE`".into()),
    }
}

/// Writes a row for each run of every experiment in the store.
fn collect(store: &Path) -> Result<(), Box<dyn Error>> {
    let store = Store::open_read_only(store)?;
    println!("experiment,pairing,block,position,planted,started,valid,throughput,left");
    for summary in store.list(&Filter::default())? {
        let record = store.load(&summary.id)?;
        let (plan, analysis) = (plan_of(&record)?, analyse(&record)?);
        let pairing = match plan.measurement.pairing {
            Pairing::InTurn => "turn",
            Pairing::Duet => "duet",
        };
        for run in &record.runs {
            let curves = analysis.curves.iter().filter(|curve| curve.arm == run.arm);
            let results = curves.flat_map(|curve| &curve.points[0].results);
            let mut results =
                results.filter(|result| (result.block, result.attempt) == (run.block, run.attempt));
            let Some(result) = results.next() else {
                continue;
            };
            let left = result.left_by_others;
            let left = left.map_or_else(String::new, |left| format!("{left:.4}"));
            let arm = plan.arms.iter().find(|arm| arm.name == run.arm);
            let planted = match arm.ok_or("an arm that the plan does not have")?.planted {
                Some(share) => share.to_string(),
                None => "base".to_owned(),
            };
            let started: jiff::Timestamp = run.started_at.parse()?;
            println!(
                "{},{pairing},{},{},{planted},{:.3},{},{:.1},{left}",
                record.name,
                run.block,
                run.position,
                started.as_millisecond() as f64 / 1e3,
                u8::from(result.valid),
                result.throughput
            );
        }
    }
    Ok(())
}

/// One block of a pair: the logarithms of both, and whether the other one was second, which is its half in duets.
#[derive(Clone, Copy)]
struct Block {
    base: f64,
    other: f64,
    other_is_second: bool,
    /// What other programs left to both of the processors; NaN where that is not known.
    left: [f64; 2],
    /// Whether both are valid. A block that is not takes its time and decides nothing.
    valid: bool,
}

/// The blocks of one pair in their order, and what each takes in an experiment of this pair alone, seconds.
struct Pair {
    blocks: Vec<Block>,
    seconds: f64,
    is_duet: bool,
}

/// One run of a block.
struct Run {
    planted: String,
    position: u32,
    started: f64,
    valid: bool,
    throughput: f64,
    left: f64,
}

type Way = (String, String);

/// Blocks by experiment and pairing, and by planted share.
fn pairs(text: &str) -> Result<BTreeMap<(Way, String), Pair>, Box<dyn Error>> {
    let mut blocks: BTreeMap<Way, BTreeMap<u32, Vec<Run>>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let [experiment, pairing, block, position, planted, started, valid, value, left] =
            cells[..]
        else {
            return Err(format!("no row of nine: {line}").into());
        };
        let of = (experiment.to_owned(), pairing.to_owned());
        let runs = blocks.entry(of).or_default().entry(block.parse()?);
        runs.or_default().push(Run {
            planted: planted.to_owned(),
            position: position.parse()?,
            started: started.parse()?,
            valid: valid == "1",
            throughput: value.parse()?,
            left: left.parse().unwrap_or(f64::NAN),
        });
    }
    let mut pairs = BTreeMap::new();
    for (way, blocks) in blocks {
        let is_duet = way.1 == "duet";
        let mut starts: Vec<f64> = blocks.values().flatten().map(|run| run.started).collect();
        starts.sort_by(f64::total_cmp);
        // Both runs of a duet begin together.
        starts.dedup_by(|later, earlier| *later - *earlier < 0.5);
        let apart: Vec<f64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        // Of a run, or of a duet. A pair in turn has two runs.
        let each = median(&apart).ok_or("too few runs")?;
        let seconds = if is_duet { each } else { 2.0 * each };
        for runs in blocks.values() {
            let Some(base) = runs.iter().find(|run| run.planted == "base") else {
                continue;
            };
            for other in runs.iter().filter(|run| run.planted != "base") {
                let key = (way.clone(), other.planted.clone());
                let pair = pairs.entry(key).or_insert_with(|| Pair {
                    blocks: Vec::new(),
                    seconds,
                    is_duet,
                });
                pair.blocks.push(Block {
                    base: base.throughput.ln(),
                    other: other.throughput.ln(),
                    other_is_second: other.position > base.position,
                    left: [base.left, other.left],
                    valid: base.valid && other.valid,
                });
            }
        }
    }
    Ok(pairs)
}

/// This many blocks in stretches from random places. With `exchanged` both names change places in a random half of the stretches.
fn drawn(random: &mut Random, from: &[Block], count: usize, exchanged: bool) -> Vec<Block> {
    let mut blocks = Vec::with_capacity(count + STRETCH);
    while blocks.len() < count {
        let begin = 2 * random.random_range(0..from.len().div_ceil(2));
        let exchange = exchanged && random.random();
        for offset in 0..STRETCH {
            let mut block = from[(begin + offset) % from.len()];
            if exchange {
                block = Block {
                    base: block.other,
                    other: block.base,
                    other_is_second: !block.other_is_second,
                    left: [block.left[1], block.left[0]],
                    valid: block.valid,
                };
            }
            blocks.push(block);
        }
    }
    blocks.truncate(count);
    blocks
}

#[derive(Clone, Copy, PartialEq)]
enum Judged {
    /// As they were measured, but for the effect of the halves of duets.
    AsMeasured,
    /// With what other programs took of the processors taken out too.
    WithoutOthers,
    /// The same, but of duets of which they preferred one side only the undisturbed.
    Chosen,
}

/// The interval of the difference, as a logarithm, as the program makes it.
fn interval(blocks: &[Block], is_duet: bool, judged: Judged) -> Option<(f64, f64)> {
    let blocks: Vec<&Block> = blocks.iter().filter(|block| block.valid).collect();
    let left = |side: usize| blocks.iter().map(move |block| block.left[side]);
    let [baseline, other] = [0, 1].map(|side| left(side).collect::<Vec<f64>>());
    let duet = |block: &&Block| Duet {
        baseline: block.base,
        other: block.other,
        other_is_second: block.other_is_second,
    };
    let duets: Vec<Duet> = blocks.iter().map(duet).collect();
    let differences: Vec<f64> = duets.iter().map(Duet::difference).collect();
    // Whether both were disturbed alike is not checked here: drawing blocks again and again makes chance look like more.
    let each = other.iter().zip(&baseline);
    let more: Vec<f64> = each.map(|(other, baseline)| (other / baseline).ln()).collect();
    let left = match judged {
        // One program beside them keeps one side busy.
        Judged::Chosen => {
            let ranges = duets_beside_others(&duets, [&baseline, &other], false)?;
            Some(ranges.into_iter().map(|[one, _]| one).collect())
        }
        Judged::WithoutOthers if is_duet => without_halves(&duets, Some(&more)),
        Judged::WithoutOthers => without_explained(&differences, [&more]),
        Judged::AsMeasured if is_duet => without_halves(&duets, None),
        Judged::AsMeasured => None,
    };
    let left = left.unwrap_or(differences);
    let ratios: Vec<f64> = left.iter().map(|one| one.exp()).collect();
    let compared = Comparison::paired(&vec![1.0; ratios.len()], &ratios).ok()?;
    let interval = compared.ln_ratio(CONFIDENCE).ok()?.interval;
    (interval.confidence >= CONFIDENCE).then_some((interval.lower, interval.upper))
}

#[derive(Clone, Copy, PartialEq)]
enum Counted {
    Found,
    /// An exact copy is called different.
    FalseAlarm,
}

impl Pair {
    /// The ways in which it can be judged: others prefer a side of duets alone.
    fn judged<'a>(&self, mut ways: Vec<(Judged, &'a str)>) -> Vec<(Judged, &'a str)> {
        ways.retain(|(judged, _)| self.is_duet || *judged != Judged::Chosen);
        ways
    }

    /// How often it is so in experiments of this many blocks, drawn from these.
    fn share(
        &self,
        random: &mut Random,
        from: &[Block],
        (counted, judged): (Counted, Judged),
        blocks: usize,
        experiments: usize,
    ) -> f64 {
        let mut hits = 0;
        for _ in 0..experiments {
            let drawn = drawn(random, from, blocks, counted == Counted::FalseAlarm);
            if let Some((lower, upper)) = interval(&drawn, self.is_duet, judged) {
                hits += usize::from(match counted {
                    Counted::Found => upper < 0.0,
                    Counted::FalseAlarm => upper < 0.0 || lower > 0.0,
                });
            }
        }
        hits as f64 / experiments as f64
    }
}

fn resample(text: &str) -> Result<(), Box<dyn Error>> {
    let pairs = pairs(text)?;
    // Ways of a group are shown the same experiments.
    let ways: [&[(Judged, &str)]; 2] = [
        &[(Judged::AsMeasured, "as measured")],
        &[
            (Judged::WithoutOthers, "others taken out"),
            (Judged::Chosen, "undisturbed where a side is preferred"),
        ],
    ];
    println!("| Experiment | Way | Planted | Blocks | Judged | Whole record |");
    println!("|---|---|---:|---:|---|---|");
    for (((experiment, pairing), planted), pair) in &pairs {
        let planted = 100.0 * planted.parse::<f64>()?;
        let percent = |logarithm: f64| 100.0 * logarithm.exp_m1();
        for (judged, words) in pair.judged(ways.concat()) {
            let whole = interval(&pair.blocks, pair.is_duet, judged).map_or_else(
                || "none".to_owned(),
                |(lower, upper)| format!("{:+.2} to {:+.2} %", percent(lower), percent(upper)),
            );
            let blocks = pair.blocks.len();
            println!("| {experiment} | {pairing} | {planted} % | {blocks} | {words} | {whole} |");
        }
    }
    let heads = MINUTES.map(|minutes| format!(" {minutes} min |")).concat();
    println!("\n| Experiment | Way | Judged | Counted |{heads}");
    println!("|---|---|---|---|{}", "---:|".repeat(MINUTES.len()));
    let mut random = Random::seed_from_u64(SEED);
    for (((experiment, pairing), planted), pair) in &pairs {
        let planted: f64 = planted.parse()?;
        let (counted, what) = if planted == 0.0 {
            (Counted::FalseAlarm, "false alarms".to_owned())
        } else {
            (Counted::Found, format!("{} % found", 100.0 * planted))
        };
        for group in ways {
            let start = random.clone();
            for (judged, words) in pair.judged(group.to_vec()) {
                random = start.clone();
                let counts = (counted, judged);
                print!("| {experiment} | {pairing} | {words} | {what} |");
                for minutes in MINUTES {
                    let blocks = (60.0 * minutes / pair.seconds) as usize;
                    let once = pair.share(&mut random, &pair.blocks, counts, blocks, EXPERIMENTS);
                    let mut shares = Vec::with_capacity(RECORDS);
                    for _ in 0..RECORDS {
                        let record = drawn(&mut random, &pair.blocks, pair.blocks.len(), false);
                        let times = EXPERIMENTS_OF_EACH;
                        shares.push(pair.share(&mut random, &record, counts, blocks, times));
                    }
                    shares.sort_by(f64::total_cmp);
                    let (low, high) = (shares[RECORDS / 40], shares[RECORDS - 1 - RECORDS / 40]);
                    let [once, low, high] = [once, low, high].map(|share| 100.0 * share);
                    print!(" {once:.0} % ({low:.0} to {high:.0}) |");
                }
                println!();
            }
        }
    }
    for ((experiment, pairing), seconds) in
        pairs.iter().map(|((way, _), pair)| (way, pair.seconds)).collect::<BTreeMap<_, _>>()
    {
        println!("\n{experiment}, {pairing}: a block of one pair takes {seconds:.2} s");
    }
    Ok(())
}
