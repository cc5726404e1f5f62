//! YAML documents with the place of every value, checked against tables of keys, with all mistakes reported at once.
//!
//! [`read`] turns a text into a tree of [`Node`]s. A [`Reader`] checks the tree against a [`Shape`]: an [`Object`] is a table of [`Key`]s, each with the shape of
//! its value, a default, an example and its documentation. The result is a [`Checked`] value. Mistakes go to a [`Collector`], whose
//! [`Problems`] show each with its line, underlined, and with what to do about it.
//!
//! No key is known here: the tables of keys are in `keys/`.
//!
//! ```
//! use plimsoll_experiment::document::{Collector, Key, Need, Object, Reader, Shape, SourceText, read};
//! use plimsoll_record::quantities::setting::SettingKind;
//!
//! static PAUSE: Object = Object {
//!     about: "A pause.",
//!     keys: &[Key {
//!         name: "length",
//!         about: "How long it is.",
//!         shape: Shape::Value(SettingKind::Duration { min_ns: 0, max_ns: 60_000_000_000 }),
//!         need: Need::Required,
//!         example: "5s",
//!     }],
//!     choices: &[],
//!     others: None,
//! };
//!
//! let source = SourceText::new("length: 5s");
//! let mut problems = Collector::new(&source);
//! let node = read("length: 5s", &mut problems).expect("this is YAML");
//! let pause = Reader::new(&mut problems).read("", &Shape::Object(&PAUSE), &node);
//! assert_eq!(pause.get(&PAUSE.keys[0]).and_then(|length| length.whole()), Some(5_000_000_000));
//!
//! let source = SourceText::new("lengths: 5s");
//! let mut problems = Collector::new(&source);
//! let node = read("lengths: 5s", &mut problems).expect("this is YAML");
//! Reader::new(&mut problems).read("", &Shape::Object(&PAUSE), &node);
//! let shown = problems.finish("pause.yaml").to_string();
//! assert!(shown.contains("did you mean `length`?") && shown.contains("`length` is missing"));
//! ```

mod nearest;
mod problems;
mod reader;
mod scalar;
mod shape;
mod source;
mod yaml;

pub(crate) use nearest::did_you_mean;
pub use nearest::{few, nearest_or_all, quoted};
pub use problems::{Collector, Problem, Problems};
pub use reader::{Checked, Field, Reader, Value, join};
pub use scalar::{is_name, out_of_range};
pub use shape::{Choice, Key, KeyWords, Keys, Need, Object, OpenMap, Shape, Word};
pub use source::{SourceText, Span};
pub use yaml::{Entry, Kind, MOST_BYTES, Node, read};
