//! The TCP connections of this process, as the kernel knows them.

use crate::Host;
use crate::local_server::inodes;
use netlink_packet_core::{
    NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_TCP};
use netlink_packet_sock_diag::inet::nlas::Nla;
use netlink_packet_sock_diag::inet::{
    ExtensionFlags, InetRequest, InetResponse, SocketId, StateFlags,
};
use netlink_sys::protocols::NETLINK_SOCK_DIAG;
use netlink_sys::{Socket, SocketAddr};
use std::net::IpAddr;

/// Where `struct tcp_info` of linux/tcp.h has `tcpi_min_rtt`, microseconds.
const LEAST_ROUND_TRIP_AT: usize = 148;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Connection {
    /// Its address on this machine.
    pub(crate) local: IpAddr,
    pub(crate) remote: IpAddr,
    /// The shortest round trip of the last minutes, nanoseconds; `None` where the kernel has timed none. That of the handshake is among them, which the
    /// other kernel answers by itself. Mean round trips are of no use: a server's acknowledgement waits for its answer.
    pub(crate) least_round_trip_ns: Option<u64>,
}

/// Connections of this process; none where the kernel does not list them.
pub(crate) fn connections(host: &Host) -> Vec<Connection> {
    let own = inodes(host, "self");
    let mut found = Vec::new();
    for id in [SocketId::new_v4(), SocketId::new_v6()] {
        let Ok(all) = established(id) else { continue };
        let all = all.iter();
        let ours = all.filter(|one| own.contains(&u64::from(one.header.inode)));
        found.extend(ours.map(connection));
    }
    found
}

fn connection(found: &InetResponse) -> Connection {
    let information = found.nlas.iter().find_map(|attribute| match attribute {
        Nla::TcpInfo(bytes) => Some(bytes.as_slice()),
        _ => None,
    });
    let id = &found.header.socket_id;
    Connection {
        local: id.source_address.to_canonical(),
        remote: id.destination_address.to_canonical(),
        least_round_trip_ns: information.and_then(least_round_trip_ns),
    }
}

/// Early kernels tell less, and the number is the highest there is while none was timed.
fn least_round_trip_ns(information: &[u8]) -> Option<u64> {
    let bytes = information.get(LEAST_ROUND_TRIP_AT..LEAST_ROUND_TRIP_AT + 4)?;
    let micros = u32::from_ne_bytes(bytes.try_into().ok()?);
    (micros != 0 && micros != u32::MAX).then(|| u64::from(micros) * 1_000)
}

/// Every connection of the network namespace, by sock_diag(7).
fn established(socket_id: SocketId) -> std::io::Result<Vec<InetResponse>> {
    let mut socket = Socket::new(NETLINK_SOCK_DIAG)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    let is_v4 = socket_id.source_address.is_ipv4();
    let request = SockDiagMessage::InetRequest(InetRequest {
        family: if is_v4 { AF_INET } else { AF_INET6 },
        protocol: IPPROTO_TCP,
        extensions: ExtensionFlags::INFO,
        states: StateFlags::ESTABLISHED,
        socket_id,
    });
    let mut message = NetlinkMessage::new(header, request.into());
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    socket.send(&bytes, 0)?;
    let mut found = Vec::new();
    loop {
        let (bytes, _) = socket.recv_from_full()?;
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let Ok(message) = NetlinkMessage::<SockDiagMessage>::deserialize(rest) else {
                return Ok(found);
            };
            match message.payload {
                NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(one)) => {
                    found.push(*one);
                }
                // Done, or refused.
                _ => return Ok(found),
            }
            let length = (message.header.length as usize).next_multiple_of(4);
            rest = rest.get(length..).unwrap_or_default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn the_shortest_round_trip_is_at_its_place() {
        let mut information = [0xff; 232];
        assert_eq!(least_round_trip_ns(&information), None, "none was timed");
        information[148..152].copy_from_slice(&250_u32.to_ne_bytes());
        assert_eq!(least_round_trip_ns(&information), Some(250_000));
        assert_eq!(least_round_trip_ns(&information[..148]), None, "an early kernel");
        information[148..152].fill(0);
        assert_eq!(least_round_trip_ns(&information), None);
    }

    #[test]
    fn own_connections_are_known_with_their_round_trips() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            // A machine may have no IPv6.
            let Ok(listener) = TcpListener::bind(address) else {
                continue;
            };
            let address = listener.local_addr().unwrap();
            let _client = TcpStream::connect(address).unwrap();
            let (server, _) = listener.accept().unwrap();
            let found = connections(&Host::here());
            let both =
                found.iter().filter(|one| one.local == address.ip() && one.remote == address.ip());
            let both: Vec<_> = both.collect();
            // Other tests of this process have connections too.
            assert!(both.len() >= 2, "{found:?}");
            let timed = both.iter().filter_map(|one| one.least_round_trip_ns);
            let shortest = timed.min().expect("the handshake was timed");
            assert!((1_000..1_000_000_000).contains(&shortest), "{shortest}");
            drop(server);
        }
    }
}
