//! The text of an experiment file that answers one question.

use crate::arguments::{Question, Workload};
use plimsoll_record::quantities::units;
use plimsoll_record::quantities::words::list;

/// The database that is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Database {
    Embedded,
    /// A mongod that is started for each run.
    Mongod,
    Uri(String),
}

/// All that the file depends on.
#[derive(Clone, Debug)]
pub struct Draft {
    /// By which results are found.
    pub name: String,
    /// The file, for the commands in its first lines.
    pub file: String,
    pub database: Database,
    pub question: Question,
    /// The key that arms differ in, where the question is about settings.
    pub setting: String,
    pub between: Vec<String>,
    /// Their addresses, where they are machines whose servers get their load from here; empty otherwise.
    pub addresses: Vec<String>,
    pub workload: Workload,
    /// A size; empty where the data is a share of the cache.
    pub data: String,
    /// Whether both arms run at the same time.
    pub duet: bool,
    /// Whether they run in turn only because other programs use the machine.
    pub beside_others: bool,
    pub threads: u32,
    pub warm_up_ns: u64,
    pub duration_ns: u64,
    pub blocks: u32,
}

/// Size of the data relative to the cache where disks are compared: half of the reads go to them.
const BEYOND_THE_CACHE: &str = "200%";
/// The least cache that a mongod takes.
const LEAST_CACHE_OF_A_SERVER: u64 = 256 << 20;
/// Documents and queries to begin with, where indexes are compared.
const ORDERS: &str = "\
# The data and the operations: an example to replace with your own documents and queries. docs/own-workloads.md explains it;
# `plimsoll plan FILE --documents` prints documents, commands, and how many documents each must find.
workload:
  collections:
    orders:
      records: 100k
      document:
        customer: {text: 12, distinct: 5k, skew: zipfian}   # a few customers have most orders
        placed: {date: {every: 15s, until: 2026-06-30}}
        status: {choice: {open: 5%, paid: 15%, sent: 80%}}
        body: {text: {uniform: [200, 600]}, compressible: 60%}
  operations:
    by-customer: {find: orders, by: customer, keys: documents, sort: {placed: -1}, limit: 10}
    place: {insert: orders}
    touch: {update: orders, by: _id, keys: latest, set: [status]}
  mixes: {day: {by-customer: 60%, place: 20%, touch: 20%}}
";
/// Compressibility of values where compressors are compared: YCSB's random letters hardly shrink.
const COMPRESSIBLE: &str = "60%";

