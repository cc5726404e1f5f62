//! Settings reach WiredTiger.

use super::*;
use crate::registry::completed;
use crate::wiredtiger::KIND;
use crate::wiredtiger::configuration::Configuration;

fn notes(settings: &[(&str, SettingValue)]) -> std::collections::BTreeMap<String, String> {
    let directory = tempfile::tempdir().unwrap();
    let engine = open(directory.path(), &DataSpec::with_records(1), settings).unwrap();
    let notes = engine.description().notes;
    engine.close().unwrap();
    notes
}

#[test]
fn defaults_are_those_of_mongod() {
    let notes = notes(&[]);
    for part in [
        "eviction=(threads_min=4,threads_max=4)",
        "log=(enabled=true,remove=true,path=journal,compressor=snappy)",
        "checkpoint=(wait=60)",
        "session_max=33000",
        "statistics=(fast)",
        "eviction_dirty_target=5,eviction_dirty_trigger=20",
    ] {
        assert!(
            notes["wiredtiger_open"].contains(part),
            "{part} in {}",
            notes["wiredtiger_open"]
        );
    }
    for part in [
        "key_format=q,value_format=u,block_compressor=snappy",
        "leaf_page_max=32768",
        "memory_page_max=10485760",
    ] {
        assert!(
            notes["collection"].contains(part),
            "{part} in {}",
            notes["collection"]
        );
    }
    for part in [
        "key_format=u,value_format=u",
        "prefix_compression=true",
        "leaf_page_max=16384",
    ] {
        assert!(
            notes["index"].contains(part),
            "{part} in {}",
            notes["index"]
        );
    }
}

#[test]
fn a_description_holds_everything_in_force() {
    let directory = tempfile::tempdir().unwrap();
    let engine = open(directory.path(), &DataSpec::with_records(1), &[]).unwrap();
    let description = engine.description();
    assert_eq!(description.name, "wiredtiger");
    assert!(description.version.starts_with("11.3."));
    assert_eq!(description.settings["cache_size"], "32MiB");
    assert_eq!(description.settings["block_compressor"], "snappy");
    assert_eq!(description.notes["allocator"], "system");
    assert!(description.notes["wiredtiger_open"].ends_with(&format!(",{QUICK}")));
    engine.close().unwrap();
}

/// Every setting away from its default.
fn changed() -> Vec<(&'static str, SettingValue)> {
    vec![
        ("cache_size", SettingValue::Bytes(16 << 20)),
        ("dirty_target", SettingValue::Number(0.1)),
        ("dirty_trigger", SettingValue::Number(0.29)),
        ("eviction_threads", SettingValue::Count(2)),
        ("checkpoint_interval", SettingValue::Nanos(0)),
        ("journal_compressor", text("zstd")),
        ("journal_flush_interval", SettingValue::Nanos(1_000_000)),
        ("durable", SettingValue::Flag(true)),
        ("update_by", text("whole")),
        ("block_compressor", text("zstd")),
        ("checksum", text("off")),
        ("allocation_size", SettingValue::Bytes(512)),
        ("leaf_page_max", SettingValue::Bytes(8 << 10)),
        ("internal_page_max", SettingValue::Bytes(8 << 10)),
        ("memory_page_max", SettingValue::Bytes(1 << 20)),
        ("index_page_max", SettingValue::Bytes(4 << 10)),
        ("index_prefix_compression", SettingValue::Flag(false)),
        ("index_compressor", text("snappy")),
        ("direct_io", SettingValue::Flag(true)),
        ("session_max", SettingValue::Count(100)),
        ("statistics", text("all")),
        ("after_load", text("reopen")),
        ("connection_config", text("statistics_log=(wait=0)")),
        ("collection_config", text("split_pct=75")),
        ("index_config", text("split_pct=75")),
        ("journal", SettingValue::Flag(false)),
    ]
}

#[test]
fn every_setting_has_an_effect() {
    let plain = completed(&KIND, &Settings::default()).unwrap();
    let before = Configuration::new(&plain).unwrap();
    let changed = changed();
    assert_eq!(changed.len(), KIND.settings.len());
    for (name, value) in changed {
        let mut settings = plain.clone();
        settings.0.insert(name.into(), value);
        assert_ne!(Configuration::new(&settings).unwrap(), before, "{name}");
    }
}

