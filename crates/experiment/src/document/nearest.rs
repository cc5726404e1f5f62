//! Finds the word that was most likely meant.

use plimsoll_record::quantities::units::shortened;

/// The valid word that was most likely meant, if one is near.
fn nearest<'v>(word: &str, valid: &'v [String]) -> Option<&'v str> {
    let plain = |text: &str| text.to_lowercase().replace(['-', ' ', '.'], "_");
    let word = plain(&shortened(word));
    let mut best: Option<(f64, &str)> = None;
    for candidate in valid {
        let known = plain(candidate);
        let mut likeness = strsim::normalized_damerau_levenshtein(&word, &known);
        // `threads` for `load_threads`, `p99` for `response.p99`.
        if word.len() >= 3 && known.len() >= 3 && (known.contains(&word) || word.contains(&known)) {
            likeness = likeness.max(0.6);
        }
        if likeness > best.map_or(0.55, |(most, _)| most) {
            best = Some((likeness, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Asks for the nearest valid word, or lists the valid ones after `lead`.
pub fn nearest_or_all(word: &str, valid: &[String], lead: &str) -> String {
    did_you_mean(word, valid).unwrap_or_else(|| format!("{lead} {}", few(valid)))
}

/// Asks for the nearest valid word, if one is near.
pub(crate) fn did_you_mean(word: &str, valid: &[String]) -> Option<String> {
    nearest(word, valid).map(|word| format!("did you mean `{word}`?"))
}

/// At most sixteen of the words.
pub fn few(words: &[String]) -> String {
    const MOST: usize = 16;
    let mut text =
        words.iter().take(MOST).map(|word| shortened(word)).collect::<Vec<_>>().join(", ");
    if words.len() > MOST {
        text.push_str(", …");
    }
    text
}

/// A foreign text in a message, shortened, between backticks.
pub fn quoted(text: &str) -> String {
    format!("`{}`", shortened(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nearest_of(word: &str, valid: &[&str]) -> Option<String> {
        let valid: Vec<String> = valid.iter().map(|word| (*word).to_owned()).collect();
        nearest(word, &valid).map(str::to_owned)
    }

    #[test]
    fn the_nearest_word_is_the_one_meant() {
        let keys = ["warm_up", "duration", "operations", "blocks", "order", "seed"];
        assert_eq!(nearest_of("warmup", &keys).as_deref(), Some("warm_up"));
        assert_eq!(nearest_of("Warm-Up", &keys).as_deref(), Some("warm_up"));
        assert_eq!(nearest_of("block", &keys).as_deref(), Some("blocks"));
        assert_eq!(nearest_of("sede", &keys).as_deref(), Some("seed"));
        assert_eq!(nearest_of("colour", &keys), None);
        assert_eq!(nearest_of("", &keys), None);
        let found = nearest_of("p99", &["throughput", "response.p99"]);
        assert_eq!(found.as_deref(), Some("response.p99"));
    }
}
