//! From made-up records to what is said about them.

mod laboratory;

mod bad_input;
mod curves;
mod gates;
mod mutilated;
mod records;
mod verdicts;
