//! The command line, in YCSB's own grammar: words with one dash, each value a word of its own.

use crate::catalogue;
use plimsoll_record::redact::redact_command;
use plimsoll_workload::properties::Properties;
use std::io;
use std::path::Path;

/// How the command is used, printed where it was used wrongly.
pub const USAGE: &str = "\
usage: plimsoll foreign ycsb {load|run} {mongodb|mongodb-async|basic|wiredtiger} [options]

  -P FILE        read a property file; a later one wins over an earlier one
  -p NAME=VALUE  set a property; wins over every file
  -threads N     sessions at the same time (property threadcount)
  -target N      operations per second of all sessions together (property target)
  -s             status lines on the standard error, every 10 seconds (properties status, status.interval)
  -l LABEL       in front of every status line (property label)
  -t, -load      taken and without effect: load and run say which phase it is
  -db CLASS      another binding, by the name of YCSB's class
  -cp PATH, -jvm-args ARGS
                 taken and without effect: there is no Java machine";

/// The operations of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Load,
    Run,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    Basic,
    /// A server that speaks MongoDB's protocol.
    MongoDb,
    WiredTiger,
}

impl Binding {
    const NAMES: &str = "mongodb, mongodb-async, basic, wiredtiger";

    /// By the name that the command line has.
    fn by_name(name: &str) -> Option<Self> {
        match name {
            "basic" => Some(Self::Basic),
            "mongodb" | "mongodb-async" => Some(Self::MongoDb),
            "wiredtiger" => Some(Self::WiredTiger),
            _ => None,
        }
    }

    /// By the name of YCSB's class, of any package, or of the binding itself.
    fn by_class(class: &str) -> Option<Self> {
        match class.rsplit('.').next()? {
            "BasicDB" => Some(Self::Basic),
            "MongoDbClient" | "AsyncMongoDbClient" => Some(Self::MongoDb),
            "WiredTiger" => Some(Self::WiredTiger),
            _ => Self::by_name(class),
        }
    }

    /// The name of the class, as YCSB has or would have it.
    fn class(name: &str) -> &'static str {
        match name {
            "basic" => "site.ycsb.BasicDB",
            "mongodb-async" => "site.ycsb.db.AsyncMongoDbClient",
            "wiredtiger" => "plimsoll.WiredTiger",
            _ => "site.ycsb.db.MongoDbClient",
        }
    }
}

/// A parsed command line. The meaning of its properties is checked later.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    pub phase: Phase,
    pub binding: Binding,
    /// Whether MongoDB's asynchronous binding was named, which has another name for one property.
    pub is_async: bool,
    /// Everything that files and options set.
    pub properties: Properties,
    /// The words as YCSB's client would have got them, without passwords.
    pub shown: String,
    /// What was taken and has no effect, in words.
    pub notes: Vec<String>,
}

/// Why a command line is none.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// It is not in YCSB's grammar.
    #[error("{0}")]
    Usage(String),
    /// A property file cannot be read.
    #[error("cannot read the property file {path}: {source}")]
    File { path: String, source: io::Error },
    /// A property file is malformed.
    #[error("{path}: {source}")]
    Malformed { path: String, source: plimsoll_workload::properties::PropertyError },
}

impl Command {
    /// Reads a phase and the words after it. `read_file` gives the bytes of a property file.
    ///
    /// Every option wins over every file, wherever it stands; of several options the last wins.
    pub fn read(
        phase: &str,
        words: &[String],
        read_file: &dyn Fn(&Path) -> io::Result<Vec<u8>>,
    ) -> Result<Self, CommandError> {
        let phase = match phase {
            "load" => Phase::Load,
            "run" => Phase::Run,
            "shell" => {
                return Err(usage(
                    "there is no `shell` here: to look into the database use its own, such as mongosh",
                ));
            }
            "" => return Err(usage("name a command: load or run")),
            other => {
                return Err(usage(format!("there is no command `{other}`: it is load or run")));
            }
        };
        let Some((name, options)) = words.split_first() else {
            return Err(usage(format!("name a binding: {}", Binding::NAMES)));
        };
        let Some(mut binding) = Binding::by_name(name) else {
            return Err(usage(format!(
                "there is no binding `{name}`: there are {}",
                Binding::NAMES
            )));
        };
        let mut read = Options::default();
        read.all(options, read_file)?;
        let Options { mut files, set, mut notes } = read;
        files.merge(set);
        if let Some(class) = files.get("db") {
            binding = Binding::by_class(class).ok_or_else(|| {
                usage(format!("there is no binding for `db={class}`: there are {}", Binding::NAMES))
            })?;
        }
        let (value, last) = match phase {
            Phase::Load => ("false", "-load"),
            Phase::Run => ("true", "-t"),
        };
        if files
            .get("dotransactions")
            .is_some_and(|given| given.eq_ignore_ascii_case("true") != (phase == Phase::Run))
        {
            notes.push(format!(
                "dotransactions or -t or -load say otherwise: the command is {}, and that holds",
                if phase == Phase::Load { "load" } else { "run" }
            ));
        }
        files.set("dotransactions", value);
        let mut shown = format!("-db {}", Binding::class(name));
        for word in options {
            shown.push(' ');
            shown.push_str(word);
        }
        shown.push(' ');
        shown.push_str(last);
        Ok(Self {
            phase,
            binding,
            is_async: name == "mongodb-async",
            properties: files,
            shown: redact_command(&shown),
            notes,
        })
    }
}

