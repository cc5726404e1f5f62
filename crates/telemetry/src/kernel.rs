//! What the kernel reports about the machine and about this process.

use crate::kept_file::{KeptFile, keyed};
use crate::processors::{fewer_than_all, ticks};
use crate::system::ticks_per_second;
use crate::{Figures, Host};
use plimsoll_record::figures;

/// Files below `/proc`, kept open.
pub(crate) struct Kernel {
    cpu: KeptFile,
    /// The processors whose time counts; `None`: all.
    processors: Option<Vec<u32>>,
    memory: KeptFile,
    pressures: [(&'static str, KeptFile); 3],
    /// Statistics of this process; `None` where another one is under test.
    process: Option<KeptFile>,
    tick_ns: f64,
}

impl Kernel {
    pub(crate) fn open(host: &Host) -> Self {
        let open = |path: &str| KeptFile::open(host, path);
        Self {
            cpu: open("proc/stat"),
            processors: fewer_than_all(host),
            memory: open("proc/meminfo"),
            pressures: [
                (figures::MACHINE_PRESSURE_CPU, open("proc/pressure/cpu")),
                (figures::MACHINE_PRESSURE_IO, open("proc/pressure/io")),
                (figures::MACHINE_PRESSURE_MEMORY, open("proc/pressure/memory")),
            ],
            process: Some(open("proc/self/io")),
            tick_ns: 1e9 / ticks_per_second() as f64,
        }
    }

    /// From now on without this process, because another one is under test.
    pub(crate) fn without_this_process(&mut self) {
        self.process = None;
    }

    pub(crate) fn tell(&self, buffer: &mut Vec<u8>, into: &mut Figures) {
        if let Some(text) = self.cpu.read(buffer) {
            tell_cpu(text, self.processors.as_deref(), self.tick_ns, into);
        }
        if let Some(text) = self.memory.read(buffer) {
            tell_memory(text, into);
        }
        for (name, file) in &self.pressures {
            if let Some(waited_ns) = file.read(buffer).and_then(waited_ns) {
                into.push((name, waited_ns));
            }
        }
        if let Some(text) = self.process.as_ref().and_then(|file| file.read(buffer)) {
            // Whatever read calls requested, from wherever. The files read here are in it too, some ten kilobytes each time.
            let requested = keyed(text).find(|(key, _)| *key == "rchar");
            into.extend(requested.map(|(_, bytes)| (figures::PROCESS_READ_BYTES, bytes as f64)));
        }
    }
}

/// Time of the processors that count, and context switches of the machine.
fn tell_cpu(text: &str, processors: Option<&[u32]>, tick_ns: f64, into: &mut Figures) {
    if let Some(ticks) = ticks(text, processors) {
        let [user, nice, system, idle, iowait, irq, softirq, steal] = ticks;
        let times = [
            (figures::MACHINE_CPU_USER, user + nice),
            (figures::MACHINE_CPU_SYSTEM, system + irq + softirq),
            (figures::MACHINE_CPU_IDLE, idle),
            (figures::MACHINE_CPU_IOWAIT, iowait),
            (figures::MACHINE_CPU_STEAL, steal),
        ];
        into.extend(times.map(|(name, ticks)| (name, ticks as f64 * tick_ns)));
    }
    // Looked for from the end: before it is a line with a number for each interrupt.
    let switches = text.lines().rev().find_map(|line| line.strip_prefix("ctxt "));
    if let Some(switches) = switches.and_then(|number| number.trim().parse::<u64>().ok()) {
        into.push((figures::MACHINE_CONTEXT_SWITCHES, switches as f64));
    }
}

fn tell_memory(text: &str, into: &mut Figures) {
    let (mut buffers, mut cached, mut shared) = (0, None, 0);
    for (key, kibibytes) in keyed(text) {
        let bytes = kibibytes.saturating_mul(1024);
        match key {
            "MemAvailable" => into.push((figures::MACHINE_MEMORY_AVAILABLE, bytes as f64)),
            "Dirty" => into.push((figures::MACHINE_PAGE_CACHE_DIRTY, bytes as f64)),
            "Buffers" => buffers = bytes,
            "Cached" => cached = Some(bytes),
            "Shmem" => shared = bytes,
            _ => {}
        }
    }
    // Of files and of block devices. The kernel counts shared memory and tmpfs as page cache, which have no disk below them: the blocks of
    // an emulated disk are there.
    if let Some(cached) = cached {
        let bytes = (u64::saturating_add(cached, buffers)).saturating_sub(shared);
        into.push((figures::MACHINE_PAGE_CACHE, bytes as f64));
    }
}

/// The total of the line `some` in a file of `/proc/pressure`, which is in microseconds.
fn waited_ns(text: &str) -> Option<f64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let mut words = some.split_ascii_whitespace();
    let total: u64 = words.find_map(|word| word.strip_prefix("total="))?.parse().ok()?;
    Some(total as f64 * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;
    use std::collections::BTreeMap;

    const STAT: &str = "cpu  104319 7 14829 310328 1869 1 137 124 0 0\ncpu0 1 2 3\nintr 690107 0 0\nctxt 731045\nbtime 1795242880\n";
    const MEMINFO: &str = "MemTotal:       24684092 kB\nMemAvailable:   24282600 kB\nBuffers:            4228 kB\nCached:          1067180 kB\n\
        SwapCached:            0 kB\nDirty:               116 kB\nShmem:              8856 kB\nHugePages_Total:       0\n";

    fn describe(tree: &Tree) -> BTreeMap<&'static str, f64> {
        let mut figures = Vec::new();
        let mut kernel = Kernel::open(&tree.host());
        kernel.tick_ns = 1e7;
        kernel.tell(&mut vec![0; 64], &mut figures);
        figures.into_iter().collect()
    }

    #[test]
    fn figures_are_in_their_units() {
        let tree = Tree::new(&[
            ("proc/stat", STAT),
            ("proc/meminfo", MEMINFO),
            ("proc/pressure/cpu", "some avg10=0.00 avg60=6.32 avg300=13.51 total=111701329\n"),
            (
                "proc/pressure/io",
                "some avg10=0.00 avg60=0.12 avg300=0.28 total=18657826\nfull avg10=0.00 avg60=0.01 avg300=0.12 total=15723753\n",
            ),
            ("proc/pressure/memory", "full total=8\nsome avg10=0.00 total=0\n"),
            ("proc/self/io", "rchar: 6976\nwchar: 0\nsyscr: 10\nsyscw: 0\nread_bytes: 4096\n"),
        ]);
        let kibibytes = |number: u32| f64::from(number) * 1024.0;
        let expected = [
            (figures::MACHINE_CPU_USER, 104_326e7),
            (figures::MACHINE_CPU_SYSTEM, 14_967e7),
            (figures::MACHINE_CPU_IDLE, 310_328e7),
            (figures::MACHINE_CPU_IOWAIT, 1_869e7),
            (figures::MACHINE_CPU_STEAL, 124e7),
            (figures::MACHINE_CONTEXT_SWITCHES, 731_045.0),
            (figures::MACHINE_MEMORY_AVAILABLE, kibibytes(24_282_600)),
            (figures::MACHINE_PAGE_CACHE, kibibytes(1_067_180 + 4_228 - 8_856)),
            (figures::MACHINE_PAGE_CACHE_DIRTY, kibibytes(116)),
            (figures::MACHINE_PRESSURE_CPU, 111_701_329e3),
            (figures::MACHINE_PRESSURE_IO, 18_657_826e3),
            (figures::MACHINE_PRESSURE_MEMORY, 0.0),
            (figures::PROCESS_READ_BYTES, 6_976.0),
        ];
        assert_eq!(describe(&tree), BTreeMap::from(expected));
    }

    #[test]
    fn what_is_missing_or_mangled_is_left_out() {
        assert_eq!(describe(&Tree::new(&[])), BTreeMap::new());
        let tree = Tree::new(&[
            ("proc/stat", "cpu  1 2 3\nctxt x\n"),
            ("proc/meminfo", "Buffers: 3 kB\nMemAvailable: many\n"),
            ("proc/pressure/io", "full avg10=0.00 total=9\n"),
        ]);
        assert_eq!(describe(&tree), BTreeMap::new());
    }
}
