//! Warnings are data: stable ids, kept with the record and shown by every output.

use serde::{Deserialize, Serialize};

/// How much a warning weighs.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth knowing; numbers stand.
    Note,
    /// Numbers stand, with this beside them.
    Caution,
    /// The numbers that it concerns are not valid.
    Invalid,
}

macro_rules! warnings {
    ($($(#[$doc:meta])* $name:ident = $id:literal, $severity:ident, $advice:literal;)*) => {
        /// The stable id of a warning.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
        )]
        pub enum WarningId {
            $($(#[$doc])* #[serde(rename = $id)] $name,)*
        }

        impl WarningId {
            /// Every id, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The text form, which never changes.
            #[must_use]
            pub fn id(self) -> &'static str {
                match self { $(Self::$name => $id,)* }
            }

            /// How much it weighs.
            #[must_use]
            pub fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity,)* }
            }

            /// What to do about it.
            #[must_use]
            pub fn advice(self) -> &'static str {
                match self { $(Self::$name => $advice,)* }
            }
        }
    };
}

warnings! {
    /// Sessions times time does not equal operations times response time.
    LittlesLaw = "W-LITTLES-LAW", Invalid,
        "the numbers of this point contradict each other: look for a generator that cannot keep up, or for a clock that jumped";
    /// The generator, not the engine, took most of the time.
    GeneratorLimited = "W-GENERATOR-LIMITED", Invalid,
        "the load generator was the limit: use more sessions, a lower rate, or give the generator more CPU";
    /// The generator of an open loop was late by more than its sessions had room for, or stood still.
    GeneratorLate = "W-GENERATOR-LATE", Caution,
        "response times may be longer than the arm's own; the throughput stands: use more sessions, or give the generator more CPU";
    /// Operations failed.
    Errors = "W-ERRORS", Invalid,
        "operations failed: read the first messages in the record, mend the cause, or allow errors in the objective";
    /// An open loop did not achieve the rate that was asked.
    RateNotAchieved = "W-RATE-NOT-ACHIEVED", Caution,
        "the arm cannot sustain this rate: its waiting line grew; ask for less to see a steady latency";
    /// Some operations were due and unfinished at the end, so that a percentile is only a lower bound.
    CensoredTail = "W-CENSORED-TAIL", Caution,
        "percentiles marked with the sign for at least are lower bounds: measure for longer, or ask for a lower rate";
    /// The series has not settled.
    NotSteady = "W-NOT-STEADY", Caution,
        "the series had not settled when it ended: lengthen the warm-up and the duration";
    /// Too few slices to say whether the series has settled.
    SteadinessUnknown = "W-STEADINESS-UNKNOWN", Note,
        "fewer than 10 slices: measure for at least 10 s a point to have steadiness judged";
    /// 3 s or more in which nothing completed, at a rate above 10/s; or 10 s or more below half of the mean throughput.
    Stall = "W-STALL", Caution,
        "look at what the engine and the disk did in the marked span";
    /// Too few operations for the upper percentiles.
    FewOperations = "W-FEW-OPERATIONS", Note,
        "too few operations for a bound on this percentile: measure for longer";
    /// Fewer blocks than a verdict needs.
    FewBlocks = "W-FEW-BLOCKS", Caution,
        "without so many blocks there is no verdict, 8 is the default: run the experiment again with more";
    /// A run failed or was cut off and is missing from the comparison.
    RunFailed = "W-RUN-FAILED", Invalid,
        "read the message of the run, mend the cause and start the same file again: only the missing runs are repeated";
    /// A run was interrupted; what it measured is kept but not compared.
    RunInterrupted = "W-RUN-INTERRUPTED", Note,
        "start the same file again: only the missing runs are repeated";
    /// After the load the engine holds another number of records than asked.
    RecordCount = "W-RECORD-COUNT", Invalid,
        "the load did not store what was asked: look at the errors of the load phase";
    /// Writes were sent without waiting for the server to acknowledge them.
    Unacknowledged = "W-UNACKNOWLEDGED", Caution,
        "with w:0 a write ends when the client's socket has taken it: its times and rates are those of the socket's buffer, not of the database";
    /// Reads found nothing where a record should be.
    NotFound = "W-NOT-FOUND", Caution,
        "records were missing: check that the load was complete and that no other program deletes";
    /// What the server had acknowledged was gone after the events of a point.
    WritesLost = "W-WRITES-LOST", Caution,
        "this is what the write concern of the arm allows: with w: majority no acknowledged write is lost when a primary dies";
    /// Records that were written could not be read after the events of a point.
    NotReadBack = "W-NOT-READ-BACK", Caution,
        "whether their last write is there is not known: look at the server's log, and measure again";
    /// Verified records held other data than expected.
    Verification = "W-VERIFICATION", Invalid,
        "the engine returned other data than was stored: do not trust this engine, its disk, or this program until it is explained";
    /// The machine is not set up for measuring.
    Machine = "W-MACHINE", Note,
        "plimsoll check lists what to change on this machine";
    /// Runs of one experiment were made on different machines or by different versions.
    MixedMachines = "W-MIXED-MACHINES", Caution,
        "runs made on different machines or versions are not comparable block by block: run the file again with --fresh";
    /// The hypervisor took CPU time.
    StolenCpu = "W-STOLEN-CPU", Caution,
        "the hypervisor gave the CPU to somebody else: repeat on a quieter host";
    /// Other programs used the processors: a note from 2 % of the machine, a caution from 5 %, invalid from 20 %.
    ForeignCpu = "W-FOREIGN-CPU", Caution,
        "stop the programs that are named, or wait until the machine is quiet: plimsoll run --wait-quiet 10m";
    /// The wall clock moved against the monotonic clock.
    ClockJumped = "W-CLOCK-JUMPED", Caution,
        "the wall clock was set during the run; durations are from the monotonic clock and stand, dates may not";
    /// Arms differ in something that is not the declared factor.
    OtherDifference = "W-OTHER-DIFFERENCE", Caution,
        "arms differ in more than the factor under test: state it in the file, or make them equal";
    /// A fixed task took longer in a block than in the others.
    Drift = "W-DRIFT", Caution,
        "the machine behaved differently during this block: pairs within a block stand, but look for what else ran then, and do not compare single blocks";
    /// A search for the plimsoll line found an end of its interval only.
    LineOpen = "W-LINE-OPEN", Caution,
        "the line is known from one side only, or not at all: widen `search.rates`, or change the objective";
    /// Prices that cannot be set against each other.
    Prices = "W-PRICES", Caution,
        "costs are compared in one currency and for arms with a price only: give every arm a price in the same currency";
    /// An emulated disk was not held against its description before it was measured with, or was found to be another one.
    DiskNotCalibrated = "W-DISK-NOT-CALIBRATED", Invalid,
        "the disk is not known to be what was asked: run plimsoll disk calibrate with it, on a quieter machine or with a slower disk, and measure again";
    /// Arms that differ in their disks were compared where hardly a request reached a disk.
    DiskUnreached = "W-DISK-UNREACHED", Caution,
        "this comparison says nothing of the disks: give the arms less memory, or more data, to see them";
    /// An emulated disk had no limits in seconds that were measured.
    DiskUnshaped = "W-DISK-UNSHAPED", Invalid,
        "the disk was faster than asked: run the experiment again; if it happens again, report it with the record";
    /// An emulated disk answered later than it should have.
    EmulatorLate = "W-EMULATOR-LATE", Caution,
        "the emulator itself made the disk slower: free a processor for it, or ask for a slower disk";
    /// An emulated disk did more than its limits allow.
    IdentityBroken = "W-IDENTITY-BROKEN", Caution,
        "throughput exceeds the limit of the disk over what an operation costs there: look for requests that went past the watched device, or for points too short to average";
    /// Processes filled the memory limit of the arm.
    MemoryLimit = "W-MEMORY-LIMIT", Caution,
        "the page cache had no room and the kernel may have ended a process: raise the memory limit, or make the engine's cache smaller";
    /// The data came out larger or smaller against the cache than asked.
    WorkingSet = "W-WORKING-SET", Note,
        "read results at the share that was got, not at the one that was asked; a larger sample of records before the load comes nearer";
    /// What is under test took more or less memory while it was measured than right after the load.
    PageCache = "W-PAGE-CACHE", Caution,
        "more or fewer reads reached the disk than was meant: give `limits: {memory: …}` by what was taken, which the page shows";
    /// Another program measured it, and its output does not say everything.
    Imported = "W-IMPORTED", Note,
        "what the output does not say is left open, and no gate that needs it was tried: measure with plimsoll run to have all of them";
    /// Nothing says that imported runs were made in blocks, side by side.
    Unpaired = "W-UNPAIRED", Caution,
        "drift between the runs counts as a difference between the arms: repeat both arms in one experiment, or say --paired where the runs were made in turns";
    /// Part of an imported file could not be read.
    ImportDamaged = "W-IMPORT-DAMAGED", Caution,
        "numbers are of the rest of the file: import the whole file, if there is one";
}

/// One warning with what it concerns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Warning {
    /// Which.
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
    /// A warning about `subject`.
    pub fn new(id: WarningId, subject: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            id,
            subject: subject.into(),
            message: message.into(),
            weight: None,
        }
    }

    /// The same with a weight of its own.
    #[must_use]
    pub fn weighing(self, weight: Severity) -> Self {
        Self {
            weight: Some(weight),
            ..self
        }
    }

    /// How much it weighs.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.weight.unwrap_or(self.id.severity())
    }
}
