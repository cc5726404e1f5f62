//! The program of a server: where it is, which version it is, and how it is started.

use crate::testbed::TestbedError;
use crate::testbed::tools::listen;
use crate::testbed::user::RunUser;
use crate::testbed::wait::{bounded, until};
use plimsoll_record::ServerSpec;
use rustix::fs::Access;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A folder with servers that are not on PATH.
const SERVERS_VARIABLE: &str = "PLIMSOLL_SERVERS";
/// This program, in the words of a description.
const OWN_PROGRAM: &str = "{plimsoll}";
/// How long a program may take to tell its version.
const LONGEST_VERSION: Duration = Duration::from_secs(20);
/// Bytes of what it says then that are read.
const LONGEST_ANSWER: u64 = 64 << 10;
/// What a server inherits of this program's environment: nothing that could hold a password.
const INHERITED: [&str; 4] = ["PATH", "LANG", "LC_ALL", "TZ"];
/// Characters of a version that are kept.
const LONGEST_LINE: usize = 200;

/// Where the program of a server is: as named, or on PATH, or in the folder that the variable `PLIMSOLL_SERVERS` names. One that the user
/// under whom servers run cannot reach is passed over where there is another.
pub(crate) fn find_server(spec: &ServerSpec) -> Result<PathBuf, TestbedError> {
    find_program(&spec.name, &spec.program)
}

/// Checks that the program that runs after the start exists, if it is not this program.
pub(crate) fn find_after_start(spec: &ServerSpec) -> Result<(), TestbedError> {
    match spec.after_start.first().map(String::as_str) {
        None | Some(OWN_PROGRAM) => Ok(()),
        // Where that is, is known when the server is started.
        Some(program) if program.contains('{') => Ok(()),
        Some(program) => find_program(&spec.name, program).map(drop),
    }
}

/// As for a server, any program for the server of this name.
pub(super) fn find_program(name: &str, program: &str) -> Result<PathBuf, TestbedError> {
    let user = RunUser::here();
    let is_path = program.contains('/');
    let (candidates, looked): (Vec<PathBuf>, Vec<PathBuf>) = if is_path {
        let path = PathBuf::from(program);
        (vec![path.clone()], vec![path])
    } else {
        let folders = folders();
        let within = folders.iter().map(|folder| folder.join(program));
        (within.collect(), folders)
    };
    let mut barred = None;
    for candidate in candidates {
        let Ok(found) = candidate.canonicalize() else {
            continue;
        };
        if !is_program(&found) {
            continue;
        }
        let barrier = user.as_ref().and_then(|user| user.barred_at(&found));
        let (Some(user), Some(path)) = (&user, barrier) else {
            // The name by which it was called may be more than a name: programs look at it.
            return Ok(if is_path { found } else { candidate });
        };
        barred.get_or_insert_with(|| TestbedError::ProgramBarred {
            name: name.to_owned(),
            program: candidate.clone(),
            user: user.name.clone(),
            path: path.to_owned(),
        });
    }
    Err(barred.unwrap_or_else(|| TestbedError::ServerMissing {
        name: name.to_owned(),
        program: program.to_owned(),
        looked,
    }))
}

/// The folders with servers.
fn folders() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.extend(std::env::var_os(SERVERS_VARIABLE).map(PathBuf::from));
    folders.retain(|folder| folder.is_absolute());
    folders
}

fn is_program(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, Access::EXEC_OK).is_ok()
}

/// What a server inherits of this program's environment.
pub(super) fn environment() -> Vec<(&'static str, OsString)> {
    let inherited = INHERITED.into_iter();
    inherited.filter_map(|name| Some((name, std::env::var_os(name)?))).collect()
}

/// The first line that says which version it is. A server that does not tell is no worse for it.
pub(super) fn version(
    spec: &ServerSpec,
    program: &Path,
    user: Option<&RunUser>,
    run: &Path,
) -> Option<String> {
    if spec.version_arguments.is_empty() {
        return None;
    }
    let mut command = Command::new(program);
    command
        .args(&spec.version_arguments)
        .env_clear()
        .envs(environment())
        .env("HOME", run)
        .current_dir(run)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if let Some(user) = user {
        user.take_on(&mut command);
    }
    let mut child = command.spawn().ok()?;
    let said = [
        listen(child.stdout.take().map(|stream| stream.take(LONGEST_ANSWER))),
        listen(child.stderr.take().map(|stream| stream.take(LONGEST_ANSWER))),
    ];
    let ended = until(LONGEST_VERSION, || !matches!(child.try_wait(), Ok(None)));
    if !ended {
        let _ = child.kill();
        let _ = child.wait();
    }
    // What it started may have kept the pipes; the threads stay with it.
    let text: String =
        bounded(LONGEST_VERSION, || said.map(|said| said.join().unwrap_or_default()).join("\n"))?;
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(LONGEST_LINE).collect())
}

/// As it would be typed.
pub(super) fn command_line(program: &Path, arguments: &[String]) -> String {
    let mut words = vec![quoted(&program.display().to_string())];
    words.extend(arguments.iter().map(|word| quoted(word)));
    words.join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=,.:/+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_typed_again() {
        let words = ["--a=b".to_owned(), "two words".into(), "it's".into()];
        let expected = r"/bin/x --a=b 'two words' 'it'\''s'";
        assert_eq!(command_line(Path::new("/bin/x"), &words), expected);
    }
}
