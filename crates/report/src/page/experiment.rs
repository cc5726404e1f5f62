//! One HTML file that holds everything: no request to anywhere, opens from disk, prints. What is on it is visible without scripts.
//!
//! The order is that of a reader's questions: what is the answer, may I believe it, how do the arms compare, why, under which
//! conditions, and how do I repeat it. A page is at most about 2 MB: where an experiment has more than fits, the page draws less and
//! says what it left out and in which file it is.

mod arms;
mod blocks;
mod comparisons;
mod curves;
mod differences;
mod downloads;
mod drift;
mod factors;
mod head;
mod kept_bytes;
mod line;
mod live;
mod map;
mod percentiles;
mod provenance;
mod reading;
mod rig;
mod section;
mod time;
mod warnings;
mod why;

pub(crate) use comparisons::{difference, p_value, word as judged};
pub(crate) use warnings::list as warning_list;

use crate::Report;
use crate::page::chart::{ArmStyle, ArmStyles};
use crate::page::shell::{self, Place, Shell};
use crate::section::{Section, application, controls, costs, duets, events};
use crate::{select, text};
use maud::{Markup, html};
use plimsoll_record::RunRecord;
use plimsoll_record::quantities::numbers::PAGE;
use plimsoll_trace::diskmap::{FileUse, RunMap};
use serde::{Deserialize, Serialize};

/// What a page may hold of each thing.
#[derive(Clone, Copy, Debug)]
struct Budget {
    /// Rows of the arms table.
    arm_rows: usize,
    mixes: usize,
    /// Rows of all tables behind charts together.
    data_rows: usize,
    /// Rows of the comparison table.
    comparison_rows: usize,
    /// Panels of throughput over time.
    panels: usize,
    /// How many of them have the watched figures below.
    watched: usize,
    /// Points with all their figures.
    figure_rows: usize,
    /// Bytes of the experiment file's text.
    file_bytes: usize,
    warning_places: usize,
}

const FULL: Budget = Budget {
    arm_rows: 120,
    mixes: 6,
    data_rows: 500,
    comparison_rows: 240,
    panels: 40,
    watched: 24,
    figure_rows: 160,
    file_bytes: 64 << 10,
    warning_places: 12,
};

const LEAN: Budget = Budget {
    arm_rows: 40,
    mixes: 2,
    data_rows: 100,
    comparison_rows: 60,
    panels: 8,
    watched: 4,
    figure_rows: 30,
    file_bytes: 16 << 10,
    warning_places: 3,
};

pub const LARGEST: usize = 2_000_000;

/// Loads from which on they make a curve.
const CURVE_FROM: usize = 3;

/// Columns to which names are shortened where they are not the subject.
const NAME: usize = 48;

/// What a page is made from beside the report.
#[derive(Clone, Copy, Debug, Default)]
pub struct Setting<'a> {
    pub place: Place,
    /// A run of it is going on right now, and the page follows it. Served pages only.
    pub live: bool,
    /// What was read and written where, of some of its runs.
    pub maps: &'a [DiskMap],
}

/// What stands around a map: its table, and names. Bytes.
pub const AROUND_A_MAP: usize = 8 << 10;

/// The accesses of one run, for the page's disk map.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskMap {
    pub arm: String,
    pub block: u32,
    /// What the player reads: `plimsoll_trace::diskmap::pack`. A served page asks its server for it, and may leave this empty.
    #[serde(with = "kept_bytes")]
    pub packed: Vec<u8>,
    /// The heat over the whole run as a PNG: visible without scripts. Nothing is shown where it is empty.
    #[serde(with = "kept_bytes")]
    pub still: Vec<u8>,
    /// In words, such as how many accesses to which files.
    pub about: String,
    /// What was done to each file.
    pub files: Vec<FileUse>,
}

impl DiskMap {
    /// What was drawn of a run.
    pub fn of(run: &RunRecord, drawn: RunMap) -> Self {
        Self {
            arm: run.arm.clone(),
            block: run.block,
            packed: drawn.packed,
            still: drawn.still,
            about: drawn.about,
            files: drawn.files,
        }
    }
}

/// What every part of the page is made from.
struct Page<'a> {
    setting: Setting<'a>,
    report: Report<'a>,
    styles: ArmStyles,
    budget: Budget,
}

impl Page<'_> {
    /// The mark and the shortened name of an arm.
    fn arm(&self, name: &str) -> Markup {
        html! { span.arm { (self.style(name).swatch()) (text::short(name, NAME)) } }
    }

    /// All runs of an arm, whatever came of them.
    fn runs_of(&self, arm: &str) -> impl Iterator<Item = &RunRecord> {
        let runs = self.report.record.runs.iter();
        runs.filter(move |run| run.arm == arm)
    }

    fn style(&self, arm: &str) -> ArmStyle {
        self.styles.style(arm)
    }
}

