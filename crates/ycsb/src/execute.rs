use crate::MOST_OF_A_FILE;
use crate::binding::Plan;
use crate::command::{Command, Phase};
use crate::error::YcsbError;
use crate::exporter;
use crate::metric::{Metric, Return};
use crate::report::{lines, overall, raw_rows};
use crate::reporter::{Reporter, Totals};
use crate::settings::Settings;
use crate::talk::{say, talk};
use crate::watcher::{Message, Watch, Watcher};
use plimsoll_engine::{Engine, INSTEAD_OF_LEAN};
use plimsoll_loadgen::{LoadSpec, PointSpec, SliceSink, run_load_with, run_point_with};
use plimsoll_record::{PointEnd, Slice, WorkerUse};
use plimsoll_workload::schedule::{Load, Share};
use plimsoll_workload::{KeySpace, Workload};
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

/// How often threads that go on after the time is up are named.
const STILL_WAITING: Duration = Duration::from_secs(2);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Stopped by the user before its end.
    pub is_interrupted: bool,
    /// What went wrong while operations ran, one line each; empty when nothing did.
    pub complaints: Vec<String>,
}

/// What the program gives to a command.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    pub version: &'a str,
    /// Name of the memory allocator, for embedded engines.
    pub allocator: &'a str,
    /// Whether the user wants it to end. Called many times a second.
    pub stop: &'a dyn Fn() -> bool,
}

/// Carries a command out: stores or asks, with status lines on the standard error, and the report on the standard output or in its file.
pub fn execute(command: &Command, surroundings: &Surroundings<'_>) -> Result<Ended, YcsbError> {
    let settings = Settings::read(command, &|path| {
        plimsoll_record::files::read_text(path.as_ref(), MOST_OF_A_FILE)
    })?;
    let plan = Plan::read(command.binding, &command.properties, command.is_async)?;
    let data = match settings.phase {
        Phase::Load => settings.core.to_load().0,
        Phase::Run => settings.core.data.clone(),
    };
    let key_space = KeySpace::new(&data)?;
    talk(&format!("Command line: {}", command.shown));
    talk(&format!("YCSB Client 0.18.0 format, by Plimsoll {}", surroundings.version));
    talk("");
    for note in settings.notes.iter().chain(&plan.notes) {
        talk(&format!("plimsoll ycsb: {note}"));
    }
    talk("Loading workload...");
    let workload = match settings.phase {
        Phase::Load => None,
        Phase::Run => Some(Arc::new(Workload::new(
            &key_space,
            &settings.core.mix,
            settings.seed,
            settings.operations,
        )?)),
    };
    for line in &settings.announcements {
        say(line);
    }
    let opened = plan.open(&command.properties, &data, settings.seed, surroundings.allocator)?;
    if let Some(greeting) = &plan.greeting {
        say(greeting);
    }
    if let Some(why) = opened.engine.description().notes.get(INSTEAD_OF_LEAN) {
        talk(&format!("plimsoll ycsb: {why}"));
    }
    talk("Starting test.");
    if let Some(most_ns) = settings.most_ns {
        talk(&format!("Maximum execution time specified as: {} secs", most_ns / 1_000_000_000));
    }
    talk(&format!(
        "DBWrapper: report latency for each error is {} and specific error codes to track for latency are: [{}]",
        settings.each_error, settings.tracked_errors
    ));
    talk(&format!("plimsoll ycsb: plimsoll.seed={} repeats the same operations", settings.seed));
    let run = Run {
        settings: &settings,
        engine: &*opened.engine,
        key_space: &key_space,
        workload: workload.as_ref(),
        stop: surroundings.stop,
    };
    let (end, totals, is_interrupted, is_out_of_time) = run.measure()?;
    if settings.most_ns.is_some() && !is_out_of_time {
        talk("Could not wait until max specified time, TerminatorThread interrupted.");
    }
    report(&settings, &totals)?;
    let mut ended = Ended {
        is_interrupted,
        complaints: run.complaints(&end, &totals, is_interrupted || is_out_of_time)?,
    };
    if let Some(error) = totals.log_failure {
        ended.complaints.push(error.to_string());
    }
    opened.engine.close()?;
    Ok(ended)
}

struct Run<'a> {
    settings: &'a Settings,
    engine: &'a dyn Engine,
    key_space: &'a Arc<KeySpace>,
    workload: Option<&'a Arc<Workload>>,
    stop: &'a dyn Fn() -> bool,
}

