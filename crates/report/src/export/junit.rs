//! The thresholds of an experiment as a JUnit report, for servers that build and test: a test case for each.
//!
//! A bound that is broken is a failure with its figures; one that could not be judged, because nothing valid was measured where it speaks of, is skipped and says so.
//! The exit code of the program counts both as broken.

use crate::Report;
use crate::words;
use plimsoll_judge::{ThresholdResult, ValidityState};
use plimsoll_record::quantities::numbers::TERMINAL;
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

/// The text of the report.
pub fn render(report: &Report<'_>) -> String {
    let analysis = report.analysis;
    let mut suite = TestSuite::new(analysis.name.as_str());
    let started = report.record.started_at.as_str();
    suite.extra.insert("timestamp".into(), started.into());
    suite.add_property(("id", analysis.id.as_str()));
    suite.add_property(("plimsoll", report.record.program.version.as_str()));
    for threshold in &analysis.thresholds {
        suite.add_test_case(case(&analysis.name, threshold));
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

fn case(experiment: &str, threshold: &ThresholdResult) -> TestCase {
    let spelled = |value| words::threshold_value(&threshold.text, value, TERMINAL);
    let (status, told) = match (threshold.measured, threshold.passed) {
        (Some(value), true) => (
            TestCaseStatus::success(),
            format!("holds with {}", spelled(value)),
        ),
        (Some(value), false) => {
            let required = words::required(&threshold.text);
            let message = format!("FAILED: {} measured, {required}", spelled(value));
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_type("threshold").set_message(message.clone());
            status.set_description(format!("{}: {message}", threshold.subject));
            (status, message)
        }
        (None, _) => {
            let message = "could not be judged: no valid sample".to_owned();
            let mut status = TestCaseStatus::skipped();
            status.set_message(message.clone());
            (status, message)
        }
    };
    let name = format!("{} ({})", threshold.text, threshold.subject);
    let mut case = TestCase::new(name, status);
    case.set_classname(experiment);
    case.set_system_out(format!("{}: {told}", threshold.subject));
    case
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
        }
    }

    fn rendered(thresholds: Vec<ThresholdResult>) -> String {
        let (record, mut analysis) = sample::experiment(&Shape::quickstart());
        analysis.thresholds = thresholds;
        render(&Report {
            record: &record,
            analysis: &analysis,
        })
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
    fn whoever_reads_it_reads_what_was_written() {
        let hostile = "</testcase><!-- \"'&\u{1}\u{1b}[31m ]]> שלום";
        let text = rendered(vec![threshold(hostile, Some(1.0), false)]);
        let read = quick_junit::Report::deserialize_from_str(&text).unwrap();
        assert_eq!((read.tests, read.failures, read.skipped), (1, 1, 0));
        let name = &read.test_suites[0].test_cases[0].name;
        assert!(
            name.contains("</testcase><!-- \"'&") && name.contains("שלום"),
            "{name:?}"
        );
    }

    #[test]
    fn without_thresholds_there_are_no_cases() {
        let read = quick_junit::Report::deserialize_from_str(&rendered(Vec::new())).unwrap();
        assert_eq!((read.tests, read.test_suites.len()), (0, 1));
    }
}
