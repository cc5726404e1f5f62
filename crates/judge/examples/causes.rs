//! How often the cause that was injected is the one that is named: a table of the experiments of `studies/causes`, as `./x causes` measured them.
//!
//! ```sh
//! cargo run --release -p plimsoll-judge --example causes target/causes/causes.db docs/methods.md
//! ```
//!
//! With a page the table is also written there, between its marks.
//!
//! The arm `injected` of each file says in its `about` what the truth is: one cause, or several where the limit that was injected shows as either. Each run is named
//! by itself, as if it were all there is. A run is right where the truth is named, unsure where the cause is said to be unknown, and wrong otherwise. Where the file
//! has an arm `relieved`, the table says how much faster it is: an injection that costs nothing proves nothing.

use plimsoll_judge::{Analysis, CauseKind, analyse, plan_of};
use plimsoll_record::RunState;
use plimsoll_stats::median;
use plimsoll_store::{Filter, Store};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// What the names of these experiments begin with.
const PREFIX: &str = "cause-";
/// Where the table stands in a page.
const BEGIN: &str = "<!-- injected causes: begin, written by ./x causes -->\n";
const END: &str = "<!-- injected causes: end -->";

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (store, page) = match &words[..] {
        [store] => (store, None),
        [store, page] => (store, Some(page)),
        _ => return Err("name the store, and the page if it is to be written".into()),
    };
    let table = table(&Store::open_read_only(Path::new(store))?)?;
    print!("{table}");
    if let Some(page) = page {
        let text = fs::read_to_string(page)?;
        let marks = text.split_once(BEGIN);
        let marks = marks.and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
        let (before, after) = marks.ok_or_else(|| format!("{page} has no marks"))?;
        fs::write(page, format!("{before}{BEGIN}\n{table}\n{END}{after}"))?;
    }
    Ok(())
}

/// A row for each experiment, and how many runs were named rightly.
fn table(store: &Store) -> Result<String, Box<dyn Error>> {
    let (mut right, mut unsure, mut wrong) = (0, 0, 0);
    let mut table = String::from(
        "| Injected | Truth | Named | Right | Unsure | Wrong | Relieved, times as fast |\n|---|---|---|---:|---:|---:|---:|\n",
    );
    let mut seen = BTreeSet::new();
    // The newest of each name comes first.
    let mut newest = store.list(&Filter::default())?;
    newest.retain(|one| one.name.starts_with(PREFIX) && seen.insert(one.name.clone()));
    newest.sort_by(|one, other| one.name.cmp(&other.name));
    for summary in newest {
        let record = store.load(&summary.id)?;
        let plan = plan_of(&record)?;
        let arm = plan.arms.iter().find(|arm| arm.name == "injected");
        let about = arm.and_then(|arm| arm.about.as_deref());
        let Some(truth) = about.and_then(|about| about.strip_prefix("truth: ")) else {
            return Err(format!("{} does not say the truth", record.name).into());
        };
        let truths: Vec<&str> = truth.split(", ").collect();
        let mut named: BTreeMap<String, usize> = BTreeMap::new();
        let mut here = [0; 3];
        for run in &record.runs {
            if run.arm != "injected" || run.state != RunState::Finished {
                continue;
            }
            let mut alone = record.clone();
            alone.runs = vec![run.clone()];
            // A run without a valid point has no cause: nothing is known of it.
            let kind = cause(&analyse(&alone)?).unwrap_or(CauseKind::Unknown);
            let name = word(kind)?;
            let counted = match kind {
                _ if truths.contains(&name.as_str()) => 0,
                CauseKind::Unknown => 1,
                _ => 2,
            };
            here[counted] += 1;
            *named.entry(name).or_default() += 1;
        }
        let named: Vec<String> = named
            .into_iter()
            .map(|(name, count)| format!("{name} ({count})"))
            .collect();
        let faster =
            relief(&analyse(&record)?).map_or_else(String::new, |times| format!("{times:.1}"));
        writeln!(
            table,
            "| {} | {truth} | {} | {} | {} | {} | {faster} |",
            record.question.as_deref().unwrap_or(&record.name),
            named.join(", "),
            here[0],
            here[1],
            here[2]
        )?;
        right += here[0];
        unsure += here[1];
        wrong += here[2];
    }
    let all = right + unsure + wrong;
    writeln!(
        table,
        "\n{right} of {all} runs named rightly, {unsure} unknown, {wrong} wrongly sure."
    )?;
    Ok(table)
}

/// The cause of the injected arm at its only point.
fn cause(analysis: &Analysis) -> Option<CauseKind> {
    let mut curves = analysis.curves.iter();
    let curve = curves.find(|curve| curve.arm == "injected")?;
    curve.points.first()?.cause.as_ref().map(|cause| cause.kind)
}

/// As JSON spells it.
fn word(kind: CauseKind) -> Result<String, serde_json::Error> {
    let word = serde_json::to_value(kind)?;
    Ok(word.as_str().unwrap_or_default().to_owned())
}

/// Throughput of the relieved arm over that of the injected one.
fn relief(analysis: &Analysis) -> Option<f64> {
    let of = |name: &str| {
        let mut curves = analysis.curves.iter();
        let curve = curves.find(|curve| curve.arm == name)?;
        let results = curve.points.first()?.results.iter();
        let results = results.filter(|result| result.valid);
        median(&results.map(|result| result.throughput).collect::<Vec<_>>())
    };
    Some(of("relieved")? / of("injected")?)
}
