//! What servers say of an application: plans beside verdicts, and warnings.

use super::laboratory::{Laboratory, SPREAD, Shown, warns, weather};
use crate::Analysis;
use plimsoll_record::figures::ENGINE_CACHE_MAXIMUM;
use plimsoll_record::{
    ApplicationState, CollectionState, IndexState, Operation, OperationPlan, OwnOperation,
    StatementKind, WarningId,
};
use plimsoll_workload::documents::DocumentsSpec;

fn operation(kind: StatementKind, name: &str) -> OwnOperation {
    OwnOperation::new(kind, name).unwrap()
}

fn plan(own: OwnOperation, stages: &[&str], examined: f64, found: f64) -> OperationPlan {
    let has = |word: &str| stages.iter().any(|one| one.contains(word));
    OperationPlan {
        operation: own,
        commands: 5,
        stages: stages.iter().map(|one| (*one).to_owned()).collect(),
        keys_examined: 0.0,
        documents_examined: examined,
        documents_found: found,
        scans_collection: has("COLLSCAN"),
        sorts: has("SORT"),
        refused: None,
    }
}

fn state(
    plans: &[OperationPlan],
    indexes: &[(&str, u64, u64)],
    mean_bytes: u64,
) -> ApplicationState {
    let index = |(name, bytes, uses): &(&str, u64, u64)| IndexState {
        name: (*name).into(),
        bytes: *bytes,
        uses: Some(*uses),
    };
    ApplicationState {
        collections: vec![CollectionState {
            name: "orders".into(),
            documents: 1_000,
            bytes: 1_000 * mean_bytes,
            stored_bytes: 500_000,
            measurements_per_bucket: None,
            indexes: indexes.iter().map(index).collect(),
        }],
        operations: plans.to_vec(),
    }
}

const BY_INDEX: &str = "IXSCAN customer_1 → FETCH";

/// Two arms over six blocks, whose server says `states` of each; `fast` does 10 % more.
fn judged(states: impl Fn(&str, u32) -> Vec<ApplicationState>) -> Analysis {
    judged_inserting(100_000.0, None, states)
}

/// The same at this rate; with documents all operations are inserts.
fn judged_inserting(
    rate: f64,
    documents: Option<&DocumentsSpec>,
    states: impl Fn(&str, u32) -> Vec<ApplicationState>,
) -> Analysis {
    let mut lab = Laboratory::closed(&["slow", "fast"], &["c"], &[4], 6);
    let (finds, places) =
        (operation(StatementKind::Find, "by-customer"), operation(StatementKind::Insert, "place"));
    lab.plan.mixes[0].operations = vec![(finds, 0.9), (places, 0.1)];
    for arm in &mut lab.plan.arms {
        arm.data.documents = documents.cloned();
    }
    let mut lab = lab.measure(|case| {
        let level = if case.arm == "fast" { 1.1 * rate } else { rate };
        let noise = SPREAD[case.block as usize] / 4.0;
        Shown::closed(case, level * weather(case.block) * noise.exp())
    });
    for run in &mut lab.runs {
        run.application = states(&run.arm, run.block);
        for slice in run.points.iter_mut().flat_map(|point| &mut point.slices) {
            slice.telemetry.insert(ENGINE_CACHE_MAXIMUM.into(), 1e6);
            for part in slice.operations.iter_mut().filter(|_| documents.is_some()) {
                part.operation = Operation::Own(places);
            }
        }
    }
    lab.analyse()
}

fn messages(analysis: &Analysis, id: WarningId) -> Vec<String> {
    let found = analysis.warnings.iter().filter(|one| one.id == id);
    found.map(|one| format!("{}: {}", one.subject, one.message)).collect()
}

