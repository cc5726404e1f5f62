//! The filesystem of one file, `disk.img`, which is the disk.

use crate::due::{Answer, Due};
use crate::flow::{Arrival, Flow};
use crate::shaper::{Request, RequestKind};
use crate::storage::{Receipt, Storage};
use crate::wire::{self, Attributes, Headers, opcode, opened};
use std::io;
use std::sync::Arc;
use std::time::Duration;

pub(crate) const IMAGE: &str = "disk.img";

const ROOT: u64 = 1;
const IMAGE_INODE: u64 = 2;
/// What the directory holds: inode, kind and name.
const ENTRIES: [(u64, u32, &str); 3] =
    [(ROOT, libc::S_IFDIR, "."), (ROOT, libc::S_IFDIR, ".."), (IMAGE_INODE, libc::S_IFREG, IMAGE)];
/// The longest request, bytes.
pub(crate) const LARGEST_WRITE: u32 = 1 << 20;

/// What a request wants.
pub(crate) enum Taken {
    /// A request that needs no disk: the length of its finished answer, or the number of an error.
    Answered(Result<u32, i32>),
    Work(Work),
}

/// Work for the disk, in the session of the user who opened it.
#[derive(Clone, Copy)]
pub(crate) struct Work {
    pub(crate) session: u64,
    pub(crate) arrival: Arrival,
}

impl Work {
    /// Completes the answer to work that is done. Its data are where those of the request were. Returns their length.
    pub(crate) fn answer_bytes(&self, data: &mut [u8]) -> u32 {
        let Request { kind, bytes } = self.arrival.request;
        match kind {
            RequestKind::Read => bytes as u32,
            RequestKind::Write => wire::put(data, &wire::Written::of(bytes as u32)),
            RequestKind::Flush | RequestKind::Discard => 0,
        }
    }
}

#[derive(Clone)]
pub(crate) struct DiskFile {
    pub(crate) storage: Arc<Storage>,
    pub(crate) capacity_bytes: u64,
    pub(crate) flow: Arc<Flow>,
    pub(crate) due: Arc<Due>,
    /// Since 1970.
    pub(crate) made_at: Duration,
}

impl DiskFile {
    /// Finds out what a request wants, and answers it if that is nothing of the disk. `data` is the place of its data and of those of its answer.
    pub(crate) fn take(&self, headers: &Headers, data: &mut [u8]) -> Taken {
        let wire::At { handle: session, offset, size } = headers.arguments();
        let sent = (headers.data_bytes as usize).min(data.len());
        let arrived = match headers.head.opcode {
            opcode::READ => {
                let left = self.capacity_bytes.saturating_sub(offset);
                let length = left.min(u64::from(size)).min(data.len() as u64);
                self.arrive(session, RequestKind::Read, offset, length)
            }
            opcode::WRITE => self.arrive(session, RequestKind::Write, offset, sent as u64),
            opcode::FSYNC => self.arrive(session, RequestKind::Flush, 0, 0),
            opcode::FALLOCATE => {
                let wire::Allocate { length, mode, .. } = headers.arguments();
                match mode & (libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_ZERO_RANGE) {
                    0 => Err(libc::EOPNOTSUPP),
                    _ => self.arrive(session, RequestKind::Discard, offset, length),
                }
            }
            _ => return Taken::Answered(self.look(headers, (offset, size), data, sent)),
        };
        arrived.map_or_else(|number| Taken::Answered(Err(number)), Taken::Work)
    }

    fn arrive(
        &self,
        session: u64,
        kind: RequestKind,
        offset: u64,
        length: u64,
    ) -> Result<Work, i32> {
        let is_inside = offset.checked_add(length).is_some_and(|end| end <= self.capacity_bytes);
        match kind {
            _ if self.storage.is_over(session) => Err(libc::EIO),
            RequestKind::Write if !is_inside => Err(libc::ENOSPC),
            RequestKind::Discard if !is_inside => Err(libc::EOPNOTSUPP),
            _ => Ok(Work { session, arrival: self.flow.arrive(kind, offset, length) }),
        }
    }

    /// Does the work, here and now.
    pub(crate) fn work(&self, work: &Work, data: &mut [u8]) -> io::Result<Receipt> {
        let Work { session, arrival } = *work;
        let Request { kind, bytes } = arrival.request;
        let (storage, offset, length) = (&self.storage, arrival.offset, bytes as usize);
        arrival.work(|| match kind {
            RequestKind::Read => storage.read(session, &mut data[..length], offset),
            RequestKind::Write => storage.write(session, &data[..length], offset),
            RequestKind::Flush => storage.flush(session),
            RequestKind::Discard => storage.discard(session, offset, bytes),
        })
    }

    /// The answer to work that is done follows when it is due, or at once when the work failed.
    pub(crate) fn finish(&self, work: Work, worked: io::Result<Receipt>, answer: Answer) {
        match worked {
            Ok(receipt) => self.due.answer(work.arrival, receipt, answer),
            Err(error) => {
                self.flow.fail(work.arrival);
                answer.give(Err(error.raw_os_error().unwrap_or(libc::EIO)));
            }
        }
    }

    /// Answers what wants nothing of the disk.
    fn look(
        &self,
        headers: &Headers,
        (offset, size): (u64, u32),
        data: &mut [u8],
        sent: usize,
    ) -> Result<u32, i32> {
        let inode = headers.head.inode;
        match headers.head.opcode {
            opcode::LOOKUP => {
                let is_image = data[..sent].strip_suffix(&[0]) == Some(IMAGE.as_bytes());
                let found = if inode == ROOT && is_image { IMAGE_INODE } else { 0 };
                Ok(wire::put(data, &wire::Found::forever(self.attributes(found)?)))
            }
            opcode::GETATTR => {
                Ok(wire::put(data, &wire::AttributesAnswer::forever(self.attributes(inode)?)))
            }
            opcode::OPEN if inode != IMAGE_INODE => Err(libc::EISDIR),
            opcode::OPEN => {
                let flags = opened::DIRECT_IO | opened::PARALLEL_DIRECT_WRITES;
                Ok(wire::put(data, &wire::Opened::of(self.storage.session(), flags)))
            }
            opcode::OPENDIR => Ok(wire::put(data, &wire::Opened::of(0, 0))),
            opcode::READDIR => {
                let room = data.len().min(size as usize);
                Ok(wire::list(&ENTRIES, offset, &mut data[..room]))
            }
            opcode::STATFS => Ok(wire::put(data, &wire::Room::none())),
            // Closing a file flushes it. Only fsync is a flush of the disk.
            opcode::FLUSH | opcode::RELEASE | opcode::RELEASEDIR | opcode::DESTROY => Ok(0),
            _ => Err(libc::ENOSYS),
        }
    }

    fn attributes(&self, inode: u64) -> Result<Attributes, i32> {
        let (mode, size) = match inode {
            ROOT => (libc::S_IFDIR | 0o700, 0),
            IMAGE_INODE => (libc::S_IFREG | 0o600, self.capacity_bytes),
            _ => return Err(libc::ENOENT),
        };
        Ok(Attributes {
            inode,
            size,
            blocks: size / 512,
            seconds: [self.made_at.as_secs(); 3],
            nanos: [self.made_at.subsec_nanos(); 3],
            mode,
            links: 1,
            block_size: 4096,
            ..Attributes::default()
        })
    }
}
