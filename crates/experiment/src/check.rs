//! From the text of a file to a checked plan.

use crate::against_itself::against_itself;
use crate::arms::{ReadArm, entries};
use crate::document::{self, Entry, Kind};
use crate::events::{Stage, events};
use crate::format::{FILE, MOST_RUNS};
use crate::judging::{Grounds, Judging, Names};
use crate::load::{LoadPoint, Loads, check_arrivals, check_points, load_phase, loads};
use crate::measurement::measurement;
use crate::mistake::Mistake;
use crate::problems::{Collector, Problems};
use crate::reader::{Checked, Reader, Value, join};
use crate::rig::{RigReader, Stored};
use crate::scales::scaled;
use crate::search::{Searched, searched};
use crate::server::check_collections;
use crate::settle::Origins;
use crate::source::{Place, SourceText};
use crate::working_set::{MeasureRecords, Measured};
use crate::workload::WorkloadReader;
use plimsoll_plan::estimate::{Copies, loaded_bytes, stored_bytes};
use plimsoll_plan::inserted_at;
use plimsoll_plan::keeps_data_here;
use plimsoll_plan::{
    Arm, EngineKind, LoadPhase, Measurement, PLAN_VERSION, Plan, Point, PointRole, Source,
    planned_runs,
};
use plimsoll_workload::Mix;
use std::io;
use std::path::{Path, PathBuf};

/// What a file is checked against besides itself.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// Folder of the experiment file: paths in the file are found from here.
    pub base_dir: &'a Path,
    /// The engines that an arm can name.
    pub engines: &'a [EngineKind],
    /// What the machine has.
    pub limits: Limits,
    /// Values from the command line, which win over the file.
    pub overrides: &'a Overrides,
    /// Reads a text file that the experiment refers to.
    pub read_file: &'a dyn Fn(&Path) -> io::Result<String>,
    /// Finds out what a record takes on disk, where data is asked for as a share of the cache.
    pub measure: &'a MeasureRecords<'a>,
}

/// What a machine has, as far as an experiment can ask too much of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Processors, numbered from 0.
    pub cores: u32,
}

impl Limits {
    /// Of a machine that is not known, as when a file is only looked at: nothing is too much.
    pub const UNKNOWN: Self = Self {
        memory_bytes: u64::MAX,
        cores: u32::MAX,
    };
}

/// Values from the command line. Each wins over the file and is recorded with its flag.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `--blocks`.
    pub blocks: Option<u32>,
    /// `--duration`, nanoseconds.
    pub duration_ns: Option<u64>,
    /// `--warm-up`, nanoseconds.
    pub warm_up_ns: Option<u64>,
    /// `--operations`.
    pub operations: Option<u64>,
    /// `--seed`.
    pub seed: Option<u64>,
    /// `--directory`, for every arm.
    pub directory: Option<PathBuf>,
    /// `--pilot`: five blocks and no looks, unless there is `--blocks`.
    pub pilot: bool,
    /// `--aa`, with the arm that it names, if any: one arm against itself.
    pub against_itself: Option<Option<String>>,
    /// `--scale`; without it, or with `laptop`, the file as written.
    pub scale: Option<String>,
}

/// Reads a text file of at most 1 MiB: what [`Surroundings::read_file`] should be outside of tests.
///
/// # Errors
/// As [`plimsoll_files::read_text`].
pub fn read_text_file(path: &Path) -> io::Result<String> {
    plimsoll_files::read_text(path, document::MOST_BYTES as u64)
}

/// Checks the text of an experiment file and makes the plan of it.
///
/// `file_name` is for messages. See the [crate documentation](crate) for an example.
///
/// # Errors
/// Everything that is wrong with the file, at once.
pub fn check(
    text: &str,
    file_name: &str,
    surroundings: &Surroundings<'_>,
) -> Result<Plan, Problems> {
    let source = SourceText::new(text);
    let mut problems = Collector::new(&source);
    let plan = make(&source, surroundings, &mut problems);
    match plan {
        Some(plan) if problems.is_empty() => Ok(plan),
        _ => Err(problems.finish(file_name)),
    }
}

