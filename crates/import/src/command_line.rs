//! What a command line of YCSB or go-ycsb says.

use crate::measured::Measured;
use crate::text;

const MOST_PROPERTIES: usize = 10_000;

/// Reads a command line into what was measured. A word that is not understood is left alone: it is kept in the line itself.
pub(crate) fn read(line: &str, into: &mut Measured) {
    into.command = Some(plimsoll_record::redact::redact_command(line));
    let mut words = line.split_whitespace();
    while let Some(word) = words.next() {
        match word {
            "-db" => into.database = words.next().map(binding),
            "-P" => into.workload = words.next().map(file_stem).or(into.workload.take()),
            "-p" => {
                if let Some((name, value)) = words.next().and_then(|word| word.split_once('=')) {
                    property(name, value, into);
                }
            }
            "-threads" | "--threads" => {
                property("threadcount", words.next().unwrap_or_default(), into);
            }
            "-target" | "--target" => property("target", words.next().unwrap_or_default(), into),
            "-load" => into.workload = Some("load".to_owned()),
            _ => {}
        }
    }
    if line.split_whitespace().any(|word| word == "-load") {
        into.workload = Some("load".to_owned());
    }
}

/// Takes one property. The ones that bear on the numbers are read, all are kept.
pub(crate) fn property(name: &str, value: &str, into: &mut Measured) {
    match name {
        "threadcount" => into.sessions = value.parse().ok().filter(|count| *count > 0),
        "target" => into.target = text::number(value).filter(|rate| *rate > 0.0),
        "recordcount" => into.records = value.parse().ok(),
        "db" => into.database = Some(binding(value)),
        "dotransactions" if value == "false" => into.workload = Some("load".to_owned()),
        _ => {}
    }
    if into.properties.len() >= MOST_PROPERTIES {
        return;
    }
    let value = plimsoll_record::redact::redact_value(name, value);
    into.properties.insert(name.to_owned(), value);
}

/// `site.ycsb.db.MongoDbClient` is the binding `mongodb`; others are called by the last part of their class.
fn binding(class: &str) -> String {
    let last = class.rsplit('.').next().unwrap_or(class);
    let short = last
        .strip_suffix("DBClient")
        .or_else(|| last.strip_suffix("DbClient"))
        .or_else(|| last.strip_suffix("Client"))
        .unwrap_or(last);
    match short {
        "Mongo" => "mongodb".to_owned(),
        "BasicDB" => "basic".to_owned(),
        other => plimsoll_record::redact::redact_command(&other.to_lowercase()),
    }
}

fn file_stem(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let stem = name.strip_suffix(".properties").unwrap_or(name);
    plimsoll_record::redact::redact_command(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_tells_sessions_target_and_workload() {
        let mut found = Measured::default();
        read(
            "-db site.ycsb.db.MongoDbClient -s -P workloads/workloada -threads 16 -p recordcount=1000 -target 500 \
             -p mongodb.url=mongodb://me:geheim@db/ycsb -t",
            &mut found,
        );
        assert_eq!(found.database.as_deref(), Some("mongodb"));
        assert_eq!(found.workload.as_deref(), Some("workloada"));
        assert_eq!((found.sessions, found.target), (Some(16), Some(500.0)));
        assert_eq!(found.records, Some(1000));
        assert!(!format!("{found:?}").contains("geheim"));
    }

    #[test]
    fn a_load_is_called_so_whatever_its_file_is() {
        for line in ["-load -P workloads/workloadc", "-P workloads/workloadc -load"] {
            let mut found = Measured::default();
            read(line, &mut found);
            assert_eq!(found.workload.as_deref(), Some("load"));
        }
    }

    #[test]
    fn zero_threads_are_not_known() {
        let mut found = Measured::default();
        read("-threads 0 -target x -p", &mut found);
        assert_eq!((found.sessions, found.target), (None, None));
    }
}
