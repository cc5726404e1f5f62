//! `plimsoll imitate` where it writes nothing.

use crate::laboratory::Laboratory;
use plimsoll_testing::servers::closed_port;
use plimsoll_testing::{assert_contains, assert_starts};
use std::fs;

#[test]
fn what_imitate_cannot_do_is_said() {
    let laboratory = Laboratory::new();
    let uri = format!(
        "mongodb://me:geheim-7@127.0.0.1:{}/shop?serverSelectionTimeoutMS=200",
        closed_port()
    );
    let file = laboratory.path("there.yaml");
    fs::write(&file, "mine").unwrap();
    let kept = laboratory.run(&["imitate", &uri, "--output", file.to_str().unwrap()]);
    assert_eq!(kept.code, Some(2), "{kept:?}");
    assert_contains(&kept.err, "there.yaml already exists: name another file");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    let scaled = laboratory.run(&["imitate", &uri, "--scale", "0%"]);
    assert_eq!(scaled.code, Some(2), "{scaled:?}");
    assert_starts(&scaled.err, "--scale is a share from 0.0001% to 1000%");
    let address = laboratory.run(&["imitate", "db1"]);
    assert_eq!(address.code, Some(2), "{address:?}");
    let alone = laboratory.run(&["imitate", &uri]);
    assert_eq!(alone.code, Some(1), "{alone:?}");
    assert_contains(&alone.err, "nothing listens there: start the server, or correct `uri`");
    assert!(alone.out.is_empty() && !alone.err.contains("geheim"), "{alone:?}");
}
