//! One row for each machine of each arm, where several took part.

use crate::hosts::name;
use crate::table::{Cell, Column, Kind, Rows};
use plimsoll_judge::{Analysis, HostSummary};
use std::io;

const COLUMNS: [(&str, Kind); 20] = [
    ("experiment_id", Kind::Text),
    ("experiment", Kind::Text),
    ("arm", Kind::Text),
    ("host", Kind::Text),
    ("makes_load", Kind::Flag),
    ("has_server", Kind::Flag),
    ("valid_points", Kind::Integer),
    ("processors", Kind::Integer),
    ("ok_operations_per_second", Kind::Number),
    ("generator_lag_p99_ns", Kind::Number),
    ("load_generator_processors", Kind::Number),
    ("clock_bound_ns", Kind::Integer),
    ("start_skew_ns", Kind::Integer),
    ("stolen_share", Kind::Number),
    ("received_bytes_per_second", Kind::Number),
    ("sent_bytes_per_second", Kind::Number),
    ("link_bytes_per_second", Kind::Number),
    ("retransmitted_share", Kind::Number),
    ("round_trip_least_ns", Kind::Number),
    ("round_trip_median_ns", Kind::Number),
];

pub(super) fn columns() -> Vec<Column> {
    COLUMNS.map(|(name, kind)| Column::new(name, kind)).into()
}

pub(super) fn write(analysis: &Analysis, take: &mut Rows<'_>) -> io::Result<()> {
    for host in &analysis.hosts {
        take(&row(analysis, host))?;
    }
    Ok(())
}

fn row<'a>(analysis: &'a Analysis, host: &'a HostSummary) -> [Cell<'a>; 20] {
    let network = host.network.unwrap_or_default();
    [
        (&analysis.id).into(),
        (&analysis.name).into(),
        (&host.arm).into(),
        name(host).into(),
        host.makes_load.into(),
        host.has_server.into(),
        host.points.into(),
        host.cores.into(),
        host.throughput.into(),
        host.generator_lag_p99_ns.into(),
        host.load_processors.into(),
        host.clock_bound_ns.into(),
        host.start_skew_ns.into(),
        host.stolen.into(),
        network.received_bytes_per_second.into(),
        network.sent_bytes_per_second.into(),
        network.link_bytes_per_second.into(),
        network.retransmitted.into(),
        network.round_trip_least_ns.into(),
        network.round_trip_median_ns.into(),
    ]
}
