//! What is checked in and made from the program must be what the program would make now.

use crate::laboratory::Laboratory;
use plimsoll_experiment::{schema_text, with_reference};
use plimsoll_testing::assert_contains;
use std::fs;
use std::path::{Path, PathBuf};

pub fn checkout(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

#[test]
fn the_schema_is_current() {
    let printed = Laboratory::new().run(&["schema"]);
    assert_eq!((printed.code, printed.err.as_str()), (Some(0), ""));
    assert_eq!(printed.out, schema_text(plimsoll_engine::kinds()));
    let kept = fs::read_to_string(checkout("docs/experiment.schema.json")).unwrap();
    assert!(
        kept == printed.out,
        "docs/experiment.schema.json is out of date: plimsoll schema > docs/experiment.schema.json"
    );
    serde_json::from_str::<serde_json::Value>(&kept).unwrap();
}

#[test]
fn the_reference_is_current() {
    let kept = fs::read_to_string(checkout("docs/experiment-file.md")).unwrap();
    let current = with_reference(&kept, plimsoll_engine::kinds())
        .expect("docs/experiment-file.md has both marks");
    assert!(
        kept == current,
        "docs/experiment-file.md is out of date: put what `plimsoll schema --reference` prints between its marks"
    );
    let printed = Laboratory::new().run(&["schema", "--reference"]);
    assert!(kept.contains(&printed.out));
}

#[test]
fn completions_and_manual() {
    let laboratory = Laboratory::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let said = laboratory.run(&["completions", shell]);
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
        assert!(said.out.contains("plimsoll") && said.out.contains("compare"), "{shell}");
    }
    let man = laboratory.run(&["man"]);
    assert_eq!((man.code, man.err.as_str()), (Some(0), ""));
    assert_contains(&man.out, ".TH plimsoll");
    assert_contains(&man.out, "Exit codes");
}

/// `docs/architecture.md` lists the crates, each above those that it uses.
#[test]
fn crates_use_only_those_below_them() {
    let page = fs::read_to_string(checkout("docs/architecture.md")).unwrap();
    let (_, section) = page.split_once("\n## The crates\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let mut listed = Vec::new();
    for row in section.lines().filter(|line| line.starts_with("| `")) {
        let names = row.split('|').nth(1).unwrap().split('`');
        listed.extend(names.skip(1).step_by(2));
    }
    let mut found = Vec::new();
    for folder in fs::read_dir(checkout("crates")).unwrap() {
        let folder = folder.unwrap();
        let name = folder.file_name().into_string().unwrap();
        let manifest = fs::read_to_string(folder.path().join("Cargo.toml")).unwrap();
        let dependencies = manifest.split_once("\n[dependencies]\n");
        let dependencies = dependencies.map_or("", |(_, rest)| rest.split("\n[").next().unwrap());
        let place = |of: &str| {
            listed
                .iter()
                .position(|one| *one == of)
                .unwrap_or_else(|| panic!("docs/architecture.md does not list {of}"))
        };
        for line in dependencies.lines() {
            let Some(used) = line.strip_prefix("plimsoll-") else {
                continue;
            };
            let used = used.split(['.', ' ']).next().unwrap();
            assert!(place(&name) < place(used), "{name} uses {used}, above it");
        }
        place(&name);
        found.push(name);
    }
    assert_eq!(found.len(), listed.len(), "{found:?} {listed:?}");
}

mod once {
    use super::*;

    #[test]
    fn every_study_is_valid() {
        let laboratory = Laboratory::new();
        let mut studies = 0;
        let folders = ["studies", "studies/power", "studies/causes"];
        let entries = folders.map(|folder| fs::read_dir(checkout(folder)).unwrap());
        for entry in entries.into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "yaml") {
                continue;
            }
            studies += 1;
            let said = laboratory.run(&["plan", path.to_str().unwrap(), "--json"]);
            assert_eq!(said.code, Some(0), "{}: {}{}", path.display(), said.err, said.out);
            let plan: serde_json::Value = serde_json::from_str(&said.out).unwrap();
            if plan["name"] == "quickstart" {
                let needs = &plan["needs"];
                let nanos =
                    needs["measuring_ns"].as_u64().unwrap() + needs["loading_ns"].as_u64().unwrap();
                assert!(
                    nanos < 240_000_000_000,
                    "the quickstart promises four minutes, and is planned for {nanos} ns"
                );
            }
        }
        assert!(studies > 0);
    }
}
