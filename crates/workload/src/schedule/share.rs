//! The part of one load host in a workload.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;
use thiserror::Error;

/// The part of one load host in a workload that several hosts generate together.
///
/// Host `index` of `of` hosts, counted from 0. All hosts get the same workload and the same seed; each computes its own part from its share,
/// without asking the others. The parts of all hosts together are the workload:
///
/// | what | the part of host k of n |
/// |---|---|
/// | sessions | a contiguous range of their numbers ([`Share::sessions`]); a session has the same stream, pace and number of operations as on one host |
/// | constant arrivals | the operations k, k + n, k + 2n, ... of the exact schedule ([`Share::number`]); only hosts with a session count ([`Share::among`]) |
/// | Poisson arrivals | a process of its own at 1/n of the rate, from a seed that follows from the seed and k |
/// | records of the load phase | those of the host's sessions, a contiguous range of key numbers ([`things_before`]) |
/// | new records | the new numbers k, k + n, k + 2n, ... |
///
/// ```
/// use plimsoll_workload::schedule::Share;
///
/// let shares = [Share::new(0, 2)?, Share::new(1, 2)?];
/// assert_eq!(shares.map(|share| share.sessions(5)), [0..2, 2..5]);
/// assert_eq!(shares.map(|share| share.number(10)), [20, 21]);
/// assert!(Share::new(2, 2).is_err());
/// # Ok::<(), plimsoll_workload::schedule::ShareError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Share {
    index: u32,
    of: u32,
}

/// Why there is no such share.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error(
    "share {index} of {of} does not exist; the index counts from 0 and is below the number of hosts"
)]
pub struct ShareError {
    /// Index of the host that was requested.
    pub index: u32,
    /// The requested number of hosts.
    pub of: u32,
}

/// A share as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    index: u32,
    of: u32,
}

impl TryFrom<Unchecked> for Share {
    type Error = ShareError;

    fn try_from(share: Unchecked) -> Result<Self, ShareError> {
        Self::new(share.index, share.of)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.index, self.of)
    }
}

impl Default for Share {
    fn default() -> Self {
        Self::WHOLE
    }
}

impl Share {
    /// The only host: the whole workload.
    pub const WHOLE: Self = Self { index: 0, of: 1 };

    /// Host `index`, from 0, of `of` hosts.
    ///
    /// # Errors
    /// When there is no host, or no host of this index.
    pub fn new(index: u32, of: u32) -> Result<Self, ShareError> {
        if index < of { Ok(Self { index, of }) } else { Err(ShareError { index, of }) }
    }

    /// The number of this host, from 0.
    pub fn index(self) -> u32 {
        self.index
    }

    /// Number of hosts that share the load.
    pub fn of(self) -> u32 {
        self.of
    }

    /// Whether this is the only host.
    pub fn is_whole(self) -> bool {
        self.of == 1
    }

    /// The numbers of the sessions that this host runs, of `total` sessions on all hosts. Hosts differ by one session at most. With more hosts than
    /// sessions some ranges are empty.
    pub fn sessions(self, total: u32) -> Range<u32> {
        let before = |hosts: u32| {
            let sessions = u64::from(total) * u64::from(hosts) / u64::from(self.of);
            u32::try_from(sessions).expect("it is at most the total")
        };
        before(self.index)..before(self.index + 1)
    }

    /// The share of this host among those that have a session, where there are `total` sessions on all hosts: the same share where all have one. `None`
    /// without a session. Whatever is due at fixed times is divided among these hosts, as nobody else would do it.
    ///
    /// ```
    /// use plimsoll_workload::schedule::Share;
    ///
    /// let of_three = |index| Share::new(index, 3).expect("below 3");
    /// assert_eq!(of_three(1).among(3), Some(of_three(1)));
    /// let of_two = [0, 1, 2].map(|index| of_three(index).among(2));
    /// assert_eq!(of_two, [None, Share::new(0, 2).ok(), Share::new(1, 2).ok()]);
    /// ```
    pub fn among(self, total: u32) -> Option<Self> {
        let sessions = self.sessions(total);
        if sessions.is_empty() {
            None
        } else if total >= self.of {
            Some(self)
        } else {
            // Nobody has more than one session, so the host is as far among them as its session is.
            Some(Self { index: sessions.start, of: total })
        }
    }

