//! Real servers, started for one test each and ended with it.

use crate::mongo::{Host, LeanClient, LeanOptions};
use plimsoll_testing::servers;
pub use plimsoll_testing::servers::Kind;
use plimsoll_workload::DataSpec;
use std::ops::{Deref, DerefMut};

/// A user that the server is to know, with all rights.
#[derive(Clone, Copy)]
pub struct User {
    pub name: &'static str,
    pub password: &'static str,
}

/// A server, and how to connect to it.
pub struct Server(servers::Server);

impl Deref for Server {
    type Target = servers::Server;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Server {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// Runs a test against each installed server. A missing server is reported past the capture of the test harness.
pub fn each(run: impl Fn(&mut Server)) {
    each_of(&Kind::ALL, None, run);
}

/// The same with these servers alone, and with a user that they know.
pub fn each_of(kinds: &[Kind], user: Option<User>, run: impl Fn(&mut Server)) {
    for kind in Kind::there_of(kinds) {
        run(&mut Server::start(kind, user));
    }
}

impl Server {
    fn start(kind: Kind, user: Option<User>) -> Self {
        let arguments = match (kind, user) {
            (_, None) => Vec::new(),
            (Kind::Mongod, Some(_)) => vec!["--auth".to_owned()],
            (Kind::FerretDb, Some(user)) => vec![
                "--test-enable-new-auth".to_owned(),
                "--setup-database=admin".into(),
                format!("--setup-username={}", user.name),
                format!("--setup-password={}", user.password),
            ],
        };
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        Self(servers::Server::start_with(kind, &arguments))
    }

    pub fn host(&self) -> Host {
        Host::Tcp { host: "127.0.0.1".into(), port: self.port }
    }

    pub fn options(&self, data: &DataSpec) -> LeanOptions {
        LeanOptions::new(self.host(), "ycsb", data)
    }

    pub fn connect(&self, data: &DataSpec) -> LeanClient {
        LeanClient::connect(&self.options(data)).unwrap()
    }
}
