//! Events whose consequences are known because they were made up.

use crate::it::laboratory::{Laboratory, SECOND_NS, Shown, slice};
use crate::{Analysis, Steadiness};
use plimsoll_record::{
    Acknowledged, Act, CutLoss, Disturbance, EventRecord, EventSpec, PowerCutSpec, Role, WarningId,
};

const MS: u64 = 1_000_000;

/// One arm at 100 op/s for 20 s after 1 s of warm-up, whose primary is killed at the 6th second of the point: nothing succeeds for 4 s, and for 3 s more
/// operations take ten times as long. It steps down at the 16th second, which costs 300 ms. `lost` writes of 800 are lost in the last block.
fn laboratory(blocks: u32, lost: u64) -> Laboratory {
    let kill = EventSpec {
        at_ns: 5 * SECOND_NS,
        act: Act::Kill { member: Role::Primary, restart_after_ns: Some(3 * SECOND_NS) },
    };
    let step_down = EventSpec { at_ns: 15 * SECOND_NS, act: Act::StepDown };
    let mut laboratory = Laboratory::open(&["set"], &["a"], &[100.0], blocks);
    laboratory.plan.events = vec![kill, step_down];
    laboratory.plan.measurement.duration_ns = 20 * SECOND_NS;
    let shown = |throughput, response_ms: f64, errors| Shown {
        throughput,
        response_ns: response_ms * 1e6,
        errors,
        seconds: 20,
        busy: 0.5,
    };
    let usual = shown(100.0, 2.0, 0);
    let mut laboratory = laboratory.measure(|_| usual.clone());
    for point in laboratory.points() {
        let load = point.label.load;
        for second in 6..10 {
            point.slices[second] = slice(second as u32, false, load, &shown(0.0, 1.0, 2));
        }
        for second in 10..13 {
            point.slices[second] = slice(second as u32, false, load, &shown(100.0, 20.0, 0));
        }
    }
    for run in &mut laboratory.runs {
        let block = u64::from(run.block);
        let event = |event, at_ns, until_ns| EventRecord {
            event,
            at_ns,
            until_ns,
            member: Some("127.0.0.1:1".into()),
            cut: None,
        };
        let lost = if run.block + 1 == blocks { lost } else { 0 };
        let disturbance = Disturbance {
            started_ns: 1,
            events: vec![
                event(0, 6 * SECOND_NS, Some(9_500 * MS)),
                event(1, 16 * SECOND_NS, Some(16_100 * MS)),
            ],
            write_gaps: vec![
                (2 * SECOND_NS, 2 * SECOND_NS + 150 * MS),
                (5_990 * MS, (10_000 + 100 * block) * MS),
                (16_100 * MS, 16_400 * MS),
            ],
            read_gaps: vec![(5_990 * MS, 9_000 * MS)],
            acknowledged: Some(Acknowledged {
                writes: 800,
                records: 500,
                lost,
                lost_keys: (lost > 0).then(|| "user7".to_owned()).into_iter().collect(),
                ..Acknowledged::default()
            }),
        };
        let end = run.points[0].end.as_mut().unwrap();
        end.disturbance = Some(Box::new(disturbance));
    }
    laboratory
}

fn warned(analysis: &Analysis, id: WarningId) -> bool {
    analysis.warnings.iter().any(|warning| warning.id == id)
}

#[test]
fn each_event_has_what_follows_it_up_to_the_next() {
    let analysis = laboratory(3, 0).analyse();
    let [result] = analysis.events.as_slice() else {
        panic!("{:?}", analysis.events);
    };
    let [kill, step_down] = result.events.as_slice() else {
        panic!("{result:?}");
    };
    // From the event, not from the last success before it; over blocks of 4.0, 4.1 and 4.2 s.
    assert_eq!(kill.without_writes.median, Some(4.1));
    assert_eq!(kill.without_reads.median, Some(3.0));
    assert_eq!(kill.errors.median, Some(8.0));
    // Seconds 13, 14 and 15 are as before.
    assert_eq!(kill.p99_back.median, Some(7.0));
    assert_eq!((kill.blocks, kill.not_back), (3, 0));
    assert_eq!(step_down.without_writes.median, Some(0.3));
    assert_eq!(step_down.without_reads.median, Some(0.0));
    assert_eq!(step_down.p99_back.median, Some(0.0));
    let kept = result.acknowledged.as_ref().unwrap();
    assert_eq!((kept.blocks, kept.writes, kept.lost), (3, 2_400, 0));
    assert_eq!(
        result.sentence,
        "set under a at 100 op/s, at 5s: the primary is killed, and started again after 3s: no write succeeded for 4.10 s (4.00 to 4.20 s in 3 blocks); \
         at 15s: the primary steps down: no write succeeded for 0.30 s (0.30 to 0.30 s in 3 blocks). All 2,400 acknowledged writes survived."
    );
    assert!(analysis.headline.contains(&result.sentence));
    assert!(!warned(&analysis, WarningId::WritesLost));
}

