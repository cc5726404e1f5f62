//! Traces as CSV, for any other program.

use crate::resolver::{Place, Resolver};
use crate::trace::Trace;
use std::io::{self, Write};

/// Writes one line a request, in order of time, under a line with the names of the columns:
///
/// `time_ns` since the trace began; `kind`; `offset` and `length` on the disk, bytes; `latency_ns`; `in_flight`; `lateness_ns`; `pieces` that it
/// consists of; and of the first of them: `place` (`file`, `metadata` or `unknown`, nothing for a flush), `file`, `file_offset` in bytes, `agreed`
/// (whether the maps before and after say the same).
pub fn csv(trace: &Trace, resolver: &Resolver<'_>, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "time_ns,kind,offset,length,latency_ns,in_flight,lateness_ns,pieces,place,file,file_offset,agreed"
    )?;
    let start_ns = i128::from(trace.head().monotonic_start_ns);
    for request in trace.requests() {
        let pieces = resolver.resolve(request.time_ns, request.offset, request.length.into());
        write!(
            out,
            "{},{},{},{},{},{},{},{},",
            i128::from(request.time_ns) - start_ns,
            request.kind.name(),
            request.offset,
            request.length,
            request.latency_ns,
            request.in_flight,
            request.lateness_ns,
            pieces.len()
        )?;
        match pieces.first().map(|piece| piece.place) {
            None => writeln!(out, ",,,")?,
            Some(Place::Metadata) => writeln!(out, "metadata,,,")?,
            Some(Place::Unknown) => writeln!(out, "unknown,,,")?,
            Some(Place::File { path, offset, agreed }) => {
                writeln!(out, "file,{},{offset},{agreed}", quoted(path))?
            }
        }
    }
    Ok(())
}

fn quoted(path: &str) -> String {
    let path = plimsoll_record::redact::spreadsheet_safe(path);
    if path.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", path.replace('"', "\"\""))
    } else {
        path.into_owned()
    }
}
