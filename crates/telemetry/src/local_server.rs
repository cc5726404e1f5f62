//! Servers on this machine: the processes behind the sockets to which this one is connected.

use crate::Host;
use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Bytes of a program's name that the kernel keeps.
const LONGEST_NAME: usize = 15;

/// A server as its client knows it.
#[derive(Clone, Debug)]
pub struct KnownServer<'a> {
    pub listens_at: ListensAt<'a>,
    /// Its program, as it says itself.
    pub program: Option<&'a str>,
    /// The number of its process, as it says itself: within a container it has another one there.
    pub process: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
pub enum ListensAt<'a> {
    /// A TCP port to which this process holds a connection.
    Port(u16),
    Socket(&'a Path),
}

/// Every process of this machine to which this one holds TCP connections: servers that were not started by us.
pub fn local_servers(host: &Host) -> Vec<u32> {
    owners(host, &Listening::of_ports(host, |_| true).sockets)
}

/// The process of a server, if it is on this machine. Something else may listen for it, such as the proxy of a container: that is none.
pub fn server_process(host: &Host, server: &KnownServer<'_>) -> Option<u32> {
    let listening = match server.listens_at {
        ListensAt::Port(port) => Listening::of_ports(host, |one| one == port),
        ListensAt::Socket(path) => Listening::of_path(host, path),
    };
    let owners = owners(host, &listening.sockets);
    let is_it = |id: &u32| {
        let said = server.process;
        said.is_none_or(|said| *id == said || number_within(host, *id) == Some(said))
    };
    let found: Vec<u32> = owners.iter().copied().filter(is_it).collect();
    match (found.as_slice(), owners.is_empty()) {
        ([one], _) => Some(*one),
        ([], true) => {
            server.process.filter(|id| is_hidden_owner(host, *id, server.program, &listening.users))
        }
        _ => None,
    }
}

/// Whether a process of another user, whose sockets cannot be seen, is the one that says so: it is there, has that name, and belongs to the user of the socket.
fn is_hidden_owner(host: &Host, id: u32, program: Option<&str>, users: &BTreeSet<u32>) -> bool {
    let folder = host.path(format!("proc/{id}"));
    let hidden = fs::read_dir(folder.join("fd"));
    let is_hidden = hidden.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied);
    let user = fs::metadata(&folder).map(|folder| folder.uid());
    let name = host.read(format!("proc/{id}/comm"));
    let program = program.map(|name| name.get(..LONGEST_NAME).unwrap_or(name));
    is_hidden && user.is_ok_and(|user| users.contains(&user)) && name.as_deref() == program
}

/// The number that a process has within its own container.
fn number_within(host: &Host, id: u32) -> Option<u32> {
    let status = host.read(format!("proc/{id}/status"))?;
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    numbers.split_ascii_whitespace().next_back()?.parse().ok()
}

/// Sockets at which somebody listens.
struct Listening {
    sockets: BTreeSet<u64>,
    users: BTreeSet<u32>,
}

impl Listening {
    /// At those ports of this machine to which this process holds connections.
    fn of_ports(host: &Host, is_requested: impl Fn(u16) -> bool) -> Self {
        let mut all: Vec<Socket> = Vec::new();
        for table in ["proc/self/net/tcp", "proc/self/net/tcp6"] {
            let text = host.read(table).unwrap_or_default();
            all.extend(text.lines().skip(1).filter_map(Socket::of));
        }
        let own = inodes(host, "self");
        let ports: BTreeSet<u16> = all
            .iter()
            .filter(|one| own.contains(&one.inode) && one.local.0 == one.remote.0)
            .map(|one| one.remote.1)
            .filter(|port| is_requested(*port))
            .collect();
        all.retain(|one| one.is_listening && ports.contains(&one.local.1));
        Self {
            sockets: all.iter().map(|one| one.inode).collect(),
            users: all.iter().map(|one| one.user).collect(),
        }
    }

    fn of_path(host: &Host, path: &Path) -> Self {
        let text = host.read("proc/self/net/unix").unwrap_or_default();
        let bound = text.lines().skip(1).filter_map(bound);
        let user = fs::metadata(host.path(path)).map(|socket| socket.uid());
        Self {
            sockets: bound.filter(|(_, one)| *one == path).map(|(inode, _)| inode).collect(),
            users: user.into_iter().collect(),
        }
    }
}

