//! The table of rules by which the cause of a point's throughput is named. They are tried in order; the first that holds is the cause.
//!
//! `docs/methods.md` shows the table; a test holds the two together.

use crate::evidence::Evidence;
use crate::gates::THROTTLED;
use crate::identity::BROKEN_FROM;
use crate::words::{self, bytes, duration, number, percent, rate};
use crate::{CapKind, Cause, CauseKind, Figures, IdentityCheck, RuleResult};
use plimsoll_plan::{Arm, Plan};
use plimsoll_record::{FOREIGN_INVALID, LoadKind};

/// Share of a limit that must be used for it to be the cause.
const LIMIT_USED: f64 = 0.95;
/// Share of the queue depth that must be in flight.
const QUEUE_USED: f64 = 0.9;
/// Share of the processors' time that must be busy or stolen for the processors to be the cause.
const CPU_USED: f64 = 0.9;
/// Share of the sessions' time that device reads must take for operations to wait for the disk.
const WAITING_FOR_DISK: f64 = 0.3;
/// The same, for its latency to be the cause.
const LATENCY_BOUND: f64 = 0.7;
/// Share of the sessions' time that operations must spend computing or waiting for a processor before other programs are the cause. A thread that sleeps at a lock or a
/// network hardly waits for a processor: the kernel runs it soon after it wakes.
const ON_PROCESSORS: f64 = 0.5;
/// Share of the sessions' time spent waiting for a processor below which the processors have room.
const HARDLY_WAITING: f64 = 0.1;
/// Share of the sessions' time that must be spent on room in the engine's cache.
const CACHE_WAIT: f64 = 0.3;
/// Share of the sessions' time that must be spent waiting for flow control.
const FLOW_CONTROL_WAIT: f64 = 0.3;
/// Share of the seconds in which all tickets must be in use while operations queue for them.
const TICKETS_USED_UP: f64 = 0.5;
/// Share of a link's speed that must be used.
const LINK_USED: f64 = 0.9;
/// Share of the TCP segments that must be sent again. Each delays its session by a round trip at best and by 200 ms at worst, beside which an operation is short.
const RETRANSMITTED: f64 = 0.01;
/// Share of the median service time that the round trip must take.
const ON_THE_WAY: f64 = 0.5;
/// Evictions by application threads for each operation, where that time is not known.
const EVICTIONS: f64 = 0.1;
/// Share of the time in which a journal sync must run.
const JOURNAL_BUSY: f64 = 0.5;
/// A writing operation takes at least this share of a journal sync if it waits for one.
const OF_A_SYNC: f64 = 0.7;
/// Share of the sessions' time that writing operations must take.
const IN_WRITES: f64 = 0.5;
/// Share of the throughput without checkpoints that they must cost.
const CHECKPOINT_COST: f64 = 0.15;
/// The cost from which on checkpoints are the cause even if operations wait for the journal: both write to the same disk.
const CHECKPOINTS_COST_MOST: f64 = 0.5;
/// Share of the time in which a device without a known limit must be busy.
const DEVICE_BUSY: f64 = 0.9;
/// Share of the requested bytes that must come from the page cache.
const PAGE_CACHE_HITS: f64 = 0.5;
/// Bytes from the page cache for each operation.
const PAGE_CACHE_BYTES: f64 = 1024.0;
/// Of the worker's CPU time, how much must be spent in the kernel. Of what a page from the page cache costs, 28 to 33 % are the kernel's copy, and the rest checking, unpacking and
/// building it: where a ten times larger cache made an operation cost a tenth (`studies/causes/page-cache.yaml`), 25 to 33 % of all time were the kernel's. So this is where
/// pages from there take more than half of all time.
const KERNEL: f64 = 0.2;
/// What one processor copies from the page cache in a second by reads of 4 KiB and more: 2.0 to 3.0 GB were measured, calls included.
const COPIED_BYTES_PER_SECOND: f64 = 2e9;
/// A part of a processor that counts as nothing.
const TENTH: f64 = 0.1;
/// Used share of anything below which there is room.
const ROOM: f64 = 0.8;
/// Share of a request's time that may be the disk's own latency where requests wait for its limit.
const OWN_LATENCY: f64 = 0.5;
/// Share of the time that sessions of a closed loop pause when the load is a given one.
const PAUSING: f64 = 0.8;

/// Device reads for a missed page from which on a cause mentions them. A page that lies across the border of a request takes two.
const SPLIT: f64 = 2.0;

/// Said of a limit that is not set.
const NO_LIMIT: &str = "no such limit";
/// Said of the network where there is none.
const ONE_MACHINE: &str = "load and server share a machine";
/// Said of a disk that other rows judge.
const LIMITS_KNOWN: &str = "its limits are known";

