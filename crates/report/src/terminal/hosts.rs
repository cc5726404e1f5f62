//! What each machine did, where several took part: a short table for each arm.

use super::screen::{Screen, paint};
use super::sign::Signs;
use super::table::{printed, unruled};
use super::{BOLD, DIM, heading};
use crate::hosts::{by_arm, name, role};
use anstream::adapter::strip_str;
use comfy_table::{Cell, CellAlignment};
use plimsoll_judge::{Analysis, HostSummary};

/// Arms and machines that are shown.
const ARMS: usize = 12;
const HOSTS: usize = 24;

/// A column of the table.
struct Column {
    title: &'static str,
    of: fn(&HostSummary, &Screen) -> Option<String>,
}

/// The least telling last: they are left out first where a screen is narrow.
const COLUMNS: [Column; 8] = [
    Column { title: "host", of: |host, screen| Some(screen.short(name(host), 20)) },
    Column { title: "role", of: |host, _| Some(role(host).into()) },
    Column { title: "op/s", of: |host, screen| Some(screen.numbers().compact(host.throughput?)) },
    Column {
        title: "CPU",
        of: |host, screen| {
            let used = screen.numbers().significant(host.load_processors?, 3);
            Some(match host.cores {
                Some(cores) => format!("{used} of {cores}"),
                None => used,
            })
        },
    },
    Column {
        title: "late p99",
        of: |host, screen| Some(screen.numbers().latency(host.generator_lag_p99_ns?)),
    },
    Column {
        title: "clock within",
        of: |host, screen| Some(screen.numbers().latency(host.clock_bound_ns as f64)),
    },
    Column {
        title: "began after",
        of: |host, screen| Some(screen.numbers().latency(host.start_skew_ns? as f64)),
    },
    Column { title: "stolen", of: |host, screen| Some(screen.numbers().percent(host.stolen?)) },
];

/// The network of a host.
const NETWORK: [Column; 7] = [
    Column { title: "host", of: |host, screen| Some(screen.short(name(host), 20)) },
    Column {
        title: "round trip",
        of: |host, screen| {
            let nanos = host.network?.round_trip_median_ns?;
            Some(screen.numbers().latency(nanos))
        },
    },
    Column {
        title: "received/s",
        of: |host, screen| {
            let bytes = host.network?.received_bytes_per_second?;
            Some(screen.numbers().bytes_of(bytes))
        },
    },
    Column {
        title: "sent/s",
        of: |host, screen| Some(screen.numbers().bytes_of(host.network?.sent_bytes_per_second?)),
    },
    Column {
        title: "sent again",
        of: |host, screen| Some(screen.numbers().percent(host.network?.retransmitted?)),
    },
    Column {
        title: "link/s",
        of: |host, screen| {
            let bytes = host.network?.link_bytes_per_second?;
            Some(screen.numbers().bytes_of(bytes))
        },
    },
    Column {
        title: "shortest",
        of: |host, screen| {
            let nanos = host.network?.round_trip_least_ns?;
            Some(screen.numbers().latency(nanos))
        },
    },
];

/// The machines of each arm, and what they saw of the network.
pub(super) fn hosts(out: &mut String, analysis: &Analysis, signs: &Signs<'_>, screen: &Screen) {
    let arms = by_arm(analysis);
    if arms.is_empty() {
        return;
    }
    heading(out, "hosts");
    by_arms(out, &arms, &COLUMNS, signs, screen);
    if analysis.hosts.iter().any(|host| host.network.is_some()) {
        heading(out, "network");
        by_arms(out, &arms, &NETWORK, signs, screen);
    }
}

/// A table for each arm.
fn by_arms(
    out: &mut String,
    arms: &[(&str, Vec<&HostSummary>)],
    columns: &[Column],
    signs: &Signs<'_>,
    screen: &Screen,
) {
    let tables = |columns: &[Column]| -> Vec<String> {
        let shown = arms.iter().take(ARMS);
        shown.map(|(_, hosts)| table(hosts, columns, screen)).collect()
    };
    let mut count = columns.len();
    let mut shown = tables(columns);
    let is_wide = |text: &String| {
        let mut lines = text.lines();
        lines.any(|line| screen.columns(&strip_str(line).to_string()) > screen.width)
    };
    while count > 3 && shown.iter().any(is_wide) {
        count -= 1;
        shown = tables(&columns[..count]);
    }
    for ((arm, hosts), table) in arms.iter().zip(shown) {
        let shown = screen.short(arm, screen.width.saturating_sub(4));
        out.push_str(&format!("  {} {}\n", signs.painted(arm), paint(BOLD, &shown)));
        out.push_str(&table);
        if hosts.len() > HOSTS {
            let more = hosts.len() - HOSTS;
            out.push_str(&format!("    and {more} more hosts, in hosts.csv\n"));
        }
    }
    if arms.len() > ARMS {
        let more = arms.len() - ARMS;
        out.push_str(&format!("  and {more} more arms, in hosts.csv\n"));
    }
}

fn table(hosts: &[&HostSummary], columns: &[Column], screen: &Screen) -> String {
    let mut table = unruled();
    let aligned = |title: &str, text: String| {
        let is_text = title == "host" || title == "role";
        Cell::new(text).set_alignment(if is_text {
            CellAlignment::Left
        } else {
            CellAlignment::Right
        })
    };
    let titles = columns.iter();
    table.set_header(titles.map(|column| aligned(column.title, paint(DIM, column.title))));
    for host in hosts.iter().take(HOSTS) {
        table.add_row(columns.iter().map(|column| {
            let text = (column.of)(host, screen);
            let text = text.unwrap_or_else(|| screen.numbers().nothing().into());
            aligned(column.title, text)
        }));
    }
    let indented = |line: &str| format!("   {line}\n");
    printed(&table).lines().map(indented).collect()
}
