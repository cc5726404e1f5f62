//! The names of all that is kept and sent.

use crate::nats::NatsError;

/// The bucket of the leases.
pub(crate) const AGENTS: &str = "plimsoll-agents";
/// The stream of what agents send.
pub(crate) const FRAMES: &str = "PLIMSOLL_FRAMES";
/// The subjects of that stream.
pub(crate) const ALL_FRAMES: &str = "plimsoll.frames.>";
/// In place of the name where the controller waits for replies. No agent can be called so.
pub(crate) const CONTROLLER: &str = "~controller";

/// The longest name of an agent, bytes.
const LONGEST_NAME: usize = 64;

/// Refuses what cannot be part of a subject or a key.
pub(crate) fn check_name(name: &str) -> Result<(), NatsError> {
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(is_fit) {
        Ok(())
    } else {
        Err(NatsError::Name(name.to_owned()))
    }
}

/// The name of a session or an instance. Nobody can infer it from others of the same process: an agent that knew the next session of another could make the
/// server take that one's messages for repetitions.
pub(crate) fn fresh_id() -> String {
    nuid::NUID::new().next().to_string()
}

/// All that is sent to an agent.
pub(crate) fn of_agent(agent: &str) -> String {
    format!("plimsoll.agent.{agent}.>")
}

pub(crate) fn attach(agent: &str) -> String {
    format!("plimsoll.agent.{agent}.attach")
}

pub(crate) fn orders(agent: &str, session: &str) -> String {
    format!("plimsoll.agent.{agent}.{session}.to")
}

pub(crate) fn frames(agent: &str, session: &str) -> String {
    format!("plimsoll.frames.{agent}.{session}")
}

/// Where one waits for replies. `~controller` or the name of an agent.
pub(crate) fn inbox(whose: &str) -> String {
    format!("_INBOX.plimsoll.{whose}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_part_of_a_subject() {
        for name in ["a", "r6g", "Bench_1-b", &"x".repeat(64)] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        for name in ["", "a.b", "*", ">", "a b", "é", CONTROLLER, &"x".repeat(65)] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
