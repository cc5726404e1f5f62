//! What a run decides: sweeps, the search for the line, shares of it, sessions that are found; and how many blocks it takes.

use crate::Overrides;
use crate::it::{ENGINES, SMALLEST, check_with, plan};
use plimsoll_plan::{LoadAt, Looks, Metric, Plan, PointRole, Search, Sessions, Source, explain};
use plimsoll_workload::schedule::{Arrivals, Load};

const SWEEPS: &str = include_str!("sweeps.yaml");
const SECOND: u64 = 1_000_000_000;

fn loaded(load: &str) -> Plan {
    plan(&SMALLEST.replace("{closed: {threads: 1}}", load))
}

/// The sessions of closed points.
fn threads(plan: &Plan) -> Vec<u32> {
    let closed = plan.points.iter().filter_map(|point| match point.load {
        Load::Closed { sessions, .. } => Some(sessions),
        _ => None,
    });
    closed.collect()
}

/// The rates of open points that are not decided by the run.
fn rates(plan: &Plan) -> Vec<f64> {
    let open = plan.points.iter().filter_map(|point| match point.load {
        Load::Open { rate, .. } => Some(rate),
        _ => None,
    });
    open.collect()
}

#[test]
fn sweeps_hold_every_point_that_a_run_may_come_to() {
    let doubling = loaded("{closed: {threads: until-bent}}");
    assert_eq!(threads(&doubling), [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]);
    assert!(doubling.points.iter().all(|point| point.role == PointRole::Sweep));
    assert_eq!(threads(&loaded("{closed: {threads: {from: 3, to: 100, factor: 4}}}")), [3, 12, 48]);
    // 1, 1.2, 1.44, 1.728, 2.07, 2.49, 2.99, 3.58, 4.30, 5.16, 6.19, rounded, each once.
    assert_eq!(threads(&loaded("{closed: {threads: {to: 6, factor: 1.2}}}")), [1, 2, 3, 4, 5]);
    let of_rates = loaded("{open: {rates: {from: 200, to: 2k}}}");
    assert_eq!(rates(&of_rates), [200.0, 400.0, 800.0, 1_600.0]);
    assert!(of_rates.points.iter().all(|point| point.role == PointRole::Sweep));
    let by_word = rates(&loaded("{open: {rates: until-bent}}"));
    assert_eq!((by_word.len(), by_word[0]), (14, 100.0));
    assert_eq!(by_word[13], 819_200.0);
}

/// 200 million operations are the most of a point: what the file does not ask for by number is left out, so that no default is a mistake.
#[test]
fn rates_that_cannot_be_scheduled_are_left_out_of_defaults() {
    let text = SMALLEST.replace("{closed: {threads: 1}}", "{open: {rates: until-bent}}")
        + "measurement: {warm_up: 0s, duration: 2000s}\nobjective: {response: {p99: 1ms}}\n";
    let plan = plan(&text);
    // 102,400 op/s for 2,000 s are 204.8 million.
    assert_eq!(rates(&plan).last(), Some(&51_200.0));
    assert_eq!(plan.objective.unwrap().search.unwrap().rates, (10.0, 100_000.0));
}

#[test]
fn an_objective_of_response_times_is_searched() {
    let with = |objective: &str, load: &str| {
        let text = SMALLEST.replace("{closed: {threads: 1}}", load);
        plan(&format!("{text}objective: {objective}\n"))
    };
    let lines =
        |plan: &Plan| plan.points.iter().filter(|point| point.role == PointRole::Line).count();
    let closed = "{closed: {threads: 1}}";
    let plan = with("{response: {p99: 10ms}}", closed);
    assert_eq!(
        plan.objective.as_ref().unwrap().search,
        Some(Search {
            trial_ns: 30 * SECOND,
            warm_up_ns: 5 * SECOND,
            width: 0.02,
            rates: (10.0, 1e6),
        })
    );
    let [first, line] = plan.points.as_slice() else { panic!("{:?}", plan.points) };
    assert_eq!(first.role, PointRole::Fixed);
    assert_eq!((line.role, line.sessions), (PointRole::Line, Sessions::Found));
    // The geometric mean of 10 and a million, to six digits.
    let load = Load::Open { rate: 3_162.28, arrivals: Arrivals::Poisson, sessions: 64 };
    assert_eq!(line.load, load);

    assert_eq!(lines(&with("{errors: 1%}", closed)), 0);
    assert_eq!(lines(&with("{errors: 1%, search: true}", closed)), 1);
    assert_eq!(lines(&with("{response: {p99: 10ms}, search: false}", closed)), 0);
    let stages = "{stages: {steps: [{rate: 5k, duration: 10s}]}}";
    assert_eq!(lines(&with("{response: {p99: 10ms}}", stages)), 0);
    assert_eq!(lines(&with("{response: {p99: 10ms}, search: false}", stages)), 0);
}

