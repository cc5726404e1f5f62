//! MongoDB, as a server behind a socket: one that the program started for the arm, or any by its URI.
//!
//! The official driver finds the server, knows TLS, users and replica sets, and administers. The sessions that are measured are its own
//! (`client: driver`) or those of a lean client (`client: lean`) that speaks to the primary which the driver found.
//!
//! | file | holds |
//! |---|---|
//! | `catalogue` | everything that can be set |
//! | `target` | the settings, checked; the URI with its password, and how it is kept out of sight |
//! | `connection` | the official driver as a blocking client, for administration |
//! | `server` | what the server is, found out once |
//! | `collection` | what is already in the collection, and the mark of what this program loads |
//! | `messages` | what server and driver say when something fails, and what to do about it |
//! | `look` | a look at a server before anything is stored |
//! | `engine` | the trait [`Engine`](crate::Engine) |
//! | `driver` | sessions by the official driver |
//! | `lean` | sessions by the lean client |
//! | `application` | collections, indexes and plans of an application's operations |
//! | `statistics`, `status` | the server's figures, from serverStatus |
//! | `replica_set` | makes a replica set of members that were just started, and sends it commands |
//! | `ftdc` | the same figures from what a mongod wrote about itself |

#[cfg(feature = "mongodb")]
mod application;
mod catalogue;
#[cfg(feature = "mongodb")]
mod collection;
#[cfg(feature = "mongodb")]
mod connection;
#[cfg(feature = "mongodb")]
mod driver;
#[cfg(feature = "mongodb")]
mod engine;
#[cfg(feature = "mongodb")]
mod ftdc;
#[cfg(feature = "mongodb")]
mod lean;
#[cfg(feature = "mongodb")]
mod lean_options;
#[cfg(feature = "mongodb")]
mod look;
#[cfg(feature = "mongodb")]
mod messages;
#[cfg(feature = "mongodb")]
mod replica_set;
#[cfg(feature = "mongodb")]
mod server;
#[cfg(feature = "mongodb")]
mod statistics;
#[cfg(feature = "mongodb")]
mod status;
#[cfg(feature = "mongodb")]
mod target;

use crate::MetricsSample;
use std::io;
use std::path::Path;

pub(crate) use catalogue::KIND;
#[cfg(feature = "mongodb")]
pub use collection::MARKS;
#[cfg(feature = "mongodb")]
pub(crate) use engine::open;
#[cfg(feature = "mongodb")]
pub use messages::words as driver_words;
#[cfg(feature = "mongodb")]
pub use target::address;

/// Name of the note in the description of a MongoDB server that says why the official driver is used although no client was named.
pub const INSTEAD_OF_LEAN: &str = "instead_of_lean";

#[cfg(not(feature = "mongodb"))]
pub(crate) fn open(_: &crate::Opening<'_>) -> Result<Box<dyn crate::Engine>, crate::EngineError> {
    Err(crate::EngineError::NotBuilt { name: KIND.name.into() })
}

/// Looks at the server that runs by itself and that these settings name, in about two seconds, and changes nothing: whether it can be reached, lets the user
/// in, takes the actions that are needed on each collection, such as `insert`, and has room there as `existing` says. The collections are those of an
/// application, or the one of the records if there are none.
pub fn look(
    settings: &plimsoll_plan::Settings,
    data: &plimsoll_workload::DataSpec,
    collections: &[plimsoll_workload::CollectionOrder],
    actions: &[&'static str],
) -> Result<(), crate::EngineError> {
    #[cfg(feature = "mongodb")]
    return look::look(settings, data, collections, actions);
    #[cfg(not(feature = "mongodb"))]
    {
        let _ = (settings, data, collections, actions);
        Ok(())
    }
}

/// Removes what this program loaded into these collections of an application, or into the one of the records, with the marks of them. Says whether there was anything. What it cannot prove to have
/// loaded is left alone, and is an error.
pub fn remove(
    settings: &plimsoll_plan::Settings,
    data: &plimsoll_workload::DataSpec,
    collections: &[plimsoll_workload::CollectionOrder],
) -> Result<bool, crate::EngineError> {
    #[cfg(feature = "mongodb")]
    return look::remove(settings, data, collections);
    #[cfg(not(feature = "mongodb"))]
    {
        let _ = (settings, data, collections);
        Ok(false)
    }
}

/// What a replica set is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOrder {
    /// Be made of `mongod`s that were just started with `--replSet=plimsoll`: it is waited until the first is the primary and all others are
    /// secondaries. Their addresses are sent whenever they change.
    Initiate,
    /// Tell host and port of the primary, as soon as there is one that takes writes.
    Primary,
    StepDown,
    /// Come together: it is waited until there is a primary and all others are secondaries.
    Whole,
}

/// Has the replica set of these members, named by host and port with commas between them, carry out an order, and waits for that, without
/// end. Its lines go to `output`.
pub fn replica_set(
    order: SetOrder,
    members: &str,
    output: &mut impl std::io::Write,
) -> Result<(), String> {
    #[cfg(feature = "mongodb")]
    return replica_set::replica_set(order, members, output);
    #[cfg(not(feature = "mongodb"))]
    {
        let _ = (order, members, output);
        let name = KIND.name.into();
        Err(crate::EngineError::NotBuilt { name }.to_string())
    }
}

/// The metrics that a mongod wrote about itself into `diagnostic.data` of this data directory. Chunks that are damaged or cut off are left
/// out. Of several members there are none: which of them was queried, and when, nobody wrote down. Without the feature `mongodb` there are none.
pub(crate) fn own_metrics(data_directory: &Path) -> io::Result<Vec<MetricsSample>> {
    let directory = data_directory.join("diagnostic.data");
    #[cfg(feature = "mongodb")]
    if directory.is_dir() {
        return ftdc::samples(&directory);
    }
    let _ = directory;
    Ok(Vec::new())
}
