//! Processors, clocks and who else has them.

use super::{Finding, bad, good, note};
use crate::Interruptions;
use plimsoll_record::{FOREIGN_CAUTION, FOREIGN_NOTE, ForeignCpu, Machine};

pub(super) fn cores(machine: &Machine) -> Option<Finding> {
    Some(match machine.cores {
        0 => return None,
        1 => bad(
            "cores",
            "there is one processor for everything",
            "Load generator and engine take turns on it, so each waits for the other. Compare arms with one another, but do not \
             take the latencies at their word; a machine with 4 processors or more keeps the two apart.",
        ),
        cores @ 2..=3 => note(
            "cores",
            format!("there are {cores} processors"),
            "Load generator and engine share them. More sessions than processors measure the waiting line for a processor as much as \
             the engine; look at the CPU time per operation beside the throughput.",
        ),
        cores => good("cores", format!("there are {cores} processors")),
    })
}

pub(super) fn governor(machine: &Machine) -> Option<Finding> {
    let advice = "The clock of the processor rises and falls with the load, so low loads are measured at a lower clock than high ones. \
                  Until the next start: sudo cpupower frequency-set --governor performance";
    match (&machine.governor, &machine.virtualisation) {
        (Some(governor), _) if governor == "performance" => {
            Some(good("governor", "the CPU frequency governor is performance"))
        }
        (Some(governor), _) => {
            Some(bad("governor", format!("the CPU frequency governor is {governor}"), advice))
        }
        // A guest has none to see; the finding on virtualisation says so.
        (None, _) => None,
    }
}

pub(super) fn boost(machine: &Machine) -> Option<Finding> {
    if machine.boost? {
        return Some(note(
            "boost",
            "the processor may boost its clock",
            "How far depends on its temperature and on how many processors are busy, so results drift with both. Interleaved blocks even \
             that out; for steadier figures: echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost (with intel_pstate: echo 1 | \
             sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo)",
        ));
    }
    Some(good("boost", "the processor keeps its base clock"))
}

pub(super) fn clock_source(machine: &Machine) -> Option<Finding> {
    let source = machine.clock_source.as_deref()?;
    match source {
        "tsc" | "arch_sys_counter" => {
            Some(good("clock-source", format!("the clock source is {source}")))
        }
        "kvm-clock" | "hyperv_clocksource_tsc_page" => Some(note(
            "clock-source",
            format!("the clock source is {source}"),
            "It is read without entering the kernel, but takes longer than the processor's own counter. If \
             /sys/devices/system/clocksource/clocksource0/available_clocksource lists tsc: echo tsc | sudo tee \
             /sys/devices/system/clocksource/clocksource0/current_clocksource",
        )),
        _ => Some(bad(
            "clock-source",
            format!("the clock source is {source}"),
            "Reading it enters the kernel, which takes up to some microseconds, twice per operation. If \
             /sys/devices/system/clocksource/clocksource0/available_clocksource lists tsc: echo tsc | sudo tee \
             /sys/devices/system/clocksource/clocksource0/current_clocksource",
        )),
    }
}

/// Kernels without high-resolution timers count in ticks of 1 to 10 ms.
const FINE_TIMER_NS: u64 = 1_000;

pub(super) fn timer_resolution(resolution_ns: u64) -> Finding {
    if resolution_ns <= FINE_TIMER_NS {
        return good("timer-resolution", format!("timers have a resolution of {resolution_ns} ns"));
    }
    bad(
        "timer-resolution",
        format!("timers have a resolution of {:.3} ms", resolution_ns as f64 / 1e6),
        "Operations of an open loop cannot be sent at the time at which they are due. Use a kernel with high-resolution timers \
         (CONFIG_HIGH_RES_TIMERS, and no highres=off on its command line).",
    )
}

pub(super) fn virtualisation(machine: &Machine) -> Option<Finding> {
    Some(match &machine.virtualisation {
        None if machine.cpu_model.is_none() => return None,
        None => good("virtualisation", "this is neither a virtual machine nor a container"),
        Some(kind) => note(
            "virtualisation",
            format!("this machine is virtual: {kind}"),
            "Its processors, memory and disks may be shared with others, and how fast they are may differ from hour to hour. Take more \
             blocks, finish a comparison on one machine in one go, and prefer dedicated hosts.",
        ),
    })
}

