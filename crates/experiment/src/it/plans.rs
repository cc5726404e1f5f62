//! What comes out of a file: every value decided, the order of the runs, the fingerprint and the explanation.

use crate::it::servers::MONGODB;
use crate::it::{ENGINES, SMALLEST, check_with, plan, surroundings};
use crate::{Overrides, Surroundings, check};
use plimsoll_plan::{
    Direction, LoadAt, Metric, OperationObjective, Order, Plan, PointRole, Search, Setting,
    SettingKind, Source, Threshold, explain,
};
use plimsoll_record::Operation;
use plimsoll_workload::schedule::{Arrivals, Load, Stage};
use plimsoll_workload::{
    FieldLength, KeyOrder, Mix, RequestDistribution, ScanDistribution, ScanLength,
};
use std::path::{Path, PathBuf};

const EVERY_KEY: &str = include_str!("every_key.yaml");
const QUICKSTART: &str = include_str!("../../../../studies/quickstart.yaml");
const SECOND: u64 = 1_000_000_000;

fn source(plan: &Plan, path: &str) -> Source {
    let origin = plan.origins.iter().find(|origin| origin.path == path);
    origin.unwrap_or_else(|| panic!("no origin of {path}")).source.clone()
}

#[test]
fn defaults_are_those_of_the_documentation() {
    let plan = plan(SMALLEST);
    assert_eq!(plan.measurement.warm_up_ns, 5 * SECOND);
    assert_eq!(plan.measurement.duration_ns, 30 * SECOND);
    assert_eq!(plan.measurement.operations, None);
    assert_eq!(plan.measurement.blocks, 8);
    assert_eq!(plan.measurement.order, Order::Shuffled);
    assert_eq!(plan.measurement.seed, 42);
    assert_eq!(plan.load_phase.sessions, 4);
    assert_eq!(plan.compare.baseline, "one");
    assert_eq!(plan.compare.primary, [Metric::Throughput, Metric::Response { percentile: 99.0 }]);
    assert_eq!(plan.compare.at, None);
    assert_eq!(plan.compare.margins["throughput"], 0.03);
    assert_eq!(plan.compare.margins["response.p99"], 0.05);
    assert_eq!(plan.objective, None);
    assert_eq!(plan.thresholds, []);
    assert_eq!(plan.runs.len(), 8);
    let [point] = plan.points.as_slice() else { panic!("{:?}", plan.points) };
    assert_eq!(point.load, Load::Closed { sessions: 1, think_time_ns: 0, target: None });
    assert_eq!(plan.mixes, [Mix::preset("c").unwrap()]);
    assert_eq!(plan.arms[0].data, plimsoll_workload::DataSpec::with_records(1_000));
}

/// A word is enough, and it is refused like the key that it stands for.
#[test]
fn data_is_stored_once_by_a_word_or_by_a_key() {
    let kept = SMALLEST.replace("noop", "wiredtiger");
    let [word, key] =
        ["once", "{once: true}"].map(|how| plan(&format!("{kept}load_phase: {how}\n")));
    assert_eq!(word.load_phase, key.load_phase);
    assert!(word.load_phase.once && !plan(&kept).load_phase.once);
    assert_eq!(source(&word, "load_phase.once"), source(&key, "load_phase.once"));

    for (how, complaint) in [("once", "keeps no data"), ("twice", "once")] {
        let text = format!("{SMALLEST}load_phase: {how}\n");
        let problems = check_with(&text, &Overrides::default()).unwrap_err().to_string();
        assert!(problems.contains(complaint), "{problems}");
    }
}