fn usage(words: impl Into<String>) -> CommandError {
    CommandError::Usage(words.into())
}

#[derive(Default)]
struct Options {
    files: Properties,
    set: Properties,
    notes: Vec<String>,
}

impl Options {
    fn all(
        &mut self,
        words: &[String],
        read_file: &dyn Fn(&Path) -> io::Result<Vec<u8>>,
    ) -> Result<(), CommandError> {
        let mut words = words.iter();
        while let Some(option) = words.next() {
            let mut value =
                || words.next().ok_or_else(|| usage(format!("{option} needs a value behind it")));
            match option.as_str() {
                "-threads" | "-target" => {
                    let number = value()?;
                    if number.parse::<i32>().is_err() {
                        return Err(usage(format!("`{option} {number}`: it needs a whole number")));
                    }
                    let name = if option == "-threads" { "threadcount" } else { "target" };
                    self.set.set(name, number.as_str());
                }
                "-t" => self.set.set("dotransactions", "true"),
                "-load" => self.set.set("dotransactions", "false"),
                "-s" => self.set.set("status", "true"),
                "-db" => self.set.set("db", value()?.as_str()),
                "-l" => self.set.set("label", value()?.as_str()),
                "-P" => self.file(value()?, read_file)?,
                "-p" => {
                    let setting = value()?;
                    let Some((name, value)) = setting.split_once('=') else {
                        return Err(usage(format!(
                            "`-p {setting}`: it needs a name, `=` and a value"
                        )));
                    };
                    self.set.set(name, value);
                }
                "-cp" | "-jvm-args" => {
                    value()?;
                    self.without_java(option);
                }
                other if other.starts_with("-jvm-args=") || other.starts_with("-cp=") => {
                    self.without_java(other);
                }
                other if other.starts_with('-') => {
                    return Err(usage(format!("there is no option `{other}`")));
                }
                other => {
                    return Err(usage(format!(
                        "`{other}` belongs to no option; a property is set by -p {}",
                        if catalogue::find(other).is_some() {
                            format!("{other}=VALUE")
                        } else {
                            "NAME=VALUE".into()
                        }
                    )));
                }
            }
        }
        Ok(())
    }

    fn without_java(&mut self, option: &str) {
        let option = option.split('=').next().unwrap_or(option);
        self.notes.push(format!("{option} has no effect: there is no Java machine"));
    }

    fn file(
        &mut self,
        path: &str,
        read_file: &dyn Fn(&Path) -> io::Result<Vec<u8>>,
    ) -> Result<(), CommandError> {
        let bytes = read_file(Path::new(path))
            .map_err(|source| CommandError::File { path: path.into(), source })?;
        let file = Properties::parse(&bytes)
            .map_err(|source| CommandError::Malformed { path: path.into(), source })?;
        self.files.merge(file);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(line: &str) -> Result<Command, CommandError> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Command::read(&words[0], &words[1..], &|path| match path.to_str() {
            Some("one") => Ok(b"recordcount=1\nthreadcount=2\nlabel=file\n".to_vec()),
            Some("two") => Ok(b"recordcount=2\ntarget=5\n".to_vec()),
            Some("bad") => Ok(b"x=\\u12\n".to_vec()),
            _ => Err(io::ErrorKind::NotFound.into()),
        })
    }

    fn properties(line: &str) -> Vec<(String, String)> {
        let command = read(line).unwrap();
        command
            .properties
            .iter()
            .filter(|(name, _)| *name != "dotransactions")
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }

    fn refusal(line: &str) -> String {
        read(line).unwrap_err().to_string()
    }

