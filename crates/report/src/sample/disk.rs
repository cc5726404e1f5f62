//! What was measured of an invented disk.

use crate::disk::{DiskLatencies, DiskPicture, DiskRow};

fn row(what: &str, block_bytes: u32, in_flight: u32, iops: f64) -> DiskRow {
    let mean_ns = f64::from(in_flight) * 1e9 / iops;
    let latencies = |factor: f64| DiskLatencies {
        mean_ns: mean_ns * factor,
        p50_ns: mean_ns * factor * 0.9,
        p99_ns: mean_ns * factor * 2.0,
        p999_ns: mean_ns * factor * 3.0,
    };
    DiskRow {
        what: what.into(),
        block_bytes,
        in_flight,
        iops,
        bytes_per_s: iops * f64::from(block_bytes),
        latency: latencies(1.0),
        fsync: what.contains("fsync").then(|| latencies(4.0)),
    }
}

/// Three sizes of reads, this many in flight, and one write that was synced. The name is hostile.
pub fn picture() -> DiskPicture<'static> {
    let mut rows = Vec::new();
    for block_bytes in [4096, 8192, 32768] {
        for in_flight in [1, 4, 16, 64] {
            let most = 5000.0 * 4096.0 / f64::from(block_bytes);
            let iops = (f64::from(in_flight) / 0.007).min(most);
            rows.push(row("random reads", block_bytes, in_flight, iops));
        }
    }
    rows.push(row("random writes with fsync", 4096, 1, 120.0));
    DiskPicture {
        name: "a <disk> & more",
        at: "2026-11-20T10:00:00.000Z",
        by: "fio-3.33",
        version: "0.1.0",
        size_bytes: 10_000_000_000,
        rows,
    }
}
