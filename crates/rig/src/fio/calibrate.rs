//! Compares an emulated disk with its description.

use crate::fio::characterise::now;
use crate::fio::checks::{Check, Checks, Figure};
use crate::fio::run::{Session, version};
use crate::fio::target::Ready;
use crate::fio::{FioError, Permission, Target, Watch};
use plimsoll_record::{Backing, Calibration, CalibrationCheck, DiskSpec, FioResult};
use std::path::Path;

/// Bytes of the disk that are worked on. All parts of an emulated disk are alike, and what is written to memory stays there.
const REGION_BYTES: u64 = 256 << 20;

/// Rates below these are carried by every machine.
const EASY_IOPS: f64 = 5_000.0;
const EASY_BYTES_PER_S: f64 = 100e6;

/// Latencies above this are carried by every machine.
const EASY_NS: f64 = 1e6;

/// How long the disk without its limits is tried, milliseconds, after a tenth of that.
const TRIAL_MS: u64 = 1_000;

/// Checks with short jobs whether an emulated disk is what its description says: IOPS and bandwidth by every limit, the latency of a single
/// thread, what a flush costs. Writes over the disk. A disk without any limit needs no check.
///
/// `shape` lifts the disk's limits (`false`) and puts them back (`true`); without them, it is first tried whether this machine is fast
/// enough for a fast disk. When this returns, the limits are in force, unless putting them back failed.
pub fn calibrate(
    device: &Path,
    disk: &DiskSpec,
    shape: &mut dyn FnMut(bool) -> Result<(), String>,
    watch: &mut Watch<'_>,
) -> Result<Calibration, FioError> {
    let mut calibration = Calibration {
        machine: None,
        host: None,
        disk: disk.clone(),
        at: now(),
        fio_version: version()?,
        checks: vec![],
        results: vec![],
    };
    let checks = Checks::of(disk);
    if checks.all.is_empty() {
        return Ok(calibration);
    }
    let target = Target::Device { path: device.to_owned(), permission: Permission::MadeHere };
    let fast: Vec<&Check> = checks.all.iter().filter(|check| is_fast(check)).collect();
    // Holes in a sparse file are read without the disk that it lies on.
    let fills = disk.backing == Backing::File;
    let parts =
        checks.all.len() + fast.len() + usize::from(fills) + usize::from(checks.drain.is_some());
    let ready = Ready::as_it_is(&target, REGION_BYTES)?;
    let mut session = Session::new(&target, ready, parts as u32, watch);

    shape(false).map_err(FioError::NotShaped)?;
    let carried = trial(&mut session, disk, fills, &fast);
    let shaped = shape(true).map_err(FioError::NotShaped);
    calibration.results.extend(carried?);
    shaped?;

    if let Some(drain) = &checks.drain {
        calibration.results.push(session.job(drain)?.0);
    }
    for check in &checks.all {
        let (result, measured) = session.job(&check.job)?;
        calibration.results.push(result);
        calibration.checks.push(CalibrationCheck {
            what: check.what.clone(),
            unit: check.figure.unit().into(),
            requested: check.requested,
            measured: check.figure.of(&measured),
            allowed: check.allowed,
        });
    }
    Ok(calibration)
}

fn is_fast(check: &Check) -> bool {
    match check.figure {
        Figure::Iops => check.requested > EASY_IOPS,
        Figure::Bandwidth => check.requested > EASY_BYTES_PER_S,
        Figure::ReadLatency | Figure::WriteLatency => check.requested < EASY_NS,
        Figure::FlushLatency => false,
    }
}

/// Tries whether the machine reaches every fast rate when nothing holds the disk back.
fn trial(
    session: &mut Session<'_, '_>,
    disk: &DiskSpec,
    fills: bool,
    fast: &[&Check],
) -> Result<Vec<FioResult>, FioError> {
    if fills {
        session.fill()?;
    }
    let mut results = Vec::new();
    for check in fast {
        let mut job = check.job.clone().lasting(TRIAL_MS, TRIAL_MS / 10);
        job.label = format!("{}, without the disk's limits", job.label);
        let (result, measured) = session.job(&job)?;
        results.push(result);
        let carried = check.figure.of(&measured);
        if !is_carried(check, carried) {
            return Err(FioError::NotCarried {
                disk: disk.preset.clone().unwrap_or_else(|| "the disk".into()),
                what: check.job.label.clone(),
                carried: spelled(carried, check.figure),
                requested: spelled(check.requested, check.figure),
            });
        }
    }
    Ok(results)
}

/// Whether a machine that measures this without the disk's limits can be that disk.
fn is_carried(check: &Check, measured: f64) -> bool {
    match check.figure {
        Figure::Iops | Figure::Bandwidth => measured >= check.requested,
        _ => measured <= check.requested + check.allowed,
    }
}

/// For people: `71,000 IOPS`, `1,250 MB/s`.
fn spelled(value: f64, figure: Figure) -> String {
    let (value, unit) = match figure {
        Figure::Bandwidth => (value / 1e6, "MB/s"),
        Figure::Iops => (value, "IOPS"),
        _ => return format!("{:.3} ms", value / 1e6),
    };
    format!("{} {unit}", grouped(three_digits(value)))
}

fn three_digits(value: f64) -> u64 {
    let whole = value.max(0.0).round() as u64;
    let step = 10_u64.pow(whole.max(1).ilog10().saturating_sub(2));
    (whole + step / 2) / step * step
}

fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_machine_carries_is_told_in_round_figures() {
        assert_eq!(spelled(71_234.0, Figure::Iops), "71,200 IOPS");
        assert_eq!(spelled(370_000.0, Figure::Iops), "370,000 IOPS");
        assert_eq!(spelled(1.2343e9, Figure::Bandwidth), "1,230 MB/s");
        assert_eq!(spelled(9.4, Figure::Iops), "9 IOPS");
        assert_eq!(spelled(40_300.0, Figure::ReadLatency), "0.040 ms");
    }

    #[test]
    fn a_machine_that_takes_longer_than_the_disk_does_not_carry_it() {
        let disk = DiskSpec {
            read_latency: plimsoll_record::DiskLatency::Constant { ns: 30_000 },
            ..DiskSpec::unlimited(1 << 30)
        };
        let check = &Checks::of(&disk).all[0];
        assert!(is_fast(check));
        assert!(is_carried(check, 40_000.0) && is_carried(check, 50_000.0));
        assert!(!is_carried(check, 51_000.0));
    }

    #[test]
    fn a_machine_that_is_too_slow_is_told_what_it_carries() {
        let error = FioError::NotCarried {
            disk: "nvme".into(),
            what: "random reads of 4 KiB, 4 jobs of 32 in flight".into(),
            carried: spelled(71_000.0, Figure::Iops),
            requested: spelled(370_000.0, Figure::Iops),
        };
        let expected = "this machine carries 71,000 IOPS with random reads of 4 KiB, 4 jobs of 32 in flight; nvme needs 370,000 IOPS: choose a slower disk, or a faster machine";
        assert_eq!(error.to_string(), expected);
    }
}
