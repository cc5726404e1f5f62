//! What of the driver's options the lean client can do.

use crate::mongo::Host;
use mongodb::options::{
    AuthMechanism, ClientOptions, ReadConcernLevel, ReadPreference, SelectionCriteria,
    ServerAddress, Tls,
};

/// Where a port is not named.
const DEFAULT_PORT: u16 = 27_017;

/// What the URI or the settings ask for that the lean client lacks, as the end of a sentence about it.
pub(super) fn lacks(options: &ClientOptions) -> Option<String> {
    let what = match options {
        ClientOptions { tls: Some(Tls::Enabled(_)), .. } => {
            "has no TLS, which `tls=true` and `mongodb+srv://` in `uri` ask for"
        }
        ClientOptions { compressors: Some(compressors), .. } if !compressors.is_empty() => {
            "does not compress, which `compressors` asks for"
        }
        ClientOptions { selection_criteria: Some(criteria), .. } if !is_primary(criteria) => {
            "reads from the primary alone, and the read preference is another"
        }
        ClientOptions { load_balanced: Some(true), .. } => {
            "does not talk through load balancers (`loadBalanced=true` in `uri`)"
        }
        ClientOptions { credential: Some(credential), .. }
            if credential.mechanism.as_ref().is_some_and(|mechanism| {
                !matches!(mechanism, AuthMechanism::ScramSha1 | AuthMechanism::ScramSha256)
            }) =>
        {
            "proves users by SCRAM alone, and `authMechanism` in `uri` is another"
        }
        ClientOptions { read_concern: Some(concern), .. }
            if concern.level == ReadConcernLevel::Snapshot =>
        {
            "has no sessions, which the read concern `snapshot` needs"
        }
        _ => return None,
    };
    Some(what.into())
}

fn is_primary(criteria: &SelectionCriteria) -> bool {
    matches!(criteria, SelectionCriteria::ReadPreference(ReadPreference::Primary))
}

/// The host of an address that the driver uses.
pub(super) fn host_of(address: &ServerAddress) -> Option<Host> {
    match address {
        ServerAddress::Tcp { host, port } => {
            Some(Host::Tcp { host: host.clone(), port: port.unwrap_or(DEFAULT_PORT) })
        }
        ServerAddress::Unix { path } => Some(Host::Unix(path.clone())),
        _ => None,
    }
}
