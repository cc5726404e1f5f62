//! The process of an emulated disk, as its starter sees it.

use crate::DiskError;
use crate::fuse::IMAGE;
use crate::mount::{abort, is_abandoned, unmount};
use crate::order::{DaemonOrder, Greeting};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// How long a daemon may take to begin. It allocates its trace first.
const LONGEST_BEGIN: Duration = Duration::from_secs(60);
/// How long a daemon may take to end by itself.
const LONGEST_END: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(5);

/// How a daemon is started: a program that calls [`crate::serve`] when it is given these arguments.
#[derive(Clone, Debug)]
pub struct DaemonProgram {
    pub path: PathBuf,
    pub arguments: Vec<OsString>,
}

/// A daemon that was started. It is ended when this is dropped.
#[derive(Debug)]
pub struct Daemon {
    child: Child,
    /// Its end is the end of the daemon.
    input: Option<ChildStdin>,
    mount_point: PathBuf,
}

impl Daemon {
    /// Starts a daemon and waits until its disk is ready.
    pub fn start(program: &DaemonProgram, order: &DaemonOrder) -> Result<Self, DiskError> {
        // A group of its own: what is typed at the terminal is for the runner.
        let mut command = Command::new(&program.path);
        command
            .args(&program.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        // SAFETY: one system call with plain numbers, between fork and exec.
        unsafe { command.pre_exec(keep_only_standard_streams) };
        let mut child = command.spawn().map_err(|error| {
            DiskError::io(format!("be started ({})", program.path.display()), error)
        })?;
        let output = child.stdout.take().expect("standard output is a pipe");
        let errors = child.stderr.take().expect("standard error is a pipe");
        let mut daemon =
            Self { input: child.stdin.take(), child, mount_point: order.mount_point.clone() };
        let mut text =
            serde_json::to_string(order).map_err(|error| DiskError::Order(error.to_string()))?;
        text.push('\n');
        if let Some(input) = &mut daemon.input {
            // A daemon that is gone already is noticed by its silence.
            let _ = input.write_all(text.as_bytes());
        }
        let (sender, greeted) = channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            let _ = BufReader::new(output).read_line(&mut line);
            let _ = sender.send(line);
        });
        let line = greeted.recv_timeout(LONGEST_BEGIN).unwrap_or_default();
        match serde_json::from_str(&line) {
            Ok(Greeting::Ready(_)) => {
                // Its complaints need no reader, and it must not block on them.
                std::thread::spawn(move || {
                    let _ = std::io::copy(&mut { errors }, &mut std::io::sink());
                });
                Ok(daemon)
            }
            Ok(Greeting::Failed(why)) => Err(DiskError::Refused(why)),
            Err(_) => {
                daemon.kill();
                let mut last_words = String::new();
                let _ = errors.take(2_000).read_to_string(&mut last_words);
                Err(DiskError::Died(format!(
                    "it did not begin; its last words: {}",
                    last_words.trim()
                )))
            }
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The file that is the disk.
    pub fn image(&self) -> PathBuf {
        self.mount_point.join(IMAGE)
    }

    /// Whether the process is still there.
    pub fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Ends the daemon: by asking first, then by SIGKILL. Whatever still waits for the disk gets an I/O error, and the mount is gone.
    pub fn stop(mut self) -> Result<(), DiskError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), DiskError> {
        drop(self.input.take());
        let begun = Instant::now();
        while self.is_alive() && begun.elapsed() < LONGEST_END {
            std::thread::sleep(LOOK);
        }
        self.kill();
        if self.is_alive() {
            // One of its threads waits for the host forever. Then at least no caller waits for the daemon.
            abort(&self.mount_point);
            return Err(DiskError::Died(format!(
                "process {} was killed and does not end: the host's disk does not answer it",
                self.pid()
            )));
        }
        // Unmount only what the daemon left behind: if it never began, the mount at this place is not ours.
        if !is_abandoned(&self.mount_point) {
            return Ok(());
        }
        unmount(&self.mount_point).map_err(|error| {
            DiskError::io(format!("be unmounted from {}", self.mount_point.display()), error)
        })
    }

    fn kill(&mut self) {
        // It may be stopped, or gone.
        let _ = self.child.kill();
        let killed = Instant::now();
        while self.is_alive() && killed.elapsed() < LONGEST_END {
            std::thread::sleep(LOOK);
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if self.input.is_some() || self.is_alive() {
            let _ = self.end();
        }
    }
}

/// Marks whatever the starter has open to be closed in the daemon, also what a library opened without this mark: a daemon that had somebody's pipe,
/// lock or disk open would keep it.
fn keep_only_standard_streams() -> std::io::Result<()> {
    // SAFETY: plain numbers. Kernels before 5.11 do not know it; there the starter's own marks must do.
    unsafe {
        libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC)
    };
    Ok(())
}