#[test]
fn every_key_arrives() {
    let plan = plan(EVERY_KEY);
    assert_eq!(plan.question.as_deref(), Some("Does every key arrive?"));

    let data = &plan.arms[0].data;
    assert_eq!(data.field_count, 5);
    assert_eq!(data.field_length, FieldLength::Uniform { min: 100, max: 300 });
    assert_eq!(data.field_name_prefix, "f");
    assert_eq!(data.key_order, KeyOrder::Ordered);
    assert_eq!(data.zero_padding, 12);
    assert_eq!((data.insert_start, data.insert_count), (100, Some(4_000)));
    assert_eq!(data.table, "things");
    // A key is "user" and 12 digits, the names are f0 to f4, the values 5 times 200 on average: 1,026 bytes.
    assert_eq!(data.records, (10_830_000.0f64 / 1_026.0).round() as u64);

    let [reads, scans, writes] = plan.mixes.as_slice() else { panic!("{:?}", plan.mixes) };
    assert_eq!((reads.read, reads.update, reads.read_all_fields), (0.95, 0.05, false));
    let hot = RequestDistribution::Hotspot { data_fraction: 0.1, operation_fraction: 0.8 };
    assert_eq!(reads.request_distribution, hot);
    assert_eq!((scans.scan, scans.insert, scans.read), (0.95, 0.05, 0.0));
    assert_eq!(scans.request_distribution, RequestDistribution::exponential());
    assert_eq!(
        scans.scan_length,
        ScanLength { min: 1, max: 50, distribution: ScanDistribution::Zipfian }
    );
    assert_eq!(
        (writes.update, writes.read_modify_write, writes.write_all_fields),
        (3.0, 1.0, true)
    );
    assert_eq!(writes.request_distribution, RequestDistribution::Sequential);

    let [small, large, model] = plan.arms.as_slice() else { panic!("{:?}", plan.arms) };
    assert_eq!(small.about.as_deref(), Some("small cache"));
    assert_eq!(small.settings.bytes("cache_size"), Some(16 << 20));
    assert_eq!(small.settings.text("compressor"), Some("zstd"));
    assert_eq!(small.settings.number("eviction_dirty_target"), Some(0.1));
    assert_eq!(small.settings.flag("journal"), Some(true));
    assert_eq!(small.settings.text("configuration"), None);
    assert_eq!(small.directory.as_deref(), Some(Path::new("/experiments/data")));
    assert_eq!(large.settings.bytes("cache_size"), Some(512 << 20));
    assert_eq!(large.settings.flag("journal"), Some(false));
    assert_eq!(large.settings.nanos("checkpoint_wait"), Some(90 * SECOND));
    assert_eq!(large.settings.text("configuration"), Some("cache_overhead=5"));
    assert_eq!(large.directory.as_deref(), Some(Path::new("/mnt/fast")));
    assert_eq!(large.data.records, 8_000);
    assert_eq!(model.engine, "simulated");
    assert_eq!(model.settings.count("servers"), Some(3));
    assert_eq!(model.settings.0.len(), 1);

    let loads: Vec<&Load> = plan.points.iter().map(|point| &point.load).collect();
    let load = |rate| Load::Open { rate, arrivals: Arrivals::Constant, sessions: 16 };
    let (low, high) = (load(500.0), load(1_500.0));
    // The geometric mean of 100 and 50,000, to six digits.
    let line = Load::Open { rate: 2_236.07, arrivals: Arrivals::Poisson, sessions: 32 };
    let of_a_mix = [&line, &low, &high];
    for (mix, points) in (0..).zip(loads.chunks(4)) {
        assert_eq!(points[..3], of_a_mix, "mix {mix}");
    }
    let mixes: Vec<u32> = plan.points.iter().map(|point| point.mix).collect();
    assert_eq!(mixes, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
    let roles: Vec<PointRole> = plan.points[..4].iter().map(|point| point.role).collect();
    let (fixed, share) = (PointRole::Fixed, PointRole::ShareOfLine { share: 0.8 });
    assert_eq!(roles, [PointRole::Line, fixed, fixed, share]);

    assert_eq!(plan.load_phase.sessions, 8);
    assert_eq!(plan.measurement.warm_up_ns, 2 * SECOND);
    assert_eq!(plan.measurement.duration_ns, 10 * SECOND);
    assert_eq!(plan.measurement.operations, Some(1_000_000));
    assert_eq!(plan.measurement.seed, 7);
    let arms: Vec<u32> = plan.runs.iter().map(|run| run.arm).collect();
    assert_eq!(arms, [0, 1, 2, 0, 1, 2, 0, 1, 2]);

    let objective = plan.objective.as_ref().unwrap();
    assert_eq!(objective.response, [(50.0, 500_000), (99.9, 50_000_000)]);
    let scans =
        OperationObjective { operation: Operation::Scan, response: vec![(95.0, 80_000_000)] };
    assert_eq!(objective.operations, [scans]);
    assert_eq!((objective.errors, objective.achieved), (0.001, 0.95));
    let search =
        Search { trial_ns: 4 * SECOND, warm_up_ns: SECOND, width: 0.05, rates: (100.0, 50_000.0) };
    assert_eq!(objective.search, Some(search));
    assert_eq!(plan.compare.baseline, "large");
    assert_eq!(
        plan.compare.primary,
        [Metric::Service { percentile: 95.0 }, Metric::CpuPerOperation]
    );
    assert_eq!(plan.compare.at, Some(LoadAt::Rate(1_500.0)));
    let margins: Vec<_> =
        plan.compare.margins.iter().map(|(name, share)| (name.as_str(), *share)).collect();
    assert_eq!(margins, [("cpu", 0.1), ("service.p95", 0.05)]);
    let anywhere = Threshold {
        text: "throughput >= 400".into(),
        metric: Metric::Throughput,
        at_least: true,
        bound: 400.0,
        arm: None,
        mix: None,
        at: None,
    };
    let somewhere = Threshold {
        text: "response.p99 <= 5ms".into(),
        metric: Metric::Response { percentile: 99.0 }.of(Operation::Insert).unwrap(),
        at_least: false,
        bound: 5e6,
        arm: Some("large".into()),
        mix: Some("scans".into()),
        at: Some(LoadAt::Rate(500.0)),
    };
    assert_eq!(plan.thresholds, [anywhere, somewhere]);
}

#[test]
fn explanation_of_every_key() {
    insta::assert_snapshot!(explain(&plan(EVERY_KEY), &ENGINES).to_string());
}

#[test]
fn explanation_of_the_smallest_file() {
    insta::assert_snapshot!(explain(&plan(SMALLEST), &ENGINES).to_string());
}

#[test]
fn quickstart_takes_less_than_four_minutes() {
    let plan = plan(QUICKSTART);
    assert_eq!((plan.runs.len(), plan.points.len()), (12, 10));
    let needs = explain(&plan, &ENGINES).needs;
    assert!(needs.measuring_ns + needs.loading_ns < 220 * SECOND, "{needs:?}");
    // The arms differ in one setting and in its description.
    let (mut one, mut other) = (plan.arms[0].clone(), plan.arms[1].clone());
    assert_ne!(one.settings.0.remove("cache_size"), other.settings.0.remove("cache_size"));
    other.name.clone_from(&one.name);
    other.about.clone_from(&one.about);
    one.settings.0.clear();
    other.settings.0.clear();
    assert_eq!(one, other);
}

/// The settings of the tests' engine, and those of the real one that studies and documentation name.
fn settings_of_studies() -> &'static [Setting] {
    let mut settings = ENGINES[0].settings.to_vec();
    for name in [
        "dirty_target",
        "dirty_trigger",
        "eviction_threads",
        "block_compressor",
        "leaf_page_max",
        "memory_page_max",
        "index_prefix_compression",
        "journal_flush_interval",
        "journal_compressor",
        "update_by",
        "durable",
    ] {
        settings.push(Setting {
            name,
            about: "As the real engine has it.",
            kind: SettingKind::Text,
            default: None,
        });
    }
    settings.leak()
}

