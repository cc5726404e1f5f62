//! From records to verdicts: gates, curves, comparisons.