/// The plan of what can be understood; `None` when too much cannot.
fn make<'s>(
    source: &'s SourceText,
    given: &Surroundings<'_>,
    problems: &mut Collector<'s>,
) -> Option<Plan> {
    let root = document::read(source.text(), problems)?;
    let Kind::Map(file_entries) = &root.kind else {
        let mistake = Mistake::WrongKind {
            expected: "a map that begins with `plimsoll: 1`".into(),
            found: root.kind_words(),
        };
        problems.add("", Some(root.place), mistake);
        return None;
    };
    let (chosen, other_scales) = scaled(file_entries, given.overrides.scale.as_deref(), problems);
    for other in &other_scales {
        keys_and_values(&other.entries, root.place, given, problems);
    }
    let file_entries = chosen.entries.as_slice();
    let (file, read_arms) = keys_and_values(file_entries, root.place, given, problems);
    let raw = |name: &str| file_entries.iter().find(|entry| entry.key == name);

    let mut origins = Origins::new(source);
    let name = origins.settle("", &FILE, Some(&file), "name");
    let question = origins.settle("", &FILE, Some(&file), "question");
    let load_place = raw("load").map(|entry| entry.key_place);
    // How much a run inserts bears on the disks of the arms; loads and measurement get their origins in their own place below.
    let foreseen = load_and_measurement(
        &file,
        load_place,
        given,
        &mut Origins::new(source),
        problems,
    );
    let (mixes, arms) = subject(
        &file,
        raw("workload"),
        &foreseen,
        &read_arms,
        given,
        problems,
        &mut origins,
    );

    let Asking {
        points,
        complete,
        searched,
        load_phase,
        measurement,
    } = load_and_measurement(&file, load_place, given, &mut origins, problems);
    if let Some(place) = load_place {
        check_points((points.len() * mixes.len()) as u64, place, problems);
    }
    check_arrivals(&points, &measurement, load_place, problems);
    let run_count = u64::from(measurement.blocks) * read_arms.len() as u64;
    if run_count > MOST_RUNS {
        problems.add(
            "",
            None,
            Mistake::TooMany {
                what: "runs (arms times blocks)",
                found: run_count,
                most: MOST_RUNS,
            },
        );
        return None;
    }

    // Arms with mistakes are still arms, and where a mix or a load is wrong any name may be the right one.
    let arm_names: Vec<String> = raw("arms")
        .map_or(&[][..], |entry| entries(&entry.value))
        .iter()
        .map(|arm| arm.key.clone())
        .collect();
    let mix_names: Vec<String> = mixes.iter().map(|mix| mix.name.clone()).collect();
    let names = Names {
        arms: &arm_names,
        mixes: if mixes_are_complete(&file, mixes.len()) {
            &mix_names
        } else {
            &[]
        },
        points: if complete { &points } else { &[] },
    };
    let grounds = Grounds {
        has_line: match searched {
            Searched::Yes(_) => Some(true),
            Searched::No => Some(false),
            Searched::Unknown => None,
        },
        is_line_alone: load_place.is_none() || points.iter().all(is_of_line),
        arms: &arms,
    };
    let mut judging = Judging {
        names,
        grounds,
        origins: &mut origins,
        problems,
    };
    let search = searched.line().map(|line| line.search);
    let objective = file
        .get("objective")
        .and_then(|map| judging.objective(map, search));
    let mut compare = judging.compare(file.get("compare"));
    let mut thresholds = file
        .get("thresholds")
        .map_or_else(Vec::new, |list| judging.thresholds(list));
    let mut arms = arms;
    if let Some(named) = &given.overrides.against_itself {
        thresholds.clear();
        let named = named.as_deref();
        arms = against_itself(named, arms, &mut compare, &mut origins, problems)?;
    } else if measurement.looks.is_some() && arm_names.len() == 1 {
        let blocks = file.get("measurement").and_then(|map| map.get("blocks"));
        let place = blocks.map(|blocks| blocks.place);
        problems.add("measurement.blocks", place, Mistake::LooksAtNothing);
    }

    let stage = Stage {
        arms: &arms,
        points: &points,
        measurement: &measurement,
    };
    let events = events(file.get("events"), &stage, &mut origins, problems);
    check_collections(&arms, &read_arms, measurement.blocks, problems);
    let runs = planned_runs(
        u32::try_from(arms.len()).ok()?,
        measurement.blocks,
        measurement.order,
        measurement.seed,
    );
    Some(Plan {
        scale: chosen.name,
        version: PLAN_VERSION,
        name: name.map_or_else(String::new, |name| name.to_string()),
        question: question.map(|question| question.to_string()),
        arms,
        points: points_of(&mixes, &points),
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
    })
}

