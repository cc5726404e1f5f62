//! The experiment of `plimsoll run --uri`: a server that runs, measured without a file.

use crate::arguments::ByUri;

const TEMPLATE: &str = include_str!("server.yaml");
const RECORDS: u64 = 100_000;
/// YCSB's: half reads and half updates, and reads only.
const WORKLOADS: [&str; 2] = ["a", "c"];
const THREADS: [u32; 4] = [1, 4, 16, 64];

/// The text of the experiment file that stands for `--uri` and what was chosen beside it.
pub fn experiment(uri: &str, chosen: &ByUri) -> String {
    let name = match host(uri) {
        Some(host) => format!("server-{host}"),
        None => "server".into(),
    };
    // A string of JSON is one of YAML.
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let listed = |words: Vec<String>| format!("[{}]", words.join(", "));
    let records = chosen.records.unwrap_or(RECORDS);
    let workloads = match chosen.workload.as_slice() {
        [] => WORKLOADS.map(String::from).to_vec(),
        some => some.to_vec(),
    };
    let threads = match chosen.threads.as_slice() {
        [] => THREADS.to_vec(),
        some => some.to_vec(),
    };
    let threads = threads.iter().map(u32::to_string).collect();
    let text = TEMPLATE
        .replace("{name}", &quoted(&name))
        .replace("{uri}", &quoted(uri))
        .replace("{records}", &records.to_string())
        .replace("{workloads}", &listed(workloads))
        .replace("{threads}", &listed(threads));
    if names_database(uri) {
        let is_database = |line: &&str| line.trim_start().starts_with("database:");
        let lines = text.lines().filter(|line| !is_database(line));
        lines.map(|line| format!("{line}\n")).collect()
    } else {
        text
    }
}

/// The first host of the URI with its port, as it may stand in a name. `None` where it is not certain which part of the URI that is, because a password is not
/// percent-encoded.
fn host(uri: &str) -> Option<String> {
    let (_, rest) = uri.split_once("://")?;
    let authority = rest.split(['/', '?']).next()?;
    let hosts = match authority.split_once('@') {
        Some((_, hosts)) => hosts,
        None => authority,
    };
    if hosts.contains('@') || rest[authority.len()..].contains('@') {
        return None;
    }
    let first = hosts.split(',').next()?;
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".-_".contains(letter);
    let plain = |letter| if is_plain(letter) { letter } else { '-' };
    Some(first.chars().map(plain).collect())
}

/// Whether there is something between the hosts and the options.
fn names_database(uri: &str) -> bool {
    let rest = uri.split_once("://").map_or(uri, |(_, rest)| rest);
    let before_options = rest.split('?').next().unwrap_or_default();
    before_options.split_once('/').is_some_and(|(_, database)| !database.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_testing::assert_contains;

    #[test]
    fn the_first_host_names_the_experiment_and_never_a_password() {
        for (uri, name) in [
            ("mongodb://127.0.0.1:27017", "server-127.0.0.1-27017"),
            ("mongodb://me:secret@db1.example,db2.example/?replicaSet=x", "server-db1.example"),
            ("mongodb+srv://me:s%40cret@c.example.net/", "server-c.example.net"),
            ("mongodb://%2Ftmp%2Fm.sock/", "server--2Ftmp-2Fm.sock"),
            // Not percent-encoded: any part may be a piece of the password.
            ("mongodb://me:p@ss:w/rd@db1.example/", "server"),
            ("mongodb://me:p/w@db1.example/", "server"),
            ("mongodb://me:p?w@db1.example/", "server"),
            ("mongodb://me:p@w@db1.example/", "server"),
        ] {
            let text = experiment(uri, &ByUri::default());
            assert_contains(&text, &format!("name: \"{name}\""));
            assert_eq!(text.matches(uri).count(), 1, "{text}");
        }
    }

    #[test]
    fn the_database_of_the_uri_counts() {
        assert!(experiment("mongodb://h/?w=1", &ByUri::default()).contains("database: plimsoll"));
        assert!(!experiment("mongodb://h/mine?w=1", &ByUri::default()).contains("database:"));
        let named = "mongodb://h/mine?appName=database:";
        assert!(experiment(named, &ByUri::default()).contains(named));
    }

    #[test]
    fn records_workloads_and_threads_are_those_that_were_chosen() {
        let chosen =
            ByUri { records: Some(5_000), workload: vec!["b".into()], threads: vec![2, 8] };
        let text = experiment("mongodb://h/", &chosen);
        for line in ["records: 5000", "mixes: [b]", "threads: [2, 8]"] {
            assert_contains(&text, line);
        }
    }

    #[test]
    fn no_uri_gets_out_of_its_quotes() {
        let text = experiment("mongodb://h/\"\nplimsoll: 2", &ByUri::default());
        assert_contains(&text, r#"uri: "mongodb://h/\"\nplimsoll: 2""#);
    }
}
