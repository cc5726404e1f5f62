//! What another process uses: the server that is under test.

use crate::kept_file::{KeptFile, keyed};
use crate::{Figures, Host};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_getcpuclockid, clock_gettime};
use nix::unistd::{Pid, SysconfVar, sysconf};
use plimsoll_record::figures;

/// A process, watched from outside.
pub(crate) struct Process {
    /// Its CPU time, of all its threads.
    clock: Option<ClockId>,
    memory: KeptFile,
    calls: KeptFile,
    page_bytes: f64,
}

impl Process {
    pub(crate) fn open(host: &Host, process: u32) -> Self {
        let page_bytes = sysconf(SysconfVar::PAGE_SIZE).ok().flatten();
        let pid = i32::try_from(process).ok().map(Pid::from_raw);
        Self {
            clock: pid.and_then(|pid| clock_getcpuclockid(pid).ok()),
            memory: KeptFile::open(host, format!("proc/{process}/statm")),
            calls: KeptFile::open(host, format!("proc/{process}/io")),
            page_bytes: page_bytes.unwrap_or(4096) as f64,
        }
    }

    pub(crate) fn tell(&self, buffer: &mut Vec<u8>, into: &mut Figures) {
        let used = self.clock.and_then(|clock| clock_gettime(clock).ok());
        into.extend(used.map(|used| (figures::SERVER_CPU, nanoseconds(used))));
        // The second number of proc_pid_statm(5) is what is resident.
        let pages = self.memory.read(buffer).and_then(|text| {
            let word = text.split_ascii_whitespace().nth(1)?;
            word.parse::<u64>().ok()
        });
        into.extend(pages.map(|pages| (figures::SERVER_MEMORY, pages as f64 * self.page_bytes)));
        if let Some(text) = self.calls.read(buffer) {
            let asked = keyed(text).find(|(key, _)| *key == "rchar");
            into.extend(asked.map(|(_, bytes)| (figures::PROCESS_READ_BYTES, bytes as f64)));
        }
    }
}

fn nanoseconds(time: TimeSpec) -> f64 {
    time.tv_sec() as f64 * 1e9 + time.tv_nsec() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;
    use std::collections::BTreeMap;

    #[test]
    fn a_process_is_watched_from_outside() {
        let own = std::process::id();
        let process = Process::open(&Host::here(), own);
        let mut told = Figures::new();
        process.tell(&mut vec![0; 64], &mut told);
        let told: BTreeMap<&str, f64> = told.into_iter().collect();
        assert!(told[figures::SERVER_CPU] > 0.0);
        assert!(
            told[figures::SERVER_MEMORY] > 100_000.0,
            "a Rust program is larger than that"
        );
        assert!(told[figures::PROCESS_READ_BYTES] > 0.0);
    }

    #[test]
    fn memory_is_in_pages_and_reads_are_those_of_calls() {
        let tree = Tree::new(&[
            ("proc/7/statm", "9000 25 8 1 0 300 0\n"),
            ("proc/7/io", "rchar: 6976\nwchar: 0\n"),
        ]);
        let mut process = Process::open(&tree.host(), 7);
        process.clock = None;
        process.page_bytes = 4096.0;
        let mut told = Figures::new();
        process.tell(&mut vec![0; 64], &mut told);
        let expected = [
            (figures::SERVER_MEMORY, 25.0 * 4096.0),
            (figures::PROCESS_READ_BYTES, 6_976.0),
        ];
        assert_eq!(told, expected);
    }
}