/// One row of the table.
struct Rule {
    kind: CauseKind,
    when: fn() -> String,
    /// Whether it holds, and the figures; `None` where a figure is missing.
    test: fn(&Evidence<'_>) -> Option<(bool, String)>,
}

/// All of them, in the order in which they are tried.
const RULES: [Rule; 20] = [
    Rule {
        kind: CauseKind::Generator,
        when: || "most runs of the point failed the gate of the generator".into(),
        test: generator,
    },
    Rule {
        kind: CauseKind::Offered,
        when: || {
            format!(
                "open loop: every run achieved the rate; closed loop: sessions pause for at least {} of the time",
                percent(PAUSING, 0)
            )
        },
        test: offered,
    },
    Rule {
        kind: CauseKind::DiskIops,
        when: || {
            format!(
                "the limit of the disk that allows fewest operations counts requests and is used to at least {}; operations wait for the disk (reads take at least {} of the sessions' time), or the processors have room. From {} on where reads take as much of the time, and the disk's own latency is at most {} of what one takes: the rest is waiting for the limit",
                percent(LIMIT_USED, 0),
                percent(WAITING_FOR_DISK, 0),
                percent(ROOM, 0),
                percent(OWN_LATENCY, 0)
            )
        },
        test: disk_iops,
    },
    Rule {
        kind: CauseKind::DiskBandwidth,
        when: || "the same, where that limit counts bytes".into(),
        test: disk_bandwidth,
    },
    Rule {
        kind: CauseKind::DiskQueueDepth,
        when: || {
            format!(
                "on average at least {} of the disk's queue depth are in flight, and there are more sessions than that depth; operations wait as above",
                percent(QUEUE_USED, 0)
            )
        },
        test: disk_queue_depth,
    },
    Rule {
        kind: CauseKind::CpuLimit,
        when: || {
            format!(
                "at least {} of the CPU limit is used, or it throttles for at least {} of the time",
                percent(LIMIT_USED, 0),
                percent(THROTTLED, 0)
            )
        },
        test: cpu_limit,
    },
    Rule {
        kind: CauseKind::PageCache,
        when: || {
            format!(
                "the processors are full as in the row of the CPU, the page cache answers at least {} of what the engine asks and at least {} for each operation, and at least {} of the worker's CPU time is spent in the kernel, or of the machine's where the engine is a server",
                percent(PAGE_CACHE_HITS, 0),
                bytes(PAGE_CACHE_BYTES),
                percent(KERNEL, 0)
            )
        },
        test: page_cache,
    },
    Rule {
        kind: CauseKind::EngineCache,
        when: || {
            format!(
                "sessions spend at least {} of their time evicting or waiting for room in the cache; where that is not known, they evict at least {EVICTIONS} pages an operation",
                percent(CACHE_WAIT, 0)
            )
        },
        test: engine_cache,
    },
    Rule {
        kind: CauseKind::Cpu,
        when: || {
            format!(
                "at least {0} of the processors' time is busy or stolen, without what other programs use from {2} on, or worker and server use {0} of the processors that its sessions can use and reads take less than {1} of their time",
                percent(CPU_USED, 0),
                percent(WAITING_FOR_DISK, 0),
                percent(FOREIGN_INVALID, 0)
            )
        },
        test: cpu,
    },
    Rule {
        kind: CauseKind::NetworkBandwidth,
        when: || {
            format!(
                "at least {} of the speed of a link between load and server is used in one direction",
                percent(LINK_USED, 0)
            )
        },
        test: network_bandwidth,
    },
    Rule {
        kind: CauseKind::NetworkLoss,
        when: || {
            format!(
                "at least {} of the TCP segments between load and server are sent again",
                percent(RETRANSMITTED, 0)
            )
        },
        test: network_loss,
    },
    Rule {
        kind: CauseKind::NetworkLatency,
        when: || {
            format!(
                "the round trip between load and server takes at least {} of the median service time",
                percent(ON_THE_WAY, 0)
            )
        },
        test: network_latency,
    },
    Rule {
        kind: CauseKind::FlowControl,
        when: || {
            format!(
                "sessions spend at least {} of their time waiting for the server's flow control",
                percent(FLOW_CONTROL_WAIT, 0)
            )
        },
        test: flow_control,
    },
    Rule {
        kind: CauseKind::Journal,
        when: || {
            format!(
                "a journal sync is under way for at least {} of the time, writing operations take at least {OF_A_SYNC} syncs each and {} of the sessions' time, there are enough syncs for all of them, and checkpoints (next row) do not cost {} or more",
                percent(JOURNAL_BUSY, 0),
                percent(IN_WRITES, 0),
                percent(CHECKPOINTS_COST_MOST, 0)
            )
        },
        test: journal,
    },
    Rule {
        kind: CauseKind::Checkpoint,
        when: || {
            format!(
                "seconds with a checkpoint are so much slower than those without that the whole loses at least {}",
                percent(CHECKPOINT_COST, 0)
            )
        },
        test: checkpoint,
    },
    Rule {
        kind: CauseKind::DiskBusy,
        when: || {
            format!(
                "the disk's limits are not known, it is busy for at least {} of the time, and reads take at least {} of the sessions' time",
                percent(DEVICE_BUSY, 0),
                percent(WAITING_FOR_DISK, 0)
            )
        },
        test: disk_busy,
    },
    Rule {
        kind: CauseKind::ServerTickets,
        when: || {
            format!(
                "in at least {} of the seconds all of the server's tickets for reads, or for writes, are in use and operations queue for them",
                percent(TICKETS_USED_UP, 0)
            )
        },
        test: server_tickets,
    },
    Rule {
        kind: CauseKind::DiskLatency,
        when: || {
            format!(
                "device reads take at least {} of the sessions' time",
                percent(LATENCY_BOUND, 0)
            )
        },
        test: disk_latency,
    },
    Rule {
        kind: CauseKind::Others,
        when: || {
            format!(
                "at least {} of the processors' time is busy or stolen, other programs use at least {}, and operations compute or wait for a processor for at least {} of the sessions' time, where that is known",
                percent(CPU_USED, 0),
                percent(FOREIGN_INVALID, 0),
                percent(ON_PROCESSORS, 0)
            )
        },
        test: others,
    },
    Rule {
        kind: CauseKind::Contention,
        when: || {
            format!(
                "closed loop of several sessions: the processors are busy below {0}, or sessions wait for one for less than {2} of their time; worker and server use less than {0} of the processors that its sessions can use, and reads take less than {1} of their time; where load and server are apart, the speed of their links must be known",
                percent(ROOM, 0),
                percent(WAITING_FOR_DISK, 0),
                percent(HARDLY_WAITING, 0)
            )
        },
        test: contention,
    },
];

/// Every cause with the condition under which it is named, in the order in which they are tried; the first that holds is the cause.
pub fn cause_rules() -> Vec<(CauseKind, String)> {
    let mut table = Vec::with_capacity(RULES.len());
    for rule in &RULES {
        table.push((rule.kind, (rule.when)()));
    }
    table
}

/// The cause of one arm's throughput at one point; `None` without any sample, or where nothing was watched.
pub(crate) fn cause(plan: &Plan, arm: &Arm, samples: &[&crate::sample::Sample]) -> Option<Cause> {
    let evidence = Evidence::of(plan, arm, samples)?;
    (!evidence.figures.is_unwatched()).then(|| name(&evidence, |_| true))
}

/// What limits an arm beyond its plimsoll line, from trials that did not hold. That all of the load was done is no cause there: it was done too late.
pub(crate) fn cause_beyond_line(
    plan: &Plan,
    arm: &Arm,
    samples: &[&crate::sample::Sample],
) -> Option<Cause> {
    let evidence = Evidence::of(plan, arm, samples)?;
    let is_tried = |kind: CauseKind| kind != CauseKind::Offered;
    (!evidence.figures.is_unwatched()).then(|| name(&evidence, is_tried))
}

/// Tries every rule that may apply.
fn name(evidence: &Evidence<'_>, is_tried: impl Fn(CauseKind) -> bool) -> Cause {
    let mut rules = Vec::with_capacity(RULES.len());
    let mut found: Option<(CauseKind, String)> = None;
    for rule in RULES.iter().filter(|rule| is_tried(rule.kind)) {
        let result = (rule.test)(evidence);
        if let (None, Some((true, figures))) = (&found, &result) {
            found = Some((rule.kind, figures.clone()));
        }
        rules.push(RuleResult {
            kind: rule.kind,
            holds: result.as_ref().map(|(holds, _)| *holds),
            figures: result.map_or_else(|| "not known".into(), |(_, figures)| figures),
        });
    }
    let (kind, figures) = found.unwrap_or_else(|| (CauseKind::Unknown, ruled_out(&rules)));
    Cause {
        kind,
        sentence: format!("{}: {figures}", kind.name()),
        identities: evidence.identities.clone(),
        rules,
    }
}

/// The limits that were ruled out, and those that are unknown.
fn ruled_out(rules: &[RuleResult]) -> String {
    let (mut not, mut unknown) = (Vec::new(), Vec::new());
    for rule in rules {
        // What is not there cannot hold anything back, and these say nothing of the engine or the machine.
        let says_nothing = [NO_LIMIT, LIMITS_KNOWN, ONE_MACHINE].contains(&rule.figures.as_str())
            || matches!(
                rule.kind,
                CauseKind::Generator
                    | CauseKind::Offered
                    | CauseKind::Contention
                    | CauseKind::Others
            );
        match rule.holds {
            _ if says_nothing => {}
            Some(_) => not.push(format!("{} ({})", rule.kind.name(), rule.figures)),
            None => unknown.push(rule.kind.name().to_owned()),
        }
    }
    let mut parts = Vec::new();
    if !not.is_empty() {
        parts.push(format!("ruled out are {}", words::list(&not)));
    }
    if !unknown.is_empty() {
        parts.push(format!("nothing is known of {}", words::list(&unknown)));
    }
    parts.join("; ")
}

fn generator(evidence: &Evidence<'_>) -> Option<(bool, String)> {
    let (limited, all) = evidence.generator_limited;
    let figures = match evidence.generator_share {
        Some(share) => {
            format!("{} of the sessions' time spent outside the engine", percent(share, 0))
        }
        None => format!("too late in {limited} of {all} runs"),
    };
    Some((2 * limited > all, figures))
}

fn offered(evidence: &Evidence<'_>) -> Option<(bool, String)> {
    let (holds, mut figures) = match evidence.load {
        LoadKind::Open { rate: requested, .. }
        | LoadKind::Closed { target: Some(requested), .. } => {
            let achieved = evidence.achieved?;
            (
                achieved >= evidence.achieved_limit,
                format!(
                    "{} of {} done",
                    percent(achieved, 1),
                    rate(evidence.due.unwrap_or(requested))
                ),
            )
        }
        LoadKind::Closed { think_time_ns, .. } => {
            let per_second = evidence.figures.operations_per_second?;
            let pausing = per_second * think_time_ns as f64 / 1e9 / evidence.sessions();
            (pausing >= PAUSING, format!("sessions pause for {} of the time", percent(pausing, 0)))
        }
    };
    if holds && let Some(nearest) = evidence.identities.first() {
        figures.push_str(&format!(
            "; of the disk's {}, {} are used",
            limit_name(nearest),
            percent(nearest.ratio, 0)
        ));
    }
    Some((holds, figures))
}

fn disk_iops(evidence: &Evidence<'_>) -> Option<(bool, String)> {
    disk_limit(evidence, true)
}

fn disk_bandwidth(evidence: &Evidence<'_>) -> Option<(bool, String)> {
    disk_limit(evidence, false)
}

/// The tightest limit of a kind; it is the cause only if it is the tightest of all.
fn disk_limit(evidence: &Evidence<'_>, requests: bool) -> Option<(bool, String)> {
    let mut checks = evidence.identities.iter();
    let Some(check) = checks.find(|check| check.kind.is_iops() == requests) else {
        return no_limit(evidence, requests).map(|words| (false, words));
    };
    let is_full = check.ratio >= LIMIT_USED && waits_or_has_room(evidence);
    let holds = check.binding && (is_full || check.ratio >= ROOM && waits_at_limit(evidence));
    let figures = if holds || check.ratio >= LIMIT_USED {
        let mut words = identity_words(check, &evidence.figures);
        if requests && check.kind != CapKind::WriteIops {
            words.push_str(&split_pages(evidence));
        }
        words
    } else {
        format!("{} of {} used", amount(check, check.used), amount(check, check.cap))
    };
    Some((holds, figures))
}

/// Why there is no check of a limit: it is not set, or the disk has nothing to do. `None` where that is not known.
fn no_limit(evidence: &Evidence<'_>, requests: bool) -> Option<String> {
    let disk = evidence.disk?;
    let rates = if requests { disk.iops } else { disk.bandwidth };
    if rates.read.or(rates.write).or(rates.joint).is_none() {
        return Some(NO_LIMIT.into());
    }
    let reads = evidence.figures.device_reads_per_operation?;
    let writes = evidence.figures.device_writes_per_operation?;
    (reads + writes == 0.0).then(|| "the disk is idle".into())
}

/// `598 of 600 used, 0.117 device reads per operation, so at most 5,130 op/s; measured 5,088`.
fn identity_words(check: &IdentityCheck, figures: &Figures) -> String {
    let reads = figures.device_reads_per_operation.unwrap_or(0.0);
    let only_reads =
        figures.device_writes_per_operation.is_some_and(|writes| writes < 0.01 * reads);
    let cost = if check.kind.is_iops() {
        let requests = if only_reads { CapKind::ReadIops.name() } else { check.kind.name() };
        format!("{} {requests}", number(check.per_operation))
    } else {
        let what = check.kind.name().trim_start_matches("bytes ");
        format!("{} {what}", bytes(check.per_operation))
    };
    format!(
        "{} of {} used, {cost} per operation, so at most {} op/s; measured {}",
        amount(check, check.used),
        amount(check, check.cap),
        number(check.at_most),
        number(check.measured)
    )
}

/// `; each missed page took 7 requests of 4.00 KiB: readahead is 0`, where pages are read in pieces because the kernel does not read as far ahead as a page is
/// long; otherwise nothing.
fn split_pages(evidence: &Evidence<'_>) -> String {
    let figures = &evidence.figures;
    let known = figures.device_reads_per_missed_page.zip(figures.device_read_size_bytes);
    let Some((requests, size)) = known.filter(|(requests, _)| *requests >= SPLIT) else {
        return String::new();
    };
    let because = match evidence.readahead_bytes {
        Some(ahead) if (ahead as f64) < requests * size => match ahead {
            0 => ": readahead is 0".to_owned(),
            ahead => format!(": readahead is {}", bytes(ahead as f64)),
        },
        _ => String::new(),
    };
    format!("; each missed page took {} requests of {}{because}", number(requests), bytes(size))
}

fn amount(check: &IdentityCheck, value: f64) -> String {
    if check.kind.is_iops() { number(value) } else { format!("{}/s", bytes(value)) }
}

fn limit_name(check: &IdentityCheck) -> &'static str {
    if check.kind.is_iops() { "IOPS" } else { "bandwidth" }
}

