//! The list of all experiments in a store, from which pages, histories and comparisons of any two arms are reached. Without a script its form
//! filters and compares as well.

#[cfg(test)]
mod tests;

use crate::page::link;
use crate::page::prose;
use crate::page::shell::{self, Place, Shell};
use crate::{text, words};
use maud::{Markup, html};
use plimsoll_record::quantities::numbers::PAGE;

/// Experiments on the page; older ones are found by the filter.
pub const MOST: usize = 300;
/// Arms of one experiment that can be chosen here.
const ARMS: usize = 24;
const NAME: usize = 80;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// A program is working on it.
    GoingOn,
    Finished,
    /// Runs are missing, and no program is working on it.
    Interrupted,
}

impl State {
    /// All of them, in the order of the filter.
    pub const ALL: [Self; 3] = [Self::GoingOn, Self::Finished, Self::Interrupted];

    pub fn key(self) -> &'static str {
        match self {
            Self::GoingOn => "going-on",
            Self::Finished => "finished",
            Self::Interrupted => "interrupted",
        }
    }

    /// The state of this key.
    pub fn parse(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.key() == key)
    }

    fn word(self) -> &'static str {
        match self {
            Self::GoingOn => "running",
            Self::Finished => "finished",
            Self::Interrupted => "interrupted",
        }
    }

    fn mark(self) -> &'static str {
        match self {
            Self::GoingOn => "●",
            Self::Finished => "✓",
            Self::Interrupted => "◐",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub id: String,
    pub name: String,
    pub question: Option<String>,
    pub state: State,
    pub arms: Vec<String>,
    /// Pairs of arm and block that have a finished run.
    pub runs_finished: u32,
    /// Runs whose last attempt failed.
    pub runs_failed: u32,
    pub runs_planned: u32,
    /// Begin in UTC, as RFC 3339 writes it.
    pub started_at: String,
    /// The file that it is read from, where that is no store.
    pub bundle: Option<String>,
}

impl Entry {
    /// What the filter looks through, in small letters.
    fn searched(&self) -> String {
        let mut text = format!("{} {}", self.name, self.id);
        for more in self.question.iter().chain(&self.arms).chain(&self.bundle) {
            text.push(' ');
            text.push_str(more);
        }
        text::line(&text).to_lowercase()
    }

    /// Whether every word of `wanted` is somewhere in it.
    fn fits(&self, wanted: &str, state: Option<State>) -> bool {
        if state.is_some_and(|state| state != self.state) {
            return false;
        }
        let searched = self.searched();
        let wanted = text::line(wanted).to_lowercase();
        wanted.split_whitespace().all(|word| searched.contains(word))
    }
}

/// What the page is made from.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'a> {
    /// All experiments, the newest first.
    pub entries: &'a [Entry],
    pub text: &'a str,
    pub state: Option<State>,
    /// Where the experiments are kept.
    pub store: &'a str,
}

/// Makes the page. `version` is that of the program.
pub fn page(listed: &Listed<'_>, version: &str) -> String {
    let body = html! {
        header.masthead {
            (shell::brand(Place::Served))
            p.run { span { "Store " (text::short(listed.store, NAME)) } }
        }
        main.list {
            h1 { "Experiments" }
            @if listed.entries.is_empty() { (first_experiment()) } @else { (found(listed)) }
        }
    };
    let shell = Shell { title: "Experiments", version, place: Place::Served };
    shell::document(&shell, &body)
}

/// What to do where there is nothing yet.
fn first_experiment() -> Markup {
    html! {
        section.first {
            p.more { "There is no experiment in this store yet." }
            p { "An experiment is one file: what is compared, under which load, for how long. The quickest look takes about three minutes:" }
            pre.command { code { "plimsoll run studies/quickstart.yaml" } }
            p {
                "It then appears here while it runs, with its progress, and stays when it is done. Run from another terminal, with the same "
                code { "--store" } " if you gave one here. What an experiment would do, "
                code { "plimsoll plan FILE" } " says before."
            }
        }
    }
}

