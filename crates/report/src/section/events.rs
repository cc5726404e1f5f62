//! What came of the events: how long nothing succeeded, what failed, when it was as before, and what was lost.

use super::{Cell, Column, Group, Kind, Narrow, Section, Sentence, Table};
use crate::{text, words};
use plimsoll_judge::{Acknowledgement, Analysis, EventResult, EventsResult};
use plimsoll_record::quantities::numbers::Numbers;

/// Columns to which names are shortened.
const NAME: usize = 48;

/// `None` where nothing was done to the servers and disks.
pub(crate) fn events(analysis: &Analysis, numbers: Numbers) -> Option<Section> {
    let results = &analysis.events;
    if results.is_empty() {
        return None;
    }
    let group = |result: &EventsResult| Group {
        arm: Some(result.arm.clone()),
        words: format!(" · {} · {}", text::short(&result.mix, NAME), result.load_label),
        rows: result.events.iter().map(row).collect(),
    };
    let columns = vec![
        Column::words("Event"),
        Column::figure("Without writes, s", "", ""),
        Column::figure("Without reads, s", "", ""),
        Column::figure("Failed operations", "", "failed"),
        Column::figure("p99 back after, s", "", ""),
    ];
    let groups = results.iter().map(group).collect();
    let table = Table::new("events", columns, groups, Narrow::List);
    let kept = |result: &EventsResult| {
        let kept = result.acknowledged.as_ref()?;
        let subject = format!("{}, {}, {}", result.arm, result.mix, result.load_label);
        let text = match (kept.cuts, &kept.unusable) {
            (0, _) => acknowledged(kept, &result.arm, numbers),
            (_, Some(why)) => unusable(kept, &result.arm, why),
            // The table says it.
            (_, None) => return None,
        };
        Some(Sentence { subject, text })
    };
    Some(Section {
        lead: "What was done to the servers or disks on purpose, and what clients saw of it, up to the next event or the end of the point. Of the blocks the median, and in brackets the least and the most. \
               Without writes is the longest time from one write that succeeded to the next, where it is at least 0.1 s. The p99 is back when three seconds in a row have at most 1.5 times the p99 before the first event.",
        sentences: results.iter().filter_map(kept).collect(),
        tables: power_cuts(results, numbers).into_iter().chain([table]).collect(),
    })
}

fn unusable(kept: &Acknowledgement, arm: &str, why: &str) -> String {
    format!(
        "{} did not come back in {} of {} blocks, and all its writes count as lost: {why}",
        text::short(arm, NAME),
        kept.blocks_unusable,
        kept.blocks
    )
}

/// What power cuts took; `None` where there were none.
fn power_cuts(results: &[EventsResult], numbers: Numbers) -> Option<Table> {
    let row = |result: &EventsResult| {
        let kept = result.acknowledged.as_ref().filter(|kept| kept.cuts > 0)?;
        let oldest = (kept.lost > 0).then(|| numbers.latency(kept.oldest_lost_ns as f64));
        Some(vec![
            Cell::from(text::short(&result.arm, NAME)),
            Cell::from(format!("{} · {}", text::short(&result.mix, NAME), result.load_label)),
            numbers.count(u64::from(kept.cuts)).into(),
            numbers.count(u64::from(kept.cuts_with_loss)).into(),
            numbers.count(kept.writes).into(),
            numbers.count(kept.lost).into(),
            oldest.into(),
            format!("{} of {}", kept.blocks_unusable, kept.blocks).into(),
        ])
    };
    let rows: Vec<Vec<Cell>> = results.iter().filter_map(row).collect();
    if rows.is_empty() {
        return None;
    }
    let columns = vec![
        Column { title: "Arm", unit: "", short: "", kind: Kind::Arm },
        Column::words("Mix and load"),
        Column::figure("Power cuts", "", "cuts"),
        Column::figure("With loss", "", ""),
        Column::figure("Acknowledged", "writes", "writes"),
        Column::figure("Lost", "of them", "lost"),
        Column::figure("Oldest lost", "before its cut", "oldest"),
        Column::figure("Not usable after", "blocks", "not usable"),
    ];
    Some(Table {
        lead: "What power cuts took: writes that were acknowledged before a cut and are not there after it. The oldest is the one that had been acknowledged longest.",
        ..Table::new("power cuts", columns, vec![Group::plain(rows)], Narrow::Drop)
    })
}

fn row(event: &EventResult) -> Vec<Cell> {
    let mut cells = vec![Cell::from(event.words.as_str())];
    if event.blocks == 0 {
        cells.push("it did not happen".into());
        cells.resize(5, Cell::default());
        return cells;
    }
    let figures = [(&event.without_writes, 2), (&event.without_reads, 2), (&event.errors, 0)];
    cells.extend(figures.map(|(figure, decimals)| words::with_range(figure, decimals).into()));
    cells.push(back(event).into());
    cells
}

/// When response times were as before, and in how many blocks.
fn back(event: &EventResult) -> String {
    let after = words::with_range(&event.p99_back, 1);
    match event.not_back {
        0 => after,
        all if all == event.blocks => "not back".into(),
        not => format!("{after}, in {} of {} blocks", event.blocks - not, event.blocks),
    }
}

fn acknowledged(kept: &Acknowledgement, arm: &str, numbers: Numbers) -> String {
    let count = |value: u64| numbers.count(value);
    let mut sentence = match kept.lost {
        0 => format!("All {} acknowledged writes survived", count(kept.writes)),
        lost => format!(
            "{} of {} writes that were acknowledged are lost, in {} of {} blocks",
            count(lost),
            count(kept.writes),
            kept.blocks_with_loss,
            kept.blocks
        ),
    };
    let records = count(kept.records);
    sentence.push_str(&format!(
        ": {records} records were read back after the points of {}, when all was as before.",
        text::short(arm, NAME)
    ));
    if kept.in_doubt > 0 {
        let failed = count(kept.in_doubt);
        sentence.push_str(&format!(" {failed} writes failed: they may be there or not."));
    }
    if kept.unread > 0 {
        sentence.push_str(&format!(" {} records could not be read.", count(kept.unread)));
    }
    if !kept.lost_keys.is_empty() {
        let keys = kept.lost_keys.iter().map(|key| text::short(key, NAME));
        let keys: Vec<String> = keys.collect();
        sentence.push_str(&format!(" Lost, among others: {}.", keys.join(", ")));
    }
    sentence
}
