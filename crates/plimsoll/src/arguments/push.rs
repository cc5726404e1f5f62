//! The arguments of `plimsoll push` and `plimsoll pull`, and of what sends its result at its end.

use clap::{Args, ValueHint};
use std::path::PathBuf;
use url::Url;

/// `plimsoll push`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  plimsoll push https://plimsoll.example                       the last result
  plimsoll push http://127.0.0.1:7546 filesystems 1f3a         the newest result of that name, and one by its id
  plimsoll run FILE --push https://plimsoll.example            as the last step of a run, as in a CI; `plimsoll gate` takes it, too
  plimsoll run FILE --push https://plimsoll.example --live     the server shows it while it goes on

The server is a `plimsoll serve --accept FILE`. The same result again changes nothing there, so a push that failed can be repeated.
PLIMSOLL_PUSH_TOKEN holds the token, unless --token-file names a file with it.")]
pub struct Push {
    /// The server, as `plimsoll serve` printed it, or as a proxy in front of it is reached.
    #[arg(value_hint = ValueHint::Url, value_parser = server)]
    pub url: Url,
    /// Experiments: ids or their beginnings, names, `last`, files of exported records, or bundles.
    #[arg(default_value = "last")]
    pub experiments: Vec<String>,
    /// Of what goes on, send each second what was measured, until it is over.
    #[arg(long)]
    pub live: bool,
    /// File with the token.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub token_file: Option<PathBuf>,
}

/// Where a result goes when it is there.
#[derive(Args, Debug)]
pub struct SendTo {
    /// At the end, send the result to this server, with the token in PLIMSOLL_PUSH_TOKEN.
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url, value_parser = server_in_record)]
    pub push: Option<Url>,
    /// Let that server show it while it goes on, too.
    #[arg(long, requires = "push")]
    pub live: bool,
}

/// `plimsoll pull`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  plimsoll pull http://127.0.0.1:7546                          the last result of that server, into the store
  plimsoll pull https://plimsoll.example 1f3a filesystems

What is in the store already is completed where it went on, and never replaced by something else.
PLIMSOLL_PUSH_TOKEN holds the token, where one is needed, unless --token-file names a file with it: that of the pages, or one for sending.")]
pub struct Pull {
    /// The server.
    #[arg(value_hint = ValueHint::Url, value_parser = server)]
    pub url: Url,
    /// Experiments there: ids or their beginnings, names, or `last`.
    #[arg(default_value = "last")]
    pub experiments: Vec<String>,
    /// File with the token.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub token_file: Option<PathBuf>,
}

/// The address of a server.
fn server(text: &str) -> Result<Url, String> {
    Url::parse(text)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or_else(|| "no address of a server: https://HOST or http://HOST:PORT".into())
}

/// A server to send to at the end of a run, whose command line is kept in the record: so the token is not in it.
pub fn server_in_record(text: &str) -> Result<Url, String> {
    let url = server(text)?;
    if url.query().is_some() || url.password().is_some() {
        return Err("the command is kept in the record, so the token must not be in the address: put it into PLIMSOLL_PUSH_TOKEN".into());
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_is_kept_has_no_token() {
        for fit in [
            "https://team.example",
            "http://127.0.0.1:7546/",
            "http://[::1]:9/a",
        ] {
            assert!(server_in_record(fit).is_ok(), "{fit}");
        }
        for unfit in ["http://h/?token=0123456789abcdef", "https://u:p@h"] {
            assert!(server(unfit).is_ok(), "{unfit}");
            assert!(server_in_record(unfit).is_err(), "{unfit}");
        }
        for unfit in ["team.example", "ftp://a", "", "https://"] {
            assert!(server(unfit).is_err(), "{unfit}");
            assert!(server_in_record(unfit).is_err(), "{unfit}");
        }
    }
}
