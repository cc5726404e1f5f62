//! How many operations took how long in which second: a small picture of grey levels, through which the page lets the colour of the arm shine.
//!
//! As a mask it needs no colours of its own, so it is right on paper, in the dark and in print, and costs about a kilobyte.

use super::plot::Plot;
use super::{ArmStyle, Px};
use crate::axis::{Axis, Scale};
use base64::Engine;
use maud::{Markup, html};
use plimsoll_judge::{HEAT_ROWS_PER_DECADE, Heat};
use std::collections::BTreeMap;

/// The faintest level that is drawn, of 15.
const FAINTEST: f64 = 2.0;
const STRONGEST: f64 = 15.0;
/// Powers of ten between the share that is drawn strongest, which is all of a second, and the faintest.
const DECADES: f64 = 4.0;

/// The level of a share of the operations of a stretch, 0 to 15.
fn level(count: u64, of: u64) -> u8 {
    if count == 0 || of == 0 {
        return 0;
    }
    let decades = (count as f64 / of as f64).log10() / DECADES + 1.0;
    (FAINTEST + (STRONGEST - FAINTEST) * decades.clamp(0.0, 1.0)).round() as u8
}

/// Share of the operations that may lie beyond each end of the axis; they are drawn at the end.
const BEYOND: f64 = 0.001;

/// Between which response times nearly all operations lie, nanoseconds.
pub(super) fn reach(heat: &Heat) -> Option<(f64, f64)> {
    let mut rows: BTreeMap<u32, f64> = BTreeMap::new();
    for (row, count) in heat.columns.iter().flat_map(|column| &column.rows) {
        *rows.entry(*row).or_default() += *count as f64;
    }
    let allowed = rows.values().sum::<f64>() * BEYOND;
    let low = outermost(rows.iter(), allowed)?;
    let high = outermost(rows.iter().rev(), allowed)? + 0.5;
    let nanos = |row: f64| 10f64.powf(row / f64::from(HEAT_ROWS_PER_DECADE));
    Some((nanos(low), nanos(high)))
}

/// The first row up to which more than this many operations lie.
fn outermost<'a>(rows: impl Iterator<Item = (&'a u32, &'a f64)>, allowed: f64) -> Option<f64> {
    let mut sum = 0.0;
    for (row, count) in rows {
        sum += *count;
        if sum > allowed {
            return Some(f64::from(*row));
        }
    }
    None
}

/// Levels from the top row down, each row from the left; with the width.
fn levels(heat: &Heat, from_ns: f64, to_ns: f64) -> (Vec<u8>, usize, usize) {
    let rows_per_decade = f64::from(HEAT_ROWS_PER_DECADE);
    let first = (from_ns.log10() * rows_per_decade).round() as u32;
    let last = (to_ns.log10() * rows_per_decade).round() as u32;
    let (width, height) = (heat.columns.len(), last.saturating_sub(first).max(1) as usize);
    let mut levels = vec![0; width * height];
    for (place, column) in heat.columns.iter().enumerate() {
        let total =
            column.rows.iter().fold(0_u64, |total, (_, count)| total.saturating_add(*count));
        for (row, count) in &column.rows {
            // What lies outside of the axis is drawn at its ends.
            let up = (row.saturating_sub(first) as usize).min(height - 1);
            let level = level(*count, total);
            let at = &mut levels[(height - 1 - up) * width + place];
            *at = level.max(*at);
        }
    }
    (levels, width, height)
}

/// A PNG of 16 levels of grey.
fn png(levels: &[u8], width: usize, height: usize) -> Option<Vec<u8>> {
    let mut packed = Vec::with_capacity(width.div_ceil(2) * height);
    for row in levels.chunks(width.max(1)) {
        for pair in row.chunks(2) {
            packed.push(pair[0] << 4 | pair.get(1).copied().unwrap_or(0));
        }
    }
    let mut bytes = Vec::new();
    let mut encoder =
        png::Encoder::new(&mut bytes, u32::try_from(width).ok()?, u32::try_from(height).ok()?);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Four);
    encoder.set_compression(png::Compression::High);
    let mut writer = encoder.write_header().ok()?;
    writer.write_image_data(&packed).ok()?;
    writer.finish().ok()?;
    Some(bytes)
}