#[test]
fn each_value_knows_its_line() {
    let plan = plan(EVERY_KEY);
    let line = |path: &str| match source(&plan, path) {
        Source::File { line } => EVERY_KEY.lines().nth(line as usize - 1).unwrap().to_owned(),
        other => panic!("{path} comes from {other:?}"),
    };
    assert!(line("workload.size").contains("10.83MB"));
    assert!(line("arms.large.checkpoint_wait").contains("1m30s"));
    assert!(
        line("arms.large.cache_size").contains("cache_size: 512MiB"),
        "it stands in the defaults"
    );
    assert!(line("arms.model.servers").contains("servers: 3"));
    assert!(line("compare.margins.cpu").contains("margins"));
    assert!(line("thresholds[1]").contains("scans"));
    assert_eq!(source(&plan, "arms.small.checkpoint_wait"), Source::Default);
    assert_eq!(
        source(&plan, "workload.mixes.mostly-reads.read"),
        Source::Preset { name: "b".into() }
    );
    assert_eq!(source(&plan, "workload.mixes.scans.read_all_fields"), Source::Default);
}

/// Lines are counted the same with the line ends of Windows, a mark of byte order, and letters of several bytes.
#[test]
fn lines_are_those_of_an_editor() {
    let text = format!("\u{feff}# größer als 漢字\r\n{}", SMALLEST.replace('\n', "\r\n"));
    let plan = plan(&text);
    assert_eq!(source(&plan, "name"), Source::File { line: 3 });
    assert_eq!(source(&plan, "load.closed.threads"), Source::File { line: 6 });
}

