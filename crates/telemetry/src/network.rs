//! The network between load and server, as one of the two machines sees it.

use crate::connections::{Connection, connections};
use crate::kept_file::KeptFile;
use crate::{Figures, Host};
use nix::ifaddrs::getifaddrs;
use nix::sys::socket::SockaddrStorage;
use plimsoll_record::{RoundTrips, figures};
use std::net::IpAddr;

/// Bytes a second of a megabit a second, in which the kernel reports the speed of a link.
const MEGABIT: f64 = 125_000.0;

/// The interface through which another machine is reached, and TCP of the network namespace of this process. Files are kept open.
pub struct Network {
    interface: String,
    devices: KeptFile,
    tcp: KeptFile,
    /// Bytes a second each way.
    link: Option<f64>,
}

impl Network {
    /// Through which this process is connected to another machine; `None` where it is connected to none.
    pub fn of_connections(host: &Host) -> Option<Self> {
        let own = addresses();
        let remote = connections(host).into_iter().find(|one| is_apart(one, &own))?;
        Self::with(host, remote.local, &own)
    }

    /// The interface with this address; `None` where none has it, or only this machine reaches it.
    pub fn at(host: &Host, address: IpAddr) -> Option<Self> {
        Self::with(host, address, &addresses())
    }

    fn with(host: &Host, address: IpAddr, own: &[(String, IpAddr)]) -> Option<Self> {
        let is_it = |(_, one): &&(String, IpAddr)| *one == address && !one.is_loopback();
        let (interface, _) = own.iter().find(is_it)?;
        Some(Self::of_interface(host, interface))
    }

    /// With the speed of the link as somebody says it, bytes a second, where somebody does.
    pub fn with_link(mut self, said: Option<u64>) -> Self {
        self.link = said.map(|bytes| bytes as f64).or(self.link);
        self
    }

    fn of_interface(host: &Host, interface: &str) -> Self {
        let folder = format!("sys/class/net/{interface}");
        // Virtual interfaces, such as those of containers, tell a speed that nothing keeps to.
        let is_link =
            ["device", "bonding"].iter().any(|name| host.exists(format!("{folder}/{name}")));
        // It is -1 where nobody knows.
        let speed = host.number(format!("{folder}/speed")).filter(|_| is_link);
        Self {
            interface: interface.to_owned(),
            devices: KeptFile::open(host, "proc/self/net/dev"),
            tcp: KeptFile::open(host, "proc/self/net/snmp"),
            link: speed.filter(|speed| *speed > 0).map(|speed| speed as f64 * MEGABIT),
        }
    }

    pub(crate) fn tell(&self, buffer: &mut Vec<u8>, into: &mut Figures) {
        if let Some([received, received_packets, sent, sent_packets]) =
            self.devices.read(buffer).and_then(|text| carried(text, &self.interface))
        {
            into.extend([
                (figures::NETWORK_RECEIVED_BYTES, received),
                (figures::NETWORK_RECEIVED_PACKETS, received_packets),
                (figures::NETWORK_SENT_BYTES, sent),
                (figures::NETWORK_SENT_PACKETS, sent_packets),
            ]);
        }
        if let Some((sent, again)) = self.tcp.read(buffer).and_then(segments) {
            into.push((figures::NETWORK_SEGMENTS, sent));
            into.push((figures::NETWORK_RETRANSMITTED, again));
        }
        into.extend(self.link.map(|link| (figures::NETWORK_LINK, link)));
    }
}

/// The shortest round trips of this process to other machines; `None` where it is connected to none, or the kernel does not tell. Costs as much as there are
/// connections in the network namespace.
pub fn round_trips(host: &Host) -> Option<RoundTrips> {
    let own = addresses();
    let mut found = Vec::new();
    for one in connections(host).iter().filter(|one| is_apart(one, &own)) {
        found.extend(one.least_round_trip_ns);
    }
    found.sort_unstable();
    Some(RoundTrips {
        least_ns: *found.first()?,
        median_ns: found[(found.len() - 1) / 2],
        connections: u32::try_from(found.len()).unwrap_or(u32::MAX),
    })
}

/// Whether its other end is on another machine.
fn is_apart(one: &Connection, own: &[(String, IpAddr)]) -> bool {
    !one.remote.is_loopback() && own.iter().all(|(_, address)| *address != one.remote)
}

/// The addresses of this machine, each with the name of its interface.
fn addresses() -> Vec<(String, IpAddr)> {
    let Ok(all) = getifaddrs() else {
        return Vec::new();
    };
    let each = all.filter_map(|one| Some((one.interface_name, ip(&one.address?)?)));
    each.collect()
}

