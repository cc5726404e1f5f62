//! What is mounted where, from `/proc/self/mountinfo`.

use crate::Host;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// A line of `/proc/self/mountinfo`; the format is in proc_pid_mountinfo(5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Major and minor number, as in `8:1`. The major number is 0 where there is no block device.
    pub device_number: String,
    /// The directory of the filesystem that is mounted.
    pub root: PathBuf,
    pub point: PathBuf,
    pub options: String,
    pub kind: String,
    pub source: PathBuf,
    pub filesystem_options: String,
}

impl Mount {
    /// Options of the mount and of the filesystem, each once.
    pub fn all_options(&self) -> String {
        let mut options: Vec<&str> = Vec::new();
        for option in self.options.split(',').chain(self.filesystem_options.split(',')) {
            if !options.contains(&option) {
                options.push(option);
            }
        }
        options.join(",")
    }

    /// The value of an option of the filesystem.
    pub(crate) fn option(&self, key: &str) -> Option<&str> {
        self.filesystem_options
            .split(',')
            .find_map(|option| option.strip_prefix(key)?.strip_prefix('='))
    }

    /// Whether the filesystem has an option without value.
    pub fn has_option(&self, key: &str) -> bool {
        self.filesystem_options.split(',').any(|option| option == key)
    }

    fn from_line(line: &[u8]) -> Option<Self> {
        let fields: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
        let separator = fields.iter().position(|field| *field == b"-")?;
        let of_the_filesystem = fields.get(separator + 1..)?;
        let text = |field: &[u8]| unescape(field).to_string_lossy().into_owned();
        Some(Self {
            device_number: text(fields.get(2)?),
            root: unescape(fields.get(3)?).into(),
            point: unescape(fields.get(4)?).into(),
            options: text(fields.get(5)?),
            kind: text(of_the_filesystem.first()?),
            source: unescape(of_the_filesystem.get(1)?).into(),
            filesystem_options: of_the_filesystem
                .get(2)
                .map(|field| text(field))
                .unwrap_or_default(),
        })
    }
}

/// What is mounted by the text of `/proc/self/mountinfo`, in the order of mounting.
pub fn mounts_in(mountinfo: &[u8]) -> Vec<Mount> {
    let lines = mountinfo.split(|byte| *byte == b'\n');
    lines.filter_map(Mount::from_line).collect()
}

impl Host {
    /// Everything that is mounted, in the order of mounting.
    pub(crate) fn mounts(&self) -> Vec<Mount> {
        mounts_in(&std::fs::read(self.path("proc/self/mountinfo")).unwrap_or_default())
    }
}

/// The mount in which an absolute path without symbolic links lies: the longest mount point above it, and the latest one there.
pub(crate) fn mount_of<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let above = mounts.iter().filter(|mount| path.starts_with(&mount.point));
    above.max_by_key(|mount| mount.point.components().count())
}

/// White space and backslashes are written as a backslash and three octal digits.
fn unescape(field: &[u8]) -> OsString {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match escaped {
            Some(byte) if first == b'\\' => {
                bytes.push(byte);
                rest = &after[3..];
            }
            _ => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_taken_apart() {
        let line = b"36 35 98:0 /mnt1 /mnt2/my\\040disk rw,noatime master:1 shared:2 - ext3 /dev/root rw,errors=continue,noatime";
        let mount = Mount::from_line(line).unwrap();
        assert_eq!(mount.device_number, "98:0");
        assert_eq!(mount.root, Path::new("/mnt1"));
        assert_eq!(mount.point, Path::new("/mnt2/my disk"));
        assert_eq!(mount.kind, "ext3");
        assert_eq!(mount.source, Path::new("/dev/root"));
        assert_eq!(mount.all_options(), "rw,noatime,errors=continue");
        assert_eq!(mount.option("errors"), Some("continue"));
        assert_eq!(mount.option("error"), None);
        assert!(mount.has_option("noatime"));
        assert_eq!(Mount::from_line(b"36 35 98:0"), None);
        assert_eq!(Mount::from_line(b""), None);
    }

    #[test]
    fn a_path_belongs_to_the_longest_and_latest_mount() {
        let mount = |point: &str, source: &str| {
            Mount::from_line(format!("1 0 8:1 / {point} rw - ext4 {source} rw").as_bytes()).unwrap()
        };
        let mounts = [
            mount("/", "root"),
            mount("/data", "below"),
            mount("/data", "above"),
            mount("/data/x", "x"),
        ];
        let source = |path: &str| mount_of(&mounts, Path::new(path)).unwrap().source.clone();
        assert_eq!(source("/data/run"), Path::new("above"));
        let found = source("/database");
        assert_eq!(found, Path::new("root"), "names are compared as a whole");
        assert_eq!(source("/data/x/y"), Path::new("x"));
        assert_eq!(mount_of(&mounts[1..], Path::new("/home")), None);
    }

    #[test]
    fn a_backslash_that_escapes_nothing_stays() {
        assert_eq!(unescape(b"a\\134b\\"), "a\\b\\");
        assert_eq!(unescape(b"\\9"), "\\9");
    }
}
