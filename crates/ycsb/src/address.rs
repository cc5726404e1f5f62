//! The address of a MongoDB server as YCSB's binding reads it: by the rules of MongoDB's Java driver, which are wider than those of others.

use std::collections::BTreeMap;

/// What an option of an address is here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    /// Handed on as `true` or `false`; the Java driver takes other words as well.
    Truth,
    /// Handed on where it is not negative, which means without end to the Java driver.
    Number,
    /// Accepted by the Java driver, and nothing here.
    Nothing(&'static str),
}

/// Options by their names in lower case. What is not here is warned about and dropped, as the Java driver does.
const OPTIONS: &[(&str, Kind)] = &[
    ("appname", Kind::Text),
    ("authmechanism", Kind::Text),
    ("authmechanismproperties", Kind::Text),
    ("authsource", Kind::Text),
    ("compressors", Kind::Text),
    ("connecttimeoutms", Kind::Number),
    ("directconnection", Kind::Truth),
    ("heartbeatfrequencyms", Kind::Number),
    ("journal", Kind::Truth),
    ("loadbalanced", Kind::Truth),
    ("localthresholdms", Kind::Number),
    ("maxconnecting", Kind::Nothing(OWN_CONNECTION)),
    ("maxidletimems", Kind::Nothing(OWN_CONNECTION)),
    ("maxlifetimems", Kind::Nothing(OWN_CONNECTION)),
    ("maxpoolsize", Kind::Nothing(OWN_CONNECTION)),
    ("maxstalenessseconds", Kind::Text),
    ("minpoolsize", Kind::Nothing(OWN_CONNECTION)),
    ("proxyhost", Kind::Text),
    ("proxypassword", Kind::Text),
    ("proxyport", Kind::Text),
    ("proxyusername", Kind::Text),
    ("readconcernlevel", Kind::Text),
    ("readpreference", Kind::Text),
    ("readpreferencetags", Kind::Text),
    ("replicaset", Kind::Text),
    ("retryreads", Kind::Truth),
    ("retrywrites", Kind::Truth),
    ("servermonitoringmode", Kind::Text),
    ("serverselectiontimeoutms", Kind::Number),
    ("sockettimeoutms", Kind::Number),
    ("srvmaxhosts", Kind::Text),
    ("srvservicename", Kind::Text),
    ("ssl", Kind::Truth),
    ("sslinvalidhostnameallowed", Kind::Nothing(NAMES_ARE_CHECKED)),
    ("tls", Kind::Truth),
    ("tlsallowinvalidcertificates", Kind::Truth),
    ("tlsallowinvalidhostnames", Kind::Nothing(NAMES_ARE_CHECKED)),
    ("tlscafile", Kind::Text),
    ("tlscertificatekeyfile", Kind::Text),
    ("tlscertificatekeyfilepassword", Kind::Text),
    ("tlsinsecure", Kind::Truth),
    ("uuidrepresentation", Kind::Nothing("no UUIDs are stored")),
    ("w", Kind::Text),
    ("waitqueuemultiple", Kind::Nothing(OWN_CONNECTION)),
    ("waitqueuetimeoutms", Kind::Nothing(OWN_CONNECTION)),
    ("wtimeoutms", Kind::Number),
    ("zlibcompressionlevel", Kind::Text),
];
const OWN_CONNECTION: &str = "every session has a connection of its own";
const NAMES_ARE_CHECKED: &str = "the names of hosts are always checked";
/// The driver refuses to look more often.
const LEAST_HEARTBEAT_MS: u64 = 500;

/// The same address with options that every client here takes, and a line for each that has no effect.
pub(crate) fn translated(url: &str) -> (String, Vec<String>) {
    let Some((front, query)) = url.split_once('?') else {
        return (url.to_owned(), Vec::new());
    };
    // The rest of a password, perhaps: nothing of it may be said.
    if query.contains('@') && !is_whole(front) {
        return (url.to_owned(), Vec::new());
    }
    let mut options = Options::default();
    for option in query.split(['&', ';']).filter(|option| !option.is_empty()) {
        match option.split_once('=') {
            Some((name, value)) => options.add(name, value),
            // The engine says what is wrong with it.
            None => options.kept.push((option.to_owned(), None)),
        }
    }
    options.older();
    let mut url = front.to_owned();
    let mut separator = '?';
    for (name, value) in &options.kept {
        url.push(separator);
        url.push_str(name);
        if let Some(value) = value {
            url.push('=');
            url.push_str(value);
        }
        separator = '&';
    }
    (url, options.notes)
}

/// Whether the part before the options is a complete address (hosts with numeric ports), so that an `@` in the options is not the end of a password.
fn is_whole(front: &str) -> bool {
    let behind = front.split_once("://").map_or(front, |(_, behind)| behind);
    let authority = behind.split('/').next().unwrap_or_default();
    let hosts = authority.rsplit('@').next().unwrap_or_default();
    let is_host = |host: &str| {
        let (name, port) = host.rsplit_once(':').unwrap_or((host, "0"));
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || "-._[]:".contains(letter);
        !name.is_empty() && name.chars().all(is_name) && port.parse::<u16>().is_ok()
    };
    behind.contains('/') && hosts.split(',').all(is_host)
}

#[derive(Default)]
struct Options {
    /// In their order. The same name is there once, but for `readPreferenceTags`.
    kept: Vec<(String, Option<String>)>,
    /// Names that are only older words for others, in lower case, with their values.
    older: BTreeMap<String, String>,
    notes: Vec<String>,
}

