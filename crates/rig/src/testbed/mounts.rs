//! What is mounted where, from `/proc/self/mountinfo`.

use crate::testbed::TestbedError;
use plimsoll_telemetry::{Mount, mounts_in};
use std::path::Path;

/// Everything that is mounted, the later ones last.
pub(crate) fn all() -> Result<Vec<Mount>, TestbedError> {
    let path = Path::new("/proc/self/mountinfo");
    let text = std::fs::read(path).map_err(|error| TestbedError::io("read", path, error))?;
    Ok(mounts_in(&text))
}

/// What is seen at a path: the last that was mounted there.
pub(crate) fn at(point: &Path) -> Result<Option<Mount>, TestbedError> {
    Ok(all()?.into_iter().rev().find(|mounted| mounted.point == point))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_is_mounted_and_a_fresh_directory_is_not() {
        assert_eq!(at(Path::new("/proc")).unwrap().unwrap().kind, "proc");
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(at(directory.path()).unwrap(), None);
    }
}
