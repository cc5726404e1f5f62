//! The machines that runs are made on: this one, and others behind agents.

use crate::cpu_task::cpu_task_ns;
use crate::error::RunnerError;
use plimsoll_engine::MetricsSample;
use plimsoll_record::files::read_line_within;
use plimsoll_record::{ClockOffset, Machine};
use plimsoll_rig::{MARK_VARIABLE, RigError, RigProcess, User};
use plimsoll_telemetry::{Host, on_processors};
use serde::{Deserialize, Serialize};
use std::convert::identity;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::rc::Rc;
use std::thread::JoinHandle;

/// Lines of a worker's standard error that are kept for the message when it dies.
const LAST_WORDS: usize = 8;
/// Bytes of one of them.
const LONGEST_WORD: usize = 64 << 10;

/// Finds how the clock of a machine stands to that of this one, or why it cannot. It takes a while, so those of several machines are read at the same time.
pub type ClockReader = Box<dyn FnOnce() -> Result<ClockOffset, String> + Send>;

/// A machine that runs are made on. What is done there by order of the rig, or by a worker, is the same on all.
pub trait RunHost {
    /// Who makes disks, filesystems, limits and servers there.
    fn rigs(&self) -> &RigProcess;

    /// Whether it was reachable and no longer is.
    fn is_lost(&self) -> bool;

    /// What it is, and how busy.
    fn machine(&self) -> Result<Machine, RigError>;

    /// Median time of the CPU probe task, nanoseconds.
    fn cpu_task_ns(&self) -> Result<u64, RigError>;

    /// Finds how its clock stands to that of this machine.
    fn clock_reader(&self) -> ClockReader;

    /// Starts a worker. It is the child of who speaks with the rig there, so that the rig admits it.
    fn start_worker(&self, start: &WorkerStart) -> Result<StartedWorker, RunnerError>;

    /// What a server wrote about itself into its data directory.
    fn own_metrics(&self, engine: &str, directory: &Path) -> std::io::Result<Vec<MetricsSample>>;

    /// Whether its files are those of this program.
    fn is_here(&self) -> bool;

    /// Copies a file of a rig that was made there: a log, or a trace.
    fn fetch(&self, file: &Path, to: &mut File) -> std::io::Result<()>;
}

/// The machines of an experiment.
pub trait Hosts {
    /// The machine with this name in the file, `None`: the one that the program runs on. A connection that was lost is made again.
    fn host(&self, name: Option<&str>) -> Result<Rc<dyn RunHost + '_>, RunnerError>;
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerStart {
    /// Whether its allocator gives memory back at once.
    pub frugal: bool,
    /// By which it is known when it outlives the program.
    pub mark: Option<String>,
    /// As whom it runs where the program is root.
    pub user: Option<User>,
    /// Variables of the environment that its arm asks for, beside those that all programs need.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<String>,
    /// Processors that it may use, by their numbers; `None`: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<Vec<u32>>,
}

pub struct StartedWorker {
    /// Its id, on its machine.
    pub process: u32,
    pub input: Box<dyn Write + Send>,
    pub output: Box<dyn Read + Send>,
    pub handle: Box<dyn WorkerHandle>,
}

/// A worker process, to be ended and waited for.
pub trait WorkerHandle: Send {
    fn kill(&mut self);

