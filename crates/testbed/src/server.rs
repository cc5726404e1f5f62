//! A server that is started for a run, on its storage and under its limits, and ended after it.
//!
//! It is started through a shell that waits for one word before it becomes the server: so the process is journaled, and is under its
//! limits, before it does anything that counts, and a program that dies in between leaves nothing behind. Where this program is root, the
//! server is not: it runs as the [`RunUser`], who owns its data.

mod address;
mod log;
mod program;

use crate::DataDirectory;
use crate::TestbedError;
use crate::groups::Group;
use crate::made::Made;
use crate::privileged::held::new_file_in;
use crate::privileged::kill::{ask, end_group};
use crate::processes::{MARK_VARIABLE, marked, own_start, started_ticks};
use crate::step::Step;
use crate::user::RunUser;
use crate::wait::until;
use address::Places;
use plimsoll_record::{ServerRecord, ServerSpec};
pub(crate) use program::find_server;
use rustix::process::Signal;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What the shell does. Servers hold a file open for each connection and table, of which the usual limit allows too few. A program in the background inherits
/// that SIGINT is ignored, and with it a server that is to be ended by that: a shell cannot change it back, `env` can (it takes a name with `=` for a variable).
const BECOME: &str = r#"read -r word || exit 1
ulimit -S -n 64000 2>/dev/null || ulimit -S -n "$(ulimit -H -n)"
case $1 in *=*) ;; *) if env --default-signal true 2>/dev/null; then exec env --default-signal "$@" </dev/null; fi ;; esac
exec "$@" </dev/null"#;
/// In the directory of the run.
const LOG: &str = "server.log";
/// A port that was free can be taken before the server has it.
const ATTEMPTS: u32 = 4;
/// How often it is looked whether the server is ready.
const LOOK: Duration = Duration::from_millis(10);
/// How long a killed process may take to go.
const LONGEST_END: Duration = Duration::from_secs(10);
/// With less room than this a disk counts as full: a server that was refused a larger piece may have left some.
const FULL_BYTES: u64 = 1 << 20;

/// Where a server of a run is to be started.
pub(crate) struct ServerPlace<'a> {
    /// The directory of the run.
    pub home: &'a DataDirectory,
    /// An empty directory on what is measured.
    pub data: &'a Path,
    /// Its limits.
    pub group: Option<&'a Group>,
}

/// A server that runs. It is killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    name: String,
    process: u32,
    started_ticks: u64,
    child: Mutex<Child>,
    pub(crate) address: String,
    data: PathBuf,
    log: PathBuf,
    stop_signal: Signal,
    stop_within: Duration,
    pub(crate) record: ServerRecord,
}

impl Server {
    /// Starts it and waits until it is ready.
    pub(crate) fn start(
        spec: &ServerSpec,
        place: &ServerPlace<'_>,
        made: &Made,
    ) -> Result<Self, TestbedError> {
        let program = find_server(spec)?;
        let user = RunUser::here();
        let home = place.home.path();
        let log = Self::log_in(home);
        let log_file = new_file_in(place.home, LOG)
            .map_err(|error| TestbedError::io("make the log of the server", &log, error))?;
        let (run, run_directory) = place.home.make("run")?;
        if let Some(user) = &user {
            user.own(&run_directory, &run)?;
        }
        let version = program::version(spec, &program, user.as_ref(), &run);
        let mut starting = Starting {
            spec,
            place,
            made,
            program: &program,
            user: user.as_ref(),
            run: &run,
            log: &log,
            log_file,
            version,
        };
        let mut attempt = 1;
        loop {
            match starting.once() {
                Err(Unstarted::PortTaken) if attempt < ATTEMPTS => attempt += 1,
                Err(Unstarted::PortTaken) => {
                    return Err(TestbedError::ServerDied {
                        name: spec.name.clone(),
                        how: "its port was taken by others again and again".into(),
                        last_words: log::last_words(&log),
                    });
                }
                Err(Unstarted::Failed(error)) => return Err(error),
                Ok(server) => return Ok(server),
            }
        }
    }

