//! How often the cause that was injected is the one that is named: a table of the experiments of `studies/causes`, as `./x causes` measured them.
//!
//! ```sh
//! cargo run --release -p plimsoll-judge --example causes target/causes docs/methods.md
//! ```
//!
//! With a page the table is also written there, between its marks. The folder holds a store for each company in which was measured: `alone.db`, `one.db`, `two.db`.
//!
//! The arm `injected` of each file says in its `about` what the truth is: one cause, or several where the limit that was injected shows as either. Each run is named
//! by itself, as if it were all there is. A run is right where the truth is named, unsure where the cause is said to be unknown, and wrong otherwise. Where processors
//! are what is short, other programs that take them are the truth as well. Where the file has an arm `relieved`, the table says how much faster it is: an injection that
//! costs nothing proves nothing.

use plimsoll_judge::{Analysis, CauseKind, analyse, plan_of};
use plimsoll_record::RunState;
use plimsoll_stats::median;
use plimsoll_store::{Filter, Store};
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;

/// What the names of these experiments begin with.
const PREFIX: &str = "cause-";
/// Causes that processors are short, which other programs may be to blame for.
const PROCESSORS: [&str; 4] = ["cpu", "generator", "offered", "page-cache"];
/// Stores, and beside what was measured there.
const COMPANIES: [(&str, &str); 3] =
    [("alone", "alone"), ("one", "beside one program that comes and goes"), ("two", "beside two")];
/// Where the table stands in a page.
const BEGIN: &str = "<!-- injected causes: begin, written by ./x causes -->\n";
const END: &str = "<!-- injected causes: end -->";

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (stores, page) = match &words[..] {
        [stores] => (stores, None),
        [stores, page] => (stores, Some(page)),
        _ => {
            return Err("name the folder of the stores, and the page if it is to be written".into());
        }
    };
    let mut measured = Vec::new();
    for (company, _) in COMPANIES {
        let store = Path::new(stores).join(format!("{company}.db"));
        measured.push(measured_in(&Store::open_read_only(&store)?, company != "alone")?);
    }
    let table = table(&measured);
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

/// What was injected, and as what it was named.
struct Case {
    title: String,
    truth: String,
    /// Runs by the cause that was named.
    named: BTreeMap<String, usize>,
    /// Runs named rightly, as unknown, and wrongly.
    counts: [usize; 3],
    /// How many times as fast it is without the bottleneck.
    relieved: Option<f64>,
}

/// The experiments of a store by their names.
fn measured_in(store: &Store, has_company: bool) -> Result<BTreeMap<String, Case>, Box<dyn Error>> {
    let mut cases = BTreeMap::new();
    // The newest of each name comes first.
    for summary in store.list(&Filter::default())? {
        if !summary.name.starts_with(PREFIX) || cases.contains_key(&summary.name) {
            continue;
        }
        let record = store.load(&summary.id)?;
        let plan = plan_of(&record)?;
        let arm = plan.arms.iter().find(|arm| arm.name == "injected");
        let about = arm.and_then(|arm| arm.about.as_deref());
        let Some(truth) = about.and_then(|about| about.strip_prefix("truth: ")) else {
            return Err(format!("{} does not say the truth", record.name).into());
        };
        let mut truths: Vec<&str> = truth.split(", ").collect();
        if has_company && truths.iter().any(|one| PROCESSORS.contains(one)) {
            truths.push("others");
        }
        let (mut named, mut counts) = (BTreeMap::new(), [0; 3]);
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
            counts[counted] += 1;
            *named.entry(name).or_default() += 1;
        }
        let case = Case {
            title: record.question.clone().unwrap_or_else(|| record.name.clone()),
            truth: truth.to_owned(),
            named,
            counts,
            relieved: relief(&analyse(&record)?),
        };
        cases.insert(summary.name, case);
    }
    Ok(cases)
}

/// A row for each experiment, and how many runs were named rightly.
fn table(measured: &[BTreeMap<String, Case>]) -> String {
    let mut table = String::from("| Injected | Truth |");
    for (_, words) in COMPANIES {
        table.push_str(&format!(" Named {words} |"));
    }
    table.push_str(" Relieved, times as fast |\n|---|---|---|---|---|---:|\n");
    let first = measured.first().into_iter().flatten();
    for (name, case) in first {
        table.push_str(&format!("| {} | {} |", case.title, case.truth));
        for cases in measured {
            let named = cases.get(name).into_iter().flat_map(|case| &case.named);
            let named: Vec<String> =
                named.map(|(name, count)| format!("{name} ({count})")).collect();
            table.push_str(&format!(" {} |", named.join(", ")));
        }
        let faster = case.relieved.map_or_else(String::new, |times| format!("{times:.1}"));
        table.push_str(&format!(" {faster} |\n"));
    }
    for ((_, words), cases) in COMPANIES.iter().zip(measured) {
        let sum = |place: usize| cases.values().map(|case| case.counts[place]).sum::<usize>();
        let [right, unsure, wrong] = [0, 1, 2].map(sum);
        let all = right + unsure + wrong;
        table.push_str(&format!(
            "\nRuns {words}: {right} of {all} named rightly, {unsure} unknown, {wrong} wrongly sure.\n"
        ));
    }
    table
}

/// The cause of the injected arm at its only point.
fn cause(analysis: &Analysis) -> Option<CauseKind> {
    let mut curves = analysis.curves.iter();
    let curve = curves.find(|curve| curve.arm == "injected")?;
    curve.points.first()?.cause.as_ref().map(|cause| cause.kind)
}

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
