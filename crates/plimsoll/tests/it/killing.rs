//! Whatever is killed, and whenever: nothing that was made stays behind, settings of the kernel are as before, and no slice that was stored is lost.
//!
//! `PLIMSOLL_KILLS` sets how often; `./x kills` does it a hundred times.

use crate::laboratory::{Laboratory, send, state, wait_until};
use plimsoll_disk::RingSwitch;
use plimsoll_record::ExperimentRecord;
use plimsoll_testing::{Need, has};
use rustix::process::Signal;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

/// Where the program keeps its journals, within a laboratory.
const STATE: &str = ".local/state";
/// Two filesystems on emulated disks without limits, so that nothing has to be calibrated, in groups that limit memory and CPU. It would
/// take hours.
const EXPERIMENT: &str = "
plimsoll: 1
name: killed
workload: {records: 5k, preset: a}
defaults:
  engine: wiredtiger
  cache_size: 16MiB
  disk: {capacity: 1GiB, trace: 10k}
  limits: {memory: 256MiB, cpus: 1.5}
  kernel: {swappiness: 11, dirty_background_ratio: 7%}
arms:
  xfs: {filesystem: xfs}
  ext4: {filesystem: ext4}
  file: {filesystem: xfs, disk: {capacity: 1GiB, backing: file}}
load: {closed: {threads: 2}}
measurement: {warm_up: 0s, duration: 2s, blocks: 1000}
";
/// What that sets on the whole machine; no other test does.
const SETTINGS: [&str; 2] = ["/proc/sys/vm/swappiness", "/proc/sys/vm/dirty_background_ratio"];
/// A mongod that stands alone, and a replica set.
const ON_SERVERS: &str = "
plimsoll: 1
name: killed
workload: {records: 500, preset: a}
defaults:
  engine: mongodb
  cache_size: 32MiB
  disk: {capacity: 8GiB, trace: 10k}
  limits: {memory: 1GiB, cpus: 1.5}
  filesystem: xfs
  kernel: {dirty_expire: 21s}
arms:
  alone: {}
  set: {server: {members: 3}}
load: {closed: {threads: 2}}
measurement: {warm_up: 0s, duration: 2s, blocks: 1000}
";

const SETTINGS_ON_SERVERS: [&str; 1] = ["/proc/sys/vm/dirty_expire_centisecs"];

/// Kills some process after up to `longest` milliseconds, again and again.
fn kill_at_random(experiment: &str, longest: u64, settings: &[&str]) {
    let settings_now =
        || settings.iter().map(|file| fs::read_to_string(file).unwrap()).collect::<Vec<_>>();
    let settings_before = settings_now();
    let mut killed_while_set = 0;
    let kills = std::env::var("PLIMSOLL_KILLS").map_or(9, |text| text.parse().unwrap());
    let laboratory = Laboratory::new();
    laboratory.write("experiment.yaml", experiment);
    let mut random = Random(0x9e37_79b9);
    let mut killed: BTreeMap<String, u32> = BTreeMap::new();
    let mut slices = 0;
    let mut tokens = BTreeSet::new();
    for number in 0..kills {
        let servers = std::env::var_os(plimsoll_testing::SERVERS).unwrap_or_default();
        let environment = vec![(plimsoll_testing::SERVERS, servers)];
        let running = laboratory.start_with(&["run", "experiment.yaml", "--quiet"], environment);
        let before = laboratory.record_so_far();
        let waits = random.below(longest);
        std::thread::sleep(Duration::from_millis(waits));
        let targets = laboratory.processes();
        assert!(!targets.is_empty(), "{}", running.end().err);
        let target = targets[random.below(targets.len() as u64) as usize];
        let role = role(target, running.id());
        let seen = laboratory.record_so_far();
        tokens.extend(journals(&laboratory, STATE));
        killed_while_set += u32::from(settings_now() != settings_before);
        send(target, Signal::KILL);
        if role != "run" {
            // The run is invalid and the next one begins; then the user stops it.
            std::thread::sleep(Duration::from_millis(random.below(1_500)));
            running.send(Signal::INT);
        }
        let said = running.end();
        if role != "run" {
            assert_ne!(said.code, Some(0), "{said:?}");
        } else if random.below(2) == 0 {
            // At once, while what the runner had started may still be there.
            let cleaned = laboratory.run(&["clean"]);
            assert_eq!(cleaned.code, Some(0), "{cleaned:?}");
            assert!(laboratory.processes().is_empty(), "after kill {number}");
        } else {
            wait_until("what a killed runner had started", || laboratory.processes().is_empty());
            let cleaned = laboratory.run(&["clean"]);
            assert_eq!(cleaned.code, Some(0), "{cleaned:?}");
        }
        let left = left_behind(&laboratory, &[STATE.into()], &["cache".into()], &tokens);
        assert!(
            left.is_empty(),
            "kill {number}, of {role} after {waits} ms, left {left:#?}\n{}",
            said.err
        );
        assert_eq!(settings_now(), settings_before, "kill {number}, of {role}: {settings:?}");
        // Others may have it on while they hold its lock.
        let switch = RingSwitch::lock();
        assert!(!RingSwitch::is_on(), "kill {number}, of {role}: {}", RingSwitch::FILE);
        drop(switch);
        if let Some(after) = laboratory.record_so_far() {
            for earlier in [&before, &seen].into_iter().flatten() {
                nothing_is_lost(earlier, &after);
            }
            slices = all_slices(&after);
        }
        *killed.entry(role).or_insert(0) += 1;
    }
    println!(
        "killed {killed:?}; {slices} slices are there; settings of the kernel were set at {killed_while_set} of {kills} kills; nothing was left behind"
    );
}

