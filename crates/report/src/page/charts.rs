//! The charts of a page as pictures of their own, for a talk or a text: SVG with its title, its legend and its colours in it, as it looks on white paper.
//!
//! They are taken from the page, so that both show the same. Programs that draw SVG know less of style sheets than browsers, so variables are
//! resolved, and no selector is used but classes, names of elements and one within the other.

use crate::page::chart::Px;
use crate::page::experiment::render;
use crate::page::shell::STYLE;
use crate::{Report, text};
use maud::{PreEscaped, html};
use std::collections::BTreeSet;
use std::sync::LazyLock;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chart {
    /// A plain name, unique on its page: `load-0-rate`.
    pub name: String,
    pub title: String,
    /// The picture, a whole SVG file.
    pub svg: String,
}

const EDGE: f64 = 14.0;
/// From one line of words above the chart to the next.
const LINE: f64 = 20.0;
/// Average width of a letter, px.
const LETTER: f64 = 6.8;
/// The same in the heading.
const HEADING_LETTER: f64 = 9.0;
/// Width of the mark before a name in the legend, with the gap behind it.
const MARK: f64 = 36.0;
const GAP: f64 = 22.0;

/// All charts of the page of an experiment, in their order.
pub fn charts(report: &Report<'_>) -> Vec<Chart> {
    let page = render(report);
    let about = format!(
        "{} · {} · {}",
        text::short(&report.record.name, 60),
        text::short(&report.record.id, 24),
        report.record.started_at.get(..10).unwrap_or_default()
    );
    let mut charts = Vec::new();
    let mut at = 0;
    while let Some(begin) = page[at..].find(CHART).map(|place| at + place) {
        let Some(end) = page[begin..].find("</svg>").map(|place| begin + place) else {
            break;
        };
        let drawing = Drawing::parse(&page[begin..end]);
        charts.extend(drawing.map(|drawing| drawing.alone(&legend_before(&page[..begin]), &about)));
        at = end;
    }
    charts
}

const CHART: &str = "<svg class=\"chart ";

/// What is between two texts, the first time that they come.
fn between<'a>(text: &'a str, begin: &str, end: &str) -> Option<&'a str> {
    let rest = &text[text.find(begin)? + begin.len()..];
    Some(&rest[..rest.find(end)?])
}

/// A chart as it stands on the page.
struct Drawing<'a> {
    name: &'a str,
    class: &'a str,
    title: &'a str,
    size: (f64, f64),
    /// Everything within it, but its title.
    content: &'a str,
}

impl<'a> Drawing<'a> {
    /// `text` reaches from the begin of its element to before the end.
    fn parse(text: &'a str) -> Option<Self> {
        let name = between(text, "aria-labelledby=\"", "-t ")?;
        let size = between(text, "viewBox=\"0 0 ", "\"")?;
        let (width, height) = size.split_once(' ')?;
        let title = between(text, "<title", "</title>")?;
        let content = &text[text.find("</title>")? + "</title>".len()..];
        Some(Self {
            name,
            class: between(text, CHART, "\"")?,
            title: title.split_once('>')?.1,
            size: (width.parse().ok()?, height.parse().ok()?),
            content,
        })
    }

