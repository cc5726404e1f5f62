//! What each machine did for each arm, where several take part.

use crate::arm_samples::ArmSamples;
use crate::gates::stolen_share;
use crate::network::retransmitted;
use crate::sample::{HostSample, Sample};
use crate::words::{counted, duration};
use crate::{HostSummary, NetworkSummary, Validity, ValidityState};
use plimsoll_plan::{Arm, Plan};
use plimsoll_record::{Histogram, LoadKind, NetworkPoint, Warning, WarningId};
use plimsoll_stats::median;

/// One entry for each arm and machine, in the order of the file and of the record; none where every run had one worker.
pub(crate) fn hosts(plan: &Plan, arms: &[ArmSamples]) -> Vec<HostSummary> {
    let mut summaries = Vec::new();
    for (arm, samples) in plan.arms.iter().zip(arms) {
        let mut found: Vec<Sums<'_>> = Vec::new();
        let valid = samples.points.iter().flatten();
        for sample in valid.filter(|sample| sample.result.valid) {
            let began = first_began(sample);
            for of_host in &sample.hosts {
                let is_same = |sums: &&mut Sums<'_>| {
                    sums.first.host.host == of_host.host.host
                        && sums.first.host.makes_load == of_host.host.makes_load
                };
                match found.iter_mut().find(is_same) {
                    Some(sums) => sums.add(of_host, began),
                    None => found.push(Sums::of(of_host, began)),
                }
            }
        }
        summaries.extend(found.iter().map(|sums| sums.summary(arm)));
    }
    summaries
}

/// When the first operation of all hosts began, nanoseconds after the common start; `None` where first operations are due at different times.
fn first_began(sample: &Sample) -> Option<i64> {
    if !matches!(sample.label.load, LoadKind::Closed { target: None, .. }) {
        return None;
    }
    let began = sample.hosts.iter();
    began.filter_map(|host| host.host.first_after_ns).min()
}

/// The points of one machine, added up.
struct Sums<'a> {
    first: &'a HostSample,
    points: u32,
    ok: u64,
    seconds: f64,
    cpu_seconds: f64,
    lag: Histogram,
    clock_bound_ns: u64,
    start_skew_ns: Option<u64>,
    stolen_ns: u64,
    length_ns: f64,
    networks: Vec<&'a NetworkPoint>,
}

impl<'a> Sums<'a> {
    fn of(first: &'a HostSample, began: Option<i64>) -> Self {
        let mut sums = Self {
            first,
            points: 0,
            ok: 0,
            seconds: 0.0,
            cpu_seconds: 0.0,
            lag: Histogram::new(),
            clock_bound_ns: 0,
            start_skew_ns: None,
            stolen_ns: 0,
            length_ns: 0.0,
            networks: Vec::new(),
        };
        sums.add(first, began);
        sums
    }

    fn add(&mut self, of_host: &'a HostSample, began: Option<i64>) {
        let host = &of_host.host;
        self.points += 1;
        self.stolen_ns = self.stolen_ns.saturating_add(host.stolen_ns);
        self.length_ns += of_host.length_ns;
        self.clock_bound_ns = self.clock_bound_ns.max(host.clock_bound_ns());
        self.networks.extend(host.network.as_deref());
        if !host.makes_load {
            return;
        }
        let seconds = host.measured_ns as f64 / 1e9;
        self.ok = self.ok.saturating_add(host.completed.ok);
        self.seconds += seconds;
        self.cpu_seconds += host.worker_processors().unwrap_or(0.0) * seconds;
        if let Some(lag) = &host.generator_lag {
            self.lag.merge(lag);
        }
        if let Some((own, first)) = host.first_after_ns.zip(began) {
            self.start_skew_ns = self.start_skew_ns.max(Some(own.abs_diff(first)));
        }
    }

    fn summary(&self, arm: &Arm) -> HostSummary {
        let first = self.first;
        let host = &first.host;
        let of_time = |sum: f64| (self.seconds > 0.0).then(|| sum / self.seconds);
        let lag = self.lag.percentile_ns(99.0);
        HostSummary {
            arm: arm.name.clone(),
            host: host.host.clone(),
            makes_load: host.makes_load,
            has_server: !host.makes_load || (first.is_of_arm && arm.rig.server.is_some()),
            points: self.points,
            cores: first.cores,
            throughput: of_time(self.ok as f64),
            generator_lag_p99_ns: lag.map(|lag| lag as f64),
            load_processors: of_time(self.cpu_seconds),
            clock_bound_ns: self.clock_bound_ns,
            start_skew_ns: self.start_skew_ns,
            stolen: first.cores.map(|cores| stolen_share(self.stolen_ns, cores, self.length_ns)),
            network: (!self.networks.is_empty()).then(|| network(&self.networks)),
        }
    }
}

fn network(points: &[&NetworkPoint]) -> NetworkSummary {
    let mut all = NetworkPoint::default();
    let (mut least_ns, mut medians) = (None::<u64>, Vec::new());
    for point in points {
        all.length_ns = all.length_ns.saturating_add(point.length_ns);
        all.received_bytes = all.received_bytes.saturating_add(point.received_bytes);
        all.sent_bytes = all.sent_bytes.saturating_add(point.sent_bytes);
        all.link_bytes_per_second = point.link_bytes_per_second.or(all.link_bytes_per_second);
        if let Some(round_trips) = point.round_trips {
            let known_ns = least_ns.unwrap_or(u64::MAX);
            least_ns = Some(known_ns.min(round_trips.least_ns));
            medians.push(round_trips.median_ns as f64);
        }
    }
    let each = all.bytes_per_second();
    NetworkSummary {
        received_bytes_per_second: each.map(|(received, _)| received),
        sent_bytes_per_second: each.map(|(_, sent)| sent),
        link_bytes_per_second: all.link_bytes_per_second.map(|link| link as f64),
        retransmitted: retransmitted(points.iter().copied()),
        round_trip_least_ns: least_ns.map(|nanos| nanos as f64),
        round_trip_median_ns: median(&medians),
    }
}

/// How well the machines worked together; `None` where every run had one worker.
pub(crate) fn validity(points: &[&Sample], warnings: &[Warning]) -> Option<Validity> {
    let samples = || points.iter().flat_map(|sample| &sample.hosts);
    let bound_ns = samples().map(|sample| sample.host.clock_bound_ns()).max()?;
    let mut names: Vec<Option<&str>> =
        samples().map(|sample| sample.host.host.as_deref()).collect();
    names.sort_unstable();
    names.dedup();
    let mut parts = vec![format!(
        "{} at work, clocks known to ±{}",
        counted(names.len(), "host"),
        duration(bound_ns as f64)
    )];
    let mut state = ValidityState::Good;
    for (id, words) in [
        (WarningId::ClockBound, "the limit is ±1 ms"),
        (WarningId::StartSkew, "they did not begin together"),
        (WarningId::HostsDiffer, "load hosts did unequal work"),
    ] {
        let of_id = warnings.iter().filter(|warning| warning.id == id);
        if let Some(severity) = of_id.map(Warning::severity).max() {
            parts.push(words.to_owned());
            state = state.max(ValidityState::from(severity));
        }
    }
    Some(Validity::of("hosts", state, parts.join("; ")))
}