/// A processor that is taken away for one hundredth of the time moves a throughput by as much.
const STOLEN_BAD: f64 = 0.01;
const STOLEN_NOTE: f64 = 0.001;

pub(super) fn stolen(share: f64) -> Finding {
    if share < STOLEN_NOTE {
        return good("stolen-cpu", "the hypervisor took no CPU time during the look");
    }
    let what = format!("the hypervisor took {:.1} % of a processor during the look", share * 100.0);
    let advice = "Other guests on the same host want the processors too. Move to another or a dedicated host, or choose an instance type \
                  without CPU credits.";
    if share < STOLEN_BAD {
        note("stolen-cpu", what, advice)
    } else {
        bad("stolen-cpu", what, advice)
    }
}

pub(super) fn foreign(foreign: &ForeignCpu, cores: u32) -> Finding {
    let share = foreign.share(cores);
    if share < FOREIGN_NOTE {
        return good("foreign-cpu", "other programs left the processors alone during the look");
    }
    let what = format!(
        "other programs used {:.0} % of the machine during the look: {} processors",
        share * 100.0,
        foreign.names()
    );
    let advice = "They take processor time, caches and memory from what is measured. Stop them, wait with `plimsoll run --wait-quiet 10m`, or \
                  keep to processors that they leave idle: `taskset -c 0 plimsoll run`. From 20 % on, points are not valid.";
    if share < FOREIGN_CAUTION {
        note("foreign-cpu", what, advice)
    } else {
        bad("foreign-cpu", what, advice)
    }
}

/// A gap of a millisecond is beyond what interrupts and the kernel's own housekeeping take; it shows in a 99.9th percentile of any fast
/// operation when it comes every second.
const LONG_GAP_NS: u64 = 1_000_000;
const LOST_BAD: f64 = 0.01;
const LOST_NOTE: f64 = 0.001;

pub(super) fn interruptions(seen: &Interruptions) -> Finding {
    let what = format!(
        "a busy processor was away for {:.2} % of {:.1} s, for {:.2} ms at most",
        seen.lost_share() * 100.0,
        seen.looked_ns as f64 / 1e9,
        seen.longest_ns as f64 / 1e6,
    );
    let advice = "Other programs, or other guests on this host, run in between. Stop what need not run (see top), and do not build or \
                  back up meanwhile.";
    if seen.lost_share() >= LOST_BAD {
        return bad("interruptions", what, advice);
    }
    if seen.lost_share() >= LOST_NOTE || seen.longest_ns >= LONG_GAP_NS {
        return note("interruptions", what, advice);
    }
    good("interruptions", what)
}

/// Tasks for each processor. Half of the machine belongs to somebody else above the second.
const LOAD_NOTE: f64 = 0.1;
const LOAD_BAD: f64 = 0.5;

pub(super) fn load_average(load: f64, cores: u32) -> Finding {
    let per_core = load / f64::from(cores.max(1));
    let processors = if cores == 1 { "processor" } else { "processors" };
    let what = format!("the load average is {load:.2} on {cores} {processors}");
    let advice = "Something else was running within the last minute. Wait until it is done, or find it with top.";
    if per_core >= LOAD_BAD {
        return bad("load-average", what, advice);
    }
    if per_core >= LOAD_NOTE {
        return note("load-average", what, advice);
    }
    good("load-average", what)
}

pub(super) fn cpu_limit(machine: &Machine) -> Option<Finding> {
    let limit = machine.cpu_limit?;
    Some(bad(
        "cpu-limit",
        format!("the control group limits CPU time to that of {limit:.2} processors"),
        "Such a quota stops all threads for the rest of each period, mostly 100 ms, once it is used up: that becomes the tail of every \
         latency. Give whole processors instead: docker run --cpuset-cpus 0-3, or AllowedCPUs= in systemd.",
    ))
}
