//! A history that is made up, as it is shown.

use super::page;
use crate::page::shell::{self, Place};
use crate::sample::history::history;
use plimsoll_judge::History;
use plimsoll_plan::Metric;

#[test]
fn the_page_stands_alone_and_trusts_no_name() {
    let page = page(&history(Metric::Throughput), "0.0", Place::File);
    assert!(!page.contains("k1<b>") && page.contains("k1&lt;b&gt;"));
    let rest = shell::checked(&page, Place::File);
    assert!(!rest.contains("http://") && !rest.contains("https://"));
    assert!(page.contains("fell by 6.2 %"));
    assert_eq!(page.matches("<tr>").count(), 11);
}

#[test]
fn what_else_can_be_followed_is_chosen_where_the_page_is_served() {
    let history = history(Metric::Throughput);
    assert!(!page(&history, "0.0", Place::File).contains("<form"));
    let served = page(&history, "0.0", Place::Served);
    shell::checked(&served, Place::Served);
    assert!(served.contains(r#"<form class="filter" action="/history/filesystems""#));
    assert!(served.contains(r#"<option value="8 threads" selected>"#));
    assert!(served.contains(r#"<option value="1 thread">"#));
    assert!(!served.contains("<script>\"") && served.contains("&quot;&gt;&lt;script&gt;"));
    assert!(served.contains(r#"href="/experiment/k1%3Cb%3E""#));
    // A line and a cost are of a whole mix.
    let of_mix = History { load_label: "at the plimsoll line".into(), ..history };
    assert!(!page(&of_mix, "0.0", Place::Served).contains(r#"name="at""#));
}
