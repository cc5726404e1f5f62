//! Passes requests and answers through io_uring, where the kernel offers it. One system call gives all answers that are due and takes all new requests,
//! and the thread that does the work also holds the answers until they are due.
//!
//! Each queue of the kernel belongs to a processor, and has slots: memory for a request that comes and for its answer. A thread serves the
//! queues of one processor, or of several where there are more processors than [`MOST_RINGS`].

use crate::due::{Answer, Due, Sleeper, Wait};
use crate::fuse::DiskFile;
use crate::process::be_real_time;
use crate::wire::{self, Command, Headers, command};
use io_uring::squeue::Entry128;
use io_uring::types::{Fd, Fixed, SubmitArgs, Timespec};
use io_uring::{EnterFlags, IoUring, cqueue, opcode};
use plimsoll_trace::monotonic_ns;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use rustix::thread::{CpuSet, sched_setaffinity};
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
/// The completion that says that somebody rang.
const BELL: u64 = u64::MAX;
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
    if queues.len() == 1 {
        let mut one = CpuSet::new();
        one.set(queues[0]);
        // Where the request comes from, so that nobody has to be woken on another processor.
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
        arrived: VecDeque::new(),
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
    /// Gives it, with the data that its slot has.
    pub(crate) fn give(self) {
        self.commit(Ok(self.data_bytes));
    }

    pub(crate) fn fail(self, error: i32) {
        self.commit(Err(error));
    }

    fn commit(&self, result: Result<u32, i32>) {
        let mut outbox = self.outbox.lock().unwrap_or_else(PoisonError::into_inner);
        outbox.push(Commit { slot: self.slot, result });
    }
}

struct Ring<'a> {
    ring: IoUring<Entry128>,
    slots: Slots,
    queues: &'a [usize],
    file: DiskFile,
    lane: usize,
    due: &'a Arc<Due>,
    /// What is read when somebody rings.
    bell: [u8; 8],
    outbox: Outbox,
    /// Slots with requests that wait for their turn.
    arrived: VecDeque<usize>,
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
            while let Some(slot) = self.arrived.pop_front() {
                self.take(slot);
                due.give(self.lane, &mut sleeper);
                done += 1;
                if done % BATCH == 0 {
                    self.commit()?;
                    self.enter(0, None)?;
                }
            }
            let wait = due.give(self.lane, &mut sleeper);
            let has_answered = self.commit()?;
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
                Wait::Spin if has_answered || self.ring.submission().taskrun() => {
                    self.enter(0, None)?;
                }
                Wait::Spin => std::hint::spin_loop(),
            }
            self.take_completions()?;
        }
    }

    /// Tells the kernel what there is, and waits for as many completions, at the longest until an instant of the monotonic clock.
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
                _ if completion.result() < 0 => {
                    return Err(io::Error::from_raw_os_error(-completion.result()));
                }
                slot => self.arrived.push_back(slot as usize),
            }
        }
        if has_rung {
            self.await_bell()?;
        }
        Ok(())
    }

    /// Hands the answers to the ring. Returns whether there are any.
    fn commit(&mut self) -> io::Result<bool> {
        let outbox = Arc::clone(&self.outbox);
        let mut outbox = outbox.lock().unwrap_or_else(PoisonError::into_inner);
        let has_any = !outbox.is_empty();
        for Commit { slot, result } in outbox.drain(..) {
            let headers = self.slots.headers(slot);
            let data_bytes = result.unwrap_or(0);
            headers.data_bytes = data_bytes;
            headers.head.length = wire::ANSWER_HEAD + data_bytes;
            headers.head.opcode = result.err().unwrap_or(0).wrapping_neg() as u32;
            let commit = headers.commit;
            let entry = opcode::UringCmd80::new(DEVICE, command::COMMIT_AND_FETCH)
                .cmd(self.command(slot, commit))
                .build()
                .user_data(slot as u64);
            self.push(&entry)?;
        }
        Ok(has_any)
    }

    /// Does the request in a slot.
    fn take(&mut self, slot: usize) {
        let answer = |data_bytes: u32| {
            let outbox = Arc::clone(&self.outbox);
            Answer::Ring(RingAnswer { lane: self.lane, slot, data_bytes, outbox })
        };
        let (headers, data) = self.slots.both(slot);
        self.file.take(headers, data, answer);
    }
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
