//! A replica set whose members were started here: made, queried for its primary, and made to elect another.

use super::connection::runtime;
use super::messages::words;
use super::server;
use crate::SetOrder;
use mongodb::bson::{Document, doc};
use mongodb::error::Error;
use mongodb::options::{ClientOptions, ServerAddress};
use mongodb::{Client, Database};
use std::io::Write;
use std::time::Duration;

/// As on the command lines of the members.
const SET: &str = "plimsoll";
/// How long a member may take to be reached. It has answered before.
const REACH: Duration = Duration::from_secs(30);
/// Time between two looks at how far they are.
const LOOK: Duration = Duration::from_millis(100);

/// How long a member may take to answer before it counts as gone.
const ANSWER: Duration = Duration::from_secs(1);
/// For this long a primary that has stepped down stands for no election, seconds: longer than the others take to hold one.
const STEPPED_DOWN_SECONDS: i32 = 60;

/// Carries out an order on the set of these members. It waits without end.
pub(crate) fn replica_set(
    order: SetOrder,
    members: &str,
    output: &mut impl Write,
) -> Result<(), String> {
    let hosts: Vec<&str> = members.split(',').collect();
    let runtime = runtime().map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let reach = match order {
            SetOrder::Initiate => REACH,
            _ => ANSWER,
        };
        let mut databases = Vec::new();
        for host in &hosts {
            databases.push(administration(host, reach).map_err(|error| said(host, &error))?);
        }
        match order {
            SetOrder::Initiate => make(&hosts, &databases, output).await,
            SetOrder::Primary => {
                let place = primary(&databases).await;
                writeln!(output, "{}", hosts[place]).map_err(|error| error.to_string())
            }
            SetOrder::StepDown => {
                let place = primary(&databases).await;
                let command = doc! { "replSetStepDown": STEPPED_DOWN_SECONDS };
                let answer = databases[place].run_command(command).await;
                answer.map(drop).map_err(|error| said(hosts[place], &error))
            }
            SetOrder::Whole => {
                while !is_whole(&databases[primary(&databases).await]).await {
                    tokio::time::sleep(LOOK).await;
                }
                Ok(())
            }
        }
    })
}

/// Place of the member that takes writes now.
async fn primary(databases: &[Database]) -> usize {
    loop {
        for (place, database) in databases.iter().enumerate() {
            if takes_writes(database).await {
                return place;
            }
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Whether the primary still is one, and sees all others follow it.
async fn is_whole(primary: &Database) -> bool {
    let status = primary.run_command(doc! { "replSetGetStatus": 1 }).await;
    status.is_ok_and(|status| {
        let states = states(&status);
        let is = |word: &str| states.iter().filter(|state| *state == word).count();
        is("PRIMARY") == 1 && is("SECONDARY") + 1 == states.len()
    })
}

fn administration(host: &str, reach: Duration) -> Result<Database, Error> {
    let options = ClientOptions::builder()
        .hosts(vec![ServerAddress::parse(host)?])
        .direct_connection(true)
        .server_selection_timeout(reach)
        .connect_timeout(reach)
        .app_name("plimsoll".to_owned())
        .build();
    Ok(Client::with_options(options)?.database("admin"))
}

async fn make(
    hosts: &[&str],
    databases: &[Database],
    output: &mut impl Write,
) -> Result<(), String> {
    let (host, first) = (hosts[0], &databases[0]);
    let members: Vec<Document> =
        (0..).zip(hosts).map(|(number, host)| doc! { "_id": number, "host": *host }).collect();
    let configuration = doc! { "_id": SET, "members": members };
    let initiated = first.run_command(doc! { "replSetInitiate": configuration });
    initiated.await.map_err(|error| said(host, &error))?;
    for database in databases {
        // From version 5.0 on a member waits 15 s before it ends, for clients to leave it. Ours have left it then. Earlier ones have no such
        // parameter.
        let no_grace = doc! { "setParameter": 1, "shutdownTimeoutMillisForSignaledShutdown": 0 };
        let _: Result<Document, Error> = database.run_command(no_grace).await;
    }
    let mut last = Vec::new();
    loop {
        let status = first.run_command(doc! { "replSetGetStatus": 1 });
        let states = states(&status.await.map_err(|error| said(host, &error))?);
        if states != last {
            let line: Vec<String> =
                hosts.iter().zip(&states).map(|(host, state)| format!("{host} {state}")).collect();
            // A reader who has gone is no failure.
            let _ = writeln!(output, "{}", line.join(", "));
            last.clone_from(&states);
        }
        if !states.iter().any(|state| state == "PRIMARY") {
            // The first stands for election at once: the member that waits the shortest would do so after 10 s. It fails until the others
            // have heard of the set.
            let _: Result<Document, Error> = first.run_command(doc! { "replSetStepUp": 1 }).await;
        } else if is_complete(&states) && takes_writes(first).await {
            return Ok(());
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// What each member is, in the words of the server.
fn states(status: &Document) -> Vec<String> {
    let Ok(members) = status.get_array("members") else {
        return Vec::new();
    };
    let documents = members.iter().filter_map(|member| member.as_document());
    documents.map(|member| member.get_str("stateStr").unwrap_or("unknown").to_owned()).collect()
}

/// Whether the first is the primary and all others are secondaries.
fn is_complete(states: &[String]) -> bool {
    states.split_first().is_some_and(|(first, others)| {
        first == "PRIMARY" && others.iter().all(|state| state == "SECONDARY")
    })
}

/// A primary takes writes only a moment after it has become it. One that stands still never answers.
async fn takes_writes(member: &Database) -> bool {
    let answer =
        tokio::time::timeout(ANSWER, async { member.run_command(server::greeting()).await });
    let answer = answer.await.ok().and_then(Result::ok);
    answer.as_ref().is_some_and(server::takes_writes)
}

fn said(host: &str, error: &Error) -> String {
    format!("{host}: {}", words(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_complete_with_the_first_as_primary() {
        let states_of = |words: &[&str]| {
            let members: Vec<Document> =
                words.iter().map(|word| doc! { "stateStr": *word }).collect();
            states(&doc! { "members": members })
        };
        for (words, complete) in [
            (&["PRIMARY", "SECONDARY", "SECONDARY"][..], true),
            (&["PRIMARY"], true),
            (&["PRIMARY", "SECONDARY", "STARTUP2"], false),
            (&["SECONDARY", "PRIMARY", "SECONDARY"], false),
            (&["SECONDARY"], false),
            (&[], false),
        ] {
            assert_eq!(is_complete(&states_of(words)), complete, "{words:?}");
        }
        assert_eq!(states(&doc! { "members": [{}] }), ["unknown"]);
    }
}
