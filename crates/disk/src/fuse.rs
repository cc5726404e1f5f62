//! The file system of one file, `disk.img`, which is the disk.

use crate::blocks::Buffer;
use crate::due::{Answer, Due};
use crate::flow::{Arrival, Flow};
use crate::shaper::RequestKind;
use crate::storage::{Receipt, Storage};
use crate::wire::{self, Headers, opcode};
use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEmpty,
    ReplyEntry, ReplyOpen, ReplyWrite, Request, WriteFlags,
};
use std::ffi::OsStr;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

pub(crate) const IMAGE: &str = "disk.img";

const IMAGE_INODE: INodeNo = INodeNo(2);
/// What the directory holds.
const ENTRIES: [(INodeNo, FileType, &str); 3] = [
    (INodeNo::ROOT, FileType::Directory, "."),
    (INodeNo::ROOT, FileType::Directory, ".."),
    (IMAGE_INODE, FileType::RegularFile, IMAGE),
];
const OPEN_FLAGS: FopenFlags =
    FopenFlags::FOPEN_DIRECT_IO.union(FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES);
/// Nothing here ever changes by itself.
const FOR_EVER: Duration = Duration::from_secs(1 << 30);
/// Requests that the kernel lets be under way at once. Its own default of 12 would be a queue depth.
const BACKGROUND: u16 = 1024;
pub(crate) const LARGEST_WRITE: u32 = 1 << 20;