/// A disk may be full with work that no operation waits for. Only if operations wait for it, or if the processors leave no other explanation, it is the cause.
fn waits_or_has_room(evidence: &Evidence<'_>) -> bool {
    let waits = evidence.waiting_for_reads().is_some_and(|share| share >= WAITING_FOR_DISK)
        || engine_cache(evidence).is_some_and(|(holds, _)| holds)
        || journal(evidence).is_some_and(|(holds, _)| holds);
    waits || !processors_are_full(evidence).unwrap_or(false)
}

/// Whether operations wait for reads, and reads for the disk's limit rather than for the disk itself. Requests come in bursts, so that a limit holds them up
/// before all of it is used.
fn waits_at_limit(evidence: &Evidence<'_>) -> bool {
    let waiting = evidence.waiting_for_reads().unwrap_or(0.0);
    let (Some(disk), Some(read_ns)) = (evidence.disk, evidence.figures.device_read_ns) else {
        return false;
    };
    waiting >= WAITING_FOR_DISK && disk.read_latency.median_ns() <= OWN_LATENCY * read_ns
}

fn disk_queue_depth(evidence: &Evidence<'_>) -> Option<(bool, String)> {
    let disk = evidence.disk?;
    let Some(depth) = disk.queue_depth.map(f64::from) else {
        return Some((false, NO_LIMIT.into()));
    };
    let queue = evidence.figures.device_queue?;
    let holds =
        queue >= QUEUE_USED * depth && evidence.sessions() > depth && waits_or_has_room(evidence);
    let figures = format!(
        "{} of {} in flight on average, {} sessions",
        number(queue),
        number(depth),
        number(evidence.sessions())
    );
    Some((holds, figures))
}

