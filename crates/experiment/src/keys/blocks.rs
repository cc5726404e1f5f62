//! `measurement.blocks`: how many rounds are made through all arms.

use crate::table::*;

pub(crate) const MOST_BLOCKS: u64 = 10_000;

/// Half-widths of intervals at which enough is known.
pub(crate) const HALF_WIDTH: Shape = Shape::number(1e-4, 1.0);

object! {
    /// As many blocks as are needed.
    BLOCKS blocks: "As many blocks as are needed, within bounds. After geometrically spaced numbers of blocks, the widths of the intervals of the primary \
         comparisons are checked, never their positions. The experiment ends when all are narrow enough at two checks in a row."
    at_least = Shape::count(1, MOST_BLOCKS), Default("6"), "6";
        "Blocks before the first check: 6 or more.";
    at_most = Shape::count(1, MOST_BLOCKS), Default("24"), "24";
        "Largest number of blocks.";
    until = HALF_WIDTH, Optional, "3%";
        "Half-width of an interval that is narrow enough. Without it, the margin of its metric.";
}
