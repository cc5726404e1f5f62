//! The messages of a session, as bytes.

use crate::carrier::{LONGEST, Packet};
use bytes::{BufMut, Bytes, BytesMut};

const HEAD: usize = 1 + 8 + 8;

/// Longest message with its headers, bytes. The head of a message in NATS has some 200.
pub(crate) const LONGEST_MESSAGE: usize = LONGEST + 1024;

/// What one side says to the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    Packet(Packet),
    /// So much more may be sent, bytes.
    Credit(u32),
    End,
    /// Neither will any be read: the session is over.
    Bye,
}

/// A message with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Numbered {
    /// From 0 in each direction.
    pub(crate) number: u64,
    /// All messages with a number below are with the receiver, or in the stream before this one.
    pub(crate) floor: u64,
    pub(crate) body: Body,
}

impl Numbered {
    pub(crate) fn encode(&self) -> Bytes {
        let mut bytes = BytesMut::with_capacity(
            HEAD + 4
                + match &self.body {
                    Body::Packet(packet) => packet.content.len(),
                    _ => 0,
                },
        );
        bytes.put_u8(match self.body {
            Body::Packet(_) => b'P',
            Body::Credit(_) => b'C',
            Body::End => b'E',
            Body::Bye => b'B',
        });
        bytes.put_u64(self.number);
        bytes.put_u64(self.floor);
        match &self.body {
            Body::Packet(packet) => {
                bytes.put_u32(packet.channel);
                bytes.put_slice(&packet.content);
            }
            Body::Credit(more) => bytes.put_u32(*more),
            Body::End | Body::Bye => {}
        }
        bytes.freeze()
    }

    /// `None` where it is no message.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (&kind, rest) = bytes.split_first()?;
        let (number, rest) = rest.split_first_chunk()?;
        let (floor, rest) = rest.split_first_chunk()?;
        let body = match kind {
            b'P' => {
                let (channel, content) = rest.split_first_chunk()?;
                if content.len() > LONGEST {
                    return None;
                }
                Body::Packet(Packet {
                    channel: u32::from_be_bytes(*channel),
                    content: content.to_vec(),
                })
            }
            b'C' => Body::Credit(u32::from_be_bytes(rest.try_into().ok()?)),
            b'E' if rest.is_empty() => Body::End,
            b'B' if rest.is_empty() => Body::Bye,
            _ => return None,
        };
        Some(Self { number: u64::from_be_bytes(*number), floor: u64::from_be_bytes(*floor), body })
    }
}

/// In place of a message: a sign of life of the controller.
pub(crate) const BEAT: &[u8] = b"beat";

/// In place of a message: the session has failed for the controller.
pub(crate) const FAILED: &[u8] = b"failed";

/// What an agent replies to a message and to a beat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Have,
    /// The session has ended well.
    Over,
    /// There is no such session, or no longer.
    Gone,
}

impl Reply {
    pub(crate) fn encode(self) -> Bytes {
        Bytes::from_static(match self {
            Self::Have => b"have",
            Self::Over => b"over",
            Self::Gone => b"gone",
        })
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        [Self::Have, Self::Over, Self::Gone].into_iter().find(|reply| reply.encode() == bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bodies() -> impl Strategy<Value = Body> {
        let packets = (any::<u32>(), prop::collection::vec(any::<u8>(), 0..300));
        prop_oneof![
            packets.prop_map(|(channel, content)| Body::Packet(Packet { channel, content })),
            any::<u32>().prop_map(Body::Credit),
            Just(Body::End),
            Just(Body::Bye),
        ]
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(number: u64, floor: u64, body in bodies()) {
            let message = Numbered { number, floor, body };
            prop_assert_eq!(Numbered::decode(&message.encode()), Some(message));
        }

        #[test]
        fn foreign_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Some(message) = Numbered::decode(&bytes) {
                prop_assert_eq!(&message.encode()[..], &bytes[..]);
            }
        }
    }

    #[test]
    fn a_packet_that_is_too_long_is_none() {
        let message = |length| Numbered {
            number: 1,
            floor: 1,
            body: Body::Packet(Packet { channel: 1, content: vec![0; length] }),
        };
        assert!(Numbered::decode(&message(LONGEST).encode()).is_some());
        assert!(Numbered::decode(&message(LONGEST + 1).encode()).is_none());
        assert!(message(LONGEST).encode().len() + 200 < LONGEST_MESSAGE);
    }
}