impl Run<'_> {
    /// What the sessions ended with, whether the user stopped them, and whether their time was up.
    fn measure(&self) -> Result<(PointEnd, Totals, bool, bool), YcsbError> {
        let settings = self.settings;
        let watch = Watch::new(settings.sessions);
        let (sender, messages) = channel();
        let reporter = Reporter::new(settings, &watch, messages);
        let mut finisher = Finisher {
            stop: self.stop,
            most: settings.most_ns.map(Duration::from_nanos),
            begun: None,
            is_interrupted: false,
            is_out_of_time: false,
            named: Duration::ZERO,
            watch: &watch,
            sender: sender.clone(),
        };
        let observer = |number| Watcher::new(settings, &watch, &sender, number);
        std::thread::scope(|scope| {
            let reporting = scope.spawn(|| reporter.run());
            let end = match self.workload {
                None => {
                    let spec = LoadSpec {
                        sessions: settings.sessions,
                        duration_ns: settings.most_ns.unwrap_or(u64::MAX),
                        operations: settings.operations,
                        target: settings.target,
                        seed: settings.seed,
                        share: Share::WHOLE,
                    };
                    let loader = self.key_space.loader(settings.seed);
                    run_load_with(self.engine, &loader, &spec, &mut finisher, observer)
                }
                Some(workload) => {
                    let spec = PointSpec {
                        load: Load::Closed {
                            sessions: settings.sessions,
                            think_time_ns: 0,
                            target: settings.target,
                        },
                        warm_up_ns: 0,
                        duration_ns: settings.most_ns.unwrap_or(u64::MAX),
                        operations: settings.operations,
                        seed: settings.seed,
                        verify: settings.core.data.data_integrity,
                        share: Share::WHOLE,
                    };
                    let mix = &settings.core.mix;
                    run_point_with(self.engine, workload, &spec, mix, &mut finisher, observer)
                }
            };
            // The reporter waits for this even when nothing has begun.
            let _ = sender.send(Message::End);
            let totals = reporting.join().map_err(|_| plimsoll_loadgen::LoadError::Panic)?;
            let end = end?;
            // The sessions keep the time themselves, and may all have ended before the finisher looked again.
            if settings.most_ns.is_some_and(|most| end.measured_ns >= most) {
                finisher.time_is_up();
            }
            Ok((end, totals, finisher.is_interrupted, finisher.is_out_of_time))
        })
    }

    /// What went wrong, in lines.
    fn complaints(
        &self,
        end: &PointEnd,
        totals: &Totals,
        is_cut_short: bool,
    ) -> Result<Vec<String>, YcsbError> {
        let mut complaints = Vec::new();
        if totals.failed > 0 {
            let what = if totals.failed == 1 {
                "1 operation failed"
            } else {
                &format!("{} operations failed", totals.failed)
            };
            complaints.push(what.to_owned());
            for sample in end.errors.iter().take(5) {
                complaints.push(format!(
                    "{}: {} ({} times)",
                    sample.operation.name(),
                    plimsoll_record::redact::redact(&sample.message),
                    sample.count
                ));
            }
        }
        complaints.extend(advice(end).map(str::to_owned));
        if self.settings.phase == Phase::Load {
            self.missing(totals, is_cut_short, &mut complaints)?;
        }
        Ok(complaints)
    }

    fn missing(
        &self,
        totals: &Totals,
        is_cut_short: bool,
        complaints: &mut Vec<String>,
    ) -> Result<(), YcsbError> {
        let stored = totals.tally.returns(Metric::Insert, Return::Ok)
            + totals.tally.returns(Metric::Insert, Return::BatchedOk);
        if let Some(requested) = self.settings.operations
            && stored < requested
            && !is_cut_short
        {
            complaints.push(format!(
                "{} of {requested} records were not stored by this load",
                requested - stored
            ));
        }
        if !self.settings.count_records {
            return Ok(());
        }
        // Others may have stored records in the same table, so that more are no fault.
        if let Some(counted) = self.engine.count()?
            && counted < stored
        {
            complaints.push(format!(
                "the database holds {counted} records, {stored} were stored: {} are missing",
                stored - counted
            ));
        }
        Ok(())
    }
}

