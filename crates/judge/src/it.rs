//! Analyses of made-up records.
#![allow(clippy::unwrap_used)] // A test that cannot go on has failed.

mod laboratory;

mod searched;
mod watched;

mod applications;
mod bad_input;
mod by_operation;
mod causes;
mod costs;
mod curves;
mod differences;
mod disturbed;
mod duets;
mod events;
mod factors;
mod gate;
mod gates;
mod history;
mod hosts;
mod latencies;
mod lines;
mod looks;
mod modules;
mod mutilated;
mod networks;
mod noise;
mod pairs;
mod records;
mod rigs;
mod sweeps;
mod transients;
mod verdicts;
