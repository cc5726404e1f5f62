//! `plimsoll init`: an experiment file that runs, made from five answers.

mod draft;
mod questions;

use crate::arguments::{self, Question, Workload};
use crate::exit::Exit;
use crate::plan::{USUAL_SPREAD, against_duets, check_text, complain};
use crate::quiet;
use crate::rig::Rigs;
use crate::screen::tell;
use anyhow::Context;
use clap::ValueEnum;
use draft::{Database, Draft, host_of, named};
use plimsoll_experiment::{Overrides, Problems};
use plimsoll_plan::{Needs, Pairing, Plan, needs};
use plimsoll_record::files::write_whole;
use plimsoll_record::quantities::units;
use plimsoll_record::quantities::words::{counted, list};
use plimsoll_record::redact::redact;
use plimsoll_stats::visible_with_spread;
use plimsoll_telemetry::Host;
use questions::{ask, choose, choose_or, somebody_is_there};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where a MongoDB listens by default.
const USUAL_PORT: u16 = 27017;
/// How long a server of this machine may take to accept a connection.
const LONGEST_LOOK: Duration = Duration::from_millis(300);
/// How long an experiment may take by default: with the installation, ten minutes until the verdict.
const USUAL_NS: u64 = 480_000_000_000;
/// Lengths of points that are tried, seconds; the first with which enough blocks fit is taken. Shorter ones cannot be judged.
const LENGTHS: [u64; 3] = [30, 20, 10];
/// Default sizes of the data, tried until storing it takes no longer than measuring.
const SIZES: [&str; 4] = ["256MiB", "128MiB", "64MiB", "32MiB"];
/// The same for settings of a server, whose cache is 256 MiB at least and must be smaller than the data.
const SIZES_OF_A_SERVER: [&str; 2] = ["512MiB", "256MiB"];
/// Blocks that are enough, and blocks at most: with more a longer point is worth more.
const ENOUGH: u32 = 10;
const AT_MOST: u32 = 40;
/// The fewest that a verdict can be made of.
const FEWEST: u32 = plimsoll_stats::FEWEST_BLOCKS as u32;
const MOST_SESSIONS: u32 = 8;
/// A processor counts as idle while other programs use at most this share of it.
const ROUNDED: f64 = 0.05;
const SECOND_NS: u64 = 1_000_000_000;

pub fn init(arguments: &arguments::Init, rigs: &Rigs) -> anyhow::Result<Exit> {
    let file = &arguments.file;
    if file.exists() && !arguments.force {
        tell(format_args!(
            "{} already exists: name another file, or replace it with --force",
            file.display()
        ));
        return Ok(Exit::Usage);
    }
    let answers = match answers(arguments)? {
        Ok(answers) => answers,
        Err(why) => {
            tell(why);
            return Ok(Exit::Usage);
        }
    };
    let within_ns = answers.within_ns;
    let fitted = match fitted(answers, file, rigs) {
        Ok(fitted) => fitted,
        Err(problems) => {
            tell("this would be no valid experiment, so nothing was written:");
            return complain(&problems, false);
        }
    };
    write_whole(file, fitted.draft.text().as_bytes())
        .with_context(|| format!("cannot write {}", file.display()))?;
    tell_what_it_is_worth(file, &fitted, within_ns);
    Ok(Exit::Good)
}

/// The user's answers, or the defaults.
struct Answers {
    draft: Draft,
    pairing: Option<Pairing>,
    within_ns: u64,
}

