//! HdrHistogram interval logs, format 1.3, one for each run.
//!
//! Each line is one slice of one kind of operation, distinguished by its tag `mix/load/operation`; behind the load of a trial stands its number, from 1, as in
//! `mix/load.trial-3/operation`, since trials may have the same load. The histogram is that of the response time;
//! an open loop has the service time too, under the tag with `/service` behind it. Histograms hold nanoseconds, and the third
//! column, as in the logs of HdrHistogram's own tools, is the highest value in milliseconds. Times are seconds from the start of the run.
//! The format and the order of its header lines are those of HdrHistogram's `HistogramLogWriter`.

use crate::text;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use plimsoll_record::{Histogram, PointRecord, RunRecord, Status};
use std::io::{self, Write};

const NANOS_PER_MILLI: f64 = 1e6;

pub(super) fn write(run: &RunRecord, out: &mut dyn Write) -> io::Result<()> {
    let begin: Option<Timestamp> = run.started_at.parse().ok();
    writeln!(
        out,
        "#[Plimsoll, arm {}, block {}, attempt {}]",
        text::line(&run.arm),
        u64::from(run.block) + 1,
        run.attempt
    )?;
    writeln!(
        out,
        "#[Histograms in nanoseconds, Interval_Max in milliseconds, tags are mix/load/operation]"
    )?;
    writeln!(out, "#[Histogram log format version 1.3]")?;
    if let Some(begin) = begin {
        writeln!(
            out,
            "#[StartTime: {:.3} (seconds since epoch), {}]",
            begin.as_millisecond() as f64 / 1e3,
            text::line(&run.started_at)
        )?;
    }
    writeln!(
        out,
        "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\""
    )?;
    let mut end_of_last = 0.0;
    for point in run.load.iter().chain(&run.points) {
        let offset =
            begin.and_then(|begin| seconds_after(begin, &point.started_at)).unwrap_or(end_of_last);
        write_point(point, offset, out)?;
        if let Some(slice) = point.slices.last() {
            end_of_last = offset + seconds(slice.start_ns.saturating_add(slice.length_ns));
        }
    }
    Ok(())
}

fn seconds_after(begin: Timestamp, instant: &str) -> Option<f64> {
    let instant: Timestamp = instant.parse().ok()?;
    let after = instant.duration_since(begin).as_secs_f64();
    (after >= 0.0).then_some(after)
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

fn write_point(point: &PointRecord, offset: f64, out: &mut dyn Write) -> io::Result<()> {
    let trial = point.label.trial;
    let trial = trial.map_or_else(String::new, |trial| format!(".trial-{}", u64::from(trial) + 1));
    for slice in &point.slices {
        for part in &slice.operations {
            let mut tag = format!(
                "{}/{}{trial}/{}",
                tag_part(&point.label.mix),
                tag_part(&point.label.load_label),
                part.operation.name()
            );
            if part.status != Status::Ok {
                tag = format!("{tag}/{}", part.status.name());
            }
            let span = (offset + seconds(slice.start_ns), seconds(slice.length_ns));
            write_line(&tag, span, part.latencies.response(), out)?;
            if part.latencies.open.is_some() {
                write_line(&format!("{tag}/service"), span, &part.latencies.service, out)?;
            }
        }
    }
    Ok(())
}

fn write_line(
    tag: &str,
    (start, length): (f64, f64),
    histogram: &Histogram,
    out: &mut dyn Write,
) -> io::Result<()> {
    // An imported point may have a few figures and no histogram.
    if histogram.summary().is_some() {
        return Ok(());
    }
    let highest = histogram.max_ns().unwrap_or(0) as f64 / NANOS_PER_MILLI;
    writeln!(
        out,
        "Tag={tag},{start:.3},{length:.3},{highest:.3},{}",
        STANDARD.encode(histogram.to_bytes())
    )
}

/// A tag ends at a comma or a space, so those become dashes.
fn tag_part(text: &str) -> String {
    text::short(text, 80)
        .chars()
        .map(
            |character| {
                if character == ',' || character.is_whitespace() { '-' } else { character }
            },
        )
        .collect()
}
