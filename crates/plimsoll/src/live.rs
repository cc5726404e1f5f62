//! Progress on the standard error: one line that is rewritten on a terminal, one line for each point in a pipe.

use crate::log::Log;
use crate::screen;
use indicatif::ProgressBar;
use plimsoll_plan::explain;
use plimsoll_record::quantities::words::counted;
use plimsoll_record::redact::lines;
use plimsoll_record::{PointLabel, RunState, Slice};
use plimsoll_report::progress::{Phase, PointProgress, Span, TimeLeft};
use plimsoll_report::terminal::progress::Moment;
use plimsoll_runner::{Event, Watcher};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

const STOPPING: &str = "stopping; what was measured is kept (once more to stop at once)";

/// Shows a run in progress, and counts the user's requests to stop.
pub struct Live {
    quiet: bool,
    unicode: bool,
    bar: Option<ProgressBar>,
    interruptions: Arc<AtomicU32>,
    log: Log,
    /// Where the logs of experiments are.
    logs: PathBuf,
    log_path: Option<PathBuf>,
    now: Now,
    left: TimeLeft,
    runs_to_begin: u32,
    started: Instant,
}

/// The run and point that are going on.
#[derive(Default)]
struct Now {
    run: u32,
    runs: u32,
    block: u32,
    arm: String,
    mix: String,
    load_label: String,
    phase: Option<Phase>,
    point: PointProgress,
    measured: Span,
}

/// Above the live line, if there is one.
fn say(bar: Option<&ProgressBar>, line: &str) {
    match bar {
        Some(bar) => bar.println(lines(line)),
        None => screen::tell(line),
    }
}

impl Live {
    /// Begins to listen for interruptions.
    pub fn new(quiet: bool, log: &Log, logs: PathBuf) -> anyhow::Result<Self> {
        let is_line = !quiet && !log.is_shown && std::io::stderr().is_terminal();
        let bar = is_line.then(screen::rewritten_line);
        let interruptions = Arc::new(AtomicU32::new(0));
        let counter = Arc::clone(&interruptions);
        let shown = bar.clone();
        // Said at once, from the handler's own thread: while an operation does not return, no event comes.
        ctrlc::set_handler(move || {
            if counter.fetch_add(1, Ordering::Relaxed) == 0 && !quiet {
                say(shown.as_ref(), STOPPING);
            }
        })?;
        Ok(Self {
            quiet,
            unicode: screen::knows_unicode(),
            bar,
            interruptions,
            log: log.clone(),
            logs,
            log_path: None,
            now: Now::default(),
            left: TimeLeft::default(),
            runs_to_begin: 0,
            started: Instant::now(),
        })
    }

    /// Takes the live line away, before anything else is printed.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// The log of the experiment, once it has begun.
    pub fn log_path(&self) -> Option<&Path> {
        self.log_path.as_deref()
    }

    /// On the clock of [`TimeLeft`].
    fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    fn say(&self, line: &str) {
        if !self.quiet {
            say(self.bar.as_ref(), line);
        }
    }

