//! Servers that are started for an arm, and servers that run by themselves.

use crate::it::surroundings;
use crate::{Overrides, Problems, Surroundings, check};
use plimsoll_plan::{Arm, Caches, EngineKind, Plan, Setting, SettingKind, differences, explain};
use plimsoll_record::{DiskChoice, ServerSpec};

const fn setting(name: &'static str, kind: SettingKind, default: Option<&'static str>) -> Setting {
    Setting { name, about: "A setting.", kind, default }
}

/// An engine that is a server, in the shape of the real one.
pub const MONGODB: EngineKind = EngineKind {
    name: "mongodb",
    about: "A server.",
    keeps_data: true,
    server: Some("mongod"),
    cache_setting: Some("cache_size"),
    usable_cache: 0.8,
    unfit: |_| None,
    settings: &[
        setting("uri", SettingKind::Text, None),
        setting("database", SettingKind::Text, None),
        setting("existing", SettingKind::Choice(&["refuse", "use", "drop"]), Some("refuse")),
        setting("cache_size", SettingKind::Size { min: 1 << 20, max: 1 << 40 }, Some("64MiB")),
        setting("upsert", SettingKind::Flag, None),
        setting("insert_into_existing", SettingKind::Flag, None),
        setting(
            "checkpoint_interval",
            SettingKind::Duration { min_ns: 0, max_ns: 3_600_000_000_000 },
            None,
        ),
        setting("directory_per_db", SettingKind::Flag, None),
        setting("journal", SettingKind::Flag, None),
        setting("batch", SettingKind::Count { min: 1, max: 100_000 }, None),
        setting("write_concern", SettingKind::Text, None),
        setting("client", SettingKind::Choice(&["lean", "driver"]), None),
        setting("parameters", SettingKind::Text, None),
        setting("arguments", SettingKind::Text, None),
    ],
};

pub static ENGINES: [EngineKind; 2] = [
    MONGODB,
    EngineKind {
        name: "noop",
        about: "Nothing.",
        keeps_data: false,
        server: None,
        cache_setting: None,
        usable_cache: 0.0,
        unfit: |_| None,
        settings: &[],
    },
];

fn checked(arms: &str) -> Result<Plan, Problems> {
    checked_under("preset: c", arms)
}

fn checked_under(operations: &str, arms: &str) -> Result<Plan, Problems> {
    let text = format!(
        "plimsoll: 1\nname: servers\nworkload: {{records: 1k, {operations}}}\ndefaults: {{engine: mongodb}}\narms:\n{arms}\nload: {{closed: {{threads: 1}}}}\n"
    );
    let overrides = Overrides::default();
    let surroundings = Surroundings { engines: &ENGINES, ..surroundings(&overrides) };
    check(&text, "servers.yaml", &surroundings)
}

fn plan(arms: &str) -> Plan {
    checked(arms).unwrap_or_else(|problems| panic!("{problems}"))
}

fn arm(of: &str) -> Arm {
    plan(&format!("  one: {{{of}}}")).arms.remove(0)
}

fn server(of: &str) -> ServerSpec {
    arm(of).rig.server.expect("one is started")
}

fn codes(arms: &str) -> Vec<&'static str> {
    let problems = checked(arms).expect_err("it is refused");
    problems.list().iter().map(|problem| problem.mistake.code()).collect()
}

/// The words of an argument list from this one on.
fn from<'a>(spec: &'a ServerSpec, word: &str) -> Vec<&'a str> {
    let words: Vec<&str> = spec.arguments.iter().map(String::as_str).collect();
    let at = words.iter().position(|found| *found == word);
    words[at.unwrap_or_else(|| panic!("{word} in {words:?}"))..].to_vec()
}

