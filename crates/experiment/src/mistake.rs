//! Everything that can be wrong with an experiment file, as data.

use crate::document::{Diagnosis, DocumentMistake, few, nearest_or_all, quoted};
use crate::rig_mistake::RigMistake;
use plimsoll_record::quantities::units::{self, shortened};
use plimsoll_record::quantities::words::{counted, decimal_bytes};

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Mistake {
    /// Of a document in general.
    #[error("{}", document_text(.0))]
    Document(#[from] DocumentMistake),
    /// A setting of another engine than the arm's.
    #[error("{} is a setting of {}, and the engine here is {engine}", quoted(.key), .owners.join(" and "))]
    SettingOfOtherEngine {
        key: String,
        owners: Vec<String>,
        engine: String,
    },
    /// The same load or metric twice in a list.
    #[error("{value} is in this list twice")]
    Repeated { value: String },
    /// A range whose lower end is above its upper end.
    #[error("the lower end of this range, {low}, is above its upper end, {high}")]
    EmptyRange { low: u64, high: u64 },
    /// A sweep or a search that ends where it begins, or before.
    #[error("the lower end, {low}, is not below the upper end, {high}")]
    LowNotBelowHigh { low: String, high: String },
    /// A factor that varies nothing.
    #[error("factor {factor} has one level, so nothing varies")]
    OneLevel { factor: String },
    /// A level that is a map or a list.
    #[error("a level of {factor} is not one word or number, so it needs a name")]
    UnnamedLevel { factor: String },
    /// A level whose text cannot be a part of a name.
    #[error("{} cannot be the name of a level: only letters, digits and - _ . % + can", quoted(.text))]
    LevelName { text: String },
    /// A range of a factor without an order.
    #[error("the levels of {factor} have no order: {} is no amount that a range could begin or end at", quoted(.text))]
    NoOrder { factor: String, text: String },
    /// Two factors that give the same key.
    #[error("two factors, {} and {}, both set `{key}`", .factors[0], .factors[1])]
    FactorsOverlap { key: String, factors: [String; 2] },
    /// A grid with too many cells.
    #[error("{} are {} cells, the most is {most}", products(.levels), .levels.iter().map(|count| *count as u64).product::<u64>())]
    TooManyCells { levels: Vec<usize>, most: usize },
    /// A factor that stands for a key which is there as well.
    #[error("the factor {factor} stands for `{path}`, which is given as well")]
    GivenTwice { factor: String, path: String },
    #[error("there is no cell {}", quoted(.name))]
    UnknownCell { name: String, cells: Vec<String> },
    #[error("there is no factor {}", quoted(.name))]
    UnknownFactor { name: String, factors: Vec<String> },
    #[error("factor {factor} has no level {}", quoted(.name))]
    UnknownLevel {
        name: String,
        factor: String,
        levels: Vec<String>,
    },
    /// Exceptions that leave nothing of a level.
    #[error("`except` leaves out all cells with {factor} {level}")]
    LevelLeftOut { factor: String, level: String },
    /// A design for two levels with another number.
    #[error("a {design} design takes factors of two levels, and {factor} has {levels}")]
    NotTwoLevels {
        factor: String,
        levels: usize,
        design: String,
    },
    /// A refinement that is none.
    #[error(
        "`refine` must be more than 0 and less than the {step} between two levels, and is {refine}"
    )]
    RefineNotBelowStep { refine: String, step: String },
    /// Two factors that are refined.
    #[error("both {} and {} have `refine`: scouting looks along one axis", .factors[0], .factors[1])]
    TwoRefined { factors: [String; 2] },
    /// A refined factor in a design of two levels.
    #[error("{factor} has `refine`, which adds levels, and this design takes two")]
    RefineOfDesign { factor: String },
    /// Exceptions of a design that chooses its own cells.
    #[error("`except` belongs to the full design: others choose their cells themselves")]
    ExceptOfDesign,
    /// A design that does not exist for so many factors.
    #[error("there is no {design} design of {}", counted(*.factors, "factor"))]
    NoSuchDesign { design: String, factors: usize },
    /// Exceptions, a design or a compared factor where arms are listed.
    #[error("`{key}` belongs to `factors`, and this file lists its arms")]
    NoFactors { key: &'static str },
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
    NoLine { what: String },
    /// Events beside a closed loop or a search.
    #[error("events need an open loop, with rates that the file gives, and nothing else")]
    EventsNeedOpenLoop,
    /// Events with data integrity, which hides lost updates.
    #[error(
        "arm {arm} has `data_integrity`, with which every update writes what was there: one that is lost could not be seen"
    )]
    EventsUnseen { arm: String },
    /// An event that does not end before its point.
    #[error("this event is over at {}, and a point is measured for {}", units::duration(*.last_ns), units::duration(*.measured_ns))]
    EventAfterEnd { last_ns: u64, measured_ns: u64 },
    /// An event for an arm without a managed server.
    #[error("nothing can be done to arm {arm}: {engine} is no server that is started for it here")]
    EventWithoutServer { arm: String, engine: String },
    /// An event that takes several members.
    #[error("{needs} takes several members, and the server of arm {arm} is one process")]
    EventOfOneMember { arm: String, needs: &'static str },
    /// A key of another kind of event.
    #[error("`{key}` belongs to `{of}`, which is not here")]
    EventKeyAlone { key: &'static str, of: &'static str },
    #[error("an event that does nothing")]
    EventOfNothing,
    /// `sessions: found` with a closed loop that pauses.
    #[error(
        "sessions cannot be found in a closed loop that pauses or paces itself: there, more sessions say nothing of what an open loop needs"
    )]
    FoundInPauses,
    /// Looks before an interval can exclude anything.
    #[error(
        "a look after {at_least} blocks cannot end anything: below {least} no interval of 95 % can be made"
    )]
    LooksTooEarly { at_least: u32, least: u32 },
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
    /// Controls of an experiment with factors.
    #[error(
        "controls are copies of one baseline, and an experiment with factors has one for each combination"
    )]
    ControlsOfCells,
    /// A gate on a file with several arms, or with factors.
    #[error("a gate asks whether one thing lost against another, and this file has {arms} arms")]
    GateOfSeveral { arms: usize },
    /// A plan that cannot be made in duets.
    #[error("duets are not possible here: {why}")]
    NoDuet { why: String },
    /// Cost where not every arm has a price.
    #[error("cost is requested, but {} no price", have(.arms))]
    NoPrice { arms: Vec<String> },
    #[error("cost is requested, but the prices are in different currencies: {}", .prices.join(", "))]
    Currencies {
        /// Currencies, each with its first arm.
        prices: Vec<String>,
    },
    /// No amount of data, neither in the workload nor in the arm.
    #[error("nothing says how much data there is")]
    NoRecords { arm: String },
    /// A size below that of one record.
    #[error("{size} holds not even one record of {} on average", decimal_bytes(*.record_bytes))]
    SizeBelowRecord {
        size: String,
        /// Mean bytes of a record.
        record_bytes: f64,
    },
    /// A file that the experiment refers to and that cannot be read.
    #[error("{} cannot be read: {reason}", quoted(.path))]
    File { path: String, reason: String },
    /// A property file that is no workload.
    #[error("{}: {reason}", quoted(.path))]
    Properties {
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A malformed histogram of field lengths.
    #[error("{}: {reason}", quoted(.path))]
    Histogram {
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    #[error("{what}")]
    Workload { what: String },
    #[error("{what}")]
    Load { what: String },
    /// A duration of the measurement beside stages, which have their own.
    #[error("stages last as long as they say, so `duration` has no meaning")]
    DurationOfStages,
    /// A warm-up as long as the stages.
    #[error("the warm-up of {} takes all of the stages, which last {}", units::duration(*.warm_up_ns), units::duration(*.stages_ns))]
    WarmUpOfStages { warm_up_ns: u64, stages_ns: u64 },
    /// A cache that does not fit into memory.
    #[error("the cache of {} does not fit into this machine's memory of {}", units::size(*.cache), decimal_bytes(*.memory as f64))]
    CacheLargerThanMemory { cache: u64, memory: u64 },
    /// A setting that the engine cannot be opened with.
    #[error("`{setting}` does not suit the engine `{engine}`: {reason}")]
    Unfit {
        setting: &'static str,
        engine: &'static str,
        /// As the end of a sentence.
        reason: String,
    },
    /// Too many runs, points or operations.
    #[error("{what} would be {found}, the most is {most}")]
    TooMany {
        what: &'static str,
        found: u64,
        most: u64,
    },
    /// More operations of an open loop than can be scheduled.
    #[error("{load} for this long is {found} operations, the most of one point is {most}")]
    TooManyDue { load: String, found: u64, most: u64 },
    /// An objective that bounds nothing.
    #[error("the objective names no metric")]
    EmptyObjective,
    #[error("there is no arm {}", quoted(.name))]
    UnknownArm { name: String, arms: Vec<String> },
    #[error("there is no host {}", quoted(.name))]
    UnknownHost { name: String, hosts: Vec<String> },
    /// A host that may not do what is asked of it.
    #[error("host {name} does not have the role {role}")]
    HostWithoutRole {
        name: String,
        /// What it would have to do.
        role: &'static str,
    },
    /// An address that is none in numbers.
    #[error("{} is not the IPv4 address of a machine", quoted(.text))]
    NoIpAddress { text: String },
    /// A server that is to be reached from other machines, nobody knows where.
    #[error(
        "the load of arm {arm} comes from other machines than {host}, on which its server stands, and the address of {host} is not known"
    )]
    HostWithoutAddress {
        arm: String,
        /// On which its server stands.
        host: String,
    },
    /// Events, and nobody who knows all that was acknowledged.
    #[error(
        "the load comes from {hosts} hosts, and what was acknowledged can be read back only where one of them knows it all"
    )]
    EventsFromSeveralHosts { hosts: usize },
    /// A path from this machine's folder for another machine.
    #[error("{} is found from the folder of this file, and the arm stands on {host}", quoted(.path))]
    RelativeElsewhere { path: String, host: String },
    #[error("there is no mix {}", quoted(.name))]
    UnknownMix { name: String, mixes: Vec<String> },
    /// A load that is not measured.
    #[error("{at} is no point of this load")]
    NotAPoint { at: String, points: Vec<String> },
    #[error("{} is not a threshold", quoted(.text))]
    BadThreshold { text: String },
    /// A threshold on throughput that a point cannot meet, because it offers less.
    #[error("{} cannot hold at {point}, where less is offered", quoted(.text))]
    ThresholdBeyondOffered {
        text: String,
        /// The point in people's units.
        point: String,
    },
    /// A pair of an arm with itself.
    #[error("an arm cannot be compared with itself")]
    SameArm,
    #[error("there is no scale {}", quoted(.name))]
    UnknownScale { name: String, scales: Vec<String> },
    /// A scale with the name of the file as written.
    #[error("the file as written is the scale `{name}`")]
    OwnScale { name: &'static str },
    /// A scale that is not smaller.
    #[error("a ratio is more than 0 and at most 1")]
    RatioOutOfRange,
    /// Something about disk, filesystem, limits, price or working set.
    #[error(transparent)]
    Rig(#[from] RigMistake),
    /// A value given on the command line that is out of range.
    #[error("{flag} {value} is out of range: at least {least}, at most {most}")]
    FlagOutOfRange {
        flag: &'static str,
        value: String,
        least: String,
        most: String,
    },
}

impl Diagnosis for Mistake {
    fn code(&self) -> &'static str {
        match self {
            Self::Document(mistake) => mistake.code(),
            Self::SettingOfOtherEngine { .. } => "setting-of-other-engine",
            Self::Repeated { .. } => "repeated",
            Self::EmptyRange { .. } => "empty-range",
            Self::LowNotBelowHigh { .. } => "low-not-below-high",
            Self::OneLevel { .. } => "one-level",
            Self::UnnamedLevel { .. } => "unnamed-level",
            Self::LevelName { .. } => "level-name",
            Self::NoOrder { .. } => "no-order",
            Self::FactorsOverlap { .. } => "factors-overlap",
            Self::TooManyCells { .. } => "too-many-cells",
            Self::GivenTwice { .. } => "given-twice",
            Self::UnknownCell { .. } => "unknown-cell",
            Self::UnknownFactor { .. } => "unknown-factor",
            Self::UnknownLevel { .. } => "unknown-level",
            Self::LevelLeftOut { .. } => "level-left-out",
            Self::NotTwoLevels { .. } => "not-two-levels",
            Self::RefineNotBelowStep { .. } => "refine-not-below-step",
            Self::TwoRefined { .. } => "two-refined",
            Self::RefineOfDesign { .. } => "refine-of-design",
            Self::ExceptOfDesign => "except-of-design",
            Self::NoSuchDesign { .. } => "no-such-design",
            Self::NoFactors { .. } => "no-factors",
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
            Self::ControlsOfCells => "controls-of-cells",
            Self::GateOfSeveral { .. } => "gate-of-several",
            Self::NoDuet { .. } => "no-duet",
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
            Self::Unfit { .. } => "unfit",
            Self::TooMany { .. } => "too-many",
            Self::TooManyDue { .. } => "too-many-due",
            Self::EmptyObjective => "empty-objective",
            Self::UnknownArm { .. } => "unknown-arm",
            Self::UnknownHost { .. } => "unknown-host",
            Self::HostWithoutRole { .. } => "host-without-role",
            Self::NoIpAddress { .. } => "no-ip-address",
            Self::HostWithoutAddress { .. } => "host-without-address",
            Self::EventsFromSeveralHosts { .. } => "events-from-several-hosts",
            Self::RelativeElsewhere { .. } => "relative-elsewhere",
            Self::UnknownMix { .. } => "unknown-mix",
            Self::NotAPoint { .. } => "not-a-point",
            Self::BadThreshold { .. } => "bad-threshold",
            Self::ThresholdBeyondOffered { .. } => "threshold-beyond-offered",
            Self::SameArm => "same-arm",
            Self::UnknownScale { .. } => "unknown-scale",
            Self::OwnScale { .. } => "own-scale",
            Self::RatioOutOfRange => "ratio-out-of-range",
            Self::Rig(mistake) => mistake.code(),
            Self::FlagOutOfRange { .. } => "flag-out-of-range",
        }
    }

    fn help(&self) -> Option<String> {
        let text = match self {
            Self::Document(mistake) => return document_help(mistake),
            Self::SettingOfOtherEngine { .. } => "remove it, or name another engine".into(),
            Self::Repeated { .. } => "remove one of them".into(),
            Self::EmptyRange { .. } => "write the smaller number first".into(),
            Self::LowNotBelowHigh { .. } => "write the lower one first".into(),
            Self::OneLevel { .. } => "add a level, or write the key under `defaults`".into(),
            Self::UnnamedLevel { factor } => format!(
                "write a map of levels by name, such as `{factor}: {{small: {{…}}, large: {{…}}}}`, each with keys of an arm"
            ),
            Self::LevelName { .. } => {
                "write a map of levels by name, each with keys of an arm".into()
            }
            Self::NoOrder { .. } => "write a list of levels".into(),
            Self::FactorsOverlap { .. } => "let one of them set it, or make one factor of both".into(),
            Self::TooManyCells { .. } => {
                "remove levels, leave out combinations with fewer levels, or use `design: screening` with two levels of each factor".into()
            }
            Self::GivenTwice { .. } => "remove one of them".into(),
            Self::UnknownCell { name, cells } => nearest_or_all(name, cells, "the cells are"),
            Self::UnknownFactor { name, factors } => nearest_or_all(name, factors, "the factors are"),
            Self::UnknownLevel { name, levels, .. } => nearest_or_all(name, levels, "its levels are"),
            Self::LevelLeftOut { .. } => "remove the level, or leave out less".into(),
            Self::NotTwoLevels { .. } => "keep two levels, or write `design: full`".into(),
            Self::RefineNotBelowStep { .. } => "write how far apart two levels may be in the end".into(),
            Self::TwoRefined { .. } => "remove one of them, and refine the other in an experiment of its own".into(),
            Self::RefineOfDesign { .. } => "remove `refine`, or write `design: full`".into(),
            Self::ExceptOfDesign => "remove `except`, or write `design: full`".into(),
            Self::NoSuchDesign { design, .. } if design == "screening" => {
                "screening takes 6 to 23 factors: with fewer, write `design: full` or a fraction such as `1/2`".into()
            }
            Self::NoSuchDesign { .. } => {
                "it would mix up main effects, or have more than 256 cells: write a larger or a smaller fraction".into()
            }
            Self::NoFactors { .. } => "remove it, or write `factors` instead of `arms`".into(),
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
            Self::ControlsOfCells => "write the two arms in question as `arms`, or leave the controls away".into(),
            Self::GateOfSeveral { .. } => "leave one arm in the file: `plimsoll gate` makes the other of it, or takes it from a second file".into(),
            Self::NoDuet { .. } => "change that, or leave `pairing` (and --duet) away: then the arms run in turn, each on the whole machine".into(),
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
            Self::Unfit { .. } => "change it, or the setting that it has to suit".into(),
            Self::TooMany { .. } => "make several experiments of it".into(),
            Self::TooManyDue { .. } => "shorten the measurement, or lower the rate".into(),
            Self::EmptyObjective => "say what good service is, for example `response: {p99: 10ms}`".into(),
            Self::UnknownArm { name, arms } => nearest_or_all(name, arms, "the arms are"),
            Self::UnknownHost { hosts, .. } if hosts.is_empty() => {
                "say how it is reached under `hosts`, for example `hosts: {db1: {ssh: root@db1.example}}`".into()
            }
            Self::UnknownHost { name, hosts } => nearest_or_all(name, hosts, "the hosts are"),
            Self::HostWithoutRole { role, .. } => format!("add {role} to its `roles`, or name another host"),
            Self::NoIpAddress { .. } => "write it in numbers, such as 10.0.0.2".into(),
            Self::HostWithoutAddress { host, .. } if host == "controller" => {
                "name the machine under `hosts` with its `address`, and let the arm stand `on` it; or take `load_hosts` away".into()
            }
            Self::HostWithoutAddress { host, .. } => format!(
                "write `address: 10.0.0.2`, or what it is, under `hosts: {host}`; or let {host} alone make the load: `load_hosts: [{host}]`"
            ),
            Self::EventsFromSeveralHosts { .. } => "name one host in `load_hosts`, or take the events away".into(),
            Self::RelativeElsewhere { .. } => "write the whole path as it is there".into(),
            Self::UnknownMix { name, mixes } => nearest_or_all(name, mixes, "the mixes are"),
            Self::NotAPoint { points, .. } => format!("what is measured is {}", few(points)),
            Self::BadThreshold { .. } => {
                "write a metric, >= or <=, and a bound, such as `throughput >= 10k` or `response.p99 <= 5ms`".into()
            }
            Self::ThresholdBeyondOffered { text, .. } => format!(
                "limit it to another load, such as `{{metric: {text}, at: {{threads: 16}}}}`, or lower the bound"
            ),
            Self::SameArm => "write the names of two arms, the baseline first".into(),
            Self::UnknownScale { name, scales } => nearest_or_all(name, scales, "the scales are"),
            Self::OwnScale { .. } => "choose another name".into(),
            Self::RatioOutOfRange => "write for example `ratio: 1/20`, or `5%`".into(),
            Self::Rig(mistake) => return mistake.help(),
            Self::Histogram { .. }
            | Self::Workload { .. }
            | Self::Load { .. }
            | Self::FlagOutOfRange { .. } => return None,
        };
        Some(text)
    }
}

