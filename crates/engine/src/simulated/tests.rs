//! The whole engine on a clock that jumps.

use super::*;
use crate::Simulation;
use plimsoll_plan::SettingValue;
use plimsoll_testing::assert_contains;
use plimsoll_workload::{Ask, DataSpec, KeySpace};

/// Moves to whatever time is waited for.
#[derive(Clone, Default)]
struct Jumping(Arc<AtomicU64>);

impl Clock for Jumping {
    fn now_ns(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn wait_until(&self, deadline_ns: u64) {
        self.0.fetch_max(deadline_ns, Ordering::Relaxed);
    }
}

fn engine(settings: &[(&str, SettingValue)]) -> (Simulated<Jumping>, Jumping) {
    let mut all = Settings::default();
    for (name, value) in [
        ("servers", SettingValue::Count(1)),
        ("service", SettingValue::Text("constant".into())),
        ("service_mean", SettingValue::Nanos(1_000_000)),
        ("service_spread", SettingValue::Number(1.0)),
        ("error_share", SettingValue::Number(0.0)),
        ("not_found_share", SettingValue::Number(0.0)),
    ] {
        all.0.insert(name.into(), value);
    }
    for (name, value) in settings {
        all.0.insert((*name).into(), value.clone());
    }
    let clock = Jumping::default();
    (Simulated::new(&all, 42, clock.clone()), clock)
}

fn read(session: &mut impl Session) -> Outcome {
    session.read(b"user1", FieldChoice::All, None)
}

#[test]
fn a_closed_loop_takes_as_long_as_its_services() {
    let (engine, clock) = engine(&[]);
    let mut session = engine.new_session();
    for _ in 0..5 {
        assert!(matches!(read(&mut session), Outcome::Ok));
    }
    assert_eq!(clock.now_ns(), 5_000_000);
}

#[test]
fn a_stall_is_counted_from_the_beginning_of_the_point() {
    let (engine, clock) = engine(&[("stalls", SettingValue::Text("3ms+1s".into()))]);
    let mut session = engine.new_session();
    for _ in 0..10 {
        read(&mut session);
    }
    // Nothing stalls before the first point.
    assert_eq!(clock.now_ns(), 10_000_000);
    for _ in 0..2 {
        engine.point_begins();
        let begin_ns = clock.now_ns();
        for _ in 0..5 {
            read(&mut session);
        }
        assert_eq!(clock.now_ns() - begin_ns, 1_005_000_000);
    }
}

#[test]
fn shares_of_failures_are_as_asked() {
    let shares = [
        ("error_share", SettingValue::Number(0.1)),
        ("not_found_share", SettingValue::Number(0.2)),
    ];
    let (engine, _) = engine(&shares);
    let mut session = engine.new_session();
    let (mut errors, mut missing) = (0, 0);
    for _ in 0..100_000 {
        match read(&mut session) {
            Outcome::Ok | Outcome::Batched => {}
            Outcome::NotFound => missing += 1,
            Outcome::Error(_) => errors += 1,
        }
    }
    // Five standard errors.
    assert!((9_500..10_500).contains(&errors), "{errors}");
    assert!((19_300..20_700).contains(&missing), "{missing}");
}

#[test]
fn inserts_that_succeed_are_counted() {
    let (engine, _) = engine(&[("error_share", SettingValue::Number(0.5))]);
    let key_space = KeySpace::new(&DataSpec::with_records(1_000)).unwrap();
    let mut generator = key_space.loader(1).generator(0);
    let mut session = engine.new_session();
    let mut stored = 0;
    while let Some(Ask::Insert { key, fields, .. }) = generator.next() {
        stored += u64::from(matches!(session.insert(key, fields), Outcome::Ok));
    }
    assert!(stored > 0 && stored < 1_000);
    assert_eq!(engine.count().unwrap(), Some(stored));
    let mut deleted = 0;
    for _ in 0..10 {
        deleted += u64::from(matches!(session.delete(b"user1"), Outcome::Ok));
    }
    assert_eq!(engine.count().unwrap(), Some(stored - deleted));
}

#[test]
fn a_seed_and_a_session_give_the_same_times_again() {
    let exponential = [("service", SettingValue::Text("exponential".into()))];
    let times = || {
        let (engine, clock) = engine(&exponential);
        let (mut first, mut second) = (engine.new_session(), engine.new_session());
        [(); 8].map(|()| {
            read(&mut first);
            read(&mut second);
            clock.now_ns()
        })
    };
    assert_eq!(times(), times());
    let (engine, clock) = engine(&exponential);
    read(&mut engine.new_session());
    let first_ns = clock.now_ns();
    read(&mut engine.new_session());
    // Sessions draw their own times.
    assert_ne!(clock.now_ns(), 2 * first_ns);
}

#[test]
fn more_failures_than_operations_are_refused() {
    let mut settings = engine(&[]).0.settings;
    for share in ["error_share", "not_found_share"] {
        settings.0.insert(share.into(), SettingValue::Number(0.6));
    }
    let refused = Simulation::new(&settings, 1);
    assert_contains(refused.err().unwrap(), "more than all operations");
}
