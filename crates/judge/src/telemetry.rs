//! From the telemetry of slices to figures: counters added up, levels averaged, each over the seconds in which it is known.

use crate::Figures;
use plimsoll_record::{Slice, figures as names};
use std::collections::BTreeMap;

/// Beyond what anything counts in a second: an exbibyte, or nanoseconds of thirty years.
const HIGHEST: f64 = (1_u64 << 60) as f64;

/// One name over the slices that have it.
#[derive(Clone, Copy, Default)]
struct Sum {
    /// For a counter the sum, for a level the sum of value times seconds.
    total: f64,
    seconds: f64,
    operations: f64,
}

/// All names over the slices.
struct Sums<'a> {
    by_name: BTreeMap<&'a str, Sum>,
}

impl<'a> Sums<'a> {
    fn of(slices: &[&'a Slice]) -> Self {
        let mut by_name: BTreeMap<&str, Sum> = BTreeMap::new();
        for slice in slices {
            let seconds = slice.length_ns as f64 / 1e9;
            let operations = slice.completed.total() as f64;
            for (name, value) in &slice.telemetry {
                // A record may hold anything; what is below zero or beyond any count is no figure.
                if !(0.0..=HIGHEST).contains(value) {
                    continue;
                }
                let weight = if names::is_level(name) { seconds } else { 1.0 };
                let sum = by_name.entry(name).or_default();
                sum.total += value * weight;
                sum.seconds += seconds;
                sum.operations += operations;
            }
        }
        Self { by_name }
    }

    fn total(&self, counter: &str) -> Option<f64> {
        self.by_name.get(counter).map(|sum| sum.total)
    }

    /// A counter for each second, or a level averaged.
    fn per_second(&self, name: &str) -> Option<f64> {
        let sum = self.by_name.get(name)?;
        ratio(sum.total, sum.seconds)
    }

    fn per_operation(&self, counter: &str) -> Option<f64> {
        let sum = self.by_name.get(counter)?;
        ratio(sum.total, sum.operations)
    }

    /// Nanoseconds of a counter as a part of the time.
    fn of_time(&self, counter: &str) -> Option<f64> {
        self.per_second(counter).map(|each| each / 1e9)
    }

    /// One counter over another, both for each second.
    fn quotient(&self, part: &str, whole: &str) -> Option<f64> {
        ratio(self.per_second(part)?, self.per_second(whole)?)
    }

    /// The share that was found, from what was requested and what was missed.
    fn hit_ratio(&self, missed: &str, requested: &str) -> Option<f64> {
        self.quotient(missed, requested).map(|missed| (1.0 - missed).max(0.0))
    }

    /// What a server reports of itself.
    fn of_server(&self, sessions: u32, figures: Figures) -> Figures {
        let changes = [
            names::SERVER_DOCUMENTS_INSERTED,
            names::SERVER_DOCUMENTS_UPDATED,
            names::SERVER_DOCUMENTS_DELETED,
        ];
        let changed = changes.iter().map(|name| self.per_operation(name)).sum();
        Figures {
            server_read_ns: self.quotient(names::SERVER_READ_TIME, names::SERVER_READS),
            server_write_ns: self.quotient(names::SERVER_WRITE_TIME, names::SERVER_WRITES),
            server_read_tickets_used: self
                .quotient(names::SERVER_READ_TICKETS, names::SERVER_READ_TICKETS_TOTAL),
            server_write_tickets_used: self
                .quotient(names::SERVER_WRITE_TICKETS, names::SERVER_WRITE_TICKETS_TOTAL),
            server_read_tickets: self.per_second(names::SERVER_READ_TICKETS_TOTAL),
            server_write_tickets: self.per_second(names::SERVER_WRITE_TICKETS_TOTAL),
            server_reads_queued: self.per_second(names::SERVER_READS_QUEUED),
            server_writes_queued: self.per_second(names::SERVER_WRITES_QUEUED),
            flow_control_wait: self
                .of_time(names::SERVER_FLOW_CONTROL_WAIT)
                .and_then(|waited| ratio(waited, f64::from(sessions))),
            flow_control_lagged: self.per_second(names::SERVER_FLOW_CONTROL_LAGGED),
            documents_returned_per_operation: self.per_operation(names::SERVER_DOCUMENTS_RETURNED),
            documents_examined_per_operation: self.per_operation(names::SERVER_DOCUMENTS_EXAMINED),
            keys_examined_per_operation: self.per_operation(names::SERVER_KEYS_EXAMINED),
            documents_changed_per_operation: changed,
            documents_expired_per_second: self.per_second(names::SERVER_DOCUMENTS_EXPIRED),
            server_requests_per_operation: self.per_operation(names::SERVER_REQUESTS),
            server_received_bytes_per_operation: self.per_operation(names::SERVER_RECEIVED_BYTES),
            server_sent_bytes_per_operation: self.per_operation(names::SERVER_SENT_BYTES),
            ..figures
        }
    }

    /// What an engine reports of its cache, journal and checkpoints.
    fn of_engine(&self, sessions: u32, figures: Figures) -> Figures {
        let checkpoints_running = self.per_second(names::ENGINE_CHECKPOINT_RUNNING);
        Figures {
            engine_cache_hit_ratio: self
                .hit_ratio(names::ENGINE_PAGES_READ, names::ENGINE_PAGES_REQUESTED),
            engine_cache_fill: self.quotient(names::ENGINE_CACHE_USED, names::ENGINE_CACHE_MAXIMUM),
            engine_cache_bytes: self.per_second(names::ENGINE_CACHE_USED),
            engine_cache_dirty: self
                .quotient(names::ENGINE_CACHE_DIRTY, names::ENGINE_CACHE_MAXIMUM),
            engine_read_bytes_per_second: self.per_second(names::ENGINE_CACHE_READ_BYTES),
            engine_pages_read_per_operation: self.per_operation(names::ENGINE_PAGES_READ),
            evictions_per_operation: self.per_operation(names::ENGINE_EVICTIONS),
            evictions_by_application_per_operation: self
                .per_operation(names::ENGINE_EVICTIONS_BY_APPLICATION),
            engine_cache_wait: self
                .of_time(names::ENGINE_CACHE_WAIT)
                .and_then(|waited| ratio(waited, f64::from(sessions))),
            rollbacks_per_operation: self.per_operation(names::ENGINE_ROLLBACKS),
            journal_syncs_per_second: self.per_second(names::ENGINE_JOURNAL_SYNCS),
            journal_sync_ns: self
                .quotient(names::ENGINE_JOURNAL_SYNC_TIME, names::ENGINE_JOURNAL_SYNCS),
            journal_sync_share: self.of_time(names::ENGINE_JOURNAL_SYNC_TIME),
            journal_bytes_per_second: self.per_second(names::ENGINE_JOURNAL_BYTES),
            engine_written_bytes_per_operation: self
                .per_operation(names::ENGINE_BLOCK_WRITTEN_BYTES)
                .map(|data| data + self.per_operation(names::ENGINE_JOURNAL_BYTES).unwrap_or(0.0)),
            checkpoints: self.total(names::ENGINE_CHECKPOINTS),
            checkpoint_share: checkpoints_running
                .or_else(|| self.of_time(names::ENGINE_CHECKPOINT_TIME))
                .map(|share| share.min(1.0)),
            ..figures
        }
    }

    /// The page cache and the device below the data.
    fn of_disk(&self, figures: Figures) -> Figures {
        let requested = match self.total(names::ENGINE_BLOCK_READ_BYTES) {
            Some(_) => names::ENGINE_BLOCK_READ_BYTES,
            None => names::PROCESS_READ_BYTES,
        };
        let requested_per_second = self.per_second(requested);
        let read_per_second = self.per_second(names::DEVICE_READ_BYTES);
        let read_size = self.quotient(names::DEVICE_READ_BYTES, names::DEVICE_READS);
        let from_page_cache = requested_per_second
            .zip(read_per_second)
            .map(|(requested, read)| (requested - read).max(0.0));
        Figures {
            page_cache_hit_ratio: self.hit_ratio(names::DEVICE_READ_BYTES, requested),
            asked_bytes_per_second: requested_per_second,
            page_cache_bytes_per_second: from_page_cache,
            device_reads_per_second: self.per_second(names::DEVICE_READS),
            device_writes_per_second: self.per_second(names::DEVICE_WRITES),
            device_flushes_per_second: self.per_second(names::DEVICE_FLUSHES),
            device_read_bytes_per_second: read_per_second,
            device_written_bytes_per_second: self.per_second(names::DEVICE_WRITTEN_BYTES),
            device_read_size_bytes: read_size,
            device_reads_per_missed_page: self
                .quotient(names::ENGINE_BLOCK_READ_BYTES, names::ENGINE_PAGES_READ)
                .zip(read_size)
                .and_then(|(page, read)| ratio(page, read)),
            device_read_ns: self.quotient(names::DEVICE_READ_TIME, names::DEVICE_READS),
            device_write_ns: self.quotient(names::DEVICE_WRITE_TIME, names::DEVICE_WRITES),
            device_flush_ns: self.quotient(names::DEVICE_FLUSH_TIME, names::DEVICE_FLUSHES),
            device_queue: self.of_time(names::DEVICE_QUEUE),
            device_utilisation: self.of_time(names::DEVICE_BUSY).map(|busy| busy.min(1.0)),
            device_reads_per_operation: self.per_operation(names::DEVICE_READS),
            device_writes_per_operation: self.per_operation(names::DEVICE_WRITES),
            device_read_bytes_per_operation: self.per_operation(names::DEVICE_READ_BYTES),
            device_written_bytes_per_operation: self.per_operation(names::DEVICE_WRITTEN_BYTES),
            device_credits: self.per_second(names::DEVICE_CREDITS),
            device_shaped: self.per_second(names::DEVICE_SHAPED),
            ..figures
        }
    }

    /// The network, and the memory of server and group.
    fn of_network(&self, figures: Figures) -> Figures {
        let received = self.per_second(names::NETWORK_RECEIVED_BYTES);
        let sent = self.per_second(names::NETWORK_SENT_BYTES);
        Figures {
            network_received_bytes_per_second: received,
            network_sent_bytes_per_second: sent,
            network_link_used: received
                .zip(sent)
                .map(|(received, sent)| received.max(sent))
                .zip(self.per_second(names::NETWORK_LINK))
                .and_then(|(used, link)| ratio(used, link)),
            network_retransmitted: self
                .quotient(names::NETWORK_RETRANSMITTED, names::NETWORK_SEGMENTS),
            server_memory_bytes: self.per_second(names::SERVER_MEMORY),
            group_memory_bytes: self.per_second(names::GROUP_MEMORY),
            group_processes_bytes: self.per_second(names::GROUP_MEMORY_PROCESSES),
            group_page_cache_bytes: self.per_second(names::GROUP_PAGE_CACHE),
            group_limit_bytes: self.per_second(names::GROUP_MEMORY_LIMIT),
            machine_page_cache_bytes: self.per_second(names::MACHINE_PAGE_CACHE),
            refaults_per_operation: self.per_operation(names::GROUP_REFAULTS),
            ..figures
        }
    }
}

fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

/// Figures over slices of a machine with this many processors, on which this many sessions were at work.
pub(crate) fn figures(slices: &[&Slice], cores: u32, sessions: u32) -> Figures {
    let sums = Sums::of(slices);
    let (mut seconds, mut operations) = (0.0, 0.0);
    let (mut worker_user_ns, mut worker_kernel_ns) = (0.0, 0.0);
    for slice in slices {
        seconds += slice.length_ns as f64 / 1e9;
        operations += slice.completed.total() as f64;
        worker_user_ns += slice.worker.cpu_user_ns as f64;
        worker_kernel_ns += slice.worker.cpu_system_ns as f64;
    }
    let worker_ns = worker_user_ns + worker_kernel_ns;
    let machine = Processors::of(&sums);
    let figures = Figures {
        operations_per_second: ratio(operations, seconds),
        worker_cpu_ns_per_operation: ratio(worker_ns, operations),
        server_cpu_ns_per_operation: sums.per_operation(names::SERVER_CPU),
        machine_cpu_ns_per_operation: machine
            .as_ref()
            .and_then(|machine| ratio(machine.busy_ns, operations)),
        worker_processors: ratio(worker_ns / 1e9, seconds),
        server_processors: sums.of_time(names::SERVER_CPU),
        disk_processors: sums.of_time(names::DEVICE_CPU),
        worker_kernel_share: ratio(worker_kernel_ns, worker_ns),
        group_processors: sums.of_time(names::GROUP_CPU),
        machine_busy: machine.as_ref().map(|one| one.busy_ns / one.all_ns),
        machine_kernel: machine.as_ref().map(|one| one.kernel_ns / one.all_ns),
        machine_steal: machine.as_ref().map(|one| one.stolen_ns / one.all_ns),
        machine_iowait: machine.as_ref().map(|one| one.waiting_ns / one.all_ns),
        context_switches_per_operation: sums.per_operation(names::MACHINE_CONTEXT_SWITCHES),
        pressure_cpu: sums.of_time(names::MACHINE_PRESSURE_CPU),
        pressure_io: sums.of_time(names::MACHINE_PRESSURE_IO),
        pressure_memory: sums.of_time(names::MACHINE_PRESSURE_MEMORY),
        throttled: sums.of_time(names::GROUP_CPU_THROTTLED),
        processor_wait: sums
            .of_time(names::WAITED_FOR_PROCESSOR)
            .and_then(|waited| ratio(waited, f64::from(sessions))),
        watching: sums
            .of_time(names::WATCHING)
            .and_then(|watching| ratio(watching, f64::from(cores))),
        ..Figures::default()
    };
    let figures = sums.of_server(sessions, figures);
    let figures = sums.of_engine(sessions, figures);
    sums.of_network(sums.of_disk(figures))
}

/// The processors' time by what it went to, nanoseconds over all of them.
struct Processors {
    busy_ns: f64,
    kernel_ns: f64,
    stolen_ns: f64,
    waiting_ns: f64,
    all_ns: f64,
}

impl Processors {
    /// `None` unless user, kernel and idle time are known. A machine that does not report waiting or stolen time counts as having none.
    fn of(sums: &Sums<'_>) -> Option<Self> {
        let user_ns = sums.total(names::MACHINE_CPU_USER)?;
        let kernel_ns = sums.total(names::MACHINE_CPU_SYSTEM)?;
        let idle_ns = sums.total(names::MACHINE_CPU_IDLE)?;
        let waiting_ns = sums.total(names::MACHINE_CPU_IOWAIT).unwrap_or(0.0);
        let stolen_ns = sums.total(names::MACHINE_CPU_STEAL).unwrap_or(0.0);
        let all_ns = user_ns + kernel_ns + idle_ns + waiting_ns + stolen_ns;
        (all_ns > 0.0).then_some(Self {
            busy_ns: user_ns + kernel_ns,
            kernel_ns,
            stolen_ns,
            waiting_ns,
            all_ns,
        })
    }
}

/// Figures of every slice by itself; empty where nothing was watched in any.
pub(crate) fn by_second(slices: &[Slice], cores: u32, sessions: u32) -> Vec<Figures> {
    if slices.iter().all(|slice| slice.telemetry.is_empty()) {
        return Vec::new();
    }
    slices.iter().map(|slice| figures(&[slice], cores, sessions)).collect()
}
