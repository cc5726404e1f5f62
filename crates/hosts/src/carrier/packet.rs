//! The packets of a carrier, and the two halves that send and receive them.

use std::io;

/// Longest content of a packet, bytes. A NATS server takes messages of a megabyte.
pub const LONGEST: usize = 256 << 10;

/// A part of what was written on a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    pub channel: u32,
    /// What was written, at most [`LONGEST`] bytes. Nothing means that no more comes on this channel.
    pub content: Vec<u8>,
}

/// Sends packets to the other side.
pub trait PacketSender: Send {
    /// Sends one. When it returns, the packet may still be under way.
    fn send(&mut self, packet: &Packet) -> io::Result<()>;
}

/// Takes packets from the other side.
pub trait PacketReceiver: Send {
    /// Waits for the next packet; `None` where the other side has ended the carrier.
    fn receive(&mut self) -> io::Result<Option<Packet>>;
}

/// A way to the other side and back. Dropping the sender ends the carrier for the other side.
pub struct Carrier {
    pub sender: Box<dyn PacketSender>,
    pub receiver: Box<dyn PacketReceiver>,
}

impl std::fmt::Debug for Carrier {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Carrier").finish_non_exhaustive()
    }
}
