//! Which figures of what was watched the page shows, and under which heads.

use plimsoll_judge::{FigureKind, FigureUnit, Figures};

/// What a figure is counted in, where its number does not say it: for the head of a column.
pub(crate) fn unit(unit: FigureUnit) -> &'static str {
    match unit {
        FigureUnit::PerSecond => "per second",
        FigureUnit::PerOperation
        | FigureUnit::NanosecondsPerOperation
        | FigureUnit::BytesPerOperation => "per operation",
        FigureUnit::BytesPerSecond => "per second",
        FigureUnit::Share
        | FigureUnit::Count
        | FigureUnit::Nanoseconds
        | FigureUnit::Bytes
        | FigureUnit::Processors => "",
    }
}

/// Figures that belong together, in one table.
pub(crate) struct Theme {
    pub(crate) title: &'static str,
    names: &'static [&'static str],
}

/// What the page shows, from the top of the machine to its bottom. The others are in figures.csv.
pub(crate) const THEMES: [Theme; 6] = [
    Theme {
        title: "Server",
        names: &[
            "server_read_ns",
            "server_write_ns",
            "server_read_tickets_used",
            "server_write_tickets_used",
            "server_reads_queued",
            "server_writes_queued",
            "flow_control_wait",
            "flow_control_lagged",
            "documents_returned_per_operation",
            "documents_examined_per_operation",
            "keys_examined_per_operation",
            "documents_changed_per_operation",
            "documents_expired_per_second",
            "server_requests_per_operation",
            "server_received_bytes_per_operation",
            "server_sent_bytes_per_operation",
        ],
    },
    Theme {
        title: "Caches",
        names: &[
            "engine_cache_hit_ratio",
            "engine_cache_fill",
            "engine_cache_bytes",
            "engine_cache_dirty",
            "engine_read_bytes_per_second",
            "page_cache_hit_ratio",
            "page_cache_bytes_per_second",
            "evictions_per_operation",
            "evictions_by_application_per_operation",
            "engine_cache_wait",
        ],
    },
    Theme {
        title: "Disk",
        names: &[
            "device_reads_per_second",
            "device_writes_per_second",
            "device_reads_per_operation",
            "device_writes_per_operation",
            "device_read_ns",
            "device_write_ns",
            "device_queue",
            "device_utilisation",
            "device_credits",
        ],
    },
    Theme {
        title: "Processors and memory",
        names: &[
            "worker_cpu_ns_per_operation",
            "server_cpu_ns_per_operation",
            "machine_cpu_ns_per_operation",
            "group_processors",
            "disk_processors",
            "machine_busy",
            "machine_kernel",
            "machine_iowait",
            "machine_steal",
            "throttled",
            "server_memory_bytes",
            "group_memory_bytes",
            "group_page_cache_bytes",
        ],
    },
    Theme {
        title: "Network",
        names: &[
            "network_received_bytes_per_second",
            "network_sent_bytes_per_second",
            "network_link_used",
            "network_retransmitted",
        ],
    },
    Theme {
        title: "Journal and checkpoints",
        names: &[
            "journal_syncs_per_second",
            "journal_sync_ns",
            "journal_sync_share",
            "journal_bytes_per_second",
            "checkpoints",
            "checkpoint_share",
            "rollbacks_per_operation",
        ],
    },
];

impl Theme {
    /// The places in [`Figures::ALL`] of those of its figures that are known somewhere.
    pub(crate) fn known(&self, of: &[&Figures]) -> Vec<usize> {
        let values: Vec<Vec<Option<f64>>> = of.iter().map(|figures| describe(figures)).collect();
        self.names
            .iter()
            .filter_map(|name| Figures::ALL.iter().position(|kind| kind.name == *name))
            .filter(|place| values.iter().any(|values| values[*place].is_some()))
            .collect()
    }
}

/// The figures of a point in the order of [`Figures::ALL`], without latencies at the device where most runs read and wrote nothing there, and those that the kernel counted as less
/// than the millisecond that it counts in: the median over the other runs does not hold for the point.
pub(crate) fn describe(figures: &Figures) -> Vec<Option<f64>> {
    const LATENCIES: [(&str, &str); 3] = [
        ("device_read_ns", "device_reads_per_second"),
        ("device_write_ns", "device_writes_per_second"),
        ("device_flush_ns", "device_flushes_per_second"),
    ];
    let mut values = figures.values();
    let place = |name: &str| Figures::ALL.iter().position(|kind| kind.name == name);
    for (latency, rate) in LATENCIES {
        let (Some(latency), Some(rate)) = (place(latency), place(rate)) else {
            continue;
        };
        if values[rate] == Some(0.0) || values[latency] == Some(0.0) {
            values[latency] = None;
        }
    }
    values
}

/// The figure at a place of [`Figures::ALL`].
pub(crate) fn kind(place: usize) -> &'static FigureKind {
    &Figures::ALL[place]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_that_is_shown_exists() {
        for theme in &THEMES {
            for name in theme.names {
                assert!(Figures::ALL.iter().any(|kind| kind.name == *name), "{name}");
            }
        }
    }

    #[test]
    fn what_the_device_was_not_asked_has_no_latency() {
        let place = |name| {
            let mut kinds = Figures::ALL.iter();
            kinds.position(|kind| kind.name == name).expect("a figure")
        };
        let mut figures = Figures {
            device_reads_per_second: Some(0.0),
            device_read_ns: Some(176_000.0),
            device_writes_per_second: Some(30.0),
            device_write_ns: Some(385_000.0),
            device_flushes_per_second: Some(2.0),
            device_flush_ns: Some(0.0),
            ..Figures::default()
        };
        let values = describe(&figures);
        assert_eq!(values[place("device_read_ns")], None);
        assert_eq!(values[place("device_flush_ns")], None);
        assert_eq!(values[place("device_write_ns")], Some(385_000.0));
        figures.device_reads_per_second = Some(1.0);
        assert_eq!(describe(&figures)[place("device_read_ns")], Some(176_000.0));
    }
}
