//! Everything that is watched besides the operations, second by second.

use crate::device::DeviceSource;
use crate::group::{Group, GroupSource};
use crate::kernel::Kernel;
use crate::network::Network;
use crate::process::{self, Process};
use crate::run_queue::RunQueue;
use crate::{DeviceTotals, Figures, Host};
use nix::time::{ClockId, clock_gettime};
use plimsoll_record::figures;
use std::collections::BTreeMap;

/// Gathers the figures of [`plimsoll_record::figures`] for each slice: of the engine, the device, the machine, the control group, the
/// server, the network, and this process where there is no server. Files are kept open and read into one buffer, so that a sample costs little; what it costs is itself a figure.
pub struct SliceSampler {
    /// `None` where only the engine is watched.
    kernel: Option<Kernel>,
    device: Option<Box<dyn DeviceSource>>,
    group: Option<Group>,
    server: Vec<Process>,
    /// Threads of this process, and of the server.
    run_queue: Option<RunQueue>,
    network: Option<Network>,
    buffer: Vec<u8>,
    /// The last values of all sources, levels included.
    last: Figures,
    /// What they tell now; kept for its memory.
    now: Figures,
}

impl SliceSampler {
    /// Counts from now on. Without device or group there are no figures of them.
    pub fn new(
        host: &Host,
        device: Option<Box<dyn DeviceSource>>,
        group: Option<GroupSource>,
    ) -> Self {
        let mut sampler = Self {
            kernel: Some(Kernel::open(host)),
            device,
            group: group.map(|group| Group::open(host, &group)),
            server: Vec::new(),
            run_queue: Some(RunQueue::of(host, [std::process::id()])),
            network: None,
            buffer: vec![0; 16 << 10],
            last: Vec::new(),
            now: Vec::new(),
        };
        sampler.sample(&mut |_| {}, &mut BTreeMap::new());
        sampler
    }

    /// Samples the engine alone: another process watches its machine.
    pub fn of_engine() -> Self {
        Self {
            kernel: None,
            device: None,
            group: None,
            server: Vec::new(),
            run_queue: None,
            network: None,
            buffer: vec![0; 4 << 10],
            last: Vec::new(),
            now: Vec::new(),
        }
    }

    /// The same with the figures of a server, by the ids of its processes. What is read by the process under test is from then on what those
    /// processes read, and not this one.
    pub fn of_server(mut self, host: &Host, processes: &[u32]) -> Self {
        let opened = processes.iter().map(|process| Process::open(host, *process));
        self.server = opened.collect();
        let all = processes.iter().copied().chain([std::process::id()]);
        self.run_queue = Some(RunQueue::of(host, all));
        if let Some(kernel) = &mut self.kernel {
            kernel.without_this_process();
        }
        self.sample(&mut |_| {}, &mut BTreeMap::new());
        self
    }

    /// The same with the figures of a network.
    pub fn with_network(mut self, network: Option<Network>) -> Self {
        self.network = network;
        self.sample(&mut |_| {}, &mut BTreeMap::new());
        self
    }

    /// Levels as they are, and by how much counters rose since the last call, or since this was made. The engine reports its own figures
    /// through `engine`; its counters are known from the second call on.
    ///
    /// A counter that cannot be compared is left out: one that was missing the last time, or that fell, as after a restart.
    pub fn sample(
        &mut self,
        engine: &mut dyn FnMut(&mut Figures),
        into: &mut BTreeMap<String, f64>,
    ) {
        let begun = thread_cpu_ns();
        let now = &mut self.now;
        now.clear();
        engine(now);
        let totals = self.device.as_mut().and_then(|device| device.totals());
        if let Some(totals) = totals {
            DeviceTotals::tell(&totals, now);
        }
        if let Some(group) = &self.group {
            group.tell(&mut self.buffer, now);
        }
        process::tell(&self.server, &mut self.buffer, now);
        if let Some(queue) = &mut self.run_queue {
            queue.tell(now);
        }
        if let Some(kernel) = &mut self.kernel {
            kernel.tell(&mut self.buffer, now);
        }
        if let Some(network) = &self.network {
            network.tell(&mut self.buffer, now);
        }
        for (place, (name, value)) in self.now.iter().enumerate() {
            let figure = if figures::is_level(name) {
                Some(*value)
            } else {
                rise(&self.last, place, name, *value)
            };
            if let Some(figure) = figure {
                into.insert((*name).to_owned(), figure);
            }
        }
        std::mem::swap(&mut self.last, &mut self.now);
        let spent = thread_cpu_ns().saturating_sub(begun);
        into.insert(figures::WATCHING.to_owned(), spent as f64);
    }
}