#[test]
fn an_arm_gets_the_server_of_its_engine_with_its_settings() {
    let spec = server("");
    assert_eq!((spec.name.as_str(), spec.program.as_str()), ("mongod", "mongod"));
    assert!(spec.arguments.contains(&"{data}".to_owned()));
    assert_eq!(
        from(&spec, "--wiredTigerEngineConfigString"),
        ["--wiredTigerEngineConfigString", "cache_size=67108864"],
        "64 MiB in bytes"
    );
    let spec = server(
        "checkpoint_interval: 1500ms, directory_per_db: true, parameters: 'a=1, b=x', arguments: '--quiet -v', server: {arguments: [--slowms, '5']}",
    );
    assert_eq!(
        from(&spec, "--syncdelay"),
        [
            "--syncdelay",
            "1.5",
            "--directoryperdb",
            "--setParameter",
            "a=1",
            "--setParameter",
            "b=x",
            "--quiet",
            "-v",
            "--slowms",
            "5"
        ]
    );
    let spec = server("directory_per_db: false");
    assert!(!spec.arguments.contains(&"--directoryperdb".to_owned()));
}

#[test]
fn servers_are_named_by_preset_by_path_or_described() {
    let spec = server("server: ferretdb");
    assert_eq!((spec.name.as_str(), spec.program.as_str()), ("ferretdb", "ferretdb"));
    let arm = arm("server: ferretdb");
    assert_eq!(arm.settings.bytes("cache_size"), None, "FerretDB has no such setting");
    let spec = server("server: /opt/x/mongod");
    assert_eq!((spec.name.as_str(), spec.program.as_str()), ("mongod", "/opt/x/mongod"));
    let spec = server("server: bin/ferretdb");
    assert_eq!(spec.name, "ferretdb", "a program is known by its name");
    assert_eq!(spec.program, "/experiments/bin/ferretdb", "beside the file");
    let spec = server(
        "server: {program: mongod-6, ready_within: 5s, stop_within: 1m, environment: {A: '{port}'}}",
    );
    assert_eq!((spec.name.as_str(), spec.program.as_str()), ("mongod", "mongod-6"));
    assert_eq!((spec.ready_within_ns, spec.stop_within_ns), (5_000_000_000, 60_000_000_000));
    assert_eq!(spec.environment["A"], "{port}");
    assert_eq!(server("server: {preset: ferretdb}").name, "ferretdb");
}

#[test]
fn a_server_that_runs_by_itself_needs_nothing_here() {
    let plan = plan("  one: {existing: drop, uri: 'mongodb://db', machine: m3.large}");
    let arm = &plan.arms[0];
    assert_eq!(arm.rig.server, None);
    assert_eq!(arm.directory, None);
    assert!(arm.rig.limits.is_empty(), "a machine gives it its price alone");
    assert!(arm.rig.price.is_some());
    assert_eq!(arm.settings.bytes("cache_size"), None, "the server has its own");
    let explained = explain(&plan, &ENGINES);
    assert_eq!(explained.arms[0].disk_bytes, 0);
    assert!(!explained.needs.root);
}

/// mongod stores some 10,000 records a second where the embedded engine stores 50,000, and takes 192 MiB besides its cache.
#[test]
fn a_server_takes_longer_and_more_memory_than_an_engine_in_the_program() {
    let plan = plan("  one: {records: 200k, cache_size: 256MiB}");
    let needs = explain(&plan, &ENGINES).needs;
    let loading_seconds = needs.loading_ns / 1_000_000_000 / u64::from(plan.measurement.blocks);
    assert_eq!(loading_seconds, 20);
    assert_eq!(needs.memory_bytes, (256 + 192) << 20);
    let problems = checked("  one: {cache_size: 256MiB, limits: {memory: 400MiB}}")
        .expect_err("it would be killed");
    let text = problems.to_string();
    assert!(text.contains("at least 448MiB"), "{text}");
}

#[test]
fn what_cannot_be_is_said() {
    for (arms, expected) in [
        ("  one: {server: mongodd}", vec!["unknown-preset"]),
        ("  one: {server: {preset: mongo}}", vec!["unknown-preset"]),
        ("  one: {engine: noop, server: mongod}", vec!["server-of-embedded"]),
        ("  one: {existing: drop, uri: 'mongodb://db', server: mongod}", vec!["server-beside-uri"]),
        (
            "  one: {existing: drop, uri: 'mongodb://db', cache_size: 1GiB}",
            vec!["setting-of-managed"],
        ),
        ("  one: {server: ferretdb, cache_size: 1GiB}", vec!["server-without"]),
        (
            "  one: {existing: drop, uri: 'mongodb://db', disk: gp3, filesystem: ext4, limits: {cpus: 1}}",
            vec!["not-our-server"; 3],
        ),
        ("  one: {server: {programme: x}}", vec!["unknown-key"]),
    ] {
        assert_eq!(codes(arms), expected, "{arms}");
    }
    // What embedded engines have in common with others is for the others.
    let plan = plan("  one: {engine: noop}\n  two: {server: ferretdb}");
    assert_eq!(plan.arms[0].rig.server, None);
}

