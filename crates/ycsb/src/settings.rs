//! What a command asks for, checked: everything about the run but the database.

use crate::catalogue::{self, Treatment};
use crate::command::{Binding, Command, Phase};
use crate::exporter::Exporter;
use crate::metric::Return;
use crate::report::Style;
use crate::tally::{Interval, Kinds, Layout};
use plimsoll_workload::properties::{Core, Properties, PropertyError};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

const NANOS_PER_SECOND: u64 = 1_000_000_000;
const MOST_SESSIONS: u64 = 100_000;
/// The coarsest and the finest that can be meant.
const MOST_BUCKETS: u64 = 10_000_000;

/// What a command asks for.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) phase: Phase,
    pub(crate) core: Core,
    pub(crate) sessions: u32,
    /// Operations of the phase; `None` for no end.
    pub(crate) operations: Option<u64>,
    pub(crate) target: Option<f64>,
    pub(crate) most_ns: Option<u64>,
    pub(crate) status: Option<Duration>,
    pub(crate) label: String,
    pub(crate) exporter: Exporter,
    pub(crate) export_file: Option<PathBuf>,
    pub(crate) layout: Layout,
    pub(crate) style: Style,
    /// In front of the names of HDR logs, where they are wanted.
    pub(crate) hdr_logs: Option<String>,
    pub(crate) raw_file: Option<PathBuf>,
    pub(crate) retries: Retries,
    pub(crate) each_error: bool,
    pub(crate) tracked_errors: String,
    pub(crate) seed: u64,
    pub(crate) count_records: bool,
    /// For the standard output, as YCSB says it before it starts.
    pub(crate) announcements: Vec<String>,
    /// For the standard error: what has no effect, or was replaced.
    pub(crate) notes: Vec<String>,
}

/// What a session of a load does after a failed insert.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Retries {
    /// How often it tries again.
    pub(crate) limit: u64,
    /// After this long, a fifth more or less.
    pub(crate) pause_ns: u64,
    /// Whether it goes on when that did not help.
    pub(crate) keep_going: bool,
}

impl Settings {
    /// Checks all properties of a command. `read_file` gives the text of a file that a property names.
    pub(crate) fn read(
        command: &Command,
        read_file: &dyn Fn(&str) -> io::Result<String>,
    ) -> Result<Self, PropertyError> {
        let properties = &command.properties;
        check_workload(properties)?;
        let core = Core::read("ycsb", properties, read_file)?;
        let phase = command.phase;
        let operations = match phase {
            Phase::Load => core.to_load().1,
            Phase::Run => Some(core.operations).filter(|count| *count > 0),
        };
        let (mut announcements, mut notes) = (Vec::new(), command.notes.clone());
        notes.extend(core.remarks.iter().cloned());
        let mut sessions = properties.count("threadcount")?.unwrap_or(1);
        if sessions == 0 || sessions > MOST_SESSIONS {
            return Err(PropertyError::impossible(
                "threadcount",
                format!("{sessions} is not between 1 and {MOST_SESSIONS}"),
            ));
        }
        if let Some(count) = operations
            && sessions > count
        {
            sessions = count;
            announcements.push(
                "Warning: the threadcount is bigger than recordcount, the threadcount will be recordcount!"
                    .into(),
            );
        }
        let target =
            properties.long("target")?.filter(|target| *target > 0).map(|target| target as f64);
        let (kinds, interval) = measurement(properties, target.is_some())?;
        let tracked_errors = properties.get("latencytrackederrors").unwrap_or_default();
        let each_error = properties.flag("reportlatencyforeacherror", false);
        if core.data.data_integrity {
            announcements.push("Data integrity is enabled.".into());
        }
        note_properties(command, &mut notes);
        let exporter = exporter(properties, &mut notes);
        let style = Style {
            kinds,
            percentiles: percentiles(properties, &mut notes),
            verbose: properties.flag("measurement.histogram.verbose", false),
            no_raw_summary: properties.flag("measurement.raw.no_summary", false),
        };
        let seed = properties.count("plimsoll.seed")?;
        Ok(Self {
            phase,
            sessions: u32::try_from(sessions).expect("it is checked above"),
            operations,
            target,
            most_ns: seconds(properties, "maxexecutiontime")?.filter(|ns| *ns > 0),
            status: status(properties)?,
            label: properties.get("label").unwrap_or_default().into(),
            exporter,
            export_file: properties.get("exportfile").map(PathBuf::from),
            layout: Layout {
                kinds,
                interval,
                apart: Return::ALL.map(|ended| {
                    each_error || tracked_errors.split(',').any(|name| name == ended.name())
                }),
            },
            style,
            hdr_logs: (kinds.hdr && properties.flag("hdrhistogram.fileoutput", false))
                .then(|| properties.get("hdrhistogram.output.path").unwrap_or_default().into()),
            raw_file: properties
                .get("measurement.raw.output_file")
                .filter(|path| !path.is_empty())
                .map(PathBuf::from),
            retries: Retries {
                limit: properties.count("core_workload_insertion_retry_limit")?.unwrap_or(0),
                pause_ns: seconds(properties, "core_workload_insertion_retry_interval")?
                    .unwrap_or(3 * NANOS_PER_SECOND),
                keep_going: properties.flag("core_workload_insertion_keep_going_on_error", false),
            },
            each_error,
            tracked_errors: tracked_errors.into(),
            seed: seed.unwrap_or_else(|| RandomState::new().hash_one(std::process::id()) >> 1),
            count_records: properties.flag("plimsoll.count", true),
            core,
            announcements,
            notes,
        })
    }
}