    /// With its title and those lines of the legend that it draws.
    fn alone(&self, legend: &[LegendEntry<'_>], about: &str) -> Chart {
        let mut classes = classes(self.content);
        let lines = legend.iter().filter(|line| classes.contains(line.class));
        let lines: Vec<&LegendEntry<'_>> = lines.collect();
        classes.extend(lines.iter().flat_map(|line| self::classes(line.mark)));
        let width = self.size.0 + 2.0 * EDGE;
        let heading = wrapped(self.title, self.size.0 / HEADING_LETTER);
        let mut places = Vec::new();
        let (mut x, mut y) = (EDGE, EDGE + (1.2 + heading.len() as f64) * LINE);
        for line in &lines {
            let takes = MARK + LETTER * line.letters() as f64;
            if x > EDGE && x + takes > width - EDGE {
                (x, y) = (EDGE, y + LINE);
            }
            places.push((x, y));
            x += takes + GAP;
        }
        let top = if lines.is_empty() { y - 0.4 * LINE } else { y + LINE };
        let height = top + self.size.1 + EDGE;
        let line_of = |number: f64| Px(EDGE + (number + 0.7) * LINE);
        let svg = html! {
            svg xmlns="http://www.w3.org/2000/svg" width=(Px(width)) height=(Px(height)) viewBox={ "0 0 " (Px(width)) " " (Px(height)) } role="img" aria-labelledby="title" {
                title id="title" { (PreEscaped(self.title)) }
                style { (PreEscaped(self.style(&classes))) }
                rect class="paper" width=(Px(width)) height=(Px(height)) {}
                @for (number, line) in heading.iter().enumerate() {
                    text class="heading" x=(Px(EDGE)) y=(line_of(number as f64)) { (PreEscaped(line)) }
                }
                text x=(Px(EDGE)) y=(line_of(heading.len() as f64 - 0.2)) { (about) }
                @for (line, (x, y)) in lines.iter().zip(&places) {
                    g class=(line.class) transform={ "translate(" (Px(*x)) " " (Px(y - 4.0)) ")" } { (PreEscaped(line.mark)) }
                    text class="name" x=(Px(x + MARK)) y=(Px(y + 7.0)) { (PreEscaped(line.name)) }
                }
                g class=(self.class) transform={ "translate(" (Px(EDGE)) " " (Px(top)) ")" } { (PreEscaped(self.content)) }
            }
        };
        Chart {
            name: self.name.to_owned(),
            title: self.title.to_owned(),
            svg: svg.into_string() + "\n",
        }
    }

    /// The style rules that the drawing uses.
    fn style(&self, classes: &BTreeSet<&str>) -> String {
        let is_here = |class: &str| {
            ["paper", "heading", "name"].contains(&class)
                || classes.contains(class)
                || self.class.split(' ').any(|own| own == class)
        };
        let mut style = String::new();
        for rule in STYLE_ALONE.lines() {
            let first = rule.split([',', '{']).next().unwrap_or_default();
            let names = first.split('.').skip(1);
            let mut names = names.map(|name| name.split([' ', '[']).next().unwrap_or_default());
            if names.all(is_here) {
                style.push_str(rule);
                style.push('\n');
            }
        }
        style
    }
}

/// Names of all classes in a drawing.
fn classes(drawing: &str) -> BTreeSet<&str> {
    let lists = drawing.split("class=\"").skip(1);
    let lists = lists.filter_map(|rest| rest.split('"').next());
    lists.flat_map(str::split_whitespace).collect()
}

/// Words in lines of about this many letters.
fn wrapped(text: &str, letters: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if ((line.chars().count() + word.chars().count()) as f64) < letters => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A line of a legend: whose colour, how it is marked, what it is called.
struct LegendEntry<'a> {
    class: &'a str,
    mark: &'a str,
    name: &'a str,
}

impl LegendEntry<'_> {
    fn letters(&self) -> usize {
        // An escaped letter is one of several.
        let escaped = self.name.matches(';').count();
        self.name.chars().count().saturating_sub(3 * escaped)
    }
}

/// The legend that stands before a chart in its section.
fn legend_before(page: &str) -> Vec<LegendEntry<'_>> {
    let section = &page[page.rfind("<section").unwrap_or(0)..];
    let Some(begin) = section.rfind("<ul class=\"legend\"") else {
        return Vec::new();
    };
    let list = &section[begin..];
    let list = list.split("</ul>").next().unwrap_or_default();
    list.split("<svg class=\"swatch ")
        .skip(1)
        .filter_map(|line| {
            let (class, rest) = line.split_once('"')?;
            let (mark, rest) = rest.split_once('>')?.1.split_once("</svg>")?;
            let name = rest.split('<').next().unwrap_or_default().trim();
            (!name.is_empty()).then_some(LegendEntry { class, mark, name })
        })
        .collect()
}

