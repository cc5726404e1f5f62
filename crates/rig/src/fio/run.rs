//! fio as a process: started, watched, ended, listened to.

use crate::fio::measured::Measured;
use crate::fio::target::Ready;
use crate::fio::{FioError, Job, Target, job};
use plimsoll_record::FioResult;
use serde::{Deserialize, Serialize};
use std::io::{ErrorKind, Read};
use std::ops::ControlFlow;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How far fio is; handed to the caller several times a second. The caller answers with [`ControlFlow::Break`] to stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    pub label: String,
    pub part: u32,
    pub parts: u32,
    pub elapsed_ms: u64,
    /// What it will take, milliseconds; `None` where that depends on the disk.
    pub whole_ms: Option<u64>,
}

/// Both sides get the same, and whether to continue.
pub type Watch<'a> = dyn FnMut(&Progress) -> ControlFlow<()> + 'a;

/// Time between two looks at the child.
const LOOK: Duration = Duration::from_millis(50);
/// Beyond a job's own time, for laying out, the last requests and an answer.
const GRACE: Duration = Duration::from_secs(60);
/// For the pipes of a child that has ended, or that was killed and hangs in the kernel.
const LAST_WORDS: Duration = Duration::from_secs(10);
/// A disk that is slower than this, in bytes per second, is not waited for while a file is written.
const SLOWEST_FILL: u64 = 1 << 20;
/// Longest quotation of what fio says about a failure.
const LONGEST_QUOTE: usize = 600;

/// The version of fio on the PATH, such as `fio-3.33`.
pub fn version() -> Result<String, FioError> {
    let output =
        Command::new("fio").arg("--version").stdin(Stdio::null()).output().map_err(not_started)?;
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if output.status.success() && !said.is_empty() {
        return Ok(said);
    }
    Err(FioError::Failed {
        label: "--version".into(),
        said: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
    })
}

/// Runs one job on a target of which it uses at most this many bytes. In a directory, a file is written first and removed at the end;
/// until then it is in a journal in the state directory.
pub fn run_job(
    target: &Target,
    job: &Job,
    at_most_bytes: u64,
    state: &Path,
    watch: &mut Watch<'_>,
) -> Result<(FioResult, Measured), FioError> {
    let ready = Ready::make(target, at_most_bytes, state)?;
    let parts = if ready.is_new() { 2 } else { 1 };
    let mut session = Session::new(target, ready, parts, watch);
    let ended = session.fill_if_new().and_then(|()| session.job(job));
    session.finish(ended)
}

/// Several jobs on the same target.
pub(crate) struct Session<'a, 'w> {
    target: &'a Target,
    ready: Ready,
    part: u32,
    parts: u32,
    watch: &'a mut Watch<'w>,
}

impl<'a, 'w> Session<'a, 'w> {
    pub(crate) fn new(
        target: &'a Target,
        ready: Ready,
        parts: u32,
        watch: &'a mut Watch<'w>,
    ) -> Self {
        Self { target, ready, part: 0, parts, watch }
    }

    /// Fills the file of a directory, so that reads find data.
    pub(crate) fn fill_if_new(&mut self) -> Result<(), FioError> {
        if self.ready.is_new() { self.fill() } else { Ok(()) }
    }

    pub(crate) fn fill(&mut self) -> Result<(), FioError> {
        self.may_write()?;
        let arguments = job::filling(&self.ready.file, self.ready.size_bytes);
        let allowed = GRACE + Duration::from_secs(self.ready.size_bytes / SLOWEST_FILL);
        self.part += 1;
        let label = "writing the blocks";
        fio(label, &arguments, allowed, None, (self.part, self.parts), self.watch).map(drop)
    }

    pub(crate) fn job(&mut self, job: &Job) -> Result<(FioResult, Measured), FioError> {
        if job.kind.writes() {
            self.may_write()?;
        }
        let needed = u64::from(job.block_bytes) * u64::from(job.jobs.max(1));
        if self.ready.size_bytes < needed {
            return Err(FioError::TooSmall {
                path: self.target.path().to_owned(),
                size_bytes: self.ready.size_bytes,
                need_bytes: needed,
            });
        }
        let arguments = job.arguments(&self.ready.file, self.ready.size_bytes);
        let whole = Duration::from_millis(job.ramp_ms + job.runtime_ms);
        self.part += 1;
        let place = (self.part, self.parts);
        let text = fio(&job.label, &arguments, whole + GRACE, Some(whole), place, self.watch)?;
        let json = json_in(&text);
        let not_understood = |source| FioError::NotUnderstood { label: job.label.clone(), source };
        let measured = Measured::read(json).map_err(not_understood)?;
        let result = FioResult {
            label: job.label.clone(),
            command: format!("fio {}", arguments.join(" ")),
            json: serde_json::from_str(json).map_err(not_understood)?,
        };
        Ok((result, measured))
    }

