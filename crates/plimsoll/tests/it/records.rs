//! Records of every version that was ever released can be reported forever: `tests/records/vN.db` and `vN.json` hold the same record,
//! which was made by the program of that version from the experiment in its `file_text`.

use crate::laboratory::Laboratory;
use plimsoll_record::RECORD_VERSION;
use plimsoll_testing::assert_starts;
use std::fs;
use std::path::{Path, PathBuf};

fn checkout(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

#[test]
fn old_records_are_reported() {
    let laboratory = Laboratory::new();
    for version in 1..=RECORD_VERSION {
        let mut outputs = Vec::new();
        for kind in ["json", "db"] {
            let name = format!("v{version}.{kind}");
            // A copy, since opening an old store may bring it forward.
            fs::copy(checkout("tests/records").join(&name), laboratory.path(&name)).unwrap();
            let said = match kind {
                "json" => laboratory.run(&["report", &name, "--all", "--page", "page.html"]),
                _ => {
                    let report = ["--store", &name, "report", "--all", "--page", "page.html"];
                    laboratory.run(&report)
                }
            };
            // What was good stays good.
            assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{name}");
            assert!(said.out.contains("two-arms  600d1dea"), "{name}: {}", said.out);
            let page = fs::read_to_string(laboratory.path("page.html")).unwrap();
            assert!(page.contains("600d1dea"));
            let folder = format!("{version}-{kind}");
            let export = match kind {
                "json" => laboratory.run(&["export", &name, "--to", &folder]),
                _ => laboratory.run(&["--store", &name, "export", "last", "--to", &folder]),
            };
            assert_eq!(export.code, Some(0), "{export:?}");
            let points = fs::read_to_string(laboratory.path(&folder).join("points.csv")).unwrap();
            outputs.push((said.out, points));
        }
        assert_eq!(outputs[0], outputs[1], "version {version}");
    }
}

/// The samples of the crate of the store are of the right form, but their plan has nothing but names.
#[test]
fn a_record_whose_plan_cannot_be_read_says_so() {
    let laboratory = Laboratory::new();
    for version in 1..=RECORD_VERSION {
        let name = format!("v{version}.json");
        fs::copy(checkout("../store/tests/records").join(&name), laboratory.path(&name)).unwrap();
        let said = laboratory.run(&["report", &name]);
        assert_eq!((said.code, said.out.as_str()), (Some(1), ""));
        let words = "plimsoll: the plan in record 01d1dea5 cannot be read";
        assert_starts(&said.err, words);
    }
}
