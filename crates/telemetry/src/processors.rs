//! Which processors there are, which of them a process may use, and what they did.

use crate::Host;
use crate::host::field;
use nix::errno::Errno;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use plimsoll_record::Half;
use std::collections::BTreeMap;

/// Ticks of user, nice, system, idle, iowait, irq, softirq and steal, as in `/proc/stat`, proc_stat(5).
pub(crate) type Ticks = [u64; 8];

impl Host {
    /// Numbers of the logical processors that this process may use, in order; `None` where the kernel does not say.
    pub fn processors(&self) -> Option<Vec<u32>> {
        let status = self.read("proc/self/status")?;
        listed(field(&status, "Cpus_allowed_list")?)
    }

    /// For how long each processor that this process may use has been busy since the machine started, in ticks, by its number.
    pub fn busy(&self) -> BTreeMap<u32, u64> {
        let stat = self.read("proc/stat").unwrap_or_default();
        let each = self.processors().unwrap_or_default().into_iter();
        let busy = |[user, nice, system, _, _, irq, softirq, steal]: Ticks| {
            user + nice + system + irq + softirq + steal
        };
        each.filter_map(|one| Some((one, busy(ticks(&stat, Some(&[one]))?)))).collect()
    }

    /// Two halves of the processors that this process may use, with as many each: whole cores, so that no core works for both, and those of one socket together as
    /// far as that comes out even. Of an odd number of cores the last is left out. Where there is one core with several threads, they are shared between the halves.
    pub fn halves(&self) -> Result<[Half; 2], String> {
        let processors = self.processors().unwrap_or_default();
        // By socket and core; where the kernel does not say, each processor is a core.
        let mut cores: BTreeMap<(u64, Vec<u32>), Vec<u32>> = BTreeMap::new();
        for processor in &processors {
            let topology = format!("sys/devices/system/cpu/cpu{processor}/topology");
            let socket = self.number(format!("{topology}/physical_package_id"));
            let siblings = self.read(format!("{topology}/thread_siblings_list"));
            let siblings = siblings.and_then(|list| listed(&list));
            let core = siblings.unwrap_or_else(|| vec![*processor]);
            let threads = cores.entry((socket.unwrap_or(0), core)).or_default();
            threads.push(*processor);
        }
        let mut units: Vec<Vec<u32>> = cores.into_values().collect();
        let shares_core = units.len() == 1 && processors.len() > 1;
        if shares_core {
            units = processors.iter().map(|one| vec![*one]).collect();
        }
        let each = units.len() / 2;
        if each == 0 {
            return Err(match processors.len() {
                0 => "the kernel does not say which processors may be used".into(),
                _ => "only one processor may be used".into(),
            });
        }
        let half = |units: &[Vec<u32>]| Half { processors: units.concat(), shares_core };
        let halves = [half(&units[..each]), half(&units[each..2 * each])];
        match halves[0].processors.len() == halves[1].processors.len() {
            true => Ok(halves),
            false => Err("the cores have different numbers of threads".into()),
        }
    }
}

/// Does something on these processors only. Processes and threads that begin meanwhile stay there; this thread gets back what it had.
pub fn on_processors<T>(processors: &[u32], does: impl FnOnce() -> T) -> std::io::Result<T> {
    let this_thread = Pid::from_raw(0);
    let before = sched_getaffinity(this_thread)?;
    let mut wanted = CpuSet::new();
    for processor in processors {
        let number = usize::try_from(*processor).map_err(|_| Errno::EINVAL)?;
        wanted.set(number)?;
    }
    sched_setaffinity(this_thread, &wanted)?;
    let restored = Restored(before);
    let done = does();
    drop(restored);
    Ok(done)
}

/// Gives this thread its processors back, also where what was done on others panics.
struct Restored(CpuSet);

impl Drop for Restored {
    fn drop(&mut self) {
        // It had them before, so they cannot be refused but for processors that were taken away meanwhile, and then the kernel chooses.
        let _ = sched_setaffinity(Pid::from_raw(0), &self.0);
    }
}