/// How hard, how long and how often.
struct Asking {
    /// What every mix is measured at.
    points: Vec<LoadPoint>,
    /// Whether all of the points were understood.
    complete: bool,
    searched: Searched,
    load_phase: LoadPhase,
    measurement: Measurement,
}

fn load_and_measurement<'s>(
    file: &Checked,
    load_place: Option<Place>,
    given: &Surroundings<'_>,
    origins: &mut Origins<'s>,
    problems: &mut Collector<'s>,
) -> Asking {
    let mut loads = file
        .get("load")
        .map_or_else(Loads::none, |load| loads(load, origins, problems));
    let load_phase = load_phase(file.get("load_phase"), origins);
    let measurement = measurement(
        file.get("measurement"),
        loads.stages_ns,
        load_place,
        given.overrides,
        origins,
        problems,
    );
    loads.within_schedule(&measurement);
    let objective = file.get("objective");
    let searched = searched(objective, &loads, &measurement, origins, problems);
    if let (Searched::No, Some(place)) = (&searched, loads.shares) {
        let what = "a share of the line".to_owned();
        problems.add("load.open.rates", Some(place), Mistake::NoLine { what });
    }
    if let (Searched::No, None) = (&searched, load_place) {
        let start = file.place.start;
        let place = Place { start, end: start };
        problems.add("", Some(place), Mistake::NothingAsked);
    }
    let complete = loads.complete && !matches!(searched, Searched::Unknown);
    let line = searched.line().map(|line| line.point.clone());
    if let Some(path) = loads.finds_in_pauses(line.as_ref()) {
        let place = objective.and_then(|map| map.get("search"));
        let place = load_place.or(place.map(|search| search.place));
        problems.add(path, place, Mistake::FoundInPauses);
    }
    Asking {
        points: loads.with_line(line, origins),
        complete,
        searched,
        load_phase,
        measurement,
    }
}

/// Every key and value by itself.
fn keys_and_values(
    file_entries: &[Entry],
    place: Place,
    given: &Surroundings<'_>,
    problems: &mut Collector<'_>,
) -> (Checked, Vec<ReadArm>) {
    let mut reader = Reader {
        problems,
        engines: given.engines,
    };
    let start = Place {
        start: place.start,
        end: place.start,
    };
    let file = Checked {
        place,
        value: Value::Map(reader.object("", &FILE, file_entries, start)),
    };
    let raw = |name: &str| file_entries.iter().find(|entry| entry.key == name);
    let arms = reader.arms(
        raw("arms").map_or(&[], |entry| entries(&entry.value)),
        raw("defaults").map_or(&[], |entry| entries(&entry.value)),
    );
    (file, arms)
}

fn mixes_are_complete(file: &Checked, understood: usize) -> bool {
    let mixes = file
        .get("workload")
        .and_then(|workload| workload.get("mixes"));
    mixes.is_none_or(|mixes| mixes.items().len() + mixes.fields().len() == understood)
}

