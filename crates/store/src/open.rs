//! Opening a store, or refusing to.

use crate::StoreError;
use crate::claim::Claims;
use crate::place::StorePath;
use crate::schema::{self, APPLICATION_ID, SCHEMA_VERSION};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use rustix::fs::FileType;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Transactions here take milliseconds; only a stopped program holds the write lock for longer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Statements kept ready, so that adding a slice parses no SQL.
const STATEMENTS_KEPT: usize = 32;

/// Records of experiments in one SQLite file.
#[derive(Debug)]
pub struct Store {
    pub(crate) connection: Connection,
    pub(crate) claims: Claims,
    pub(crate) path: PathBuf,
    _registration: Registration,
}

impl Store {
    /// `$XDG_DATA_HOME/plimsoll/plimsoll.db`, by default below `~/.local/share`.
    pub fn default_path() -> Result<PathBuf, StoreError> {
        default_path_from(std::env::var_os("XDG_DATA_HOME"), std::env::var_os("HOME"))
    }

    /// Opens a store for reading and writing, and creates it and its directory when there is none.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let place = StorePath::to_write(path)?;
        let mut open_stores = open_stores();
        if inspect(&place, &open_stores)? == FileState::Nothing {
            create_empty(&place)?;
        }
        let claims = Claims::open(&place)?;
        place.make_private()?;
        let sqlite = |error| StoreError::from_sqlite(path, error);
        let mut connection =
            connect(&place.path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(sqlite)?;
        // SQLite opens a file that it may not write for reading, without a word.
        if connection.is_readonly("main").map_err(sqlite)? {
            return Err(StoreError::ReadOnly { path: path.to_owned() });
        }
        claims.begin_set_up(TIMEOUT)?;
        bring_up_to_date(path, &mut connection)?;
        connection.pragma_update(None, "journal_mode", "WAL").map_err(sqlite)?;
        claims.end_set_up()?;
        connection.pragma_update(None, "synchronous", "NORMAL").map_err(sqlite)?;
        connection.pragma_update(None, "foreign_keys", true).map_err(sqlite)?;
        // Checkpoints flush the disk. They are made when a point is over.
        connection.pragma_update(None, "wal_autocheckpoint", 0).map_err(sqlite)?;
        let registration = register(&place, &mut open_stores)?;
        Ok(Self { connection, claims, path: path.to_owned(), _registration: registration })
    }

    /// Opens a store for reading, also where nothing can be written, and creates nothing.
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        let place = StorePath::to_read(path)?;
        let mut open_stores = open_stores();
        if inspect(&place, &open_stores)? == FileState::Nothing {
            return Err(StoreError::Missing { path: path.to_owned() });
        }
        let connection = if place.folder.is_safe() {
            connect_for_reading(&place)?
        } else {
            connect_immutable(&place)?
        };
        let claims = Claims::look(&place);
        let registration = register(&place, &mut open_stores)?;
        Ok(Self { connection, claims, path: path.to_owned(), _registration: registration })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn sqlite(&self, error: rusqlite::Error) -> StoreError {
        StoreError::from_sqlite(&self.path, error)
    }
}

fn default_path_from(
    data_home: Option<OsString>,
    home: Option<OsString>,
) -> Result<PathBuf, StoreError> {
    // The XDG base directory specification says to ignore relative paths.
    let absolute =
        |value: Option<OsString>| value.map(PathBuf::from).filter(|path| path.is_absolute());
    let data_home = match (absolute(data_home), absolute(home)) {
        (Some(data_home), _) => data_home,
        (None, Some(home)) => home.join(".local/share"),
        (None, None) => return Err(StoreError::NoHome),
    };
    Ok(data_home.join("plimsoll").join("plimsoll.db"))
}

#[derive(Debug, PartialEq, Eq)]
enum FileState {
    /// No file, an empty one, or a database without anything.
    Nothing,
    /// A store of a version that is known here.
    Store,
}