/// Asks for what the command line does not say, if a person can answer; the inner error is why there can be no such experiment.
fn answers(arguments: &arguments::Init) -> anyhow::Result<Result<Answers, String>> {
    let asks = somebody_is_there();
    let database = match &arguments.database {
        Some(word) => match database(word) {
            Some(database) => database,
            None => {
                return Ok(Err(format!(
                    "`{}` is no database: use embedded, mongod, or the URI of a MongoDB that runs, mongodb://HOST:PORT",
                    redact(word)
                )));
            }
        },
        None => {
            let found = found();
            match asks {
                true => choose_or(
                    "Which database? Choose one, or type the URI of a MongoDB: mongodb://…",
                    &found,
                    |line| {
                        let database = database(line)?;
                        matches!(database, Database::Uri(_)).then_some(database)
                    },
                )?,
                false => found[0].0.clone(),
            }
        }
    };
    let question = match arguments.question {
        Some(question) => question,
        None if asks => {
            let all = Question::value_variants().iter().copied();
            let fit = all.filter(|question| unfit(*question, &database).is_none());
            let choices: Vec<(Question, String)> = fit.map(|one| (one, help_of(&one))).collect();
            choose("What do you want to know?", &choices)?
        }
        None => Question::Settings,
    };
    if let Some(why) = unfit(question, &database) {
        return Ok(Err(why));
    }
    // Arms that wait for different things are not equally disturbed by other programs, so the journal is no question to begin with.
    let usual_setting = match database {
        Database::Embedded | Database::Mongod => "block_compressor",
        Database::Uri(_) => "journal",
    };
    let setting = match &arguments.setting {
        Some(setting) => setting.clone(),
        None if asks && question == Question::Settings => {
            let words = format!("Which setting? {}", settings(&database).join(", "));
            ask(&words, usual_setting, |line| known_setting(line, &database))?
        }
        None => usual_setting.to_owned(),
    };
    if question == Question::Settings
        && let Err(why) = known_setting(&setting, &database)
    {
        return Ok(Err(why));
    }
    let between = match arguments.between.is_empty() {
        false => arguments.between.clone(),
        true => {
            let usual = usual_between(question, &setting, &database);
            match usual {
                usual if asks => ask(
                    &format!(
                        "{} Type at least two, with spaces between.",
                        to_compare(question, &setting)
                    ),
                    &usual.join(" "),
                    several,
                )?,
                usual if usual.is_empty() => {
                    return Ok(Err(format!(
                        "{} Give at least two: --between ONE --between OTHER",
                        to_compare(question, &setting)
                    )));
                }
                usual => usual,
            }
        }
    };
    if between.len() < 2 {
        return Ok(Err("a comparison needs two: --between ONE --between OTHER".into()));
    }
    if arguments.pairing == Some(Pairing::Duet) && !can_be_duet(question, &between, &database) {
        return Ok(Err(
            "a duet is of two arms, on this machine, whose servers plimsoll starts: leave `--pairing` out".into(),
        ));
    }
    let addresses = match (question, &database) {
        (Question::Machine, Database::Mongod) => match addresses(&between) {
            Ok(addresses) => addresses,
            Err(why) => return Ok(Err(why)),
        },
        _ => Vec::new(),
    };
    let workload = match arguments.workload {
        Some(workload) => workload,
        // It has documents and queries of its own.
        None if question == Question::Index => Workload::A,
        None if asks => {
            let all = Workload::value_variants().iter();
            let choices: Vec<(Workload, String)> = all.map(|one| (*one, help_of(one))).collect();
            choose("Which load? These are YCSB's workloads.", &choices)?
        }
        None => Workload::A,
    };
    let within_ns = match arguments.within {
        Some(within_ns) => within_ns,
        None if asks => ask("How long may it take?", &units::duration(USUAL_NS), |line| {
            units::parse_duration(line).map_err(|why| why.to_string())
        })?,
        None => USUAL_NS,
    };
    let file = &arguments.file;
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let name = match named(&stem) {
        name if name.is_empty() => "experiment".to_owned(),
        name => name,
    };
    let cores = Host::here().machine().cores;
    Ok(Ok(Answers {
        draft: Draft {
            name,
            file: file.display().to_string(),
            database,
            question,
            setting,
            between,
            addresses,
            workload,
            data: arguments.data.clone().unwrap_or_default(),
            duet: false,
            beside_others: false,
            threads: (2 * cores).clamp(1, MOST_SESSIONS),
            warm_up_ns: 0,
            duration_ns: 0,
            blocks: FEWEST,
        },
        pairing: arguments.pairing,
        within_ns,
    }))
}

/// As the help of the flag says it.
fn help_of(value: &impl ValueEnum) -> String {
    let help = value.to_possible_value();
    let help = help.and_then(|value| Some(value.get_help()?.to_string()));
    help.unwrap_or_default()
}

fn database(word: &str) -> Option<Database> {
    match word {
        "embedded" => Some(Database::Embedded),
        "mongod" => Some(Database::Mongod),
        uri if uri.starts_with("mongodb://") || uri.starts_with("mongodb+srv://") => {
            Some(Database::Uri(uri.to_owned()))
        }
        _ => None,
    }
}

