//! Remarks about single runs drawn together, so that one cause is one line.

use crate::arm_samples::ArmSamples;
use crate::gates::FOUND_AGAIN;
use crate::sample::Sample;
use crate::words::counted;
use plimsoll_plan::Plan;
use plimsoll_record::{Severity, Warning, WarningId};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Points named in one line; the others are counted.
const NAMED: usize = 3;

/// The same remark about one arm: where, and in the words of its first occurrence.
struct Group<'a> {
    first: &'a Warning,
    runs: usize,
    places: Vec<String>,
}

/// One warning for each arm and id.
pub(crate) fn of_points(plan: &Plan, arms: &[ArmSamples]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (arm, samples) in plan.arms.iter().zip(arms) {
        warnings.append(&mut of_arm(&arm.name, samples));
    }
    warnings
}

/// One warning for each id.
pub(crate) fn of_arm(arm: &str, samples: &ArmSamples) -> Vec<Warning> {
    let mut groups: BTreeMap<(WarningId, Severity), Group<'_>> = BTreeMap::new();
    for sample in samples.load.iter().chain(samples.points.iter().flatten()) {
        for warning in &sample.result.warnings {
            let group = groups.entry((warning.id, warning.severity())).or_insert(Group {
                first: warning,
                runs: 0,
                places: Vec::new(),
            });
            group.runs += 1;
            let place = place(sample);
            if !group.places.contains(&place) {
                group.places.push(place);
            }
        }
    }
    groups.into_iter().map(|((id, _), group)| group.warning(id, arm)).collect()
}

impl Group<'_> {
    fn warning(self, id: WarningId, arm: &str) -> Warning {
        let Warning { subject: run, message, weight, .. } = self.first;
        let named = self.places.len().min(NAMED);
        let mut places = self.places[..named].join(", ");
        if self.places.len() > named {
            places.push_str(&format!(" and {}", counted(self.places.len() - named, "other")));
        }
        let others = match self.runs - 1 {
            0 => String::new(),
            more => format!("; and in {}", counted(more, "other point")),
        };
        Warning {
            weight: *weight,
            ..Warning::new(id, format!("{arm}, {places}"), format!("{message} ({run}{others})"))
        }
    }
}

/// `c at 16 threads`, `load`.
fn place(sample: &Sample) -> String {
    match sample.label.point {
        Some(_) => format!("{} at {}", sample.label.mix, sample.label.load_label),
        None => "load".into(),
    }
}

/// What the runner noticed and no gate finds again, once for all runs that say the same.
pub(crate) fn of_runs<'a>(noticed: impl Iterator<Item = &'a Warning>) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = Vec::new();
    for warning in noticed {
        if !FOUND_AGAIN.contains(&warning.id) && !warnings.contains(warning) {
            warnings.push(warning.clone());
        }
    }
    warnings
}

/// Gravest first; those of one weight by id, then in the order in which they were found.
pub(crate) fn sort(warnings: &mut [Warning]) {
    let gravity = |warning: &Warning| -> Reverse<Severity> { Reverse(warning.severity()) };
    warnings.sort_by_key(|warning| (gravity(warning), warning.id));
}
