//! Points that were no one state: throughput at two levels by turns, and caches that still filled.

use crate::Figures;
use crate::extract::Extract;
use crate::words::{bytes, duration, percent, rate};
use plimsoll_record::WarningId;
use plimsoll_stats::{still_falls, two_levels};

/// Bytes read from the disk for an operation, below which its trend hardly matters.
const LEAST_READ: f64 = 64.0;
/// Seconds shorter than this say too little.
const WHOLE_SECOND: f64 = 0.5;

/// Warnings in words, over the seconds after the cut.
pub(crate) fn transients(extract: &Extract) -> Vec<(WarningId, String)> {
    let from = extract.first_measured + extract.settling.cut;
    let kept = extract.seconds.get(from..).unwrap_or_default();
    let whole = kept.iter().filter(|second| second.length > WHOLE_SECOND);
    let throughput: Vec<f64> = whole.map(|second| second.throughput).collect();
    let mut found = Vec::new();
    if let Some(levels) = two_levels(&throughput) {
        let words = format!(
            "at {} in {} of the seconds, and at {} in the others",
            rate(levels.lower),
            percent(levels.share_of_lower, 0),
            rate(levels.upper)
        );
        found.push((WarningId::TwoStates, words));
    }
    found.extend(filling(extract.kept_figures()).map(|words| (WarningId::CacheFilling, words)));
    found
}

fn filling(seconds: &[Figures]) -> Option<String> {
    let costs: Option<Vec<f64>> =
        seconds.iter().map(|second| second.device_read_bytes_per_operation).collect();
    let costs = costs?;
    let (first, last) = (seconds.first()?, seconds.last()?);
    let [before, after] = still_falls(&costs)?;
    let held = |second: &Figures| {
        let page_cache = second.group_page_cache_bytes.or(second.machine_page_cache_bytes);
        Some(page_cache? + second.engine_cache_bytes.unwrap_or(0.0))
    };
    let grows = held(first).zip(held(last)).is_none_or(|(first, last)| last > first);
    if before < LEAST_READ || !grows {
        return None;
    }
    let mut words = format!(
        "an operation read {} from the disk at first, and {} at last",
        bytes(before),
        bytes(after)
    );
    let hits = |second: &Figures| second.page_cache_hit_ratio;
    if let (Some(from), Some(to)) = (hits(first), hits(last)) {
        words.push_str(&format!("; page cache hits {} to {}", percent(from, 0), percent(to, 0)));
    }
    let room = last.group_limit_bytes.zip(last.group_memory_bytes);
    let read = last.device_read_bytes_per_second.filter(|read| *read > 0.0);
    if let (Some((limit, used)), Some(read)) = (room, read)
        && limit > used
    {
        words.push_str(&format!(
            "; the {} that are free would be full after {} more at {}/s",
            bytes(limit - used),
            duration((limit - used) / read * 1e9),
            bytes(read)
        ));
    }
    Some(words)
}