#[test]
fn other_plans_and_further_indexes_stand_beside_the_verdict() {
    let finds = operation(StatementKind::Find, "by-customer");
    let analysis = judged(|arm, _| {
        let id = ("_id_", 10_000, 4);
        let of_arm = match arm {
            "slow" => state(&[plan(finds, &["COLLSCAN → SORT"], 1e5, 9.6)], &[id], 100),
            _ => {
                let indexes = [id, ("customer_1", 1 << 20, 7), ("note_1", 2 << 20, 0)];
                state(&[plan(finds, &[BY_INDEX], 9.6, 9.6)], &indexes, 100)
            }
        };
        let mut later = of_arm.clone();
        later.collections[0]
            .indexes
            .iter_mut()
            .filter(|one| one.uses == Some(7))
            .for_each(|one| one.uses = Some(9));
        vec![of_arm, later]
    });
    let told = "Why: by-customer examines 100,000 documents for 9.6 in slow (COLLSCAN → SORT), \
                9.6 for 9.6 in fast (IXSCAN customer_1 → FETCH); \
                in fast, each insert writes 2 indexes more: customer_1 and note_1 (3 MiB), but no operation uses note_1.";
    assert_eq!(analysis.comparisons[0].plans.as_deref(), Some(told));
    assert_eq!(analysis.headline[1], told);
    let scans = messages(&analysis, WarningId::CollectionScan);
    assert_eq!(
        scans,
        ["slow: by-customer: COLLSCAN → SORT, 100,000 documents examined for 9.6 found"]
    );
    let fast = &analysis.application[1];
    assert_eq!((fast.arm.as_str(), fast.indexes[1].bytes), ("fast", f64::from(1 << 20)));
}

#[test]
fn indexes_in_the_place_of_others_are_not_more() {
    let finds = operation(StatementKind::Find, "by-customer");
    let analysis = judged(|arm, _| {
        let index = if arm == "slow" { ("a_1", 1 << 20, 1) } else { ("a_1_b_1", 2 << 20, 1) };
        vec![state(&[plan(finds, &[BY_INDEX], 1.0, 1.0)], &[("_id_", 1, 1), index], 100)]
    });
    let told = "Why: inserts write a_1 (1 MiB) in slow, a_1_b_1 (2 MiB) in fast.";
    assert_eq!(analysis.comparisons[0].plans.as_deref(), Some(told));
}

#[test]
fn the_same_plans_are_no_reason() {
    let finds = operation(StatementKind::Find, "by-customer");
    // Draws may have different plans: one in common is enough.
    let analysis = judged(|arm, _| {
        let plans: &[&str] = if arm == "slow" { &[BY_INDEX, "EOF"] } else { &[BY_INDEX] };
        vec![state(&[plan(finds, plans, 900.0, 10.0)], &[("_id_", 1, 1)], 100)]
    });
    assert_eq!(analysis.comparisons[0].plans, None);
    for id in [WarningId::CollectionScan, WarningId::Examined, WarningId::PlanChanged] {
        assert!(!warns(&analysis, id), "{id:?}");
    }
}

#[test]
fn work_in_vain_is_named_by_operation() {
    let all = |kind, stages: &'static str, examined, found| {
        judged(move |_, _| {
            let own = operation(kind, "by-customer");
            vec![state(&[plan(own, &[stages], examined, found)], &[("_id_", 1, 1)], 100)]
        })
    };
    let finds = StatementKind::Find;
    for (kind, stages, examined, found, warned) in [
        (finds, BY_INDEX, 1_010.0, 10.0, Some(WarningId::Examined)),
        (finds, BY_INDEX, 990.0, 10.0, None),
        (finds, "IXSCAN a_1 → FETCH → SORT", 1_001.0, 1_000.0, Some(WarningId::Examined)),
        (finds, "IXSCAN a_1 → FETCH → SORT", 999.0, 999.0, None),
        (finds, "COLLSCAN → LIMIT", 10.0, 10.0, None),
        (finds, "COLLSCAN", 1_001.0, 1_001.0, Some(WarningId::CollectionScan)),
        // Groups are fewer than their documents.
        (StatementKind::Aggregate, "IXSCAN a_1 → $group → $sort", 5_000.0, 10.0, None),
        (
            StatementKind::Aggregate,
            "COLLSCAN → $group",
            5_000.0,
            10.0,
            Some(WarningId::CollectionScan),
        ),
    ] {
        let analysis = all(kind, stages, examined, found);
        for id in [WarningId::Examined, WarningId::CollectionScan] {
            assert_eq!(warns(&analysis, id), warned == Some(id), "{stages} {examined} {id:?}");
        }
    }
}

