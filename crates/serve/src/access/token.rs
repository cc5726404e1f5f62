//! What has to be shown: every user of this machine can reach the server.

use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use subtle::ConstantTimeEq;

/// Fewer letters could be guessed.
const SHORTEST: usize = 16;
const LONGEST: usize = 512;
/// Random bytes of a generated token.
const RANDOM_BYTES: usize = 24;

/// A token. It is never printed by accident.
#[derive(Clone)]
pub(crate) struct Token(String);

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file cannot be read.
    #[error("cannot read the token file {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error(
        "{} is no plain file: name the file of the token itself, no link, pipe or folder",
        path.display()
    )]
    NotAFile { path: PathBuf },
    /// Others can read or change it, so it is no secret.
    #[error(
        "others can read or change the token file {0}: `chmod 600 {0}`, and write a new token into it",
        path.display()
    )]
    Exposed { path: PathBuf },
    /// Another user owns it, and so knows the token.
    #[error(
        "the token file {} belongs to user {owner}: it must belong to you or root",
        path.display()
    )]
    Foreign { path: PathBuf, owner: u32 },
    /// What is in the file is none.
    #[error(
        "the token file {} holds no token: write one line of 16 to 512 letters, digits, `-`, `_`, `.` or `~` into it, such as `openssl rand -hex 24` prints",
        path.display()
    )]
    Unfit { path: PathBuf },
    /// The system has no random numbers.
    #[error("the system gives no random numbers for a token ({0}): name a file with --token-file")]
    Random(String),
}

impl Token {
    /// Reads the one line of a file that only its owner can read.
    pub(crate) fn read(path: &Path) -> Result<Self, TokenError> {
        let unreadable =
            |source: io::Error| TokenError::Unreadable { path: path.to_owned(), source };
        let mut text = String::new();
        File::from(open_private(path)?)
            .take(LONGEST as u64 + 2)
            .read_to_string(&mut text)
            .map_err(unreadable)?;
        Self::parse(text.trim_ascii()).ok_or_else(|| TokenError::Unfit { path: path.to_owned() })
    }

    /// The one in this file, made the first time. Where no file can be made it is another one each time.
    pub(crate) fn kept(path: &Path) -> Result<Self, TokenError> {
        let token = Self::random()?;
        let made = File::options()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
            .and_then(|mut file| writeln!(file, "{}", token.text()));
        match made {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Self::read(path),
            Ok(()) | Err(_) => Ok(token),
        }
    }

    /// Letters that stand for themselves in an address and in a cookie, and so many that they cannot be guessed.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
        let is_token = (SHORTEST..=LONGEST).contains(&text.len()) && text.bytes().all(is_plain);
        is_token.then(|| Self(text.to_owned()))
    }

    pub(crate) fn random() -> Result<Self, TokenError> {
        let mut bytes = [0; RANDOM_BYTES];
        getrandom::fill(&mut bytes).map_err(|error| TokenError::Random(error.to_string()))?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Whether it is this one. How long that takes says nothing about where they differ.
    pub(crate) fn is(&self, shown: &str) -> bool {
        self.0.as_bytes().ct_eq(shown.as_bytes()).into()
    }

    /// For the address that is printed and for the cookie.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

/// A plain file that belongs to us or to root, and to nobody else. What is looked at is what was opened, and nothing keeps us waiting.
fn open_private(path: &Path) -> Result<OwnedFd, TokenError> {
    let unreadable =
        |errno: Errno| TokenError::Unreadable { path: path.to_owned(), source: errno.into() };
    let not_a_file = || TokenError::NotAFile { path: path.to_owned() };
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = open(path, flags, Mode::empty()).map_err(|errno| match errno {
        Errno::LOOP | Errno::NXIO => not_a_file(),
        other => unreadable(other),
    })?;
    let found = fstat(&file).map_err(unreadable)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(not_a_file());
    }
    if found.st_uid != 0 && found.st_uid != geteuid().as_raw() {
        return Err(TokenError::Foreign { path: path.to_owned(), owner: found.st_uid });
    }
    if found.st_mode & 0o077 != 0 {
        return Err(TokenError::Exposed { path: path.to_owned() });
    }
    Ok(file)
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_testing::assert_contains;
    use rustix::fs::{CWD, Uid, chmod, chown, mknodat};

    /// Takes everybody else's rights away.
    fn only_ours(path: &Path) {
        chmod(path, Mode::RUSR | Mode::WUSR).unwrap();
    }

    #[test]
    fn tokens_are_random_and_not_shown() {
        let (one, other) = (Token::random().unwrap(), Token::random().unwrap());
        assert_eq!(one.text().len(), 2 * RANDOM_BYTES);
        assert!(one.is(one.text()) && !one.is(other.text()));
        assert!(!one.is(&one.text()[1..]) && !one.is(""));
        assert!(!format!("{one:?}").contains(one.text()));
    }

    #[test]
    fn a_file_must_hold_one_plain_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        std::fs::write(&path, "0123456789abcdef\n").unwrap();
        only_ours(&path);
        assert_eq!(Token::read(&path).unwrap().text(), "0123456789abcdef");
        for unfit in
            ["", "short", "0123456789abcdef two", "0123456789abcdefé", "0123456789\nabcdefgh"]
        {
            std::fs::write(&path, unfit).unwrap();
            assert!(matches!(Token::read(&path), Err(TokenError::Unfit { .. })), "{unfit}");
        }
        std::fs::write(&path, "x".repeat(LONGEST + 1)).unwrap();
        assert!(Token::read(&path).is_err());
        let missing = Token::read(&folder.path().join("none")).unwrap_err();
        assert_contains(&missing, "none");
    }

    #[test]
    fn a_token_that_was_made_is_kept_for_the_next_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let first = Token::kept(&path).unwrap();
        assert!(Token::kept(&path).unwrap().is(first.text()));
        chmod(&path, Mode::from_raw_mode(0o644)).unwrap();
        let refused = Token::kept(&path).unwrap_err();
        assert!(matches!(refused, TokenError::Exposed { .. }), "{refused}");
        let nowhere = Path::new("/proc/no/token");
        let another = Token::kept(nowhere).unwrap();
        assert!(!Token::kept(nowhere).unwrap().is(another.text()));
    }

    /// A file that others could read was accepted, and a pipe in its place kept the program waiting forever.
    #[test]
    fn a_file_that_is_no_secret_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        std::fs::write(&path, "0123456789abcdef\n").unwrap();
        for mode in [0o644, 0o640, 0o604, 0o620, 0o602, 0o601] {
            chmod(&path, Mode::from_raw_mode(mode)).unwrap();
            let refused = Token::read(&path).unwrap_err();
            assert!(matches!(refused, TokenError::Exposed { .. }), "{mode:o}");
            let said = refused.to_string();
            assert_contains(&said, &format!("`chmod 600 {}`", path.display()));
        }
        for mode in [0o600, 0o400] {
            chmod(&path, Mode::from_raw_mode(mode)).unwrap();
            assert!(Token::read(&path).is_ok(), "{mode:o}");
        }
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let pipe = folder.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        for odd in [link.as_path(), &pipe, folder.path(), Path::new("/dev/zero")] {
            let refused = Token::read(odd).unwrap_err();
            assert!(matches!(refused, TokenError::NotAFile { .. }), "{refused}");
        }
        if geteuid().is_root() {
            chown(&path, Some(Uid::from_raw(65534)), None).unwrap();
            let refused = Token::read(&path).unwrap_err();
            assert!(matches!(refused, TokenError::Foreign { owner: 65534, .. }), "{refused}");
        }
    }
}
