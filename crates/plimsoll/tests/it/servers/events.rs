//! What is done to servers on purpose while they are measured, and what their clients and the records say of it.

use super::*;
use plimsoll_record::Disturbance;
use serde_json::Value;

const MONGOD: &str = "mongod";

/// An experiment on servers that something is done to.
fn disturbed(arms: &str, server: &str, seconds: u32, events: &str) -> String {
    format!(
        "
plimsoll: 1
name: disturbed
workload: {{records: 500, mixes: {{writes: {{read: 2, update: 4, insert: 4}}}}}}
defaults: {{engine: mongodb, cache_size: 256MiB, server: {server}}}
arms: {{{arms}}}
load: {{open: {{rates: [100], sessions: 8}}}}
measurement: {{warm_up: 0s, duration: {seconds}s, blocks: 1}}
events: {events}
"
    )
}

fn disturbance(run: &RunRecord) -> &Disturbance {
    let end = run.points[0].end.as_ref().unwrap();
    end.disturbance.as_deref().unwrap()
}

/// When a member of the run's server was allowed to take writes, nanoseconds from the start of the point: as the logs say, by the wall clock.
fn became_primary(run: &RunRecord) -> Vec<i64> {
    let started = disturbance(run).started_ns;
    let wall_now = jiff::Timestamp::now().as_nanosecond();
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let monotonic_now = i128::from(now.tv_sec) * 1_000_000_000 + i128::from(now.tv_nsec);
    let start = wall_now - monotonic_now + i128::from(started);
    let server = run.rig.as_ref().unwrap().server.as_ref().unwrap();
    let mut found = Vec::new();
    for member in &server.members {
        let log = fs::read_to_string(member.log.as_ref().unwrap()).unwrap();
        let is_it = |line: &&str| line.contains("Transition to primary complete");
        for line in log.lines().filter(is_it) {
            let line: Value = serde_json::from_str(line).unwrap();
            let at: jiff::Timestamp = line["t"]["$date"].as_str().unwrap().parse().unwrap();
            found.push(i64::try_from(at.as_nanosecond() - start).unwrap());
        }
    }
    found.sort_unstable();
    found
}

mod once {
    use super::*;

    #[test]
    fn a_primary_that_is_killed_takes_no_acknowledged_write_with_it() {
        needs!([Need::Server(MONGOD)]);
        let laboratory = open_laboratory();
        let events = "[{at: 2s, kill: primary, restart_after: 5s}, {at: 24s, step_down: true}]";
        let arms = "one: {write_concern: majority}";
        let server = "{members: 3, ready_within: 300s}";
        let text = disturbed(arms, server, 30, events);
        let (said, record) = run_text(&laboratory, text);
        assert_eq!(runs(&record), [("one", 0, 1, "finished")], "{said:?}");
        let run_record = &record.runs[0];
        let seen = disturbance(run_record);
        let [killed, stepped_down] = seen.events.as_slice() else {
            panic!("{seen:?}");
        };
        assert!(killed.at_ns >= 2_000_000_000, "{seen:?}");
        assert!(killed.until_ns.unwrap() >= killed.at_ns + 5_000_000_000);
        assert!(stepped_down.until_ns.is_some(), "{seen:?}");
        assert_ne!(killed.member, stepped_down.member, "another was elected");
        // In the log of the servers, the next primary takes writes while the clients have none; theirs follow.
        let permitted = became_primary(run_record);
        for event in [killed, stepped_down] {
            let at = event.at_ns as i64;
            let next = permitted.iter().find(|when| **when > at).unwrap();
            let within = |gap: &&(u64, u64)| (gap.0 as i64..gap.1 as i64).contains(next);
            let is_long = next - at > 200_000_000;
            let is_seen = seen.write_gaps.iter().any(|gap| within(&gap));
            assert!(!is_long || is_seen, "{next} {seen:?}");
        }
        let kept = seen.acknowledged.as_ref().unwrap();
        assert!(kept.writes > 100 && kept.records > 100, "{kept:?}");
        assert_eq!((kept.lost, kept.unread), (0, 0), "{kept:?}");
        assert!(said.out.contains("All "), "{}", said.out);
        let page = fs::read_to_string(page_of(&said.out)).unwrap();
        for part in [
            "id=\"events\"",
            "the primary is killed, and started again after 5s",
            "class=\"event\"",
        ] {
            assert_contains(&page, part);
        }
        replica_sets::nothing_is_left(&laboratory);
    }
}

