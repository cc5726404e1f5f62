//! The words for the things that reports name, and the marks that stand beside the colours.

use crate::{select, text};
use jiff::Timestamp;
use plimsoll_judge::{
    Analysis, BlocksNeeded, Estimate, FigureUnit, Judgement, Side, ValidityState, Verdict,
};
use plimsoll_plan::Metric;
use plimsoll_record::Severity;
use plimsoll_record::quantities::numbers::{Numbers, PAGE, round_significant};
use plimsoll_record::quantities::words::rounded_interval;

/// Widths, in columns: an unreadable instant, the name of an arm, the id of its record.
const INSTANT: usize = 48;
const NAME: usize = 60;
const RECORD: usize = 24;

/// A judgement as a word.
pub fn judgement(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::Better => "better",
        Judgement::Worse => "worse",
        Judgement::Equivalent => "equivalent",
        Judgement::Inconclusive => "inconclusive",
    }
}

/// Whether there is a difference.
pub fn is_decided(judgement: Judgement) -> bool {
    matches!(judgement, Judgement::Better | Judgement::Worse)
}

/// Whether the reason states the number of blocks: `1 block, at least 6 are needed`.
pub fn counts(verdict: &Verdict) -> bool {
    let reason = verdict.reason.as_deref().unwrap_or_default();
    reason.starts_with(&format!("{} ", verdict.blocks))
}

pub fn judgement_mark(judgement: Judgement, unicode: bool) -> &'static str {
    match (judgement, unicode) {
        (Judgement::Better, true) => "▲",
        (Judgement::Worse, true) => "▼",
        (Judgement::Equivalent, true) => "≈",
        (Judgement::Better, false) => "+",
        (Judgement::Worse, false) => "-",
        (Judgement::Equivalent, false) => "=",
        (Judgement::Inconclusive, _) => "?",
    }
}

/// The state of a gate as a word.
pub fn validity(state: ValidityState) -> &'static str {
    match state {
        ValidityState::Good => "good",
        ValidityState::Note => "note",
        ValidityState::Caution => "caution",
        ValidityState::Bad => "bad",
    }
}

/// The mark of a gate.
pub fn validity_mark(state: ValidityState, unicode: bool) -> &'static str {
    match (state, unicode) {
        (ValidityState::Good, true) => "✓",
        (ValidityState::Bad, true) => "✗",
        (ValidityState::Good, false) => "ok",
        (ValidityState::Bad, false) => "X",
        (ValidityState::Note, _) => "i",
        (ValidityState::Caution, _) => "!",
    }
}

/// The severity of a warning as a word.
pub fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Caution => "caution",
        Severity::Invalid => "invalid",
    }
}

/// The state of a gate that looks like this severity.
pub fn severity_state(severity: Severity) -> ValidityState {
    severity.into()
}

/// The name of a metric.
pub fn metric(metric: Metric) -> String {
    match metric {
        Metric::Throughput => "throughput".into(),
        Metric::ResponseMean => "mean response".into(),
        Metric::Response { percentile } => format!("p{percentile} response"),
        Metric::Service { percentile } => format!("p{percentile} service"),
        Metric::CpuPerOperation => "CPU per operation".into(),
        Metric::Errors => "errors".into(),
        Metric::Line => "plimsoll line".into(),
        Metric::Cost => "cost per million".into(),
        Metric::Size => "size on disk".into(),
        Metric::Written => "written per operation".into(),
        Metric::WriteAmplification => "write amplification".into(),
        Metric::Of { operation, .. } => {
            format!("{} of {}", self::metric(metric.of_all()), operation.name())
        }
    }
}

/// Replaces the load where each arm is judged at its own line.
pub const AT_LINE: &str = "the plimsoll line";

pub const REFUSED: &str = "Figures in brackets: no run at this load is valid, so they are shown as measured and compared with nothing.";

/// The interval of a plimsoll line: `20,130 to 20,480 op/s`.
pub fn line(lower: Option<f64>, upper: Option<f64>, numbers: Numbers) -> String {
    let unit = numbers.gap();
    match (lower, upper) {
        (Some(lower), Some(upper)) => {
            // As the sentence beside it says them.
            let [lower, upper] = rounded_interval((lower, upper))
                .map(|(end, decimals)| numbers.fixed(end, decimals));
            format!("{lower} to {upper}{unit}op/s")
        }
        (Some(lower), None) => format!("at least {}{unit}op/s", numbers.rate(lower)),
        (None, Some(upper)) => format!("below {}{unit}op/s", numbers.rate(upper)),
        (None, None) => "not found".into(),
    }
}

/// Price of an hour, with up to four digits: `0.504`, `0.0548`.
pub fn price(per_hour: f64, numbers: Numbers) -> String {
    numbers.shortest(round_significant(per_hour, 4))
}

/// Price of a million operations: `0.00482`.
pub fn money(value: f64, numbers: Numbers) -> String {
    numbers.significant(value, 3)
}

/// More blocks than this are not advised: they would take too long.
const MOST_BLOCKS: u32 = 500;

