//! What the settings ask for: which server, which collection, which client, how.

use super::KIND;
use super::catalogue::OF_THE_SERVER;
use crate::opening::{COMPLETED, settings_in_force};
use crate::{EngineError, Opening};
use mongodb::options::{
    Acknowledgment, ClientOptions, Compressor, ReadConcernLevel, ReadPreference, SelectionCriteria,
    ServerMonitoringMode, WriteConcern,
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use plimsoll_plan::{SettingValue, Settings};
use plimsoll_record::redact::{HIDDEN, quotable_secrets, redact};
use plimsoll_workload::CollectionOrder;
use std::collections::BTreeMap;
use std::time::Duration;

/// Option of a URI that only the lean client knows: how long it waits for a reply.
const SOCKET_TIMEOUT: &str = "socketTimeoutMS";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClientChoice {
    Lean,
    Driver,
}

/// What becomes of a collection that already holds documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Existing {
    Refuse,
    /// It is measured; nothing is loaded.
    Use,
    /// It is dropped, if this program loaded it.
    Drop,
    /// No check: another client has prepared it, or it is the caller's affair.
    Join,
}

/// Checked settings, before any server is queried.
#[derive(Clone)]
pub(super) struct Target {
    /// With the password. Never shown.
    uri: String,
    /// What must not be shown, as it may stand in messages.
    secrets: Vec<String>,
    /// Whether the program started the server.
    pub(super) managed: bool,
    pub(super) client: ClientChoice,
    /// Why the lean client is not used, though the driver was not named.
    pub(super) instead_of_lean: Option<String>,
    database: Option<String>,
    pub(super) collection: String,
    /// The collections of an application, in place of the one with records.
    pub(super) collections: Vec<CollectionOrder>,
    /// Whether another client prepares the data.
    pub(super) joins: bool,
    pub(super) batch: u32,
    pub(super) upsert: bool,
    pub(super) existing: Existing,
    pub(super) connect_timeout: Duration,
    /// How long a reply may take; `None` is without end.
    pub(super) call_timeout: Option<Duration>,
    settings: Settings,
}

impl Target {
    /// Reads settings that the registry has completed. `variable` reads the environment.
    pub(super) fn new(
        opening: &Opening<'_>,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, EngineError> {
        let settings = opening.settings;
        let uri = match (settings.text("uri"), opening.server) {
            (Some(template), None) => {
                for name in OF_THE_SERVER {
                    // The size of the cache has a default, so it is set whether or not the file names it.
                    if name != "cache_size"
                        && let Some(value) = settings.0.get(name)
                    {
                        return Err(refuse(
                            name,
                            &value.to_string(),
                            "`uri` names a running server, and this is a setting of one that is started; remove one of the two",
                        ));
                    }
                }
                filled(template, variable)
                    .map_err(|reason| refuse("uri", &redact(template), &reason))?
            }
            (None, Some(server)) => server.to_owned(),
            (Some(template), Some(_)) => {
                return Err(refuse(
                    "uri",
                    &redact(template),
                    "a server was started for this arm; leave out one of the two",
                ));
            }
            (None, None) => {
                return Err(EngineError::NoServer { name: KIND.name.into() });
            }
        };
        // The address of a server that this program started holds none.
        let secrets = match opening.server {
            Some(_) => Vec::new(),
            None => quotable_secrets(&uri),
        };
        let (uri, call_timeout) =
            without_socket_timeout(&uri).map_err(|reason| refuse("uri", &redact(&uri), &reason))?;
        let count = |name| settings.count(name).expect(COMPLETED);
        let text = |name| settings.text(name).expect(COMPLETED);
        let managed = opening.server.is_some();
        Ok(Self {
            secrets,
            uri,
            managed,
            client: match settings.text("client") {
                Some("driver") => ClientChoice::Driver,
                _ => ClientChoice::Lean,
            },
            instead_of_lean: None,
            database: settings.text("database").map(ToOwned::to_owned),
            collection: opening.data.table.clone(),
            collections: opening.collections.to_vec(),
            joins: opening.joins,
            batch: count("batch") as u32,
            upsert: settings.flag("upsert").expect(COMPLETED),
            existing: match text("existing") {
                // The data directory of a started server is the program's own.
                _ if managed || opening.joins => Existing::Join,
                "use" => Existing::Use,
                "drop" => Existing::Drop,
                _ => Existing::Refuse,
            },
            connect_timeout: Duration::from_nanos(
                settings.nanos("connect_timeout").expect(COMPLETED),
            ),
            call_timeout,
            settings: settings.clone(),
        })
    }

