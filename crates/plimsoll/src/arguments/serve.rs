//! The arguments of `plimsoll serve`.

use clap::{Args, ValueHint};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// PLIM on the keys of a telephone.
const PORT: u16 = 7546;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  plimsoll serve                                   at http://127.0.0.1:7546/, with the token in the printed address
  plimsoll serve --listen 0                        any free port, which is printed
  ssh -L 7546:127.0.0.1:7546 loadhost              from another machine: a tunnel, with plimsoll serve on this one
  plimsoll serve results/ /mnt/ci                  also every bundle in these folders, such as a CI or other machines put there

The pages are read-only. Ctrl-C stops the server.")]
pub struct Serve {
    /// Folders whose bundles (`plimsoll bundle`) are shown beside the store. New ones appear within seconds; nothing is written there.
    #[arg(value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub folders: Vec<PathBuf>,
    /// Where to listen: an address of this machine alone, a port, or both; port 0 picks a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7546", value_parser = address, overrides_with = "listen")]
    pub listen: SocketAddr,
    /// File with the token that browsers must present [default: one made at the first start, kept beside the store].
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub token_file: Option<PathBuf>,
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let host = |text: &str| match text {
        "localhost" => Some(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        other => other.trim_start_matches('[').trim_end_matches(']').parse().ok(),
    };
    let both = || {
        let (name, port) = text.rsplit_once(':')?;
        Some(SocketAddr::from((host(name)?, port.parse::<u16>().ok()?)))
    };
    let port = text.parse::<u16>().ok();
    let address = port
        .map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
        .or_else(|| text.parse().ok())
        .or_else(|| Some((host(text)?, PORT).into()))
        .or_else(both);
    match address {
        None => Err(format!(
            "`{text}` is not an address of this machine: use e.g. 127.0.0.1:{PORT}, or a port"
        )),
        Some(address) if !address.ip().is_loopback() => Err(format!(
            "{text} can be reached from other machines. The server listens on this machine alone: open a tunnel from the other one, `ssh -L {PORT}:127.0.0.1:{PORT} HOST`, or put a proxy in front that speaks TLS and knows its users (docs/serve.md)"
        )),
        Some(address) => Ok(address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_a_port_or_both() {
        for (text, expected) in [
            ("0", "127.0.0.1:0"),
            ("8080", "127.0.0.1:8080"),
            ("localhost", "127.0.0.1:7546"),
            ("localhost:80", "127.0.0.1:80"),
            ("127.0.0.2:1", "127.0.0.2:1"),
            ("::1", "[::1]:7546"),
            ("[::1]:9", "[::1]:9"),
        ] {
            assert_eq!(address(text).unwrap().to_string(), expected, "{text}");
        }
        for text in [
            "",
            "70000",
            "example.org",
            "example.org:80",
            "127.0.0.1:x",
            "localhost:",
            "0.0.0.0",
            "192.168.1.4:1",
            "[::]",
        ] {
            assert!(address(text).is_err(), "{text}");
        }
    }
}
