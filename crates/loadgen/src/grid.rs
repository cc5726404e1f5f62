//! Measuring path: no allocation, lock, log or formatting here.
//!
//! Where the slices of a point begin and end.

pub(crate) const SLICE_NS: u64 = 1_000_000_000;

/// The grid of slices: the warm-up is cut into seconds from its begin (its last slice may be shorter), and then the measured part is.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    warm_up_ns: u64,
    warm_up_slices: u64,
}

impl Grid {
    /// The grid of a point with this warm-up, nanoseconds.
    pub fn new(warm_up_ns: u64) -> Self {
        Self { warm_up_ns, warm_up_slices: warm_up_ns.div_ceil(SLICE_NS) }
    }

    /// Index of the slice in which `time_ns` lies.
    pub fn index_of(self, time_ns: u64) -> u32 {
        let index = if time_ns < self.warm_up_ns {
            time_ns / SLICE_NS
        } else {
            self.warm_up_slices + (time_ns - self.warm_up_ns) / SLICE_NS
        };
        u32::try_from(index).unwrap_or(u32::MAX)
    }

    /// First nanosecond of slice `index`.
    pub fn start_of(self, index: u32) -> u64 {
        let index = u64::from(index);
        if index < self.warm_up_slices {
            return index * SLICE_NS;
        }
        self.warm_up_ns + (index - self.warm_up_slices) * SLICE_NS
    }

    /// First nanosecond after slice `index`.
    pub fn end_of(self, index: u32) -> u64 {
        self.start_of(index.saturating_add(1))
    }

    /// First nanosecond of the measured part.
    pub fn measured_from(self) -> u64 {
        self.warm_up_ns
    }

    /// Whether slice `index` belongs to the warm-up.
    pub fn is_warm_up(self, index: u32) -> bool {
        u64::from(index) < self.warm_up_slices
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_slice_of_a_broken_warm_up_is_shorter() {
        let grid = Grid::new(2_500_000_000);
        let starts: Vec<u64> = (0..5).map(|index| grid.start_of(index) / 100_000_000).collect();
        assert_eq!(starts, [0, 10, 20, 25, 35]);
        assert!(grid.is_warm_up(2));
        assert!(!grid.is_warm_up(3));
    }

    #[test]
    fn every_time_lies_in_its_slice() {
        for warm_up in [0, 1, 999_999_999, 1_000_000_000, 1_000_000_001, 2_300_000_000] {
            let grid = Grid::new(warm_up);
            for step in 0..60_u64 {
                let time = step * 123_456_789;
                let index = grid.index_of(time);
                assert!(
                    grid.start_of(index) <= time && time < grid.end_of(index),
                    "{warm_up} {time}"
                );
                assert_eq!(grid.is_warm_up(index), time < warm_up, "{warm_up} {time}");
            }
        }
    }
}
