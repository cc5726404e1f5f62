//! How much a record takes on the disk, measured with a small load, so that a file can give the size of its data as a share of the cache.

use plimsoll_engine::{Opening, open};
use plimsoll_loadgen::{SliceSink, run_load};
use plimsoll_plan::Settings;
use plimsoll_record::{RigSpec, ServerSpec, Slice};
use plimsoll_rig::{Order, RigError, RigProcess};
use plimsoll_workload::{DataSpec, KeySpace};
use std::path::Path;

/// Enough for thousands of pages, and stored in less than a second.
const RECORDS: u64 = 20_000;
/// One session stores the same way every time.
const SESSIONS: u32 = 1;
const SEED: u64 = 42;

#[derive(Clone, Copy, Debug)]
pub struct Sizing<'a> {
    pub engine: &'a str,
    pub settings: &'a Settings,
    /// The server that is started for it.
    pub server: Option<&'a ServerSpec>,
    /// The shape of the records.
    pub data: &'a DataSpec,
    /// Name of this program's memory allocator.
    pub allocator: &'a str,
    /// Who makes the directory, and starts the server.
    pub rigs: &'a RigProcess,
}

/// Bytes of data and indexes for each record, as the engine keeps them, in a directory of its own.
pub fn bytes_per_record(sizing: &Sizing<'_>) -> Result<f64, String> {
    let label = format!("sizing-{}", std::process::id());
    let words = |error: RigError| error.to_string();
    sizing.rigs.open(&label).map_err(words)?;
    let order = Order::Build {
        spec: Box::new(RigSpec { server: sizing.server.cloned(), ..RigSpec::default() }),
        directory: None,
        owner: label,
        label: "0".into(),
        needs_bytes: 0,
        processors: None,
        from: None,
    };
    let mut rig = sizing.rigs.build(0, order).map_err(words)?;
    let server = rig.built().server.clone();
    let address = server.as_ref().map(|server| server.address.as_str());
    let measured = measure(sizing, rig.data_directory(), address);
    let stopped = rig.stop_server().map_err(words);
    rig.tear_down().map_err(words)?;
    rig.remove().map_err(words)?;
    // A server that is gone is why nothing could be measured.
    stopped.and(measured)
}

fn measure(sizing: &Sizing<'_>, directory: &Path, server: Option<&str>) -> Result<f64, String> {
    let engine = sizing.engine;
    let data =
        DataSpec { records: RECORDS, insert_start: 0, insert_count: None, ..sizing.data.clone() };
    let opening = Opening {
        settings: sizing.settings,
        directory: Some(directory),
        server,
        seed: SEED,
        data: &data,
        collections: &[],
        allocator: sizing.allocator,
        joins: false,
    };
    let opened = open(engine, &opening).map_err(|error| error.to_string())?;
    let keys = KeySpace::new(&data).map_err(|error| error.to_string())?;
    let loaded = run_load(&*opened, &keys.loader(SEED), SESSIONS, &mut Unwatched);
    let sized = loaded
        .map_err(|error| error.to_string())
        .and_then(|_| opened.settle().map_err(|error| error.to_string()))
        .and_then(|()| opened.data_bytes().map_err(|error| error.to_string()));
    opened.close().map_err(|error| error.to_string())?;
    match sized? {
        Some(bytes) if bytes > 0 => Ok(bytes as f64 / RECORDS as f64),
        _ => Err(format!("the engine {engine} does not tell how much its data take")),
    }
}

struct Unwatched;

impl SliceSink for Unwatched {
    fn slice(&mut self, _: Slice) {}
}
