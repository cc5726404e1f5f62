//! Histograms, slices and run records of Plimsoll, and their versioned formats.
