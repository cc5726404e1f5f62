//! The final report: which lines it has, before they are written in one of three forms.

use crate::metric::Return;
use crate::number::ordinal;
use crate::order::in_map_order;
use crate::tally::{Buckets, Cell, Kinds, Returns, Row, Series, Tally};

/// One line: `[METRIC], MEASUREMENT, VALUE`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReportLine {
    pub(crate) metric: String,
    pub(crate) measurement: String,
    pub(crate) value: Value,
}

/// A number of either kind: Java prints them differently.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    Whole(i128),
    Double(f64),
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Self::Whole(value.into())
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Double(value)
    }
}

/// How the report is to look.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Style {
    pub(crate) kinds: Kinds,
    /// Percentiles of HDR histograms, 0 to 100.
    pub(crate) percentiles: Vec<f64>,
    pub(crate) verbose: bool,
    /// No summary behind raw rows, but their number.
    pub(crate) no_raw_summary: bool,
}

/// Every block: its name, and what was counted. Plain names come first, in each of the two in the order of Java's map.
pub(crate) fn blocks(tally: &Tally) -> Vec<(String, &Cell)> {
    let mut all = in_map_order(tally.named(false), |(name, _)| name.clone());
    for (name, cell) in in_map_order(tally.named(true), |(name, _)| name.clone()) {
        all.push((format!("Intended-{name}"), cell));
    }
    all
}

/// The lines about the whole run. A run shorter than a millisecond is taken for one.
pub(crate) fn overall(run_time_ms: u64, operations: u64) -> Vec<ReportLine> {
    let run_time_ms = run_time_ms.max(1);
    let per_second = 1_000.0 * operations as f64 / run_time_ms as f64;
    vec![
        line("OVERALL", "RunTime(ms)", run_time_ms),
        line("OVERALL", "Throughput(ops/sec)", per_second),
    ]
}

/// The lines of all blocks.
pub(crate) fn lines(tally: &Tally, style: &Style) -> Vec<ReportLine> {
    let mut lines = Vec::new();
    let is_two_in_one = style.kinds.is_two_in_one();
    for (name, cell) in blocks(tally) {
        let named = |prefix: &str| {
            if is_two_in_one { format!("{prefix}{name}") } else { name.clone() }
        };
        // YCSB reports only for the first of two kinds in one how operations ended.
        let returned = |is_second: bool| {
            let none = Returns::default();
            if is_two_in_one && is_second { none } else { cell.returns }
        };
        if let Some(hdr) = &cell.hdr {
            hdr_lines(&named("Hdr"), hdr, style, &returned(false), &mut lines);
        }
        if let Some(buckets) = &cell.buckets {
            bucket_lines(&named("Bucket"), buckets, style, &returned(true), &mut lines);
        }
        if let Some(series) = &cell.series {
            series_lines(&name, series, &returned(false), &mut lines);
        }
        if let Some(raw) = &cell.raw {
            raw_lines(&named("Raw"), raw, style, &returned(true), &mut lines);
        }
    }
    lines
}

fn line(metric: &str, measurement: impl Into<String>, value: impl Into<Value>) -> ReportLine {
    ReportLine { metric: metric.into(), measurement: measurement.into(), value: value.into() }
}

fn return_lines(name: &str, returns: &Returns, lines: &mut Vec<ReportLine>) {
    for ended in Return::ALL {
        let count = returns[ended as usize];
        if count > 0 {
            lines.push(line(name, format!("Return={}", ended.name()), count));
        }
    }
}

fn hdr_lines(
    name: &str,
    hdr: &hdrhistogram::Histogram<u64>,
    style: &Style,
    returns: &Returns,
    lines: &mut Vec<ReportLine>,
) {
    let mean = if hdr.is_empty() { 0.0 } else { hdr.mean() };
    lines.push(line(name, "Operations", hdr.len()));
    lines.push(line(name, "AverageLatency(us)", mean));
    lines.push(line(name, "MinLatency(us)", hdr.min()));
    lines.push(line(name, "MaxLatency(us)", hdr.max()));
    for percentile in &style.percentiles {
        let measurement = format!("{}PercentileLatency(us)", ordinal(*percentile));
        lines.push(line(name, measurement, hdr.value_at_percentile(*percentile)));
    }
    return_lines(name, returns, lines);
    if style.verbose {
        for step in hdr.iter_recorded() {
            let value = step.value_iterated_to();
            lines.push(line(name, value.to_string(), step.count_at_value() as f64));
        }
    }
}

