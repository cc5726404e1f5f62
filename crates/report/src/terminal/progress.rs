//! How far an experiment is, in one line: rewritten in place on a terminal, one line for each point in a pipe.

use crate::progress::Phase;
use crate::text;
use plimsoll_record::quantities::numbers::{ASCII, Numbers, TERMINAL};
use unicode_width::UnicodeWidthStr;

/// Names are not shortened to fewer columns than this.
const SHORTEST_NAME: usize = 12;

#[derive(Clone, Debug, PartialEq)]
pub struct Moment<'a> {
    pub run: u32,
    pub runs: u32,
    pub block: u32,
    pub arm: &'a str,
    pub mix: &'a str,
    pub load_label: &'a str,
    pub phase: Phase,
    /// Seconds of this phase so far.
    pub second: f64,
    /// Seconds that this phase will take; 0 where that is not known.
    pub seconds: f64,
    /// Operations per second: of the last second on a live line, of the whole point on a plain one.
    pub rate: f64,
    /// Response time p99 of the same span, nanoseconds.
    pub p99_ns: Option<f64>,
    /// Operations of this point that failed.
    pub errors: u64,
    /// Seconds until the experiment is over, as far as is known.
    pub left_seconds: Option<f64>,
}

impl Moment<'_> {
    /// One line of at most `width` columns, without a line feed. What matters least is left out first; rate, p99, errors and the time
    /// left stay longest.
    pub fn live(&self, width: usize, unicode: bool) -> String {
        let numbers = if unicode { TERMINAL } else { ASCII };
        for tail in self.tails(numbers) {
            for head in self.heads(numbers, unicode, width.saturating_sub(tail.width() + 2)) {
                let gap = if head.is_empty() || tail.is_empty() { "" } else { "  " };
                let line = format!("{head}{gap}{tail}");
                if line.width() <= width {
                    return line;
                }
            }
        }
        String::new()
    }

    /// What is being done, from the fullest to the briefest.
    fn heads(&self, numbers: Numbers, unicode: bool, room: usize) -> Vec<String> {
        let dot = if unicode { " · " } else { ", " };
        let run = format!("[{}/{}]", self.run, self.runs);
        let (mix, load) = (text::short(self.mix, 24), text::short(self.load_label, 24));
        let phase = self.phase_words(numbers);
        let around = if self.point_is_known() {
            vec![
                format!("{dot}{mix}{dot}{load}{dot}{phase}"),
                format!("{dot}{mix}{dot}{load}"),
                format!("{dot}{load}"),
                String::new(),
            ]
        } else {
            vec![format!("{dot}{phase}"), String::new()]
        };
        let mut heads = Vec::new();
        for around in around {
            // A long name gives way before the rest does, but keeps enough to be distinguished from another.
            let room = room.saturating_sub(run.width() + 1 + around.width());
            let whole = text::line(self.arm);
            if whole.width() <= room {
                heads.push(format!("{run} {whole}{around}"));
            } else if room >= SHORTEST_NAME {
                heads.push(format!("{run} {}{around}", shortened(self.arm, room, unicode)));
            }
        }
        heads.push(run);
        heads.push(String::new());
        heads
    }

    fn point_is_known(&self) -> bool {
        matches!(self.phase, Phase::WarmUp | Phase::Measure)
    }

    fn phase_words(&self, numbers: Numbers) -> String {
        let so_far = numbers.fixed(self.second.floor(), 0);
        let seconds = if self.seconds > 0.0 {
            format!("{so_far}/{} s", numbers.fixed(self.seconds, 0))
        } else {
            format!("{so_far} s")
        };
        match self.phase {
            Phase::Measure => seconds,
            other => format!("{} {seconds}", other.word()),
        }
    }

    /// The figures, from all to none.
    fn tails(&self, numbers: Numbers) -> Vec<String> {
        let rate = has_rate(self.phase).then(|| format!("{} op/s", numbers.compact(self.rate)));
        let p99 = self
            .p99_ns
            .filter(|_| has_rate(self.phase))
            .map(|nanos| format!("p99 {}", numbers.latency(nanos)));
        let errors = (self.errors > 0).then(|| format!("errors {}", numbers.count(self.errors)));
        let left = self.left_seconds.map(|seconds| format!("{} left", numbers.clock(seconds)));
        let joined = |parts: &[&Option<String>]| {
            parts.iter().filter_map(|part| part.as_deref()).collect::<Vec<_>>().join("  ")
        };
        vec![
            joined(&[&rate, &p99, &errors, &left]),
            joined(&[&rate, &errors, &left]),
            joined(&[&rate]),
            String::new(),
        ]
    }

    /// One line for a log or a pipe, to be written when a point is over; without a line feed.
    pub fn plain(&self, unicode: bool) -> String {
        let numbers = if unicode { TERMINAL } else { ASCII };
        let mut line = format!(
            "run {} of {}, block {}: {}",
            self.run,
            self.runs,
            u64::from(self.block) + 1,
            text::line(self.arm)
        );
        if self.point_is_known() {
            line.push_str(&format!(", {}, {}", text::line(self.mix), text::line(self.load_label)));
        } else {
            line.push_str(&format!(", {}", self.phase.word()));
        }
        if has_rate(self.phase) {
            line.push_str(&format!(": {} op/s", numbers.rate(self.rate)));
            if let Some(nanos) = self.p99_ns {
                line.push_str(&format!(", p99 {}", numbers.latency(nanos)));
            }
            match self.errors {
                0 => line.push_str(", no errors"),
                errors => line.push_str(&format!(", errors {}", numbers.count(errors))),
            }
        }
        if let Some(seconds) = self.left_seconds {
            line.push_str(&format!("; {} left", numbers.span(seconds)));
        }
        line
    }
}

