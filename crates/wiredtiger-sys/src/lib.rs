//! Raw bindings to WiredTiger 11.3.