fn cpu_limit(evidence: &Evidence<'_>) -> Option<(bool, String)> {
    let Some(limit) = evidence.cpu_limit else {
        let throttled = evidence.figures.throttled.unwrap_or(0.0);
        let figures = if throttled > 0.0 { held_back(throttled) } else { NO_LIMIT.into() };
        return Some((throttled >= THROTTLED, figures));
    };
    let figures = &evidence.figures;
    let used = figures.group_processors.or(evidence.worker_processors)?;
    let throttled = figures.throttled.unwrap_or(0.0);
    let holds = used >= LIMIT_USED * limit || throttled >= THROTTLED;
    let mut words = format!("{} of {} used", number(used), processors(limit));
    if throttled > 0.0 {
        words.push_str(&format!(", {}", held_back(throttled)));
    }
    Some((holds, words))
}

fn held_back(throttled: f64) -> String {
    format!("throttled for {} of the time", percent(throttled.min(1.0), 0))
}

impl Evidence<'_> {
    /// On one machine there is no network. If load and server may be apart and there is no telemetry, nothing is known.
    fn without_network(&self) -> Option<(bool, String)> {
        let may_be_apart = self.is_networked
            || self.is_load_elsewhere
            || (self.is_by_uri && self.figures.server_processors.is_none());
        (!may_be_apart).then(|| (false, ONE_MACHINE.into()))
    }

    /// Without a server it cannot hold anything back; of one that does not tell nothing is known.
    fn without_server(&self) -> Option<(bool, String)> {
        (!self.is_server).then(|| (false, NO_LIMIT.into()))
    }
}

