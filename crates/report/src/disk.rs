//! What a disk can do, for people: IOPS and latency against block size and requests in flight.

/// What was measured of a disk.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskPicture<'a> {
    /// The disk, as the user named it.
    pub name: &'a str,
    /// Instant in UTC, as RFC 3339 writes it.
    pub at: &'a str,
    /// The program that measured, with its version.
    pub by: &'a str,
    pub version: &'a str,
    /// Bytes of the disk that were used.
    pub size_bytes: u64,
    /// In the order of measuring.
    pub rows: Vec<DiskRow>,
}

/// One kind of request of one size, this many in flight.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskRow {
    /// In words, such as `random reads`. Rows of the same words belong together.
    pub what: String,
    /// Size of a request, bytes.
    pub block_bytes: u32,
    pub in_flight: u32,
    pub iops: f64,
    pub bytes_per_s: f64,
    pub latency: DiskLatencies,
    /// Latencies of the fsync after each request, where there is one.
    pub fsync: Option<DiskLatencies>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiskLatencies {
    pub mean_ns: f64,
    pub p50_ns: f64,
    /// 99 % took no longer.
    pub p99_ns: f64,
    /// 99.9 % took no longer.
    pub p999_ns: f64,
}

/// Rows of the same words and size, over the requests in flight.
#[derive(Clone, Debug)]
pub struct Series<'a> {
    /// The size in words, such as `4 KiB`.
    pub name: String,
    /// In the order of measuring.
    pub rows: Vec<&'a DiskRow>,
}

/// The kinds of requests, in the order of measuring.
pub fn kinds<'a>(picture: &'a DiskPicture<'_>) -> Vec<&'a str> {
    let mut kinds: Vec<&str> = Vec::new();
    for row in &picture.rows {
        if !kinds.contains(&row.what.as_str()) {
            kinds.push(&row.what);
        }
    }
    kinds
}

/// One line for each block size of a kind.
pub fn series<'a>(picture: &'a DiskPicture<'_>, kind: &str) -> Vec<Series<'a>> {
    let mut all: Vec<Series<'a>> = Vec::new();
    for row in picture.rows.iter().filter(|row| row.what == kind) {
        let name = format!("{} KiB", f64::from(row.block_bytes) / 1024.0);
        match all.iter_mut().find(|series| series.name == name) {
            Some(series) => series.rows.push(row),
            None => all.push(Series { name, rows: vec![row] }),
        }
    }
    all
}
