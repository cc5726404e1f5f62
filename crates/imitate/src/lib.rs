//! From a running MongoDB to an experiment file that imitates it.
//!
//! [`Observed`] is what was seen: what collections hold, from samples of their documents, and what is asked, from the server's log or profile. The file is
//! written from it, and the same observation of a server under that file tells how well it imitates.
//!
//! No value of a user leaves the process: texts become lengths, values become numbers of values. Names of databases, collections, fields and indexes stay.

mod calls;
mod counts;
pub mod fidelity;
mod fields;
mod flow;
mod form;
mod json;
pub mod log;
mod model;
pub mod operations;
mod shapes;
mod statement;
#[cfg(test)]
mod tests;

pub use calls::{APP_NAME, Call};
pub use flow::{flow, scalar};
pub use model::{Field, Index, Observed, ServerFacts, Shape, Source, Spread, Stored, Values};
pub use shapes::shapes;
pub use statement::collection_key;