/// A mistake of a document in the words of an experiment file.
fn document_text(mistake: &DocumentMistake) -> String {
    match mistake {
        DocumentMistake::SecondDocument => {
            "a second YAML document begins here, and a file holds one experiment".into()
        }
        _ => mistake.to_string(),
    }
}

/// What to do about a mistake of a document, where that takes keys of an experiment file.
fn document_help(mistake: &DocumentMistake) -> Option<String> {
    let text = match mistake {
        DocumentMistake::FileTooLarge { .. } => {
            "an experiment is a page of text: is this the right file?".into()
        }
        DocumentMistake::EmptyFile => {
            "begin with `plimsoll: 1`, a name, and see docs/experiment-file.md".into()
        }
        DocumentMistake::TooDeep { .. } => {
            "no key of an experiment is nested that deep: look for repeated brackets".into()
        }
        DocumentMistake::MergeKey => "state what arms have in common once, under `defaults`".into(),
        DocumentMistake::Version { found, known } if found > known => {
            "use a newer version of plimsoll".into()
        }
        DocumentMistake::Version { known, .. } => format!("write `plimsoll: {known}`"),
        _ => return mistake.help(),
    };
    Some(text)
}

fn products(levels: &[usize]) -> String {
    let counts: Vec<String> = levels.iter().map(usize::to_string).collect();
    format!("{} levels", counts.join(" × "))
}

/// `the arm one has`, `the arms one and two have`.
fn have(arms: &[String]) -> String {
    match arms {
        [one] => format!("the arm {} has", shortened(one)),
        _ => format!("the arms {} have", few(arms)),
    }
}