/// By how much a counter rose. It is mostly at the same place as the last time.
fn rise(last: &[(&'static str, f64)], place: usize, name: &str, value: f64) -> Option<f64> {
    let at_its_place = last.get(place).filter(|(known, _)| *known == name);
    let (_, before) = at_its_place.or_else(|| last.iter().find(|(known, _)| *known == name))?;
    (value >= *before).then_some(value - before)
}

/// CPU time of this thread, to the nanosecond.
fn thread_cpu_ns() -> i64 {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)
        .expect("a thread may always read its own clock");
    time.tv_sec() * 1_000_000_000 + time.tv_nsec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;
    use std::sync::{Arc, Mutex};

    const CPU: &str = "proc/stat";
    const MEMORY: &str = "proc/meminfo";

    fn tree() -> Tree {
        Tree::new(&[
            (CPU, "ctxt 100\n"),
            (MEMORY, "MemAvailable: 5 kB\n"),
            ("g/memory.current", "4096\n"),
            ("g/cpu.stat", "usage_usec 7\nthrottled_usec 0\n"),
        ])
    }

    fn write(tree: &Tree, path: &str, text: &str) {
        std::fs::write(tree.host().path(path), text).unwrap();
    }

    /// The values now, without the cost of watching.
    fn sampled(
        sampler: &mut SliceSampler,
        engine: &[(&'static str, f64)],
    ) -> BTreeMap<String, f64> {
        let mut figures = BTreeMap::new();
        sampler.sample(&mut |into| into.extend_from_slice(engine), &mut figures);
        assert!(figures.remove(figures::WATCHING).unwrap() > 0.0);
        figures
    }

    fn expected(pairs: &[(&str, f64)]) -> BTreeMap<String, f64> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    }

    #[test]
    fn counters_are_differences_and_levels_are_not() {
        let tree = tree();
        let mut sampler = SliceSampler::new(&tree.host(), None, None);
        write(&tree, CPU, "ctxt 130\n");
        write(&tree, MEMORY, "MemAvailable: 4 kB\n");
        let memory = (figures::MACHINE_MEMORY_AVAILABLE, 4_096.0);
        assert_eq!(
            sampled(&mut sampler, &[]),
            expected(&[(figures::MACHINE_CONTEXT_SWITCHES, 30.0), memory])
        );
        assert_eq!(
            sampled(&mut sampler, &[]),
            expected(&[(figures::MACHINE_CONTEXT_SWITCHES, 0.0), memory])
        );
    }

    #[test]
    fn a_counter_that_fell_or_was_away_is_left_out_for_one_slice() {
        let tree = tree();
        let mut sampler = SliceSampler::new(&tree.host(), None, None);
        let mut switches = |text: &str| {
            write(&tree, CPU, text);
            let figures = sampled(&mut sampler, &[]);
            figures.get(figures::MACHINE_CONTEXT_SWITCHES).copied()
        };
        assert_eq!(switches("ctxt 7\n"), None);
        assert_eq!(switches("ctxt 9\n"), Some(2.0));
        assert_eq!(switches("\n"), None);
        assert_eq!(switches("ctxt 20\n"), None);
        assert_eq!(switches("ctxt 21\n"), Some(1.0));
    }

    #[test]
    fn counters_of_an_engine_are_known_from_the_second_call_on() {
        let mut sampler = SliceSampler::new(&Tree::new(&[]).host(), None, None);
        let dirty = (figures::ENGINE_CACHE_DIRTY, 5.0);
        let reads = |number| (figures::ENGINE_BLOCK_READS, number);
        let pages = |number| (figures::ENGINE_PAGES_READ, number);
        let found = sampled(&mut sampler, &[dirty, reads(1_000.0)]);
        assert_eq!(found, expected(&[dirty]));
        let found = sampled(&mut sampler, &[pages(3.0), dirty, reads(1_010.0)]);
        assert_eq!(found, expected(&[dirty, reads(10.0)]));
        assert_eq!(
            sampled(&mut sampler, &[reads(1_011.0), pages(5.0)]),
            expected(&[reads(1.0), pages(2.0)])
        );
    }

    struct Scripted(Arc<Mutex<Option<DeviceTotals>>>);

    impl DeviceSource for Scripted {
        fn totals(&mut self) -> Option<DeviceTotals> {
            *self.0.lock().unwrap()
        }
    }

    #[test]
    fn device_and_group_are_told_where_they_are_known() {
        let tree = tree();
        let totals = Arc::new(Mutex::new(Some(DeviceTotals {
            reads: 10,
            read_ns: 500,
            credits: Some(900.0),
            shaped: Some(false),
            cpu_ns: Some(70),
            ..DeviceTotals::default()
        })));
        let group = GroupSource {
            version: 2,
            memory: Some("/g".into()),
            cpu: Some("/g".into()),
            cpuacct: None,
        };
        let device: Box<dyn DeviceSource> = Box::new(Scripted(Arc::clone(&totals)));
        let mut sampler = SliceSampler::new(&tree.host(), Some(device), Some(group));
        *totals.lock().unwrap() = Some(DeviceTotals {
            reads: 12,
            read_ns: 650,
            credits: Some(898.0),
            shaped: Some(true),
            cpu_ns: Some(90),
            ..DeviceTotals::default()
        });
        write(&tree, "g/cpu.stat", "usage_usec 9\nthrottled_usec 1\n");
        let figures = sampled(&mut sampler, &[]);
        for (name, value) in [
            (figures::DEVICE_READS, 2.0),
            (figures::DEVICE_READ_TIME, 150.0),
            (figures::DEVICE_WRITES, 0.0),
            (figures::DEVICE_CREDITS, 898.0),
            (figures::DEVICE_SHAPED, 1.0),
            (figures::DEVICE_CPU, 20.0),
            (figures::GROUP_MEMORY, 4_096.0),
            (figures::GROUP_CPU, 2_000.0),
            (figures::GROUP_CPU_THROTTLED, 1_000.0),
        ] {
            assert_eq!(figures.get(name), Some(&value), "{name}");
        }
        *totals.lock().unwrap() = None;
        let figures = sampled(&mut sampler, &[]);
        assert!(!figures.keys().any(|name| name.starts_with("device.")));
        assert!(figures.contains_key(figures::GROUP_CPU));
    }

    /// All figures exist that any Linux has.
    #[test]
    fn this_machine_is_watched() {
        let mut sampler = SliceSampler::new(&Host::here(), None, None);
        std::fs::read("/proc/self/maps").unwrap();
        let figures = sampled(&mut sampler, &[]);
        for name in [
            figures::MACHINE_CPU_USER,
            figures::MACHINE_CONTEXT_SWITCHES,
            figures::MACHINE_MEMORY_AVAILABLE,
            figures::MACHINE_PAGE_CACHE,
            figures::MACHINE_PAGE_CACHE_DIRTY,
        ] {
            assert!(figures.contains_key(name), "{name}");
        }
        assert!(figures.keys().all(|name| figures::ALL.contains(&name.as_str())));
    }
}