fn bucket_lines(
    name: &str,
    buckets: &Buckets,
    style: &Style,
    returns: &Returns,
    lines: &mut Vec<ReportLine>,
) {
    let sums = &buckets.sums;
    lines.push(line(name, "Operations", sums.count));
    lines.push(line(name, "AverageLatency(us)", sums.mean()));
    lines.push(line(name, "LatencyVariance(us)", sums.variance()));
    lines.push(line(name, "MinLatency(us)", sums.min));
    lines.push(line(name, "MaxLatency(us)", sums.max));
    for (share, text) in [(0.95, "95th"), (0.99, "99th")] {
        let mut below = 0;
        for (index, count) in buckets.counts.iter().enumerate() {
            below += count;
            if sums.count > 0 && below as f64 / sums.count as f64 >= share {
                let measurement = format!("{text}PercentileLatency(us)");
                lines.push(line(name, measurement, index as u64 * 1_000));
                break;
            }
        }
    }
    return_lines(name, returns, lines);
    if style.verbose {
        for (index, count) in buckets.counts.iter().enumerate() {
            lines.push(line(name, index.to_string(), *count));
        }
        lines.push(line(name, format!(">{}", buckets.counts.len()), buckets.overflow));
    }
}

fn series_lines(name: &str, series: &Series, returns: &Returns, lines: &mut Vec<ReportLine>) {
    let sums = &series.sums;
    lines.push(line(name, "Operations", sums.count));
    lines.push(line(name, "AverageLatency(us)", sums.mean()));
    lines.push(line(name, "MinLatency(us)", sums.min));
    lines.push(line(name, "MaxLatency(us)", sums.max));
    return_lines(name, returns, lines);
    let mut first = None;
    for (index, (sum, count)) in series.stretches.iter().enumerate() {
        if *count > 0 {
            let first = *first.get_or_insert(index);
            let since_ms = (index - first) as u64 * series.stretch_ms;
            lines.push(line(name, since_ms.to_string(), *sum as f64 / *count as f64));
        }
    }
}

fn raw_lines(
    name: &str,
    raw: &[Row],
    style: &Style,
    returns: &Returns,
    lines: &mut Vec<ReportLine>,
) {
    let mut sorted: Vec<u64> = raw.iter().map(|row| row.micros).collect();
    sorted.sort_unstable();
    lines.push(line(name, "Total Operations", sorted.len() as u64));
    if let (Some(least), Some(most), false) = (sorted.first(), sorted.last(), style.no_raw_summary)
    {
        let head = "Below is a summary of latency in microseconds:";
        lines.push(ReportLine { value: Value::Whole(-1), ..line(name, head, 0) });
        let mean = sorted.iter().map(|micros| *micros as f64).sum::<f64>() / sorted.len() as f64;
        lines.push(line(name, "Average", mean));
        lines.push(line(name, "Min", *least));
        lines.push(line(name, "Max", *most));
        for (share, text) in [
            (0.01, "p1"),
            (0.05, "p5"),
            (0.5, "p50"),
            (0.9, "p90"),
            (0.95, "p95"),
            (0.99, "p99"),
            (0.999, "p99.9"),
            (0.9999, "p99.99"),
        ] {
            let index = (sorted.len() as f64 * share) as usize;
            lines.push(line(name, text, sorted[index.min(sorted.len() - 1)]));
        }
    }
    return_lines(name, returns, lines);
}

