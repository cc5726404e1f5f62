//! One row for each machine of each arm, where several took part.

use crate::hosts::name;
use crate::table::{Rows, table};
use plimsoll_judge::{Analysis, HostSummary};
use std::io;

table! {
    fn row<'a>(analysis: &'a Analysis, host: &'a HostSummary);
    let network = host.network.unwrap_or_default();
    "experiment_id": Text = &analysis.id;
    "experiment": Text = &analysis.name;
    "arm": Text = &host.arm;
    "host": Text = name(host);
    "makes_load": Flag = host.makes_load;
    "has_server": Flag = host.has_server;
    "valid_points": Integer = host.points;
    "processors": Integer = host.cores;
    "ok_operations_per_second": Number = host.throughput;
    "generator_lag_p99_ns": Number = host.generator_lag_p99_ns;
    "load_generator_processors": Number = host.load_processors;
    "clock_bound_ns": Integer = host.clock_bound_ns;
    "start_skew_ns": Integer = host.start_skew_ns;
    "stolen_share": Number = host.stolen;
    "received_bytes_per_second": Number = network.received_bytes_per_second;
    "sent_bytes_per_second": Number = network.sent_bytes_per_second;
    "link_bytes_per_second": Number = network.link_bytes_per_second;
    "retransmitted_share": Number = network.retransmitted;
    "round_trip_least_ns": Number = network.round_trip_least_ns;
    "round_trip_median_ns": Number = network.round_trip_median_ns;
}

pub(super) fn write(analysis: &Analysis, take: &mut Rows<'_>) -> io::Result<()> {
    for host in &analysis.hosts {
        take(&row(analysis, host))?;
    }
    Ok(())
}
