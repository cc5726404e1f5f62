//! A look at a server that runs by itself, before anything is stored there or here.

use super::KIND;
use super::collection::{self, Namespace};
use super::connection::{Connection, runtime};
use super::engine::reads_from_primary;
use super::messages::words;
use super::server::Server;
use super::target::Target;
use crate::opening::completed;
use crate::{EngineError, Opening};
use mongodb::bson::{Bson, Document, doc};
use mongodb::options::ClientOptions;
use plimsoll_plan::Settings;
use plimsoll_workload::{CollectionOrder, DataSpec};
use std::sync::mpsc::channel;
use std::time::Duration;

/// How long the server may take to be found, unless the settings say how long a connection may take.
const REACHED_WITHIN: Duration = Duration::from_millis(1_500);
/// How long its answers may take beyond that: a server that was found may be busy.
const ANSWERED_WITHIN: Duration = Duration::from_secs(5);

pub(super) fn look(
    settings: &Settings,
    data: &DataSpec,
    collections: &[CollectionOrder],
    actions: &[&'static str],
) -> Result<(), EngineError> {
    let mut target = target(settings, data, collections)?;
    let within = match settings.0.contains_key("connect_timeout") {
        true => target.connect_timeout,
        false => REACHED_WITHIN.min(target.connect_timeout),
    };
    target.connect_timeout = within;
    let late = target.failed(
        &format!("reaching {}", target.shown()),
        &format!(
            "no answer within {:.1} s; check that the server runs and answers, or set a longer `connect_timeout`",
            (within + ANSWERED_WITHIN).as_secs_f64()
        ),
    );
    let (tell, receiver) = channel();
    let actions = actions.to_vec();
    // A server that takes a connection and says nothing holds up this thread alone.
    std::thread::spawn(move || tell.send(ask(target, &actions)));
    receiver.recv_timeout(within + ANSWERED_WITHIN).unwrap_or(Err(late))
}

pub(super) fn remove(
    settings: &Settings,
    data: &DataSpec,
    collections: &[CollectionOrder],
) -> Result<bool, EngineError> {
    let mut target = target(settings, data, collections)?;
    let (connection, _, places) = reached(&mut target)?;
    collection::remove(&places, &connection, &target)
}

fn target(
    settings: &Settings,
    data: &DataSpec,
    collections: &[CollectionOrder],
) -> Result<Target, EngineError> {
    let settings = completed(&KIND, settings)?;
    let variable = |name: &str| std::env::var(name).ok();
    Target::new(&Opening { collections, ..Opening::new(&settings, data) }, &variable)
}

fn reached(
    target: &mut Target,
) -> Result<(Connection, ClientOptions, Vec<Namespace>), EngineError> {
    let runtime =
        runtime().map_err(|error| target.failed("making a client", &error.to_string()))?;
    let mut options = runtime.block_on(target.options())?;
    target.choose_client(&options)?;
    options.server_selection_timeout = Some(target.connect_timeout);
    let connection = Connection::open(runtime, &options, target)?;
    let places = collection::places(target, &options);
    Ok((connection, options, places))
}

fn ask(mut target: Target, actions: &[&'static str]) -> Result<(), EngineError> {
    let (connection, options, places) = reached(&mut target)?;
    let needs_primary = reads_from_primary(options.selection_criteria.as_ref());
    Server::discover(&connection, &target, needs_primary)?;
    for place in &places {
        may(&connection, &target, &options, place, actions)?;
        place.look(&connection, &target)?;
    }
    Ok(())
}

/// Whether the user may do all of this in the collection, as far as the server says what users may.
fn may(
    connection: &Connection,
    target: &Target,
    options: &ClientOptions,
    place: &Namespace,
    actions: &[&'static str],
) -> Result<(), EngineError> {
    let Some(user) =
        options.credential.as_ref().and_then(|credential| credential.username.as_deref())
    else {
        return Ok(());
    };
    let reply = connection
        .command_if_there("admin", doc! { "connectionStatus": 1, "showPrivileges": true })
        .map_err(|error| target.failed("connectionStatus", &words(&error)))?;
    let privileges = reply.ok().and_then(|answer| {
        let info = answer.get_document("authInfo").ok()?;
        info.get_array("authenticatedUserPrivileges").ok().cloned()
    });
    let Some(privileges) = privileges else {
        return Ok(());
    };
    let missing = missing(&privileges, place, actions);
    if missing.is_empty() {
        return Ok(());
    }
    let (database, collection) = (&place.database, &place.collection);
    Err(target.failed(
        &format!("using {database}.{collection}"),
        &format!(
            "the user `{user}` may not do this there: {}; give it the role readWrite on the database {database}",
            missing.join(", ")
        ),
    ))
}

/// The actions that no privilege allows in this collection.
fn missing(privileges: &[Bson], place: &Namespace, actions: &[&'static str]) -> Vec<&'static str> {
    let covers = |privilege: &Document| {
        let Ok(resource) = privilege.get_document("resource") else {
            return false;
        };
        let fits = |key, name: &str| {
            let said = resource.get_str(key);
            said.is_ok_and(|said| said.is_empty() || said == name)
        };
        resource.get_bool("anyResource").unwrap_or(false)
            || fits("db", &place.database) && fits("collection", &place.collection)
    };
    let privileges: Vec<&Document> = privileges.iter().filter_map(Bson::as_document).collect();
    let allows = |action: &str| {
        let mut covering = privileges.iter().filter(|privilege| covers(privilege));
        covering.any(|privilege| {
            let words = privilege.get_array("actions");
            words.is_ok_and(|words| words.iter().any(|word| word.as_str() == Some(action)))
        })
    };
    let missing = actions.iter().filter(|action| !allows(action));
    missing.copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mongodb::bson::bson;

    #[test]
    fn what_a_user_may_not_do_is_found_in_its_privileges() {
        let place = Namespace { database: "shop".into(), collection: "orders".into(), order: None };
        let reads = bson!({ "resource": { "db": "shop", "collection": "" }, "actions": ["find"] });
        let other =
            bson!({ "resource": { "db": "shop", "collection": "other" }, "actions": ["insert"] });
        let cluster = bson!({ "resource": { "cluster": true }, "actions": ["insert"] });
        let needed = ["find", "insert"];
        let found = |privileges: &[Bson]| missing(privileges, &place, &needed);
        assert_eq!(found(&[]), ["find", "insert"]);
        assert_eq!(found(&[reads, other, cluster]), ["insert"]);
        let all = bson!({ "resource": { "anyResource": true }, "actions": ["find", "insert"] });
        assert!(found(&[all]).is_empty());
    }
}
