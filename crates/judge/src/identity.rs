//! *Throughput ≤ limit of the disk ÷ what an operation costs there*, for every limit of an emulated disk, with measured figures.

use crate::{CapKind, Figures, IdentityCheck};
use plimsoll_record::{DiskRates, DiskSpec};
use plimsoll_stats::median;

/// Measured over allowed throughput beyond which the identity is broken: the disk did more than it may, or was watched wrongly.
pub(crate) const BROKEN_FROM: f64 = 1.05;
/// Share of the seconds in which the disk must have been as requested for its limits to hold.
const SHAPED_FROM: f64 = 0.99;

/// One check for each limit of the disk that operations cost something of, the one that allows fewest operations first.
///
/// `bursting` is the share of time in which there were burst credits. Without any known limit the list is empty, as it is while the disk was not as requested.
pub(crate) fn identities(disk: &DiskSpec, figures: &Figures, bursting: f64) -> Vec<IdentityCheck> {
    let Some(measured) = figures.operations_per_second else {
        return Vec::new();
    };
    if figures.device_shaped.is_some_and(|share| share < SHAPED_FROM) {
        return Vec::new();
    }
    let mut checks = Vec::new();
    for (kind, cap) in caps(disk, bursting) {
        let Some(per_operation) = cost(kind, disk, figures) else {
            continue;
        };
        if per_operation <= 0.0 || cap <= 0.0 || measured <= 0.0 {
            continue;
        }
        let at_most = cap / per_operation;
        // A record may hold anything: what no number can tell is not checked.
        let (used, ratio) = (per_operation * measured, measured / at_most);
        if !used.is_finite() || !ratio.is_finite() {
            continue;
        }
        checks.push(IdentityCheck {
            kind,
            cap,
            used,
            per_operation,
            at_most,
            measured,
            ratio,
            binding: false,
        });
    }
    in_order(checks)
}

/// The checks of several runs as one: for each limit the median of their caps and of their ratios, against this throughput. Where runs differ much in what an operation
/// costs, the limit over the median cost would be nobody's limit.
pub(crate) fn over_runs(runs: &[Vec<IdentityCheck>], measured: Option<f64>) -> Vec<IdentityCheck> {
    let Some(measured) = measured else {
        return Vec::new();
    };
    let mut checks: Vec<IdentityCheck> = Vec::new();
    for one in runs.iter().flatten() {
        if checks.iter().any(|known| known.kind == one.kind) {
            continue;
        }
        let of_kind = || runs.iter().flatten().filter(|other| other.kind == one.kind);
        let middle =
            |pick: fn(&IdentityCheck) -> f64| median(&of_kind().map(pick).collect::<Vec<_>>());
        let (Some(cap), Some(ratio)) = (middle(|one| one.cap), middle(|one| one.ratio)) else {
            continue;
        };
        let at_most = measured / ratio;
        checks.push(IdentityCheck {
            kind: one.kind,
            cap,
            used: cap * ratio,
            per_operation: cap / at_most,
            at_most,
            measured,
            ratio,
            binding: false,
        });
    }
    in_order(checks)
}

/// The limit that allows fewest operations first.
fn in_order(mut checks: Vec<IdentityCheck>) -> Vec<IdentityCheck> {
    checks.sort_by(|left, right| left.at_most.total_cmp(&right.at_most));
    if let Some(first) = checks.first_mut() {
        first.binding = true;
    }
    checks
}

/// Every limit that is set. With credits for part of the time the joint limits are in between.
fn caps(disk: &DiskSpec, bursting: f64) -> Vec<(CapKind, f64)> {
    let joint = |steady: Option<f64>, burst: Option<f64>| match (steady, burst) {
        (Some(steady), Some(burst)) => Some(burst * bursting + steady * (1.0 - bursting)),
        (Some(steady), None) => Some(steady),
        // Without credits nothing is limited.
        (None, _) => None,
    };
    let iops = DiskRates {
        joint: joint(disk.iops.joint, disk.burst.map(|burst| burst.iops)),
        ..disk.iops
    };
    let bandwidth = DiskRates {
        joint: joint(disk.bandwidth.joint, disk.burst.and_then(|burst| burst.bandwidth)),
        ..disk.bandwidth
    };
    let all = [
        (CapKind::ReadIops, iops.read),
        (CapKind::WriteIops, iops.write),
        (CapKind::Iops, iops.joint),
        (CapKind::ReadBandwidth, bandwidth.read),
        (CapKind::WriteBandwidth, bandwidth.write),
        (CapKind::Bandwidth, bandwidth.joint),
    ];
    all.into_iter().filter_map(|(kind, cap)| Some((kind, cap?))).collect()
}

