//! Passes requests and answers through `/dev/fuse`: one call takes a request, another gives its answer. Every connection begins so. Where it has rings
//! ([`crate::ring`]), hardly anything else comes this way.

use crate::blocks::Buffer;
use crate::due::Answer;
use crate::fuse::{DiskFile, LARGEST_WRITE, Taken};
use crate::wire::{self, AnswerHead, Head, Headers, Hello, HelloAnswer, can, opcode};
use rustix::io::{Errno, readv, writev};
use rustix::ioctl::{Opcode, Setter, ioctl, opcode as command};
use std::fs::OpenOptions;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zerocopy::{FromZeros, IntoBytes};

pub(crate) const DEVICE: &str = "/dev/fuse";

/// Requests that the kernel lets be under way at once. Its own default of 12 would be a queue depth.
const IN_BACKGROUND: u16 = 1024;
/// Length of the arguments of a write: what follows them is put where direct I/O can begin. Of the requests with shorter arguments only a lookup has data.
const ARGUMENTS: usize = 40;
/// The ioctl that connects another descriptor of the device.
const CLONE: Opcode = command::read::<u32>(229, 0);

/// A descriptor of a connection. An answer goes through the descriptor that its request came through.
pub(crate) struct Device {
    descriptor: OwnedFd,
    /// Memory of reads that were answered, for the next.
    spare: Mutex<Vec<Buffer>>,
}

impl Device {
    pub(crate) fn new(descriptor: OwnedFd) -> Self {
        Self { descriptor, spare: Mutex::default() }
    }

    /// Another one of the same connection, so that threads do not wait for each other.
    pub(crate) fn another(&self) -> io::Result<Self> {
        let opened = OpenOptions::new().read(true).write(true).open(DEVICE)?;
        // SAFETY: the kernel reads a number from the pointer.
        unsafe { ioctl(&opened, Setter::<CLONE, u32>::new(self.descriptor.as_raw_fd() as u32))? };
        Ok(Self::new(opened.into()))
    }

    /// Answers the first request, in which the kernel says what it can do. Returns whether requests can come through rings; never unless they are wanted.
    pub(crate) fn shake_hands(&self, wants_rings: bool) -> io::Result<bool> {
        let (mut headers, mut buffer) = (Headers::new_zeroed(), Buffer::default());
        self.receive(&mut headers, buffer.of_length(LARGEST_WRITE as usize))?;
        let hello: Hello = headers.arguments();
        let is_known = headers.head.opcode == opcode::INIT
            && hello.major == wire::MAJOR
            && hello.minor >= wire::OLDEST_MINOR;
        if !is_known {
            self.send(headers.head.unique, Err(libc::EPROTO));
            let version = format!("FUSE {}.{}", hello.major, hello.minor);
            return Err(io::Error::other(format!("the kernel speaks {version}")));
        }
        let wanted = can::ASYNC_READ
            | can::BIG_WRITES
            | can::ASYNC_DIRECT_IO
            | can::MAX_PAGES
            | can::MORE
            | if wants_rings { can::RINGS } else { 0 };
        let taken = wanted & hello.offers();
        let answer = HelloAnswer::to(&hello, taken, IN_BACKGROUND, LARGEST_WRITE);
        self.send(headers.head.unique, Ok(answer.as_bytes()));
        Ok(taken & can::RINGS != 0)
    }

    /// Takes requests and answers them until the connection ends.
    pub(crate) fn serve(self: &Arc<Self>, file: &DiskFile) -> io::Result<()> {
        let (mut headers, mut own) = (Headers::new_zeroed(), Buffer::default());
        loop {
            self.receive(&mut headers, own.of_length(LARGEST_WRITE as usize))?;
            let Head { opcode, unique, .. } = headers.head;
            if matches!(opcode, opcode::FORGET | opcode::FORGET_MANY) {
                // They have no answer.
                continue;
            }
            // What is read stays until its answer is given, which may be held.
            let mut read = (opcode == opcode::READ).then(|| self.spare().pop().unwrap_or_default());
            let data = match &mut read {
                Some(buffer) => buffer.of_length(headers.arguments::<wire::At>().size as usize),
                None => own.of_length(LARGEST_WRITE as usize),
            };
            match file.take(&headers, data) {
                Taken::Answered(answer) => {
                    self.send(unique, answer.map(|length| &data[..length as usize]));
                }
                Taken::Work(work) => {
                    let worked = file.work(&work, data);
                    let length = work.answer_bytes(data) as usize;
                    let short = data.first_chunk().copied().unwrap_or_default();
                    let data = read.map_or(AnswerData::Short(short), AnswerData::Read);
                    let device = Arc::clone(self);
                    let answer = DeviceAnswer { device, unique, data, length };
                    file.finish(work, worked, Answer::Device(answer));
                }
            }
        }
    }