/// Makes the page as a file without maps.
pub fn render(report: &Report<'_>) -> String {
    render_in(report, &Setting::default())
}

pub fn render_in(report: &Report<'_>, setting: &Setting<'_>) -> String {
    let full = render_within(report, setting, FULL);
    if full.len() <= LARGEST { full } else { render_within(report, setting, LEAN) }
}

fn render_within(report: &Report<'_>, setting: &Setting<'_>, budget: Budget) -> String {
    let page =
        Page { setting: *setting, report: *report, styles: ArmStyles::of(report.analysis), budget };
    let name = text::short(&report.analysis.name, 80);
    let mut sections: Vec<(&str, &str, Markup)> = Vec::new();
    // With factors, the page opens with the figure of the experiment: the curves over the load where there are such, and then those over the factors.
    let has_factors = factors::is_known(report.analysis);
    let is_over_load = |curve: &plimsoll_judge::Curve| curve.points.len() >= CURVE_FROM;
    let opens_with_load = has_factors && report.analysis.curves.iter().any(is_over_load);
    if opens_with_load {
        sections.push(("load", "Over the load", curves::section(&page)));
    }
    if has_factors {
        sections.push(("factors", "Factors", factors::section(&page)));
    }
    sections.push(("arms", "Arms", arms::section(&page)));
    let add = |sections: &mut Vec<_>, id, title, section: Option<Section>| {
        if let Some(section) = section {
            sections.push((id, title, section::section(&page, &section)));
        }
    };
    add(&mut sections, "events", "Events", events(report.analysis, PAGE));
    if line::is_known(report.analysis) {
        sections.push(("line", "Plimsoll line", line::section(&page)));
    }
    add(&mut sections, "cost", "Cost", costs(report.analysis, PAGE));
    if !opens_with_load && !select::is_searched_alone(report.analysis) {
        sections.push(("load", "Over the load", curves::section(&page)));
    }
    if let Some(content) = percentiles::section(&page) {
        sections.push(("percentiles", "Percentiles", content));
    }
    sections.push(("comparisons", "Comparisons", comparisons::section(&page)));
    add(&mut sections, "plans", "Plans and indexes", application(report.analysis, PAGE));
    if blocks::is_known(report.analysis) {
        sections.push(("blocks", "From block to block", blocks::section(&page)));
    }
    if why::is_known(report.analysis) {
        sections.push(("why", "Why", why::section(&page)));
    }
    sections.push(("time", "Over time", time::section(&page)));
    sections.push(("differed", "Declared and undeclared differences", differences::section(&page)));
    if rig::is_known(&page) {
        sections.push(("rig", "Storage and limits", rig::section(&page)));
    }
    if map::is_known(&page) {
        sections.push(("map", "Where on the disk", map::section(&page)));
    }
    add(&mut sections, "controls", "Controls", controls(report.analysis, PAGE));
    add(&mut sections, "duets", "Duets", duets(report.analysis, PAGE));
    if drift::is_known(report.analysis) {
        sections.push(("drift", "Machine drift", drift::section(&page)));
    }
    sections.extend([
        ("order", "Order of the blocks", differences::order(&page)),
        ("provenance", "Provenance", provenance::section(&page)),
        ("downloads", "Downloads", downloads::section(&page)),
        ("warnings", "Warnings", warnings::section(&page)),
        ("reading", "How to read this page", reading::section(&page)),
    ]);
    let body = html! {
        (head::masthead(&page))
        main {
            @if setting.live { (live::section(&page)) }
            div data-report=[(setting.place == Place::Served).then_some("")] {
                (head::verdict(&page))
                (head::validity(&page))
                nav aria-label="Sections" {
                    @for (id, title, _) in &sections { a href={ "#" (id) } { (title) } }
                }
                @for (id, title, content) in &sections { (self::section(id, title, content)) }
            }
        }
    };
    let shell =
        Shell { title: &name, version: &report.record.program.version, place: setting.place };
    shell::document(&shell, &body)
}

/// Sections that are open at once: what the arms did. The others are behind their headings.
const OPEN: [&str; 6] = ["arms", "events", "factors", "line", "load", "map"];

fn section(id: &str, title: &str, content: &Markup) -> Markup {
    html! {
        section id=(id) {
            @if OPEN.contains(&id) {
                h2 { (title) " " a.anchor href={ "#" (id) } aria-label={ "Link to " (title) } { "#" } }
                (content)
            } @else {
                details.fold { summary { h2 { (title) } } (content) }
            }
        }
    }
}

/// Words about something left out, below a picture or a table.
fn notes(notes: &[String]) -> Markup {
    html! { @for note in notes { p.remark { (note) } } }
}

/// A cell with a figure of invalid runs.
fn refused(figure: &str) -> Markup {
    html! { td.num.refused { (select::in_brackets(figure, PAGE)) } }
}

#[cfg(test)]
mod tests;