#[test]
fn a_password_is_no_part_of_a_plan_that_is_shown() {
    let with = |password: &str| {
        plan(&format!("  one: {{existing: drop, uri: 'mongodb://me:{password}@db'}}"))
    };
    let (one, other) = (with("geheim"), with("anders"));
    assert_eq!(one.hash(), other.hash());
    assert_eq!(differences(&one.arms[0], &other.arms[0]), []);
    assert!(!explain(&one, &ENGINES).to_string().contains("geheim"));
    assert_ne!(one.hash(), plan("  one: {existing: drop, uri: 'mongodb://you:x@db'}").hash());
    let wrong = checked("  one: {existing: drop, uri: 'mongodb://me:geheim@db', cache_size: much}");
    let wrong = wrong.expect_err("it is refused");
    let screen = wrong.render(false, 100);
    assert!(screen.contains("mongodb://me:******@db"), "{screen}");
    let wrong =
        checked("  one: {server: 'mongodb://me:geheim@db'}\n  two: {machine: 'x://me:geheim@db'}");
    let wrong = wrong.expect_err("it is refused");
    for text in [wrong.render(false, 100), wrong.to_string(), wrong.to_json().to_string()] {
        assert!(!text.contains("geheim"), "{text}");
    }
}

#[test]
fn servers_are_told_apart() {
    let pair = |one: &str, other: &str| {
        let plan = plan(&format!("  one: {{{one}}}\n  two: {{{other}}}"));
        let mut whats = Vec::new();
        for difference in differences(&plan.arms[0], &plan.arms[1]) {
            whats.push(difference.what);
        }
        assert_ne!(plan.arms[0].rig.server, plan.arms[1].rig.server);
        whats
    };
    assert_eq!(pair("cache_size: 1GiB", ""), ["cache_size"]);
    assert_eq!(pair("server: {arguments: [-v]}", ""), ["server.arguments"]);
    assert_eq!(pair("server: /a/mongod", ""), ["server.program"]);
    assert_eq!(
        pair("server: {environment: {A: b}}", "cache_size: 2GiB"),
        ["cache_size", "server.environment"]
    );
    assert_eq!(pair("server: ferretdb", ""), ["cache_size", "server", "server.program"]);
}

/// What would fail at the second run is reported before the first.
#[test]
fn runs_on_one_collection_do_not_refuse_each_other() {
    let one = "uri: 'mongodb://db'";
    let refused = ["runs-on-one-collection"];
    assert_eq!(codes(&format!("  one: {{{one}}}")), refused);
    assert_eq!(codes(&format!("  one: {{{one}, existing: refuse}}")), refused);
    plan(&format!("  one: {{{one}, existing: drop}}"));
    plan("  one: {}");

    let once = |arms: &str| checked(&format!("{arms}\nmeasurement: {{blocks: 1}}"));
    assert!(once(&format!("  one: {{{one}}}")).is_ok());
    let elsewhere = format!("  one: {{{one}}}\n  two: {{{one}, database: other}}");
    assert!(once(&elsewhere).is_ok());
    let both = once(&format!("  one: {{{one}}}\n  two: {{{one}}}")).unwrap_err();
    assert_eq!(both.count(), 2, "{both}");
    assert!(both.to_string().contains("2 runs would be made"), "{both}");
}

