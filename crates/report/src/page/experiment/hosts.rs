//! What each machine did, where several took part.

use super::{NAME, Page};
use crate::hosts::{by_arm, name, role};
use crate::text;
use maud::{Markup, html};
use plimsoll_judge::HostSummary;
use plimsoll_record::quantities::numbers::PAGE;

/// What a machine did: titles of the columns behind its name, and what is counted; nothing of a column of words.
const WORK: [(&str, &str); 7] = [
    ("Role", ""),
    ("Throughput", "op/s"),
    ("Load generator", "processors"),
    ("Generator late", "p99, open loops"),
    ("Clock within", "worst"),
    ("Began after the first", "worst, closed loops"),
    ("Stolen", "of the processors"),
];
/// What it saw of the network.
const NETWORK: [(&str, &str); 4] = [
    ("Round trip", "to the server"),
    ("Received", "a second"),
    ("Sent", "a second"),
    ("Sent again", "of TCP segments"),
];

/// Tables with the machines of each arm and their network; nothing where every run had one worker.
pub(super) fn table(page: &Page<'_>) -> Markup {
    let arms = by_arm(page.report.analysis);
    if arms.is_empty() {
        return html! {};
    }
    let all: usize = arms.iter().map(|(_, hosts)| hosts.len()).sum();
    let mut left = page.budget.arm_rows;
    let mut shown = Vec::new();
    for (arm, hosts) in &arms {
        let rows = &hosts[..hosts.len().min(left)];
        left -= rows.len();
        if !rows.is_empty() {
            shown.push((arm, rows));
        }
    }
    html! {
        h3 { "Hosts" }
        p.lead { "What each machine did, over the valid points of all runs. Latencies are never measured across two clocks; a clock's bound says how well its seconds lie on those of the controller." }
        (by_arms(page, &shown, "Table of the hosts", &WORK, work))
        @if shown.iter().flat_map(|(_, hosts)| *hosts).any(|host| host.network.is_some()) {
            p.lead { "What each saw of the network between load and server. The round trip is the median over the connections, without the server's work." }
            (by_arms(page, &shown, "Network of the hosts", &NETWORK, network))
        }
        @if all > page.budget.arm_rows { p.remark { "The first " (page.budget.arm_rows) " of " (all) " rows; all are in hosts.csv." } }
    }
}

/// A table with a row for each machine, which begins with its name.
fn by_arms(
    page: &Page<'_>,
    arms: &[(&&str, &[&HostSummary])],
    label: &str,
    columns: &[(&str, &str)],
    cells: fn(&HostSummary) -> Markup,
) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(label) {
            table {
                thead { tr {
                    th scope="col" { "Host" }
                    @for (title, of) in columns {
                        @if of.is_empty() { th scope="col" { (title) } }
                        @else { th.num scope="col" { (title) small { (of) } } }
                    }
                } }
                @for (arm, hosts) in arms {
                    tbody {
                        tr.mix { th colspan=(1 + columns.len()) scope="rowgroup" { (page.arm(arm)) } }
                        @for host in *hosts {
                            tr { th scope="row" { (text::short(name(host), NAME)) } (cells(host)) }
                        }
                    }
                }
            }
        }
    }
}

fn work(host: &HostSummary) -> Markup {
    html! {
        td { (role(host)) }
        (cell(host.throughput.map(|rate| PAGE.rate(rate))))
        td.num {
            @match host.load_processors {
                Some(used) => { (PAGE.significant(used, 3)) @if let Some(cores) = host.cores { small { "of " (cores) } } },
                None => (PAGE.nothing()),
            }
        }
        (cell(latency(host.generator_lag_p99_ns)))
        (cell(latency(Some(host.clock_bound_ns as f64))))
        (cell(latency(host.start_skew_ns.map(|nanos| nanos as f64))))
        (cell(host.stolen.map(|share| PAGE.percent(share))))
    }
}

fn network(host: &HostSummary) -> Markup {
    let seen = host.network.unwrap_or_default();
    let carried = |bytes: Option<f64>| {
        html! { td.num {
            (bytes.map_or_else(|| PAGE.nothing().into(), |bytes| PAGE.bytes_of(bytes)))
            @if let (Some(_), Some(link)) = (bytes, seen.link_bytes_per_second) { small { "of " (PAGE.bytes_of(link)) } }
        } }
    };
    html! {
        td.num {
            (latency(seen.round_trip_median_ns).unwrap_or_else(|| PAGE.nothing().into()))
            @if let Some(least) = latency(seen.round_trip_least_ns) { small { "shortest " (least) } }
        }
        (carried(seen.received_bytes_per_second))
        (carried(seen.sent_bytes_per_second))
        (cell(seen.retransmitted.map(|share| PAGE.percent(share))))
    }
}

fn cell(text: Option<String>) -> Markup {
    html! { td.num { (text.unwrap_or_else(|| PAGE.nothing().into())) } }
}

fn latency(nanos: Option<f64>) -> Option<String> {
    nanos.map(|nanos| PAGE.latency(nanos))
}
