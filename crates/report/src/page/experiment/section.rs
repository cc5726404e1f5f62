//! Sections and their tables, as HTML.

use super::{NAME, Page};
use crate::page::prose;
use crate::section::{Cell, Column, Kind, Section, Table};
use maud::{Markup, html};
use plimsoll_record::quantities::numbers::PAGE;

/// Columns to which words in a cell are shortened.
const WORDS: usize = 400;

pub(super) fn section(page: &Page<'_>, section: &Section) -> Markup {
    html! {
        @if !section.lead.is_empty() { p.lead { (section.lead) } }
        @for one in section.sentences.iter().take(page.budget.arm_rows) { p { (prose::prose(&one.text)) } }
        @for one in &section.tables { (table(page, one, page.budget.arm_rows)) }
    }
}

/// The first rows of a table.
pub(super) fn table(page: &Page<'_>, table: &Table, limit: usize) -> Markup {
    let all = table.row_count();
    html! {
        @if !table.lead.is_empty() { p.lead { (table.lead) } }
        div.scroll tabindex="0" role="region" aria-label={ "Table of the " (table.title) } {
            table {
                thead { tr { @for column in &table.columns { (head(column)) } } }
                @for (group, rows) in table.first(limit) {
                    tbody {
                        @if group.arm.is_some() || !group.words.is_empty() {
                            tr.mix { th colspan=(table.columns.len()) scope="rowgroup" {
                                @if let Some(arm) = &group.arm { (page.arm(arm)) }
                                (prose::label(&group.words, 160))
                            } }
                        }
                        @for row in rows { tr {
                            @for (place, (column, cell)) in table.columns.iter().zip(row).enumerate() {
                                @if place == 0 { th scope="row" { (content(page, column.kind, cell)) } }
                                @else { (self::cell(page, column.kind, cell)) }
                            }
                        } }
                    }
                }
            }
        }
        @if !table.remark.is_empty() { p.remark { (table.remark) } }
        @if all > limit { p.remark { "The first " (limit) " of " (all) " rows; all are in " (table.file) "." } }
    }
}

fn head(column: &Column) -> Markup {
    html! {
        th.num[column.kind == Kind::Figure] scope="col" {
            (column.title)
            @if !column.unit.is_empty() { small { (column.unit) } }
        }
    }
}

/// A cell that does not name its row.
pub(super) fn cell(page: &Page<'_>, kind: Kind, cell: &Cell) -> Markup {
    html! {
        @if kind == Kind::Figure { td.num.best[cell.best.is_some()] { (content(page, kind, cell)) } }
        @else { td { (content(page, kind, cell)) } }
    }
}

fn content(page: &Page<'_>, kind: Kind, cell: &Cell) -> Markup {
    html! {
        @if let Some(best) = cell.best { span.star aria-hidden="true" { "★" } span.hidden { (best) ": " } }
        @match (&cell.text, kind) {
            (Some(arm), Kind::Arm) => (page.arm(arm)),
            (Some(words), Kind::Words) => (prose::label(words, WORDS)),
            (Some(figure), Kind::Figure) => (figure),
            (None, _) => (PAGE.nothing()),
        }
        @for small in &cell.small { small { (prose::label(small, NAME)) } }
    }
}
