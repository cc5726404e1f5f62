//! Factors: the cells that they make, and every mistake about them.

use crate::it::{ENGINES, check_with, plan, problems};
use crate::{Overrides, Scouted};
use plimsoll_plan::{Design, Origin, Plan, Quantity, SettingValue, explain};
use plimsoll_testing::assert_contains;
use std::collections::BTreeSet;

/// A file with this in the place of its arms.
fn with(factors: &str) -> String {
    format!(
        "plimsoll: 1\nname: grid\nworkload: {{records: 1k, preset: c}}\ndefaults: {{engine: wiredtiger, limits: {{memory: 2GiB}}}}\n{factors}\nload: {{closed: {{threads: 1}}}}\n"
    )
}

fn names(plan: &Plan) -> Vec<&str> {
    plan.arms.iter().map(|arm| arm.name.as_str()).collect()
}

fn cache(plan: &Plan, arm: &str) -> Option<SettingValue> {
    let arm = plan.arms.iter().find(|one| one.name == arm)?;
    arm.settings.0.get("cache_size").cloned()
}

#[test]
fn every_combination_is_an_arm_named_by_its_levels() {
    let plan = plan(&with("factors: {compressor: [none, zstd], cache_size: [1MiB, 16MiB, 1GiB]}"));
    let cells = ["none/1MiB", "none/16MiB", "none/1GiB", "zstd/1MiB", "zstd/16MiB", "zstd/1GiB"];
    assert_eq!(names(&plan), cells);
    assert_eq!(cache(&plan, "zstd/16MiB"), Some(SettingValue::Bytes(16 << 20)));
    assert_eq!(plan.arms[4].levels, [1, 1]);
    let [compressor, size] = plan.factors.as_slice() else { panic!("{:?}", plan.factors) };
    assert_eq!((compressor.quantity, size.quantity), (None, Some(Quantity::Bytes)));
    let mib = f64::from(1 << 20);
    assert_eq!(size.axis(), Some(vec![mib, 16.0 * mib, 1024.0 * mib]));
    assert_eq!(plan.runs.len(), 6 * 8);
    assert_eq!(plan.design, Design::Full);
}

#[test]
fn the_levels_of_the_first_factor_are_compared_within_the_others() {
    let all = plan(&with("factors: {compressor: [none, zstd], cache_size: [1MiB, 1GiB]}"));
    let pair = |one: &str, other: &str| (one.to_owned(), other.to_owned());
    let by_compressor = [pair("none/1MiB", "zstd/1MiB"), pair("none/1GiB", "zstd/1GiB")];
    assert_eq!(all.compare.pairs, by_compressor);
    let other = plan(&with(
        "factors: {compressor: [none, zstd], cache_size: [1MiB, 1GiB]}\ncompare: {factor: cache_size, baseline: 1GiB}",
    ));
    let by_size = [pair("none/1GiB", "none/1MiB"), pair("zstd/1GiB", "zstd/1MiB")];
    assert_eq!(other.compare.pairs, by_size);
    assert_eq!(other.factors[1].baseline, 1);
    assert_eq!(other.compare.factor.as_deref(), Some("cache_size"));
    // What is judged is no part of what is measured.
    assert_eq!(all.hash(), other.hash());
}

#[test]
fn bundles_ranges_paths_and_single_cells() {
    let plan = plan(&with(
        "factors:
  machine: {small: {cache_size: 1MiB}, large: {about: the large one, cache_size: 1GiB}}
  limits.cpus: [1, 2]
  eviction_dirty_target: {from: 5%, to: 15%, levels: 3}
except: [{machine: large, limits.cpus: [1], eviction_dirty_target: [5%, 10%]}]
cells: {large/2/15%: {compressor: zstd}}",
    ));
    assert_eq!(plan.arms.len(), 2 * 2 * 3 - 2);
    assert!(!names(&plan).contains(&"large/1/10%") && names(&plan).contains(&"large/1/15%"));
    let arm = |name: &str| plan.arms.iter().find(|arm| arm.name == name).unwrap();
    // The path adds to what the defaults have there.
    let limits = &arm("small/2/10%").rig.limits;
    assert_eq!((limits.memory_bytes, limits.cpus), (Some(2 << 30), Some(2.0)));
    assert_eq!(arm("large/2/5%").about.as_deref(), Some("the large one"));
    let compressor = |name: &str| arm(name).settings.0["compressor"].to_string();
    assert_eq!(
        (compressor("large/2/15%"), compressor("large/2/10%")),
        ("zstd".into(), "snappy".into())
    );
    assert_eq!(plan.factors[2].quantity, Some(Quantity::Share));
    assert_eq!(plan.factors[0].axis(), None);
    assert_eq!(plan.compare.pairs.len(), 4);
}

