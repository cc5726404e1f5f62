use super::*;
use crate::page::shown::shown;
use crate::sample::{self as sample, Shape};
use crate::section::hosts;
use plimsoll_judge::{Analysis, Estimate, Figures};
use plimsoll_record::{
    DiskChoice, ExperimentRecord, ExperimentState, RigRecord, RunState, Storage, Warning, WarningId,
};

fn small() -> (ExperimentRecord, Analysis) {
    sample::experiment(&Shape {
        sessions: vec![1, 2, 4],
        mixes: vec!["A".into()],
        seconds: 8,
        ..Shape::quickstart()
    })
}

fn page_of<'a>(record: &'a ExperimentRecord, analysis: &'a Analysis) -> Page<'a> {
    Page {
        setting: Setting::default(),
        report: Report { record, analysis },
        styles: ArmStyles::of(analysis),
        budget: FULL,
    }
}

/// The HTML of a section, if there is one.
fn of(page: &Page<'_>, section: Option<Section>) -> String {
    section.map_or_else(String::new, |section| section::section(page, &section).0)
}

/// The page as a file.
fn rendered(record: &ExperimentRecord, analysis: &Analysis) -> String {
    render(&Report { record, analysis })
}

#[test]
fn the_first_screen() {
    let (record, analysis) = small();
    let page = page_of(&record, &analysis);
    insta::assert_snapshot!("masthead", shown(&head::masthead(&page).0));
    insta::assert_snapshot!("verdict", shown(&head::verdict(&page).0));
    insta::assert_snapshot!("validity", shown(&head::validity(&page).0));
    insta::assert_snapshot!("arms", shown(&arms::section(&page).0));
}

#[test]
fn the_charts() {
    let (record, analysis) = small();
    let page = page_of(&record, &analysis);
    insta::assert_snapshot!("load", shown(&curves::section(&page).0));
    insta::assert_snapshot!("time", shown(&time::section(&page).0));
    insta::assert_snapshot!("comparisons", shown(&comparisons::section(&page).0));
}

#[test]
fn noise_duets_and_controls() {
    let (record, mut analysis) = sample::experiment(&Shape {
        sessions: vec![2],
        mixes: vec!["A".into()],
        ..Shape::safe_load()
    });
    let without = rendered(&record, &analysis);
    assert!(!without.contains("Table of the duets"));
    sample::noisy(&mut analysis);
    let page = page_of(&record, &analysis);
    insta::assert_snapshot!("duets", shown(&of(&page, duets(&analysis, PAGE))));
    insta::assert_snapshot!("controls", shown(&of(&page, controls(&analysis, PAGE))));
    insta::assert_snapshot!("blocks_and_noise", shown(&blocks::section(&page).0));
    let whole = rendered(&record, &analysis);
    for table in ["duets", "controls", "sources of noise"] {
        assert!(whole.contains(&format!("Table of the {table}")), "{table}");
    }
}

#[test]
fn the_events() {
    let (record, mut analysis) = small();
    sample::disturbed(&mut analysis);
    let page = page_of(&record, &analysis);
    insta::assert_snapshot!("events", shown(&of(&page, events(&analysis, PAGE))));
    let over_time = time::section(&page).0;
    let drawn = over_time.matches("class=\"event\"").count();
    let panels = over_time.matches("<figure").count();
    assert!(panels > 0 && drawn >= 2 * panels, "{drawn} in {panels}");
    let whole = render(&page.report);
    assert!(whole.contains("<section id=\"events\">"));
    let (record, analysis) = small();
    let undisturbed = rendered(&record, &analysis);
    assert!(!undisturbed.contains("class=\"event\"") && !undisturbed.contains("id=\"events\""));
}

#[test]
fn the_hosts() {
    let (mut record, mut analysis) = small();
    sample::hosts::furnish(&mut record, &mut analysis);
    let page = page_of(&record, &analysis);
    insta::assert_snapshot!("hosts", shown(&of(&page, hosts(&analysis, PAGE))));
    let html = render(&page.report);
    check(&html);
    // Both arms stand on one host, which is another machine than the controller.
    assert_eq!(html.matches("<h3>Machine of db1</h3>").count(), 1);
    assert!(html.contains("<h3>Machine of the controller</h3>"));
    assert!(html.contains("Imaginary CPU 12000") && html.contains("Imaginary CPU 9000"));
    assert!(html.contains("hosts.csv"));
    // Where it is the same, it is shown once.
    for run in &mut record.runs {
        run.machine = record.machine.clone();
    }
    let html = rendered(&record, &analysis);
    assert!(html.contains("<h3>Machine</h3>") && !html.contains("Machine of db1"));
    let (record, analysis) = small();
    let html = rendered(&record, &analysis);
    for absent in ["Hosts", "hosts.csv", "Machine of"] {
        assert!(!html.contains(absent), "{absent}");
    }
}

