//! Where each byte of each file is on the picture.

use crate::diskmap::Accesses;
use crate::diskmap::text::LINE;

/// Pixels of the side of a cell.
pub(crate) const CELL: usize = 2;
/// Smallest part of a file that has a cell of its own, bytes.
const LEAST_CELL_BYTES: u64 = 512;

/// One file on the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Pixels from the top of the picture to its label.
    pub label_y: usize,
    /// Pixels from the top of the picture to its first row of cells.
    pub y: usize,
    pub rows: usize,
}

/// The places of all files, each laid out row by row from its first byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    pub width: usize,
    pub height: usize,
    pub columns: usize,
    /// Bytes of a file that share a cell.
    pub cell_bytes: u64,
    pub blocks: Vec<Block>,
}

impl Layout {
    /// A layout of this width in pixels, in which all files together take about as much height.
    pub fn of(accesses: &Accesses, width: usize) -> Self {
        let columns = (width / CELL).max(1);
        let bytes: u64 = accesses.files.iter().map(|file| file.size).sum();
        let cells = (columns * columns) as u64;
        let cell_bytes =
            bytes.div_ceil(cells).max(LEAST_CELL_BYTES).next_multiple_of(LEAST_CELL_BYTES);
        let row_bytes = cell_bytes * columns as u64;
        // Title and legend.
        let mut y = 3 * LINE;
        let mut blocks = Vec::with_capacity(accesses.files.len());
        for file in &accesses.files {
            let rows = file.size.div_ceil(row_bytes).max(1) as usize;
            blocks.push(Block { label_y: y, y: y + LINE, rows });
            y += LINE + rows * CELL + LINE / 2;
        }
        Self { width: columns * CELL, height: y + LINE, columns, cell_bytes, blocks }
    }

    /// Bytes of a file in one row.
    pub fn row_bytes(&self) -> u64 {
        self.cell_bytes * self.columns as u64
    }

    /// The cells that a part of a file touches, counted from its first byte.
    pub(crate) fn cells(&self, offset: u64, length: u64) -> std::ops::RangeInclusive<u64> {
        let last = offset + length.max(1) - 1;
        offset / self.cell_bytes..=last / self.cell_bytes
    }

    /// The pixel of the left upper corner of a cell; `None` beyond the end of the file.
    pub(crate) fn corner(&self, file: u16, cell: u64) -> Option<(usize, usize)> {
        let block = self.blocks.get(usize::from(file))?;
        let cell = usize::try_from(cell).ok()?;
        let (row, column) = (cell / self.columns, cell % self.columns);
        (row < block.rows).then_some((column * CELL, block.y + row * CELL))
    }
}