/// Looks at a file without SQLite, which would already write beside it.
fn inspect(place: &StorePath, open_stores: &OpenStores) -> Result<FileState, StoreError> {
    let path = &place.shown;
    let not_a_store = |reason| StoreError::NotAStore { path: path.to_owned(), reason };
    let io = |error| StoreError::from_io(path, error);
    let Some(about) = place.folder.stat(place.name()).map_err(io)? else {
        return Ok(FileState::Nothing);
    };
    match FileType::from_raw_mode(about.st_mode) {
        FileType::RegularFile => {}
        FileType::Directory => return Err(not_a_store("is a directory")),
        FileType::Symlink => return Err(not_a_store("is a symbolic link")),
        _ => return Err(not_a_store("is a device, pipe or socket")),
    }
    if open_stores.contains_key(&(about.st_dev, about.st_ino)) {
        return Ok(FileState::Store);
    }
    if about.st_size == 0 {
        return Ok(FileState::Nothing);
    }
    let mut bytes = [0; 100];
    let read =
        place.folder.open_to_read(place.name()).and_then(|mut file| file.read_exact(&mut bytes));
    match read {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            return Err(not_a_store("is too short for a database"));
        }
        Err(source) => {
            return Err(StoreError::Io { path: path.to_owned(), source });
        }
    }
    let header =
        schema::read_header(&bytes).ok_or_else(|| not_a_store("is not a SQLite database"))?;
    // A store that is being made at this moment, or whose maker died. While it is made it has no log.
    if header.is_empty() && !has_log(place) {
        return Ok(FileState::Nothing);
    }
    if header.application_id != APPLICATION_ID {
        return Err(not_a_store("is the SQLite database of another program"));
    }
    check_version(path, header.user_version)?;
    Ok(FileState::Store)
}

fn check_version(path: &Path, found: u32) -> Result<(), StoreError> {
    if found > SCHEMA_VERSION {
        return Err(StoreError::Newer { path: path.to_owned(), found, known: SCHEMA_VERSION });
    }
    Ok(())
}

/// Makes an empty file, for the sake of a clear error where that is not possible, and so that it is for its owner alone.
fn create_empty(place: &StorePath) -> Result<(), StoreError> {
    let made = place.folder.open(place.name());
    made.map_err(|error| StoreError::from_io(&place.shown, error))?;
    Ok(())
}

fn connect(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags)?;
    // A store may come from a stranger: what its schema says runs nothing that could harm, and nothing writes past SQLite's own rules.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.busy_timeout(TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    Ok(connection)
}

fn bring_up_to_date(path: &Path, connection: &mut Connection) -> Result<(), StoreError> {
    let sqlite = |error| StoreError::from_sqlite(path, error);
    // The header that was inspected may be older than what is in the write-ahead log.
    let found = schema::version(connection).map_err(sqlite)?;
    check_version(path, found)?;
    if found < SCHEMA_VERSION {
        schema::migrate(connection).map_err(sqlite)?;
    }
    // A view or a trigger in the place of a table may do anything, or never end.
    if !schema::is_ours(connection).map_err(sqlite)? {
        return Err(StoreError::NotAStore {
            path: path.to_owned(),
            reason: "has other tables than plimsoll makes",
        });
    }
    Ok(())
}

fn connect_for_reading(place: &StorePath) -> Result<Connection, StoreError> {
    let path = &place.shown;
    let sqlite = |error| StoreError::from_sqlite(path, error);
    // Readers of a write-ahead log register in a shared file beside it. Opened for writing where that is allowed, SQLite also tidies
    // these files away again.
    let opened = connect(&place.path, OpenFlags::SQLITE_OPEN_READ_WRITE)
        .and_then(|connection| schema::version(&connection).map(|_| connection));
    let mut connection = match opened {
        Ok(connection) => connection,
        Err(error) if needs_write_access(&error) => return connect_immutable(place),
        Err(error) => return Err(sqlite(error)),
    };
    bring_up_to_date(path, &mut connection)?;
    // Who only reads makes no files elsewhere: what is sorted is small.
    for (pragma, value) in [("query_only", "true"), ("temp_store", "memory")] {
        connection.pragma_update(None, pragma, value).map_err(sqlite)?;
    }
    Ok(connection)
}