#[test]
fn hosts_beyond_the_budget_are_counted() {
    let (mut record, mut analysis) = small();
    sample::hosts::furnish(&mut record, &mut analysis);
    let mut page = page_of(&record, &analysis);
    page.budget.arm_rows = 4;
    let table = of(&page, hosts(&analysis, PAGE));
    // Three of the first arm and one of the second, in both tables.
    assert_eq!(table.matches("bench1").count(), 4);
    assert_eq!(table.matches("bench2").count(), 2);
    assert!(table.contains("The first 4 of 6 rows"));
}

/// With invented histograms, in closed loops or in open ones.
fn with_tails(open: bool) -> (ExperimentRecord, Analysis) {
    let (mut record, mut analysis) = small();
    if open {
        sample::opened(&mut analysis);
    }
    sample::tails::furnish(&mut record, &analysis, open);
    (record, analysis)
}

#[test]
fn the_tail() {
    let (record, analysis) = with_tails(true);
    let page = page_of(&record, &analysis);
    let section = percentiles::section(&page).expect("the record has histograms");
    insta::assert_snapshot!("percentiles", shown(&section.0));
    let html = render(&page.report);
    check(&html);
    assert!(html.contains("id=\"percentiles\"") && html.contains("leaves the ideal line at"));
    assert!(html.contains("class=\"ideal\"") && html.contains("class=\"service\""));
    let (record, analysis) = small();
    let html = rendered(&record, &analysis);
    for absent in
        ["id=\"percentiles\"", "class=\"ideal\"", "the ideal line at", "small>service ", "<mask"]
    {
        assert!(!html.contains(absent), "{absent}");
    }
}

#[test]
fn heat_stands_behind_the_response_times_and_is_small() {
    let (record, analysis) = with_tails(false);
    let html = rendered(&record, &analysis);
    check(&html);
    let pictures: Vec<&str> = html.split("data:image/png;base64,").skip(1).collect();
    let panels = html.matches("-latency-t\">").count();
    assert!(panels >= 2 && pictures.len() == panels, "{} in {panels}", pictures.len());
    for picture in pictures {
        let bytes = picture.split('"').next().unwrap().len();
        assert!((60..2_000).contains(&bytes), "{bytes}");
    }
    // A mask has the name by which it is used.
    for used in html.split("mask=\"url(#").skip(1) {
        let id = used.split(')').next().unwrap();
        assert!(html.contains(&format!("<mask id=\"{id}\"")), "{id}");
    }
}

#[test]
fn every_chart_that_answers_has_its_values_beside_it() {
    let (record, analysis) =
        sample::experiment(&Shape { seconds: 400, sessions: vec![1, 8], ..Shape::two_disks() });
    let html = rendered(&record, &analysis);
    check(&html);
    let mut groups = std::collections::BTreeMap::new();
    for chart in html.split(" data-cursor=\"").skip(1) {
        let group = chart.split('"').next().unwrap();
        *groups.entry(group.to_owned()).or_insert(0) += 1;
        let plot = chart.split_once("data-plot=\"").unwrap().1.split('"').next().unwrap();
        let plot: Vec<f64> = plot.split(' ').map(|number| number.parse().unwrap()).collect();
        assert!(plot.len() == 4 && plot[0] < plot[1] && plot[2] < plot[3], "{plot:?}");
        let after = chart.split_once("</svg>").unwrap().1;
        let data = after.strip_prefix("<script class=\"chart-data\" type=\"application/json\">");
        let data = data
            .expect("the values stand right behind the chart")
            .split("</script>")
            .next()
            .unwrap();
        let data: serde_json::Value = serde_json::from_str(data).unwrap();
        let places = data["x"].as_array().unwrap();
        assert!((1..=150).contains(&places.len()), "{}", places.len());
        let rising = places.windows(2).all(|two| two[0].as_f64() < two[1].as_f64());
        assert!(rising && places[0].as_f64().unwrap() >= plot[2]);
        for series in data["series"].as_array().unwrap() {
            for key in ["values", "low", "high"] {
                let length = series[key].as_array().map_or(places.len(), Vec::len);
                assert_eq!(length, places.len(), "{key} of {}", series["name"]);
            }
        }
    }
    // Both charts over the load together; throughput, response times and what was watched of both arms together.
    assert_eq!(groups["load-0"], 2);
    assert_eq!(groups["time-0"], 6);
}

#[test]
fn files_are_links_where_there_is_a_server() {
    let (record, analysis) = small();
    let report = Report { record: &record, analysis: &analysis };
    let file = render(&report);
    assert!(file.contains("plimsoll export k3f9q") && !file.contains("/experiment/"));
    let served = render_in(&report, &Setting { place: Place::Served, ..Setting::default() });
    let rest = shell::checked(&served, Place::Served);
    assert!(rest.contains("href=\"/experiment/k3f9q/files/points.csv\""));
    assert!(!rest.contains("plimsoll export k3f9q"));
}

