//! `factors`, `except` and `design`: what is varied. The cells of the grid become the arms of the experiment.

use crate::document::{KeyWords, OpenMap};
use crate::table::*;

/// Most factors of an experiment: the number that the largest screening design takes.
pub(crate) const MOST_FACTORS: usize = 23;

pub(crate) const MOST_LEVELS: usize = 100;

pub(crate) static LEVEL: Shape = Shape::Any(&[Shape::Text { most: 200 }, Shape::Open(&LEVEL_MAP)]);

pub(crate) const LIST_OF_LEVELS: Shape = Shape::list(&LEVEL, 1, MOST_LEVELS);

pub(crate) static LEVEL_LIST: Shape = LIST_OF_LEVELS;

pub(crate) static LEVEL_MAP: OpenMap = OpenMap {
    expected: "a list of levels, or a map of levels such as {small: {cache_size: 32MiB}, large: {cache_size: 1GiB}}",
    summary: "levels",
};

/// A factor: its levels as a list, as bundles of keys by name, or as a range.
pub(crate) static FACTOR: Shape = Shape::Any(&[LIST_OF_LEVELS, Shape::Open(&LEVEL_MAP)]);

/// Cells to leave out: a level, or several, of some factors.
pub(crate) static EXCEPTION: Shape =
    Shape::keyed(Keys::Names("factor"), &LEVEL_LIST, 1, MOST_FACTORS);

pub(crate) static CELL_NAMES: KeyWords = KeyWords {
    plural: "cells",
    example: "{aws/medium: {machine: m3.medium}}",
    pattern: r"^[A-Za-z0-9][A-Za-z0-9._%+-]*(/[A-Za-z0-9][A-Za-z0-9._%+-]*)*$",
    check: |_| Ok(()),
};

pub(crate) const DESIGN: Shape =
    Shape::choice(&["full", "screening", "1/2", "1/4", "1/8", "1/16", "1/32"]);

object! {
    RANGE range: "Levels in equal steps from one amount to another, for a factor whose levels are numbers."
    from = Shape::Text { most: 40 }, Required, "90%";
        "First level.";
    to = Shape::Text { most: 40 }, Required, "250%";
        "Last level.";
    levels = Shape::count(2, MOST_LEVELS as u64), Default("5"), "5";
        "Number of levels, including first and last.";
    refine = Shape::Text { most: 40 }, Optional, "5%";
        "Adds levels until neighbours are at most this far apart where it matters. Scouting runs first measure the levels in two blocks, then others \
         between those where the curve changes most, its bottleneck changes, or another level of the compared factor wins, and so on. The levels on \
         both sides of such a place are then measured like all others. Scouting runs are experiments of their own and judge nothing.";
}