/// What a user of the disk wants done.
enum Wanted<'a> {
    Read(&'a mut [u8]),
    Write(&'a [u8]),
    Flush,
    Discard { length: u64, mode: i32 },
}

/// Work that is done, and how it went; or the number of the error with which it was refused.
type Worked = Result<(Arrival, io::Result<Receipt>), i32>;

#[derive(Clone)]
pub(crate) struct DiskFile {
    pub(crate) storage: Arc<Storage>,
    pub(crate) capacity_bytes: u64,
    pub(crate) flow: Arc<Flow>,
    pub(crate) due: Arc<Due>,
    pub(crate) made_at: SystemTime,
    /// Whether rings wait for a connection; at the end of the handshake, whether they may serve this one.
    pub(crate) has_rings: Arc<AtomicBool>,
}

impl DiskFile {
    fn attributes(&self, inode: INodeNo) -> Option<FileAttr> {
        let (kind, perm, size) = match inode {
            INodeNo::ROOT => (FileType::Directory, 0o700, 0),
            IMAGE_INODE => (FileType::RegularFile, 0o600, self.capacity_bytes),
            _ => return None,
        };
        Some(FileAttr {
            ino: inode,
            size,
            blocks: size / 512,
            atime: self.made_at,
            mtime: self.made_at,
            ctime: self.made_at,
            crtime: self.made_at,
            kind,
            perm,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }

    fn readable(&self, offset: u64, size: u32) -> usize {
        u64::from(size).min(self.capacity_bytes.saturating_sub(offset)) as usize
    }

    /// Does what is wanted, in the session of the one who opened the disk.
    fn work(&self, session: u64, offset: u64, wanted: Wanted<'_>) -> Worked {
        if self.storage.is_over(session) {
            return Err(libc::EIO);
        }
        let (kind, length) = match &wanted {
            Wanted::Read(into) => (RequestKind::Read, into.len() as u64),
            Wanted::Write(data) => (RequestKind::Write, data.len() as u64),
            Wanted::Flush => (RequestKind::Flush, 0),
            Wanted::Discard { length, .. } => (RequestKind::Discard, *length),
        };
        let is_inside = offset.checked_add(length).is_some_and(|end| end <= self.capacity_bytes);
        if let Wanted::Discard { mode, .. } = wanted {
            let gives_zeros = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_ZERO_RANGE;
            if mode & gives_zeros == 0 || !is_inside {
                return Err(libc::EOPNOTSUPP);
            }
        }
        let arrival = self.flow.arrive(kind, offset, length);
        let storage = &self.storage;
        let with_spare = |work: &dyn Fn(&mut Buffer) -> io::Result<Receipt>| {
            let mut spare = self.due.buffer();
            let worked = work(&mut spare);
            self.due.give_back(spare);
            worked
        };
        let worked = arrival.work(|| match wanted {
            Wanted::Read(into) => storage.read(session, into, offset),
            Wanted::Write(_) if !is_inside => Err(io::Error::from_raw_os_error(libc::ENOSPC)),
            Wanted::Write(data) => with_spare(&|spare| storage.write(session, data, offset, spare)),
            Wanted::Flush => storage.flush(session),
            Wanted::Discard { length, .. } => {
                with_spare(&|spare| storage.discard(session, offset, length, spare))
            }
        });
        Ok((arrival, worked))
    }

    /// The answer follows when it is due, or at once when the work was refused or failed.
    fn finish(&self, worked: Worked, answer: Answer) {
        match worked {
            Ok((arrival, Ok(receipt))) => self.due.answer(arrival, receipt, answer),
            Ok((arrival, Err(error))) => {
                self.flow.fail(arrival);
                self.due.fail(answer, error.raw_os_error().unwrap_or(libc::EIO));
            }
            Err(number) => self.due.fail(answer, number),
        }
    }

    /// Does a request that came through a ring. `answer` makes its answer, whose data of that length are then where those of the request were.
    pub(crate) fn take(
        &self,
        headers: &Headers,
        data: &mut [u8],
        answer: impl FnOnce(u32) -> Answer,
    ) {
        let wire::At { handle: session, offset, size } = headers.arguments();
        let sent = (headers.data_bytes as usize).min(data.len());
        match headers.head.opcode {
            opcode::READ => {
                let length = self.readable(offset, size).min(data.len());
                let worked = self.work(session, offset, Wanted::Read(&mut data[..length]));
                self.finish(worked, answer(length as u32));
            }
            opcode::WRITE => {
                let worked = self.work(session, offset, Wanted::Write(&data[..sent]));
                let written = wire::Written::of(sent as u32);
                self.finish(worked, answer(wire::put(data, &written)));
            }
            opcode::FSYNC => self.finish(self.work(session, 0, Wanted::Flush), answer(0)),
            opcode::FALLOCATE => {
                let wire::Allocate { length, mode, .. } = headers.arguments();
                let wanted = Wanted::Discard { length, mode };
                self.finish(self.work(session, offset, wanted), answer(0));
            }
            _ => {
                let inode = INodeNo(headers.head.inode);
                let answered = self.look(headers.head.opcode, inode, (offset, size), data, sent);
                match answered {
                    Ok(length) => self.due.give_now(answer(length)),
                    Err(number) => self.due.fail(answer(0), number),
                }
            }
        }
    }

    /// Answers what is no work for the disk, in the place of the request's own data. Returns the length of the answer, or the number of an error.
    fn look(
        &self,
        opcode: u32,
        inode: INodeNo,
        (offset, size): (u64, u32),
        data: &mut [u8],
        sent: usize,
    ) -> Result<u32, i32> {
        let attributes = |inode| self.attributes(inode).map(wire::Attributes::from);
        match opcode {
            opcode::LOOKUP => {
                let is_image = data[..sent].strip_suffix(&[0]) == Some(IMAGE.as_bytes());
                let found = (inode == INodeNo::ROOT && is_image).then(|| attributes(IMAGE_INODE));
                let found = found.flatten().ok_or(libc::ENOENT)?;
                Ok(wire::put(data, &wire::Found::forever(found)))
            }
            opcode::GETATTR => {
                let found = attributes(inode).ok_or(libc::ENOENT)?;
                Ok(wire::put(data, &wire::AttributesAnswer::forever(found)))
            }
            opcode::OPEN if inode != IMAGE_INODE => Err(libc::EISDIR),
            opcode::OPEN => {
                Ok(wire::put(data, &wire::Opened::of(self.storage.session(), OPEN_FLAGS.bits())))
            }
            opcode::OPENDIR => Ok(wire::put(data, &wire::Opened::of(0, 0))),
            opcode::READDIR => {
                let room = data.len().min(size as usize);
                Ok(wire::list(&ENTRIES, offset, &mut data[..room]))
            }
            opcode::STATFS => Ok(wire::put(data, &wire::Room::none())),
            opcode::FLUSH | opcode::RELEASE | opcode::RELEASEDIR | opcode::DESTROY => Ok(0),
            _ => Err(libc::ENOSYS),
        }
    }
}

impl Filesystem for DiskFile {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // Older kernels have less, which is slower and not wrong.
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
        let _ = config.set_max_write(LARGEST_WRITE);
        let _ = config.set_max_background(BACKGROUND);
        let _ = config.set_congestion_threshold(BACKGROUND);
        let may_use_rings = self.has_rings.load(Ordering::Relaxed)
            && config.add_capabilities(InitFlags::FUSE_OVER_IO_URING).is_ok();
        self.has_rings.store(may_use_rings, Ordering::Relaxed);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if parent != INodeNo::ROOT || name != IMAGE {
            return reply.error(Errno::ENOENT);
        }
        match self.attributes(IMAGE_INODE) {
            Some(attributes) => reply.entry(&FOR_EVER, &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(inode) {
            Some(attributes) => reply.attr(&FOR_EVER, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn open(&self, _: &Request, inode: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        if inode != IMAGE_INODE {
            return reply.error(Errno::EISDIR);
        }
        reply.opened(FileHandle(self.storage.session()), OPEN_FLAGS);
    }

    fn readdir(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        for (next, (inode, kind, name)) in (1..).zip(ENTRIES).skip(offset as usize) {
            if reply.add(inode, next, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        FileHandle(session): FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let (mut buffer, length) = (self.due.buffer(), self.readable(offset, size));
        let worked = self.work(session, offset, Wanted::Read(buffer.of_length(length)));
        self.finish(worked, Answer::Data(reply, buffer, length));
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        FileHandle(session): FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let written = u32::try_from(data.len()).unwrap_or(u32::MAX);
        let worked = self.work(session, offset, Wanted::Write(data));
        self.finish(worked, Answer::Written(reply, written));
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        // Called when somebody closes the file. Only fsync is a flush of the disk.
        reply.ok();
    }

    fn fsync(
        &self,
        _: &Request,
        _: INodeNo,
        FileHandle(session): FileHandle,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.finish(self.work(session, 0, Wanted::Flush), Answer::Done(reply));
    }

    fn fallocate(
        &self,
        _: &Request,
        _: INodeNo,
        FileHandle(session): FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let wanted = Wanted::Discard { length, mode };
        self.finish(self.work(session, offset, wanted), Answer::Done(reply));
    }
}
