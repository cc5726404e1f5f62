//! Events: what they are made of, and everything that could not happen or could not be seen.

use crate::it::servers::ENGINES;
use crate::it::surroundings;
use crate::{Overrides, Problems, Surroundings, check, disk_by_text, timeline_by_text};
use plimsoll_plan::{Plan, explain};
use plimsoll_record::{Act, DiskFault, DiskRates, DiskSpec, EventSpec, PowerCutSpec, Role};

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

/// Events on arms with a disk of burst credits.
fn disk_events(list: &str) -> String {
    format!("  one: {{disk: gp2}}\n{OPEN}\nevents: {list}")
}

#[test]
fn events_of_a_disk_are_told_and_are_the_same_for_a_disk_alone() {
    let list = "[{at: 40s, disk: {stall: 3s}}, {at: 20s, for: 5s, disk: {latency: 200ms}}, \
                {at: 25s, for: 10s, disk: {errors: {read: 2%, write: 50%}}}, {at: 50s, for: 9s, disk: {throttle: burst}}]";
    let plan = checked(&disk_events(list)).unwrap();
    const S: u64 = 1_000_000_000;
    let event = |at: u64, lasts: u64, fault| EventSpec {
        at_ns: at * S,
        act: Act::Disk { for_ns: lasts * S, fault },
    };
    let errors = DiskFault::Errors { read: 0.02, write: 0.5, flush: 0.0 };
    let expected = [
        event(20, 5, DiskFault::Latency { ns: 200_000_000 }),
        event(25, 10, errors),
        event(40, 3, DiskFault::Stall),
        event(50, 9, DiskFault::NoCredits),
    ];
    assert_eq!(plan.events, expected);
    let description = explain(&plan, &ENGINES).to_string();
    for words in [
        "at 20s: the disk adds 200ms to each request for 5s",
        "at 25s: the disk fails 2% of reads and 50% of writes for 10s",
        "at 40s: the disk answers nothing for 3s",
        "at 50s: the disk has no burst credits for 9s",
    ] {
        assert!(description.contains(words), "{description}");
    }
    let gp2 = disk_by_text("gp2").unwrap();
    let mut alone = timeline_by_text(list, &gp2).unwrap();
    alone.sort_by_key(|event| event.at_ns);
    assert_eq!(alone, expected);
}

#[test]
fn what_a_disk_cannot_do_is_one_error_each() {
    for (list, code) in [
        ("[{at: 55s, for: 5s, disk: {latency: 1ms}}]", "event-after-end"),
        ("[{at: 58s, disk: {stall: 3s}}]", "event-after-end"),
        ("[{at: 1s, disk: {latency: 1ms}}]", "missing-key"),
        ("[{at: 1s, disk: {errors: {write: 1%}}}]", "missing-key"),
        ("[{at: 1s, disk: {throttle: burst}}]", "missing-key"),
        ("[{at: 1s, for: 2s, disk: {stall: 3s}}]", "exclusive"),
        ("[{at: 1s, for: 0s, disk: {latency: 1ms}}]", "out-of-range"),
        ("[{at: 1s, for: 1s, disk: {latency: 0s}}]", "out-of-range"),
        ("[{at: 1s, for: 1s, disk: {errors: {write: 101%}}}]", "out-of-range"),
        ("[{at: 1s, for: 1s, disk: {errors: {write: 0%}}}]", "event-of-nothing"),
        ("[{at: 1s, for: 1s, disk: {errors: {}}}]", "missing-one-of"),
        ("[{at: 1s, for: 1s, disk: {errors: {write: 1%, reads: 1%}}}]", "unknown-key"),
        ("[{at: 1s, for: 1s, disk: {throttle: iops}}]", "not-one-of"),
        ("[{at: 1s, disk: {latency: 1ms, stall: 1s}}]", "exclusive"),
        ("[{at: 1s, for: 1s, disk: gp3}]", "wrong-kind"),
        (
            "[{at: 1s, for: 5s, disk: {latency: 1ms}}, {at: 5s, disk: {stall: 1s}}]",
            "events-overlap",
        ),
        (
            "[{at: 5s, disk: {stall: 1s}}, {at: 1s, for: 5s, disk: {latency: 1ms}}]",
            "events-overlap",
        ),
    ] {
        assert_eq!(codes_of(&disk_events(list)), [code], "{list}");
    }
    let stall = "[{at: 1s, disk: {stall: 3s}}]";
    let throttle = "[{at: 1s, for: 1s, disk: {throttle: burst}}]";
    let on = |arm: &str, list: &str| format!("  one: {arm}\n{OPEN}\nevents: {list}");
    for (text, code) in [
        (on("{}", stall), "event-without-disk"),
        (on("{disk: {device: /dev/disk/by-id/x, erase: true}}", stall), "event-without-disk"),
        (on("{disk: {iops: 600}}", throttle), "event-without-credits"),
        (on("{}", "[{at: 1s, pause: 1s, for: 1s}]"), "event-key-alone"),
        (on("{disk: gp2}", "[{at: 1s, disk: {stall: 3s}, pause: 1s}]"), "exclusive"),
        (
            format!("  one: {{disk: gp2}}\nload: {{closed: {{threads: 4}}}}\nevents: {stall}"),
            "events-need-open-loop",
        ),
    ] {
        assert_eq!(codes_of(&text), [code], "{text}");
    }
    // One may begin when another ends.
    let next = "[{at: 1s, disk: {stall: 3s}}, {at: 4s, disk: {stall: 3s}}]";
    assert_eq!(checked(&disk_events(next)).unwrap().events.len(), 2);
    let plain = DiskSpec {
        iops: DiskRates { joint: Some(600.0), ..DiskRates::default() },
        ..DiskSpec::unlimited(1 << 30)
    };
    for (list, words) in [
        (throttle, "this disk has no `burst`"),
        ("[{at: 1s, pause: 1s}]", "a timeline holds only what `disk` does"),
        ("[{at: 1s, disk: {stall: 3s}}, {at: 2s, disk: {stall: 3s}}]", "overlap"),
        ("[{at: 1s, for: 1s, disk: {latency: 200}}]", "`200` has no unit"),
        ("", "empty"),
    ] {
        let refused = timeline_by_text(list, &plain).unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
    }
}