    /// Waits for a request.
    fn receive(&self, headers: &mut Headers, data: &mut [u8]) -> io::Result<()> {
        loop {
            let mut places = [
                IoSliceMut::new(headers.head.as_mut_bytes()),
                IoSliceMut::new(&mut headers.arguments[..ARGUMENTS]),
                IoSliceMut::new(data),
            ];
            match readv(&self.descriptor, &mut places) {
                Ok(_) => break,
                // Its sender was interrupted before it came here, for example.
                Err(Errno::NOENT | Errno::INTR | Errno::AGAIN) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let sent = (headers.head.length as usize).saturating_sub(size_of::<Head>());
        let after = sent.saturating_sub(ARGUMENTS);
        let is_name = headers.head.opcode == opcode::LOOKUP;
        if is_name {
            data.copy_within(..after, ARGUMENTS);
            data[..ARGUMENTS].copy_from_slice(&headers.arguments[..ARGUMENTS]);
        }
        headers.data_bytes = if is_name { sent } else { after } as u32;
        Ok(())
    }

    /// Answers with data, or with the number of an error.
    fn send(&self, unique: u64, answer: Result<&[u8], i32>) {
        let (error, data) = answer.map_or_else(|number| (-number, &[][..]), |data| (0, data));
        let length = (size_of::<AnswerHead>() + data.len()) as u32;
        let head = AnswerHead { length, error, unique };
        // If this fails, the caller is gone.
        let _ = writev(&self.descriptor, &[IoSlice::new(head.as_bytes()), IoSlice::new(data)]);
    }

    fn spare(&self) -> MutexGuard<'_, Vec<Buffer>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// The answer to a request that came through the device.
pub(crate) struct DeviceAnswer {
    device: Arc<Device>,
    unique: u64,
    data: AnswerData,
    length: usize,
}

enum AnswerData {
    Read(Buffer),
    /// The answer to any other request.
    Short([u8; 8]),
}

impl DeviceAnswer {
    pub(crate) fn give(self, outcome: Result<(), i32>) {
        let Self { device, unique, data, length } = self;
        match data {
            AnswerData::Read(mut buffer) => {
                device.send(unique, outcome.map(|()| &*buffer.of_length(length)));
                device.spare().push(buffer);
            }
            AnswerData::Short(data) => device.send(unique, outcome.map(|()| &data[..length])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixDatagram;

    /// A device, and the kernel's end of it.
    fn connection() -> (Device, UnixDatagram) {
        let (ours, kernels) = UnixDatagram::pair().unwrap();
        (Device::new(ours.into()), kernels)
    }

    /// A request with the number 7, about the root.
    fn request(opcode: u32, body: &[u8]) -> Vec<u8> {
        let length = (size_of::<Head>() + body.len()) as u32;
        let mut bytes = [length, opcode, 7, 0, 1, 0, 0, 0, 0, 0].map(u32::to_ne_bytes).concat();
        bytes.extend(body);
        bytes
    }

    /// Begins a connection as a kernel that speaks this version and offers this. What the daemon says of rings, and the error and flags of its answer.
    fn greet(major: u32, offers: u64, wants_rings: bool) -> (io::Result<bool>, i32, u64) {
        let (device, kernel) = connection();
        let words = [major, 45, 0, offers as u32, (offers >> 32) as u32];
        let mut body = words.map(u32::to_ne_bytes).concat();
        body.resize(64, 0);
        kernel.send(&request(opcode::INIT, &body)).unwrap();
        let said = device.shake_hands(wants_rings);
        let mut answer = [0; 80];
        kernel.recv(&mut answer).unwrap();
        let word = |at: usize| u32::from_ne_bytes(answer[at..at + 4].try_into().unwrap());
        assert_eq!((word(8), word(12)), (7, 0));
        (said, word(4) as i32, u64::from(word(28)) | u64::from(word(48)) << 32)
    }

    #[test]
    fn a_connection_has_rings_where_both_sides_want_them() {
        let old = can::ASYNC_READ | can::BIG_WRITES | can::ASYNC_DIRECT_IO | can::MAX_PAGES;
        let new = old | can::MORE | can::RINGS;
        let unknown = 1 << 13;
        for (offers, wants, has) in [(new, true, true), (new, false, false), (old, true, false)] {
            let (said, error, flags) = greet(7, offers | unknown, wants);
            assert_eq!((said.unwrap(), error), (has, 0));
            assert_eq!(flags, if has { new } else { offers & !can::RINGS });
        }
    }

    #[test]
    fn a_kernel_of_another_protocol_is_refused() {
        let (said, error, _) = greet(8, 0, true);
        assert!(said.unwrap_err().to_string().contains("FUSE 8.45"));
        assert_eq!(error, -libc::EPROTO);
    }

    #[test]
    fn names_and_data_are_whole() {
        let (device, kernel) = connection();
        let (mut headers, mut buffer) = (Headers::new_zeroed(), Buffer::default());
        let body: Vec<u8> = (0..200).collect();
        for (opcode, expected) in [
            (opcode::LOOKUP, &body[..]),
            (opcode::LOOKUP, &body[..9]),
            (opcode::WRITE, &body[40..]),
        ] {
            let sent = if opcode == opcode::WRITE { &body[..] } else { expected };
            kernel.send(&request(opcode, sent)).unwrap();
            let data = buffer.of_length(4096);
            device.receive(&mut headers, data).unwrap();
            assert_eq!(&data[..headers.data_bytes as usize], expected);
        }
        let at: wire::At = headers.arguments();
        assert_eq!((at.handle, at.size), (0x0706_0504_0302_0100, 0x1312_1110));
    }
}
