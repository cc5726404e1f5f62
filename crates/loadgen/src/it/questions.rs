//! The same seed asks the same things again.

use crate::it::fake::{Keep, at_once, closed, key_space, remembering};
use crate::{PointSpec, run_point};
use plimsoll_workload::{KeySpace, Mix, Workload};
use std::sync::Arc;

fn workload(key_space: &Arc<KeySpace>, mix: &Mix, seed: u64) -> Arc<Workload> {
    Arc::new(Workload::new(key_space, mix, seed, Some(10_000)).unwrap())
}

/// The questions of each session, in order.
fn requested(spec: &PointSpec, mix: &Mix, seed: u64) -> Vec<(u32, String)> {
    let (engine, requested) = remembering();
    let workload = workload(&key_space(1_000), mix, seed);
    run_point(&engine, &workload, spec, mix, &mut Keep::default()).unwrap();
    let mut requested = std::mem::take(&mut *requested.lock().unwrap());
    requested.sort_by_key(|(session, _)| *session);
    requested
}

/// In an open loop the number of an arrival decides what it asks, so that it does not matter which session takes it, or how many there are.
#[test]
fn arrivals_of_an_open_loop_repeat_themselves() {
    let mix = Mix::preset("a").unwrap();
    let questions = |sessions, seed| {
        let (engine, requested) = remembering();
        let seen = Arc::clone(&requested);
        let mut keep = Keep::stopping_when(move || seen.lock().unwrap().len() == 3_000);
        let workload = workload(&key_space(1_000), &mix, seed);
        let spec = at_once(sessions, 3_000);
        run_point(&engine, &workload, &spec, &mix, &mut keep).unwrap();
        let requested = std::mem::take(&mut *requested.lock().unwrap());
        let mut texts: Vec<String> = requested.into_iter().map(|(_, text)| text).collect();
        texts.sort();
        texts
    };
    let first = questions(1, 42);
    assert_eq!(first.len(), 3_000);
    assert_eq!(first, questions(4, 42));
    assert_ne!(first, questions(4, 43));
}

mod slow {
    use super::*;

    #[test]
    fn sessions_of_a_closed_loop_repeat_themselves() {
        for name in ["a", "c", "e", "f"] {
            let mut mix = Mix::preset(name).unwrap();
            // Key numbers of inserts go to whichever session comes first.
            (mix.scan, mix.insert) = (mix.scan + mix.insert, 0.0);
            let spec = closed(3, 3_000);
            let first = requested(&spec, &mix, 42);
            assert_eq!(first, requested(&spec, &mix, 42), "workload {name}");
            assert_ne!(first, requested(&spec, &mix, 43), "workload {name}");
        }
    }
}
