//! What is mounted where.

use crate::TestbedError;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// A line of `/proc/self/mountinfo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mounted {
    /// Major and minor number of the device, as in `7:3`.
    pub(crate) device: String,
    /// What of the filesystem is mounted.
    pub(crate) root: PathBuf,
    pub(crate) point: PathBuf,
    pub(crate) kind: String,
    pub(crate) source: PathBuf,
    /// Of the mount and of the filesystem.
    pub(crate) options: String,
}

/// Everything that is mounted, the later ones last.
pub(crate) fn all() -> Result<Vec<Mounted>, TestbedError> {
    let path = Path::new("/proc/self/mountinfo");
    let text = std::fs::read(path).map_err(|error| TestbedError::io("read", path, error))?;
    Ok(text
        .split(|byte| *byte == b'\n')
        .filter_map(parse)
        .collect())
}

/// What is seen at a path: the last that was mounted there.
pub(crate) fn at(point: &Path) -> Result<Option<Mounted>, TestbedError> {
    Ok(all()?
        .into_iter()
        .rev()
        .find(|mounted| mounted.point == point))
}

fn parse(line: &[u8]) -> Option<Mounted> {
    let fields: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    let separator = fields.iter().position(|field| *field == b"-")?;
    let after = fields.get(separator + 1..separator + 4)?;
    let text = |field: &[u8]| String::from_utf8_lossy(field).into_owned();
    Some(Mounted {
        device: text(fields.get(2)?),
        root: path(fields.get(3)?),
        point: path(fields.get(4)?),
        kind: text(after[0]),
        source: path(after[1]),
        options: merge(&text(fields.get(5)?), &text(after[2])),
    })
}

fn merge(of_mount: &str, of_filesystem: &str) -> String {
    let mut options: Vec<&str> = of_mount.split(',').collect();
    for option in of_filesystem.split(',') {
        if !options.contains(&option) {
            options.push(option);
        }
    }
    options.join(",")
}

/// White space and backslashes are written as octal numbers.
fn path(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&first, tail)) = rest.split_first() {
        let digits = tail
            .get(..3)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.map(|digits| u8::from_str_radix(digits, 8)) {
            Some(Ok(byte)) if first == b'\\' => {
                bytes.push(byte);
                rest = &tail[3..];
            }
            _ => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    OsString::from_vec(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_with_its_odd_letters() {
        let line = br"36 35 7:3 / /data\040of/mnt\134x rw,noatime shared:1 master:2 - xfs /dev/loop3 rw,attr2,noquota";
        let mounted = parse(line).unwrap();
        assert_eq!(mounted.point, Path::new(r"/data of/mnt\x"));
        assert_eq!(
            (mounted.device.as_str(), mounted.kind.as_str()),
            ("7:3", "xfs")
        );
        assert_eq!(mounted.source, Path::new("/dev/loop3"));
        assert_eq!(mounted.options, "rw,noatime,attr2,noquota");
        assert_eq!(mounted.root, Path::new("/"));
        assert_eq!(parse(b""), None);
    }

    #[test]
    fn proc_is_mounted_and_a_fresh_directory_is_not() {
        assert_eq!(at(Path::new("/proc")).unwrap().unwrap().kind, "proc");
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(at(directory.path()).unwrap(), None);
    }
}
