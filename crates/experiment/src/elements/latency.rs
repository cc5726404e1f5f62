//! `disk.latency` and its like: how long requests wait.

use crate::Collector;
use crate::document::{Checked, Value};
use crate::keys::latency::{latency, lognormal};
use crate::mistake::Mistake;
use crate::table::*;
use plimsoll_plan::{SettingValue, table_percentile};
use plimsoll_record::{DiskLatency, DiskSpec};

/// Latencies of a disk or a preset: one of both directions is refined by those of each.
pub(crate) fn latencies(
    path: &str,
    map: &Checked,
    [both, read, write, flush]: [&Key; 4],
    spec: &mut DiskSpec,
    problems: &mut Collector<'_>,
) {
    let mut law = |key: &Key| {
        let checked = map.get(key)?;
        latency(&key.under(path), checked, problems)
    };
    if let Some(law) = law(both) {
        spec.read_latency = law.clone();
        spec.write_latency = law;
    }
    if let Some(law) = law(read) {
        spec.read_latency = law;
    }
    if let Some(law) = law(write) {
        spec.write_latency = law;
    }
    if let Some(law) = law(flush) {
        spec.flush_latency = law;
    }
}

fn latency(path: &str, checked: &Checked, problems: &mut Collector<'_>) -> Option<DiskLatency> {
    if let Value::One(SettingValue::Nanos(ns)) = checked.value {
        return Some(match ns {
            0 => DiskLatency::None,
            ns => DiskLatency::Constant { ns },
        });
    }
    if let Some(lognormal) = checked.get(latency::lognormal) {
        let median_ns = lognormal.get(lognormal::median)?.whole()?;
        let p99_ns = lognormal.get(lognormal::p99)?.whole()?;
        if p99_ns < median_ns {
            let mistake = Mistake::PercentileBelowMedian { median_ns, p99_ns };
            problems.add(&latency::lognormal.under(path), Some(lognormal.place), mistake);
        }
        return Some(DiskLatency::Lognormal { median_ns, p99_ns });
    }
    let mut points = Vec::new();
    let mut places = Vec::new();
    for field in checked.get(latency::table)?.fields() {
        let point = (table_percentile(&field.key), field.checked.whole());
        let (Some(percentile), Some(ns)) = point else {
            continue;
        };
        points.push((percentile, ns));
        places.push((percentile, field.checked.place));
    }
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    for pair in points.windows(2) {
        let [(lower, shorter), (upper, longer)] = *pair else {
            continue;
        };
        if longer >= shorter && upper > lower {
            continue;
        }
        let place =
            places.iter().find(|(percentile, _)| *percentile == upper).map(|(_, place)| *place);
        let mistake = Mistake::TableNotAscending { lower, upper };
        problems.add(&latency::table.under(path), place, mistake);
    }
    Some(DiskLatency::Table { points })
}
