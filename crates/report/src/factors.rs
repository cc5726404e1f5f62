//! How the cells of an experiment with factors are laid out: what goes along a figure, what its lines are, and what becomes a figure of its own.

use crate::select;
use plimsoll_judge::{
    Analysis, Cell, CurvePoint, Difference, Effect, EffectKind, EffectPlace, FactorResults,
    Judgement,
};
use plimsoll_plan::{Design, Factor};

/// The values of something that differs, in the order of the arms, each with who has it: names of arms. Where each level of one factor has one value, it is these levels instead; and
/// nobody where the values are the levels themselves.
pub fn by_value(
    difference: &Difference,
    factors: Option<&FactorResults>,
) -> Vec<(String, Vec<String>)> {
    let arms = || grouped(difference.values.iter().cloned());
    let Some(results) = factors else {
        return arms();
    };
    let value = |cell: &Cell| {
        let mut values = difference.values.iter();
        values.find_map(|(arm, value)| (*arm == cell.arm).then(|| value.clone()))
    };
    for (index, factor) in results.factors.iter().enumerate() {
        let mut by_level: Vec<Option<String>> = vec![None; factor.levels.len()];
        let follows = results.cells.iter().all(|cell| {
            let level = cell.levels.get(index).map(|level| *level as usize);
            let (Some(known), Some(value)) =
                (level.and_then(|level| by_level.get_mut(level)), value(cell))
            else {
                return false;
            };
            *known.get_or_insert_with(|| value.clone()) == value
        });
        if !follows {
            continue;
        }
        let levels = factor.levels.iter().zip(by_level);
        let known = levels.filter_map(|(level, value)| Some((level.name.clone(), value?)));
        let mut values = grouped(known);
        if difference.what == factor.name {
            values.iter_mut().for_each(|(_, levels)| levels.clear());
        }
        return values;
    }
    arms()
}

/// Who has which value, from who has what.
fn grouped(values: impl Iterator<Item = (String, String)>) -> Vec<(String, Vec<String>)> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for (side, value) in values {
        match groups.iter_mut().find(|(known, _)| *known == value) {
            Some((_, sides)) => sides.push(side),
            None => groups.push((value, vec![side])),
        }
    }
    groups
}

/// Which factor goes where, by index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Along a figure, and the columns of a table.
    pub along: usize,
    /// Lines of a figure, and rows of a table; `None` with one factor.
    pub lines: Option<usize>,
    /// Levels of the further factors, each with 0 in the places of the other two: one figure, one table each.
    pub panels: Vec<Vec<u32>>,
}

impl Layout {
    /// An axis goes along, the longest one where there are several and not the compared factor if there is another. The compared factor makes the lines.
    /// `None` where not all combinations are measured.
    pub fn of(results: &FactorResults) -> Option<Self> {
        if results.design != Design::Full || results.factors.is_empty() {
            return None;
        }
        let compared = results.compared as usize;
        let rank = |index: &usize| {
            let factor = &results.factors[*index];
            let is_other = *index != compared;
            (factor.axis().is_some(), is_other, factor.levels.len())
        };
        let along = (0..results.factors.len()).max_by_key(rank)?;
        let others = || (0..results.factors.len()).filter(|index| *index != along);
        let lines = others()
            .find(|index| *index == compared)
            .or_else(|| others().max_by_key(|index| results.factors[*index].levels.len()));
        let mut panels: Vec<Vec<u32>> = Vec::new();
        for cell in &results.cells {
            let mut levels = cell.levels.clone();
            for apart in lines.iter().chain([&along]) {
                if let Some(level) = levels.get_mut(*apart) {
                    *level = 0;
                }
            }
            if !panels.contains(&levels) {
                panels.push(levels);
            }
        }
        Some(Self { along, lines, panels })
    }

    /// The levels of a panel's further factors in words: `ext4, 2 cpus`.
    pub fn panel_in_words(&self, results: &FactorResults, panel: &[u32]) -> String {
        let mut words = Vec::new();
        for (index, (factor, level)) in results.factors.iter().zip(panel).enumerate() {
            if index != self.along && Some(index) != self.lines {
                words.push(format!("{} {}", factor.name, factor.level(*level)));
            }
        }
        words.join(", ")
    }

    /// The levels of the lines, by index; one where there is a single factor.
    pub fn line_levels(&self, results: &FactorResults) -> Vec<u32> {
        levels(self.lines.map(|index| &results.factors[index]))
    }

    /// The levels along, by index; those of an axis in rising order.
    pub fn along_levels(&self, results: &FactorResults) -> Vec<u32> {
        let factor = &results.factors[self.along];
        let mut levels = levels(Some(factor));
        if let Some(amounts) = factor.axis() {
            levels.sort_by(|left, right| {
                amounts[*left as usize].total_cmp(&amounts[*right as usize])
            });
        }
        levels
    }

