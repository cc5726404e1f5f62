//! What came of the events that the file asks for: how long nothing succeeded, what failed, when response times were as before, and what was lost.

use crate::analysis::{Acknowledgement, EventResult, EventsResult};
use crate::arm_samples::ArmSamples;
use crate::event_outcome::{EventOutcome, Window, seconds};
use crate::sample::Sample;
use crate::words::grouped;
use crate::{Estimate, SeriesSecond};
use plimsoll_plan::{Plan, words::event_in_words};
use plimsoll_record::quantities::words::{counted, duration, list};
use plimsoll_record::{Warning, WarningId};
use plimsoll_stats::median;

/// Response times have recovered after this many consecutive seconds with a p99 of at most [`AS_BEFORE`] times the earlier one.
const SECONDS_AS_BEFORE: usize = 3;
/// Ratio to the median of the seconds before the first event.
const AS_BEFORE: f64 = 1.5;
/// Results that are named in the headline.
const HEADLINES: usize = 3;
/// Keys of lost writes that are named.
const KEYS_NAMED: usize = 10;

/// The results of each arm at each point of the plan; none where the plan has no events.
pub(crate) fn events(plan: &Plan, samples: &[ArmSamples]) -> Vec<EventsResult> {
    if plan.events.is_empty() {
        return Vec::new();
    }
    let mut results = Vec::new();
    for (arm, of_arm) in plan.arms.iter().zip(samples) {
        for (number, of_point) in of_arm.points.iter().enumerate() {
            let seen: Vec<(&Sample, &EventOutcome)> = of_point
                .iter()
                .filter_map(|sample| Some((sample, sample.seen.as_ref()?)))
                .collect();
            let Some((first, _)) = seen.first() else {
                continue;
            };
            let mut result = EventsResult {
                arm: arm.name.clone(),
                mix: first.label.mix.clone(),
                point: number as u32,
                load_label: first.label.load_label.clone(),
                events: (0..plan.events.len()).map(|event| of_event(plan, &seen, event)).collect(),
                acknowledged: acknowledged(&seen),
                sentence: String::new(),
            };
            result.sentence = sentence(&result);
            results.push(result);
        }
    }
    results
}

fn of_event(plan: &Plan, seen: &[(&Sample, &EventOutcome)], event: usize) -> EventResult {
    // With several power cuts the longest time counts, and all failures.
    let over = |of: &dyn Fn(&Sample, &EventOutcome, Window) -> f64, all: fn(f64, f64) -> f64| {
        let values = seen.iter().filter_map(|(sample, seen)| {
            let windows = seen.windows(event).into_iter();
            let value = windows.map(|window| of(sample, seen, window)).reduce(all)?;
            Some((sample.result.block, value))
        });
        Estimate::over_blocks(values)
    };
    let p99_back = over(
        &|sample, seen, window| p99_back(sample, seen, window).unwrap_or(f64::NAN),
        |one, other| if one.is_nan() || other.is_nan() { f64::NAN } else { one.max(other) },
    );
    let without_writes =
        over(&|_, seen, window| longest(&seen.disturbance.write_gaps, window), f64::max);
    let blocks = without_writes.values.len();
    EventResult {
        words: event_in_words(plan.events[event]),
        without_reads: over(
            &|_, seen, window| longest(&seen.disturbance.read_gaps, window),
            f64::max,
        ),
        errors: over(&|sample, seen, window| errors(sample, seen, window), |one, other| {
            one + other
        }),
        not_back: (blocks - p99_back.values.len()) as u32,
        blocks: blocks as u32,
        without_writes,
        p99_back,
    }
}

/// The longest time without a success that begins in a window or reaches into it, seconds.
fn longest(gaps: &[(u64, u64)], (at, next): Window) -> f64 {
    let of_window = gaps.iter().filter(|(from, to)| *to > at && *from < next);
    let lengths = of_window.map(|(from, to)| to - (*from).max(at));
    lengths.max().map_or(0.0, seconds)
}

fn errors(sample: &Sample, seen: &EventOutcome, (at, next): Window) -> f64 {
    let slices = sample.extract.seconds.iter().zip(&seen.errors);
    let within = slices
        .filter(|(slice, _)| slice.at + slice.length > seconds(at) && slice.at < seconds(next));
    within.map(|(_, errors)| *errors as f64).sum()
}

