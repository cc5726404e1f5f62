//! YAML as a tree in which every key and value knows its place.
//!
//! The parser's events are read one by one, so that size, nesting, aliases and the number of values are bounded while reading.
//! Scalars stay text: what `1_000` or `no` means is decided by the key that it belongs to.

use crate::document::problems::Collector;
use crate::document::source::Span;
use crate::mistake::Mistake;
use saphyr_parser::{Event, Parser, ScalarStyle, Tag};
use std::collections::HashMap;

/// The most bytes of a document.
pub const MOST_BYTES: usize = 1 << 20;
/// Lists and maps inside each other.
pub(crate) const MOST_NESTING: usize = 32;
/// Values of a file, those repeated by aliases counted each time.
pub(crate) const MOST_VALUES: usize = 50_000;
/// Bytes of text that take as much memory as a value.
const BYTES_OF_A_VALUE: usize = 64;

#[derive(Clone, Debug)]
pub struct Node {
    pub place: Span,
    pub kind: Kind,
    /// Whether a text stands in quotes or in lines of its own, and is no number whatever it looks like.
    pub quoted: bool,
}

/// What a value is. Scalars stay text.
#[derive(Clone, Debug)]
pub enum Kind {
    Null,
    /// Text, a number or a flag, as written.
    Scalar(String),
    /// Values in brackets or with dashes.
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// One key with its value. The keys of a map differ.
#[derive(Clone, Debug)]
pub struct Entry {
    pub key: String,
    /// Where the key is written.
    pub key_place: Span,
    pub value: Node,
}

impl Node {
    /// The entries of a map; none of anything else.
    pub fn entries(&self) -> &[Entry] {
        if let Kind::Map(entries) = &self.kind { entries } else { &[] }
    }

    /// What it is, for a message.
    pub fn kind_words(&self) -> &'static str {
        match self.kind {
            Kind::Null => "nothing",
            Kind::Scalar(_) => "text",
            Kind::List(_) => "a list",
            Kind::Map(_) => "a map of keys and values",
        }
    }

    /// Values in it, itself included, and how deep lists and maps go in it.
    fn measure(&self) -> (usize, usize) {
        let (mut count, mut deepest) = (1, 0);
        let mut add = |node: &Node| {
            let (values, depth) = node.measure();
            count += values;
            deepest = deepest.max(depth + 1);
        };
        match &self.kind {
            Kind::Null => return (1, 0),
            Kind::Scalar(text) => return (weight(text), 0),
            Kind::List(items) => items.iter().for_each(&mut add),
            Kind::Map(entries) => entries.iter().for_each(|entry| add(&entry.value)),
        }
        (count, deepest.max(1))
    }
}

/// As how many values a text counts: long ones, which aliases can repeat, take as much memory as many short ones.
fn weight(text: &str) -> usize {
    1 + text.len() / BYTES_OF_A_VALUE
}

/// A list or map that is being read.
struct Open {
    start: Span,
    anchor: usize,
    kind: OpenKind,
}

enum OpenKind {
    List(Vec<Node>),
    Map {
        entries: Vec<Entry>,
        /// The key that waits for its value.
        waiting: Option<(String, Span)>,
        seen: HashMap<String, Span>,
    },
}

/// Reads the text of a document; `None` if the text is no document; the problems say why.
pub fn read(text: &str, problems: &mut Collector<'_>) -> Option<Node> {
    if text.len() > MOST_BYTES {
        problems.add("", None, Mistake::FileTooLarge { bytes: text.len(), most: MOST_BYTES });
        return None;
    }
    let offsets = ByteOffsets::new(text);
    let mut tree = TreeBuilder {
        open: Vec::new(),
        anchors: HashMap::new(),
        values: 0,
        root: None,
        documents: 0,
    };
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let result = match event {
            Ok((event, span)) => tree.take(event, offsets.place(span), problems),
            Err(error) => {
                let place = offsets.place(saphyr_parser::Span::empty(*error.marker()));
                Err((place, Mistake::Syntax { what: error.info().to_owned() }))
            }
        };
        if let Err((place, mistake)) = result {
            problems.add("", Some(place), mistake);
            return None;
        }
    }
    let root = tree.root.take();
    if root.is_none() {
        problems.add("", None, Mistake::EmptyFile);
    }
    root
}

struct TreeBuilder {
    open: Vec<Open>,
    /// Finished values that an alias can repeat, by the parser's number.
    anchors: HashMap<usize, Node>,
    values: usize,
    root: Option<Node>,
    documents: usize,
}

type Refusal = (Span, Mistake);