    /// Where it writes what it says, in the directory of the run.
    pub(crate) fn log_in(home: &Path) -> PathBuf {
        home.join(LOG)
    }

    pub(crate) fn process(&self) -> u32 {
        self.process
    }

    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it still runs.
    pub(crate) fn is_alive(&self) -> Result<(), TestbedError> {
        if started_ticks(self.process) == Some(self.started_ticks) {
            return Ok(());
        }
        // Of a killed process the first thread ends before the others do, and only with the last does it tell how it ended.
        let mut status = None;
        until(LONGEST_END, || {
            status = self.child().try_wait().ok().flatten();
            status.is_some()
        });
        Err(TestbedError::ServerDied {
            name: self.name.clone(),
            how: how_it_ended(status, &[&self.data, &self.log]),
            last_words: log::last_words(&self.log),
        })
    }

    /// Asks it to end and waits until it has; kills it when that takes too long, or when it was asked in vain.
    pub(crate) fn stop(&self) -> Result<(), TestbedError> {
        self.is_alive()?;
        let asked = ask(&self.child(), self.stop_signal);
        let ended = asked
            && until(self.stop_within, || {
                !matches!(self.child().try_wait(), Ok(None))
            });
        if ended {
            return Ok(());
        }
        self.kill();
        Err(TestbedError::ServerDoesNotEnd {
            name: self.name.clone(),
            seconds: self.stop_within.as_secs_f64(),
            last_words: log::last_words(&self.log),
        })
    }