    /// Chooses the driver where the lean client lacks what the URI or the settings require, unless the lean client was named.
    pub(super) fn choose_client(&mut self, options: &ClientOptions) -> Result<(), EngineError> {
        if self.client == ClientChoice::Driver {
            if !self.collections.is_empty() {
                let reason = "statements of an application are sent by the lean client; leave out `client: driver`";
                return Err(refuse("client", "driver", reason));
            }
            return self.driver_can(options);
        }
        let Some(lacks) = super::lean_options::lacks(options) else {
            return Ok(());
        };
        let lacks = self.scrubbed(&format!("the lean client {lacks}"));
        if !self.collections.is_empty() {
            let reason = format!(
                "statements of an application are sent by the lean client, and {lacks}; use a server without this need"
            );
            return Err(EngineError::NoStatements { name: KIND.name.into(), reason });
        }
        if self.settings.text("client").is_some() {
            let reason = format!("{lacks}; use `client: driver`");
            return Err(refuse("client", "lean", &reason));
        }
        self.client = ClientChoice::Driver;
        self.instead_of_lean = Some(lacks);
        self.driver_can(options)
    }

    fn driver_can(&self, options: &ClientOptions) -> Result<(), EngineError> {
        let concern = options.write_concern.as_ref();
        if !concern.is_some_and(|concern| concern.w == Some(Acknowledgment::Nodes(0))) {
            return Ok(());
        }
        let why = "the official driver waits for every change, so it cannot do write concern 0";
        Err(match &self.instead_of_lean {
            Some(lacks) => refuse("write_concern", "0", &format!("{why}, and {lacks}")),
            None => refuse("client", "driver", &format!("{why}; take `client: lean`")),
        })
    }

    /// The URI without its password.
    pub(super) fn shown(&self) -> String {
        self.scrubbed(&redact(&self.uri))
    }

    /// A text without the password, wherever it came from.
    pub(super) fn scrubbed(&self, text: &str) -> String {
        let mut text = redact(text);
        for secret in &self.secrets {
            text = text.replace(secret.as_str(), HIDDEN);
        }
        text
    }

    /// An error of this engine, without passwords.
    pub(super) fn failed(&self, call: &str, message: &str) -> EngineError {
        EngineError::Call {
            engine: KIND.name.into(),
            call: call.into(),
            message: self.scrubbed(message),
        }
    }

    /// What the URI says for the driver, with the settings on top. Looks hosts up where the URI is an SRV one.
    pub(super) async fn options(&self) -> Result<ClientOptions, EngineError> {
        let mut options = ClientOptions::parse(&self.uri).await.map_err(|error| {
            let reason = self.scrubbed(&error.kind.to_string());
            refuse("uri", &self.shown(), &reason)
        })?;
        options.connect_timeout.get_or_insert(self.connect_timeout);
        options.app_name.get_or_insert_with(|| "plimsoll".into());
        options.server_monitoring_mode.get_or_insert(ServerMonitoringMode::Poll);
        options.max_pool_size.get_or_insert(1);
        self.set_concerns(&mut options)?;
        Ok(options)
    }