#[test]
fn flags_win_over_the_file() {
    let overrides = Overrides {
        blocks: Some(2),
        duration_ns: Some(SECOND),
        warm_up_ns: Some(0),
        operations: Some(500),
        seed: Some(9),
        directory: Some(PathBuf::from("/elsewhere")),
        scouted: crate::Scouted::default(),
        ..Overrides::default()
    };
    let plan = check_with(EVERY_KEY, &overrides).unwrap();
    assert_eq!((plan.measurement.blocks, plan.runs.len()), (2, 6));
    assert_eq!((plan.measurement.duration_ns, plan.measurement.warm_up_ns), (SECOND, 0));
    assert_eq!((plan.measurement.operations, plan.measurement.seed), (Some(500), 9));
    let directories: Vec<_> = plan.arms.iter().map(|arm| arm.directory.as_deref()).collect();
    let elsewhere = Some(Path::new("/elsewhere"));
    assert_eq!(directories, [elsewhere, elsewhere, None], "the last keeps no data");
    for (path, flag) in [
        ("measurement.blocks", "--blocks"),
        ("measurement.duration", "--duration"),
        ("measurement.warm_up", "--warm-up"),
        ("measurement.operations", "--operations"),
        ("measurement.seed", "--seed"),
        ("arms.small.directory", "--directory"),
    ] {
        assert_eq!(source(&plan, path), Source::Flag { name: flag.into() });
    }
}

#[test]
fn stages_are_one_point_as_long_as_they_are() {
    let text = SMALLEST.replace(
        "{closed: {threads: 1}}",
        "{stages: {steps: [{to: 2k, duration: 10s}, {rate: 2k, duration: 1m}, {to: 500, duration: 5s}, {from: 1k, to: 3k, duration: 1s}]}}",
    );
    let plan = plan(&text);
    let stage = |rate_from, rate_to, seconds: u64| Stage {
        rate_from,
        rate_to,
        duration_ns: seconds * SECOND,
    };
    let stages = vec![
        stage(0.0, 2_000.0, 10),
        stage(2_000.0, 2_000.0, 60),
        stage(2_000.0, 500.0, 5),
        stage(1_000.0, 3_000.0, 1),
    ];
    assert_eq!(plan.points.len(), 1);
    assert_eq!(
        plan.points[0].load,
        Load::Stages { stages, arrivals: Arrivals::Poisson, sessions: 64 }
    );
    assert_eq!(
        (plan.measurement.warm_up_ns, plan.measurement.duration_ns),
        (5 * SECOND, 71 * SECOND)
    );
}

#[test]
fn amounts_of_data_go_from_near_to_far() {
    let text = "
plimsoll: 1
name: sizes
workload: {records: 5k, preset: c}
defaults: {engine: noop, size: 10.8288MB}
arms: {plain: , counted: {records: 7k}, sized: {size: 21.6576MB}}
load: {closed: {threads: 1}}
";
    // A record of the defaults has 1,082.88 bytes: 22.88 of key, 60 of names, 1,000 of values.
    let records: Vec<u64> = plan(text).arms.iter().map(|arm| arm.data.records).collect();
    assert_eq!(records, [10_000, 7_000, 20_000]);
}

#[test]
fn lengths_come_from_a_histogram_file() {
    let text =
        SMALLEST.replace("preset: c", "preset: c, fields: {length: {histogram: lengths.txt}}");
    let expected = FieldLength::Histogram { block_size: 10, counts: vec![3, 5, 0] };
    assert_eq!(plan(&text).arms[0].data.field_length, expected);
}

