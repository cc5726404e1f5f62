//! Operations as a server reported them.

use crate::form::whole;
use mongodb::bson::{Bson, Document, doc};
use plimsoll_engine::MARKS;

/// The name under which this program connects, so that it finds its own commands again.
pub const APP_NAME: &str = "plimsoll imitate";

/// Databases of the server itself.
pub(crate) const SYSTEM: [&str; 3] = ["admin", "config", "local"];
/// Commands that become operations, and those that end transactions.
const VERBS: &str = "find aggregate count distinct insert update delete findAndModify commitTransaction abortTransaction";
/// Commands by which drivers keep connections, or by which a server is administered. All others are work of an application.
const UPKEEP: &str = "hello isMaster ping buildInfo connectionStatus saslStart saslContinue authenticate logout getLastError getMore killCursors \
    startSession endSessions refreshSessions killSessions explain profile listCollections listIndexes collStats dbStats dataSize validate create createIndexes drop \
    dropIndexes dropDatabase collMod renameCollection convertToCapped cloneCollectionAsCapped compact reIndex planCacheClear";
/// Microseconds of an operation whose time the server rounds to 0 ms.
const BELOW_A_MS: u64 = 100;

/// One operation with the server's figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Call {
    /// Its database and collection, with a dot.
    pub namespace: String,
    /// The command by its first key. Updates and deletes have one statement: `{update: orders, q: ..., u: ...}`. A `getMore` has the command that opened its
    /// cursor.
    pub command: Document,
    /// Its end, in milliseconds since 1970.
    pub at_ms: i64,
    pub micros: u64,
    /// Such as `IXSCAN { customer: 1 }`.
    pub plan: String,
    pub keys_examined: u64,
    pub documents_examined: u64,
    /// Documents returned, matched, inserted or removed; `None` where the server does not report them.
    pub returned: Option<u64>,
    /// Size of the answer, or of all answers of a cursor.
    pub bytes: u64,
    /// Session and number of its transaction.
    pub transaction: Option<(String, i64)>,
    /// The cursor of the answer, while it has more.
    pub cursor: Option<i64>,
    /// The cursor of a `getMore`.
    pub continues: Option<i64>,
    /// The number of statements in the command that it was part of.
    pub statements: u64,
    pub failed: bool,
}

impl Call {
    /// Reads a document of `system.profile`; `None` if no application sent the operation.
    pub fn of_profile(entry: &Document) -> Option<Self> {
        let at = entry.get_datetime("ts").ok().map_or(0, |ts| ts.timestamp_millis());
        let call = Self::of_report(entry, entry.get_str("op").ok()?, at)?;
        (!is_of_statements(&call.command)).then_some(call)
    }

    /// Reads the fields that log and profile have in common. `kind` is the log's `type`, or the profile's `op`.
    pub(crate) fn of_report(report: &Document, kind: &str, at_ms: i64) -> Option<Self> {
        let namespace = report.get_str("ns").ok()?;
        let (database, collection) = namespace.split_once('.')?;
        let command = statement(kind, collection, report)?;
        let verb = command.keys().next()?.clone();
        let is_other = !has_file(&verb);
        // Neither transactions nor commands of several statements have a collection.
        let has_none = is_of_statements(&command)
            || matches!(verb.as_str(), "commitTransaction" | "abortTransaction");
        let is_of_system = SYSTEM.contains(&database)
            || collection.starts_with("system.")
            // What this program notes of its own loads.
            || collection == MARKS
            || (collection.starts_with("$cmd") && !is_other);
        let is_own = report.get_str("appName").is_ok_and(|name| name == APP_NAME);
        if is_own || (is_of_system && !has_none) || command.contains_key("explain") {
            return None;
        }
        let number = |key: &str| report.get(key).and_then(figure);
        let either = |one: &str, other: &str| number(one).or_else(|| number(other));
        let returned = match verb.as_str() {
            "insert" => number("ninserted"),
            "delete" => number("ndeleted"),
            "update" => {
                let is_inserted = report.get("upsert") == Some(&Bson::Boolean(true));
                let inserted = number("nUpserted").unwrap_or(u64::from(is_inserted));
                number("nMatched").map(|matched| matched + inserted)
            }
            "findAndModify" => either("nMatched", "nModified"),
            _ => number("nreturned"),
        };
        let errors = ["errCode", "errName", "errMsg", "exception"];
        let has_error = errors.iter().any(|key| report.contains_key(key));
        let cursor = report.get("cursorid").and_then(whole).filter(|id| *id != 0);
        let is_more = kind == "getmore" || report.contains_key("originatingCommand");
        let is_exhausted = report.get("cursorExhausted") == Some(&Bson::Boolean(true));
        Some(Self {
            namespace: namespace.into(),
            at_ms,
            micros: micros(report),
            plan: report.get_str("planSummary").unwrap_or_default().into(),
            keys_examined: number("keysExamined").unwrap_or(0),
            documents_examined: number("docsExamined").unwrap_or(0),
            returned,
            bytes: either("reslen", "responseLength").unwrap_or(0),
            transaction: transaction(report.get_document("command").ok()?),
            cursor: cursor.filter(|_| !is_exhausted),
            continues: cursor.filter(|_| is_more),
            statements: 1,
            // Some versions report a failed insert only by the lack of inserted documents.
            failed: has_error || (verb == "insert" && returned.unwrap_or(0) == 0),
            command,
        })
    }