/// Seconds from an event until response times are as they were before the first; `None` where they are not again before the next, or nothing is known of before.
fn p99_back(sample: &Sample, seen: &EventOutcome, (at, next): Window) -> Option<f64> {
    let first = seen.disturbance.events.iter().map(|one| one.at_ns).min()?;
    let extract = &sample.extract;
    let measured = extract.seconds.get(extract.first_measured..)?;
    let before = measured.iter().filter(|second| second.at + second.length <= seconds(first));
    let before: Vec<f64> = before.filter_map(|second| second.p99_ns).collect();
    if before.len() < SECONDS_AS_BEFORE {
        return None;
    }
    let bound = AS_BEFORE * median(&before)?;
    // The second in which it happens is half of before.
    let after: Vec<&SeriesSecond> = measured
        .iter()
        .filter(|second| second.at + second.length > seconds(at) && second.at < seconds(next))
        .collect();
    let is_as_before = |second: &&SeriesSecond| second.p99_ns.is_some_and(|p99| p99 <= bound);
    let back = after.windows(SECONDS_AS_BEFORE).find(|some| some.iter().all(is_as_before))?;
    Some((back[0].at - seconds(at)).max(0.0))
}

fn acknowledged(seen: &[(&Sample, &EventOutcome)]) -> Option<Acknowledgement> {
    let mut all = Acknowledgement::default();
    for (_, seen) in seen {
        let Some(of_run) = &seen.disturbance.acknowledged else {
            continue;
        };
        all.blocks += 1;
        all.writes += of_run.writes;
        all.in_doubt += of_run.in_doubt;
        all.records += of_run.records;
        all.lost += of_run.lost;
        all.unread += of_run.unread;
        all.blocks_with_loss += u32::from(of_run.lost > 0);
        for cut in &of_run.by_cut {
            all.cuts += 1;
            all.cuts_with_loss += u32::from(cut.lost > 0);
            all.oldest_lost_ns = all.oldest_lost_ns.max(cut.oldest_ns);
        }
        if let Some(why) = &of_run.unusable {
            all.blocks_unusable += 1;
            all.unusable.get_or_insert_with(|| why.clone());
        }
        let room = KEYS_NAMED.saturating_sub(all.lost_keys.len());
        all.lost_keys.extend(of_run.lost_keys.iter().take(room).cloned());
    }
    (all.blocks > 0).then_some(all)
}

