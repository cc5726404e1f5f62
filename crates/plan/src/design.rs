//! Designs that measure a part of all combinations of two levels. Cells are lists of levels, 0 or 1, one for each factor.

/// First rows of the designs of Plackett and Burman (Biometrika 33, 1946): all others are shifts of it, and one row of lower levels.
const OF_12: [u8; 11] = [1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 0];
const OF_24: [u8; 23] = [1, 1, 1, 1, 1, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0];
/// Numbers of factors that have a fraction of all combinations: 4 to 256 cells.
const FIRST_FACTORS: std::ops::RangeInclusive<usize> = 2..=8;

/// The design for this many factors, and after it its mirror images. Together they tell each main effect apart from all interactions of two factors. `None`
/// for fewer than 6 factors, of which cells would be measured twice, or more than 23.
pub fn screening(factors: usize) -> Option<Vec<Vec<u32>>> {
    let first: &[u8] = match factors {
        6..=11 => &OF_12,
        12..=23 => &OF_24,
        _ => return None,
    };
    let mut cells = Vec::new();
    for shift in 0..first.len() {
        let level = |factor: usize| u32::from(first[(factor + first.len() - shift) % first.len()]);
        cells.push((0..factors).map(level).collect::<Vec<u32>>());
    }
    cells.push(vec![0; factors]);
    let mirror = |cell: &Vec<u32>| cell.iter().map(|level| 1 - level).collect();
    let mirrored: Vec<Vec<u32>> = cells.iter().map(mirror).collect();
    cells.extend(mirrored);
    Some(cells)
}

/// The regular fraction 1/`of` of all combinations of so many factors with the fewest short words: main effects are aliased with interactions of as many factors
/// as possible. `None` where some main effects could not be distinguished, or there would be more than 256 cells.
pub fn fraction(factors: usize, of: usize) -> Option<Vec<Vec<u32>>> {
    let added = of.checked_ilog2()? as usize;
    let base = factors.checked_sub(added)?;
    if !FIRST_FACTORS.contains(&base) {
        return None;
    }
    // Taken one by one, the best first word may leave no good second one: so words of several kinds are tried, those of odd size and each size alone.
    let kinds = (0..=base as u32).filter_map(|kind| generators(factors, base, kind));
    let words = kinds.min_by_key(|words| word_lengths(words, factors))?;
    if word_lengths(&words, factors)[..3].iter().any(|count| *count > 0) {
        return None;
    }
    let mut cells = Vec::new();
    for row in 0u32..1 << base {
        let mut cell: Vec<u32> = (0..base).map(|factor| row >> (base - 1 - factor) & 1).collect();
        for word in &words {
            let lower = (0..base).filter(|factor| word >> factor & 1 == 1 && cell[*factor] == 0);
            // A product of signs is negative where an odd number of them is.
            let negative = lower.count() % 2 == 1;
            cell.push(u32::from(!negative));
        }
        cells.push(cell);
    }
    Some(cells)
}

/// For each factor after the first `base` ones, of which of those it is the product, as bits, with the factor itself: one after the other the word that keeps the
/// fewest short words. `kind` is the number of factors of a product; 0 for any, 1 for any odd number.
fn generators(factors: usize, base: usize, kind: u32) -> Option<Vec<u32>> {
    let is_of_kind = |subset: &u32| match (subset.count_ones(), kind) {
        (0 | 1, _) => false,
        (_, 0) => true,
        (size, 1) => size % 2 == 1,
        (size, kind) => size == kind,
    };
    let mut words: Vec<u32> = Vec::new();
    for further in base..factors {
        let candidates = (1u32..1 << base).filter(is_of_kind);
        let best = candidates.map(|subset| subset | 1 << further).min_by_key(|word| {
            let all: Vec<u32> = words.iter().copied().chain([*word]).collect();
            (word_lengths(&all, factors), *word)
        })?;
        words.push(best);
    }
    Some(words)
}

/// How many words of each length, from 0, the generators make with each other: products of words leave out what is in both.
fn word_lengths(generators: &[u32], factors: usize) -> Vec<u32> {
    let mut lengths = vec![0; factors + 1];
    for chosen in 1u32..1 << generators.len() {
        let mut word = 0;
        for (index, generator) in generators.iter().enumerate() {
            if chosen >> index & 1 == 1 {
                word ^= generator;
            }
        }
        lengths[word.count_ones() as usize] += 1;
    }
    // Always at least the four that are compared.
    lengths.resize(lengths.len().max(4), 0);
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn sign(level: u32) -> i32 {
        level as i32 * 2 - 1
    }

    fn dot(cells: &[Vec<u32>], column: impl Fn(&[u32]) -> i32) -> i32 {
        cells.iter().map(|cell| column(cell)).sum()
    }

    #[test]
    fn half_of_a_screening_design_keeps_main_effects_apart_and_both_halves_interactions_as_well() {
        for factors in 6..=23 {
            let cells = screening(factors).unwrap();
            assert_eq!(cells.iter().collect::<BTreeSet<_>>().len(), cells.len());
            let half = cells.len() / 2;
            assert_eq!(half, if factors < 12 { 12 } else { 24 });
            for one in 0..factors {
                assert_eq!(dot(&cells[..half], |cell| sign(cell[one])), 0);
                for other in one + 1..factors {
                    let product = |cell: &[u32]| sign(cell[one]) * sign(cell[other]);
                    assert_eq!(dot(&cells[..half], product), 0, "{one} {other}");
                    for third in 0..factors {
                        let with_interaction = |cell: &[u32]| product(cell) * sign(cell[third]);
                        assert_eq!(dot(&cells, with_interaction), 0);
                    }
                }
            }
        }
        assert_eq!(screening(5), None);
        assert_eq!(screening(24), None);
    }

    /// Resolutions from the table of Box, Hunter and Hunter: factors, fraction, cells, resolution.
    #[test]
    fn fractions_have_the_resolution_of_the_published_ones() {
        let published = [
            (3, 2, 4, 3),
            (4, 2, 8, 4),
            (5, 2, 16, 5),
            (5, 4, 8, 3),
            (6, 2, 32, 6),
            (6, 4, 16, 4),
            (6, 8, 8, 3),
            (7, 8, 16, 4),
            (7, 16, 8, 3),
            (8, 16, 16, 4),
            (8, 4, 64, 5),
            (9, 16, 32, 4),
            (11, 32, 64, 4),
        ];
        for (factors, of, size, resolution) in published {
            let cells = fraction(factors, of).unwrap();
            assert_eq!(cells.len(), size);
            assert_eq!(cells.iter().collect::<BTreeSet<_>>().len(), size);
            // The shortest word is the smallest set of factors whose product is the same in all cells.
            let shortest = (1u32..1 << factors)
                .filter(|set| {
                    let product = |cell: &[u32]| {
                        let signs = (0..factors).filter(|factor| set >> factor & 1 == 1);
                        signs.map(|factor| sign(cell[factor])).product()
                    };
                    dot(&cells, product).unsigned_abs() as usize == size
                })
                .map(u32::count_ones)
                .min();
            assert_eq!(shortest, Some(resolution), "{factors} factors, 1/{of}");
        }
        assert_eq!(fraction(2, 2), None);
        assert_eq!(fraction(4, 8), None);
        assert_eq!(fraction(23, 2), None);
    }
}