mod slow {
    use super::*;

    #[test]
    fn a_server_that_is_killed_alone_comes_back_and_keeps_its_journal() {
        needs!([Need::Server(MONGOD)]);
        let laboratory = open_laboratory();
        let arms = "memory: {}, journal: {journal: true}";
        let events = "[{at: 2s, kill: primary, restart_after: 1s}, {at: 8s, pause: 1s}]";
        let text = disturbed(arms, "{ready_within: 300s}", 12, events);
        let (said, record) = run_text(&laboratory, text);
        let mut states = runs(&record);
        states.sort_unstable();
        let finished = [("journal", 0, 1, "finished"), ("memory", 0, 1, "finished")];
        assert_eq!(states, finished, "{said:?}");
        for run in &record.runs {
            let seen = disturbance(run);
            assert_eq!(seen.events.len(), 2, "{seen:?}");
            let killed = &seen.events[0];
            assert!(killed.until_ns.is_some(), "it came back: {seen:?}");
            let gone = |gap: &&(u64, u64)| gap.1 > killed.at_ns + 1_000_000_000;
            assert!(seen.write_gaps.iter().any(|gap| gone(&gap)), "{seen:?}");
            let kept = seen.acknowledged.as_ref().unwrap();
            assert!(kept.writes > 0 && kept.unread == 0, "{kept:?}");
            if run.arm == "journal" {
                assert_eq!(kept.lost, 0, "{kept:?}");
            }
        }
        replica_sets::nothing_is_left(&laboratory);
    }

    /// A filesystem without barriers flushes nothing: an acknowledged write is lost there that is kept elsewhere.
    #[test]
    fn a_power_cut_takes_nothing_that_waited_for_a_flush() {
        needs!([
            Need::Root,
            Need::File("/dev/fuse"),
            Need::File("/dev/loop-control"),
            Need::Server(MONGOD)
        ]);
        let laboratory = open_laboratory();
        let text = "
plimsoll: 1
name: cuts
workload: {records: 500, mixes: {inserts: {insert: 1}}}
defaults: {cache_size: 256MiB, filesystem: ext4, disk: {capacity: 2GiB, backing: memory}}
arms:
  server: {engine: mongodb, journal: true, server: {ready_within: 300s}}
  embedded: {engine: wiredtiger, durable: true}
  broken: {engine: mongodb, journal: true, filesystem: {kind: ext4, mount: nobarrier}}
load: {open: {rates: [100], sessions: 8}}
measurement: {warm_up: 0s, duration: 12s, blocks: 1}
events: {at: 3s, power_cut: {seed: 3}}
";
        let (said, record) = run_text(&laboratory, text.to_owned());
        let mut states = runs(&record);
        states.sort_unstable();
        let finished = ["broken", "embedded", "server"].map(|arm| (arm, 0, 1, "finished"));
        assert_eq!(states, finished, "{said:?}");
        for run in &record.runs {
            let seen = disturbance(run);
            let [event] = seen.events.as_slice() else {
                panic!("{seen:?}");
            };
            let cut = event.cut.as_ref().unwrap();
            assert_eq!(cut.sector_bytes, 4096);
            assert_eq!(cut.unflushed_writes, cut.kept_writes + cut.lost_writes + cut.torn_writes);
            let kept = seen.acknowledged.as_ref().unwrap();
            let [of_cut] = kept.by_cut.as_slice() else {
                panic!("{kept:?}");
            };
            assert!(of_cut.acknowledged > 100, "{kept:?}");
            if run.arm == "broken" {
                assert!(kept.lost > 0 && of_cut.lost == kept.lost, "{kept:?}");
                continue;
            }
            assert_eq!((kept.lost, kept.unread, &kept.unusable), (0, 0, &None), "{kept:?}");
            assert!(kept.records >= of_cut.acknowledged, "{kept:?}");
            assert!(event.until_ns.is_some(), "it came back: {seen:?}");
            if run.arm == "server" {
                assert!(kept.writes > of_cut.acknowledged, "it took writes again: {kept:?}");
            }
        }
        // Beside other programs no point is valid, but what is lost is known.
        let json = laboratory.run(&["report", "last", "--json"]);
        let analysis: plimsoll_judge::Analysis = serde_json::from_str(&json.out).unwrap();
        assert_eq!(analysis.events.len(), 3, "{json:?}");
        for result in &analysis.events {
            let kept = result.acknowledged.as_ref().unwrap();
            let is_broken = result.arm == "broken";
            assert_eq!((kept.cuts, kept.lost > 0), (1, is_broken), "{result:?}");
        }
        let text = "
plimsoll: 1
name: cuts
workload: {records: 500, mixes: {inserts: {insert: 1}}}
defaults: {engine: mongodb, cache_size: 256MiB, filesystem: xfs, disk: {capacity: 2GiB, backing: memory}}
arms: {memory: {server: {ready_within: 300s}}}
load: {open: {rates: [100], sessions: 8}}
measurement: {warm_up: 0s, duration: 13s, blocks: 1}
events: {at: 1s, power_cut: {seed: 3, every: 6s, sector: 512B}}
";
        let (said, record) = run_text(&laboratory, text.to_owned());
        assert_eq!(runs(&record), [("memory", 0, 1, "finished")], "{said:?}");
        let seen = disturbance(&record.runs[0]);
        let cuts: Vec<_> = seen.events.iter().filter_map(|event| event.cut.as_deref()).collect();
        assert!(cuts.len() == 2 && cuts.iter().all(|cut| cut.sector_bytes == 512), "{seen:?}");
        assert_ne!(cuts[0].seed, cuts[1].seed);
        let by_cut = &seen.acknowledged.as_ref().unwrap().by_cut;
        assert_eq!(by_cut.len(), 2, "{seen:?}");
        replica_sets::nothing_is_left(&laboratory);
    }

