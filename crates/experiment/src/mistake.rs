//! Everything that can be wrong with an experiment file, as data.

use crate::nearest::nearest;
use crate::rig_mistake::RigMistake;
use plimsoll_quantities::units::{self, UnitError, shortened};
use plimsoll_quantities::words::decimal_bytes;
use std::fmt;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Mistake {
    /// More bytes than a file may have.
    #[error("the file has {bytes} bytes, the most is {most}")]
    FileTooLarge {
        /// What it has.
        bytes: usize,
        /// The most.
        most: usize,
    },
    /// No value at all.
    #[error("the file is empty")]
    EmptyFile,
    /// Not YAML.
    #[error("not YAML: {}", shortened_message(.what))]
    Syntax {
        /// The parser's words.
        what: String,
    },
    /// A second document behind `---`.
    #[error("a second YAML document begins here, and a file holds one experiment")]
    SecondDocument,
    /// A tag such as `!!str`.
    #[error("the tag {} says nothing here", quoted(.tag))]
    Tag {
        /// As written.
        tag: String,
    },
    /// `*a` inside of `&a`.
    #[error("an alias inside of what it repeats would never end")]
    AliasOfItself,
    /// Nested too deeply.
    #[error("lists and maps are nested more than {most} deep")]
    TooDeep {
        /// The most.
        most: usize,
    },
    /// Too many values, perhaps by aliases of aliases.
    #[error("the file has more than {most} values, repeated ones counted each time")]
    TooManyValues {
        /// The most.
        most: usize,
    },
    /// A list or map as a key.
    #[error("a key must be text")]
    KeyNotText,
    /// `<<`.
    #[error("the merge key `<<` is not part of YAML 1.2")]
    MergeKey,
    /// A key that is there already.
    #[error("{} is there twice", quoted(.key))]
    Twice {
        /// Which.
        key: String,
    },
    /// A key that there is not.
    #[error("unknown key {}", quoted(.key))]
    UnknownKey {
        /// As written.
        key: String,
        /// Keys that would be right here.
        valid: Vec<String>,
    },
    /// A setting of another engine than the arm's.
    #[error("{} is a setting of {}, and the engine here is {engine}", quoted(.key), .owners.join(" and "))]
    SettingOfOtherEngine {
        /// The setting.
        key: String,
        /// Engines that have it.
        owners: Vec<String>,
        /// The arm's engine.
        engine: String,
    },
    /// A key that must be there.
    #[error("the key `{key}` is missing")]
    MissingKey {
        /// Which.
        key: &'static str,
        /// How it could be written.
        example: &'static str,
    },
    /// None of several keys, one of which must be there.
    #[error("one of {} is missing", list(.keys, "and"))]
    MissingOneOf {
        /// Which.
        keys: &'static [&'static str],
    },
    /// Two keys that exclude each other.
    #[error("`{second}` and `{first}` exclude each other")]
    Exclusive {
        /// One.
        first: String,
        /// The other.
        second: String,
    },
    /// Another kind of value than expected.
    #[error("{found} is written here, where {expected} is expected")]
    WrongKind {
        /// What should be there.
        expected: String,
        /// What is there.
        found: &'static str,
    },
    /// A value with a wrong unit or no number.
    #[error(transparent)]
    Unit(#[from] UnitError),
    /// Outside of its bounds.
    #[error("{value} is out of range: at least {least}, at most {most}")]
    OutOfRange {
        /// As written.
        value: String,
        /// In people's units.
        least: String,
        /// In people's units.
        most: String,
    },
    /// A word that is not one of those known.
    #[error("{} is not one of {}", quoted(.word), few(.valid))]
    NotOneOf {
        /// As written.
        word: String,
        /// What it could be.
        valid: Vec<String>,
    },
    /// A name that could not be a file name or a column's head.
    #[error("{} cannot be a name", quoted(.name))]
    BadName {
        /// As written.
        name: String,
    },
    /// A text that is too long, or that holds characters which a terminal obeys.
    #[error("a text here has at most {most} characters and no control characters")]
    BadText {
        /// Characters.
        most: usize,
    },
    /// A number of entries that is out of range.
    #[error("{}", entry_count(*.found, *.least, *.most))]
    EntryCount {
        /// What there are.
        found: usize,
        /// At least.
        least: usize,
        /// At most.
        most: usize,
    },
    /// The same load or metric twice in a list.
    #[error("{value} is in this list twice")]
    Repeated {
        /// In people's units.
        value: String,
    },
    /// Written for another version of the format.
    #[error(
        "the file is written for version {found} of the format, this program reads version {known}"
    )]
    Version {
        /// What the file says.
        found: u64,
        /// What this program knows.
        known: u64,
    },
    /// A range whose lower end is above its upper end.
    #[error("the lower end of this range, {low}, is above its upper end, {high}")]
    EmptyRange {
        /// Lower.
        low: u64,
        /// Upper.
        high: u64,
    },
    /// A sweep or a search that ends where it begins, or before.
    #[error("the lower end, {low}, is not below the upper end, {high}")]
    LowNotBelowHigh {
        /// In people's units.
        low: String,
        /// In people's units.
        high: String,
    },
    /// Neither a load nor a search.
    #[error("no load: add `load:`, or an `objective:` to search for the plimsoll line")]
    NothingAsked,
    /// A search for the line beside stages.
    #[error(
        "the line cannot be searched beside stages: they are one open loop with a course of its own"
    )]
    SearchOfStages,
    /// Something that needs the line where it is not searched.
    #[error("{what} needs the plimsoll line, and nothing searches it")]
    NoLine {
        /// What needs it.
        what: String,
    },
    /// Events beside a closed loop or a search.
    #[error("events need an open loop, with rates that the file gives, and nothing else")]
    EventsNeedOpenLoop,
    /// Events where a lost update could not be told from one that is there.
    #[error(
        "arm {arm} has `data_integrity`, with which every update writes what was there: one that is lost could not be seen"
    )]
    EventsUnseen {
        /// Which.
        arm: String,
    },
    /// An event that does not end before its point.
    #[error("this event is over at {}, and a point is measured for {}", units::duration(*.last_ns), units::duration(*.measured_ns))]
    EventAfterEnd {
        /// Its end.
        last_ns: u64,
        /// Of a point.
        measured_ns: u64,
    },
    /// An event on what is no server of ours.
    #[error("nothing can be done to arm {arm}: {engine} is no server that is started for it here")]
    EventWithoutServer {
        /// Which.
        arm: String,
        /// Its engine.
        engine: String,
    },
    /// An event that takes several members.
    #[error("{needs} takes several members, and the server of arm {arm} is one process")]
    EventOfOneMember {
        /// Which.
        arm: String,
        /// What.
        needs: &'static str,
    },
    /// A key of another kind of event.
    #[error("`{key}` belongs to `{of}`, which is not here")]
    EventKeyAlone {
        /// Which.
        key: &'static str,
        /// Its other.
        of: &'static str,
    },
    /// `step_down: false`.
    #[error("an event that does nothing")]
    EventOfNothing,
    /// Sessions that are to be found in a closed loop that pauses.
    #[error(
        "sessions cannot be found in a closed loop that pauses or paces itself: there, more sessions say nothing of what an open loop needs"
    )]
    FoundInPauses,
    /// Looks before an interval can exclude anything.
    #[error(
        "a look after {at_least} blocks cannot end anything: below {least} no interval of 95 % can be made"
    )]
    LooksTooEarly {
        /// As written.
        at_least: u32,
        /// The least.
        least: u32,
    },
    /// Bounds of blocks the wrong way round.
    #[error("at most {at_most} blocks are fewer than the {at_least} that are made at least")]
    FewerThanAtLeast {
        /// As written, or the default.
        at_most: u32,
        /// As written, or the default.
        at_least: u32,
    },
    /// Looks where nothing is compared.
    #[error("one arm alone is compared with nothing, so there is no interval to look at")]
    LooksAtNothing,
    /// Cost where not every arm has a price.
    #[error("cost is asked for, and {} no price", have(.arms))]
    NoPrice {
        /// Arms without a price.
        arms: Vec<String>,
    },
    /// Cost in different currencies.
    #[error("cost is asked for, and the prices are in different currencies: {}", .prices.join(", "))]
    Currencies {
        /// Currencies, each with its first arm.
        prices: Vec<String>,
    },
    /// Neither the experiment nor the arm says how much data.
    #[error("nothing says how much data there is")]
    NoRecords {
        /// The arm.
        arm: String,
    },
    /// A size that not even one record fits into.
    #[error("{size} holds not even one record of {} on average", decimal_bytes(*.record_bytes))]
    SizeBelowRecord {
        /// As written.
        size: String,
        /// Mean bytes of a record.
        record_bytes: f64,
    },
    /// A file that the experiment refers to and that cannot be read.
    #[error("{} cannot be read: {reason}", quoted(.path))]
    File {
        /// As written.
        path: String,
        /// Why.
        reason: String,
    },
    /// A property file that cannot be taken for a workload.
    #[error("{}: {reason}", quoted(.path))]
    Properties {
        /// As written.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A file with field lengths that cannot be understood.
    #[error("{}: {reason}", quoted(.path))]
    Histogram {
        /// As written.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// What the workload says of its description.
    #[error("{what}")]
    Workload {
        /// Its words.
        what: String,
    },
    /// What the schedule says of its description.
    #[error("{what}")]
    Load {
        /// Its words.
        what: String,
    },
    /// A duration in the measurement where the stages say how long it takes.
    #[error("stages last as long as they say, so `duration` has no meaning")]
    DurationOfStages,
    /// Nothing of the stages would be left to measure.
    #[error("the warm-up of {} takes all of the stages, which last {}", units::duration(*.warm_up_ns), units::duration(*.stages_ns))]
    WarmUpOfStages {
        /// Nanoseconds.
        warm_up_ns: u64,
        /// Nanoseconds.
        stages_ns: u64,
    },
    /// A cache that does not fit into memory.
    #[error("the cache of {} does not fit into this machine's memory of {}", units::size(*.cache), decimal_bytes(*.memory as f64))]
    CacheLargerThanMemory {
        /// Bytes.
        cache: u64,
        /// Bytes.
        memory: u64,
    },
    /// More runs, points or operations than can be meant.
    #[error("{what} would be {found}, the most is {most}")]
    TooMany {
        /// What is counted.
        what: &'static str,
        /// What there would be.
        found: u64,
        /// The most.
        most: u64,
    },
    /// More operations of an open loop than can be scheduled.
    #[error("{load} for this long is {found} operations, the most of one point is {most}")]
    TooManyDue {
        /// The load in words.
        load: String,
        /// What there would be.
        found: u64,
        /// The most.
        most: u64,
    },
    /// A metric that there is not.
    #[error("{} is not a metric", quoted(.metric))]
    UnknownMetric {
        /// As written.
        metric: String,
    },
    /// A percentile that there is not.
    #[error("{} is not a percentile", quoted(.name))]
    BadPercentile {
        /// As written.
        name: String,
    },
    /// An objective that bounds nothing.
    #[error("the objective names no metric")]
    EmptyObjective,
    /// An arm that there is not.
    #[error("there is no arm {}", quoted(.name))]
    UnknownArm {
        /// As written.
        name: String,
        /// Those that there are.
        arms: Vec<String>,
    },
    /// A mix that there is not.
    #[error("there is no mix {}", quoted(.name))]
    UnknownMix {
        /// As written.
        name: String,
        /// Those that there are.
        mixes: Vec<String>,
    },
    /// A load that is not measured.
    #[error("{at} is no point of this load")]
    NotAPoint {
        /// In people's units.
        at: String,
        /// What is measured.
        points: Vec<String>,
    },
    /// A threshold that cannot be understood.
    #[error("{} is not a threshold", quoted(.text))]
    BadThreshold {
        /// As written.
        text: String,
    },
    /// A pair of an arm with itself.
    #[error("an arm cannot be compared with itself")]
    SameArm,
    /// A scale that there is not.
    #[error("there is no scale {}", quoted(.name))]
    UnknownScale {
        /// As given.
        name: String,
        /// Those that there are.
        scales: Vec<String>,
    },
    /// A scale with the name of the file as written.
    #[error("the file as written is the scale `{}`", crate::scales::OWN_SCALE)]
    OwnScale,
    /// Something about disk, filesystem, limits, price or working set.
    #[error(transparent)]
    Rig(#[from] RigMistake),
    /// A value given on the command line that is out of range.
    #[error("{flag} {value} is out of range: at least {least}, at most {most}")]
    FlagOutOfRange {
        /// With its dashes.
        flag: &'static str,
        /// As given.
        value: String,
        /// In people's units.
        least: String,
        /// In people's units.
        most: String,
    },
}

impl Mistake {
    /// A stable word for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::FileTooLarge { .. } => "file-too-large",
            Self::EmptyFile => "empty-file",
            Self::Syntax { .. } => "syntax",
            Self::SecondDocument => "second-document",
            Self::Tag { .. } => "tag",
            Self::AliasOfItself => "alias-of-itself",
            Self::TooDeep { .. } => "too-deep",
            Self::TooManyValues { .. } => "too-many-values",
            Self::KeyNotText => "key-not-text",
            Self::MergeKey => "merge-key",
            Self::Twice { .. } => "twice",
            Self::UnknownKey { .. } => "unknown-key",
            Self::SettingOfOtherEngine { .. } => "setting-of-other-engine",
            Self::MissingKey { .. } => "missing-key",
            Self::MissingOneOf { .. } => "missing-one-of",
            Self::Exclusive { .. } => "exclusive",
            Self::WrongKind { .. } => "wrong-kind",
            Self::Unit(_) => "unit",
            Self::OutOfRange { .. } => "out-of-range",
            Self::NotOneOf { .. } => "not-one-of",
            Self::BadName { .. } => "bad-name",
            Self::BadText { .. } => "bad-text",
            Self::EntryCount { .. } => "entry-count",
            Self::Repeated { .. } => "repeated",
            Self::Version { .. } => "version",
            Self::EmptyRange { .. } => "empty-range",
            Self::LowNotBelowHigh { .. } => "low-not-below-high",
            Self::NothingAsked => "nothing-asked",
            Self::SearchOfStages => "search-of-stages",
            Self::NoLine { .. } => "no-line",
            Self::EventsNeedOpenLoop => "events-need-open-loop",
            Self::EventsUnseen { .. } => "events-unseen",
            Self::EventAfterEnd { .. } => "event-after-end",
            Self::EventWithoutServer { .. } => "event-without-server",
            Self::EventOfOneMember { .. } => "event-of-one-member",
            Self::EventKeyAlone { .. } => "event-key-alone",
            Self::EventOfNothing => "event-of-nothing",
            Self::FoundInPauses => "found-in-pauses",
            Self::LooksTooEarly { .. } => "looks-too-early",
            Self::FewerThanAtLeast { .. } => "fewer-than-at-least",
            Self::LooksAtNothing => "looks-at-nothing",
            Self::NoPrice { .. } => "no-price",
            Self::Currencies { .. } => "currencies",
            Self::NoRecords { .. } => "no-records",
            Self::SizeBelowRecord { .. } => "size-below-record",
            Self::File { .. } => "file",
            Self::Properties { .. } => "properties",
            Self::Histogram { .. } => "histogram",
            Self::Workload { .. } => "workload",
            Self::Load { .. } => "load",
            Self::DurationOfStages => "duration-of-stages",
            Self::WarmUpOfStages { .. } => "warm-up-of-stages",
            Self::CacheLargerThanMemory { .. } => "cache-larger-than-memory",
            Self::TooMany { .. } => "too-many",
            Self::TooManyDue { .. } => "too-many-due",
            Self::UnknownMetric { .. } => "unknown-metric",
            Self::BadPercentile { .. } => "bad-percentile",
            Self::EmptyObjective => "empty-objective",
            Self::UnknownArm { .. } => "unknown-arm",
            Self::UnknownMix { .. } => "unknown-mix",
            Self::NotAPoint { .. } => "not-a-point",
            Self::BadThreshold { .. } => "bad-threshold",
            Self::SameArm => "same-arm",
            Self::UnknownScale { .. } => "unknown-scale",
            Self::OwnScale => "own-scale",
            Self::Rig(mistake) => mistake.code(),
            Self::FlagOutOfRange { .. } => "flag-out-of-range",
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        let text = match self {
            Self::FileTooLarge { .. } => "an experiment is a page of text: is this the right file?".into(),
            Self::EmptyFile => "begin with `plimsoll: 1`, a name, and see docs/experiment-file.md".into(),
            Self::Syntax { what } if what.contains("tab") => {
                "YAML is indented with spaces, never with tabs".into()
            }
            Self::Syntax { .. } => {
                "look for a missing space behind a colon, a missing quote or bracket, or a line that is indented otherwise than \
                 its neighbours"
                    .into()
            }
            Self::SecondDocument => "put it into a file of its own".into(),
            Self::Tag { .. } => "remove it: what a value means follows from its key".into(),
            Self::AliasOfItself => "remove the alias".into(),
            Self::TooDeep { .. } => "no key of an experiment is nested that deep: look for repeated brackets".into(),
            Self::TooManyValues { .. } => "look for aliases that repeat each other".into(),
            Self::KeyNotText => "write the key as plain text, such as `name: value`".into(),
            Self::MergeKey => "state what arms have in common once, under `defaults`".into(),
            Self::Twice { .. } => "remove one of them".into(),
            Self::UnknownKey { key, valid } => nearest_or_all(key, valid, "keys here are"),
            Self::SettingOfOtherEngine { .. } => "remove it, or name another engine".into(),
            Self::MissingKey { key, example } => format!("write for example `{key}: {example}`"),
            Self::MissingOneOf { .. } => "write exactly one of them".into(),
            Self::Exclusive { .. } => "remove one of them".into(),
            Self::NotOneOf { word, valid } => return nearest(word, valid).map(did_you_mean),
            Self::BadName { .. } => {
                "names become file names and heads of columns: at most 40 characters out of a-z, A-Z, 0-9, `-`, `_` and `.`, \
                 beginning with a letter or digit"
                    .into()
            }
            Self::Repeated { .. } => "remove one of them".into(),
            Self::Version { found, known } if found > known => "use a newer version of plimsoll".into(),
            Self::Version { known, .. } => format!("write `plimsoll: {known}`"),
            Self::EmptyRange { .. } => "write the smaller number first".into(),
            Self::LowNotBelowHigh { .. } => "write the lower one first".into(),
            Self::NothingAsked => {
                "write for example `load: {closed: {threads: [1, 2, 4]}}`, or an objective whose line is searched, such as \
                 `objective: {response: {p99: 10ms}}`"
                    .into()
            }
            Self::SearchOfStages => "remove the search, or make an experiment of its own for the stages".into(),
            Self::NoLine { .. } => {
                "write an objective, such as `objective: {response: {p99: 10ms}}`, and leave its `search` on".into()
            }
            Self::EventsNeedOpenLoop => {
                "write `load: {open: {rates: [1k]}}`, remove the closed loop, and set `search: false` in an objective".into()
            }
            Self::EventsUnseen { .. } => "remove `data_integrity`: what was acknowledged is read back anyway".into(),
            Self::EventAfterEnd { .. } => "make it earlier or shorter, or `measurement: {duration: …}` longer".into(),
            Self::EventWithoutServer { .. } => {
                "measure a server that plimsoll starts: `engine: mongodb` without `uri`".into()
            }
            Self::EventOfOneMember { .. } => "write `server: {members: 3}`".into(),
            Self::EventKeyAlone { key, of } => format!("write `{of}` as well, or remove `{key}`"),
            Self::EventOfNothing => "remove it, or write `true`".into(),
            Self::FoundInPauses => "write a number of sessions, or remove `think_time` and `target`".into(),
            Self::LooksTooEarly { least, .. } => format!(
                "write `at_least: {least}` or more: with 5 blocks even the clearest difference comes about by chance 6 times in 100"
            ),
            Self::FewerThanAtLeast { .. } => "raise `at_most`, or lower `at_least`".into(),
            Self::LooksAtNothing => "write a number of blocks, or a second arm".into(),
            Self::NoPrice { .. } => {
                "write for example `price: {per_hour: 0.07, currency: USD}` in each arm, or name a published `machine`".into()
            }
            Self::Currencies { .. } => {
                "write all prices in one currency: this program knows no rates of exchange, and they change".into()
            }
            Self::NoRecords { .. } => {
                "write `records: 100k` or `size: 100MB` under `workload`, or in every arm".into()
            }
            Self::SizeBelowRecord { .. } => "raise the size, or write `records` instead".into(),
            Self::File { .. } => "paths are found from the folder of the experiment file".into(),
            Self::Properties { .. } => {
                "an experiment takes records and one mix from it, as in workloads/workloada".into()
            }
            Self::DurationOfStages => "remove it, or change the durations of the stages".into(),
            Self::WarmUpOfStages { .. } => {
                "with stages, the warm-up is their beginning: shorten it, or begin with a longer stage".into()
            }
            Self::CacheLargerThanMemory { memory, .. } => format!(
                "leave room for the program and the page cache: at most about {} here",
                decimal_bytes(*memory as f64 * 0.8)
            ),
            Self::TooMany { .. } => "make several experiments of it".into(),
            Self::TooManyDue { .. } => "shorten the measurement, or lower the rate".into(),
            Self::UnknownMetric { metric } => nearest_or_all(metric, &metric_words(), "metrics are"),
            Self::BadPercentile { .. } => "write p and a number above 0 and at most 100, such as p50, p99 or p99.9".into(),
            Self::EmptyObjective => "say what good service is, for example `response: {p99: 10ms}`".into(),
            Self::UnknownArm { name, arms } => nearest_or_all(name, arms, "the arms are"),
            Self::UnknownMix { name, mixes } => nearest_or_all(name, mixes, "the mixes are"),
            Self::NotAPoint { points, .. } => format!("what is measured is {}", few(points)),
            Self::BadThreshold { .. } => {
                "write a metric, >= or <=, and a bound, such as `throughput >= 10k` or `response.p99 <= 5ms`".into()
            }
            Self::SameArm => "write the names of two arms, the baseline first".into(),
            Self::UnknownScale { name, scales } => nearest_or_all(name, scales, "the scales are"),
            Self::OwnScale => "choose another name".into(),
            Self::Rig(mistake) => return mistake.help(),
            Self::WrongKind { .. }
            | Self::Unit(_)
            | Self::OutOfRange { .. }
            | Self::BadText { .. }
            | Self::EntryCount { .. }
            | Self::Histogram { .. }
            | Self::Workload { .. }
            | Self::Load { .. }
            | Self::FlagOutOfRange { .. } => return None,
        };
        Some(text)
    }
}

/// The words of all metrics, with the usual percentiles.
fn metric_words() -> Vec<String> {
    let words = [
        "throughput",
        "response.mean",
        "response.p50",
        "response.p95",
        "response.p99",
        "response.p99.9",
        "service.p50",
        "service.p95",
        "service.p99",
        "service.p99.9",
        "cpu",
        "errors",
        "line",
        "cost",
    ];
    words.map(str::to_owned).to_vec()
}

fn did_you_mean(word: &str) -> String {
    format!("did you mean `{word}`?")
}

pub(crate) fn nearest_or_all(word: &str, valid: &[String], lead: &str) -> String {
    match nearest(word, valid) {
        Some(nearest) => did_you_mean(nearest),
        None => format!("{lead} {}", few(valid)),
    }
}

/// At most sixteen of the words.
fn few(words: &[String]) -> String {
    const MOST: usize = 16;
    let mut text = words
        .iter()
        .take(MOST)
        .map(|word| shortened(word))
        .collect::<Vec<_>>()
        .join(", ");
    if words.len() > MOST {
        text.push_str(", …");
    }
    text
}

/// `the arm one has`, `the arms one and two have`.
fn have(arms: &[String]) -> String {
    match arms {
        [one] => format!("the arm {} has", shortened(one)),
        _ => format!("the arms {} have", few(arms)),
    }
}

fn entry_count(found: usize, least: usize, most: usize) -> String {
    let entries = if found == 1 { "entry" } else { "entries" };
    if least == most {
        return format!("there must be {least} entries here, not {found}");
    }
    format!("{found} {entries} here: at least {least}, at most {most}")
}

fn list(words: &[&str], link: &str) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, others)) if !others.is_empty() => {
            format!("{} {link} {last}", others.join(", "))
        }
        _ => quoted.concat(),
    }
}

pub(crate) fn quoted(text: &str) -> impl fmt::Display {
    format!("`{}`", shortened(text))
}

/// A parser's message in our manner: it may quote what the file holds.
fn shortened_message(message: &str) -> String {
    message
        .chars()
        .take(200)
        .map(|c| if c.is_control() { '?' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_hold_nothing_that_a_terminal_obeys() {
        let mistake = Mistake::UnknownKey {
            key: format!("\u{1b}[2J{}", "x".repeat(100)),
            valid: vec!["name".into()],
        };
        let text = format!("{mistake} {:?}", mistake.help());
        assert!(!text.contains('\u{1b}'), "{text}");
        assert!(text.len() < 150, "{text}");
    }
}
