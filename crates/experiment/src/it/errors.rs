//! Every mistake on its screen. The expectation is read by people: see `snapshots/`.

use crate::it::{SMALLEST, check_with, problems, surroundings};
use crate::{Overrides, Surroundings, cannot_measure, check, disk_by_text};

/// The screen for a file, as it looks without colours.
fn screen(text: &str) -> String {
    problems(text).render(false, 100)
}

/// The smallest file with one of its lines replaced, or with a line more.
fn with(line: &str) -> String {
    let (key, _) = line.split_once(':').unwrap_or((line, ""));
    let mut text = String::new();
    let mut replaced = false;
    for old in SMALLEST.lines() {
        if old.starts_with(&format!("{key}:")) {
            text.push_str(line);
            replaced = true;
        } else {
            text.push_str(old);
        }
        text.push('\n');
    }
    if !replaced {
        text.push_str(line);
        text.push('\n');
    }
    text
}

macro_rules! screens {
    ($($name:ident: $text:expr;)*) => {
        $(#[test] fn $name() { insta::assert_snapshot!(screen(&$text)); })*
    };
}

screens! {
    empty_file: "";
    only_a_comment: "# nothing yet\n";
    not_a_map: "- plimsoll\n- 1\n";
    not_yaml: "plimsoll: 1\nname: [quick\nworkload: {records: 1k}\n";
    indented_with_a_tab: "plimsoll: 1\nworkload:\n\trecords: 1k\n";
    nothing_but_the_version: "plimsoll: 1\n";
    another_version: with("plimsoll: 2");
    two_documents: format!("{SMALLEST}---\n{SMALLEST}");
    a_tag: with("name: !!str small");
    a_merge_key: with("arms: {one: &one {engine: noop}, two: {<<: *one}}");
    an_alias_of_itself: with("arms: &arms {one: *arms}");
    nested_too_deeply: with(&format!("arms: {}1{}", "[".repeat(40), "]".repeat(40)));
    aliases_of_aliases: billion_laughs();
    a_list_as_a_key: with("arms: {? [one] : {engine: noop}}");
    a_key_twice: format!("{SMALLEST}name: again\n");
    unknown_keys: with("measurment: {warmup: 5s}") + "colour: blue\n";
    unknown_keys_inside: with("measurement: {warmup: 5s, block: 8, colour: blue}");
    wrong_kinds: with("arms: [one, two]") + "objective: fast\nmeasurement: [8]\ncompare: {primary: {}, margins: 3%}\n";
    values_missing: with("workload: {records: , preset: }");
    units_missing_or_wrong: with("measurement: {warm_up: 5, duration: 30 sec, operations: many, blocks: 8.5, seed: -1}");
    sizes_and_flags: with("arms: {one: {cache_size: 512M, journal: yes, checkpoint_wait: 2h, eviction_dirty_target: 150%}}");
    amounts_of_data: with("workload: {records: 1k, size: 100MB, preset: c}");
    no_amount_of_data: with("workload: {preset: c}");
    no_records: with("workload: {records: 0, preset: c}");
    a_size_below_a_record: with("workload: {size: 100B, preset: c}");
    no_mix: with("workload: {records: 1k}");
    unknown_presets: with("workload: {records: 1k, mixes: [a, g, workloadc]}");
    the_same_mix_twice: with("workload: {records: 1k, mixes: [a, A]}");
    a_mix_of_nothing: with("workload: {records: 1k, mixes: {idle: {}, negative: {read: -1}, none: {preset: a, read: 0, update: 0%}}}");
    a_mix_that_the_data_does_not_suit: with("workload: {records: 1, mixes: {new: {read: 1, request_distribution: latest}}}");
    a_distribution_of_nothing: with("workload: {records: 1k, mixes: {hot: {read: 1, request_distribution: {hotspot: {data_fraction: 0%}}}, cold: {read: 1, request_distribution: zipfan}}}");
    ranges: with("workload: {records: 1k, preset: c, fields: {length: {uniform: [100, 1]}}}");
    ranges_of_scans: with("workload: {records: 1k, mixes: {e: {preset: e, scan_length: {zipfian: [5]}}, f: {scan: 1, scan_length: {uniform: [9, 2]}}}}");
    data_integrity_of_varying_fields: with("workload: {records: 1k, preset: c, data_integrity: true, fields: {length: {uniform: [1, 100]}}}");
    records_too_large: with("workload: {records: 1k, preset: c, fields: {count: 100k, length: 1MiB}}");
    keys_outside_of_the_records: with("workload: {records: 1k, preset: c, insert_start: 600, insert_count: 500}");
    a_histogram_that_is_not_there: with("workload: {records: 1k, preset: c, fields: {length: {histogram: nowhere.txt}}}");
    a_histogram_that_is_broken: with("workload: {records: 1k, preset: c, fields: {length: {histogram: broken.txt}}}");
    no_arms: with("arms: {}");
    names_of_arms: with("arms: {\"my arm\": {engine: noop}, ../up: {engine: noop}, \"\": {engine: noop}}");
    the_same_arm_twice: with("arms: {one: {engine: noop}, one: {engine: simulated}}");
    unknown_engines: with("arms: {one: {engine: wiretiger}, two: {engine: rocksdb}}");
    settings_of_another_engine: with("arms: {one: {engine: noop, cache_size: 1GiB}, two: {cache_sise: 1GiB, servers: 3}}");
    defaults_for_nobody: "defaults: {servers: 3, about: all of them, cash_size: 1GiB, compressor: gzip}\n".to_owned() + SMALLEST;
    a_default_that_is_wrong: "defaults: {cache_size: 512M}\n".to_owned() + &with("arms: {one: , two: {cache_size: 1GiB}}");
    a_cache_larger_than_memory: "defaults: {cache_size: 9GiB}\n".to_owned() + &with("arms: {one: , two: {cache_size: 12GiB}, three: {cache_size: 1GiB}}");
    no_threads: with("load: {closed: {}}");
    zero_threads: with("load: {closed: {threads: [0, 1, 20k]}}");
    threads_twice: with("load: {closed: {threads: [1, 2, 2]}}");
    two_loads: with("load: {closed: {threads: 1}, stages: {steps: [{rate: 5k, duration: 10s}]}}");
    no_load: with("load: {}");
    negative_rates: with("load: {open: {rates: [-5k, 0, 2G], arrivals: regular, sessions: 0}}");
    rates_twice: with("load: {open: {rates: [10k, 10_000/s]}}");
    stages_of_nothing: with("load: {stages: {steps: [{to: 5k, duration: 0s}, {rate: 5k, from: 1k, duration: 5s}, {duration: 5s}, {rate: -1, duration: 1s}]}}");
    a_duration_besides_stages: with("load: {stages: {steps: [{rate: 5k, duration: 10s}]}}") + "measurement: {duration: 30s}\n";
    a_warm_up_as_long_as_the_stages: with("load: {stages: {steps: [{rate: 5k, duration: 4s}]}}");
    stages_without_any_rate: with("load: {stages: {steps: [{rate: 0, duration: 10s}]}}");
    too_many_operations_due: with("load: {open: {rates: [10k, 500M]}}") + "measurement: {duration: 1h}\n";
    blocks_and_durations: with("measurement: {blocks: 0, duration: 0s, warm_up: 30d, order: random}");
    too_many_points: with(&format!("load: {{closed: {{threads: [{}]}}}}", numbers(600))).replace("preset: c", "mixes: [a, c]");
    too_many_runs: with(&format!("arms: {{{}}}", arms(20))) + "measurement: {blocks: 10k}\n";
    neither_load_nor_search: "plimsoll: 1\nname: small\nworkload: {records: 1k, preset: c}\narms: {one: {engine: noop}}\nobjective: {errors: 1%}\n";
    sweeps_that_cannot_be: with("load: {closed: {threads: {from: 64, to: 8}}, open: {rates: {from: 5k, to: 5k, factor: 1, until: bent}}}");
    words_that_are_no_sweep: with("load: {closed: {threads: until-bend}, open: {rates: bent, sessions: fund}}");
    shares_of_a_line_that_nobody_searches: with("load: {open: {rates: [500, 80%]}}") + "compare: {at: {line: 80%}, primary: [line], margins: {line: 1%}}\nthresholds: [line >= 5k, {metric: errors <= 0, at: {line: 100%}}]\n";
    shares_that_cannot_be: with("load: {open: {rates: [0%, 80%, 2000%, 80 %, -5%]}}") + "objective: {response: {p99: 10ms}}\ncompare: {at: {line: 80}}\n";
    a_share_that_is_not_measured: with("load: {open: {rates: [500, 80%]}}") + "objective: {response: {p99: 10ms}}\ncompare: {at: {line: 50%}}\n";
    a_search_beside_stages: with("load: {stages: {steps: [{rate: 5k, duration: 10s}]}}") + "objective: {response: {p99: 10ms}, search: true}\n";
    searches_that_cannot_be: with("objective: {response: {p99: 10ms}, search: {trial: 0s, warmup: 1s, width: 0%, rates: [5k], sessions: 0, arrivals: regular}}");
    a_search_of_no_rates: with("objective: {response: {p99: 10ms}, search: {rates: [5k, 1k]}}");
    a_search_of_too_high_rates: with("objective: {response: {p99: 10ms}, search: {trial: 60s, rates: [1k, 100M]}}");
    sessions_found_in_pauses: with("load: {closed: {threads: [1, 2], think_time: 5ms}, open: {rates: 5k, sessions: found}}");
    looks_too_early: with("measurement: {blocks: {at_least: 5, at_most: 12}}").replace("{one: {engine: noop}}", "{one: {engine: noop}, two: {engine: noop}}");
    looks_that_cannot_be: with("measurement: {blocks: {at_least: 12, at_most: 8, until: 0%, least: 3}}").replace("{one: {engine: noop}}", "{one: {engine: noop}, two: {engine: noop}}");
    looks_at_nothing: with("measurement: {blocks: {until: 3%}}");
    cost_without_a_price: with("arms: {one: {price: {per_hour: 0.1, currency: USD}}, two: , three: }") + "compare: {primary: [cost], margins: {cost: 3%}}\nthresholds: [cost <= 0.05, {metric: cost <= 0.05, arm: one}, cost <= cheap, cost <= -1]\n";
    cost_in_two_currencies: with("arms: {one: {price: {per_hour: 0.1, currency: USD}}, two: {price: {per_hour: 0.1, currency: EUR}}, three: {price: {per_hour: 0.2, currency: USD}}}") + "compare: {pairs: [[one, three], [one, two]], primary: [cost]}\n";
    an_objective_of_nothing: with("objective: {}");
    an_objective_of_no_metric: with("objective: {latency: 10ms, response: {p101: 10ms, 99: 10ms, p99: fast}, errors: 200%}");
    a_baseline_that_is_no_arm: with("arms: {in-cache: {engine: noop}, quarter: {engine: noop}}") + "compare: {baseline: incache}\n";
    a_comparison_nowhere: with("compare: {at: {threads: 16}, primary: [thruput, response.p99, response.p99], margins: {latency: 3%}}");
    a_comparison_at_two_places: with("compare: {at: {threads: 1, rate: 5k}}");
    a_comparison_at_a_stage: with("load: {stages: {steps: [{rate: 5k, duration: 10s}]}}") + "compare: {at: {rate: 5k}}\n";
    thresholds: with("thresholds: [\"throughput > 10k\", response.p99, \"latency <= 5ms\", \"response.p99 <= 5\", \"throughput >= 5ms\", {arm: one}]");
    thresholds_that_no_load_can_meet: with("load: {closed: {threads: 16}, open: {rates: [500, 5k]}}") + "thresholds: [throughput >= 3k, throughput <= 3k, {metric: throughput >= 3k, at: {threads: 16}}, {metric: throughput >= 3k, at: {rate: 5k}}, {metric: throughput >= 6k, at: {rate: 5k}}]\n";
    thresholds_of_one_operation: with("thresholds: [{metric: cpu <= 5ms, operation: read}, {metric: errors <= 1%, operation: read}, {metric: response.p99 <= 5ms, operation: reed}, {metric: service.p99 <= 5ms, operation: read-modify-write, mix: c}, {metric: throughput >= 1k, operation: 5}]");
    thresholds_that_an_operation_cannot_meet: with("load: {open: {rates: [500, 5k]}}").replace("preset: c", "mixes: [a, b, c]") + "thresholds: [{metric: throughput >= 240, operation: update, mix: a, at: {rate: 500}}, {metric: throughput >= 260, operation: update, mix: a, at: {rate: 500}}, {metric: throughput >= 100, operation: update, at: {rate: 500}}, {metric: response.p99 <= 1ms, operation: update, mix: c}]\n";
    objectives_of_operations: with("objective: {response: {p99: 10ms}, operations: {reed: {response: {p99: 5ms}}, read: {response: {p101: 5ms}, errors: 1%}, scan: {}}}");
    thresholds_for_nobody: with("thresholds: [{metric: errors <= 1%, arm: two, mix: a, at: {threads: 3}}]");
    disks_that_there_are_not: rig("disk: spining-disk");
    disks_that_cannot_be: rig("disk: {iops: 0, read_iops: -5, bandwidth: 0, latency: soon, queue_depth: 0, backing: cloud, trace: none, capacity: 100000001, colour: blue}");
    figures_that_contradict_each_other: rig("disk: {iops: 600, read_latency: {lognormal: {median: 20ms, p99: 5ms}}, write_latency: {table: {p0: 3ms, p50: 1ms, p101: 5ms}}, burst: {iops: 300, credits: 1M}}");
    bursts_that_nothing_refills: rig("disk: {latency: {table: {p50: 1ms}}, burst: {iops: 300, credits: 1M, start: 200%}}");
    a_disk_too_small_for_the_data: rig("disk: {preset: gp3, capacity: 512MiB}, records: 1M") + "scales: {full: {arms: {two: {disk: none}}}}
";
    devices_that_may_not_be_erased: rig("disk: {device: /dev/sdb}").replace("{one:", "{three: {disk: {device: /dev/disk/by-id/one, erase: false, iops: 5}}, four: {disk: {preset: gp3, erase: true}}, five: {disk: {device: /dev/disk/by-id/../sda, erase: true}}, one:");
    filesystems: rig("filesystem: xfs").replace("{one:", "{three: {disk: gp3, filesystem: zfs}, four: {disk: gp3, filesystem: {kind: ext4, mkfs: '-O ^has_journal; rm -rf /', mount: $(reboot)}}, one:");
    readaheads: rig("readahead: 0").replace("{one:", "{three: {disk: gp3, readahead: 33kB}, four: {disk: gp3, readahead: 2GiB}, five: {disk: gp3, readahead: -4KiB}, one:");
    kernels: rig("kernel: {scheduler: bfq, swappiness: 201, dirty_ratio: 12.5%, dirty_expire: 15ms, dirty_writeback: 0s, governor: fast}").replace("{one:", "{three: {kernel: {transparent_hugepages: never, transparent_huge_pages: sometimes, dirty_background_ratio: 0%}}, four: {kernel: 1}, one:");
    a_disk_for_an_engine_that_keeps_nothing: rig("engine: noop, disk: gp3, filesystem: ext4");
    limits_that_cannot_hold: rig("limits: {memory: 100MiB, cpus: 5, pin: [0, 4], memory_nodes: [-1]}").replace("{one:", "{three: {limits: {memory: 9GiB, cpus: 0, pin: []}}, one:");
    room_for_page_cache: rig("limits: {memory: 1GiB, page_cache: 64MiB}").replace("{one:", "{three: {limits: {page_cache: 100GiB}}, four: {limits: {page_cache: 0}}, one:");
    machines_that_there_are_not: rig("machine: m3.medum").replace("{one:", "{three: {machine: r5.2xlarge}, four: {machine: r5.2xlarge, limits: {memory: 2GiB, cpus: 2}}, one:");
    prices: rig("price: {per_hour: -0.07, currency: dollars, date: September}").replace("{one:", "{three: {price: {date: 2014-13}}, one:");
    working_sets: rig("engine: noop, working_set: 138%").replace("{one:", "{three: {working_set: 0%}, four: {working_set: 92%, records: 1k}, five: {working_set: 0.01%, cache_size: 1MiB}, one:");
    working_set_and_records: with("workload: {records: 1k, working_set: 92%, preset: c}");
    pairs: with("arms: {one: {engine: noop}, two: {engine: noop}}") + "compare: {pairs: [[one, tow], [one, one], [one, two], [one, two], [one], two]}
";
    pairs_and_a_baseline: with("arms: {one: {engine: noop}, two: {engine: noop}}") + "compare: {baseline: one, pairs: [[one, two]]}
";
    scales: SMALLEST.to_owned() + "scales: {full: {measurment: null, measurement: {blocks: 0}, plimsoll: 2}, laptop: {ratio: 0}, half: {ratio: 3/2}, third: {ratio: small}, my scale: 3, twice: {workload: {size: 5MB}, name: }}
";
    control_characters: with("question: \"first \\x1b[31mred\"") + "\u{1b}[2J: 1\n";
    other_scripts: with("arms: {größe: {engine: noop}}").replace("name: small", "name: ä # 漢字\nquestion: \"漢字: {\"\n日本: 1");
}

/// A file with an arm of WiredTiger that has this, and one that has nothing.
fn rig(arm: &str) -> String {
    with(&format!("arms: {{one: {{{arm}}}, two: }}"))
}

#[test]
fn a_scale_that_there_is_not() {
    let text = format!("{SMALLEST}scales: {{full: {{measurement: {{blocks: 12}}}}}}\n");
    let overrides = Overrides { scale: Some("ful".into()), ..Overrides::default() };
    let problems = check_with(&text, &overrides).unwrap_err();
    insta::assert_snapshot!(problems.render(false, 100));
}

#[test]
fn an_arm_that_there_is_not_against_itself() {
    let overrides = Overrides { against_itself: Some(Some("on".into())), ..Overrides::default() };
    let problems = check_with(SMALLEST, &overrides).unwrap_err();
    insta::assert_snapshot!(problems.render(false, 100));
}

/// Where nothing can be stored, a share of the cache is no number of records.
#[test]
fn a_working_set_that_cannot_be_measured() {
    let text = rig("working_set: 92%");
    let overrides = Overrides::default();
    let surroundings = Surroundings { measure: &cannot_measure, ..surroundings(&overrides) };
    let problems = check(&text, "experiment.yaml", &surroundings).unwrap_err();
    insta::assert_snapshot!(problems.render(false, 100));
}

#[test]
fn disks_by_text() {
    let screens: Vec<String> =
        ["gp4", "[1]", "", "{iops: 0, device: /dev/sda}", "{capacity: 5000000}"]
            .into_iter()
            .map(|text| disk_by_text(text).unwrap_err().render(false, 100))
            .collect();
    insta::assert_snapshot!(screens.join("\n"));
}

/// Nine levels of nine copies each.
fn billion_laughs() -> String {
    let mut text = String::from("a0: &a0 [lol]\n");
    for level in 1..10 {
        let copies = vec![format!("*a{}", level - 1); 9].join(", ");
        text.push_str(&format!("a{level}: &a{level} [{copies}]\n"));
    }
    text
}

fn numbers(count: u32) -> String {
    let numbers: Vec<String> = (1..=count).map(|number| number.to_string()).collect();
    numbers.join(", ")
}

fn arms(count: u32) -> String {
    let arms: Vec<String> =
        (1..=count).map(|number| format!("arm{number}: {{engine: noop}}")).collect();
    arms.join(", ")
}

#[test]
fn a_file_that_is_too_large() {
    let text = format!("{SMALLEST}# {}\n", "x".repeat(1 << 20));
    insta::assert_snapshot!(screen(&text));
}

#[test]
fn flags_out_of_range() {
    let overrides = Overrides {
        blocks: Some(0),
        duration_ns: Some(0),
        warm_up_ns: Some(u64::MAX),
        operations: Some(0),
        ..Overrides::default()
    };
    let problems = check_with(SMALLEST, &overrides).unwrap_err();
    insta::assert_snapshot!(problems.render(false, 100));
}

/// All at once: what a first draft looks like.
#[test]
fn everything_at_once() {
    insta::assert_snapshot!(screen(include_str!("draft.yaml")));
}

#[test]
fn one_line_each_as_compilers_write_them() {
    insta::assert_snapshot!(problems(include_str!("draft.yaml")).to_string());
}

#[test]
fn for_programs() {
    let text = with("measurement: {warmup: 5s}") + "colour: blue\n";
    insta::assert_snapshot!(format!("{:#}", problems(&text).to_json()));
}

#[test]
fn colours_only_where_asked() {
    let problems = problems(&with("measurement: {warmup: 5s}"));
    assert!(problems.render(true, 80).contains('\u{1b}'));
    assert!(!problems.render(false, 80).contains('\u{1b}'));
}

#[test]
fn narrow_screens_wrap_what_is_said() {
    let text = problems(&with("name: no name")).render(false, 60);
    for line in text.lines() {
        assert!(line.chars().count() <= 60, "{line}");
    }
}

/// A line of a million characters is shown around the mistake only, and more than a hundred mistakes are counted, not shown.
#[test]
fn long_lines_and_many_mistakes() {
    let padding = "x".repeat(300_000);
    let text = format!("{SMALLEST}compare: {{aa: {padding}, blocks: 3, aa: 2}}\n");
    let screen = screen(&text);
    assert!(screen.len() < 5_000, "{}", screen.len());
    assert!(screen.contains("unknown key `blocks`"), "{screen}");

    let many: String = (0..5_000).map(|number| format!("key{number}: 1\n")).collect();
    let problems = problems(&format!("{SMALLEST}{many}"));
    assert_eq!(problems.count(), 5_000);
    assert_eq!(problems.list().len(), 100);
    assert!(
        problems
            .to_string()
            .ends_with("5000 problems in experiment.yaml (4900 not shown): nothing was run")
    );
}