/// Sessions of the search: its own, those of the open loop, those found in the closed loop, 64.
#[test]
fn the_search_takes_its_sessions_from_what_is_there() {
    let line = |load: &str, search: &str| {
        let text = SMALLEST.replace("load: {closed: {threads: 1}}\n", load);
        let plan = plan(&format!("{text}objective: {{response: {{p99: 10ms}}{search}}}\n"));
        let line = plan.points.iter().find(|point| point.role == PointRole::Line);
        let line = line.unwrap();
        let Load::Open { arrivals, sessions, .. } = line.load else { panic!("{line:?}") };
        (line.sessions, sessions, arrivals)
    };
    let (given, found) = (Sessions::Given, Sessions::Found);
    let (poisson, constant) = (Arrivals::Poisson, Arrivals::Constant);
    assert_eq!(line("", ""), (given, 64, poisson));
    assert_eq!(line("load: {closed: {threads: [1, 2]}}\n", ""), (found, 64, poisson));
    assert_eq!(
        line("load: {closed: {threads: [1, 2], think_time: 5ms}}\n", ""),
        (given, 64, poisson)
    );
    let open = "load: {open: {rates: 5k, sessions: 12, arrivals: constant}}\n";
    assert_eq!(line(open, ""), (given, 12, constant));
    assert_eq!(line(open, ", search: {sessions: 7, arrivals: poisson}"), (given, 7, poisson));
    assert_eq!(line(open, ", search: {sessions: found}"), (found, 64, constant));
}

/// Without a load there is only the search, and it is what decides.
#[test]
fn the_line_can_be_all_that_is_measured() {
    let text = SMALLEST.replace("load: {closed: {threads: 1}}\n", "");
    let plan = plan(&format!("{text}objective: {{response: {{p99: 10ms}}}}\n"));
    let roles: Vec<PointRole> = plan.points.iter().map(|point| point.role).collect();
    assert_eq!(roles, [PointRole::Line]);
    assert_eq!(plan.compare.primary, [Metric::Line]);
    assert_eq!(plan.compare.margins["line"], 0.03);
}

/// Without a closed loop, one is swept to find the sessions, before the search and the open loop of each mix.
#[test]
fn sessions_are_found_in_a_sweep_of_their_own() {
    let text = SMALLEST
        .replace("{closed: {threads: 1}}", "{open: {rates: [1k, 50%], sessions: found}}")
        .replace("preset: c", "mixes: [a, c]");
    let plan = plan(&format!("{text}objective: {{response: {{p99: 10ms}}}}\n"));
    let of_a_mix = plan.points.len() / 2;
    assert_eq!(of_a_mix, 14);
    for points in plan.points.chunks(of_a_mix) {
        let (closed, open) = points.split_at(11);
        assert!(closed.iter().all(|point| point.role == PointRole::Sweep));
        assert_eq!(
            closed[10].load,
            Load::Closed { sessions: 1_024, think_time_ns: 0, target: None }
        );
        let roles: Vec<PointRole> = open.iter().map(|point| point.role).collect();
        assert_eq!(
            roles,
            [PointRole::Line, PointRole::Fixed, PointRole::ShareOfLine { share: 0.5 }]
        );
        assert!(open.iter().all(|point| point.sessions == Sessions::Found));
        assert!(closed.iter().all(|point| point.sessions == Sessions::Given));
    }
}

#[test]
fn the_whole_file_arrives() {
    let plan = plan(SWEEPS);
    // 2, 3, 4.5, 6.75, 10.125, 15.19, 22.78, 34.17 threads; the line; three rates; for two mixes.
    assert_eq!(threads(&plan)[..8], [2, 3, 5, 7, 10, 15, 23, 34]);
    assert_eq!(plan.points.len(), 24);
    let roles: Vec<PointRole> = plan.points[8..12].iter().map(|point| point.role).collect();
    let share = |share| PointRole::ShareOfLine { share };
    assert_eq!(roles, [PointRole::Line, share(0.5), PointRole::Fixed, share(0.8)]);
    assert_eq!(
        plan.measurement.looks,
        Some(Looks { first: 8, half_width: Some(0.02), gate: None })
    );
    assert_eq!((plan.measurement.blocks, plan.runs.len()), (24, 48));
    assert_eq!(plan.compare.primary, [Metric::Line, Metric::Cost]);
    assert_eq!(plan.compare.at, Some(LoadAt::Line(0.8)));
    assert_eq!(plan.compare.margins["line"], 0.03);
    assert_eq!(plan.compare.margins["cost"], 0.04);
    let bounds: Vec<_> = plan
        .thresholds
        .iter()
        .map(|threshold| (threshold.metric, threshold.bound, threshold.at))
        .collect();
    assert_eq!(
        bounds,
        [(Metric::Line, 5_000.0, None), (Metric::Cost, 0.05, Some(LoadAt::Line(1.0)))]
    );
}

