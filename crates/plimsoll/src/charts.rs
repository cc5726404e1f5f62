//! `plimsoll report --svg DIR`, `--png DIR`: the charts of a page as files.

use crate::written::Written;
use anyhow::{Context, bail};
use plimsoll_report::Report;
use plimsoll_report::page::charts::{Chart, charts};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use std::path::Path;
use std::sync::Arc;

/// The lists of what was written: the same folder may have both.
const SVG_LIST: &str = ".plimsoll-svg";
const PNG_LIST: &str = ".plimsoll-png";
/// Pixels of a picture for each of a screen of the usual kind.
const SCALE: f32 = 2.0;

/// Writes every chart into the folders that are named. Files that this command did not write are not replaced.
pub fn write(report: &Report<'_>, svg: Option<&Path>, png: Option<&Path>) -> anyhow::Result<()> {
    if svg.is_none() && png.is_none() {
        return Ok(());
    }
    let charts = charts(report);
    if let Some(folder) = svg {
        let mut written = Written::begin(folder, SVG_LIST)?;
        for chart in &charts {
            written.write(&format!("{}.svg", chart.name), chart.svg.as_bytes())?;
        }
        written.end()?;
    }
    if let Some(folder) = png {
        let options = with_fonts()?;
        let mut written = Written::begin(folder, PNG_LIST)?;
        for chart in &charts {
            let picture = drawn(chart, &options)
                .with_context(|| format!("cannot draw the chart {}", chart.name))?;
            written.write(&format!("{}.png", chart.name), &picture)?;
        }
        written.end()?;
    }
    Ok(())
}

/// The fonts of this system. Without any, words would be missing in the pictures.
fn with_fonts() -> anyhow::Result<Options<'static>> {
    let mut fonts = fontdb::Database::new();
    fonts.load_system_fonts();
    // Where none of the names of the style is there, any that has what we write.
    let usual = ["DejaVu Sans", "Liberation Sans", "Noto Sans", "Arial"];
    let is_there = |name: &str| {
        fonts
            .faces()
            .any(|face| face.families.iter().any(|(family, _)| family == name))
    };
    let found = usual
        .into_iter()
        .find(|name| is_there(name))
        .map(str::to_owned);
    let any = || {
        let mut faces = fonts.faces();
        faces.find_map(|face| Some(face.families.first()?.0.clone()))
    };
    let Some(family) = found.or_else(any) else {
        bail!(
            "this system has no fonts to write words in pictures: sudo apt-get install fonts-dejavu-core, or take --svg, which needs none"
        );
    };
    fonts.set_sans_serif_family(&family);
    Ok(Options {
        font_family: family,
        fontdb: Arc::new(fonts),
        ..Options::default()
    })
}

fn drawn(chart: &Chart, options: &Options<'_>) -> anyhow::Result<Vec<u8>> {
    let tree = Tree::from_str(&chart.svg, options)?;
    let size = tree.size();
    let pixels = |length: f32| (length * SCALE).ceil() as u32;
    let pixmap = Pixmap::new(pixels(size.width()), pixels(size.height()));
    let mut pixmap = pixmap.context("it is too large")?;
    resvg::render(
        &tree,
        Transform::from_scale(SCALE, SCALE),
        &mut pixmap.as_mut(),
    );
    Ok(pixmap.encode_png()?)
}