#[test]
fn what_scouting_chose_stands_between_the_levels_of_the_file() {
    let text = with("factors: {cache_size: {from: 1MiB, to: 9MiB, levels: 3, refine: 1MiB}}");
    let coarse = plan(&text);
    let mib = f64::from(1 << 20);
    assert_eq!(names(&coarse), ["1MiB", "5MiB", "9MiB"]);
    assert_eq!(coarse.factors[0].refine, Some(mib));
    assert_eq!(coarse.refined_factor(), Some(0));
    let overrides = Overrides {
        scouted: Scouted {
            amounts: vec![3.0 * mib, 2.0 * mib, 5.0 * mib],
            experiments: vec!["abc".into(), "def".into()],
        },
        ..Overrides::default()
    };
    let refined = check_with(&text, &overrides).unwrap();
    assert_eq!(names(&refined), ["1MiB", "2MiB", "3MiB", "5MiB", "9MiB"]);
    let amounts = [1.0, 2.0, 3.0, 5.0, 9.0].map(|one| one * mib);
    assert_eq!(refined.factors[0].axis(), Some(amounts.to_vec()));
    let is_it = |one: &&Origin| one.path == "factors.cache_size.refine";
    let origin = refined.origins.iter().find(is_it).unwrap();
    assert_eq!(origin.source.to_string(), "scouting abc, def");
    let description = explain(&coarse, &ENGINES).to_string();
    assert_contains(&description, "an axis, refined to 1 MiB");
    assert_contains(&description, "scouting  2 blocks of these cells first");
}

#[test]
fn what_a_run_measures_by_itself_is_no_cell() {
    let text = with("factors: {cache_size: [1MiB, 1GiB], threads: [1, 4, 16], mix: [a, c]}")
        .replace("load: {closed: {threads: 1}}\n", "")
        .replace("records: 1k, preset: c", "records: 1k");
    let plan = plan(&text);
    assert_eq!(names(&plan), ["1MiB", "1GiB"]);
    assert_eq!(plan.points.len(), 6);
    let mixes: Vec<&str> = plan.mixes.iter().map(|mix| mix.name.as_str()).collect();
    assert_eq!(mixes, ["a", "c"]);
}

fn many(factors: usize) -> String {
    // Bundles of nothing are enough to tell cells apart.
    let one = |index: usize| format!("f{index}: {{low: , high: }}");
    let all: Vec<String> = (0..factors).map(one).collect();
    format!("factors: {{{}}}", all.join(", "))
}

#[test]
fn a_screening_design_measures_half_of_its_cells_in_each_block() {
    for (factors, cells) in [(6, 12), (11, 12), (12, 24), (23, 24)] {
        let plan = plan(&with(&format!("{}\ndesign: screening", many(factors))));
        assert_eq!(plan.design, Design::Screening);
        assert_eq!(plan.arms.len(), 2 * cells);
        assert_eq!(plan.runs.len(), 8 * cells);
        assert_eq!(plan.compare.pairs, []);
        for (block, runs) in plan.runs.chunks(cells).enumerate() {
            let arms: BTreeSet<usize> = runs.iter().map(|run| run.arm as usize).collect();
            let first = if block % 2 == 0 { 0 } else { cells };
            assert_eq!(arms, (first..first + cells).collect());
        }
        for (arm, mirror) in plan.arms.iter().zip(&plan.arms[cells..]) {
            assert!(arm.levels.iter().zip(&mirror.levels).all(|(one, other)| one + other == 1));
        }
    }
}

#[test]
fn a_fraction_tells_what_it_cannot_tell_apart() {
    let plan = plan(&with(&format!("{}\ndesign: 1/2", many(4))));
    assert_eq!((plan.design, plan.arms.len()), (Design::Fraction, 8));
    let expected = [["f0×f1", "f2×f3"], ["f0×f2", "f1×f3"], ["f0×f3", "f1×f2"]];
    assert_eq!(plan.aliases(), expected);
    let explained = explain(&plan, &ENGINES).to_string();
    assert!(explained.contains("    f0×f1 = f2×f3\n"), "{explained}");
}

#[test]
fn the_plan_draws_the_grid() {
    let text = "factors: {compressor: [none, zstd], cache_size: [1MiB, 1GiB]}\nexcept: [{compressor: none, cache_size: 1GiB}]";
    insta::assert_snapshot!(explain(&plan(&with(text)), &ENGINES).to_string());
}