/// What power cuts took from all arms, in a sentence; `None` where there were none.
///
/// `After 84 power cuts nothing that was acknowledged is lost by a and b; c lost writes that were up to 98 ms old; d did not come back.`
pub(crate) fn after_power_cuts(results: &[EventsResult]) -> Option<String> {
    let with_cuts = results.iter().filter_map(|result| {
        let kept = result.acknowledged.as_ref()?;
        (kept.cuts > 0).then_some((&result.arm, kept))
    });
    let with_cuts: Vec<(&String, &Acknowledgement)> = with_cuts.collect();
    let arms = |is_meant: fn(&Acknowledgement) -> bool| {
        let meant = with_cuts.iter().filter(|(_, kept)| is_meant(kept));
        let mut names: Vec<String> = meant.map(|(arm, _)| (*arm).clone()).collect();
        names.dedup();
        (!names.is_empty()).then(|| list(&names))
    };
    let oldest_ns = with_cuts.iter().filter(|(_, kept)| kept.unusable.is_none());
    let oldest_ns = oldest_ns.map(|(_, kept)| kept.oldest_lost_ns).max().unwrap_or(0);
    let parts = [
        arms(|kept| kept.lost == 0 && kept.unread == 0 && kept.unusable.is_none())
            .map(|arms| format!("nothing that was acknowledged is lost by {arms}")),
        arms(|kept| kept.lost == 0 && kept.unread > 0 && kept.unusable.is_none())
            .map(|arms| format!("records of {arms} could not be read")),
        arms(|kept| kept.lost > 0 && kept.unusable.is_none()).map(|arms| {
            format!("{arms} lost writes that were up to {} old", duration(oldest_ns as f64))
        }),
        arms(|kept| kept.unusable.is_some()).map(|arms| format!("{arms} did not come back")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let cuts = with_cuts.iter().map(|(_, kept)| kept.cuts as usize).sum();
    (!parts.is_empty())
        .then(|| format!("After {} {}.", counted(cuts, "power cut"), parts.join("; ")))
}

/// At most three sentences, arms with losses first. Arms with power cuts are left out: [`after_power_cuts`] is about all of them.
pub(crate) fn headline(results: &[EventsResult]) -> Vec<String> {
    let has_cuts =
        |result: &&EventsResult| result.acknowledged.as_ref().is_some_and(|kept| kept.cuts > 0);
    let mut chosen: Vec<&EventsResult> =
        results.iter().filter(|result| !has_cuts(result)).collect();
    chosen.sort_by_key(|result| {
        let kept = result.acknowledged.as_ref();
        kept.is_none_or(|kept| kept.lost == 0)
    });
    let chosen = chosen.into_iter().take(HEADLINES);
    chosen.map(|result| result.sentence.clone()).collect()
}

/// Warns where an acknowledged write was lost.
pub(crate) fn warnings(results: &[EventsResult]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for result in results {
        let Some(kept) = &result.acknowledged else {
            continue;
        };
        let subject = format!("{}, {} at {}", result.arm, result.mix, result.load_label);
        if kept.lost > 0 {
            let message = format!(
                "{} of {} acknowledged writes are lost, in {} of {} blocks, such as of {}",
                grouped(kept.lost as f64, 0),
                grouped(kept.writes as f64, 0),
                kept.blocks_with_loss,
                kept.blocks,
                kept.lost_keys.first().map_or("", String::as_str)
            );
            warnings.push(Warning::new(WarningId::WritesLost, &subject, message));
        }
        if let Some(why) = &kept.unusable {
            let message = format!(
                "the database was unusable after a power cut, in {} of {} blocks: {why}",
                kept.blocks_unusable, kept.blocks
            );
            warnings.push(Warning::new(WarningId::Unusable, &subject, message));
        }
        if kept.unread > 0 {
            let message =
                format!("{} records could not be read back", grouped(kept.unread as f64, 0));
            warnings.push(Warning::new(WarningId::NotReadBack, &subject, message));
        }
    }
    warnings
}

/// `three under a at 500 op/s, at 30s: the primary is killed: no write succeeded for 10.6 s. All 12,345 acknowledged writes survived.`
fn sentence(result: &EventsResult) -> String {
    let mut parts = Vec::new();
    for event in &result.events {
        let gap = &event.without_writes;
        let (Some(median), Some((low, high))) = (gap.median, gap.range()) else {
            continue;
        };
        let blocks = if event.blocks > 1 {
            format!(" ({} to {} s in {} blocks)", grouped(low, 2), grouped(high, 2), event.blocks)
        } else {
            String::new()
        };
        let gap = if high == 0.0 {
            "writes went on".to_owned()
        } else {
            format!("no write succeeded for {} s{blocks}", grouped(median, 2))
        };
        parts.push(format!("{}: {gap}", event.words));
    }
    let kept = result.acknowledged.as_ref().map(kept_in_words).unwrap_or_default();
    format!(
        "{} under {} at {}, {}.{kept}",
        result.arm,
        result.mix,
        result.load_label,
        parts.join("; ")
    )
}

/// ` Of 12,345 acknowledged writes 12 are lost, in 2 of 60 power cuts; the oldest was acknowledged 98 ms before its cut.`
fn kept_in_words(kept: &Acknowledgement) -> String {
    let count = |value: u64| grouped(value as f64, 0);
    let writes = count(kept.writes);
    let mut words = match (kept.lost, kept.cuts) {
        (0, 0) if kept.unread == 0 => {
            return format!(" All {writes} acknowledged writes survived.");
        }
        (0, cuts) if kept.unread == 0 => {
            let cuts = counted(cuts as usize, "power cut");
            return format!(" All {writes} acknowledged writes survived {cuts}.");
        }
        (lost, _) => format!(" Of {writes} acknowledged writes {} are lost", count(lost)),
    };
    if kept.cuts > 0 && kept.lost > 0 {
        let oldest = duration(kept.oldest_lost_ns as f64);
        words.push_str(&format!(
            ", in {} of {}; the oldest was acknowledged {oldest} before its cut",
            kept.cuts_with_loss,
            counted(kept.cuts as usize, "power cut"),
        ));
    }
    if kept.unread > 0 {
        words.push_str(&format!(", and {} records could not be read", count(kept.unread)));
    }
    words.push('.');
    if let Some(why) = &kept.unusable {
        words.push_str(&format!(
            " In {} of {} blocks the database did not come back: {why}",
            kept.blocks_unusable, kept.blocks
        ));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_without_writes_belongs_to_the_event_that_it_follows() {
        const S: u64 = 1_000_000_000;
        let gaps = [(S, 3 * S / 2), (10 * S - 1_000_000, 21 * S), (40 * S, 41 * S)];
        assert_eq!(longest(&gaps, (10 * S, 30 * S)), 11.0);
        assert_eq!(longest(&gaps, (30 * S, u64::MAX)), 1.0);
        // It still lasts when the next event comes.
        assert_eq!(longest(&gaps, (15 * S, 30 * S)), 6.0);
        assert_eq!(longest(&gaps, (50 * S, u64::MAX)), 0.0);
    }
}
