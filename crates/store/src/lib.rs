//! Where records are kept and found again.
