//! Terminal tables, the page, and exports.