#[test]
fn explanation_of_what_a_run_decides() {
    insta::assert_snapshot!(explain(&plan(SWEEPS), &ENGINES).to_string());
}

#[test]
fn a_search_takes_about_25_trials() {
    let needs = explain(&plan(SWEEPS), &ENGINES).needs;
    // 48 runs of two mixes: 25 trials of 1 s and 3 s each; and at most eleven points of the same length besides.
    assert_eq!(needs.searching_ns, 48 * 2 * 25 * 4 * SECOND);
    assert_eq!(needs.measuring_ns, 48 * 2 * 11 * 4 * SECOND);
}

#[test]
fn blocks_are_a_number_or_bounds() {
    let looks = |blocks: &str, overrides: &Overrides| {
        let text =
            SMALLEST.replace("{one: {engine: noop}}", "{one: {engine: noop}, two: {engine: noop}}");
        let text = format!("{text}measurement: {{blocks: {blocks}}}\n");
        let plan = check_with(&text, overrides).unwrap();
        let measurement = plan.measurement;
        (measurement.blocks, measurement.looks.map(|looks| (looks.first, looks.half_width)))
    };
    let none = Overrides::default();
    assert_eq!(looks("12", &none), (12, None));
    assert_eq!(looks("{}", &none), (24, Some((6, None))));
    assert_eq!(
        looks("{at_least: 10, at_most: 40, until: 1.5%}", &none),
        (40, Some((10, Some(0.015))))
    );
    let blocks = Overrides { blocks: Some(3), ..Overrides::default() };
    assert_eq!(looks("{until: 1%}", &blocks), (3, None));
    let pilot = Overrides { pilot: true, ..Overrides::default() };
    assert_eq!(looks("{until: 1%}", &pilot), (5, None));
    assert_eq!(looks("12", &pilot), (5, None));
}

/// One arm and its copy, everything else as in the file.
#[test]
fn an_arm_against_itself() {
    let with = |arm: Option<&str>| {
        let overrides =
            Overrides { against_itself: Some(arm.map(str::to_owned)), ..Overrides::default() };
        check_with(SWEEPS, &overrides).unwrap()
    };
    let plan = plan(SWEEPS);
    for (named, name, index) in [(None, "one", 0), (Some("two"), "two", 1)] {
        let itself = with(named);
        let [arm, copy] = itself.arms.as_slice() else { panic!("{:?}", itself.arms) };
        assert_eq!(arm, &plan.arms[index]);
        assert_eq!(copy.name, format!("{name} again"));
        assert_eq!((&copy.settings, &copy.data, &copy.rig), (&arm.settings, &arm.data, &arm.rig));
        assert!(itself.against_itself);
        assert_eq!(itself.compare.baseline, name);
        assert_eq!(itself.compare.pairs, [(name.to_owned(), copy.name.clone())]);
        assert_eq!(itself.compare.primary, plan.compare.primary);
        assert_eq!(itself.thresholds, []);
        assert_eq!(
            (&itself.points, &itself.measurement, &itself.mixes),
            (&plan.points, &plan.measurement, &plan.mixes)
        );
        assert_eq!(itself.runs, plan.runs, "two arms, as in the file");
        assert_ne!(itself.hash(), plan.hash());
        let other = plan.arms[1 - index].name.as_str();
        let origins = &itself.origins;
        assert!(!origins.iter().any(|origin| origin.path.starts_with(&format!("arms.{other}."))));
        assert!(origins.iter().any(|origin| origin.path == "compare.baseline"
            && origin.source == Source::Flag { name: "--aa".into() }));
    }
    assert!(!plan.against_itself);
}

/// One arm can be compared with itself, too, until the interval is narrow enough.
#[test]
fn a_single_arm_against_itself() {
    let overrides = Overrides { against_itself: Some(None), ..Overrides::default() };
    let text = format!("{SMALLEST}measurement: {{blocks: {{until: 3%}}}}\n");
    let plan = check_with(&text, &overrides).unwrap();
    assert_eq!(plan.runs.len(), 48);
    insta::assert_snapshot!(explain(&plan, &ENGINES).to_string());
}

/// At shares of its own line every arm gets another load.
#[test]
fn shares_of_the_line_decide_nothing() {
    let text = SMALLEST.replace("closed: {threads: 1}", "open: {rates: [50%, 80%]}");
    let plan = plan(&format!("{text}objective: {{response: {{p99: 10ms}}}}\n"));
    assert_eq!(plan.compare.primary, [Metric::Line]);
}
