//! A way between the program and an agent on another machine: packets on numbered channels.
//!
//! ```text
//!   socket ─► channel 1 ─┐                              ┌─ channel 1 ─► socket
//!   socket ─► channel 2 ─┼─► PacketSender ~~~ PacketReceiver ─┼─ channel 2 ─► socket
//!   orders ─► channel 0 ─┘                              └─ channel 0 ─► orders
//! ```
//!
//! A *carrier* brings packets to the other side whole, once and in their order, or is gone. Which one it is, nobody above knows: [`over_stream`]
//! makes one of any two streams of bytes, such as the pipes of a child process or of `ssh`. [`nats`](crate::nats) makes one of a NATS server.
//!
//! [`Channels`] puts streams on a carrier: each channel is a socket at both ends, so that its users need not know that the
//! other end is on another machine. Channel [`CONTROL`] carries whole messages instead.

mod channels;
mod packet;
mod stream;

pub use channels::{CONTROL, Channels, Control};
pub use packet::{Carrier, LONGEST, Packet, PacketReceiver, PacketSender};
pub use stream::over_stream;
