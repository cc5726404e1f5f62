//! What each machine did, where several took part.

use super::{NAME, Page};
use maud::{Markup, html};
use plimsoll_judge::HostSummary;
use plimsoll_quantities::numbers::PAGE;
use plimsoll_report::hosts::{by_arm, name, role};
use plimsoll_report::text;

/// Columns of the table.
const COLUMNS: usize = 12;

/// A table with the machines of each arm; nothing where every run had one worker.
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
        div.scroll tabindex="0" role="region" aria-label="Table of the hosts" {
            table {
                thead { tr {
                    th scope="col" { "Host" }
                    th scope="col" { "Role" }
                    th.num scope="col" { "Throughput" small { "op/s" } }
                    th.num scope="col" { "Load generator" small { "processors" } }
                    th.num scope="col" { "Generator late" small { "p99, open loops" } }
                    th.num scope="col" { "Clock within" small { "worst" } }
                    th.num scope="col" { "Began after the first" small { "worst, closed loops" } }
                    th.num scope="col" { "Stolen" small { "of the processors" } }
                    th.num scope="col" { "Round trip" small { "to the server" } }
                    th.num scope="col" { "Received" small { "a second" } }
                    th.num scope="col" { "Sent" small { "a second" } }
                    th.num scope="col" { "Sent again" small { "of TCP segments" } }
                } }
                @for (arm, rows) in &shown {
                    tbody {
                        tr.mix { th colspan=(COLUMNS) scope="rowgroup" { (page.arm(arm)) } }
                        @for host in *rows { (row(host)) }
                    }
                }
            }
        }
        @if all > page.budget.arm_rows { p.remark { "The first " (page.budget.arm_rows) " of " (all) " rows; all are in hosts.csv." } }
    }
}

fn row(host: &HostSummary) -> Markup {
    let latency = |nanos: Option<f64>| nanos.map(|nanos| PAGE.latency(nanos));
    let network = host.network.unwrap_or_default();
    let link = network.link_bytes_per_second;
    let carried = |bytes: Option<f64>| {
        html! { td.num {
            (bytes.map_or_else(|| PAGE.nothing().into(), |bytes| PAGE.bytes_of(bytes)))
            @if let Some(link) = link.filter(|_| bytes.is_some()) { small { "of " (PAGE.bytes_of(link)) } }
        } }
    };
    let cell =
        |text: Option<String>| html! { td.num { (text.unwrap_or_else(|| PAGE.nothing().into())) } };
    html! {
        tr {
            th scope="row" { (text::short(name(host), NAME)) }
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
            (cell(latency(network.round_trip_median_ns)))
            (carried(network.received_bytes_per_second))
            (carried(network.sent_bytes_per_second))
            (cell(network.retransmitted.map(|share| PAGE.percent(share))))
        }
    }
}
