//! `limits` of an arm, and the published `machine` that they may come from.

use crate::table::*;

object! {
    LIMITS limits: "Limits of what is under test: of the server if one is started, and not of its client."
    memory = Shape::size(1 << 20, 1 << 50), Optional, "382MiB";
        "Memory of the process and of the page cache that it fills, together.";
    page_cache = Shape::size(1 << 20, 1 << 50), Optional, "190MiB";
        "Instead of `memory`: room in the page cache. Once the data is loaded, the memory is limited to this plus what the process, or the server with \
         all its members, uses; the limit then follows that.";
    cpus = Shape::number(0.01, 10_000.0), Optional, "1.5";
        "Processor time per time: 1.5 is one and a half processors.";
    pin = Shape::list(&Shape::count(0, 100_000), 1, 1_024), Optional, "[0, 1]";
        "Numbers of the processors that it may run on.";
    memory_nodes = Shape::list(&Shape::count(0, 1_023), 1, 1_024), Optional, "[0]";
        "Numbers of the NUMA nodes whose memory it may use, beside `pin` with processors of the same or of another node.";
}
