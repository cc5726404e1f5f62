//! Programs of the system: found, run, waited for no longer than sensible, and recognised if they outlive us.

use crate::testbed::TestbedError;
use crate::testbed::processes::{MARK_VARIABLE, own_start};
use crate::testbed::wait::until;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a program may take. Making a filesystem writes a few hundred megabytes at most.
const LONGEST_RUN: Duration = Duration::from_secs(300);

/// The programs that are used, and the Debian packages that they are in.
const PACKAGES: [(&str, &str); 10] = [
    ("blkid", "util-linux"),
    ("cp", "coreutils"),
    ("env", "coreutils"),
    ("fio", "fio"),
    ("losetup", "mount"),
    ("mkfs.btrfs", "btrfs-progs"),
    ("mkfs.ext4", "e2fsprogs"),
    ("mkfs.xfs", "xfsprogs"),
    ("mount", "mount"),
    ("setpriv", "util-linux"),
];

/// The folders of the system come first, whatever PATH says: what is run from them may be run as root. The administrator's are among them,
/// which are not in everybody's PATH.
pub(crate) fn search_path() -> OsString {
    let mut path = OsString::from("/usr/sbin:/sbin:/usr/bin:/bin");
    if let Some(others) = std::env::var_os("PATH") {
        path.push(":");
        path.push(others);
    }
    path
}

pub(crate) fn find(program: &str) -> Result<PathBuf, TestbedError> {
    std::env::split_paths(&search_path())
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program))
        .find(|candidate| candidate.is_file())
        .ok_or_else(|| TestbedError::Missing {
            program: program.to_owned(),
            package: PACKAGES
                .iter()
                .find(|(name, _)| *name == program)
                .map_or("that has it", |(_, package)| package),
        })
}

/// The mark of the tools that a program with a journal of this token runs.
pub(crate) fn mark_of_tools(token: &str) -> String {
    format!("tool-{token}")
}

#[derive(Clone, Debug)]
pub(crate) struct Tools {
    token: String,
    /// When the owner of the journal was started.
    since: u64,
}

impl Tools {
    /// For this program, whose journal has this token.
    pub(crate) fn of(token: &str) -> Self {
        Self::of_owner(token, own_start())
    }

    /// For the owner of the journal with this token, which was started then.
    pub(crate) fn of_owner(token: &str, since: u64) -> Self {
        Self { token: token.to_owned(), since }
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// When the owner of what is undone by them was started: nothing of it is older.
    pub(crate) fn since(&self) -> u64 {
        self.since
    }

    /// Runs a program to its end and returns what it wrote on its standard output.
    pub(crate) fn run(&self, program: &str, arguments: &[&OsStr]) -> Result<String, TestbedError> {
        let (output, _) = self.run_for_both(program, arguments)?;
        Ok(output)
    }

    /// The first line that is not empty on either output of a program.
    pub(crate) fn first_line(
        &self,
        program: &str,
        arguments: &[&OsStr],
    ) -> Result<String, TestbedError> {
        let (output, errors) = self.run_for_both(program, arguments)?;
        let both = output.lines().chain(errors.lines());
        let first = both.map(str::trim).find(|line| !line.is_empty());
        Ok(first.unwrap_or_default().to_owned())
    }

    fn run_for_both(
        &self,
        program: &str,
        arguments: &[&OsStr],
    ) -> Result<(String, String), TestbedError> {
        let path = find(program)?;
        let failed = |error| TestbedError::io("run", &path, error);
        let begun = Instant::now();
        let mut child = Command::new(&path)
            .args(arguments)
            .env_clear()
            .env("PATH", search_path())
            .env(MARK_VARIABLE, mark_of_tools(&self.token))
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let output = listen(child.stdout.take());
        let errors = listen(child.stderr.take());
        let in_time = until(LONGEST_RUN, || has_ended(&mut child));
        if !in_time {
            // What is inside the kernel ends later; its readers end with it.
            let _ = child.kill();
            return Err(TestbedError::Tool {
                command: command_line(&path, arguments),
                output: format!("it had not ended after {} s", LONGEST_RUN.as_secs()),
                code: None,
            });
        }
        let status = child.wait().map_err(failed)?;
        let output = output.join().unwrap_or_default();
        let errors = errors.join().unwrap_or_default();
        tracing::debug!(
            "{}: {status} after {:.3} s",
            command_line(&path, arguments),
            begun.elapsed().as_secs_f64()
        );
        if !status.success() {
            let said = [errors.trim(), output.trim()]
                .into_iter()
                .find(|said| !said.is_empty())
                .unwrap_or("it said nothing");
            return Err(TestbedError::Tool {
                command: command_line(&path, arguments),
                output: format!("{said} ({status})"),
                code: status.code(),
            });
        }
        Ok((output, errors))
    }
}

fn has_ended(child: &mut Child) -> bool {
    !matches!(child.try_wait(), Ok(None))
}

/// Reads all that a program says, in a thread of its own.
pub(crate) fn listen(
    stream: Option<impl Read + Send + 'static>,
) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            // After an error, what was read so far is kept.
            let _ = stream.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// As it would be typed, for people.
pub(crate) fn command_line(program: &Path, arguments: &[&OsStr]) -> String {
    let name = program.file_name().unwrap_or(program.as_os_str());
    let mut line = name.to_string_lossy().into_owned();
    for argument in arguments {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_fails_is_quoted() {
        let tools = Tools::of("test");
        let error = tools
            .run("sh", &["-c".as_ref(), "echo no such thing >&2; exit 3".as_ref()])
            .unwrap_err()
            .to_string();
        assert!(error.contains("no such thing (exit status: 3)"), "{error}");
        let said = tools.run("sh", &["-c".as_ref(), "echo $LC_ALL".as_ref()]);
        assert_eq!(said.unwrap(), "C\n");
    }

    #[test]
    fn a_program_that_is_missing_is_named_with_its_package() {
        let error = find("mkfs.nothing").unwrap_err().to_string();
        let expected = "mkfs.nothing is not installed: install the package that has it";
        assert_eq!(error, expected);
    }
}
