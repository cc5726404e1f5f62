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

The server is a `plimsoll serve --accept FILE`. The same result again changes nothing there, so a push that failed can be repeated.
PLIMSOLL_PUSH_TOKEN holds the token, unless --token-file names a file with it.")]
pub struct Push {
    /// The server, as `plimsoll serve` printed it, or as a proxy in front of it is reached.
    #[arg(value_hint = ValueHint::Url)]
    pub url: String,
    /// Experiments: ids or their beginnings, names, `last`, files of exported records, or bundles.
    #[arg(default_value = "last")]
    pub experiments: Vec<String>,
    /// File with the token.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub token_file: Option<PathBuf>,
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
    #[arg(value_hint = ValueHint::Url)]
    pub url: String,
    /// Experiments there: ids or their beginnings, names, or `last`.
    #[arg(default_value = "last")]
    pub experiments: Vec<String>,
    /// File with the token.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub token_file: Option<PathBuf>,
}

/// A server to send to at the end of a run, whose command line is kept in the record: so the token is not in it.
pub fn server(text: &str) -> Result<String, String> {
    match Url::parse(text) {
        Ok(url) if url.query().is_some() || url.password().is_some() => Err(
            "the command is kept in the record, so the token must not be in the address: put it into PLIMSOLL_PUSH_TOKEN".into(),
        ),
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(text.to_owned()),
        _ => Err(format!("`{text}` is no address of a server: https://HOST or http://HOST:PORT")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_a_token() {
        for fit in [
            "https://team.example",
            "http://127.0.0.1:7546/",
            "http://[::1]:9/a",
        ] {
            assert_eq!(server(fit).as_deref(), Ok(fit));
        }
        for unfit in [
            "team.example",
            "ftp://a",
            "http://h/?token=0123456789abcdef",
            "https://u:p@h",
        ] {
            assert!(server(unfit).is_err(), "{unfit}");
        }
    }
}
