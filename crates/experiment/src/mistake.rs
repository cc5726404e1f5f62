//! Everything that can be wrong with an experiment file, as data: one table of codes, messages and advice.

use crate::document::{did_you_mean, few, nearest_or_all, quoted};
use plimsoll_record::FilesystemKind;
use plimsoll_record::quantities::units::{self, UnitError, shortened};
use plimsoll_record::quantities::words::{counted, decimal_bytes};
use std::fmt;

/// What can stand as the advice of a mistake.
trait Advice {
    fn text(self) -> Option<String>;
}

impl Advice for &str {
    fn text(self) -> Option<String> {
        Some(self.to_owned())
    }
}

impl Advice for String {
    fn text(self) -> Option<String> {
        Some(self)
    }
}

impl Advice for Option<String> {
    fn text(self) -> Option<String> {
        self
    }
}

/// `Name { fields } = code, (message with fields), advice;`
macro_rules! mistakes {
    ($($name:ident $({ $($field:ident: $type:ty),* })? = $code:expr, ($($message:tt)*) $(, $advice:expr)?;)*) => {
        /// One thing that is wrong with an experiment file.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum Mistake {
            $($name $({ $($field: $type),* })?,)*
        }

        #[allow(unused_variables)]
        impl Mistake {
            /// A stable word for programs.
            pub fn code(&self) -> &'static str {
                match self {
                    $(Self::$name $({ $($field),* })? => $code,)*
                }
            }

            /// What to do about it.
            pub fn help(&self) -> Option<String> {
                match self {
                    $(Self::$name $({ $($field),* })? => None$(.or_else(|| Advice::text($advice)))?,)*
                }
            }
        }

        #[allow(unused_variables)]
        impl fmt::Display for Mistake {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$name $({ $($field),* })? => write!(f, $($message)*),)*
                }
            }
        }
    };
}

