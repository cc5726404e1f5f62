//! What `plimsoll foreign import` makes of outputs of other tools, in each of its formats, up to their judgement.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_import::{Arm, Format, Frame, Options, read, record};
use plimsoll_record::ExperimentRecord;

fuzz_target!(|input: &[u8]| {
    for format in Format::ALL {
        let options = Options { format: Some(format), ..Options::default() };
        let Ok(outputs) = read("input", input, &options) else {
            continue;
        };
        let arm = Arm { name: "arm".to_owned(), outputs };
        let record = record(&Frame::default(), vec![arm]).expect("what was read makes a record");
        let again =
            ExperimentRecord::from_json(&record.to_json()).expect("a record can be read again");
        plimsoll_judge::analyse(&again).expect("the plan of an import can be read");
    }
});
