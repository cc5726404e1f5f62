//! Turns a file with one arm into a gate: two arms, a rule that the second must not lose, and blocks until the answer is certain.

use crate::Collector;
use crate::document::join;
use crate::elements::compare::path;
use crate::keys::compare::compare;
use crate::keys::file::file;
use crate::mistake::Mistake;
use crate::origins::Origins;
use crate::surroundings::GateRequest;
use plimsoll_plan::{Arm, Compare, Source, Threshold};

/// The command that asks for it.
const COMMAND: &str = "gate";

/// Puts the arms of the gate in the place of the file's only one, under the names `base` and `new`. What the file says of that one is said of the new one; bounds
/// speak of the new one alone. `None` where the file has several arms.
pub(crate) fn gated(
    request: &GateRequest,
    arms: &[Arm],
    (compare, thresholds): (&mut Compare, &mut [Threshold]),
    origins: &mut Origins<'_>,
    problems: &mut Collector<'_>,
) -> Option<Vec<Arm>> {
    let [of_file] = arms else {
        let mistake = Mistake::GateOfSeveral { arms: arms.len() };
        problems.add(file::arms.name, None, mistake);
        return None;
    };
    let [base, new] = ["base", "new"];
    let source = Source::Flag { name: COMMAND.into() };
    let old = join(file::arms.name, &of_file.name);
    for origin in &mut origins.list {
        if let Some(rest) = origin.path.strip_prefix(&old)
            && (rest.is_empty() || rest.starts_with('.'))
        {
            origin.path = join(file::arms.name, new) + rest;
        }
    }
    let baseline = path(compare::baseline);
    origins.list.retain(|origin| origin.path != baseline);
    origins.add(&baseline, base, source.clone());
    for (name, arm) in [base, new].iter().zip(&request.arms) {
        let about = arm.about.clone().unwrap_or_default();
        origins.add(&join(file::arms.name, name), about, source.clone());
    }
    compare.baseline = base.into();
    compare.pairs = vec![(base.into(), new.into())];
    for threshold in thresholds {
        threshold.arm = Some(new.into());
    }
    let named = [base, new].into_iter().zip(request.arms.clone());
    let named = named.map(|(name, arm)| Arm { name: name.into(), levels: Vec::new(), ..arm });
    Some(named.collect())
}