#[test]
fn names_of_a_thousand_characters_and_other_scripts_are_shown() {
    for name in ["база-данных", "データベース", "قاعدة", "x̂́", &"long-".repeat(200)]
    {
        let (mut record, mut analysis) = with_tails(false);
        let old = analysis.arms[1].name.clone();
        for arm in &mut analysis.arms {
            if arm.name == old {
                arm.name = name.to_owned();
            }
        }
        for curve in &mut analysis.curves {
            if curve.arm == old {
                curve.arm = name.to_owned();
            }
            for point in &mut curve.points {
                if point.arm == old {
                    point.arm = name.to_owned();
                }
            }
        }
        for series in &mut analysis.series {
            if series.arm == old {
                series.arm = name.to_owned();
            }
        }
        for run in &mut record.runs {
            if run.arm == old {
                run.arm = name.to_owned();
            }
        }
        let html = rendered(&record, &analysis);
        check(&html);
        assert!(html.contains(&text::short(name, 48)), "{name}");
    }
}

#[test]
fn an_arm_without_a_valid_point_is_still_told() {
    let (record, mut analysis) = with_tails(false);
    for curve in analysis.curves.iter_mut().skip(1) {
        for point in &mut curve.points {
            sample::refuse(point);
        }
    }
    let html = rendered(&record, &analysis);
    check(&html);
    assert!(html.contains("✗ 0") && html.contains("id=\"percentiles\""));
    assert!(html.contains(crate::words::REFUSED) && html.contains("<td class=\"num refused\">("));
    for point in &mut analysis.curves[0].points {
        sample::refuse(point);
    }
    let html = rendered(&record, &analysis);
    check(&html);
    assert!(!html.contains("id=\"percentiles\""));
}

#[test]
fn the_conditions() {
    let (record, analysis) = small();
    let page = page_of(&record, &analysis);
    insta::assert_snapshot!("differences", shown(&differences::section(&page).0));
    insta::assert_snapshot!("order", shown(&differences::order(&page).0));
    insta::assert_snapshot!("provenance", shown(&provenance::section(&page).0));
    insta::assert_snapshot!("warnings", shown(&warnings::section(&page).0));
    insta::assert_snapshot!("reading", shown(&reading::section(&page).0));
}

/// Two arms on different disks, watched.
fn watched() -> (ExperimentRecord, Analysis) {
    sample::experiment(&Shape { sessions: vec![1, 8], seconds: 14, ..Shape::two_disks() })
}

#[test]
fn what_was_watched() {
    let (record, analysis) = watched();
    let page = page_of(&record, &analysis);
    insta::assert_snapshot!("watched-arms", shown(&arms::section(&page).0));
    insta::assert_snapshot!("why", shown(&why::section(&page).0));
    insta::assert_snapshot!("watched-time", shown(&time::section(&page).0));
    insta::assert_snapshot!("rig", shown(&rig::section(&page).0));
}

/// Its latencies, tickets, queues and flow control stand on the seconds of everything else; what never happened has no chart.
#[test]
fn what_a_server_tells_is_drawn_over_time() {
    let rows = |set: &dyn Fn(&mut Figures)| {
        let (record, mut analysis) = watched();
        for series in &mut analysis.series {
            series.figures.iter_mut().for_each(set);
        }
        let page = page_of(&record, &analysis);
        let drawn = time::section(&page).into_string();
        let (_, description) = drawn.split_once("Over time: ").unwrap();
        let (description, _) = description.split_once("engine cache: used").unwrap();
        description.to_owned()
    };
    let busy = rows(&|figures| {
        figures.server_read_ns = Some(2e6);
        figures.server_write_ns = Some(3e6);
        figures.server_read_tickets_used = Some(0.25);
        figures.server_write_tickets_used = Some(1.0);
        figures.server_reads_queued = Some(0.0);
        figures.server_writes_queued = Some(40.0);
        figures.flow_control_wait = Some(0.4);
        figures.flow_control_lagged = Some(1.0);
    });
    assert_eq!(
        busy,
        "within the server: reads, writes (dashed), ms; server tickets in use: reads, writes (dashed); queued in the server: reads, writes (dashed); flow control: wait, held back (dashed); "
    );
    let idle = rows(&|figures| {
        figures.server_read_ns = Some(2e6);
        figures.server_read_tickets_used = Some(0.0);
        figures.server_reads_queued = Some(0.0);
        figures.flow_control_wait = Some(0.0001);
        figures.flow_control_lagged = Some(0.0);
    });
    assert_eq!(idle, "within the server: reads, writes (dashed), ms; ");
}

#[test]
fn cells_have_a_figure_a_matrix_and_their_effects() {
    let (record, analysis) = sample::twelve_cells();
    let page = page_of(&record, &analysis);
    insta::assert_snapshot!("twelve-cells", shown(&factors::section(&page).0));
    // Cards of single pairs would hide the figure.
    let head = head::verdict(&page).0;
    assert!(!head.contains("class=\"cards\""), "{head}");
}

#[test]
fn twelve_arms_are_told_side_by_side() {
    let (record, analysis) =
        sample::experiment(&Shape { blocks: 6, seconds: 4, ..Shape::twelve_arms() });
    let page = page_of(&record, &analysis);
    insta::assert_snapshot!("twelve-arms", shown(&arms::section(&page).0));
    insta::assert_snapshot!("twelve-comparisons", shown(&comparisons::section(&page).0));
    insta::assert_snapshot!("twelve-differences", shown(&differences::section(&page).0));
    check(&rendered(&record, &analysis));
}

