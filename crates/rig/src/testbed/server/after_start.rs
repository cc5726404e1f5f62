//! Commands about the members of a server: the one that is run once when all of them answer, such as to make a replica set of them, and
//! the programs that query and change them while they run.

use super::member::exit_in_words;
use super::program::{command_line, environment, find_program};
use super::{Beginning, Layout, Starting, log};
use crate::testbed::TestbedError;
use crate::testbed::privileged::held::new_file_in;
use crate::testbed::privileged::kill::end_group;
use crate::testbed::processes::{MARK_VARIABLE, started_ticks};
use crate::testbed::step::Step;
use crate::testbed::wait::until;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Bytes of what a command says that are kept.
const LONGEST_SAID: u64 = 1 << 20;

/// This program, as it stands for `{plimsoll}`.
pub(super) fn own_program() -> PathBuf {
    std::env::current_exe().unwrap_or_else(|_| "plimsoll".into())
}

impl Starting<'_> {
    /// Runs a command about the members as they run, but outside of their limits, for it is not what is under test. What it says goes to the
    /// end of the first member's log, and is returned. It is ended when it is of no use any more.
    pub(super) fn run_command(
        &self,
        words: &[String],
        layout: &Layout,
        deadline: Instant,
        is_vain: impl Fn() -> bool,
    ) -> Result<String, TestbedError> {
        let places = self.places(layout);
        let words = self.filled(words, &places[0]);
        let [program, arguments @ ..] = words.as_slice() else {
            return Ok(String::new());
        };
        let own = own_program();
        let found =
            if Path::new(program) == own { own } else { find_program(&self.spec.name, program)? };
        let name = format!("command-{}.log", self.made.next_number());
        let said_in = self.place.home.path().join(&name);
        let failed = |error: io::Error| TestbedError::io("write", &said_in, error);
        let said = new_file_in(self.place.home, &name).map_err(failed)?;
        let Beginning { run, user, .. } = self.beginning;
        let mark = &layout.mark;
        let mut command = command_of(&found);
        command
            .args(arguments)
            .env_clear()
            .envs(environment())
            .env("HOME", run)
            .envs(self.environment_of(&places[0]))
            .env(MARK_VARIABLE, mark)
            .current_dir(run)
            .stdin(Stdio::null())
            .stdout(said.try_clone().map_err(failed)?)
            .stderr(said.try_clone().map_err(failed)?)
            .process_group(0);
        if let Some(user) = user {
            user.take_on(&mut command);
        }
        let requested = Instant::now();
        let mut child =
            command.spawn().map_err(|error| TestbedError::io("start", &found, error))?;
        // It has the mark of the server, so it is found as well if this program ends before the next line.
        let journaled = match started_ticks(child.id()) {
            Some(started_ticks) => self.made.making(Step::Process {
                process: child.id(),
                started_ticks,
                mark: mark.to_owned(),
            }),
            None => Ok(0),
        };
        if let Err(error) = journaled {
            end_group(&mut child);
            return Err(error);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let mut status = None;
        let ended = until(left, || {
            status = child.try_wait().ok().flatten();
            status.is_some() || is_vain()
        });
        if status.is_none() {
            end_group(&mut child);
        }
        let answer = self.append_to_log(&said_in).map_err(failed)?;
        if status.is_some_and(|status| status.success()) {
            return Ok(answer);
        }
        let how = if ended {
            exit_in_words(status)
        } else {
            let seconds = requested.elapsed().as_secs_f64().round();
            format!(
                "it had not ended after {seconds} s, and was killed; give it longer with `server: {{ready_within: …}}` if it needs that"
            )
        };
        Err(TestbedError::AfterStart {
            name: self.spec.name.clone(),
            command: command_line(Path::new(program), arguments),
            how,
            last_words: log::last_words(&said_in),
        })
    }

    /// Returns the beginning of what was said.
    fn append_to_log(&self, said_in: &Path) -> io::Result<String> {
        let mut said = Vec::new();
        File::open(said_in)?.take(LONGEST_SAID).read_to_end(&mut said)?;
        if let Some(mut log) = self.beginning.log_files.first() {
            log.write_all(&said)?;
        }
        Ok(String::from_utf8_lossy(&said).into_owned())
    }
}

/// The file of this program itself may be where the user of servers has no way to.
fn command_of(program: &Path) -> Command {
    if *program == own_program() {
        let mut command = Command::new("/proc/self/exe");
        command.arg0(program);
        return command;
    }
    Command::new(program)
}