impl Draft {
    pub fn text(&self) -> String {
        let Self { name, file, .. } = self;
        let question = quoted(&self.question_in_words());
        let measured = units::duration(self.duration_ns);
        let warm_up = units::duration(self.warm_up_ns);
        let Self { blocks, threads, .. } = self;
        format!(
            "\
# Written by `plimsoll init`. Change what you like: docs/experiment-file.md explains every key.
#
#   plimsoll plan {file}     what it would do, for how long, and where each value comes from
#   plimsoll run  {file}     does it; after an interruption the same command resumes

plimsoll: 1                     # version of this file format
name: {name}
question: {question}

{workload}
{hosts}# What the arms have in common.
defaults:
{defaults}
# What is compared. {about_arms}
arms:
{arms}
# Each session asks again as soon as it is answered. A list measures each: [1, 4, 16].
load:
  closed: {{threads: [{threads}]}}

# A block is one round through all arms, in an order drawn for it, so that a machine that gets slower meanwhile favours none.
# Verdicts are made of blocks: more of them make a verdict sharper.
measurement:
{pairing}  warm_up: {warm_up}
  duration: {measured}                  # of each point
  blocks: {blocks}

# What decides is fixed before there are results. Differences below the margin do not matter.
compare:
  baseline: {baseline}
  primary: [throughput]
  margins: {{throughput: 3%}}
",
            workload = self.workload(),
            pairing = self.pairing(),
            hosts = self.hosts(),
            defaults = self.defaults(),
            about_arms = self.about_arms(),
            arms = self.arms(),
            baseline = self.names()[0],
        )
    }

    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (number, what) in self.between.iter().enumerate() {
            let name = match self.question {
                Question::Version if self.between.len() == 2 => ["old", "new"][number].to_owned(),
                Question::Memory => format!("{}-percent", what.trim_end_matches('%')),
                Question::Index if what == "none" => "no-index".into(),
                Question::Index => named(&what.replace(",-", "-")),
                Question::Machine | Question::Version => named(host_of(what)),
                // Such a word alone would be no name in YAML.
                Question::Settings if is_no_text(what) => format!("{}-{what}", self.setting),
                _ => named(what),
            };
            // Two folders may have programs of one name.
            let is_fit = !name.is_empty() && !names.contains(&name);
            names.push(if is_fit { name } else { format!("arm-{}", number + 1) });
        }
        names
    }

    fn question_in_words(&self) -> String {
        let between = list(&self.names()).replace(" and ", " or ");
        match self.question {
            Question::Settings => format!("Which {} is faster?", self.setting),
            Question::Index => format!("Which index is worth its cost: {between}?"),
            Question::Disk => format!("Which disk is needed: {between}?"),
            Question::Filesystem => format!("Which filesystem is faster: {between}?"),
            Question::Memory => "What happens when the data outgrows the cache?".into(),
            Question::Version => "Did the upgrade make it faster or slower?".into(),
            Question::Machine => format!("Which machine is faster: {between}?"),
        }
    }

    fn data(&self) -> String {
        let size = |size: &str, about: &str| {
            let key = format!("  size: {size}");
            format!("{key:<32}# {about}\n")
        };
        match self.question {
            Question::Memory => String::new(),
            Question::Disk | Question::Filesystem if self.data.is_empty() => format!(
                "  working_set: {BEYOND_THE_CACHE}             # of what fits into the cache: reads go to the disk\n"
            ),
            _ => size(&self.data, "of all records, each of ten fields of 100 bytes"),
        }
    }

    fn workload(&self) -> String {
        if self.question == Question::Index {
            return ORDERS.into();
        }
        let (mix, about_mix) = mix(self.workload);
        let (data, fields) = (self.data(), self.fields());
        format!(
            "\
# The data and the operations. Keys, records and mixes are those of YCSB.
workload:
{data}{fields}  mixes: [{mix}]                    # {about_mix}; a list measures each: [a, c]
"
        )
    }

    fn compares_compressors(&self) -> bool {
        self.question == Question::Settings && self.setting == "block_compressor"
    }

    fn fields(&self) -> String {
        if !self.compares_compressors() {
            return String::new();
        }
        format!(
            "  fields: {{compressible: {COMPRESSIBLE}}}  # of each value repeats; without it they are random letters, which hardly shrink\n"
        )
    }

    fn pairing(&self) -> String {
        let mut lines = String::new();
        if self.duet {
            lines.push_str(
                "  pairing: duet                 # both at the same time, each on a half of the processors: what disturbs one disturbs the other\n",
            );
        }
        if self.beside_others {
            lines.push_str(
                "  pairing: in-turn              # other programs used the machine when this was written; `duet` is sharper where there are none\n",
            );
        }
        if matches!(self.question, Question::Disk | Question::Filesystem) {
            lines.push_str("  shaped_from: warm-up          # the data is stored without the limits of the disk\n");
        }
        lines
    }

    /// Whether disks, filesystems or sizes of the data are compared.
    pub fn is_of_disk(&self) -> bool {
        matches!(self.question, Question::Disk | Question::Filesystem | Question::Memory)
    }

    /// Smaller than the data where a setting may change what reads cost.
    fn cache(&self) -> String {
        let is_server = self.database != Database::Embedded;
        let least = if is_server { LEAST_CACHE_OF_A_SERVER } else { 0 };
        let bytes = match self.question {
            Question::Settings => units::parse_size(&self.data).unwrap_or(0) / 2,
            _ if self.is_of_disk() => 64 << 20,
            _ => 512 << 20,
        };
        units::size(bytes.max(least))
    }

    fn hosts(&self) -> String {
        if self.question != Question::Machine || matches!(self.database, Database::Uri(_)) {
            return String::new();
        }
        let mut lines = String::from(
            "# The machines, by what would be typed behind `ssh`. Nothing is installed there but the database; docs/hosts.md says what is needed.\nhosts:\n",
        );
        for (number, (name, target)) in self.names().iter().zip(&self.between).enumerate() {
            let target = target.split('=').next().unwrap_or_default();
            let address = self.addresses.get(number);
            let address =
                address.map_or_else(String::new, |address| format!(", address: {address}"));
            lines.push_str(&format!("  {name}: {{ssh: {}{address}}}\n", quoted(target)));
        }
        lines.push('\n');
        lines
    }

    fn defaults(&self) -> String {
        let mut lines = Vec::new();
        let mut line = |key: String, about: &str| {
            lines.push(match about {
                "" => format!("  {key}\n"),
                _ => format!("  {key:<30}# {about}\n"),
            });
        };
        match &self.database {
            Database::Embedded => line(
                "engine: wiredtiger".into(),
                "MongoDB's storage engine, within this program: no server to install",
            ),
            Database::Mongod => {
                line("engine: mongodb".into(), "a mongod from PATH, restarted for each run")
            }
            Database::Uri(_) => line("engine: mongodb".into(), ""),
        }
        if let Database::Uri(uri) = &self.database {
            if matches!(self.question, Question::Settings | Question::Index) {
                line(format!("uri: {}", quoted(uri)), "");
            }
            line("database: plimsoll".into(), "made by this program, which touches no other");
            line(
                "existing: drop".into(),
                "drops what an earlier run of this program loaded, and nothing else",
            );
        } else if self.question != Question::Settings || self.setting != "cache_size" {
            line(format!("cache_size: {}", self.cache()), "of the engine");
        }
        if self.database != Database::Embedded && self.question != Question::Index {
            line("batch: 100".into(), "documents in one insert while the data is stored");
        }
        match self.question {
            Question::Disk => line("filesystem: xfs".into(), ""),
            Question::Filesystem => {
                line("disk: gp3".into(), "an emulated one; `plimsoll disk presets` lists all")
            }
            _ => {}
        }
        if matches!(self.question, Question::Disk | Question::Filesystem) {
            line(
                "limits: {page_cache: 64MiB}".into(),
                "or the kernel would answer what the cache does not",
            );
        }
        lines.concat()
    }

    fn about_arms(&self) -> &'static str {
        match self.question {
            Question::Memory => "The data grows, as a share of what fits into the cache.",
            _ => "They differ in one thing, so that a difference is the work of that.",
        }
    }

    fn arms(&self) -> String {
        let each = self.names().into_iter().zip(&self.between);
        let lines = each.map(|(name, what)| {
            let is_by_uri = matches!(self.database, Database::Uri(_));
            let key = match self.question {
                Question::Settings => format!("{}: {}", self.setting, quoted(what)),
                Question::Index => {
                    format!("collections: {{orders: {{indexes: [{}]}}}}", indexes(what))
                }
                Question::Disk => format!("disk: {what}"),
                Question::Filesystem => format!("filesystem: {what}"),
                Question::Memory => format!("working_set: {what}"),
                Question::Version | Question::Machine if is_by_uri => {
                    format!("uri: {}", quoted(what))
                }
                Question::Version => format!("server: {}", quoted(what)),
                Question::Machine => format!("on: {name}"),
            };
            format!("  {name}: {{{key}}}\n")
        });
        lines.collect()
    }
}