    /// The cell of a panel at these levels of the lines and along.
    pub fn cell<'a>(
        &self,
        results: &'a FactorResults,
        panel: &[u32],
        line: u32,
        along: u32,
    ) -> Option<&'a Cell> {
        let mut levels = panel.to_vec();
        *levels.get_mut(self.along)? = along;
        if let Some(lines) = self.lines {
            *levels.get_mut(lines)? = line;
        }
        results.cells.iter().find(|cell| cell.levels == levels)
    }
}

fn levels(factor: Option<&Factor>) -> Vec<u32> {
    (0..).take(factor.map_or(1, |factor| factor.levels.len())).collect()
}

/// Whether several factors are varied, so that pairs of cells are only a part of the answer.
pub fn has_several(analysis: &Analysis) -> bool {
    let factors = analysis.factors.as_ref();
    factors.is_some_and(|results| results.factors.len() > 1)
}

/// Where each mix is judged, once for each mix and point.
pub fn places(results: &FactorResults) -> Vec<&EffectPlace> {
    let mut places: Vec<&EffectPlace> = Vec::new();
    for effect in &results.effects {
        let place = &effect.place;
        let is_it = |known: &&EffectPlace| known.mix == place.mix && known.point == place.point;
        if !places.iter().any(is_it) {
            places.push(place);
        }
    }
    places
}

/// What a cell measured at a place.
pub fn point<'a>(
    analysis: &'a Analysis,
    cell: &Cell,
    place: &EffectPlace,
) -> Option<&'a CurvePoint> {
    select::point(analysis, &cell.arm, &place.mix, place.point)
}

/// The effects, those that are proven first, then by size.
pub fn by_size(results: &FactorResults) -> Vec<&Effect> {
    let mut effects: Vec<&Effect> = results.effects.iter().collect();
    let size = |effect: &Effect| {
        let ratio = 1.0 + effect.verdict.estimate.unwrap_or(0.0);
        if ratio > 0.0 { ratio.ln().abs() } else { f64::INFINITY }
    };
    effects.sort_by(|left, right| {
        is_proven(right).cmp(&is_proven(left)).then(size(right).total_cmp(&size(left)))
    });
    effects
}

/// Whether it is larger than the margin, and its interval excludes zero.
pub fn is_proven(effect: &Effect) -> bool {
    matches!(effect.verdict.judgement, Judgement::Better | Judgement::Worse)
}

/// An effect's name: `disk: san-raid10 against fast-5000`.
pub fn name(effect: &Effect) -> String {
    let change = &effect.change;
    let base = format!("{}: {} against {}", change.factor, change.level, change.baseline);
    match (&effect.with, &effect.within) {
        (Some(with), _) => {
            format!("{base} × {}: {} against {}", with.factor, with.level, with.baseline)
        }
        (None, Some(within)) if !within.is_empty() => format!("{base}, at {within}"),
        _ => base,
    }
}

/// What kind of effect it is, in words.
pub fn kind(kind: EffectKind) -> &'static str {
    match kind {
        EffectKind::Main => "main effect",
        EffectKind::Interaction => "interaction",
        EffectKind::Simple => "simple effect",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_plan::Level;

    fn factor(name: &str, levels: [&str; 2]) -> Factor {
        let level = |name: &str| Level { name: name.into(), value: None };
        Factor {
            name: name.into(),
            levels: levels.map(level).into(),
            baseline: 0,
            quantity: None,
            refine: None,
        }
    }

    /// Two disks for each of two sizes.
    fn grid() -> FactorResults {
        let cells = [(0, 0), (0, 1), (1, 0), (1, 1)];
        FactorResults {
            factors: vec![factor("disk", ["fast", "slow"]), factor("size", ["92%", "230%"])],
            design: Design::Full,
            aliases: Vec::new(),
            compared: 0,
            scouting: None,
            cells: cells.map(cell).into(),
            effects: Vec::new(),
            dependences: Vec::new(),
            cliffs: Vec::new(),
            crossings: Vec::new(),
        }
    }

    fn cell((disk, size): (u32, u32)) -> Cell {
        Cell { arm: format!("{disk}-{size}"), levels: vec![disk, size] }
    }

    fn describe(what: &str, values: [&str; 4]) -> Vec<String> {
        let arms = ["0-0", "0-1", "1-0", "1-1"].map(String::from);
        let difference = Difference {
            what: what.into(),
            values: arms.into_iter().zip(values.map(String::from)).collect(),
            declared: true,
        };
        let values = by_value(&difference, Some(&grid()));
        let line = |(value, sides): &(String, Vec<String>)| format!("{value}: {}", sides.join(" "));
        values.iter().map(line).collect()
    }

    #[test]
    fn what_follows_from_a_level_is_told_by_level() {
        assert_eq!(describe("records", ["10", "20", "10", "20"]), ["10: 92%", "20: 230%"]);
        assert_eq!(describe("iops", ["5k", "5k", "600", "600"]), ["5k: fast", "600: slow"]);
        assert_eq!(describe("size", ["92%", "230%", "92%", "230%"]), ["92%: ", "230%: "]);
        // It follows from no single factor.
        assert_eq!(describe("free", ["61", "60", "60", "60"]), ["61: 0-0", "60: 0-1 1-0 1-1"]);
    }
}
