//! Where on the disk the runs read and wrote: a still of each, in whose place the script puts a player, and the numbers behind it.

use super::{DiskMap, NAME, Page};
use crate::page::link;
use crate::page::prose;
use crate::page::shell::Place;
use crate::text;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, PreEscaped, html};
use plimsoll_record::quantities::numbers::PAGE;
use plimsoll_trace::diskmap::FileUse;

/// Width and height of a PNG: the first fields of its first chunk.
fn size_of(png: &[u8]) -> Option<(u32, u32)> {
    let side = |at: usize| Some(u32::from_be_bytes(png.get(at..at + 4)?.try_into().ok()?));
    Some((side(16)?, side(20)?))
}

/// Whether any run can be drawn.
pub(super) fn is_known(page: &Page<'_>) -> bool {
    !page.setting.maps.is_empty()
}

pub(super) fn section(page: &Page<'_>) -> Markup {
    let maps = page.setting.maps;
    html! {
        p.lead {
            "Each file of the database row by row from its first byte, all at one scale, and every read and write at its place. The colour of the still is the stronger the more often a place was "
            "accessed; where it was both read and written, the more frequent kind shows, in the heat of the player too. The player shows the accesses in the order of time."
        }
        @for (place, map) in maps.iter().enumerate() {
            @if place == 0 { (figure(page, place, map)) } @else {
                details { summary { "Disk map of " (text::short(&map.arm, NAME)) ", block " (u64::from(map.block) + 1) } (figure(page, place, map)) }
            }
        }
        (others(page))
    }
}

/// Runs with a trace that are not drawn here.
fn others(page: &Page<'_>) -> Markup {
    let record = page.report.record;
    let traced =
        record.runs.iter().filter(|run| run.rig.as_ref().is_some_and(|rig| rig.trace.is_some()));
    let more = traced.count().saturating_sub(page.setting.maps.len());
    html! {
        @if more > 0 {
            p.remark {
                (PAGE.count(more as u64)) @if more == 1 { " more run was traced" } @else { " more runs were traced" } ". On the machine that measured, this draws any of them: "
                code { "plimsoll disk map " (text::line(&record.id)) " --arm ARM --block BLOCK --to map.gif" }
                ". Blocks are numbered as here."
            }
        }
    }
}

fn figure(page: &Page<'_>, place: usize, map: &DiskMap) -> Markup {
    let id = format!("map-{place}");
    let data = match page.setting.place {
        Place::File => format!("#{id}-data"),
        Place::Served => link::map(&page.report.record.id, &map.arm, map.block),
    };
    html! {
        figure.disk-map id=(id) data-map=(data) data-arm=(text::line(&map.arm)) data-block=(map.block) {
            figcaption {
                (page.arm(&map.arm)) span.quiet { "block " (u64::from(map.block) + 1) }
                span { (prose::prose(&map.about)) }
            }
            (still(map))
        }
        (table(map))
        @if page.setting.place == Place::File {
            script id=(format!("{id}-data")) type="application/octet-stream" { (PreEscaped(STANDARD.encode(&map.packed))) }
        }
    }
}

/// The heat over the whole run.
fn still(map: &DiskMap) -> Markup {
    let Some((width, height)) = size_of(&map.still) else {
        return html! {};
    };
    let data = format!("data:image/png;base64,{}", STANDARD.encode(&map.still));
    let words = format!(
        "Heat over the whole run: {}. The numbers are in the table below.",
        prose::prose(&map.about)
    );
    html! {
        svg.still role="img" viewBox=(format!("0 0 {width} {height}")) aria-label=(words) {
            image href=(data) width=(width) height=(height) {}
        }
    }
}

fn table(map: &DiskMap) -> Markup {
    if map.files.is_empty() {
        return html! {};
    }
    html! {
        details {
            summary { "The numbers behind this map" }
            div.scroll tabindex="0" role="region" aria-label="What was read and written of each file" {
                table.data {
                    thead { tr {
                        th scope="col" { "File" } th scope="col" { "What it is" }
                        @for title in ["size", "reads", "writes", "bytes read", "bytes written", "share touched"] { th.num scope="col" { (title) } }
                    } }
                    tbody { @for file in &map.files { (row(file)) } }
                }
            }
        }
    }
}

fn row(file: &FileUse) -> Markup {
    html! { tr {
        th scope="row" { (text::short(&file.path, 80)) }
        td { (file.kind.name()) }
        td.num { (PAGE.bytes(file.size)) }
        @for number in [file.reads, file.writes] { td.num { (PAGE.count(number)) } }
        @for bytes in [file.read_bytes, file.written_bytes] { td.num { (PAGE.bytes(bytes)) } }
        td.num { (PAGE.percent(file.touched_share())) }
    } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Report;
    use crate::page::experiment::{Setting, render_in};
    use crate::page::shown::shown;
    use crate::sample::{self as sample, Shape};
    use plimsoll_trace::diskmap::{RunMap, unpack};

    fn page(arm: &str, place: Place) -> String {
        let (mut record, analysis) = sample::experiment(&Shape {
            sessions: vec![1],
            mixes: vec!["A".into()],
            seconds: 2,
            ..Shape::quickstart()
        });
        let run = &mut record.runs[0];
        run.arm = arm.into();
        let accesses = sample::map::accesses(run, 500);
        let drawn = RunMap::of(run, &accesses, 100_000, 256).expect("into memory");
        let maps = [DiskMap::of(run, drawn)];
        let setting = Setting { place, maps: &maps, ..Setting::default() };
        let report = Report { record: &record, analysis: &analysis };
        render_in(&report, &setting)
    }

    fn between<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
        let (_, rest) = text.split_once(begin).expect("it begins");
        rest.split_once(end).expect("it ends").0
    }

    #[test]
    fn a_map_is_seen_without_scripts_and_has_its_numbers() {
        let html = page("deep-harbour", Place::File);
        let section = between(&html, "<section id=\"map\">", "</section>");
        // Pictures and packed accesses depend on the version of the library that deflates.
        let data = between(section, "octet-stream\">", "</script>");
        let still = between(section, "href=\"data:image/png;base64,", "\"");
        insta::assert_snapshot!("map", shown(&section.replace(data, "").replace(still, "…")));
        let packed = STANDARD.decode(data).expect("base64");
        assert_eq!(unpack(&packed).expect("what was packed").accesses.len(), 500);
        let png = STANDARD.decode(still).expect("base64");
        assert_eq!(size_of(&png).map(|(width, _)| width), Some(256));
    }

    #[test]
    fn a_served_map_asks_its_server() {
        let html = page("a/b?c=d&e#f \"<é", Place::Served);
        let section = between(&html, "<section id=\"map\">", "</section>");
        assert!(section.contains("/map?arm=a%2Fb%3Fc%3Dd%26e%23f%20%22%3C%C3%A9&amp;block=0\""));
        assert!(!section.contains("octet-stream"));
    }

    #[test]
    fn without_maps_there_is_no_section() {
        let (record, analysis) = sample::experiment(&Shape::quickstart());
        let report = Report { record: &record, analysis: &analysis };
        let html = render_in(&report, &Setting::default());
        assert!(!html.contains("id=\"map\"") && !html.contains("href=\"#map\""));
    }
}
