use super::*;
use crate::testbed::laboratory::LOOPS;
use crate::testbed::processes::started_ticks;
use crate::testbed::wait::until;
use crate::testbed::{Journal, abandoned};
use plimsoll_testing::needs;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::time::Duration;

/// Longer than anything takes here.
const LONG: Duration = Duration::from_secs(30);

fn limits() -> LimitsSpec {
    LimitsSpec { memory_bytes: Some(32 << 20), ..LimitsSpec::default() }
}

mod slow {
    use super::*;

    #[test]
    fn a_group_that_took_the_place_of_ours_is_left_alone() {
        needs!(LOOPS);
        let state = tempfile::tempdir().unwrap();
        let journal = Journal::open(state.path(), "a test").unwrap();
        let made = RigParts::new(&journal);
        let group = Group::make(&limits(), &made).unwrap();
        let memory = group.paths.memory.unwrap();
        fs::remove_dir(&memory).unwrap();
        fs::create_dir(&memory).unwrap();
        let notes = made.undo();
        assert!(notes[0].contains("is another one now; it is left alone"), "{notes:?}");
        assert!(memory.exists());
        fs::remove_dir(&memory).unwrap();
        for directory in group.directories {
            assert!(!directory.exists());
        }
    }

    #[test]
    fn the_processes_in_an_abandoned_group_are_ended_with_it() {
        needs!(LOOPS);
        let state = tempfile::tempdir().unwrap();
        let journal = Journal::open(state.path(), "a test").unwrap();
        let made = RigParts::new(&journal);
        let group = Group::make(&limits(), &made).unwrap();
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        // Not written down: its owner was ended just before.
        group.admit(child.id()).unwrap();
        made.forget();
        drop((made, journal));
        // A process that another test starts just now holds the lock of every file until it is itself.
        let mut found = Vec::new();
        while found.is_empty() {
            found = abandoned(state.path()).unwrap();
        }
        let mut notes = Vec::new();
        found[0].undo(&mut |line| notes.push(line.to_owned())).unwrap();
        assert_eq!(notes.len(), group.directories.len(), "{notes:?}");
        assert_eq!(started_ticks(child.id()), None);
        child.wait().unwrap();
        assert!(group.directories.iter().all(|directory| !directory.exists()));
    }

    #[test]
    fn memory_follows_what_the_processes_take() {
        const MIB: u64 = 1 << 20;
        needs!(LOOPS);
        let state = tempfile::tempdir().unwrap();
        let journal = Journal::open(state.path(), "a test").unwrap();
        let made = RigParts::new(&journal);
        let requested = LimitsSpec { page_cache_bytes: Some(8 * MIB), ..LimitsSpec::default() };
        let mut group = Group::make(&requested, &made).unwrap();
        assert_eq!(group.limits, requested, "nothing is limited before");
        // A process with 64 MiB of its own, which says so, and 24 MiB of page cache.
        // In memory there would be no page cache: beside the test's own program there is a disk.
        let program = std::env::current_exe().unwrap();
        let file = tempfile::NamedTempFile::new_in(program.parent().unwrap()).unwrap();
        // What processes share is theirs too, and grows at will.
        let grows = tempfile::NamedTempFile::new_in("/dev/shm").unwrap();
        let script = "read go; x=$(head -c 67108864 /dev/zero | tr '\\0' x); head -c 25165824 /dev/zero >\"$0\"; sync \"$0\"; echo ready; while read -r go && [ \"$go\" = more ]; do head -c 4194304 /dev/zero >>\"$1\"; echo grown; done; echo ${#x}";
        let mut child = std::process::Command::new("bash")
            .args(["-c", script])
            .args([file.path(), grows.path()])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        group.admit(child.id()).unwrap();
        let mut orders = child.stdin.take().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
        writeln!(orders, "go").unwrap();
        assert_eq!(said.next().unwrap().unwrap(), "ready");
        let taken = limits::of_processes(&group.paths).unwrap();
        assert!(taken > 60 * MIB, "{taken}");
        let limit = group.size_memory().unwrap().unwrap();
        assert_eq!(group.limits.memory_bytes, Some(limit));
        assert!((taken - 4 * MIB..taken + 16 * MIB).contains(&limit), "{limit} beside {taken}");
        let memory = group.paths.memory.clone().unwrap();
        let name = if group.paths.version == 1 { "memory.limit_in_bytes" } else { "memory.max" };
        let in_force = || -> u64 {
            let text = fs::read_to_string(memory.join(name)).unwrap();
            text.trim().parse().unwrap()
        };
        assert!((limit..limit + 2 * MIB).contains(&in_force()));
        // What was beyond it is given up, and the process lives.
        let used =
            if group.paths.version == 1 { "memory.usage_in_bytes" } else { "memory.current" };
        let used: u64 = fs::read_to_string(memory.join(used)).unwrap().trim().parse().unwrap();
        assert!(used <= limit, "{used} of {limit}");
        // The processes take eight times as much as there is room for, step by step, and then less.
        for _ in 0..16 {
            writeln!(orders, "more").unwrap();
            assert_eq!(said.next().unwrap().unwrap(), "grown");
            assert!(until(LONG, || {
                let taken = limits::of_processes(&group.paths).unwrap();
                in_force() >= taken + 8 * MIB
            }));
        }
        let most = in_force();
        assert!(most > limit + 60 * MIB, "{most} after {limit}");
        grows.as_file().set_len(0).unwrap();
        assert!(until(LONG, || in_force() < limit + 4 * MIB));
        // The test reads the kernel's limit, not the one that was once requested.
        let too_low = in_force() - 4 * MIB;
        group::write(&memory.join(name), &too_low.to_string()).unwrap();
        assert!(until(LONG, || {
            let taken = limits::of_processes(&group.paths).unwrap();
            in_force() >= taken + 8 * MIB
        }));
        writeln!(orders, "go").unwrap();
        assert_eq!(said.next().unwrap().unwrap(), "67108864");
        child.wait().unwrap();
        assert!(made.undo().is_empty());
    }
}
