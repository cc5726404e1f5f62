//! What a reader needs to know who has never seen such a page.

use super::Page;
use maud::{Markup, html};
use plimsoll_record::quantities::numbers::PAGE;

pub(super) fn section(page: &Page<'_>) -> Markup {
    let blocks = page.report.analysis.progress.blocks_complete;
    html! {
        dl.reading {
            dt { "Block" }
            @if super::provenance::is_imported(page) { dd { "One run of each arm, numbered in the order in which they were given. They were measured by another program, and nothing says in which order. This page has " (PAGE.count(blocks.into())) " complete." } }
            @else { dd { "One round through all arms, in shuffled order. Arms are compared within a block, and the spread from block to block says how sure a number is. This page has " (PAGE.count(blocks.into())) " complete." } }
            dt { "Interval" }
            dd { "Where the true median lies with at least 95 % confidence, from the ranks of the blocks and nothing else. It needs at least 6 blocks." }
            dt { "Better, worse, equivalent, inconclusive" }
            dd { "Better or worse: the interval excludes zero (no difference), and the estimate lies beyond the margin from which on a difference matters. Equivalent: the whole interval lies within the margin. Inconclusive: none of these can be said; the smallest visible difference says what so many blocks could have shown." }
            dt { "Response and service time" }
            dd { "Response time counts from the moment at which an operation was due, service time from the moment at which it was sent. In a closed loop, where the next operation waits for the last, the two are the same, and waiting that real users would have felt is not in either." }
            dt { "p99" }
            dd { "99 of 100 operations were at least this fast. Percentiles come from histograms that were merged, never from percentiles that were averaged. With ≥ it is a lower bound, because too many operations were unfinished at the end." }
            dt { "Percentile curve" }
            dd { "Each step to the right is a nine more: p90, p99, p99.9. The curve shows how much slower the slowest operations are, as far as at least five operations lie beyond it." }
            dt { "Shade behind the response times" }
            dd { "Every operation of one block, by the second in which it ended and by how long it took. The stronger the shade, the larger the share of that second; one operation in ten thousand is still seen." }
            dt { "Knee" }
            dd { "The load at which power is greatest: throughput divided by the mean response time. Up to it, more load brings more throughput than it costs in response time, in proportion; beyond it less, even where throughput still grows much." }
            @if super::line::is_known(page.report.analysis) {
                dt { "Plimsoll line" }
                dd { "The highest rate that an arm sustains within its objective, named after the mark on a hull that shows how deep a ship may safely lie. Each block searches it again by trials at fixed rates; the interval spans what the blocks found." }
            }
            @if super::why::is_known(page.report.analysis) {
                dt { "Bottleneck" }
                dd { "What kept the arm from being faster at this load, by the first of a fixed list of rules that the figures fulfil. For a disk with limits, throughput can be at most the limit divided by what one operation costs there; both sides are shown." }
                dt { "Engine cache and page cache hits" }
                dd { "Engine cache hits: pages that the engine found in its own cache, of all that operations requested. Page cache hits: bytes that the operating system's cache answered, of all that the engine requested beyond that: its requests less what the device saw." }
            }
            dt { "Valid" }
            dd { "A point is valid when it passed every gate: no errors beyond those allowed, numbers that agree with each other, a machine that others left alone, a generator that was not the limit, every record in place. A point that is not valid is shown as failed and compared with nothing." }
        }
    }
}
