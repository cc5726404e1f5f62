//! What the rules about causes look at: one arm at one point, the median of each figure over its runs.

use crate::identity::{bursting, identities, over_runs};
use crate::network::LinkUse;
use crate::rig::emulated;
use crate::sample::Sample;
use crate::{FigureSummary, Figures, IdentityCheck};
use plimsoll_plan::{Arm, Plan, is_by_uri};
use plimsoll_record::{DiskSpec, LoadKind, Operation, ShapedFrom, WarningId};
use plimsoll_stats::median;

/// Fewest seconds with a checkpoint, and without one, that are compared.
const FEWEST_SECONDS: usize = 3;

/// One arm at one point.
pub(crate) struct Evidence<'a> {
    pub(crate) figures: Figures,
    pub(crate) load: LoadKind,
    /// Processors of the machine, as far as known.
    pub(crate) cores: f64,
    /// Processors of that machine that the load generator kept busy.
    pub(crate) worker_processors: Option<f64>,
    /// Whether all load came from other machines.
    pub(crate) is_load_elsewhere: bool,
    /// Whether load and server are on different machines and the network between them was watched.
    pub(crate) is_networked: bool,
    /// The fullest link of the run that is in the middle by this.
    pub(crate) link: Option<LinkUse>,
    /// Share of the sent TCP segments that were sent again.
    pub(crate) retransmitted: Option<f64>,
    /// Round trip between load and server, nanoseconds.
    pub(crate) round_trip_ns: Option<f64>,
    pub(crate) service_ns: Option<f64>,
    /// Processors that what is under test may use, where that is limited.
    pub(crate) cpu_limit: Option<f64>,
    /// Whether the worker is a client alone, of a server that runs by itself.
    pub(crate) is_by_uri: bool,
    /// Whether what is measured is a server, by URI or started for the run.
    pub(crate) is_server: bool,
    /// Whether there is a disk below it, be it watched or not: that of an engine that keeps data, or a server's own.
    pub(crate) has_disk: bool,
    /// Share of the processors that other programs used, where that is known.
    pub(crate) foreign: Option<f64>,
    /// The emulated disk, where its limits hold.
    pub(crate) disk: Option<&'a DiskSpec>,
    /// What the kernel reads ahead on the disk, where the arm decides it, bytes.
    pub(crate) readahead_bytes: Option<u64>,
    /// One for each limit of the emulated disk.
    pub(crate) identities: Vec<IdentityCheck>,
    /// Runs in which the generator was the limit, and all.
    pub(crate) generator_limited: (usize, usize),
    /// Share of the sessions' time spent outside the engine.
    pub(crate) generator_share: Option<f64>,
    /// Lowest share of an open loop's rate that was achieved in a run.
    pub(crate) achieved: Option<f64>,
    /// Operations due per second in it.
    pub(crate) due: Option<f64>,
    /// Lowest share that counts as achieved.
    pub(crate) achieved_limit: f64,
    pub(crate) writing: Option<Writing>,
    /// Throughput beside and during checkpoints.
    pub(crate) checkpoints: Option<AroundCheckpoints>,
    /// How reads are let into the server's storage engine.
    pub(crate) read_tickets: Option<Tickets>,
    pub(crate) write_tickets: Option<Tickets>,
}

/// How a server lets operations into its storage engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tickets {
    /// Share of the seconds in which all tickets were in use and operations queued for them.
    pub(crate) used_up: f64,
    pub(crate) total: f64,
    /// Operations that queue, on average over all seconds.
    pub(crate) queued: f64,
}

/// Operations that change a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Writing {
    pub(crate) per_second: f64,
    pub(crate) mean_ns: f64,
}

/// Operations per second in seconds with and without a checkpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AroundCheckpoints {
    pub(crate) with: f64,
    pub(crate) without: f64,
}

