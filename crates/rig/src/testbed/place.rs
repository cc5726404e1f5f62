//! Where data directories go, and whether there is room.

use crate::testbed::TestbedError;
use crate::testbed::privileged::HeldDirectory;
use crate::testbed::user::RunUser;
use std::path::{Path, PathBuf};

/// Where root keeps what is its own: only root can make it.
pub(crate) const PLACE_OF_ROOT: &str = "/var/lib/plimsoll";

/// Where data directories go when the experiment does not say: `$XDG_CACHE_HOME/plimsoll/data`, by default below `~/.cache`; those of root
/// below `/var/lib/plimsoll`, whosever home the environment names, and also where the user who works on the data has no way to another.
pub fn default_parent() -> Result<PathBuf, TestbedError> {
    let parent = parent_from(&Environment::here())?;
    match RunUser::here() {
        Some(user) if user.barred_at(&parent).is_some() => {
            Ok(Path::new(PLACE_OF_ROOT).join("data"))
        }
        _ => Ok(parent),
    }
}

/// Checks that no other user could change the way to a directory, as far as it exists: what is made and removed in it would not be safe.
pub fn check_place(directory: &Path) -> Result<(), TestbedError> {
    HeldDirectory::open(directory).map(drop)
}

/// The same, with all that is missing of the directory made. Returns its path without symbolic links.
pub fn make_place(directory: &Path) -> Result<PathBuf, TestbedError> {
    Ok(HeldDirectory::make(directory)?.path().to_owned())
}

/// Where programs keep what they must remember: `$XDG_STATE_HOME/plimsoll`, by default `~/.local/state/plimsoll`, or of root
/// `/var/lib/plimsoll`. Journals are in its folder `journal`.
pub fn default_state_dir() -> Result<PathBuf, TestbedError> {
    state_dir_from(&Environment::here())
}

/// What the environment says of places.
#[derive(Debug, Default)]
struct Environment {
    cache_home: Option<PathBuf>,
    state_home: Option<PathBuf>,
    home: Option<PathBuf>,
    is_root: bool,
}

impl Environment {
    fn here() -> Self {
        // The XDG base directory specification says to ignore relative paths.
        let path = |variable: &str| {
            let path = std::env::var_os(variable).map(PathBuf::from);
            path.filter(|path| path.is_absolute())
        };
        Self {
            cache_home: path("XDG_CACHE_HOME"),
            state_home: path("XDG_STATE_HOME"),
            home: path("HOME"),
            is_root: rustix::process::geteuid().is_root(),
        }
    }
}

fn parent_from(environment: &Environment) -> Result<PathBuf, TestbedError> {
    match environment {
        Environment { cache_home: Some(cache_home), .. } => Ok(cache_home.join("plimsoll/data")),
        Environment { is_root: true, .. } => Ok(Path::new(PLACE_OF_ROOT).join("data")),
        Environment { home: Some(home), .. } => Ok(home.join(".cache/plimsoll/data")),
        _ => Err(TestbedError::NoHome),
    }
}

fn state_dir_from(environment: &Environment) -> Result<PathBuf, TestbedError> {
    match environment {
        Environment { state_home: Some(state_home), .. } => Ok(state_home.join("plimsoll")),
        Environment { is_root: true, .. } => Ok(PathBuf::from(PLACE_OF_ROOT)),
        Environment { home: Some(home), .. } => Ok(home.join(".local/state/plimsoll")),
        _ => Err(TestbedError::NoStateHome),
    }
}

/// Checks that the filesystem of a directory, which need not exist yet, has room for this many bytes of this user's.
pub fn require_space(directory: &Path, need_bytes: u64) -> Result<(), TestbedError> {
    let failed = |error| TestbedError::io("ask for the free space of", directory, error);
    // Relative paths end in an empty one.
    let existing = directory.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
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
    fn default_places_follow_the_xdg_specification_and_those_of_root_are_root_s() {
        let of = |environment: Environment| {
            let found = (parent_from(&environment), state_dir_from(&environment));
            let text =
                |path: Result<PathBuf, TestbedError>| path.map(|path| path.display().to_string());
            (text(found.0).ok(), text(found.1).ok())
        };
        let pair = |data: &str, state: &str| (Some(data.to_owned()), Some(state.to_owned()));
        let home = Some(PathBuf::from("/home/a"));
        for is_root in [false, true] {
            let named = Environment {
                cache_home: Some("/cache".into()),
                state_home: Some("/state".into()),
                home: home.clone(),
                is_root,
            };
            assert_eq!(of(named), pair("/cache/plimsoll/data", "/state/plimsoll"));
        }
        let by_home =
            |is_root| Environment { home: home.clone(), is_root, ..Environment::default() };
        let of_user = pair("/home/a/.cache/plimsoll/data", "/home/a/.local/state/plimsoll");
        assert_eq!(of(by_home(false)), of_user);
        let expected = pair("/var/lib/plimsoll/data", "/var/lib/plimsoll");
        assert_eq!(of(by_home(true)), expected);
        assert_eq!(of(Environment::default()), (None, None));
    }

    #[test]
    fn room_is_asked_of_the_nearest_directory_that_exists() {
        let parent = tempfile::tempdir().unwrap();
        let deeper = parent.path().join("not/yet/there");
        require_space(&deeper, 1).unwrap();
        match require_space(&deeper, u64::MAX).unwrap_err() {
            TestbedError::NotEnoughSpace { path, need_bytes, free_bytes } => {
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
        let expected = "/data has 512.0 MiB free and 3.0 GiB are needed: make room, use less data, or name a directory on another filesystem";
        assert_eq!(error.to_string(), expected);
    }
}
