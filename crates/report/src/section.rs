//! A part of a report: sentences, and tables of words and figures. Each is built once, for the numbers of a medium, and printed by the page and by the terminal.

mod application;
mod cost;
mod events;
mod hosts;
mod operations;
mod pairs;

pub(crate) use application::application;
pub(crate) use cost::{cell as cost_cell, costs};
pub(crate) use events::events;
pub(crate) use hosts::hosts;
pub(crate) use operations::{has_several_operations, operations};
pub(crate) use pairs::{controls, duets, noise};

/// One subject of a report: its sentences and tables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Section {
    /// What a reader has to know first. The page alone shows it.
    pub(crate) lead: &'static str,
    pub(crate) sentences: Vec<Sentence>,
    pub(crate) tables: Vec<Table>,
}

#[derive(Clone, Debug)]
pub(crate) struct Sentence {
    /// What the sentence is about: `xfs against ext4, a, 4 threads: throughput`. The page has it in the table.
    pub(crate) subject: String,
    pub(crate) text: String,
}

#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// In a few words: a heading in the terminal, and a label for readers who do not see the table.
    pub(crate) title: &'static str,
    /// A sentence above it, as [`Section::lead`].
    pub(crate) lead: &'static str,
    /// The first one names the rows.
    pub(crate) columns: Vec<Column>,
    pub(crate) groups: Vec<Group>,
    /// A remark below the table, on the page.
    pub(crate) remark: &'static str,
    /// The export in which all rows are.
    pub(crate) file: &'static str,
    pub(crate) narrow: Narrow,
}

impl Table {
    /// A table without further words, whose rows are all in the analysis.
    fn new(title: &'static str, columns: Vec<Column>, groups: Vec<Group>, narrow: Narrow) -> Self {
        let (lead, remark, file) = ("", "", "analysis.json");
        Self { title, lead, columns, groups, remark, file, narrow }
    }

    /// The first rows with their groups. Groups that have none of them are left out.
    pub(crate) fn first(&self, most: usize) -> Vec<(&Group, &[Vec<Cell>])> {
        let mut left = most;
        let shown = self.groups.iter().map(|group| {
            let rows = &group.rows[..group.rows.len().min(left)];
            left -= rows.len();
            (group, rows)
        });
        shown.filter(|(_, rows)| !rows.is_empty()).collect()
    }

    pub(crate) fn row_count(&self) -> usize {
        self.groups.iter().map(|group| group.rows.len()).sum()
    }
}

/// What a terminal does with a table that is too wide for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Narrow {
    /// Leaves out the last columns.
    Drop,
    /// Lists the cells of each row below each other.
    List,
    /// Leaves out the table in any case: the sentences say the same.
    Omit,
}

#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) title: &'static str,
    /// Small words below the title.
    pub(crate) unit: &'static str,
    /// The title where there is little room.
    pub(crate) short: &'static str,
    pub(crate) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Names of arms, with their marks.
    Arm,
    Words,
    Figure,
}

impl Column {
    pub(crate) fn words(title: &'static str) -> Self {
        Self { title, unit: "", short: "", kind: Kind::Words }
    }

    pub(crate) fn figure(title: &'static str, unit: &'static str, short: &'static str) -> Self {
        Self { title, unit, short, kind: Kind::Figure }
    }

    /// The title in small letters, or what replaces it where there is little room.
    pub(crate) fn short_title(&self) -> String {
        match self.short {
            "" => self.title.to_lowercase(),
            short => short.to_owned(),
        }
    }
}

/// Rows under a heading of their own.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) arm: Option<String>,
    /// Behind the name of the arm, or in its place.
    pub(crate) words: String,
    pub(crate) rows: Vec<Vec<Cell>>,
}

impl Group {
    pub(crate) fn of_arm(arm: &str, rows: Vec<Vec<Cell>>) -> Self {
        Self { arm: Some(arm.to_owned()), words: String::new(), rows }
    }

    pub(crate) fn plain(rows: Vec<Vec<Cell>>) -> Self {
        Self { arm: None, words: String::new(), rows }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    /// `None` where it is not known.
    pub(crate) text: Option<String>,
    /// Less important words below or behind the text.
    pub(crate) small: Vec<String>,
    /// What makes it the best of its column: `cheapest`.
    pub(crate) best: Option<&'static str>,
}

impl Cell {
    pub(crate) fn with(mut self, small: impl IntoIterator<Item = String>) -> Self {
        self.small.extend(small);
        self
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text: Some(text), ..Self::default() }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<Option<String>> for Cell {
    fn from(text: Option<String>) -> Self {
        Self { text, ..Self::default() }
    }
}