/// Whether the processors have no room, for the machine as a whole or for these sessions.
fn processors_are_full(evidence: &Evidence<'_>) -> Option<bool> {
    let busy = evidence.figures.machine_busy;
    let stolen = evidence.figures.machine_steal.unwrap_or(0.0);
    // Below the share at which a point is refused, other programs are not blamed.
    let others = evidence.foreign.filter(|share| *share >= FOREIGN_INVALID);
    let others = others.unwrap_or(0.0);
    if busy.is_some_and(|busy| busy + stolen - others >= CPU_USED) {
        return Some(true);
    }
    // Without any word about the machine, the time of worker and server says nothing of waiting.
    busy?;
    let used = evidence.used_processors()?;
    let waiting = evidence.waiting_for_reads().unwrap_or(0.0);
    Some(used >= CPU_USED * evidence.usable_processors() && waiting < WAITING_FOR_DISK)
}

/// Processor time that others took is no doing of what is under test.
fn others(evidence: &Evidence<'_>) -> Option<(bool, String)> {
    let share = evidence.foreign?;
    let busy = evidence.figures.machine_busy? + evidence.figures.machine_steal.unwrap_or(0.0);
    let mut words =
        format!("they used {} of {}", part(share * evidence.cores), processors(evidence.cores));
    if let Some(used) = evidence.used_processors() {
        words.push_str(&format!(", what is under test {}", part(used)));
    }
    let on_processors = evidence.on_processors();
    if let Some(share) = on_processors {
        let of_time = percent(share.min(1.0), 0);
        words.push_str(&format!(
            "; operations compute or wait for a processor for {of_time} of the time"
        ));
    }
    let holds = busy >= CPU_USED
        && share >= FOREIGN_INVALID
        && on_processors.is_none_or(|share| share >= ON_PROCESSORS);
    Some((holds, words))
}