/// The rules of the page's style sheet that charts have, for light paper.
static STYLE_ALONE: LazyLock<String> = LazyLock::new(|| {
    let plain = without_comments(STYLE);
    let rules = rules(&plain);
    let light = rules.iter().find(|(selector, _)| *selector == ":root");
    let mut variables: Vec<(&str, &str)> = Vec::new();
    for declaration in light.map_or("", |(_, body)| body).split(';') {
        if let Some((name, value)) = declaration.trim().split_once(':') {
            variables.push((name, value));
        }
    }
    let mut style = String::new();
    for (selectors, body) in rules {
        let mut body = expanded_font(body);
        for (name, value) in &variables {
            body = body.replace(&format!("var({name})"), value);
        }
        let draws = ["stroke", "fill:", "text-anchor"];
        let draws = draws.iter().any(|word| body.contains(word));
        for selector in split(selectors).into_iter().flat_map(alternatives) {
            let is_of_text = selector.contains("text") || selector.contains(".axis-title");
            let hides = selector.contains(".band") && body.contains("display:none");
            if !is_of_charts(&selector) || !(draws || is_of_text || hides) {
                continue;
            }
            if body.contains("var(--c)") {
                for (class, colour) in colours(&variables) {
                    let body = body.replace("var(--c)", colour);
                    style.push_str(&format!(".{class} {selector},.{class}{selector}{{{body}}}\n"));
                }
            } else if !body.contains("var(") {
                style.push_str(&format!("{selector}{{{body}}}\n"));
            }
        }
    }
    let of = |wanted: &str| {
        let found = variables.iter().find(|(name, _)| *name == wanted);
        found.map_or("", |(_, value)| value)
    };
    style.push_str(&format!(
        ".paper{{fill:{}}}\n.heading{{font-size:15px;font-weight:600;fill:{1}}}\n.name{{fill:{1}}}\n",
        of("--paper"),
        of("--ink")
    ));
    style
});

/// Selectors and declarations of a style sheet, without those for some screens alone.
fn rules(style: &str) -> Vec<(&str, &str)> {
    let mut rules = Vec::new();
    let mut rest = style;
    while let Some((selector, after)) = rest.split_once('{') {
        let selector = selector.trim();
        if selector.starts_with('@') {
            let mut depth = 1;
            let end = after.find(|letter| {
                depth += match letter {
                    '{' => 1,
                    '}' => -1,
                    _ => 0,
                };
                depth == 0
            });
            rest = end.map_or("", |end| &after[end + 1..]);
            continue;
        }
        let Some((body, after)) = after.split_once('}') else {
            break;
        };
        rules.push((selector, body));
        rest = after;
    }
    rules
}

fn without_comments(style: &str) -> String {
    let mut parts = style.split("/*");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str(part.split_once("*/").map_or("", |(_, rest)| rest));
    }
    plain
}

