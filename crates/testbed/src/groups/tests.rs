use super::*;
use crate::laboratory::is_root_or_skip;
use crate::processes::started_ticks;
use crate::{Journal, abandoned};
use std::fs;

fn limits() -> LimitsSpec {
    LimitsSpec {
        memory_bytes: Some(32 << 20),
        cpus: None,
        pin: Vec::new(),
    }
}

#[test]
fn a_group_that_took_the_place_of_ours_is_left_alone() {
    if !is_root_or_skip("a_group_that_took_the_place_of_ours_is_left_alone") {
        return;
    }
    let state = tempfile::tempdir().unwrap();
    let journal = Journal::open(state.path(), "a test").unwrap();
    let made = Made::new(&journal);
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
    if !is_root_or_skip("the_processes_in_an_abandoned_group_are_ended_with_it") {
        return;
    }
    let state = tempfile::tempdir().unwrap();
    let journal = Journal::open(state.path(), "a test").unwrap();
    let made = Made::new(&journal);
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
