//! How much a record takes on the disk, measured with a small load, so that a file can give the size of its data as a share of the cache.

use plimsoll_engine::{Opening, open};
use plimsoll_experiment::Settings;
use plimsoll_loadgen::{Observer, run_load};
use plimsoll_record::Slice;
use plimsoll_testbed::{DataDirectory, default_parent};
use plimsoll_workload::{DataSpec, KeySpace};

/// Enough for thousands of pages, and stored in less than a second.
const RECORDS: u64 = 20_000;
/// One session stores the same way every time.
const SESSIONS: u32 = 1;
const SEED: u64 = 42;

/// Bytes of data and indexes for each record, as the engine of this name keeps them.
///
/// # Errors
/// In words: when the engine cannot be opened or filled, or does not tell its size.
pub fn bytes_per_record(
    engine: &str,
    settings: &Settings,
    data: &DataSpec,
    allocator: &str,
) -> Result<f64, String> {
    let parent = default_parent().map_err(|error| error.to_string())?;
    let label = format!("sizing-{}", std::process::id());
    let directory =
        DataDirectory::create(&parent, &label, "0").map_err(|error| error.to_string())?;
    let measured = measure(engine, settings, data, allocator, &directory);
    directory.remove().map_err(|error| error.to_string())?;
    measured
}

fn measure(
    engine: &str,
    settings: &Settings,
    data: &DataSpec,
    allocator: &str,
    directory: &DataDirectory,
) -> Result<f64, String> {
    let data = DataSpec {
        records: RECORDS,
        insert_start: 0,
        insert_count: None,
        ..data.clone()
    };
    let opening = Opening {
        settings,
        directory: Some(directory.path()),
        server: None,
        seed: SEED,
        data: &data,
        allocator,
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
        _ => Err(format!(
            "the engine {engine} does not tell how much its data take"
        )),
    }
}

struct Unwatched;

impl Observer for Unwatched {
    fn slice(&mut self, _: Slice) {}
}
