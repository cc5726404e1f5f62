//! A connection that can only read, and only with a short list of commands.

use crate::{APP_NAME, ImitateError};
use mongodb::bson::{Bson, Document, doc};
use mongodb::error::{Error, ErrorKind};
use mongodb::options::{ClientOptions, ReadPreference, SelectionCriteria, ServerMonitoringMode};
use mongodb::{Client, Database};
use plimsoll_engine::{address, driver_words};
use plimsoll_record::redact::{HIDDEN, redact};
use std::cell::RefCell;
use std::time::Duration;
use tokio::runtime::Runtime;

const LONGEST: Duration = Duration::from_secs(5);
/// Longest time for a farewell.
const GOODBYE: Duration = Duration::from_millis(200);

/// Commands that may be sent as they are.
const COMMANDS: [&str; 9] = [
    // `hello` by the name that MongoDB 4.2 knows.
    "isMaster",
    "buildInfo",
    "hostInfo",
    "serverStatus",
    "getLog",
    "listDatabases",
    "listCollections",
    "listIndexes",
    "collStats",
];
/// Stages of pipelines that may be sent: none of them writes or runs code.
const STAGES: [&str; 3] = ["$sample", "$indexStats", "$group"];
/// What the primary reports of itself: it alone counts measurements. Everything else is read from a secondary where there is one.
const OF_THE_PRIMARY: [&str; 4] = ["serverStatus", "getLog", "hostInfo", "collStats"];
const PROFILE: &str = "system.profile";

fn is_allowed(command: &Document) -> bool {
    let Some((name, first)) = command.iter().next() else {
        return false;
    };
    match name.as_str() {
        "aggregate" => command.get_array("pipeline").is_ok_and(|stages| {
            let is_known =
                |stage: &Document| stage.keys().all(|name| STAGES.contains(&name.as_str()));
            stages.iter().all(|stage| stage.as_document().is_some_and(is_known))
        }),
        "find" => {
            let only_ids = command.get_document("projection");
            first.as_str() == Some(PROFILE)
                || only_ids.is_ok_and(|fields| fields.keys().eq(["_id"]))
        }
        name => COMMANDS.contains(&name),
    }
}

pub(crate) struct Server {
    runtime: Runtime,
    /// `None` once it is closed.
    client: Option<Client>,
    /// The database that the URI names.
    pub(crate) database: Option<String>,
    secrets: Vec<String>,
    /// What the server refused, and why.
    refused: RefCell<Vec<String>>,
}