#[test]
fn what_was_not_watched_is_not_mentioned() {
    let (record, analysis) = small();
    let html = rendered(&record, &analysis);
    for absent in ["Bottleneck", "id=\"why\"", "id=\"rig\"", "page cache"] {
        assert!(!html.contains(absent), "{absent}");
    }
}

/// Two priced arms whose lines were searched, in two blocks.
fn decided() -> (ExperimentRecord, Analysis) {
    sample::experiment(&Shape {
        sessions: vec![1, 2, 4],
        mixes: vec!["A".into()],
        blocks: 2,
        seconds: 4,
        ..Shape::safe_load()
    })
}

#[test]
fn what_a_run_decided() {
    let (record, mut analysis) = decided();
    sample::against_itself(&mut analysis);
    let page = page_of(&record, &analysis);
    insta::assert_snapshot!("decided-verdict", shown(&head::verdict(&page).0));
    let mut unjudged = analysis.clone();
    let itself = unjudged.against_itself.as_mut().unwrap();
    (itself.comparisons, itself.different) = (0, 0);
    let description = shown(&head::verdict(&page_of(&record, &unjudged)).0);
    assert!(description.contains("No comparison of the arm with itself could be judged"));
    assert!(!description.contains("were called different"), "{description}");
    insta::assert_snapshot!("decided-arms", shown(&arms::section(&page).0));
    insta::assert_snapshot!("decided-line", shown(&line::section(&page).0));
    insta::assert_snapshot!("decided-cost", shown(&of(&page, costs(&analysis, PAGE))));
    insta::assert_snapshot!("decided-load", shown(&curves::section(&page).0));
    insta::assert_snapshot!("decided-blocks", shown(&blocks::section(&page).0));
    insta::assert_snapshot!("decided-drift", shown(&drift::section(&page).0));
    check(&render(&page.report));
}

#[test]
fn what_was_not_decided_is_not_mentioned() {
    let (record, analysis) = small();
    let report = |analysis| rendered(&record, analysis);
    let html = report(&analysis);
    for absent in [
        "id=\"line\"",
        "id=\"cost\"",
        "id=\"blocks\"",
        "id=\"drift\"",
        "class=\"itself\"",
        "limsoll line",
        "would narrow this interval",
    ] {
        assert!(!html.contains(absent), "{absent}");
    }
    // As an analysis was before there was any of it.
    let mut old = serde_json::to_value(&analysis).unwrap();
    for key in ["lines", "costs", "repeatability", "blocks_needed", "drift", "against_itself"] {
        assert!(old.as_object_mut().unwrap().remove(key).is_some(), "{key}");
    }
    let old: Analysis = serde_json::from_value(old).unwrap();
    assert_eq!(report(&old), html);
}

#[test]
fn a_line_with_one_end_or_none_is_shown_as_such() {
    let (record, mut analysis) = decided();
    for line in &mut analysis.lines {
        line.upper = None;
        line.rate = Estimate::default();
        line.at_line = None;
        for block in &mut line.blocks {
            block.upper = None;
        }
    }
    let shown = |analysis: &Analysis| {
        let html = rendered(&record, analysis);
        check(&html);
        html
    };
    let html = shown(&analysis);
    assert!(html.contains("at least 20\u{202f}") && html.contains("class=\"line-arrow\""));
    assert!(!html.contains("class=\"line-band\""));
    for line in &mut analysis.lines {
        line.lower = None;
        line.sentence = "No rate that was tried held.".into();
        for block in &mut line.blocks {
            block.lower = None;
        }
    }
    let html = shown(&analysis);
    assert!(html.contains("not found") && html.contains("No rate that was tried held."));
    assert!(!html.contains("class=\"line-arrow\""));
    // What was tried is drawn nevertheless.
    assert!(html.contains("class=\"trial-broken\""));
    for line in &mut analysis.lines {
        line.blocks.clear();
    }
    assert!(!shown(&analysis).contains("id=\"line-0-trials-t\""));
}

#[test]
fn trials_differ_by_more_than_colour() {
    let (record, analysis) = decided();
    let page = page_of(&record, &analysis);
    let html = line::section(&page).into_string();
    for class in ["trial-held", "trial-broken", "trial-invalid", "limit"] {
        assert!(html.contains(&format!("<path class=\"{class}\"")), "{class}");
    }
    for word in ["✓ held", "✗ did not hold", "✕ failed a gate", "at most 10.0\u{202f}ms"] {
        assert!(html.contains(word), "{word}");
    }
}

#[test]
fn an_objective_without_a_p99_has_no_limit_in_the_picture() {
    let (mut record, analysis) = decided();
    for plan in [
        serde_json::json!({"objective": null}),
        serde_json::json!({"objective": {"response": [[95.0, 10_000_000]]}}),
        serde_json::json!({"objective": {"response": "p99"}}),
    ] {
        record.plan = plan;
        let page = page_of(&record, &analysis);
        let html = line::section(&page).into_string();
        assert!(!html.contains("class=\"limit\"") && html.contains("class=\"trial-held\""));
    }
}