fn needs_write_access(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied)
    )
}

/// For a file in a place where nothing can be written. SQLite then reads the file alone, so its log must be empty.
fn connect_immutable(place: &StorePath) -> Result<Connection, StoreError> {
    let path = &place.shown;
    if has_log(place) {
        return Err(StoreError::Unmerged { path: path.to_owned() });
    }
    let sqlite = |error| StoreError::from_sqlite(path, error);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let mut connection = connect(Path::new(&immutable_uri(&place.path)), flags).map_err(sqlite)?;
    bring_up_to_date(path, &mut connection)?;
    Ok(connection)
}

/// Whether there is something in the write-ahead log.
fn has_log(place: &StorePath) -> bool {
    let about = place.folder.stat(&place.beside("-wal"));
    about.is_ok_and(|about| about.is_some_and(|about| about.st_size > 0))
}

/// <https://sqlite.org/uri.html>: everything but letters, digits and a few signs is written as a percent sign and two digits.
fn immutable_uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(*byte))
            }
            _ => uri.push_str(&format!("%{byte:02x}")),
        }
    }
    uri.push_str("?immutable=1");
    uri
}

/// How often each file, by device and inode, is open in this process.
///
/// SQLite's locks are POSIX locks, and a process loses all of them on a file when it closes *any* descriptor of that file
/// (<https://sqlite.org/howtocorrupt.html>, section 2.2). [`inspect`] opens and closes the file, so it must not do that to a store that
/// is open elsewhere in this process.
type OpenStores = BTreeMap<(u64, u64), usize>;

static OPEN_STORES: Mutex<OpenStores> = Mutex::new(BTreeMap::new());

fn open_stores() -> MutexGuard<'static, OpenStores> {
    OPEN_STORES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts a store as open in this process until it is dropped.
#[derive(Debug)]
struct Registration(u64, u64);

fn register(place: &StorePath, open_stores: &mut OpenStores) -> Result<Registration, StoreError> {
    let metadata =
        place.path.metadata().map_err(|error| StoreError::from_io(&place.shown, error))?;
    let file = (metadata.dev(), metadata.ino());
    *open_stores.entry(file).or_default() += 1;
    Ok(Registration(file.0, file.1))
}

impl Drop for Registration {
    fn drop(&mut self) {
        let mut open_stores = open_stores();
        let file = (self.0, self.1);
        if let Some(count) = open_stores.get_mut(&file) {
            *count -= 1;
            if *count == 0 {
                open_stores.remove(&file);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_testing::assert_err;

    fn path(text: &str) -> Option<OsString> {
        Some(OsString::from(text))
    }

    #[test]
    fn the_default_place_follows_the_xdg_specification() {
        let given = default_path_from(path("/data"), path("/home/a")).unwrap();
        assert_eq!(given, Path::new("/data/plimsoll/plimsoll.db"));
        let by_home = default_path_from(None, path("/home/a")).unwrap();
        let expected = Path::new("/home/a/.local/share/plimsoll/plimsoll.db");
        assert_eq!(by_home, expected);
        let relative_is_ignored = default_path_from(path("data"), path("/home/a")).unwrap();
        assert_eq!(relative_is_ignored, by_home);
        assert_err!(default_path_from(path(""), None), StoreError::NoHome);
    }

    #[test]
    fn paths_with_signs_of_their_own_in_uris_are_escaped() {
        let expected = "file:/a%20b/50%25%3f%23.db?immutable=1";
        assert_eq!(immutable_uri(Path::new("/a b/50%?#.db")), expected);
    }
}
