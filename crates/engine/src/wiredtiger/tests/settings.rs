use super::*;
use crate::wiredtiger::configuration::Configuration;
use plimsoll_record::figures;
use plimsoll_testing::assert_contains;
use plimsoll_wiredtiger_sys as wt;
use std::collections::BTreeSet;

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
    for (name, part) in [
        ("wiredtiger_open", "eviction=(threads_min=4,threads_max=4)"),
        ("wiredtiger_open", "log=(enabled=true,remove=true,path=journal,compressor=snappy)"),
        ("wiredtiger_open", "checkpoint=(wait=60)"),
        ("wiredtiger_open", "session_max=33000"),
        ("wiredtiger_open", "statistics=(fast)"),
        ("wiredtiger_open", "eviction_dirty_target=5,eviction_dirty_trigger=20"),
        ("collection", "key_format=q,value_format=u,block_compressor=snappy"),
        ("collection", "leaf_page_max=32768"),
        ("collection", "memory_page_max=10485760"),
        ("index", "key_format=u,value_format=u"),
        ("index", "prefix_compression=true"),
        ("index", "leaf_page_max=16384"),
    ] {
        assert_contains(&notes[name], part);
    }
}

#[test]
fn a_description_holds_everything_in_force() {
    let directory = tempfile::tempdir().unwrap();
    let engine = open(directory.path(), &DataSpec::with_records(1), &[]).unwrap();
    let names = engine.description();
    assert_eq!(names.name, "wiredtiger");
    assert!(names.version.starts_with("11.3."));
    assert_eq!(names.settings["cache_size"], "32MiB");
    assert_eq!(names.settings["block_compressor"], "snappy");
    assert_eq!(names.notes["allocator"], "system");
    assert!(names.notes["wiredtiger_open"].ends_with(&format!(",{QUICK}")));
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
    let before = Configuration::new(&plain);
    let changed = changed();
    assert_eq!(changed.len(), KIND.settings.len());
    for (name, value) in changed {
        let mut settings = plain.clone();
        settings.0.insert(name.into(), value);
        assert_ne!(Configuration::new(&settings), before, "{name}");
    }
}

#[test]
fn updates_can_be_whole() {
    let mut database = Loaded::with(&verifiable(5), &[("update_by", text("whole"))]);
    let mut generator = updates(&database.key_space, false);
    let change = changes(&mut generator);
    assert_ok(database.session.update(&database.keys[0], change));
    let modified = counter(&database.engine, wt::WT_STAT_CONN_CURSOR_MODIFY);
    assert_eq!(modified, 0.0);
}

#[test]
fn impossible_settings_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let data = DataSpec::with_records(1);
    for (settings, said) in [
        (
            vec![("durable", SettingValue::Flag(true)), ("journal", SettingValue::Flag(false))],
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
            vec![("dirty_target", SettingValue::Number(0.2))],
            "`dirty_target: 0.2` does not suit the engine `wiredtiger`: it must be less than dirty_trigger, which is 20%",
        ),
        (
            vec![("index_config", text("a\0b"))],
            "`index_config: a\0b` does not suit the engine `wiredtiger`: it holds a NUL byte",
        ),
    ] {
        assert_eq!(message(open(directory.path(), &data, &settings)), said);
    }
    let files = std::fs::read_dir(directory.path()).unwrap();
    assert_eq!(files.count(), 0, "nothing was begun");
}

#[test]
fn statistics_follow_what_is_done() {
    let database = Loaded::new(&verifiable(200));
    let Loaded { engine, keys, .. } = &database;
    // One insert in each table.
    assert!(counter(engine, wt::WT_STAT_CONN_CURSOR_INSERT) >= 400.0);
    assert!(counter(engine, wt::WT_STAT_CONN_TXN_COMMIT) >= 200.0);
    let figure = |name| statistic(&**engine, name);
    let cache_bytes = f64::from(32 << 20);
    assert_eq!(figure(figures::ENGINE_CACHE_MAXIMUM), cache_bytes);
    assert!(figure(figures::ENGINE_CACHE_USED) > 200.0 * 1_000.0);
    assert!(figure(figures::ENGINE_JOURNAL_BYTES) > 0.0);
    assert_eq!(figure(figures::ENGINE_CHECKPOINT_RUNNING), 0.0);
    let before = counter(engine, wt::WT_STAT_CONN_CURSOR_SEARCH);
    let mut session = engine.session().unwrap();
    for key in keys {
        assert_ok(session.read(key, FieldChoice::All, None));
    }
    let searches = counter(engine, wt::WT_STAT_CONN_CURSOR_SEARCH) - before;
    assert_eq!(searches, 400.0, "one search in each table");
    // The engine has all figures of the contract, under their names.
    let mut names = Vec::new();
    engine.statistics(&mut names);
    let names: BTreeSet<&str> = names.into_iter().map(|(name, _)| name).collect();
    let of_engines = figures::ALL.iter().copied();
    let of_engines = of_engines.filter(|name| name.starts_with("engine."));
    assert_eq!(names, of_engines.collect());
}

