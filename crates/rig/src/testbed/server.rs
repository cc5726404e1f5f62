//! A server that is started for a run, on its storage and under its limits, and ended after it: one process, or several members.
//!
//! Each is started through a shell that waits for one word before it becomes the server: so the process is journaled, and is under its
//! limits, before it does anything that counts, and a program that dies in between leaves nothing behind. Where this program is root, the
//! server is not: it runs as the [`RunUser`], who owns its data.
//!
//! A server of several members is one server to everything above: ready when each member answers and `after_start` has exited with 0, sound
//! while all members live, stopped with the first member last. The limits apply to the server and not to its client. A server that exits by
//! itself, or has to be killed at the end, fails the run with its last output.

mod address;
mod after_start;
mod disturb;
mod log;
mod member;
mod program;

use crate::testbed::DataDirectory;
use crate::testbed::TestbedError;
use crate::testbed::groups::Group;
use crate::testbed::privileged::held::new_file_in;
use crate::testbed::privileged::kill::end_group;
use crate::testbed::processes::{MARK_VARIABLE, marked, own_start, started_ticks};
use crate::testbed::rig_parts::RigParts;
use crate::testbed::step::Step;
use crate::testbed::user::RunUser;
use crate::testbed::wait::until;
use address::Places;
pub use disturb::{Disturb, Disturbed};
use member::{Member, MemberState};
use plimsoll_record::{MemberRecord, ServerRecord, ServerSpec};
pub(crate) use program::{find_after_start, find_server};
use rustix::process::Signal;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// What the shell does. Servers hold a file open for each connection and table, of which the usual limit allows too few. A program in the background inherits
/// that SIGINT is ignored, and with it a server that is to be ended by that: a shell cannot change it back, `env` can (it takes a name with `=` for a variable).
const BECOME: &str = r#"read -r word || exit 1
ulimit -S -n 64000 2>/dev/null || ulimit -S -n "$(ulimit -H -n)"
case $1 in *=*) ;; *) if env --default-signal true 2>/dev/null; then exec env --default-signal "$@" </dev/null; fi ;; esac
exec "$@" </dev/null"#;
/// A port that was free can be taken before the server has it.
const ATTEMPTS: u32 = 4;
/// Time between two checks whether the server is ready.
const LOOK: Duration = Duration::from_millis(10);

/// Where a server of a run starts.
pub(crate) struct ServerPlace<'a> {
    /// The directory of the run.
    pub home: &'a DataDirectory,
    /// A directory on what is measured: empty, or with an empty one for each member.
    pub data: &'a Path,
    pub group: Option<&'a Group>,
}

/// A server that runs. It is killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    /// At least one. The first is ended last.
    members: Vec<Member>,
    pub(crate) address: String,
    pub(crate) record: ServerRecord,
    beginning: Beginning,
    layout: Layout,
}

/// What every start of a member of a server needs.
#[derive(Debug)]
struct Beginning {
    spec: ServerSpec,
    program: PathBuf,
    user: Option<RunUser>,
    run: PathBuf,
    logs: Vec<PathBuf>,
    log_files: Vec<File>,
}

/// Where the members of a server listen, and by what they are known.
#[derive(Debug)]
struct Layout {
    ports: Vec<u16>,
    /// Host and port of each.
    hosts: Vec<String>,
    all_hosts: String,
    own_program: PathBuf,
    mark: String,
}

/// The directory of a member, in that of the server with several.
pub(crate) fn member_directory(number: u32) -> String {
    format!("member-{number}")
}