/// What is asked and what is compared.
fn subject<'s>(
    file: &Checked,
    entry: Option<&Entry>,
    asking: &Asking,
    read_arms: &[ReadArm],
    given: &Surroundings<'_>,
    problems: &mut Collector<'s>,
    origins: &mut Origins<'s>,
) -> (Vec<Mix>, Vec<Arm>) {
    let (Some(workload), Some(entry)) = (file.get("workload"), entry) else {
        return (Vec::new(), Vec::new());
    };
    if matches!(workload.value, Value::Wrong) {
        return (Vec::new(), Vec::new());
    }
    let mut reader = WorkloadReader {
        problems,
        origins,
        given,
        workload,
        key_place: entry.key_place,
        measured: Measured::default(),
        file: None,
    };
    let base = reader.data();
    let mixes = reader.mixes();
    let mut inserted = 0.0;
    for (mix, _) in &mixes {
        for point in &asking.points {
            let search = asking.searched.line().map(|line| line.search);
            inserted += inserted_at(&point.of(0), mix, &asking.measurement, search.as_ref());
        }
    }
    let mut arms = Vec::new();
    for arm in read_arms {
        let Some(engine) = arm.engine else { continue };
        let mut settings_reader = Reader {
            problems: reader.problems,
            engines: given.engines,
        };
        let mut settings = settings_reader.settings(arm, &engine, &given.limits, reader.origins);
        let mut rig_reader = RigReader {
            problems: reader.problems,
            origins: reader.origins,
            limits: &given.limits,
            base_dir: given.base_dir,
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
            limits: &given.limits,
            base_dir: given.base_dir,
        };
        let stored = Stored {
            loaded_bytes: loaded_bytes(&data, working_set.as_ref()),
            inserted_bytes: stored_bytes(&data, inserted),
            copies: Copies::of(server.as_ref()),
        };
        let rig = rig_reader.rig(arm, &engine, &settings, server, stored);
        arms.push(Arm {
            name: arm.name.clone(),
            about: arm.text("about").map(str::to_owned),
            engine: engine.name.to_owned(),
            settings,
            data,
            working_set,
            directory,
            rig,
        });
    }
    let data: Vec<_> = arms.iter().map(|arm| arm.data.clone()).collect();
    reader.mixes_on_data(&mixes, &data);
    (mixes.into_iter().map(|(mix, _)| mix).collect(), arms)
}

/// Where an arm's data directory is made.
fn directory(
    arm: &ReadArm,
    given: &Surroundings<'_>,
    origins: &mut Origins<'_>,
) -> Option<PathBuf> {
    let path = join(&join("arms", &arm.name), "directory");
    if let Some(directory) = &given.overrides.directory {
        let name = "--directory".to_owned();
        origins.add(
            &path,
            directory.display().to_string(),
            Source::Flag { name },
        );
        return Some(directory.clone());
    }
    let Some(checked) = arm.given.get("directory").map(|given| &given.checked) else {
        origins.add(&path, "the program's own place", Source::Default);
        return None;
    };
    let directory = given.base_dir.join(checked.text()?);
    origins.add_file(&path, directory.display().to_string(), checked.place);
    Some(directory)
}

/// Every mix at every point of the load, mixes one after the other.
fn points_of(mixes: &[Mix], points: &[LoadPoint]) -> Vec<Point> {
    let mut all = Vec::new();
    for (mix, _) in (0..).zip(mixes) {
        all.extend(points.iter().map(|point| point.of(mix)));
    }
    all
}

/// Whether a point is the search for the line, or at a share of it: then there is no load at which arms are asked the same.
fn is_of_line(point: &LoadPoint) -> bool {
    matches!(point.role, PointRole::Line | PointRole::ShareOfLine { .. })
}
