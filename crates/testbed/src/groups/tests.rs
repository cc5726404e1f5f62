use super::*;
use crate::laboratory::LOOPS;
use crate::processes::started_ticks;
use crate::{Journal, abandoned};
use plimsoll_testing::needs;
use std::fs;
use std::io::{BufRead, BufReader, Write};

fn limits() -> LimitsSpec {
    LimitsSpec {
        memory_bytes: Some(32 << 20),
        page_cache_bytes: None,
        cpus: None,
        pin: Vec::new(),
    }
}

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
    assert!(
        notes[0].contains("is another one now; it is left alone"),
        "{notes:?}"
    );
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
    let mut child = std::process::Command::new("sleep")
        .arg("1000")
        .spawn()
        .unwrap();
    // Not written down: its owner was ended just before.
    group.admit(child.id()).unwrap();
    made.forget();
    drop((made, journal));
    // A process that another test starts just now holds the lock of every file until it is itself.
    let mut found = Vec::new();
    while found.is_empty() {
        found = abandoned(state.path()).unwrap();
    }
    let mut told = Vec::new();
    found[0]
        .undo(&mut |line| told.push(line.to_owned()))
        .unwrap();
    assert_eq!(told.len(), group.directories.len(), "{told:?}");
    assert_eq!(started_ticks(child.id()), None);
    child.wait().unwrap();
    assert!(
        group
            .directories
            .iter()
            .all(|directory| !directory.exists())
    );
}

#[test]
fn memory_is_sized_by_what_the_processes_take_then() {
    const MIB: u64 = 1 << 20;
    needs!(LOOPS);
    let state = tempfile::tempdir().unwrap();
    let journal = Journal::open(state.path(), "a test").unwrap();
    let made = RigParts::new(&journal);
    let asked = LimitsSpec {
        page_cache_bytes: Some(8 * MIB),
        ..LimitsSpec::default()
    };
    let mut group = Group::make(&asked, &made).unwrap();
    assert_eq!(group.limits, asked, "nothing is limited before");
    // A process with 64 MiB of its own, which says so, and 24 MiB of page cache.
    // In memory there would be no page cache: beside the test's own program there is a disk.
    let program = std::env::current_exe().unwrap();
    let file = tempfile::NamedTempFile::new_in(program.parent().unwrap()).unwrap();
    let script = "read go; x=$(head -c 67108864 /dev/zero | tr '\\0' x); head -c 25165824 /dev/zero >\"$0\"; sync \"$0\"; echo ready; read go; echo ${#x}";
    let mut child = std::process::Command::new("bash")
        .args(["-c", script])
        .arg(file.path())
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
    group.size_memory(8 * MIB).unwrap();
    let limit = group.limits.memory_bytes.unwrap();
    assert!(
        (taken - 4 * MIB..taken + 16 * MIB).contains(&limit),
        "{limit} beside {taken}"
    );
    let memory = group.paths.memory.clone().unwrap();
    let name = if group.paths.version == 1 {
        "memory.limit_in_bytes"
    } else {
        "memory.max"
    };
    let in_force = fs::read_to_string(memory.join(name)).unwrap();
    assert_eq!(in_force.trim(), limit.to_string());
    // What was beyond it is given up, and the process lives.
    let used = if group.paths.version == 1 {
        "memory.usage_in_bytes"
    } else {
        "memory.current"
    };
    let used: u64 = fs::read_to_string(memory.join(used))
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    assert!(used <= limit, "{used} of {limit}");
    // And again, with more and with less.
    for page_cache in [32 * MIB, 16 * MIB] {
        group.size_memory(page_cache).unwrap();
        let limit = group.limits.memory_bytes.unwrap();
        assert!(
            (60 * MIB + page_cache..taken + page_cache + 8 * MIB).contains(&limit),
            "{limit}"
        );
    }
    writeln!(orders, "go").unwrap();
    assert_eq!(said.next().unwrap().unwrap(), "67108864");
    child.wait().unwrap();
    assert!(made.undo().is_empty());
}
