//! Whether a plan can be made in duets: two arms at a time, each on a half of the machine.

use crate::Limits;
use plimsoll_plan::{Design, Plan, PointRole, is_by_uri};
use plimsoll_record::{DiskChoice, KernelSetting};

/// Everything that makes duets unfair or impossible, in words.
pub(crate) fn against_duets(plan: &Plan, limits: Limits) -> Vec<String> {
    let mut why = Vec::new();
    let pairs = plan.measured_pairs();
    if pairs.is_empty() {
        why.push("there is no pair of arms to compare".into());
    }
    if plan.design == Design::Screening {
        why.push("a screening design compares half of the arms with the other half".into());
    }
    let is_decided =
        |point: &plimsoll_plan::Point| point.role != PointRole::Fixed || !point.sessions.is_given();
    if plan.points.iter().any(is_decided) {
        why.push("a sweep or a search chooses its own loads, so the two halves would measure different ones".into());
    }
    if plan.measurement.operations.is_some() {
        why.push("points end after a number of operations, which the two halves reach at different times".into());
    }
    if !plan.events.is_empty() {
        why.push("events at a point happen to one server at a time".into());
    }
    if !plan.load_hosts.is_empty() {
        why.push("the load comes from other hosts".into());
    }
    if plan.measurement.looks.is_some() && pairs.len() > 1 {
        why.push("with several pairs of arms the number of blocks must be a number".into());
    }
    for arm in &plan.arms {
        if let Some(host) = &arm.on {
            why.push(format!(
                "arm {} runs on host {host}, and only this machine can be halved",
                arm.name
            ));
        }
        if is_by_uri(arm) {
            why.push(format!(
                "the server of arm {} is not started by this program, so it uses more than a half",
                arm.name
            ));
        }
        let half = f64::from(limits.cores / 2);
        if let Some(cpus) = arm.rig.limits.cpus
            && cpus > half
            && limits.cores > 0
        {
            why.push(format!(
                "arm {} may use {cpus} processors, and a half of this machine has {half}",
                arm.name
            ));
        }
    }
    for [one, other] in pairs {
        let [one, other] = [one, other].map(|arm| &plan.arms[arm]);
        if let (Some(DiskChoice::Device { path }), Some(DiskChoice::Device { path: same })) =
            (&one.rig.disk, &other.rig.disk)
            && path == same
        {
            why.push(format!(
                "arms {} and {} both need the device {}",
                one.name,
                other.name,
                path.display()
            ));
        }
        for setting in KernelSetting::all().filter(|setting| setting.is_of_machine()) {
            let [left, right] = [one, other].map(|arm| arm.rig.kernel.get(&setting));
            if left != right {
                let words = |text: Option<&String>| {
                    text.map_or_else(|| "as it is".to_owned(), |text| setting.in_words(text))
                };
                why.push(format!(
                    "both halves have one kernel, and its {} is {} for arm {} and {} for arm {}",
                    setting.name(),
                    words(left),
                    one.name,
                    words(right),
                    other.name
                ));
            }
        }
    }
    why
}
