//! Files that another user of the machine, or the author of a record, may have placed: nothing is written elsewhere, nothing keeps the program waiting,
//! and what is kept is for its owner alone.

use crate::laboratory::{Laboratory, page_of};
use crate::stores::with_a_record;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::Stdio;

const SOMEBODY: u32 = 65_534;

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().mode() & 0o777
}

#[test]
fn what_is_kept_is_for_its_owner_alone() {
    let (laboratory, _) = with_a_record();
    let page = page_of(&laboratory.run(&["report", "last"]).out);
    let store = laboratory.store();
    let pages = page.parent().unwrap();
    assert_eq!(
        (mode(&store), mode(&page), mode(pages)),
        (0o600, 0o600, 0o700)
    );
    // As earlier versions left them.
    let set = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    set(&store, 0o644);
    set(&page, 0o644);
    set(pages, 0o755);
    laboratory.run(&["report", "last"]);
    assert_eq!(
        (mode(&store), mode(&page), mode(pages)),
        (0o600, 0o600, 0o700)
    );
    // What the user asks for follows the user's umask, which lets others read.
    laboratory.run(&["report", "last", "--page", "page.html"]);
    assert_eq!(mode(&laboratory.path("page.html")) | 0o022, 0o666);
}

#[test]
fn pages_are_not_written_through_a_link() {
    let (laboratory, _) = with_a_record();
    let pages = laboratory.store().with_file_name("pages");
    let elsewhere = laboratory.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::remove_dir_all(&pages).unwrap();
    symlink(&elsewhere, &pages).unwrap();
    let said = laboratory.run(&["report", "last"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("cannot write the page"), "{}", said.err);
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);

    // A page that is a link is replaced, and what it leads to stays.
    fs::remove_file(&pages).unwrap();
    let page = page_of(&laboratory.run(&["report", "last"]).out);
    let precious = laboratory.write("elsewhere/precious", "precious");
    fs::remove_file(&page).unwrap();
    symlink(&precious, &page).unwrap();
    assert_eq!(laboratory.run(&["report", "last"]).code, Some(0));
    assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
    assert!(fs::read_to_string(&page).unwrap().contains("<html"));
}

/// Only root can be another user's victim here.
#[test]
fn root_writes_nothing_beside_the_store_of_another_user() {
    let (laboratory, _) = with_a_record();
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let folder = laboratory.store().parent().unwrap().to_owned();
    fs::remove_dir_all(folder.join("pages")).unwrap();
    chown(&folder, Some(SOMEBODY), None).unwrap();
    let owner = "data/plimsoll belongs to user 65534: run plimsoll as that user";
    let said = laboratory.run(&["report", "last"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains(owner), "{}", said.err);
    assert!(!folder.join("pages").exists());
    let said = laboratory.run(&["run", "experiment.yaml"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains(owner), "{}", said.err);
    // Reading is harmless.
    let said = laboratory.run(&["report", "last", "--page", "page.html"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(laboratory.run(&["list"]).code, Some(0));
}

/// Each of these waited for ever, or took all memory.
#[test]
fn no_file_keeps_the_program_waiting() {
    let laboratory = Laboratory::new();
    for name in ["fifo", "fifo.json"] {
        mknodat(CWD, laboratory.path(name), FileType::Fifo, Mode::RWXU, 0).unwrap();
    }
    let fifo = "it is a FIFO, not a regular file";
    let device = "it is a character device, not a regular file";
    symlink("/dev/zero", laboratory.path("zero.json")).unwrap();
    let sparse = File::create(laboratory.path("huge.json")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    for (arguments, told) in [
        (&["report", "fifo.json"][..], fifo),
        (&["report", "zero.json"], device),
        (&["report", "huge.json"], "it has more than 1024 MiB"),
        (&["export", "fifo.json"], fifo),
        (&["compare", "fifo.json"], fifo),
        (&["run", "fifo"], fifo),
        (&["plan", "/dev/zero"], device),
        (&["plan", "huge.json"], "it has more than 1 MiB"),
        (&["import", "fifo"], fifo),
        (&["import", "/dev/zero"], device),
        (&["disk", "trace", "fifo"], fifo),
        (&["ycsb", "load", "basic", "-P", "fifo"], fifo),
        (&["ycsb", "load", "basic", "-P", "/dev/zero"], device),
        (
            &["ycsb", "load", "basic", "-P", "huge.json"],
            "it has more than 16 MiB",
        ),
    ] {
        let said = laboratory.run(arguments);
        assert!(
            !matches!(said.code, None | Some(0)),
            "{arguments:?}: {said:?}"
        );
        assert!(said.err.contains(told), "{arguments:?}: {}", said.err);
    }
}

#[test]
fn what_another_program_says_is_read() {
    let laboratory = Laboratory::new();
    let text = "
plimsoll: 1
name: piped
workload: {records: 10, preset: c}
arms: {one: {engine: noop}}
load: {closed: {threads: 1}}
measurement: {warm_up: 0s, duration: 20ms, blocks: 1}
";
    let mut plan = laboratory
        .command(&["plan", "/dev/stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    plan.stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    let output = plan.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8(output.stdout).unwrap().contains("piped"));
}
