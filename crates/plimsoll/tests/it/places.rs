//! Places where data cannot be kept. Only engines that keep data want one.
#![cfg(feature = "wiredtiger")]

use crate::laboratory::{Laboratory, Mounted, Said, runs};
use plimsoll_testing::{Need, assert_contains, needs};

fn keeping(records: &str, directory: &str) -> String {
    format!(
        "
plimsoll: 1
name: place
workload: {{records: {records}, preset: c}}
arms: {{one: {{engine: wiredtiger, cache_size: 10MiB, directory: {directory}}}}}
load: {{closed: {{threads: 1}}}}
measurement: {{warm_up: 0s, duration: 20ms, blocks: 1}}
"
    )
}

#[test]
fn a_file_is_no_directory() {
    let laboratory = Laboratory::new();
    laboratory.write("occupied", "not ours");
    let Said { code, out, err } = laboratory.experiment(keeping("100", "occupied"));
    assert_eq!((code, out.as_str()), (Some(1), ""), "{err}");
    insta::assert_snapshot!(laboratory.plain(&err));
    let found = std::fs::read_to_string(laboratory.path("occupied")).unwrap();
    assert_eq!(found, "not ours");
}

/// The program under a limit of the shell, or with a variable that is no text.
fn confined(shell: &str) -> Said {
    let laboratory = Laboratory::new();
    laboratory.write("experiment.yaml", keeping("100", "here"));
    let command = laboratory.command(&["run", "experiment.yaml"]);
    let mut confined = std::process::Command::new("sh");
    confined
        .args(["-c", &format!("{shell}; exec \"$0\" \"$@\"")])
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(command.get_current_dir().expect("its folder"))
        .envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let said = Said::of(confined.output().unwrap());
    assert!(!laboratory.data_parent().exists(), "{said:?}");
    said
}

#[test]
fn too_few_open_files_and_folders_that_are_no_text_are_told_before_anything_begins() {
    let said = confined("ulimit -n 12");
    assert_eq!(said.code, Some(1), "{said:?}");
    assert_contains(&said.err, "no more than 12 files may be open, and 64 are needed");
    let said = confined("export XDG_STATE_HOME=/tmp/$(printf '\\377')");
    assert_eq!(said.code, Some(1), "{said:?}");
    assert_contains(&said.err, "XDG_STATE_HOME names a folder that is not valid UTF-8");
}

#[test]
fn a_limit_of_the_size_of_files_is_an_error_with_words() {
    let said = confined("ulimit -f 16");
    assert_eq!(said.code, Some(1), "{said:?}");
    assert_contains(&said.err, "plimsoll: ");
}

mod slow {
    use super::*;

    #[test]
    fn a_directory_that_cannot_be_made() {
        let laboratory = Laboratory::new();
        let said = laboratory.experiment(keeping("100", "/proc/plimsoll"));
        assert_eq!(said.code, Some(106), "{said:?}");
        let words = "run 1 of 1 (one) failed: /proc/plimsoll has 0.0 MiB free and ";
        assert_contains(&said.err, words);
        assert_contains(&said.err, "name a directory on another filesystem");
    }

    #[test]
    fn a_directory_of_ones_own() {
        let laboratory = Laboratory::new();
        let said = laboratory.experiment(keeping("100", "disk/here"));
        let expected = [("one", 0, 1, "finished")];
        assert_eq!(runs(&laboratory.record()), expected, "{said:?}");
        let here = laboratory.path("disk/here");
        let found = std::fs::read_dir(&here).unwrap().count();
        assert_eq!(found, 0, "its data is gone, the folder stays");
        assert!(!laboratory.data_parent().exists(), "no other place was used");
        // The flag wins over the file.
        laboratory.run(&["run", "experiment.yaml", "--directory", "there"]);
        assert!(laboratory.path("there").is_dir());
    }

    #[test]
    fn a_read_only_filesystem() {
        needs!([Need::Root]);
        let laboratory = Laboratory::new();
        std::fs::create_dir(laboratory.path("disk")).unwrap();
        let mounted = Mounted::read_only(&laboratory.path("disk"), &laboratory.path("still"));
        let said = laboratory.experiment(keeping("100", "still"));
        assert_eq!(said.code, Some(106), "{said:?}");
        let failed = said.err.lines().find(|line| line.starts_with("run 1 of 1")).unwrap();
        let (failed, _) = failed.split_once("plimsoll-").unwrap();
        insta::assert_snapshot!(laboratory.plain(failed));
        assert_contains(&said.err, "Read-only file system");
        drop(mounted);
    }

    #[test]
    fn a_disk_that_is_too_small_is_refused_before_anything_is_written() {
        needs!([Need::Root]);
        let laboratory = Laboratory::new();
        let mounted = Mounted::tmpfs(&laboratory.path("small"), "20m");
        let said = laboratory.experiment(keeping("100k", "small"));
        assert_eq!(said.code, Some(106), "{said:?}");
        let refused = format!("{} has 20.0 MiB free and ", laboratory.path("small").display());
        assert_contains(&said.err, &refused);
        let words =
            " are needed: make room, use less data, or name a directory on another filesystem";
        assert_contains(&said.err, words);
        let found = std::fs::read_dir(laboratory.path("small")).unwrap().count();
        assert_eq!(found, 0);
        drop(mounted);
    }
}