#[test]
fn wiredtiger_takes_every_setting() {
    let mut some = changed();
    // Not every filesystem has direct I/O.
    some.retain(|(name, _)| *name != "journal" && *name != "direct_io");
    let uncompressed = ["journal_compressor", "block_compressor", "index_compressor"];
    let mut others = uncompressed.map(|name| (name, text("none"))).to_vec();
    others.push(("journal", SettingValue::Flag(false)));
    others.push(("checksum", text("uncompressed")));
    for settings in [some, others] {
        let directory = tempfile::tempdir().unwrap();
        let data = verifiable(50);
        let key_space = KeySpace::new(&data).unwrap();
        let engine = open(directory.path(), &data, &settings).unwrap();
        let mut session = engine.session().unwrap();
        let keys = load(&mut *session, &key_space);
        let mut asker = updates(&key_space, false);
        assert_ok(session.update(&keys[0], changes(&mut asker)));
        drop(session);
        engine.settle().unwrap();
        assert_eq!(engine.count().unwrap(), Some(50));
        engine.close().unwrap();
    }
}

#[test]
fn updates_can_be_whole() {
    let directory = tempfile::tempdir().unwrap();
    let data = verifiable(5);
    let key_space = KeySpace::new(&data).unwrap();
    let engine = open(directory.path(), &data, &[("update_by", text("whole"))]).unwrap();
    let mut session = engine.session().unwrap();
    let keys = load(&mut *session, &key_space);
    let mut asker = updates(&key_space, false);
    assert_ok(session.update(&keys[0], changes(&mut asker)));
    assert_eq!(statistic(&*engine, "cursor_modifies"), 0.0);
}

#[test]
fn impossible_settings_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let data = DataSpec::with_records(1);
    for (settings, said) in [
        (
            vec![
                ("durable", SettingValue::Flag(true)),
                ("journal", SettingValue::Flag(false)),
            ],
            "`durable: true` does not suit the engine `wiredtiger`: without a journal nothing is durable before the next checkpoint",
        ),
        (
            vec![("checkpoint_interval", SettingValue::Nanos(1_500_000_000))],
            "`checkpoint_interval: 1.5s` does not suit the engine `wiredtiger`: WiredTiger takes whole seconds",
        ),
        (
            vec![("dirty_target", SettingValue::Number(0.055))],
            "`dirty_target: 0.055` does not suit the engine `wiredtiger`: WiredTiger takes whole percents",
        ),
        (
            vec![("index_config", text("a\0b"))],
            "`index_config: a\0b` does not suit the engine `wiredtiger`: it holds a NUL byte",
        ),
    ] {
        assert_eq!(message(open(directory.path(), &data, &settings)), said);
    }
    assert_eq!(
        std::fs::read_dir(directory.path()).unwrap().count(),
        0,
        "nothing was begun"
    );
}

#[test]
fn statistics_follow_what_is_done() {
    let directory = tempfile::tempdir().unwrap();
    let data = verifiable(200);
    let key_space = KeySpace::new(&data).unwrap();
    let engine = open(directory.path(), &data, &[]).unwrap();
    let mut session = engine.session().unwrap();
    let keys = load(&mut *session, &key_space);
    // One insert in each table.
    assert!(statistic(&*engine, "cursor_inserts") >= 400.0);
    assert!(statistic(&*engine, "transaction_commits") >= 200.0);
    assert_eq!(
        statistic(&*engine, "cache_max_bytes"),
        32.0 * 1024.0 * 1024.0
    );
    assert!(statistic(&*engine, "cache_bytes") > 200.0 * 1_000.0);
    assert_eq!(statistic(&*engine, "checkpoint_running"), 0.0);
    let before = statistic(&*engine, "cursor_searches");
    for key in &keys {
        assert_ok(session.read(key, FieldChoice::All, None));
    }
    assert_eq!(
        statistic(&*engine, "cursor_searches") - before,
        400.0,
        "one search in each table"
    );
    let mut names = Vec::new();
    engine.statistics(&mut names);
    assert_eq!(names.len(), 33);
}

#[test]
fn without_statistics_there_are_none() {
    let directory = tempfile::tempdir().unwrap();
    let engine = open(
        directory.path(),
        &DataSpec::with_records(1),
        &[("statistics", text("none"))],
    )
    .unwrap();
    let mut all = Vec::new();
    engine.statistics(&mut all);
    assert!(all.is_empty());
    engine.close().unwrap();
}
