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

    fn cpu_ns(&self) -> Option<f64> {
        let used = self.clock.and_then(|clock| clock_gettime(clock).ok());
        used.map(nanoseconds)
    }

    /// The second number of proc_pid_statm(5) is what is resident.
    fn memory_bytes(&self, buffer: &mut Vec<u8>) -> Option<f64> {
        let text = self.memory.read(buffer)?;
        let pages = text.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()?;
        Some(pages as f64 * self.page_bytes)
    }

    fn read_bytes(&self, buffer: &mut Vec<u8>) -> Option<f64> {
        let text = self.calls.read(buffer)?;
        let (_, bytes) = keyed(text).find(|(key, _)| *key == "rchar")?;
        Some(bytes as f64)
    }
}

/// The figures of a server with these members: sums, as far as all of them tell, and the CPU time of each where there are several.
pub(crate) fn tell(members: &[Process], buffer: &mut Vec<u8>, into: &mut Figures) {
    if members.is_empty() {
        return;
    }
    let mut total_cpu = Some(0.0);
    for (place, member) in members.iter().enumerate() {
        let used = member.cpu_ns();
        total_cpu = total_cpu.zip(used).map(|(total, used)| total + used);
        let name = figures::SERVER_MEMBER_CPU.get(place);
        if let (Some(used), Some(name)) = (used, name.filter(|_| members.len() > 1)) {
            into.push((name, used));
        }
    }
    into.extend(total_cpu.map(|used| (figures::SERVER_CPU, used)));
    let memory: Option<f64> = members.iter().map(|member| member.memory_bytes(buffer)).sum();
    into.extend(memory.map(|bytes| (figures::SERVER_MEMORY, bytes)));
    let read: Option<f64> = members.iter().map(|member| member.read_bytes(buffer)).sum();
    into.extend(read.map(|bytes| (figures::PROCESS_READ_BYTES, bytes)));
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
        let mut figures_read = Figures::new();
        tell(&[process], &mut vec![0; 64], &mut figures_read);
        let figures_read: BTreeMap<&str, f64> = figures_read.into_iter().collect();
        assert!(figures_read[figures::SERVER_CPU] > 0.0);
        assert!(
            figures_read[figures::SERVER_MEMORY] > 100_000.0,
            "a Rust program is larger than that"
        );
        assert!(figures_read[figures::PROCESS_READ_BYTES] > 0.0);
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
        let mut figures_read = Figures::new();
        tell(&[process], &mut vec![0; 64], &mut figures_read);
        let expected =
            [(figures::SERVER_MEMORY, 25.0 * 4096.0), (figures::PROCESS_READ_BYTES, 6_976.0)];
        assert_eq!(figures_read, expected);
    }

    #[test]
    fn members_are_summed_and_each_has_its_own_cpu_time() {
        let tree = Tree::new(&[
            ("proc/7/statm", "9000 25 8 1 0 300 0\n"),
            ("proc/7/io", "rchar: 6976\nwchar: 0\n"),
            ("proc/8/statm", "9000 5 8 1 0 300 0\n"),
            ("proc/8/io", "rchar: 24\nwchar: 0\n"),
        ]);
        let own = Process::open(&Host::here(), std::process::id()).clock;
        let mut members = [7, 8].map(|process| Process {
            clock: own,
            page_bytes: 4096.0,
            ..Process::open(&tree.host(), process)
        });
        let describe = |members: &[Process]| -> BTreeMap<&str, f64> {
            let mut figures_read = Figures::new();
            tell(members, &mut vec![0; 64], &mut figures_read);
            figures_read.into_iter().collect()
        };
        let both = describe(&members);
        assert_eq!(both[figures::SERVER_MEMORY], 30.0 * 4096.0);
        assert_eq!(both[figures::PROCESS_READ_BYTES], 7_000.0);
        let of_members = both[figures::SERVER_MEMBER_1_CPU] + both[figures::SERVER_MEMBER_2_CPU];
        assert_eq!(both[figures::SERVER_CPU], of_members);
        assert!(both[figures::SERVER_MEMBER_2_CPU] > 0.0);
        // A sum without one of them would be wrong.
        members[1].clock = None;
        let one = describe(&members);
        assert!(one.contains_key(figures::SERVER_MEMBER_1_CPU));
        assert!(!one.contains_key(figures::SERVER_CPU));
        assert!(describe(&members[..0]).is_empty());
    }
}
