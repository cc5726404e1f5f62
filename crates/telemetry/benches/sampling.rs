//! What watching costs: CPU time and elapsed time of one sample of this machine, with a device and a control group where there are any.
//! A sample is taken once a second, so a millisecond would be a thousandth of one processor.

use plimsoll_record::figures;
use plimsoll_telemetry::{DeviceSource, Diskstats, Figures, GroupSource, Host, SliceSampler};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const SAMPLES: usize = 2_000;

fn main() {
    let device = any_device();
    let group = any_group();
    println!("device: {}", device.as_deref().unwrap_or("none"));
    match &group {
        Some(group) => println!("control groups: version {}", group.version),
        None => println!("control groups: none"),
    }
    measure("machine and process alone", None, None, 0);
    let device = device.map(|name| Box::new(Diskstats::of(&name)) as Box<dyn DeviceSource>);
    measure("with device, group and 22 figures of an engine", device, group, 22);
}

fn measure(
    what: &str,
    device: Option<Box<dyn DeviceSource>>,
    group: Option<GroupSource>,
    of_engine: usize,
) {
    let mut sampler = SliceSampler::new(&Host::here(), device, group);
    let mut count = 0.0;
    let mut engine = |into: &mut Figures| {
        count += 1.0;
        into.extend(figures::ALL[..of_engine].iter().map(|name| (*name, count)));
    };
    let (mut cpu_ns, mut elapsed_ns, mut count) = (Vec::new(), Vec::new(), 0);
    for _ in 0..SAMPLES {
        // As in a measurement, something else has had the caches meanwhile.
        std::thread::sleep(Duration::from_millis(1));
        let mut into = BTreeMap::new();
        let begun = Instant::now();
        sampler.sample(&mut engine, &mut into);
        elapsed_ns.push(begun.elapsed().as_nanos() as f64);
        cpu_ns.push(into[figures::WATCHING]);
        count = into.len();
    }
    println!("{what}: {count} figures");
    for (name, mut times) in [("CPU", cpu_ns), ("elapsed", elapsed_ns)] {
        times.sort_by(f64::total_cmp);
        let microseconds = |share: f64| times[(share * (SAMPLES - 1) as f64) as usize] / 1e3;
        println!("  {name}: median {:.0} µs, 99 % {:.0} µs", microseconds(0.5), microseconds(0.99));
    }
}

/// The first block device that has done anything.
fn any_device() -> Option<String> {
    let mut names: Vec<String> = std::fs::read_dir("/sys/class/block")
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names.into_iter().find(|name| {
        let totals = Diskstats::of(name).totals();
        totals.is_some_and(|totals| totals.reads > 0)
    })
}

/// The groups at the top, which have all files in version 1 and at least the statistics in version 2.
fn any_group() -> Option<GroupSource> {
    let top = Path::new("/sys/fs/cgroup");
    let existing = |path: PathBuf| path.exists().then_some(path);
    if let Some(memory) = existing(top.join("memory")) {
        return Some(GroupSource {
            version: 1,
            memory: Some(memory),
            cpu: existing(top.join("cpu")),
            cpuacct: existing(top.join("cpuacct")),
        });
    }
    existing(top.join("cgroup.controllers")).map(|_| GroupSource {
        version: 2,
        memory: Some(top.to_owned()),
        cpu: Some(top.to_owned()),
        cpuacct: None,
    })
}
