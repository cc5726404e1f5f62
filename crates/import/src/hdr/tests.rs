use super::*;
use crate::{Arm, Frame, Options, join, read as read_any, record};
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer, V2Serializer};
use plimsoll_testing::assert_contains;

/// A histogram of these values in text form, made by the library.
fn encoded(values: &[u64]) -> String {
    let mut histogram = hdrhistogram::Histogram::<u64>::new(3).unwrap();
    for value in values {
        histogram.record(*value).unwrap();
    }
    let mut bytes = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    serializer.serialize(&histogram, &mut bytes).unwrap();
    STANDARD.encode(bytes)
}

fn log(operation: &str, intervals: &[&[u64]]) -> String {
    let mut text = format!(
        "#[Logging for: {operation}]\n#[Histogram log format version 1.2]\n#[StartTime: 1700000000.500 (seconds since epoch), x]\n\
         \"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n"
    );
    for (second, values) in intervals.iter().enumerate() {
        text.push_str(&format!("{second}.000,1.000,5.0,{}\n", encoded(values)));
    }
    text
}

fn only(name: &str, text: &str, options: Options) -> Measured {
    let mut outputs = read_any(name, text.as_bytes(), &options).unwrap();
    assert_eq!(outputs.len(), 1);
    outputs.remove(0)
}

fn refused(text: &str) -> String {
    let error = read_any("x.log", text.as_bytes(), &Options::default()).unwrap_err();
    error.to_string()
}

#[test]
fn each_interval_becomes_a_slice_with_its_histogram() {
    let text = log("READ", &[&[100, 200, 300], &[5_000]]);
    let run = only("READ.hdr", &text, Options::default());
    assert_eq!(run.started_at.as_deref(), Some("2023-11-14T22:13:20.500Z"));
    assert_eq!((run.slices.len(), run.measured_ns), (2, 2_000_000_000));
    let first = &run.slices[0].operations[0];
    assert_eq!(first.operation, Operation::Read);
    assert_eq!(first.status, Status::Ok);
    let buckets = first.latencies.service.buckets();
    assert!(buckets.map(|(_, count)| count).eq([1, 1, 1]));
    assert_eq!(run.slices[0].completed.ok, 3);
    let second = &run.slices[1].operations[0].latencies.service;
    let mean_ns = second.mean_ns().unwrap();
    assert!((mean_ns / 5e6 - 1.0).abs() < 2e-3, "{mean_ns}");
}

#[test]
fn the_unit_can_be_said() {
    let text = log("READ", &[&[100]]);
    for (unit, lowest_ns) in
        [(Unit::Nanos, 100), (Unit::Micros, 100_000), (Unit::Millis, 100_000_000)]
    {
        let options = Options { unit: Some(unit), ..Options::default() };
        let run = only("READ.hdr", &text, options);
        let reads = &run.slices[0].operations[0].latencies.service;
        let min_ns = reads.min_ns().unwrap();
        assert!(min_ns.abs_diff(lowest_ns) <= lowest_ns / 1000, "{min_ns}");
    }
}

#[test]
fn tags_tell_operations_apart() {
    let reads = encoded(&[10, 20]);
    let updates = encoded(&[30]);
    let text = format!(
        "#[Histogram log format version 1.3]\nTag=READ,0.0,1.0,1.0,{reads}\nTag=UPDATE,0.0,1.0,1.0,{updates}\n\
         Tag=READ-FAILED,0.0,1.0,1.0,{updates}\nTag=CLEANUP,0.0,1.0,1.0,{updates}\n"
    );
    let run = only("all.log", &text, Options::default());
    assert_eq!(run.slices.len(), 1);
    let completed = run.slices[0].completed;
    assert_eq!((completed.ok, completed.error), (3, 1));
    assert_eq!(run.slices[0].operations.len(), 3);
}

#[test]
fn points_of_our_own_logs_are_kept_apart() {
    let text = format!(
        "#[Plimsoll, arm one, block 1, attempt 1]\n#[Histograms in nanoseconds, x]\n#[Histogram log format version 1.3]\n\
         Tag=load/4-threads/insert,0.0,1.0,1.0,{0}\nTag=c/16-threads/read,5.0,1.0,1.0,{0}\nTag=c/16-threads/read/error,5.0,1.0,1.0,{0}\n\
         Tag=c/16-threads/read/service,5.0,1.0,1.0,{0}\n",
        encoded(&[100])
    );
    let outputs = read_any("x.hlog", text.as_bytes(), &Options::default()).unwrap();
    let place = |output: &Measured| (output.workload.clone().unwrap(), output.sessions.unwrap());
    let places: Vec<_> = outputs.iter().map(place).collect();
    assert_eq!(places, [("load".to_owned(), 4), ("c".to_owned(), 16)]);
    let completed = outputs[1].slices[0].completed;
    assert_eq!((completed.ok, completed.error), (1, 1));
    let reads = &outputs[1].slices[0].operations[0].latencies.service;
    assert_eq!(reads.max_ns(), Some(100));
}