/// The picture on its axes, below the lines of a panel. `id` must be unique on the page.
pub(super) fn heat_map(
    id: &str,
    heat: &Heat,
    style: ArmStyle,
    plot: &Plot,
    (x, y): (&Axis, &Axis),
) -> Markup {
    let Scale::Log { from, to } = y.scale else {
        return html! {};
    };
    let (levels, width, height) = levels(heat, from, to);
    let (Some(first), Some(last), Some(png)) =
        (heat.columns.first(), heat.columns.last(), png(&levels, width, height))
    else {
        return html! {};
    };
    let (left, right) = (plot.x(x.scale.share(first.from)), plot.x(x.scale.share(last.to)));
    let (top, base) = (plot.y(1.0), plot.y(0.0));
    let picture = base64::engine::general_purpose::STANDARD.encode(png);
    let (wide, high) = (Px(right - left), Px(base - top));
    html! {
        mask id={ (id) "-heat" } maskUnits="userSpaceOnUse" x=(Px(left)) y=(Px(top)) width=(wide) height=(high) {
            image.pixels x=(Px(left)) y=(Px(top)) width=(wide) height=(high) preserveAspectRatio="none" href={ "data:image/png;base64," (picture) } {}
        }
        g class=(style.class()) {
            rect.heat x=(Px(left)) y=(Px(top)) width=(wide) height=(high) mask={ "url(#" (id) "-heat)" } {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_judge::HeatColumn;

    fn heat(columns: &[&[(u32, u64)]]) -> Heat {
        let columns = columns.iter().enumerate().map(|(place, rows)| HeatColumn {
            from: place as f64,
            to: place as f64 + 1.0,
            rows: rows.to_vec(),
        });
        Heat { columns: columns.collect() }
    }

    #[test]
    fn one_in_ten_thousand_is_still_seen() {
        assert_eq!(
            [(0, 10), (10, 10), (1, 10_000), (1, 1_000_000), (1, 100)]
                .map(|(count, of)| level(count, of)),
            [0, 15, 2, 2, 9]
        );
        assert_eq!(level(3, 0), 0);
    }

    #[test]
    fn slow_operations_are_at_the_top_and_outliers_at_the_ends() {
        // Twelve rows: 1 to 10 µs.
        let (levels, width, height) =
            levels(&heat(&[&[(36, 9), (47, 1)], &[], &[(2, 1), (90, 1)]]), 1e3, 1e4);
        assert_eq!((width, height), (3, 12));
        let column = |place: usize| -> Vec<(usize, u8)> {
            let rows = (0..height).map(|row| (row, levels[row * width + place]));
            rows.filter(|(_, level)| *level > 0).collect()
        };
        assert_eq!(column(0), [(0, 12), (11, 15)]);
        assert_eq!(column(1), []);
        assert_eq!(column(2), [(0, 14), (11, 14)]);
    }

    #[test]
    fn a_few_outliers_do_not_stretch_the_axis() {
        let heat = heat(&[&[(0, 1), (48, 5_000), (60, 5_000)], &[(60, 5_000), (120, 1)]]);
        let (low, high) = reach(&heat).unwrap();
        assert!((low - 1e4).abs() < 1.0 && (1e5..1.2e5).contains(&high), "{low} {high}");
        assert_eq!(reach(&super::Heat { columns: Vec::new() }), None);
    }

    #[test]
    fn the_picture_comes_back_as_it_was_drawn() {
        let levels: Vec<u8> = (0..15).collect();
        let bytes = png(&levels, 5, 3).expect("it is written");
        let mut decoder = png::Decoder::new(std::io::Cursor::new(&bytes));
        decoder.set_transformations(png::Transformations::IDENTITY);
        let mut reader = decoder.read_info().unwrap();
        let mut packed = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut packed).unwrap();
        assert_eq!((info.width, info.height), (5, 3));
        assert_eq!(packed[..3], [0x01, 0x23, 0x40]);
        assert!(bytes.len() < 200);
    }

    #[test]
    fn a_large_picture_is_about_a_kilobyte() {
        // Two hundred seconds of a hump with a tail.
        let columns: Vec<Vec<(u32, u64)>> = (0..150_u64)
            .map(|second| {
                (0..30)
                    .map(|row| (48 + row, (4_000 >> (row / 2)) + second % 7 * u64::from(row % 5)))
                    .collect()
            })
            .collect();
        let columns: Vec<&[(u32, u64)]> = columns.iter().map(Vec::as_slice).collect();
        let (levels, width, height) = levels(&heat(&columns), 1e4, 1e7);
        let bytes = png(&levels, width, height).unwrap().len();
        assert!(bytes < 2_000, "{bytes}");
    }
}