    fn set_concerns(&self, options: &mut ClientOptions) -> Result<(), EngineError> {
        let twice = |name: &str| {
            let value = self.settings.0.get(name).map(ToString::to_string);
            refuse(
                name,
                &value.unwrap_or_default(),
                "the URI says it as well; leave it out of one of the two",
            )
        };
        let mut concern = options.write_concern.take().unwrap_or_default();
        if let Some(text) = self.settings.text("write_concern") {
            let requested = match text.trim() {
                "" => return Err(refuse("write_concern", text, "it names no members")),
                "majority" => Acknowledgment::Majority,
                text => match text.parse() {
                    Ok(nodes) => Acknowledgment::Nodes(nodes),
                    Err(_) => Acknowledgment::Custom(text.into()),
                },
            };
            if concern.w.replace(requested).is_some() {
                return Err(twice("write_concern"));
            }
        }
        if let Some(journal) = self.settings.flag("journal")
            && concern.journal.replace(journal).is_some()
        {
            return Err(twice("journal"));
        }
        if let Some(nanos) = self.settings.nanos("write_timeout")
            && concern.w_timeout.replace(Duration::from_nanos(nanos)).is_some()
        {
            return Err(twice("write_timeout"));
        }
        if concern.w == Some(Acknowledgment::Nodes(0)) && concern.journal == Some(true) {
            return Err(refuse("journal", "true", "with write concern 0 nothing is acknowledged"));
        }
        if concern != WriteConcern::default() {
            options.write_concern = Some(concern);
        }
        if let Some(level) = self.settings.text("read_concern") {
            let requested = match level {
                "local" => ReadConcernLevel::Local,
                "available" => ReadConcernLevel::Available,
                "majority" => ReadConcernLevel::Majority,
                _ => ReadConcernLevel::Linearizable,
            };
            if options.read_concern.replace(requested.into()).is_some() {
                return Err(twice("read_concern"));
            }
        }
        if let Some(preference) = self.settings.text("read_preference") {
            let preference = match preference {
                "primary" => ReadPreference::Primary,
                "primaryPreferred" => ReadPreference::PrimaryPreferred { options: None },
                "secondary" => ReadPreference::Secondary { options: None },
                "secondaryPreferred" => ReadPreference::SecondaryPreferred { options: None },
                _ => ReadPreference::Nearest { options: None },
            };
            if options
                .selection_criteria
                .replace(SelectionCriteria::ReadPreference(preference))
                .is_some()
            {
                return Err(twice("read_preference"));
            }
        }
        if let Some(text) = self.settings.text("compressors") {
            let mut compressors = Vec::new();
            for name in text.split(',') {
                compressors.push(match name.trim() {
                    "snappy" => Compressor::Snappy,
                    "zstd" => Compressor::Zstd { level: None },
                    "zlib" => Compressor::Zlib { level: None },
                    other => {
                        let reason =
                            format!("`{other}` is none of them: there are snappy, zstd and zlib");
                        return Err(refuse("compressors", text, &reason));
                    }
                });
            }
            if options.compressors.replace(compressors).is_some() {
                return Err(twice("compressors"));
            }
        }
        Ok(())
    }

    /// The database of the collection.
    pub(super) fn database(&self, options: &ClientOptions) -> String {
        match (&self.database, options.default_database.as_deref()) {
            (Some(name), _) => name.clone(),
            (None, Some(name)) if name != "admin" && !name.is_empty() => name.into(),
            _ => "ycsb".into(),
        }
    }

    /// Every setting that is in force, by name, as written in a file.
    pub(super) fn in_force(&self, options: &ClientOptions) -> BTreeMap<String, String> {
        let mut settings = settings_in_force(&self.settings);
        let client = match self.client {
            ClientChoice::Lean => "lean",
            ClientChoice::Driver => "driver",
        };
        settings.insert("client".into(), client.into());
        settings.insert("database".into(), self.database(options));
        if self.managed {
            settings.remove("existing");
            settings.remove("insert_into_existing");
        } else {
            settings.insert("uri".into(), self.shown());
            for name in OF_THE_SERVER {
                settings.remove(name);
            }
        }
        if let Some(concern) = &options.write_concern {
            if let Some(w) = &concern.w {
                settings.insert("write_concern".into(), acknowledgment_words(w));
            }
            if let Some(journal) = concern.journal {
                settings.insert("journal".into(), journal.to_string());
            }
            if let Some(timeout) = concern.w_timeout {
                let timeout = SettingValue::Nanos(timeout.as_nanos() as u64).to_string();
                settings.insert("write_timeout".into(), timeout);
            }
        }
        if let Some(concern) = &options.read_concern {
            settings.insert("read_concern".into(), concern_word(&concern.level));
        }
        if let Some(SelectionCriteria::ReadPreference(preference)) = &options.selection_criteria {
            settings.insert("read_preference".into(), preference_word(preference).into());
        }
        if let Some(compressors) = &options.compressors {
            let names: Vec<&str> = compressors.iter().map(compressor_name).collect();
            settings.insert("compressors".into(), names.join(","));
        }
        for (name, flag) in
            [("retry_reads", options.retry_reads), ("retry_writes", options.retry_writes)]
        {
            if let Some(flag) = flag {
                settings.insert(name.into(), flag.to_string());
            }
        }
        settings
    }
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Target")
            .field("uri", &self.shown())
            .field("client", &self.client)
            .field("collection", &self.collection)
            .finish_non_exhaustive()
    }
}

