//! The configuration of a NATS server in which each agent is confined to its own subjects.

use crate::nats::NatsError;
use crate::nats::subjects::{AGENTS, CONTROLLER, FRAMES, check_name, frames, inbox, of_agent};
use nkeys::{KeyPair, KeyPairType};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

/// Where the server listens, and where it keeps its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSettings {
    pub listen: String,
    pub store_dir: PathBuf,
}

/// An agent that the server lets in.
#[derive(Clone, PartialEq, Eq)]
pub struct Member {
    /// The name under which it joins.
    pub name: String,
    /// The seed of its nkey, where it has one already. Otherwise it gets a new one.
    pub seed: Option<String>,
}

/// What has to be written into files. Seeds are secrets: a file with one should be readable by its owner alone.
#[derive(Clone, PartialEq, Eq)]
pub struct Initial {
    /// The configuration of `nats-server`. There is no secret in it.
    pub config: String,
    /// The seed of the controller's nkey.
    pub controller_seed: String,
    /// The name of each agent, and the seed of its nkey.
    pub agent_seeds: Vec<(String, String)>,
}

/// Makes the configuration of a server with JetStream and one account, in which the controller and each agent have an nkey. An agent may renew its
/// own lease, receive what is sent to it, and send its own frames, and nothing else.
///
/// To add an agent later, give the seeds that are there.
pub fn init(
    server: &ServerSettings,
    controller_seed: Option<&str>,
    agents: &[Member],
) -> Result<Initial, NatsError> {
    let mut names = BTreeSet::new();
    for Member { name, .. } in agents {
        check_name(name)?;
        if !names.insert(name) {
            return Err(NatsError::NameTaken(name.clone()));
        }
    }
    let (controller_key, controller_seed) = key("the controller", controller_seed)?;
    let mut agent_seeds = Vec::new();
    let mut users = vec![controller(&controller_key)];
    for Member { name, seed } in agents {
        let (key, seed) = key(&format!("agent {name}"), seed.as_deref())?;
        users.push(agent(&key, name));
        agent_seeds.push((name.clone(), seed));
    }
    let listen = quoted(&server.listen);
    let store_dir = quoted(&server.store_dir.to_string_lossy());
    let config = format!(
        "# nats-server 2.12 or later: nats-server --config THIS_FILE
# Across a network that others use, add tls {{ cert_file: \"...\", key_file: \"...\" }}, and reach it by tls://HOST:PORT.
listen: {listen}
jetstream {{
  store_dir: {store_dir}
}}
accounts {{
  PLIMSOLL {{
    jetstream: enabled
    users: [
{}    ]
  }}
}}
",
        users.concat()
    );
    Ok(Initial { config, controller_seed, agent_seeds })
}

fn key(whose: &str, seed: Option<&str>) -> Result<(String, String), NatsError> {
    let unfit = |reason: String| NatsError::Key { whose: whose.to_owned(), reason };
    let pair = match seed {
        None => KeyPair::new_user(),
        Some(seed) => KeyPair::from_seed(seed.trim()).map_err(|error| unfit(error.to_string()))?,
    };
    if pair.key_pair_type() != KeyPairType::User {
        return Err(unfit("its seed is none of a user".to_owned()));
    }
    let seed = pair.seed().map_err(|error| unfit(error.to_string()))?;
    Ok((pair.public_key(), seed))
}

fn controller(key: &str) -> String {
    let publish = [
        "plimsoll.agent.*.attach",
        "plimsoll.agent.*.*.to",
        "$JS.API.>",
        // The pace of an ordered consumer.
        &format!("$JS.FC.{FRAMES}.>"),
        &format!("$JS.FC.KV_{AGENTS}.>"),
    ]
    .map(str::to_owned);
    let subscribe = [format!("{}.>", inbox(CONTROLLER))];
    user("the controller", key, &publish, &subscribe, false)
}

fn agent(key: &str, name: &str) -> String {
    let lease = format!("$KV.{AGENTS}.{name}");
    let publish = [
        format!("$JS.API.STREAM.INFO.KV_{AGENTS}"),
        format!("$JS.API.DIRECT.GET.KV_{AGENTS}.{lease}"),
        lease,
        frames(name, "*"),
    ];
    let subscribe = [of_agent(name), format!("{}.>", inbox(name))];
    user(&format!("agent {name}"), key, &publish, &subscribe, true)
}

fn user(
    whose: &str,
    key: &str,
    publish: &[String],
    subscribe: &[String],
    is_answering: bool,
) -> String {
    let list = |subjects: &[String]| {
        let quoted: Vec<_> = subjects.iter().map(|subject| quoted(subject)).collect();
        quoted.join(", ")
    };
    let mut text = format!(
        "      # {whose}
      {{
        nkey: {key}
        permissions: {{
          publish: {{ allow: [{}] }}
          subscribe: {{ allow: [{}] }}
",
        list(publish),
        list(subscribe)
    );
    if is_answering {
        // To each message once, wherever its sender waits for the answer.
        let _ = writeln!(text, "          allow_responses: true");
    }
    text + "        }
      }
"
}

/// As a text in quotes, which the configuration writes as JSON does.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

impl std::fmt::Debug for Member {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Member").field("name", &self.name).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Initial {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Initial").field("config", &self.config).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, seed: Option<&str>) -> Member {
        Member { name: name.to_owned(), seed: seed.map(str::to_owned) }
    }

    fn server() -> ServerSettings {
        ServerSettings { listen: "127.0.0.1:4222".to_owned(), store_dir: "with \"quotes\"".into() }
    }

    #[test]
    fn seeds_stay_and_are_not_shown() {
        let first = init(&server(), None, &[member("a", None)]).unwrap();
        let seed = &first.agent_seeds[0].1;
        let more = [member("a", Some(seed)), member("b", None)];
        let second = init(&server(), Some(&first.controller_seed), &more).unwrap();
        assert_eq!(second.controller_seed, first.controller_seed);
        assert_eq!(second.agent_seeds[0], first.agent_seeds[0]);
        assert_ne!(second.agent_seeds[1].1, *seed);
        let shown = format!("{second:?} {more:?}");
        for (_, seed) in &second.agent_seeds {
            assert!(!shown.contains(seed) && !second.config.contains(seed));
        }
        assert!(second.config.contains(r#"store_dir: "with \"quotes\"""#));
    }

    #[test]
    fn what_is_unfit_is_refused() {
        let refused = |agents: &[Member]| init(&server(), None, agents).unwrap_err().to_string();
        assert!(refused(&[member("a.b", None)]).contains("a.b"));
        assert!(refused(&[member("a", None), member("a", None)]).contains("already"));
        assert!(refused(&[member("a", Some("no seed"))]).contains("agent a"));
        let of_account = KeyPair::new_account().seed().unwrap();
        assert!(refused(&[member("a", Some(&of_account))]).contains("none of a user"));
    }
}
