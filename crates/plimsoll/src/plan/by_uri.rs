//! The experiment of `plimsoll run --uri`: a server that runs, measured without a file.

const TEMPLATE: &str = include_str!("server.yaml");

/// The text of the experiment file that stands for the URI.
pub fn experiment(uri: &str) -> String {
    let name = format!("server-{}", host(uri));
    // A string of JSON is one of YAML.
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let text = TEMPLATE
        .replace("{name}", &quoted(&name))
        .replace("{uri}", &quoted(uri));
    if names_database(uri) {
        let is_database = |line: &&str| line.trim_start().starts_with("database:");
        let lines = text.lines().filter(|line| !is_database(line));
        lines.map(|line| format!("{line}\n")).collect()
    } else {
        text
    }
}

/// The first host of the URI with its port, as it may stand in a name. Who asks is left out.
fn host(uri: &str) -> String {
    let rest = uri.split_once("://").map_or(uri, |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let hosts = authority.rsplit('@').next().unwrap_or_default();
    let first = hosts.split(',').next().unwrap_or_default();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".-_".contains(letter);
    first
        .chars()
        .map(|letter| if is_plain(letter) { letter } else { '-' })
        .collect()
}

/// Whether there is something between the hosts and the options.
fn names_database(uri: &str) -> bool {
    let rest = uri.split_once("://").map_or(uri, |(_, rest)| rest);
    let before_options = rest.split('?').next().unwrap_or_default();
    before_options
        .split_once('/')
        .is_some_and(|(_, database)| !database.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_testing::assert_contains;

    #[test]
    fn the_first_host_names_the_experiment_and_never_a_password() {
        for (uri, name) in [
            ("mongodb://127.0.0.1:27017", "server-127.0.0.1-27017"),
            (
                "mongodb://me:secret@db1.example,db2.example/?replicaSet=x",
                "server-db1.example",
            ),
            (
                "mongodb+srv://me:s%40cret@c.example.net/",
                "server-c.example.net",
            ),
            ("mongodb://%2Ftmp%2Fm.sock/", "server--2Ftmp-2Fm.sock"),
        ] {
            let text = experiment(uri);
            assert_contains(&text, &format!("name: \"{name}\""));
            assert_eq!(text.matches(uri).count(), 1, "{text}");
        }
    }

    #[test]
    fn the_database_of_the_uri_counts() {
        assert!(experiment("mongodb://h/?w=1").contains("database: plimsoll"));
        assert!(!experiment("mongodb://h/mine?w=1").contains("database:"));
        let named = "mongodb://h/mine?appName=database:";
        assert!(experiment(named).contains(named));
    }

    #[test]
    fn no_uri_gets_out_of_its_quotes() {
        let text = experiment("mongodb://h/\"\nplimsoll: 2");
        assert_contains(&text, r#"uri: "mongodb://h/\"\nplimsoll: 2""#);
    }
}
