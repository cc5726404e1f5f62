//! The machines of an experiment, and the ways to them.

use crate::carrier::{Carrier, over_stream};
use crate::remote::{HostError, Identity, RemoteHost};
use crate::ssh;
use plimsoll_plan::{HostSpec, HostWay};
use plimsoll_runner::{Hosts, LocalHost, RunHost, RunnerError};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::thread::JoinHandle;

/// Makes a way to an agent that has joined a NATS server by this name.
pub type AttachAgent<'a> = Box<dyn Fn(&str) -> Result<Carrier, HostError> + 'a>;

/// The machine that the program runs on, and others, to which a way is made when they are first needed, and again when it was lost.
pub struct Fleet<'a> {
    pub here: LocalHost<'a>,
    pub specs: &'a [HostSpec],
    pub identity: Identity,
    pub program: PathBuf,
    /// For agents that have joined a NATS server.
    pub attach: AttachAgent<'a>,
    links: RefCell<BTreeMap<String, Rc<RemoteHost>>>,
}

impl<'a> Fleet<'a> {
    /// No way is made yet.
    pub fn new(
        here: LocalHost<'a>,
        specs: &'a [HostSpec],
        identity: Identity,
        program: PathBuf,
        attach: AttachAgent<'a>,
    ) -> Self {
        Self { here, specs, identity, program, attach, links: RefCell::default() }
    }

    /// The machine with this name.
    pub fn remote(&self, name: &str) -> Result<Rc<RemoteHost>, HostError> {
        let mut links = self.links.borrow_mut();
        if let Some(link) = links.get(name) {
            if !link.is_lost() {
                return Ok(Rc::clone(link));
            }
            links.remove(name);
        }
        let spec = self.specs.iter().find(|spec| spec.name == name);
        let spec =
            spec.ok_or_else(|| HostError::Unreachable("the file does not name it".into()))?;
        let host = Rc::new(self.connect(spec)?);
        links.insert(name.to_owned(), Rc::clone(&host));
        Ok(host)
    }

    fn connect(&self, spec: &HostSpec) -> Result<RemoteHost, HostError> {
        let words = match &spec.way {
            HostWay::Agent(agent) => {
                let carrier = (self.attach)(agent)?;
                return RemoteHost::connect(&spec.name, carrier, None, &self.identity);
            }
            HostWay::Ssh(target) => ssh::agent_command(target, &self.program, &self.identity)?,
            HostWay::Command(words) => words.clone(),
        };
        let (carrier, process, errors) = carried_by(&words)?;
        let connected = RemoteHost::connect(&spec.name, carrier, Some(process), &self.identity);
        match connected {
            Err(HostError::NoAgent(why)) => {
                // It has ended, so its errors have.
                let said = errors.join().unwrap_or_default();
                Err(HostError::NoAgent(if said.is_empty() { why } else { said }))
            }
            connected => connected,
        }
    }
}

impl Hosts for Fleet<'_> {
    fn host(&self, name: Option<&str>) -> Result<Rc<dyn RunHost + '_>, RunnerError> {
        let Some(name) = name else {
            return Ok(Rc::new(self.here.clone()));
        };
        let remote = self.remote(name).map_err(|error| RunnerError::HostLost {
            name: name.to_owned(),
            why: error.to_string(),
        })?;
        Ok(remote)
    }
}

/// Starts a process that gets its orders over its input and answers over its output.
fn carried_by(words: &[String]) -> Result<(Carrier, Child, JoinHandle<String>), HostError> {
    let (program, arguments) =
        words.split_first().ok_or_else(|| HostError::Unreachable("its command is empty".into()))?;
    let mut child: Child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| HostError::Unreachable(format!("{program} cannot be started: {error}")))?;
    let input = child.stdin.take().expect("standard input is a pipe");
    let output = child.stdout.take().expect("standard output is a pipe");
    let mut errors = child.stderr.take().expect("standard error is a pipe");
    let errors = std::thread::spawn(move || ssh::last_words(&mut errors));
    Ok((over_stream(output, input), child, errors))
}
