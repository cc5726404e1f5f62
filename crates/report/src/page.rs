//! The pages: each one HTML file that holds everything, with charts in SVG, complete without scripts.
//!
//! ```text
//! Report ────────────► experiment::render ─► charts::charts: each by itself
//!                                              RecordComparison ─► compare::page
//! History ───────────► history::page           DiskPicture ──────► disk::page
//! Audit ─────────────► audit::page                 Exhibit ──────────► gallery::page
//! list::Listed, message::Message ───────────► the pages around them that `plimsoll serve` has
//! shell: head, style, script and policy of them all; link: their addresses
//! ```
//!
//! ```
//! use plimsoll_report::page::shell::{Place, Shell, document};
//! let shell = Shell { title: "harbour-depth", version: "0.1.0", place: Place::File };
//! let page = document(&shell, &maud::html! { main { h1 { "a < b" } } });
//! assert!(page.contains("<h1>a &lt; b</h1>"));
//! ```

mod chart;
mod figure;
mod prose;
mod rig;
#[cfg(test)]
mod shown;

pub mod audit;
pub mod charts;
pub mod compare;
pub mod disk;
pub mod experiment;
pub mod gallery;
pub mod history;
pub mod link;
pub mod list;
pub mod message;
pub mod shell;
