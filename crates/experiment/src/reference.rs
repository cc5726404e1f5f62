//! The reference of every key, for `docs/experiment-file.md`: made from the tables of the elements.

use crate::document::{Keys, Need, Object, Shape};
use crate::keys::arm::{ARM, OPEN_ARM};
use crate::keys::file::FILE;
use crate::presets::{disk_presets, machine_presets};
use crate::schema::bounds;
use plimsoll_plan::words::figures_line;
use plimsoll_plan::{EngineKind, SettingKind};
use plimsoll_record::quantities::units;

/// The generated part of the documentation is between these lines.
pub const REFERENCE_BEGIN: &str = "<!-- reference: begin (generated) -->";
pub const REFERENCE_END: &str = "<!-- reference: end -->";

/// The reference of every key in Markdown, with the settings of these engines.
pub fn reference_markdown(engines: &[EngineKind]) -> String {
    let mut text = String::new();
    section("", "The file", &FILE, &mut text, &mut Vec::new());
    for kind in engines {
        text.push_str(&format!("### Settings of engine `{}`\n\n{}\n\n", kind.name, kind.about));
        if kind.settings.is_empty() {
            text.push_str("It has none.\n\n");
            continue;
        }
        text.push_str("| key | value | default | meaning |\n|---|---|---|---|\n");
        for setting in kind.settings {
            let default = setting.default.map_or_else(|| "none".to_owned(), code);
            row(
                &mut text,
                [
                    code(setting.name),
                    value(&Shape::Value(setting.kind)),
                    default,
                    setting.about.to_owned(),
                ],
            );
        }
        text.push('\n');
    }
    presets(&mut text);
    text
}

fn presets(text: &mut String) {
    text.push_str(
        "### Disks by name\n\nFor `disk` of an arm and for `preset` in it. Those marked * are faster the larger they are: the figures are \
         for the capacity shown.\n\n| disk | what it is | figures | source | as of |\n|---|---|---|---|---|\n",
    );
    for disk in disk_presets() {
        let mark = if disk.grows() { " *" } else { "" };
        let figures = figures_line(&disk.spec, disk.grows());
        row(
            text,
            [
                format!("{}{mark}", code(&disk.name)),
                disk.about.clone(),
                figures,
                disk.source.clone(),
                disk.date.clone(),
            ],
        );
    }
    text.push_str(
        "\n### Machines by name\n\nFor `machine` of an arm.\n\n\
         | machine | what it is | processors | memory | price | source | as of |\n|---|---|---|---|---|---|---|\n",
    );
    for machine in machine_presets() {
        row(
            text,
            [
                code(&machine.name),
                machine.about.clone(),
                machine.cores.to_string(),
                units::size(machine.memory_bytes),
                format!("{} {} an hour", machine.price.per_hour, machine.price.currency),
                machine.source.clone(),
                machine.date.clone(),
            ],
        );
    }
    text.push('\n');
}

/// Puts a new reference between the two markers of a document; `None` when they are not there.
pub fn with_reference(document: &str, engines: &[EngineKind]) -> Option<String> {
    let (before, rest) = document.split_once(REFERENCE_BEGIN)?;
    let (_, after) = rest.split_once(REFERENCE_END)?;
    let reference = reference_markdown(engines);
    Some(format!("{before}{REFERENCE_BEGIN}\n\n{reference}{REFERENCE_END}{after}"))
}