fn ip(address: &SockaddrStorage) -> Option<IpAddr> {
    let v4 = address.as_sockaddr_in().map(|one| IpAddr::V4(one.ip()));
    v4.or_else(|| Some(IpAddr::V6(address.as_sockaddr_in6()?.ip())))
}

/// Bytes and packets received, and sent, of the line of an interface in `/proc/net/dev`: eight numbers for each way.
fn carried(text: &str, interface: &str) -> Option<[f64; 4]> {
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    let (_, numbers) = lines.find(|(name, _)| name.trim() == interface)?;
    let numbers: Vec<u64> =
        numbers.split_ascii_whitespace().map_while(|word| word.parse().ok()).collect();
    let at = |place: usize| numbers.get(place).map(|number| *number as f64);
    Some([at(0)?, at(1)?, at(8)?, at(9)?])
}

/// Segments sent, and sent again, of `/proc/net/snmp`: a line with names and one with numbers for each protocol.
fn segments(text: &str) -> Option<(f64, f64)> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Tcp:"));
    let (names, numbers) = (lines.next()?, lines.next()?);
    let of = |wanted: &str| {
        let mut both = names.split_ascii_whitespace().zip(numbers.split_ascii_whitespace());
        let (_, number) = both.find(|(name, _)| *name == wanted)?;
        number.parse::<u64>().ok().map(|number| number as f64)
    };
    Some((of("OutSegs")?, of("RetransSegs")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    const DEVICES: &str = "Inter-|   Receive                                                |  Transmit\n \
        face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n    \
        lo: 22094879010 10450590    0    0    0     0          0         0 22094879010 10450590    0    0    0     0       0          0\n  \
        eth0: 1689456102   52871    0    0    0     0          0         0  3255763   35098    0    0    0     0       0          0\n \
        eth01:1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n";
    const SNMP: &str = "Ip: Forwarding OutSegs\nIp: 1 7\n\
        Tcp: MaxConn ActiveOpens InSegs OutSegs RetransSegs InErrs\n\
        Tcp: -1 921276 10564795 10543495 1247 0\nUdp: InDatagrams\nUdp: 5\n";

    fn describe(files: &[(&str, &str)]) -> Vec<(&'static str, f64)> {
        let tree = Tree::new(files);
        let mut figures = Vec::new();
        let network = Network::of_interface(&tree.host(), "eth0");
        network.tell(&mut vec![0; 64], &mut figures);
        figures
    }

    #[test]
    fn the_interface_and_tcp_are_told() {
        let expected = [
            (figures::NETWORK_RECEIVED_BYTES, 1_689_456_102.0),
            (figures::NETWORK_RECEIVED_PACKETS, 52_871.0),
            (figures::NETWORK_SENT_BYTES, 3_255_763.0),
            (figures::NETWORK_SENT_PACKETS, 35_098.0),
            (figures::NETWORK_SEGMENTS, 10_543_495.0),
            (figures::NETWORK_RETRANSMITTED, 1_247.0),
        ];
        let found = describe(&[("proc/self/net/dev", DEVICES), ("proc/self/net/snmp", SNMP)]);
        assert_eq!(found, expected);
        assert_eq!(describe(&[("proc/self/net/dev", "eth0: 1 2 3\n")]), []);
        assert_eq!(describe(&[("proc/self/net/snmp", "Tcp: OutSegs\n")]), []);
    }

    #[test]
    fn only_the_speed_of_a_real_link_is_one() {
        let link = |name: &str, speed: &str| {
            let name = format!("sys/class/net/eth0/{name}");
            describe(&[(&name, "x"), ("sys/class/net/eth0/speed", speed)])
        };
        // Ten gigabits are 1.25 gigabytes.
        let ten = [(figures::NETWORK_LINK, 1_250_000_000.0)];
        assert_eq!(link("device/x", "10000\n"), ten);
        assert_eq!(link("bonding/slaves", "10000\n"), ten);
        assert_eq!(link("mtu", "10000\n"), [], "of a container");
        assert_eq!(link("device/x", "-1\n"), []);
        assert_eq!(link("device/x", "0\n"), []);
    }

    #[test]
    fn what_stays_on_this_machine_is_no_network() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let _client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let host = Host::here();
        assert!(Network::of_connections(&host).is_none());
        assert_eq!(round_trips(&host), None);
        assert!(Network::at(&host, IpAddr::from([127, 0, 0, 1])).is_none());
        // An address reserved for documentation, which no machine has.
        assert!(Network::at(&host, IpAddr::from([198, 51, 100, 7])).is_none());
    }
}