fn page_cache(evidence: &Evidence<'_>) -> Option<(bool, String)> {
    let figures = &evidence.figures;
    let full = processors_are_full(evidence)?;
    let requested = figures.asked_bytes_per_second?;
    if requested == 0.0 {
        return Some((false, "not used".into()));
    }
    let hits = figures.page_cache_hit_ratio?;
    let per_operation = figures.page_cache_bytes_per_second? / figures.operations_per_second?;
    // How a server's own time divides is not known, and the kernel of the whole machine serves its network above all. What copies from the page cache can
    // have cost follows from their bytes.
    let kernel = if figures.server_processors.is_some() || evidence.is_by_uri {
        figures.page_cache_bytes_per_second?
            / COPIED_BYTES_PER_SECOND
            / (figures.machine_busy? * evidence.cores)
    } else {
        evidence.kernel_share()?
    };
    let holds =
        full && hits >= PAGE_CACHE_HITS && per_operation >= PAGE_CACHE_BYTES && kernel >= KERNEL;
    let of_kernel = if figures.server_processors.is_some() || evidence.is_by_uri {
        format!("copying them takes about {} of the CPU time", percent(kernel, 0))
    } else {
        format!("{} of the worker's CPU time is spent in the kernel", percent(kernel, 0))
    };
    let words = format!(
        "{} of {}/s that the engine requests, {} an operation; {of_kernel}",
        percent(hits, 0),
        bytes(requested),
        bytes(per_operation),
    );
    Some((holds, words))
}

fn cpu(evidence: &Evidence<'_>) -> Option<(bool, String)> {
    let figures = &evidence.figures;
    let full = processors_are_full(evidence)?;
    let busy = figures.machine_busy?;
    let mut words = format!("{} of {} busy", percent(busy, 0), processors(evidence.cores));
    if let Some(worker) = evidence.worker_processors {
        let used = evidence.used_processors().unwrap_or(worker);
        let disk = figures.disk_processors;
        let others = (busy * evidence.cores - used - disk.unwrap_or(0.0)).max(0.0);
        let shares = match figures.server_processors {
            None if evidence.is_by_uri => format!("{} by the client", part(worker)),
            None => format!("{} by engine and client in the worker", part(worker)),
            Some(server) if evidence.is_load_elsewhere => {
                format!("{} by the server", part(server))
            }
            Some(server) => {
                format!("{} by the server and {} by its client", part(server), part(worker))
            }
        };
        let by_disk = disk.map(|disk| format!(", {} by the emulated disk", part(disk)));
        let by_disk = by_disk.unwrap_or_default();
        words.push_str(&format!(", {shares}{by_disk}, {} by everything else", part(others)));
        if full && busy < CPU_USED {
            words.push_str(&format!("; {}", of_sessions(evidence, used)));
        }
    }
    if let Some(stolen) = figures.machine_steal
        && stolen >= 0.005
    {
        words.push_str(&format!(", {} stolen", percent(stolen, 0)));
    }
    Some((full, words))
}

/// What the sessions can use of the processors that are busy. They compute in one thread each; the engine has others.
fn of_sessions(evidence: &Evidence<'_>, used: f64) -> String {
    let usable = evidence.usable_processors();
    let sessions = counted(evidence.sessions(), "session");
    if used < usable + TENTH {
        return format!("{sessions} can use no more than {}", processors(usable));
    }
    let is_client_alone = evidence.is_by_uri && evidence.figures.server_processors.is_none();
    let whose = if is_client_alone { "client" } else { "engine" };
    format!(
        "{sessions} can use no more than {} of that, and background threads of the {whose} use the rest",
        processors(usable)
    )
}

/// Processors that are busy: digits below a hundredth are the noise of the clock.
fn part(processors: f64) -> String {
    if processors > 0.0 && processors < 0.005 {
        return "less than 0.01".into();
    }
    number((processors * 100.0).round() / 100.0)
}

fn processors(count: f64) -> String {
    counted(count, "processor")
}

fn counted(count: f64, noun: &str) -> String {
    let ending = if count == 1.0 { "" } else { "s" };
    format!("{} {noun}{ending}", number(count))
}

fn network_bandwidth(evidence: &Evidence<'_>) -> Option<(bool, String)> {
    let Some(link) = &evidence.link else {
        return evidence.without_network();
    };
    let whose = match &link.host {
        Some(host) => format!("the link of {host}"),
        None => "the link".into(),
    };
    let words = format!(
        "{}/s of {}/s used on {whose} ({})",
        bytes(link.used),
        bytes(link.link),
        percent(link.share(), 0)
    );
    Some((link.share() >= LINK_USED, words))
}

fn network_loss(evidence: &Evidence<'_>) -> Option<(bool, String)> {
    let Some(again) = evidence.retransmitted else {
        return evidence.without_network();
    };
    let words = format!("{} of the TCP segments are sent again", percent(again, 2));
    Some((again >= RETRANSMITTED, words))
}

