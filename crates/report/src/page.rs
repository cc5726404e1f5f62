//! One HTML file that holds everything: no script, no request to anywhere, opens from disk, prints.
//!
//! The order is that of a reader's questions: what is the answer, may I believe it, how do the arms compare, why, under which
//! conditions, and how do I repeat it. A page is at most about 2 MB: where an experiment has more than fits, the page draws less and
//! says what it left out and in which file it is.

mod arms;
mod blocks;
mod comparisons;
mod cost;
mod curves;
mod differences;
mod drift;
mod head;
mod line;
mod provenance;
mod reading;
mod rig;
mod time;
mod warnings;
mod why;

use crate::Report;
use crate::chart::{ArmStyle, ArmStyles};
use crate::text;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// What a page may hold of each thing.
#[derive(Clone, Copy, Debug)]
struct Budget {
    /// Rows of the arms table.
    arm_rows: usize,
    /// Mixes with charts.
    mixes: usize,
    /// Rows of all tables behind charts together.
    data_rows: usize,
    /// Rows of the comparison table.
    comparison_rows: usize,
    /// Panels of throughput over time.
    panels: usize,
    /// Of them, those with what was watched below.
    watched: usize,
    /// Points of which all figures are shown.
    figure_rows: usize,
    /// Bytes of the experiment file's text.
    file_bytes: usize,
    /// Places of one warning.
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

/// The largest page, bytes.
pub const LARGEST: usize = 2_000_000;

/// Columns to which names are shortened where they are not the subject.
const NAME: usize = 48;

/// What every part of the page is made from.
struct Page<'a> {
    report: Report<'a>,
    styles: ArmStyles,
    budget: Budget,
}

impl Page<'_> {
    /// The mark and the shortened name of an arm.
    fn arm(&self, name: &str) -> Markup {
        html! { span.arm { (self.style(name).swatch()) (text::short(name, NAME)) } }
    }

    fn style(&self, arm: &str) -> ArmStyle {
        self.styles.style(arm)
    }
}

/// Makes the page.
#[must_use]
pub fn render(report: &Report<'_>) -> String {
    let full = render_within(report, FULL);
    if full.len() <= LARGEST {
        full
    } else {
        render_within(report, LEAN)
    }
}

fn render_within(report: &Report<'_>, budget: Budget) -> String {
    let page = Page {
        report: *report,
        styles: ArmStyles::of(report.analysis),
        budget,
    };
    let name = text::short(&report.analysis.name, 80);
    let mut sections: Vec<(&str, &str, Markup)> = vec![("arms", "Arms", arms::section(&page))];
    if line::is_known(report.analysis) {
        sections.push(("line", "Plimsoll line", line::section(&page)));
    }
    if cost::is_known(report.analysis) {
        sections.push(("cost", "Cost", cost::section(&page)));
    }
    sections.extend([
        ("load", "Over the load", curves::section(&page)),
        ("comparisons", "Comparisons", comparisons::section(&page)),
    ]);
    if blocks::is_known(report.analysis) {
        sections.push(("blocks", "From block to block", blocks::section(&page)));
    }
    if why::is_known(report.analysis) {
        sections.push(("why", "Why", why::section(&page)));
    }
    sections.push(("time", "Over time", time::section(&page)));
    sections.push(("differed", "What differed", differences::section(&page)));
    if rig::is_known(&page) {
        sections.push(("rig", "What the arms stand on", rig::section(&page)));
    }
    if drift::is_known(report.analysis) {
        sections.push(("drift", "Drift of the machine", drift::section(&page)));
    }
    sections.extend([
        ("order", "Order of the blocks", differences::order(&page)),
        ("provenance", "Provenance", provenance::section(&page)),
        ("warnings", "Warnings", warnings::section(&page)),
        ("reading", "How to read this page", reading::section(&page)),
    ]);
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            (head_of(&name, &report.record.program.version))
            body {
                (head::masthead(&page))
                main {
                    (head::verdict(&page))
                    (head::validity(&page))
                    nav aria-label="Sections" {
                        @for (id, title, _) in &sections { a href={ "#" (id) } { (title) } }
                    }
                    @for (id, title, content) in &sections {
                        section id=(id) {
                            h2 { (title) }
                            (content)
                        }
                    }
                }
                footer {
                    p { "Written by plimsoll " (text::line(&report.record.program.version)) ", which finds the load that a database can safely bear." }
                }
            }
        }
    };
    markup.into_string()
}

/// Words about something left out, below a picture or a table.
fn notes(notes: &[String]) -> Markup {
    html! { @for note in notes { p.remark { (note) } } }
}

#[cfg(test)]
mod tests;

/// Head of any page: no script, no request to anywhere.
pub(crate) fn head_of(title: &str, version: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy"
                content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            meta name="generator" content={ "plimsoll " (text::line(version)) };
            title { (title) " · Plimsoll" }
            style { (PreEscaped(include_str!("page/style.css"))) }
        }
    }
}
