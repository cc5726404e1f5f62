//! `--only`: which arms of a plan run now.

use plimsoll_plan::Plan;

/// Whether each arm of the plan is chosen; `None` without words. The error lists what there is.
pub fn chosen(plan: &Plan, words: &[String]) -> Result<Option<Vec<bool>>, String> {
    if words.is_empty() {
        return Ok(None);
    }
    let mut by_name = vec![false; plan.arms.len()];
    // For each factor that is named: its levels.
    let mut by_level: Vec<(usize, Vec<u32>)> = Vec::new();
    for word in words {
        if let Some(arm) = plan.arms.iter().position(|arm| arm.name == *word) {
            by_name[arm] = true;
            continue;
        }
        let Some((name, level)) = word.split_once('=') else {
            return Err(format!("--only {word}: there is no such arm; {}", known(plan)));
        };
        let Some(factor) = plan.factors.iter().position(|one| one.name == name) else {
            return Err(format!("--only {word}: there is no factor {name}; {}", known(plan)));
        };
        let levels = &plan.factors[factor].levels;
        let Some((level, _)) = (0..).zip(levels).find(|(_, one)| one.name == level) else {
            let names: Vec<&str> = levels.iter().map(|one| one.name.as_str()).collect();
            return Err(format!(
                "--only {word}: {name} has no level {level}; its levels are {}",
                names.join(", ")
            ));
        };
        match by_level.iter_mut().find(|(known, _)| *known == factor) {
            Some((_, levels)) => levels.push(level),
            None => by_level.push((factor, vec![level])),
        }
    }
    let has_levels = |levels: &[u32]| {
        let has = |(factor, wanted): &(usize, Vec<u32>)| wanted.contains(&levels[*factor]);
        !by_level.is_empty() && by_level.iter().all(has)
    };
    let arms = plan.arms.iter().zip(by_name);
    let chosen: Vec<bool> =
        arms.map(|(arm, is_named)| is_named || has_levels(&arm.levels)).collect();
    if !chosen.contains(&true) {
        return Err(format!("--only {}: no cell has all of these levels", words.join(" --only ")));
    }
    Ok(Some(chosen))
}

fn known(plan: &Plan) -> String {
    if plan.factors.is_empty() {
        let names: Vec<&str> = plan.arms.iter().map(|arm| arm.name.as_str()).collect();
        return format!("the arms are {}", names.join(", "));
    }
    let names: Vec<&str> = plan.factors.iter().map(|one| one.name.as_str()).collect();
    format!("the factors are {}", names.join(", "))
}
