//! The file: its outermost keys. Each has an element of its own.

use crate::keys::arm::{OPEN_ARM, OPEN_DEFAULTS};
use crate::keys::compare::COMPARE;
use crate::keys::controls::{MOST_CONTROLS, SIZE};
use crate::keys::events::{EVENT, MOST_EVENTS};
use crate::keys::factors::{CELL_NAMES, DESIGN, EXCEPTION, FACTOR, MOST_FACTORS};
use crate::keys::hosts::{HOST, MOST_HOSTS};
use crate::keys::load::LOAD;
use crate::keys::load_phase::LOAD_PHASE;
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
        "Name of the experiment: results are kept and found under it.";
    question = Shape::Text { most: 1_000 }, Optional, "What does a cache of a quarter of the data cost?";
        "What the experiment is to answer. It heads every report.";
    hosts = Shape::keyed(Keys::Names("host"), &EACH_HOST, 1, MOST_HOSTS), Optional, "{db1: {ssh: root@db1.example}}";
        "Machines beside the one that `plimsoll run` is started on, by name. An arm stands on the machine that its `on` names.";
    load_hosts = Shape::list(&Shape::Name, 1, MOST_HOSTS), Optional, "[bench1, bench2]";
        "Which of the `hosts` ask the servers, together as one would; `controller` is the machine that `plimsoll run` is started on, which does it without this key.          Embedded engines are asked where they stand.";
    workload = Shape::Object(&WORKLOAD), Required, "{records: 100k, preset: a}";
        "What is stored and what is asked.";
    defaults = Shape::Open(&OPEN_DEFAULTS), Optional, "{engine: wiredtiger, cache_size: 512MiB}";
        "What the arms have in common, stated once. An arm that says otherwise wins. A setting that only some of the \
         arms' engines have goes to those.";
    arms = Shape::keyed(Keys::Names("arm"), &EACH_ARM, 1, MOST_ARMS), Optional, "{small: {cache_size: 32MiB}, large: {cache_size: 1GiB}}";
        "What is compared, by name. The first is the baseline unless `compare` says otherwise. One arm alone is \
         measured without a comparison.";
    factors = Shape::keyed(Keys::Names("factor"), &FACTOR, 1, MOST_FACTORS), Optional, "{disk: [fast-5000, san-raid10], working_set: [92%, 138%]}";
        "What is varied, instead of a list of arms: every combination of the factors' levels is an arm. A factor is a key of an arm, such as `disk`, \
         or `limits.cpus` for a key inside another, with a list of levels; or any name with a map of levels, each a bundle of an arm's keys; or \
         `{from: 90%, to: 250%, levels: 5}` for numbers in equal steps. What the levels leave open is in `defaults`. `threads`, `rate` and `mix` stand \
         for `load.closed.threads`, `load.open.rates` and `workload.mixes`: every run measures all of them.";
    except = Shape::list(&EXCEPTION, 1, 100), Optional, "[{disk: fast-5000, working_set: 92%}]";
        "Combinations that are left out. A factor that an entry does not name stands for all its levels.";
    cells = Shape::keyed(Keys::Words(&CELL_NAMES), &EACH_ARM, 1, MOST_ARMS), Optional, "{aws/medium: {machine: m3.medium}}";
        "What single cells have that does not follow from their levels, by the names of their levels in the order of the factors.";
    design = DESIGN, Default("full"), "screening";
        "Which combinations are measured. `full`: all. `screening`: for 6 to 23 factors of two levels, 12 or 24 in each block (Plackett and Burman, \
         mirrored in every other block): which of them matters at all? `1/2` to `1/32`: a regular fraction, for factors of two levels; `plimsoll plan` lists \
         the effects that it cannot tell apart.";
    load = Shape::Object(&LOAD), Optional, "{closed: {threads: [1, 2, 4]}}";
        "How hard it is asked. Every mix is measured at every point of the load. It may be left out where the plimsoll line is \
         searched: see `objective`.";
    load_phase = Shape::Object(&LOAD_PHASE), Optional, "{threads: 4}";
        "How the data is stored before anything is measured.";
    measurement = Shape::Object(&MEASUREMENT), Optional, "{duration: 30s, blocks: 8}";
        "How long, how often and in which order.";
    events = Shape::list(&EACH_EVENT, 1, MOST_EVENTS), Optional, "[{at: 30s, kill: primary}]";
        "What is done to the servers of the arms at each point, such as to kill the primary of a replica set. Only with an open loop: in a closed one nobody asks while nothing answers. Afterwards everything that was acknowledged is read back.";
    objective = Shape::Object(&OBJECTIVE), Optional, "{response: {p99: 10ms}}";
        "What counts as good service. The highest rate that holds it, the plimsoll line, is searched for every mix.";
    compare = Shape::Object(&COMPARE), Optional, "{baseline: small, at: {threads: 16}}";
        "What is judged, and where.";
    controls = Shape::list(&SIZE, 1, MOST_CONTROLS), Optional, "[2%]";
        "Copies of the baseline that are slowed down by these shares and measured beside the arms. Whether the experiment finds what was planted says what it \
         would have found; a copy with 0% says whether it finds what is not there. They take no part in the verdicts.";
    thresholds = Shape::list(&THRESHOLD_OR_BOUND, 1, 100), Optional, "[\"throughput >= 10k\"]";
        "Bounds that must hold for every point that they concern; where one does not, the program ends with exit code \
         99.";
    scales = Shape::keyed(Keys::Names("scale"), &EACH_SCALE, 1, 20), Optional, "{full: {measurement: {blocks: 12}}}";
        "The same experiment at other sizes, chosen with `--scale`. Each is a part of a file that is laid over this one: maps are \
         merged key by key, everything else is replaced, and a key with nothing behind it is removed. The file as written is the \
         scale `laptop`. A scale may have a `ratio`, such as `1/20`: then the file is first made so much smaller, in records, operations, caches, memory, page \
         cache, capacity, burst credits, checkpoint interval (to whole seconds), warm-up (2 s or more) and duration (10 s or more); threads, rates and what a disk does in a second stay. \
         A scale with the name `laptop` is taken where none is chosen, and the file as written is then the scale `full`.";
    => one of [arms, factors];
}
