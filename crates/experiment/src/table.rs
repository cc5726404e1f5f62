//! The table of an element's keys. One line defines a key for its reader, the JSON Schema and the reference.

pub(crate) use crate::document::Need::{Default, Optional, Required};
pub(crate) use crate::document::{Choice, Key, Keys, Object, Shape};
use crate::document::{Word, out_of_range};
use crate::mistake::Mistake;
use plimsoll_plan::SettingValue;
use plimsoll_record::quantities::units;
use std::ops::RangeInclusive;

/// The longest that a warm-up or a point can be.
pub(crate) const LONGEST_NS: u64 = 7 * 86_400_000_000_000;
/// The shortest that a point can be measured.
pub(crate) const SHORTEST_NS: u64 = 1_000_000;
const MOST_RATE: f64 = 1e9;
const MOST_SESSIONS: u64 = 10_000;
/// Shares of the plimsoll line at which a point can be.
const LINE_SHARES: RangeInclusive<f64> = 0.001..=10.0;

pub(crate) const FLAG: Shape = Shape::FLAG;
pub(crate) const SHARE: Shape = Shape::number(0.0, 1.0);
pub(crate) const SESSIONS: Shape = Shape::count(1, MOST_SESSIONS);
pub(crate) const RATE: Shape = rate_from(1e-3);
pub(crate) const LINE_SHARE: Shape = Shape::number(*LINE_SHARES.start(), *LINE_SHARES.end());
/// Operations per second, or a percentage of the plimsoll line, which stays text: `80%`.
pub(crate) const RATE_OR_SHARE: Shape = Shape::Word(&Word {
    expected: "a rate such as 20k or a share of the line such as 80%",
    summary: "rate, or percentage of the line",
    pattern: r"^[0-9][0-9_]*(\.[0-9]+)?([eE][+-]?[0-9]{1,2})? *([kKMG]?(/s)?|%)$",
    is_quantity: true,
    read: rate_or_share,
});

fn rate_or_share(text: &str) -> Result<SettingValue, Mistake> {
    if !text.trim_end().ends_with('%') {
        return RATE.scalar(text);
    }
    let share = units::parse_share(text)?;
    if LINE_SHARES.contains(&share) {
        return Ok(SettingValue::Text(units::share(share)));
    }
    let (least, most) = (*LINE_SHARES.start(), *LINE_SHARES.end());
    Err(out_of_range(text, units::share(least), units::share(most)))
}

/// Operations per second, from this many on.
pub(crate) const fn rate_from(least: f64) -> Shape {
    Shape::Rate { least, most: MOST_RATE }
}

/// Makes the table `NAME` of a map's keys, and a module `name` with a constant for each key.
///
/// A line holds a key, the shape of its value, whether it must be there or its default, and an example; below it is what the key means. A key that is a
/// word of Rust has another name for readers: `lasts as "for"`.
/// Readers can only name a key by its constant, so a key that is read is in the table; and a constant that no reader uses does not compile.
macro_rules! object {
    (@name $key:ident) => { stringify!($key) };
    (@name $key:ident $name:literal) => { $name };
    (@others) => { None };
    (@others $others:expr) => { Some($others) };
    (
        $(#[$doc:meta])* $object:ident $keys:ident: $object_about:literal
        $($key:ident $(as $name:literal)? = $shape:expr, $need:expr, $example:literal; $about:literal;)*
        $(=> any of [$($any:ident),*];)* $(=> one of [$($required:ident),*];)* $(=> at most one of [$($allowed:ident),*];)*
        $(=> others $others:expr;)?
    ) => {
        $(#[$doc])*
        pub(crate) static $object: Object = Object {
            about: $object_about,
            keys: &[$(Key { name: object!(@name $key $($name)?), about: $about, shape: $shape, need: $need, example: $example },)*],
            choices: &[
                $(Choice { keys: &[$(stringify!($any)),*], required: true, exclusive: false },)*
                $(Choice { keys: &[$(stringify!($required)),*], required: true, exclusive: true },)*
                $(Choice { keys: &[$(stringify!($allowed)),*], required: false, exclusive: true },)*
            ],
            others: object!(@others $($others)?),
        };
        const _: () = {
            #[allow(non_camel_case_types, dead_code)]
            enum KeyName { $($key),* }
            // A choice among keys that are not in the table does not compile.
            $($(let _ = KeyName::$any;)*)* $($(let _ = KeyName::$required;)*)* $($(let _ = KeyName::$allowed;)*)*
        };
        $(#[$doc])*
        #[allow(non_upper_case_globals)]
        #[deny(dead_code)]
        pub(crate) mod $keys {
            use super::*;
            $(pub(crate) const $key: &Key = &Key { name: object!(@name $key $($name)?), about: $about, shape: $shape, need: $need, example: $example };)*
        }
    };
}
pub(crate) use object;