pub(super) fn refuse(setting: &str, value: &str, reason: &str) -> EngineError {
    EngineError::Setting {
        engine: KIND.name.into(),
        setting: setting.into(),
        value: value.into(),
        reason: reason.into(),
    }
}

pub(super) fn acknowledgment_words(w: &Acknowledgment) -> String {
    match w {
        Acknowledgment::Nodes(nodes) => nodes.to_string(),
        Acknowledgment::Majority => "majority".into(),
        Acknowledgment::Custom(name) => name.clone(),
        _ => "unknown".into(),
    }
}

pub(super) fn concern_word(level: &ReadConcernLevel) -> String {
    match level {
        ReadConcernLevel::Local => "local".into(),
        ReadConcernLevel::Available => "available".into(),
        ReadConcernLevel::Majority => "majority".into(),
        ReadConcernLevel::Linearizable => "linearizable".into(),
        ReadConcernLevel::Snapshot => "snapshot".into(),
        ReadConcernLevel::Custom(name) => name.clone(),
        _ => "unknown".into(),
    }
}

fn preference_word(preference: &ReadPreference) -> &'static str {
    match preference {
        ReadPreference::Primary => "primary",
        ReadPreference::PrimaryPreferred { .. } => "primaryPreferred",
        ReadPreference::Secondary { .. } => "secondary",
        ReadPreference::SecondaryPreferred { .. } => "secondaryPreferred",
        ReadPreference::Nearest { .. } => "nearest",
        _ => "unknown",
    }
}

fn compressor_name(compressor: &Compressor) -> &'static str {
    match compressor {
        Compressor::Snappy => "snappy",
        Compressor::Zstd { .. } => "zstd",
        Compressor::Zlib { .. } => "zlib",
        _ => "unknown",
    }
}

/// The address for the official driver in a URI, with every `${NAME}` from the environment, and what must not be shown of it.
pub fn address(template: &str) -> Result<(String, Vec<String>), String> {
    let uri = filled(template, &|name| std::env::var(name).ok())?;
    let secrets = quotable_secrets(&uri);
    Ok((without_socket_timeout(&uri)?.0, secrets))
}

/// The URI with every `${NAME}` replaced from the environment: of user and password, encoded as a URI wants it, or the URI as a whole. Elsewhere it would carry
/// whatever is in the environment to the host that a file names.
fn filled(template: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let authority = template.find("://").map_or(0, |at| at + 3);
    let user_ends = template[authority..].rfind('@').map_or(0, |at| authority + at);
    let mut uri = String::new();
    let mut at = 0;
    while let Some(found) = template[at..].find("${") {
        let begins = at + found;
        let name_begins = begins + 2;
        let Some(length) = template[name_begins..].find('}') else {
            return Err("`${` has no closing brace".into());
        };
        let name = &template[name_begins..name_begins + length];
        let Some(value) = variable(name) else {
            return Err(format!(
                "the environment variable {name} is not set; set it before the program is started"
            ));
        };
        uri.push_str(&template[at..begins]);
        let is_whole = begins == 0 && name_begins + length + 1 == template.len();
        if !is_whole && !(authority..user_ends).contains(&begins) {
            return Err(format!(
                "`${{{name}}}` may stand for the user, the password or the whole URI, and not elsewhere in it"
            ));
        }
        if (authority..user_ends).contains(&begins) {
            uri.extend(utf8_percent_encode(&value, NON_ALPHANUMERIC));
        } else {
            uri.push_str(&value);
        }
        at = name_begins + length + 1;
    }
    uri.push_str(&template[at..]);
    Ok(uri)
}