#[test]
fn arms_that_are_judged_at_their_lines_are_shown_there() {
    let (record, mut analysis) = decided();
    let point = analysis.lines[0].point;
    let primary = &mut analysis.comparisons[0];
    assert!(primary.primary);
    primary.metric = plimsoll_plan::Metric::Line;
    primary.point = point;
    let page = page_of(&record, &analysis);
    let html = arms::section(&page).into_string();
    assert!(html.contains("Mix A at the plimsoll line"));
    assert!(!html.contains("not measured"));
    let rate = analysis.lines[0].at_line.as_ref().unwrap().throughput.median.unwrap();
    assert!(html.contains(&plimsoll_record::quantities::numbers::PAGE.rate(rate)));
    analysis.lines[0].at_line = None;
    let page = page_of(&record, &analysis);
    assert!(arms::section(&page).into_string().contains("not measured"));
}

#[test]
fn seconds_of_a_search_are_named_as_such() {
    let (record, mut analysis) = decided();
    let mut series = analysis.series[0].clone();
    series.point = Some(analysis.lines[0].point);
    analysis.series.push(series);
    let page = page_of(&record, &analysis);
    let html = time::section(&page).into_string();
    assert!(html.contains("trials of the plimsoll line"));
}

#[test]
fn nothing_is_cheapest_between_currencies() {
    let (record, mut analysis) = decided();
    let stars = |analysis: &Analysis| {
        let page = page_of(&record, analysis);
        of(&page, costs(analysis, PAGE)).matches("cheapest: ").count()
    };
    assert_eq!(stars(&analysis), 3);
    analysis.costs[1].currency = "USD".into();
    assert_eq!(stars(&analysis), 0);
    analysis.costs.truncate(1);
    assert_eq!(stars(&analysis), 0);
}

#[test]
fn arms_may_have_measured_different_points() {
    let (record, mut analysis) = decided();
    analysis.curves[0].points.truncate(1);
    analysis.curves[1].points.remove(0);
    let html = rendered(&record, &analysis);
    check(&html);
    assert!(html.contains("not measured"));
    analysis.curves[1].points.clear();
    check(&rendered(&record, &analysis));
}

#[test]
fn only_what_cannot_be_told_needs_blocks() {
    let (record, mut analysis) = decided();
    let needs = |analysis: &Analysis| {
        let page = page_of(&record, analysis);
        let description = "about 14 blocks would narrow this interval to ±3\u{202f}%";
        let count = |markup: Markup| markup.into_string().matches(description).count();
        (count(head::verdict(&page)), count(comparisons::section(&page)))
    };
    assert_eq!(needs(&analysis), (1, 1));
    analysis.blocks_needed[0].mix = "another".into();
    assert_eq!(needs(&analysis), (0, 0));
    analysis.blocks_needed[0].mix = "A".into();
    analysis.comparisons[0].verdict.judgement = plimsoll_judge::Judgement::Worse;
    assert_eq!(needs(&analysis), (0, 0));
}

#[test]
fn points_that_fail_are_shown_as_failed() {
    let (mut record, mut analysis) = small();
    let points = &mut analysis.curves[1].points;
    sample::refuse(&mut points[1]);
    points[1].errors = 12_345;
    points[2].p99_at_least = true;
    record.state = ExperimentState::Unfinished;
    record.runs[2].state = RunState::Failed { message: "no space left on device".into() };
    analysis.progress.runs_finished = 11;
    analysis.progress.runs_failed = 1;
    let page = page_of(&record, &analysis);
    insta::assert_snapshot!("failed-arms", shown(&arms::section(&page).0));
    insta::assert_snapshot!("failed-load", shown(&curves::section(&page).0));
    insta::assert_snapshot!("failed-verdict", shown(&head::verdict(&page).0));
    let whole = rendered(&record, &analysis);
    assert!(whole.contains("✗ failed") && whole.contains("no space left on device"));
}

/// Every tag of a document with its attributes; `html` is without style and script.
fn tags(html: &str) -> impl Iterator<Item = &str> {
    html.split('<').skip(1).map(|tag| tag.split('>').next().unwrap_or(tag))
}

/// What must hold for every page, whatever is in it.
fn check(html: &str) {
    const TAGS: [&str; 53] = [
        "!DOCTYPE",
        "html",
        "head",
        "meta",
        "title",
        "script",
        "image",
        "mask",
        "button",
        "input",
        "label",
        "body",
        "header",
        "main",
        "footer",
        "nav",
        "section",
        "article",
        "p",
        "h1",
        "h2",
        "h3",
        "a",
        "span",
        "strong",
        "small",
        "div",
        "ul",
        "ol",
        "li",
        "dl",
        "dt",
        "dd",
        "pre",
        "code",
        "time",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "figure",
        "figcaption",
        "details",
        "summary",
        "svg",
        "g",
        "path",
        "circle",
        "rect",
        "text",
        "desc",
    ];
    assert!(html.len() <= LARGEST, "{} bytes", html.len());
    let html = &shell::checked(html, Place::File);
    let mut ids = Vec::new();
    for tag in tags(html) {
        let name = tag.trim_start_matches('/').split(' ').next().unwrap_or_default();
        assert!(TAGS.contains(&name), "a tag that no part of the page writes: <{tag}>");
        if let Some((_, id)) = tag.split_once(" id=\"") {
            ids.push(id.split('"').next().unwrap_or_default());
        }
    }
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "ids are unique");
    for reference in html.split("aria-labelledby=\"").skip(1) {
        for id in reference.split('"').next().unwrap_or_default().split(' ') {
            assert!(ids.contains(&id), "{id}");
        }
    }
    for forbidden in ["http://", "https://", "@import", "NaN", ">inf", "\"inf", "url(h", "url(/"] {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
    let control = |character: char| character.is_control() && !matches!(character, '\n' | '\t');
    assert!(!html.contains(control), "control characters");
    assert!(!html.contains(['\u{202e}', '\u{2066}']), "signs that turn the direction of writing");
}

