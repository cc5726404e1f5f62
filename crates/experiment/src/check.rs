//! From the text of a file to a checked plan.

use crate::against_itself::against_itself;
use crate::controls::controls;
use crate::document::{Checked, Kind, MOST_BYTES, Node, Shape, SourceText, Value};
use crate::duet::against_duets;
use crate::elements::arm::{ArmReader, ReadArm, directory, settings};
use crate::elements::compare::{Basis, JudgedReader, Names};
use crate::elements::events::{EventScope, events};
use crate::elements::factors::{self, grid, with_points};
use crate::elements::hosts::{hosts, listen, load_hosts, on};
use crate::elements::load::{LoadPoint, Loads, check_arrivals, check_points, loads};
use crate::elements::load_phase::{check_once, load_phase};
use crate::elements::measurement::{check_caches, measurement};
use crate::elements::ratio::{RATIO, ratio_words};
use crate::elements::rig::{RigReader, StoredData};
use crate::elements::scales::scaled;
use crate::elements::search::{LineSearch, line_search};
use crate::elements::server::check_collections;
use crate::elements::working_set::RecordSizes;
use crate::elements::workload::WorkloadReader;
use crate::gate::gated;
use crate::keys::arm::arm;
use crate::keys::file::{FILE, file};
use crate::keys::load::load;
use crate::keys::measurement::measurement;
use crate::keys::objective::objective;
use crate::keys::open::open;
use crate::keys::workload::workload;
use crate::mistake::Mistake;
use crate::origins::Origins;
use crate::surroundings::{Limits, Surroundings};
use crate::{Collector, Problems, Reader};
use plimsoll_plan::estimate::{Copies, loaded_bytes, stored_bytes};
use plimsoll_plan::{
    Arm, Design, HostSpec, PLAN_VERSION, Pairing, Plan, Point, PointRole, duet_runs, folded_runs,
    inserted_at, keeps_data_here, planned_runs,
};
use plimsoll_record::{DiskChoice, EventSpec};
use plimsoll_workload::Mix;
use std::io;
use std::path::Path;

const MOST_RUNS: u64 = 100_000;

/// Reads a text file of at most 1 MiB: what [`Surroundings::read_file`] should be outside of tests.
pub fn read_text_file(path: &Path) -> io::Result<String> {
    plimsoll_record::files::read_text(path, MOST_BYTES as u64)
}