/// A property file of YCSB says what the records are and names one mix; other keys win over it.
#[test]
fn a_workload_comes_from_a_property_file() {
    let file = |path: &Path| {
        match path.file_name().and_then(|name| name.to_str()) {
        Some("workloadx") => Ok("workload=site.ycsb.workloads.CoreWorkload\nrecordcount=500\noperationcount=7\nfieldcount=3\n\
             readproportion=0.9\nupdateproportion=0.1\nrequestdistribution=zipfian\nzeropadding=8\n"
            .into()),
        Some("threads") => Ok("recordcount=5\nthreadcount=4\nmongodb.url=x\nscanproportion=many\n".into()),
        _ => Err(std::io::ErrorKind::NotFound.into()),
    }
    };
    let text = |workload: &str| {
        format!(
            "plimsoll: 1\nname: x\nworkload: {workload}\narms: {{one: {{engine: wiredtiger}}}}\nload: {{closed: {{threads: [1], target: 10k}}}}\n"
        )
    };
    let check = |workload: &str| {
        let overrides = Overrides::default();
        let surroundings = Surroundings { read_file: &file, ..surroundings(&overrides) };
        check(&text(workload), "x.yaml", &surroundings)
    };
    let plan = check("{ycsb: mixes/workloadx}").unwrap();
    assert_eq!(plan.mixes.len(), 1);
    let mix = &plan.mixes[0];
    assert_eq!((mix.name.as_str(), mix.read, mix.update), ("workloadx", 0.9, 0.1));
    assert_eq!(mix.request_distribution, RequestDistribution::Zipfian);
    let data = &plan.arms[0].data;
    assert_eq!((data.records, data.field_count, data.zero_padding), (500, 3, 8));
    assert_eq!(plan.points[0].load.to_string(), "1 thread, paced at 10,000 op/s");
    let plan = check("{ycsb: workloadx, records: 9, fields: {length: 5}}").unwrap();
    let data = &plan.arms[0].data;
    assert_eq!((data.records, data.field_count, data.zero_padding), (9, 3, 8));
    assert_eq!(data.field_length, FieldLength::Constant(5));
    let refusal = check("{ycsb: threads}").unwrap_err().to_string();
    for name in [
        "`threadcount` is not about",
        "`mongodb.url` is not about",
        "`scanproportion`: `many` is no number",
    ] {
        assert!(refusal.contains(name), "{name}: {refusal}");
    }
    assert!(check("{ycsb: nothing}").is_err());
    assert!(check("{ycsb: workloadx, preset: a}").is_err());
}

#[test]
fn yaml_may_repeat_by_aliases() {
    let text =
        SMALLEST.replace("{records: 1k, preset: c}", "{records: &amount 2k, preset: c}").replace(
            "{one: {engine: noop}}",
            "{one: &one {engine: noop, records: *amount}, two: *one}",
        );
    let plan = plan(&text);
    assert_eq!(plan.arms[1].engine, "noop");
    assert_eq!(plan.arms[1].data.records, 2_000);
}

#[test]
fn operations_are_noted_where_the_file_asks_for_it() {
    let off = plan(EVERY_KEY);
    assert_eq!(off.measurement.log_operations, 0);
    let on = plan(&EVERY_KEY.replace("seed: 7", "seed: 7, log_operations: 100"));
    assert_eq!(on.measurement.log_operations, 100);
    assert_ne!(on.hash(), off.hash(), "noting takes a little time");
}

/// The fingerprint that this file had before there were searches: runs that were finished then are still its runs.
#[test]
fn fingerprints_without_a_search_stay() {
    let old = EVERY_KEY.replace("[500, 1.5k/s, 80%]", "[500, 1.5k/s]");
    let (before, _) = old.split_once("search: {").unwrap();
    let (_, after) = old.split_once("arrivals: poisson}}\n").unwrap();
    let of =
        |limit: &str| plan(&format!("{before}search: false}}\n{after}").replace("50ms", limit));
    let known = "0ebb3aa815c90f8d9ec1cdf4e024d369f363c97f7fde9045ab1fa96908506731";
    assert_eq!(of("50ms").hash(), known);
    assert_eq!(of("60ms").hash(), known, "limits are judged by, not measured by");
}

#[test]
fn metrics_are_read_as_they_are_written() {
    for word in [
        "throughput",
        "response.mean",
        "response.p99",
        "response.p99.9",
        "service.p50",
        "cpu",
        "errors",
        "line",
        "cost",
    ] {
        let metric = Metric::parse(word).unwrap();
        assert_eq!(metric.name(), word);
        assert_eq!(
            metric.direction() == Direction::HigherIsBetter,
            word == "throughput" || word == "line"
        );
    }
    for word in [
        "",
        "p99",
        "response",
        "response.",
        "response.p",
        "response.p0",
        "response.p101",
        "service.mean",
        "response.pNaN",
        "response.p1e1",
    ] {
        assert_eq!(Metric::parse(word), None, "{word}");
    }
}

mod slow {
    use super::*;

