//! The grid of an experiment with factors, in characters.

use crate::explained_arm::ArmExplanation;
use crate::words::write_table;
use crate::{Design, Origin, Plan};
use plimsoll_record::quantities::units::{about, shortened_to};
use serde::Serialize;
use std::fmt::{Formatter, Result};

/// Levels of the last factor that are columns; with more, every cell is a line.
const MOST_COLUMNS: usize = 10;

/// The factors, and which of their combinations are measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GridExplanation {
    /// In the order of the file.
    pub factors: Vec<FactorExplanation>,
    /// Which combinations of levels are measured.
    pub design: Design,
    /// Name of the factor whose levels are compared within each combination of the others; only in a full design.
    pub compared: Option<String>,
    /// Effects that the design cannot tell apart.
    pub aliases: Vec<Vec<String>>,
}

/// One factor, its levels in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FactorExplanation {
    /// Name of the factor, from the file.
    pub name: String,
    /// Names of its levels, in order.
    pub levels: Vec<String>,
    /// The level that others are compared with.
    pub baseline: String,
    /// Whether its levels are amounts, so that it has a curve.
    pub is_axis: bool,
    /// How far apart levels may be in the end, where scouting looks for more of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refine: Option<String>,
    /// With `refine`: how many levels scouting can choose at most, those of the file included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_levels: Option<usize>,
}

/// Levels of an axis whose every step is divided until no two are more than `width` apart.
fn most_levels(levels: &[f64], width: f64) -> usize {
    let steps = levels.windows(2).map(|ends| {
        let parts = ((ends[1] - ends[0]).abs() / width - 1e-9).ceil();
        parts.max(1.0) as usize
    });
    steps.sum::<usize>() + 1
}

impl GridExplanation {
    pub(crate) fn of(plan: &Plan) -> Option<Self> {
        let compared = plan.compared_factor()?;
        let factor = |factor: &crate::Factor| FactorExplanation {
            name: factor.name.clone(),
            levels: factor.levels.iter().map(|one| one.name.clone()).collect(),
            baseline: factor.level(factor.baseline()).to_owned(),
            is_axis: factor.axis().is_some(),
            refine: factor
                .refine
                .zip(factor.quantity)
                .map(|(width, quantity)| quantity.in_words(width)),
            most_levels: factor.refine.and_then(|width| Some(most_levels(&factor.axis()?, width))),
        };
        Some(Self {
            factors: plan.factors.iter().map(factor).collect(),
            design: plan.design,
            compared: (plan.design == Design::Full).then(|| plan.factors[compared].name.clone()),
            aliases: plan.aliases(),
        })
    }

    pub(crate) fn write(&self, f: &mut Formatter<'_>, arms: &[ArmExplanation]) -> Result {
        writeln!(f, "\nfactors")?;
        let mut rows = Vec::new();
        for factor in &self.factors {
            let mut notes = format!("baseline {}", factor.baseline);
            if factor.is_axis && self.design == Design::Full {
                notes.push_str(", an axis");
            }
            if let Some(refine) = &factor.refine {
                notes.push_str(&format!(", refined to {refine}"));
            }
            if self.compared.as_ref() == Some(&factor.name) {
                notes.push_str(", compared within each combination of the others");
            }
            rows.push(vec![
                factor.name.clone(),
                shortened_to(&factor.levels.join(", "), 80),
                notes,
            ]);
        }
        write_table(f, &rows)?;
        if let Some(factor) = self.factors.iter().find(|one| one.refine.is_some()) {
            let round: u64 = arms.iter().map(|arm| arm.run_ns).sum();
            writeln!(
                f,
                "\nscouting  2 blocks of these cells first, about {}; then between those levels of {} where the curve changes most, what limits it changes or\n          \
                 another level wins. These runs choose levels and judge nothing; the levels that they choose, up to {} in all,\n          \
                 add to the time above",
                about(round * 2),
                factor.name,
                factor.most_levels.unwrap_or(factor.levels.len())
            )?;
        }
        match self.design {
            Design::Full => self.write_cells(f, arms),
            Design::Screening | Design::Fraction => self.write_design(f, arms),
        }
    }