#[test]
fn what_a_log_is_of_must_be_known() {
    let text = format!("#[Histogram log format version 1.3]\n0.0,1.0,1.0,{}\n", encoded(&[1]));
    assert_contains(refused(&text), "--operation");
    let by_name = only("dir/UPDATE.hdr", &text, Options::default());
    assert_eq!(by_name.counts().len(), 1);
    let options = Options { operation: Some(Operation::Scan), ..Options::default() };
    let run = only("x.log", &text, options);
    assert_eq!(run.slices[0].operations[0].operation, Operation::Scan);
    let tagged = text.replace("0.0,1.0", "Tag=frobnicate,0.0,1.0");
    assert_contains(refused(&tagged), "`frobnicate` is no operation");
}

#[test]
fn a_line_that_was_cut_off_is_left_out_and_said() {
    let text = log("READ", &[&[1], &[2]]);
    let run = only("READ.hdr", &text[..text.len() - 9], Options::default());
    assert_eq!(run.slices.len(), 1);
    assert_contains(&run.damage[0], "line 6 is not complete");
    // In the middle it is no cut.
    let broken = text.replacen("0.000,1.000,5.0,HIST", "0.000,1.000,5.0,HISTX", 1);
    assert_contains(refused(&broken), "line 5: the histogram cannot be read");
}

#[test]
fn histograms_that_would_take_too_much_memory_are_refused() {
    let mut histogram = hdrhistogram::Histogram::<u64>::new_with_bounds(1, 1_000, 3).unwrap();
    histogram.record(5).unwrap();
    let mut v2 = Vec::new();
    V2Serializer::new().serialize(&histogram, &mut v2).unwrap();
    let refused = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut changed = v2.clone();
        change(&mut changed);
        decode(&STANDARD.encode(changed), 1e3).unwrap_err()
    };
    assert!(decode(&STANDARD.encode(&v2), 1e3).is_ok());
    assert_contains(refused(&|bytes| bytes[15] = 9), "no sense");
    let many = refused(&|bytes| (bytes[15], bytes[24]) = (5, 0x7f));
    assert_contains(many, "more values");
    assert_contains(refused(&|bytes| bytes.truncate(20)), "shorter");
    assert_contains(refused(&|bytes| bytes[3] = 0), "none of the encodings");
}

#[test]
fn a_histogram_that_tells_of_more_than_it_holds_is_refused() {
    let mut bytes = Vec::new();
    let histogram = hdrhistogram::Histogram::<u64>::new_with_bounds(1, 1 << 20, 3).unwrap();
    let mut serializer = V2Serializer::new();
    serializer.serialize(&histogram, &mut bytes).unwrap();
    let there = bytes.len() - 40;
    bytes[4..8].copy_from_slice(&2_952_790_016_u32.to_be_bytes());
    let error = decode(&STANDARD.encode(&bytes), 1e3).unwrap_err();
    let words = format!("its header announces 2952790016 bytes of counts, and only {there} follow");
    assert_eq!(error, words);
}

#[test]
fn logs_of_one_run_are_laid_over_each_other() {
    let reads = log("READ", &[&[10], &[20, 30]]);
    let reads = only("READ.hdr", &reads, Options::default());
    let later = log("UPDATE", &[&[5], &[6]]).replace("1700000000.500", "1700000000.620");
    let updates = only("UPDATE.hdr", &later, Options::default());
    let run = join(vec![reads, updates], "run").unwrap();
    let counts: Vec<u64> = run.slices.iter().map(|slice| slice.completed.ok).collect();
    assert_eq!(counts, [2, 3]);
    assert_eq!((run.files.len(), run.measured_ns), (2, 2_000_000_000));
}

