//! Every request to an emulated disk, and to which file it went.
//!
//! A [`Writer`] keeps the last requests in a file that is mapped into memory; [`Trace::open`] reads it, also after the writer was killed. An
//! [`ExtentMap`] says where the files of the filesystem on the disk lie at a moment; [`finish`] keeps the requests together with such maps in a
//! compact file, which [`Trace::open`] reads as well. A [`Resolver`] finds by the maps which file a request went to; [`iolog_v3`] and [`csv`] write
//! the requests for other programs.
//!
//! ```
//! use plimsoll_record::DiskSpec;
//! use plimsoll_trace::{Head, Kind, Place, Request, Resolver, Trace, Writer, finish, monotonic_ns};
//!
//! # fn main() -> Result<(), plimsoll_trace::TraceError> {
//! # let folder = tempfile::tempdir().expect("there is room for a folder");
//! let live = folder.path().join("live.trace");
//! let writer = Writer::create(&live, 1000, &Head::new(&DiskSpec::unlimited(1 << 30)))?;
//! let now = monotonic_ns();
//! writer.mark(now, "block 0, arm san, point 3 measuring");
//! writer.record(&Request {
//!     time_ns: now,
//!     offset: 8192,
//!     length: 4096,
//!     kind: Kind::Read,
//!     latency_ns: 7_000_000,
//!     in_flight: 1,
//!     lateness_ns: 900,
//! });
//!
//! let kept = folder.path().join("disk.trace");
//! assert_eq!(finish(&live, &kept, &[])?.reference.requests, 1);
//! let trace = Trace::open(&kept)?;
//! let request = trace.requests()[0];
//! let resolver = Resolver::new(trace.maps());
//! let pieces = resolver.resolve(request.time_ns, request.offset, request.length.into());
//! assert_eq!(pieces[0].place, Place::Unknown);
//! # Ok(())
//! # }
//! ```

mod btrfs;
mod csv;
pub mod diskmap;
mod error;
mod extents;
mod head;
mod iolog;
#[cfg(test)]
mod it;
mod live;
mod map;
mod request;
mod resolver;
mod slot;
mod stored;
mod trace;
mod writer;

pub use csv::csv;
pub use error::TraceError;
pub use extents::{Extent, ExtentMap, MappedFile, Unmapped};
pub use head::{Head, VERSION, monotonic_ns};
pub use iolog::{IOLOG_FILE, iolog_v3};
pub use request::{Kind, MAX_LATENCY_NS, OFFSET_LIMIT, RECORD_BYTES, Request};
pub use resolver::{Piece, Place, Resolver};
pub use stored::{Kept, finish};
pub use trace::{Mark, Trace};
pub use writer::{LABEL_BYTES, MARKS, Writer};
