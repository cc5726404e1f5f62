//! How often equal arms are called different: an experiment with `--aa` is cut into many short ones, and each is judged as the program judges it.
//!
//! ```sh
//! cargo run --release -p plimsoll-judge --example windows STORE ID BLOCKS
//! ```
//!
//! A short experiment consists of BLOCKS consecutive blocks, and one starts at every block. They overlap: all of them count for the share of false alarms, but only
//! those without common blocks are independent.

use plimsoll_judge::{Judgement, Verdict, analyse};
use plimsoll_record::ExperimentRecord;
use plimsoll_stats::median;
use plimsoll_store::Store;
use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

/// Of one metric of one mix at one load, in all short experiments.
#[derive(Default)]
struct Counts {
    experiments: usize,
    answered: usize,
    /// The word is that one arm is better.
    different: usize,
    /// The interval does not contain 0.
    certain: usize,
    /// Of the intervals, on a scale of logarithms.
    half_widths: Vec<f64>,
    blocks: Vec<f64>,
}

impl Counts {
    fn add(&mut self, verdict: &Verdict) {
        self.experiments += 1;
        self.blocks.push(f64::from(verdict.blocks));
        let Some((lower, upper)) = verdict.interval else {
            return;
        };
        self.answered += 1;
        self.certain += usize::from(lower > 0.0 || upper < 0.0);
        let is_different = matches!(verdict.judgement, Judgement::Better | Judgement::Worse);
        self.different += usize::from(is_different);
        self.half_widths.push((upper.ln_1p() - lower.ln_1p()) / 2.0);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [store, id, blocks] = &words[..] else {
        return Err("name a store, an experiment and a number of blocks".into());
    };
    let blocks: u32 = blocks.parse()?;
    let record = Store::open_read_only(Path::new(store))?.load(id)?;
    let of = record.runs.iter().map(|run| run.block + 1).max();
    let of = of.ok_or("the experiment has no runs")?;
    let mut counts: BTreeMap<String, Counts> = BTreeMap::new();
    for first in 0..=of.saturating_sub(blocks) {
        let is_within = |block: u32| (first..first + blocks).contains(&block);
        let short = ExperimentRecord {
            runs: record.runs.iter().filter(|run| is_within(run.block)).cloned().collect(),
            ..record.clone()
        };
        for one in analyse(&short)?.comparisons {
            let what = format!("{}, {}, {:?}", one.mix, one.load_label, one.metric);
            counts.entry(what).or_default().add(&one.verdict);
        }
    }
    println!(
        "| Metric | Experiments | With an interval | Called different | Without 0 | Half-width | Blocks judged |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for (what, counts) in counts {
        let Counts { experiments, answered, different, certain, half_widths, blocks } = counts;
        let width = median(&half_widths)
            .map_or_else(|| "none".to_owned(), |width| format!("{:.1} %", 100.0 * width.exp_m1()));
        let blocks = median(&blocks).unwrap_or_default();
        println!(
            "| {what} | {experiments} | {answered} | {different} | {certain} | {width} | {blocks} |"
        );
    }
    Ok(())
}
