//! YCSB's status lines, one for each interval.

use crate::number::hundredths;
use crate::report::blocks;
use crate::tally::{Kinds, Tally};
use jiff::Zoned;

/// What a status line says.
pub(crate) struct Status<'a> {
    pub(crate) label: &'a str,
    pub(crate) now: Zoned,
    pub(crate) seconds: f64,
    pub(crate) operations: u64,
    /// In the last interval, per second.
    pub(crate) current: f64,
    /// Still to be done, where there is an end.
    pub(crate) left: Option<u64>,
    /// What completed in the last interval.
    pub(crate) interval: &'a Tally,
    pub(crate) kinds: Kinds,
}

impl Status<'_> {
    /// The line without its end.
    pub(crate) fn line(&self) -> String {
        let mut line = format!(
            "{}{}:{:03} {} sec: {} operations; ",
            self.label,
            self.now.strftime("%Y-%m-%d %H:%M:%S"),
            self.now.millisecond(),
            self.seconds as u64,
            self.operations
        );
        if self.operations > 0 {
            line.push_str(&hundredths(self.current));
            line.push_str(" current ops/sec; ");
        }
        if let Some(left) = self.left
            && left > 0
        {
            let per_second = self.operations as f64 / self.seconds;
            line.push_str("est completion in ");
            line.push_str(&estimate(left, per_second));
        }
        self.summaries(&mut line);
        line
    }

    fn summaries(&self, line: &mut String) {
        let both = self.kinds.hdr && (self.kinds.buckets.is_some() || self.kinds.raw);
        for (name, cell) in blocks(self.interval) {
            let named = |prefix: &str| {
                if both { format!("{prefix}{name}") } else { name.clone() }
            };
            if let Some(hdr) = cell.hdr.as_ref().filter(|hdr| !hdr.is_empty()) {
                line.push_str(&format!(
                    "[{}: Count={}, Max={}, Min={}, Avg={}",
                    named("Hdr"),
                    hdr.len(),
                    hdr.max(),
                    hdr.min(),
                    hundredths(hdr.mean())
                ));
                for percentile in [50.0, 90.0, 99.0, 99.9, 99.99] {
                    let value = hdr.value_at_percentile(percentile);
                    line.push_str(&format!(", {percentile}={value}"));
                }
                line.push_str("] ");
            }
            let sums = [
                cell.buckets.as_ref().map(|buckets| &buckets.sums),
                cell.series.as_ref().map(|series| &series.sums),
            ];
            for sums in sums.into_iter().flatten().filter(|sums| sums.count > 0) {
                line.push_str(&format!(
                    "[{} AverageLatency(us)={}] ",
                    named("Bucket"),
                    hundredths(sums.mean())
                ));
            }
            if let Some(raw) = cell.raw.as_ref().filter(|raw| !raw.is_empty()) {
                let sum: f64 = raw.iter().map(|row| row.micros as f64).sum();
                line.push_str(&format!(
                    "{} count: {}, average latency(us): {} ",
                    named("Raw"),
                    raw.len(),
                    hundredths(sum / raw.len() as f64)
                ));
            }
        }
    }
}

/// How long the rest takes, with a space behind: days and hours, minutes below a day, or else seconds.
fn estimate(left: u64, per_second: f64) -> String {
    // As in Java, what is too long for 64 bits is the longest there is.
    let seconds = (left as f64 / per_second).ceil();
    let seconds = if seconds >= i64::MAX as f64 { i64::MAX as u64 } else { seconds as u64 };
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    let mut text = String::new();
    let mut say = |count: u64, unit: &str| {
        let ending = if count == 1 { "" } else { "s" };
        text.push_str(&format!("{count} {unit}{ending} "));
    };
    if days > 0 {
        say(days, "day");
    }
    if hours > 0 {
        say(hours, "hour");
    }
    if days == 0 && minutes > 0 {
        say(minutes, "minute");
    }
    if text.is_empty() {
        let ending = if seconds < 10 { "" } else { "s" };
        text = format!("{seconds} second{ending} ");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::{Metric, Return};
    use crate::tally::tests::layout;
    use crate::tally::{Interval, Micros};

    fn line(kinds: Kinds, operations: u64, left: Option<u64>, label: &str) -> String {
        let mut tally = Tally::new(&layout(kinds, Interval::Op));
        for micros in 0..operations.min(4) {
            let micros = Micros { plain: micros, intended: micros };
            tally.measure(Metric::Read, Return::Ok, micros, 1, 1);
        }
        Status {
            label,
            now: "2026-11-21T01:20:24.034+00:00[UTC]".parse().unwrap(),
            seconds: 10.5,
            operations,
            current: 580_684.21,
            left,
            interval: &tally,
            kinds,
        }
        .line()
    }

    #[test]
    fn lines_are_as_on_the_page() {
        let hdr = Kinds { hdr: true, ..Kinds::default() };
        assert_eq!(
            line(hdr, 4, Some(0), ""),
            "2026-11-21 01:20:24:034 10 sec: 4 operations; 580684.21 current ops/sec; \
             [READ: Count=4, Max=3, Min=0, Avg=1.5, 50=1, 90=3, 99=3, 99.9=3, 99.99=3] "
        );
        let expected = "mine2026-11-21 01:20:24:034 10 sec: 0 operations; ";
        assert_eq!(line(hdr, 0, None, "mine"), expected);
        let begin = line(hdr, 0, Some(5), "");
        assert!(
            begin.ends_with(" 0 operations; est completion in 106751991167300 days 15 hours "),
            "{begin}"
        );
        let buckets = Kinds { buckets: Some(5), ..Kinds::default() };
        assert!(line(buckets, 4, None, "").ends_with("ops/sec; [READ AverageLatency(us)=1.5] "));
        let series = Kinds { series_ms: Some(5), ..Kinds::default() };
        assert!(line(series, 4, None, "").ends_with("ops/sec; [READ AverageLatency(us)=1.5] "));
        let raw = Kinds { raw: true, ..Kinds::default() };
        assert!(
            line(raw, 4, None, "").ends_with("ops/sec; READ count: 4, average latency(us): 1.5 ")
        );
    }

    #[test]
    fn estimates_have_their_own_words() {
        for (seconds, text) in [
            (0, "0 second "),
            (1, "1 second "),
            (9, "9 second "),
            (10, "10 seconds "),
            (59, "59 seconds "),
            (60, "1 minute "),
            (150, "2 minutes "),
            (3_600, "1 hour "),
            (7_290, "2 hours 1 minute "),
            (86_400, "1 day "),
            (2 * 86_400 + 3_600 + 120, "2 days 1 hour "),
        ] {
            assert_eq!(estimate(seconds, 1.0), text);
        }
        assert_eq!(estimate(3, 2.0), "2 second ", "rounded up");
    }
}
