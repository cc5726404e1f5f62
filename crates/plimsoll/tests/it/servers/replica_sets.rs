//! Replica sets of mongod that the program starts: measured by both clients, limited together, and never left behind.

use super::*;

const MONGOD: &str = "mongod";
const THREE: &str = "{members: 3, ready_within: 300s}";

/// An experiment with these arms, each on a set of three.
fn on_sets(arms: &str, duration: &str, blocks: u32) -> String {
    format!(
        "
plimsoll: 1
name: sets
workload: {{records: 200, preset: a, data_integrity: true}}
defaults: {{engine: mongodb, cache_size: 256MiB, server: {THREE}}}
arms: {{{arms}}}
load: {{closed: {{threads: 4}}}}
measurement: {{warm_up: 0s, duration: {duration}, blocks: {blocks}}}
"
    )
}

/// The run of an arm on three members: complete, and each of them is in the record.
fn was_on_three(run: &RunRecord) {
    was_served(run, MONGOD);
    assert_eq!(run.records_loaded, Some(200));
    let server = run.rig.as_ref().unwrap().server.as_ref().unwrap();
    assert_eq!(server.members.len(), 3);
    for member in &server.members {
        let (_, port) = member.address.rsplit_once(':').unwrap();
        assert!(member.command.contains(port), "{member:?}");
        let log = fs::read_to_string(member.log.as_ref().unwrap()).unwrap();
        assert!(log.contains(port), "{}", member.address);
    }
    let log = fs::read_to_string(server.log.as_ref().unwrap()).unwrap();
    let first = &server.members[0].address;
    assert!(log.contains(&format!("\n{first} PRIMARY, ")), "{log}");
    let notes = &run.engine.as_ref().unwrap().notes;
    assert_eq!(notes["server"], "primary of the replica set plimsoll");
    assert_eq!(&notes["server_address"], first);
    assert_eq!(notes["default_write_concern"], "majority");
    let slices = run.points.iter().flat_map(|point| &point.slices);
    let mut sums = [0.0; 4];
    let [of_all, of_each @ ..] = &figures::SERVER_MEMBER_CPU;
    for slice in slices {
        let figure = |name: &str| slice.telemetry.get(name).copied().unwrap_or_default();
        sums[0] += figure(figures::SERVER_CPU);
        sums[1] += figure(of_all);
        sums[2] += figure(of_each[0]);
        sums[3] += figure(of_each[1]);
    }
    let [total, first, second, third] = sums;
    assert!(first > 0.0 && second > 0.0 && third > 0.0, "{sums:?}");
    assert!((total - first - second - third).abs() < 1.0, "{sums:?}");
}

pub(super) fn nothing_is_left(laboratory: &Laboratory) {
    assert!(servers_of(laboratory, MONGOD).is_empty());
    let journals = fs::read_dir(laboratory.path(".local/state/plimsoll/journal")).unwrap();
    assert_eq!(journals.count(), 0, "all of it was undone");
    assert!(laboratory.data_directories().is_empty());
}

fn measures(record: &ExperimentRecord) -> bool {
    let points = record.runs.first().map_or(&[][..], |run| &run.points);
    points.iter().any(|point| !point.slices.is_empty())
}

#[test]
fn numbers_of_members_that_cannot_be_are_refused() {
    let laboratory = open_laboratory();
    for members in ["0", "8"] {
        let text =
            on_sets("one: {}", "1s", 1).replace("members: 3", &format!("members: {members}"));
        laboratory.write("experiment.yaml", text);
        let said = run(&laboratory, &["run", "experiment.yaml"]);
        assert_eq!(said.code, Some(104), "{said:?}");
        assert_eq!(said.err.matches("members").count(), 2, "{}", said.err);
    }
    assert!(laboratory.record_so_far().is_none());
}

mod slow {
    use super::*;

    #[test]
    fn both_clients_measure_a_replica_set() {
        needs!([Need::Server(MONGOD)]);
        let laboratory = open_laboratory();
        let arms = "lean: {}, driver: {client: driver}, elsewhere: {client: driver, read_preference: secondary, compressors: zstd}";
        let (said, record) = run_text(&laboratory, on_sets(arms, "1s", 1));
        let mut states = runs(&record);
        states.sort_unstable();
        let finished = ["driver", "elsewhere", "lean"].map(|arm| (arm, 0, 1, "finished"));
        assert_eq!(states, finished, "{said:?}");
        for run in &record.runs {
            was_on_three(run);
            let settings = &run.engine.as_ref().unwrap().settings;
            let values = ["read_preference", "compressors"]
                .map(|name| settings.get(name).map_or("", String::as_str));
            let is_elsewhere = run.arm == "elsewhere";
            assert_eq!(values == ["secondary", "zstd"], is_elsewhere, "{values:?}");
            for end in run.points.iter().filter_map(|point| point.end.as_ref()) {
                assert!(end.errors.is_empty(), "{:?}", end.errors);
            }
        }
        nothing_is_left(&laboratory);
        let plan = run(&laboratory, &["plan", "experiment.yaml"]);
        assert!(plan.out.contains("mongod, 3 members"), "{plan:?}");
        let page = fs::read_to_string(page_of(&said.out)).unwrap();
        assert!(page.contains("mongod, 3 members"));
    }