#[test]
fn members_are_a_replica_set_and_one_stands_alone() {
    let alone = server("");
    assert_eq!(server("server: {members: 1}"), alone);
    assert_eq!(server("server: {replica_set: false}"), alone);
    assert_eq!((alone.members, alone.log_bytes), (1, 0));
    assert!(alone.after_start.is_empty());

    let three = server("server: {members: 3, arguments: [--quiet]}");
    assert_eq!(three.members, 3);
    assert_eq!(from(&three, "--replSet=plimsoll"), ["--replSet=plimsoll", "--quiet"]);
    assert_eq!(three.address, "mongodb://{members}/?replicaSet=plimsoll");
    assert_eq!(three.after_start, ["{plimsoll}", "replica-set", "initiate", "{members}"]);
    assert_eq!(three.log_bytes, 990 << 20);

    let one = server("server: {replica_set: true}");
    assert_eq!(one.members, 1);
    assert_eq!((one.address, one.after_start), (three.address, three.after_start));

    let own = server("server: {members: 3, after_start: [./set-up, '{port}']}");
    assert_eq!(own.after_start, ["/experiments/./set-up", "{port}"]);
    let own = server("server: {preset: ferretdb, after_start: [set-up]}");
    assert_eq!((own.members, own.after_start), (1, vec!["set-up".to_owned()]));
    let own = server("server: {after_start: ['{plimsoll}', list]}");
    assert_eq!(own.after_start, ["{plimsoll}", "list"]);
}

#[test]
fn members_that_cannot_be_are_one_error_each() {
    for (arm, code) in [
        ("server: {members: 0}", "out-of-range"),
        ("server: {members: 8}", "out-of-range"),
        ("server: {members: many}", "unit"),
        ("server: {members: 3, replica_set: false}", "members-without-set"),
        ("server: {preset: ferretdb, members: 3}", "server-of-one"),
        ("server: {preset: ferretdb, replica_set: true}", "server-of-one"),
        ("server: {arguments: [--quiet, --replSet, rs0]}", "set-by-argument"),
        ("arguments: '--quiet --replSet=rs0'", "set-by-argument"),
        ("server: {after_start: []}", "entry-count"),
        ("server: {members: 3}, limits: {memory: 512MiB}", "memory-below-cache"),
    ] {
        assert_eq!(codes(&format!("  one: {{{arm}}}")), [code], "{arm}");
    }
    // One of them would have room.
    arm("limits: {memory: 512MiB}");
    let problems = checked("  one: {server: {members: 3}, limits: {memory: 512MiB}}");
    let words = problems.unwrap_err().to_string();
    for part in [
        "512MiB of memory are too little for 3 members with a cache of 64MiB each",
        "each member needs its cache and 192MiB besides: at least 768MiB together",
    ] {
        assert!(words.contains(part), "{words}");
    }
}

