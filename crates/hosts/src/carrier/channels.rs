//! Streams over a carrier: each channel is a socket at both ends.

use crate::carrier::packet::{Carrier, LONGEST, Packet, PacketReceiver, PacketSender};
use std::collections::HashMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The channel of whole messages. All others are streams.
pub const CONTROL: u32 = 0;

/// How much of a stream is put into one packet, bytes.
const PIECE: usize = 64 << 10;

/// The streams on one carrier. Clones are the same; the carrier outlives the last of them until it is [closed](Self::close).
#[derive(Clone)]
pub struct Channels(Arc<Shared>);

struct Shared {
    /// `None` once the carrier is gone. Held while a packet is sent, which may take until the other side has taken some: the receiver of packets here must never
    /// wait for it.
    sender: Mutex<Option<Box<dyn PacketSender>>>,
    /// `None` once the carrier is gone.
    writers: Mutex<Option<HashMap<u32, Box<dyn Write + Send>>>>,
    heard: Mutex<Instant>,
}

/// Whole messages, one packet each.
#[derive(Debug)]
pub struct Control {
    channels: Channels,
    messages: Receiver<Vec<u8>>,
}

impl Channels {
    pub fn over(carrier: Carrier) -> (Self, Control) {
        let Carrier { sender, receiver } = carrier;
        let channels = Self(Arc::new(Shared {
            sender: Mutex::new(Some(sender)),
            writers: Mutex::new(Some(HashMap::new())),
            heard: Mutex::new(Instant::now()),
        }));
        let (tell, messages) = channel();
        let of_receiver = channels.clone();
        std::thread::spawn(move || {
            of_receiver.take_all(receiver, &tell);
            of_receiver.close();
        });
        let control = Control { channels: channels.clone(), messages };
        (channels, control)
    }

    /// Opens a channel: what is written to the socket comes out at the other side, and the reverse. Both sides must open it, and the side that
    /// receives the first data must open it first.
    pub fn open(&self, channel: u32) -> io::Result<UnixStream> {
        let (ours, theirs) = UnixStream::pair()?;
        self.attach_socket(channel, theirs)?;
        Ok(ours)
    }

    /// Like [`open`](Self::open), with an existing socket.
    pub fn attach_socket(&self, channel: u32, socket: UnixStream) -> io::Result<()> {
        let writer = socket.try_clone()?;
        self.attach(channel, socket, EndedWhenDropped(writer))
    }

    /// As [`open`](Self::open), with two existing streams. The writer is dropped when nothing more comes, the reader when it
    /// has ended.
    pub fn attach(
        &self,
        channel: u32,
        mut reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
    ) -> io::Result<()> {
        let mut writers = locked(&self.0.writers);
        writers.as_mut().ok_or_else(gone)?.insert(channel, Box::new(writer));
        drop(writers);
        let channels = self.clone();
        std::thread::spawn(move || {
            let mut piece = vec![0; PIECE];
            loop {
                let length = match reader.read(&mut piece) {
                    Ok(length) => length,
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    Err(_) => 0,
                };
                let sent = channels.send(channel, piece[..length].to_vec());
                if length == 0 || sent.is_err() {
                    break;
                }
            }
        });
        Ok(())
    }

    /// Sends a message of at most [`LONGEST`] bytes, and at least one, on the channel of messages.
    pub fn send_message(&self, message: Vec<u8>) -> io::Result<()> {
        debug_assert!((1..=LONGEST).contains(&message.len()));
        self.send(CONTROL, message)
    }

    /// How long nothing has come from the other side.
    pub fn silence(&self) -> Duration {
        locked(&self.0.heard).elapsed()
    }

    /// Ends the carrier, for both sides. All sockets end.
    pub fn close(&self) {
        drop(locked(&self.0.writers).take());
        drop(locked(&self.0.sender).take());
    }

    fn send(&self, channel: u32, content: Vec<u8>) -> io::Result<()> {
        let mut sender = locked(&self.0.sender);
        let Some(there) = sender.as_mut() else {
            return Err(gone());
        };
        let sent = there.send(&Packet { channel, content });
        if sent.is_err() {
            sender.take();
            drop(sender);
            self.close();
        }
        sent
    }

    /// Writes all. While a reader is slow nothing is taken from the other side, which is no silence of it.
    fn write(&self, writer: &mut dyn Write, mut content: &[u8]) -> io::Result<()> {
        while !content.is_empty() {
            match writer.write(content) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(length) => content = &content[length..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            *locked(&self.0.heard) = Instant::now();
        }
        writer.flush()
    }

    /// Until the carrier is gone.
    fn take_all(&self, mut receiver: Box<dyn PacketReceiver>, tell: &Sender<Vec<u8>>) {
        while let Ok(Some(Packet { channel, content })) = receiver.receive() {
            *locked(&self.0.heard) = Instant::now();
            if channel == CONTROL {
                // The receiver may have been dropped.
                let _ = tell.send(content);
                continue;
            }
            // Taken out while it is written to: a slow reader does not keep other channels from opening.
            let taken =
                locked(&self.0.writers).as_mut().and_then(|writers| writers.remove(&channel));
            let Some(mut writer) = taken else {
                continue;
            };
            let is_open = !content.is_empty() && self.write(&mut writer, &content).is_ok();
            if let Some(writers) = locked(&self.0.writers).as_mut()
                && is_open
            {
                writers.insert(channel, writer);
            }
        }
    }
}

impl std::fmt::Debug for Channels {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Channels").finish_non_exhaustive()
    }
}

