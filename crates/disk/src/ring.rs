//! Passes requests and answers through io_uring, where the kernel offers it. One system call gives all answers that are due and takes all new requests,
//! and the thread that does the work also holds the answers until they are due. Where the blocks are in a file of the host, the same call hands the work
//! to the kernel, which does many requests at once.
//!
//! Each queue of the kernel belongs to a processor, and has slots: memory for a request that comes and for its answer. A thread serves the
//! queues of one processor, or of several where there are more processors than [`MOST_RINGS`].

use crate::due::{Answer, Due, Sleeper, Wait};
use crate::fuse::{DiskFile, Taken, Work};
use crate::process::be_real_time;
use crate::shaper::{Request, RequestKind};
use crate::storage::{Receipt, Storage};
use crate::wire::{AnswerHead, Command, Headers, command};
use io_uring::squeue::{Entry, Entry128};
use io_uring::types::{Fd, Fixed, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{EnterFlags, IoUring, cqueue, opcode};
use plimsoll_record::Backing;
use plimsoll_trace::monotonic_ns;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::collections::VecDeque;
use std::io;
use std::mem::offset_of;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::ptr::null_mut;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use zerocopy::IntoBytes;

/// More threads than this do not serve a disk.
const MOST_RINGS: usize = 8;
/// Requests that one processor can have in flight. A loop device has at most 128 in all, and the kernel splits long ones in two.
const SLOTS: usize = 256;
/// After this many requests at most, their answers are given to the kernel, so that the first of many does not wait for the last.
const BATCH: usize = 16;
/// The completion of the doorbell.
const BELL: u64 = u64::MAX;
/// Marks the completion of work that was handed to the kernel, beside the number of its slot.
const WORK: u64 = 1 << 32;
/// The only file that a ring knows by a number.
const DEVICE: Fixed = Fixed(0);

/// The queues that the kernel has: one for each processor that this machine could have.
fn queues() -> io::Result<usize> {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/possible")?;
    let last = text.trim().rsplit(['-', ',']).next().and_then(|last| last.parse::<usize>().ok());
    last.map(|last| last + 1).ok_or_else(|| io::Error::other("no number of processors"))
}

/// How many threads would serve a disk.
pub(crate) fn count() -> usize {
    queues().map_or(0, |queues| queues.min(MOST_RINGS))
}

/// What a ring serves.
struct Connection {
    device: OwnedFd,
    file: DiskFile,
}

/// Threads with rings that wait for a connection. They end when this is dropped.
pub(crate) struct Rings {
    waiting: Vec<Sender<Connection>>,
}

impl Rings {
    /// Makes them, or none where the kernel refuses any. `at_the_end` is run by a thread whose connection ended.
    pub(crate) fn make(
        due: &Arc<Due>,
        at_the_end: impl Fn() + Clone + Send + 'static,
    ) -> io::Result<Self> {
        let queues = queues()?;
        let rings = due.rings();
        let (mut waiting, mut made) = (Vec::new(), Vec::new());
        for number in 0..rings {
            let (sender, connections) = channel();
            let (is_made, answer) = channel();
            let served: Vec<usize> = (number..queues).step_by(rings).collect();
            let (due, at_the_end) = (Arc::clone(due), at_the_end.clone());
            Builder::new().name(format!("ring-{number}")).spawn(move || {
                if serve(number, &served, &due, &is_made, &connections) {
                    at_the_end();
                }
            })?;
            waiting.push(sender);
            made.push(answer);
        }
        for answer in made {
            answer.recv().map_err(io::Error::other)??;
        }
        Ok(Self { waiting })
    }

    /// Serves a file through a connection that is open and was allowed to use rings.
    pub(crate) fn begin(self, device: BorrowedFd<'_>, file: &DiskFile) -> io::Result<()> {
        for ring in self.waiting {
            let device = device.try_clone_to_owned()?;
            let _ = ring.send(Connection { device, file: file.clone() });
        }
        Ok(())
    }
}

/// The body of a thread. Returns whether it served a connection, which has ended.
fn serve(
    number: usize,
    queues: &[usize],
    due: &Arc<Due>,
    is_made: &Sender<io::Result<()>>,
    connections: &Receiver<Connection>,
) -> bool {
    let entries = (queues.len() * SLOTS + 1).next_power_of_two();
    let made = IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_taskrun_flag()
        .build(u32::try_from(entries).unwrap_or(u32::MAX))
        .and_then(|ring| Ok((ring, Slots::new(queues.len() * SLOTS)?)));
    let (ring, slots) = match made {
        Ok(made) => made,
        Err(error) => {
            let _ = is_made.send(Err(error));
            return false;
        }
    };
    let _ = is_made.send(Ok(()));
    let Ok(Connection { device, file }) = connections.recv() else {
        return false;
    };
    if let [processor] = queues
        && sched_getaffinity(None).is_ok_and(|ours| ours.is_set(*processor))
    {
        let mut one = CpuSet::new();
        one.set(*processor);
        // On the processor that requests come from, so that no other one has to wake up. But a daemon that was given some processors works on those alone: on the others, it would take
        // time from the other arm of a duet.
        let _ = sched_setaffinity(None, &one);
    }
    let mut ring = Ring {
        ring,
        slots,
        queues,
        file,
        lane: number + 1,
        due,
        bell: [0; 8],
        outbox: Arc::default(),
        completed: VecDeque::new(),
        handed_over: vec![None; queues.len() * SLOTS],
    };
    if ring.register(&device).is_err() {
        ring.file.flow.use_rings(false);
        return false;
    }
    let _ = ring.run();
    true
}

/// Answers that a ring has to give to the kernel.
type Outbox = Arc<Mutex<Vec<Commit>>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Commit {
    slot: usize,
    /// Length of the data in the slot, or the number of an error.
    result: Result<u32, i32>,
}

/// The answer to a request that came through a ring.
pub(crate) struct RingAnswer {
    pub(crate) lane: usize,
    slot: usize,
    data_bytes: u32,
    outbox: Outbox,
}

impl RingAnswer {
    /// Gives it with the data that its slot has, or an error.
    pub(crate) fn give(self, outcome: Result<(), i32>) {
        let mut outbox = self.outbox.lock().unwrap_or_else(PoisonError::into_inner);
        outbox.push(Commit { slot: self.slot, result: outcome.map(|()| self.data_bytes) });
    }
}

struct Ring<'a> {
    ring: IoUring<Entry128>,
    slots: Slots,
    queues: &'a [usize],
    file: DiskFile,
    lane: usize,
    due: &'a Arc<Due>,
    /// Filled when the doorbell rings.
    bell: [u8; 8],
    outbox: Outbox,
    /// What the kernel has completed and is not handled yet, with its result: a slot with a new request, or work.
    completed: VecDeque<(u64, i32)>,
    /// Work that the kernel does, for each slot.
    handed_over: Vec<Option<Work>>,
}