#[test]
fn a_power_cut_gives_all_disks_a_volatile_cache() {
    let on = |arms: &str, list: &str| format!("  {arms}\n{OPEN}\nevents: {list}");
    let list = "{at: 5s, power_cut: {seed: 7, every: 4s, sector: 512B}}";
    let plan = checked(&on("one: {disk: gp3}\n  two: {disk: gp2}", list)).unwrap();
    let cut = PowerCutSpec { seed: 7, sector_bytes: 512, every_ns: Some(4_000_000_000) };
    assert_eq!(plan.events, [EventSpec { at_ns: 5_000_000_000, act: Act::PowerCut(cut) }]);
    let description = explain(&plan, &ENGINES).to_string();
    for words in [
        "at 5s: the power fails, and again in every 4s: 13 power cuts",
        "in memory, volatile write cache",
    ] {
        assert!(description.contains(words), "{description}");
    }
    let plain = checked(&on("one: {disk: gp3}", "{at: 5s, power_cut: {}}")).unwrap();
    let cut = PowerCutSpec { seed: 1, sector_bytes: 4096, every_ns: None };
    assert_eq!(plain.events[0].act, Act::PowerCut(cut));
    for (arms, list, code) in [
        ("one: {}", "{at: 5s, power_cut: {}}", "event-without-disk"),
        ("one: {disk: gp3}", "{at: 60s, power_cut: {}}", "event-after-end"),
        ("one: {disk: gp3}", "{at: 57s, power_cut: {every: 4s}}", "event-after-end"),
        ("one: {disk: gp3}", "{at: 5s, power_cut: {every: 100ms}}", "out-of-range"),
        ("one: {disk: gp3}", "{at: 5s, power_cut: {sector: 1KiB}}", "not-one-of"),
        ("one: {disk: gp3}", "{at: 5s, power_cut: {seed: 5000000000}}", "out-of-range"),
        (
            "one: {disk: gp3}",
            "[{at: 5s, power_cut: {}}, {at: 9s, power_cut: {}}]",
            "power-cuts-twice",
        ),
    ] {
        assert_eq!(codes_of(&on(arms, list)), [code], "{arms} {list}");
    }
    let embedded = |cut: &str| {
        let text = format!(
            "plimsoll: 1\nname: cuts\nworkload: {{records: 1k, preset: a}}\narms: {{one: {{disk: gp3}}}}\n{OPEN}\nevents: {{at: 5s, power_cut: {cut}}}\n"
        );
        check(&text, "cuts.yaml", &surroundings(&Overrides::default()))
    };
    assert!(embedded("{}").is_ok(), "once");
    assert_eq!(codes(&embedded("{every: 4s}").unwrap_err()), ["power-cuts-without-server"]);
    let gp3 = disk_by_text("gp3").unwrap();
    let refused = timeline_by_text("[{at: 1s, power_cut: {}}]", &gp3).unwrap_err().to_string();
    assert!(refused.contains("plimsoll disk cut"), "{refused}");
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
    // Every update would write the value that it finds.
    let same = "{records: 1k, preset: a, data_integrity: true}";
    let refused = with_workload(same, &events(step_down)).unwrap_err();
    assert_eq!(codes(&refused), ["events-unseen"]);
}
