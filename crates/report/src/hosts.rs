//! The machines of an experiment in which several took part.

use crate::Report;
use plimsoll_judge::{Analysis, HostSummary};
use plimsoll_plan::CONTROLLER;
use plimsoll_record::Machine;

/// As a file names it.
pub fn name(host: &HostSummary) -> &str {
    host.host.as_deref().unwrap_or(CONTROLLER)
}

/// What it was used for.
pub fn role(host: &HostSummary) -> &'static str {
    role_words(host.makes_load, host.has_server)
}

/// The same of any machine.
pub fn role_words(makes_load: bool, has_server: bool) -> &'static str {
    match (makes_load, has_server) {
        (true, true) => "load and server",
        (true, false) => "load",
        (false, _) => "server",
    }
}

/// The arms for which several machines worked, each with its machines.
pub fn by_arm(analysis: &Analysis) -> Vec<(&str, Vec<&HostSummary>)> {
    let mut arms: Vec<(&str, Vec<&HostSummary>)> = Vec::new();
    for host in &analysis.hosts {
        match arms.last_mut() {
            Some((arm, hosts)) if *arm == host.arm => hosts.push(host),
            _ => arms.push((&host.arm, vec![host])),
        }
    }
    arms
}

/// The machines of the hosts that arms stand on, each once, where they are not the controller's. What other programs did on it at the time makes no other machine.
pub fn machines<'a>(report: &Report<'a>) -> Vec<(&'a str, &'a Machine)> {
    let controller = report.record.machine.fingerprint();
    let mut machines: Vec<(&str, &Machine)> = Vec::new();
    for arm in &report.analysis.arms {
        let Some(on) = arm.on.as_deref() else {
            continue;
        };
        let mut runs = report.record.runs.iter();
        let run = runs.find(|run| run.arm == arm.name && run.machine.cores > 0);
        let is_known = machines.iter().any(|(host, _)| *host == on);
        if let Some(run) = run.filter(|run| !is_known && run.machine.fingerprint() != controller) {
            machines.push((on, &run.machine));
        }
    }
    machines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_what_a_machine_does() {
        let host = |makes_load, has_server| HostSummary {
            arm: "a".into(),
            host: None,
            makes_load,
            has_server,
            points: 1,
            cores: None,
            throughput: None,
            generator_lag_p99_ns: None,
            load_processors: None,
            clock_bound_ns: 0,
            start_skew_ns: None,
            stolen: None,
            network: None,
        };
        assert_eq!(role(&host(true, false)), "load");
        assert_eq!(role(&host(false, true)), "server");
        assert_eq!(role(&host(true, true)), "load and server");
        assert_eq!(name(&host(true, true)), "controller");
    }
}