impl Ring<'_> {
    /// Gives the kernel all slots. Where it refuses one, it uses no rings for this connection.
    fn register(&mut self, device: &OwnedFd) -> io::Result<()> {
        self.ring.submitter().register_files(&[device.as_raw_fd()])?;
        for slot in 0..self.slots.count {
            let memory = self.slots.memory(slot);
            let mut entry = opcode::UringCmd80::new(DEVICE, command::REGISTER)
                .cmd(self.command(slot, 0))
                .addr(Some(std::ptr::from_ref(memory) as u64))
                .build()
                .user_data(slot as u64);
            set_length(&mut entry, memory.len());
            self.push(&entry)?;
        }
        self.await_bell()?;
        self.ring.submit()?;
        self.take_completions()
    }

    fn command(&self, slot: usize, commit: u64) -> [u8; 80] {
        let command = Command::of(self.queues[slot / SLOTS] as u16, commit);
        let mut bytes = [0; 80];
        bytes[..size_of::<Command>()].copy_from_slice(command.as_bytes());
        bytes
    }

    fn push(&mut self, entry: &Entry128) -> io::Result<()> {
        // SAFETY: what entries point to is the memory of the slots, their list of it, and the bell, which all stay as long as the ring.
        unsafe { self.ring.submission().push(entry) }.map_err(io::Error::other)
    }

    fn await_bell(&mut self) -> io::Result<()> {
        let bell = Fd(self.due.bell(self.lane).as_raw_fd());
        let entry = opcode::Read::new(bell, self.bell.as_mut_ptr(), 8).build().user_data(BELL);
        self.push(&entry.into())
    }

    /// Takes requests and gives answers until the connection ends.
    fn run(&mut self) -> io::Result<()> {
        let due = Arc::clone(self.due);
        let mut sleeper = Sleeper::default();
        // As all threads of the daemon are made.
        let mut is_real_time = true;
        loop {
            // With real-time priority this thread preempts the loop device's, and gets many requests one at a time: slower, but answers are on time.
            if self.file.flow.may_hold() != is_real_time {
                is_real_time = !is_real_time;
                be_real_time(is_real_time);
            }
            let mut done = 0;
            while let Some((what, result)) = self.completed.pop_front() {
                match what & WORK {
                    0 => self.take(what as usize)?,
                    _ => self.conclude((what & !WORK) as usize, result),
                }
                due.give(self.lane, &mut sleeper);
                done += 1;
                if done % BATCH == 0 {
                    self.commit()?;
                    self.enter(0, None)?;
                }
            }
            let wait = due.give(self.lane, &mut sleeper);
            self.commit()?;
            match wait {
                Wait::Forever => self.enter(1, None)?,
                Wait::Until(wake_ns) => {
                    self.enter(1, Some(wake_ns))?;
                    if self.ring.completion().is_empty()
                        && let Some(late_ns) = monotonic_ns().checked_sub(wake_ns)
                    {
                        sleeper.woke(late_ns);
                    }
                }
                Wait::Spin if self.is_idle() => std::hint::spin_loop(),
                Wait::Spin => self.enter(0, None)?,
            }
            self.take_completions()?;
        }
    }

    /// Whether neither side has anything for the other.
    fn is_idle(&mut self) -> bool {
        let submission = self.ring.submission();
        submission.is_empty() && !submission.taskrun()
    }

    /// Submits what is queued, and waits for `want` completions, at most until an instant of the monotonic clock.
    fn enter(&mut self, want: u32, until_ns: Option<u64>) -> io::Result<()> {
        let to_submit = self.ring.submission().len() as u32;
        let until = until_ns.map(|until_ns| {
            let nanos = (until_ns % 1_000_000_000) as u32;
            Timespec::new().sec(until_ns / 1_000_000_000).nsec(nanos)
        });
        let mut arguments = SubmitArgs::new();
        if let Some(until) = &until {
            arguments = arguments.timespec(until);
        }
        let flags = EnterFlags::EXT_ARG | EnterFlags::GETEVENTS | EnterFlags::ABS_TIMER;
        // SAFETY: the arguments are of the kind that the flag says, and outlive the call.
        let entered =
            unsafe { self.ring.submitter().enter(to_submit, want, flags.bits(), Some(&arguments)) };
        match entered {
            Err(error)
                if !matches!(
                    error.raw_os_error(),
                    Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN)
                ) =>
            {
                Err(error)
            }
            _ => Ok(()),
        }
    }

    /// Fails when the connection has ended.
    fn take_completions(&mut self) -> io::Result<()> {
        let mut has_rung = false;
        for completion in self.ring.completion() {
            let completion: cqueue::Entry = completion;
            match completion.user_data() {
                BELL => has_rung = true,
                slot if slot & WORK == 0 && completion.result() < 0 => {
                    return Err(io::Error::from_raw_os_error(-completion.result()));
                }
                what => self.completed.push_back((what, completion.result())),
            }
        }
        if has_rung {
            self.await_bell()?;
        }
        Ok(())
    }

    /// Hands the answers to the ring.
    fn commit(&mut self) -> io::Result<()> {
        let outbox = Arc::clone(&self.outbox);
        let mut outbox = outbox.lock().unwrap_or_else(PoisonError::into_inner);
        for Commit { slot, result } in outbox.drain(..) {
            let headers = self.slots.headers(slot);
            let data_bytes = result.unwrap_or(0);
            headers.data_bytes = data_bytes;
            headers.head.length = size_of::<AnswerHead>() as u32 + data_bytes;
            headers.head.opcode = result.err().unwrap_or(0).wrapping_neg() as u32;
            let commit = headers.commit;
            let entry = opcode::UringCmd80::new(DEVICE, command::COMMIT_AND_FETCH)
                .cmd(self.command(slot, commit))
                .build()
                .user_data(slot as u64);
            self.push(&entry)?;
        }
        Ok(())
    }

    /// Takes the request in a slot: answers it, does it, or hands it to the kernel.
    fn take(&mut self, slot: usize) -> io::Result<()> {
        let (headers, data) = self.slots.both(slot);
        match self.file.take(headers, data) {
            Taken::Answered(answer) => {
                let data_bytes = answer.unwrap_or(0);
                self.answer(slot, data_bytes).give(answer.map(drop));
            }
            Taken::Work(work) => match by_the_kernel(&self.file.storage, &work, data) {
                Some(entry) => {
                    self.handed_over[slot] = Some(work);
                    self.push(&entry.user_data(WORK | slot as u64).into())?;
                }
                None => {
                    let worked = self.file.work(&work, data);
                    self.finish(slot, work, worked);
                }
            },
        }
        Ok(())
    }

    /// The kernel is done with the work of a slot. What it has not done whole is done here, which also says why.
    fn conclude(&mut self, slot: usize, result: i32) {
        let Some(work) = self.handed_over[slot].take() else { return };
        let Request { kind, bytes } = work.arrival.request;
        let whole = match kind {
            RequestKind::Read | RequestKind::Write => bytes as i32,
            RequestKind::Flush | RequestKind::Discard => 0,
        };
        let worked = match result == whole {
            true => Ok(Storage::plain_receipt(work.session)),
            false => self.file.work(&work, self.slots.both(slot).1),
        };
        self.finish(slot, work, worked);
    }

    fn finish(&mut self, slot: usize, work: Work, worked: io::Result<Receipt>) {
        let data_bytes = work.answer_bytes(self.slots.both(slot).1);
        self.file.finish(work, worked, self.answer(slot, data_bytes));
    }

    fn answer(&self, slot: usize, data_bytes: u32) -> Answer {
        let outbox = Arc::clone(&self.outbox);
        Answer::Ring(RingAnswer { lane: self.lane, slot, data_bytes, outbox })
    }
}