impl Server {
    /// Starts it and waits until it is ready.
    pub(crate) fn start(
        spec: &ServerSpec,
        place: &ServerPlace<'_>,
        made: &RigParts,
    ) -> Result<Self, TestbedError> {
        let program = find_server(spec)?;
        let user = RunUser::here();
        let home = place.home.path();
        let count = spec.members.max(1) as usize;
        let logs = Self::logs_in(home, count);
        let mut log_files = Vec::new();
        for (place_of_log, log) in logs.iter().enumerate() {
            let file = new_file_in(place.home, &log_name(place_of_log));
            log_files.push(
                file.map_err(|error| TestbedError::io("make the log of the server", log, error))?,
            );
        }
        let (run, run_directory) = place.home.make("run")?;
        if let Some(user) = &user {
            user.own(&run_directory, &run)?;
        }
        let version = program::version(spec, &program, user.as_ref(), &run);
        let beginning = Beginning { spec: spec.clone(), program, user, run, logs, log_files };
        let mut attempt = 1;
        loop {
            let starting = beginning.at(place, made);
            match starting.once(version.clone()) {
                Err(Unstarted::PortTaken) if attempt < ATTEMPTS => {
                    tracing::info!(
                        "another program took a port of the server {}; trying other ports",
                        spec.name
                    );
                    attempt += 1;
                }
                Err(Unstarted::PortTaken) => {
                    return Err(TestbedError::ServerDied {
                        name: spec.name.clone(),
                        how: "its port was taken by others again and again".into(),
                        last_words: log::last_words(&beginning.logs[0]),
                    });
                }
                Err(Unstarted::Failed(error)) => return Err(error),
                Ok((members, layout, record)) => {
                    let places = starting.places(&layout);
                    return Ok(Self {
                        members,
                        address: places[0].filled(&spec.address),
                        record,
                        beginning,
                        layout,
                    });
                }
            }
        }
    }

    /// Where its members write what they say, in the directory of the run.
    pub(crate) fn logs_in(home: &Path, count: usize) -> Vec<PathBuf> {
        (0..count).map(|place| home.join(log_name(place))).collect()
    }

    /// Process ids of its members, in their order.
    pub(crate) fn processes(&self) -> Vec<u32> {
        self.members.iter().map(|member| member.process).collect()
    }

    /// Whether all of it still runs that is to run.
    pub(crate) fn is_alive(&self) -> Result<(), TestbedError> {
        let mut to_run = self.members.iter().filter(|member| member.state == MemberState::Up);
        to_run.try_for_each(Member::is_alive)
    }

    /// Ends it by SIGTERM and waits until it has ended; kills it when that takes too long. The first member, to which
    /// the others may still have to send something, is ended last.
    pub(crate) fn stop(&self) -> Result<(), TestbedError> {
        self.is_alive()?;
        self.members.iter().for_each(Member::go_on);
        let deadline = Instant::now() + self.stop_within();
        let (first, others) = self.members.split_at(1);
        let stopped = [others, first]
            .into_iter()
            .try_for_each(|members| self.stop_together(members, deadline));
        for member in &self.members {
            member.kill();
        }
        stopped
    }

    fn stop_within(&self) -> Duration {
        Duration::from_nanos(self.beginning.spec.stop_within_ns)
    }

    fn stop_together(&self, members: &[Member], deadline: Instant) -> Result<(), TestbedError> {
        let stop_signal = signal(&self.beginning.spec.stop_signal);
        let to_end = members.iter().filter(|member| member.is_started());
        let requested: Vec<(&Member, bool)> =
            to_end.map(|member| (member, member.ask_to_end(stop_signal))).collect();
        for (member, requested) in requested {
            let left = deadline.saturating_duration_since(Instant::now());
            if !(requested && until(left, || member.has_ended())) {
                return Err(TestbedError::ServerDoesNotEnd {
                    name: member.name.clone(),
                    seconds: self.stop_within().as_secs_f64(),
                    last_words: member.last_words(),
                });
            }
        }
        Ok(())
    }
}

