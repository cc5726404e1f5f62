//! Sections and their tables, in characters.

use super::screen::{Screen, paint};
use super::sign::{self, Signs};
use super::table::{printed, unruled};
use super::{BOLD, DIM, heading, paragraph};
use crate::section::{Cell, Column, Group, Kind, Narrow, Section, Sentence, Table};
use anstream::adapter::strip_str;
use anstyle::Style;
use comfy_table::CellAlignment;

/// Sentences of a section, and rows of a table, that are shown.
const MOST: usize = 24;
/// Columns that stay however narrow the screen is.
const FEWEST: usize = 3;

/// The section under a heading; nothing where there is none.
pub(super) fn section(
    out: &mut String,
    title: &str,
    section: Option<&Section>,
    signs: &Signs<'_>,
    screen: &Screen,
) {
    let Some(section) = section else {
        return;
    };
    heading(out, title);
    sentences(out, &section.sentences, screen);
    let shown = section.tables.iter().filter(|table| table.narrow != Narrow::Omit);
    for (place, one) in shown.enumerate() {
        if place > 0 {
            heading(out, one.title);
        }
        table(out, one, signs, screen);
    }
}

/// Each sentence below its subject.
pub(super) fn sentences(out: &mut String, all: &[Sentence], screen: &Screen) {
    for one in all.iter().take(MOST) {
        paragraph(out, DIM, &one.subject, 2, screen);
        paragraph(out, Style::new(), &one.text, 4, screen);
    }
    if all.len() > MOST {
        let rest = format!("and {} more, on the page and in analysis.json", all.len() - MOST);
        paragraph(out, Style::new(), &rest, 2, screen);
    }
}

/// The widest form that fits: with the small words, without them, with fewer columns or as a list.
pub(super) fn table(out: &mut String, table: &Table, signs: &Signs<'_>, screen: &Screen) {
    let groups = table.first(MOST);
    let columns = &table.columns[..];
    let fits = |drawn: &[String]| {
        let mut lines = drawn.iter().flat_map(|text| text.lines());
        lines.all(|line| screen.columns(&strip_str(line).to_string()) <= screen.width)
    };
    let draw = |columns: &[Column], is_full: bool| -> Vec<String> {
        groups.iter().map(|(_, all)| rows(all, columns, is_full, signs, screen)).collect()
    };
    let mut drawn = draw(columns, true);
    if !fits(&drawn) && table.narrow == Narrow::Drop {
        drawn = draw(columns, false);
        let mut count = columns.len();
        while count > FEWEST && !fits(&drawn) {
            count -= 1;
            drawn = draw(&columns[..count], false);
        }
    }
    let is_list = !fits(&drawn) && table.narrow == Narrow::List;
    for ((group, rows), drawn) in groups.iter().zip(&drawn) {
        title(out, group, signs, screen);
        if is_list {
            let indent = if group.arm.is_some() { 4 } else { 2 };
            list(out, rows, columns, indent, signs, screen);
        } else {
            out.push_str(drawn);
        }
    }
    let all = table.row_count();
    if all > MOST {
        out.push_str(&format!("  and {} more, in {}\n", all - MOST, table.file));
    }
}

fn title(out: &mut String, group: &Group, signs: &Signs<'_>, screen: &Screen) {
    let width = screen.width.saturating_sub(4);
    match &group.arm {
        Some(arm) => {
            let name = screen.short(&format!("{arm}{}", group.words), width);
            out.push_str(&format!("  {} {}\n", signs.painted(arm), paint(BOLD, &name)));
        }
        None if group.words.is_empty() => {}
        None => paragraph(out, DIM, &group.words, 2, screen),
    }
}

fn rows(
    rows: &[Vec<Cell>],
    columns: &[Column],
    is_full: bool,
    signs: &Signs<'_>,
    screen: &Screen,
) -> String {
    let mut table = unruled();
    let aligned = |column: &Column, text: String| {
        let is_figure = column.kind == Kind::Figure;
        let alignment = if is_figure { CellAlignment::Right } else { CellAlignment::Left };
        comfy_table::Cell::new(text).set_alignment(alignment)
    };
    table.set_header(
        columns
            .iter()
            .map(|column| aligned(column, paint(DIM, &screen.plain(&column.short_title())))),
    );
    for row in rows {
        table.add_row(columns.iter().zip(row).map(|(column, cell)| {
            let text = text(cell, is_full, screen);
            let text = match (&cell.text, column.kind) {
                (Some(arm), Kind::Arm) => format!("{} {text}", signs.painted(arm)),
                _ if cell.best.is_some() => {
                    paint(BOLD, &format!("{}{text}", sign::best(screen.unicode)))
                }
                _ => text,
            };
            aligned(column, text)
        }));
    }
    printed(&table).lines().map(|line| format!("   {line}\n")).collect()
}

/// Each row as its name, with its cells in lines below.
fn list(
    out: &mut String,
    rows: &[Vec<Cell>],
    columns: &[Column],
    indent: usize,
    signs: &Signs<'_>,
    screen: &Screen,
) {
    for row in rows {
        let mut cells = columns.iter().zip(row);
        let Some((first, name)) = cells.next() else {
            continue;
        };
        let text_of_name = text(name, true, screen);
        match (&name.text, first.kind) {
            (Some(arm), Kind::Arm) => {
                let name =
                    paint(BOLD, &screen.short(&text_of_name, screen.width.saturating_sub(4)));
                out.push_str(&format!("  {} {name}\n", signs.painted(arm)));
            }
            _ => paragraph(out, BOLD, &text_of_name, indent, screen),
        }
        for (column, cell) in cells.filter(|(_, cell)| cell.text.is_some()) {
            let best = cell.best.map_or_else(String::new, |best| format!(", the {best}"));
            let line = format!("{}: {}{best}", column.short_title(), text(cell, true, screen));
            paragraph(out, Style::new(), &line, indent + 2, screen);
        }
    }
}

/// The text of a cell, with its small words in brackets.
fn text(cell: &Cell, is_full: bool, screen: &Screen) -> String {
    let text = cell.text.as_deref().unwrap_or_else(|| screen.numbers().nothing());
    if !is_full || cell.small.is_empty() {
        return screen.plain(text).into_owned();
    }
    screen.plain(&format!("{text} ({})", cell.small.join(", "))).into_owned()
}
