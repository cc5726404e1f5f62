//! What tests need of the machine, and what becomes of a test where that is missing.
//!
//! A test asks with [`needs!`] or [`has`] for all that it needs. Where something is missing it is left out: that is said on the standard error, past
//! the capture of the test harness, and written into the file that [`SKIPPED`] names, so that `./x test` lists at its end what could not
//! be tried. Where [`REQUIRE`] is set, as CI does, it fails instead.

pub mod allocations;
pub mod certificates;
pub mod servers;

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The variable that, set to anything, makes a test fail that would be left out.
pub const REQUIRE: &str = "PLIMSOLL_REQUIRE";
/// The variable with the file to which a line is added for each test that is left out.
pub const SKIPPED: &str = "PLIMSOLL_SKIPPED";
/// The variable with a folder of database servers that are not on PATH.
pub const SERVERS: &str = "PLIMSOLL_SERVERS";

/// The variable that `./x test --all` sets, so that tests also try a second database server.
pub const EVERYTHING: &str = "PLIMSOLL_EVERYTHING";

/// Whether `./x test --all` runs this test.
pub(crate) fn is_everything() -> bool {
    std::env::var_os(EVERYTHING).is_some()
}

/// Something that a test needs of the machine.
#[derive(Clone, Copy, Debug)]
pub enum Need<'a> {
    /// To be run by root.
    Root,
    /// A program on PATH or where programs of root are, such as `fio`.
    Program(&'a str),
    /// A file, such as `/dev/fuse`.
    File(&'a str),
    /// A database server, such as `mongod`.
    Server(&'a str),
}

impl Need<'_> {
    /// Why the machine cannot serve; `None` where it can.
    fn missing(self) -> Option<String> {
        match self {
            Self::Root => (!is_root()).then(|| "it needs root".to_owned()),
            Self::Program(name) => {
                program(name).is_none().then(|| format!("{name} is not installed"))
            }
            Self::File(path) => (!Path::new(path).exists()).then(|| format!("there is no {path}")),
            Self::Server(name) => server(name)
                .is_none()
                .then(|| format!("there is no {name} on PATH or in {SERVERS}")),
        }
    }
}

/// Whether the machine has all that a test needs; otherwise the test is left out.
///
/// # Panics
/// Where something is missing and [`REQUIRE`] is set.
pub fn has(test: &str, needs: &[Need<'_>]) -> bool {
    match needs.iter().find_map(|need| need.missing()) {
        Some(missing) => {
            skip(test, &missing);
            false
        }
        None => true,
    }
}

/// Leaves the test out that stands around it, unless the machine has all that is named.
///
/// ```
/// # use plimsoll_testing::{Need, needs};
/// # fn a_file_can_be_read() {
/// needs!([Need::File("/proc/self/status")]);
/// # }
/// ```
#[macro_export]
macro_rules! needs {
    ($needs:expr) => {
        let name = $crate::name_of_caller(std::any::type_name_of_val(&|| {}));
        if !$crate::has(name, ::core::convert::AsRef::<[$crate::Need<'_>]>::as_ref(&$needs)) {
            return;
        }
    };
}

/// Fails unless a result is an error that matches the pattern.
///
/// ```
/// use plimsoll_testing::assert_err;
/// use std::num::IntErrorKind;
/// let kind = |text: &str| text.parse::<u8>().map_err(|error| error.kind().clone());
/// assert_err!(kind("256"), IntErrorKind::PosOverflow);
/// ```
#[macro_export]
macro_rules! assert_err {
    ($result:expr, $pattern:pat) => {
        match &$result {
            Err($pattern) => {}
            Err(other) => panic!("{other:?} is no {}", stringify!($pattern)),
            Ok(_) => panic!("it succeeded, in place of {}", stringify!($pattern)),
        }
    };
}

/// The name of the test that runs on this thread.
pub fn this_test() -> String {
    let thread = std::thread::current();
    thread.name().unwrap_or("a test").to_owned()
}

/// The path of a function within its crate, from the type name of a closure in it.
#[doc(hidden)]
pub fn name_of_caller(closure: &str) -> &str {
    let path = closure.trim_end_matches("::{{closure}}");
    path.split_once("::").map_or(path, |(_crate, path)| path)
}

/// Fails, and shows the text, unless it contains `part`.
///
/// # Panics
/// Where it does not.
#[track_caller]
pub fn assert_contains(text: impl ToString, part: &str) {
    let text = text.to_string();
    assert!(text.contains(part), "`{part}` is not in: {text}");
}

/// Fails, and shows the text, unless it starts with `start`.
///
/// # Panics
/// Where it does not.
#[track_caller]
pub fn assert_starts(text: impl ToString, start: &str) {
    let text = text.to_string();
    assert!(text.starts_with(start), "`{start}` does not start: {text}");
}

/// Fails, and shows the text, unless it ends with `end`.
///
/// # Panics
/// Where it does not.
#[track_caller]
pub fn assert_ends(text: impl ToString, end: &str) {
    let text = text.to_string();
    assert!(text.ends_with(end), "`{end}` does not end: {text}");
}

/// Says that a test is left out, and why. The test has to return then.
///
/// # Panics
/// Where [`REQUIRE`] is set.
pub fn skip(test: &str, why: &str) {
    let is_required = std::env::var_os(REQUIRE).is_some_and(|value| !value.is_empty());
    assert!(
        !is_required,
        "{test} cannot be tried: {why}. {REQUIRE} is set, so that no test is left out"
    );
    let line = format!("{test}: {why}\n");
    // Each in one write, so that lines of several tests do not mix.
    let _ = std::io::stderr().write_all(format!("SKIPPED {line}").as_bytes());
    if let Some(list) = std::env::var_os(SKIPPED) {
        let file = OpenOptions::new().create(true).append(true).open(&list);
        file.and_then(|mut file| file.write_all(line.as_bytes()))
            .unwrap_or_else(|error| panic!("cannot write into {}: {error}", list.display()));
    }
}

/// Whether root runs the tests.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Where a program is: on PATH, or where programs of root are, which an ordinary user's PATH may leave out.
pub fn program(name: &str) -> Option<PathBuf> {
    find(name, ["/usr/sbin".into(), "/sbin".into()])
}

/// Where a database server is: the user's own on PATH, or the one in the folder that [`SERVERS`] names.
pub fn server(name: &str) -> Option<PathBuf> {
    find(name, std::env::var_os(SERVERS).map(PathBuf::from))
}

/// Path and arguments that start an ignored test of this program as a process of its own. The test answers on descriptor 3, the caller's
/// standard output, because the harness prints to the standard output of the test.
///
/// # Panics
/// Where this program has no path.
pub fn test_as_program(test: &str) -> (PathBuf, Vec<OsString>) {
    let script = format!("exec \"$0\" --exact {test} --ignored --nocapture 3>&1 >/dev/null");
    let program = std::env::current_exe().expect("a test program has a path");
    ("/bin/sh".into(), vec!["-c".into(), script.into(), program.into()])
}

/// The folder of the test program: a disk, where `/tmp` may be memory.
pub fn folder_on_disk() -> PathBuf {
    let program = std::env::current_exe().expect("a test program has a path");
    program.parent().expect("it lies in a folder").to_owned()
}

fn find(name: &str, further: impl IntoIterator<Item = PathBuf>) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(further)
        .map(|folder| folder.join(name))
        .find(|candidate| candidate.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn what_is_missing_is_named() {
        for (need, said) in [
            (Need::Program("no-such-program"), "no-such-program is not installed"),
            (Need::File("/no/such/file"), "there is no /no/such/file"),
            (
                Need::Server("no-such-server"),
                "there is no no-such-server on PATH or in PLIMSOLL_SERVERS",
            ),
        ] {
            assert_eq!(need.missing().as_deref(), Some(said));
        }
        assert_eq!(Need::Program("sh").missing(), None);
        assert_eq!(Need::File("/").missing(), None);
    }

    #[test]
    #[ignore = "it is run by the next, in a process of its own"]
    fn is_left_out() {
        assert!(!has("is_left_out", &[Need::Program("no-such-program")]));
    }

    /// In a process of its own, because of its environment.
    #[test]
    fn what_is_left_out_is_listed_and_fails_where_it_is_required() {
        let list = std::env::temp_dir().join(format!("plimsoll-skipped-{}", std::process::id()));
        let run = |require: &str| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "tests::is_left_out", "--ignored"])
                .env(REQUIRE, require)
                .env(SKIPPED, &list)
                .output()
                .unwrap()
        };
        let output = run("");
        let listed = std::fs::read_to_string(&list).unwrap();
        std::fs::remove_file(&list).unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_eq!(listed, "is_left_out: no-such-program is not installed\n");
        let output = run("1");
        assert!(!output.status.success());
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(
            said.contains("is_left_out cannot be tried: no-such-program is not installed"),
            "{said}"
        );
        assert!(!list.exists(), "it was not left out");
    }
}
