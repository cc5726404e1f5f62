//! What a reader gets of a page, for snapshots: the text, the figures of tables, and of each chart its title, labels, values and what is drawn; no coordinates.

use std::collections::BTreeMap;

/// Elements that begin a line of their own.
const BLOCKS: [&str; 25] = [
    "header",
    "main",
    "section",
    "nav",
    "article",
    "footer",
    "div",
    "p",
    "h1",
    "h2",
    "h3",
    "ul",
    "ol",
    "li",
    "dl",
    "dt",
    "table",
    "tr",
    "figure",
    "figcaption",
    "details",
    "summary",
    "pre",
    "form",
    "label",
];

#[derive(Default)]
struct Picture {
    name: String,
    /// Its title, its description, and the titles of what is in it.
    titles: Vec<String>,
    /// Texts that are drawn, in their order.
    labels: Vec<String>,
    /// How many shapes there are of each class.
    shapes: BTreeMap<String, usize>,
}

#[derive(Default)]
struct TextView {
    lines: Vec<String>,
    line: String,
    picture: Option<Picture>,
    /// The elements that are open in the picture.
    within: Vec<String>,
    link: Option<String>,
    /// Whether a cell of a table is open, which is one line whatever is in it.
    in_cell: bool,
}

/// The text of HTML that this crate wrote.
pub(crate) fn shown(html: &str) -> String {
    let mut shown = TextView::default();
    let mut rest = html;
    while let Some((text, more)) = rest.split_once('<') {
        shown.text(&unescaped(text));
        let (tag, more) = more.split_once('>').expect("tags are closed");
        rest = more;
        if tag.starts_with("script") {
            let (data, more) = more.split_once("</script>").expect("scripts are closed");
            if tag.contains("chart-data") {
                shown.values(data);
            }
            rest = more;
        } else if let Some(name) = tag.strip_prefix('/') {
            shown.end(name);
        } else {
            shown.begin(tag);
        }
    }
    shown.text(&unescaped(rest));
    shown.break_line();
    shown.lines.join("\n")
}

impl TextView {
    fn break_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        if line == "- " {
            self.line = line;
        } else if !line.trim().is_empty() {
            self.lines.push(line.trim_end().to_owned());
        }
    }

    fn text(&mut self, text: &str) {
        let Some(picture) = &mut self.picture else {
            self.line.push_str(text);
            return;
        };
        match self.within.last().map(String::as_str) {
            Some("title" | "desc") => picture.titles.push(text.to_owned()),
            Some("text") if !text.is_empty() => picture.labels.push(text.to_owned()),
            _ => {}
        }
    }

    fn begin(&mut self, tag: &str) {
        let name = tag.split([' ', '/']).next().unwrap_or_default();
        let class = attribute(tag, "class").unwrap_or_default();
        if let Some(picture) = &mut self.picture {
            self.within.push(name.to_owned());
            let is_shape = matches!(name, "path" | "circle" | "rect" | "image");
            if is_shape && !class.is_empty() {
                *picture.shapes.entry(class).or_default() += 1;
            }
            return;
        }
        if BLOCKS.contains(&name) && !self.in_cell {
            self.break_line();
        } else if !self.line.ends_with([' ', '★']) && !self.line.is_empty() {
            self.line.push(' ');
        }
        if let Some(label) = attribute(tag, "aria-label") {
            self.line.push_str(&format!("[{label}] "));
        }
        match name {
            "svg" => self.picture = Some(Picture { name: class, ..Picture::default() }),
            "h1" | "h2" | "h3" => self
                .line
                .push_str(&format!("{} ", "#".repeat(usize::from(name.as_bytes()[1] - b'0')))),
            "li" => self.line.push_str("- "),
            "td" | "th" => {
                let is_first = self.line.is_empty();
                self.line.push_str(if is_first { "" } else { "| " });
                self.in_cell = true;
            }
            "dd" => self.line.push_str(": "),
            "a" => self.link = attribute(tag, "href"),
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        if name == "svg" {
            self.within.clear();
            if let Some(picture) = self.picture.take() {
                self.draw(&picture);
            }
        } else if self.picture.is_some() {
            self.within.pop();
        } else if matches!(name, "td" | "th") {
            self.in_cell = false;
        } else if BLOCKS.contains(&name) && name != "dt" && !self.in_cell {
            self.break_line();
        } else if name == "a"
            && let Some(link) = self.link.take()
        {
            self.line.push_str(&format!(" <{link}>"));
        }
    }

    /// Charts have lines of their own; small pictures stand in the text.
    fn draw(&mut self, picture: &Picture) {
        let shapes: Vec<String> =
            picture.shapes.iter().map(|(class, count)| format!("{count} {class}")).collect();
        let (shapes, labels) = (shapes.join(", "), picture.labels.join(" · "));
        if picture.name.starts_with("swatch") || shapes.is_empty() && labels.is_empty() {
            return;
        }
        if !picture.name.starts_with("chart") {
            self.line.push_str(&format!(
                "[{}: {}] ",
                picture.name,
                [labels, shapes].join(" ").trim()
            ));
            return;
        }
        self.break_line();
        for (place, title) in picture.titles.iter().enumerate() {
            let indent = if place == 0 { "[chart]" } else { "   " };
            self.lines.push(format!("{indent} {title}"));
        }
        self.lines.push(format!("    labels: {labels}"));
        self.lines.push(format!("    drawn: {shapes}"));
    }

    /// What a chart says under a cursor.
    fn values(&mut self, data: &str) {
        let data: serde_json::Value = serde_json::from_str(data).expect("the values are JSON");
        let list = |values: &serde_json::Value| {
            let values = values.as_array().into_iter().flatten();
            let words =
                values.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
            words.collect::<Vec<String>>().join(" ")
        };
        for key in ["x", "labels"].into_iter().filter(|key| !data[key].is_null()) {
            self.lines.push(format!("    {key}: {}", list(&data[key])));
        }
        for series in data["series"].as_array().into_iter().flatten() {
            let word = |key: &str| series[key].as_str().unwrap_or_default().to_owned();
            let mut line =
                format!("    {} {}: {}", word("name"), word("unit"), list(&series["values"]));
            for key in ["low", "high"] {
                if !series[key].is_null() {
                    line.push_str(&format!(" {key}: {}", list(&series[key])));
                }
            }
            self.lines.push(line);
        }
    }
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    rest.split_once('"').map(|(value, _)| unescaped(value))
}

fn unescaped(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    text.replace("&quot;", "\"").replace("&amp;", "&")
}
