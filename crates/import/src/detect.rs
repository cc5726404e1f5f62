//! Which tool wrote a file, found by looking.

use crate::Format;
use crate::error::Problem;

/// The format of a file that begins so.
pub(crate) fn of_text(head: &str) -> Option<Format> {
    if is_ycsb_json(head) {
        return Some(Format::Ycsb);
    }
    if head.contains("\"fio version\"") {
        return Some(Format::Fio);
    }
    if head.trim_start().starts_with('{') {
        return None;
    }
    let mut is_some_ycsb = false;
    for line in head.lines() {
        let line = line.trim_start();
        let is_go = line.contains(" - Takes(s): ")
            || line.starts_with("***************** properties ****")
            || line.starts_with("[{") && line.contains("\"Takes(s)\"")
            || line.starts_with('|') && line.to_ascii_uppercase().contains("| TAKES(S)");
        if is_go {
            return Some(Format::GoYcsb);
        }
        let is_log = line.starts_with("#[Histogram log format version")
            || line.starts_with("\"StartTimestamp\"")
            || line.starts_with("Tag=") && line.contains(",HIST")
            || line.split(',').nth(3).is_some_and(|field| field.starts_with("HIST"));
        if is_log {
            return Some(Format::HdrLog);
        }
        if crate::ycsb_cpp::is_of_it(line) {
            return Some(Format::YcsbCpp);
        }
        let is_ycsb = line.starts_with("[OVERALL],")
            || line.starts_with("YCSB Client ")
            || line.starts_with("Command line: -")
            || line.contains(" sec: ") && line.contains(" operations;");
        // The first status lines of YCSB and YCSB-cpp are equal.
        is_some_ycsb |= is_ycsb;
        if line.starts_with("[OVERALL],") || line.starts_with("Command line: -") {
            return Some(Format::Ycsb);
        }
    }
    is_some_ycsb.then_some(Format::Ycsb)
}

/// Objects of YCSB's JSON exporters.
pub(crate) fn is_ycsb_json(head: &str) -> bool {
    let start = head.trim_start();
    start.starts_with(['{', '['])
        && start.contains("\"metric\"")
        && start.contains("\"measurement\"")
}

/// What to say of a file of no format.
pub(crate) fn unknown(head: &str) -> Problem {
    let is_text = !head.contains(['\0', char::REPLACEMENT_CHARACTER]);
    match other_form(head) {
        Some((form, instead)) => Problem::OtherForm { form, instead },
        None if is_text => Problem::UnknownFormat,
        None => Problem::Binary,
    }
}

/// Outputs of tools that are not read, by words that all of them contain.
const OTHER_TOOLS: [(&str, &[&str]); 8] = [
    ("an output of memtier_benchmark", &["Ops/sec", "Hits/sec"]),
    ("an output of sysbench", &["sysbench ", "events per second"]),
    ("an output of sysbench", &["SQL statistics:", "transactions:"]),
    ("an output of pgbench", &["transaction type: ", "tps = "]),
    ("an output of cassandra-stress", &["Op rate  ", "Latency mean  "]),
    ("an output of wrk", &["Running ", "Thread Stats", "Requests/sec:"]),
    ("an output of redis-benchmark", &["====== ", "requests completed in"]),
    ("an output of HammerDB", &["Vuser 1:", "NOPM"]),
];

/// The name of a known form that contains no result, and what to import instead.
fn other_form(head: &str) -> Option<(&'static str, &'static str)> {
    let has = |what: fn(&str) -> bool| head.lines().any(what);
    let json = "run fio with --output-format=json";
    let is_terse = |line: &str| {
        let mut fields = line.split(';');
        let version = fields.next().is_some_and(|first| first.parse::<u8>().is_ok());
        version && fields.next().is_some_and(|second| second.starts_with("fio-"))
    };
    if has(is_terse) {
        return Some(("fio's terse form", json));
    }
    if has(|line| line.contains(": (groupid=") && line.contains("err=")) {
        return Some(("fio's text for people", json));
    }
    if has(|line| line.trim_start().starts_with("Value") && line.contains("1/(1-Percentile)")) {
        return Some((
            "a percentile file of HdrHistogram, which holds neither rate nor time",
            "import the output of the tool, or its log of histograms",
        ));
    }
    if head.trim_start().starts_with('{') && (head.contains("[OVERALL]") || head.contains(" sec: "))
    {
        return Some((
            "JSON that quotes the output of a tool",
            "import the output itself, as text",
        ));
    }
    let not_read =
        "what is read are the outputs of YCSB, YCSB-cpp, go-ycsb and fio, and logs of HdrHistogram";
    for (tool, marks) in OTHER_TOOLS {
        if marks.iter().all(|mark| head.contains(mark)) {
            return Some((tool, not_read));
        }
    }
    if has(|line| line == "operation,timestamp_us,latency_us") {
        return Some((
            "go-ycsb's list of all operations (measurementtype=csv)",
            "run it with measurementtype=histogram",
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_found_by_looking() {
        for (head, format) in [
            ("[OVERALL], RunTime(ms), 1\n", Some(Format::Ycsb)),
            ("noise\n2026-11-21 01:20:24:034 0 sec: 0 operations; \n", Some(Format::Ycsb)),
            (
                "{ \"metric\" : \"READ\", \"measurement\" : \"Operations\", \"value\" : 5 }",
                Some(Format::Ycsb),
            ),
            ("READ   - Takes(s): 1.0, Count: 5, OPS: 5.0\n", Some(Format::GoYcsb)),
            ("***************** properties *****************\n", Some(Format::GoYcsb)),
            ("+----+\n| OPERATION | TAKES(S) |\n", Some(Format::GoYcsb)),
            ("#[Logging for: READ]\n#[Histogram log format version 1.2]\n", Some(Format::HdrLog)),
            ("0.1,1.0,2.7,HISTFAAAA\n", Some(Format::HdrLog)),
            ("fio: warning\n{\n  \"fio version\" : \"fio-3.33\"\n", Some(Format::Fio)),
            (
                "2026-01-28 19:34:32 0 sec: 0 operations;\n2026-01-28 19:34:42 10 sec: 5 operations; [READ: Count=5 Max=26.86 Min=0.46]\n",
                Some(Format::YcsbCpp),
            ),
            ("Run throughput(ops/sec): 925.164\n", Some(Format::YcsbCpp)),
            ("hello\n", None),
            ("{}", None),
        ] {
            assert_eq!(of_text(head), format, "{head}");
        }
    }

    #[test]
    fn forms_without_a_result_are_called_by_their_names() {
        for (head, form) in [
            ("3;fio-3.28;seqread;0;0;1048576\n", "fio's terse form"),
            (
                "seek: (groupid=0, jobs=1): err= 0: pid=5: Sat\n  read: IOPS=5\n",
                "fio's text for people",
            ),
            ("       Value     Percentile     TotalCount 1/(1-Percentile)\n", "a percentile file"),
            ("operation,timestamp_us,latency_us\nREAD,1,2\n", "go-ycsb's list"),
        ] {
            let said = unknown(head).to_string();
            assert!(said.starts_with(&format!("this is {form}")), "{said}");
        }
    }
}
