//! From a running MongoDB to an experiment file that imitates it.
//!
//! [`Observed`] is what was seen: what collections hold, from samples of their documents, and which statements run, from the server's log or profile. The file is
//! written from it, and the same observation of a server under that file shows how good the imitation is.
//!
//! No value of a user leaves the process: texts become lengths, values become numbers of values. Names of databases, collections, fields and indexes stay.

mod calls;
mod collections;
mod copied;
mod counts;
mod documents;
pub mod fidelity;
mod fields;
mod form;
mod guess;
mod indexes;
#[cfg(test)]
mod it;
mod json;
pub mod log;
mod model;
mod observe;
pub mod operations;
mod references;
mod rename;
mod scale;
mod server;
mod shapes;
mod statement;
#[cfg(test)]
mod tests;
mod write;

pub use calls::{APP_NAME, Call};
pub use copied::copied;
pub use model::{Field, Index, Observed, ServerFacts, Shape, Source, Spread, Stored};
pub use observe::{Request, observe};
pub use rename::rename;
pub use shapes::shapes;
pub use statement::collection_key;
pub use write::write;

/// Why a server could not be observed, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ImitateError(String);

impl ImitateError {
    fn new(words: impl Into<String>) -> Self {
        Self(words.into())
    }
}
