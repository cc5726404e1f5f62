//! Everything wrong with a document, shown at once: each mistake underlined, with what to do.

use crate::document::source::{SourceText, Span};
use crate::mistake::Mistake;
use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError,
    MietteSpanContents, SourceCode, SourceSpan, SpanContents,
};
use plimsoll_record::redact::{covered, line, lines, redact, visible};
use serde_json::{Value, json};
use std::fmt;

/// More are counted, not kept.
const MOST_KEPT: usize = 100;

/// One mistake with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The key that it concerns, with dots: `arms.small.cache_size`. Empty for the file as a whole.
    pub path: String,
    pub mistake: Mistake,
    place: Option<Span>,
    /// The other place, where something occurs twice.
    first: Option<Span>,
}

/// Everything wrong with one document.
#[derive(Clone, Debug)]
pub struct Problems {
    file_name: String,
    source: SourceText,
    list: Vec<Problem>,
    left_out: usize,
}

/// Gathers problems while a document is read.
pub struct Collector<'s> {
    /// The text that is read.
    pub source: &'s SourceText,
    list: Vec<Problem>,
    left_out: usize,
}

impl<'s> Collector<'s> {
    pub fn new(source: &'s SourceText) -> Self {
        Self { source, list: Vec::new(), left_out: 0 }
    }

    /// A mistake in the value of a key; without a place it concerns the document as a whole.
    pub fn add(&mut self, path: &str, place: Option<Span>, mistake: Mistake) {
        self.push(Problem { path: path.to_owned(), mistake, place, first: None });
    }

    /// Something that is at two places.
    pub fn add_twice(&mut self, path: &str, second: Span, first: Span, mistake: Mistake) {
        self.push(Problem {
            path: path.to_owned(),
            mistake,
            place: Some(second),
            first: Some(first),
        });
    }

    fn push(&mut self, problem: Problem) {
        // One value may be read several times, such as the defaults once for every arm.
        if self
            .list
            .iter()
            .any(|known| known.place == problem.place && known.mistake == problem.mistake)
        {
            return;
        }
        if self.list.len() < MOST_KEPT {
            self.list.push(problem);
        } else {
            self.left_out += 1;
        }
    }

    /// How many mistakes there are so far.
    pub fn count(&self) -> usize {
        self.list.len() + self.left_out
    }

    /// Whether nothing is wrong so far.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All of them, in the order of the file.
    pub fn finish(mut self, file_name: &str) -> Problems {
        self.list.sort_by_key(|problem| {
            problem.place.map_or((usize::MAX, 0), |place| (place.start, place.end))
        });
        Problems {
            file_name: file_name.chars().map(|c| if c.is_control() { '?' } else { c }).collect(),
            source: self.source.clone(),
            list: self.list,
            left_out: self.left_out,
        }
    }
}

impl Problems {
    /// The problems, in the order of the file; those that have no place come last.
    pub fn list(&self) -> &[Problem] {
        &self.list
    }

    /// How many there are, those left out of [`Self::list`] included.
    pub fn count(&self) -> usize {
        self.list.len() + self.left_out
    }

    /// Line and column of a problem as editors count, from 1.
    pub fn position(&self, problem: &Problem) -> Option<(u32, u32)> {
        problem.place.map(|place| (self.source.line(place.start), self.source.column(place.start)))
    }

    /// For people: each problem with its lines, underlined, and with what to do; at most `width` columns but for the lines themselves.
    pub fn render(&self, color: bool, width: usize) -> String {
        let theme =
            if color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
        let handler =
            GraphicalReportHandler::new_themed(theme).with_width(width.max(40)).with_links(false);
        let excerpt = Excerpt {
            name: &line(&self.file_name),
            shown: shown(&covered(self.source.text())),
            source: &self.source,
        };
        let mut text = String::new();
        for problem in &self.list {
            let mut screen = String::new();
            let diagnostic =
                RenderedProblem { problem, excerpt: &excerpt, headline: self.headline(problem) };
            if handler.render_report(&mut screen, &diagnostic).is_err() {
                screen = self.line_of(problem);
            }
            for line in screen.trim_matches('\n').lines() {
                text.push_str(line.trim_end());
                text.push('\n');
            }
            text.push('\n');
        }
        text.push_str(&self.summary());
        text.push('\n');
        text
    }

    pub fn to_json(&self) -> Value {
        let list: Vec<Value> = self
            .list
            .iter()
            .map(|problem| {
                let position = self.position(problem);
                json!({
                    "code": problem.mistake.code(),
                    "path": problem.path,
                    "line": position.map(|(line, _)| line),
                    "column": position.map(|(_, column)| column),
                    "message": redact(&problem.mistake.to_string()),
                    "help": problem.mistake.help(),
                })
            })
            .collect();
        json!({ "file": self.file_name, "count": self.count(), "problems": list })
    }

    fn headline(&self, problem: &Problem) -> String {
        let text = if problem.path.is_empty() {
            problem.mistake.to_string()
        } else {
            format!("{}: {}", problem.path, problem.mistake)
        };
        lines(&redact(&text)).into_owned()
    }