/// Checks the text of an experiment file and makes the plan of it.
///
/// `file_name` is for messages. See the [crate documentation](crate) for an example.
pub fn check(
    text: &str,
    file_name: &str,
    surroundings: &Surroundings<'_>,
) -> Result<Plan, Problems> {
    let given = surroundings;
    let source = SourceText::new(text);
    let mut problems = Collector::new(&source);

    // The text as a tree, at the chosen scale.
    let Some(root) = crate::document::read(text, &mut problems) else {
        return Err(problems.finish(file_name));
    };
    if !matches!(root.kind, Kind::Map(_)) {
        let mistake = Mistake::WrongKind {
            expected: "a map that begins with `plimsoll: 1`".into(),
            found: root.kind_words(),
        };
        problems.add("", Some(root.place), mistake);
        return Err(problems.finish(file_name));
    }
    let scale = given.overrides.scale.as_deref();
    let (mut chosen, mut other_scales) = scaled(&root, scale, &mut problems);
    for one in other_scales.iter_mut().chain([&mut chosen]) {
        one.root = with_points(&one.root, &mut problems);
    }

    // Every key and value by itself.
    for other in &other_scales {
        Reader::new(&mut problems).read("", &Shape::Object(&FILE), &other.root);
        let grid = grid(&other.root, given.engines, &given.overrides.scouted, &mut problems);
        let root = grid.as_ref().map_or(&other.root, |grid| &grid.root);
        ArmReader::new(given.engines, &mut problems).arms(root, grid.is_some());
    }
    let file = Reader::new(&mut problems).read("", &Shape::Object(&FILE), &chosen.root);
    // The cells of a grid as arms.
    let mut grid = grid(&chosen.root, given.engines, &given.overrides.scouted, &mut problems);
    let root = grid.as_ref().map_or(&chosen.root, |grid| &grid.root);
    let read_arms = ArmReader::new(given.engines, &mut problems).arms(root, grid.is_some());
    let arm_names: Vec<String> = match &grid {
        Some(_) => read_arms.iter().map(|arm| arm.name.clone()).collect(),
        None => chosen.keys_of(file::arms),
    };

    let mut origins = Origins::new(&source);
    if let (Some(name), Some((ratio, place))) = (&chosen.name, chosen.ratio) {
        let path = format!("{}.{name}.{RATIO}", file::scales.name);
        origins.add_file(&path, ratio_words(ratio), place);
    }
    let name = origins.settle("", Some(&file), file::name);
    let question = origins.settle("", Some(&file), file::question);
    match &grid {
        Some(grid) => {
            let scouted = &given.overrides.scouted;
            factors::origins(&chosen.root, grid, scouted, &mut origins);
            origins.settle("", Some(&file), file::design);
        }
        None => without_factors(&file, &mut problems),
    }

    let hosts = hosts(&file, &mut origins, &mut problems);
    let load_hosts = load_hosts(&file, &hosts, &mut origins, &mut problems);
    // Load and measurement come first, because the disks of the arms depend on what a run inserts. In the list of origins they come after the arms.
    let mut of_load = Origins::new(&source);
    let load_place = file.field(file::load).map(|field| field.key_place);
    let mut loads = file
        .get(file::load)
        .map_or_else(Loads::none, |load| loads(load, &mut of_load, &mut problems));
    let load_phase = load_phase(file.get(file::load_phase), &mut of_load);
    let measurement = measurement(
        file.get(file::measurement),
        loads.stages_ns,
        load_place,
        given.overrides,
        &mut of_load,
        &mut problems,
    );
    loads.within_schedule(&measurement);
    let objective_map = file.get(file::objective);
    let searched = line_search(objective_map, &loads, &measurement, &mut of_load, &mut problems);
    let complete = loads.complete && !matches!(searched, LineSearch::Unknown);
    let points = points(&file, loads, &searched, &mut of_load, &mut problems);
    let search = searched.line().map(|line| line.search);

    // Mixes and arms.
    let inserted = |mix: &Mix| {
        let at = |point: &LoadPoint| inserted_at(&point.of(0), mix, &measurement, search.as_ref());
        points.iter().map(at).collect()
    };
    let (mixes, mut arms) = subject(
        &file,
        &ArmsAsRead {
            arms: &read_arms,
            cells: grid.as_ref().map_or(&[][..], |grid| &grid.cells),
            hosts: &hosts,
            workload: (chosen.root.entries().iter())
                .find(|entry| entry.key == file::workload.name)
                .map(|entry| &entry.value),
            seed: measurement.seed,
        },
        &inserted,
        given,
        &mut problems,
        &mut origins,
    );
    listen(&mut arms, &read_arms, &load_hosts, &hosts, &mut problems);
    origins.list.append(&mut of_load.list);
    if let Some(place) = load_place {
        check_points((points.len() * mixes.len()) as u64, place, &mut problems);
    }
    check_arrivals(&points, &measurement, load_place, &mut problems);
    let design = grid.as_ref().map_or(Design::Full, |grid| grid.design);
    let halves = if design == Design::Screening { 2 } else { 1 };
    let run_count = u64::from(measurement.blocks) * read_arms.len() as u64 / halves;
    if run_count > MOST_RUNS {
        let mistake = Mistake::TooMany {
            what: "runs (arms times blocks)",
            found: run_count,
            most: MOST_RUNS,
        };
        problems.add("", None, mistake);
        return Err(problems.finish(file_name));
    }

    // What is judged. Names of arms with mistakes are still valid; if a mix or a load has a mistake, any name may be.
    let has_all_mixes = mixes_are_complete(&file, mixes.len());
    let mut reader = JudgedReader {
        names: Names {
            arms: &arm_names,
            mixes: if has_all_mixes { &mixes } else { &[] },
            points: if complete { &points } else { &[] },
        },
        basis: Basis {
            has_line: match searched {
                LineSearch::Yes(_) => Some(true),
                LineSearch::No => Some(false),
                LineSearch::Unknown => None,
            },
            is_line_alone: load_place.is_none() || points.iter().all(is_of_line),
            arms: &arms,
        },
        factors: grid.as_mut().map_or(&mut [], |grid| &mut grid.factors),
        design,
        origins: &mut origins,
        problems: &mut problems,
    };
    let objective = objective_map.and_then(|map| reader.objective(map, search));
    let mut compare = reader.compare(file.get(file::compare));
    let thresholds = file.get(file::thresholds);
    let mut thresholds = thresholds.map_or_else(Vec::new, |list| reader.thresholds(list));
    if let Some(named) = &given.overrides.against_itself {
        thresholds.clear();
        let named = named.as_deref();
        match against_itself(named, arms, &mut compare, &mut origins, &mut problems) {
            Some(both) => {
                arms = both;
                arms.iter_mut().for_each(|arm| arm.levels.clear());
                compare.factor = None;
                grid = None;
            }
            None => return Err(problems.finish(file_name)),
        }
    } else if let Some(request) = &given.overrides.gate {
        let judged = (&mut compare, &mut thresholds[..]);
        match gated(request, &arms, judged, &mut origins, &mut problems) {
            Some(both) => arms = both,
            None => return Err(problems.finish(file_name)),
        }
    } else if measurement.looks.is_some() && arm_names.len() == 1 {
        let map = file.get(file::measurement);
        let blocks = map.and_then(|map| map.get(measurement::blocks));
        let path = measurement::blocks.under(file::measurement.name);
        let place = blocks.map(|blocks| blocks.place);
        problems.add(&path, place, Mistake::LooksAtNothing);
    }
    let planted = controls(
        &file,
        given.overrides,
        (&arms, &compare),
        grid.is_some(),
        &mut origins,
        &mut problems,
    );
    arms.extend(planted);
    let scope = EventScope { arms: &arms, points: &points, measurement: &measurement };
    let events = events(file.get(file::events), &scope, &mut origins, &mut problems);
    if events.iter().any(EventSpec::is_power_cut) {
        for arm in &mut arms {
            if let Some(DiskChoice::Emulated { spec }) = &mut arm.rig.disk {
                spec.volatile_cache = true;
            }
        }
    }
    if let (Some(list), 2..) = (file.get(file::events), load_hosts.len()) {
        let hosts = load_hosts.len();
        let mistake = Mistake::EventsFromSeveralHosts { hosts };
        problems.add(file::events.name, Some(list.place), mistake);
    }
    check_collections(&arms, &read_arms, &mixes, measurement.blocks, &mut problems);
    check_caches(file.get(file::measurement), &arms, given.engines, &mut problems);
    if !problems.is_empty() {
        return Err(problems.finish(file_name));
    }

    let design = grid.as_ref().map_or(Design::Full, |grid| grid.design);
    let runs = match design {
        Design::Screening => folded_runs,
        Design::Full | Design::Fraction => planned_runs,
    }(
        u32::try_from(arms.len()).unwrap_or(u32::MAX),
        measurement.blocks,
        measurement.order,
        measurement.seed,
    );
    let mut plan = Plan {
        version: PLAN_VERSION,
        name: name.map_or_else(String::new, |name| name.to_string()),
        question: question.map(|question| question.to_string()),
        scale: chosen.name,
        points: points_of(&mixes, &points),
        factors: grid.map_or_else(Vec::new, |grid| grid.factors),
        design,
        hosts,
        load_hosts,
        arms,
        mixes,
        load_phase,
        measurement,
        events,
        objective,
        compare,
        against_itself: given.overrides.against_itself.is_some(),
        thresholds,
        runs,
        origins: origins.list,
    };
    check_once(file.get(file::load_phase), &plan, given.engines, &mut problems);
    if plan.measurement.pairing == Pairing::Duet {
        make_duets(&mut plan, given.limits, &file, &mut problems);
    }
    match problems.is_empty() {
        true => Ok(plan),
        false => Err(problems.finish(file_name)),
    }
}

