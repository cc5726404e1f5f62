//! What the server is: found out once, when the engine is opened.

use super::connection::Connection;
use super::lean_options::host_of;
use super::messages::words;
use super::target::Target;
use crate::mongo::Host;
use crate::{Endpoint, EngineError, ServerIdentity};
use mongodb::bson::{Bson, Document, doc};
use mongodb::error::Error;
use mongodb::options::ServerAddress;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The oldest wire version that is measured: MongoDB 4.2, as the official driver before 3.9.
const OLDEST_WIRE_VERSION: i64 = 8;
const OLDEST: &str = "MongoDB 4.2";
/// Where a mongod keeps its data without an option for it.
const DEFAULT_DIRECTORY: &str = "/data/db";
/// Sections of serverStatus that are not needed here.
const LONG_SECTIONS: [&str; 3] = ["metrics", "locks", "tcmalloc"];

/// The members of the set that hold data.
pub(super) fn members(connection: &Connection) -> Result<Vec<Host>, Error> {
    let hello = connection.command("admin", greeting())?;
    let lists = ["hosts", "passives"].into_iter().filter_map(|key| hello.get_array(key).ok());
    let names = lists.flatten().filter_map(Bson::as_str);
    Ok(names.filter_map(|name| host_of(&ServerAddress::parse(name).ok()?)).collect())
}

/// How the servers stand together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Deployment {
    Standalone,
    ReplicaSet(String),
    Sharded,
}

#[derive(Clone, Debug)]
pub(super) struct Server {
    pub(super) version: String,
    pub(super) deployment: Deployment,
    /// The server that the driver chose: the primary, or a mongos.
    pub(super) address: Option<ServerAddress>,
    /// Whether it is FerretDB, which speaks the protocol over another database.
    pub(super) is_ferretdb: bool,
    /// Whether it keeps its data in WiredTiger, as far as it says.
    pub(super) has_wiredtiger: bool,
    /// Its program and the number of its process, as it says itself.
    pub(super) program: Option<String>,
    pub(super) process: Option<u32>,
    /// Where it keeps its data.
    pub(super) directory: Option<PathBuf>,
    /// All else that bears on speed, for the record.
    pub(super) notes: BTreeMap<String, String>,
}

impl Server {
    pub(super) fn discover(
        connection: &Connection,
        target: &Target,
        needs_primary: bool,
    ) -> Result<Self, EngineError> {
        let failed = |call: &str, message: &str| target.failed(call, message);
        let found = format!("reaching {}", target.shown());
        let hello = connection
            .command("admin", greeting())
            .map_err(|error| failed(&found, &words(&error)))?;
        let address = connection.served_by();
        let writable = takes_writes(&hello);
        let Some(wire_version) = number(&hello, "maxWireVersion") else {
            return Err(failed(
                &found,
                "its greeting names no wire version, so it is no MongoDB; check the port",
            ));
        };
        if wire_version < OLDEST_WIRE_VERSION {
            return Err(failed(
                &found,
                &format!(
                    "it speaks wire version {wire_version}; {OLDEST} or later is needed, which speaks {OLDEST_WIRE_VERSION}"
                ),
            ));
        }
        if needs_primary && !writable && target.managed {
            return Err(failed(
                &found,
                "it is no primary, so nothing can be stored there; if it was started as a member of a replica set, remove that and write `server: {members: 3}`, or `server: {replica_set: true}` for a set of one",
            ));
        }
        if needs_primary && !writable {
            return Err(failed(
                &found,
                "it is no primary, so nothing can be stored there; name the replica set by `replicaSet` in `uri` and leave `directConnection` out, or set `client: driver` with a `read_preference` to read only",
            ));
        }
        let deployment = if hello.get_str("msg").is_ok_and(|word| word == "isdbgrid") {
            Deployment::Sharded
        } else if let Ok(name) = hello.get_str("setName") {
            Deployment::ReplicaSet(name.to_owned())
        } else {
            Deployment::Standalone
        };
        let build = connection
            .command("admin", doc! { "buildInfo": 1 })
            .map_err(|error| failed("buildInfo", &words(&error)))?;
        let ferretdb = ferretdb_version(&build);
        let version = match &ferretdb {
            Some(ferretdb) => format!("FerretDB {ferretdb}"),
            None => build.get_str("version").unwrap_or("unknown").to_owned(),
        };
        let mut server = Self {
            version,
            deployment,
            address,
            is_ferretdb: ferretdb.is_some(),
            has_wiredtiger: false,
            program: None,
            process: None,
            directory: None,
            notes: BTreeMap::new(),
        };
        server.describe(connection, &build, target)?;
        Ok(server)
    }