    #[test]
    fn options_win_over_files_wherever_they_stand() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            properties("load basic -p recordcount=9 -threads 7 -P one -P two"),
            [
                pair("label", "file"),
                pair("recordcount", "9"),
                pair("target", "5"),
                pair("threadcount", "7")
            ]
        );
        assert_eq!(
            properties("load basic -P two -P one"),
            [
                pair("label", "file"),
                pair("recordcount", "1"),
                pair("target", "5"),
                pair("threadcount", "2")
            ]
        );
    }

    #[test]
    fn the_last_option_wins() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let found = properties("run basic -threads 4 -p threadcount=8");
        assert_eq!(found, [pair("threadcount", "8")]);
        let found = properties("run basic -p threadcount=8 -threads 4");
        assert_eq!(found, [pair("threadcount", "4")]);
        assert_eq!(
            properties("run basic -p a=b=c -s -l x -p e="),
            [pair("a", "b=c"), pair("e", ""), pair("label", "x"), pair("status", "true")]
        );
    }

    #[test]
    fn the_command_says_the_phase() {
        for (line, phase, truth, notes) in [
            ("load basic", Phase::Load, "false", 0),
            ("run basic -t", Phase::Run, "true", 0),
            ("run basic -load", Phase::Run, "true", 1),
            ("load basic -p dotransactions=TRUE", Phase::Load, "false", 1),
        ] {
            let command = read(line).unwrap();
            assert_eq!(command.phase, phase);
            assert_eq!(command.properties.get("dotransactions"), Some(truth));
            assert_eq!(command.notes.len(), notes, "{line}");
        }
    }

    #[test]
    fn bindings_are_chosen_by_name_and_class() {
        for (line, binding) in [
            ("load basic", Binding::Basic),
            ("load mongodb", Binding::MongoDb),
            ("load mongodb-async", Binding::MongoDb),
            ("load wiredtiger", Binding::WiredTiger),
            ("load mongodb -db site.ycsb.BasicDB", Binding::Basic),
            ("load basic -p db=com.yahoo.ycsb.db.MongoDbClient", Binding::MongoDb),
        ] {
            assert_eq!(read(line).unwrap().binding, binding, "{line}");
        }
        assert!(
            refusal("load redis").starts_with("there is no binding `redis`: there are mongodb, ")
        );
        assert!(
            refusal("load basic -db site.ycsb.db.RedisClient")
                .starts_with("there is no binding for `db=site")
        );
    }

    #[test]
    fn the_words_are_shown_as_the_client_would_get_them() {
        let command =
            read("load mongodb -s -cp x -jvm-args=-Xmx1g -p mongodb.url=mongodb://me:secret@h/db")
                .unwrap();
        let expected = "-db site.ycsb.db.MongoDbClient -s -cp x -jvm-args=-Xmx1g -p mongodb.url=mongodb://me:***@h/db -load";
        assert_eq!(command.shown, expected);
        assert_eq!(command.notes.len(), 2);
        let secret =
            read("run basic -p redis.password=geheim -p a=mongodb://h/?proxyPassword=geheim")
                .unwrap();
        assert!(!secret.shown.contains("geheim"), "{}", secret.shown);
        assert!(read("run basic").unwrap().shown.ends_with(" -t"));
    }

    #[test]
    fn what_is_no_command_line_is_refused() {
        for (line, words) in [
            ("shell basic", "there is no `shell` here"),
            ("drop basic", "there is no command `drop`"),
            ("load", "name a binding"),
            ("load basic -threads", "-threads needs a value behind it"),
            ("load basic -threads four", "`-threads four`: it needs a whole number"),
            ("load basic -target 1.5", "`-target 1.5`: it needs a whole number"),
            ("load basic -x", "there is no option `-x`"),
            ("load basic --threads 4", "there is no option `--threads`"),
            ("load basic -threads=4", "there is no option `-threads=4`"),
            (
                "load basic recordcount",
                "`recordcount` belongs to no option; a property is set by -p recordcount=VALUE",
            ),
            ("load basic -p a", "`-p a`: it needs a name"),
            ("load basic -P none", "cannot read the property file none: "),
            ("load basic -P bad", "bad: `x`, line 1: "),
        ] {
            let refusal = refusal(line);
            assert!(refusal.starts_with(words), "{line}: {refusal}");
        }
    }

    proptest! {
        #[test]
        fn any_words_are_read_or_refused(words in prop::collection::vec("(-(P|p|s|l|t|threads|target|db|cp|load|jvm-args)|basic|one|[a-z=.]{0,6}|[0-9]{1,3}|.{0,3})", 0..10)) {
            let _ = Command::read("load", &words, &|_| Ok(Vec::new()));
        }
    }
}
