//! What other programs used of the processors: everything that is neither ours nor the kernel's.

use crate::Host;
use crate::processors::{ticks, usable_by_any};
use crate::system::ticks_per_second;
use plimsoll_record::{ForeignCpu, ForeignProgram};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Instant;

const NAMED: usize = 5;
/// `PF_KTHREAD` of the kernel: a thread of its own.
const KERNEL_THREAD: u64 = 0x0020_0000;
/// For programs that cannot be named.
const OUTSIDE: &str = "programs outside of this container";
/// Below this share of the processors' time it may be the kernel's own threads, or that of a process that was not waited for.
const OUTSIDE_FROM: f64 = 0.05;

/// Says what other programs used since it was made.
///
/// Our own are the processes under the given roots, with all that descend from them. The kernel's own threads work for everybody, above all for
/// what is measured, and are left out. All others are found by their CPU time in `/proc/PID/stat`, which is exact and is read without entering the process. What a
/// program did that began and ended in between is in the time of the parent that waited for it.
///
/// In a container only its own processes are to be seen, and none of the kernel's threads. There, what the processors did beyond them counts as foreign. Where ours may use
/// some of the processors only, as by taskset(1), others count as far as those did more than ours.
#[derive(Debug)]
pub struct ForeignSampler {
    host: Host,
    roots: Vec<u32>,
    begun: Instant,
    before: BTreeMap<u32, Process>,
    /// Processors that ours may use, where these are not all.
    usable: Option<Vec<u32>>,
    /// Their use, where that is needed: there are others, or not all processes are visible.
    processors: Option<Processors>,
    /// Whether all processes are visible.
    sees_all: bool,
    ticks_per_second: u64,
}

/// Ticks of processors since the machine started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Processors {
    busy: u64,
    all: u64,
}

impl Processors {
    fn now(host: &Host, of: Option<&[u32]>) -> Option<Self> {
        let counted = ticks(&host.read("proc/stat")?, of)?;
        let [user, nice, system, ..] = counted;
        Some(Self { busy: user + nice + system, all: counted.iter().sum() })
    }
}

/// A process as `/proc/PID/stat` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Process {
    name: String,
    parent: u32,
    started: u64,
    is_kernel: bool,
    /// CPU time of its own, ticks.
    own: u64,
    /// CPU time of children that ended and were waited for, ticks.
    children: u64,
}

impl ForeignSampler {
    /// Begins now. `roots` are processes of ours.
    pub fn start(host: &Host, roots: &[u32]) -> Self {
        let before = processes(host);
        let sees_all = before.values().any(|process| process.is_kernel);
        // In a duet this process has a half, and the runner, which is one of the roots, both: what is seen is seen on both.
        let usable = usable_by_any(host, roots);
        Self {
            host: host.clone(),
            roots: roots.to_vec(),
            begun: Instant::now(),
            processors: (!sees_all || usable.is_some())
                .then(|| Processors::now(host, usable.as_deref()))
                .flatten(),
            sees_all,
            usable,
            before,
            ticks_per_second: ticks_per_second(),
        }
    }

    /// What was used since the start. May be called again.
    pub fn since_start(&self) -> ForeignCpu {
        let elapsed_ns = u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let tick_ns = 1_000_000_000 / self.ticks_per_second;
        let mut used: BTreeMap<String, u64> = BTreeMap::new();
        let now = processes(&self.host);
        let mut others = rises(&self.before, &now, &self.roots);
        if let (Some(before), Some(after)) =
            (self.processors, Processors::now(&self.host, self.usable.as_deref()))
        {
            let seen = sum(&rises(&self.before, &now, &[]));
            if self.sees_all {
                let ours = seen.saturating_sub(sum(&others));
                at_most(&mut others, outside(before, after, ours).unwrap_or(0));
            } else if let Some(ticks) = outside(before, after, seen) {
                others.push((OUTSIDE.to_owned(), ticks));
            }
        }
        for (name, ticks) in others {
            *used.entry(name).or_insert(0) += ticks * tick_ns;
        }
        let mut programs: Vec<ForeignProgram> =
            used.into_iter().map(|(name, cpu_ns)| ForeignProgram { name, cpu_ns }).collect();
        programs.sort_by_key(|program| std::cmp::Reverse(program.cpu_ns));
        let cpu_ns = programs.iter().map(|program| program.cpu_ns).sum();
        programs.truncate(NAMED);
        ForeignCpu { cpu_ns, elapsed_ns, programs }
    }
}

