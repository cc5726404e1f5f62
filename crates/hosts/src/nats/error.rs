//! What can go wrong before there is a carrier.

use crate::nats::LEASE;
use std::path::PathBuf;

/// Why an agent cannot join, or a controller cannot attach. No text of it contains a password.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NatsError {
    /// No address, or one that is no URL.
    #[error(
        "invalid NATS address ({number}): {reason}; write it as nats://HOST:PORT or tls://HOST:PORT"
    )]
    Address { number: usize, reason: String },
    /// A file of the settings cannot be read, or holds something else.
    #[error("cannot use {}: {reason}", path.display())]
    File { path: PathBuf, reason: String },
    #[error("NATS cannot be reached at {addresses}: {reason}")]
    Unreachable {
        /// The addresses in the settings, without user and password.
        addresses: String,
        /// What the connection failed with.
        reason: String,
    },
    /// The server does not accept these credentials, or wants some.
    #[error("NATS at {addresses} refused the credentials ({credentials})")]
    Refused {
        /// The addresses in the settings, without user and password.
        addresses: String,
        /// Which kind they are of, and the file with them.
        credentials: String,
    },
    /// The server lacks what is needed.
    #[error("NATS server {version} is too old: 2.12 or later is needed")]
    TooOld {
        /// As the server reports it.
        version: String,
    },
    #[error(
        "NATS has no JetStream ({reason}): start nats-server with --jetstream, and enable it for the account"
    )]
    NoJetStream { reason: String },
    /// The server takes only shorter messages than the longest packet.
    #[error(
        "the NATS server limits messages to {allowed} bytes, {needed} are needed: raise its max_payload"
    )]
    ShortMessages {
        /// The limit of the server.
        allowed: usize,
        /// The longest message that is sent.
        needed: usize,
    },
    /// An agent may not make what a controller makes.
    #[error(
        "NATS is not set up for agents yet, and this agent lacks the permission: list the agents once from the controller ({reason})"
    )]
    NotSetUp {
        /// What the attempt ended with.
        reason: String,
    },
    /// A name that cannot be used.
    #[error("invalid agent name {0:?}: use 1 to 64 letters, digits, - and _")]
    Name(String),
    /// Another agent has the name.
    #[error("an agent named {0} is already connected; choose another name or stop that agent")]
    NameTaken(String),
    /// The card is longer than a lease may be.
    #[error("the agent card has {length} bytes, at most {longest} are allowed")]
    LongCard {
        /// How long it is, bytes.
        length: usize,
        /// How long it may be, bytes.
        longest: usize,
    },
    /// There is none of this name.
    #[error("there is no agent {name}; {}", those(present))]
    NoSuchAgent {
        /// The one that was requested.
        name: String,
        /// The names of the present agents, sorted.
        present: Vec<String>,
    },
    /// An agent serves one controller at a time.
    #[error("agent {name} is busy: controller {controller} is attached")]
    Busy { name: String, controller: String },
    /// It holds a lease, and does not answer.
    #[error("agent {name} does not answer, although it was there less than {} s ago", LEASE.as_secs())]
    Silent { name: String },
    /// A request to NATS failed.
    #[error("cannot {what}: {reason}")]
    Request {
        /// What was to be done.
        what: &'static str,
        reason: String,
    },
    /// The server does not let these credentials do that.
    #[error(
        "cannot {what}: NATS denies it ({reason}); check that the credentials belong to this agent or controller"
    )]
    Forbidden {
        /// What was to be done.
        what: &'static str,
        /// What is forbidden, in the words of the server.
        reason: String,
    },
    /// No key can be made.
    #[error("cannot make a key for {whose}: {reason}")]
    Key {
        /// The agent, or the controller.
        whose: String,
        reason: String,
    },
}

fn those(present: &[String]) -> String {
    match present {
        [] => "no agent is present".to_owned(),
        [one] => format!("only {one} is present"),
        several => format!("present are {}", several.join(", ")),
    }
}

/// An error with its causes, in one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        // Some libraries repeat their causes in their own text.
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

pub(crate) fn request<E: std::error::Error>(what: &'static str) -> impl Fn(E) -> NatsError {
    move |error| NatsError::Request { what, reason: chain(&error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_agent_is_named_with_those_that_are_present() {
        let describe = |present: &[&str]| {
            let present = present.iter().map(|&name| name.to_owned()).collect();
            let name = "x".to_owned();
            NatsError::NoSuchAgent { name, present }.to_string()
        };
        assert_eq!(describe(&[]), "there is no agent x; no agent is present");
        assert_eq!(describe(&["a"]), "there is no agent x; only a is present");
        assert_eq!(describe(&["a", "b"]), "there is no agent x; present are a, b");
    }
}
