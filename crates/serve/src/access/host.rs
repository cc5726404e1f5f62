//! Which `Host` a request may name.

use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri, header};
use std::net::IpAddr;

/// The host and port that were requested, if this server answers to them: `localhost` and addresses of the loopback. Any port is right, because a tunnel has
/// another one.
pub(super) fn requested<'r>(uri: &Uri, headers: &'r HeaderMap) -> Option<&'r str> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = hosts.next()?.to_str().ok()?;
    if hosts.next().is_some() || !is_ours(host) {
        return None;
    }
    // A request for a whole address names its host twice.
    if let Some(authority) = uri.authority()
        && !authority.as_str().eq_ignore_ascii_case(host)
    {
        return None;
    }
    Some(host)
}

fn is_ours(host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else {
        return false;
    };
    // The address has no user, and a port is a number.
    let after = host.len() > authority.host().len();
    if host.contains('@') || (after && authority.port_u16().is_none()) {
        return false;
    }
    let name = authority.host();
    let address = name.trim_start_matches('[').trim_end_matches(']');
    match address.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => name.eq_ignore_ascii_case("localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_loopback_are_answered_and_others_are_not() {
        for host in
            ["127.0.0.1:7546", "127.0.0.1", "localhost:1", "LOCALHOST", "[::1]:7546", "127.8.8.8"]
        {
            assert!(is_ours(host), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:80",
            "192.168.1.4:7546",
            "0.0.0.0:7546",
            "me@127.0.0.1",
            "",
            "127.0.0.1:port",
            "[::1",
            "2130706433",
        ] {
            assert!(!is_ours(host), "{host}");
        }
    }
}
