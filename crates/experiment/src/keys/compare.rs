//! `compare`: what is judged, and where.

use crate::keys::metric::{METRIC, METRICS};
use crate::table::*;

object! {
    COMPARE compare: "What is judged, and where."
    baseline = Shape::Text { most: 40 }, Optional, "in-cache";
        "The arm that the others are compared with. Without it, the first one. With factors, the baseline level of the compared factor.";
    factor = Shape::Text { most: 40 }, Optional, "disk";
        "The factor whose levels are compared, within each combination of the other factors' levels. Without it, the first one.";
    pairs = Shape::list(&Shape::list(&Shape::Text { most: 40 }, 2, 2), 1, 1_000), Optional, "[[xfs, ext4]]";
        "Pairs of arms to compare, the baseline of each pair first, instead of comparing all with one.";
    primary = Shape::list(&METRIC, 1, 20), Default("[throughput, response.p99]"), "[throughput, response.p99]";
        "Metrics that decide, of all operations together or of one, as in `response.p99 of by-customer`; all others are shown as exploratory. Without a \
         load, when only the line is searched, the default is `[line]`. Metrics are `throughput`, `response.mean`, percentiles such as `response.p99` and `service.p50`, `cpu`, `errors`, `line` (the plimsoll line), `cost` \
         (of a million operations), `size` (data and indexes on the disk after the load), `written` (bytes that the engine writes for each operation, to \
         data and journal) and `write-amplification` (bytes written for each byte that operations insert or change).";
    at = Shape::Object(&AT), Optional, "{threads: 16}";
        "The load at which each mix is judged. Without it, the load at which the baseline is best. The metric `line` is always judged at the search.";
    margins = Shape::keyed(Keys::Words(&METRICS), &SHARE, 0, 20), Default("{throughput: 3%}, 5% for all others"), "{throughput: 3%, response.p99: 5%}";
        "Smallest difference that matters in practice.";
    => at most one of [baseline, pairs];
    => at most one of [factor, pairs];
}

object! {
    AT at: "A point of the load."
    threads = SESSIONS, Optional, "16";
        "The point of the closed loop with this many threads.";
    rate = RATE, Optional, "10k";
        "The point of the open loop with this rate.";
    line = LINE_SHARE, Optional, "80%";
        "The point at this share of the plimsoll line, which must be among the rates of the open loop; 100% is the line itself.";
    => one of [threads, rate, line];
}
