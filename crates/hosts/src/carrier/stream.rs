//! A carrier over two streams of bytes: length, channel and content of each packet.

use crate::carrier::packet::{Carrier, LONGEST, Packet, PacketReceiver, PacketSender};
use std::io::{self, ErrorKind, Read, Write};

/// Length of the content and channel, each of four bytes, the highest first.
const HEAD: usize = 8;

/// Makes a carrier of two streams.
pub fn over_stream(from: impl Read + Send + 'static, to: impl Write + Send + 'static) -> Carrier {
    Carrier { sender: Box::new(StreamSender(to)), receiver: Box::new(StreamReceiver(from)) }
}

struct StreamSender<W>(W);

impl<W: Write + Send> PacketSender for StreamSender<W> {
    fn send(&mut self, packet: &Packet) -> io::Result<()> {
        if packet.content.len() > LONGEST {
            return Err(io::Error::new(ErrorKind::InvalidInput, "a packet is too long"));
        }
        // In one piece, so that a small packet is one segment.
        let mut bytes = Vec::with_capacity(HEAD + packet.content.len());
        bytes.extend((packet.content.len() as u32).to_be_bytes());
        bytes.extend(packet.channel.to_be_bytes());
        bytes.extend(&packet.content);
        self.0.write_all(&bytes)?;
        self.0.flush()
    }
}

struct StreamReceiver<R>(R);

impl<R: Read + Send> PacketReceiver for StreamReceiver<R> {
    fn receive(&mut self) -> io::Result<Option<Packet>> {
        let mut head = [0; HEAD];
        // An end between two packets is one; within a packet it is a loss.
        loop {
            match self.0.read(&mut head[..1]) {
                Ok(0) => return Ok(None),
                Ok(_) => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.0.read_exact(&mut head[1..])?;
        let [l0, l1, l2, l3, c0, c1, c2, c3] = head;
        let length = u32::from_be_bytes([l0, l1, l2, l3]) as usize;
        if length > LONGEST {
            return Err(io::Error::new(
                ErrorKind::InvalidData,
                "what comes from the other side is no packet: is something else written to its standard output?",
            ));
        }
        let mut content = vec![0; length];
        self.0.read_exact(&mut content)?;
        Ok(Some(Packet { channel: u32::from_be_bytes([c0, c1, c2, c3]), content }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::os::unix::net::UnixStream;

    fn sent(packets: &[Packet]) -> Vec<u8> {
        let (here, mut there) = UnixStream::pair().unwrap();
        let mut carrier = over_stream(here.try_clone().unwrap(), here);
        for packet in packets {
            carrier.sender.send(packet).unwrap();
        }
        drop(carrier);
        let mut bytes = Vec::new();
        there.read_to_end(&mut bytes).unwrap();
        bytes
    }

    fn received(bytes: Vec<u8>) -> Vec<io::Result<Packet>> {
        let mut carrier = over_stream(io::Cursor::new(bytes), io::sink());
        let mut packets = Vec::new();
        while let Some(packet) = carrier.receiver.receive().transpose() {
            let is_over = packet.is_err();
            packets.push(packet);
            if is_over {
                break;
            }
        }
        packets
    }

    #[test]
    fn a_greeting_of_a_shell_is_said_to_be_no_packet() {
        let found = received(b"Welcome to db1!\n".to_vec());
        let error = found[0].as_ref().unwrap_err();
        assert!(error.to_string().contains("standard output"), "{error}");
    }

    #[test]
    fn an_end_within_a_packet_is_a_loss() {
        let packet = Packet { channel: 1, content: b"whole".to_vec() };
        let bytes = sent(std::slice::from_ref(&packet));
        for cut in 1..bytes.len() {
            let found = received(bytes[..cut].to_vec());
            assert!(found[0].is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn too_long_a_packet_is_refused_before_it_is_sent() {
        let mut carrier = over_stream(io::empty(), io::sink());
        let packet = Packet { channel: 1, content: vec![0; LONGEST + 1] };
        assert!(carrier.sender.send(&packet).is_err());
    }

    proptest! {
        #[test]
        fn what_is_sent_is_received(
            packets in prop::collection::vec((any::<u32>(), prop::collection::vec(any::<u8>(), 0..300)), 0..8)
        ) {
            let packets: Vec<_> = packets
                .into_iter()
                .map(|(channel, content)| Packet { channel, content })
                .collect();
            let found: Result<Vec<_>, _> = received(sent(&packets)).into_iter().collect();
            prop_assert_eq!(found.unwrap(), packets);
        }
    }
}