/// A table of the keys of a map, and of the maps in it. Maps that are in `describe` already are only referred to.
fn section(
    path: &str,
    title: &str,
    object: &'static Object,
    text: &mut String,
    described: &mut Vec<(&'static Object, String)>,
) {
    let known = described.iter().find(|(earlier, _)| std::ptr::eq(*earlier, object));
    if let Some((_, first)) = known {
        text.push_str(&format!("### {title}\n\nThe same as {}.\n\n", code(first)));
        return;
    }
    described.push((object, path.to_owned()));
    text.push_str(&format!("### {title}\n\n{}\n\n", object.about));
    for choice in object.choices {
        let keys: Vec<String> = choice.keys.iter().map(|key| code(key)).collect();
        let how = match (choice.required, choice.exclusive) {
            (true, true) => "Exactly one",
            (true, false) => "At least one",
            (false, _) => "At most one",
        };
        text.push_str(&format!("{how} of {}.\n\n", keys.join(", ")));
    }
    text.push_str("| key | value | default | meaning | example |\n|---|---|---|---|---|\n");
    for key in object.keys {
        let default = match key.need {
            Need::Required => "**required**".to_owned(),
            Need::Optional => "none".to_owned(),
            Need::Default(default) => code(default),
        };
        row(
            text,
            [code(key.name), value(&key.shape), default, key.about.to_owned(), code(key.example)],
        );
    }
    text.push('\n');
    for key in object.keys {
        let path =
            if path.is_empty() { key.name.to_owned() } else { format!("{path}.{}", key.name) };
        for (path, inner) in inner_objects(&path, &key.shape) {
            section(&path, &format!("`{path}`"), inner, text, described);
        }
    }
}

/// The maps with known keys inside of a shape.
fn inner_objects(path: &str, shape: &Shape) -> Vec<(String, &'static Object)> {
    match shape {
        Shape::Object(object) => vec![(path.to_owned(), object)],
        Shape::Open(map) if std::ptr::eq(*map, &OPEN_ARM) => vec![(path.to_owned(), &ARM)],
        Shape::List { of, .. } => inner_objects(&format!("{path}[]"), of),
        Shape::Keyed { of, keys: Keys::Names(_), .. } => inner_objects(&format!("{path}.NAME"), of),
        Shape::Any(shapes) => shapes.iter().flat_map(|shape| inner_objects(path, shape)).collect(),
        _ => Vec::new(),
    }
}

/// What a value looks like, in a few words.
fn value(shape: &Shape) -> String {
    let words = match shape {
        Shape::Version(known) => code(&known.to_string()),
        Shape::Name => "a name".into(),
        Shape::Text { .. } | Shape::Value(SettingKind::Text) => "text".into(),
        Shape::Value(SettingKind::Size { .. }) => "size".into(),
        Shape::Value(SettingKind::Count { .. }) => "count".into(),
        Shape::Value(SettingKind::Duration { .. }) => "duration".into(),
        Shape::Value(SettingKind::Number { max, .. }) if *max <= 1.0 => "share".into(),
        Shape::Value(SettingKind::Number { .. }) => "number".into(),
        Shape::Value(SettingKind::Flag) => "`true` or `false`".into(),
        Shape::Value(SettingKind::Choice(words)) => {
            words.iter().map(|word| code(word)).collect::<Vec<_>>().join(", ")
        }
        Shape::Rate { .. } => "rate".into(),
        Shape::Bandwidth => "size per second".into(),
        Shape::CountOrOff { .. } => "count, or `off`".into(),
        Shape::Word(word) => word.summary.into(),
        Shape::List { of, least: 2, most: 2 } => format!("two of: {}", value(of)),
        Shape::List { of, .. } => format!("list of: {}", value(of)),
        Shape::Keyed { keys, of, .. } => {
            let keys = match keys {
                Keys::Names(what) => format!("{what} names"),
                Keys::Words(words) => words.plural.into(),
            };
            format!("map of {keys} to: {}", value(of))
        }
        Shape::Object(_) => "a map, see below".into(),
        Shape::Open(map) => map.summary.into(),
        Shape::Any(shapes) => shapes.iter().map(value).collect::<Vec<_>>().join("; or "),
    };
    bounds(shape).map_or(words.clone(), |bounds| format!("{words}, {bounds}"))
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

fn row<const N: usize>(text: &mut String, cells: [String; N]) {
    for cell in cells {
        text.push_str("| ");
        text.push_str(&cell.replace('|', "\\|").replace('\n', " "));
        text.push(' ');
    }
    text.push_str("|\n");
}
