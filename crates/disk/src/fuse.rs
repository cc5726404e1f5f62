//! The file system of one file, `disk.img`, which is the disk.

use crate::due::{Answer, Due};
use crate::flow::{Arrival, Flow};
use crate::shaper::RequestKind;
use crate::storage::{Receipt, Storage};
use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEmpty,
    ReplyEntry, ReplyOpen, ReplyWrite, Request, WriteFlags,
};
use std::ffi::OsStr;
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

pub(crate) const IMAGE: &str = "disk.img";

const IMAGE_INODE: INodeNo = INodeNo(2);
/// Nothing here ever changes by itself.
const FOR_EVER: Duration = Duration::from_secs(1 << 30);
/// Requests that the kernel lets be under way at once. Its own default of 12 would be a queue depth.
const BACKGROUND: u16 = 1024;
const LARGEST_WRITE: u32 = 1 << 20;

pub(crate) struct DiskFile {
    pub(crate) storage: Arc<Storage>,
    pub(crate) capacity_bytes: u64,
    pub(crate) flow: Arc<Flow>,
    pub(crate) due: Arc<Due>,
    pub(crate) made_at: SystemTime,
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

    fn is_inside(&self, offset: u64, length: u64) -> bool {
        offset.checked_add(length).is_some_and(|end| end <= self.capacity_bytes)
    }

    /// The work is done; the answer follows when it is due, or at once when it failed.
    fn finish(&self, arrival: Arrival, worked: io::Result<Receipt>, answer: Answer) {
        match worked {
            Ok(receipt) => self.due.answer(arrival, receipt, answer),
            Err(error) => {
                self.flow.fail(arrival);
                if let Some(buffer) = answer.fail(Errno::from(error)) {
                    self.due.give_back(buffer);
                }
            }
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
        let flags = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
        reply.opened(FileHandle(self.storage.session()), flags);
    }

    fn readdir(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let entries = [
            (INodeNo::ROOT, FileType::Directory, "."),
            (INodeNo::ROOT, FileType::Directory, ".."),
            (IMAGE_INODE, FileType::RegularFile, IMAGE),
        ];
        for (next, (inode, kind, name)) in (1..).zip(entries).skip(offset as usize) {
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
        if self.storage.is_over(session) {
            return reply.error(Errno::EIO);
        }
        let length = u64::from(size).min(self.capacity_bytes.saturating_sub(offset));
        let arrival = self.flow.arrive(RequestKind::Read, offset, length);
        let mut buffer = self.due.buffer();
        let length = length as usize;
        let worked = arrival.work(|| self.storage.read(session, buffer.of_length(length), offset));
        self.finish(arrival, worked, Answer::Data(reply, buffer, length));
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
        if self.storage.is_over(session) {
            return reply.error(Errno::EIO);
        }
        let length = data.len() as u64;
        let arrival = self.flow.arrive(RequestKind::Write, offset, length);
        let worked = if self.is_inside(offset, length) {
            let mut spare = self.due.buffer();
            let written = arrival.work(|| self.storage.write(session, data, offset, &mut spare));
            self.due.give_back(spare);
            written
        } else {
            Err(io::Error::from_raw_os_error(libc::ENOSPC))
        };
        let answer = Answer::Written(reply, u32::try_from(length).unwrap_or(u32::MAX));
        self.finish(arrival, worked, answer);
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
        if self.storage.is_over(session) {
            return reply.error(Errno::EIO);
        }
        let arrival = self.flow.arrive(RequestKind::Flush, 0, 0);
        let worked = arrival.work(|| self.storage.flush(session));
        self.finish(arrival, worked, Answer::Done(reply));
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
        if self.storage.is_over(session) {
            return reply.error(Errno::EIO);
        }
        let gives_zeros = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_ZERO_RANGE;
        if mode & gives_zeros == 0 || !self.is_inside(offset, length) {
            return reply.error(Errno::EOPNOTSUPP);
        }
        let arrival = self.flow.arrive(RequestKind::Discard, offset, length);
        let mut spare = self.due.buffer();
        let worked = self.storage.discard(session, offset, length, &mut spare);
        self.due.give_back(spare);
        self.finish(arrival, worked, Answer::Done(reply));
    }
}
