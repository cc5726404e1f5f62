//! Nothing that anybody writes makes the program panic, and what is right survives being written down.

use crate::it::{ENGINES, SMALLEST, check_with, plan};
use crate::{Overrides, disk_by_text};
use plimsoll_plan::{Plan, explain};
use proptest::prelude::*;

const EVERY_KEY: &str = include_str!("every_key.yaml");
const RIGS: &str = include_str!("rigs.yaml");

/// Checks a text and reads everything that follows from it.
fn look_at(text: &str) {
    let _ = disk_by_text(text);
    match check_with(text, &Overrides::default()) {
        Ok(plan) => {
            let _ = explain(&plan, &ENGINES).to_string();
            assert_eq!(plan.hash().len(), 64);
        }
        Err(problems) => {
            assert!(problems.count() > 0);
            let screen = problems.render(false, 80);
            assert!(!screen.contains('\u{1b}'));
            let _ = problems.to_string();
            let _ = problems.to_json();
        }
    }
}

/// Pieces of YAML that are likely to meet each other badly.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("{".to_owned()),
        Just("}".to_owned()),
        Just("[".to_owned()),
        Just("]".to_owned()),
        Just(": ".to_owned()),
        Just("- ".to_owned()),
        Just("\n".to_owned()),
        Just("\n  ".to_owned()),
        Just("\t".to_owned()),
        Just("\r\n".to_owned()),
        Just(", ".to_owned()),
        Just("? ".to_owned()),
        Just("&a ".to_owned()),
        Just("*a".to_owned()),
        Just("<<: ".to_owned()),
        Just("!!str ".to_owned()),
        Just("!<".to_owned()),
        Just("%YAML 1.2\n".to_owned()),
        Just("---\n".to_owned()),
        Just("...\n".to_owned()),
        Just("|\n".to_owned()),
        Just(">-\n".to_owned()),
        Just("\"".to_owned()),
        Just("'".to_owned()),
        Just("\\u".to_owned()),
        Just("#".to_owned()),
        Just("~".to_owned()),
        Just("\u{feff}".to_owned()),
        Just("漢".to_owned()),
        "[a-z_]{1,12}",
        "-?[0-9]{1,25}(\\.[0-9]{1,5})?(k|M|GiB|s|ms|%)?",
        "\\PC{0,3}",
        any::<char>().prop_map(String::from),
    ]
}

/// A part of a text is left out, doubled, moved, or has something put into it.
fn mutated(text: String, changes: Vec<(f64, f64, u8, String)>) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for (from, length, how, piece) in changes {
        let start = (from * characters.len() as f64) as usize;
        let end = (start + (length * 40.0) as usize).min(characters.len());
        let taken: Vec<char> = characters[start..end].to_vec();
        match how {
            0 => drop(characters.drain(start..end)),
            1 => drop(characters.splice(start..start, taken)),
            2 => drop(characters.splice(start..end, piece.chars())),
            _ => {
                characters.drain(start..end);
                let target = characters.len() * usize::from(how) / 256;
                characters.splice(target..target, taken);
            }
        }
    }
    characters.into_iter().collect()
}

fn file() -> impl Strategy<Value = String> {
    let arms = prop::collection::btree_map(
        "[a-z][a-z0-9-]{0,10}",
        (1u64..512, prop::option::of(1u64..9_000)),
        1..6,
    );
    let threads = prop::collection::btree_set(1u32..500, 1..8);
    let mixes = prop::sample::subsequence(vec!["a", "b", "c", "d", "e", "f"], 1..4);
    let times = (0u64..100_000, 1u64..100_000, 1u32..9, any::<u64>());
    (arms, threads, mixes, times, 2u64..100_000_000, any::<bool>(), 0.1f64..1e6).prop_map(
        |(arms, threads, mixes, (warm_up, duration, blocks, seed), records, shuffled, rate)| {
            let mut text = format!("plimsoll: 1\nname: made\nworkload: {{records: {records}, mixes: [{}]}}\narms:\n", mixes.join(", "));
            for (name, (cache, own)) in &arms {
                let own = own.map_or_else(String::new, |records| format!(", records: {}", records + 1));
                text.push_str(&format!("  {name}: {{cache_size: {cache}MiB{own}}}\n"));
            }
            let threads: Vec<String> = threads.iter().map(u32::to_string).collect();
            if shuffled {
                text.push_str(&format!("load: {{closed: {{threads: [{}]}}}}\n", threads.join(", ")));
            } else {
                text.push_str(&format!("load: {{open: {{rates: [{rate}]}}}}\n"));
            }
            let order = if shuffled { "shuffled" } else { "as-written" };
            text.push_str(&format!(
                "measurement: {{warm_up: {warm_up}us, duration: {duration}ms, blocks: {blocks}, order: {order}, seed: {seed}}}\n"
            ));
            text
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,300}") {
        look_at(&text);
    }

    #[test]
    fn any_yaml_is_read_or_refused(pieces in prop::collection::vec(piece(), 0..60)) {
        look_at(&pieces.concat());
    }

    #[test]
    fn spoilt_files_are_read_or_refused(
        file in prop::sample::select(vec![EVERY_KEY, SMALLEST, RIGS]),
        changes in prop::collection::vec((0f64..1.0, 0f64..1.0, any::<u8>().prop_map(|how| how % 8), piece()), 1..6),
    ) {
        look_at(&mutated(file.to_owned(), changes));
    }

    /// Every value of every key, replaced by anything.
    #[test]
    fn any_value_is_read_or_refused(
        file in prop::sample::select(vec![EVERY_KEY, RIGS]),
        place in 0usize..200,
        value in piece(),
    ) {
        let places: Vec<usize> = file.match_indices(": ").map(|(at, _)| at + 2).collect();
        let start = places[place % places.len()];
        let rest = &file[start..];
        let length = rest.find([',', '\n', '}', ']']).unwrap_or(rest.len());
        look_at(&format!("{}{value}{}", &file[..start], &rest[length..]));
    }

    #[test]
    fn any_disk_is_read_or_refused(pieces in prop::collection::vec(piece(), 0..8), flow: bool) {
        let text = pieces.concat();
        let text = if flow { format!("{{preset: gp2, {text}}}") } else { text };
        if let Ok(disk) = disk_by_text(&text) {
            prop_assert!(disk.capacity_bytes % 4096 == 0 && disk.capacity_bytes > 0);
        }
    }
}

mod slow {
    use super::*;

    /// Anything that the reader of YAML may find quadratic must still be refused at once: each is as large as a file can be.
    #[test]
    fn large_and_odd_files_end() {
        let size = 1 << 20;
        for unit in [
            "[", "{", "- ", "? ", "a: ", "a:\n ", "&a ", "'", "\"\\", "!", "#", "|\n", "\n", "a\n",
            ", ", "- - -\n", "%", "*a ", "\u{fffd}",
        ] {
            let text = unit.repeat(size / unit.len());
            look_at(&text);
        }
        let keys: String = (0..60_000).map(|number| format!("k{number}: 1\n")).collect();
        look_at(&keys);
        let items = format!("arms: [{}]", "a, ".repeat(300_000));
        look_at(&items);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_plan_survives_being_written_down(text in prop_oneof![file(), Just(RIGS.to_owned())]) {
            let plan = plan(&text);
            let json = serde_json::to_string(&plan).unwrap();
            let again: Plan = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(&again, &plan);
            prop_assert_eq!(again.hash(), plan.hash());
            prop_assert_eq!(plan.runs.len(), plan.arms.len() * plan.measurement.blocks as usize);
        }
    }
}
