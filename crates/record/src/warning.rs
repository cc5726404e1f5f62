//! Warnings are data: stable ids, kept with the record and shown by every output.

use serde::{Deserialize, Serialize};

/// How much a warning weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth knowing; the numbers stand as they are.
    Note,
    /// Numbers stand, with this beside them.
    Caution,
    /// The numbers that it concerns are not valid.
    Invalid,
}

macro_rules! warnings {
    ($($(#[doc = $meaning:literal])* $name:ident = $id:literal, $severity:ident, $advice:literal;)*) => {
        /// The stable id of a warning.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        pub enum WarningId {
            $($(#[doc = $meaning])* #[serde(rename = $id)] $name,)*
        }

        impl WarningId {
            /// Every id, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The text form, which never changes.
            pub fn id(self) -> &'static str {
                match self { $(Self::$name => $id,)* }
            }

            /// The lines of its documentation: what was seen.
            #[cfg(test)]
            pub(crate) fn meaning(self) -> String {
                let lines: &[&str] = match self { $(Self::$name => &[$($meaning),*],)* };
                lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
            }

            /// How much it affects what was measured.
            pub fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity,)* }
            }

            /// What to do about it.
            pub fn advice(self) -> &'static str {
                match self { $(Self::$name => $advice,)* }
            }
        }
    };
}

