//! Traces as their writers, readers and exporters meet them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod exports;
mod filesystem;
mod kept;
mod mapping;
mod recording;
mod requests;