/// Every setting of an engine.
fn settings(database: &Database) -> Vec<&'static str> {
    let name = match database {
        Database::Embedded => "wiredtiger",
        Database::Mongod | Database::Uri(_) => "mongodb",
    };
    let kind = plimsoll_engine::kinds().iter().find(|kind| kind.name == name);
    kind.map_or_else(Vec::new, |kind| kind.settings.iter().map(|setting| setting.name).collect())
}

fn known_setting(word: &str, database: &Database) -> Result<String, String> {
    let known = settings(database);
    match known.is_empty() || known.contains(&word) {
        true => Ok(word.to_owned()),
        false => Err(format!("there is no setting `{word}`; there are {}", known.join(", "))),
    }
}

/// What can be measured here, what is most likely meant first.
fn found() -> Vec<(Database, String)> {
    let mut found = Vec::new();
    let has = |name: &str| plimsoll_engine::kinds().iter().any(|kind| kind.name == name);
    if has("mongodb") {
        let here = SocketAddr::from(([127, 0, 0, 1], USUAL_PORT));
        if TcpStream::connect_timeout(&here, LONGEST_LOOK).is_ok() {
            let uri = format!("mongodb://{here}");
            let words = format!("{uri}, where something listens; its data is left alone");
            found.push((Database::Uri(uri), words));
        }
        if let Some(program) = mongods().first() {
            let words = format!("{}, restarted for each run", program.display());
            found.push((Database::Mongod, words));
        }
    }
    if has("wiredtiger") {
        let words = "WiredTiger, MongoDB's storage engine, within this program: nothing to install";
        found.push((Database::Embedded, words.into()));
    }
    if found.is_empty() {
        found.push((Database::Mongod, "a mongod, which is not on PATH yet".into()));
    }
    found
}

/// The programs of that name in the usual folders.
fn mongods() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.extend(std::env::var_os("PLIMSOLL_SERVERS").map(PathBuf::from));
    let programs = folders.into_iter().map(|folder| folder.join("mongod"));
    programs.filter(|program| program.is_file()).collect()
}

/// Why that database cannot run this workload.
fn unfit(question: Question, database: &Database) -> Option<String> {
    match (question, database) {
        (Question::Disk | Question::Filesystem | Question::Memory, Database::Uri(_)) => Some(
            "this question needs a server that plimsoll starts: use --database mongod, or embedded".into(),
        ),
        (Question::Index, Database::Embedded) => Some(
            "indexes are chosen by the query planner of a server: use --database mongod, or the URI of a MongoDB that runs".into(),
        ),
        (Question::Version, Database::Embedded) => Some(
            "the embedded WiredTiger has one version: use --database mongod with two programs, or two servers that run".into(),
        ),
        _ => None,
    }
}

fn to_compare(question: Question, setting: &str) -> String {
    let words = match question {
        Question::Settings if setting == "block_compressor" => {
            return format!("Which values of {setting}: snappy, zstd, zlib, none?");
        }
        Question::Settings => return format!("Which values of {setting}?"),
        Question::Index => {
            "Which indexes: none, customer, customer,-placed (two fields, the second descending), customer+status (two indexes)?"
        }
        Question::Disk => "Which disks? `plimsoll disk presets` lists them.",
        Question::Filesystem => "Which filesystems: xfs, ext4, btrfs?",
        Question::Memory => "How much data, as shares of what fits into the cache?",
        Question::Version => "Which programs of mongod, or which URIs of servers that run?",
        Question::Machine => {
            "Which machines, by what you type behind `ssh`, such as root@db1 or root@db1=10.0.0.2 with its address, or which URIs?"
        }
    };
    words.to_owned()
}