    #[test]
    fn hash_depends_on_what_is_measured_alone() {
        let first = plan(EVERY_KEY).hash();
        assert_eq!(first.len(), 64);
        let unchanged = [
            ("name: every-key", "name: other"),
            ("small cache", "tiny cache"),
            ("# only for the arm that has it", "# of the model"),
            ("arrive?", "come?"),
            ("throughput >= 400", "throughput >= 450"),
            ("baseline: large", "baseline: small"),
            ("16MiB, compressor: zstd", "16_384KiB, compressor: zstd"),
            ("cache_size: 16MiB, compressor: zstd", "compressor: zstd, cache_size: 16MiB"),
        ];
        for (old, new) in unchanged {
            assert!(EVERY_KEY.contains(old), "{old}");
            assert_eq!(plan(&EVERY_KEY.replace(old, new)).hash(), first, "{new}");
        }
        let changed = [
            ("16MiB", "17MiB"),
            ("  small:", "  tiny:"),
            ("name_prefix: f", "name_prefix: g"),
            ("update: 3", "update: 2"),
            ("sessions: 16", "sessions: 17"),
            ("threads: 8", "threads: 9"),
            ("duration: 10s", "duration: 11s"),
            ("seed: 7", "seed: 8"),
            ("order: as-written", "order: shuffled"),
            ("directory: data", "directory: dato"),
            ("[500, 1.5k/s, 80%]", "[1.5k/s, 500, 80%]"),
            ("80%]", "70%]"),
            // What the search rests on.
            ("trial: 4s", "trial: 5s"),
            ("width: 5%", "width: 4%"),
            ("rates: [100, 50k]", "rates: [100, 60k]"),
            ("sessions: 32", "sessions: found"),
            ("p50: 500us", "p50: 600us"),
            ("errors: 0.1%", "errors: 1%"),
        ];
        for (old, new) in changed {
            assert!(EVERY_KEY.contains(old), "{old}");
            let text = EVERY_KEY.replace(old, new).replace("baseline: large, ", "");
            assert_ne!(plan(&text).hash(), first, "{new}");
        }
    }

    #[test]
    fn all_studies_are_right() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies");
        let mut engines = ENGINES.to_vec();
        engines.push(MONGODB);
        engines[0].settings = settings_of_studies();
        let mut studies = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "yaml") {
                let text = std::fs::read_to_string(&path).unwrap();
                for scale in [
                    None,
                    Some("full"),
                    Some("mongodb"),
                    Some("full-mongodb"),
                    Some("look"),
                    Some("confirm"),
                ] {
                    if scale.is_some_and(|scale| !text.contains(&format!("\n  {scale}:\n"))) {
                        continue;
                    }
                    let overrides =
                        Overrides { scale: scale.map(str::to_owned), ..Overrides::default() };
                    let surroundings =
                        Surroundings { engines: &engines, ..surroundings(&overrides) };
                    let plan = check(&text, "study.yaml", &surroundings)
                        .unwrap_or_else(|problems| panic!("{problems}"));
                    let seconds = explain(&plan, &engines).needs.total_ns() / SECOND;
                    println!("{}, {scale:?}: {seconds} s", path.display());
                    // What the heads of the files say at most, to the minute.
                    let most = match scale {
                        None => 70,
                        Some("look") => 7,
                        _ => u64::MAX,
                    };
                    assert!(
                        (seconds + 30) / 60 <= most,
                        "{} promises {most} minutes, and is planned for {seconds} s",
                        path.display()
                    );
                }
                studies += 1;
            }
        }
        assert!(studies > 0);
    }

    /// Each example of the documentation stands for the parts that it shows, in a file that has the other parts.
    #[test]
    fn examples_of_the_documentation_are_right() {
        let documentation = include_str!("../../../../docs/experiment-file.md");
        let mut engines = ENGINES.to_vec();
        engines.push(MONGODB);
        engines[0].settings = settings_of_studies();
        let mut examples = 0;
        for block in documentation.split("```yaml\n").skip(1) {
            let (example, _) = block.split_once("```").unwrap();
            let mut text = example.to_owned();
            for (key, rest) in [
                ("plimsoll", "plimsoll: 1"),
                ("name", "name: example"),
                ("workload", "workload: {records: 1k, mixes: [a, c]}"),
                ("arms", "arms: {in-cache: , quarter: }"),
                ("load", "load: {closed: {threads: [1, 16]}}"),
            ] {
                let has = |key: &str| {
                    let mut lines = example.lines();
                    lines.any(|line| line.starts_with(&format!("{key}:")))
                };
                // Factors stand in the place of arms.
                let is_given = has(key) || key == "arms" && has("factors");
                if !is_given {
                    text.push_str(&format!("{rest}\n"));
                }
            }
            let overrides = Overrides::default();
            let surroundings = Surroundings { engines: &engines, ..surroundings(&overrides) };
            let problems = check(&text, "example.yaml", &surroundings).err();
            assert!(problems.is_none(), "{}", problems.unwrap().render(false, 100));
            examples += 1;
        }
        assert!(examples > 10, "{examples}");
    }
}
