//! `plimsoll report`, `compare` and `list`.

use crate::arguments;
use crate::charts;
use crate::exit::Exit;
use crate::maps::maps;
use crate::read::{found, is_empty, nothing_in, record, store_path};
use crate::screen::{print, print_drawn, print_json, screen, tell};
use anyhow::Context;
use plimsoll_judge::{Analysis, History, HistoryQuestion, Outcome, analyse, compare_records};
use plimsoll_record::files::{OwnFolder, write_whole};
use plimsoll_record::redact::line;
use plimsoll_record::{ExperimentRecord, ExperimentState};
use plimsoll_report::Report;
use plimsoll_report::export::{junit, markdown};
use plimsoll_report::page::experiment::{DiskMap, LARGEST, Setting, render, render_in};
use plimsoll_serve::lookup::side;
use plimsoll_store::{Filter, Store};
use std::path::{Path, PathBuf};

pub fn report(arguments: &arguments::Show, store: Option<&Path>) -> anyhow::Result<Exit> {
    let found = found(&arguments.experiment, store)?;
    let wanted = Wanted {
        json: arguments.json,
        page: arguments.page.as_deref(),
        junit: arguments.junit.as_deref(),
        markdown: arguments.markdown.as_deref(),
        is_stored: found.is_stored,
        all: arguments.all,
        named: (!found.is_stored).then_some(&arguments.experiment),
        bundled: &found.maps,
        ..Wanted::default()
    };
    let analysis = result(&found.record, &wanted, store)?;
    if let Some(folder) = &arguments.svg {
        let report = Report { record: &found.record, analysis: &analysis };
        charts::write(&report, folder)?;
    }
    Ok(exit_of(&analysis))
}

/// In which ways a result is wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// Printed as JSON in place of tables.
    pub json: bool,
    /// Where its page goes, if it is named.
    pub page: Option<&'a Path>,
    /// Where its JUnit report goes, if it is wanted.
    pub junit: Option<&'a Path>,
    /// Where it goes as Markdown, if that is wanted.
    pub markdown: Option<&'a Path>,
    /// Everything is printed, and not only the answer with a few figures.
    pub all: bool,
    /// The name by which `plimsoll report` finds it, if not its id.
    pub named: Option<&'a str>,
    /// Whether it is in the store. A file, which may come from anyone, changes nothing there, nor any page of it.
    pub is_stored: bool,
    /// In the JUnit report, whether a gate that is open passes.
    pub open_passes: bool,
    /// Disk maps for its page, where it came in a bundle.
    pub bundled: &'a [DiskMap],
}

