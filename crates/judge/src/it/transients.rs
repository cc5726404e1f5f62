//! Points that were no one state, because two were put there, or a filling.

use crate::it::laboratory::{Laboratory, SECOND_NS, Shown, primary, warns};
use crate::it::watched::{Watched, analyse, disk, one_point};
use insta::assert_snapshot;
use plimsoll_plan::Metric;
use plimsoll_record::{WarningId, figures};

/// Two arms. After six of twelve seconds the throughput of `other` drops from 11,000 op/s to `lower`.
fn falling(lower: f64) -> Laboratory {
    let at = |throughput: f64| {
        Laboratory::closed(&["one", "other"], &["c"], &[16], 6)
            .measure(|case| Shown::closed(case, throughput))
    };
    let (mut lab, low) = (at(11_000.0), at(lower));
    for (run, low) in lab.runs.iter_mut().zip(low.runs) {
        if run.arm != "other" {
            continue;
        }
        for (point, low) in run.points.iter_mut().zip(low.points) {
            for (slice, low) in point.slices.iter_mut().zip(low.slices).skip(7) {
                *slice = low;
            }
        }
    }
    lab
}

fn message(analysis: &crate::Analysis, id: WarningId) -> String {
    let found = analysis.warnings.iter().find(|warning| warning.id == id);
    found.unwrap_or_else(|| panic!("{:?}", analysis.warnings)).message.clone()
}

#[test]
fn two_states_are_told_with_their_shares() {
    let analysis = falling(1_200.0).analyse();
    assert_snapshot!(message(&analysis, WarningId::TwoStates), @"at 1,200 op/s in 50 % of the seconds, and at 11,000 op/s in the others (block 1; and in 5 other points)");
    let compared = primary(&analysis, Metric::Throughput);
    let mixture = "Throughput stood at two levels by turns, of other in 6 of 6 runs: what is compared is a mixture of them.";
    assert!(compared.sentence.ends_with(mixture), "{}", compared.sentence);

    let analysis = falling(8_000.0).analyse();
    assert!(!warns(&analysis, WarningId::TwoStates));
    let compared = primary(&analysis, Metric::Throughput);
    assert!(!compared.sentence.contains("levels"), "{}", compared.sentence);
}

#[test]
fn caches_that_still_fill_are_told_with_the_time_that_it_takes() {
    let filling = |falls: f64| {
        let mut lab = one_point(Some(disk(Some(600.0))), 16, 1_000.0);
        for run in &mut lab.runs {
            for (second, slice) in run.points[0].slices.iter_mut().enumerate() {
                let second = second as f64;
                let watched = Watched {
                    reads: 0.5 * (-second * falls).exp(),
                    read_ns: 8e6,
                    requested_bytes: 12_000.0,
                    processors: 0.3,
                    ..Watched::default()
                };
                Watched::into(&watched, slice);
                let used = (60.0 + 8.0 * second * falls) * f64::from(1 << 20);
                for (name, value) in [
                    (figures::GROUP_PAGE_CACHE, used),
                    (figures::GROUP_MEMORY, used),
                    (figures::GROUP_MEMORY_LIMIT, 200.0 * f64::from(1 << 20)),
                ] {
                    slice.telemetry.insert(name.to_owned(), value);
                }
            }
        }
        lab
    };
    let lab = filling(0.1);
    assert_eq!(lab.runs[0].points[0].warm_up_ns, SECOND_NS);
    assert_snapshot!(message(&analyse(&lab), WarningId::CacheFilling), @"an operation read 6.27 KiB from the disk at first, and 2.82 KiB at last; page cache hits 38 % to 79 %; the 130 MiB that are free would be full after 55.42 s more at 2.35 MiB/s (block 1; and in 5 other points)");
    assert!(!warns(&analyse(&filling(0.0)), WarningId::CacheFilling));
}