/// The processes that hold one of the sockets, as far as they let it be seen.
fn owners(host: &Host, sockets: &BTreeSet<u64>) -> Vec<u32> {
    if sockets.is_empty() {
        return Vec::new();
    }
    let names = host.names("proc");
    let ids = names.iter().filter_map(|name| name.parse::<u32>().ok());
    ids.filter(|id| !inodes(host, &id.to_string()).is_disjoint(sockets)).collect()
}

/// A line of `/proc/net/unix` whose socket has a path: its number, and the path, which may hold anything.
fn bound(line: &str) -> Option<(u64, &Path)> {
    let mut rest = line;
    let mut inode = None;
    for field in 0..7 {
        rest = rest.trim_start();
        let (word, behind) = rest.split_once(' ')?;
        if field == 6 {
            inode = word.parse().ok();
        }
        rest = behind;
    }
    Some((inode?, Path::new(rest)))
}

/// A line of `/proc/net/tcp`: addresses as they stand there, and ports.
struct Socket {
    local: (String, u16),
    remote: (String, u16),
    is_listening: bool,
    user: u32,
    inode: u64,
}

impl Socket {
    fn of(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let place = |field: &str| {
            let (address, port) = field.split_once(':')?;
            Some((address.to_owned(), u16::from_str_radix(port, 16).ok()?))
        };
        Some(Self {
            local: place(fields.get(1)?)?,
            remote: place(fields.get(2)?)?,
            is_listening: *fields.get(3)? == "0A",
            user: fields.get(7)?.parse().ok()?,
            inode: fields.get(9)?.parse().ok()?,
        })
    }
}

/// Sockets that a process holds.
pub(crate) fn inodes(host: &Host, process: &str) -> BTreeSet<u64> {
    let Ok(entries) = fs::read_dir(host.path(format!("proc/{process}/fd"))) else {
        return BTreeSet::new();
    };
    let links = entries.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
    links
        .filter_map(|link| {
            let text = link.to_str()?;
            text.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::UnixListener;

    fn known(listens_at: ListensAt<'_>, process: Option<u32>) -> KnownServer<'_> {
        KnownServer { listens_at, program: None, process }
    }

    #[test]
    fn a_server_is_found_by_the_connection_to_it() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let host = Host::here();
        let at = ListensAt::Port(address.port());
        assert_eq!(server_process(&host, &known(at, None)), None, "not connected");
        let _connection = TcpStream::connect(address).unwrap();
        let own = std::process::id();
        assert!(local_servers(&host).contains(&own));
        for said in [None, Some(own)] {
            assert_eq!(server_process(&host, &known(at, said)), Some(own));
        }
        // What listens there is not what answers.
        assert_eq!(server_process(&host, &known(at, Some(1))), None);
    }

    #[test]
    fn a_server_is_found_by_the_path_of_its_socket() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mongodb-1 2.sock");
        let other = folder.path().join("mongodb-1.sock");
        let _listener = UnixListener::bind(&path).unwrap();
        let found = |path: &Path| {
            let at = ListensAt::Socket(path);
            server_process(&Host::here(), &known(at, None))
        };
        assert_eq!(found(&path), Some(std::process::id()));
        assert_eq!(found(&other), None);
    }

    #[test]
    fn a_server_in_a_container_has_two_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let line = format!("Num\n0000: 00000002 00000000 00010000 0001 01 77 {}\n", path.display());
        let tree = Tree::new(&[
            ("proc/self/net/unix", &line),
            ("proc/5000/status", "Name:\tmongod\nNSpid:\t5000\t1\n"),
            ("proc/5000/fd/3", "-> socket:[77]"),
        ]);
        let found = |said| {
            let at = ListensAt::Socket(&path);
            server_process(&tree.host(), &known(at, said))
        };
        assert_eq!(found(Some(1)), Some(5000));
        assert_eq!(found(Some(5000)), Some(5000));
        assert_eq!(found(Some(2)), None);
    }
}
