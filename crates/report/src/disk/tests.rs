use super::*;
use crate::shell::{self, Place};
use crate::terminal::Screen;

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

fn sample() -> DiskPicture<'static> {
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

#[test]
fn in_a_terminal() {
    let text = terminal(&sample(), &Screen::default());
    insta::assert_snapshot!(anstream::adapter::strip_str(&text).to_string());
}

#[test]
fn in_a_terminal_that_knows_ascii_alone() {
    let screen = Screen {
        width: 80,
        unicode: false,
    };
    let text = terminal(&sample(), &screen);
    assert!(text.is_ascii(), "{text}");
}

#[test]
fn as_a_page() {
    let page = page(&sample());
    assert!(page.contains("a &lt;disk&gt; &amp; more"));
    let rest = shell::checked(&page, Place::File);
    assert!(!rest.contains("http://"));
    assert_eq!(page.matches("<svg class=\"chart").count(), 2);
    assert!(rest.len() < 100_000);
    let body = &rest[rest.find("<main>").expect("it has a main part")..];
    insta::assert_snapshot!(body.replace("><", ">\n<"));
}