    /// For people, in one line, with the file and the place.
    pub(crate) fn line_of(&self, problem: &Problem) -> String {
        let mut line = self.file_name.clone();
        if let Some((row, column)) = self.position(problem) {
            line.push_str(&format!(":{row}:{column}"));
        }
        line.push_str(": ");
        line.push_str(&self.headline(problem));
        if let Some(help) = problem.mistake.help() {
            line.push_str("; ");
            line.push_str(&help);
        }
        line
    }

    fn summary(&self) -> String {
        let count = self.count();
        let things = if count == 1 { "problem" } else { "problems" };
        let left_out = if self.left_out > 0 {
            format!(" ({} not shown)", self.left_out)
        } else {
            String::new()
        };
        format!("{count} {things} in {}{left_out}: nothing was run", line(&self.file_name))
    }
}

/// One line for each problem, as compilers write them.
impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in &self.list {
            writeln!(f, "{}", self.line_of(problem))?;
        }
        f.write_str(&self.summary())
    }
}

impl std::error::Error for Problems {}

/// A problem in the form that the renderer takes.
#[derive(Debug)]
struct RenderedProblem<'p> {
    problem: &'p Problem,
    excerpt: &'p Excerpt<'p>,
    headline: String,
}

impl fmt::Display for RenderedProblem<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.headline)
    }
}

impl std::error::Error for RenderedProblem<'_> {}

impl Diagnostic for RenderedProblem<'_> {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.problem
            .mistake
            .help()
            .map(|help| Box::new(lines(&help).into_owned()) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.problem.place.map(|_| self.excerpt as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let place = self.excerpt.in_one_line(self.problem.place?);
        let main = LabeledSpan::new_primary_with_span(None, (place.start, place.end - place.start));
        let mut labels = vec![main];
        // Two places far apart in one long line would show all that is between them.
        if let Some(first) =
            self.problem.first.filter(|first| !self.excerpt.far_apart_in_line(*first, place))
        {
            let first = self.excerpt.in_one_line(first);
            labels.insert(0, LabeledSpan::at((first.start, first.end - first.start), "first here"));
        }
        Some(Box::new(labels.into_iter()))
    }
}

/// Bytes of a long line that are shown around what is wrong.
const LONG_LINE: usize = 160;

/// The text as the renderer asks for it: only the lines around a problem, and only a part of a long one.
#[derive(Debug)]
struct Excerpt<'p> {
    name: &'p str,
    shown: String,
    source: &'p SourceText,
}

impl Excerpt<'_> {
    /// The part of a place that is in its first line and not longer than a line of a screen; never empty but at an end of line.
    fn in_one_line(&self, place: Span) -> Span {
        let (line_start, line_end) = self.source.line_bounds(self.source.line_index(place.start));
        let start = place.start.clamp(line_start, line_end);
        let written = self.shown[start..place.end.clamp(start, line_end)].trim_end();
        let end = floor_char_boundary(&self.shown, start + written.len().min(LONG_LINE / 2));
        Span { start, end }
    }

    fn far_apart_in_line(&self, one: Span, other: Span) -> bool {
        one.start.abs_diff(other.start) > LONG_LINE
            && self.source.line_index(one.start).abs_diff(self.source.line_index(other.start)) <= 3
    }
}

impl SourceCode for Excerpt<'_> {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        lines_before: usize,
        lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let (from, to) = (
            span.offset().min(self.shown.len()),
            (span.offset() + span.len()).min(self.shown.len()),
        );
        let (first_line, last_line) = (self.source.line_index(from), self.source.line_index(to));
        let top = first_line.saturating_sub(lines_before);
        let bottom = (last_line + lines_after).min(self.source.line_count() - 1);
        let bounds = |line| self.source.line_bounds(line);
        let long = (top..=bottom).any(|line| bounds(line).1 - bounds(line).0 > LONG_LINE);
        let (start, end) = if lines_before + lines_after == 0 {
            // Only the position is needed.
            (from, to)
        } else if long {
            let start = from.saturating_sub(LONG_LINE / 2).max(bounds(first_line).0);
            (
                floor_char_boundary(&self.shown, start),
                floor_char_boundary(&self.shown, (to + LONG_LINE / 2).min(bounds(last_line).1)),
            )
        } else {
            (bounds(top).0, bounds(bottom).1)
        };
        let line = self.source.line_index(start);
        let column = self.shown[bounds(line).0..start].chars().count();
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.to_owned(),
            &self.shown.as_bytes()[start..end],
            SourceSpan::from((start, end - start)),
            line,
            column,
            self.source.line_index(end) - line + 1,
        )))
    }
}

fn floor_char_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The text without anything that a terminal would obey, byte for byte in the same places.
fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            '\r' => shown.push(' '),
            _ if visible(c) != c => shown.extend(std::iter::repeat_n('?', c.len_utf8())),
            _ => shown.push(c),
        }
    }
    shown
}