impl TreeBuilder {
    /// Takes one event. What only spoils a part is added to `problems`; what spoils the whole is returned.
    fn take(
        &mut self,
        event: Event<'_>,
        place: Span,
        problems: &mut Collector<'_>,
    ) -> Result<(), Refusal> {
        match event {
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err((place, Mistake::SecondDocument));
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                if let Some(tag) = tag {
                    let tag = tag_text(&tag);
                    problems.add("", Some(place), Mistake::Tag { tag });
                }
                let null = style == ScalarStyle::Plain
                    && matches!(&*text, "" | "~" | "null" | "Null" | "NULL");
                let kind = if null { Kind::Null } else { Kind::Scalar(text.into_owned()) };
                let quoted = style != ScalarStyle::Plain;
                self.finish(Node { place, kind, quoted }, anchor, problems)?;
            }
            Event::SequenceStart(anchor, tag) => {
                if let Some(tag) = tag {
                    let tag = tag_text(&tag);
                    problems.add("", Some(place), Mistake::Tag { tag });
                }
                self.begin(Open { start: place, anchor, kind: OpenKind::List(Vec::new()) })?;
            }
            Event::MappingStart(anchor, tag) => {
                if let Some(tag) = tag {
                    let tag = tag_text(&tag);
                    problems.add("", Some(place), Mistake::Tag { tag });
                }
                let kind =
                    OpenKind::Map { entries: Vec::new(), waiting: None, seen: HashMap::new() };
                self.begin(Open { start: place, anchor, kind })?;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(open) = self.open.pop() else {
                    return Ok(());
                };
                let kind = match open.kind {
                    OpenKind::List(items) => Kind::List(items),
                    OpenKind::Map { entries, .. } => Kind::Map(entries),
                };
                let place = Span { start: open.start.start, end: place.end.max(open.start.end) };
                self.finish(Node { place, kind, quoted: false }, open.anchor, problems)?;
            }
            Event::Alias(anchor) => {
                // The parser knows the name, but a value cannot hold itself.
                let Some(node) = self.anchors.get(&anchor).cloned() else {
                    return Err((place, Mistake::AliasOfItself));
                };
                let (values, depth) = node.measure();
                self.values += values;
                if self.open.len() + depth > MOST_NESTING {
                    return Err((place, Mistake::TooDeep { most: MOST_NESTING }));
                }
                self.finish(node, 0, problems)?;
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
        Ok(())
    }

    fn begin(&mut self, open: Open) -> Result<(), Refusal> {
        if self.open.len() >= MOST_NESTING {
            return Err((open.start, Mistake::TooDeep { most: MOST_NESTING }));
        }
        self.open.push(open);
        Ok(())
    }

    /// Puts a finished value where it belongs.
    fn finish(
        &mut self,
        node: Node,
        anchor: usize,
        problems: &mut Collector<'_>,
    ) -> Result<(), Refusal> {
        self.values += match &node.kind {
            Kind::Scalar(text) => weight(text),
            _ => 1,
        };
        if self.values > MOST_VALUES {
            return Err((node.place, Mistake::TooManyValues { most: MOST_VALUES }));
        }
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
            // The copy that is kept for aliases is counted as well: it takes as much memory.
            self.values += node.measure().0;
        }
        match self.open.last_mut().map(|open| &mut open.kind) {
            None => self.root = Some(node),
            Some(OpenKind::List(items)) => items.push(node),
            Some(OpenKind::Map { entries, waiting, seen }) => match waiting.take() {
                None => match node.kind {
                    Kind::Scalar(key) => *waiting = Some((key, node.place)),
                    Kind::Null => *waiting = Some(("null".to_owned(), node.place)),
                    Kind::List(_) | Kind::Map(_) => {
                        return Err((node.place, Mistake::KeyNotText));
                    }
                },
                Some((key, key_place)) => {
                    if key == "<<" {
                        problems.add("", Some(key_place), Mistake::MergeKey);
                    } else if let Some(first) = seen.get(&key) {
                        problems.add_twice("", key_place, *first, Mistake::Twice { key });
                    } else {
                        seen.insert(key.clone(), key_place);
                        entries.push(Entry { key, key_place, value: node });
                    }
                }
            },
        }
        Ok(())
    }
}

/// A tag as it was written, mostly.
fn tag_text(tag: &Tag) -> String {
    if tag.is_yaml_core_schema() { format!("!!{}", tag.suffix) } else { tag.to_string() }
}

/// Turns the parser's character positions into bytes.
struct ByteOffsets {
    /// Byte of each character and the length; empty when every character is one byte.
    bytes: Vec<usize>,
    length: usize,
}

impl ByteOffsets {
    fn new(text: &str) -> Self {
        let mut bytes = Vec::new();
        if !text.is_ascii() {
            bytes.extend(text.char_indices().map(|(at, _)| at));
            bytes.push(text.len());
        }
        Self { bytes, length: text.len() }
    }

    fn byte(&self, character: usize) -> usize {
        if self.bytes.is_empty() {
            character.min(self.length)
        } else {
            self.bytes.get(character).copied().unwrap_or(self.length)
        }
    }

    fn place(&self, span: saphyr_parser::Span) -> Span {
        let (start, end) = (self.byte(span.start.index()), self.byte(span.end.index()));
        Span { start, end: end.max(start) }
    }
}