    /// A table of the time of each cell: the last factor across, combinations of the others down.
    fn write_cells(&self, f: &mut Formatter<'_>, arms: &[ArmExplanation]) -> Result {
        writeln!(f, "\ngrid of {} cells, with the time of one run of each", arms.len())?;
        let across = match self.factors.last() {
            Some(last) if last.levels.len() <= MOST_COLUMNS => last.levels.as_slice(),
            _ => &[],
        };
        let down = self.factors.len() - usize::from(!across.is_empty());
        let words = |levels: &[u32]| {
            let named = levels.iter().zip(&self.factors);
            let names = named.map(|(level, factor)| factor.levels[*level as usize].clone());
            names.collect::<Vec<String>>()
        };
        let mut head: Vec<String> =
            self.factors[..down].iter().map(|one| one.name.clone()).collect();
        if let (Some(corner), Some(last)) = (head.last_mut(), self.factors.last())
            && !across.is_empty()
        {
            *corner = format!("{corner} \\ {}", last.name);
        }
        head.extend(across.iter().cloned());
        let mut rows = vec![head];
        let mut conditions: Vec<&[u32]> = Vec::new();
        for arm in arms {
            let condition = arm.levels.get(..down).unwrap_or_default();
            if !conditions.contains(&condition) {
                conditions.push(condition);
            }
        }
        for condition in conditions {
            let mut row = words(condition);
            if across.is_empty() {
                let arm = arms.iter().find(|arm| arm.levels == condition);
                row.extend(arm.map(|arm| about(arm.run_ns)));
            }
            for level in 0..across.len() {
                let is_it = |arm: &&ArmExplanation| {
                    arm.levels
                        .split_last()
                        .is_some_and(|(last, rest)| *last as usize == level && rest == condition)
                };
                let arm = arms.iter().find(is_it);
                row.push(arm.map_or_else(|| "-".to_owned(), |arm| about(arm.run_ns)));
            }
            rows.push(row);
        }
        if rows[0].len() < rows.get(1).map_or(0, Vec::len) {
            rows[0].push("time".to_owned());
        }
        write_table(f, &rows)
    }

    /// The cells of a design as signs: `-` is the first level of a factor, `+` the second.
    fn write_design(&self, f: &mut Formatter<'_>, arms: &[ArmExplanation]) -> Result {
        let of_block = match self.design {
            Design::Screening => {
                format!(
                    "{} in each block, in every other block their mirror images",
                    arms.len() / 2
                )
            }
            _ => "all in each block".to_owned(),
        };
        writeln!(f, "\ndesign of {} cells, {of_block}", arms.len())?;
        for arm in arms {
            let sign = |level: &u32| if *level == 0 { '-' } else { '+' };
            let signs: String = arm.levels.iter().map(sign).collect();
            writeln!(f, "  {signs}  {}", about(arm.run_ns))?;
        }
        match self.design {
            Design::Screening => writeln!(
                f,
                "  main effects are clear of each other and, over both halves, of interactions of two factors"
            ),
            _ if self.aliases.is_empty() => {
                writeln!(
                    f,
                    "  main effects and interactions of two factors are clear of each other"
                )
            }
            _ => {
                writeln!(f, "  cannot be distinguished:")?;
                for group in &self.aliases {
                    writeln!(f, "    {}", group.join(" = "))?;
                }
                Ok(())
            }
        }
    }
}

/// The origins as rows of path, value and source, those of all cells under one path: a value that several cells share is listed once.
pub(crate) fn without_cells(origins: &[Origin], arms: &[ArmExplanation]) -> Vec<Vec<String>> {
    let mut rows: Vec<(String, String, String, usize)> = Vec::new();
    for origin in origins {
        let of_cell = origin.path.strip_prefix("arms.").and_then(|rest| {
            let rests = arms.iter().filter_map(|arm| rest.strip_prefix(arm.name.as_str()));
            rests.filter_map(|rest| rest.strip_prefix('.')).next()
        });
        let path = of_cell.map_or_else(|| origin.path.clone(), |rest| format!("arms.*.{rest}"));
        let (value, source) = (shortened_to(&origin.value, 80), origin.source.to_string());
        let is_same = |row: &&mut (String, String, String, usize)| {
            of_cell.is_some() && row.0 == path && row.1 == value && row.2 == source
        };
        match rows.iter_mut().find(is_same) {
            Some(row) => row.3 += 1,
            None => rows.push((path, value, source, usize::from(of_cell.is_some()))),
        }
    }
    let cells = arms.len();
    let row = |(path, value, source, count): (String, String, String, usize)| {
        let few = if count == 0 || count == cells {
            String::new()
        } else {
            format!("{count} of {cells} cells")
        };
        vec![path, value, source, few]
    };
    rows.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_can_be_divided_until_it_is_narrow() {
        // 46 % in steps of 15 %: four parts.
        assert_eq!(most_levels(&[0.92, 1.38, 1.84, 2.30], 0.15), 13);
        assert_eq!(most_levels(&[0.90, 0.95, 1.05], 0.05), 4);
        assert_eq!(most_levels(&[1.0, 1.1], 0.5), 2);
    }
}