/// The request by which the kernel does such work. `None` where it is done here: on a disk with a volatile cache, which remembers what is replaced, and on one in memory,
/// where it is only a copy.
fn by_the_kernel(storage: &Storage, work: &Work, data: &mut [u8]) -> Option<Entry> {
    let arrival = &work.arrival;
    let Request { kind, bytes } = arrival.request;
    let blocks = storage.plain_blocks()?;
    if arrival.fails || blocks.backing == Backing::Memory {
        return None;
    }
    let (length, offset) = (bytes as u32, arrival.offset);
    let file = Fd(blocks.file_for(data.as_ptr(), bytes as usize, offset).as_raw_fd());
    Some(match kind {
        RequestKind::Read => {
            opcode::Read::new(file, data.as_mut_ptr(), length).offset(offset).build()
        }
        RequestKind::Write => {
            opcode::Write::new(file, data.as_ptr(), length).offset(offset).build()
        }
        RequestKind::Flush => opcode::Fsync::new(file).flags(FsyncFlags::DATASYNC).build(),
        RequestKind::Discard => {
            let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
            opcode::Fallocate::new(file, bytes).offset(offset).mode(mode).build()
        }
    })
}

/// The crate has no word for the length of a list of memory, which the kernel wants here.
fn set_length(entry: &mut Entry128, length: usize) {
    /// `struct io_uring_sqe` up to its length.
    #[repr(C)]
    struct Beginning {
        opcode: u8,
        flags: u8,
        priority: u16,
        file: i32,
        offset: u64,
        address: u64,
        length: u32,
    }
    // SAFETY: an entry begins with this structure of the kernel's, whose every pattern of bits is a number.
    unsafe {
        let length_at = std::ptr::from_mut(entry).byte_add(offset_of!(Beginning, length));
        length_at.cast::<u32>().write(length as u32);
    }
}