/// How many blocks would settle a comparison, if the number is useful: `about 14 blocks would narrow this interval to ±3 %`.
pub fn blocks_needed(needed: &BlocksNeeded, numbers: Numbers) -> Option<String> {
    if needed.reached.is_some_and(|reached| reached <= needed.half_width) {
        return None;
    }
    let width = numbers.margin(needed.half_width);
    // The difference may be too small to be seen.
    if needed.reached.map(|reached| numbers.margin(reached)).as_ref() == Some(&width) {
        return None;
    }
    Some(match (needed.blocks, needed.reached) {
        (Some(blocks), _) if blocks > MOST_BLOCKS => {
            "far too noisy to settle by more blocks: quieten the machine first".into()
        }
        (Some(blocks), Some(reached)) => format!(
            "about {} would narrow this interval to {width}; it is {} now",
            counted(blocks.into(), "block", numbers),
            numbers.margin(reached)
        ),
        (Some(blocks), None) => format!(
            "about {} would narrow this interval to {width}",
            counted(blocks.into(), "block", numbers)
        ),
        (None, _) => {
            format!("too few blocks to say how many would narrow this interval to {width}")
        }
    })
}

/// Load and metric of a comparison. The plimsoll line is both, and is named once.
pub fn compared(load_label: &str, what: Metric, between: &str) -> String {
    if what == Metric::Line {
        metric(what)
    } else {
        format!("{load_label}{between}{}", metric(what))
    }
}

/// A measured value in the unit of a threshold; the text of a threshold begins with its metric.
pub fn threshold_value(threshold: &str, value: f64, numbers: Numbers) -> String {
    let metric = threshold.trim_start();
    if metric.starts_with("response") || metric.starts_with("service") || metric.starts_with("cpu")
    {
        numbers.latency(value)
    } else if metric.starts_with("errors") {
        numbers.percent(value)
    } else if metric.starts_with("size") || metric.starts_with("written") {
        numbers.bytes_of(value)
    } else if metric.starts_with("write-amplification") {
        numbers.significant(value, 3)
    } else {
        numbers.rate(value)
    }
}

/// The bound of a threshold as the file has it: `at least 50k required`.
pub fn required(threshold: &str) -> String {
    for (sign, words) in [(">=", "at least"), ("<=", "at most")] {
        if let Some((_, bound)) = threshold.split_once(sign) {
            return format!("{words} {} required", bound.trim());
        }
    }
    format!("required: {threshold}")
}

/// Whether the result can be trusted, by the validity strip: `Yes, with 2 cautions: blocks, drift.`
pub fn trust(analysis: &Analysis, numbers: Numbers) -> (ValidityState, String) {
    let is_invalid = select::is_invalid(analysis);
    if !select::is_measured(analysis) {
        let state = match is_invalid {
            true => ValidityState::Bad,
            false => ValidityState::Note,
        };
        return (state, "Nothing was measured yet.".to_owned());
    }
    let named = |state| {
        let entries = analysis.validity.iter();
        let of_state = entries.filter(|entry| entry.state == state);
        of_state.map(|entry| text::line(&entry.name).to_string()).collect::<Vec<String>>()
    };
    let (bad, cautions) = (named(ValidityState::Bad), named(ValidityState::Caution));
    if is_invalid || !bad.is_empty() {
        let grave = match bad.is_empty() {
            true => ValidityState::Caution,
            false => ValidityState::Bad,
        };
        let reason = analysis.validity.iter().find(|entry| entry.state == grave);
        let others = if bad.is_empty() { cautions } else { bad };
        let also = match others.get(1..).unwrap_or_default() {
            [] => String::new(),
            others => format!("; also {}", others.join(", ")),
        };
        let text = reason.map_or("No.".to_owned(), |entry| {
            let (name, text) = (text::line(&entry.name), text::line(&entry.text));
            format!("No: {name}: {text}{also}.")
        });
        return (ValidityState::Bad, text);
    }
    if cautions.is_empty() {
        return (ValidityState::Good, "Yes.".to_owned());
    }
    let count = counted(cautions.len() as u64, "caution", numbers);
    let text = format!("Yes, with {count}: {}.", cautions.join(", "));
    (ValidityState::Caution, text)
}

pub fn metric_value(metric: Metric, value: f64, numbers: Numbers) -> String {
    match metric.of_all() {
        Metric::Throughput | Metric::Line => numbers.rate(value),
        Metric::Errors => numbers.percent(value),
        Metric::Cost | Metric::WriteAmplification => numbers.significant(value, 3),
        Metric::Size | Metric::Written => numbers.bytes_of(value),
        _ => numbers.latency(value),
    }
}