    /// The number, in the whole workload, of this host's thing number `own`, where hosts take turns.
    #[inline]
    pub fn number(self, own: u64) -> u64 {
        own * u64::from(self.of) + u64::from(self.index)
    }
}

/// How many of `all` things belong to the parts before part `index` of `parts` equal parts. As in YCSB the first parts take the rest, so part `index`
/// has the things from `things_before(all, parts, index)` to `things_before(all, parts, index + 1)`.
///
/// ```
/// let begins = [0, 1, 2, 3].map(|index| plimsoll_workload::schedule::things_before(11, 3, index));
/// assert_eq!(begins, [0, 4, 8, 11]);
/// ```
pub fn things_before(all: u64, parts: u32, index: u32) -> u64 {
    let (parts, index) = (u64::from(parts.max(1)), u64::from(index));
    all / parts * index + index.min(all % parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shares(of: u32) -> impl Iterator<Item = Share> {
        (0..of).map(move |index| Share::new(index, of).unwrap())
    }

    #[test]
    fn a_share_that_does_not_exist_is_refused() {
        for (index, of) in [(0, 0), (1, 1), (4, 3), (u32::MAX, u32::MAX)] {
            assert_eq!(Share::new(index, of), Err(ShareError { index, of }));
        }
        assert_eq!(Share::new(0, 1), Ok(Share::WHOLE));
        assert_eq!(Share::default(), Share::WHOLE);
    }

    #[test]
    fn the_written_form_is_plain_and_checked() {
        let share = Share::new(2, 3).unwrap();
        let text = serde_json::to_string(&share).unwrap();
        assert_eq!(text, r#"{"index":2,"of":3}"#);
        assert_eq!(serde_json::from_str::<Share>(&text).unwrap(), share);
        for text in [
            r#"{"index":3,"of":3}"#,
            r#"{"index":0,"of":0}"#,
            r#"{"index":0,"of":1,"more":1}"#,
            r#"{"index":0}"#,
        ] {
            assert!(serde_json::from_str::<Share>(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_session_runs_on_one_host(total in 0..5_000_u32, of in 1..70_u32) {
            let ranges: Vec<_> = shares(of).map(|share| share.sessions(total)).collect();
            let all: Vec<u32> = ranges.iter().cloned().flatten().collect();
            prop_assert!(all.into_iter().eq(0..total));
            let sizes = ranges.iter().map(ExactSizeIterator::len);
            prop_assert!(sizes.clone().max().unwrap() - sizes.min().unwrap() <= 1);
        }

        #[test]
        fn hosts_with_a_session_are_numbered_one_after_the_other(total in 0..100_u32, of in 1..70_u32) {
            let found: Vec<Share> = shares(of).filter_map(|share| share.among(total)).collect();
            prop_assert!(found.into_iter().eq(shares(total.min(of))));
        }

        #[test]
        fn hosts_take_turns(of in 1..70_u32, rounds in 1..20_u64) {
            let mut numbers: Vec<u64> = shares(of)
                .flat_map(|share| (0..rounds).map(move |own| share.number(own)))
                .collect();
            numbers.sort_unstable();
            prop_assert!(numbers.into_iter().eq(0..rounds * u64::from(of)));
        }

        #[test]
        fn equal_parts_are_everything(all: u64, parts in 1..100_u32) {
            let sizes: Vec<u64> = (0..parts)
                .map(|index| things_before(all, parts, index + 1) - things_before(all, parts, index))
                .collect();
            prop_assert_eq!(sizes.iter().sum::<u64>(), all);
            prop_assert!(sizes.is_sorted_by(|first, second| first >= second));
            prop_assert!(sizes[0] - sizes[sizes.len() - 1] <= 1);
        }
    }

    #[test]
    fn the_most_sessions_are_split_without_overflow() {
        let last = Share::new(u32::MAX - 1, u32::MAX).unwrap();
        assert_eq!(last.sessions(u32::MAX), u32::MAX - 1..u32::MAX);
        assert_eq!(last.sessions(1), 0..1);
    }
}
