//! The store as its users see it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod claims;
mod following;
mod listing;
mod old_records;
mod other_users;
mod refusals;
mod round_trip;
pub(crate) mod sample;
mod site;