/// The levels that are compared by default; none where only the user can know them.
fn usual_between(question: Question, setting: &str, database: &Database) -> Vec<String> {
    let words: &[&str] = match (question, setting) {
        (Question::Settings, "block_compressor") => &["snappy", "zstd"],
        (Question::Settings, "journal") => &["false", "true"],
        (Question::Settings, "cache_size") => &["256MiB", "1GiB"],
        (Question::Index, _) => &["customer", "customer,-placed"],
        (Question::Disk, _) => &["gp3", "io2"],
        (Question::Filesystem, _) => &["xfs", "ext4"],
        (Question::Memory, _) => &["80%", "160%", "320%"],
        (Question::Version, _) if *database == Database::Mongod => {
            let all = mongods();
            let all = all.iter().map(|program| program.display().to_string());
            return all.take(2).collect();
        }
        _ => &[],
    };
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn several(line: &str) -> Result<Vec<String>, String> {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    match words.len() {
        0 | 1 => Err("a comparison needs two".into()),
        _ => Ok(words),
    }
}

/// At which address each machine is reached: as said behind `=`, or by its name.
fn addresses(targets: &[String]) -> Result<Vec<String>, String> {
    let address = |target: &String| match target.split_once('=') {
        Some((_, address)) => Ok(address.to_owned()),
        None => {
            let host = host_of(target);
            let found = (host, 0).to_socket_addrs();
            let mut found = found.map_err(|why| {
                format!("{host} has no address ({why}): write `{target}=10.0.0.2`, or what it is")
            })?;
            let address = found.find_map(|one| match one.ip() {
                IpAddr::V4(address) => Some(address.to_string()),
                IpAddr::V6(_) => None,
            });
            address.ok_or_else(|| format!("{host} has no IPv4 address: write `{target}=10.0.0.2`"))
        }
    };
    targets.iter().map(address).collect()
}

/// An experiment of a length and a number of blocks that fit into the time.
struct Fitted {
    draft: Draft,
    /// To measure on, where others use the rest.
    left: Option<Vec<u32>>,
    plan: Plan,
    needs: Needs,
}

/// With the longest points that leave room for enough blocks; otherwise with the longest that leave room for the fewest; otherwise with the shortest.
fn fitted(answers: Answers, file: &Path, rigs: &Rigs) -> Result<Fitted, Problems> {
    let Answers { mut draft, pairing, within_ns } = answers;
    let can_be_duet = can_be_duet(draft.question, &draft.between, &draft.database);
    let is_here =
        !matches!(draft.database, Database::Uri(_)) && draft.question != Question::Machine;
    let left = (is_here && pairing.is_none()).then(left_by_others).flatten();
    // What others leave is estimated as if it were the whole machine.
    let within_ns = if left.is_some() { within_ns / 4 * 3 } else { within_ns };
    // Beside a program that runs all the time a duet shows nothing: that program stays on one of the halves.
    let is_for_two = left.as_ref().is_none_or(|left| left.len() > 1);
    draft.beside_others = can_be_duet && !is_for_two;
    draft.duet = can_be_duet && !draft.beside_others && pairing != Some(Pairing::InTurn);
    let sizes: &[&str] = match draft.database {
        _ if !draft.data.is_empty() || draft.is_of_disk() => &[],
        Database::Mongod if draft.question == Question::Settings => &SIZES_OF_A_SERVER,
        _ => &SIZES,
    };
    // Data that is a share of the cache is measured each time a file is checked, so it is checked twice only: the time follows from the first.
    (draft.duration_ns, draft.warm_up_ns) = (LENGTHS[0] * SECOND_NS, warm_up_ns(LENGTHS[0]));
    draft.data = sizes.first().map_or(draft.data, |size| (*size).to_owned());
    let mut plan = match checked(&draft, file, rigs) {
        Err(problems) if draft.duet && pairing.is_none() && against_duets(&problems).is_some() => {
            draft.duet = false;
            checked(&draft, file, rigs)?
        }
        first => first?,
    };
    for size in sizes.iter().skip(1) {
        let needs = needs(&plan, plimsoll_engine::kinds());
        // Measuring time with the shortest points.
        let measuring_ns = needs.measuring_ns / LENGTHS[0] * LENGTHS[LENGTHS.len() - 1];
        if needs.loading_ns <= measuring_ns {
            break;
        }
        draft.data = (*size).to_owned();
        plan = checked(&draft, file, rigs)?;
    }
    let blocks_of = |seconds: u64| {
        let mut plan = plan.clone();
        plan.measurement.duration_ns = seconds * SECOND_NS;
        plan.measurement.warm_up_ns = warm_up_ns(seconds);
        let all_ns = needs(&plan, plimsoll_engine::kinds()).total_ns();
        let each_ns = all_ns as f64 / f64::from(FEWEST);
        (within_ns as f64 / each_ns.max(1.0)) as u32
    };
    let longest = |blocks: u32| LENGTHS.into_iter().find(|one| blocks_of(*one) >= blocks);
    let seconds = longest(ENOUGH).or_else(|| longest(FEWEST));
    let seconds = seconds.unwrap_or(LENGTHS[LENGTHS.len() - 1]);
    draft.duration_ns = seconds * SECOND_NS;
    draft.warm_up_ns = warm_up_ns(seconds);
    draft.blocks = blocks_of(seconds).clamp(FEWEST, AT_MOST);
    let plan = checked(&draft, file, rigs)?;
    let needs = needs(&plan, plimsoll_engine::kinds());
    Ok(Fitted { draft, left, plan, needs })
}

fn can_be_duet(question: Question, between: &[String], database: &Database) -> bool {
    between.len() == 2 && question != Question::Machine && !matches!(database, Database::Uri(_))
}

/// The processors that other programs leave idle, where these use more than a measurement should have beside it: says which they are.
fn left_by_others() -> Option<Vec<u32>> {
    let host = Host::here();
    let before = host.busy();
    let seen = quiet::look();
    if !quiet::is_busy(&seen) {
        return None;
    }
    tell(quiet::in_words(&seen));
    let used = seen.cpu_ns as f64 / seen.elapsed_ns.max(1) as f64;
    let meanwhile = |(one, ticks): (u32, u64)| {
        let earlier = before.get(&one).copied().unwrap_or(ticks);
        (ticks.saturating_sub(earlier), one)
    };
    let mut all: Vec<(u64, u32)> = host.busy().into_iter().map(meanwhile).collect();
    all.sort_unstable();
    all.truncate((all.len() as f64 - used + ROUNDED).max(0.0) as usize);
    let mut left: Vec<u32> = all.into_iter().map(|(_, one)| one).collect();
    left.sort_unstable();
    Some(left)
}

/// Half of the point, and at most 10 s.
fn warm_up_ns(seconds: u64) -> u64 {
    (seconds * SECOND_NS / 2).min(10 * SECOND_NS)
}

fn checked(draft: &Draft, file: &Path, rigs: &Rigs) -> Result<Plan, Problems> {
    check_text(&draft.text(), file, &Overrides::default(), rigs)
}

/// What was written, what a verdict of it is worth, and what comes next.
fn tell_what_it_is_worth(file: &Path, fitted: &Fitted, within_ns: u64) {
    let Fitted { draft, left, plan, needs } = fitted;
    let blocks = draft.blocks;
    tell(format_args!(
        "{}: {}, {} of {}, about {}.",
        file.display(),
        list(&draft.names()),
        counted(blocks as usize, "block"),
        units::duration(draft.duration_ns),
        units::about(needs.total_ns())
    ));
    if needs.total_ns() > within_ns {
        tell(format_args!(
            "That is more than {}: a verdict needs {FEWEST} blocks. Fewer arms or less data take less.",
            units::duration(within_ns)
        ));
    }
    let pairs = plan.blocks_of_a_pair(blocks) as usize;
    if let Some(visible) = visible_with_spread(USUAL_SPREAD, pairs) {
        tell(format_args!(
            "On a quiet machine this finds differences of about {:.1} %. After the first run, `plimsoll plan {} --find 1%` says what 1 % needs here.",
            100.0 * visible.exp_m1(),
            file.display()
        ));
    }
    if draft.database == Database::Mongod && mongods().is_empty() {
        tell("There is no mongod on PATH yet: install one, or name it by `server:` in the file.");
    }
    let is_root = rustix::process::geteuid().is_root() || crate::rights::is_for_another();
    let sudo = match needs.root && !is_root {
        true => "sudo ",
        false => "",
    };
    let left: Vec<String> = left.iter().flatten().map(u32::to_string).collect();
    let apart = match left.is_empty() {
        true => String::new(),
        // The kernel moves the others to where they have a processor for themselves.
        false => format!("taskset -c {} ", left.join(",")),
    };
    tell(format_args!("Next: {sudo}{apart}plimsoll run {}", file.display()));
    if !left.is_empty() {
        tell(
            "taskset keeps to the processors that the other programs leave idle. It is sharper where there are none: plimsoll run --wait-quiet 10m",
        );
    }
}
