//! The command that is run once when all members of a server answer, such as the one that makes a replica set of them.

use super::member::{Member, exit_in_words};
use super::program::{command_line, environment, find_program};
use super::{Starting, log};
use crate::TestbedError;
use crate::privileged::held::new_file_in;
use crate::privileged::kill::end_group;
use crate::processes::{MARK_VARIABLE, started_ticks};
use crate::step::Step;
use crate::wait::until;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// In the directory of the run.
const LOG: &str = "after-start.log";

/// This program, as it stands for `{plimsoll}`.
pub(super) fn own_program() -> PathBuf {
    std::env::current_exe().unwrap_or_else(|_| "plimsoll".into())
}

impl Starting<'_> {
    /// Runs the command as the members run, but outside of their limits, for it is not what is under test. What it says goes to the end of
    /// the server's log. It is ended when a member is gone, for which it might wait in vain.
    pub(super) fn run_after_start(
        &self,
        words: &[String],
        environment_of_spec: &[(String, String)],
        mark: &str,
        deadline: Instant,
        members: &[Member],
    ) -> Result<(), TestbedError> {
        let [program, arguments @ ..] = words else {
            return Ok(());
        };
        let own = own_program();
        let found = if Path::new(program) == own {
            own
        } else {
            find_program(&self.spec.name, program)?
        };
        let said_in = self.place.home.path().join(LOG);
        let failed = |error: io::Error| TestbedError::io("write", &said_in, error);
        let said = new_file_in(self.place.home, LOG).map_err(failed)?;
        let mut command = command_of(&found);
        command
            .args(arguments)
            .env_clear()
            .envs(environment())
            .env("HOME", self.run)
            .envs(environment_of_spec.iter().cloned())
            .env(MARK_VARIABLE, mark)
            .current_dir(self.run)
            .stdin(Stdio::null())
            .stdout(said.try_clone().map_err(failed)?)
            .stderr(said.try_clone().map_err(failed)?)
            .process_group(0);
        if let Some(user) = self.user {
            user.take_on(&mut command);
        }
        let mut child = command
            .spawn()
            .map_err(|error| TestbedError::io("start", &found, error))?;
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
            status.is_some() || members.iter().any(Member::has_ended)
        });
        if status.is_none() {
            end_group(&mut child);
        }
        self.append_to_log(&said_in).map_err(failed)?;
        if status.is_some_and(|status| status.success()) {
            return Ok(());
        }
        let how = if ended {
            exit_in_words(status)
        } else {
            let seconds = self.spec.ready_within_ns as f64 / 1e9;
            format!(
                "it had not ended when the server was to be ready, after {seconds} s, and was killed; give it longer with `server: {{ready_within: …}}` if it needs that"
            )
        };
        Err(TestbedError::AfterStart {
            name: self.spec.name.clone(),
            command: command_line(Path::new(program), arguments),
            how,
            last_words: log::last_words(&said_in),
        })
    }

    fn append_to_log(&self, said_in: &Path) -> io::Result<()> {
        let mut said = File::open(said_in)?;
        if let Some(mut log) = self.log_files.first() {
            io::copy(&mut said, &mut log)?;
        }
        Ok(())
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
