//! The sign that an agent is present: a key that vanishes unless it is renewed.

use crate::nats::connection::{Connected, REQUEST};
use crate::nats::error::{chain, request};
use crate::nats::laboratory::LONGEST_LEASE;
use crate::nats::subjects::fresh_id;
use crate::nats::{LEASE, NatsError};
use async_nats::jetstream::kv::{CreateErrorKind, Entry, Operation, Store, UpdateErrorKind};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How often it is renewed.
const RENEWAL: Duration = Duration::from_secs(1);

/// Interval of looks whether a name has become free.
const LOOK: Duration = Duration::from_millis(200);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Holder {
    /// Distinguishes two agents that want one name.
    pub(crate) instance: String,
    pub(crate) card: String,
}

/// A lease that is held.
pub(crate) struct Lease {
    store: Store,
    name: String,
    holder: Holder,
    content: Bytes,
    revision: u64,
}

impl Lease {
    /// Takes it. If the holder of the name is silent, waits until its lease is over.
    pub(crate) async fn take(store: Store, name: &str, card: String) -> Result<Self, NatsError> {
        let length = card.len();
        let holder = Holder { instance: fresh_id(), card };
        let content = serde_json::to_vec(&holder).map_err(request("write the lease"))?;
        // Quotes within the card take more in the key.
        if content.len() > LONGEST_LEASE {
            let longest = LONGEST_LEASE / 2;
            return Err(NatsError::LongCard { length, longest });
        }
        let mut lease =
            Self { store, name: name.to_owned(), holder, content: content.into(), revision: 0 };
        let mut found = None;
        // An old lease ends within its time; the server needs some of it to notice.
        let limit = Instant::now() + 2 * LEASE;
        loop {
            match lease.create().await? {
                None => return Ok(lease),
                Some(revision) => {
                    // It was renewed: its holder is alive.
                    if *found.get_or_insert(revision) != revision || Instant::now() > limit {
                        return Err(NatsError::NameTaken(name.to_owned()));
                    }
                }
            }
            sleep(LOOK).await;
        }
    }

    /// Which of all agents holds it.
    pub(crate) fn instance(&self) -> &str {
        &self.holder.instance
    }

    /// Takes it if it is free; otherwise returns its holder's revision.
    async fn create(&mut self) -> Result<Option<u64>, NatsError> {
        let error = match self.store.create(&self.name, self.content.clone()).await {
            Ok(revision) => {
                self.revision = revision;
                return Ok(None);
            }
            Err(error) => error,
        };
        if let Some(entry) = self.entry().await? {
            if self.is_ours(&entry) {
                self.revision = entry.revision;
                return Ok(None);
            }
            return Ok(Some(entry.revision));
        }
        // It vanished between the two looks.
        if error.kind() == CreateErrorKind::AlreadyExists {
            return Ok(Some(0));
        }
        Err(request("take the name of the agent")(error))
    }

    async fn entry(&self) -> Result<Option<Entry>, NatsError> {
        let entry = self.store.entry(&self.name).await.map_err(request("read a lease"))?;
        Ok(entry.filter(|entry| entry.operation == Operation::Put))
    }

    fn is_ours(&self, entry: &Entry) -> bool {
        serde_json::from_slice::<Holder>(&entry.value)
            .is_ok_and(|found| found.instance == self.holder.instance)
    }

    /// Keeps it until another agent has it. A lost lease is taken again if it is free.
    pub(crate) async fn keep(mut self, mut connected: Connected) -> NatsError {
        loop {
            tokio::select! {
                () = sleep(RENEWAL) => {}
                // At once, when a lost connection is back.
                _ = connected.connections.changed() => {}
            }
            match self.renew().await {
                Ok(()) => {}
                Err(error @ NatsError::NameTaken(_)) => return error,
                // It is tried again next time. The session notices when that has taken too long.
                Err(error) => tracing::debug!(%error, "the lease was not renewed"),
            }
        }
    }

    async fn renew(&mut self) -> Result<(), NatsError> {
        let content = self.content.clone();
        match self.store.update(&self.name, content, self.revision).await {
            Ok(revision) => {
                self.revision = revision;
                Ok(())
            }
            // Perhaps by the last attempt, whose answer was lost.
            Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => {
                match self.create().await? {
                    None => Ok(()),
                    Some(0) => Ok(()),
                    Some(_) => Err(NatsError::NameTaken(self.name.clone())),
                }
            }
            Err(error) => {
                Err(NatsError::Request { what: "renew the lease", reason: chain(&error) })
            }
        }
    }
}

/// Gives the lease back that this instance holds.
pub(crate) async fn leave(store: &Store, name: &str, instance: &str) {
    let read = async {
        let entry = store.entry(name).await.ok()??;
        let holder: Holder = serde_json::from_slice(&entry.value).ok()?;
        (entry.operation == Operation::Put && holder.instance == instance).then_some(entry.revision)
    };
    let give_back = async {
        if let Some(revision) = read.await {
            // A new holder keeps it.
            let _ = store.delete_expect_revision(name, Some(revision)).await;
        }
    };
    // Otherwise it ends by itself.
    let _ = tokio::time::timeout(REQUEST, give_back).await;
}
