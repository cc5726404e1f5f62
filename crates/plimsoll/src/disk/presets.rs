use crate::arguments;
use crate::exit::Exit;
use crate::screen::{self, print, print_json};
use plimsoll_experiment::{DiskPreset, MachinePreset, disk_presets, machine_presets};
use plimsoll_record::quantities::units;
use plimsoll_record::{DiskLatency, DiskRates};
use serde_json::json;

const INDENT: usize = 4;

/// `plimsoll disk presets`: what experiments can name, and where it is from.
pub fn presets(arguments: &arguments::Presets) -> anyhow::Result<Exit> {
    if arguments.json {
        let disks: Vec<_> = disk_presets().iter().map(disk_json).collect();
        let machines: Vec<_> = machine_presets().iter().map(machine_json).collect();
        let all = json!({ "disks": disks, "machines": machines });
        print_json(&all)?;
        return Ok(Exit::Good);
    }
    let mut out = String::from("Disks, as `disk: NAME` in an experiment\n\n");
    for preset in disk_presets() {
        one(
            &mut out,
            &preset.name,
            &disk_figures(preset),
            &[&preset.about, &format!("{} ({})", preset.source, preset.date)],
        );
    }
    out.push_str("Machines, as `machine: NAME` in an experiment\n\n");
    for preset in machine_presets() {
        one(
            &mut out,
            &preset.name,
            &machine_figures(preset),
            &[&preset.about, &format!("{} ({})", preset.source, preset.date)],
        );
    }
    print(out.trim_end().to_owned() + "\n")?;
    Ok(Exit::Good)
}

fn one(out: &mut String, name: &str, figures: &str, about: &[&str]) {
    out.push_str(&format!("{name}  {figures}\n"));
    for text in about {
        for line in wrapped(text, screen::columns().saturating_sub(INDENT)) {
            out.push_str(&format!("{:INDENT$}{line}\n", ""));
        }
    }
    out.push('\n');
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn disk_figures(preset: &DiskPreset) -> String {
    let spec = &preset.spec;
    let mut parts: Vec<String> = Vec::new();
    parts.extend(rates(&spec.iops, |rate| format!("{} IOPS", units::count(rate.round() as u64))));
    parts.extend(rates(&spec.bandwidth, |rate| format!("{}/s", units::size(rate.round() as u64))));
    parts.extend(latency(&spec.read_latency));
    parts.extend(latency(&spec.flush_latency).map(|flush| format!("a flush {flush}")));
    if let Some(burst) = &spec.burst {
        parts.push(format!("burst to {} IOPS", units::count(burst.iops.round() as u64)));
    }
    if preset.grows() {
        parts.push(format!("at {}", units::size(spec.capacity_bytes)));
    }
    parts.join(", ")
}

fn rates(rates: &DiskRates, spelled: impl Fn(f64) -> String) -> Vec<String> {
    let mut parts = Vec::new();
    for (rate, what) in [(rates.joint, ""), (rates.read, " reading"), (rates.write, " writing")] {
        if let Some(rate) = rate {
            parts.push(format!("{}{what}", spelled(rate)));
        }
    }
    parts
}

fn latency(law: &DiskLatency) -> Option<String> {
    match law {
        DiskLatency::None => None,
        DiskLatency::Constant { ns } => Some(units::duration(*ns)),
        DiskLatency::Lognormal { median_ns, p99_ns } => Some(format!(
            "{} at the median, {} at p99",
            units::duration(*median_ns),
            units::duration(*p99_ns)
        )),
        DiskLatency::Table { .. } => Some("latency by a table".into()),
    }
}

fn machine_figures(preset: &MachinePreset) -> String {
    let cores = if preset.cores == 1 { "core" } else { "cores" };
    format!(
        "{} {cores}, {}, {} {} per hour",
        preset.cores,
        units::size(preset.memory_bytes),
        preset.price.per_hour,
        preset.price.currency
    )
}

fn disk_json(preset: &DiskPreset) -> serde_json::Value {
    json!({
        "name": preset.name, "about": preset.about, "source": preset.source, "date": preset.date,
        "grows_with_capacity": preset.grows(), "spec": preset.spec,
    })
}

fn machine_json(preset: &MachinePreset) -> serde_json::Value {
    json!({
        "name": preset.name, "about": preset.about, "source": preset.source, "date": preset.date,
        "cores": preset.cores, "memory_bytes": preset.memory_bytes, "price": preset.price,
    })
}
