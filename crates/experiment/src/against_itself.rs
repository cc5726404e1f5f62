//! One arm against itself: the file's experiment with a copy of one arm instead of all others, which shows the machine's noise floor.

use crate::Collector;
use crate::document::join;
use crate::elements::compare::path;
use crate::keys::compare::compare;
use crate::keys::file::file;
use crate::mistake::Mistake;
use crate::origins::Origins;
use plimsoll_plan::{Arm, Compare, Source};

/// The flag that asks for it.
const FLAG: &str = "--aa";

/// Leaves an arm, the baseline unless one is named, and its copy. `None` when there is no such arm.
pub(crate) fn against_itself(
    named: Option<&str>,
    mut arms: Vec<Arm>,
    compare: &mut Compare,
    origins: &mut Origins<'_>,
    problems: &mut Collector<'_>,
) -> Option<Vec<Arm>> {
    let name = named.unwrap_or(&compare.baseline).to_owned();
    let Some(index) = arms.iter().position(|arm| arm.name == name) else {
        let arms = arms.into_iter().map(|arm| arm.name).collect();
        problems.add(FLAG, None, Mistake::UnknownArm { name, arms });
        return None;
    };
    let arm = arms.swap_remove(index);
    // No arm of a file can have this name: names of arms have no spaces.
    let mut copy = arm.clone();
    copy.name = format!("{name} again");
    let source = Source::Flag { name: FLAG.into() };
    let (baseline, pairs) = (path(compare::baseline), path(compare::pairs));
    let arms = format!("{}.", file::arms.name);
    origins.list.retain(|origin| {
        let is_of_compared = origin.path == baseline
            || origin.path.starts_with(&pairs)
            || origin.path.starts_with(file::thresholds.name);
        let of_arm = origin.path.strip_prefix(&arms);
        let is_of_other = of_arm.is_some_and(|rest| {
            let own = rest.strip_prefix(name.as_str());
            !own.is_some_and(|own| own.is_empty() || own.starts_with('.'))
        });
        !is_of_compared && !is_of_other
    });
    origins.add(&join(file::arms.name, &copy.name), format!("as {name}"), source.clone());
    origins.add(&baseline, name.clone(), source);
    compare.pairs = vec![(name.clone(), copy.name.clone())];
    compare.baseline = name;
    Some(vec![arm, copy])
}
