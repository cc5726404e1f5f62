//! The last lines: what stays on the screen when all else has scrolled away.

use super::{brief, paragraph, screen::Screen};
use crate::{select, text, words};
use anstyle::Style;
use plimsoll_judge::{Analysis, Judgement, Outcome};

/// Sentences of the verdict that are repeated at the end.
const SENTENCES: usize = 2;

/// The verdict once more, and whether it can be trusted.
pub fn closing(analysis: &Analysis, screen: &Screen) -> String {
    let mut out = String::from("\n");
    let mut sentences = analysis.headline.iter();
    for sentence in sentences.by_ref().take(SENTENCES) {
        paragraph(
            &mut out,
            Style::new().bold(),
            &select::with_short_names(analysis, sentence),
            0,
            screen,
        );
    }
    let more = sentences.count() as u64;
    if more > 0 {
        let more = words::counted(more, "more sentence", screen.numbers());
        paragraph(&mut out, Style::new(), &format!("({more} above)"), 0, screen);
    }
    brief::trust(&mut out, analysis, usize::MAX, screen);
    out
}

/// The verdict in a few words, for a list: `invalid`, `better +12.3 %`, `2 better, 1 inconclusive`, `threshold failed`.
pub fn verdict(analysis: &Analysis, screen: &Screen) -> String {
    if analysis.outcome() == Outcome::Invalid {
        return "invalid".to_owned();
    }
    let deciding: Vec<_> = select::primaries(analysis).collect();
    let mut parts = Vec::new();
    if analysis.outcome() == Outcome::ThresholdBroken {
        parts.push("threshold failed".to_owned());
    }
    if let [one] = deciding.as_slice() {
        let word = words::judgement(one.verdict.judgement);
        parts.push(match one.verdict.estimate {
            Some(change) if one.verdict.judgement != Judgement::Inconclusive => {
                format!("{word} {}", screen.numbers().difference(change))
            }
            _ => word.to_owned(),
        });
    } else {
        for judgement in
            [Judgement::Better, Judgement::Worse, Judgement::Equivalent, Judgement::Inconclusive]
        {
            let of_word = deciding.iter().filter(|one| one.verdict.judgement == judgement);
            let count = of_word.count();
            if count > 0 {
                parts.push(format!("{count} {}", words::judgement(judgement)));
            }
        }
    }
    if parts.is_empty() {
        parts.push("no comparison".to_owned());
    }
    text::short(&parts.join(", "), 40)
}
