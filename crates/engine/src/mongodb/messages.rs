//! What the server or the driver says when something fails, and what to do about it.

use mongodb::error::{Error, ErrorKind, WriteFailure};

/// An error in one line, with advice where the cause is known.
pub fn words(error: &Error) -> String {
    let said = match &*error.kind {
        ErrorKind::Command(command) => {
            server_words(command.code, &command.code_name, &command.message)
        }
        ErrorKind::Write(WriteFailure::WriteError(write)) => {
            server_words(write.code, write.code_name.as_deref().unwrap_or_default(), &write.message)
        }
        ErrorKind::Write(WriteFailure::WriteConcernError(concern)) => format!(
            "the write concern was not met: {}",
            server_words(concern.code, &concern.code_name, &concern.message)
        ),
        ErrorKind::InsertMany(many) => many_words(many),
        ErrorKind::Io(io) => io.to_string(),
        // What we say ourselves where the driver has no words.
        ErrorKind::Custom(_) => match error.get_custom::<String>() {
            Some(said) => said.clone(),
            None => error.to_string(),
        },
        other => other.to_string(),
    };
    let advice = advice(error, &said);
    let said = match &*error.kind {
        ErrorKind::ServerSelection { .. } => causes(&said),
        _ => said,
    };
    match advice {
        Some(advice) => format!("{said}; {advice}"),
        None => said,
    }
}

/// Why servers could not be reached, each cause once, from what the driver prints of all that it knows about them.
fn causes(said: &str) -> String {
    let mut causes: Vec<&str> = Vec::new();
    for part in said.split("Error: Kind: ").skip(1) {
        let cause = part.split(", labels: ").next().unwrap_or(part).trim();
        if !causes.contains(&cause) {
            causes.push(cause);
        }
    }
    match causes.as_slice() {
        [] => said.split(" Topology: ").next().unwrap_or(said).into(),
        some => some.join("; "),
    }
}

fn many_words(many: &mongodb::error::InsertManyError) -> String {
    if let Some(errors) = &many.write_errors
        && let Some(first) = errors.first()
    {
        let said = server_words(
            first.code,
            first.code_name.as_deref().unwrap_or_default(),
            &first.message,
        );
        return format!("{} of the batch failed, the first: {said}", errors.len());
    }
    match &many.write_concern_error {
        Some(concern) => format!(
            "the write concern was not met: {}",
            server_words(concern.code, &concern.code_name, &concern.message)
        ),
        None => "the batch failed".into(),
    }
}

fn server_words(code: i32, name: &str, message: &str) -> String {
    if name.is_empty() {
        return format!("{message} (code {code})");
    }
    format!("{message} ({name}, code {code})")
}

/// The code that the server gave, if it is the server that refused.
pub(super) fn code(error: &Error) -> Option<i32> {
    match &*error.kind {
        ErrorKind::Command(command) => Some(command.code),
        ErrorKind::Write(WriteFailure::WriteError(write)) => Some(write.code),
        ErrorKind::Write(WriteFailure::WriteConcernError(concern)) => Some(concern.code),
        ErrorKind::InsertMany(many) => {
            many.write_errors.as_ref().and_then(|errors| errors.first()).map(|first| first.code)
        }
        _ => None,
    }
}

/// The user may not do it.
pub(super) const UNAUTHORIZED: i32 = 13;
/// There is no such command.
pub(super) const COMMAND_NOT_FOUND: i32 = 59;
/// The collection already exists.
pub(super) const NAMESPACE_EXISTS: i32 = 48;
/// The server knows the command, but does not implement it.
pub(super) const NOT_IMPLEMENTED: i32 = 238;
const AUTHENTICATION_FAILED: i32 = 18;
const DUPLICATE_KEY: i32 = 11_000;
/// The member is no primary, or is about to be none: the codes that drivers treat so.
const NOT_PRIMARY: [i32; 8] = [91, 189, 10_058, 10_107, 11_600, 11_602, 13_435, 13_436];

