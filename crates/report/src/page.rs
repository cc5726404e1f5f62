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
//!
//! # What the script finds in a page
//!
//! The parts of the script (`web/src/*.ts`) find their elements by these marks. Every picture and table is complete without them. Data for the script is JSON without `<`.
//!
//! | mark | what it means |
//! |---|---|
//! | `svg[data-cursor]` | a chart over seconds, load or percentiles: its value names the group of charts that share a cursor. `data-plot="x0 x1 v0 v1"` says which part of the view box spans which values, `data-scale="log"` that it does so in logarithms. The `script.chart-data` right behind it holds `{"x": […], "unit": "s", "series": [{"name", "unit", "values": […]}]}`, and where they are known `labels` to be said in place of `x`, `stretch` (seconds of which each value is the mean), and of a series `low` and `high` (the ends of its interval) and `look` (the class of its arm). Units of values are `op/s`, `ns`, `B`, `share` or none; the script spells them as the page does |
//! | `[data-map]` | a disk map; its value is where the packed accesses are: `#id` of a `script` in base64, or a path on the server |
//! | `[data-live]` | a running experiment; its value is the path of its events (`docs/serve.md`) |
//! | `[data-report]` | what is fetched again and replaced when a run ends |
//! | `[data-filter]` | a list whose rows are filtered by the form of that id; `data-whole`: all of them are in the page |
//! | `[data-choice]` | a form for choosing two arms to compare |

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
