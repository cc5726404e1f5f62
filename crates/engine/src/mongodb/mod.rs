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
//! | `engine` | the trait [`Engine`](crate::Engine) |
//! | `driver` | sessions by the official driver |
//! | `lean` | sessions by the lean client |
//! | `statistics`, `status` | the server's figures, from serverStatus |

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
mod lean;
#[cfg(feature = "mongodb")]
mod messages;
#[cfg(feature = "mongodb")]
mod server;
#[cfg(feature = "mongodb")]
mod statistics;
#[cfg(feature = "mongodb")]
mod status;
#[cfg(feature = "mongodb")]
mod target;

pub(crate) use catalogue::KIND;
#[cfg(feature = "mongodb")]
pub(crate) use engine::open;

#[cfg(not(feature = "mongodb"))]
pub(crate) fn open(_: &crate::Opening<'_>) -> Result<Box<dyn crate::Engine>, crate::EngineError> {
    Err(crate::EngineError::NotBuilt {
        name: KIND.name.into(),
    })
}