#[test]
fn logs_make_the_percentiles_of_a_text_whole() {
    let text = "Command line: -threads 2 -t\n[OVERALL], RunTime(ms), 2000\n[OVERALL], Throughput(ops/sec), 1.5\n\
        [READ], Operations, 3\n[READ], AverageLatency(us), 20.0\n[READ], Return=OK, 3\n";
    let text = || only("run.txt", text, Options::default());
    let log_of = |values: &[&[u64]]| only("READ.hdr", &log("READ", values), Options::default());
    let run = join(vec![text(), log_of(&[&[10], &[20, 30]])], "run").unwrap();
    assert_eq!((run.sessions, run.slices.len()), (Some(2), 2));
    let reads = &run.stated.unwrap().operations[0].latencies.service;
    assert!(reads.percentile_ns(50.0).is_some());
    // A log that counts otherwise is of another run, or of a part.
    let run = join(vec![text(), log_of(&[&[10]])], "run").unwrap();
    let reads = &run.stated.unwrap().operations[0].latencies.service;
    assert!(reads.summary().is_some());
    assert_contains(&run.remarks[0], "the text says 3");
    assert!(join(vec![text(), text()], "run").is_err());
}

#[test]
fn a_log_that_goes_back_is_two_logs() {
    let one = log("READ", &[&[1], &[2]]);
    assert_contains(refused(&format!("{one}{one}")), "go back");
}

/// A histogram of YCSB up to 0.17.0 and one of jHiccup 2.0.1, by the layout that HdrHistogram describes: counts of two bytes each, from the lowest value on.
#[test]
fn older_encodings_are_read() {
    let counts: [u16; 6] = [0, 3, 0, 0, 2, 1];
    let mut payload: Vec<u8> = counts.iter().flat_map(|count| count.to_be_bytes()).collect();
    // 2,048 values by themselves, then every second one: the place 2,048 + 7 is that of 2,062 and 2,063.
    payload.resize(2 * 2_055, 0);
    payload.extend(9_u16.to_be_bytes());
    let (digits, lowest, highest) = (3_u32, 1_u64, 3_600_000_000_u64);
    let mut v1: Vec<u8> = 0x1c84_9321_u32.to_be_bytes().to_vec();
    v1.extend(u32::try_from(payload.len()).unwrap().to_be_bytes());
    v1.extend(0_u32.to_be_bytes());
    v1.extend(digits.to_be_bytes());
    v1.extend(lowest.to_be_bytes());
    v1.extend(highest.to_be_bytes());
    v1.extend(1.0_f64.to_be_bytes());
    v1.extend(&payload);
    let mut v0: Vec<u8> = 0x1c84_9328_u32.to_be_bytes().to_vec();
    v0.extend(digits.to_be_bytes());
    v0.extend(lowest.to_be_bytes());
    v0.extend(highest.to_be_bytes());
    v0.extend(15_u64.to_be_bytes());
    v0.extend(&payload);
    for (name, plain, compressed) in [("V1", v1, 0x1c84_9322_u32), ("V0", v0, 0x1c84_9329)] {
        let mut deflated = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut deflated, &plain).unwrap();
        let deflated = deflated.finish().unwrap();
        let mut whole = compressed.to_be_bytes().to_vec();
        whole.extend(u32::try_from(deflated.len()).unwrap().to_be_bytes());
        whole.extend(deflated);
        for bytes in [plain, whole] {
            let histogram = decode(&STANDARD.encode(bytes), 1.0).unwrap();
            let values: Vec<(u64, u64)> = histogram.buckets().collect();
            assert_eq!(values, [(1, 3), (4, 2), (5, 1), (2_063, 9)], "{name}");
        }
    }
}

/// Whether the longest time is this one, within the width of a bucket.
fn is_about(histogram: &Histogram, max_ns: u64) -> bool {
    let found = histogram.max_ns().unwrap_or(0);
    found.abs_diff(max_ns) <= max_ns / 1_000
}

#[test]
fn response_service_and_wait_are_told_apart() {
    let [response, service, wait] = [&[30, 40], &[10, 20], &[20, 20]].map(|values| encoded(values));
    let text = format!(
        "#[Histogram log format version 1.3]\nTag=READ-rt,0.0,1.0,1.0,{response}\nTag=READ-st,0.0,1.0,1.0,{service}\nTag=READ-wt,0.0,1.0,1.0,{wait}\n\
         Tag=WRITE-rt,0.0,1.0,1.0,{response}\nTag=WRITE-st,0.0,1.0,1.0,{service}\n"
    );
    let run = only("all.hdr", &text, Options::default());
    assert_eq!(run.slices[0].completed.ok, 4);
    for part in &run.slices[0].operations {
        let open = part.latencies.open.as_ref().unwrap();
        assert!(is_about(&part.latencies.service, 20_000));
        assert!(is_about(&open.response, 40_000));
    }
    // The name of a file says it as well, and what cleans up is passed over.
    let intended = log("Intended-READ", &[&[30, 40]]);
    let run = only("Intended-READ.hdr", &intended, Options::default());
    let part = &run.slices[0].operations[0].latencies;
    assert_eq!((part.count(), part.service.mean_ns()), (2, None));
    assert!(is_about(part.response(), 40_000));
    let cleanup = log("CLEANUP", &[&[1]]);
    assert_contains(refused(&cleanup), "the log is of CLEANUP, which is no operation");
}