/// What a process of the laboratory is: the hidden command of the program, or another program's name.
pub fn role(process: u32, runner: u32) -> String {
    if process == runner {
        return "run".into();
    }
    let words = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let words: Vec<String> = words
        .split(|byte| *byte == 0)
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect();
    let is_program = words[0].ends_with("plimsoll");
    match words.get(1) {
        // For a moment a new process looks like the one that starts it.
        Some(command) if is_program && command == "run" => "starting".into(),
        Some(command) if is_program => command.clone(),
        _ => words[0].rsplit('/').next().unwrap_or_default().to_owned(),
    }
}

/// The tokens of the journals below this folder of a laboratory. The names of control groups hold them.
pub fn journals(laboratory: &Laboratory, state: &str) -> Vec<String> {
    let journals = fs::read_dir(laboratory.path(state).join("plimsoll/journal"));
    let names = journals.into_iter().flatten().flatten();
    names
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let (_, token) = name.trim_start_matches('.').rsplit_once('-')?;
            Some(token.split('.').next()?.to_owned())
        })
        .collect()
}

/// Mounts, loop devices, control groups, journals and data directories of a laboratory, whose machines keep journals and data below these folders.
pub fn left_behind(
    laboratory: &Laboratory,
    states: &[String],
    caches: &[String],
    tokens: &BTreeSet<String>,
) -> Vec<String> {
    let folder = fs::canonicalize(laboratory.path(".")).unwrap();
    let folder = folder.to_str().unwrap();
    let mut left = Vec::new();
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    left.extend(mounts.lines().filter(|line| line.contains(folder)).map(str::to_owned));
    for entry in fs::read_dir("/sys/block").unwrap() {
        let entry = entry.unwrap();
        let backing =
            fs::read_to_string(entry.path().join("loop/backing_file")).unwrap_or_default();
        if backing.contains(folder) {
            left.push(format!("{} on {backing}", entry.path().display()));
        }
    }
    for root in ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"] {
        let mut folders = vec![std::path::PathBuf::from(root)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                if tokens.iter().any(|token| name.contains(token)) {
                    left.push(entry.path().display().to_string());
                }
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(entry.path());
                }
            }
        }
    }
    let states = states.iter().map(|state| format!("{state}/plimsoll/journal"));
    let caches = caches.iter().map(|cache| format!("{cache}/plimsoll/data"));
    for folder in states.chain(caches) {
        let entries = fs::read_dir(laboratory.path(&folder));
        let entries = entries.into_iter().flatten().flatten();
        left.extend(entries.map(|entry| entry.path().display().to_string()));
    }
    left
}

/// Every slice that was in the store is still there, and those of a point that was cut off follow each other without a gap.
pub fn nothing_is_lost(earlier: &ExperimentRecord, later: &ExperimentRecord) {
    for (before, after) in earlier.runs.iter().zip(&later.runs) {
        assert_eq!(before.arm, after.arm);
        assert_eq!(before.block, after.block);
        assert_eq!(before.attempt, after.attempt);
        for (before, after) in before.points.iter().zip(&after.points) {
            for (was, is) in before.slices.iter().zip(&after.slices) {
                // What a server wrote about itself is added when its run has ended.
                let mut known = is.clone();
                known.telemetry.retain(|name, _| was.telemetry.contains_key(name));
                assert_eq!(known, *was);
            }
            assert!(after.slices.len() >= before.slices.len());
            for (index, slice) in after.slices.iter().enumerate() {
                assert_eq!(slice.index as usize, index);
            }
        }
        assert!(state(before) != "finished" || state(after) == "finished");
    }
    assert!(later.runs.len() >= earlier.runs.len());
}

fn all_slices(record: &ExperimentRecord) -> usize {
    let points = record.runs.iter().flat_map(|run| &run.points);
    points.map(|point| point.slices.len()).sum()
}

/// Steps of SplitMix64: other moments each time, the same in every run of the test.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

mod once {
    use super::*;

    #[test]
    fn a_killed_run_leaves_nothing_behind() {
        if has("killing::a_killed_run_leaves_nothing_behind", &[Need::Root]) {
            kill_at_random(EXPERIMENT, 4_000, &SETTINGS);
        }
    }
}

mod slow {
    use super::*;

    #[test]
    fn a_killed_run_leaves_no_server_behind() {
        let test = "killing::a_killed_run_leaves_no_server_behind";
        if has(test, &[Need::Root, Need::Server("mongod")]) {
            kill_at_random(ON_SERVERS, 12_000, &SETTINGS_ON_SERVERS);
        }
    }
}