fn check_workload(properties: &Properties) -> Result<(), PropertyError> {
    // A part of the mix that is left out makes the others larger.
    for (name, value) in properties.iter() {
        let is_nothing = value.trim().parse::<f64>().is_ok_and(|share| share == 0.0);
        if name.ends_with("proportion") && catalogue::find(name).is_none() && !is_nothing {
            return Err(PropertyError::impossible(
                name,
                "the core workload of YCSB has no such operation, and without it the mix is another one: leave it out, and give the others their shares",
            ));
        }
    }
    match properties.get("workload") {
        None => Err(PropertyError::impossible(
            "workload",
            "it is missing: name a property file by -P, such as -P workloads/workloada",
        )),
        // go-ycsb calls it `core`.
        Some(class) if matches!(class.rsplit('.').next(), Some("CoreWorkload" | "core")) => Ok(()),
        Some(class) => {
            Err(PropertyError::word("workload", class, "site.ycsb.workloads.CoreWorkload"))
        }
    }
}

/// Says of each property that is set and has no effect that it has none.
fn note_properties(command: &Command, notes: &mut Vec<String>) {
    let mut unknown = Vec::new();
    for (name, value) in command.properties.iter() {
        match catalogue::find(name) {
            None => unknown.push(plimsoll_record::redact::redact(name)),
            Some(known) if known.treatment == Treatment::Ignored => {
                let is_off = matches!(value.to_ascii_lowercase().as_str(), "false" | "");
                if !is_off {
                    notes.push(format!("{name} has no effect: {}", known.about));
                }
            }
            Some(known) => {
                let others = match command.binding {
                    Binding::Basic => ["mongodb.", "wiredtiger."],
                    Binding::MongoDb => ["basicdb.", "wiredtiger."],
                    Binding::WiredTiger => ["basicdb.", "mongodb."],
                };
                if others.iter().any(|prefix| known.name.starts_with(prefix)) {
                    notes.push(format!("{name} has no effect with this binding"));
                }
            }
        }
    }
    if !unknown.is_empty() {
        notes.push(format!("unknown and without effect: {}", unknown.join(", ")));
    }
}

fn exporter(properties: &Properties, notes: &mut Vec<String>) -> Exporter {
    let Some(class) = properties.get("exporter") else {
        return Exporter::Text;
    };
    Exporter::by_class(class).unwrap_or_else(|| {
        notes.push(format!("Could not find exporter {class}, will use default text reporter."));
        Exporter::Text
    })
}

