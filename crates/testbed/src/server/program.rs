//! The program of a server: where it is, which version it is, and how it is started.

use super::user::User;
use crate::TestbedError;
use crate::wait::until;
use plimsoll_record::ServerSpec;
use rustix::fs::Access;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A folder with servers that are not on PATH.
const SERVERS_VARIABLE: &str = "PLIMSOLL_SERVERS";
/// How long a program may take to tell its version.
const LONGEST_VERSION: Duration = Duration::from_secs(20);
/// Characters of a version that are kept.
const LONGEST_LINE: usize = 200;

/// Where the program of a server is: as named, or on PATH, or in the folder that the variable `PLIMSOLL_SERVERS` names. One that the user
/// under whom servers run cannot reach is passed over where there is another.
pub(crate) fn find_server(spec: &ServerSpec) -> Result<PathBuf, TestbedError> {
    let user = User::for_servers();
    let is_path = spec.program.contains('/');
    let (candidates, looked): (Vec<PathBuf>, Vec<PathBuf>) = if is_path {
        let path = PathBuf::from(&spec.program);
        (vec![path.clone()], vec![path])
    } else {
        let folders = folders();
        let within = folders.iter().map(|folder| folder.join(&spec.program));
        (within.collect(), folders)
    };
    let mut barred = None;
    for candidate in candidates {
        let Ok(program) = candidate.canonicalize() else {
            continue;
        };
        if !is_program(&program) {
            continue;
        }
        let barrier = user.as_ref().and_then(|user| user.barred_at(&program));
        let (Some(user), Some(path)) = (&user, barrier) else {
            // The name by which it was called may be more than a name: programs look at it.
            return Ok(if is_path { program } else { candidate });
        };
        barred.get_or_insert_with(|| TestbedError::ProgramBarred {
            name: spec.name.clone(),
            program: candidate.clone(),
            user: user.name.clone(),
            path: path.to_owned(),
        });
    }
    Err(barred.unwrap_or_else(|| TestbedError::ServerMissing {
        name: spec.name.clone(),
        program: spec.program.clone(),
        looked,
    }))
}

/// Where servers are looked for.
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

/// The first line that says which version it is. A server that does not tell is no worse for it.
pub(super) fn version(
    spec: &ServerSpec,
    program: &Path,
    user: Option<&User>,
    run: &Path,
) -> Option<String> {
    if spec.version_arguments.is_empty() {
        return None;
    }
    let answer = run.join("version");
    let output = File::create(&answer).ok()?;
    let errors = output.try_clone().ok()?;
    let mut command = Command::new(program);
    command
        .args(&spec.version_arguments)
        .env("HOME", run)
        .current_dir(run)
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(errors);
    if let Some(user) = user {
        user.take_on(&mut command);
    }
    let mut child = command.spawn().ok()?;
    let ended = until(LONGEST_VERSION, || !matches!(child.try_wait(), Ok(None)));
    if !ended {
        let _ = child.kill();
        let _ = child.wait();
    }
    let bytes = std::fs::read(&answer).ok()?;
    // Whatever happens, this is not needed any more.
    let _ = std::fs::remove_file(&answer);
    let text = String::from_utf8_lossy(&bytes);
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
        assert_eq!(
            command_line(Path::new("/bin/x"), &words),
            r"/bin/x --a=b 'two words' 'it'\''s'"
        );
    }
}
