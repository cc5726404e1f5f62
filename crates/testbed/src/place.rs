//! Where data directories go, and whether there is room.

use crate::TestbedError;
use crate::server::User;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// On a disk, and open to everybody.
const PLACE_OF_OTHERS: &str = "/var/tmp/plimsoll/data";

/// Where data directories go when the experiment does not say: `$XDG_CACHE_HOME/plimsoll/data`, by default below `~/.cache`.
///
/// # Errors
/// [`TestbedError::NoHome`] when the environment names neither.
pub fn default_parent() -> Result<PathBuf, TestbedError> {
    default_parent_from(std::env::var_os("XDG_CACHE_HOME"), std::env::var_os("HOME"))
}

/// Where data directories of servers go when the experiment does not say: the same, unless servers run as another user who has no way
/// there, as into root's home; then `/var/tmp/plimsoll/data`.
///
/// # Errors
/// [`TestbedError::NoHome`] when the environment names no place and this is not root.
pub fn default_parent_of_servers() -> Result<PathBuf, TestbedError> {
    let parent = default_parent();
    let Some(user) = User::for_servers() else {
        return parent;
    };
    match parent {
        Ok(parent) if user.barred_at(&parent).is_none() => Ok(parent),
        _ => Ok(PathBuf::from(PLACE_OF_OTHERS)),
    }
}

fn default_parent_from(
    cache_home: Option<OsString>,
    home: Option<OsString>,
) -> Result<PathBuf, TestbedError> {
    // The XDG base directory specification says to ignore relative paths.
    let absolute =
        |value: Option<OsString>| value.map(PathBuf::from).filter(|path| path.is_absolute());
    let cache_home = match (absolute(cache_home), absolute(home)) {
        (Some(cache_home), _) => cache_home,
        (None, Some(home)) => home.join(".cache"),
        (None, None) => return Err(TestbedError::NoHome),
    };
    Ok(cache_home.join("plimsoll").join("data"))
}

/// Checks that the filesystem of a directory, which need not exist yet, has room for so many bytes of this user's.
///
/// # Errors
/// [`TestbedError::NotEnoughSpace`], or when the filesystem does not say.
pub fn require_space(directory: &Path, need_bytes: u64) -> Result<(), TestbedError> {
    let failed = |error| TestbedError::io("ask for the free space of", directory, error);
    // Relative paths end in an empty one.
    let existing = directory
        .ancestors()
        .find(|path| path.exists())
        .unwrap_or(Path::new("."));
    let status = rustix::fs::statvfs(existing).map_err(failed)?;
    let free_bytes = status.f_bavail.saturating_mul(status.f_frsize);
    if free_bytes < need_bytes {
        return Err(TestbedError::NotEnoughSpace {
            path: directory.to_owned(),
            need_bytes,
            free_bytes,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_place_follows_the_xdg_specification() {
        let path = |text: &str| Some(OsString::from(text));
        let given = default_parent_from(path("/cache"), path("/home/a")).unwrap();
        assert_eq!(given, Path::new("/cache/plimsoll/data"));
        let by_home = default_parent_from(path("relative"), path("/home/a")).unwrap();
        assert_eq!(by_home, Path::new("/home/a/.cache/plimsoll/data"));
        assert!(matches!(
            default_parent_from(None, None),
            Err(TestbedError::NoHome)
        ));
    }

    #[test]
    fn room_is_asked_of_the_nearest_directory_that_exists() {
        let parent = tempfile::tempdir().unwrap();
        let deeper = parent.path().join("not/yet/there");
        require_space(&deeper, 1).unwrap();
        match require_space(&deeper, u64::MAX).unwrap_err() {
            TestbedError::NotEnoughSpace {
                path,
                need_bytes,
                free_bytes,
            } => {
                assert_eq!((path, need_bytes), (deeper, u64::MAX));
                assert!(free_bytes > 0);
            }
            other => panic!("{other}"),
        }
        require_space(Path::new("relative"), 1).unwrap();
    }

    #[test]
    fn too_little_room_is_said_in_peoples_units() {
        let error = TestbedError::NotEnoughSpace {
            path: PathBuf::from("/data"),
            need_bytes: 3 << 30,
            free_bytes: 512 << 20,
        };
        assert_eq!(
            error.to_string(),
            "/data has 512.0 MiB free and 3.0 GiB are needed: make room, ask for less data, or name a directory on another filesystem"
        );
    }
}