/// The rows of the raw kind, with a header for each name, sorted by time.
pub(crate) fn raw_rows(tally: &Tally, kinds: Kinds) -> String {
    let mut text = String::new();
    for (mut name, cell) in blocks(tally) {
        let Some(raw) = &cell.raw else { continue };
        if kinds.is_two_in_one() {
            name.insert_str(0, "Raw");
        }
        let mut rows = raw.clone();
        rows.sort_by_key(|row| row.at_ms);
        text.push_str(&format!("{name} latency raw data: op, timestamp(ms), latency(us)\n"));
        for row in rows {
            text.push_str(&format!("{name},{},{}\n", row.at_ms, row.micros));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exporter::{Exporter, write};
    use crate::metric::Metric;
    use crate::tally::tests::layout;
    use crate::tally::{Interval, Micros};

    fn style(kinds: Kinds) -> Style {
        Style { kinds, percentiles: vec![50.0, 99.9], verbose: true, no_raw_summary: false }
    }

    fn text(kinds: Kinds, micros: &[u64]) -> String {
        let mut tally = Tally::new(&layout(kinds, Interval::Op));
        for (number, micros) in micros.iter().enumerate() {
            let at = number as u64 * 1_500_000_000;
            let both = Micros { plain: *micros, intended: *micros };
            tally.measure(Metric::Read, Return::Ok, both, at, 1_000 + number as u64);
            tally.count(Metric::Read, Return::Ok, at);
        }
        write(Exporter::Text, &lines(&tally, &style(kinds)))
    }

    #[test]
    fn an_hdr_block_is_as_on_the_page() {
        let kinds = Kinds { hdr: true, ..Kinds::default() };
        assert_eq!(
            text(kinds, &[0, 1, 2, 137_900]),
            "[READ], Operations, 4\n\
             [READ], AverageLatency(us), 34480.75\n\
             [READ], MinLatency(us), 0\n\
             [READ], MaxLatency(us), 137983\n\
             [READ], 50thPercentileLatency(us), 1\n\
             [READ], 99.9PercentileLatency(us), 137983\n\
             [READ], Return=OK, 4\n\
             [READ], 0, 1.0\n\
             [READ], 1, 1.0\n\
             [READ], 2, 1.0\n\
             [READ], 137983, 1.0\n"
        );
    }

    #[test]
    fn a_bucket_block_has_milliseconds_rounded_down_and_no_percentile_in_the_overflow() {
        let kinds = Kinds { buckets: Some(3), ..Kinds::default() };
        assert_eq!(
            text(kinds, &[999, 1_001]),
            "[READ], Operations, 2\n\
             [READ], AverageLatency(us), 1000.0\n\
             [READ], LatencyVariance(us), 1.0\n\
             [READ], MinLatency(us), 999\n\
             [READ], MaxLatency(us), 1001\n\
             [READ], 95thPercentileLatency(us), 1000\n\
             [READ], 99thPercentileLatency(us), 1000\n\
             [READ], Return=OK, 2\n\
             [READ], 0, 1\n\
             [READ], 1, 1\n\
             [READ], 2, 0\n\
             [READ], >3, 0\n"
        );
        let over = text(kinds, &[3_000]);
        assert!(!over.contains("Percentile"), "{over}");
        assert!(over.ends_with("[READ], >3, 1\n"));
    }

    #[test]
    fn a_series_block_has_means_over_time_from_its_first() {
        let kinds = Kinds { series_ms: Some(1_000), ..Kinds::default() };
        assert_eq!(
            text(kinds, &[10, 20, 30]),
            "[READ], Operations, 3\n\
             [READ], AverageLatency(us), 20.0\n\
             [READ], MinLatency(us), 10\n\
             [READ], MaxLatency(us), 30\n\
             [READ], Return=OK, 3\n\
             [READ], 0, 10.0\n\
             [READ], 1000, 20.0\n\
             [READ], 3000, 30.0\n"
        );
    }

    #[test]
    fn a_raw_block_has_rows_and_a_summary() {
        let kinds = Kinds { raw: true, ..Kinds::default() };
        let text = text(kinds, &[30, 10, 20]);
        assert_eq!(
            text,
            "[READ], Total Operations, 3\n\
             [READ], Below is a summary of latency in microseconds:, -1\n\
             [READ], Average, 20.0\n\
             [READ], Min, 10\n\
             [READ], Max, 30\n\
             [READ], p1, 10\n\
             [READ], p5, 10\n\
             [READ], p50, 20\n\
             [READ], p90, 30\n\
             [READ], p95, 30\n\
             [READ], p99, 30\n\
             [READ], p99.9, 30\n\
             [READ], p99.99, 30\n\
             [READ], Return=OK, 3\n"
        );
        let mut tally = Tally::new(&layout(kinds, Interval::Op));
        let micros = Micros { plain: 7, intended: 7 };
        tally.measure(Metric::Read, Return::Ok, micros, 0, 1_234);
        let expected = "READ latency raw data: op, timestamp(ms), latency(us)\nREAD,1234,7\n";
        assert_eq!(raw_rows(&tally, kinds), expected);
    }

    #[test]
    fn two_kinds_at_once_have_prefixes() {
        let kinds = Kinds { hdr: true, buckets: Some(3), ..Kinds::default() };
        let text = text(kinds, &[1]);
        assert!(text.starts_with("[HdrREAD], Operations, 1\n"));
        assert!(text.contains("[BucketREAD], Operations, 1\n"));
    }

    /// As YCSB's `TwoInOneMeasurement` does: the second of two kinds has its prefix in the rows too, and does not learn how operations ended.
    #[test]
    fn only_the_first_of_two_kinds_says_how_operations_ended() {
        for (buckets, raw, second) in [(Some(3), false, "Bucket"), (None, true, "Raw")] {
            let kinds = Kinds { hdr: true, buckets, raw, ..Kinds::default() };
            let text = text(kinds, &[1, 2]);
            assert!(text.contains("[HdrREAD], Return=OK, 2\n"), "{text}");
            assert!(!text.contains(&format!("[{second}READ], Return")), "{text}");
        }
        let kinds = Kinds { hdr: true, raw: true, ..Kinds::default() };
        let mut tally = Tally::new(&layout(kinds, Interval::Both));
        let micros = Micros { plain: 7, intended: 8 };
        tally.measure(Metric::Read, Return::Ok, micros, 0, 1_234);
        assert_eq!(
            raw_rows(&tally, kinds),
            "RawREAD latency raw data: op, timestamp(ms), latency(us)\nRawREAD,1234,7\n\
             RawIntended-READ latency raw data: op, timestamp(ms), latency(us)\nRawIntended-READ,1234,8\n"
        );
    }

    #[test]
    fn without_a_summary_the_raw_kind_still_counts() {
        let kinds = Kinds { raw: true, ..Kinds::default() };
        let mut tally = Tally::new(&layout(kinds, Interval::Op));
        let micros = Micros { plain: 7, intended: 7 };
        tally.measure(Metric::Read, Return::Ok, micros, 0, 1_234);
        tally.count(Metric::Read, Return::Ok, 0);
        let mut style = style(kinds);
        style.no_raw_summary = true;
        let expected = "[READ], Total Operations, 1\n[READ], Return=OK, 1\n";
        assert_eq!(write(Exporter::Text, &lines(&tally, &style)), expected);
    }

    #[test]
    fn an_operation_that_only_failed_has_a_block_of_zeros() {
        let kinds = Kinds { hdr: true, ..Kinds::default() };
        let mut tally = Tally::new(&layout(kinds, Interval::Both));
        let micros = Micros { plain: 5, intended: 5 };
        tally.measure(Metric::Read, Return::NotFound, micros, 1, 0);
        tally.count(Metric::Read, Return::NotFound, 1);
        let mut style = style(kinds);
        style.verbose = false;
        assert_eq!(
            write(Exporter::Text, &lines(&tally, &style)),
            "[READ], Operations, 0\n\
             [READ], AverageLatency(us), 0.0\n\
             [READ], MinLatency(us), 0\n\
             [READ], MaxLatency(us), 0\n\
             [READ], 50thPercentileLatency(us), 0\n\
             [READ], 99.9PercentileLatency(us), 0\n\
             [READ], Return=NOT_FOUND, 1\n\
             [READ-FAILED], Operations, 1\n\
             [READ-FAILED], AverageLatency(us), 5.0\n\
             [READ-FAILED], MinLatency(us), 5\n\
             [READ-FAILED], MaxLatency(us), 5\n\
             [READ-FAILED], 50thPercentileLatency(us), 5\n\
             [READ-FAILED], 99.9PercentileLatency(us), 5\n\
             [Intended-READ-FAILED], Operations, 1\n\
             [Intended-READ-FAILED], AverageLatency(us), 5.0\n\
             [Intended-READ-FAILED], MinLatency(us), 5\n\
             [Intended-READ-FAILED], MaxLatency(us), 5\n\
             [Intended-READ-FAILED], 50thPercentileLatency(us), 5\n\
             [Intended-READ-FAILED], 99.9PercentileLatency(us), 5\n"
        );
    }

    #[test]
    fn the_whole_run_counts_failures_too_and_is_never_infinitely_fast() {
        let text = write(Exporter::Text, &overall(2_000, 1_000));
        let expected = "[OVERALL], RunTime(ms), 2000\n[OVERALL], Throughput(ops/sec), 500.0\n";
        assert_eq!(text, expected);
        let text = write(Exporter::Text, &overall(0, 3));
        assert!(text.ends_with(", 3000.0\n"));
    }
}
