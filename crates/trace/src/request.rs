//! One request, and how it fits into 32 bytes.

use serde::{Deserialize, Serialize};

pub const RECORD_BYTES: usize = 32;
/// Offsets in a trace are below this, bytes: 256 TiB.
pub const OFFSET_LIMIT: u64 = 1 << OFFSET_BITS;
/// The longest latency that a record holds, nanoseconds: 18 minutes. A longer one is recorded as this.
pub const MAX_LATENCY_NS: u64 = (1 << LATENCY_BITS) - 1;

pub(crate) const RECORD_WORDS: usize = RECORD_BYTES / 8;
const OFFSET_BITS: u32 = 48;
const LATENCY_BITS: u32 = 40;
const KIND_BITS: u32 = 3;
const LAP_BITS: u32 = 64 - LATENCY_BITS - KIND_BITS;
const KIND_MASK: u64 = (1 << KIND_BITS) - 1;
const LAP_MASK: u64 = (1 << LAP_BITS) - 1;

/// The last word of a record that was never written.
pub(crate) const NEVER: u64 = 0;
/// The kind of a record that is being written.
const WRITING: u64 = KIND_MASK;

/// The kind of a request to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Read,
    Write,
    /// A flush: everything written before is safe.
    Flush,
    /// Bytes that are no longer needed.
    Discard,
}

impl Kind {
    /// All, in the order of their codes: 1, 2, 3 and 4.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Flush, Self::Discard];

    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Flush => "flush",
            Self::Discard => "discard",
        }
    }

    pub(crate) fn code(self) -> u64 {
        self as u64 + 1
    }

    pub(crate) fn of_code(code: u64) -> Option<Self> {
        let index = usize::try_from(code).ok()?.checked_sub(1)?;
        Self::ALL.get(index).copied()
    }
}

/// A request to the disk and how it was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When it arrived: nanoseconds of `CLOCK_MONOTONIC`.
    pub time_ns: u64,
    /// First byte on the disk, below [`OFFSET_LIMIT`]; 0 for a flush.
    pub offset: u64,
    /// Bytes; 0 for a flush.
    pub length: u32,
    pub kind: Kind,
    /// From arrival to answer, nanoseconds; above [`MAX_LATENCY_NS`] recorded as that.
    pub latency_ns: u64,
    /// Requests that were being served when it arrived, itself included.
    pub in_flight: u16,
    /// How long after it was due it was answered, nanoseconds: the emulator's error.
    pub lateness_ns: u32,
}

impl Request {
    /// The words of a record. The last one shows that it is whole, and in which round through the file it was written.
    pub(crate) fn packed(&self, lap: u64) -> [u64; RECORD_WORDS] {
        let offset = self.offset.min(OFFSET_LIMIT - 1);
        let latency = self.latency_ns.min(MAX_LATENCY_NS);
        [
            self.time_ns,
            offset | u64::from(self.in_flight) << OFFSET_BITS,
            u64::from(self.length) | u64::from(self.lateness_ns) << 32,
            stamp(lap, self.kind.code()) | latency,
        ]
    }

    /// `None` where the last word is not of a whole record.
    pub(crate) fn unpacked(words: [u64; RECORD_WORDS]) -> Option<Self> {
        let [time_ns, place, sizes, last] = words;
        Some(Self {
            time_ns,
            offset: place & (OFFSET_LIMIT - 1),
            length: sizes as u32,
            kind: Kind::of_code(last >> LATENCY_BITS & KIND_MASK)?,
            latency_ns: last & MAX_LATENCY_NS,
            in_flight: (place >> OFFSET_BITS) as u16,
            lateness_ns: (sizes >> 32) as u32,
        })
    }
}

/// The last word of a record that is being written in this round.
pub(crate) fn writing(lap: u64) -> u64 {
    stamp(lap, WRITING)
}

pub(crate) fn is_being_written(last: u64) -> bool {
    last >> LATENCY_BITS & KIND_MASK == WRITING
}

/// Whether the record was written in this round.
pub(crate) fn is_of_lap(last: u64, lap: u64) -> bool {
    last >> (LATENCY_BITS + KIND_BITS) == lap & LAP_MASK
}

/// Whether a later round than this has come by. Rounds are counted modulo 2^21, so that half of them lie ahead.
pub(crate) fn is_after_lap(last: u64, lap: u64) -> bool {
    if last == NEVER {
        return false;
    }
    let ahead = (last >> (LATENCY_BITS + KIND_BITS)).wrapping_sub(lap) & LAP_MASK;
    ahead != 0 && ahead < 1 << (LAP_BITS - 1)
}

fn stamp(lap: u64, kind: u64) -> u64 {
    (lap & LAP_MASK) << (LATENCY_BITS + KIND_BITS) | kind << LATENCY_BITS
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(crate) fn request() -> impl Strategy<Value = Request> {
        (
            any::<u64>(),
            0..OFFSET_LIMIT,
            any::<u32>(),
            0..4_usize,
            0..=MAX_LATENCY_NS,
            any::<u16>(),
            any::<u32>(),
        )
            .prop_map(
                |(time_ns, offset, length, kind, latency_ns, in_flight, lateness_ns)| Request {
                    time_ns,
                    offset,
                    length,
                    kind: Kind::ALL[kind],
                    latency_ns,
                    in_flight,
                    lateness_ns,
                },
            )
    }

    proptest! {
        #[test]
        fn a_record_gives_its_request_back(request in request(), lap in any::<u64>()) {
            let words = request.packed(lap);
            prop_assert_eq!(Request::unpacked(words), Some(request));
            prop_assert!(is_of_lap(words[3], lap));
            prop_assert!(!is_being_written(words[3]));
            prop_assert!(is_after_lap(words[3], lap.wrapping_sub(1)));
            prop_assert!(!is_after_lap(words[3], lap));
            prop_assert!(!is_after_lap(words[3], lap.wrapping_add(1)));
        }
    }

    #[test]
    fn what_is_being_written_or_was_never_is_no_request() {
        assert_eq!(Request::unpacked([1, 2, 3, NEVER]), None);
        assert_eq!(Request::unpacked([1, 2, 3, writing(7)]), None);
        assert!(is_being_written(writing(7)));
        assert!(!is_being_written(NEVER));
        assert!(!is_after_lap(NEVER, u64::from(u32::MAX)));
    }

    #[test]
    fn a_latency_of_an_hour_is_recorded_as_the_longest() {
        let hour = Request {
            time_ns: 0,
            offset: 0,
            length: 0,
            kind: Kind::Flush,
            latency_ns: 3_600_000_000_000,
            in_flight: 1,
            lateness_ns: 0,
        };
        let read = Request::unpacked(hour.packed(0)).unwrap();
        assert_eq!(read.latency_ns, MAX_LATENCY_NS);
    }
}
