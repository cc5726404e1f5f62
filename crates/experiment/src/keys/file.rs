//! The file: its outermost keys. Each has an element of its own.

use crate::keys::arm::{OPEN_ARM, OPEN_DEFAULTS};
use crate::keys::compare::COMPARE;
use crate::keys::controls::{MOST_CONTROLS, SIZE};
use crate::keys::events::{EVENT, MOST_EVENTS};
use crate::keys::factors::{CELL_NAMES, DESIGN, EXCEPTION, FACTOR, MOST_FACTORS};
use crate::keys::hosts::{HOST, MOST_HOSTS};
use crate::keys::load::LOAD;
use crate::keys::load_phase::LOAD_PHASE_OR_ONCE;
use crate::keys::measurement::MEASUREMENT;
use crate::keys::objective::OBJECTIVE;
use crate::keys::scales::OPEN_SCALE;
use crate::keys::thresholds::THRESHOLD_OR_BOUND;
use crate::keys::workload::WORKLOAD;
use crate::table::*;

/// The version of the file format.
pub(crate) const VERSION: u64 = 1;

pub(crate) const MOST_ARMS: usize = 1_000;

pub(crate) static EACH_ARM: Shape = Shape::Open(&OPEN_ARM);

pub(crate) static EACH_HOST: Shape = Shape::Object(&HOST);

pub(crate) static EACH_EVENT: Shape = Shape::Object(&EVENT);

pub(crate) static EACH_SCALE: Shape = Shape::Open(&OPEN_SCALE);

object! {
    FILE file: "An experiment: what is compared, under which load, how it is measured, and what is judged."
    plimsoll = Shape::Version(VERSION), Required, "1";
        "Version of the file format.";
    name = Shape::Name, Required, "quickstart";
        "Name of the experiment; results are kept and found under it.";
    question = Shape::Text { most: 1_000 }, Optional, "What does a cache of a quarter of the data cost?";
        "The question that the experiment answers. It heads every report.";
    hosts = Shape::keyed(Keys::Names("host"), &EACH_HOST, 1, MOST_HOSTS), Optional, "{db1: {ssh: root@db1.example}}";
        "Machines besides the one that `plimsoll run` is started on, by name. An arm runs on the machine that its `on` names.";
    load_hosts = Shape::list(&Shape::Name, 1, MOST_HOSTS), Optional, "[bench1, bench2]";
        "The `hosts` that generate the load, together as one would. `controller` is the machine that `plimsoll run` is started on, which generates the \
         load without this key. Embedded engines run together with their load.";
    workload = Shape::Object(&WORKLOAD), Required, "{records: 100k, preset: a}";
        "The data, and the operations on it.";
    defaults = Shape::Open(&OPEN_DEFAULTS), Optional, "{engine: wiredtiger, cache_size: 512MiB}";
        "What the arms have in common. A value in an arm overrides it. A setting that only the engines of some arms have applies to those arms.";
    arms = Shape::keyed(Keys::Names("arm"), &EACH_ARM, 1, MOST_ARMS), Optional, "{small: {cache_size: 32MiB}, large: {cache_size: 1GiB}}";
        "The things to compare, by name. The first is the baseline unless `compare` names another. A single arm is measured without a comparison.";
    factors = Shape::keyed(Keys::Names("factor"), &FACTOR, 1, MOST_FACTORS), Optional, "{disk: [fast-5000, san-raid10], working_set: [92%, 138%]}";
        "Factors to vary, instead of a list of arms: every combination of their levels is an arm. A factor is a key of an arm, such as `disk`, or \
         `limits.cpus` for a key inside another, with a list of levels; or any name with a map of levels, each a bundle of an arm's keys; or `{from: \
         90%, to: 250%, levels: 5}` for numbers in equal steps. Keys that the levels leave open are in `defaults`. `threads`, `rate` and `mix` stand \
         for `load.closed.threads`, `load.open.rates` and `workload.mixes`: every run measures all of them.";
    except = Shape::list(&EXCEPTION, 1, 100), Optional, "[{disk: fast-5000, working_set: 92%}]";
        "Combinations to leave out. A factor that an entry does not name stands for all its levels.";
    cells = Shape::keyed(Keys::Words(&CELL_NAMES), &EACH_ARM, 1, MOST_ARMS), Optional, "{aws/medium: {machine: m3.medium}}";
        "Keys of single cells that do not follow from their levels, by the names of their levels in the order of the factors.";
    design = DESIGN, Default("full"), "screening";
        "Which combinations are measured. `full`: all. `screening`: for 6 to 23 factors of two levels, 12 or 24 in each block (Plackett and Burman, \
         mirrored in every other block): which of them matters at all? `1/2` to `1/32`: a regular fraction, for factors of two levels; `plimsoll plan` \
         lists the effects that it cannot distinguish.";
    load = Shape::Object(&LOAD), Optional, "{closed: {threads: [1, 2, 4]}}";
        "The load. Every mix is measured at every point of it. It may be left out if the plimsoll line is searched: see `objective`.";
    load_phase = LOAD_PHASE_OR_ONCE, Optional, "once";
        "How the data is loaded before anything is measured.";
    measurement = Shape::Object(&MEASUREMENT), Optional, "{duration: 30s, blocks: 8}";
        "How long, how often and in which order to measure.";
    events = Shape::list(&EACH_EVENT, 1, MOST_EVENTS), Optional, "[{at: 30s, kill: primary}]";
        "What is done to the servers or emulated disks of the arms at each point, such as killing the primary of a replica set, a disk that stalls, or a power cut. Only with an open loop: in a closed one, \
         no operation is sent while nothing answers. Afterwards every acknowledged record is read back.";
    objective = Shape::Object(&OBJECTIVE), Optional, "{response: {p99: 10ms}}";
        "The service-level objective. The highest rate that holds it, the plimsoll line, is searched for every mix.";
    compare = Shape::Object(&COMPARE), Optional, "{baseline: small, at: {threads: 16}}";
        "What is judged, and where.";
    controls = Shape::list(&SIZE, 1, MOST_CONTROLS), Optional, "[2%]";
        "Copies of the baseline that are slowed down by these shares and measured beside the arms. Whether the experiment finds a planted slow-down \
         shows what it would have found; a copy with 0% shows whether it finds what is not there. They take no part in the verdicts.";
    thresholds = Shape::list(&THRESHOLD_OR_BOUND, 1, 100), Optional, "[\"throughput >= 10k\"]";
        "Bounds that must hold at every point that they concern; if one does not, the program ends with exit code 99.";
    scales = Shape::keyed(Keys::Names("scale"), &EACH_SCALE, 1, 20), Optional, "{full: {measurement: {blocks: 12}}}";
        "The same experiment at other sizes, chosen with `--scale`. Each is a part of a file that is laid over this one: maps are merged key by key, \
         everything else is replaced, and a key without a value is removed. The file as written is the scale `laptop`. A scale may have a `ratio`, such \
         as `1/20`: then the file is first scaled down, in records, operations, caches, memory, page cache, capacity, burst credits, checkpoint \
         interval (to whole seconds), warm-up (2 s or more) and duration (10 s or more); threads, rates and the speed of disks stay. If there is a \
         scale named `laptop`, it is used by default, and the file as written is the scale `full`.";
    => one of [arms, factors];
}