    /// Reads the log's line about a transaction, if the transaction was aborted.
    pub(crate) fn of_aborted(attributes: &Document, at_ms: i64) -> Option<Self> {
        let parameters = attributes.get_document("parameters").ok()?;
        let is_aborted =
            attributes.get_str("terminationCause").is_ok_and(|cause| cause == "aborted");
        Some(Self {
            command: doc! { "abortTransaction": 1 },
            at_ms,
            transaction: Some(transaction(parameters).filter(|_| is_aborted)?),
            ..Self::default()
        })
    }
}

/// Whether the command is an update or a delete with a list of statements. The server also reports each statement separately.
pub(crate) fn is_of_statements(command: &Document) -> bool {
    let verb = command.keys().next().map(String::as_str);
    matches!(verb, Some("update" | "delete")) && !command.contains_key("q")
}

/// Whether a command is among those that an experiment file can have.
pub(crate) fn has_file(verb: &str) -> bool {
    VERBS.split(' ').any(|known| known == verb)
}

/// The command with its verb as the first key. Of those that no file has, nothing else is kept than the verb and the collection.
fn statement(kind: &str, collection: &str, report: &Document) -> Option<Document> {
    let command =
        report.get_document("originatingCommand").or(report.get_document("command")).ok()?;
    let (verb, name) = match kind {
        "update" => ("update", Bson::from(collection)),
        "remove" => ("delete", Bson::from(collection)),
        _ => {
            let (first, name) = command.iter().next()?;
            let among = |words: &'static str| {
                words.split_whitespace().find(|verb| verb.eq_ignore_ascii_case(first))
            };
            match among(VERBS) {
                Some(verb) => (verb, name.clone()),
                None => {
                    let is_name =
                        first.len() < 40 && first.bytes().all(|b| b.is_ascii_alphabetic());
                    let collection = collection.strip_prefix("$cmd").map_or(collection, |_| "");
                    let is_work = is_name && among(UPKEEP).is_none();
                    return is_work.then(|| doc! { first: collection });
                }
            }
        }
    };
    let mut statement = Document::new();
    statement.insert(verb, name);
    statement.extend(
        command
            .iter()
            .filter(|(key, _)| !key.eq_ignore_ascii_case(verb))
            .map(|(key, value)| (key.clone(), value.clone())),
    );
    Some(statement)
}

/// Session and number of a command's transaction. Retryable writes have a number as well, but commit by themselves.
fn transaction(command: &Document) -> Option<(String, i64)> {
    let session = command.get_document("lsid").ok()?.get("id")?.to_string();
    let number = command.get("txnNumber").and_then(whole)?;
    (command.get("autocommit") == Some(&Bson::Boolean(false))).then_some((session, number))
}

/// A figure within bounds in which sums do not overflow.
fn figure(value: &Bson) -> Option<u64> {
    whole(value).and_then(|number| u64::try_from(number).ok()).map(|number| number.min(1 << 32))
}

fn micros(report: &Document) -> u64 {
    let number = |key: &str| report.get(key).and_then(figure);
    match number("durationMillis").or_else(|| number("millis")) {
        Some(0) | None => number("cpuNanos").map_or(BELOW_A_MS, |nanos| (nanos / 1_000).max(1)),
        Some(millis) => millis * 1_000,
    }
}
