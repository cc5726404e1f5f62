//! The daemon process: mounts the disk, serves it, and goes when its runner is gone.

use crate::blocks::Blocks;
use crate::control::listen;
use crate::device::Device;
use crate::due::Due;
use crate::flow::Flow;
use crate::fuse::DiskFile;
use crate::mount::{abort, mount, unmount};
use crate::order::{DaemonOrder, Greeting};
use crate::process::{prepare_process, wait_for_signal};
use crate::ring::{self, Rings};
use crate::storage::Storage;
use crate::{DiskError, RingSwitch};
use plimsoll_record::Backing;
use plimsoll_trace::{Head, Writer};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::thread::Builder;
use std::time::{Duration, UNIX_EPOCH};

/// Threads that take requests from the device. Each does its own reading and writing, so there are as many of these at once.
const DEVICE_THREADS: usize = 8;
/// Time between two checks whether answers are given at all.
const LOOK: Duration = Duration::from_secs(1);
/// An answer that is overdue for this long will never come: the daemon ends, so that no caller waits forever.
const STUCK_NS: u64 = 20_000_000_000;
/// After this many looks at which the host was still busy with the same requests it will never be ready: the same.
const STUCK_LOOKS: u32 = 60;

/// Serves an emulated disk. The order is the first line of `input`; `output` gets one line when the disk is ready, or cannot be made. It never
/// returns once the disk is ready: the process ends, with the disk, when `input` does or on SIGTERM.
pub fn serve(input: impl Read + Send + 'static, mut output: impl Write) -> Result<(), DiskError> {
    let mut input = BufReader::new(input);
    let begun = read_order(&mut input).and_then(|order| begin(&order).map(|disk| (order, disk)));
    let greeting = match &begun {
        Ok(_) => Greeting::Ready(true),
        Err(error) => Greeting::Failed(error.to_string()),
    };
    let mut line = serde_json::to_string(&greeting).expect("a greeting has string keys");
    line.push('\n');
    let written = output.write_all(line.as_bytes()).and_then(|()| output.flush());
    let (order, due) = begun?;
    if written.is_ok() {
        // The runner says nothing more. Its end is the end of the input.
        let _ = std::io::copy(&mut input, &mut std::io::sink());
    }
    end(&order.mount_point, &due)
}

fn read_order(input: &mut impl BufRead) -> Result<DaemonOrder, DiskError> {
    let mut line = String::new();
    input.read_line(&mut line).map_err(|error| DiskError::Order(error.to_string()))?;
    serde_json::from_str(&line).map_err(|error| DiskError::Order(error.to_string()))
}

fn begin(order: &DaemonOrder) -> Result<Arc<Due>, DiskError> {
    prepare_process();
    let trace = match &order.trace {
        Some(path) => {
            let head = Head::new(&order.spec);
            Some(Writer::create(path, order.spec.trace_requests, &head)?)
        }
        None => None,
    };
    let flow = Arc::new(Flow::new(&order.spec, order.shaped, trace));
    let blocks = Blocks::create(&order.spec, order.backing_file.as_deref())?;
    let storage = Arc::new(Storage::new(&order.spec, blocks));
    // With a volatile cache a ring does one request at a time, which would be the depth of the queue to the file.
    let is_slow = order.spec.backing == Backing::File && order.spec.volatile_cache;
    let rings = if is_slow { 0 } else { ring::count() };
    let due = Due::new(Arc::clone(&flow), Arc::clone(&storage), rings);
    let due = Arc::new(due.map_err(|error| DiskError::io("make its bells", error))?);
    let socket = UnixListener::bind(&order.socket)
        .map_err(|error| DiskError::io(format!("listen at {}", order.socket.display()), error))?;

    thread("due", {
        let due = Arc::clone(&due);
        move || due.run()
    })?;
    let file = DiskFile {
        storage,
        capacity_bytes: order.spec.capacity_bytes,
        flow,
        due: Arc::clone(&due),
        made_at: UNIX_EPOCH.elapsed().unwrap_or_default(),
    };
    let device = Device::new(mount(&order.mount_point)?);
    let begun = begin_session(&file, device, &order.mount_point, socket);
    if begun.is_err() {
        abort(&order.mount_point);
    }
    begun?;
    Ok(due)
}

/// Serves what is mounted, and sees to its end.
fn begin_session(
    file: &DiskFile,
    device: Device,
    mount_point: &Path,
    socket: UnixListener,
) -> Result<(), DiskError> {
    let (due, flow) = (Arc::clone(&file.due), Arc::clone(&file.flow));
    let rings = (RingSwitch::is_on() && due.rings() > 0).then(|| {
        let (due, mount_point) = (Arc::clone(&due), mount_point.to_owned());
        Rings::make(&Arc::clone(&due), move || end(&mount_point, &due))
    });
    // Without them it is slower.
    let rings = rings.and_then(Result::ok);
    let connected = || -> io::Result<Vec<Device>> {
        let has_rings = device.shake_hands(rings.is_some())?;
        if let Some(rings) = rings.filter(|_| has_rings) {
            flow.use_rings(true);
            rings.begin(device.as_fd(), file)?;
        }
        let mut devices =
            (1..DEVICE_THREADS).map(|_| device.another()).collect::<io::Result<Vec<_>>>()?;
        devices.push(device);
        Ok(devices)
    };
    let connected = connected();
    let devices =
        connected.map_err(|source| DiskError::Mount { path: mount_point.to_owned(), source })?;
    for device in devices {
        let (due, mount_point) = (Arc::clone(&due), mount_point.to_owned());
        let (device, file) = (Arc::new(device), file.clone());
        thread("device", move || {
            // Ends when it is unmounted.
            let _ = device.serve(&file);
            end(&mount_point, &due)
        })?;
    }
    thread("signals", {
        let (due, mount_point) = (Arc::clone(&due), mount_point.to_owned());
        move || {
            wait_for_signal();
            end(&mount_point, &due)
        }
    })?;
    thread("watchdog", {
        let (due, flow, mount_point) =
            (Arc::clone(&due), Arc::clone(&flow), mount_point.to_owned());
        move || {
            watch(&due, &flow);
            // What is held is not answered here: its lock may never be given back. And the process may have a thread that cannot end, so
            // that the kernel would not end the connection with it.
            abort(&mount_point);
            std::process::exit(1)
        }
    })?;
    thread("control", move || listen(&socket, &flow, &due))
}

/// Returns when requests are no longer answered, or worked at.
fn watch(due: &Due, flow: &Flow) {
    let (mut answered, mut looks) = (0, 0);
    while due.overdue_ns() < STUCK_NS && looks < STUCK_LOOKS {
        std::thread::sleep(LOOK);
        let counters = flow.counters();
        let now = counters.reads + counters.writes + counters.flushes + counters.discards;
        let is_working = counters.in_flight > due.held_answers();
        looks = if is_working && now == answered { looks + 1 } else { 0 };
        answered = now;
    }
}

fn thread(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), DiskError> {
    Builder::new()
        .name(name.into())
        .spawn(body)
        .map(drop)
        .map_err(|error| DiskError::io(format!("start its thread {name}"), error))
}

/// Ends the process and the disk with it: no caller is left that waits for an answer.
fn end(mount_point: &Path, due: &Due) -> ! {
    due.fail_all();
    // With the process the kernel ends the connection, however many still use the disk.
    let _ = unmount(mount_point);
    std::process::exit(0)
}
