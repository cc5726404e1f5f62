//! What the program needs of its surroundings before it begins anything: open files, printable names, and errors in place of signals.

use anyhow::bail;
use nix::sys::signal::{SigHandler, Signal, signal};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Fewest files that may be open at a time: the store, its log, the files of a run, and what undoing it takes.
const FEWEST_FILES: u64 = 64;

/// Variables that name folders, which appear in messages and in orders to other processes.
const FOLDERS: [&str; 5] = ["HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"];

/// Asks for as many open files as there may be, and takes a full file for an error of writing.
///
/// # Errors
/// What would end a run in its midst: too few open files, a folder whose name is no text.
pub fn ready() -> anyhow::Result<()> {
    // SAFETY: the handler does nothing. It is no `ignore`, which the programs that are started would inherit.
    unsafe { signal(Signal::SIGXFSZ, SigHandler::Handler(nothing)) }?;
    let files = getrlimit(Resource::Nofile);
    let most = files.maximum.unwrap_or(u64::MAX);
    if most < FEWEST_FILES {
        bail!(
            "no more than {most} files may be open, and {FEWEST_FILES} are needed: raise `ulimit -n`"
        );
    }
    if files.current.is_some_and(|now| now < most) {
        // Where the system gives less than it says, what there is must do.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: files.maximum, ..files });
    }
    for name in FOLDERS {
        if let Some(value) = std::env::var_os(name)
            && value.to_str().is_none()
        {
            bail!("{name} names a folder that is not valid UTF-8: {}", value.display());
        }
    }
    Ok(())
}

extern "C" fn nothing(_: i32) {}
