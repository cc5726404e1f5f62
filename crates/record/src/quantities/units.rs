//! Sizes, counts, durations, rates and shares as people write them, read and written exactly.
//!
//! Reading what was written gives the same value again. Nothing is rounded: `1.5GB` is 1,500,000,000 bytes, and a text that is
//! no whole number of bytes is refused.
//!
//! ```
//! use plimsoll_record::quantities::units;
//! assert_eq!(units::parse_size("256MiB"), Ok(268_435_456));
//! assert_eq!(units::parse_duration("1m30s"), Ok(90_000_000_000));
//! assert_eq!(units::duration(90_000_000_000), "1m30s");
//! assert_eq!(units::parse_rate("20k/s"), Ok(20_000.0));
//! assert!(units::parse_size("512M").is_err_and(|e| e.to_string().contains("512MB or 512MiB")));
//! ```

mod read;
mod write;

pub use read::{
    parse_count, parse_duration, parse_rate, parse_share, parse_size, shortened, shortened_to,
};
pub use write::{
    about, count, duration, rate, share, size, to_the_second, write_count, write_duration,
    write_rate, write_share, write_size,
};

/// Why a text is not a value. Each names the text and shows how it would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// No number where one should be.
    #[error("`{text}` is not {quantity}: write for example {example}")]
    NotA {
        /// `a size`, with its article.
        quantity: &'static str,
        /// The text as it was written, shortened.
        text: String,
        /// A text that would be valid.
        example: &'static str,
    },
    /// A number, but without its unit.
    #[error("`{text}` has no unit: write for example {text}{unit}; units are {units}")]
    NoUnit {
        /// The text as it was written, shortened.
        text: String,
        /// The unit that was probably meant.
        unit: &'static str,
        /// All units that are valid here.
        units: &'static str,
    },
    /// A number with an unknown unit.
    #[error("`{text}` has the unknown unit `{unit}`: units are {units}")]
    UnknownUnit {
        /// The text as it was written, shortened.
        text: String,
        /// The part that is no unit.
        unit: String,
        /// All units that are valid here.
        units: &'static str,
    },
    /// `512M` may be a million or a mebi.
    #[error("`{text}` can mean two things: write {number}{unit}B or {number}{unit}iB")]
    Ambiguous {
        /// The text as it was written, shortened.
        text: String,
        /// The number without its unit.
        number: String,
        /// `k`, `M`, `G` or `T`.
        unit: String,
    },
    /// A fraction of the smallest unit.
    #[error("`{text}` is not a whole number{unit}")]
    NotWhole {
        /// The text as it was written, shortened.
        text: String,
        /// ` of` and the smallest unit in the plural; nothing where things are counted.
        unit: &'static str,
    },
    /// The number is below zero.
    #[error("`{text}` is negative: write {quantity} of zero or more")]
    Negative {
        /// `a size`, with its article.
        quantity: &'static str,
        /// The text as it was written, shortened.
        text: String,
    },
    /// More than 64 bits hold.
    #[error("`{text}` is too large for {quantity}")]
    TooLarge {
        /// `a size`, with its article.
        quantity: &'static str,
        /// The text as it was written, shortened.
        text: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_are_exact() {
        for (text, bytes) in [
            ("256MiB", 256 * 1024 * 1024),
            ("1.5GB", 1_500_000_000),
            ("1.5 GiB", 1_610_612_736),
            ("4096", 4096),
            ("4096B", 4096),
            ("1kB", 1_000),
            ("1KiB", 1_024),
            ("0.5KiB", 512),
            ("0", 0),
            ("16TiB", 16 << 40),
            ("1_000kB", 1_000_000),
            ("18446744073709551615B", u64::MAX),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_says_why() {
        for (text, message) in [
            ("512M", "`512M` can mean two things: write 512MB or 512MiB"),
            ("12 apples", "`12 apples` has the unknown unit `apples`"),
            ("big", "`big` is not a size: write for example 256MiB"),
            ("-1MB", "`-1MB` is negative"),
            ("0.3B", "`0.3B` is not a whole number of bytes"),
            ("99999999TB", "`99999999TB` is too large for a size"),
            ("", "`` is not a size"),
            ("1.", "`1.` is not a size"),
            ("1.2.3MB", "unknown unit `.3MB`"),
        ] {
            let error = parse_size(text).expect_err(text).to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn counts_are_exact() {
        for (text, count) in [
            ("6M", 6_000_000),
            ("100k", 100_000),
            ("1_000", 1_000),
            ("2.5k", 2_500),
            ("1e6", 1_000_000),
            ("0", 0),
        ] {
            assert_eq!(parse_count(text), Ok(count), "{text}");
        }
        for text in ["1.5", "6 M B", "k", "1e999", "-3", "1_"] {
            assert!(parse_count(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations_are_exact() {
        for (text, nanos) in [
            ("30s", 30_000_000_000),
            ("1m30s", 90_000_000_000),
            ("1h", 3_600_000_000_000),
            ("1d", 86_400_000_000_000),
            ("250ms", 250_000_000),
            ("500us", 500_000),
            ("500µs", 500_000),
            ("1.5ms", 1_500_000),
            ("1 m 30 s", 90_000_000_000),
            ("7ns", 7),
            ("0", 0),
            ("0s", 0),
        ] {
            assert_eq!(parse_duration(text), Ok(nanos), "{text}");
        }
        for (text, message) in [
            ("30", "`30` has no unit: write for example 30s"),
            ("30 sec", "unknown unit `sec`"),
            ("30s1m", "`30s1m` is not a duration"),
            ("1.5ns", "not a whole number of nanoseconds"),
            ("-1s", "negative"),
            ("soon", "not a duration: write for example 30s"),
        ] {
            let error = parse_duration(text).expect_err(text).to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn rates_and_shares() {
        assert_eq!(parse_rate("20k"), Ok(20_000.0));
        assert_eq!(parse_rate("1.001k/s"), Ok(1_001.0));
        assert_eq!(parse_rate("0.5/s"), Ok(0.5));
        assert!(parse_rate("-5k").expect_err("negative").to_string().contains("`-5k` is negative"));
        assert!(parse_rate("5 per second").is_err());
        assert_eq!(parse_share("5%"), Ok(0.05));
        assert_eq!(parse_share("0.05"), Ok(0.05));
        assert_eq!(parse_share("99.9%"), Ok(0.999));
        assert!(parse_share("5 percent").is_err());
    }

    #[test]
    fn values_are_written_as_people_write_them() {
        assert_eq!(size(256 << 20), "256MiB");
        assert_eq!(size(1_500_000_000), "1.5GB");
        assert_eq!(size(1_234_567), "1234567B");
        assert_eq!(size(0), "0B");
        assert_eq!(count(100_000), "100k");
        assert_eq!(count(6_500_000), "6.5M");
        assert_eq!(count(16), "16");
        assert_eq!(duration(300_000_000), "300ms");
        assert_eq!(duration(1_500_000_000), "1.5s");
        assert_eq!(duration(3_600_000_000_000), "1h");
        assert_eq!(duration(7 * 86_400_000_000_000), "7d");
        assert_eq!(duration(3_630_500_000_000), "1h30.5s");
        assert_eq!(rate(20_000.0), "20k/s");
        assert_eq!(rate(0.5), "0.5/s");
        assert_eq!(share(0.05), "5%");
        assert_eq!(share(0.999), "99.9%");
        assert_eq!(share(0.0), "0%");
    }

    #[test]
    fn an_estimate_is_no_finer_than_it_is() {
        let about = |seconds: f64| about((seconds * 1e9) as u64);
        for (seconds, words) in [
            (0.4, "0s"),
            (45.6, "46s"),
            (59.6, "1m"),
            (176.0, "3m"),
            (239.4, "4m"),
            (240.6, "4m"),
            (597.0, "10m"),
            (847.0, "14m"),
            (5_430.0, "1h31m"),
        ] {
            assert_eq!(about(seconds), words, "{seconds}");
        }
        assert_eq!(to_the_second(239_400_000_000), "3m59s");
    }

    proptest! {
        #[test]
        fn what_is_written_reads_the_same(number in any::<u64>(), small in 0u64..10_000_000) {
            for value in [number, small, small * 1024, small * 1_000, small << 20] {
                prop_assert_eq!(parse_size(&size(value)), Ok(value));
                prop_assert_eq!(parse_count(&count(value)), Ok(value));
                prop_assert_eq!(parse_duration(&duration(value)), Ok(value));
            }
        }

        #[test]
        fn written_rates_and_shares_read_the_same(value in 0f64..1e12, tiny in 0f64..1.0) {
            for value in [value, tiny, value.trunc(), (value / 1e6).trunc() * 1e6] {
                prop_assert_eq!(parse_rate(&rate(value)), Ok(value));
                prop_assert_eq!(parse_share(&share(value)), Ok(value));
            }
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,80}", numeric in "[-+0-9._eEkMGTiBsmunhd/% ]{0,60}") {
            for text in [&text, &numeric] {
                let _ = parse_size(text);
                let _ = parse_count(text);
                let _ = parse_duration(text);
                let _ = parse_rate(text);
                let _ = parse_share(text);
            }
        }
    }
}