impl Control {
    /// Sends a message, as [`Channels::send_message`].
    pub fn send(&self, message: Vec<u8>) -> io::Result<()> {
        self.channels.send_message(message)
    }

    /// Waits for a message. `Ok(None)` when none came in time.
    pub fn receive(&self, longest: Duration) -> io::Result<Option<Vec<u8>>> {
        match self.messages.recv_timeout(longest) {
            Ok(message) => Ok(Some(message)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(gone()),
        }
    }

    pub fn channels(&self) -> &Channels {
        &self.channels
    }
}

/// The other end of the socket reads to its end.
struct EndedWhenDropped(UnixStream);

impl Write for EndedWhenDropped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for EndedWhenDropped {
    fn drop(&mut self) {
        let _ = self.0.shutdown(Shutdown::Write);
    }
}

fn gone() -> io::Error {
    io::Error::new(ErrorKind::BrokenPipe, "the connection has ended")
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::carrier::stream::over_stream;
    use std::io::{BufRead, BufReader};

    const LONG: Duration = Duration::from_secs(30);

    fn both_sides() -> ((Channels, Control), (Channels, Control)) {
        let (here, there) = UnixStream::pair().unwrap();
        let side = |socket: UnixStream| {
            let writer = socket.try_clone().unwrap();
            Channels::over(over_stream(socket, EndedWhenDropped(writer)))
        };
        (side(here), side(there))
    }

    #[test]
    fn channels_are_apart_and_keep_their_order() {
        let ((here, _), (there, _)) = both_sides();
        let pairs: Vec<_> = [1, 2]
            .map(|channel| (here.open(channel).unwrap(), there.open(channel).unwrap()))
            .into();
        for round in 0..100 {
            for (place, (one, other)) in pairs.iter().enumerate() {
                writeln!(&*one, "{place} {round} there").unwrap();
                writeln!(&*other, "{place} {round} back").unwrap();
            }
        }
        for (place, (one, other)) in pairs.iter().enumerate() {
            for (socket, way) in [(one, "back"), (other, "there")] {
                let mut lines = BufReader::new(socket).lines();
                for round in 0..100 {
                    let line = lines.next().unwrap().unwrap();
                    assert_eq!(line, format!("{place} {round} {way}"));
                }
            }
        }
    }

    #[test]
    fn a_channel_ends_in_one_direction_and_the_other_goes_on() {
        let ((here, _), (there, _)) = both_sides();
        let (mut one, mut other) = (here.open(7).unwrap(), there.open(7).unwrap());
        one.write_all(b"all").unwrap();
        one.shutdown(Shutdown::Write).unwrap();
        let mut heard = String::new();
        other.read_to_string(&mut heard).unwrap();
        assert_eq!(heard, "all");
        other.write_all(b"and back").unwrap();
        drop(other);
        heard.clear();
        one.read_to_string(&mut heard).unwrap();
        assert_eq!(heard, "and back");
    }

    #[test]
    fn more_than_any_buffer_passes_in_both_directions() {
        let ((here, _), (there, _)) = both_sides();
        let (one, other) = (here.open(1).unwrap(), there.open(1).unwrap());
        let content: Vec<u8> = (0..8_u32 << 20).map(|at| (at % 251) as u8).collect();
        std::thread::scope(|scope| {
            for (writer, reader) in [(&one, &other), (&other, &one)] {
                let content = &content;
                scope.spawn(move || {
                    let mut writer = writer;
                    writer.write_all(content).unwrap();
                    writer.shutdown(Shutdown::Write).unwrap();
                });
                scope.spawn(move || {
                    let mut reader = reader;
                    let mut found = Vec::new();
                    reader.read_to_end(&mut found).unwrap();
                    assert!(found == *content);
                });
            }
        });
    }

    #[test]
    fn messages_are_whole() {
        let ((_, here), (_, there)) = both_sides();
        for length in [1, 2, LONGEST] {
            here.send(vec![b'x'; length]).unwrap();
        }
        for length in [1, 2, LONGEST] {
            assert_eq!(there.receive(LONG).unwrap().unwrap().len(), length);
        }
        assert_eq!(there.receive(Duration::ZERO).unwrap(), None);
    }

    #[test]
    fn when_the_carrier_is_gone_every_socket_ends_and_none_is_opened() {
        let ((here, _), (there, receiver)) = both_sides();
        let mut socket = there.open(3).unwrap();
        here.close();
        assert_eq!(socket.read(&mut [0]).unwrap(), 0);
        assert!(receiver.receive(LONG).is_err());
        assert!(there.open(4).is_err());
        assert!(receiver.send(vec![1]).is_err());
    }
}
