//! A record file as `plimsoll report` takes it, up to everything that is shown and written of it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_report::export::{files, junit, write};
use plimsoll_report::page::experiment::render;
use plimsoll_record::ExperimentRecord;
use plimsoll_report::Report;
use plimsoll_report::terminal::{Screen, summary};
use std::io::sink;

fuzz_target!(|input: &[u8]| {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let Ok(record) = ExperimentRecord::from_json(text) else {
        return;
    };
    // What it says of its plan may be nonsense, and is then refused.
    let Ok(analysis) = plimsoll_judge::analyse(&record) else {
        return;
    };
    let report = Report {
        record: &record,
        analysis: &analysis,
    };
    summary(&report, &Screen::default());
    render(&report);
    junit::render(&report, false);
    for file in files(&report) {
        write(&file, &mut sink()).expect("nothing is refused there");
    }
});