/// Judges a record, shows it and writes its page. As JSON, the page is written only where it is requested.
pub fn result(
    record: &ExperimentRecord,
    wanted: &Wanted<'_>,
    store: Option<&Path>,
) -> anyhow::Result<Analysis> {
    let analysis = analyse(record)?;
    let report = Report { record, analysis: &analysis };
    if wanted.is_stored {
        note_verdict(record, &analysis, store)?;
    }
    // First, so that it exists whatever becomes of the rest.
    if let Some(file) = wanted.junit {
        write_whole(file, junit::render(&report, wanted.open_passes).as_bytes())
            .with_context(|| format!("cannot write the JUnit report {}", file.display()))?;
    }
    if let Some(file) = wanted.markdown {
        let history = history(record, &analysis, store);
        let page = wanted.page.map(|page| page.display().to_string());
        let text = markdown::render(&report, history.as_ref(), page.as_deref());
        write_whole(file, text.as_bytes())
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    if wanted.json {
        print_json(&analysis)?;
        if wanted.page.is_some() {
            write_page(&report, wanted, store)?;
        }
    } else {
        use plimsoll_report::terminal::{brief, closing, summary};
        let screen = screen();
        print_drawn(&match wanted.all {
            true => summary(&report, &screen),
            false => brief(&report, &screen),
        })?;
        let file = write_page(&report, wanted, store)?;
        if wanted.all {
            print_drawn(&closing(&analysis, &screen))?;
        }
        print(format_args!("Page: {}\n", link(&file)))?;
        if !wanted.all {
            let named = wanted.named.unwrap_or(&record.id);
            print(format_args!("All figures: plimsoll report {named} --all\n"))?;
        }
    }
    Ok(analysis)
}

/// What earlier experiments of the same name measured of the arm in question, where the store has at least one more.
fn history(
    record: &ExperimentRecord,
    analysis: &Analysis,
    store: Option<&Path>,
) -> Option<History> {
    let store = Store::open_read_only(&store_path(store).ok()?).ok()?;
    let deciding = analysis.comparisons.iter().find(|one| one.primary);
    let question = HistoryQuestion {
        arm: deciding.map(|one| one.arm.clone()),
        metric: deciding.map(|one| one.metric),
        mix: deciding.map(|one| one.mix.clone()),
        at: deciding.map(|one| one.load_label.clone()),
        // Each build and each version is a plan of its own.
        any_plan: true,
    };
    let found = plimsoll_serve::lookup::history(&[store], &record.id, &question).ok()?;
    (found.results.len() > 1).then_some(found)
}

/// A file as a terminal makes a link of it.
pub fn link(file: &Path) -> String {
    let whole = std::path::absolute(file).ok();
    let link = whole.and_then(|file| url::Url::from_file_path(file).ok());
    link.map_or_else(|| file.display().to_string(), |link| link.to_string())
}

/// Lets the list of experiments show what this one came to. A store that cannot be written keeps what it has.
fn note_verdict(
    record: &ExperimentRecord,
    analysis: &Analysis,
    store: Option<&Path>,
) -> anyhow::Result<()> {
    let file = store_path(store)?;
    if file.exists() && record.state == ExperimentState::Finished {
        let verdict = plimsoll_report::terminal::verdict(analysis, &screen());
        if let Ok(mut store) = Store::open(&file) {
            let _ = store.note_verdict(&record.id, &verdict);
        }
    }
    Ok(())
}

/// How the program should end after a result.
pub fn exit_of(analysis: &Analysis) -> Exit {
    match analysis.outcome() {
        Outcome::Good => Exit::Good,
        Outcome::ThresholdBroken => Exit::ThresholdBroken,
        Outcome::Invalid => Exit::InvalidMeasurement,
    }
}

/// A plain file name for an experiment: its name with anything but letters, digits, `-` and `_` replaced, and its id.
pub fn file_stem(record: &ExperimentRecord) -> String {
    stem(&record.name, &record.id)
}

/// The same for an experiment of this name and id.
pub fn stem(name: &str, id: &str) -> String {
    let name: String = name
        .chars()
        .take(60)
        .map(|letter| if letter.is_alphanumeric() || letter == '_' { letter } else { '-' })
        .collect();
    format!("{name}-{}", plimsoll_report::text::file_stem(id))
}

/// A page, and the disk maps on it.
pub struct Drawn {
    pub page: String,
    pub maps: Vec<DiskMap>,
}

/// Draws a page with the disk maps for which it has room; `bundled` are those that came with the record.
pub fn drawn(report: &Report<'_>, bundled: &[DiskMap]) -> Drawn {
    let bare = render(report);
    let maps = maps(report, bundled, LARGEST.saturating_sub(bare.len()));
    let page = match maps.is_empty() {
        true => bare,
        false => render_in(report, &Setting { maps: &maps, ..Setting::default() }),
    };
    Drawn { page, maps }
}

/// Writes a page as a whole or not at all: where the user wants it, with the permissions that are usual there, or beside the store and as private.
fn write_page(
    report: &Report<'_>,
    wanted: &Wanted<'_>,
    store: Option<&Path>,
) -> anyhow::Result<PathBuf> {
    let page = drawn(report, wanted.bundled).page;
    if let Some(file) = wanted.page {
        write_whole(file, page.as_bytes()).with_context(|| not_written(file))?;
        return Ok(file.to_owned());
    }
    let store = store_path(store)?;
    let stem = file_stem(report.record);
    // Never in the place of the page of an experiment here, whatever id it says to have.
    let name = match wanted.is_stored {
        true => format!("{stem}.html"),
        false => format!("{stem}-from-file.html"),
    };
    let folder = store.parent().unwrap_or(Path::new(""));
    let pages = OwnFolder::make(folder).and_then(|folder| folder.make_inside("pages".as_ref()));
    let pages = pages.with_context(|| not_written(&folder.join("pages").join(&name)))?;
    let file = pages.path().join(&name);
    pages.write_whole(name.as_ref(), page.as_bytes()).with_context(|| not_written(&file))?;
    Ok(file)
}

fn not_written(file: &Path) -> String {
    format!(
        "cannot write the page {}; the result is in the store, `plimsoll report --page FILE` writes it elsewhere",
        file.display()
    )
}

pub fn compare(arguments: &arguments::Compare, store: Option<&Path>) -> anyhow::Result<Exit> {
    let Some(second) = &arguments.second else {
        let analysis = analyse(&record(&arguments.first, store)?)?;
        if arguments.json {
            print_json(&analysis.comparisons)?;
        } else {
            print_drawn(&plimsoll_report::terminal::comparisons(&analysis, &screen()))?;
        }
        return Ok(Exit::Good);
    };
    let load = |experiment: &str| record(experiment, store);
    let (a, arm_a) = side(&arguments.first, load)?;
    let (b, arm_b) = side(second, load)?;
    let comparison = compare_records(&a, &arm_a, &b, &arm_b)?;
    if arguments.json {
        print_json(&comparison)?;
    } else {
        print_drawn(&plimsoll_report::terminal::record_comparison(&comparison, &screen()))?;
    }
    Ok(Exit::Good)
}

pub fn list(arguments: &arguments::List, store: Option<&Path>) -> anyhow::Result<Exit> {
    let store = Store::open_read_only(&store_path(store)?)?;
    let filter = Filter {
        name: arguments.name.clone(),
        state: arguments.unfinished.then_some(ExperimentState::Unfinished),
    };
    let summaries = store.list(&filter)?;
    if arguments.json {
        print_json(&summaries)?;
        return Ok(Exit::Good);
    }
    if summaries.is_empty() {
        if is_empty(&store)? {
            tell(nothing_in(&store));
        } else {
            tell(format_args!("no such experiment in {}", store.path().display()));
        }
        return Ok(Exit::Good);
    }
    print(format_args!(
        "{:<10} {:<20} {:<12} {:<15} {:<26} experiment: arms\n",
        "id", "begun (UTC)", "state", "runs", "verdict"
    ))?;
    for summary in summaries {
        let state = match (summary.state, summary.running) {
            (_, true) => "running",
            (ExperimentState::Finished, _) => "finished",
            (ExperimentState::Unfinished, _) => "interrupted",
        };
        let begun = summary.started_at.get(..19).unwrap_or(&summary.started_at).replace('T', " ");
        let mut runs = format!("{}/{}", summary.runs_finished, summary.runs_planned);
        if summary.runs_failed > 0 {
            runs.push_str(&format!(", {} failed", summary.runs_failed));
        }
        print(format_args!(
            "{:<10} {begun:<20} {state:<12} {runs:<15} {:<26} {}: {}\n",
            line(&summary.id),
            line(summary.verdict.as_deref().unwrap_or("-")),
            line(&summary.name),
            line(&summary.arms.join(", "))
        ))?;
    }
    Ok(Exit::Good)
}
