use super::aligned;
use super::emulated::{by_text, name};
use super::progress::ProgressLine;
use crate::arguments;
use crate::exit::Exit;
use crate::rig::Rigs;
use crate::screen::{print, print_json, tell};
use plimsoll_record::{Calibration, CalibrationCheck, DiskSpec};
use plimsoll_rig::{RigError, RigProcess};
use serde_json::json;

/// Capacity of a disk that is only calibrated: its parts are all alike.
const CAPACITY_BYTES: u64 = 1 << 30;

/// `plimsoll disk calibrate`: requested, measured, allowed, and the verdict. 106 when a disk is not as requested.
pub fn calibrate(arguments: &arguments::Calibrate, rigs: &Rigs) -> anyhow::Result<Exit> {
    // A mistake in the last is reported before the first is built.
    let specs: Vec<DiskSpec> =
        arguments.disks.iter().map(|text| by_text(text)).collect::<anyhow::Result<_>>()?;
    let process = rigs.get()?;
    process.open("calibrate")?;
    let mut shown = ProgressLine::new()?;
    let mut good = true;
    let mut all = Vec::new();
    for (spec, text) in specs.iter().zip(&arguments.disks) {
        let name = name(spec, text);
        shown.next(name);
        let found = match one(spec, &mut shown, process) {
            Err(error) if !matches!(error, RigError::NotCarried(_)) => return Err(error.into()),
            found => found,
        };
        good &= found.as_ref().is_ok_and(Calibration::passed);
        match (arguments.json, found) {
            (true, Ok(calibration)) => all.push(json!({
                "disk": name, "passed": calibration.passed(), "calibration": calibration,
            })),
            (true, Err(error)) => all.push(json!({
                "disk": name, "passed": false, "error": error.to_string(),
            })),
            (false, Ok(calibration)) => print(table(name, &calibration))?,
            (false, Err(error)) => print(format_args!("{name}\n  NOT HERE  {error}\n\n"))?,
        }
    }
    if arguments.json {
        print_json(&all)?;
    }
    Ok(if good { Exit::Good } else { Exit::InvalidMeasurement })
}

fn one(
    spec: &DiskSpec,
    shown: &mut ProgressLine,
    process: &RigProcess,
) -> Result<Calibration, RigError> {
    let spec = DiskSpec { capacity_bytes: CAPACITY_BYTES, ..spec.clone() };
    process.calibrate(spec, None, "calibrate", &mut |note| tell(note), &mut |progress| {
        shown.watch(progress)
    })
}

fn table(name: &str, calibration: &Calibration) -> String {
    let mut out = format!("{name}, by {}\n", calibration.fio_version);
    if calibration.checks.is_empty() {
        out.push_str("  it has no limit and no latency, so there is nothing to check\n\n");
        return out;
    }
    let header = ["", "", "requested", "measured", "off by", "allowed"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> =
        std::iter::once(header).chain(calibration.checks.iter().map(cells)).collect();
    out.push_str(&aligned(&rows, 2));
    out.push('\n');
    out
}

fn cells(check: &CalibrationCheck) -> Vec<String> {
    let (unit, divisor, decimals) = match check.unit.as_str() {
        "ns" => ("ms", 1e6, 3),
        "bytes/s" => ("MB/s", 1e6, 2),
        other => (other, 1.0, 1),
    };
    let spelled = |value: f64| format!("{:.decimals$} {unit}", value / divisor);
    let percent = |value: f64| format!("{:.2} %", value / check.requested * 100.0);
    let off = check.measured - check.requested;
    vec![
        if check.passed() { "good" } else { "BAD" }.to_owned(),
        check.what.clone(),
        spelled(check.requested),
        spelled(check.measured),
        format!("{}{}", if off > 0.0 { "+" } else { "" }, percent(off)),
        format!("± {}", percent(check.allowed)),
    ]
}