/// A figure of what was watched, without the `per` of its unit; a dash if it is unknown.
pub fn figure(unit: FigureUnit, value: Option<f64>, numbers: Numbers) -> String {
    let Some(value) = value.filter(|value| value.is_finite()) else {
        return numbers.nothing().into();
    };
    match unit {
        FigureUnit::Share => numbers.percent(value),
        FigureUnit::Count | FigureUnit::PerOperation | FigureUnit::Processors => {
            numbers.compact_count(value)
        }
        FigureUnit::PerSecond => numbers.significant(value, 3),
        FigureUnit::Nanoseconds | FigureUnit::NanosecondsPerOperation => numbers.latency(value),
        FigureUnit::Bytes | FigureUnit::BytesPerSecond | FigureUnit::BytesPerOperation => {
            numbers.bytes_of(value)
        }
    }
}

/// The median with the range of the blocks: `10.6 (10.2 to 11.4)`.
pub fn with_range(estimate: &Estimate, decimals: usize) -> String {
    let (Some(median), Some((least, most))) = (estimate.median, estimate.range()) else {
        return PAGE.nothing().to_owned();
    };
    let spelled = |value| PAGE.fixed(value, decimals);
    if spelled(least) == spelled(most) {
        return spelled(median);
    }
    format!("{} ({} to {})", spelled(median), spelled(least), spelled(most))
}

/// An instant: `1 March 2026, 09:00 UTC`. Other text is shown as it is.
pub fn date(instant: &str) -> String {
    match instant.parse::<Timestamp>() {
        Ok(instant) => instant.strftime("%-d %B %Y, %H:%M UTC").to_string(),
        Err(_) => text::short(instant, INSTANT),
    }
}

/// The name of an arm, with its record if the other side's arm has the same name.
pub fn named(side: &Side, other: &Side) -> String {
    let arm = text::short(&side.arm, NAME);
    if side.arm == other.arm {
        format!("{arm} ({})", text::short(&side.record, RECORD))
    } else {
        arm
    }
}

pub fn counted(count: u64, one: &str, numbers: Numbers) -> String {
    format!("{} {one}{}", numbers.count(count), if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_record::quantities::numbers::TERMINAL;

    #[test]
    fn a_line_says_which_of_its_ends_are_known() {
        for (lower, upper, expected) in [
            (Some(20_130.0), Some(20_480.0), "20,130 to 20,480 op/s"),
            (Some(30_980.0), Some(38_520.0), "31,000 to 38,500 op/s"),
            (Some(983.1), Some(1_013.2), "983 to 1,013 op/s"),
            (Some(20_130.0), None, "at least 20,130 op/s"),
            (None, Some(20_480.0), "below 20,480 op/s"),
            (None, None, "not found"),
        ] {
            assert_eq!(line(lower, upper, TERMINAL), expected);
        }
    }

    #[test]
    fn prices_have_the_digits_that_count() {
        for (given, expected) in [(0.054_795, "0.0548"), (0.504, "0.504"), (0.07, "0.07")] {
            assert_eq!(price(given, TERMINAL), expected);
        }
    }

    #[test]
    fn figures_have_sensible_digits_and_units() {
        for (unit, value, expected) in [
            (FigureUnit::Share, 0.9713, "97.1 %"),
            (FigureUnit::Count, 15.98, "16.0"),
            (FigureUnit::PerOperation, 0.117_23, "0.117"),
            (FigureUnit::PerSecond, 598.2, "598"),
            (FigureUnit::Nanoseconds, 26_700_000.0, "26.7 ms"),
            (FigureUnit::BytesPerSecond, 1_234_567.0, "1.18 MiB"),
            (FigureUnit::Processors, 1.5, "1.50"),
            (FigureUnit::Bytes, f64::NAN, "–"),
        ] {
            assert_eq!(figure(unit, Some(value), TERMINAL), expected);
        }
        assert_eq!(figure(FigureUnit::Share, None, TERMINAL), "–");
    }

    #[test]
    fn the_line_is_named_once() {
        assert_eq!(compared(AT_LINE, Metric::Line, ", "), "plimsoll line");
        assert_eq!(compared("8 threads", Metric::Throughput, " · "), "8 threads · throughput");
    }

    #[test]
    fn blocks_are_asked_for_only_where_more_of_them_help() {
        let needed = |blocks, reached| BlocksNeeded {
            baseline: "a".into(),
            arm: "b".into(),
            mix: "c".into(),
            metric: Metric::Throughput,
            half_width: 0.03,
            reached,
            blocks,
        };
        let describe = |blocks, reached| blocks_needed(&needed(blocks, reached), TERMINAL);
        assert_eq!(
            describe(Some(14), Some(0.052)).as_deref(),
            Some("about 14 blocks would narrow this interval to ±3 %; it is ±5.2 % now")
        );
        assert_eq!(
            describe(Some(14), None).as_deref(),
            Some("about 14 blocks would narrow this interval to ±3 %")
        );
        assert_eq!(
            describe(None, None).as_deref(),
            Some("too few blocks to say how many would narrow this interval to ±3 %")
        );
        assert_eq!(
            describe(Some(21_172), Some(16.299)).as_deref(),
            Some("far too noisy to settle by more blocks: quieten the machine first")
        );
        assert_eq!(describe(Some(6), Some(0.03)), None);
    }
}
