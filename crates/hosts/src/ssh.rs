//! The system's ssh: the program's own file is copied once, and started there as an agent.

use crate::remote::{HostError, Identity};
use std::collections::VecDeque;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Nothing is requested from the user: keys must do. A machine that does not answer is not waited for.
/// A connection that is there is used, but none is left behind: who holds it open would hold open what is read here to its end.
const OPTIONS: [&str; 5] =
    ["-oBatchMode=yes", "-oControlMaster=no", "-oConnectTimeout=10", "-T", "-oLogLevel=ERROR"];

/// Bytes of what a process said last.
const LAST_BYTES: usize = 64 << 10;
/// The folder of copies, in the words of a shell there.
const FOLDER: &str = "\"${XDG_CACHE_HOME:-$HOME/.cache}\"/plimsoll/bin";

/// Copies this program to a machine that lacks it, and returns the command that starts it there as an agent.
pub(crate) fn agent_command(
    target: &str,
    program: &Path,
    here: &Identity,
) -> Result<Vec<String>, HostError> {
    if target.starts_with('-') || target.chars().any(char::is_whitespace) {
        return Err(HostError::Unreachable(format!(
            "{target:?} is no machine for ssh: write what is typed behind it, such as root@db1.example"
        )));
    }
    let file = format!("{FOLDER}/plimsoll-{}", &here.hash[..16]);
    let look = format!("uname -sm; sha256sum {file} 2>/dev/null");
    let found = run(target, &look, None)?;
    let text = String::from_utf8_lossy(&found.stdout);
    let mut lines = text.lines();
    let machine = lines.next().unwrap_or_default().trim();
    let ours = uname();
    if machine != ours {
        return Err(HostError::Refused(format!(
            "{target} is {machine}, and this program is for {ours}: build it there, start `plimsoll remote agent` and name it by `agent`, or by a `command` that starts it"
        )));
    }
    if !lines.any(|line| line.starts_with(&here.hash)) {
        copy(target, program, &file, here)?;
    }
    let mut words = vec!["ssh".to_owned()];
    words.extend(OPTIONS.map(str::to_owned));
    words.extend([target.to_owned(), "--".to_owned()]);
    words.push(format!("exec {file} agent --stdio --allow load,server,disk,erase"));
    Ok(words)
}

/// Under another name first: a copy that is cut off must not be used. Workers of root are another user, who must be able to execute it.
fn copy(target: &str, program: &Path, file: &str, here: &Identity) -> Result<(), HostError> {
    tracing::info!("copying plimsoll {} to {target}", here.program);
    let part = format!("{file}.$$");
    let script = format!(
        "umask 077; mkdir -p {FOLDER} && trap 'rm -f {part}' EXIT && cat > {part} && \
         test \"$(sha256sum < {part} | cut -c1-64)\" = {} && chmod 755 {part} && mv {part} {file}",
        here.hash
    );
    let open = File::open(program).map_err(|error| {
        HostError::Refused(format!("{} cannot be read: {error}", program.display()))
    })?;
    let copied = run(target, &script, Some(open))?;
    if copied.status.success() {
        return Ok(());
    }
    Err(HostError::Unreachable(format!(
        "the program could not be copied to {target}: {}",
        words_of(&copied)
    )))
}

fn run(target: &str, script: &str, input: Option<File>) -> Result<Output, HostError> {
    let mut command = Command::new("ssh");
    command.args(OPTIONS).args([target, "--", script]);
    command.stdin(input.map_or_else(Stdio::null, Stdio::from));
    let output = command.output().map_err(|error| {
        HostError::Unreachable(format!(
            "ssh cannot be started: {error}; is openssh-client installed?"
        ))
    })?;
    // What the other machine says ends with other codes.
    if output.status.code() == Some(255) {
        return Err(HostError::Unreachable(refused(target, &words_of(&output))));
    }
    Ok(output)
}

fn refused(target: &str, words: &str) -> String {
    let advice = if words.contains("Permission denied") {
        format!(
            "ssh must reach it without a password: put your key there (ssh-copy-id {target}), or load it into your ssh-agent (ssh-add)"
        )
    } else if words.contains("Host key verification failed") {
        format!("`ssh {target}` once by hand, and accept its key if it is the right one")
    } else {
        format!("try `ssh {target}` by hand")
    };
    format!("ssh does not reach {target}: {words}; {advice}")
}

fn words_of(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    match lines.as_slice() {
        [] => format!("it ended with {}", output.status),
        lines => lines.join(" / "),
    }
}

/// Operating system and kind of processor, as `uname -sm` there says it.
fn uname() -> String {
    let uname = rustix::system::uname();
    format!("{} {}", uname.sysname().to_string_lossy(), uname.machine().to_string_lossy())
}

/// The last words of a process that carries, where it says any before it ends.
pub(crate) fn last_words(from: &mut impl Read) -> String {
    let mut bytes = VecDeque::new();
    let mut part = vec![0; 1 << 14];
    // Endless output is read on, so that the writer never blocks; only its end is kept.
    while let Ok(read @ 1..) = from.read(&mut part) {
        bytes.extend(&part[..read]);
        let surplus = bytes.len().saturating_sub(LAST_BYTES);
        bytes.drain(..surplus);
    }
    let text = String::from_utf8_lossy(bytes.make_contiguous()).into_owned();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(4)..].join(" / ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ssh_says_is_followed_by_what_to_do() {
        let refusal = refused("db1", "root@db1: Permission denied (publickey,password).");
        assert!(refusal.contains("ssh-copy-id db1"), "{refusal}");
        let unknown = refused("db1", "Host key verification failed.");
        assert!(unknown.contains("accept its key"), "{unknown}");
        let other = refused("db1", "Could not resolve hostname db1");
        assert!(other.ends_with("try `ssh db1` by hand"), "{other}");
    }

    #[test]
    fn options_and_commands_are_no_machines() {
        let here = Identity { program: "1".into(), hash: "0".repeat(64) };
        for target in ["-oProxyCommand=touch /tmp/x", "db1 touch"] {
            let refused = agent_command(target, Path::new("/bin/true"), &here);
            assert!(refused.is_err(), "{target}");
        }
    }
}
