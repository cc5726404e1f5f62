//! Draws where in its files a database reads and writes: each file laid out row by row from its first byte, every access a mark at its place.
//!
//! ```text
//! Trace ─ Accesses::of ─► Accesses ─ Layout::of ─► Layout ─ heat, or one frame after the other ─► Canvas ─► PNG, GIF
//!                            └─ pack, with the noted operations ─► bytes ─► the player on the page (web/src/map)
//! ```
//!
//! All files share one scale, so that sizes can be compared, and each begins in a row of its own. The scale is chosen so that they fill a square together.
//! Reads are blue and writes are orange; where both happened, a still shows the more frequent one and says so.
//!
//! ```
//! use plimsoll_trace::diskmap::{Accesses, Layout, Selection, heat, write_png};
//! use plimsoll_trace::Trace;
//! # use plimsoll_record::DiskSpec;
//! # use plimsoll_trace::{Extent, ExtentMap, Head, Kind, MappedFile, Request, Writer, finish, monotonic_ns};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let (live, path) = (folder.path().join("live"), folder.path().join("kept"));
//! # let writer = Writer::create(&live, 10, &Head::new(&DiskSpec::unlimited(1 << 30)))?;
//! # let now = monotonic_ns();
//! # writer.record(&Request { time_ns: now, offset: 4096, length: 4096, kind: Kind::Read, latency_ns: 1, in_flight: 1, lateness_ns: 0 });
//! # let extents = vec![Extent { logical: 0, physical: 0, length: 1 << 20, flags: 0 }];
//! # let file = MappedFile { path: "data/collection.wt".into(), size: 1 << 20, extents, unmapped: None };
//! # finish(&live, &path, &[ExtentMap { time_ns: now, files: vec![file] }])?;
//!
//! let trace = Trace::open(&path)?;
//! let accesses = Accesses::of(&trace, &Selection::default())?;
//! let layout = Layout::of(&accesses, 1024);
//! let mut picture = Vec::new();
//! write_png(&mut picture, &heat(&accesses, &layout))?;
//! assert!(picture.starts_with(b"\x89PNG"));
//! # Ok(())
//! # }
//! ```

mod accesses;
mod animation;
mod canvas;
#[cfg(test)]
mod it;
mod layout;
mod pack;
mod run;
mod text;
mod used;
mod writing;

pub use accesses::{Access, Accesses, DiskmapError, File, Moment, Selection};
pub use animation::{Animation, animation, heat};
pub use canvas::{Canvas, PALETTE};
pub use layout::{Block, Layout};
pub use pack::{
    LeftOut, NotedPoint, PACK_VERSION, PackHead, PackedMoment, PackedOperations, Unpacked, pack,
    pack_within, shortened, unpack,
};
pub use run::{
    MOST_MAPS, MOST_REQUESTS, RunMap, STILL_WIDTH, accesses_of, is_traced, last_of_each_arm,
    noted_points,
};
pub use used::{FileKind, FileUse};
pub use writing::{write_animated_png, write_gif, write_png};