fn advice(end: &PointEnd) -> Option<&'static str> {
    let says = |words: &[&str]| {
        let mut samples = end.errors.iter();
        samples.any(|sample| words.iter().any(|word| sample.message.contains(word)))
    };
    if says(&["already a record with this key", "E11000", "code 11000"]) {
        return Some(
            "records with these keys already exist: the load was made before (empty the collection, or set mongodb.upsert=true), or another client inserts the same keys (give each its own insertstart and insertcount)",
        );
    }
    if says(&["code 16500", "TooManyRequests", "429"]) {
        return Some(
            "the server throttles: the load is higher than provisioned, so the result is its limit; lower it by -target",
        );
    }
    None
}

/// Writes the report where it is wanted.
fn report(settings: &Settings, totals: &Totals) -> Result<(), YcsbError> {
    if settings.layout.kinds.raw {
        write_raw(settings, totals)?;
    }
    let mut all = overall(totals.ended_ns / 1_000_000, totals.done);
    all.extend(lines(&totals.tally, &settings.style));
    let text = exporter::write(settings.exporter, &all);
    match &settings.export_file {
        Some(path) => write_file(path, &text),
        None => {
            let mut out = io::stdout();
            out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(YcsbError::Report)
        }
    }
}

fn write_file(path: &Path, text: &str) -> Result<(), YcsbError> {
    std::fs::write(path, text).map_err(|source| YcsbError::Path { path: path.into(), source })
}

fn write_raw(settings: &Settings, totals: &Totals) -> Result<(), YcsbError> {
    let rows = raw_rows(&totals.tally, settings.layout.kinds);
    let Some(path) = &settings.raw_file else {
        say("Raw data measurement: will output to stdout.");
        return io::stdout().write_all(rows.as_bytes()).map_err(YcsbError::Report);
    };
    say(&format!("Raw data measurement: will output to result file: {}", path.display()));
    let open = || OpenOptions::new().append(true).create(true).open(path);
    open()
        .and_then(|mut file| file.write_all(rows.as_bytes()))
        .map_err(|source| YcsbError::Path { path: path.clone(), source })
}

/// Looks after the end of a run, on the thread that called.
struct Finisher<'a> {
    stop: &'a dyn Fn() -> bool,
    /// After this long no operation is begun.
    most: Option<Duration>,
    begun: Option<Instant>,
    is_interrupted: bool,
    is_out_of_time: bool,
    /// How long after the time was up the threads that go on were named last.
    named: Duration,
    watch: &'a Watch,
    sender: Sender<Message>,
}

impl Finisher<'_> {
    /// Reports once that no more operations begin.
    fn time_is_up(&mut self) {
        if !self.is_out_of_time {
            self.is_out_of_time = true;
            talk("Maximum time elapsed. Requesting stop for the workload.");
            talk("Stop requested for workload. Now Joining!");
        }
    }
}

impl SliceSink for Finisher<'_> {
    /// The report is made from what the sessions' observers count.
    fn slice(&mut self, _slice: Slice) {}

    fn sample(&mut self) -> (WorkerUse, BTreeMap<String, f64>) {
        // The first sample is taken when the clock starts.
        if self.begun.is_none() {
            self.begun = Some(Instant::now());
            let _ = self.sender.send(Message::Begin);
        }
        Default::default()
    }

    fn stop_requested(&mut self) -> bool {
        let since = self.begun.map(|begun| begun.elapsed());
        if let (Some(most), Some(since)) = (self.most, since)
            && since >= most
        {
            self.time_is_up();
            let over = since - most;
            if over >= self.named + STILL_WAITING {
                self.named = over;
                for number in self.watch.open() {
                    say(&format!(
                        "Still waiting for thread Thread-{number} to complete. Workload status: true"
                    ));
                }
            }
        }
        if (self.stop)() {
            self.is_interrupted = true;
        }
        self.is_interrupted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_record::{ErrorSample, Operation};

    #[test]
    fn failures_that_many_have_had_come_with_advice() {
        let advice_on = |message: &str| {
            let sample =
                ErrorSample { operation: Operation::Insert, message: message.into(), count: 5 };
            advice(&PointEnd { errors: vec![sample], ..PointEnd::default() })
        };
        let throttled = "h refused: Request rate is large. RetryAfterMs=34 (16500, code 16500)";
        assert!(advice_on(throttled).unwrap().contains("throttles"));
        let duplicate = "h: there is already a record with this key";
        assert!(advice_on(duplicate).unwrap().contains("insertstart"));
        assert_eq!(advice_on("h refused: no (X, code 1)"), None);
    }
}