#[test]
fn all_members_count_in_what_is_needed() {
    let needs = |server: &str| {
        let plan = plan(&format!("  one: {{server: {{{server}}}}}"));
        explain(&plan, &ENGINES).needs
    };
    let (alone, three) = (needs("members: 1"), needs("members: 3"));
    assert_eq!(three.memory_bytes, 3 * alone.memory_bytes);
    let logs = 3 * (990_u64 << 20);
    let of_all = 3 * alone.disk_bytes + logs;
    assert!(three.disk_bytes.abs_diff(of_all) < 3, "whole bytes");
    assert!(three.loading_ns > alone.loading_ns);
    // A disk that is made for them has room for all.
    let capacity = |server: &str| {
        let arm = arm(&format!("disk: {{iops: 1k}}, server: {{{server}}}"));
        match arm.rig.disk {
            Some(DiskChoice::Emulated { spec }) => spec.capacity_bytes,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(capacity("members: 1"), 2 << 30);
    assert!(capacity("members: 3") >= three.disk_bytes);
}

#[test]
fn members_are_told_and_are_a_difference() {
    let plan = plan(
        "  alone: {}\n  three: {server: {members: 3}}\n  one: {server: {replica_set: true}}\n  own: {server: {members: 3, after_start: [./set-up]}}",
    );
    let lines: Vec<String> =
        explain(&plan, &ENGINES).arms.into_iter().filter_map(|arm| arm.server).collect();
    assert_eq!(
        lines,
        [
            "mongod",
            "mongod, 3 members",
            "mongod, replica set of 1",
            "mongod, 3 members, then /experiments/./set-up"
        ]
    );
    let describe = |left: usize, right: usize| -> Vec<(String, String, String)> {
        differences(&plan.arms[left], &plan.arms[right])
            .into_iter()
            .map(|one| (one.what, one.left, one.right))
            .collect()
    };
    let row = |what: &str, left: &str, right: &str| (what.into(), left.into(), right.into());
    assert_eq!(describe(0, 1), [row("server.members", "1", "3 members")]);
    assert_eq!(describe(0, 2), [row("server.members", "1", "replica set of 1")]);
    assert_eq!(describe(1, 3), [row("server.after_start", "none", "/experiments/./set-up")]);
}

/// A load with one session on a set would take minutes.
#[test]
fn a_record_of_a_set_is_sized_on_a_server_that_stands_alone() {
    let sized = std::cell::RefCell::new(Vec::new());
    let text = |server: &str| {
        format!(
            "plimsoll: 1\nname: sized\nworkload: {{working_set: 150%, preset: c}}\narms: {{one: {{engine: mongodb, server: {server}}}}}\nload: {{closed: {{threads: 1}}}}\n"
        )
    };
    let overrides = Overrides::default();
    let surroundings = Surroundings {
        engines: &ENGINES,
        measure: &|_, _, server, _| {
            sized.borrow_mut().push(server.cloned().expect("one is started"));
            Ok(1_200.0)
        },
        ..surroundings(&overrides)
    };
    let mut records = Vec::new();
    for server in ["mongod", "{members: 3}", "{replica_set: true}"] {
        let plan = check(&text(server), "sized.yaml", &surroundings).unwrap();
        records.push(plan.arms[0].data.records);
    }
    let sized = sized.into_inner();
    assert_eq!(sized.len(), 3);
    assert!(sized.iter().all(|server| *server == sized[0]), "{sized:?}");
    assert!(records.iter().all(|number| *number == records[0]));
}

#[test]
fn what_is_there_already_is_measured_and_not_changed_by_inserts() {
    let one = "uri: 'mongodb://db', existing: use";
    let read = "preset: a";
    let with = |arm: &str, operations: &str| {
        let checked = checked_under(operations, &format!("  one: {{{arm}}}"));
        checked.map_err(|problems| problems.to_string())
    };
    assert!(with(one, read).is_ok());
    let inserts = "preset: d";
    let said = with(one, inserts).unwrap_err();
    assert!(said.contains("would insert others beside them"), "{said}");
    assert!(said.contains("`insert_into_existing: true`"), "{said}");
    assert!(with(&format!("{one}, insert_into_existing: true"), inserts).is_ok());
    let said = with(&format!("{one}, upsert: true"), read).unwrap_err();
    assert!(said.contains("would replace existing documents"), "{said}");
    // A server that is started for the arm has none.
    assert!(with("existing: use, upsert: true", inserts).is_ok());
}

#[test]
fn caches_are_emptied_only_where_they_are_in_reach() {
    let with = |arm: &str| {
        let operations = "preset: c}\nmeasurement: {caches: cold";
        let checked = checked_under(operations, &format!("  one: {{{arm}}}"));
        checked.map_err(|problems| problems.to_string())
    };
    let plan = with("").unwrap();
    assert_eq!(plan.measurement.caches, Caches::Cold);
    for (arm, why) in [
        ("engine: noop", "its engine keeps no data"),
        ("uri: 'mongodb://db'", "a running server"),
        ("server: {members: 3}", "each member of its replica set"),
    ] {
        let said = with(arm).unwrap_err();
        assert!(said.contains(why), "{said}");
        assert!(said.contains("remove `caches`"), "{said}");
    }
}

/// A file of an application with this objective and these thresholds.
fn application(judged: &str) -> Result<Plan, Problems> {
    let text = format!(
        "plimsoll: 1
name: application
workload:
  collections: {{orders: {{records: 100, document: {{customer: {{text: 12, distinct: 5}}}}, indexes: [{{customer: 1}}]}}}}
  operations:
    by-customer: {{find: orders, by: customer}}
    place: {{insert: orders}}
    never: {{count: orders, by: customer}}
  mixes: {{day: {{by-customer: 3, place: 1}}, night: {{by-customer: 1}}}}
defaults: {{engine: mongodb}}
arms: {{one: , two: }}
load: {{open: {{rates: [500]}}}}
{judged}
"
    );
    let overrides = Overrides::default();
    let surroundings = Surroundings { engines: &ENGINES, ..surroundings(&overrides) };
    check(&text, "application.yaml", &surroundings)
}

#[test]
fn operations_of_an_application_have_bounds_of_their_own() {
    let plan = application(
        "objective: {response: {p99: 20ms}, operations: {place: {response: {p99: 30ms}}, by-customer: {response: {p99: 10ms, p50: 1ms}}}}
thresholds: [{metric: response.p99 <= 50ms, operation: place, arm: two}, {metric: throughput >= 300, operation: by-customer}]",
    )
    .unwrap_or_else(|problems| panic!("{problems}"));
    let objective = plan.objective.as_ref().unwrap();
    assert!(objective.search.is_some());
    let bounds: Vec<_> =
        objective.operations.iter().map(|one| (one.operation.name(), &one.response[..])).collect();
    let customers = [(50.0, 1_000_000), (99.0, 10_000_000)];
    assert_eq!(bounds, [("by-customer", &customers[..]), ("place", &[(99.0, 30_000_000)])]);
    let names: Vec<_> = plan.thresholds.iter().filter_map(|one| one.metric.operation()).collect();
    assert_eq!(names.iter().map(|one| one.name()).collect::<Vec<_>>(), ["place", "by-customer"]);
    // They are part of what is measured where the line is searched.
    let without = application("objective: {response: {p99: 20ms}}").ok().unwrap();
    assert_ne!(plan.hash(), without.hash());
    let back: Plan = serde_json::from_str(&serde_json::to_string(&plan).unwrap()).unwrap();
    assert_eq!(back, plan);
    // Bounds on operations alone are enough to search the line.
    let alone = "objective: {operations: {by-customer: {response: {p99: 10ms}}}}";
    let alone = application(alone).ok().unwrap();
    assert!(alone.objective.unwrap().search.is_some());
}

#[test]
fn an_operation_decides_by_its_name() {
    let plan = application(
        "compare: {primary: [response.p99 of place, throughput, throughput of by-customer], margins: {throughput: 2%, response.p99 of place: 20%}}
thresholds: [response.p99 of place <= 50ms]",
    )
    .unwrap_or_else(|problems| panic!("{problems}"));
    let names: Vec<_> = plan.compare.primary.iter().map(|one| one.name()).collect();
    assert_eq!(names, ["response.p99 of place", "throughput", "throughput of by-customer"]);
    let margins: Vec<_> =
        plan.compare.primary.iter().map(|one| plan.compare.margin(*one)).collect();
    assert_eq!(margins, [Some(0.2), Some(0.02), Some(0.02)]);
    assert_eq!(plan.thresholds[0].metric, plan.compare.primary[0]);
    let back: Plan = serde_json::from_str(&serde_json::to_string(&plan).unwrap()).unwrap();
    assert_eq!(back, plan);
}

#[test]
fn operations_that_cannot_decide_are_refused() {
    let problems = application(
        "compare: {primary: [response.p99 of plaice, size of place, response.p99 of, throughput of place, throughput of place], margins: {cpu of place: 3%}}
thresholds: [{metric: response.p99 of place <= 50ms, operation: place}, written of place <= 1MB]",
    );
    insta::assert_snapshot!(problems.unwrap_err().render(false, 100));
}

#[test]
fn bounds_on_operations_that_nobody_measures_are_refused() {
    let problems = application(
        "objective: {response: {p99: 20ms}, operations: {by-customs: {response: {p99: 10ms}}, never: {response: {p99: 1ms}}}}
thresholds:
- {metric: response.p99 <= 50ms, operation: read}
- {metric: response.p99 <= 50ms, operation: place, mix: night}
- {metric: size <= 50MB, operation: place}
- {metric: throughput >= 200, operation: place}",
    );
    insta::assert_snapshot!(problems.unwrap_err().render(false, 100));
}
