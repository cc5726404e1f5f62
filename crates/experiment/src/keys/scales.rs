//! `scales`: parts of a file that are laid over it, so that one file holds an experiment for a laptop and for a server.

use crate::document::OpenMap;

/// A scale in the table of the file: any part of the file.
pub(crate) static OPEN_SCALE: OpenMap = OpenMap {
    expected: "a part of an experiment such as {measurement: {blocks: 12}}",
    summary: "a part of a file",
};
