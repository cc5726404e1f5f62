//! What a worker knows of the rig below it: when its emulated disk is limited, and its figures.

use crate::frames::RigAccess;
use plimsoll_disk::Control;
use plimsoll_engine::{Endpoint, Engine};
use plimsoll_record::ShapedFrom;
use plimsoll_telemetry::{
    DeviceSource, DeviceTotals, Diskstats, GroupSource, Host, KnownServer, ListensAt, Network,
    SliceSampler, server_process,
};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

/// Where a run has got to, in the order in which it gets there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    Load,
    Settling,
    WarmUp,
    Measuring,
    Over,
}

/// Whether an emulated disk is as requested: from its stage on. Before, and after the last point, it is without limits, so that what is not measured takes no
/// longer than it must.
pub(crate) fn is_shaped(from: ShapedFrom, stage: Stage) -> bool {
    let first = match from {
        ShapedFrom::Load => Stage::Load,
        ShapedFrom::WarmUp => Stage::WarmUp,
        ShapedFrom::Measuring => Stage::Measuring,
    };
    (first..Stage::Over).contains(&stage)
}

/// A server on this machine that is measured: one that was started for the run, or one that runs by itself.
pub(crate) struct MeasuredServer {
    pub(crate) processes: Vec<u32>,
    /// The block device under its data, where only the server itself says where these are.
    device: Option<String>,
}

impl MeasuredServer {
    /// `None` where there is none, or where it is on another machine or cannot be distinguished from others on this one.
    pub(crate) fn of(standing: &RigAccess, engine: &dyn Engine, host: &Host) -> Option<Self> {
        if let Some(server) = &standing.server {
            return Some(Self { processes: server.processes.clone(), device: None });
        }
        let server = engine.server()?;
        let process = server_process(
            host,
            &KnownServer {
                listens_at: match &server.endpoint {
                    Endpoint::Port(port) => ListensAt::Port(*port),
                    Endpoint::Socket(path) => ListensAt::Socket(path),
                },
                program: server.program.as_deref(),
                process: server.process,
            },
        )?;
        // Within a container the same path is another place.
        let directory = server.directory.filter(|_| server.process == Some(process));
        Some(Self {
            processes: vec![process],
            device: directory.and_then(|directory| {
                let begun_in = Path::new("/proc").join(process.to_string()).join("cwd");
                host.storage(&begun_in.join(directory)).device
            }),
        })
    }
}

/// Watches all that can be watched of the machine, the device, the control group and the server.
pub(crate) fn sampler(
    standing: &RigAccess,
    host: &Host,
    server: Option<&MeasuredServer>,
) -> Result<SliceSampler, String> {
    let of_server = server.and_then(|server| server.device.as_ref());
    let device: Option<Box<dyn DeviceSource>> = match &standing.control {
        Some(socket) => {
            let control = Control::connect(socket).map_err(|error| error.to_string())?;
            Some(Box::new(Emulated(control)))
        }
        None => match standing.device.as_ref().or(of_server) {
            Some(device) => Some(Box::new(Diskstats::of(device))),
            None => None,
        },
    };
    let group = standing.group.as_ref().map(|group| GroupSource {
        version: group.version,
        memory: group.memory.clone(),
        cpu: group.cpu.clone(),
        cpuacct: group.cpuacct.clone(),
    });
    let sampler = SliceSampler::new(host, device, group);
    Ok(match server {
        Some(server) => sampler.of_server(host, &server.processes),
        None => sampler,
    })
}

/// The same of a server that was started for the run, or none.
pub(crate) fn sampler_of(standing: &RigAccess, host: &Host) -> Result<SliceSampler, String> {
    let server = standing
        .server
        .as_ref()
        .map(|server| MeasuredServer { processes: server.processes.clone(), device: None });
    sampler(standing, host, server.as_ref())
}

/// The network at which a server that was started for the run is reached.
pub(crate) fn network_of(standing: &RigAccess, host: &Host) -> Option<Network> {
    Network::at(host, listens_at(&standing.server.as_ref()?.address)?)
}

/// The IP of an address such as `mongodb://10.0.0.2:27017,10.0.0.2:27018/`: the members of one server share it.
fn listens_at(address: &str) -> Option<IpAddr> {
    let (_, places) = address.split_once("://").unwrap_or(("", address));
    let first = places.split([',', '/', '?']).next()?;
    Some(first.parse::<SocketAddr>().ok()?.ip())
}

/// The daemon counts better than the kernel does: it sees each request.
struct Emulated(Control);

impl DeviceSource for Emulated {
    fn totals(&mut self) -> Option<DeviceTotals> {
        let counters = self.0.counters().ok()?;
        Some(DeviceTotals {
            reads: counters.reads,
            writes: counters.writes,
            flushes: counters.flushes,
            read_bytes: counters.read_bytes,
            written_bytes: counters.written_bytes,
            read_ns: counters.read_ns,
            write_ns: counters.write_ns,
            flush_ns: counters.flush_ns,
            busy_ns: counters.busy_ns,
            queue_ns: counters.queue_ns,
            credits: counters.credits,
            shaped: Some(counters.shaped),
            cpu_ns: Some(counters.cpu_ns),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_server_is_found_in_any_form() {
        let v4 = Some(IpAddr::from([10, 0, 0, 2]));
        for address in [
            "10.0.0.2:27017",
            "mongodb://10.0.0.2:27017/",
            "mongodb://10.0.0.2:27017,10.0.0.2:27018/?replicaSet=plimsoll",
        ] {
            assert_eq!(listens_at(address), v4, "{address}");
        }
        let v6 = Some(IpAddr::from([0xfd00, 0, 0, 0, 0, 0, 0, 2]));
        assert_eq!(listens_at("mongodb://[fd00::2]:27017/"), v6);
        assert_eq!(listens_at("mongodb://db.example:27017/"), None);
        assert_eq!(listens_at("/run/socket"), None);
    }

    #[test]
    fn a_disk_is_shaped_from_its_stage_to_the_end() {
        let stages = [Stage::Load, Stage::Settling, Stage::WarmUp, Stage::Measuring, Stage::Over];
        let shaped = |from| stages.map(|stage| is_shaped(from, stage));
        assert_eq!(shaped(ShapedFrom::Load), [true, true, true, true, false]);
        let expected = [false, false, true, true, false];
        assert_eq!(shaped(ShapedFrom::WarmUp), expected);
        let expected = [false, false, false, true, false];
        assert_eq!(shaped(ShapedFrom::Measuring), expected);
    }
}