    #[test]
    fn a_set_of_one_is_a_set() {
        needs!([Need::Server(MONGOD)]);
        let laboratory = open_laboratory();
        let arms = "one: {server: {replica_set: true}}";
        let record = finishes(&laboratory, on_sets(arms, "1s", 1));
        let notes = &record.runs[0].engine.as_ref().unwrap().notes;
        assert_eq!(notes["server"], "primary of the replica set plimsoll");
        nothing_is_left(&laboratory);
    }

    #[test]
    fn a_replica_set_on_an_emulated_disk_under_limits() {
        needs!([Need::Root, Need::File("/dev/fuse"), Need::Server(MONGOD)]);
        let laboratory = open_laboratory();
        let arms = "one: {disk: {capacity: 6GiB}, filesystem: ext4, limits: {memory: 1536MiB}}";
        let record = finishes(&laboratory, on_sets(arms, "1s", 1));
        was_on_three(&record.runs[0]);
        let rig = record.runs[0].rig.as_ref().unwrap();
        assert_eq!(rig.limits.memory_bytes, Some(1536 << 20));
        // All three are in the group: none of them is content with less than 64 MiB.
        let slices = record.runs[0].points.iter().flat_map(|point| &point.slices);
        let charged = slices.filter_map(|slice| slice.telemetry.get(figures::GROUP_MEMORY));
        let most = charged.fold(0.0_f64, |most, bytes| most.max(*bytes));
        assert!(most > f64::from(192 << 20), "{most}");
        nothing_is_left(&laboratory);
    }

    #[test]
    fn a_secondary_that_is_killed_fails_its_run_by_name() {
        needs!([Need::Server(MONGOD)]);
        let laboratory = open_laboratory();
        let mut running = start(&laboratory, on_sets("one: {}", "4s", 2));
        laboratory.wait_for_record(&mut running, measures).unwrap();
        let members = servers_of(&laboratory, MONGOD);
        assert_eq!(members.len(), 3);
        let is_second = |process: &&u32| {
            let words = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&words).contains("/member-2")
        };
        send(*members.iter().find(is_second).unwrap(), Signal::KILL);
        let said = running.end();
        let record = laboratory.record();
        let states = [("one", 0, 1, "failed"), ("one", 1, 1, "finished")];
        assert_eq!(runs(&record), states, "{said:?}");
        let message = failure(&record.runs[0]);
        let words = "the server mongod (member 2 of 3) is gone: it was killed (SIGKILL)";
        assert!(message.contains(words), "{message}");
        nothing_is_left(&laboratory);
    }

    #[test]
    fn a_replica_set_of_a_killed_program_is_cleaned_away_by_the_next() {
        needs!([Need::Server(MONGOD)]);
        let laboratory = open_laboratory();
        let mut running = start(&laboratory, on_sets("one: {}", "600s", 1));
        laboratory.wait_for_record(&mut running, measures).unwrap();
        let members = servers_of(&laboratory, MONGOD);
        assert_eq!(members.len(), 3);
        running.send(Signal::KILL);
        running.end();
        finishes(&laboratory, on_sets("one: {}", "1s", 1));
        nothing_is_left(&laboratory);
    }

    #[test]
    fn a_set_that_cannot_be_made_is_said() {
        needs!([Need::Server(MONGOD)]);
        let laboratory = open_laboratory();
        // Not started as a member of a set.
        let server = "{after_start: ['{plimsoll}', replica-set, initiate, '{members}']}";
        let message = fails(&laboratory, experiment(server, "", "1s", 1));
        let begins = "the server mongod was started, and the command after that failed: it ended with exit code 1: ";
        assert_contains(&message, begins);
        let words = "This node was not started with replication enabled";
        assert_contains(&message, words);
        // Its file makes it a member of a set that nobody initiates.
        let options = laboratory.write("mongod.conf", "replication:\n  replSetName: rs0\n");
        let options = options.display();
        let arm = format!("arguments: '--config {options}', connect_timeout: 1s");
        let message = fails(&laboratory, experiment(MONGOD, &arm, "1s", 1));
        assert_contains(&message, "`server: {members: 3}`");
        nothing_is_left(&laboratory);
    }
}