    fn moment(&self, rate: f64, p99_ns: Option<f64>, errors: u64) -> Moment<'_> {
        let now = &self.now;
        let phase = now.phase.unwrap_or(Phase::Prepare);
        let (second, seconds) = match phase {
            Phase::Prepare | Phase::TearDown => (0.0, 0.0),
            _ => now.point.of_phase(),
        };
        Moment {
            run: now.run,
            runs: now.runs,
            block: now.block,
            arm: &now.arm,
            mix: &now.mix,
            load_label: &now.load_label,
            phase,
            second,
            seconds,
            rate,
            p99_ns,
            errors,
            left_seconds: Some(self.left.seconds(self.runs_to_begin, self.seconds())),
        }
    }

    fn redraw(&self, rate: f64, p99_ns: Option<f64>) {
        let Some(bar) = &self.bar else { return };
        let moment = self.moment(rate, p99_ns, self.now.measured.errors);
        bar.set_message(moment.live(screen::columns().saturating_sub(1), self.unicode));
        bar.tick();
    }

    fn phase(&mut self, phase: Phase) {
        self.now.phase = Some(phase);
        self.redraw(0.0, None);
    }

    fn point_begins(&mut self, label: &PointLabel, warm_up_ns: u64, duration_ns: u64) {
        self.now.mix.clone_from(&label.mix);
        self.now.load_label.clone_from(&label.load_label);
        self.now.point = PointProgress::begins(warm_up_ns, duration_ns);
        self.now.measured = Span::default();
        let point = &self.now.point;
        self.left.point_begins(point.warm_up_seconds + point.requested_seconds);
        self.phase(point.phase());
    }

    fn slice(&mut self, slice: &Slice) {
        let mut this = Span::default();
        this.add(slice);
        self.now.point.add(slice);
        self.now.phase = Some(self.now.point.phase());
        if !self.now.point.is_load {
            self.left.measured(slice.length_ns as f64 / 1e9);
        }
        if !slice.warm_up {
            self.now.measured.add(slice);
        }
        self.redraw(this.rate(), this.p99_ns());
    }

    /// In a pipe, each point is one line when it is over.
    fn point_ends(&self) {
        if self.bar.is_some() || self.quiet {
            return;
        }
        let measured = &self.now.measured;
        let moment = self.moment(measured.rate(), measured.p99_ns(), measured.errors);
        self.say(&moment.plain(self.unicode));
    }
}

impl Watcher for Live {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Begins { id, plan, finished, took, missing, to_make } => {
                match self.log.keep(&self.logs, id) {
                    Ok(path) => self.log_path = Some(path),
                    Err(error) => self
                        .say(&format!("there will be no log in {}: {error}", self.logs.display())),
                }
                self.left = TimeLeft::of(&explain(plan, plimsoll_engine::kinds()).needs);
                for seconds in took {
                    self.left.finished_before(*seconds);
                }
                self.runs_to_begin = *to_make / plan.at_once() as u32;
                let runs = plan.runs.len();
                let now = match to_make < missing {
                    true => format!("; {to_make} now"),
                    false => String::new(),
                };
                if *finished > 0 {
                    self.say(&format!("experiment {} ({id}) resumes: {finished} of {runs} runs are done, {missing} are missing{now}", plan.name));
                } else {
                    self.say(&format!(
                        "experiment {} ({id}): {}, {} in {}{now}",
                        plan.name,
                        counted(runs, "run"),
                        counted(plan.arms.len(), "arm"),
                        counted(plan.measurement.blocks as usize, "block")
                    ));
                }
            }
            Event::Note(note) => self.say(note),
            Event::RunBegins { run, arm, number, runs } => {
                self.left.run_begins(self.seconds());
                self.runs_to_begin = self.runs_to_begin.saturating_sub(1);
                self.now = Now {
                    run: *number,
                    runs: *runs,
                    block: run.block,
                    arm: (*arm).to_owned(),
                    ..Now::default()
                };
                self.phase(Phase::Prepare);
            }
            Event::LoadBegins { .. } => {
                self.now.point = PointProgress::load();
                self.now.measured = Span::default();
                self.phase(Phase::Load);
            }
            Event::PointBegins { label, warm_up_ns, duration_ns } => {
                self.point_begins(label, *warm_up_ns, *duration_ns);
            }
            Event::Slice(slice) => self.slice(slice),
            Event::PointEnds => {
                self.left.point_ends();
                self.point_ends();
            }
            Event::Closing => self.phase(Phase::TearDown),
            Event::RunEnds { state, refused } => {
                self.left.run_ends(**state == RunState::Finished, self.seconds());
                let Now { run, runs, arm, .. } = &self.now;
                let ended = match (state, refused) {
                    (RunState::Failed { message }, _) => format!("failed: {message}"),
                    (_, Some(reason)) => format!("is not valid: {reason}"),
                    (_, None) => return,
                };
                self.say(&format!("run {run} of {runs} ({arm}) {ended}"));
            }
        }
    }

    fn interruptions(&self) -> u32 {
        self.interruptions.load(Ordering::Relaxed)
    }
}