/// Indexes as they are typed, `customer,-placed+status`, in the words of the file.
fn indexes(typed: &str) -> String {
    let field = |typed: &str| match typed.strip_prefix('-') {
        Some(name) => format!("{}: -1", quoted(name)),
        None => format!("{}: 1", quoted(typed)),
    };
    let index = |typed: &str| {
        let fields: Vec<String> = typed.split(',').map(field).collect();
        format!("{{{}}}", fields.join(", "))
    };
    if typed == "none" {
        return String::new();
    }
    typed.split('+').map(index).collect::<Vec<_>>().join(", ")
}

/// The name of a workload, and what it asks.
fn mix(workload: Workload) -> (&'static str, &'static str) {
    match workload {
        Workload::A => ("a", "half reads, half updates"),
        Workload::B => ("b", "95 % reads, 5 % updates"),
        Workload::C => ("c", "reads only"),
        Workload::D => ("d", "95 % reads of what came last, 5 % inserts"),
        Workload::E => ("e", "95 % scans, 5 % inserts"),
        Workload::F => ("f", "half reads, half reads followed by an update"),
    }
}

/// A word of a command as a name of the file format: letters, digits, `-`, `_` and `.`, beginning with a letter or digit.
pub fn named(text: &str) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() || "-_.".contains(letter) { letter } else { '-' }
    };
    let name: String = text.chars().map(plain).take(40).collect();
    name.trim_matches(['-', '_', '.']).to_owned()
}

/// Whether YAML takes it for something else than a text.
fn is_no_text(word: &str) -> bool {
    matches!(word, "true" | "false" | "null") || word.parse::<f64>().is_ok()
}

/// The part of a target of ssh, a URI or a path that distinguishes it from others: `db1` of `root@db1=10.0.0.2`, the first host of a URI.
pub fn host_of(text: &str) -> &str {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let rest = rest.split(['?', '=', ',']).next().unwrap_or_default();
    let rest = match text.contains("://") {
        true => rest.split('/').next().unwrap_or_default(),
        false => rest,
    };
    rest.rsplit('@').next().unwrap_or_default()
}

/// As a string of JSON, which is one of YAML too; without quotes where none are needed.
fn quoted(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.%/@".contains(letter);
    let starts_plain =
        text.starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '/');
    if starts_plain && text.chars().all(is_plain) {
        return text.to_owned();
    }
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_file_format() {
        assert_eq!(named("/opt/7.0/bin/mongod"), "opt-7.0-bin-mongod");
        assert_eq!(named("--"), "");
        for (text, host) in [
            ("root@db1=10.0.0.2", "db1"),
            ("db2", "db2"),
            ("mongodb://me:secret@h1:27017,h2/test?w=1", "h1:27017"),
            ("/opt/mongod", "/opt/mongod"),
        ] {
            assert_eq!(host_of(text), host, "{text}");
        }
    }

    #[test]
    fn indexes_are_typed_as_fields() {
        assert_eq!(indexes("none"), "");
        assert_eq!(indexes("customer,-placed"), "{customer: 1, placed: -1}");
        assert_eq!(indexes("customer+a.b"), "{customer: 1}, {a.b: 1}");
        assert_eq!(indexes("x: {"), "{\"x: {\": 1}");
    }

    #[test]
    fn nothing_gets_out_of_its_quotes() {
        assert_eq!(quoted("snappy"), "snappy");
        assert_eq!(quoted("a: b"), "\"a: b\"");
        assert_eq!(quoted("x\ny"), "\"x\\ny\"");
        assert_eq!(quoted("- x"), "\"- x\"");
        assert_eq!(quoted(""), "\"\"");
    }
}