fn found(listed: &Listed<'_>) -> Markup {
    let fitting: Vec<&Entry> =
        listed.entries.iter().filter(|entry| entry.fits(listed.text, listed.state)).collect();
    // With everything on the page the script can filter without asking again.
    let whole = listed.entries.len() <= MOST && fitting.len() == listed.entries.len();
    html! {
        (filter(listed))
        p.listed role="status" data-count="" {
            @if fitting.len() == listed.entries.len() { (words::counted(fitting.len() as u64, "experiment", PAGE)) }
            @else { (PAGE.count(fitting.len() as u64)) " of " (words::counted(listed.entries.len() as u64, "experiment", PAGE)) }
        }
        @if fitting.is_empty() {
            p { "None fits. " a href="/" { "Show all" } }
        } @else {
            form.choice action="/compare" method="get" data-choice="" {
                div.scroll tabindex="0" role="region" aria-label="Table of experiments" {
                    table.experiments data-filter="filter" data-whole=[whole.then_some("")] {
                        thead { tr {
                            th scope="col" { "Experiment" }
                            th scope="col" { "State" }
                            th scope="col" { "Begun" }
                            th scope="col" { "Arms" small { "tick two to compare them" } }
                        } }
                        tbody { @for entry in fitting.iter().take(MOST) { (row(entry)) } }
                    }
                }
                @if fitting.len() > MOST {
                    p.remark { "The newest " (MOST) " of " (PAGE.count(fitting.len() as u64)) ". Older ones are found by the filter." }
                }
                div.compare-bar data-bar="" {
                    p data-chosen="" aria-live="polite" { "Tick two arms, of one experiment or of two." }
                    button type="submit" { "Compare" }
                }
            }
        }
    }
}

fn filter(listed: &Listed<'_>) -> Markup {
    html! {
        form.filter #filter action="/" method="get" role="search" aria-label="Experiments" {
            label { span { "Find" } input type="search" name="text" value=(text::line(listed.text)) maxlength="200" autocomplete="off" placeholder="name, question, arm or id"; }
            label {
                span { "State" }
                select name="state" {
                    option value="" { "any" }
                    @for state in State::ALL {
                        option value=(state.key()) selected[listed.state == Some(state)] { (state.word()) }
                    }
                }
            }
            button type="submit" { "Filter" }
        }
    }
}

fn row(entry: &Entry) -> Markup {
    let name = text::short(&entry.name, NAME);
    html! {
        tr data-text=(entry.searched()) data-state=(entry.state.key()) {
            th scope="row" {
                a href=(link::experiment(&entry.id)) { (name) }
                @if let Some(question) = &entry.question { span.asked { (prose::label(question, 200)) } }
                small { (text::short(&entry.id, 24)) " · " a href=(link::history(&entry.name)) aria-label={ "History of " (name) } { "history" }
                    @if let Some(bundle) = &entry.bundle { " · " (text::short(bundle, 64)) }
                }
            }
            td.standing {
                span class={ "state " (entry.state.key()) } { span aria-hidden="true" { (entry.state.mark()) } " " (entry.state.word()) }
                (progress(entry))
            }
            td.when { time datetime=(text::line(&entry.started_at)) { (words::date(&entry.started_at)) } }
            td { fieldset.arms {
                legend.hidden { "Arms of " (name) }
                @for arm in entry.arms.iter().take(ARMS) {
                    label { input type="checkbox" name="arm" value={ (entry.id) ":" (arm) }; span { (text::short(arm, 40)) } }
                }
                @if entry.arms.len() > ARMS { small { "and " (entry.arms.len() - ARMS) " more, on its page" } }
            } }
        }
    }
}

/// How many runs there are of those planned, as words and as a bar.
fn progress(entry: &Entry) -> Markup {
    let share = f64::from(entry.runs_finished) / f64::from(entry.runs_planned.max(1));
    let width = (share * 100.0).clamp(0.0, 100.0).round();
    html! {
        small {
            (PAGE.count(entry.runs_finished.into())) " of " (words::counted(entry.runs_planned.into(), "run", PAGE))
            @if entry.runs_failed > 0 { ", " span.failed { (PAGE.count(entry.runs_failed.into())) " failed" } }
        }
        svg.run-bar viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true" {
            rect.rest width="100" height="4" {}
            rect.done width=(width) height="4" {}
        }
    }
}
