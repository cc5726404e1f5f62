//! Names of the figures in [`Slice::telemetry`](crate::Slice::telemetry).
//!
//! Counters are differences over the slice; levels are as they were at its end. A figure that is not known is left out. The unit is the last part of the name, a plain
//! count has none.

macro_rules! figures {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $kind:ident;)*) => {
        $($(#[$doc])* pub const $name: &str = $text;)*

        /// Every name that is a level; all others are counters.
        pub const LEVELS: &[&str] = &figures!(@levels [] $($name $kind;)*);

        /// Every name, in the order of this table.
        pub const ALL: &[&str] = &[$($name,)*];
    };
    (@levels [$($levels:ident)*] $name:ident Level; $($rest:tt)*) => { figures!(@levels [$($levels)* $name] $($rest)*) };
    (@levels [$($levels:ident)*] $name:ident Counter; $($rest:tt)*) => { figures!(@levels [$($levels)*] $($rest)*) };
    (@levels [$($levels:ident)*]) => { [$($levels,)*] };
}

figures! {
    /// Bytes in the engine's cache.
    ENGINE_CACHE_USED = "engine.cache.used.bytes", Level;
    /// Size of the engine's cache.
    ENGINE_CACHE_MAXIMUM = "engine.cache.maximum.bytes", Level;
    /// Changed bytes in the cache that are not yet written.
    ENGINE_CACHE_DIRTY = "engine.cache.dirty.bytes", Level;
    /// Bytes that the engine read into its cache.
    ENGINE_CACHE_READ_BYTES = "engine.cache.read.bytes", Counter;
    /// Bytes that the engine wrote from its cache.
    ENGINE_CACHE_WRITTEN_BYTES = "engine.cache.written.bytes", Counter;
    /// Pages that operations wanted from the cache.
    ENGINE_PAGES_REQUESTED = "engine.pages.requested", Counter;
    /// Pages read into the cache.
    ENGINE_PAGES_READ = "engine.pages.read", Counter;
    /// Pages written from the cache.
    ENGINE_PAGES_WRITTEN = "engine.pages.written", Counter;
    /// Pages that were evicted, by application threads and others.
    ENGINE_EVICTIONS = "engine.evictions", Counter;
    /// Pages evicted by threads that had an operation to do.
    ENGINE_EVICTIONS_BY_APPLICATION = "engine.evictions.by_application", Counter;
    /// Time that operations spent evicting or waiting for room in the cache.
    ENGINE_CACHE_WAIT = "engine.cache.wait.ns", Counter;
    /// Reads of data files by the engine, at the operating system.
    ENGINE_BLOCK_READS = "engine.block.reads", Counter;
    /// Bytes of the blocks that were read.
    ENGINE_BLOCK_READ_BYTES = "engine.block.read.bytes", Counter;
    /// Writes to its data files.
    ENGINE_BLOCK_WRITES = "engine.block.writes", Counter;
    /// Bytes of the blocks that were written.
    ENGINE_BLOCK_WRITTEN_BYTES = "engine.block.written.bytes", Counter;
    /// Bytes written to the journal.
    ENGINE_JOURNAL_BYTES = "engine.journal.bytes", Counter;
    /// Times the journal was forced to the disk.
    ENGINE_JOURNAL_SYNCS = "engine.journal.syncs", Counter;
    /// Time spent in syncs of the journal.
    ENGINE_JOURNAL_SYNC_TIME = "engine.journal.sync.ns", Counter;
    /// 1 while a checkpoint is being made.
    ENGINE_CHECKPOINT_RUNNING = "engine.checkpoint.running", Level;
    /// Checkpoints that ended within the slice.
    ENGINE_CHECKPOINTS = "engine.checkpoints", Counter;
    /// Time that checkpoints took, of those that were completed.
    ENGINE_CHECKPOINT_TIME = "engine.checkpoint.ns", Counter;
    /// Transactions that were rolled back for a conflict.
    ENGINE_ROLLBACKS = "engine.rollbacks", Counter;

    /// Read requests that the device completed.
    DEVICE_READS = "device.reads", Counter;
    /// Write requests that the device completed.
    DEVICE_WRITES = "device.writes", Counter;
    /// Flush requests that the device completed.
    DEVICE_FLUSHES = "device.flushes", Counter;
    /// Bytes that were read from the device.
    DEVICE_READ_BYTES = "device.read.bytes", Counter;
    /// Bytes that were written to the device.
    DEVICE_WRITTEN_BYTES = "device.written.bytes", Counter;
    /// Time of all reads, summed: divided by their number it is the mean latency.
    DEVICE_READ_TIME = "device.read.ns", Counter;
    /// Time of all writes, summed.
    DEVICE_WRITE_TIME = "device.write.ns", Counter;
    /// Time of all flushes, summed.
    DEVICE_FLUSH_TIME = "device.flush.ns", Counter;
    /// Time in which the device had something to do.
    DEVICE_BUSY = "device.busy.ns", Counter;
    /// Requests in flight, integrated over time: divided by the length of the slice it is the mean queue.
    DEVICE_QUEUE = "device.queue.ns", Counter;
    /// Burst credits that the emulated disk has left.
    DEVICE_CREDITS = "device.credits", Level;
    /// 1 while the emulated disk is as configured, 0 while it has no limits.
    DEVICE_SHAPED = "device.shaped", Level;
    /// CPU time of the daemon of the emulated disk.
    DEVICE_CPU = "device.cpu.ns", Counter;

    /// CPU time of the machine in user mode, all processors.
    MACHINE_CPU_USER = "machine.cpu.user.ns", Counter;
    /// In the kernel, interrupts included.
    MACHINE_CPU_SYSTEM = "machine.cpu.system.ns", Counter;
    /// Time in which the machine's processors were idle.
    MACHINE_CPU_IDLE = "machine.cpu.idle.ns", Counter;
    /// Idle while something waited for a disk.
    MACHINE_CPU_IOWAIT = "machine.cpu.iowait.ns", Counter;
    /// Time that the hypervisor gave to other machines.
    MACHINE_CPU_STEAL = "machine.cpu.steal.ns", Counter;
    /// Context switches of the whole machine.
    MACHINE_CONTEXT_SWITCHES = "machine.context_switches", Counter;
    /// Memory that could be had without swapping.
    MACHINE_MEMORY_AVAILABLE = "machine.memory.available.bytes", Level;
    /// Page cache of the whole machine.
    MACHINE_PAGE_CACHE = "machine.page_cache.bytes", Level;
    /// Dirty page cache of the whole machine.
    MACHINE_PAGE_CACHE_DIRTY = "machine.page_cache.dirty.bytes", Level;
    /// Time in which some task waited for CPU (PSI).
    MACHINE_PRESSURE_CPU = "machine.pressure.cpu.ns", Counter;
    /// Time in which some task waited for a disk (PSI).
    MACHINE_PRESSURE_IO = "machine.pressure.io.ns", Counter;
    /// Time in which some task waited for memory (PSI).
    MACHINE_PRESSURE_MEMORY = "machine.pressure.memory.ns", Counter;

    /// Memory charged to the control group of what is under test.
    GROUP_MEMORY = "group.memory.bytes", Level;
    /// The part of it that is memory of processes.
    GROUP_MEMORY_PROCESSES = "group.memory.processes.bytes", Level;
    /// The part of it that is page cache and could be given up: without what processes have mapped, such as their programs.
    GROUP_PAGE_CACHE = "group.memory.page_cache.bytes", Level;
    /// The limit of the group's memory; absent where there is none.
    GROUP_MEMORY_LIMIT = "group.memory.limit.bytes", Level;
    /// CPU time of the group.
    GROUP_CPU = "group.cpu.ns", Counter;
    /// Time in which the group was held back by its CPU limit.
    GROUP_CPU_THROTTLED = "group.cpu.throttled.ns", Counter;
    /// Page cache pages that were read again soon after they had been given up.
    GROUP_REFAULTS = "group.refaults", Counter;

    /// Time for which threads of server and worker, as far as they are on this machine, were ready to run and waited for a processor, summed over them.
    WAITED_FOR_PROCESSOR = "waiting.processor.ns", Counter;
    /// CPU time of the server that was started for the run, of all its members, or that runs by itself on this machine.
    SERVER_CPU = "server.cpu.ns", Counter;
    /// CPU time of the first member of a server with several.
    SERVER_MEMBER_1_CPU = "server.member_1.cpu.ns", Counter;
    /// CPU time of the second member of the server.
    SERVER_MEMBER_2_CPU = "server.member_2.cpu.ns", Counter;
    /// CPU time of the third member of the server.
    SERVER_MEMBER_3_CPU = "server.member_3.cpu.ns", Counter;
    /// CPU time of the fourth member of the server.
    SERVER_MEMBER_4_CPU = "server.member_4.cpu.ns", Counter;
    /// CPU time of the fifth member of the server.
    SERVER_MEMBER_5_CPU = "server.member_5.cpu.ns", Counter;
    /// CPU time of the sixth member of the server.
    SERVER_MEMBER_6_CPU = "server.member_6.cpu.ns", Counter;
    /// CPU time of the seventh member of the server.
    SERVER_MEMBER_7_CPU = "server.member_7.cpu.ns", Counter;
    /// Memory of that server's processes.
    SERVER_MEMORY = "server.memory.bytes", Level;
    /// Connections to the server, as it counts them.
    SERVER_CONNECTIONS = "server.connections", Level;
    /// Operations of clients, as the server counts them: also those of administration.
    SERVER_OPERATIONS = "server.operations", Counter;
    /// Bytes that the server received from clients.
    SERVER_RECEIVED_BYTES = "server.received.bytes", Counter;
    /// Bytes that the server sent to clients.
    SERVER_SENT_BYTES = "server.sent.bytes", Counter;
    /// Page faults of the server that needed a disk.
    SERVER_PAGE_FAULTS = "server.page_faults", Counter;
    /// Memory of the server's process, as it says itself, in whole MiB.
    SERVER_RESIDENT = "server.resident.bytes", Level;
    /// Reads that the server has let into its storage engine.
    SERVER_READ_TICKETS = "server.tickets.read", Level;
    /// Writes that the server has let into its storage engine.
    SERVER_WRITE_TICKETS = "server.tickets.write", Level;
    /// Reads that the server lets into its storage engine at most.
    SERVER_READ_TICKETS_TOTAL = "server.tickets.read.total", Level;
    /// Writes that the server lets into its storage engine at most.
    SERVER_WRITE_TICKETS_TOTAL = "server.tickets.write.total", Level;
    /// Reads that wait for a lock or to be let in.
    SERVER_READS_QUEUED = "server.queued.reads", Level;
    /// Writes that wait for a lock or to be let in.
    SERVER_WRITES_QUEUED = "server.queued.writes", Level;
    /// Time that operations waited for locks of the server.
    SERVER_LOCK_WAIT = "server.lock.wait.ns", Counter;
    /// Clients that hold a lock for reading or wait for one.
    SERVER_ACTIVE_READERS = "server.active.readers", Level;
    /// Clients that hold a lock for writing or wait for one.
    SERVER_ACTIVE_WRITERS = "server.active.writers", Level;
    /// Requests of clients: messages, not operations.
    SERVER_REQUESTS = "server.requests", Counter;
    /// Reads that the server has timed.
    SERVER_READS = "server.reads", Counter;
    /// Time of them within the server, summed: divided by their number it is the mean latency.
    SERVER_READ_TIME = "server.reads.ns", Counter;
    /// Writes that the server has timed.
    SERVER_WRITES = "server.writes", Counter;
    /// Time of them within the server, summed.
    SERVER_WRITE_TIME = "server.writes.ns", Counter;
    /// Commands other than reads and writes that the server has timed.
    SERVER_COMMANDS = "server.commands", Counter;
    /// Time of them within the server, summed.
    SERVER_COMMAND_TIME = "server.commands.ns", Counter;
    /// Documents that the server says it inserted.
    SERVER_DOCUMENTS_INSERTED = "server.documents.inserted", Counter;
    /// Documents that the server returned to reads.
    SERVER_DOCUMENTS_RETURNED = "server.documents.returned", Counter;
    /// Documents that the server says it updated.
    SERVER_DOCUMENTS_UPDATED = "server.documents.updated", Counter;
    /// Documents that the server deleted, for any client.
    SERVER_DOCUMENTS_DELETED = "server.documents.deleted", Counter;
    /// Keys of indexes that the server looked at for queries.
    SERVER_KEYS_EXAMINED = "server.keys.examined", Counter;
    /// Documents that the server looked at for queries.
    SERVER_DOCUMENTS_EXAMINED = "server.documents.examined", Counter;
    /// Documents deleted because their time was over.
    SERVER_DOCUMENTS_EXPIRED = "server.documents.expired", Counter;
    /// 1 where the server may hold writes back while other members of its replica set lag behind.
    SERVER_FLOW_CONTROL = "server.flow_control.enabled", Level;
    /// 1 while they lag so far that it does.
    SERVER_FLOW_CONTROL_LAGGED = "server.flow_control.lagged", Level;
    /// Time that operations waited to be let through by flow control.
    SERVER_FLOW_CONTROL_WAIT = "server.flow_control.wait.ns", Counter;
    /// Locks for writing a second that flow control allows; a thousand million while it holds nothing back.
    SERVER_FLOW_CONTROL_RATE = "server.flow_control.rate", Level;
    /// Locks that an operation took of late, as flow control reckons.
    SERVER_FLOW_CONTROL_LOCKS = "server.flow_control.locks_per_operation", Level;
    /// 1 while the server is the primary of its replica set.
    SERVER_PRIMARY = "server.primary", Level;
    /// 1 while the server is a secondary of its replica set.
    SERVER_SECONDARY = "server.secondary", Level;

    /// Bytes that the interface between load and server received.
    NETWORK_RECEIVED_BYTES = "network.received.bytes", Counter;
    /// Packets that the interface received from the server.
    NETWORK_RECEIVED_PACKETS = "network.received.packets", Counter;
    /// Bytes that the interface sent to the server.
    NETWORK_SENT_BYTES = "network.sent.bytes", Counter;
    /// Packets that the interface sent to the server.
    NETWORK_SENT_PACKETS = "network.sent.packets", Counter;
    /// Speed of its link each way, in bytes a second.
    NETWORK_LINK = "network.link.bytes_per_second", Level;
    /// TCP segments sent within the network namespace, over whatever interface.
    NETWORK_SEGMENTS = "network.segments.sent", Counter;
    /// TCP segments sent again because they were not acknowledged.
    NETWORK_RETRANSMITTED = "network.segments.retransmitted", Counter;

    /// Bytes that the process under test read, from page cache or device.
    PROCESS_READ_BYTES = "process.read.bytes", Counter;
    /// CPU time that watching took: all that gathers these figures.
    WATCHING = "watching.ns", Counter;
}

/// What the names of all figures of a network begin with.
pub const NETWORK: &str = "network.";

/// CPU time of each member of a server that has several.
pub const SERVER_MEMBER_CPU: [&str; crate::MOST_MEMBERS as usize] = [
    SERVER_MEMBER_1_CPU,
    SERVER_MEMBER_2_CPU,
    SERVER_MEMBER_3_CPU,
    SERVER_MEMBER_4_CPU,
    SERVER_MEMBER_5_CPU,
    SERVER_MEMBER_6_CPU,
    SERVER_MEMBER_7_CPU,
];

/// Whether the figure of this name is a level, so that over slices it is averaged and not summed.
pub fn is_level(name: &str) -> bool {
    LEVELS.contains(&name)
}