/// What an operation costs of a limit: requests or bytes at the device. `None` where it was not watched.
fn cost(kind: CapKind, disk: &DiskSpec, figures: &Figures) -> Option<f64> {
    let read_bytes = figures.device_read_bytes_per_operation;
    let written_bytes = figures.device_written_bytes_per_operation;
    // A request that is larger than the unit counts as several. Only the sum of the sizes is known, so this is the least it can have counted as.
    let counted = |requests: Option<f64>, bytes: Option<f64>| {
        let requests = requests?;
        match (disk.io_unit_bytes, bytes) {
            (Some(unit), Some(bytes)) if unit > 0 => Some(requests.max(bytes / unit as f64)),
            _ => Some(requests),
        }
    };
    let reads = counted(figures.device_reads_per_operation, read_bytes);
    let writes = counted(figures.device_writes_per_operation, written_bytes);
    match kind {
        CapKind::ReadIops => reads,
        CapKind::WriteIops => writes,
        CapKind::Iops => Some(reads? + writes?),
        CapKind::ReadBandwidth => read_bytes,
        CapKind::WriteBandwidth => written_bytes,
        CapKind::Bandwidth => Some(read_bytes? + written_bytes?),
    }
}

/// The share of these seconds in which there were burst credits for more than the next second; all of them where credits were not watched, so that no limit is
/// taken for lower than it was.
pub(crate) fn bursting(disk: &DiskSpec, seconds: &[Figures]) -> f64 {
    let Some(burst) = disk.burst else {
        return 0.0;
    };
    let (mut known, mut with_credits) = (0.0, 0.0);
    for second in seconds {
        if let Some(credits) = second.device_credits {
            known += 1.0;
            if credits > burst.refill {
                with_credits += 1.0;
            }
        }
    }
    if known > 0.0 { with_credits / known } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_record::DiskBurst;

    #[test]
    fn runs_that_cost_very_different_requests_are_each_held_against_their_own_limit() {
        let disk = disk(Some(600.0), None);
        // Each run is at the limit; at the edge of the page cache one reads a tenth of the other.
        let runs = [(1.0, 600.0), (0.1, 6_000.0), (0.5, 1_200.0), (0.2, 3_000.0)];
        let of_run = |(reads, operations)| {
            identities(&disk, &reading(reads, reads * 4096.0, operations), 0.0)
        };
        let runs: Vec<_> = runs.into_iter().map(of_run).collect();
        let [check] = over_runs(&runs, Some(2_100.0))[..] else {
            panic!("one limit is set");
        };
        // The limit over the median cost, 0.35, would be 1,714.
        assert!((check.at_most - 2_100.0).abs() < 1e-6 && (check.ratio - 1.0).abs() < 1e-9);
        assert!(check.binding);
        assert_eq!(over_runs(&runs, None), []);
        assert_eq!(over_runs(&[], Some(1.0)), []);
    }

    fn reading(reads: f64, bytes: f64, operations: f64) -> Figures {
        Figures {
            operations_per_second: Some(operations),
            device_reads_per_operation: Some(reads),
            device_writes_per_operation: Some(0.0),
            device_read_bytes_per_operation: Some(bytes),
            device_written_bytes_per_operation: Some(0.0),
            ..Figures::default()
        }
    }

    fn disk(iops: Option<f64>, bandwidth: Option<f64>) -> DiskSpec {
        let mut disk = DiskSpec::unlimited(1 << 30);
        disk.iops.joint = iops;
        disk.bandwidth.joint = bandwidth;
        disk
    }

    #[test]
    fn the_limit_that_allows_fewest_operations_binds() {
        let disk = disk(Some(600.0), Some(1e6));
        let checks = identities(&disk, &reading(0.1, 1_000.0, 990.0), 0.0);
        assert_eq!(checks[0].kind, CapKind::Bandwidth);
        assert!(checks[0].binding && !checks[1].binding);
        assert_eq!(checks[0].at_most, 1_000.0);
        assert_eq!(checks[0].ratio, 0.99);
        assert_eq!(checks[1].at_most, 6_000.0);
    }

    #[test]
    fn a_large_request_counts_as_several() {
        let mut disk = disk(Some(600.0), None);
        disk.io_unit_bytes = Some(4_096);
        let checks = identities(&disk, &reading(1.0, 16_384.0, 150.0), 0.0);
        assert_eq!((checks[0].per_operation, checks[0].ratio), (4.0, 1.0));
    }

    #[test]
    fn credits_lift_the_limit_while_there_are_some() {
        let mut disk = disk(Some(300.0), None);
        disk.burst = Some(DiskBurst {
            iops: 3_000.0,
            bandwidth: None,
            credits: 5.4e6,
            refill: 300.0,
            start: 1.0,
        });
        let second = |credits: f64| Figures { device_credits: Some(credits), ..Figures::default() };
        let half = bursting(&disk, &[second(9_000.0), second(3.0)]);
        assert_eq!(half, 0.5);
        assert_eq!(bursting(&disk, &[]), 1.0);
        let checks = identities(&disk, &reading(1.0, 4_096.0, 1_500.0), half);
        assert_eq!(checks[0].cap, 1_650.0);
    }

    #[test]
    fn what_costs_nothing_or_was_not_as_asked_is_not_checked() {
        let disk = disk(Some(600.0), None);
        assert_eq!(identities(&disk, &reading(0.0, 0.0, 1e6), 0.0), []);
        let unshaped = Figures { device_shaped: Some(0.5), ..reading(1.0, 4_096.0, 9_000.0) };
        assert_eq!(identities(&disk, &unshaped, 0.0), []);
    }
}