/// What processors did beyond the visible processes, in ticks, where it is more than the kernel's own work.
fn outside(before: Processors, after: Processors, seen: u64) -> Option<u64> {
    let hidden = after.busy.saturating_sub(before.busy).saturating_sub(seen);
    let all = after.all.saturating_sub(before.all);
    (hidden as f64 > OUTSIDE_FROM * all as f64).then_some(hidden)
}

fn sum(rises: &[(String, u64)]) -> u64 {
    rises.iter().map(|(_, ticks)| ticks).sum()
}

/// Shortens all by the same factor until they are not more than this together: which of them used which processor is not known.
fn at_most(rises: &mut Vec<(String, u64)>, most: u64) {
    let all = sum(rises);
    if all > most {
        for (_, ticks) in rises.iter_mut() {
            *ticks = (u128::from(*ticks) * u128::from(most) / u128::from(all)) as u64;
        }
        rises.retain(|(_, ticks)| *ticks > 0);
    }
}

/// By how much the CPU time of each foreign process rose, in ticks, where it did.
fn rises(
    before: &BTreeMap<u32, Process>,
    now: &BTreeMap<u32, Process>,
    roots: &[u32],
) -> Vec<(String, u64)> {
    let ours = descendants(now, roots);
    let same = |id: &u32, process: &Process| {
        let earlier = before.get(id)?;
        (earlier.started == process.started).then_some(earlier)
    };
    // What a process that ended meanwhile had used is now in the time of its nearest ancestor that is still there, or, where its parent ended too, in that of the
    // process that adopts orphans.
    let mut known: BTreeMap<u32, u64> = BTreeMap::new();
    let mut of_orphans: BTreeMap<u32, u64> = BTreeMap::new();
    for (id, process) in before {
        if now.get(id).is_some_and(|now| now.started == process.started) {
            continue;
        }
        let mut ancestor = process.parent;
        while let Some(gone) = before.get(&ancestor).filter(|_| !now.contains_key(&ancestor)) {
            ancestor = gone.parent;
        }
        let used = process.own + process.children;
        *known.entry(ancestor).or_insert(0) += used;
        if ancestor != process.parent {
            *of_orphans.entry(ancestor).or_insert(0) += used;
        }
    }
    let of_children = |id: &u32, process: &Process| {
        let earlier = same(id, process).map_or(0, |one| one.children);
        process.children.saturating_sub(earlier)
    };
    let mut elsewhere: u64 = 0;
    for (ancestor, orphaned) in of_orphans {
        let arrived = now.get(&ancestor).map_or(0, |process| of_children(&ancestor, process));
        elsewhere += known[&ancestor].saturating_sub(arrived).min(orphaned);
    }
    let mut rises = Vec::new();
    for (id, process) in now {
        if process.is_kernel || ours.contains(id) {
            continue;
        }
        let own = same(id, process).map_or(0, |one| one.own);
        let new = of_children(id, process).saturating_sub(known.get(id).copied().unwrap_or(0));
        let taken_in = new.min(elsewhere);
        elsewhere -= taken_in;
        let rise = process.own.saturating_sub(own) + new - taken_in;
        if rise > 0 {
            rises.push((process.name.clone(), rise));
        }
    }
    rises
}

fn descendants(all: &BTreeMap<u32, Process>, roots: &[u32]) -> BTreeSet<u32> {
    let mut ours: BTreeSet<u32> = roots.iter().copied().collect();
    loop {
        let before = ours.len();
        for (id, process) in all {
            if ours.contains(&process.parent) {
                ours.insert(*id);
            }
        }
        if ours.len() == before {
            return ours;
        }
    }
}

fn processes(host: &Host) -> BTreeMap<u32, Process> {
    let mut all = BTreeMap::new();
    let Ok(entries) = fs::read_dir(host.path("proc")) else {
        return all;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(id) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        // A process may end while the list is read.
        if let Some(process) = host.read(format!("proc/{id}/stat")).and_then(|text| process(&text))
        {
            all.insert(id, process);
        }
    }
    all
}