#[test]
fn a_plan_that_changes_within_a_run_or_between_runs_is_named() {
    let finds = operation(StatementKind::Find, "by-customer");
    let with = |stages: &str| state(&[plan(finds, &[stages], 10.0, 10.0)], &[("_id_", 1, 1)], 100);
    let later = judged(|arm, block| match (arm, block) {
        ("fast", 2) => vec![with(BY_INDEX), with("IXSCAN placed_-1 → FETCH")],
        _ => vec![with(BY_INDEX), with(BY_INDEX)],
    });
    assert_eq!(
        messages(&later, WarningId::PlanChanged),
        ["fast: by-customer: IXSCAN customer_1 → FETCH, and later IXSCAN placed_-1 → FETCH"]
    );
    let other_run = judged(|arm, block| match (arm, block) {
        ("slow", 3) => vec![with("COLLSCAN")],
        _ => vec![with(BY_INDEX)],
    });
    let [message] = &messages(&other_run, WarningId::PlanChanged)[..] else { panic!() };
    assert!(
        message.ends_with("IXSCAN customer_1 → FETCH in one run, COLLSCAN in another"),
        "{message}"
    );
}

#[test]
fn growing_documents_and_large_indexes_are_named() {
    let plans = [plan(operation(StatementKind::Find, "by-customer"), &[BY_INDEX], 1.0, 1.0)];
    let analysis = judged(|arm, _| {
        let (grown, index) = if arm == "fast" { (121, 1_100_000) } else { (119, 900_000) };
        let states = [(100, 5), (grown, 905)];
        states.map(|(bytes, uses)| state(&plans, &[("customer_1", index, uses)], bytes)).into()
    });
    assert_eq!(
        messages(&analysis, WarningId::Growing),
        ["fast: a document of orders had 100 B at the start and 121 B at the end, 21 % more"]
    );
    let outgrown = messages(&analysis, WarningId::IndexesOutgrow);
    assert_eq!(
        outgrown,
        ["fast: the indexes in use take 1.05 MiB, the engine's cache has 977 KiB"]
    );
    assert_eq!(analysis.application[0].indexes[0].uses, Some(900.0));
    // An index that nothing uses needs no room.
    let unused = judged(|_, _| vec![state(&plans, &[("customer_1", 2_000_000, 5)], 100); 2]);
    assert!(!warns(&unused, WarningId::IndexesOutgrow));
}

#[test]
fn small_buckets_of_a_time_series_are_named() {
    let analysis = judged(|arm, _| {
        let mut one = state(&[], &[], 100);
        one.collections[0].measurements_per_bucket = Some(if arm == "fast" { 9.5 } else { 10.0 });
        vec![one.clone(), one]
    });
    let named = messages(&analysis, WarningId::Buckets);
    assert_eq!(named, ["fast: a bucket of orders holds 9.5 measurements"]);
}

#[test]
fn dates_that_run_at_another_speed_than_the_clock_are_named() {
    let messages = |every: &str, rate: f64| {
        let read = |text: &str| serde_json::from_str(text).unwrap();
        let collections = format!(
            r#"{{"orders": {{"records": 1000, "document": {{"at": {{"date": {{"every": "{every}", "until": "now"}}}}}}}}}}"#
        );
        let operations = r#"{"by-customer": {"find": "orders"}, "place": {"insert": "orders"}}"#;
        let documents = DocumentsSpec::new(1, read(&collections), read(operations));
        assert_eq!(documents.problems(), []);
        let analysis = judged_inserting(rate, Some(&documents), |_, _| Vec::new());
        messages(&analysis, WarningId::DataClock)
    };
    assert_eq!(messages("1ms", 1_000.0), [""; 0]);
    let [slow, fast] = &messages("15s", 1_000.0)[..] else { panic!() };
    let speed = |message: &str| {
        let speeds = message.split(" runs at ").nth(1).unwrap().split(" times").next().unwrap();
        speeds.replace(',', "").split(" to ").next().unwrap().parse::<f64>().unwrap()
    };
    // 1,000 documents a second, each 15 s after the one before; the weather takes and gives a few per cent.
    assert!((13_000.0..15_000.0).contains(&speed(slow)), "{slow}");
    assert!(
        fast.starts_with("fast: `at` of orders runs at ") && speed(fast) > speed(slow),
        "{fast}"
    );
    assert!(fast.ends_with("and their dates are 15.00 s apart"), "{fast}");
    let [slow, _] = &messages("1ms", 100.0)[..] else { panic!() };
    assert!((0.05..0.11).contains(&speed(slow)), "{slow}");
}
