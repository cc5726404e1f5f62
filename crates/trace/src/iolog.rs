//! Traces as logs that fio can replay.

use crate::request::Kind;
use crate::trace::Trace;
use std::io::{self, Write};

/// The name that requests go to in an iolog; give fio `--replay_redirect` with the device or file that they are to go to.
pub const IOLOG_FILE: &str = "emulated-disk";

/// Writes the requests as an iolog of version 3, which fio (3.31 or later) replays with `--read_iolog`. Times are in microseconds from the first
/// request. A flush is a `sync`, a discard a `trim`.
pub fn iolog_v3(trace: &Trace, out: &mut impl Write) -> io::Result<()> {
    let first_ns = trace.requests().first().map_or(0, |request| request.time_ns);
    writeln!(out, "fio version 3 iolog")?;
    writeln!(out, "0 {IOLOG_FILE} add")?;
    writeln!(out, "0 {IOLOG_FILE} open")?;
    let mut time_us = 1;
    for request in trace.requests() {
        // fio takes a time of 0 for none and does not wait for the next then.
        time_us = 1 + (request.time_ns - first_ns) / 1000;
        let action = match request.kind {
            Kind::Read => "read",
            Kind::Write => "write",
            Kind::Flush => "sync",
            Kind::Discard => "trim",
        };
        let (offset, length) = (request.offset, request.length);
        writeln!(out, "{time_us} {IOLOG_FILE} {action} {offset} {length}")?;
    }
    writeln!(out, "{time_us} {IOLOG_FILE} close")
}