/// proc_pid_stat(5). The name in parentheses may hold anything.
fn process(text: &str) -> Option<Process> {
    let (head, rest) = text.rsplit_once(')')?;
    let (_, name) = head.split_once('(')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // The state, after the name, is the third field of the page.
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    Some(Process {
        name: name.to_owned(),
        parent: u32::try_from(number(4)?).ok()?,
        is_kernel: number(9)? & KERNEL_THREAD != 0,
        own: number(14)? + number(15)?,
        children: number(16)? + number(17)?,
        started: number(22)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    /// A line of `/proc/PID/stat`: name, parent, flags, own time in user mode, children's time, start.
    fn stat(name: &str, parent: u32, flags: u64, own: u64, children: u64, started: u64) -> String {
        format!(
            "7 ({name}) S {parent} 1 1 0 -1 {flags} 0 0 0 0 {own} 0 {children} 0 20 0 1 0 {started} 0\n"
        )
    }

    fn tree(files: &[(u32, String)]) -> BTreeMap<u32, Process> {
        let paths: Vec<(String, &str)> =
            files.iter().map(|(id, text)| (format!("proc/{id}/stat"), text.as_str())).collect();
        let files: Vec<(&str, &str)> = paths.iter().map(|(path, text)| (&**path, *text)).collect();
        processes(&Tree::new(&files).host())
    }

    #[test]
    fn only_what_is_foreign_and_rose_counts() {
        let at = |noise: u64| {
            tree(&[
                (2, stat("kthreadd", 0, KERNEL_THREAD, noise, 0, 0)),
                (9, stat("loop0", 2, KERNEL_THREAD, noise, 0, 1)),
                (20, stat("plimsoll", 1, 0, noise, noise, 5)),
                (21, stat("worker", 20, 0, noise, 0, 6)),
                (22, stat("mongod", 1, 0, noise, 0, 7)),
                (30, stat("a (b) c", 1, 0, 100 + noise, 0, 8)),
                (31, stat("idle", 1, 0, 5, 0, 9)),
            ])
        };
        let rises = rises(&at(0), &at(40), &[20, 22]);
        assert_eq!(rises, [("a (b) c".to_owned(), 40)]);
    }

    #[test]
    fn what_ended_in_between_is_in_its_parents_time() {
        let before = tree(&[(40, stat("make", 1, 0, 1, 10, 1)), (41, stat("cc", 40, 0, 70, 0, 2))]);
        // The compiler ended after 30 more ticks, and another one began and ended that took 25.
        let now = tree(&[(40, stat("make", 1, 0, 1, 10 + 100 + 25, 1))]);
        assert_eq!(rises(&before, &now, &[]), [("make".to_owned(), 55)]);
        // A process of the same number is another one.
        let now = tree(&[(40, stat("make", 1, 0, 1, 80, 1)), (41, stat("cc", 40, 0, 3, 0, 99))]);
        assert_eq!(rises(&before, &now, &[]), [("cc".to_owned(), 3)]);
    }

    /// Its parent ended first, so another process waits for it: what it had used before is not of this time.
    #[test]
    fn what_an_orphan_used_before_does_not_count() {
        let before = tree(&[
            (1, stat("init", 0, 0, 1, 5, 0)),
            (40, stat("shell", 1, 0, 1, 10, 1)),
            (41, stat("script", 40, 0, 2, 0, 2)),
            (42, stat("build", 41, 0, 4_000, 0, 3)),
        ]);
        // The orphan used 10 more ticks until it ended.
        let now = tree(&[
            (1, stat("init", 0, 0, 1, 5 + 4_010, 0)),
            (40, stat("shell", 1, 0, 1, 10 + 2, 1)),
        ]);
        assert_eq!(rises(&before, &now, &[]), [("init".to_owned(), 10)]);
    }

    /// A container beside a busy one: 300 of 400 ticks were used, 100 of them by processes that it sees.
    #[test]
    fn what_a_container_does_not_see_counts() {
        let of = |busy: u64, own: u64, kernel: u64| {
            let stat_line = format!("cpu  {busy} 0 0 {} 0 0 0 0 0 0\n", 1_000 - busy);
            let own = stat("plimsoll", 0, kernel, own, 0, 1);
            Tree::new(&[("proc/stat", &stat_line), ("proc/7/stat", &own)])
        };
        let sampler = |kernel| ForeignSampler::start(&of(100, 10, kernel).host(), &[7]);
        assert_eq!(sampler(0).processors, Some(Processors { busy: 100, all: 1_000 }));
        // A worker of a duet, which has a half of the processors of its runner.
        let halves = Tree::new(&[
            (
                "proc/stat",
                "cpu  900 0 0 100 0 0 0 0 0 0\ncpu0 500 0 0 0 0 0 0 0 0 0\ncpu1 300 0 0 50 0 0 0 0 0 0\ncpu2 100 0 0 50 0 0 0 0 0 0\n",
            ),
            ("proc/self/status", "Cpus_allowed_list:\t0\n"),
            ("proc/7/stat", &stat("worker", 6, 0, 10, 0, 1)),
            ("proc/7/status", "Cpus_allowed_list:\t0\n"),
            ("proc/6/status", "Cpus_allowed_list:\t0-1\n"),
            ("sys/devices/system/cpu/online", "0-2\n"),
        ]);
        let sampler_of_half = ForeignSampler::start(&halves.host(), &[7, 6]);
        assert_eq!(sampler_of_half.processors, Some(Processors { busy: 800, all: 850 }));
        // If the kernel's threads are visible, so are all processes.
        assert_eq!(sampler(KERNEL_THREAD).processors, None);

        let at = |busy, all| Processors { busy, all };
        assert_eq!(outside(at(100, 1_000), at(400, 1_400), 100), Some(200));
        assert_eq!(outside(at(100, 1_000), at(210, 1_400), 100), None);
    }

    /// This process may use processor 1 of two. Other programs used 300 ticks in all: 40, none, or all of them on processor 1.
    #[test]
    fn on_some_processors_others_count_as_far_as_they_used_those() {
        let at = |ours: u64, loops: u64, sort: u64, used: u64, all: u64| {
            let line = format!(
                "cpu  {} 0 0 0 0 0 0 0 0 0\ncpu0 {all} 0 0 0 0 0 0 0 0 0\ncpu1 {used} 0 0 {} 0 0 0 0 0 0\n",
                used + all,
                all - used
            );
            Tree::new(&[
                ("proc/stat", &line),
                ("proc/self/status", "Cpus_allowed_list:\t1\n"),
                ("proc/2/stat", &stat("kthreadd", 0, KERNEL_THREAD, 0, 0, 0)),
                ("proc/7/stat", &stat("plimsoll", 1, 0, ours, 0, 1)),
                ("proc/8/stat", &stat("sh", 1, 0, loops, 0, 1)),
                ("proc/9/stat", &stat("sort", 1, 0, sort, 0, 1)),
            ])
        };
        let before = at(10, 100, 100, 50, 1_000);
        let mut sampler = ForeignSampler::start(&before.host(), &[7]);
        let tick_ns = 1_000_000_000 / sampler.ticks_per_second;
        let mut programs = |now: &Tree| {
            sampler.host = now.host();
            let each = sampler.since_start().programs.into_iter();
            each.map(|one| (one.name, one.cpu_ns / tick_ns)).collect::<Vec<_>>()
        };
        let some = at(10 + 60, 100 + 225, 100 + 75, 50 + 100, 1_400);
        assert_eq!(programs(&some), [("sh".to_owned(), 30), ("sort".to_owned(), 10)]);
        let none = at(10 + 90, 100 + 300, 100, 50 + 100, 1_400);
        assert_eq!(programs(&none), []);
        let all = at(10, 100 + 300, 100, 50 + 300, 1_400);
        assert_eq!(programs(&all), [("sh".to_owned(), 300)]);
    }

    #[test]
    fn this_process_is_foreign_to_nobody_but_others() {
        let host = Host::here();
        let own = std::process::id();
        let (foreign, ours) =
            (ForeignSampler::start(&host, &[]), ForeignSampler::start(&host, &[own]));
        // Until the clock of the kernel has seen it.
        let name = processes(&host)[&own].name.clone();
        let is_named = |used: &ForeignCpu| used.programs.iter().any(|one| one.name == name);
        let mut sum = 0_u64;
        while processes(&host)[&own].own < foreign.before[&own].own + 3 {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        let foreign = foreign.since_start();
        assert!(foreign.cpu_ns > 0 && foreign.elapsed_ns > 0);
        let others = ours.since_start();
        assert!(!is_named(&others) || others.cpu_ns < foreign.cpu_ns, "{others:?}");
    }
}