warnings! {
    /// Sessions × time does not equal operations × response time.
    LittlesLaw = "W-LITTLES-LAW", Invalid,
        "the figures of this point contradict each other: check whether the load generator kept up and whether a clock jumped";
    /// The load generator, not the engine, was the limit.
    GeneratorLimited = "W-GENERATOR-LIMITED", Invalid,
        "the load generator was the bottleneck: use more sessions or a lower rate, or give the generator more CPU";
    /// The generator of an open loop stood still, or fell further behind than its sessions could absorb.
    GeneratorLate = "W-GENERATOR-LATE", Caution,
        "response times may be longer than the arm's own; the throughput is valid: use more sessions, or give the generator more CPU";
    /// Operations failed, more than the objective allows.
    Errors = "W-ERRORS", Invalid,
        "operations failed: read the first error messages in the record, fix the cause, or allow errors in the objective";
    /// An open loop did not achieve the requested rate.
    RateNotAchieved = "W-RATE-NOT-ACHIEVED", Caution,
        "the arm cannot sustain this rate and its queue grew: request a lower rate to see a steady latency";
    /// Some operations were due but unfinished at the end, so a percentile is only a lower bound.
    CensoredTail = "W-CENSORED-TAIL", Caution,
        "percentiles marked \"at least\" are lower bounds: measure longer, or request a lower rate";
    /// The series did not reach a steady state.
    NotSteady = "W-NOT-STEADY", Caution,
        "the series had not settled when it ended: use a longer warm-up and duration";
    /// Too few slices to judge whether the series settled.
    SteadinessUnknown = "W-STEADINESS-UNKNOWN", Note,
        "measure at least 10 s per point to have steadiness judged";
    /// Nothing completed for 3 s or more at a rate above 10/s, or throughput stayed below half of its mean for 10 s or more.
    Stall = "W-STALL", Caution,
        "check what the engine and the disk did during the marked span";
    /// Throughput stood at two levels by turns, a factor of 2 apart or more.
    TwoStates = "W-TWO-STATES", Caution,
        "neither mean nor median is a state that it was in: read both levels, and give the caches more or less room than the data just needs";
    /// What had to be read from the disk for an operation still fell: what was measured is the filling of the caches.
    CacheFilling = "W-CACHE-FILLING", Caution,
        "begin when the caches are full: measurement: {caches: warm} fills them from a disk without limits, or a longer warm-up";
    /// The hit ratios of caches that were to be filled had not settled when the time for that was over.
    CachesNotWarm = "W-CACHES-NOT-WARM", Caution,
        "read the results as those of caches that still fill, or give them longer: measurement: {warm_within: 20m}";
    /// Too few operations for the upper percentiles.
    FewOperations = "W-FEW-OPERATIONS", Note,
        "too few operations for an interval of this percentile: measure longer";
    /// Fewer blocks than a verdict needs.
    FewBlocks = "W-FEW-BLOCKS", Caution,
        "a verdict needs at least 6 blocks: add --blocks 8";
    /// A run failed or was cut off and is missing from the comparison.
    RunFailed = "W-RUN-FAILED", Invalid,
        "read the run's error message, fix the cause and run the same file again: only the missing runs are repeated";
    /// A run was interrupted; its measurements are kept but not compared.
    RunInterrupted = "W-RUN-INTERRUPTED", Note,
        "run the same file again: only the missing runs are repeated";
    /// After the load, the engine holds a different number of records than requested.
    RecordCount = "W-RECORD-COUNT", Invalid,
        "the load stored the wrong number of records: look at the errors of the load phase";
    /// Writes were sent without waiting for acknowledgement.
    Unacknowledged = "W-UNACKNOWLEDGED", Caution,
        "with w:0 a write ends when the client's socket accepts it: its times and rates are those of the socket buffer, not of the database";
    /// Reads found nothing where a record should be.
    NotFound = "W-NOT-FOUND", Caution,
        "records were missing: check that the load was complete and that no other program deletes records";
    /// More than half of the calls of an application's operation found nothing, although each must find something.
    ReturnsNothing = "W-RETURNS-NOTHING", Invalid,
        "the operation was measured on documents that are not there: check its filter, the fields that it draws from and the load, or state that it may find nothing";
    /// An operation of an application reads a whole collection of more than 1,000 documents.
    CollectionScan = "W-COLLECTION-SCAN", Caution,
        "no index serves this operation, so its time grows with the collection: give the collection an index on the fields of its filter, or compare arms with and without one";
    /// An operation of an application examines more than 100 documents for each that it finds, or sorts more than 1,000 in memory.
    Examined = "W-EXAMINED", Caution,
        "most of the work of this operation is wasted: an index on all fields of its filter, followed by those of its sort, examines only what is found";
    /// The server's plan for an operation was another one later, or in another run.
    PlanChanged = "W-PLAN-CHANGED", Caution,
        "runs with different plans measure different things: name the index with `hint`, or drop the index that competes with it";
    /// Documents were 20 % longer, or more, after the last point than after the load.
    Growing = "W-GROWING", Caution,
        "each point measured longer documents than the one before: limit what grows ($push with $slice), or measure one point per run";
    /// The indexes in use are larger than the engine's cache.
    IndexesOutgrow = "W-INDEXES-OUTGROW", Caution,
        "keys of indexes are read from the disk as well: give the engine a larger cache, or drop indexes that nothing uses";
    /// Dates of inserted documents run at less than 0.8 or more than 1.2 times the speed of the wall clock.
    DataClock = "W-DATA-CLOCK", Caution,
        "what expires, and how many documents lie in a span of dates, is not as in production: let the rate of inserts be one document for each `every` of the date";
    /// A bucket of a time series holds fewer than 10 measurements.
    Buckets = "W-BUCKETS", Caution,
        "most of what is stored and read is the buckets themselves: choose a `meta` with fewer values, a coarser `granularity`, or insert measurements in the order of their time";
    /// Acknowledged writes were gone after the events of a point.
    WritesLost = "W-WRITES-LOST", Caution,
        "the arm's settings allow this: with w: majority no acknowledged write is lost when a primary dies, with j: true none when the power fails";
    /// A power cut left a filesystem that could not be mounted, or a database that could not be opened.
    Unusable = "W-UNUSABLE", Caution,
        "a disk that keeps its promises must not do this to the arm: look at mount options such as `nobarrier`, and at the log of the server";
    /// Written records could not be read after the events of a point.
    NotReadBack = "W-NOT-READ-BACK", Caution,
        "whether their last write survived is unknown: check the server's log and measure again";
    /// Verified records held unexpected data, or an application's operation found another number of documents than there are.
    Verification = "W-VERIFICATION", Invalid,
        "the engine returned data that was never stored, or not all that was: trust neither the engine, its disk nor this program until this is explained";
    /// The machine is not set up for measuring.
    Machine = "W-MACHINE", Note,
        "plimsoll check lists what to change on this machine";
    /// Runs of one experiment were made on different machines or by different versions.
    MixedMachines = "W-MIXED-MACHINES", Caution,
        "runs from different machines or versions cannot be compared block by block: run the file again with --fresh";
    /// The hypervisor took CPU time.
    StolenCpu = "W-STOLEN-CPU", Caution,
        "the hypervisor gave CPU time to other guests: repeat on a quieter host";
    /// Other programs used the processors: a note from 2 % of the machine, a caution from 5 %, invalid from 20 %.
    ForeignCpu = "W-FOREIGN-CPU", Caution,
        "stop these programs, wait until the machine is quiet (plimsoll run --wait-quiet 10m), or keep to processors that they leave idle (taskset -c 0 plimsoll run)";
    /// The wall clock moved relative to the monotonic clock.
    ClockJumped = "W-CLOCK-JUMPED", Caution,
        "the wall clock was set during the run: durations use the monotonic clock and are valid, dates may be wrong";
    /// How the clock of a host stands to the controller's is known to no better than 1 ms.
    ClockBound = "W-CLOCK-BOUND", Caution,
        "seconds of different hosts may be that far apart: use a nearer network with fewer hops; latencies are valid, each is measured on one host";
    /// Hosts of a closed loop began more than 1 ms apart: a caution where that lasted into the measured part.
    StartSkew = "W-START-SKEW", Note,
        "the hosts did not begin together: use a warm-up longer than this, and check what kept the late host busy";
    /// One of several load hosts did more or less than the others.
    HostsDiffer = "W-HOSTS-DIFFER", Note,
        "percentiles are those of the whole load: check the slower host's processors, other programs and network, or use load hosts of one kind";
    /// Arms differ in something other than the declared factor.
    OtherDifference = "W-OTHER-DIFFERENCE", Caution,
        "arms differ in more than the factor under test: declare the difference in the file, or remove it";
    /// In duets: the halves of the machine are not alike.
    UnequalHalves = "W-UNEQUAL-HALVES", Caution,
        "the comparison takes that out, as far as both arms had both halves; without duets the arms run in turn, each on the whole machine";
    /// A slow-down that was planted in a control, and that matters, was not found.
    ControlMissed = "W-CONTROL-MISSED", Caution,
        "an arm that is as much slower would not be found either: use more blocks, longer points, or duets";
    /// A copy of the baseline was called different.
    FalseAlarm = "W-FALSE-ALARM", Caution,
        "a false alarm comes in 5 of 100 comparisons by chance: if it comes again, something other than the arms differs between the runs of a block";
    /// A fixed task took longer in one block than in the others.
    Drift = "W-DRIFT", Caution,
        "the machine's speed changed around this block, so its arms may have had different machines: the interval over all blocks takes that in, this block alone proves nothing; check what else ran at that time";
    /// More than ten minutes passed between two runs of one block.
    SplitBlock = "W-SPLIT-BLOCK", Caution,
        "comparisons in this block span the pause: whatever changed on the machine meanwhile counts as a difference between arms; for a verdict, run whole blocks";
    /// A search for the plimsoll line found only one end of its interval.
    LineOpen = "W-LINE-OPEN", Caution,
        "the line is bounded on one side only, or not at all: widen `search.rates`, or change the objective";
    /// Prices differ in currency or date, so that costs cannot be compared.
    Prices = "W-PRICES", Caution,
        "costs are compared in one currency and only for arms with a price: give every arm a price in the same currency";
    /// An emulated disk was not verified against its description before measuring, or missed it.
    DiskNotCalibrated = "W-DISK-NOT-CALIBRATED", Invalid,
        "the disk may not behave as described: run plimsoll disk calibrate on a quieter machine or with a slower disk, then measure again";
    /// Arms with different disks were compared while hardly a request reached a disk.
    DiskUnreached = "W-DISK-UNREACHED", Caution,
        "this comparison says nothing about the disks: give the arms less memory or more data";
    /// An emulated disk ran without its limits during measured seconds.
    DiskUnshaped = "W-DISK-UNSHAPED", Invalid,
        "the disk was faster than described: run the experiment again; if it happens again, report it with the record";
    /// An emulated disk answered later than it should have.
    EmulatorLate = "W-EMULATOR-LATE", Caution,
        "the emulator itself slowed the disk down: free a processor for it, or use a slower disk";
    /// An emulated disk did more than its limits allow.
    IdentityBroken = "W-IDENTITY-BROKEN", Caution,
        "throughput exceeds the disk's limit divided by requests per operation: check for requests that bypassed the watched device, or for points too short to average";
    /// Processes reached the arm's memory limit.
    MemoryLimit = "W-MEMORY-LIMIT", Caution,
        "the page cache had no room and the kernel may have ended a process: raise the memory limit, or shrink the engine's cache";
    /// The data is a larger or smaller share of the cache than requested.
    WorkingSet = "W-WORKING-SET", Note,
        "read the results at the measured share, not the requested one; a larger record sample before the load gets closer";
    /// The system under test used more or less memory while measuring than right after the load.
    PageCache = "W-PAGE-CACHE", Caution,
        "more or fewer reads reached the disk than intended: set `limits: {memory: …}` from the measured use, which the page shows";
    /// Another program measured this, and its output does not report everything.
    Imported = "W-IMPORTED", Note,
        "missing values stay open, and gates that need them were not applied: measure with plimsoll run to apply them all";
    /// Nothing shows that imported runs were made in blocks, side by side.
    Unpaired = "W-UNPAIRED", Caution,
        "drift between the runs counts as a difference between the arms: repeat both arms in one experiment, or pass --paired if the runs alternated";
    /// Part of an imported file could not be read.
    ImportDamaged = "W-IMPORT-DAMAGED", Caution,
        "the figures cover the rest of the file: import the complete file if it exists";
}

/// One warning with what it concerns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Warning {
    /// The stable id of this warning.
    pub id: WarningId,
    /// What it concerns, in the words of the experiment: an arm, a point, a run. Empty for the whole experiment.
    pub subject: String,
    /// What was seen, with its figures.
    pub message: String,
    /// How much it weighs, where that depends on the figures and not on the id alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<Severity>,
}

impl Warning {
    /// A warning about `subject`, which names arm, mix and load.
    pub fn new(id: WarningId, subject: impl Into<String>, message: impl Into<String>) -> Self {
        Self { id, subject: subject.into(), message: message.into(), weight: None }
    }

    /// The same with a weight of its own.
    pub fn weighing(self, weight: Severity) -> Self {
        Self { weight: Some(weight), ..self }
    }

    /// How much it affects what was measured.
    pub fn severity(&self) -> Severity {
        self.weight.unwrap_or(self.id.severity())
    }
}