    /// Removes what was made. Returns the first error.
    pub(crate) fn finish<T>(self, ended: Result<T, FioError>) -> Result<T, FioError> {
        let removed = self.ready.remove();
        let ended = ended?;
        removed?;
        Ok(ended)
    }

    fn may_write(&self) -> Result<(), FioError> {
        if self.target.takes_writes() {
            return Ok(());
        }
        Err(FioError::WritesRefused { path: self.target.path().to_owned() })
    }
}

/// Some versions say a few words before the JSON.
fn json_in(text: &str) -> &str {
    if text.starts_with('{') {
        return text;
    }
    text.find("\n{").map_or(text, |place| &text[place + 1..])
}

/// Runs fio and returns what it wrote to its standard output.
fn fio(
    label: &str,
    arguments: &[String],
    allowed: Duration,
    whole: Option<Duration>,
    (part, parts): (u32, u32),
    watch: &mut Watch<'_>,
) -> Result<String, FioError> {
    let begun = Instant::now();
    let mut running = Running::start(arguments)?;
    loop {
        if let Some(status) = running.child.try_wait().map_err(FioError::NotStarted)? {
            let (out, err) = running.last_words();
            if status.success() {
                return Ok(out);
            }
            let said = quoted(&err, &out).unwrap_or_else(|| format!("it ended with {status}"));
            return Err(FioError::Failed { label: label.to_owned(), said });
        }
        let progress = Progress {
            label: label.to_owned(),
            part,
            parts,
            elapsed_ms: millis(begun.elapsed()),
            whole_ms: whole.map(millis),
        };
        if watch(&progress).is_break() {
            return Err(FioError::Interrupted);
        }
        if begun.elapsed() > allowed {
            return Err(FioError::TooLong {
                label: label.to_owned(),
                allowed_s: allowed.as_secs(),
            });
        }
        thread::sleep(LOOK);
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn not_started(error: std::io::Error) -> FioError {
    if error.kind() == ErrorKind::NotFound {
        FioError::Missing
    } else {
        FioError::NotStarted(error)
    }
}

/// fio's own words, the errors first.
fn quoted(err: &str, out: &str) -> Option<String> {
    let lines: Vec<&str> = err
        .lines()
        .chain(out.lines().take_while(|line| !line.starts_with('{')))
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let said: String = lines.join("; ").chars().take(LONGEST_QUOTE).collect();
    (!said.is_empty()).then_some(said)
}

/// A child that does not outlive its owner.
struct Running {
    child: Child,
    out: Receiver<String>,
    err: Receiver<String>,
}

impl Running {
    fn start(arguments: &[String]) -> Result<Self, FioError> {
        let mut child = match spawn(through_setpriv().args(arguments)) {
            // Without it, fio survives a SIGKILL of this program by no more than its own run time.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                spawn(Command::new("fio").args(arguments)).map_err(not_started)?
            }
            started => started.map_err(not_started)?,
        };
        let out = listen(child.stdout.take());
        let err = listen(child.stderr.take());
        Ok(Self { child, out, err })
    }

    fn last_words(&self) -> (String, String) {
        let hear = |from: &Receiver<String>| from.recv_timeout(LAST_WORDS).unwrap_or_default();
        (hear(&self.out), hear(&self.err))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended is no longer there to kill.
        if self.child.kill().is_err() {
            return;
        }
        // A process that waits for a disk which hangs cannot be killed until the disk is gone: it is not waited for endlessly.
        let begun = Instant::now();
        while begun.elapsed() < LAST_WORDS {
            match self.child.try_wait() {
                Ok(None) => thread::sleep(LOOK),
                Ok(Some(_)) | Err(_) => return,
            }
        }
    }
}

/// fio, which the kernel ends when this thread ends without having waited for it.
fn through_setpriv() -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "fio"]);
    command
}

fn spawn(command: &mut Command) -> std::io::Result<Child> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // Ctrl-C is for this program to handle, not for its children.
        .process_group(0)
        .spawn()
}

fn listen(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (send, receive) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What came before an error is still worth quoting.
            let _ = pipe.read_to_end(&mut bytes);
        }
        // The receiver is gone if the child was given up.
        let _ = send.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receive
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_before_the_json_are_passed_over() {
        assert_eq!(json_in("{\n}"), "{\n}");
        assert_eq!(json_in("note: something\n{\n}"), "{\n}");
        assert_eq!(json_in("nothing"), "nothing");
    }

    #[test]
    fn a_failure_is_told_in_fios_words() {
        assert_eq!(
            quoted("fio: cannot open /dev/x\n\n", "fio: pid=7, err=13\n{\n \"jobs\": []\n}"),
            Some("fio: cannot open /dev/x; fio: pid=7, err=13".to_owned())
        );
        assert_eq!(quoted("", "{}"), None);
    }
}