#[test]
fn a_page_asks_nobody_for_anything() {
    let (record, analysis) = sample::experiment(&Shape::quickstart());
    check(&rendered(&record, &analysis));
}

/// Puts a string wherever a string can come from outside.
fn spoil(record: &mut ExperimentRecord, analysis: &mut Analysis, hostile: &str) {
    let text = || hostile.to_owned();
    let renamed: Vec<String> = analysis.arms.iter().map(|arm| arm.name.clone()).collect();
    let name = |old: &str| {
        renamed
            .iter()
            .position(|arm| arm == old)
            .map_or_else(text, |place| format!("{hostile}{place}"))
    };
    record.id = text();
    record.file_text = text();
    record.file_hash = text();
    record.plan_hash = text();
    record.command = text();
    record.started_at = text();
    record.ended_at = Some(text());
    record.program.version = text();
    record.program.commit = text();
    record.machine.cpu_model = Some(text());
    record.machine.kernel = Some(text());
    for run in &mut record.runs {
        run.arm = name(&run.arm);
        run.state = RunState::Failed { message: text() };
        if let Some(engine) = &mut run.engine {
            engine.notes.insert(text(), text());
        }
        if let Some(rig) = &mut run.rig {
            spoil_made(rig, hostile);
        }
    }
    for calibration in &mut record.calibrations {
        calibration.disk.preset = Some(text());
        calibration.at = text();
        calibration.fio_version = text();
        for check in &mut calibration.checks {
            check.what = text();
            check.unit = text();
        }
    }
    analysis.id = text();
    analysis.name = text();
    analysis.question = Some(text());
    analysis.headline = vec![text(), text()];
    analysis.mixes = vec![text()];
    for arm in &mut analysis.arms {
        arm.name = name(&arm.name);
        arm.about = Some(text());
        arm.engine = text();
        arm.settings.insert(text(), text());
        arm.storage = Some(Storage {
            directory: text(),
            other: [(text(), text())].into(),
            ..Storage::default()
        });
        if let Some(rig) = &mut arm.made {
            spoil_made(rig, hostile);
        }
        arm.rig.disk = Some(DiskChoice::Device { path: hostile.into() });
        arm.rig.machine = Some(text());
        if let Some(filesystem) = &mut arm.rig.filesystem {
            filesystem.mkfs = vec![text()];
            filesystem.mount = vec![text()];
        }
        if let Some(price) = &mut arm.rig.price {
            price.currency = text();
            price.source = Some(text());
            price.date = Some(text());
        }
    }
    for curve in &mut analysis.curves {
        curve.arm = name(&curve.arm);
        curve.mix = text();
        if let Some(knee) = &mut curve.knee {
            knee.load_label = text();
        }
        for point in &mut curve.points {
            point.arm = name(&point.arm);
            point.load_label = text();
            let latencies = point.by_operation["read"].clone();
            point.by_operation.insert(text(), latencies);
            if let Some(cause) = &mut point.cause {
                cause.sentence = text();
                for rule in &mut cause.rules {
                    rule.figures = text();
                }
            }
        }
    }
    for point in &mut analysis.load_phase {
        point.arm = name(&point.arm);
        point.load_label = text();
    }
    for comparison in &mut analysis.comparisons {
        comparison.arm = name(&comparison.arm);
        comparison.baseline = name(&comparison.baseline);
        comparison.mix = text();
        comparison.load_label = text();
        comparison.sentence = text();
        comparison.because = Some(text());
        comparison.cost_difference = Some(text());
        comparison.verdict.reason = Some(text());
    }
    for pair in &mut analysis.pairs {
        pair.arm = name(&pair.arm);
        pair.baseline = name(&pair.baseline);
    }
    let pairs = analysis.pairs.iter_mut();
    for difference in pairs.flat_map(|pair| &mut pair.differences).chain(&mut analysis.differences)
    {
        difference.what = text();
        for (arm, value) in &mut difference.values {
            *arm = name(arm);
            *value = text();
        }
    }
    for threshold in &mut analysis.thresholds {
        threshold.text = text();
        threshold.subject = text();
    }
    for series in &mut analysis.series {
        series.arm = name(&series.arm);
        series.mix = text();
    }
    for block in &mut analysis.progress.order {
        for arm in &mut block.arms {
            *arm = name(arm);
        }
    }
    for entry in &mut analysis.validity {
        entry.name = text();
        entry.text = text();
    }
    for line in &mut analysis.lines {
        line.arm = name(&line.arm);
        line.mix = text();
        line.objective = text();
        line.sentence = text();
        if let Some(point) = &mut line.at_line {
            point.arm = name(&point.arm);
            point.load_label = text();
        }
        if let Some(cause) = &mut line.limit {
            cause.sentence = text();
        }
    }
    for cost in &mut analysis.costs {
        cost.arm = name(&cost.arm);
        cost.mix = text();
        cost.currency = text();
        cost.source = Some(text());
        for (load, _) in cost.at_knee.iter_mut().chain(&mut cost.at_best) {
            *load = text();
        }
    }
    for one in &mut analysis.repeatability {
        one.arm = name(&one.arm);
        one.mix = text();
        one.load_label = text();
        one.sentence = text();
    }
    for needed in &mut analysis.blocks_needed {
        needed.arm = name(&needed.arm);
        needed.baseline = name(&needed.baseline);
        needed.mix = text();
    }
    if let Some(drift) = &mut analysis.drift {
        drift.sentence = text();
    }
    analysis.warnings.push(Warning::new(WarningId::Errors, text(), text()));
}

