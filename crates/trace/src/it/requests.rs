use crate::{Head, Kind, Request};
use plimsoll_record::DiskSpec;

pub const GIB: u64 = 1 << 30;

pub fn head() -> Head {
    Head::new(&DiskSpec::unlimited(GIB))
}

/// A request whose fields all follow from one number, so that a mixture of two is seen.
pub fn request(number: u64) -> Request {
    Request {
        time_ns: number,
        offset: number * 4096,
        length: number as u32 ^ 0x5555,
        kind: Kind::ALL[number as usize % 4],
        latency_ns: number * 7,
        in_flight: number as u16,
        lateness_ns: number as u32 ^ 0xaaaa,
    }
}
