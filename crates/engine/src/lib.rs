//! The databases that are measured: [`Engine`] and [`Session`], and one file or folder for each.
//!
//! An [`Engine`] is one opened database. Each thread of the load generator takes one [`Session`] from it and calls it, one operation
//! at a time; the call returns when the operation is complete. Engines know nothing of time, schedules or histograms.
//!
//! | name | is |
//! |---|---|
//! | `noop` | nothing: what is measured is the load generator itself |
//! | `simulated` | a queue with a known answer, with service times from a law and stalls from a script |
//! | `wiredtiger` | MongoDB's storage engine, embedded, in the layout that mongod uses; only with the feature of that name |
//! | `mongodb` | a MongoDB server, started for the arm or by its URI; only with the feature of that name |
//!
//! [`kinds`] lists them with everything that can be set, [`open`] opens one by name. To add one, write a folder with the two traits and an
//! `EngineKind`, and add a [`Registration`] to the list in `registry.rs`; `tests/toy.rs` does it for an engine of 60 lines.
//!
//! # Why a session blocks, and how an asynchronous database fits
//!
//! Embedded engines do their work on the calling thread and may block there for tens of milliseconds, so they can never sit on an
//! asynchronous executor. For a database behind a socket the cheapest client is a blocking one as well: one connection, one thread,
//! one send and one receive per operation. A client that is asynchronous inside fits the same trait by driving its own runtime from
//! the calling thread, which costs a poll and no hand-over to another thread, and embedded engines pay nothing for it:
//!
//! ```
//! use plimsoll_engine::{FieldVisitor, Outcome, Session};
//! use plimsoll_workload::{FieldChoice, Fields};
//! use std::future::Future;
//! use std::pin::pin;
//! use std::task::{Context, Poll, Waker};
//!
//! /// Stands for an asynchronous driver: the reply arrives at the second poll.
//! struct Driver;
//! impl Driver {
//!     async fn find(&self, key: &[u8]) -> Result<Option<usize>, String> {
//!         let mut polled = false;
//!         std::future::poll_fn(|context| {
//!             if polled { return Poll::Ready(()) }
//!             polled = true;
//!             context.waker().wake_by_ref();
//!             Poll::Pending
//!         }).await;
//!         Ok(if key.starts_with(b"user") { Some(1_000) } else { None })
//!     }
//! }
//!
//! /// One session of it. A real one holds a current-thread runtime here and calls its `block_on`.
//! struct DriverSession { driver: Driver }
//!
//! fn block_on<F: Future>(future: F) -> F::Output {
//!     let mut future = pin!(future);
//!     let mut context = Context::from_waker(Waker::noop());
//!     loop {
//!         if let Poll::Ready(output) = future.as_mut().poll(&mut context) { return output }
//!     }
//! }
//!
//! impl Session for DriverSession {
//!     fn read(&mut self, key: &[u8], _: FieldChoice<'_>, _: Option<&mut dyn FieldVisitor>) -> Outcome {
//!         match block_on(self.driver.find(key)) {
//!             Ok(Some(_)) => Outcome::Ok,
//!             Ok(None) => Outcome::NotFound,
//!             Err(message) => Outcome::error(message),
//!         }
//!     }
//! #   fn update(&mut self, _: &[u8], _: Fields<'_>) -> Outcome { Outcome::Ok }
//! #   fn insert(&mut self, _: &[u8], _: Fields<'_>) -> Outcome { Outcome::Ok }
//! #   fn scan(&mut self, _: &[u8], _: u32, _: FieldChoice<'_>, _: &mut u32) -> Outcome { Outcome::Ok }
//! #   fn delete(&mut self, _: &[u8]) -> Outcome { Outcome::Ok }
//! }
//!
//! let mut session: Box<dyn Session> = Box::new(DriverSession { driver: Driver });
//! assert!(matches!(session.read(b"user1", FieldChoice::All, None), Outcome::Ok));
//! assert!(matches!(session.read(b"nobody", FieldChoice::All, None), Outcome::NotFound));
//! ```

mod error;
#[cfg(test)]
mod it;
#[cfg(feature = "lean-client")]
pub mod mongo;
mod mongodb;
#[cfg(test)]
mod no_allocation;
mod noop;
mod opening;
mod registry;
mod session;
mod simulated;
#[cfg(test)]
mod toy;
mod wiredtiger;

pub use error::EngineError;
pub use mongodb::{INSTEAD_OF_LEAN, SetOrder, look, remove, replica_set};
#[cfg(feature = "mongodb")]
pub use mongodb::{MARKS, address, driver_words};
pub use opening::{MetricsSample, Opening};
pub use registry::{Registration, kind, kinds, open, own_metrics};
pub use session::{
    Answer, Endpoint, Engine, FieldVisitor, Interrupter, Outcome, PartTime, ServerIdentity, Session,
};
pub use simulated::Simulation;

#[cfg(feature = "wiredtiger")]
#[doc(hidden)]
pub use wiredtiger::bare;