impl Options {
    fn add(&mut self, name: &str, value: &str) {
        let lower = name.to_ascii_lowercase();
        if matches!(&*lower, "j" | "wtimeout" | "slaveok" | "safe") {
            self.older.insert(lower, value.into());
            return;
        }
        let known = OPTIONS.iter().find(|(known, _)| *known == lower);
        let value = match known {
            None => return self.drop(name, "it is not one that the driver knows"),
            Some((_, Kind::Nothing(why))) => return self.drop(name, why),
            Some(_) if value.is_empty() => return self.drop(name, "it has no value"),
            Some((_, Kind::Truth)) => match truth(value) {
                Some(value) => value,
                None => return self.drop(name, "its value is neither true nor false"),
            },
            Some((_, Kind::Number)) if value.starts_with('-') => {
                return self.drop(name, "there is no time without end here");
            }
            Some(_) => value,
        };
        if lower == "heartbeatfrequencyms"
            && value.parse().is_ok_and(|ms: u64| ms < LEAST_HEARTBEAT_MS)
        {
            return self.drop(name, "the driver looks twice a second at most");
        }
        self.keep(name, value);
    }

    /// Among options of the same name the last one counts.
    fn keep(&mut self, name: &str, value: &str) {
        if !name.eq_ignore_ascii_case("readPreferenceTags") {
            self.kept.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        }
        self.kept.push((name.into(), Some(value.into())));
    }

    fn has(&self, name: &str) -> bool {
        self.kept.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
    }

    fn drop(&mut self, name: &str, why: &str) {
        self.notes.push(format!("mongodb.url: {name} has no effect: {why}"));
    }

    /// Older words for newer options, where these are absent.
    fn older(&mut self) {
        for (name, value) in std::mem::take(&mut self.older) {
            let truth = truth(&value);
            let (newer, value) = match (&*name, truth) {
                ("j", Some(truth)) => ("journal", truth),
                ("wtimeout", _) if value.parse::<u64>().is_ok() => ("wTimeoutMS", &*value),
                ("slaveok", Some("true")) => ("readPreference", "secondaryPreferred"),
                ("slaveok", Some(_)) => ("readPreference", "primary"),
                // `j` comes before it, and is a write concern as well.
                ("safe", Some("true")) if !self.has("journal") => ("w", "1"),
                ("safe", Some(_)) if !self.has("journal") => ("w", "0"),
                _ => {
                    self.drop(&name, "it is an older word that says nothing here");
                    continue;
                }
            };
            if !self.has(newer) {
                self.keep(newer, value);
            }
        }
    }
}

/// What the Java driver reads as a truth value.
fn truth(value: &str) -> Option<&'static str> {
    match &*value.to_ascii_lowercase() {
        "true" | "yes" | "1" => Some("true"),
        "false" | "no" | "0" => Some("false"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_java_driver_accepts_becomes_what_everybody_accepts() {
        for (options, expected, dropped) in [
            ("w=1", "w=1", &[][..]),
            (
                "w=1&j=true&compression=snappy&maxPoolSize=100000",
                "w=1&journal=true",
                &["compression", "maxPoolSize"],
            ),
            ("j=1&journal=false", "journal=false", &[]),
            ("w=1;J=yes", "w=1&journal=true", &[]),
            ("wtimeout=5", "wTimeoutMS=5", &[]),
            ("slaveOk=true", "readPreference=secondaryPreferred", &[]),
            ("slaveOk=true&readPreference=nearest", "readPreference=nearest", &[]),
            ("safe=true", "w=1", &[]),
            ("safe=false&w=2", "w=2", &[]),
            ("safe=true&j=true", "journal=true", &["safe"]),
            ("w=1&w=2", "w=2", &[]),
            (
                "readPreferenceTags=a:b&readPreferenceTags=c:d",
                "readPreferenceTags=a:b&readPreferenceTags=c:d",
                &[],
            ),
            ("tls=maybe&ssl=No", "ssl=false", &["tls"]),
            (
                "serverSelectionTimeoutMS=-1&heartbeatFrequencyMS=100&socketTimeoutMS=0",
                "socketTimeoutMS=0",
                &["serverSelectionTimeoutMS", "heartbeatFrequencyMS"],
            ),
            ("replicaSet=&w=1", "w=1", &["replicaSet"]),
        ] {
            let (url, notes) = translated(&format!("mongodb://h/ycsb?{options}"));
            assert_eq!(url, format!("mongodb://h/ycsb?{expected}"), "{options}");
            let names: Vec<&str> =
                notes.iter().map(|note| note.split_whitespace().nth(1).unwrap()).collect();
            assert_eq!(names, dropped, "{options}");
        }
        // As a cloud writes it.
        let (url, notes) = translated(
            "mongodb://me:k3y==@h:10255/?ssl=true&j=true&maxIdleTimeMS=120000&appName=@me@",
        );
        assert_eq!(url, "mongodb://me:k3y==@h:10255/?ssl=true&appName=@me@&journal=true");
        assert_eq!(notes.len(), 1);
        let found = translated("mongodb://h/?compression=snappy").0;
        assert_eq!(found, "mongodb://h/");
        assert_eq!(translated("mongodb://h").0, "mongodb://h");
    }

    /// A value that should not be there is not shown: it may be the rest of a password.
    #[test]
    fn notes_show_no_values() {
        let (_, notes) = translated("mongodb://h/?secret=s3cret&tls=s3cret");
        assert_eq!(notes.len(), 2);
        assert!(!notes.concat().contains("s3cret"), "{notes:?}");
        let mistaken = "mongodb://u:s3c?ret=1&more=2@h/";
        assert_eq!(translated(mistaken), (mistaken.into(), vec![]));
    }
}