/// Takes the option out that the driver does not know.
fn without_socket_timeout(uri: &str) -> Result<(String, Option<Duration>), String> {
    let Some((address, query)) = uri.split_once('?') else {
        return Ok((uri.to_owned(), None));
    };
    let mut timeout = None;
    let mut kept = Vec::new();
    for option in query.split('&') {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        if !name.eq_ignore_ascii_case(SOCKET_TIMEOUT) {
            kept.push(option);
            continue;
        }
        let Ok(milliseconds) = value.parse::<u64>() else {
            return Err(format!("`{SOCKET_TIMEOUT}` must be a number of milliseconds"));
        };
        // 0 is the usual word for without end.
        timeout = (milliseconds > 0).then(|| Duration::from_millis(milliseconds));
    }
    if kept.is_empty() {
        return Ok((address.to_owned(), timeout));
    }
    Ok((format!("{address}?{}", kept.join("&")), timeout))
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_testing::assert_contains;

    fn environment(name: &str) -> Option<String> {
        match name {
            "PASSWORD" => Some("p@ss/word".into()),
            "HOST" => Some("db1:27018".into()),
            "URI" => Some("mongodb://a:secret@b/c".into()),
            _ => None,
        }
    }

    #[test]
    fn variables_are_filled_in_and_encoded_where_a_password_stands() {
        let fill = |template| filled(template, &environment);
        let expected = "mongodb://u:p%40ss%2Fword@db1:27018/x";
        assert_eq!(fill("mongodb://u:${PASSWORD}@db1:27018/x").unwrap(), expected);
        // Elsewhere the host would get it in plain text.
        for template in [
            "mongodb://${HOST}/x",
            "mongodb://u:p@h/?appName=${PASSWORD}",
            "mongodb://h/${PASSWORD}",
            "${URI}/x",
        ] {
            assert!(fill(template).unwrap_err().ends_with("and not elsewhere in it"), "{template}");
        }
        assert_eq!(fill("${URI}").unwrap(), "mongodb://a:secret@b/c");
        assert_eq!(fill("mongodb://h").unwrap(), "mongodb://h");
        let expected =
            "the environment variable NOBODY is not set; set it before the program is started";
        assert_eq!(fill("mongodb://u:${NOBODY}@h").unwrap_err(), expected);
        let found = fill("mongodb://u:${PASSWORD@h").unwrap_err();
        assert_eq!(found, "`${` has no closing brace");
    }

    #[test]
    fn the_time_for_a_reply_is_taken_out_of_the_uri() {
        let take = |uri| without_socket_timeout(uri).unwrap();
        assert_eq!(
            take("mongodb://h/d?w=1&sockettimeoutms=250&tls=false"),
            ("mongodb://h/d?w=1&tls=false".into(), Some(Duration::from_millis(250)))
        );
        let found = take("mongodb://h/?socketTimeoutMS=0");
        assert_eq!(found, ("mongodb://h/".into(), None));
        assert!(without_socket_timeout("mongodb://h/?socketTimeoutMS=soon").is_err());
    }

    /// The client that is chosen for a URI, with the remark about it; or why none can be.
    fn chosen(uri: &str, client: Option<&str>) -> Result<(ClientChoice, Option<String>), String> {
        let mut settings = Settings::default();
        let named = [("uri", Some(uri)), ("client", client)];
        for (name, value) in named {
            if let Some(value) = value {
                let value = SettingValue::Text(value.into());
                settings.0.insert(name.into(), value);
            }
        }
        let settings = crate::opening::completed(&KIND, &settings).unwrap();
        let data = plimsoll_workload::DataSpec::with_records(1);
        let opening = Opening::new(&settings, &data);
        let mut target = Target::new(&opening, &|_| None).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let options = runtime.block_on(target.options()).unwrap();
        match target.choose_client(&options) {
            Ok(()) => Ok((target.client, target.instead_of_lean)),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn the_driver_stands_in_for_what_the_lean_client_lacks_unless_that_was_named() {
        let plain = "mongodb://h/d?w=1&journal=true&maxPoolSize=100000";
        assert_eq!(chosen(plain, None), Ok((ClientChoice::Lean, None)));
        assert_eq!(chosen(plain, Some("lean")), Ok((ClientChoice::Lean, None)));
        let found = chosen(plain, Some("driver"));
        assert_eq!(found, Ok((ClientChoice::Driver, None)));
        for (uri, lacks) in [
            ("mongodb://h/d?compressors=snappy", "does not compress"),
            ("mongodb://h/d?tls=true", "has no TLS"),
            ("mongodb://h/d?readPreference=nearest", "reads from the primary alone"),
            ("mongodb://h/d?readConcernLevel=snapshot", "has no sessions"),
        ] {
            let (client, note) = chosen(uri, None).unwrap();
            assert_eq!(client, ClientChoice::Driver, "{uri}");
            assert!(note.unwrap().contains(lacks), "{uri}");
            let refused = chosen(uri, Some("lean")).unwrap_err();
            assert_contains(&refused, lacks);
            assert_contains(&refused, "client: driver");
        }
        // Neither of the two can do this.
        let refused = chosen("mongodb://h/d?w=0&tls=true", None).unwrap_err();
        assert_contains(&refused, "write concern 0");
        assert_contains(&refused, "has no TLS");
    }
}