    /// What is only for the record: what cannot be had is named, and is no failure.
    fn describe(
        &mut self,
        connection: &Connection,
        build: &Document,
        target: &Target,
    ) -> Result<(), EngineError> {
        let mut notes = BTreeMap::new();
        let mut note = |name: &str, text: String| {
            if !text.is_empty() {
                notes.insert(name.to_owned(), target.scrubbed(&text));
            }
        };
        note("server", self.kind_words());
        if let Some(address) = &self.address {
            note("server_address", address.to_string());
        }
        for (name, key) in [("server_allocator", "allocator"), ("server_git_version", "gitVersion")]
        {
            note(name, build.get_str(key).unwrap_or_default().to_owned());
        }
        let query = |command: Document| {
            let name = command.keys().next().cloned().unwrap_or_default();
            connection
                .command_if_there("admin", command)
                .map_err(|error| target.failed(&name, &words(&error)))
        };
        let mut status = doc! { "serverStatus": 1 };
        for section in LONG_SECTIONS {
            status.insert(section, 0);
        }
        match query(status)? {
            Ok(status) => {
                let engine = status.get_document("storageEngine").ok();
                let engine = engine.and_then(|engine| engine.get_str("name").ok());
                self.has_wiredtiger = engine == Some("wiredTiger");
                note("storage_engine", engine.unwrap_or_default().to_owned());
                let program = status.get_str("process").ok().and_then(file_name);
                self.program = program.map(str::to_owned);
                self.process = number(&status, "pid").and_then(|id| u32::try_from(id).ok());
                if let Some(bytes) = of_cache(&status, CACHE_SIZE) {
                    note("server_cache_bytes", bytes.to_string());
                }
            }
            Err(reason) => note("storage_engine", format!("unknown: {reason}")),
        }
        if let Deployment::ReplicaSet(_) = self.deployment
            && let Ok(defaults) = query(doc! { "getDefaultRWConcern": 1 })?
        {
            note("default_write_concern", concern_words(&defaults));
        }
        match query(doc! { "getCmdLineOpts": 1 })? {
            Ok(options) => {
                let words = options.get_array("argv").map(|words| {
                    let words: Vec<&str> = words.iter().filter_map(Bson::as_str).collect();
                    words.join(" ")
                });
                note("server_command", words.unwrap_or_default());
                if self.has_wiredtiger {
                    let storage = options.get_document("parsed");
                    let storage = storage.and_then(|parsed| parsed.get_document("storage"));
                    let directory = storage.ok().and_then(|storage| storage.get_str("dbPath").ok());
                    self.directory = Some(directory.unwrap_or(DEFAULT_DIRECTORY).into());
                }
                if let Ok(parsed) = options.get_document("parsed")
                    && !parsed.is_empty()
                {
                    note("server_options", in_json(parsed));
                }
            }
            Err(reason) => note("server_command", format!("unknown: {reason}")),
        }
        match query(doc! { "hostInfo": 1 })? {
            Ok(host) => note("server_host", host_words(&host)),
            Err(reason) => note("server_host", format!("unknown: {reason}")),
        }
        match query(doc! { "getLog": "startupWarnings" })? {
            Ok(log) => note("startup_warnings", warning_words(&log)),
            Err(reason) => note("startup_warnings", format!("unknown: {reason}")),
        }
        self.notes = notes;
        Ok(())
    }

    /// Identifies its process on the machine. A mongos has none, because it does not do the work.
    pub(super) fn identity(&self) -> Option<ServerIdentity> {
        if self.deployment == Deployment::Sharded {
            return None;
        }
        let endpoint = match host_of(self.address.as_ref()?)? {
            Host::Tcp { port, .. } => Endpoint::Port(port),
            Host::Unix(path) => Endpoint::Socket(path),
        };
        Some(ServerIdentity {
            endpoint,
            program: self.program.clone(),
            process: self.process,
            directory: self.directory.clone(),
        })
    }

    fn kind_words(&self) -> String {
        let deployment = match &self.deployment {
            Deployment::Standalone => "standalone".to_owned(),
            Deployment::ReplicaSet(name) => format!("primary of the replica set {name}"),
            Deployment::Sharded => "mongos of a sharded cluster".to_owned(),
        };
        if self.is_ferretdb {
            return format!("FerretDB, {deployment}");
        }
        deployment
    }
}

/// The greeting by the name that every version knows: `hello` came with 4.4.2.
pub(super) fn greeting() -> Document {
    doc! { "isMaster": 1 }
}

/// Whether who answered so takes writes.
pub(super) fn takes_writes(answer: &Document) -> bool {
    answer.get_bool("ismaster").unwrap_or(false)
}

/// FerretDB says its own version beside that of MongoDB which it plays.
fn ferretdb_version(build: &Document) -> Option<String> {
    let version = match build.get("ferretdb") {
        Some(Bson::Document(ferretdb)) => ferretdb.get_str("version").ok(),
        _ => build.get_str("ferretdbVersion").ok(),
    }?;
    Some(version.trim_start_matches('v').to_owned())
}

/// Name of the size of WiredTiger's cache in serverStatus, bytes.
pub(super) const CACHE_SIZE: &str = "maximum bytes configured";

/// A number that serverStatus reports about WiredTiger's cache.
pub(super) fn of_cache(status: &Document, key: &str) -> Option<i64> {
    let section = status.get_document("wiredTiger").ok()?;
    number(section.get_document("cache").ok()?, key)
}