mistakes! {
    // A document of any kind.
    Unit { error: UnitError } = "unit", ("{error}");
    FileTooLarge { bytes: usize, most: usize } = "file-too-large", ("the file has {bytes} bytes, the most is {most}"),
        "an experiment is a page of text: is this the right file?";
    EmptyFile = "empty-file", ("the file is empty"),
        "begin with `plimsoll: 1`, a name, and see docs/experiment-file.md";
    Syntax { what: String } = "syntax", ("not YAML: {}", shortened_message(what)),
        if what.contains("tab") {
            "YAML is indented with spaces, never with tabs"
        } else {
            "look for a missing space behind a colon, a missing quote or bracket, or a line whose indentation differs from its neighbours"
        };
    SecondDocument = "second-document", ("a second YAML document begins here, and a file holds one experiment"),
        "put it into a file of its own";
    Tag { tag: String } = "tag", ("the tag {} has no meaning here", quoted(tag)),
        "remove it: what a value means follows from its key";
    AliasOfItself = "alias-of-itself", ("this alias refers to itself"),
        "remove the alias";
    TooDeep { most: usize } = "too-deep", ("lists and maps are nested more than {most} deep"),
        "no key of an experiment is nested that deep: look for repeated brackets";
    TooManyValues { most: usize } = "too-many-values", ("the file has more than {most} values, repeated ones counted each time"),
        "look for aliases that repeat each other";
    KeyNotText = "key-not-text", ("a key must be text"),
        "write the key as plain text, such as `name: value`";
    MergeKey = "merge-key", ("the merge key `<<` is not part of YAML 1.2"),
        "state what arms have in common once, under `defaults`";
    Twice { key: String } = "twice", ("{} is given twice", quoted(key)),
        "remove one of them";
    UnknownKey { key: String, valid: Vec<String> } = "unknown-key", ("unknown key {}", quoted(key)),
        nearest_or_all(key, valid, "keys here are");
    MissingKey { key: &'static str, example: &'static str } = "missing-key", ("the key `{key}` is missing"),
        format!("write for example `{key}: {example}`");
    MissingOneOf { keys: &'static [&'static str] } = "missing-one-of", ("one of {} is missing", list(keys, "and")),
        "write exactly one of them";
    Exclusive { first: String, second: String } = "exclusive", ("`{second}` and `{first}` exclude each other"),
        "remove one of them";
    WrongKind { expected: String, found: &'static str } = "wrong-kind", ("{found} is written here, where {expected} is expected");
    OutOfRange { value: String, least: String, most: String } = "out-of-range", ("{value} is out of range: at least {least}, at most {most}");
    NotOneOf { word: String, valid: Vec<String> } = "not-one-of", ("{} is not one of {}", quoted(word), few(valid)),
        did_you_mean(word, valid);
    NotA { word: String, what: &'static str, code: &'static str, help: String } = code, ("{} is not a {what}", quoted(word)),
        help.clone();
    BadName { name: String } = "bad-name", ("{} cannot be a name", quoted(name)),
        "names become file names and column headers: at most 40 characters of a-z, A-Z, 0-9, `-`, `_` and `.`, beginning with a letter or digit";
    BadText { most: usize } = "bad-text", ("a text here has at most {most} characters and no control characters");
    EntryCount { found: usize, least: usize, most: usize } = "entry-count", ("{}", entry_count(*found, *least, *most));
    Version { found: u64, known: u64 } = "version", ("the file is written for version {found} of the format, this program reads version {known}"),
        if found > known { "use a newer version of plimsoll".to_owned() } else { format!("write `plimsoll: {known}`") };
    // An experiment.
    SettingOfOtherEngine { key: String, owners: Vec<String>, engine: String } = "setting-of-other-engine", ("{} is a setting of {}, and the engine here is {engine}", quoted(key), owners.join(" and ")),
        "remove it, or name another engine";
    Repeated { value: String } = "repeated", ("{value} is in this list twice"),
        "remove one of them";
    EmptyRange { low: u64, high: u64 } = "empty-range", ("the lower end of this range, {low}, is above its upper end, {high}"),
        "write the smaller number first";
    LowNotBelowHigh { low: String, high: String } = "low-not-below-high", ("the lower end, {low}, is not below the upper end, {high}"),
        "write the lower one first";
    OneLevel { factor: String } = "one-level", ("factor {factor} has one level, so nothing varies"),
        "add a level, or write the key under `defaults`";
    UnnamedLevel { factor: String } = "unnamed-level", ("a level of {factor} is not one word or number, so it needs a name"),
        format!("write a map of levels by name, such as `{factor}: {{small: {{…}}, large: {{…}}}}`, each with keys of an arm");
    LevelName { text: String } = "level-name", ("{} cannot be the name of a level: only letters, digits and - _ . % + can", quoted(text)),
        "write a map of levels by name, each with keys of an arm";
    NoOrder { factor: String, text: String } = "no-order", ("the levels of {factor} have no order: {} is no amount that a range could begin or end at", quoted(text)),
        "write a list of levels";
    FactorsOverlap { key: String, factors: [String; 2] } = "factors-overlap", ("two factors, {} and {}, both set `{key}`", factors[0], factors[1]),
        "let one of them set it, or make one factor of both";
    TooManyCells { levels: Vec<usize>, most: usize } = "too-many-cells", ("{} are {} cells, the most is {most}", products(levels), levels.iter().map(|count| *count as u64).product::<u64>()),
        "remove levels, leave out combinations with fewer levels, or use `design: screening` with two levels of each factor";
    GivenTwice { factor: String, path: String } = "given-twice", ("the factor {factor} stands for `{path}`, which is given as well"),
        "remove one of them";
    UnknownCell { name: String, cells: Vec<String> } = "unknown-cell", ("there is no cell {}", quoted(name)),
        nearest_or_all(name, cells, "the cells are");
    UnknownFactor { name: String, factors: Vec<String> } = "unknown-factor", ("there is no factor {}", quoted(name)),
        nearest_or_all(name, factors, "the factors are");
    UnknownLevel { name: String, factor: String, levels: Vec<String> } = "unknown-level", ("factor {factor} has no level {}", quoted(name)),
        nearest_or_all(name, levels, "its levels are");
    LevelLeftOut { factor: String, level: String } = "level-left-out", ("`except` leaves out all cells with {factor} {level}"),
        "remove the level, or leave out less";
    NotTwoLevels { factor: String, levels: usize, design: String } = "not-two-levels", ("a {design} design takes factors of two levels, and {factor} has {levels}"),
        "keep two levels, or write `design: full`";
    RefineNotBelowStep { refine: String, step: String } = "refine-not-below-step", ("`refine` must be more than 0 and less than the {step} between two levels, and is {refine}"),
        "write how far apart two levels may be in the end";
    TwoRefined { factors: [String; 2] } = "two-refined", ("both {} and {} have `refine`: scouting looks along one axis", factors[0], factors[1]),
        "remove one of them, and refine the other in an experiment of its own";
    RefineOfDesign { factor: String } = "refine-of-design", ("{factor} has `refine`, which adds levels, and this design takes two"),
        "remove `refine`, or write `design: full`";
    ExceptOfDesign = "except-of-design", ("`except` belongs to the full design: others choose their cells themselves"),
        "remove `except`, or write `design: full`";
    NoSuchDesign { design: String, factors: usize } = "no-such-design", ("there is no {design} design of {}", counted(*factors, "factor")),
        if design == "screening" {
            "screening takes 6 to 23 factors: with fewer, write `design: full` or a fraction such as `1/2`"
        } else {
            "it would mix up main effects, or have more than 256 cells: write a larger or a smaller fraction"
        };
    NoFactors { key: &'static str } = "no-factors", ("`{key}` belongs to `factors`, and this file lists its arms"),
        "remove it, or write `factors` instead of `arms`";
    NothingAsked = "nothing-asked", ("no load: add `load:`, or an `objective:` to search for the plimsoll line"),
        "write for example `load: {closed: {threads: [1, 2, 4]}}`, or an objective whose line is searched, such as `objective: {response: {p99: 10ms}}`";
    SearchOfStages = "search-of-stages", ("the line cannot be searched together with stages, which fix the rate at every moment"),
        "remove the search, or put the stages into an experiment of their own";
    NoLine { what: String } = "no-line", ("{what} needs the plimsoll line, and nothing searches it"),
        "write an objective, such as `objective: {response: {p99: 10ms}}`, and leave its `search` on";
    EventsNeedOpenLoop = "events-need-open-loop", ("events need an open loop, with rates that the file gives, and nothing else"),
        "write `load: {open: {rates: [1k]}}`, remove the closed loop, and set `search: false` in an objective";
    EventsUnseen { arm: String } = "events-unseen", ("arm {arm} has `data_integrity`, so every update writes the same value again, and a lost one could not be seen"),
        "remove `data_integrity`: acknowledged records are read back anyway";
    EventAfterEnd { last_ns: u64, measured_ns: u64 } = "event-after-end", ("this event ends at {}, but a point is measured for {}", units::duration(*last_ns), units::duration(*measured_ns)),
        "make it earlier or shorter, or `measurement: {duration: …}` longer";
    EventWithoutServer { arm: String, engine: String } = "event-without-server", ("events need a server that plimsoll starts, and arm {arm} ({engine}) has none"),
        "measure a server that plimsoll starts: `engine: mongodb` without `uri`";
    EventOfOneMember { arm: String, needs: &'static str } = "event-of-one-member", ("{needs} needs several members, but the server of arm {arm} is one process"),
        "write `server: {members: 3}`";
    EventWithoutDisk { arm: String } = "event-without-disk", ("this event needs an emulated disk, and arm {arm} has none"),
        "write `disk: gp3` or another disk in `defaults`: `plimsoll disk presets` lists some";
    EventWithoutCredits { disk: String } = "event-without-credits", ("there are no burst credits to take away: {disk} has no `burst`"),
        "remove this event, or use a disk with burst credits, such as gp2";
    EventsOverlap { first_ns: u64, until_ns: u64, second_ns: u64 } = "events-overlap", ("events of the disk overlap: one lasts from {} to {}, and another begins at {}", units::duration(*first_ns), units::duration(*until_ns), units::duration(*second_ns)),
        "move one of them or make it shorter: a disk does one such thing at a time";
    EventOfNoDisk = "event-of-no-disk", ("a timeline holds only what `disk` does"),
        "write `disk: {…}` and what the disk is to do; `plimsoll disk cut` cuts the power of a mounted disk";
    PowerCutsTwice = "power-cuts-twice", ("the power can fail by one event only"),
        "write one `power_cut`; with `every: 5s` the power fails again and again";
    PowerCutsWithoutServer { arm: String } = "power-cuts-without-server", ("an embedded engine ends with the first power cut, and arm {arm} has one: `every` needs a server"),
        "remove `every`, or measure `engine: mongodb`";
    EventKeyAlone { key: &'static str, of: &'static str } = "event-key-alone", ("`{key}` needs `{of}`, which is missing"),
        format!("write `{of}` as well, or remove `{key}`");
    EventOfNothing = "event-of-nothing", ("this event does nothing"),
        "remove it, or write `true`";
    FoundInPauses = "found-in-pauses", ("sessions cannot be found by a closed loop with `think_time` or `target`: its throughput says nothing about the sessions that an open loop needs"),
        "write a number of sessions, or remove `think_time` and `target`";
    LooksTooEarly { at_least: u32, least: u32 } = "looks-too-early", ("a check after {at_least} blocks cannot end the experiment: below {least} blocks there is no 95 % interval"),
        format!("write `at_least: {least}` or more: with 5 blocks, even the clearest difference arises by chance 6 times in 100");
    FewerThanAtLeast { at_most: u32, at_least: u32 } = "fewer-than-at-least", ("`at_most: {at_most}` is less than `at_least: {at_least}`"),
        "raise `at_most`, or lower `at_least`";
    LooksAtNothing = "looks-at-nothing", ("with one arm there is no comparison, so no interval to check"),
        "write a number of blocks, or a second arm";
    ControlsOfCells = "controls-of-cells", ("controls are copies of one baseline, and an experiment with factors has one for each combination"),
        "write the two arms in question as `arms`, or remove the controls";
    GateOfSeveral { arms: usize } = "gate-of-several", ("a gate compares two versions of one arm, and this file has {arms} arms"),
        "leave one arm in the file: `plimsoll gate` derives the other from it, or takes it from a second file";
    NoDuet { why: String } = "no-duet", ("duets are not possible here: {why}"),
        "change that, or remove `pairing` (and --duet): then the arms run in turn, each on the whole machine";
    NoPrice { arms: Vec<String> } = "no-price", ("cost is requested, but {} no price", have(arms)),
        "write for example `price: {per_hour: 0.07, currency: USD}` in each arm, or name a published `machine`";
    Currencies { prices: Vec<String> } = "currencies", ("cost is requested, but the prices are in different currencies: {}", prices.join(", ")),
        "write all prices in one currency: there are no exchange rates in this program";
    NoRecords { arm: String } = "no-records", ("the amount of data is missing"),
        "write `records: 100k` or `size: 100MB` under `workload`, or in every arm";
    SizeBelowRecord { size: String, record_bytes: f64 } = "size-below-record", ("{size} holds not even one record of {} on average", decimal_bytes(*record_bytes)),
        "raise the size, or write `records` instead";
    File { path: String, reason: String } = "file", ("{} cannot be read: {reason}", quoted(path)),
        "paths are relative to the folder of the experiment file";
    Properties { path: String, reason: String } = "properties", ("{}: {reason}", quoted(path)),
        "an experiment takes records and one mix from it, as in workloads/workloada";
    Histogram { path: String, reason: String } = "histogram", ("{}: {reason}", quoted(path));
    Workload { what: String } = "workload", ("{what}");
    Load { what: String } = "load", ("{what}");
    DurationOfStages = "duration-of-stages", ("with stages, `duration` has no meaning: their steps set it"),
        "remove it, or change the durations of the stages";
    WarmUpOfStages { warm_up_ns: u64, stages_ns: u64 } = "warm-up-of-stages", ("the warm-up of {} takes all of the stages, which last {}", units::duration(*warm_up_ns), units::duration(*stages_ns)),
        "with stages, the warm-up is their beginning: shorten it, or begin with a longer stage";
    CacheLargerThanMemory { cache: u64, memory: u64 } = "cache-larger-than-memory", ("the cache of {} does not fit into this machine's memory of {}", units::size(*cache), decimal_bytes(*memory as f64)),
        format!(
        "leave room for the program and the page cache: at most about {} here",
        decimal_bytes(*memory as f64 * 0.8)
        );
    Unfit { setting: &'static str, engine: &'static str, reason: String } = "unfit", ("`{setting}` does not suit the engine `{engine}`: {reason}"),
        "change it, or the setting that it has to suit";
    TooMany { what: &'static str, found: u64, most: u64 } = "too-many", ("{what} would be {found}, the most is {most}"),
        "split it into several experiments";
    TooManyDue { load: String, found: u64, most: u64 } = "too-many-due", ("{load} for this long is {found} operations, the most of one point is {most}"),
        "shorten the measurement, or lower the rate";
    EmptyObjective = "empty-objective", ("the objective names no metric"),
        "state what must hold, for example `response: {p99: 10ms}`";
    UnknownArm { name: String, arms: Vec<String> } = "unknown-arm", ("there is no arm {}", quoted(name)),
        nearest_or_all(name, arms, "the arms are");
    UnknownHost { name: String, hosts: Vec<String> } = "unknown-host", ("there is no host {}", quoted(name)),
        if hosts.is_empty() {
            "add it to `hosts` with the way to reach it, for example `hosts: {db1: {ssh: root@db1.example}}`".to_owned()
        } else {
            nearest_or_all(name, hosts, "the hosts are")
        };
    HostWithoutRole { name: String, role: &'static str } = "host-without-role", ("host {name} does not have the role {role}"),
        format!("add {role} to its `roles`, or name another host");
    NoIpAddress { text: String } = "no-ip-address", ("{} is not the IPv4 address of a machine", quoted(text)),
        "write it in numbers, such as 10.0.0.2";
    HostWithoutAddress { arm: String, host: String } = "host-without-address", ("the load of arm {arm} comes from other machines than {host}, where its server runs, and the address of {host} is not known"),
        if host == "controller" {
            "name the machine under `hosts` with its `address`, and run the arm `on` it; or remove `load_hosts`".to_owned()
        } else {
            format!("write its address under `hosts: {host}`, such as `address: 10.0.0.2`; or let {host} alone generate the load: `load_hosts: [{host}]`")
        };
    EventsFromSeveralHosts { hosts: usize } = "events-from-several-hosts", ("the load comes from {hosts} hosts, but events need one: only a single load host knows everything that was acknowledged"),
        "name one host in `load_hosts`, or remove the events";
    RelativeElsewhere { path: String, host: String } = "relative-elsewhere", ("{} is relative to the folder of this file, but the arm runs on {host}", quoted(path)),
        "write the absolute path on that host";
    UnknownMix { name: String, mixes: Vec<String> } = "unknown-mix", ("there is no mix {}", quoted(name)),
        nearest_or_all(name, mixes, "the mixes are");
    UnknownOperation { name: String, mix: Option<String>, operations: Vec<String> } = "unknown-operation", ("{} {}", mix.as_ref().map_or_else(|| "no mix has an operation".to_owned(), |mix| format!("mix {} has no operation", shortened(mix))), quoted(name)),
        nearest_or_all(name, operations, "the operations are");
    NotOfOperation { metric: String } = "not-of-operation", ("{metric} is not known for one operation"),
        "remove the operation, or name throughput, response.mean, or a percentile such as response.p99 or service.p99";
    TwoOperations = "two-operations", ("an operation is named twice"),
        "remove `operation`, or the words from `of` on";
    NotAPoint { at: String, points: Vec<String> } = "not-a-point", ("{at} is no point of this load"),
        format!("points of this load: {}", few(points));
    BadThreshold { text: String } = "bad-threshold", ("{} is not a threshold", quoted(text)),
        "write a metric, >= or <=, and a bound, such as `throughput >= 10k` or `response.p99 <= 5ms`";
    ThresholdBeyondOffered { text: String, point: String } = "threshold-beyond-offered", ("{} cannot hold at {point}, where the offered rate is lower", quoted(text)),
        format!("limit it to another load, such as `{{metric: {text}, at: {{threads: 16}}}}`, or lower the bound");
    SameArm = "same-arm", ("an arm cannot be compared with itself"),
        "write the names of two arms, the baseline first";
    UnknownScale { name: String, scales: Vec<String> } = "unknown-scale", ("there is no scale {}", quoted(name)),
        nearest_or_all(name, scales, "the scales are");
    OwnScale { name: &'static str } = "own-scale", ("the file as written is the scale `{name}`"),
        "choose another name";
    RatioOutOfRange = "ratio-out-of-range", ("a ratio is more than 0 and at most 1"),
        "write for example `ratio: 1/20`, or `5%`";
    FlagOutOfRange { flag: &'static str, value: String, least: String, most: String } = "flag-out-of-range", ("{flag} {value} is out of range: at least {least}, at most {most}");
    // Disks, filesystems, limits, machines, prices, servers and working sets.
    UnknownPreset { what: &'static str, name: String, presets: Vec<String> } = "unknown-preset", ("there is no {what} {}", quoted(name)),
        nearest_or_all(name, presets, "the presets are");
    DiskFile { reason: String } = "disk-file", ("the file of the disk has a mistake: {reason}"),
        "such a file has the keys of `disk`, such as `iops: 600`; `plimsoll disk clone` writes one";
    DiskWithoutData { engine: &'static str } = "disk-without-data", ("the engine {engine} keeps no data on a disk"),
        "remove the disk, or name another engine";
    FilesystemWithoutDisk = "filesystem-without-disk", ("there is no disk to make a filesystem on"),
        "name a disk, for example `disk: gp3`; a plain directory has the filesystem that it lies on";
    EraseMissing = "erase-missing", ("everything on this device would be lost, and `erase: true` is missing"),
        "write `erase: true` only when you are sure of the device";
    EraseWithoutDevice = "erase-without-device", ("an emulated disk holds nothing that could be lost"),
        "remove `erase`";
    DeviceName { path: String } = "device-name", ("{} is not a stable name of a device", quoted(path)),
        "use a name under /dev/disk/by-id or another /dev/disk/by-*: `ls -l /dev/disk/by-id` shows them";
    FigureOfDevice { key: String } = "figure-of-device", ("`{key}` has no effect on a device, whose speed is its own"),
        "remove it, or describe an emulated disk";
    DeviceNotHere = "device-not-here", ("a device cannot be described here"),
        "give the name of a preset, or figures such as {iops: 600, latency: 7ms}";
    ReadaheadWithoutDisk = "readahead-without-disk", ("`readahead` needs a disk"),
        "name a disk, for example `disk: gp3`; the device under a plain directory is left alone";
    SchedulerWithoutDisk = "scheduler-without-disk", ("`scheduler` needs a disk"),
        "name a disk, for example `disk: gp3`; the device under a plain directory is left alone";
    NotInSteps { step: &'static str } = "not-in-steps", ("this is no multiple of {step}, in which the kernel counts"),
        format!("write a multiple of {step}");
    NotBlocks { size: String } = "not-blocks", ("{size} is no multiple of 4096 bytes"),
        "write it in KiB, MiB or GiB";
    DiskBelowData { capacity_bytes: u64, arm: String, needed_bytes: u64 } = "disk-below-data", ("the disk of {} is too small: the data of arm {} needs at least {}", units::size(*capacity_bytes), quoted(arm), decimal_bytes(*needed_bytes as f64)),
        "remove `capacity` to get enough, or store less";
    PercentileBelowMedian { median_ns: u64, p99_ns: u64 } = "percentile-below-median", ("the 99th percentile, {}, is below the median, {}", units::duration(*p99_ns), units::duration(*median_ns)),
        "write the shorter one as `median`";
    TableNotAscending { lower: f64, upper: f64 } = "table-not-ascending", ("p{upper} is shorter than p{lower}"),
        "a higher percentile takes at least as long";
    BurstBelowDisk { burst_iops: f64, iops: f64 } = "burst-below-disk", ("the burst of {} is slower than the disk without it, {}", units::rate(*burst_iops), units::rate(*iops)),
        "remove the burst, or raise its `iops`";
    BurstWithoutRefill = "burst-without-refill", ("the refill rate of the credits is unknown: the disk has no `iops`"),
        "write `iops` for the disk, or `refill` for the burst";
    MoreThanMachine { what: &'static str, requested: String, has: String } = "more-than-machine", ("{requested} {what} are requested, but this machine has {has}"),
        "stay within what this machine has, for example `limits: {memory: 1GiB, cpus: 1}`";
    NoProcessor { number: u64, cores: u32 } = "no-processor", ("there is no processor {number}"),
        match cores {
            1 => "this machine has only processor 0".to_owned(),
            _ => format!("this machine has the processors 0 to {}", cores - 1),
        };
    MemoryAndPageCache = "memory-and-page-cache", ("`memory` and `page_cache` both limit the memory"),
        "keep one: `memory` limits everything together, `page_cache` the page cache alone";
    MemoryBelowCache { memory_bytes: u64, cache_bytes: u64, besides: u64, members: u32, needed_bytes: u64 } = "memory-below-cache", ("{} of memory are too little for {}", units::size(*memory_bytes), caches(*members, *cache_bytes)),
        format!(
        "{} its cache and {} besides: at least {}{}, the rest is page cache",
        if *members == 1 { "the engine needs" } else { "each member needs" },
        units::size(*besides),
        units::size(*needed_bytes),
        if *members == 1 { "" } else { " together" }
        );
    BadCurrency { currency: String } = "bad-currency", ("{} is no currency", quoted(currency)),
        "write its three letters, such as USD or EUR";
    BadDate { date: String } = "bad-date", ("{} is no date", quoted(date)),
        "write for example 2014-09 or 2014-09-30";
    PriceWithout { key: &'static str } = "price-without", ("the price has no `{key}`"),
        "write for example `price: {per_hour: 0.07, currency: USD}`";
    ServerOfEmbedded { engine: &'static str } = "server-of-embedded", ("the engine {engine} runs in this program, without a server"),
        "remove `server`, or name an engine that is a server, such as mongodb";
    ServerBesideUri = "server-beside-uri", ("`uri` names a running server, so there is none to start"),
        "remove `server`, or remove `uri`";
    SettingOfManaged { key: String } = "setting-of-managed", ("`{key}` applies to a server that plimsoll starts, but `uri` names a running one"),
        "remove it; or remove `uri`, so that a server is started";
    ServerWithout { server: String, key: String } = "server-without", ("the server {server} takes no `{key}`"),
        "remove it, or name another server";
    ServerOfOne { server: String, key: &'static str } = "server-of-one", ("the server {server} is one process, so `{key}` is not possible"),
        "remove it, or name another server, such as mongod";
    MembersWithoutSet { members: u32 } = "members-without-set", ("{members} members without a replica set would know nothing of each other"),
        "remove `replica_set`, or write `members: 1`";
    SetByArgument { argument: String } = "set-by-argument", ("{} makes the server wait until its replica set is initiated", quoted(argument)),
        "remove it, and write `server: {members: 3}`, or `server: {replica_set: true}` for a set of one: plimsoll then initiates the set";
    NotOurServer { key: &'static str } = "not-our-server", ("`{key}` is not possible for a running server, whose machine is not ours to change"),
        "remove it; or remove `uri`, so that a server is started as the arm describes";
    RunsOnOneCollection { runs: u64 } = "runs-on-one-collection", ("{runs} runs would be made on the same collection of this server, and the second would refuse the documents of the first"),
        "write `existing: drop`, which drops before each run what this program loaded, or `existing: use` to measure the existing documents";
    NotLoadedOnce { arm: String, why: &'static str } = "not-loaded-once", ("the data of arm {} cannot be stored once and copied: {why}", quoted(arm)),
        "remove `once`";
    CachesNotOurs { arm: String, why: &'static str } = "caches-not-ours", ("the caches of arm {} cannot be emptied: {why}", quoted(arm)),
        "remove `caches`, or measure a single server that plimsoll starts";
    InsertsIntoExisting { mix: String } = "inserts-into-existing", ("`existing: use` measures existing documents, and the operations of `{mix}` would insert others beside them"),
        "choose operations that insert nothing; or write `insert_into_existing: true` beside it, if documents of this program may stay there";
    UpsertsExisting = "upserts-existing", ("`existing: use` with `upsert: true` would replace existing documents"),
        "remove `upsert`";
    FilesystemOption { kind: FilesystemKind, program: &'static str, option: String } = "filesystem-option", ("{} is not an allowed {program} option for {}", quoted(option), kind.name()),
        format!(
            "mkfs and mount run as root, so options that name a path or a device are refused; allowed: {}",
            if *program == "mkfs" { kind.mkfs_allows().join(", ") } else { kind.mount_allows().join(", ") }
        );
    WorkingSetWithoutCache { engine: &'static str } = "working-set-without-cache", ("the engine {engine} has no cache that the data could be a share of"),
        "write `records` or `size` instead";
    NotMeasured { reason: String } = "not-measured", ("the size of a record on disk could not be measured: {reason}"),
        "write `records` or `size` instead";
    WorkingSetOutOfRange { share: String, usable_bytes: u64, records: String } = "working-set-out-of-range", ("{share} of {} are {records} records", decimal_bytes(*usable_bytes as f64)),
        "choose another share, or another cache";
}

impl From<UnitError> for Mistake {
    fn from(error: UnitError) -> Self {
        Self::Unit { error }
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

/// A parser's message in our manner: it may quote what the file holds.
fn shortened_message(message: &str) -> String {
    message.chars().take(200).map(|c| if c.is_control() { '?' } else { c }).collect()
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

/// The caches of a server, in words.
fn caches(members: u32, cache_bytes: u64) -> String {
    let size = units::size(cache_bytes);
    match members {
        1 => format!("a cache of {size}"),
        _ => format!("{members} members with a cache of {size} each"),
    }
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