impl<'a> Evidence<'a> {
    /// The evidence of the valid samples, or of all where none is valid; `None` without any.
    pub(crate) fn of(plan: &Plan, arm: &'a Arm, samples: &[&Sample]) -> Option<Self> {
        let valid: Vec<&Sample> =
            samples.iter().copied().filter(|sample| sample.result.valid).collect();
        let considered = if valid.is_empty() { samples.to_vec() } else { valid };
        let first = considered.first()?;
        let watched: Vec<&Figures> =
            considered.iter().map(|sample| &sample.extract.figures).collect();
        let figures = FigureSummary::over_blocks(&watched).median;

        // Before it is shaped, an emulated disk has no limits.
        let is_load = first.label.point.is_none();
        let is_shaped = !is_load || plan.measurement.shaped_from == ShapedFrom::Load;
        let disk = emulated(&arm.rig).filter(|_| is_shaped);
        let checks = disk.map_or_else(Vec::new, |disk| {
            let of_run = |sample: &&Sample| {
                let bursting = bursting(disk, sample.extract.kept_figures());
                identities(disk, &sample.extract.figures, bursting)
            };
            let runs: Vec<_> = considered.iter().map(of_run).collect();
            over_runs(&runs, figures.operations_per_second)
        });
        let is_limited = |sample: &&&Sample| {
            let mut warnings = sample.result.warnings.iter();
            warnings.any(|warning| warning.id == WarningId::GeneratorLimited)
        };
        let of_machine = considered.iter().filter_map(|sample| sample.cpu_limit);
        let pinned = arm.rig.limits.pin.len() as f64;
        let cpu_limit = of_machine
            .chain(arm.rig.limits.cpus)
            .chain((pinned > 0.0).then_some(pinned))
            .reduce(f64::min);
        let middle = |pick: &dyn Fn(&Sample) -> Option<f64>| {
            let values: Vec<f64> = considered.iter().filter_map(|sample| pick(sample)).collect();
            median(&values)
        };
        let networks = considered.iter().filter_map(|one| one.network.as_ref());
        let mut links: Vec<&LinkUse> = networks.filter_map(|one| one.link.as_ref()).collect();
        links.sort_by(|one, other| one.share().total_cmp(&other.share()));
        let link = links.get(links.len().saturating_sub(1) / 2);
        let is_server = is_by_uri(arm) || arm.rig.server.is_some();
        Some(Self {
            figures,
            load: first.label.load,
            cores: f64::from(first.cores),
            worker_processors: middle(&|sample| sample.worker_here),
            is_load_elsewhere: first.hosts.iter().any(|sample| !sample.host.makes_load),
            is_networked: considered.iter().any(|sample| sample.network.is_some()),
            link: link.map(|link| (*link).clone()),
            retransmitted: middle(&|sample| sample.network.as_ref()?.retransmitted),
            round_trip_ns: middle(&|sample| sample.network.as_ref()?.round_trip_ns),
            service_ns: middle(&|sample| sample.extract.service.as_ref()?.percentile(50.0)),
            cpu_limit,
            is_by_uri: is_by_uri(arm),
            is_server,
            has_disk: is_server || considered.iter().any(|sample| sample.keeps_data),
            foreign: middle(&|sample| Some(sample.foreign?.share)),
            disk,
            readahead_bytes: arm.rig.readahead(),
            identities: checks,
            generator_limited: (considered.iter().filter(is_limited).count(), considered.len()),
            generator_share: middle(&|sample| sample.result.generator_share),
            achieved: considered
                .iter()
                .filter_map(|sample| sample.result.achieved)
                .reduce(f64::min),
            due: middle(&|sample| sample.result.due),
            achieved_limit: crate::gates::Limits::of(plan).achieved,
            writing: middle(&|sample| Some(writing(sample)?.per_second))
                .zip(middle(&|sample| Some(writing(sample)?.mean_ns)))
                .map(|(per_second, mean_ns)| Writing { per_second, mean_ns }),
            checkpoints: middle(&|sample| Some(around_checkpoints(sample)?.with))
                .zip(middle(&|sample| Some(around_checkpoints(sample)?.without)))
                .map(|(with, without)| AroundCheckpoints { with, without }),
            read_tickets: median_tickets(&considered, |figures| {
                [
                    figures.server_read_tickets_used,
                    figures.server_read_tickets,
                    figures.server_reads_queued,
                ]
            }),
            write_tickets: median_tickets(&considered, |figures| {
                [
                    figures.server_write_tickets_used,
                    figures.server_write_tickets,
                    figures.server_writes_queued,
                ]
            }),
        })
    }

    pub(crate) fn sessions(&self) -> f64 {
        f64::from(self.load.sessions()).max(1.0)
    }

    /// Share of the sessions' time that device reads took. Read-ahead can make it exceed 1.
    pub(crate) fn waiting_for_reads(&self) -> Option<f64> {
        let reads = match self.figures.device_reads_per_second {
            None if !self.has_disk => return Some(0.0),
            reads => reads?,
        };
        if reads == 0.0 {
            return Some(0.0);
        }
        Some(reads * self.figures.device_read_ns? / 1e9 / self.sessions())
    }

