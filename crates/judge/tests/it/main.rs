//! From made-up records to what is said about them.
#![allow(clippy::unwrap_used)] // A test that cannot go on has failed.

mod laboratory;

mod watched;

mod bad_input;
mod causes;
mod curves;
mod differences;
mod gates;
mod mutilated;
mod pairs;
mod records;
mod rigs;
mod verdicts;