#[test]
fn two_hundred_cells_stay_readable() {
    let levels =
        |count: usize| (1..=count).map(|size| format!("{size}MiB")).collect::<Vec<_>>().join(", ");
    let bundles: Vec<String> = (1..=20).map(|one| format!("m{one}: ")).collect();
    let text =
        format!("factors: {{machine: {{{}}}, cache_size: [{}]}}", bundles.join(", "), levels(10));
    let plan = plan(&with(&text));
    assert_eq!(plan.arms.len(), 200);
    let explained = explain(&plan, &ENGINES).to_string();
    assert!(explained.lines().count() < 110, "{}", explained.lines().count());
    let widest = explained.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest < 200, "{widest}");
}

macro_rules! screens {
    ($($name:ident: $text:expr;)*) => {
        $(#[test] fn $name() { insta::assert_snapshot!(problems(&with(&$text)).render(false, 100)); })*
    };
}

screens! {
    a_level_twice: "factors: {cache_size: [1MiB, 1GiB, 1MiB]}";
    a_factor_with_one_level: "factors: {cache_size: [1MiB], compressor: zstd}";
    an_unknown_key: "factors: {cash_size: [1MiB, 1GiB]}";
    a_level_of_the_wrong_kind: "factors: {cache_size: [1MiB, large]}";
    ten_thousand_cells: format!("factors: {{cache_size: [{0}], machine: {{{1}}}}}", (1..=100).map(|size| format!("{size}MiB")).collect::<Vec<_>>().join(", "), (1..=100).map(|one| format!("m{one}: ")).collect::<Vec<_>>().join(", "));
    exceptions_of_a_whole_level: "factors: {cache_size: [1MiB, 1GiB], compressor: [none, zstd]}\nexcept: [{compressor: zstd}]";
    exceptions_of_nothing: "factors: {cache_size: [1MiB, 1GiB], compressor: [none, zstd]}\nexcept: [{compression: zstd}, {cache_size: 2GiB}]";
    a_baseline_that_is_no_level: "factors: {cache_size: [1MiB, 1GiB]}\ncompare: {baseline: 2GiB}";
    a_compared_factor_that_is_none: "factors: {cache_size: [1MiB, 1GiB]}\ncompare: {factor: cash_size}";
    a_range_without_an_order: "factors: {compressor: {from: none, to: zstd}}";
    a_range_the_wrong_way_round: "factors: {cache_size: {from: 1GiB, to: 1MiB}}";
    a_refinement_without_an_order: "factors: {compressor: {from: none, to: zstd, refine: 5%}}";
    a_refinement_wider_than_a_step: "factors: {cache_size: {from: 1MiB, to: 9MiB, levels: 5, refine: 2MiB}}";
    a_refinement_without_a_range: "factors: {cache_size: {refine: 1MiB, levels: 3}}";
    two_refinements: "factors: {cache_size: {from: 1MiB, to: 9MiB, refine: 1MiB}, limits.cpus: {from: 1, to: 3, levels: 3, refine: 0.5}}";
    a_refinement_in_a_screening: format!("{}\ndesign: screening", many(6)).replace("f0: {low: , high: }", "cache_size: {from: 1MiB, to: 9MiB, levels: 2, refine: 1MiB}");
    screening_of_three_levels: format!("{}\ndesign: screening", many(6)).replace("f0: {low: , high: }", "f0: {low: , high: , higher: }");
    screening_of_too_few_factors: format!("{}\ndesign: screening", many(5));
    a_fraction_too_small: format!("{}\ndesign: 1/4", many(3));
    exceptions_of_a_design: format!("{}\ndesign: 1/2\nexcept: [{{f0: low}}]", many(5));
    two_factors_for_one_key: "factors: {cache_size: [1MiB, 1GiB], machine: {small: {cache_size: 2MiB}, large: {compressor: zstd}}}";
    levels_without_names: "factors: {disk: [fast-5000, {iops: 100}], directory: [/mnt/a, /mnt/b]}\n";
    a_cell_that_there_is_not: "factors: {cache_size: [1MiB, 1GiB]}\ncells: {2GiB: {compressor: zstd}}";
    arms_beside_factors: "factors: {cache_size: [1MiB, 1GiB]}\narms: {one: }";
    keys_of_factors_without_factors: "arms: {one: , two: }\nexcept: [{one: two}]\ndesign: screening\ncells: {one: }\ncompare: {factor: one}";
    threads_given_twice: "factors: {cache_size: [1MiB, 1GiB], threads: [1, 2]}";
}