/// A number of any type, as a whole one.
pub(super) fn number(document: &Document, key: &str) -> Option<i64> {
    match document.get(key)? {
        Bson::Int32(value) => Some(i64::from(*value)),
        Bson::Int64(value) => Some(*value),
        Bson::Double(value) => Some(*value as i64),
        _ => None,
    }
}

/// The write concern of a change that names none. Before version 5.0 a server only reports it where it was set.
fn concern_words(defaults: &Document) -> String {
    let concern = defaults.get_document("defaultWriteConcern");
    let w = concern.ok().and_then(|concern| match concern.get("w")? {
        Bson::String(word) => Some(word.clone()),
        _ => Some(number(concern, "w")?.to_string()),
    });
    let w = w.unwrap_or_else(|| "1".into());
    match defaults.get_str("defaultWriteConcernSource") {
        Ok("global") => format!("{w}, as it was set for the whole set"),
        _ => w,
    }
}

fn file_name(path: &str) -> Option<&str> {
    Path::new(path).file_name()?.to_str()
}

fn in_json(document: &Document) -> String {
    serde_json::to_string(document).unwrap_or_default()
}

fn host_words(host: &Document) -> String {
    let mut words = Vec::new();
    if let Ok(system) = host.get_document("system") {
        if let Some(cores) = number(system, "numCores") {
            let arch = system.get_str("cpuArch").unwrap_or_default();
            words.push(format!("{cores} processors {arch}").trim_end().to_owned());
        }
        if let Some(memory) = number(system, "memSizeMB") {
            words.push(format!("{memory} MiB memory"));
        }
        let limit = number(system, "memLimitMB");
        if let Some(limit) = limit.filter(|limit| Some(*limit) != number(system, "memSizeMB")) {
            words.push(format!("{limit} MiB allowed"));
        }
    }
    if let Ok(extra) = host.get_document("extra")
        && let Ok(processor) = extra.get_str("cpuString")
        && !processor.is_empty()
    {
        words.push(processor.to_owned());
    }
    if let Ok(os) = host.get_document("os") {
        let name = os.get_str("name").or(os.get_str("type")).unwrap_or_default();
        let version = os.get_str("version").unwrap_or_default();
        words.push(format!("{name} {version}").trim().to_owned());
    }
    words.retain(|word| !word.is_empty());
    words.join(", ")
}

/// The messages of the lines, which are JSON since MongoDB 4.4.
fn warning_words(log: &Document) -> String {
    let Ok(lines) = log.get_array("log") else {
        return String::new();
    };
    let mut words = Vec::new();
    for line in lines.iter().filter_map(Bson::as_str) {
        let message = serde_json::from_str::<serde_json::Value>(line)
            .ok()
            .and_then(|line| Some(line.get("msg")?.as_str()?.to_owned()));
        words.push(message.unwrap_or_else(|| line.to_owned()));
    }
    words.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_told_without_their_wrapping() {
        let log = doc! { "log": [
            r#"{"t":{"$date":"2026-11-01T10:00:00Z"},"s":"W","c":"CONTROL","id":22178,"ctx":"initandlisten","msg":"transparent_hugepage is 'always'"}"#,
            "an older line",
        ] };
        let expected = "transparent_hugepage is 'always'; an older line";
        assert_eq!(warning_words(&log), expected);
        assert_eq!(warning_words(&doc! {}), "");
    }

    #[test]
    fn a_host_is_told_in_a_line() {
        let host = doc! {
            "system": { "numCores": 2, "cpuArch": "x86_64", "memSizeMB": 8192_i64, "memLimitMB": 2048_i64 },
            "os": { "type": "Linux", "name": "Debian", "version": "12" },
            "extra": { "cpuString": "Some Processor" },
        };
        let expected =
            "2 processors x86_64, 8192 MiB memory, 2048 MiB allowed, Some Processor, Debian 12";
        assert_eq!(host_words(&host), expected);
        assert_eq!(host_words(&doc! {}), "");
    }

    #[test]
    fn the_write_concern_in_force_is_told() {
        let implicit = doc! { "w": "majority", "wtimeout": 0 };
        let implicit =
            doc! { "defaultWriteConcern": implicit, "defaultWriteConcernSource": "implicit" };
        assert_eq!(concern_words(&implicit), "majority");
        let set = doc! { "defaultWriteConcern": { "w": 2 }, "defaultWriteConcernSource": "global" };
        assert_eq!(concern_words(&set), "2, as it was set for the whole set");
        assert_eq!(concern_words(&doc! {}), "1");
    }

    #[test]
    fn ferretdb_is_known_by_either_word() {
        let found = ferretdb_version(&doc! { "ferretdb": { "version": "v2.1.0" } }).unwrap();
        assert_eq!(found, "2.1.0");
        let found = ferretdb_version(&doc! { "ferretdbVersion": "v1.24.0" }).unwrap();
        assert_eq!(found, "1.24.0");
        assert_eq!(ferretdb_version(&doc! { "version": "7.0.0" }), None);
    }
}