impl Server {
    pub(crate) fn connect(uri: &str) -> Result<Self, ImitateError> {
        let (uri, secrets) = address(uri).map_err(ImitateError::new)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| ImitateError::new(error.to_string()))?;
        let mut server =
            Self { runtime, client: None, database: None, secrets, refused: RefCell::default() };
        let options = server.runtime.block_on(async { ClientOptions::parse(&uri).await });
        let mut options = options.map_err(|error| server.failed("reading the URI", &error))?;
        options.app_name = Some(APP_NAME.into());
        options.connect_timeout.get_or_insert(LONGEST);
        options.server_selection_timeout.get_or_insert(LONGEST);
        options.server_monitoring_mode.get_or_insert(ServerMonitoringMode::Poll);
        server.database = options.default_database.clone().filter(|name| name != "admin");
        let client = {
            let _entered = server.runtime.enter();
            Client::with_options(options)
        };
        server.client = Some(client.map_err(|error| server.failed("making a client", &error))?);
        Ok(server)
    }

    fn failed(&self, call: &str, error: &Error) -> ImitateError {
        let mut text = redact(&format!("{call} failed: {}", driver_words(error)));
        for secret in &self.secrets {
            text = text.replace(secret.as_str(), HIDDEN);
        }
        ImitateError::new(text)
    }

    /// What the server refused so far.
    pub(crate) fn refused(&self) -> Vec<String> {
        self.refused.borrow().clone()
    }

    fn prepared(
        &self,
        database: &str,
        mut command: Document,
    ) -> Result<(Database, Document, SelectionCriteria), ImitateError> {
        let name = command.keys().next().cloned().unwrap_or_default();
        if !is_allowed(&command) {
            return Err(ImitateError::new(format!(
                "`{name}` is not among the commands that may be sent"
            )));
        }
        let is_of_the_primary = OF_THE_PRIMARY.contains(&name.as_str())
            || command.get(&name) == Some(&Bson::from(PROFILE));
        let preference = match is_of_the_primary {
            true => ReadPreference::PrimaryPreferred { options: None },
            false => ReadPreference::SecondaryPreferred { options: None },
        };
        command.insert("maxTimeMS", LONGEST.as_millis() as i64);
        let client = self.client.as_ref().expect("the client is taken by dropping alone");
        Ok((client.database(database), command, SelectionCriteria::ReadPreference(preference)))
    }

    /// `None` of what the server refuses, which is noted. Its messages quote commands, and those have values of the user.
    fn answered<T>(&self, name: &str, answer: Result<T, Error>) -> Result<Option<T>, ImitateError> {
        match answer {
            Ok(answer) => Ok(Some(answer)),
            Err(error) => match &*error.kind {
                ErrorKind::Command(refusal) => {
                    let why = match refusal.code_name.as_str() {
                        "Unauthorized" => "the user may not send it",
                        "MaxTimeMSExpired" => "it took longer than 5 s",
                        "CommandNotFound" => "the server does not have it",
                        other => other,
                    };
                    let note = format!("{name}: {why}");
                    let mut refused = self.refused.borrow_mut();
                    if !refused.contains(&note) {
                        refused.push(note);
                    }
                    Ok(None)
                }
                _ => Err(self.failed(name, &error)),
            },
        }
    }

    /// Sends a command with one answer.
    pub(crate) fn send(
        &self,
        database: &str,
        command: Document,
    ) -> Result<Option<Document>, ImitateError> {
        let name = command.keys().next().cloned().unwrap_or_default();
        let (database, command, criteria) = self.prepared(database, command)?;
        let answer = self
            .runtime
            .block_on(async { database.run_command(command).selection_criteria(criteria).await });
        self.answered(&name, answer)
    }

    /// Sends a command whose answer is a list, and reads the whole list.
    pub(crate) fn list(
        &self,
        database: &str,
        command: Document,
    ) -> Result<Option<Vec<Document>>, ImitateError> {
        let what = match command.iter().next() {
            Some((name, Bson::String(collection))) => format!("{name} on {collection}"),
            Some((name, _)) => name.clone(),
            None => String::new(),
        };
        let (database, command, criteria) = self.prepared(database, command)?;
        let answer = self.runtime.block_on(async {
            let mut cursor =
                database.run_cursor_command(command).selection_criteria(criteria).await?;
            let mut documents = Vec::new();
            while cursor.advance().await? {
                documents.push(cursor.deserialize_current()?);
            }
            Ok(documents)
        });
        self.answered(&what, answer)
    }

    /// What the profiler kept of a database, the oldest first; nothing where it was never on.
    pub(crate) fn profile(&self, database: &str) -> Result<Vec<Document>, ImitateError> {
        Ok(self
            .list(database, doc! { "find": PROFILE, "sort": { "$natural": 1 } })?
            .unwrap_or_default())
    }

    /// The last lines of the log, which the server keeps in memory.
    pub(crate) fn recent_log(&self) -> Result<Vec<String>, ImitateError> {
        let answer = self.send("admin", doc! { "getLog": "global" })?.unwrap_or_default();
        let lines = answer.get_array("log").ok().into_iter().flatten();
        Ok(lines.filter_map(Bson::as_str).map(ToOwned::to_owned).collect())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(client) = self.client.take() {
            // Whether the goodbye was heard does not matter.
            let _ = self.runtime.block_on(async {
                tokio::time::timeout(GOODBYE, async { client.shutdown().immediate(true).await })
                    .await
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_testing::assert_contains;

    #[test]
    fn only_commands_that_read_are_sent() {
        for command in [
            doc! { "isMaster": 1 },
            doc! { "aggregate": "c", "pipeline": [{ "$sample": { "size": 9 } }] },
            doc! { "aggregate": "c", "pipeline": [{ "$indexStats": {} }] },
            doc! { "aggregate": "c", "pipeline": [{ "$group": { "_id": "$f" } }] },
            doc! { "find": "c", "filter": { "_id": { "$in": [1] } }, "projection": { "_id": 1 } },
            doc! { "find": "system.profile" },
        ] {
            assert!(is_allowed(&command), "{command}");
        }
        for command in [
            doc! {},
            doc! { "insert": "c", "documents": [] },
            doc! { "profile": 1 },
            doc! { "find": "c" },
            doc! { "find": "c", "projection": { "_id": 1, "name": 1 } },
            doc! { "aggregate": "c", "pipeline": [{ "$sample": { "size": 9 } }, { "$out": "d" }] },
            doc! { "aggregate": "c", "pipeline": [{ "$sample": { "size": 9 }, "$merge": "d" }] },
            doc! { "aggregate": "c" },
            doc! { "getLastError": 1 },
            doc! { "drop": "c", "isMaster": 1 },
        ] {
            assert!(!is_allowed(&command), "{command}");
        }
    }

    /// Nothing listens there, so a command that was sent would fail for another reason.
    #[test]
    fn another_command_is_refused_before_it_is_sent() {
        let server = Server::connect("mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=50").unwrap();
        for command in [doc! { "drop": "c" }, doc! { "find": "c", "filter": {} }] {
            let refused = server.send("d", command.clone()).unwrap_err();
            assert_contains(refused, "is not among the commands");
            assert_contains(server.list("d", command).unwrap_err(), "is not among the commands");
        }
        let sent = server.send("d", doc! { "isMaster": 1 }).unwrap_err();
        assert_contains(sent, "nothing listens there");
    }

    #[test]
    fn no_error_shows_a_password() {
        let refused =
            Server::connect("mongodb://me:geheim-1@127.0.0.1:1/?w=x&tls=maybe").err().unwrap();
        assert!(!refused.to_string().contains("geheim"), "{refused}");
        let unset = Server::connect("mongodb://${NO_SUCH_VARIABLE_1}/").err().unwrap();
        assert_contains(unset, "is not set");
    }
}