fn measurement(
    properties: &Properties,
    has_target: bool,
) -> Result<(Kinds, Interval), PropertyError> {
    let buckets = properties.count("histogram.buckets")?.unwrap_or(1_000);
    if buckets == 0 || buckets > MOST_BUCKETS {
        return Err(PropertyError::impossible(
            "histogram.buckets",
            format!("{buckets} is not between 1 and {MOST_BUCKETS}"),
        ));
    }
    let stretch_ms = properties.count("timeseries.granularity")?.unwrap_or(1_000);
    if stretch_ms == 0 {
        return Err(PropertyError::impossible("timeseries.granularity", "it must be at least 1"));
    }
    let mut kinds = Kinds::default();
    let buckets = usize::try_from(buckets).ok();
    match properties.get("measurementtype").unwrap_or("hdrhistogram") {
        "hdrhistogram" => kinds.hdr = true,
        "histogram" => kinds.buckets = buckets,
        "hdrhistogram+histogram" => (kinds.hdr, kinds.buckets) = (true, buckets),
        "hdrhistogram+raw" => (kinds.hdr, kinds.raw) = (true, true),
        "timeseries" => kinds.series_ms = Some(stretch_ms),
        "raw" => kinds.raw = true,
        other => {
            return Err(PropertyError::word(
                "measurementtype",
                other,
                "hdrhistogram, histogram, hdrhistogram+histogram, hdrhistogram+raw, timeseries, raw",
            ));
        }
    }
    let interval = match properties.get("measurement.interval") {
        None if has_target => Interval::Both,
        None | Some("op") => Interval::Op,
        Some("intended") => Interval::Intended,
        Some("both") => Interval::Both,
        Some(other) => {
            return Err(PropertyError::word("measurement.interval", other, "op, intended, both"));
        }
    };
    Ok((kinds, interval))
}

fn percentiles(properties: &Properties, notes: &mut Vec<String>) -> Vec<f64> {
    const DEFAULT: [f64; 3] = [50.0, 95.0, 99.0];
    let Some(text) = properties.get("hdrhistogram.percentiles") else {
        return DEFAULT.to_vec();
    };
    let mut percentiles = Vec::new();
    for part in text.split(',') {
        match part.trim().parse::<f64>() {
            Ok(percentile) if (0.0..=100.0).contains(&percentile) => percentiles.push(percentile),
            _ => {
                notes.push(format!(
                    "hdrhistogram.percentiles={text} is no list of percentiles: 50,95,99 are taken"
                ));
                return DEFAULT.to_vec();
            }
        }
    }
    percentiles
}

fn status(properties: &Properties) -> Result<Option<Duration>, PropertyError> {
    let interval = properties.count("status.interval")?.unwrap_or(10);
    if interval == 0 {
        return Err(PropertyError::impossible("status.interval", "it must be at least 1 second"));
    }
    Ok(properties.flag("status", false).then(|| Duration::from_secs(interval)))
}