fn log_name(place: usize) -> String {
    match place {
        0 => "server.log".into(),
        _ => format!("server-{}.log", place + 1),
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

impl Beginning {
    fn at<'a>(&'a self, place: &'a ServerPlace<'a>, made: &'a RigParts) -> Starting<'a> {
        Starting { beginning: self, spec: &self.spec, place, made }
    }
}

/// A start of members, or of commands about them.
struct Starting<'a> {
    beginning: &'a Beginning,
    spec: &'a ServerSpec,
    place: &'a ServerPlace<'a>,
    made: &'a RigParts,
}

impl Starting<'_> {
    fn once(
        &self,
        version: Option<String>,
    ) -> Result<(Vec<Member>, Layout, ServerRecord), Unstarted> {
        let spec = self.spec;
        let count = self.beginning.logs.len();
        let host = spec.host.as_deref().unwrap_or(address::LOOPBACK);
        let ports = address::free_ports(host, count)
            .map_err(|source| TestbedError::io("find free ports of", Path::new(host), source))?;
        let hosts: Vec<String> = ports.iter().map(|port| format!("{host}:{port}")).collect();
        let layout = Layout {
            ports,
            all_hosts: hosts.join(","),
            hosts,
            own_program: after_start::own_program(),
            mark: format!("server-{}-{}", self.made.journal().token(), self.made.next_number()),
        };
        let places = self.places(&layout);
        self.made.making(Step::Server { name: spec.name.clone(), mark: layout.mark.clone() })?;
        let begun = Instant::now();
        let mut members = Vec::new();
        let mut commands = Vec::new();
        for (place, places) in places.iter().enumerate() {
            let arguments = self.filled(&spec.arguments, places);
            commands.push(program::command_line(&self.beginning.program, &arguments));
            members.push(self.start_member(place, places, &layout)?);
        }
        let deadline = Instant::now() + Duration::from_nanos(spec.ready_within_ns);
        for member in &members {
            self.wait_for(member, &layout.mark, deadline)?;
        }
        let done = self.run_command(&spec.after_start, &layout, deadline, || {
            members.iter().any(Member::has_ended)
        });
        if let Err(error) = done {
            // A member that is gone is why, and not what follows from it.
            members.iter().try_for_each(Member::is_alive)?;
            return Err(error.into());
        }
        let records = layout.hosts.iter().zip(&commands).map(|(host, command)| MemberRecord {
            address: host.clone(),
            command: command.clone(),
            log: None,
        });
        let records = records.filter(|_| count > 1).collect();
        let record = ServerRecord {
            program: self.beginning.program.clone(),
            version,
            command: commands.swap_remove(0),
            user: self.beginning.user.as_ref().map(|user| user.name.clone()),
            log: None,
            members: records,
        };
        drop(places);
        tracing::info!(
            "the server {} is ready after {:.3} s",
            spec.name,
            begun.elapsed().as_secs_f64()
        );
        Ok((members, layout, record))
    }

    /// What the places in braces stand for, of each member.
    fn places<'a>(&'a self, layout: &'a Layout) -> Vec<Places<'a>> {
        let count = self.beginning.logs.len();
        let ports = layout.ports.iter().zip(&self.beginning.logs).zip(1..);
        ports
            .map(|((port, log), number)| Places {
                data: match count {
                    1 => self.place.data.to_owned(),
                    _ => self.place.data.join(member_directory(number)),
                },
                run: &self.beginning.run,
                log,
                port: *port,
                host: self.spec.host.as_deref().unwrap_or(address::LOOPBACK),
                members: &layout.all_hosts,
                plimsoll: &layout.own_program,
            })
            .collect()
    }

    fn filled(&self, words: &[String], places: &Places<'_>) -> Vec<String> {
        words.iter().map(|word| places.filled(word)).collect()
    }

    fn environment_of(&self, places: &Places<'_>) -> Vec<(String, String)> {
        let environment = self.spec.environment.iter();
        environment.map(|(name, value)| (name.clone(), places.filled(value))).collect()
    }

    /// Starts a member, which is journaled and under its limits before it does anything.
    fn start_member(
        &self,
        place: usize,
        places: &Places<'_>,
        layout: &Layout,
    ) -> Result<Member, TestbedError> {
        let count = self.beginning.logs.len();
        let (name, address) = match count {
            1 => (self.spec.name.clone(), places.filled(&self.spec.address)),
            _ => {
                let name = format!("{} (member {} of {count})", self.spec.name, place + 1);
                (name, layout.hosts[place].clone())
            }
        };
        let log = &self.beginning.logs[place];
        let log_file = &self.beginning.log_files[place];
        let held = log_file.try_clone();
        let held =
            held.map_err(|error| TestbedError::io("hold the log of the server", log, error))?;
        let mut child = self.spawn(places, log, log_file, &layout.mark)?;
        let process = child.id();
        let input = child.stdin.take();
        let Some(started_ticks) = started_ticks(process) else {
            end_group(&mut child);
            return Err(TestbedError::ProcessGone { process });
        };
        let member = Member {
            name,
            address,
            process,
            started_ticks,
            child: Mutex::new(child),
            data: places.data.clone(),
            log: log.clone(),
            log_file: held,
            state: MemberState::Up,
        };
        self.made.making(Step::Process { process, started_ticks, mark: layout.mark.clone() })?;
        if let Some(group) = self.place.group {
            group.admit(process)?;
        }
        tracing::debug!(
            "the server {} is process {process}; it will listen at {}",
            member.name,
            member.address
        );
        if let Some(mut input) = input {
            // A shell that is gone is noticed later.
            let _: io::Result<()> = input.write_all(b"go\n");
        }
        Ok(member)
    }

    /// Starts the shell, which waits.
    fn spawn(
        &self,
        places: &Places<'_>,
        log: &Path,
        log_file: &File,
        mark: &str,
    ) -> Result<Child, TestbedError> {
        let failed = |error| TestbedError::io("write the log of the server", log, error);
        let output = log_file.try_clone().map_err(failed)?;
        let errors = log_file.try_clone().map_err(failed)?;
        let Beginning { program, run, user, .. } = self.beginning;
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", BECOME, "sh"])
            .arg(program)
            .args(self.filled(&self.spec.arguments, places))
            .env_clear()
            .envs(program::environment())
            .env("HOME", run)
            .envs(self.environment_of(places))
            .env(MARK_VARIABLE, mark)
            .current_dir(run)
            .stdin(Stdio::piped())
            .stdout(output)
            .stderr(errors)
            // An interruption typed at the terminal is for this program, which ends the server in order.
            .process_group(0);
        if let Some(user) = user {
            user.take_on(&mut command);
        }
        command.spawn().map_err(|error| TestbedError::io("start", Path::new("/bin/sh"), error))
    }

    /// Waits until a member answers.
    fn wait_for(&self, member: &Member, mark: &str, deadline: Instant) -> Result<(), Unstarted> {
        let address = &member.address;
        loop {
            let status = member
                .ended()
                .map_err(|error| TestbedError::io("wait for", &self.beginning.program, error))?;
            if let Some(status) = status {
                if address::answers(address) {
                    return Err(Unstarted::PortTaken);
                }
                return Err(Unstarted::Failed(member.died(Some(status))));
            }
            // Who answers may be another, who was faster; then the server ends.
            if address::answers(address)
                && address::is_of(address, || {
                    let marked = marked(mark, own_start());
                    let mut processes: Vec<u32> = marked.iter().map(|found| found.0).collect();
                    processes.push(member.process);
                    processes
                })
            {
                return Ok(());
            }
            if Instant::now() >= deadline {
                return Err(Unstarted::Failed(TestbedError::ServerNotReady {
                    name: member.name.clone(),
                    address: address.clone(),
                    seconds: self.spec.ready_within_ns as f64 / 1e9,
                    last_words: member.last_words(),
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

#[cfg(test)]
mod tests;
