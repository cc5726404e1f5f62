//! Records that are cut off, full of nonsense, or have names that try to be more than names: everything that is said of them is true, or that they cannot be used.

use crate::laboratory::{Laboratory, Said};
use crate::stores::with_a_record;
use plimsoll_testing::{assert_contains, assert_starts};
use serde_json::{Value, json};
use std::fs;

/// A name of a thousand characters in several scripts, with what moves cursors, ends labels and begins markup.
fn hostile() -> String {
    let signs = "</script><img src=x> \"'&|,\\ \u{202e}שלום 数据库 é\u{301} \u{1b}[31m\n\t";
    signs.chars().cycle().take(1_000).collect()
}

/// Every name in a record replaced, wherever it stands.
fn renamed(value: &mut Value, from: &str, to: &str) {
    match value {
        Value::String(text) if text == from => *text = to.to_owned(),
        Value::Array(values) => values.iter_mut().for_each(|value| renamed(value, from, to)),
        Value::Object(values) => values.values_mut().for_each(|value| renamed(value, from, to)),
        _ => {}
    }
}

/// Runs every command that shows or writes a record file. None of them may crash, whatever else becomes of it.
fn everything(laboratory: &Laboratory, file: &str) -> Vec<Said> {
    let folder = format!("{file}-export");
    let commands: [&[&str]; 5] = [
        &["report", file, "--page", "page.html", "--junit", "junit.xml"],
        &["report", file, "--json"],
        &["compare", file],
        &["export", file, "--to", &folder],
        &["export", file, "--only", "prometheus", "--to", &format!("{folder}-prometheus")],
    ];
    let said: Vec<Said> = commands.map(|command| laboratory.run(command)).into();
    for (command, said) in commands.iter().zip(&said) {
        assert!(
            matches!(said.code, Some(0 | 1 | 99 | 106)) && !said.err.contains("panicked"),
            "{command:?}: {said:?}"
        );
    }
    said
}

mod slow {
    use super::*;

    #[test]
    fn names_of_a_thousand_characters_in_other_scripts() {
        let (laboratory, record) = with_a_record();
        let mut value = serde_json::to_value(&record).unwrap();
        let long = hostile();
        for name in ["one", "tiny", "c", "1 thread"] {
            renamed(&mut value, name, &long);
        }
        laboratory.write("long.json", value.to_string());
        let said = everything(&laboratory, "long.json");
        for said in &said {
            assert_eq!(said.code, Some(0), "{said:?}");
        }
        let is_plain =
            |letter: char| letter == '\n' || !(letter.is_control() || letter == '\u{202e}');
        for said in [&said[0], &said[2], &said[3]] {
            assert!(said.out.chars().all(is_plain), "{}", said.out);
        }
        for line in said[0].out.lines().filter(|line| !line.starts_with("Page: ")) {
            // Marks that combine with the letter before them take no room.
            let takes_room = |letter: &char| !('\u{300}'..='\u{36f}').contains(letter);
            assert!(line.chars().filter(takes_room).count() <= 100, "{line}");
        }
        // In files for programs names are whole, and come back.
        let folder = laboratory.path("long.json-export");
        let points = fs::read_to_string(folder.join("points.csv")).unwrap();
        assert_contains(&points, &long.replace('"', "\"\""));
        let again = fs::read_to_string(folder.join("record.json")).unwrap();
        assert_eq!(plimsoll_record::ExperimentRecord::from_json(&again).unwrap().name, long);
        for entry in fs::read_dir(&folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let is_plain = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
            assert!(name.len() <= 120 && name.chars().all(is_plain), "{name}");
        }
        let metrics = fs::read_to_string(folder.join("metrics.prom")).unwrap();
        for line in metrics.lines() {
            let is_known = line.starts_with("plimsoll_") || line.starts_with("# ");
            assert!(is_known, "{line}");
        }
        let page = fs::read_to_string(laboratory.path("page.html")).unwrap();
        assert!(!page.contains("<img") && page.contains("&lt;img"));
    }

