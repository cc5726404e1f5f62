//! What each machine did, where several took part.

use super::{Cell, Column, Group, Narrow, Section, Table};
use crate::hosts::{by_arm, name, role};
use plimsoll_judge::{Analysis, HostSummary};
use plimsoll_record::quantities::numbers::Numbers;

/// The machines of each arm and their network; `None` where every run had one worker.
pub(crate) fn hosts(analysis: &Analysis, numbers: Numbers) -> Option<Section> {
    let arms = by_arm(analysis);
    if arms.is_empty() {
        return None;
    }
    let table = |title, lead, columns, row: fn(&HostSummary, Numbers) -> Vec<Cell>| Table {
        title,
        lead,
        columns,
        groups: arms
            .iter()
            .map(|(arm, hosts)| {
                Group::of_arm(arm, hosts.iter().map(|host| row(host, numbers)).collect())
            })
            .collect(),
        remark: "",
        file: "hosts.csv",
        narrow: Narrow::Drop,
    };
    let mut tables = vec![table(
        "hosts",
        "What each machine did, over the valid points of all runs. Latencies are never measured across two clocks; a clock's bound says how well its seconds lie on those of the controller.",
        vec![
            Column::words("Host"),
            Column::words("Role"),
            Column::figure("Throughput", "op/s", "op/s"),
            Column::figure("Load generator", "processors", "CPU"),
            Column::figure("Generator late", "p99, open loops", "late p99"),
            Column::figure("Clock within", "worst", ""),
            Column::figure("Began after the first", "worst, closed loops", "began after"),
            Column::figure("Stolen", "of the processors", ""),
        ],
        work,
    )];
    if analysis.hosts.iter().any(|host| host.network.is_some()) {
        tables.push(table(
            "network",
            "What each saw of the network between load and server. The round trip is the median over the connections, without the server's work.",
            vec![
                Column::words("Host"),
                Column::figure("Round trip", "to the server", ""),
                Column::figure("Received", "a second", "received/s"),
                Column::figure("Sent", "a second", "sent/s"),
                Column::figure("Sent again", "of TCP segments", ""),
            ],
            network,
        ));
    }
    Some(Section { tables, ..Section::default() })
}

fn work(host: &HostSummary, numbers: Numbers) -> Vec<Cell> {
    let latency = |nanos: Option<f64>| nanos.map(|nanos| numbers.latency(nanos)).into();
    let used = host.load_processors;
    let cores = used.and(host.cores).map(|cores| format!("of {cores}"));
    vec![
        name(host).into(),
        role(host).into(),
        host.throughput.map(|rate| numbers.rate(rate)).into(),
        Cell::from(used.map(|used| numbers.significant(used, 3))).with(cores),
        latency(host.generator_lag_p99_ns),
        latency(Some(host.clock_bound_ns as f64)),
        latency(host.start_skew_ns.map(|nanos| nanos as f64)),
        host.stolen.map(|share| numbers.percent(share)).into(),
    ]
}

fn network(host: &HostSummary, numbers: Numbers) -> Vec<Cell> {
    let seen = host.network.unwrap_or_default();
    let latency = |nanos: Option<f64>| nanos.map(|nanos| numbers.latency(nanos));
    let carried = |bytes: Option<f64>| {
        let link = bytes.and(seen.link_bytes_per_second);
        let link = link.map(|link| format!("of {}", numbers.bytes_of(link)));
        Cell::from(bytes.map(|bytes| numbers.bytes_of(bytes))).with(link)
    };
    let least = latency(seen.round_trip_least_ns).map(|least| format!("shortest {least}"));
    vec![
        name(host).into(),
        Cell::from(latency(seen.round_trip_median_ns)).with(least),
        carried(seen.received_bytes_per_second),
        carried(seen.sent_bytes_per_second),
        seen.retransmitted.map(|share| numbers.percent(share)).into(),
    ]
}