fn seconds(properties: &Properties, name: &str) -> Result<Option<u64>, PropertyError> {
    let seconds = properties.count(name)?;
    Ok(seconds.map(|seconds| seconds.saturating_mul(NANOS_PER_SECOND)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(options: &str) -> Result<Settings, PropertyError> {
        let words: Vec<String> = format!(
            "basic -p workload=site.ycsb.workloads.CoreWorkload -p recordcount=100 {options}"
        )
        .split_whitespace()
        .map(str::to_owned)
        .collect();
        let command =
            Command::read("run", &words, &|_| Err(io::ErrorKind::NotFound.into())).unwrap();
        Settings::read(&command, &|_| Err(io::ErrorKind::NotFound.into()))
    }

    #[test]
    fn defaults_are_ycsbs() {
        let settings = read("").unwrap();
        assert_eq!(settings.sessions, 1);
        assert_eq!(settings.operations, None);
        assert_eq!(settings.target, None);
        assert_eq!(settings.style.percentiles, [50.0, 95.0, 99.0]);
        assert_eq!(settings.layout.interval, Interval::Op);
        assert!(settings.layout.kinds.hdr && settings.status.is_none());
        assert_eq!(
            settings.retries,
            Retries { limit: 0, pause_ns: 3_000_000_000, keep_going: false }
        );
        assert!(settings.notes.is_empty(), "{:?}", settings.notes);
    }

    #[test]
    fn there_are_no_more_sessions_than_operations() {
        let settings = read("-threads 8 -p operationcount=3").unwrap();
        assert_eq!(settings.sessions, 3);
        assert_eq!(
            settings.announcements,
            [
                "Warning: the threadcount is bigger than recordcount, the threadcount will be recordcount!"
            ]
        );
        assert_eq!(read("-threads 8").unwrap().sessions, 8);
    }

    #[test]
    fn a_target_brings_both_latencies() {
        assert_eq!(read("-target 10").unwrap().layout.interval, Interval::Both);
        assert_eq!(read("-target 0").unwrap().layout.interval, Interval::Op);
        assert_eq!(
            read("-target 10 -p measurement.interval=op").unwrap().layout.interval,
            Interval::Op
        );
        assert_eq!(read("-target -5").unwrap().target, None);
    }

    #[test]
    fn what_has_no_effect_is_said() {
        let settings = read("-p measurement.trackjvm=true -p spin.sleep=false -p htrace.x=y -p mongodb.url=u -p a=1 -p b=2").unwrap();
        assert_eq!(
            settings.notes,
            [
                "htrace.x has no effect: there is no tracing",
                "measurement.trackjvm has no effect: there is no Java machine",
                "mongodb.url has no effect with this binding",
                "unknown and without effect: a, b",
            ]
        );
        let settings = read("-p exporter=x.Y -p hdrhistogram.percentiles=50,x").unwrap();
        assert_eq!(settings.notes.len(), 2);
        assert_eq!(settings.style.percentiles, [50.0, 95.0, 99.0]);
        assert_eq!(
            read("-p hdrhistogram.percentiles=50,99.9").unwrap().style.percentiles,
            [50.0, 99.9]
        );
    }

    #[test]
    fn a_part_of_the_mix_that_ycsb_does_not_have_is_refused() {
        let error = read("-p deleteproportion=0.06").unwrap_err().to_string();
        assert!(
            error.contains("deleteproportion") && error.contains("no such operation"),
            "{error}"
        );
        assert!(read("-p deleteproportion=0").is_ok());
        // As in the files of go-ycsb.
        assert!(read("-p workload=core").is_ok());
        assert!(read("-p workload=TimeSeriesWorkload").is_err());
    }

    #[test]
    fn failures_have_names_of_their_own_when_asked_for() {
        assert_eq!(read("").unwrap().layout.apart, [false; 5]);
        assert_eq!(read("-p reportlatencyforeacherror=true").unwrap().layout.apart, [true; 5]);
        let settings = read("-p latencytrackederrors=NOT_FOUND,ERROR").unwrap();
        assert_eq!(settings.layout.apart, [false, false, true, true, false]);
    }

    #[test]
    fn what_is_impossible_is_refused_by_name() {
        for (options, words) in [
            (
                "-p workload=site.ycsb.workloads.TimeSeriesWorkload",
                "`workload`: there is no `site.ycsb",
            ),
            ("-threads 0", "`threadcount`: 0 is not between"),
            ("-threads -1", "`threadcount`: -1 is below 0"),
            ("-p measurementtype=hdr", "`measurementtype`: there is no `hdr`"),
            ("-p measurement.interval=all", "`measurement.interval`: there is no `all`"),
            ("-p status.interval=0", "`status.interval`"),
            ("-p histogram.buckets=0", "`histogram.buckets`"),
            ("-p timeseries.granularity=0", "`timeseries.granularity`"),
            ("-p maxexecutiontime=1.5", "`maxexecutiontime`: `1.5` is no whole number"),
            ("-p plimsoll.seed=x", "`plimsoll.seed`: `x` is no whole number"),
        ] {
            let refusal = read(options).unwrap_err().to_string();
            assert!(refusal.starts_with(words), "{options}: {refusal}");
        }
        let words = ["basic".to_owned()];
        let command = Command::read("run", &words, &|_| unreachable!("no file")).unwrap();
        let refusal = Settings::read(&command, &|_| unreachable!("no file")).unwrap_err();
        assert!(refusal.to_string().starts_with("`workload`: it is missing"));
    }
}