/// Makes the runs of a plan duets, where that can be fair.
fn make_duets(plan: &mut Plan, limits: Limits, file: &Checked, problems: &mut Collector<'_>) {
    let map = file.get(file::measurement);
    let place = map.and_then(|map| map.get(measurement::pairing));
    let place = place.map(|pairing| pairing.place);
    let path = measurement::pairing.under(file::measurement.name);
    for why in against_duets(plan, limits) {
        problems.add(&path, place, Mistake::NoDuet { why });
    }
    let index = |arm: usize| u32::try_from(arm).unwrap_or(u32::MAX);
    let pairs: Vec<[u32; 2]> =
        plan.measured_pairs().into_iter().map(|pair| pair.map(index)).collect();
    let measured = &mut plan.measurement;
    plan.runs = duet_runs(&pairs, measured.blocks, measured.order, measured.seed);
    measured.blocks = measured.blocks.saturating_mul(index(pairs.len()));
}

/// What every mix is measured at, with the search for the line.
fn points(
    file: &Checked,
    loads: Loads,
    searched: &LineSearch,
    origins: &mut Origins<'_>,
    problems: &mut Collector<'_>,
) -> Vec<LoadPoint> {
    if let (LineSearch::No, Some(place)) = (searched, loads.shares) {
        let what = "a share of the line".to_owned();
        let path = open::rates.under(&load::open.under(file::load.name));
        problems.add(&path, Some(place), Mistake::NoLine { what });
    }
    let load_place = file.field(file::load).map(|field| field.key_place);
    if let (LineSearch::No, None) = (searched, load_place) {
        problems.add("", Some(file.place), Mistake::NothingAsked);
    }
    let line = searched.line().map(|line| line.point.clone());
    if let Some(path) = loads.finds_in_pauses(line.as_ref()) {
        let search = file.get(file::objective).and_then(|map| map.get(objective::search));
        let place = load_place.or(search.map(|search| search.place));
        problems.add(&path, place, Mistake::FoundInPauses);
    }
    loads.with_line(line, origins)
}

