//! A result as a JUnit report, for servers that build and test: a test case for each threshold, for a gate, and for each deciding comparison where there are
//! neither.
//!
//! A bound that is broken is a failure with its figures; one that could not be judged, because nothing valid was measured there, is skipped and says so.
//! The exit code of the program counts both as broken.

use crate::Report;
use crate::{select, words};
use plimsoll_judge::{
    Comparison, GateOutcome, GateResult, Judgement, Outcome, ThresholdResult, ValidityState,
};
use plimsoll_record::quantities::numbers::TERMINAL;
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

/// The text of the report. With `open_passes` a gate that is open is skipped instead of failing.
pub fn render(report: &Report<'_>, open_passes: bool) -> String {
    let analysis = report.analysis;
    let mut suite = TestSuite::new(analysis.name.as_str());
    let started = report.record.started_at.as_str();
    suite.extra.insert("timestamp".into(), started.into());
    suite.add_property(("id", analysis.id.as_str()));
    suite.add_property(("plimsoll", report.record.program.version.as_str()));
    for threshold in &analysis.thresholds {
        suite.add_test_case(case(&analysis.name, threshold));
    }
    if let Some(gate) = &analysis.gate {
        suite.add_test_case(of_gate(&analysis.name, gate, open_passes));
    } else if analysis.thresholds.is_empty() {
        for one in select::primaries(analysis) {
            suite.add_test_case(of_comparison(&analysis.name, one));
        }
    }
    // Many CIs take a report without a case for an error.
    let (_, trust) = words::trust(analysis, TERMINAL);
    let validity = match analysis.outcome() {
        Outcome::Invalid => Some(failed(NonSuccessKind::Error, "invalid", &trust)),
        _ if suite.test_cases.is_empty() => Some(TestCaseStatus::success()),
        _ => None,
    };
    if let Some(status) = validity {
        let name = "the measurement is valid";
        suite.add_test_case(named(&analysis.name, name, status, &trust));
    }
    suite.set_system_out(analysis.headline.join("\n"));
    let bad: Vec<String> = analysis
        .validity
        .iter()
        .filter(|gate| gate.state == ValidityState::Bad)
        .map(|gate| format!("{}: {}", gate.name, gate.text))
        .collect();
    if !bad.is_empty() {
        suite.set_system_err(bad.join("\n"));
    }
    let mut all = quick_junit::Report::new("plimsoll");
    all.add_test_suite(suite);
    all.to_string().expect(
        "the library keeps no sign that XML cannot hold, and a string takes whatever is written",
    )
}

fn failed(kind: NonSuccessKind, what: &str, message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(what).set_message(message);
    status
}

fn skipped(message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(message);
    status
}

fn named(experiment: &str, name: &str, status: TestCaseStatus, description: &str) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname(experiment);
    case.set_system_out(description);
    case
}

fn of_gate(experiment: &str, gate: &GateResult, open_passes: bool) -> TestCase {
    let description = &gate.sentence;
    let status = match gate.outcome {
        GateOutcome::Passed => TestCaseStatus::success(),
        GateOutcome::Open if open_passes => skipped(description),
        GateOutcome::Failed | GateOutcome::Open => {
            failed(NonSuccessKind::Failure, "gate", description)
        }
    };
    named(experiment, "gate", status, description)
}

/// Better or worse is no failure without a bound.
fn of_comparison(experiment: &str, one: &Comparison) -> TestCase {
    let name = format!(
        "{} of {} against {} ({} at {})",
        words::metric(one.metric),
        one.arm,
        one.baseline,
        one.mix,
        one.load_label
    );
    let status = match one.verdict.judgement {
        Judgement::Inconclusive => skipped(&one.sentence),
        _ => TestCaseStatus::success(),
    };
    named(experiment, &name, status, &one.sentence)
}