/// At commas that are not in parentheses.
fn split(selectors: &str) -> Vec<&str> {
    let mut depth = 0;
    selectors
        .split(|letter| {
            depth += match letter {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            letter == ',' && depth == 0
        })
        .collect()
}

/// `:is(.a,.b) .c` is `.a .c` and `.b .c`.
fn alternatives(selector: &str) -> Vec<String> {
    match selector.split_once(":is(").map(|(before, rest)| (before, rest.split_once(')'))) {
        Some((before, Some((list, after)))) => {
            list.split(',').map(|one| format!("{before}{one}{after}")).collect()
        }
        _ => vec![selector.to_owned()],
    }
}

/// Whether a selector means something in a chart, and all programs know it.
fn is_of_charts(selector: &str) -> bool {
    let parts = selector.split(' ');
    let mut names = parts.map(|part| part.split(['.', '[']).next().unwrap_or_default());
    let is_drawn = names.all(|name| ["", "svg", "g", "path", "text", "rect"].contains(&name));
    is_drawn
        && !selector.contains([':', '>', '+', '*'])
        && !selector.contains("data-")
        && !selector.contains(".brand")
}

/// `font:12px a,b` in two declarations, as some programs know the shorthand not.
fn expanded_font(body: &str) -> String {
    let declarations = body.split(';').map(|declaration| {
        let font = declaration.trim().strip_prefix("font:");
        match font.and_then(|font| font.split_once(' ')) {
            Some((size, family)) => format!("font-size:{size};font-family:{family}"),
            None => declaration.to_owned(),
        }
    });
    declarations.collect::<Vec<_>>().join(";")
}

/// The classes of arms and levels with their colours.
fn colours<'a>(variables: &[(&'a str, &'a str)]) -> Vec<(String, &'a str)> {
    let mut colours = Vec::new();
    for (name, value) in variables {
        match name.strip_prefix("--c") {
            Some("x") => colours.push(("ax".to_owned(), *value)),
            Some(number) if number.parse::<u8>().is_ok() => {
                colours.push((format!("a{number}"), value));
                colours.push((format!("b{number}"), value));
            }
            _ => {}
        }
    }
    colours
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self as sample, Shape};

    fn of_sample() -> Vec<Chart> {
        let (record, analysis) = sample::experiment(&Shape::quickstart());
        let report = Report { record: &record, analysis: &analysis };
        charts(&report)
    }

    #[test]
    fn every_chart_of_the_page_is_a_file() {
        let (record, analysis) = sample::experiment(&Shape::quickstart());
        let report = Report { record: &record, analysis: &analysis };
        let on_page = render(&report).matches(CHART).count();
        let charts = charts(&report);
        assert_eq!(charts.len(), on_page);
        assert!(charts.len() > 4, "{}", charts.len());
        let names: BTreeSet<&str> = charts.iter().map(|chart| chart.name.as_str()).collect();
        assert_eq!(names.len(), charts.len());
        for chart in &charts {
            let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
            assert!(chart.name.chars().all(is_plain), "{}", chart.name);
            let document = roxmltree::Document::parse(&chart.svg).unwrap();
            let root = document.root_element();
            assert_eq!(root.tag_name().namespace(), Some("http://www.w3.org/2000/svg"));
            let title = root.children().find(|child| child.has_tag_name("title"));
            assert!(!chart.title.is_empty() && title.is_some());
        }
    }

    #[test]
    fn arms_are_named_in_their_colours() {
        let (record, analysis) = sample::experiment(&Shape::quickstart());
        let charts = of_sample();
        let load = charts.iter().find(|chart| chart.name == "load-0-rate").unwrap();
        for arm in &analysis.arms {
            let name = format!(">{}</text>", arm.name);
            assert_eq!(load.svg.matches(&name).count(), 1, "{}", arm.name);
        }
        assert!(load.svg.contains(&record.id));
        // Colours of the light style, and nothing that only browsers know.
        assert!(load.svg.contains("stroke:#1c69b0"), "{}", load.svg);
        for chart in &charts {
            for unknown in ["var(", ":is(", ":root", "@media", "font:"] {
                assert!(!chart.svg.contains(unknown), "{unknown}");
            }
        }
    }

    #[test]
    fn style_sheets_are_taken_apart() {
        let plain =
            without_comments("a{b:c}/* d{ */.e,.f .g{h:i}@media x{:root{j:k}l{m:n}}.o{p:q}");
        let found = rules(&plain);
        assert_eq!(found, [("a", "b:c"), (".e,.f .g", "h:i"), (".o", "p:q")]);
        assert_eq!(split(":is(.a,.b) .c,.d"), [":is(.a,.b) .c", ".d"]);
        assert_eq!(alternatives(":is(.a,.b) .c"), [".a .c", ".b .c"]);
        assert_eq!(expanded_font("font:12px a,b;fill:c"), "font-size:12px;font-family:a,b;fill:c");
    }
}
