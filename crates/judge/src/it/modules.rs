//! The modules of this crate use each other in one direction only.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The source below a file or folder, without comments and unit tests.
fn source(path: &Path) -> String {
    if path.is_dir() {
        let entries = path.read_dir().unwrap();
        return entries.map(|entry| source(&entry.unwrap().path())).collect();
    }
    let text = std::fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.fold(String::new(), |all, line| all + line + "\n")
}

/// The first words of what stands between the commas of a list in braces.
fn first_words(list: &str) -> Vec<&str> {
    let (mut depth, mut from, mut words) = (0, 0, Vec::new());
    for (at, character) in list.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                words.push(first_word(&list[from..at]));
                from = at + 1;
                if character == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    // Behind the last comma there may be nothing.
    words.retain(|word| !word.is_empty());
    words
}

fn first_word(text: &str) -> &str {
    let text = text.trim_start();
    let is_of_word = |character: char| character.is_alphanumeric() || character == '_';
    &text[..text.find(|character| !is_of_word(character)).unwrap_or(text.len())]
}

/// What stands behind each `crate::`.
fn used(source: &str) -> Vec<&str> {
    let mut used = Vec::new();
    for rest in source.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            Some(list) => used.extend(first_words(list)),
            None => used.push(first_word(rest)),
        }
    }
    used
}

#[test]
fn no_module_uses_itself_by_way_of_others() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let root = source(&folder.join("lib.rs"));
    let mut modules: BTreeMap<&str, String> = BTreeMap::new();
    for line in root.lines() {
        if let Some(name) = line.strip_prefix("mod ").and_then(|it| it.strip_suffix(';')) {
            let inner = folder.join(name);
            let below = if inner.is_dir() { source(&inner) } else { String::new() };
            modules.insert(name, source(&folder.join(format!("{name}.rs"))) + &below);
        }
    }
    // Under which names the root shows what is in them.
    let mut shown: BTreeMap<&str, &str> = BTreeMap::new();
    for export in root.split("pub use ").skip(1) {
        let (module, names) = export.split_once("::").unwrap();
        let names = names.split_once(';').unwrap().0;
        match names.strip_prefix('{') {
            Some(list) => shown.extend(first_words(list).into_iter().map(|name| (name, module))),
            None => _ = shown.insert(first_word(names), module),
        }
    }
    let mut left: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, source) in &modules {
        let uses = used(source).into_iter().filter_map(|word| {
            let module = modules.get_key_value(word).map(|(module, _)| *module);
            module.or_else(|| shown.get(word).copied())
        });
        left.insert(name, uses.filter(|module| module != name).collect());
    }
    assert!(left.len() > 40 && left["analyse"].contains("arm_samples"), "{left:?}");
    // Whatever uses nothing that is left cannot be part of a circle.
    while let Some(done) = left.iter().find(|(_, uses)| uses.is_empty()) {
        let done = *done.0;
        left.remove(done);
        left.values_mut().for_each(|uses| _ = uses.remove(done));
    }
    assert!(left.is_empty(), "these use each other in circles: {left:#?}");
}