fn case(experiment: &str, threshold: &ThresholdResult) -> TestCase {
    let spelled = |value| words::threshold_value(&threshold.text, value, TERMINAL);
    let broken = |message: &str| {
        let mut status = failed(NonSuccessKind::Failure, "threshold", message);
        status.set_description(format!("{}: {message}", threshold.subject));
        status
    };
    let (status, description) = match (threshold.measured, threshold.passed) {
        _ if threshold.why.is_some() => {
            let message = format!("FAILED: {}", threshold.why.as_deref().unwrap_or_default());
            (broken(&message), message)
        }
        (Some(value), true) => {
            (TestCaseStatus::success(), format!("holds with {}", spelled(value)))
        }
        (Some(value), false) => {
            let required = words::required(&threshold.text);
            let message = format!("FAILED: {} measured, {required}", spelled(value));
            (broken(&message), message)
        }
        (None, _) => {
            let message = "could not be judged: no valid sample".to_owned();
            (skipped(&message), message)
        }
    };
    let name = format!("{} ({})", threshold.text, threshold.subject);
    let description = format!("{}: {description}", threshold.subject);
    named(experiment, &name, status, &description)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self as sample, Shape};

    fn threshold(text: &str, measured: Option<f64>, passed: bool) -> ThresholdResult {
        ThresholdResult {
            text: text.into(),
            subject: "deep-harbour, A at 8 threads".into(),
            measured,
            passed,
            why: None,
        }
    }

    fn rendered(thresholds: Vec<ThresholdResult>) -> String {
        let (record, mut analysis) = sample::experiment(&Shape::quickstart());
        analysis.thresholds = thresholds;
        let report = Report { record: &record, analysis: &analysis };
        render(&report, false)
    }

    #[test]
    fn a_case_for_each_threshold_with_its_figures() {
        insta::assert_snapshot!(rendered(vec![
            threshold("throughput >= 50k", Some(61_500.0), true),
            threshold("response.p99 <= 200us", Some(1_510_000.0), false),
            threshold("errors <= 0.1%", None, false),
        ]));
    }

    #[test]
    fn a_threshold_that_no_figure_breaks_fails_with_its_reason() {
        let why = Some("no call of check-out succeeded".to_owned());
        let broken = ThresholdResult { why, ..threshold("response.p99 <= 1ms", None, false) };
        let text = rendered(vec![broken]);
        let read = quick_junit::Report::deserialize_from_str(&text).unwrap();
        assert_eq!((read.tests, read.failures, read.skipped), (1, 1, 0));
        assert!(text.contains("FAILED: no call of check-out succeeded"), "{text}");
    }

    #[test]
    fn what_was_written_is_read_back() {
        let hostile = "</testcase><!-- \"'&\u{1}\u{1b}[31m ]]> שלום";
        let text = rendered(vec![threshold(hostile, Some(1.0), false)]);
        let read = quick_junit::Report::deserialize_from_str(&text).unwrap();
        assert_eq!((read.tests, read.failures, read.skipped), (1, 1, 0));
        let name = &read.test_suites[0].test_cases[0].name;
        assert!(name.contains("</testcase><!-- \"'&") && name.contains("שלום"), "{name:?}");
    }

    #[test]
    fn without_thresholds_each_deciding_comparison_is_a_case() {
        let (_, analysis) = sample::experiment(&Shape::quickstart());
        let deciding = select::primaries(&analysis).count();
        assert!(deciding > 0);
        let read = quick_junit::Report::deserialize_from_str(&rendered(Vec::new())).unwrap();
        assert_eq!((read.tests, read.failures), (deciding, 0));
    }

    #[test]
    fn a_gate_is_a_case_that_fails() {
        let (record, mut analysis) = sample::experiment(&Shape::quickstart());
        analysis.thresholds.clear();
        let mut failures = |outcome, open_passes| {
            analysis.gate = Some(GateResult {
                outcome,
                answered: true,
                usable: true,
                sentence: "THE GATE".into(),
            });
            let report = Report { record: &record, analysis: &analysis };
            let text = render(&report, open_passes);
            let read = quick_junit::Report::deserialize_from_str(&text).unwrap();
            (read.tests, read.failures, read.skipped)
        };
        assert_eq!(failures(GateOutcome::Failed, true), (1, 1, 0));
        assert_eq!(failures(GateOutcome::Open, false), (1, 1, 0));
        assert_eq!(failures(GateOutcome::Open, true), (1, 0, 1));
        assert_eq!(failures(GateOutcome::Passed, false), (1, 0, 0));
    }
}