/// Bytes of a slot before its data, so that the data begin where direct I/O can.
const BEFORE_DATA: usize = 4096;
const SLOT_BYTES: usize = BEFORE_DATA + crate::fuse::LARGEST_WRITE as usize;

/// Memory for requests. Only what was used once takes room. It stays as long as the process: the kernel may write to it for a while after a ring
/// is closed.
struct Slots {
    count: usize,
    /// For each slot: where its headers are, and its data.
    memory: Vec<[libc::iovec; 2]>,
}

impl Slots {
    fn new(count: usize) -> io::Result<Self> {
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let begin = unsafe {
            mmap_anonymous(
                null_mut(),
                count * SLOT_BYTES,
                ProtFlags::READ | ProtFlags::WRITE,
                flags,
            )?
        };
        let begin = begin.cast::<u8>();
        let at = |offset: usize, length: usize| libc::iovec {
            iov_base: begin.wrapping_add(offset).cast(),
            iov_len: length,
        };
        let memory = (0..count).map(|slot| {
            let offset = slot * SLOT_BYTES;
            [at(offset, size_of::<Headers>()), at(offset + BEFORE_DATA, SLOT_BYTES - BEFORE_DATA)]
        });
        let memory = memory.collect();
        Ok(Self { count, memory })
    }

    /// The list that the kernel is given.
    fn memory(&self, slot: usize) -> &[libc::iovec; 2] {
        &self.memory[slot]
    }

    fn headers(&mut self, slot: usize) -> &mut Headers {
        self.both(slot).0
    }

    /// The headers and the data of a slot that the kernel has given to this program.
    fn both(&mut self, slot: usize) -> (&mut Headers, &mut [u8]) {
        let [headers, data] = self.memory[slot];
        // SAFETY: both are in the mapping, apart from each other, aligned to 4096 bytes, and initialised with zeros. Between the completion of a
        // slot and its commit the kernel does not touch them, and this type is the only way to them.
        unsafe {
            (
                &mut *headers.iov_base.cast::<Headers>(),
                std::slice::from_raw_parts_mut(data.iov_base.cast::<u8>(), data.iov_len),
            )
        }
    }
}
