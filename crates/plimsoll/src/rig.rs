//! The process that needs root, started when it is first needed, or before this program gave up root's rights.

use anyhow::Context;
use plimsoll_disk::DaemonProgram;
use plimsoll_rig::{Allowed, RigProcess, RigProgram, serve};
use std::cell::OnceCell;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use crate::exit::Exit;

/// Set to the number of the socket by a program that has started the process and gave up root's rights then.
pub const SOCKET_VARIABLE: &str = "PLIMSOLL_RIG";

/// The process, when it is needed.
#[derive(Default)]
pub struct Rigs(OnceCell<RigProcess>);

impl Rigs {
    pub fn get(&self) -> anyhow::Result<&RigProcess> {
        if let Some(process) = self.0.get() {
            return Ok(process);
        }
        let process = match inherited() {
            Some(descriptor) => {
                // SAFETY: the variable is set for this program alone, by the one that it was before, which opened the socket for it.
                unsafe { RigProcess::inherited(descriptor) }.with_context(|| {
                    format!("{SOCKET_VARIABLE} is for plimsoll itself, and must not be set")
                })?
            }
            None => RigProcess::over(start()?),
        };
        Ok(self.0.get_or_init(|| process))
    }

    /// The same process once more, if it is gone. After root's rights are given up no other can be started.
    pub fn restarted(self) -> Option<Self> {
        drop(self);
        let again = Self::default();
        let process = inherited().is_none().then(start)?.ok()?;
        let _ = again.0.set(RigProcess::over(process));
        Some(again)
    }
}

fn inherited() -> Option<i32> {
    std::env::var(SOCKET_VARIABLE).ok()?.parse().ok()
}

/// How the process is started, with these further arguments.
pub fn program(mut further: Vec<String>) -> anyhow::Result<RigProgram> {
    let mut arguments = vec!["rig".to_owned()];
    arguments.append(&mut further);
    Ok(RigProgram {
        path: std::env::current_exe()
            .context("cannot find this program's own file to start processes from")?,
        arguments,
    })
}

/// Starts the process, and returns the socket that it listens to.
pub fn start() -> anyhow::Result<UnixStream> {
    program(Vec::new())?
        .start()
        .context("cannot start the process that makes disks, filesystems and servers")
}

/// The process itself, on the orders of the one that started it.
pub fn rig(allowed: Allowed) -> anyhow::Result<Exit> {
    let socket = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let daemon = DaemonProgram {
        path: std::env::current_exe()
            .context("cannot find this program's own file to start disks from")?,
        arguments: vec!["disk-daemon".into()],
    };
    serve(socket, daemon, allowed)
        .context("plimsoll starts this command itself: do not run it by hand")?;
    Ok(Exit::Good)
}
