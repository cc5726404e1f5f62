//! fio's progress on the standard error, and the user's wish to stop.

use crate::screen::{rewritten_line, tell};
use anyhow::Context;
use indicatif::ProgressBar;
use plimsoll_record::redact::lines;
use plimsoll_rig::fio::Progress;
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// One line that is rewritten on a terminal, a line for each job in a pipe.
pub struct ProgressLine {
    bar: Option<ProgressBar>,
    part: u32,
    stop: Arc<AtomicBool>,
}

impl ProgressLine {
    /// From now on, Ctrl-C is a wish to stop.
    pub fn new() -> anyhow::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let handler = Arc::clone(&stop);
        ctrlc::set_handler(move || handler.store(true, Ordering::Relaxed))
            .context("cannot listen for Ctrl-C")?;
        let bar = std::io::stderr().is_terminal().then(rewritten_line);
        Ok(Self { bar, part: 0, stop })
    }

    pub fn watch(&mut self, progress: &Progress) -> ControlFlow<()> {
        let line = format!("[{}/{}] {}", progress.part, progress.parts, progress.label);
        match &self.bar {
            Some(bar) => bar.set_message(lines(&line).into_owned()),
            None if self.part != progress.part => tell(&line),
            None => {}
        }
        self.part = progress.part;
        if self.stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// The next parts are those of something else.
    pub fn next(&mut self, what: &str) {
        self.part = 0;
        match &self.bar {
            Some(bar) => bar.println(lines(what)),
            None => tell(what),
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