fn advice(error: &Error, said: &str) -> Option<&'static str> {
    match code(error) {
        Some(UNAUTHORIZED) => {
            return Some(
                "the user needs the role readWrite on the database, and clusterMonitor for the server's figures; without a user in `uri`, the server wants one",
            );
        }
        Some(AUTHENTICATION_FAILED) => return Some(WHO),
        Some(DUPLICATE_KEY) => {
            return Some("the record already exists; empty the collection, or use `upsert: true`");
        }
        Some(code) if NOT_PRIMARY.contains(&code) => {
            return Some("the primary has stepped down or is shutting down");
        }
        _ => {}
    }
    match &*error.kind {
        ErrorKind::Authentication { .. } => Some(WHO),
        ErrorKind::InvalidTlsConfig { .. } => {
            Some("check `tlsCAFile` and `tlsCertificateKeyFile` in `uri`")
        }
        ErrorKind::DnsResolve { .. } => Some("check the host in `uri`"),
        ErrorKind::Io(_) => {
            Some("the connection failed; see whether the server still runs, and what its log says")
        }
        ErrorKind::ServerSelection { .. } => connection_advice(said),
        _ => None,
    }
}

const WHO: &str = "check user, password and `authSource` in `uri`";

/// From the words of the operating system and the TLS library, because there is nothing else.
fn connection_advice(said: &str) -> Option<&'static str> {
    let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
    if says(&["InvalidContentType", "corrupt message"]) {
        return Some(
            "what answers does not speak TLS: take `tls=true` out of `uri`, or check the port",
        );
    }
    if says(&["invalid peer certificate", "UnknownIssuer", "CertificateRequired"]) {
        return Some("its certificate is not trusted: name the authority by `tlsCAFile` in `uri`");
    }
    if says(&["wire version"]) {
        return Some("it is older than MongoDB 4.2, which the official driver no longer speaks to");
    }
    let causes = causes(said);
    if says(&["Connection refused"])
        && causes.split("; ").any(|cause| !cause.contains("Connection refused"))
    {
        return Some(
            "on some of the addresses nothing listens, and the others answer as it stands here: correct them in `uri`",
        );
    }
    if says(&["Connection refused"]) {
        return Some("nothing listens there: start the server, or correct `uri`");
    }
    if says(&["lookup address", "resolve"]) {
        return Some("no such host: correct `uri`");
    }
    if says(&["unexpected end of file", "eof", "EOF", "Connection reset", "Broken pipe"]) {
        return Some(
            "what listens there closed the connection: the two may not agree on TLS (`tls=true` in `uri`, or not), it may have died, or be no MongoDB",
        );
    }
    if says(&["Type: RsGhost"]) {
        return Some(
            "it was started as a member of a replica set that was not initiated: initiate it; a server that plimsoll starts needs no `replSet` for that, but `server: {members: 3}`, or `server: {replica_set: true}` for a set of one",
        );
    }
    if says(&["Type: ReplicaSetNoPrimary"]) {
        return Some("its replica set has no primary: `rs.status()` says why");
    }
    // No error, and no greeting.
    if says(&["Server selection timeout"]) && !says(&["Error:"]) {
        return Some(
            "what listens there does not answer as a MongoDB does: check the port, and whether it speaks TLS (`tls=true` in `uri`)",
        );
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_driver_knows_of_its_servers_is_not_repeated() {
        let server = |cause: &str| {
            format!(
                "{{ Address: h:1, Type: Unknown, Error: Kind: I/O error: {cause}, labels: {{}}, source: None }}"
            )
        };
        let (refused, gone) = (server("Connection refused"), server("no route"));
        let said = format!(
            "Server selection timeout: No available servers. Topology: {{ Type: Unknown, Servers: [ {refused}, {gone}, {refused} ] }}"
        );
        assert_eq!(causes(&said), "I/O error: Connection refused; I/O error: no route");
        let silent = "Server selection timeout: No available servers. Topology: { Type: Unknown }";
        assert_eq!(causes(silent), "Server selection timeout: No available servers.");
    }

    #[test]
    fn a_server_without_a_primary_is_known_from_one_that_does_not_answer() {
        let said = |what: &str| {
            format!(
                "Server selection timeout: None of the available servers suitable for criteria ReadPreference(Primary). Topology: {{ {what} }}"
            )
        };
        let ghost = said("Type: Unknown, Servers: [ { Address: 127.0.0.1:1, Type: RsGhost } ]");
        let advice = connection_advice(&ghost).unwrap();
        assert!(advice.contains("`server: {members: 3}`"), "{advice}");
        let leaderless = said("Type: ReplicaSetNoPrimary, Set Name: rs0");
        let advice = connection_advice(&leaderless).unwrap();
        assert!(advice.contains("no primary"), "{advice}");
        let silent = said("Type: Unknown, Servers: [ { Address: 127.0.0.1:1, Type: Unknown } ]");
        let advice = connection_advice(&silent).unwrap();
        assert!(advice.contains("does not answer"), "{advice}");
    }
}