    /// Waits until it has ended. Called once, after its output has ended or it was killed.
    fn wait(&mut self) -> WorkerExit;
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerExit {
    /// As the system reports it; `None` where it is unknown.
    pub status: Option<i32>,
    /// The last lines that it wrote to its standard error.
    pub last_words: Vec<String>,
}

impl WorkerExit {
    /// The status, if it is known.
    pub(crate) fn status(&self) -> Option<ExitStatus> {
        self.status.map(ExitStatus::from_raw)
    }
}

/// How a worker process is started: the program itself with a hidden command.
#[derive(Clone, Debug)]
pub struct WorkerProgram {
    pub path: PathBuf,
    pub arguments: Vec<String>,
    /// Environment for runs whose memory is limited: what makes the program's allocator give memory back.
    pub frugal: Vec<(String, String)>,
}

impl WorkerProgram {
    /// Starts a worker on this machine.
    pub fn start(&self, start: &WorkerStart) -> Result<StartedWorker, RunnerError> {
        let frugal: &[_] = if start.frugal { &self.frugal } else { &[] };
        // A group of its own: an interruption typed at the terminal goes to the runner alone, which ends the worker in order.
        let mut command = Command::new(self.to_run());
        command
            .arg0(&self.path)
            .args(&self.arguments)
            // The worker may run as the user of a server under test, which can then read what the worker knows.
            .env_clear()
            .envs(kept_variables(&start.variables))
            .envs(frugal.iter().map(|(name, value)| (name, value)))
            .envs(start.mark.iter().map(|mark| (MARK_VARIABLE, mark)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        if let Some(user) = start.user.filter(|_| rustix::process::geteuid().is_root()) {
            command.uid(user.user).gid(user.group);
        }
        let spawned = match &start.processors {
            None => command.spawn(),
            Some(processors) => on_processors(processors, || command.spawn()).and_then(identity),
        };
        let mut child =
            spawned.map_err(|source| RunnerError::Spawn { path: self.path.clone(), source })?;
        let errors = child.stderr.take().expect("standard error is a pipe");
        Ok(StartedWorker {
            process: child.id(),
            input: Box::new(child.stdin.take().expect("standard input is a pipe")),
            output: Box::new(child.stdout.take().expect("standard output is a pipe")),
            handle: Box::new(LocalWorker {
                child,
                errors: Some(std::thread::spawn(move || last_lines(errors))),
            }),
        })
    }

    /// What the system is to run. The file of this program itself may be where the user of the worker has no way to.
    fn to_run(&self) -> &Path {
        let own = Path::new("/proc/self/exe");
        let is_own = std::env::current_exe().is_ok_and(|this| this == self.path);
        if is_own { own } else { &self.path }
    }
}

/// Environment variables that a worker inherits: paths of programs and certificates, language, time zone. `LLVM_PROFILE_FILE` is for builds that measure
/// coverage.
const KEPT: [&str; 8] = [
    "PATH",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "LLVM_PROFILE_FILE",
];

fn kept_variables(requested: &[String]) -> Vec<(String, OsString)> {
    let names = KEPT.into_iter().chain(requested.iter().map(String::as_str));
    let found = names.filter_map(|name| Some((name.to_owned(), std::env::var_os(name)?)));
    found.collect()
}

pub fn this_machine() -> Machine {
    let mut machine = Host::here().machine();
    machine.program_clock = Some(plimsoll_loadgen::program_clock().into());
    machine
}

/// The machine that this process runs on.
#[derive(Clone, Debug)]
pub struct LocalHost<'a> {
    /// Who makes what the runs stand on.
    pub rigs: &'a RigProcess,
    pub worker: WorkerProgram,
}

impl RunHost for LocalHost<'_> {
    fn rigs(&self) -> &RigProcess {
        self.rigs
    }

    fn is_lost(&self) -> bool {
        false
    }

    fn machine(&self) -> Result<Machine, RigError> {
        Ok(this_machine())
    }

    fn cpu_task_ns(&self) -> Result<u64, RigError> {
        Ok(cpu_task_ns())
    }

    fn clock_reader(&self) -> ClockReader {
        Box::new(|| Ok(ClockOffset::default()))
    }

    fn start_worker(&self, start: &WorkerStart) -> Result<StartedWorker, RunnerError> {
        self.worker.start(start)
    }

    fn own_metrics(&self, engine: &str, directory: &Path) -> std::io::Result<Vec<MetricsSample>> {
        plimsoll_engine::own_metrics(engine, directory)
    }

    fn is_here(&self) -> bool {
        true
    }

    fn fetch(&self, file: &Path, to: &mut File) -> std::io::Result<()> {
        std::io::copy(&mut File::open(file)?, to).map(drop)
    }
}

/// An experiment on this machine alone.
impl Hosts for LocalHost<'_> {
    fn host(&self, name: Option<&str>) -> Result<Rc<dyn RunHost + '_>, RunnerError> {
        match name {
            None => Ok(Rc::new(self.clone())),
            Some(name) => Err(RunnerError::HostLost {
                name: name.to_owned(),
                why: "there are no other machines".into(),
            }),
        }
    }
}

struct LocalWorker {
    child: Child,
    errors: Option<JoinHandle<Vec<String>>>,
}

impl WorkerHandle for LocalWorker {
    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn wait(&mut self) -> WorkerExit {
        let status = self.child.wait().ok();
        let errors = self.errors.take().and_then(|errors| errors.join().ok());
        WorkerExit {
            status: status.map(ExitStatusExt::into_raw),
            last_words: errors.unwrap_or_default(),
        }
    }
}

fn last_lines(from: impl Read) -> Vec<String> {
    let mut last = Vec::new();
    let mut from = BufReader::new(from);
    let mut line = String::new();
    while let Ok(true) = read_line_within(&mut from, &mut line, LONGEST_WORD) {
        if last.len() == LAST_WORDS {
            last.remove(0);
        }
        last.push(std::mem::take(&mut line));
    }
    // The writer must not wait for a reader.
    let _ = std::io::copy(&mut from, &mut std::io::sink());
    last
}
