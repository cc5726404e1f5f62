//! The course of an experiment in the trace event format, which Perfetto (ui.perfetto.dev) and Chrome (chrome://tracing) open.
//!
//! Each arm is a process. Its tracks are its runs, their phases, checkpoints, stalls, and what was done to the server or its disk; its counters are the operations, device reads and
//! device writes of each second. Times are microseconds from the start of the experiment.

use crate::Report;
use jiff::Timestamp;
use plimsoll_judge::TimeSeries;
use plimsoll_record::{PointRecord, RunRecord, RunState, figures};
use serde_json::{Value, json};
use std::io::{self, Write};

const RUNS: u32 = 1;
const PHASES: u32 = 2;
const CHECKPOINTS: u32 = 3;
const STALLS: u32 = 4;
const EVENTS: u32 = 5;
/// The tracks of a process, in the order in which they are shown.
const TRACKS: [(u32, &str); 5] = [
    (RUNS, "runs"),
    (PHASES, "points"),
    (CHECKPOINTS, "checkpoints"),
    (STALLS, "stalls"),
    (EVENTS, "events"),
];
/// What is drawn as a curve: a counter of slices, and its name there.
const CURVES: [(&str, &str); 2] =
    [(figures::DEVICE_READS, "device reads/s"), (figures::DEVICE_WRITES, "device writes/s")];

pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let begin = report.record.started_at.parse().unwrap_or(Timestamp::UNIX_EPOCH);
    let mut trace = Trace { out, begin, is_first: true };
    trace.out.write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[")?;
    for (number, arm) in report.analysis.arms.iter().enumerate() {
        let process = number as u32 + 1;
        trace.name("process_name", process, 0, &arm.name)?;
        for (track, name) in TRACKS {
            trace.name("thread_name", process, track, name)?;
        }
        for run in report.record.runs.iter().filter(|run| run.arm == arm.name) {
            trace.run(process, run, report)?;
        }
    }
    trace.out.write_all(b"\n]}\n")
}

struct Trace<'a> {
    out: &'a mut dyn Write,
    begin: Timestamp,
    is_first: bool,
}

impl Trace<'_> {
    fn add(&mut self, event: &Value) -> io::Result<()> {
        self.out.write_all(if self.is_first { b"\n" } else { b",\n" })?;
        self.is_first = false;
        serde_json::to_writer(&mut *self.out, event).map_err(io::Error::from)
    }

    fn name(&mut self, what: &str, process: u32, track: u32, name: &str) -> io::Result<()> {
        self.add(
            &json!({"ph": "M", "name": what, "pid": process, "tid": track, "args": {"name": name}}),
        )
    }

    fn span(
        &mut self,
        (process, track): (u32, u32),
        name: &str,
        (from_us, length_us): (f64, f64),
        about: &Value,
    ) -> io::Result<()> {
        self.add(&json!({
            "ph": "X", "name": name, "pid": process, "tid": track, "ts": from_us, "dur": length_us.max(0.0), "args": about
        }))
    }

    fn value(&mut self, process: u32, name: &str, at_us: f64, value: f64) -> io::Result<()> {
        self.add(&json!({
            "ph": "C", "name": name, "pid": process, "tid": 0, "ts": at_us, "args": {"value": value}
        }))
    }

    /// Microseconds from the start of the experiment; `None` where its time is unknown.
    fn since_begin(&self, at: &str) -> Option<f64> {
        let at: Timestamp = at.parse().ok()?;
        Some(at.duration_since(self.begin).as_secs_f64() * 1e6)
    }

    fn run(&mut self, process: u32, run: &RunRecord, report: &Report<'_>) -> io::Result<()> {
        let from = self.since_begin(&run.started_at);
        let until = run.ended_at.as_deref().and_then(|at| self.since_begin(at));
        if let (Some(from), Some(until)) = (from, until) {
            let about = json!({
                "attempt": run.attempt, "seed": run.seed, "position": run.position, "state": run.state
            });
            let name = format!("block {}", run.block);
            self.span((process, RUNS), &name, (from, until - from), &about)?;
        }
        for point in run.load.iter().chain(&run.points) {
            let Some(at_us) = self.since_begin(&point.started_at) else {
                continue;
            };
            self.phase(process, point, at_us)?;
            let is_it = |series: &&TimeSeries| {
                run.state == RunState::Finished
                    && (series.arm.as_str(), series.block) == (run.arm.as_str(), run.block)
                    && (series.point, series.mix.as_str())
                        == (point.label.point, point.label.mix.as_str())
            };
            let series = report.analysis.series.iter().find(is_it);
            for (from, until) in series.into_iter().flat_map(|series| &series.stalls) {
                let times = (at_us + from * 1e6, (until - from) * 1e6);
                self.span((process, STALLS), "stall", times, &json!({}))?;
            }
        }
        Ok(())
    }

    fn phase(&mut self, process: u32, point: &PointRecord, at_us: f64) -> io::Result<()> {
        let label = &point.label;
        let name = format!("{}, {}", label.mix, label.load_label);
        let warm_up_us = point.warm_up_ns as f64 / 1e3;
        if point.warm_up_ns > 0 {
            let times = (at_us, warm_up_us);
            self.span((process, PHASES), "warm-up", times, &json!({"of": name}))?;
        }
        if let Some(end) = &point.end {
            let times = (at_us + warm_up_us, end.measured_ns as f64 / 1e3);
            self.span((process, PHASES), &name, times, &json!({}))?;
            for event in end.disturbance.iter().flat_map(|seen| &seen.events) {
                let from_us = at_us + event.at_ns as f64 / 1e3;
                let length_ns = event.until_ns.map(|until| until.saturating_sub(event.at_ns));
                let times = (from_us, length_ns.unwrap_or(0) as f64 / 1e3);
                let name = format!("event {}", event.event + 1);
                let about = json!({"member": event.member, "is_over": event.until_ns.is_some()});
                self.span((process, EVENTS), &name, times, &about)?;
            }
        }
        let mut checkpoint: Option<(f64, f64)> = None;
        for slice in &point.slices {
            let from_us = at_us + slice.start_ns as f64 / 1e3;
            let length_us = slice.length_ns as f64 / 1e3;
            if length_us <= 0.0 {
                continue;
            }
            let per_second = |count: f64| count / length_us * 1e6;
            let done = per_second(slice.completed.ok as f64);
            self.value(process, "operations/s", from_us, done)?;
            for (figure, name) in CURVES {
                if let Some(count) = slice.telemetry.get(figure) {
                    self.value(process, name, from_us, per_second(*count))?;
                }
            }
            let running = slice.telemetry.get(figures::ENGINE_CHECKPOINT_RUNNING);
            if running.is_some_and(|running| *running > 0.0) {
                let (begun, length) = checkpoint.unwrap_or((from_us, 0.0));
                checkpoint = Some((begun, length + length_us));
            } else if let Some(times) = checkpoint.take() {
                self.span((process, CHECKPOINTS), "checkpoint", times, &json!({}))?;
            }
        }
        if let Some(times) = checkpoint {
            self.span((process, CHECKPOINTS), "checkpoint", times, &json!({}))?;
        }
        Ok(())
    }
}
