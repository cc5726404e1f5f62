//! Files that another user of the machine, or the author of a record, may have placed: nothing is written elsewhere, nothing keeps the program waiting,
//! and what is kept is for its owner alone.

use crate::laboratory::{Laboratory, page_of};
use crate::stores::with_a_record;
use plimsoll_testing::{Need, assert_contains, needs};
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

/// Each of these waited forever, or took all memory.
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
    for (arguments, description) in [
        (&["report", "fifo.json"][..], fifo),
        (&["report", "zero.json"], device),
        (&["report", "huge.json"], "it has more than 1024 MiB"),
        (&["export", "fifo.json"], fifo),
        (&["compare", "fifo.json"], fifo),
        (&["run", "fifo"], fifo),
        (&["plan", "/dev/zero"], device),
        (&["plan", "huge.json"], "it has more than 1 MiB"),
        (&["foreign", "import", "fifo"], fifo),
        (&["foreign", "import", "/dev/zero"], device),
        (&["disk", "trace", "fifo"], fifo),
        (&["foreign", "ycsb", "load", "basic", "-P", "fifo"], fifo),
        (&["foreign", "ycsb", "load", "basic", "-P", "/dev/zero"], device),
        (&["foreign", "ycsb", "load", "basic", "-P", "huge.json"], "it has more than 16 MiB"),
    ] {
        let said = laboratory.run(arguments);
        let has_failed = !matches!(said.code, None | Some(0));
        assert!(has_failed, "{arguments:?}: {said:?}");
        assert!(said.err.contains(description), "{arguments:?}: {}", said.err);
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
    let mut input = plan.stdin.take().unwrap();
    input.write_all(text.as_bytes()).unwrap();
    drop(input);
    let output = plan.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8(output.stdout).unwrap().contains("piped"));
}

/// What a terminal would obey: a title, colours that we have not, a cleared screen, the same as one character, and the direction of writing.
const OBEYED: &str = "\u{1b}]0;owned\u{7}\u{1b}[7m\u{1b}[2J\r\u{9b}2J\u{8}\u{7f}\u{202e}";

/// Fails where a text has anything but our own colours that a terminal would obey.
fn assert_harmless(said: &str, of: &str) {
    let mut plain = said.to_owned();
    for style in [0, 1, 2, 4, 24, 39] {
        plain = plain.replace(&format!("\u{1b}[{style}m"), "");
    }
    for colour in (31..38).chain(91..98) {
        for more in ["", ";1", ";4", ";1;4"] {
            plain = plain.replace(&format!("\u{1b}[{colour}{more}m"), "");
        }
    }
    let obeyed = |c: &char| (c.is_control() && !matches!(c, '\n' | '\t')) || *c == '\u{202e}';
    assert_eq!(plain.chars().find(obeyed), None, "{of}: {said:?}");
}

/// Runs a command on a terminal that wants colours.
fn coloured(laboratory: &Laboratory, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = laboratory.command(arguments);
    let output = command.env("CLICOLOR_FORCE", "1").output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(said).unwrap())
}

