//! Fixed tasks, timed beside the blocks: if they need longer than at other times, the machine was another one then.

use crate::clock_time::now;
use crate::error::RunnerError;
use crate::host::Hosts;
use plimsoll_record::{ProbeTask, ProbeTime};
use std::path::PathBuf;

/// A machine that tasks are timed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProbedHost {
    /// Its name in the file; `None` of the one that the program runs on.
    pub(crate) host: Option<String>,
    /// Where the disk task is done, in a directory or where data directories usually are; `None` where no data is kept there.
    pub(crate) disk: Option<Option<PathBuf>>,
}

/// Times both tasks on each machine.
pub(crate) fn time_probe_tasks(
    place: ProbeTime,
    probed: &[ProbedHost],
    hosts: &dyn Hosts,
) -> Result<Vec<ProbeTask>, RunnerError> {
    let mut timed = Vec::new();
    for one in probed {
        match time_on(place, one, hosts) {
            Ok(task) => timed.push(task),
            // Another machine that is lost now does not keep the others from continuing.
            Err(_) if one.host.is_some() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(timed)
}

fn time_on(
    place: ProbeTime,
    probed: &ProbedHost,
    hosts: &dyn Hosts,
) -> Result<ProbeTask, RunnerError> {
    let host = hosts.host(probed.host.as_deref())?;
    let disk_ns = match &probed.disk {
        Some(directory) => host.rigs().disk_task(directory.clone())?,
        None => None,
    };
    Ok(ProbeTask {
        host: probed.host.clone(),
        place,
        at: now(),
        cpu_ns: host.cpu_task_ns()?,
        disk_ns,
    })
}
