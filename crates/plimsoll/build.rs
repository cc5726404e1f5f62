//! Puts into the program which commit it is built from.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=../../.git/HEAD");
    println!("cargo:rerun-if-changed=../../.git/index");
    println!("cargo:rerun-if-env-changed=PLIMSOLL_COMMIT");
    println!("cargo:rustc-env=PLIMSOLL_COMMIT={}", commit());
}

/// The commit, `-dirty` when a tracked file was changed. `PLIMSOLL_COMMIT` names that of a source without a repository, which is `unknown` otherwise.
fn commit() -> String {
    if let Ok(commit) = std::env::var("PLIMSOLL_COMMIT")
        && !commit.is_empty()
    {
        return commit;
    }
    let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) else {
        return "unknown".into();
    };
    // Without the option, git may write the index, on which this script depends.
    match git(&["--no-optional-locks", "status", "--porcelain", "--untracked-files=no"]) {
        Some(changes) if !changes.is_empty() => format!("{commit}-dirty"),
        _ => commit,
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
