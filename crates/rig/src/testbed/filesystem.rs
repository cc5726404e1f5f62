//! Making and mounting filesystems, with stock options.

use crate::testbed::TestbedError;
use crate::testbed::tools::{Tools, command_line, find};
use crate::testbed::wait::until;
use plimsoll_record::{FilesystemKind, FilesystemSpec};
use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

/// What `mkfs.btrfs` says when it looks at everything that is mounted and finds an emulated disk of somebody else whose daemon has just
/// died. It is undone in a moment, or in many on a busy machine.
const DISTURBED: &str = "cannot check mount status";

const LONGEST_DISTURBANCE: Duration = Duration::from_secs(30);

/// What is known of a filesystem that was made.
#[derive(Debug)]
pub(crate) struct Filesystem {
    /// The command that made it.
    pub(crate) command: String,
    /// Version of the program that made it, in its own words.
    pub(crate) version: String,
}

/// The program that makes it.
pub(crate) fn program(kind: FilesystemKind) -> &'static str {
    match kind {
        FilesystemKind::Xfs => "mkfs.xfs",
        FilesystemKind::Ext4 => "mkfs.ext4",
        FilesystemKind::Btrfs => "mkfs.btrfs",
    }
}

/// The smallest disk on which it can be made, bytes.
pub(crate) fn least_bytes(kind: FilesystemKind) -> u64 {
    let mebibytes = match kind {
        FilesystemKind::Xfs => 300,
        FilesystemKind::Ext4 => 16,
        FilesystemKind::Btrfs => 128,
    };
    mebibytes << 20
}

/// Makes a filesystem. `overwrite` allows another one to be there.
pub(crate) fn make(
    tools: &Tools,
    spec: &FilesystemSpec,
    device: &Path,
    overwrite: bool,
) -> Result<Filesystem, TestbedError> {
    let program = program(spec.kind);
    refuse(program, spec.kind.refused_for_mkfs(&spec.mkfs))?;
    let words = words_for_mkfs(spec, overwrite);
    let mut arguments: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
    arguments.push(device.as_os_str());
    let ask_version = if spec.kind == FilesystemKind::Btrfs { "--version" } else { "-V" };
    let version = tools.first_line(program, &[ask_version.as_ref()])?;
    let mut made = tools.run(program, &arguments);
    until(LONGEST_DISTURBANCE, || {
        let is_disturbed =
            matches!(&made, Err(TestbedError::Tool { output, .. }) if output.contains(DISTURBED));
        if is_disturbed {
            made = tools.run(program, &arguments);
        }
        !is_disturbed
    });
    made?;
    Ok(Filesystem { command: command_line(&find(program)?, &arguments), version })
}

/// A plan from elsewhere may not have been checked.
fn refuse(program: &str, option: Option<String>) -> Result<(), TestbedError> {
    match option {
        None => Ok(()),
        Some(option) => Err(TestbedError::OptionRefused { program: program.to_owned(), option }),
    }
}

fn words_for_mkfs(spec: &FilesystemSpec, overwrite: bool) -> Vec<String> {
    let mut words = Vec::new();
    if overwrite {
        words.push(match spec.kind {
            FilesystemKind::Ext4 => "-F".to_owned(),
            FilesystemKind::Xfs | FilesystemKind::Btrfs => "-f".to_owned(),
        });
    }
    if spec.kind != FilesystemKind::Ext4 {
        words.extend(spec.mkfs.iter().cloned());
        return words;
    }
    // See docs/decisions/0009-ext4-is-initialised-at-mkfs.md. Of several `-E` only the last counts, so they become one.
    let mut extended = vec!["lazy_itable_init=0,lazy_journal_init=0".to_owned()];
    let mut others = Vec::new();
    let mut requested = spec.mkfs.iter();
    while let Some(word) = requested.next() {
        match word.strip_prefix("-E") {
            Some("") => extended.extend(requested.next().cloned()),
            Some(options) => extended.push(options.to_owned()),
            None => others.push(word.clone()),
        }
    }
    words.push("-E".to_owned());
    words.push(extended.join(","));
    words.extend(others);
    words
}

/// Mounts a filesystem that was made on the device. `is_twin` says that the kernel has not let go of the same filesystem on another device yet.
pub(crate) fn mount(
    tools: &Tools,
    spec: &FilesystemSpec,
    device: &Path,
    point: &Path,
    is_twin: bool,
) -> Result<(), TestbedError> {
    refuse("mount", spec.kind.refused_for_mount(&spec.mount))?;
    let of_a_twin = (is_twin && spec.kind == FilesystemKind::Xfs).then_some("nouuid");
    let words = spec.mount.iter().map(String::as_str).chain(of_a_twin);
    let options = words.collect::<Vec<_>>().join(",");
    let mut arguments: Vec<&OsStr> = vec!["-t".as_ref(), spec.kind.name().as_ref()];
    if !options.is_empty() {
        arguments.extend(["-o".as_ref(), OsStr::new(&options)]);
    }
    arguments.extend([device.as_os_str(), point.as_os_str()]);
    tools.run("mount", &arguments).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(kind: FilesystemKind, mkfs: &[&str]) -> FilesystemSpec {
        FilesystemSpec {
            kind,
            mkfs: mkfs.iter().map(|word| (*word).to_owned()).collect(),
            mount: Vec::new(),
        }
    }

    #[test]
    fn options_are_stock_but_for_what_was_asked_and_the_initialising_of_ext4() {
        let words = |kind, mkfs: &[&str]| words_for_mkfs(&spec(kind, mkfs), false).join(" ");
        assert_eq!(words(FilesystemKind::Xfs, &[]), "");
        assert_eq!(words(FilesystemKind::Btrfs, &["-m", "single"]), "-m single");
        let expected = "-E lazy_itable_init=0,lazy_journal_init=0";
        assert_eq!(words(FilesystemKind::Ext4, &[]), expected);
        assert_eq!(
            words(FilesystemKind::Ext4, &["-m", "0", "-E", "stride=4", "-Enodiscard"]),
            "-E lazy_itable_init=0,lazy_journal_init=0,stride=4,nodiscard -m 0"
        );
        let over = words_for_mkfs(&spec(FilesystemKind::Xfs, &["-K"]), true);
        assert_eq!(over.join(" "), "-f -K");
    }
}
