//! Gathers what the sessions counted, prints status lines and writes HDR logs, on a thread of its own.

use crate::error::YcsbError;
use crate::hdr_log::HdrLogs;
use crate::report::blocks;
use crate::settings::Settings;
use crate::status::Status;
use crate::talk::{say, talk};
use crate::tally::Tally;
use crate::watcher::{Message, Watch};
use jiff::Zoned;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// A status line waits this long for sessions that are inside a call.
const GRACE: Duration = Duration::from_millis(100);

/// What is known when all sessions have ended.
pub(crate) struct Totals {
    pub(crate) tally: Tally,
    /// When the last session ended, nanoseconds from the start.
    pub(crate) ended_ns: u64,
    /// Operations done, however they ended, as status lines count them.
    pub(crate) done: u64,
    /// Operations that failed for good, and verifications.
    pub(crate) failed: u64,
    /// Why an HDR log could not be written.
    pub(crate) log_failure: Option<YcsbError>,
}

/// The end of an interval.
struct Tick {
    now: Zoned,
    seconds: f64,
    operations: u64,
}

/// When the intervals end: on the grid of the start, however long the line of one of them took.
fn ends(begin: Instant, every: Duration) -> impl Iterator<Item = Instant> {
    std::iter::successors(Some(begin + every), move |end| Some(*end + every))
}

/// Reports until all sessions have ended.
pub(crate) struct Reporter<'a> {
    settings: &'a Settings,
    watch: &'a Watch,
    messages: Receiver<Message>,
    begin: Instant,
    logs: Option<HdrLogs>,
    /// Counted since the last status line.
    interval: Tally,
    interval_begin: f64,
    interval_operations: u64,
    totals: Totals,
    /// Sessions that have not ended.
    open: usize,
    /// How many sessions have not handed over since the last request.
    awaited: usize,
    is_over: bool,
}

impl<'a> Reporter<'a> {
    pub(crate) fn new(
        settings: &'a Settings,
        watch: &'a Watch,
        messages: Receiver<Message>,
    ) -> Self {
        let layout = Arc::new(settings.layout);
        Self {
            settings,
            watch,
            messages,
            begin: Instant::now(),
            logs: None,
            interval: Tally::new(&layout),
            interval_begin: 0.0,
            interval_operations: 0,
            totals: Totals {
                tally: Tally::new(&layout),
                ended_ns: 0,
                done: 0,
                failed: 0,
                log_failure: None,
            },
            open: settings.sessions as usize,
            awaited: 0,
            is_over: false,
        }
    }

    pub(crate) fn run(mut self) -> Totals {
        self.report();
        self.totals.done = self.watch.done();
        self.totals
    }

    fn report(&mut self) {
        // Connecting is over when this comes. Sessions that have little to do may end before it does.
        loop {
            match self.messages.recv() {
                Ok(Message::Begin) => break,
                Ok(Message::End) | Err(_) => return,
                Ok(message) => self.take(message),
            }
        }
        self.begin = Instant::now();
        self.logs =
            self.settings.hdr_logs.as_ref().map(|prefix| HdrLogs::new(prefix, Zoned::now()));
        let Some(every) = self.settings.status else {
            while !self.is_over {
                self.take_until(None);
            }
            self.end_interval(self.begin.elapsed().as_secs_f64());
            return;
        };
        self.say(&self.tick());
        for end in ends(self.begin, every) {
            self.take_until(Some(end));
            if self.is_over {
                break;
            }
            let tick = self.tick();
            self.gather();
            self.say(&tick);
            self.end_interval(tick.seconds);
        }
        let tick = self.tick();
        self.say(&tick);
        self.end_interval(tick.seconds);
    }

    /// Takes messages until that time, or until all is over.
    fn take_until(&mut self, time: Option<Instant>) {
        while !self.is_over {
            let message = match time {
                None => self.messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(time) => {
                    self.messages.recv_timeout(time.saturating_duration_since(Instant::now()))
                }
            };
            match message {
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Timeout) => return,
                Err(RecvTimeoutError::Disconnected) => self.is_over = true,
            }
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Begin => {}
            Message::Part(mut part) => {
                self.interval.take(&mut part);
                self.awaited = self.awaited.saturating_sub(1);
            }
            Message::Last { mut tally, ended_ns, failed } => {
                self.interval.take(&mut tally);
                self.totals.ended_ns = self.totals.ended_ns.max(ended_ns);
                self.totals.failed += failed;
                self.open = self.open.saturating_sub(1);
                self.awaited = self.awaited.saturating_sub(1);
            }
            Message::End => self.is_over = true,
        }
    }

    /// Waits a little for what all sessions have counted. What comes later belongs to the next interval.
    fn gather(&mut self) {
        self.awaited = self.open;
        self.watch.ask_for_parts();
        let until = Instant::now() + GRACE;
        while self.awaited > 0 && !self.is_over {
            let left = until.saturating_duration_since(Instant::now());
            match self.messages.recv_timeout(left) {
                Ok(message) => self.take(message),
                Err(_) => return,
            }
        }
    }

    /// The end of an interval, which is now: read before sessions are waited for, so that intervals stay where they began.
    fn tick(&self) -> Tick {
        Tick {
            now: Zoned::now(),
            seconds: self.begin.elapsed().as_secs_f64(),
            operations: self.watch.done(),
        }
    }

    fn say(&mut self, tick: &Tick) {
        let &Tick { seconds, operations, .. } = tick;
        let status = Status {
            label: &self.settings.label,
            now: tick.now.clone(),
            seconds,
            operations,
            current: (operations - self.interval_operations) as f64
                / (seconds - self.interval_begin),
            left: self.settings.operations.map(|all| all.saturating_sub(operations)),
            interval: &self.interval,
            kinds: self.settings.layout.kinds,
        };
        let line = status.line();
        talk(&line);
        if self.settings.layout.kinds.series_ms.is_some() {
            say(&line);
        }
        self.interval_operations = operations;
    }

    /// Writes the logs and adds the interval to the totals.
    fn end_interval(&mut self, now: f64) {
        if let Some(logs) = &mut self.logs {
            let prefix = match self.settings.layout.kinds.is_two_in_one() {
                true => "Hdr",
                false => "",
            };
            for (name, cell) in blocks(&self.interval) {
                let Some(hdr) = cell.hdr.as_ref().filter(|hdr| !hdr.is_empty()) else {
                    continue;
                };
                if let Err(error) =
                    logs.write(&format!("{prefix}{name}"), (self.interval_begin, now), hdr)
                {
                    self.totals.log_failure.get_or_insert(error);
                }
            }
        }
        self.totals.tally.take(&mut self.interval);
        self.interval_begin = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_end_on_the_grid_of_the_start() {
        let begin = Instant::now();
        let every = Duration::from_millis(700);
        let mut found = ends(begin, every);
        assert_eq!(found.next(), Some(begin + every));
        // Lines that take long do not move what follows.
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(found.nth(98), Some(begin + 100 * every));
    }
}