fn spoil_made(rig: &mut RigRecord, hostile: &str) {
    let text = || Some(hostile.to_owned());
    rig.device = text();
    rig.mkfs = text();
    rig.mkfs_version = text();
    rig.mount_options = text();
    if let Some(trace) = &mut rig.trace {
        trace.path = hostile.into();
    }
    rig.server = Some(plimsoll_record::ServerRecord {
        members: Vec::new(),
        program: hostile.into(),
        version: text(),
        command: hostile.to_owned(),
        user: text(),
        log: Some(hostile.into()),
    });
}

#[test]
fn a_search_without_points_was_measured() {
    let (record, mut analysis) = sample::experiment(&Shape::safe_load());
    for curve in &mut analysis.curves {
        curve.points.clear();
    }
    let absent = ["Nothing was measured yet", "No point was measured"];
    let html = rendered(&record, &analysis);
    check(&html);
    assert!(html.contains("Plimsoll line"));
    for sentence in absent {
        assert!(!html.contains(sentence), "{sentence}");
    }
    analysis.lines.clear();
    let html = rendered(&record, &analysis);
    for sentence in absent {
        assert!(html.contains(sentence), "{sentence}");
    }
}

#[test]
fn odd_experiments_still_say_something_true() {
    let nothing = Shape {
        arms: Vec::new(),
        sessions: Vec::new(),
        mixes: Vec::new(),
        blocks: 0,
        seconds: 0,
        slices: false,
        watched: false,
        decided: false,
    };
    let (record, mut analysis) = sample::experiment(&nothing);
    analysis.headline.clear();
    analysis.warnings.clear();
    analysis.validity.clear();
    analysis.differences.clear();
    let html = rendered(&record, &analysis);
    check(&html);
    for sentence in [
        "There is no verdict.",
        "no arms",
        "No point was measured",
        "no seconds to draw",
        "No block was begun",
    ] {
        assert!(html.contains(sentence), "{sentence}");
    }
    for shape in [
        Shape::of(1, 4, 1, 6, 4),
        Shape::of(1, 1, 1, 1, 1),
        Shape::of(2, 0, 1, 6, 0),
        Shape::of(3, 1, 2, 6, 2),
        Shape::of(2, 3, 0, 6, 2),
    ] {
        let (record, analysis) = sample::experiment(&shape);
        let html = rendered(&record, &analysis);
        check(&html);
        assert_eq!(html.contains("One arm alone is compared with nothing"), shape.arms.len() == 1);
    }
}

#[test]
fn numbers_that_are_none_are_never_printed() {
    let (record, mut analysis) = small();
    let broken = Estimate {
        median: Some(f64::NAN),
        interval: Some((f64::NEG_INFINITY, f64::INFINITY)),
        values: vec![(0, f64::NAN), (1, f64::INFINITY)],
    };
    for curve in &mut analysis.curves {
        for point in &mut curve.points {
            point.throughput = broken.clone();
            point.response.p99 = broken.clone();
            point.cpu_per_operation = broken.clone();
        }
        if let Some(law) = &mut curve.scalability {
            law.residuals = vec![(1.0, 0.0, 0.0)];
            law.kappa = f64::NAN;
        }
    }
    let (_, mut watched) = watched();
    for (curve, other) in analysis.curves.iter_mut().zip(&mut watched.curves) {
        for (point, other) in curve.points.iter_mut().zip(&mut other.points) {
            other.figures.median.page_cache_hit_ratio = Some(f64::NAN);
            other.figures.median.device_queue = Some(f64::INFINITY);
            point.figures = other.figures.clone();
            point.cause = other.cause.clone();
            for check in point.cause.iter_mut().flat_map(|cause| &mut cause.identities) {
                check.at_most = f64::INFINITY;
                check.ratio = f64::NAN;
            }
        }
    }
    for (series, other) in analysis.series.iter_mut().zip(&watched.series) {
        series.figures = other.figures.clone();
        for figures in series.figures.iter_mut().skip(1) {
            figures.device_read_ns = Some(f64::NAN);
            figures.machine_busy = Some(f64::INFINITY);
            figures.device_reads_per_second = None;
        }
    }
    for comparison in &mut analysis.comparisons {
        comparison.verdict.estimate = Some(f64::NAN);
        comparison.verdict.interval = Some((-1.0, f64::INFINITY));
        comparison.verdict.smallest_visible = Some(f64::NAN);
    }
    for series in &mut analysis.series {
        series.seconds[2].throughput = f64::NAN;
        series.seconds[3].throughput = f64::INFINITY;
    }
    check(&rendered(&record, &analysis));
}

