//! How long the threads of what is under test were ready to run and had no processor.

use crate::{Figures, Host};
use plimsoll_record::figures;
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

/// Beyond it, to read every thread each second would disturb what is measured.
const MOST_THREADS: usize = 512;

/// Some processes, by their threads.
pub(crate) struct RunQueue {
    /// Where each lists its threads.
    tasks: Vec<PathBuf>,
    /// What each thread had waited at the last reading, nanoseconds; `None` before the first.
    threads: Option<HashMap<OsString, u64>>,
    waited_ns: u64,
}

impl RunQueue {
    pub(crate) fn of(host: &Host, processes: impl IntoIterator<Item = u32>) -> Self {
        let tasks = processes.into_iter();
        Self {
            tasks: tasks.map(|process| host.path(format!("proc/{process}/task"))).collect(),
            threads: None,
            waited_ns: 0,
        }
    }

    /// Nothing where the kernel does not tell, and where there are too many threads.
    pub(crate) fn tell(&mut self, into: &mut Figures) {
        let mut now = HashMap::new();
        for tasks in &self.tasks {
            let Ok(threads) = fs::read_dir(tasks) else {
                continue;
            };
            for thread in threads.flatten() {
                if now.len() == MOST_THREADS {
                    return;
                }
                // A thread may end meanwhile.
                let text = fs::read_to_string(thread.path().join("schedstat"));
                if let Some(waited_ns) = text.ok().as_deref().and_then(waited_ns) {
                    now.insert(thread.file_name(), waited_ns);
                }
            }
        }
        if now.is_empty() {
            return;
        }
        if let Some(before) = &self.threads {
            for (thread, waited_ns) in &now {
                // What a new thread has waited, it has waited since.
                let known = before.get(thread).copied().unwrap_or(0);
                self.waited_ns += waited_ns.saturating_sub(known);
            }
        }
        self.threads = Some(now);
        into.push((figures::WAITED_FOR_PROCESSOR, self.waited_ns as f64));
    }
}

/// The second number of a `schedstat`: time on a run queue.
fn waited_ns(text: &str) -> Option<u64> {
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[test]
    fn threads_that_come_and_go_are_counted_once() {
        let tree = Tree::new(&[
            ("proc/7/task/7/schedstat", "900 50 3\n"),
            ("proc/7/task/8/schedstat", "900 1000 3\n"),
            ("proc/9/task/9/schedstat", "1 2 3\n"),
        ]);
        let host = tree.host();
        let mut queue = RunQueue::of(&host, [7, 9]);
        let mut describe = || {
            let mut figures_read = Figures::new();
            queue.tell(&mut figures_read);
            figures_read.first().map(|(_, waited)| *waited)
        };
        assert_eq!(describe(), Some(0.0));
        // One waits, one ends, one is new.
        fs::write(host.path("proc/7/task/7/schedstat"), "950 80 4\n").unwrap();
        fs::remove_dir_all(host.path("proc/7/task/8")).unwrap();
        fs::create_dir_all(host.path("proc/7/task/10")).unwrap();
        fs::write(host.path("proc/7/task/10/schedstat"), "1 7 1\n").unwrap();
        assert_eq!(describe(), Some(37.0));
        fs::remove_dir_all(host.path("proc")).unwrap();
        assert_eq!(describe(), None);
    }

    #[test]
    fn the_kernel_tells_of_this_process() {
        let mut queue = RunQueue::of(&Host::here(), [std::process::id()]);
        let mut figures_read = Figures::new();
        queue.tell(&mut figures_read);
        assert_eq!(figures_read.len(), 1);
    }

    #[test]
    fn too_many_threads_are_not_asked() {
        let names: Vec<String> =
            (0..=MOST_THREADS).map(|thread| format!("proc/7/task/{thread}/schedstat")).collect();
        let files: Vec<_> = names.iter().map(|name| (name.as_str(), "1 2 3\n")).collect();
        let tree = Tree::new(&files);
        let mut figures_read = Figures::new();
        RunQueue::of(&tree.host(), [7]).tell(&mut figures_read);
        assert_eq!(figures_read, []);
    }
}
