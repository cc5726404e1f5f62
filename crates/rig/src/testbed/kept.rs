//! Data that was stored once, for the runs that begin with a copy of it.

use crate::testbed::privileged::page_cache;
use crate::testbed::tools::Tools;
use crate::testbed::user::RunUser;
use crate::testbed::{DataDirectory, Journal, TestbedError};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A copy of the data of a run. It is removed when it is dropped.
#[derive(Debug)]
pub struct KeptData {
    /// Held for what it removes.
    _place: DataDirectory,
    data: PathBuf,
}

impl KeptData {
    /// Copies what is in `from`, whose database is closed, into a directory of its own below `parent`.
    pub(crate) fn copy(
        from: &Path,
        user: Option<&RunUser>,
        (journal, tools): (&Journal, &Tools),
        parent: &Path,
        (owner, label): (&str, &str),
    ) -> Result<Self, TestbedError> {
        let place = DataDirectory::create(journal, parent, owner, label)?;
        if let Some(user) = user {
            place.open_to_pass()?;
            user.require_way(place.path())?;
        }
        let (data, directory) = place.make("data")?;
        if let Some(user) = user {
            user.own(&directory, &data)?;
        }
        copy(tools, user, from, &data)?;
        Ok(Self { _place: place, data })
    }

    /// The directory that holds the data.
    pub fn data(&self) -> &Path {
        &self.data
    }
}

/// Copies the files of one directory into another, with blocks shared where the filesystem can. It is done by who works on the data, so that nothing is read or
/// written with root's rights. The page cache holds nothing of the copy afterwards: it would be outside of the limits of who reads it.
pub(crate) fn copy(
    tools: &Tools,
    user: Option<&RunUser>,
    from: &Path,
    to: &Path,
) -> Result<(), TestbedError> {
    let inside = from.join(".");
    let copying = ["--archive", "--reflink=auto", "--sparse=always", "--"].map(OsStr::new);
    let paths = [inside.as_os_str(), to.as_os_str()];
    match user {
        None => tools.run("cp", &[&copying[..], &paths].concat())?,
        Some(user) => {
            let ids = [user.user, user.group].map(|id| id.to_string());
            let become_user = ["--reuid", &ids[0], "--regid", &ids[1], "--clear-groups", "cp"];
            let become_user = become_user.map(OsStr::new);
            tools.run("setpriv", &[&become_user[..], &copying, &paths].concat())?
        }
    };
    page_cache::drop_of(to)
}
