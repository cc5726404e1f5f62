//! Property files and command lines of YCSB: any bytes are understood or refused.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_workload::properties::{Core, Properties};
use plimsoll_ycsb::Command;

fuzz_target!(|input: &[u8]| {
    if let Ok(properties) = Properties::parse(input) {
        let _ = Core::read("any", &properties, &|_| Ok("BlockSize\t1\n0\t1\n1\t1\n".into()));
    }
    // Each line a word, and the whole as the file that a word names.
    let words: Vec<String> = input
        .split(|byte| *byte == b'\n')
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect();
    for phase in ["load", "run"] {
        let _ = Command::read(phase, &words, &|_| Ok(input.to_vec()));
    }
});