#[test]
fn nothing_is_cut_and_no_stall_is_reported_of_what_was_done_on_purpose() {
    let analysis = laboratory(2, 0).analyse();
    let point = &analysis.curves[0].points[0];
    for result in &point.results {
        assert_eq!(result.steadiness, Steadiness::Unknown);
    }
    // 16 of 20 s with 100 operations each.
    assert_eq!(point.throughput.median, Some(80.0));
    assert!(!warned(&analysis, WarningId::Stall), "{:?}", analysis.warnings);
    assert!(!warned(&analysis, WarningId::SteadinessUnknown));
    let series = &analysis.series[0];
    assert_eq!(series.events.len(), 2);
    assert_eq!((series.events[0].at, series.events[0].until), (6.0, Some(9.5)));
}

#[test]
fn acknowledged_writes_that_are_lost_are_said_first() {
    let analysis = laboratory(2, 3).analyse();
    assert!(warned(&analysis, WarningId::WritesLost));
    let kept = analysis.events[0].acknowledged.as_ref().unwrap();
    assert_eq!((kept.lost, kept.blocks_with_loss), (3, 1));
    assert_eq!(kept.lost_keys, ["user7"]);
    let sentence = &analysis.events[0].sentence;
    assert!(sentence.ends_with(" Of 1,600 acknowledged writes 3 are lost."), "{sentence}");
}

#[test]
fn of_several_power_cuts_the_longest_time_and_the_oldest_write_count() {
    let mut laboratory = laboratory(2, 3);
    let cut = PowerCutSpec { seed: 1, sector_bytes: 4096, every_ns: Some(10 * SECOND_NS) };
    laboratory.plan.events = vec![EventSpec { at_ns: 5 * SECOND_NS, act: Act::PowerCut(cut) }];
    for run in &mut laboratory.runs {
        let is_last = run.block == 1;
        let seen = run.points[0].end.as_mut().unwrap().disturbance.as_mut().unwrap();
        seen.events.iter_mut().for_each(|event| event.event = 0);
        let found = seen.acknowledged.as_mut().unwrap();
        let none = CutLoss { acknowledged: 400, ..CutLoss::default() };
        let some = CutLoss { lost: 3, oldest_ns: 98 * MS, ..none };
        found.by_cut = vec![none, if is_last { some } else { none }];
    }
    let analysis = laboratory.analyse();
    let [result] = analysis.events.as_slice() else {
        panic!("{:?}", analysis.events);
    };
    let cut = &result.events[0];
    // The longest of 4.0 s and 0.3 s, and of 4.1 s and 0.3 s.
    assert_eq!(cut.without_writes.values, [(0, 4.0), (1, 4.1)]);
    assert_eq!(cut.errors.median, Some(8.0));
    assert!(
        result.sentence.ends_with(
            " Of 1,600 acknowledged writes 3 are lost, in 1 of 4 power cuts; the oldest was acknowledged 98.0 ms before its cut."
        ),
        "{}",
        result.sentence
    );
    assert_eq!(
        analysis.headline[0],
        "After 4 power cuts set lost writes that were up to 98.0 ms old."
    );
    assert!(warned(&analysis, WarningId::WritesLost));
    for run in &mut laboratory.runs {
        let seen = run.points[0].end.as_mut().unwrap().disturbance.as_mut().unwrap();
        let found = seen.acknowledged.as_mut().unwrap();
        found.lost = found.writes;
        found.unusable = Some("it has no superblock".into());
    }
    let analysis = laboratory.analyse();
    let sentence = &analysis.events[0].sentence;
    let end = " In 2 of 2 blocks the database did not come back: it has no superblock";
    assert!(sentence.ends_with(end), "{sentence}");
    assert_eq!(analysis.headline[0], "After 4 power cuts set did not come back.");
    assert!(warned(&analysis, WarningId::Unusable));
}

#[test]
fn an_event_that_a_point_did_not_reach_has_no_figures() {
    let mut laboratory = laboratory(1, 0);
    for run in &mut laboratory.runs {
        let end = run.points[0].end.as_mut().unwrap();
        end.disturbance.as_mut().unwrap().events.truncate(1);
    }
    let analysis = laboratory.analyse();
    let step_down = &analysis.events[0].events[1];
    assert_eq!((step_down.blocks, step_down.without_writes.median), (0, None));
}
