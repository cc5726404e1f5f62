//! Where a server listens: a free port, the words that name it, and whether the server answers there.

use std::collections::BTreeSet;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a connection on this machine may take.
const LONGEST_CONNECT: Duration = Duration::from_secs(1);
/// Where a server listens unless its load comes from other machines.
pub(super) const LOOPBACK: &str = "127.0.0.1";
/// A socket that listens, in the kernel's tables.
const LISTENING: &str = "0A";

/// What the places in braces of a description stand for.
pub(super) struct Places<'a> {
    pub data: PathBuf,
    pub run: &'a Path,
    pub log: &'a Path,
    pub port: u16,
    /// The address of this machine at which it is reached.
    pub host: &'a str,
    /// Host and port of each, with commas between them.
    pub members: &'a str,
    pub plimsoll: &'a Path,
}

impl Places<'_> {
    /// The text with its places filled, and 127.0.0.1 as the address at which the server is reached. Other braces stay as they are.
    pub(super) fn filled(&self, text: &str) -> String {
        let path = |path: &Path| path.display().to_string();
        text.replace(LOOPBACK, self.host)
            .replace("{data}", &path(&self.data))
            .replace("{run}", &path(self.run))
            .replace("{log}", &path(self.log))
            .replace("{port}", &self.port.to_string())
            .replace("{members}", self.members)
            .replace("{plimsoll}", &path(self.plimsoll))
    }
}

/// This many free ports of an address of this machine.
pub(super) fn free_ports(host: &str, count: usize) -> io::Result<Vec<u16>> {
    // All are held until the last is found, so that no two are the same.
    let listeners: io::Result<Vec<TcpListener>> =
        (0..count).map(|_| TcpListener::bind((host, 0))).collect();
    let addresses = listeners?.into_iter().map(|listener| listener.local_addr());
    addresses.map(|address| Ok(address?.port())).collect()
}

/// Whether a server accepts connections at the address.
pub(super) fn answers(address: &str) -> bool {
    socket_address(address).is_some_and(|socket| {
        TcpStream::connect_timeout(&socket, LONGEST_CONNECT)
            // A connection to oneself, which the kernel makes of a free port.
            .is_ok_and(|stream| stream.local_addr().ok() != stream.peer_addr().ok())
    })
}

/// The host and port of a URI, the first where there are several. The host is an address in numbers.
fn socket_address(address: &str) -> Option<SocketAddr> {
    let (_, rest) = address.split_once("://").unwrap_or(("", address));
    let rest = rest.split(['/', '?', ',']).next()?;
    let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    host.parse().ok()
}

/// Whether it is one of these processes that listens there. Where the kernel does not say who listens, it is taken to be.
pub(super) fn is_of(address: &str, processes: impl FnOnce() -> Vec<u32>) -> bool {
    let Some(socket) = socket_address(address) else {
        return true;
    };
    let listening = listening_inodes(socket.port());
    if listening.is_empty() {
        return true;
    }
    processes().into_iter().any(|process| {
        let Ok(files) = std::fs::read_dir(format!("/proc/{process}/fd")) else {
            return false;
        };
        files.filter_map(Result::ok).any(|file| {
            std::fs::read_link(file.path())
                .ok()
                .and_then(|target| inode_of(target.to_str()?))
                .is_some_and(|inode| listening.contains(&inode))
        })
    })
}

fn inode_of(target: &str) -> Option<u64> {
    target.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

/// The sockets that listen at a port, by their inodes.
fn listening_inodes(port: u16) -> BTreeSet<u64> {
    let mut inodes = BTreeSet::new();
    for table in ["/proc/self/net/tcp", "/proc/self/net/tcp6"] {
        let text = std::fs::read_to_string(table).unwrap_or_default();
        inodes.extend(text.lines().filter_map(|line| listening_inode(line, port)));
    }
    inodes
}

/// Reads a line of the kernel's table: number, local and remote address, state, and the inode as the tenth word.
fn listening_inode(line: &str, port: u16) -> Option<u64> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let (_, local_port) = words.get(1)?.rsplit_once(':')?;
    let is_it = words.get(3) == Some(&LISTENING) && u16::from_str_radix(local_port, 16) == Ok(port);
    if !is_it {
        return None;
    }
    words.get(9)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_and_other_braces_stay() {
        let places = Places {
            data: "/d".into(),
            run: Path::new("/r"),
            log: Path::new("/l"),
            port: 4_711,
            host: "10.0.0.2",
            members: "127.0.0.1:4711,127.0.0.1:4712",
            plimsoll: Path::new("/p"),
        };
        let found = places.filled("--x={data}/{run}:{port} {log} {\"a\": {other}}");
        assert_eq!(found, "--x=/d//r:4711 /l {\"a\": {other}}");
        let expected = "/p 127.0.0.1:4711,127.0.0.1:4712";
        assert_eq!(places.filled("{plimsoll} {members}"), expected);
        let listening = places.filled("mongodb://127.0.0.1:{port}/");
        assert_eq!(listening, "mongodb://10.0.0.2:4711/");
    }

    #[test]
    fn free_ports_differ() {
        let ports: BTreeSet<u16> = free_ports(LOOPBACK, 7).unwrap().into_iter().collect();
        assert_eq!(ports.len(), 7);
    }

    #[test]
    fn the_socket_of_a_uri_is_found() {
        let socket = |text| socket_address(text).map(|socket| socket.to_string());
        let found = socket("mongodb://127.0.0.1:4711/?a=b");
        assert_eq!(found, Some("127.0.0.1:4711".into()));
        let found = socket("x://user:word@127.0.0.1:1");
        assert_eq!(found, Some("127.0.0.1:1".into()));
        assert_eq!(socket("127.0.0.1:80"), Some("127.0.0.1:80".into()));
        assert_eq!(socket("mongodb://%2Ftmp%2Fa.sock/"), None);
    }

    #[test]
    fn a_listener_is_known_for_ours_or_not() {
        let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
        let address = format!("x://{}", listener.local_addr().unwrap());
        assert!(answers(&address));
        assert!(is_of(&address, || vec![std::process::id()]));
        assert!(!is_of(&address, || vec![1]));
        drop(listener);
        assert!(!answers(&address));
    }
}