#[test]
fn the_log_of_intended_times_is_laid_over_that_of_service_times() {
    let part =
        |name: &str, values: &[&[u64]]| only("x.hdr", &log(name, values), Options::default());
    let service = || part("READ", &[&[10], &[20, 20]]);
    let intended = || part("Intended-READ", &[&[50], &[60, 70]]);
    for parts in [vec![service(), intended()], vec![intended(), service()]] {
        let run = join(parts, "run").unwrap();
        let last = &run.slices[1];
        assert_eq!(last.completed.ok, 2);
        let latencies = &last.operations[0].latencies;
        assert!(is_about(&latencies.service, 20_000));
        assert!(is_about(latencies.response(), 70_000));
    }
}

#[test]
fn logs_of_one_client_are_not_several_clients() {
    let part =
        |name: &str, values: &[&[u64]]| only("x.hdr", &log(name, values), Options::default());
    let of = |outputs: Vec<Measured>| {
        let arm = Arm { name: "one".into(), outputs };
        let record = record(&Frame::default(), vec![arm]).unwrap();
        assert_eq!((record.runs.len(), record.runs[0].points.len()), (1, 1));
        let point = record.runs[0].points[0].clone();
        (point.slices.iter().map(|slice| slice.completed.ok).collect::<Vec<_>>(), point)
    };
    let reads = || part("READ", &[&[10], &[20, 20]]);
    let intended = || part("Intended-READ", &[&[50], &[60, 70]]);
    for outputs in [vec![reads(), intended()], vec![intended(), reads()]] {
        let (counts, point) = of(outputs);
        assert_eq!(counts, [1, 2]);
        let latencies = &point.slices[1].operations[0].latencies;
        assert!(is_about(&latencies.service, 20_000));
        assert!(is_about(latencies.response(), 70_000));
    }
    let updates = part("UPDATE", &[&[5, 5, 5], &[6]]);
    assert_eq!(of(vec![reads(), updates, intended()]).0, [4, 3]);
    let other = part("READ", &[&[10, 11], &[20]]);
    let other_intended = part("Intended-READ", &[&[70, 71], &[80]]);
    let more = part("READ", &[&[9, 9], &[9, 9]]);
    assert_eq!(of(vec![reads(), other, intended(), other_intended, more]).0, [5, 5]);
}

#[test]
fn an_operation_that_is_named_is_not_the_sum_of_several_tags() {
    let text = format!(
        "#[Histogram log format version 1.3]\nTag=one,0.0,1.0,1.0,{0}\nTag=two,0.0,1.0,1.0,{0}\n",
        encoded(&[1])
    );
    let options = Options { operation: Some(Operation::Read), ..Options::default() };
    let error = read_any("x.log", text.as_bytes(), &options).unwrap_err();
    assert_contains(error, "would add up the histograms of `one`, `two`");
}

#[test]
fn the_unit_of_a_log_is_not_guessed_against_its_length() {
    let hiccups = log("READ", &[&[900_000_000]]);
    assert_contains(refused(&hiccups), "it does not count in microseconds");
    let description = format!("#[Logged with jHiccup version 2.0.1]\n{hiccups}");
    let run = only("x.log", &description, Options::default());
    let longest = run.slices[0].operations[0].latencies.service.max_ns();
    assert!(longest.unwrap().abs_diff(900_000_000) < 1_000_000, "{longest:?}");
}

#[test]
fn decimal_commas_are_read() {
    let text = log("READ", &[&[1], &[2, 3]]).replace(".000,1.000,5.0,", ",250,1,000,5,0,");
    let text = text.replace("1700000000.500", "1700000000,500");
    let run = only("READ.hdr", &text, Options::default());
    assert_eq!(run.started_at.as_deref(), Some("2023-11-14T22:13:20.750Z"));
    assert_eq!((run.slices.len(), run.measured_ns), (2, 2_000_000_000));
}
