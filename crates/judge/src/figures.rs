//! What was watched at a point, in figures that can be compared between points: shares, rates, and costs per operation.

use serde::{Deserialize, Serialize};

/// What a figure is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FigureUnit {
    /// Part of a whole: 0.03 is 3 %.
    Share,
    Count,
    PerSecond,
    PerOperation,
    Nanoseconds,
    NanosecondsPerOperation,
    Bytes,
    BytesPerSecond,
    BytesPerOperation,
    /// CPU time per time: 1.5 is one and a half processors.
    Processors,
}

/// Name, unit and meaning of one figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FigureKind {
    /// Name of the field in [`Figures`], which never changes.
    pub name: &'static str,
    /// In a few words, for tables.
    pub label: &'static str,
    /// What it is counted in.
    pub unit: FigureUnit,
}

macro_rules! figures {
    ($($(#[$doc:meta])* $name:ident = $label:literal, $unit:ident;)*) => {
        /// What was watched, over the seconds that count. `None` where it is not known, or where there was nothing that it could be a share of.
        ///
        /// An operation is a unit of work, however it ended. Levels are averaged over time.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct Figures {
            $($(#[$doc])* #[serde(skip_serializing_if = "Option::is_none")] pub $name: Option<f64>,)*
        }

        impl Figures {
            /// Every figure, in the order in which tables show them.
            pub const ALL: &'static [FigureKind] = &[$(FigureKind {
                name: stringify!($name),
                label: $label,
                unit: FigureUnit::$unit,
            },)*];

            /// The values in the order of [`Self::ALL`].
            pub fn values(&self) -> Vec<Option<f64>> {
                vec![$(self.$name,)*]
            }

            /// One figure of several, each by itself: the values that are known are handed to `summary`.
            pub(crate) fn over(of: &[&Self], summary: impl Fn(&[f64]) -> Option<f64>) -> Self {
                Self {
                    $($name: summary(&of.iter().filter_map(|one| one.$name).collect::<Vec<f64>>()),)*
                }
            }
        }
    };
}