fn mixes_are_complete(file: &Checked, understood: usize) -> bool {
    let mixes = file.get(file::workload).and_then(|workload| workload.get(workload::mixes));
    mixes.is_none_or(|mixes| mixes.items().len() + mixes.fields().len() == understood)
}

/// The arms of a file before anything is made of them.
struct ArmsAsRead<'a> {
    arms: &'a [ReadArm],
    /// The levels of each, where there are factors.
    cells: &'a [Vec<u32>],
    /// On which they may stand.
    hosts: &'a [HostSpec],
    /// The workload as it was written, and the seed of the documents that it may describe.
    workload: Option<&'a Node>,
    seed: u64,
}

/// Reads the mixes of operations, and the arms, with the levels of their `cells` where there are factors. `inserted` estimates the records that a mix inserts at
/// each point.
fn subject<'s>(
    file: &Checked,
    read: &ArmsAsRead<'_>,
    inserted: &dyn Fn(&Mix) -> Vec<f64>,
    given: &Surroundings<'_>,
    problems: &mut Collector<'s>,
    origins: &mut Origins<'s>,
) -> (Vec<Mix>, Vec<Arm>) {
    let workload = file.field(file::workload);
    let Some(field) = workload.filter(|field| !matches!(field.checked.value, Value::Wrong)) else {
        return (Vec::new(), Vec::new());
    };
    let mut reader = WorkloadReader {
        problems,
        origins,
        given,
        workload: &field.checked,
        node: read.workload,
        seed: read.seed,
        key_place: field.key_place,
        measured: RecordSizes::default(),
        file: None,
        choices: Vec::new(),
        sizes: Vec::new(),
    };
    let base = reader.data();
    let mixes = reader.mixes(&base);
    let inserted: f64 = mixes.iter().flat_map(|(mix, _)| inserted(mix)).sum();
    let mut arms = Vec::new();
    for (index, arm) in read.arms.iter().enumerate() {
        let Some(engine) = arm.engine else { continue };
        let on = on(arm, read.hosts, reader.origins, reader.problems);
        // Only its agent knows what another machine has.
        let limits = match &on {
            None => &given.limits,
            Some(_) => &Limits::UNKNOWN,
        };
        let mut settings = settings(arm, &engine, limits, reader.origins, reader.problems);
        let mut rig_reader = RigReader {
            problems: reader.problems,
            origins: reader.origins,
            limits,
            base_dir: given.base_dir,
            read_file: given.read_file,
        };
        let server = rig_reader.server(arm, &engine, &mut settings);
        let chosen = reader.data_of(&base, arm, &engine, &settings, server.as_ref());
        let Some((data, working_set)) = chosen else {
            continue;
        };
        let directory = if keeps_data_here(&engine, server.as_ref()) {
            directory(arm, given, reader.origins)
        } else {
            None
        };
        let mut rig_reader = RigReader {
            problems: reader.problems,
            origins: reader.origins,
            limits,
            base_dir: given.base_dir,
            read_file: given.read_file,
        };
        let stored = StoredData {
            loaded_bytes: loaded_bytes(&data, working_set.as_ref()),
            inserted_bytes: stored_bytes(&data, inserted),
            copies: Copies::of(server.as_ref()),
        };
        let rig = rig_reader.rig(arm, &engine, &settings, server, stored);
        arms.push(Arm {
            planted: None,
            name: arm.name.clone(),
            levels: read.cells.get(index).cloned().unwrap_or_default(),
            about: arm.get(arm::about).and_then(|about| about.checked.text()).map(str::to_owned),
            engine: engine.name.to_owned(),
            settings,
            data,
            working_set,
            on,
            directory,
            rig,
        });
    }
    let data: Vec<_> = arms.iter().map(|arm| arm.data.clone()).collect();
    reader.mixes_on_data(&mixes, &data);
    (mixes.into_iter().map(|(mix, _)| mix).collect(), arms)
}

/// Keys that have a meaning only where there are factors.
fn without_factors(file: &Checked, problems: &mut Collector<'_>) {
    for key in [file::except, file::cells, file::design] {
        if let Some(field) = file.field(key) {
            let mistake = Mistake::NoFactors { key: key.name };
            problems.add("", Some(field.key_place), mistake);
        }
    }
}

/// Every mix at every point of the load, mix by mix.
fn points_of(mixes: &[Mix], points: &[LoadPoint]) -> Vec<Point> {
    let mut all = Vec::new();
    for (mix, _) in (0..).zip(mixes) {
        all.extend(points.iter().map(|point| point.of(mix)));
    }
    all
}

/// Whether a point is the search for the line, or at a share of it: then arms do not run under the same load.
fn is_of_line(point: &LoadPoint) -> bool {
    matches!(point.role, PointRole::Line | PointRole::ShareOfLine { .. })
}
