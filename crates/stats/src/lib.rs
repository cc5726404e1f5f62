//! Pure statistics of benchmark results: warm-up, intervals, comparison, knee, scalability.