figures! {
    operations_per_second = "operations", PerSecond;
    /// Bytes of data and indexes on the disk after the load.
    data_bytes = "size on disk", Bytes;

    /// Mean time of a read within the server, as it says itself: without the network and the client.
    server_read_ns = "reads within the server", Nanoseconds;
    /// Mean time of a write within the server.
    server_write_ns = "writes within the server", Nanoseconds;
    /// Share of the server's tickets for reads in use.
    server_read_tickets_used = "read tickets in use", Share;
    /// Share of the server's tickets for writes in use.
    server_write_tickets_used = "write tickets in use", Share;
    /// Tickets for reads that the server has.
    server_read_tickets = "read tickets", Count;
    /// Tickets for writes that the server has.
    server_write_tickets = "write tickets", Count;
    /// Reads that wait within the server for a lock or a ticket.
    server_reads_queued = "reads queued in the server", Count;
    /// Writes that wait within the server for a lock or a ticket.
    server_writes_queued = "writes queued in the server", Count;
    /// Share of the sessions' time spent waiting for the server's flow control.
    flow_control_wait = "sessions waiting for flow control", Share;
    /// Share of the time in which flow control held writes back because other members lagged.
    flow_control_lagged = "flow control holding back", Share;
    /// Documents that the server returned for each operation.
    documents_returned_per_operation = "documents returned", PerOperation;
    /// Documents that the server looked at for each operation, whether or not they matched.
    documents_examined_per_operation = "documents examined", PerOperation;
    /// Keys of indexes that the server looked at for each operation.
    keys_examined_per_operation = "keys examined", PerOperation;
    /// Documents that the server inserted, updated or deleted for each operation.
    documents_changed_per_operation = "documents changed", PerOperation;
    /// Documents that the server deleted because their time was over.
    documents_expired_per_second = "documents expired", PerSecond;
    /// Requests that the server received for each operation.
    server_requests_per_operation = "requests to the server", PerOperation;
    /// Bytes that the server received for each operation.
    server_received_bytes_per_operation = "received by the server", BytesPerOperation;
    /// Bytes that the server sent for each operation.
    server_sent_bytes_per_operation = "sent by the server", BytesPerOperation;

    /// Pages that the engine found in its cache, of all that operations requested: 1 - read / requested.
    engine_cache_hit_ratio = "engine cache hits", Share;
    /// Used share of the engine's cache.
    engine_cache_fill = "engine cache fill", Share;
    /// What the engine's cache holds.
    engine_cache_bytes = "in the engine's cache", Bytes;
    /// Share of the engine's cache that is changed and not yet written.
    engine_cache_dirty = "engine cache dirty", Share;
    /// Read into the engine's cache.
    engine_read_bytes_per_second = "read into the engine's cache", BytesPerSecond;
    /// Pages read into the engine's cache for each operation.
    engine_pages_read_per_operation = "pages read into the cache", PerOperation;
    evictions_per_operation = "evictions", PerOperation;
    /// Pages evicted by threads that had an operation to do.
    evictions_by_application_per_operation = "evictions by application threads", PerOperation;
    /// Share of the sessions' time spent evicting or waiting for room in the cache.
    engine_cache_wait = "sessions waiting for the cache", Share;
    /// Transactions rolled back; of a mongod its write conflicts.
    rollbacks_per_operation = "rollbacks", PerOperation;
    /// Times that the journal was forced to the disk.
    journal_syncs_per_second = "journal syncs", PerSecond;
    /// Mean time of one of them.
    journal_sync_ns = "time of a journal sync", Nanoseconds;
    /// Time of all journal syncs, over the time of the point.
    journal_sync_share = "journal syncing", Share;
    journal_bytes_per_second = "written to the journal", BytesPerSecond;
    /// Bytes that the engine wrote to its data and its journal for each operation, compressed as they are.
    engine_written_bytes_per_operation = "written by the engine", BytesPerOperation;
    /// Bytes that the engine wrote for each byte that operations inserted or changed.
    write_amplification = "write amplification", Count;
    checkpoints = "checkpoints", Count;
    /// Share of the time in which a checkpoint ran.
    checkpoint_share = "checkpoints under way", Share;

    /// Bytes that the page cache answered, of all that the engine read from the operating system: 1 - read from the device / requested. Zero where the device
    /// read more than was requested (read-ahead, metadata).
    page_cache_hit_ratio = "page cache hits", Share;
    /// What the engine read and wrote for its data, at the operating system.
    asked_bytes_per_second = "requested from the operating system", BytesPerSecond;
    /// What the page cache answered of it.
    page_cache_bytes_per_second = "from the page cache", BytesPerSecond;

    device_reads_per_second = "device reads", PerSecond;
    device_writes_per_second = "device writes", PerSecond;
    device_flushes_per_second = "device flushes", PerSecond;
    device_read_bytes_per_second = "read from the device", BytesPerSecond;
    device_written_bytes_per_second = "written to the device", BytesPerSecond;
    /// Bytes of one read at the device.
    device_read_size_bytes = "size of a device read", Bytes;
    /// Reads at the device for each page of the engine's that the page cache did not have: bytes of a page on disk / bytes of a device read. Below 1 where
    /// one read fetches several pages.
    device_reads_per_missed_page = "device reads for a missed page", Count;
    device_read_ns = "latency of device reads", Nanoseconds;
    device_write_ns = "latency of device writes", Nanoseconds;
    device_flush_ns = "latency of device flushes", Nanoseconds;
    /// Mean number of requests in flight.
    device_queue = "device queue", Count;
    /// Share of the time in which the device was busy.
    device_utilisation = "device busy", Share;
    /// Reads at the device for each operation.
    device_reads_per_operation = "device reads", PerOperation;
    /// Writes at the device for each operation.
    device_writes_per_operation = "device writes", PerOperation;
    /// Read from the device for each operation.
    device_read_bytes_per_operation = "read from the device", BytesPerOperation;
    /// Written to the device for each operation.
    device_written_bytes_per_operation = "written to the device", BytesPerOperation;
    device_credits = "burst credits", Count;
    /// Share of the time in which the emulated disk was as requested.
    device_shaped = "disk as requested", Share;

    /// CPU time of the worker for each operation.
    worker_cpu_ns_per_operation = "CPU of the worker", NanosecondsPerOperation;
    /// CPU time of the server for each operation: of one that was started for the run, or that runs by itself on this machine.
    server_cpu_ns_per_operation = "CPU of the server", NanosecondsPerOperation;
    /// CPU time of the whole machine for each operation.
    machine_cpu_ns_per_operation = "CPU of the machine", NanosecondsPerOperation;
    /// Processors that the worker kept busy.
    worker_processors = "processors of the worker", Processors;
    /// Processors that the server kept busy.
    server_processors = "processors of the server", Processors;
    /// Processors that the daemon of the emulated disk kept busy.
    disk_processors = "processors of the emulated disk", Processors;
    /// Share of the worker's CPU time spent in the kernel.
    worker_kernel_share = "worker in the kernel", Share;
    /// Processors that the control group of what is under test kept busy.
    group_processors = "processors of the control group", Processors;
    /// Processors' time that was not idle, stolen time not counted.
    machine_busy = "processors busy", Share;
    /// Processors' time in the kernel.
    machine_kernel = "processors in the kernel", Share;
    /// Processors' time that the hypervisor took.
    machine_steal = "processors stolen", Share;
    /// Processors' time idle while something waited for a disk.
    machine_iowait = "processors waiting for a disk", Share;
    /// Context switches of the machine.
    context_switches_per_operation = "context switches", PerOperation;
    /// Share of the time in which some task waited for a processor.
    pressure_cpu = "some task waits for CPU", Share;
    /// Share of the time in which some task waited for a disk.
    pressure_io = "some task waits for a disk", Share;
    /// Share of the time in which some task waited for memory.
    pressure_memory = "some task waits for memory", Share;
    /// Time in which the control group was held back by its CPU limit, over the time. Some kernels count it for each processor, so it may exceed 1.
    throttled = "throttled by the CPU limit", Share;

    /// Time that runnable threads of server and worker waited for a processor, over the sessions' time.
    processor_wait = "wait for a processor", Share;

    /// Received by the interface between load and server.
    network_received_bytes_per_second = "received from the network", BytesPerSecond;
    network_sent_bytes_per_second = "sent to the network", BytesPerSecond;
    /// Used share of its link's speed, in the busier direction.
    network_link_used = "network link used", Share;
    /// TCP segments that were sent again, of all that were sent.
    network_retransmitted = "TCP segments sent again", Share;

    /// Memory of the server's process, without the page cache.
    server_memory_bytes = "memory of the server", Bytes;
    /// Memory charged to the control group.
    group_memory_bytes = "memory of the control group", Bytes;
    /// The part of the group's memory that is the memory of processes.
    group_processes_bytes = "of it, processes", Bytes;
    /// The part of the group's memory that is page cache, without what processes have mapped, such as their programs.
    group_page_cache_bytes = "of it, page cache", Bytes;
    group_limit_bytes = "limit of its memory", Bytes;
    /// Page cache of the whole machine.
    machine_page_cache_bytes = "page cache of the machine", Bytes;
    /// Pages of the page cache that were read again soon after they had been given up.
    refaults_per_operation = "refaults", PerOperation;

    /// CPU time that watching took, of all processors' time.
    watching = "cost of watching", Share;
}

impl Figures {
    /// Whether nothing was watched: at most what the worker itself counts is known.
    pub fn is_unwatched(&self) -> bool {
        let own = Self {
            operations_per_second: self.operations_per_second,
            data_bytes: self.data_bytes,
            worker_cpu_ns_per_operation: self.worker_cpu_ns_per_operation,
            worker_processors: self.worker_processors,
            worker_kernel_share: self.worker_kernel_share,
            ..Self::default()
        };
        *self == own
    }
}

/// The figures of one arm at one point over its valid runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FigureSummary {
    pub median: Figures,
    pub lowest: Figures,
    pub highest: Figures,
}

impl FigureSummary {
    /// Summarises one value of each figure per run.
    pub(crate) fn over_blocks(runs: &[&Figures]) -> Self {
        Self {
            median: Figures::over(runs, plimsoll_stats::median),
            lowest: Figures::over(runs, |values| values.iter().copied().reduce(f64::min)),
            highest: Figures::over(runs, |values| values.iter().copied().reduce(f64::max)),
        }
    }
}