    /// With all processes that it started, as far as they are in its group.
    fn kill(&self) {
        let mut child = self.child();
        if matches!(child.try_wait(), Ok(None)) {
            end_group(&mut child);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Why an attempt came to nothing.
enum Unstarted {
    PortTaken,
    Failed(TestbedError),
}

impl From<TestbedError> for Unstarted {
    fn from(error: TestbedError) -> Self {
        Self::Failed(error)
    }
}

/// All that an attempt to start needs.
struct Starting<'a> {
    spec: &'a ServerSpec,
    place: &'a ServerPlace<'a>,
    made: &'a Made,
    program: &'a Path,
    user: Option<&'a RunUser>,
    run: &'a Path,
    log: &'a Path,
    log_file: File,
    version: Option<String>,
}

impl Starting<'_> {
    fn once(&mut self) -> Result<Server, Unstarted> {
        let spec = self.spec;
        let places = Places {
            data: self.place.data,
            run: self.run,
            log: self.log,
            port: address::free_port().map_err(|source| {
                TestbedError::io("find a free port of", Path::new("127.0.0.1"), source)
            })?,
        };
        let arguments: Vec<String> = spec
            .arguments
            .iter()
            .map(|word| places.filled(word))
            .collect();
        let address = places.filled(&spec.address);
        let mark = format!(
            "server-{}-{}",
            self.made.journal().token(),
            self.made.next_number()
        );
        self.made.making(Step::Server {
            name: spec.name.clone(),
            mark: mark.clone(),
        })?;
        let mut child = self.spawn(&arguments, &places, &mark)?;
        let readied = self.admit_and_wait(&mut child, &address, &mark);
        let started_ticks = match readied {
            Ok(started_ticks) => started_ticks,
            Err(why) => {
                end_group(&mut child);
                return Err(why);
            }
        };
        Ok(Server {
            name: spec.name.clone(),
            process: child.id(),
            started_ticks,
            child: Mutex::new(child),
            address,
            data: self.place.data.to_owned(),
            log: self.log.to_owned(),
            stop_signal: signal(&spec.stop_signal),
            stop_within: Duration::from_nanos(spec.stop_within_ns),
            record: ServerRecord {
                program: self.program.to_owned(),
                version: self.version.take(),
                command: program::command_line(self.program, &arguments),
                user: self.user.map(|user| user.name.clone()),
                log: None,
            },
        })
    }

    /// Starts the shell, which waits.
    fn spawn(
        &self,
        arguments: &[String],
        places: &Places<'_>,
        mark: &str,
    ) -> Result<Child, TestbedError> {
        let failed = |error| TestbedError::io("write the log of the server", self.log, error);
        let log = self.log_file.try_clone().map_err(failed)?;
        let errors = log.try_clone().map_err(failed)?;
        let environment = self.spec.environment.iter();
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", BECOME, "sh"])
            .arg(self.program)
            .args(arguments)
            .env_clear()
            .envs(program::environment())
            .env("HOME", self.run)
            .envs(environment.map(|(name, value)| (name, places.filled(value))))
            .env(MARK_VARIABLE, mark)
            .current_dir(self.run)
            .stdin(Stdio::piped())
            .stdout(log)
            .stderr(errors)
            // An interruption typed at the terminal is for this program, which ends the server in order.
            .process_group(0);
        if let Some(user) = self.user {
            user.take_on(&mut command);
        }
        command
            .spawn()
            .map_err(|error| TestbedError::io("start", Path::new("/bin/sh"), error))
    }

    /// Lets the shell become the server, and returns when that was started.
    fn admit_and_wait(
        &self,
        child: &mut Child,
        address: &str,
        mark: &str,
    ) -> Result<u64, Unstarted> {
        let process = child.id();
        let gone = TestbedError::ProcessGone { process };
        let started_ticks = started_ticks(process).ok_or(gone)?;
        self.made.making(Step::Process {
            process,
            started_ticks,
            mark: mark.to_owned(),
        })?;
        if let Some(group) = self.place.group {
            group.admit(process)?;
        }
        let mut input = child.stdin.take().expect("standard input is a pipe");
        // A shell that is gone is noticed below.
        let _: io::Result<()> = input.write_all(b"go\n");
        drop(input);
        let name = || self.spec.name.clone();
        let within = Duration::from_nanos(self.spec.ready_within_ns);
        let begun = Instant::now();
        loop {
            let status = child
                .try_wait()
                .map_err(|error| TestbedError::io("wait for", self.program, error))?;
            if let Some(status) = status {
                if address::answers(address) {
                    return Err(Unstarted::PortTaken);
                }
                return Err(Unstarted::Failed(TestbedError::ServerDied {
                    name: name(),
                    how: how_it_ended(Some(status), &[self.place.data, self.log]),
                    last_words: log::last_words(self.log),
                }));
            }
            // Who answers may be another, who was faster; then the server ends.
            if address::answers(address)
                && address::is_of(address, || {
                    let marked = marked(mark, own_start());
                    let mut processes: Vec<u32> = marked.iter().map(|found| found.0).collect();
                    processes.push(process);
                    processes
                })
            {
                return Ok(started_ticks);
            }
            if begun.elapsed() >= within {
                return Err(Unstarted::Failed(TestbedError::ServerNotReady {
                    name: name(),
                    address: address.to_owned(),
                    seconds: within.as_secs_f64(),
                    last_words: log::last_words(self.log),
                }));
            }
            std::thread::sleep(LOOK);
        }
    }
}

fn signal(word: &str) -> Signal {
    match word {
        "INT" => Signal::INT,
        "QUIT" => Signal::QUIT,
        _ => Signal::TERM,
    }
}

/// In words. A server on a full disk often cannot even write why it ends, so it is looked whether one of the places that it writes to is full.
fn how_it_ended(status: Option<ExitStatus>, places: &[&Path]) -> String {
    let how = exit_in_words(status);
    match places.iter().find(|place| is_full(place)) {
        Some(place) => format!("{how}, and the disk of {} is full", place.display()),
        None => how,
    }
}

fn is_full(place: &Path) -> bool {
    rustix::fs::statvfs(place)
        .is_ok_and(|status| status.f_bavail.saturating_mul(status.f_frsize) < FULL_BYTES)
}

fn exit_in_words(status: Option<ExitStatus>) -> String {
    let Some(status) = status else {
        return "it is gone".into();
    };
    match (status.signal(), status.code()) {
        (Some(9), _) => {
            "it was killed (SIGKILL): by somebody, or by the kernel for want of memory, which `dmesg` would tell".into()
        }
        (Some(signal), _) => format!("it crashed with signal {signal}"),
        (None, Some(code)) => format!("it ended with exit code {code}"),
        (None, None) => "it ended".into(),
    }
}

#[cfg(test)]
mod tests;
