//! Events: what they are made of, and everything that could not happen or could not be seen.

use crate::it::servers::ENGINES;
use crate::it::surroundings;
use crate::{Overrides, Problems, Surroundings, check};
use plimsoll_plan::{Plan, explain};
use plimsoll_record::{Act, EventSpec, Role};

const SET: &str = "  one: {server: {members: 3}}";
const OPEN: &str = "load: {open: {rates: [100]}}\nmeasurement: {duration: 60s}";

fn checked(rest: &str) -> Result<Plan, Problems> {
    with_workload("{records: 1k, preset: a}", rest)
}

fn with_workload(workload: &str, rest: &str) -> Result<Plan, Problems> {
    let text = format!(
        "plimsoll: 1\nname: events\nworkload: {workload}\ndefaults: {{engine: mongodb}}\narms:\n{rest}\n"
    );
    let overrides = Overrides::default();
    let surroundings = Surroundings { engines: &ENGINES, ..surroundings(&overrides) };
    check(&text, "events.yaml", &surroundings)
}

fn codes_of(rest: &str) -> Vec<&'static str> {
    codes(&checked(rest).expect_err("it is refused"))
}

fn codes(problems: &Problems) -> Vec<&'static str> {
    let codes = problems.list().iter().map(|problem| problem.mistake.code());
    codes.collect()
}

fn events(list: &str) -> String {
    format!("{SET}\n{OPEN}\nevents: {list}")
}

#[test]
fn events_are_told_and_sorted_by_time() {
    let text = events(
        "\n- {at: 50s, pause: 3s, member: secondary}\n- {at: 10s, kill: primary, restart_after: 8s}\n- {at: 30s, step_down: true}",
    );
    let plan = checked(&text).unwrap();
    const S: u64 = 1_000_000_000;
    let kill = Act::Kill { member: Role::Primary, restart_after_ns: Some(8 * S) };
    let pause = Act::Pause { member: Role::Secondary, for_ns: 3 * S };
    let event = |at: u64, act| EventSpec { at_ns: at * S, act };
    assert_eq!(plan.events, [event(10, kill), event(30, Act::StepDown), event(50, pause)]);
    let description = explain(&plan, &ENGINES).to_string();
    for words in [
        "at 10s: the primary is killed, and started again after 8s",
        "at 30s: the primary steps down",
        "at 50s: the secondary stands still for 3s",
    ] {
        assert!(description.contains(words), "{description}");
    }
    let without = checked(&format!("{SET}\n{OPEN}")).unwrap();
    assert_ne!(plan.hash(), without.hash());
    // A server of one process is its own primary.
    let alone = format!("  one: {{}}\n{OPEN}\nevents: {{at: 0s, kill: primary}}");
    let kill = Act::Kill { member: Role::Primary, restart_after_ns: None };
    assert_eq!(checked(&alone).unwrap().events, [event(0, kill)]);
}

#[test]
fn what_could_not_happen_or_be_seen_is_one_error_each() {
    let step_down = "[{at: 1s, step_down: true}]";
    for (text, code) in [
        (events("[{at: 60s, step_down: true}]"), "event-after-end"),
        (events("[{at: 55s, pause: 5s}]"), "event-after-end"),
        (events("[{at: 1s, kill: primary, restart_after: 2m}]"), "event-after-end"),
        (events("[{at: 1s, step_down: false}]"), "event-of-nothing"),
        (events("[{at: 1s, kill: everybody}]"), "not-one-of"),
        (events("[{at: 1s}]"), "missing-one-of"),
        (events("[{at: 1s, kill: primary, pause: 1s}]"), "exclusive"),
        (events("[{at: 1s, pause: 1s, restart_after: 1s}]"), "event-key-alone"),
        (events("[{at: 1s, kill: primary, member: secondary}]"), "event-key-alone"),
        (format!("  one: {{}}\n{OPEN}\nevents: {step_down}"), "event-of-one-member"),
        (
            format!("  one: {{}}\n{OPEN}\nevents: [{{at: 1s, kill: secondary}}]"),
            "event-of-one-member",
        ),
        (
            format!("  one: {{uri: 'mongodb://db', existing: drop}}\n{OPEN}\nevents: {step_down}"),
            "event-without-server",
        ),
        (format!("  one: {{engine: noop}}\n{OPEN}\nevents: {step_down}"), "event-without-server"),
        (
            format!("{SET}\nload: {{closed: {{threads: 4}}}}\nevents: {step_down}"),
            "events-need-open-loop",
        ),
        (
            format!("{SET}\n{OPEN}\nobjective: {{response: {{p99: 10ms}}}}\nevents: {step_down}"),
            "events-need-open-loop",
        ),
    ] {
        assert_eq!(codes_of(&text), [code], "{text}");
    }
    // Every update would write what was there.
    let same = "{records: 1k, preset: a, data_integrity: true}";
    let refused = with_workload(same, &events(step_down)).unwrap_err();
    assert_eq!(codes(&refused), ["events-unseen"]);
}
