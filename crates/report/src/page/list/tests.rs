use super::*;

fn entry(id: &str, name: &str, state: State) -> Entry {
    Entry {
        id: id.into(),
        name: name.into(),
        question: Some("Which cache is large enough?".into()),
        state,
        arms: vec!["small".into(), "large".into()],
        runs_finished: 3,
        runs_failed: 0,
        runs_planned: 16,
        started_at: "2026-11-21T03:44:00Z".into(),
        bundle: None,
    }
}

fn listed<'a>(entries: &'a [Entry], text: &'a str, state: Option<State>) -> Listed<'a> {
    Listed { entries, text, state, store: "/home/me/plimsoll.db" }
}

fn main_of(page: &str) -> &str {
    let from = page.find("<main").unwrap();
    &page[from..page.find("</main>").unwrap()]
}

#[test]
fn every_experiment_is_a_row_with_ways_to_go() {
    let mut entries =
        [entry("1f3a", "cache size", State::GoingOn), entry("9b2c", "disks", State::Finished)];
    entries[0].runs_failed = 1;
    let page = page(&listed(&entries, "", None), "0.1.0");
    insta::assert_snapshot!(main_of(&page).replace("><", ">\n<"));
}

#[test]
fn the_filter_works_without_a_script() {
    let entries =
        [entry("1f3a", "cache size", State::GoingOn), entry("9b2c", "disks", State::Interrupted)];
    for (text, state, expected) in [
        ("", None, vec!["1f3a", "9b2c"]),
        ("CACHE", None, vec!["1f3a", "9b2c"]), // the question of both
        ("size", None, vec!["1f3a"]),
        ("9b large", None, vec!["9b2c"]),
        ("", Some(State::Interrupted), vec!["9b2c"]),
        ("size", Some(State::Finished), vec![]),
    ] {
        let page = page(&listed(&entries, text, state), "0.1.0");
        let main = main_of(&page);
        let shown: Vec<&str> = ["1f3a", "9b2c"]
            .into_iter()
            .filter(|id| main.contains(&format!("/experiment/{id}")))
            .collect();
        assert_eq!(shown, expected, "{text} {state:?}");
        assert_eq!(main.contains("None fits"), expected.is_empty());
        if let Some(state) = state {
            assert!(main.contains(&format!("value=\"{}\" selected", state.key())));
        }
    }
}

#[test]
fn an_empty_store_says_how_to_begin() {
    let page = page(&listed(&[], "", None), "0.1.0");
    assert!(main_of(&page).contains("plimsoll run studies/quickstart.yaml"));
}

#[test]
fn foreign_names_do_nothing() {
    let hostile = "\"><script>alert(1)</script>\u{202e}";
    let mut one = entry(hostile, hostile, State::Finished);
    one.question = Some(hostile.into());
    one.arms = vec![hostile.into()];
    let page = page(&listed(&[one], hostile, None), "0.1.0");
    let main = main_of(&page);
    assert!(!main.contains("<script>") && !main.contains("\"><script"), "{main}");
    assert!(main.contains("/experiment/%22%3E%3Cscript%3E"));
}

#[test]
fn long_lists_and_long_names_stay_small() {
    let mut one = entry("1f3a", &"long ".repeat(200), State::Finished);
    one.arms = (0..200).map(|number| format!("arm {number}")).collect();
    let many: Vec<Entry> =
        (0..2_000).map(|number| Entry { id: format!("{number:08x}"), ..one.clone() }).collect();
    let page = page(&listed(&many, "", None), "0.1.0");
    assert!(page.len() < 3_500_000, "{}", page.len());
    assert!(page.contains("The newest 300 of 2\u{202f}000"));
    assert!(page.contains("and 176 more, on its page"));
}