fn network_latency(evidence: &Evidence<'_>) -> Option<(bool, String)> {
    let Some(round_trip_ns) = evidence.round_trip_ns else {
        return evidence.without_network();
    };
    let service_ns = evidence.service_ns?;
    let words = format!(
        "a round trip takes {}, an operation {} (medians)",
        duration(round_trip_ns),
        duration(service_ns)
    );
    Some((round_trip_ns >= ON_THE_WAY * service_ns, words))
}

fn flow_control(evidence: &Evidence<'_>) -> Option<(bool, String)> {
    let figures = &evidence.figures;
    let Some(wait) = figures.flow_control_wait else {
        return evidence.without_server();
    };
    let mut words = format!("sessions wait for it for {} of their time", percent(wait.min(1.0), 0));
    if let Some(lagged) = figures.flow_control_lagged {
        words.push_str(&format!(
            "; secondaries lag too far behind for {} of the time",
            percent(lagged, 0)
        ));
    }
    Some((wait >= FLOW_CONTROL_WAIT, words))
}

fn server_tickets(evidence: &Evidence<'_>) -> Option<(bool, String)> {
    let kinds = [("read", &evidence.read_tickets), ("write", &evidence.write_tickets)];
    let known = kinds.into_iter().filter_map(|(kind, tickets)| Some((kind, tickets.as_ref()?)));
    let Some((kind, tickets)) = known.max_by(|a, b| a.1.used_up.total_cmp(&b.1.used_up)) else {
        return evidence.without_server();
    };
    let holds = tickets.used_up >= TICKETS_USED_UP;
    let mut words = format!(
        "all {} {kind} tickets are in use while {kind}s queue for them in {} of the seconds",
        number(tickets.total),
        percent(tickets.used_up, 0)
    );
    if holds {
        words.push_str(&format!(
            ", with {} {kind}s in the queue on average",
            number(tickets.queued)
        ));
    }
    Some((holds, words))
}

fn engine_cache(evidence: &Evidence<'_>) -> Option<(bool, String)> {
    let figures = &evidence.figures;
    let evicted = figures.evictions_by_application_per_operation;
    let (holds, mut words) = match (figures.engine_cache_wait, evicted) {
        (Some(wait), _) => (
            wait >= CACHE_WAIT,
            format!(
                "sessions spend {} of their time evicting or waiting for room",
                percent(wait, 0)
            ),
        ),
        (None, Some(evicted)) => {
            (evicted >= EVICTIONS, format!("sessions evict {} pages an operation", number(evicted)))
        }
        (None, None) => return None,
    };
    if holds {
        if let (Some(_), Some(evicted)) = (figures.engine_cache_wait, evicted) {
            words.push_str(&format!(", {} pages an operation", number(evicted)));
        }
        for (share, what) in
            [(figures.engine_cache_fill, "full"), (figures.engine_cache_dirty, "dirty")]
        {
            if let Some(share) = share {
                words.push_str(&format!(", {} {what}", percent(share, 0)));
            }
        }
    }
    Some((holds, words))
}

fn journal(evidence: &Evidence<'_>) -> Option<(bool, String)> {
    let figures = &evidence.figures;
    let syncs = figures.journal_syncs_per_second?;
    if syncs == 0.0 {
        return Some((false, "no journal sync".into()));
    }
    let (busy, sync_ns) = (figures.journal_sync_share?, figures.journal_sync_ns?);
    let words = format!(
        "a sync takes {}, one is under way for {} of the time",
        duration(sync_ns),
        percent(busy.min(1.0), 0)
    );
    let Some(writing) = evidence.writing else {
        return Some((false, words));
    };
    // If operations wait for syncs, one sync serves at most one operation of each session.
    let enough = syncs * evidence.sessions() >= writing.per_second / 2.0;
    let checkpoints = checkpoint_cost(evidence).unwrap_or(0.0);
    let holds = busy >= JOURNAL_BUSY
        && checkpoints < CHECKPOINTS_COST_MOST
        && writing.mean_ns >= OF_A_SYNC * sync_ns
        && evidence.in_writes()? >= IN_WRITES
        && enough;
    let words = format!(
        "{words}, {} syncs for {} writing operations a second, which take {} each",
        number(syncs),
        number(writing.per_second),
        duration(writing.mean_ns)
    );
    Some((holds, words))
}

/// Share of the throughput without checkpoints that they cost; `None` where it is not known.
fn checkpoint_cost(evidence: &Evidence<'_>) -> Option<f64> {
    let around = evidence.checkpoints.filter(|around| around.without > 0.0)?;
    Some(evidence.figures.checkpoint_share? * (1.0 - around.with / around.without))
}

fn checkpoint(evidence: &Evidence<'_>) -> Option<(bool, String)> {
    let share = evidence.figures.checkpoint_share?;
    let words = format!("under way for {} of the time", percent(share, 0));
    let Some(around) = evidence.checkpoints else {
        return Some((false, words));
    };
    let cost = checkpoint_cost(evidence).unwrap_or(0.0);
    let words =
        format!("{words}, {} then and {} otherwise", rate(around.with), rate(around.without));
    Some((cost >= CHECKPOINT_COST, words))
}

