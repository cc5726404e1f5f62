//! The heat over the whole span, and one frame after the other.

use crate::diskmap::canvas::{Canvas, FAINT, INK, PAPER, READS, SHADES, WRITES};
use crate::diskmap::layout::CELL;
use crate::diskmap::text::{LINE, count, several, size, width, write};
use crate::diskmap::{Access, Accesses, Layout};
use std::collections::HashMap;

/// Everything at once: the darker a cell, the more often it was accessed, on a logarithmic scale. Of a cell that was both read and written the more frequent kind shows,
/// and the picture says so: data are written before they are read, so nearly every cell would have the colour of both.
pub fn heat(accesses: &Accesses, layout: &Layout) -> Canvas {
    let mut canvas = ground(accesses, layout);
    let mut cells: HashMap<(u16, u64), (u64, u64)> = HashMap::new();
    for access in &accesses.all {
        for cell in layout.cells(access.offset, access.length) {
            let (reads, writes) = cells.entry((access.file, cell)).or_default();
            *if access.is_write { writes } else { reads } += 1;
        }
    }
    let most = cells.values().map(|(reads, writes)| *reads.max(writes)).max();
    let most = (most.unwrap_or(1) as f64).ln_1p();
    let has_both = cells.values().any(|(reads, writes)| *reads > 0 && *writes > 0);
    for ((file, cell), (reads, writes)) in cells {
        let (number, colour) = if writes > reads { (writes, WRITES) } else { (reads, READS) };
        let share = (number as f64).ln_1p() / most;
        let shade = (share * f64::from(SHADES - 1)).round() as u8;
        if let Some((x, y)) = layout.corner(file, cell) {
            canvas.fill(x, y, CELL, CELL, colour + shade);
        }
    }
    let all = &accesses.all;
    if let (Some(first), Some(last)) = (all.first(), all.last()) {
        let words = format!(
            "{} accesses in {:.3} s{}",
            count(all.len() as u64),
            (last.time_ns - first.time_ns) as f64 / 1e9,
            if has_both { "; where both happened, the more frequent shows" } else { "" }
        );
        write(&mut canvas, 0, LINE, &words, FAINT);
    }
    canvas
}

/// The accesses in the order of time, in frames of equally many.
#[derive(Debug)]
pub struct Animation<'a> {
    accesses: &'a Accesses,
    layout: &'a Layout,
    frames: usize,
    next: usize,
    /// What was accessed so far, pale.
    past: Canvas,
}

/// An animation of at most this many frames; never more than there are accesses.
pub fn animation<'a>(accesses: &'a Accesses, layout: &'a Layout, frames: usize) -> Animation<'a> {
    Animation {
        accesses,
        layout,
        frames: frames.clamp(1, accesses.all.len().max(1)),
        next: 0,
        past: ground(accesses, layout),
    }
}

impl Animation<'_> {
    pub fn frames(&self) -> usize {
        self.frames
    }
}

impl Iterator for Animation<'_> {
    type Item = Canvas;

    fn next(&mut self) -> Option<Canvas> {
        if self.next == self.frames {
            return None;
        }
        let all = &self.accesses.all;
        let begin = all.len() * self.next / self.frames;
        let end = all.len() * (self.next + 1) / self.frames;
        self.next += 1;
        let mut frame = self.past.clone();
        for access in &all[begin..end] {
            let colour = if access.is_write { WRITES } else { READS };
            self.draw(&mut frame, access, colour + SHADES - 1, 1);
        }
        let mut past = std::mem::replace(&mut self.past, Canvas::new(0, 0));
        for access in &all[begin..end] {
            let colour = if access.is_write { WRITES } else { READS };
            self.draw(&mut past, access, colour + 1, 0);
        }
        self.past = past;
        let at = all.get(begin).map_or(0, |access| access.time_ns);
        let since = all.first().map_or(0, |access| access.time_ns);
        let words = format!(
            "{:.4} s, {} of {} accesses",
            (at - since) as f64 / 1e9,
            count(end as u64),
            count(all.len() as u64)
        );
        write(&mut frame, 0, LINE, &words, FAINT);
        Some(frame)
    }
}

impl Animation<'_> {
    /// `larger` pixels around each cell make what is happening now easier to see.
    fn draw(&self, canvas: &mut Canvas, access: &Access, colour: u8, larger: usize) {
        for cell in self.layout.cells(access.offset, access.length) {
            if let Some((x, y)) = self.layout.corner(access.file, cell) {
                let side = CELL + 2 * larger;
                let (x, y) = (x.saturating_sub(larger), y.saturating_sub(larger));
                canvas.fill(x, y, side, side, colour);
            }
        }
    }
}

/// Title, legend and the empty files.
fn ground(accesses: &Accesses, layout: &Layout) -> Canvas {
    let mut canvas = Canvas::new(layout.width, layout.height);
    let title =
        format!("a row is {}, a mark {}", size(layout.row_bytes()), size(layout.cell_bytes));
    write(&mut canvas, 0, 0, &title, INK);
    let mut x = layout.width.saturating_sub(width("reads writes ") + 40);
    for (words, colour) in [("reads", READS), ("writes", WRITES)] {
        canvas.fill(x, 4, 10, 8, colour + SHADES - 4);
        write(&mut canvas, x + 14, 0, words, INK);
        x += 14 + width(words) + 14;
    }
    let mut writes = vec![0; accesses.files.len()];
    for access in accesses.all.iter().filter(|access| access.is_write) {
        if let Some(writes) = writes.get_mut(usize::from(access.file)) {
            *writes += 1;
        }
    }
    for ((file, block), writes) in accesses.files.iter().zip(&layout.blocks).zip(writes) {
        let label = format!(
            "{}  {}, {}, {}",
            file.path,
            size(file.size),
            several(file.accesses.saturating_sub(writes), "read"),
            several(writes, "write")
        );
        write(&mut canvas, 0, block.label_y, &label, INK);
        let cells = file.size.div_ceil(layout.cell_bytes).max(1) as usize;
        for row in 0..block.rows {
            let columns = (cells - row * layout.columns).min(layout.columns);
            canvas.fill(0, block.y + row * CELL, columns * CELL, CELL, PAPER);
        }
    }
    if accesses.files_left_out > 0 {
        let words = format!("and {} more files, less used", accesses.files_left_out);
        write(&mut canvas, 0, layout.height - LINE, &words, FAINT);
    }
    canvas
}