    /// Share of the sessions' time that writing operations took.
    pub(crate) fn in_writes(&self) -> Option<f64> {
        let writing = self.writing?;
        Some(writing.per_second * writing.mean_ns / 1e9 / self.sessions())
    }

    /// Processors that the operations keep busy: those of the worker, and of the server where there is one.
    pub(crate) fn used_processors(&self) -> Option<f64> {
        let server = self.figures.server_processors.unwrap_or(0.0);
        Some(self.worker_processors? + server)
    }

    /// Share of the sessions' time that operations waited for a processor; `None` for a server by URI whose process is not known.
    pub(crate) fn waiting_for_processors(&self) -> Option<f64> {
        let is_known = !self.is_by_uri || self.figures.server_processors.is_some();
        self.figures.processor_wait.filter(|_| is_known)
    }

    /// Share of the sessions' time that operations computed or waited for a processor.
    pub(crate) fn on_processors(&self) -> Option<f64> {
        let waiting = self.waiting_for_processors()?;
        Some(self.used_processors()? / self.sessions() + waiting)
    }

    /// Share of the operations' CPU time that was spent in the kernel. Known for a worker that is both client and engine.
    pub(crate) fn kernel_share(&self) -> Option<f64> {
        self.figures.worker_kernel_share
    }

    /// Processors that the worker can use at once: one for each session, but no more than there are.
    pub(crate) fn usable_processors(&self) -> f64 {
        self.sessions().min(self.cores.max(1.0))
    }
}

/// Operations of a sample that change what is stored. The parts of a read-modify-write are counted as read and update, so it is not counted again.
fn writing(sample: &Sample) -> Option<Writing> {
    let (mut count, mut sum_ns) = (0.0, 0.0);
    for (operation, one) in &sample.extract.by_operation {
        if operation.writes() && *operation != Operation::ReadModifyWrite {
            count += one.response.count as f64;
            sum_ns += one.response.count as f64 * one.response.mean_ns;
        }
    }
    let seconds = sample.extract.kept_seconds;
    (count > 0.0 && seconds > 0.0)
        .then(|| Writing { per_second: count / seconds, mean_ns: sum_ns / count })
}

/// The median over the samples. `of` gives of a second the share of the tickets in use, how many there are, and how many operations queue.
fn median_tickets(
    samples: &[&Sample],
    of: impl Fn(&Figures) -> [Option<f64>; 3],
) -> Option<Tickets> {
    let each: Vec<Tickets> = samples.iter().filter_map(|sample| tickets(sample, &of)).collect();
    let middle = |pick: fn(&Tickets) -> f64| median(&each.iter().map(pick).collect::<Vec<f64>>());
    Some(Tickets {
        used_up: middle(|one| one.used_up)?,
        total: middle(|one| one.total)?,
        queued: middle(|one| one.queued)?,
    })
}

fn tickets(sample: &Sample, of: impl Fn(&Figures) -> [Option<f64>; 3]) -> Option<Tickets> {
    let (mut seconds, mut used_up, mut totals, mut queues) = (0.0, 0.0, 0.0, 0.0);
    for second in sample.extract.kept_figures() {
        if let [Some(used), Some(total), Some(queued)] = of(second) {
            seconds += 1.0;
            used_up += f64::from(u8::from(used >= 1.0 && queued > 0.0));
            totals += total;
            queues += queued;
        }
    }
    (seconds > 0.0).then(|| Tickets {
        used_up: used_up / seconds,
        total: totals / seconds,
        queued: queues / seconds,
    })
}

/// Throughput in seconds with and without a checkpoint, where there are enough of both.
fn around_checkpoints(sample: &Sample) -> Option<AroundCheckpoints> {
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for second in sample.extract.kept_figures() {
        let (Some(share), Some(rate)) = (second.checkpoint_share, second.operations_per_second)
        else {
            continue;
        };
        if share >= 0.5 {
            with.push(rate);
        } else {
            without.push(rate);
        }
    }
    if with.len() < FEWEST_SECONDS || without.len() < FEWEST_SECONDS {
        return None;
    }
    let mean = |rates: &[f64]| rates.iter().sum::<f64>() / rates.len() as f64;
    Some(AroundCheckpoints { with: mean(&with), without: mean(&without) })
}