/// Whether operations are counted in a phase.
fn has_rate(phase: Phase) -> bool {
    matches!(phase, Phase::Load | Phase::WarmUp | Phase::Measure)
}

fn shortened(name: &str, width: usize, unicode: bool) -> String {
    let short = text::short(name, width);
    if unicode { short } else { short.replace('…', "~") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment() -> Moment<'static> {
        Moment {
            run: 3,
            runs: 12,
            block: 1,
            arm: "shallow-harbour",
            mix: "A",
            load_label: "8 threads",
            phase: Phase::Measure,
            second: 7.2,
            seconds: 20.0,
            rate: 203_456.0,
            p99_ns: Some(48_123.0),
            errors: 0,
            left_seconds: Some(130.0),
        }
    }

    #[test]
    fn the_live_line_at_several_widths() {
        let lines: Vec<String> = [120, 100, 80, 60, 40, 20, 8, 0]
            .map(|width| format!("{width:3} {}", moment().live(width, true)))
            .into();
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn the_live_line_fits_whatever_the_names_are() {
        let long = "語".repeat(1000);
        for width in 0..140 {
            for unicode in [true, false] {
                let moment = Moment { arm: &long, mix: &long, errors: 7, ..moment() };
                assert!(moment.live(width, unicode).width() <= width, "{width}");
            }
        }
    }

    #[test]
    fn a_hostile_name_moves_no_cursor() {
        let moment = Moment { arm: "a\x1b[2J\r\nb", ..moment() };
        assert!(!moment.live(100, true).contains(['\x1b', '\r', '\n']));
        assert!(!moment.plain(true).contains(['\x1b', '\r', '\n']));
    }

    #[test]
    fn ascii_is_ascii() {
        let moment = Moment {
            arm: "a-very-long-name-that-has-to-be-shortened-somewhere",
            errors: 2,
            ..moment()
        };
        assert!(moment.live(80, false).is_ascii() && moment.plain(false).is_ascii());
    }

    #[test]
    fn plain_lines() {
        let lines = [
            moment().plain(true),
            Moment { errors: 3, left_seconds: None, ..moment() }.plain(true),
            Moment { phase: Phase::Load, p99_ns: None, ..moment() }.plain(true),
            Moment { phase: Phase::TearDown, ..moment() }.plain(true),
        ];
        insta::assert_snapshot!(lines.join("\n"), @r"
        run 3 of 12, block 2: shallow-harbour, A, 8 threads: 203,500 op/s, p99 48.1 µs, no errors; 2 min 10 s left
        run 3 of 12, block 2: shallow-harbour, A, 8 threads: 203,500 op/s, p99 48.1 µs, errors 3
        run 3 of 12, block 2: shallow-harbour, load: 203,500 op/s, no errors; 2 min 10 s left
        run 3 of 12, block 2: shallow-harbour, tear down; 2 min 10 s left
        ");
    }
}
