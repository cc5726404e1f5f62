//! The arguments of `plimsoll serve`.

use clap::{Args, ValueHint};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// PLIM on the keys of a telephone.
const PORT: u16 = 7546;

/// `plimsoll serve`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  plimsoll serve                                   this machine only, at http://127.0.0.1:7546/
  plimsoll serve --listen 0                        any free port, which is printed
  plimsoll serve --listen 192.168.1.4              also for others, who need the token in the printed address
  ssh -L 7546:127.0.0.1:7546 loadhost              better: a tunnel, with plimsoll serve on the other machine
  plimsoll serve results/ /mnt/ci                  also every bundle in these folders, such as a CI or other machines put there

The pages are read-only. Ctrl-C stops the server.")]
pub struct Serve {
    /// Folders whose bundles (`plimsoll bundle`) are shown beside the store. New ones appear within seconds; nothing is written there.
    #[arg(value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub folders: Vec<PathBuf>,
    /// Where to listen: an address, a port, or both; port 0 picks a free one. Addresses that others can reach require a token.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7546", value_parser = address, overrides_with = "listen")]
    pub listen: SocketAddr,
    /// File with the token that browsers must present [default: a new random token at each start].
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub token_file: Option<PathBuf>,
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let host = |text: &str| match text {
        "localhost" => Some(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        other => other
            .trim_start_matches('[')
            .trim_end_matches(']')
            .parse()
            .ok(),
    };
    if let Ok(port) = text.parse() {
        return Ok((Ipv4Addr::LOCALHOST, port).into());
    }
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    if let Some(host) = host(text) {
        return Ok((host, PORT).into());
    }
    let parts = text.rsplit_once(':');
    let both = parts.and_then(|(name, port)| Some((host(name)?, port.parse::<u16>().ok()?)));
    both.map(SocketAddr::from).ok_or_else(|| {
        format!("`{text}` is not an address of this machine: use e.g. 127.0.0.1:{PORT}, a port, or 0.0.0.0 for all addresses")
    })
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
            ("0.0.0.0", "0.0.0.0:7546"),
            ("192.168.1.4:1", "192.168.1.4:1"),
            ("::1", "[::1]:7546"),
            ("[::]", "[::]:7546"),
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
        ] {
            assert!(address(text).is_err(), "{text}");
        }
    }
}