#[test]
fn numbers_that_are_none_are_never_printed_of_what_was_decided() {
    for broken in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0] {
        let (record, mut analysis) = decided();
        sample::against_itself(&mut analysis);
        let estimate = Estimate {
            median: Some(broken),
            interval: Some((broken, broken)),
            values: vec![(0, broken), (u32::MAX, 1.0)],
        };
        for line in &mut analysis.lines {
            line.lower = Some(broken);
            line.rate = estimate.clone();
            for block in &mut line.blocks {
                block.upper = Some(broken);
                for trial in block.trials.iter_mut().step_by(2) {
                    trial.rate = broken;
                    trial.achieved = Some(broken);
                }
                for trial in block.trials.iter_mut().skip(1).step_by(2) {
                    trial.p99_ns = Some(broken);
                    trial.seconds = broken;
                }
            }
        }
        for cost in &mut analysis.costs {
            cost.per_hour = broken;
            cost.at_line = Some(estimate.clone());
            cost.at_knee = Some(("4 threads".into(), estimate.clone()));
        }
        for one in &mut analysis.repeatability {
            one.values = estimate.clone();
            one.spread = broken;
            one.spread_interval = (broken, broken);
            one.trend = Some(broken);
        }
        for needed in &mut analysis.blocks_needed {
            needed.half_width = broken;
            needed.reached = None;
        }
        if let Some(drift) = &mut analysis.drift {
            drift.allowed = (broken, broken);
            drift.cpu[0].2 = broken;
            drift.disk.truncate(1);
            drift.disk[0].2 = broken;
            drift.marked.push(u32::MAX);
        }
        for curve in &mut analysis.curves {
            if let Some(knee) = &mut curve.knee {
                knee.range = (broken, broken);
            }
        }
        check(&rendered(&record, &analysis));
    }
}

mod slow {
    use super::*;

    #[test]
    fn hostile_strings_stay_text() {
        for hostile in [
            "</title></style></script><script>alert(1)</script>".to_owned(),
            "\" onload=\"alert(1)\" x='".to_owned(),
            "a\0b\x1b[2Jc\u{9b}d\u{202e}e\u{2066}f\r\ng".to_owned(),
            "&amp;&#60;script&#62;".to_owned(),
            "<".repeat(1000),
            "Ж语ع🐟".repeat(250),
        ] {
            let (mut record, mut analysis) = small();
            spoil(&mut record, &mut analysis, &hostile);
            check(&rendered(&record, &analysis));
            let (mut record, mut analysis) = sample::experiment(&Shape {
                sessions: vec![16],
                seconds: 4,
                ..Shape::twelve_arms()
            });
            spoil(&mut record, &mut analysis, &hostile);
            let html = rendered(&record, &analysis);
            check(&html);
            assert!(html.contains("id=\"why\"") && html.contains("plimsoll disk trace"));
            let (mut record, mut analysis) = decided();
            sample::against_itself(&mut analysis);
            spoil(&mut record, &mut analysis, &hostile);
            let html = rendered(&record, &analysis);
            check(&html);
            let (mut record, mut analysis) = with_tails(true);
            spoil(&mut record, &mut analysis, &hostile);
            for run in &mut record.runs {
                run.state = RunState::Finished;
            }
            let page = rendered(&record, &analysis);
            check(&page);
            assert!(page.contains("id=\"percentiles\""));
            for id in ["line", "cost", "blocks", "drift"] {
                assert!(html.contains(&format!("id=\"{id}\"")), "{id}");
            }
        }
    }

    #[test]
    fn large_experiments_stay_within_the_bound_and_say_what_is_left_out() {
        let mut large = vec![
            (Shape::of(200, 5, 2, 8, 12), "16 arms stand out"),
            (Shape::of(2, 250, 2, 8, 12), "are left out"),
            (Shape::of(10, 5, 20, 8, 400), "of 20 mixes"),
            (Shape { watched: true, ..Shape::of(12, 40, 2, 6, 300) }, "all are in figures.csv"),
            (Shape { decided: true, ..Shape::of(12, 6, 6, 20, 60) }, "all are in trials.csv"),
        ];
        for arm in &mut large[0].0.arms {
            *arm = format!("{arm}{}", "<long name>".repeat(90));
        }
        for (shape, said) in large {
            let (record, analysis) = sample::experiment(&shape);
            let html = rendered(&record, &analysis);
            check(&html);
            assert!(html.contains(said), "{said}");
        }
    }
}
