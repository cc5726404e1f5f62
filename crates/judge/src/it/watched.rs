//! Telemetry with planted values.

use crate::it::laboratory::{Case, Laboratory, SECOND_NS, Shown};
use crate::{Analysis, Cause, CauseKind, CurvePoint};
use plimsoll_record::{
    Calibration, CalibrationCheck, DiskChoice, DiskSpec, ExperimentRecord, Slice, figures,
};

/// What a point is to show of the machine below the engine, alike in every second. The machine has 2 processors.
#[derive(Clone)]
pub struct Watched {
    /// Device reads for each operation.
    pub reads: f64,
    /// Device writes for each second.
    pub writes_per_second: f64,
    /// Bytes of each request at the device.
    pub request_bytes: f64,
    /// Mean latency of a device read.
    pub read_ns: f64,
    /// Bytes that the engine asks of the operating system for each operation.
    pub requested_bytes: f64,
    /// Processors that the worker keeps busy.
    pub processors: f64,
    pub kernel: f64,
    /// Processors that everything else keeps busy.
    pub others: f64,
}

impl Default for Watched {
    /// In cache, the processors full.
    fn default() -> Self {
        Self {
            reads: 0.0,
            writes_per_second: 0.0,
            request_bytes: 16_384.0,
            read_ns: 0.0,
            requested_bytes: 0.0,
            processors: 1.9,
            kernel: 0.1,
            others: 0.05,
        }
    }
}

impl Watched {
    /// Puts it into a slice.
    pub fn into(&self, slice: &mut Slice) {
        let operations = slice.completed.total() as f64;
        let (reads, writes) = (self.reads * operations, self.writes_per_second);
        let second = SECOND_NS as f64;
        let worker_ns = self.processors * second;
        slice.worker.cpu_system_ns = (worker_ns * self.kernel) as u64;
        slice.worker.cpu_user_ns = (worker_ns * (1.0 - self.kernel)) as u64;
        let busy_ns = worker_ns + self.others * second;
        let read_time = reads * self.read_ns;
        let telemetry = [
            (figures::DEVICE_READS, reads),
            (figures::DEVICE_WRITES, writes),
            (figures::DEVICE_READ_BYTES, reads * self.request_bytes),
            (figures::DEVICE_WRITTEN_BYTES, writes * self.request_bytes),
            (figures::DEVICE_READ_TIME, read_time),
            (figures::DEVICE_WRITE_TIME, writes * self.read_ns),
            (figures::DEVICE_QUEUE, read_time),
            (figures::DEVICE_BUSY, read_time.min(second)),
            (figures::ENGINE_BLOCK_READ_BYTES, self.requested_bytes * operations),
            (figures::MACHINE_CPU_USER, busy_ns * (1.0 - self.kernel)),
            (figures::MACHINE_CPU_SYSTEM, busy_ns * self.kernel),
            (figures::MACHINE_CPU_IDLE, 2.0 * second - busy_ns),
        ];
        for (name, value) in telemetry {
            slice.telemetry.insert(name.to_owned(), value);
        }
    }
}

/// An emulated disk with this many joint requests a second.
pub fn disk(iops: Option<f64>) -> DiskSpec {
    let mut disk = DiskSpec::unlimited(1 << 30);
    disk.iops.joint = iops;
    disk
}

/// One arm on an emulated disk (or none) with this many sessions, six blocks, at this rate.
pub fn one_point(disk: Option<DiskSpec>, sessions: u32, throughput: f64) -> Laboratory {
    let mut lab = Laboratory::closed(&["arm"], &["c"], &[sessions], 6);
    if let Some(spec) = disk {
        lab.plan.arms[0].rig.disk = Some(DiskChoice::Emulated { spec });
    }
    lab.measure(|case: Case<'_>| Shown::closed(case, throughput))
}

/// Puts the same into every slice of every point.
pub fn watch(lab: &mut Laboratory, watched: &Watched, more: &[(&str, f64)]) {
    for slice in lab.points().flat_map(|point| &mut point.slices) {
        watched.into(slice);
        for (name, value) in more {
            slice.telemetry.insert((*name).to_owned(), *value);
        }
    }
}

/// A calibration of every emulated disk of the plan, off by this share.
pub fn calibrated(lab: &Laboratory, off: f64) -> ExperimentRecord {
    let mut record = lab.record();
    for arm in &lab.plan.arms {
        if let Some(DiskChoice::Emulated { spec }) = &arm.rig.disk {
            record.calibrations.push(Calibration {
                machine: None,
                host: None,
                disk: spec.clone(),
                at: "2026-03-01T09:00:00Z".into(),
                fio_version: "3.36".into(),
                checks: vec![CalibrationCheck {
                    what: "random reads of 4 KiB, 16 jobs".into(),
                    unit: "IOPS".into(),
                    requested: 600.0,
                    measured: 600.0 * (1.0 + off),
                    allowed: 12.0,
                }],
                results: Vec::new(),
            });
        }
    }
    record
}

pub fn analyse(lab: &Laboratory) -> Analysis {
    crate::analyse(&calibrated(lab, 0.0)).unwrap()
}

pub fn only_point(analysis: &Analysis) -> &CurvePoint {
    &analysis.curves[0].points[0]
}

pub fn cause(lab: &Laboratory) -> Cause {
    only_point(&analyse(lab)).cause.clone().unwrap()
}

/// The kind that was named, and its sentence.
pub fn named(lab: &Laboratory) -> (CauseKind, String) {
    let cause = cause(lab);
    (cause.kind, cause.sentence)
}
