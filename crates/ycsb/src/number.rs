//! Numbers as Java prints them.

/// A double as Java's `Double.toString`: the fewest digits that tell it from its neighbours, at least one behind the point; with an exponent below
/// 0.001 and from ten million on.
pub(crate) fn double(value: f64) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.into();
    }
    let size = value.abs();
    if value == 0.0 || (1e-3..1e7).contains(&size) {
        let text = value.to_string();
        return if text.contains('.') { text } else { text + ".0" };
    }
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').expect("this format always has an exponent");
    if digits.contains('.') {
        format!("{digits}E{exponent}")
    } else {
        format!("{digits}.0E{exponent}")
    }
}

/// A number with at most two digits behind the point, halves to the even digit, as Java's pattern `#.##`.
pub(crate) fn hundredths(value: f64) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞" } else { "-∞" }.into();
    }
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "-0".into() } else { text.into() }
}

/// The name of a percentile: an English ordinal for whole numbers, the bare number otherwise.
pub(crate) fn ordinal(percentile: f64) -> String {
    if percentile.fract() != 0.0 || percentile.abs() >= 1e15 {
        return double(percentile);
    }
    let whole = percentile as i64;
    let ending = match (whole % 10, whole % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{whole}{ending}")
}

pub(crate) fn string_hash(text: &str) -> i32 {
    text.encode_utf16()
        .fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the rule of the compatibility page, by hand.
    #[test]
    fn doubles_print_as_in_java() {
        for (value, text) in [
            (0.0, "0.0"),
            (1.0, "1.0"),
            (-2.5, "-2.5"),
            (100.0, "100.0"),
            (0.001, "0.001"),
            (9.9e-4, "9.9E-4"),
            (9_999_999.0, "9999999.0"),
            (12_345_678.9, "1.23456789E7"),
            (1e7, "1.0E7"),
            (1e21, "1.0E21"),
            (-1e-9, "-1.0E-9"),
            (0.1 + 0.2, "0.30000000000000004"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(double(value), text);
        }
    }

    #[test]
    fn hundredths_have_no_zeros_behind() {
        for (value, text) in [
            (580_684.21, "580684.21"),
            (0.08, "0.08"),
            (1.0, "1"),
            (1.5, "1.5"),
            (0.125, "0.12"),
            (0.375, "0.38"),
            (0.0, "0"),
            (1234.0, "1234"),
            (f64::INFINITY, "∞"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(hundredths(value), text);
        }
    }

    #[test]
    fn percentiles_have_english_names() {
        for (value, text) in [
            (1.0, "1st"),
            (2.0, "2nd"),
            (3.0, "3rd"),
            (4.0, "4th"),
            (11.0, "11th"),
            (12.0, "12th"),
            (13.0, "13th"),
            (21.0, "21st"),
            (50.0, "50th"),
            (95.0, "95th"),
            (100.0, "100th"),
            (99.9, "99.9"),
            (99.99, "99.99"),
        ] {
            assert_eq!(ordinal(value), text);
        }
    }

    #[test]
    fn strings_hash_as_in_java() {
        assert_eq!(string_hash("user6284781860667377211:field0"), 1_106_546_143);
        assert_eq!(string_hash(""), 0);
    }
}