/// Puts the text behind every string of a record in whose place any other text may stand.
fn with_hostile_strings(record: &serde_json::Value) -> (serde_json::Value, usize) {
    fn places(value: &serde_json::Value, here: &str, found: &mut Vec<String>) {
        match value {
            serde_json::Value::String(_) => found.push(here.to_owned()),
            serde_json::Value::Array(values) => {
                for (number, value) in values.iter().enumerate() {
                    places(value, &format!("{here}/{number}"), found);
                }
            }
            serde_json::Value::Object(values) => {
                for (name, value) in values {
                    let name = name.replace('~', "~0").replace('/', "~1");
                    places(value, &format!("{here}/{name}"), found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    places(record, "", &mut found);
    let mut hostile = record.clone();
    let mut count = 0;
    for place in found {
        let mut tried = hostile.clone();
        let Some(serde_json::Value::String(text)) = tried.pointer_mut(&place) else {
            continue;
        };
        text.push_str(OBEYED);
        let is_record = plimsoll_record::ExperimentRecord::from_json(&tried.to_string())
            .is_ok_and(|record| plimsoll_judge::analyse(&record).is_ok());
        if is_record {
            hostile = tried;
            count += 1;
        }
    }
    (hostile, count)
}

#[test]
fn no_terminal_obeys_a_file_a_path_or_a_message() {
    let laboratory = Laboratory::new();
    let folder = format!("f{OBEYED}");
    fs::create_dir(laboratory.path(&folder)).unwrap();
    let file = |name: &str| format!("{folder}/{name}");
    let quoted = serde_json::to_string(OBEYED).unwrap();
    let good = format!(
        "
plimsoll: 1
name: {quoted}
question: {quoted}
workload: {{records: 10, mixes: {{{quoted}: {{read: 1}}}}}}
arms: {{{quoted}: {{engine: noop}}, other: {{engine: noop}}}}
load: {{closed: {{threads: 1}}}}
measurement: {{warm_up: 0s, duration: 20ms, blocks: 1}}
"
    );
    laboratory.write(&file("good.yaml"), good);
    for (name, text) in [
        (
            "wrong.yaml",
            format!(
                "plimsoll: 1\n{quoted}: 1\nname: {quoted}\narms: {{a: {{engine: {quoted}}}}}\n# {OBEYED}"
            ),
        ),
        ("broken.yaml", format!("plimsoll: [1\n{OBEYED}")),
        ("broken.json", format!("{{\"plimsoll_record\": 1, {quoted}: {quoted}}}")),
        ("unknown.json", format!("{{\"plimsoll_record\": {quoted}}}")),
        ("output", format!("{OBEYED} is no output")),
        (
            "ycsb",
            format!(
                "workload=x\nrecordcount=10\noperationcount=1\nlabel={OBEYED}\n{OBEYED}=1\nbasicdb.verbose=true\ntable={OBEYED}\n"
            ),
        ),
        ("wrong", format!("workload={OBEYED}\nrecordcount={OBEYED}\n")),
        ("law", format!("requestdistribution={OBEYED}\nrecordcount=1\n")),
    ] {
        laboratory.write(&file(name), text);
    }
    let store = file("no.db");
    for arguments in [
        &["plan", &file("good.yaml")][..],
        &["run", &file("good.yaml")],
        &["list"],
        &["report", "last"],
        &["plan", &file("wrong.yaml")],
        &["plan", &file("wrong.yaml"), "--json"],
        &["plan", &file("broken.yaml")],
        &["plan", &file("missing.yaml")],
        &["report", &file("broken.json")],
        &["report", &file("unknown.json")],
        &["report", OBEYED],
        &["foreign", "import", &file("output")],
        &["foreign", "import", &file("missing")],
        &["--store", &store, "list"],
        &["disk", "trace", &file("output")],
        &["foreign", "ycsb", "load", "basic", "-s", "-P", &file("ycsb")],
        &["foreign", "ycsb", "load", "basic", "-P", &file("wrong")],
        &["foreign", "ycsb", "load", "basic", "-P", &file("law")],
        &["foreign", "ycsb", "load", OBEYED],
        &["export", "last", "--only", OBEYED],
        &[OBEYED],
        &["clean", "--dry-run", "--directory", &file("leftovers")],
        &["clean", "--dry-run", "--json", "--directory", &file("leftovers")],
    ] {
        let (_, said) = coloured(&laboratory, arguments);
        assert_harmless(&said, &format!("{arguments:?}"));
    }
}

mod slow {
    use super::*;

    #[test]
    fn what_is_kept_is_for_its_owner_alone() {
        let (laboratory, _) = with_a_record();
        let page = page_of(&laboratory.run(&["report", "last"]).out);
        let store = laboratory.store();
        let pages = page.parent().unwrap();
        let are_private = || {
            assert_eq!(mode(&store), 0o600);
            assert_eq!(mode(&page), 0o600);
            assert_eq!(mode(pages), 0o700);
        };
        are_private();
        // As earlier versions left them.
        let set =
            |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        set(&store, 0o644);
        set(&page, 0o644);
        set(pages, 0o755);
        laboratory.run(&["report", "last"]);
        are_private();
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
        needs!([Need::Root]);
        let (laboratory, _) = with_a_record();
        let folder = laboratory.store().parent().unwrap().to_owned();
        fs::remove_dir_all(folder.join("pages")).unwrap();
        chown(&folder, Some(SOMEBODY), None).unwrap();
        let owner = "data/plimsoll belongs to user 65534: run plimsoll as that user";
        for arguments in [["report", "last"], ["run", "experiment.yaml"]] {
            let said = laboratory.run(&arguments);
            assert_eq!(said.code, Some(1), "{said:?}");
            assert_contains(&said.err, owner);
            assert!(!folder.join("pages").exists());
        }
        // Reading is harmless.
        let said = laboratory.run(&["report", "last", "--page", "page.html"]);
        assert_eq!(said.code, Some(0), "{said:?}");
        assert_eq!(laboratory.run(&["list"]).code, Some(0));
    }

    #[test]
    fn no_terminal_obeys_a_record() {
        let (laboratory, record) = with_a_record();
        let mut value = serde_json::to_value(&record).unwrap();
        // A name is the same wherever it stands.
        for (place, name) in [("/name", "tiny"), ("/plan/name", "tiny")] {
            assert_eq!(value.pointer(place).unwrap(), name);
        }
        value["runs"][0]["warnings"] = serde_json::json!([]);
        let (mut hostile, count) = with_hostile_strings(&value);
        assert!(count > 20, "{count} strings");
        hostile["id"] = "hostile".into();
        laboratory.write("hostile.json", hostile.to_string());
        let named = plimsoll_record::ExperimentRecord::from_json(&hostile.to_string()).unwrap();
        let name = named.name.clone();
        let mut store = plimsoll_store::Store::open(&laboratory.store()).unwrap();
        store.import(named).unwrap();
        drop(store);
        for arguments in [
            &["report", "hostile.json", "--page", "page.html"][..],
            &["compare", "hostile.json"],
            &["compare", "hostile.json", "last"],
            &["report", "hostile"],
            &["list"],
            &["list", "--json"],
            &["report", "hostile", "--json"],
            &["history", &name],
            &["export", "hostile.json", "--to", "exported"],
            &["disk", "map", "hostile.json", "--to", "map.png"],
        ] {
            let (_, said) = coloured(&laboratory, arguments);
            assert_harmless(&said, &format!("{arguments:?}"));
        }
        let (code, json) = coloured(&laboratory, &["list", "--json"]);
        assert_eq!(code, Some(0));
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let mut names = json.as_array().unwrap().iter().map(|one| &one["name"]);
        let is_kept = names.any(|one| *one == name.as_str());
        assert!(is_kept, "JSON keeps every name: {json}");
    }
}