/// Numbers in a list such as `0-3,8`.
pub(crate) fn listed(list: &str) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if first > last {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

/// What these processors did, or all of them, by the text of `/proc/stat`.
pub(crate) fn ticks(stat: &str, of: Option<&[u32]>) -> Option<Ticks> {
    let lines = stat.lines().take_while(|line| line.starts_with("cpu"));
    let Some(of) = of else {
        return lines.take(1).find_map(|line| numbers(line.strip_prefix("cpu ")?));
    };
    let mut sum = Ticks::default();
    let mut found = 0;
    for line in lines {
        let Some((name, rest)) = line.split_once(' ') else {
            continue;
        };
        let number = name.strip_prefix("cpu").and_then(|name| name.parse().ok());
        if number.is_some_and(|number: u32| of.contains(&number)) {
            for (sum, one) in sum.iter_mut().zip(numbers(rest)?) {
                *sum += one;
            }
            found += 1;
        }
    }
    (found == of.len()).then_some(sum)
}

/// The processors of this process where they are fewer than there are, so that what others did would count.
pub(crate) fn fewer_than_all(host: &Host) -> Option<Vec<u32>> {
    usable_by_any(host, &[])
}

/// The processors that this process or any of these may use, where they are fewer than there are.
pub(crate) fn usable_by_any(host: &Host, processes: &[u32]) -> Option<Vec<u32>> {
    let mut allowed = host.processors()?;
    for process in processes {
        let status = host.read(format!("proc/{process}/status"));
        allowed.extend(
            status.and_then(|text| listed(field(&text, "Cpus_allowed_list")?)).unwrap_or_default(),
        );
    }
    allowed.sort_unstable();
    allowed.dedup();
    let stat = host.read("proc/stat")?;
    let is_processor = |line: &&str| line.starts_with("cpu") && !line.starts_with("cpu ");
    (allowed.len() < stat.lines().filter(is_processor).count()).then_some(allowed)
}

fn numbers(words: &str) -> Option<Ticks> {
    let mut ticks = Ticks::default();
    let mut words = words.split_ascii_whitespace();
    for one in &mut ticks {
        *one = words.next()?.parse().ok()?;
    }
    Some(ticks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    fn half(processors: &[u32], shares_core: bool) -> Half {
        Half { processors: processors.to_vec(), shares_core }
    }

    /// A machine with these processors: number, socket, siblings.
    fn machine(allowed: &str, processors: &[(u32, u32, &str)]) -> Tree {
        let mut files = vec![(
            "proc/self/status".to_owned(),
            format!("Name:\tplimsoll\nCpus_allowed_list:\t{allowed}\n"),
        )];
        for (number, socket, siblings) in processors {
            let topology = format!("sys/devices/system/cpu/cpu{number}/topology");
            files.push((format!("{topology}/physical_package_id"), socket.to_string()));
            files.push((format!("{topology}/thread_siblings_list"), (*siblings).into()));
        }
        let files: Vec<_> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
        Tree::new(&files)
    }

    #[test]
    fn halves_are_whole_cores() {
        let tree = machine("0-3", &[(0, 0, "0,2"), (1, 0, "1,3"), (2, 0, "0,2"), (3, 0, "1,3")]);
        let expected = [half(&[0, 2], false), half(&[1, 3], false)];
        assert_eq!(tree.host().halves(), Ok(expected));

        // Sockets stay together, however their processors are numbered.
        let tree = machine("0-3", &[(0, 0, "0"), (1, 1, "1"), (2, 0, "2"), (3, 1, "3")]);
        let expected = [half(&[0, 2], false), half(&[1, 3], false)];
        assert_eq!(tree.host().halves(), Ok(expected));

        let three = machine("1-3", &[(1, 0, "1"), (2, 0, "2"), (3, 0, "3")]);
        let expected = [half(&[1], false), half(&[2], false)];
        assert_eq!(three.host().halves(), Ok(expected), "the third is left out");

        let unknown = machine("0,5", &[]);
        let expected = [half(&[0], false), half(&[5], false)];
        assert_eq!(unknown.host().halves(), Ok(expected));
    }

    #[test]
    fn one_core_is_shared_and_one_processor_is_too_little() {
        let tree = machine("0-1", &[(0, 0, "0-1"), (1, 0, "0-1")]);
        let expected = [half(&[0], true), half(&[1], true)];
        assert_eq!(tree.host().halves(), Ok(expected));
        let why = machine("3", &[(3, 0, "3")]).host().halves().unwrap_err();
        assert_eq!(why, "only one processor may be used");
        let why = Tree::new(&[]).host().halves().unwrap_err();
        assert!(why.contains("does not say"), "{why}");
        // Both threads of one core may be used, and one of the other.
        let uneven = machine("0-2", &[(0, 0, "0-1"), (1, 0, "0-1"), (2, 0, "2-3")]);
        assert!(uneven.host().halves().is_err());
    }

    #[test]
    fn what_begins_on_processors_stays_there() {
        let all = Host::here().processors().unwrap();
        let first = &all[..1];
        let child = || std::process::Command::new("sleep").arg("100").spawn();
        let mut child = on_processors(first, child).unwrap().unwrap();
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let found = listed(field(&status, "Cpus_allowed_list").unwrap()).unwrap();
        assert_eq!(found, first);
        // This thread is where it was. Its own list is that of the thread, `self` that of the process.
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        assert_eq!(listed(field(&status, "Cpus_allowed_list").unwrap()), Some(all));
        assert!(on_processors(&[100_000], || ()).is_err());
    }

    #[test]
    fn the_processors_of_this_process_are_busy_for_some_time() {
        let tree = Tree::new(&[
            ("proc/self/status", "Cpus_allowed_list:\t1-2\n"),
            (
                "proc/stat",
                "cpu  1 1 1 1 1 1 1 1 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\ncpu1 1 2 3 4 5 6 7 8 0 0\ncpu2 9 0 0 99 0 0 0 0 0 0\n",
            ),
        ]);
        assert_eq!(tree.host().busy(), BTreeMap::from([(1, 27), (2, 9)]));
    }

    #[test]
    fn lists_are_read() {
        assert_eq!(listed("0"), Some(vec![0]));
        assert_eq!(listed("0-3,8,10-11"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        assert_eq!(listed("3-0"), None);
        assert_eq!(listed(""), None);
    }

    #[test]
    fn ticks_of_some_processors_are_added() {
        let stat = "cpu  10 20 30 40 50 60 70 80 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu1 9 18 27 36 45 54 63 72 0 0\nintr 5\n";
        let all = [10, 20, 30, 40, 50, 60, 70, 80];
        assert_eq!(ticks(stat, None), Some(all));
        assert_eq!(ticks(stat, Some(&[0])), Some([1, 2, 3, 4, 5, 6, 7, 8]));
        assert_eq!(ticks(stat, Some(&[0, 1])), Some(all));
        assert_eq!(ticks(stat, Some(&[0, 2])), None);
        assert_eq!(ticks("cpu 1 2 3\n", None), None);
    }
}