fn disk_busy(evidence: &Evidence<'_>) -> Option<(bool, String)> {
    if evidence.disk.is_some() {
        return Some((false, LIMITS_KNOWN.into()));
    }
    let busy = evidence.figures.device_utilisation?;
    let waiting = evidence.waiting_for_reads()?;
    let mut words = format!("busy for {} of the time", percent(busy, 0));
    if let Some(queue) = evidence.figures.device_queue {
        words.push_str(&format!(", {} requests in flight", number(queue)));
    }
    words.push_str(&format!(
        ", reads take {} of the sessions' time; what it could do at most is not known",
        percent(waiting.min(1.0), 0)
    ));
    Some((busy >= DEVICE_BUSY && waiting >= WAITING_FOR_DISK, words))
}

fn disk_latency(evidence: &Evidence<'_>) -> Option<(bool, String)> {
    let figures = &evidence.figures;
    let waiting = evidence.waiting_for_reads()?;
    if waiting < LATENCY_BOUND {
        return Some((false, format!("reads take {} of the sessions' time", percent(waiting, 0))));
    }
    let (reads, latency_ns) = (figures.device_reads_per_operation?, figures.device_read_ns?);
    let measured = figures.operations_per_second?;
    let sessions = counted(evidence.sessions(), "session");
    let at_most = evidence.sessions() / (reads * latency_ns / 1e9);
    let follows = if measured <= BROKEN_FROM * at_most {
        format!(", so at most {} op/s", number(at_most))
    } else {
        // Reads ahead, and those of the engine's own threads.
        let in_flight = measured * reads * latency_ns / 1e9;
        let in_flight = number(in_flight);
        format!(", {in_flight} in flight on average, so no session waits for some of them")
    };
    let mut words = format!(
        "{sessions}, {} device reads of {} per operation{follows}; measured {}",
        number(reads),
        duration(latency_ns),
        number(measured)
    );
    if let Some(nearest) = evidence.identities.first() {
        words.push_str(&format!(
            "; of the disk's {}, {} are used",
            limit_name(nearest),
            percent(nearest.ratio, 0)
        ));
    }
    words.push_str(&split_pages(evidence));
    Some((true, words))
}

fn contention(evidence: &Evidence<'_>) -> Option<(bool, String)> {
    let figures = &evidence.figures;
    let busy = figures.machine_busy?;
    let used = evidence.used_processors()?;
    let waiting = evidence.waiting_for_reads()?;
    // The remainder proves nothing if a link of unknown speed may be full.
    network_bandwidth(evidence)?;
    let is_closed = matches!(evidence.load, LoadKind::Closed { target: None, .. });
    let waits_little =
        evidence.waiting_for_processors().is_some_and(|share| share < HARDLY_WAITING);
    let holds = is_closed
        && evidence.sessions() > 1.0
        && (busy < ROOM || waits_little)
        && used < ROOM * evidence.usable_processors()
        && waiting < WAITING_FOR_DISK;
    let mut words = format!(
        "of {} {} compute and {} wait for device reads",
        counted(evidence.sessions(), "session"),
        number(used),
        number(waiting * evidence.sessions())
    );
    if holds {
        words.push_str(&format!(
            ", the others wait for each other; {} of {} busy",
            percent(busy, 0),
            processors(evidence.cores)
        ));
        if let Some(switches) = figures.context_switches_per_operation {
            words.push_str(&format!(", {} context switches an operation", number(switches)));
        }
    }
    Some((holds, words))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: &str = "<!-- causes: begin, written by crates/judge/src/rules.rs -->\n";
    const END: &str = "<!-- causes: end -->";

    /// The table in `docs/methods.md` is this one. To write it: `PLIMSOLL_WRITE_DOCS=1 cargo test -p plimsoll-judge rules`.
    #[test]
    fn the_page_has_the_table() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/methods.md");
        let page = std::fs::read_to_string(&path).expect("docs/methods.md is in the repository");
        let (before, rest) = page.split_once(BEGIN).expect("the page has the first mark");
        let (found, after) =
            rest.split_once(END).expect("the page has the second mark after the first");
        let mut table = "| cause | named when |\n|---|---|\n".to_owned();
        for (kind, when) in cause_rules() {
            table.push_str(&format!("| {} | {when} |\n", kind.name()));
        }
        if std::env::var_os("PLIMSOLL_WRITE_DOCS").is_some() {
            std::fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}"))
                .expect("docs/methods.md can be written");
            return;
        }
        assert_eq!(
            found, table,
            "docs/methods.md is out of date: run again with PLIMSOLL_WRITE_DOCS=1"
        );
    }

    #[test]
    fn each_cause_has_one_rule() {
        let mut kinds: Vec<CauseKind> = RULES.iter().map(|rule| rule.kind).collect();
        kinds.sort();
        kinds.dedup();
        assert_eq!(kinds.len(), RULES.len());
    }
}
