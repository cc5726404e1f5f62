//! Reading along while another program writes.

use crate::StoreError;
use crate::it::sample;
use crate::it::site::Site;
use plimsoll_record::{ExperimentState, PointEnd, RunState};
use plimsoll_testing::assert_err;

#[test]
fn news_tell_everything_once() {
    let (site, mut writer) = Site::with_store();
    // What belongs to another experiment is never sent.
    let mut other = sample::experiment("other");
    let mut run = sample::run("small", 0);
    let mut point = sample::point(Some(0));
    point.slices.push(sample::slice(0, &[7]));
    run.points.push(point);
    other.runs.push(run);
    writer.import(other).unwrap();
    writer.begin(&sample::experiment("one")).unwrap();

    let reader = site.open_read_only();
    let mut following = reader.follow("one").unwrap();
    let news = reader.news(&mut following).unwrap();
    assert!(news.running && !news.more && news.state == ExperimentState::Unfinished);
    assert!(news.runs.is_empty() && news.points.is_empty() && news.slices.is_empty());

    let mut head = sample::run("small", 0);
    let run = writer.begin_run("one", &head).unwrap();
    let requested = sample::point(Some(0));
    let point = writer
        .begin_point(run, &requested.label, requested.warm_up_ns, "2026-11-21T03:44:02Z")
        .unwrap();
    let slice = sample::slice(0, &[100, 200]);
    writer.add_slice(point, &slice).unwrap();
    let news = reader.news(&mut following).unwrap();
    assert_eq!(news.runs[0].1, head);
    assert_eq!(news.points[0].run, news.runs[0].0);
    assert_eq!(news.points[0].head.label, requested.label);
    assert_eq!(news.slices, [(news.points[0].key, slice.clone())]);
    assert_eq!(news.ended, []);
    let key = news.points[0].key;

    // A late share is a slice like any other; the end of the point comes after all of them.
    writer.add_slice(point, &slice).unwrap();
    let end = PointEnd { measured_ns: 1, ..PointEnd::default() };
    writer.end_point(point, &end).unwrap();
    sample::complete(&mut head, RunState::Finished);
    writer.update_run(run, &head).unwrap();
    let news = reader.news(&mut following).unwrap();
    assert_eq!((news.points.len(), news.slices.len()), (0, 1));
    assert_eq!(news.ended, [(key, end)]);
    assert_eq!(news.runs[0].1, head);

    writer.finish("one", "2026-11-21T04:00:00Z").unwrap();
    let news = reader.news(&mut following).unwrap();
    assert!(!news.running && news.state == ExperimentState::Finished);
    assert!(news.runs.is_empty() && news.slices.is_empty() && news.ended.is_empty());

    // A later reader gets the same at once.
    let mut late = reader.follow("one").unwrap();
    let news = reader.news(&mut late).unwrap();
    assert_eq!((news.runs.len(), news.points.len()), (1, 1));
    assert_eq!(news.slices.len(), 2);
    assert_eq!(news.ended.len(), 1);
}

#[test]
fn what_was_deleted_is_not_followed_any_more() {
    let (site, mut writer) = Site::with_store();
    writer.import(sample::experiment("one")).unwrap();
    let reader = site.open_read_only();
    let mut following = reader.follow("one").unwrap();
    writer.delete("one").unwrap();
    let gone = reader.news(&mut following);
    assert_err!(gone, StoreError::Unknown { .. });
    assert_err!(reader.follow("one"), StoreError::Unknown { .. });
}

#[test]
fn the_version_changes_with_what_is_judged() {
    let (site, mut writer) = Site::with_store();
    writer.begin(&sample::experiment("one")).unwrap();
    let reader = site.open_read_only();
    let version = || reader.version("last").unwrap().1;
    let mut seen = vec![version()];

    let run = writer.begin_run("one", &sample::run("small", 0)).unwrap();
    seen.push(version());
    let requested = sample::point(Some(0));
    let point = writer.begin_point(run, &requested.label, 0, "2026-11-21T03:44:02Z").unwrap();
    seen.push(version());
    writer.add_slice(point, &sample::slice(0, &[5])).unwrap();
    assert_eq!(version(), seen[2], "a slice more is no other result");
    writer.end_point(point, &PointEnd::default()).unwrap();
    seen.push(version());
    drop(writer);
    seen.push(version());
    for (number, one) in seen.iter().enumerate() {
        assert!(!seen[number + 1..].contains(one), "{number}");
    }
    assert_eq!(reader.version("last").unwrap().0, "one");
}

mod slow {
    use super::*;

    #[test]
    fn a_long_experiment_is_told_in_parts_and_in_order() {
        let (_site, mut store) = Site::with_store();
        let mut record = sample::experiment("long");
        let mut run = sample::run("small", 0);
        let mut point = sample::point(Some(0));
        point.slices = (0..4_100).map(|index| sample::slice(index, &[5])).collect();
        point.end = Some(PointEnd::default());
        run.points.push(point);
        record.runs.push(run);
        store.import(record).unwrap();

        let mut following = store.follow("long").unwrap();
        let mut indices = Vec::new();
        loop {
            let news = store.news(&mut following).unwrap();
            indices.extend(news.slices.iter().map(|(_, slice)| slice.index));
            // Its end is sent when all of it was.
            assert_eq!(news.ended.len(), usize::from(!news.more));
            if !news.more {
                break;
            }
        }
        assert!(indices.iter().copied().eq(0..4_100));
    }
}