#[test]
fn data_are_the_files_of_collection_and_index() {
    let settings = [("after_load", text("checkpoint"))];
    let database = Loaded::with(&verifiable(500), &settings);
    let (engine, directory) = (&database.engine, &database.directory);
    engine.settle().unwrap();
    let bytes = engine.data_bytes().unwrap().unwrap();
    let length = |name: &str| directory.path().join(name).metadata().unwrap().len();
    assert_eq!(bytes, length("collection.wt") + length("index.wt"));
    // 500 records of 1 kB hardly compress to a tenth.
    assert!(bytes > 50_000, "{bytes}");
    std::fs::remove_file(directory.path().join("index.wt")).unwrap();
    assert_contains(message(engine.data_bytes()), "index.wt");
}

#[test]
fn compressors_remove_what_repeats_and_random_letters_stay() {
    let on_disk = |compressible, compressor| {
        let data = DataSpec { compressible, ..DataSpec::with_records(4_000) };
        let settings = [("after_load", text("checkpoint")), ("block_compressor", text(compressor))];
        let database = Loaded::with(&data, &settings);
        database.engine.settle().unwrap();
        database.engine.data_bytes().unwrap().unwrap() as f64
    };
    let plain = on_disk(0.6, "none");
    for (compressor, compressible, least, most) in
        [("snappy", 0.0, 0.9, 1.05), ("snappy", 0.6, 0.35, 0.6), ("zstd", 0.6, 0.25, 0.55)]
    {
        let share = on_disk(compressible, compressor) / plain;
        assert!((least..most).contains(&share), "{compressor}, {compressible}: {share}");
    }
}

#[test]
fn without_statistics_there_are_none() {
    let directory = tempfile::tempdir().unwrap();
    let (data, none) = (DataSpec::with_records(1), text("none"));
    let engine = open(directory.path(), &data, &[("statistics", none)]).unwrap();
    let mut all = Vec::new();
    engine.statistics(&mut all);
    assert!(all.is_empty());
    engine.close().unwrap();
}

mod slow {
    use super::*;

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
            let mut database = Loaded::with(&verifiable(50), &settings);
            let mut generator = updates(&database.key_space, false);
            let change = changes(&mut generator);
            assert_ok(database.session.update(&database.keys[0], change));
            drop(database.session);
            database.engine.settle().unwrap();
            assert_eq!(database.engine.count().unwrap(), Some(50));
            database.engine.close().unwrap();
        }
    }

    /// A cache of a fraction of the data: what is read is read from files, one block for one page, and pages make room for each other.
    #[test]
    fn pages_that_are_not_in_the_cache_are_read_as_blocks() {
        let data = verifiable(6_000);
        let settings = [("after_load", text("reopen"))];
        let small = [settings[0].clone(), ("cache_size", SettingValue::Bytes(2 << 20))];
        let Loaded { engine, session, keys, directory, .. } = Loaded::with(&data, &settings);
        drop(session);
        engine.settle().unwrap();
        engine.close().unwrap();

        let passes = |settings: &[(&str, SettingValue)]| {
            let engine = open(directory.path(), &data, settings).unwrap();
            let mut session = engine.session().unwrap();
            let mut pass = || {
                let figures = [
                    figures::ENGINE_PAGES_READ,
                    figures::ENGINE_BLOCK_READS,
                    figures::ENGINE_BLOCK_READ_BYTES,
                    figures::ENGINE_EVICTIONS,
                ];
                let before = figures.map(|name| statistic(&*engine, name));
                // Far apart, so that each read needs another page.
                for key in keys.iter().step_by(97).cycle().take(500) {
                    assert_ok(session.read(key, FieldChoice::All, None));
                }
                let mut after = figures.map(|name| statistic(&*engine, name));
                for (after, before) in after.iter_mut().zip(before) {
                    *after -= before;
                }
                after
            };
            let both = [pass(), pass()];
            drop(session);
            engine.close().unwrap();
            both
        };
        for [pages, blocks, bytes, evictions] in passes(&small) {
            assert!(pages >= 100.0, "{pages} pages");
            let found = format!("{pages} pages, {blocks} blocks, {bytes} bytes");
            assert!((blocks - pages).abs() <= 0.05 * pages, "{found}");
            assert!(bytes >= 4_096.0 * blocks, "{found}");
            assert!(evictions > 0.0);
        }
        let [first, second] = passes(&settings);
        assert!(first[1] >= 50.0, "{first:?}");
        assert!(second[1] <= 5.0, "all is in the cache: {second:?}");
    }
}