    /// Each transaction inserts into both collections, so they have grown by the same.
    #[test]
    fn a_primary_that_steps_down_within_transactions_ends_no_run() {
        needs!([Need::Server(MONGOD)]);
        let laboratory = open_laboratory();
        let text = "
plimsoll: 1
name: check-out
workload:
  collections:
    orders: {records: 100, document: {_id: {object_id: }, note: {text: 20}}}
    lines: {records: 100, document: {_id: {object_id: }, count: {int: 3}}}
  operations:
    check-out: {transaction: [{insert: orders}, {insert: lines}], write_concern: majority, retries: 1000}
  mixes: {day: {check-out: 1}}
defaults: {engine: mongodb, cache_size: 256MiB, server: {members: 3, ready_within: 300s}}
arms: {one: {}}
load: {open: {rates: [100], sessions: 8}}
measurement: {warm_up: 0s, duration: 12s, blocks: 1}
events: [{at: 2s, step_down: true}]
";
        let (said, record) = run_text(&laboratory, text.to_owned());
        assert_eq!(runs(&record), [("one", 0, 1, "finished")], "{said:?}");
        let run = &record.runs[0];
        let end = run.points[0].end.as_ref().unwrap();
        // A session learns of the step-down by the error that its next statement gets.
        assert!(end.retries > 0, "{end:?}");
        assert!(end.errors.is_empty(), "{end:?}");
        assert!(disturbance(run).events[0].until_ns.is_some(), "{end:?}");
        let [before, after] = &run.application[..] else { panic!("{:?}", run.application) };
        let grown = [0, 1].map(|place| {
            let [before, after] = [before, after].map(|state| &state.collections[place]);
            assert_eq!(before.documents, 100);
            after.documents - before.documents
        });
        assert!(grown[0] > 4 && grown[0] == grown[1], "{grown:?}");
        replica_sets::nothing_is_left(&laboratory);
    }

    #[test]
    fn a_run_that_is_interrupted_while_a_member_is_gone_leaves_nothing() {
        needs!([Need::Server(MONGOD)]);
        let laboratory = open_laboratory();
        let events = "[{at: 100ms, kill: secondary}, {at: 200ms, pause: 500s, member: secondary}]";
        let server = "{members: 3, ready_within: 300s}";
        let mut running = start(&laboratory, disturbed("one: {}", server, 600, events));
        let one_is_gone = |_: &plimsoll_record::ExperimentRecord| {
            let members = servers_of(&laboratory, MONGOD);
            let stands_still = |process: &u32| {
                let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
                let state = stat.rsplit(')').next();
                state.is_some_and(|rest| rest.trim_start().starts_with('T'))
            };
            members.len() == 2 && members.iter().any(stands_still)
        };
        laboratory.wait_for_record(&mut running, one_is_gone).unwrap();
        running.send(Signal::INT);
        let said = running.end();
        let record = laboratory.record();
        assert_eq!(runs(&record), [("one", 0, 1, "interrupted")], "{said:?}");
        replica_sets::nothing_is_left(&laboratory);
    }
}