    #[test]
    fn a_record_that_is_cut_off_anywhere_says_that_it_is_damaged() {
        let (laboratory, record) = with_a_record();
        let text = record.to_json();
        for part in 1..=8 {
            let mut end = text.len() * part / 9;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            laboratory.write("cut.json", &text[..end]);
            for command in ["report", "export", "compare"] {
                let said = laboratory.run(&[command, "cut.json"]);
                assert_eq!((said.code, said.out.as_str()), (Some(1), ""), "{said:?}");
                let words = "plimsoll: cannot use cut.json: the record is damaged: ";
                assert_starts(&said.err, words);
                assert_eq!(said.err.lines().count(), 1, "{}", said.err);
            }
        }
    }

    #[test]
    fn nonsense_within_a_record_is_refused_or_told_as_invalid() {
        let (laboratory, record) = with_a_record();
        let good = serde_json::to_value(&record).unwrap();
        let run = "/runs/0";
        for (place, nonsense) in [
            ("/runs/0/points/0/slices/0/length_ns", json!(0)),
            ("/runs/0/points/0/slices/0/start_ns", json!(u64::MAX)),
            ("/runs/0/points/0/slices/0/completed/ok", json!(u64::MAX)),
            ("/runs/0/points/0/end/measured_ns", json!(0)),
            ("/runs/0/points/0/end/busy_ns", json!(u64::MAX)),
            ("/runs/0/points/0/end", Value::Null),
            ("/runs/0/points/0/slices", json!([])),
            ("/runs/0/points/0/label/point", json!(4_000_000_000_u32)),
            ("/runs/0/points/0/label/load", json!({"kind": "open", "rate": 1e308, "sessions": 0})),
            ("/runs/0/points", json!([])),
            ("/runs/0/block", json!(u32::MAX)),
            ("/runs/0/attempt", json!(0)),
            ("/runs/0/arm", json!("nobody")),
            ("/runs/0/started_at", json!("yesterday")),
            ("/runs/0/load", Value::Null),
            ("/runs", json!([])),
            ("/started_at", json!("")),
            ("/plan", json!({})),
            ("/plan/arms", json!([])),
            ("/plan/points", json!([])),
        ] {
            let mut value = good.clone();
            *value
                .pointer_mut(place)
                .unwrap_or_else(|| panic!("no {place} in {}", good.pointer(run).unwrap())) =
                nonsense;
            laboratory.write("nonsense.json", value.to_string());
            for folder in ["nonsense.json-export", "nonsense.json-export-prometheus"] {
                let _ = fs::remove_dir_all(laboratory.path(folder));
            }
            everything(&laboratory, "nonsense.json");
        }
    }

    #[test]
    fn an_arm_without_a_valid_point_is_told_so_everywhere() {
        let (laboratory, record) = with_a_record();
        let mut value = serde_json::to_value(&record).unwrap();
        // Everything failed.
        for slice in value.pointer_mut("/runs/0/points/0/slices").unwrap().as_array_mut().unwrap() {
            let ok = slice["completed"]["ok"].take();
            slice["completed"]["ok"] = json!(0);
            slice["completed"]["error"] = ok;
            for part in slice["operations"].as_array_mut().unwrap() {
                part["status"] = json!("error");
            }
        }
        laboratory.write("failed.json", value.to_string());
        let said = everything(&laboratory, "failed.json");
        assert_eq!(said[0].code, Some(106), "{said:?}");
        assert_contains(&said[0].out, "INVALID: no point is valid");
        let page = fs::read_to_string(laboratory.path("page.html")).unwrap();
        assert!(page.contains("no valid run"), "the page says so");
        let folder = laboratory.path("failed.json-export");
        let metrics = fs::read_to_string(folder.join("metrics.prom")).unwrap();
        assert_contains(&metrics, "plimsoll_valid{");
        assert_contains(&metrics, "} 0.0\n");
        assert!(!metrics.contains("plimsoll_throughput"), "{metrics}");
        let samples = fs::read_to_string(folder.join("perfkit.json")).unwrap();
        assert!(!samples.contains("|stage:run|"), "{samples}");
    }
}
