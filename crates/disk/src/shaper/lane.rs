//! Which parts of the future are taken.

use std::collections::VecDeque;

/// Spans of time that do not overlap. A request takes the first gap that is long enough for it, so that one that waits for another
/// limit, far in the future, does not keep others from going before it.
#[derive(Debug, Default)]
pub(super) struct Lane {
    /// Beginning and end, ascending; those that touch are one.
    taken: VecDeque<(u128, u128)>,
}

impl Lane {
    /// The beginning of the first gap of that length, not before `from`.
    pub(super) fn earliest(&self, from: u128, length: u128) -> u128 {
        let mut at = from;
        for &(begin, end) in &self.taken {
            if at + length <= begin {
                break;
            }
            at = at.max(end);
        }
        at
    }

    /// Takes a span that `earliest` found.
    pub(super) fn take(&mut self, at: u128, length: u128) {
        let (mut begin, mut end) = (at, at + length);
        let mut place = self.taken.partition_point(|span| span.1 < begin);
        while let Some(&span) = self.taken.get(place) {
            if span.0 > end {
                break;
            }
            begin = begin.min(span.0);
            end = end.max(span.1);
            self.taken.remove(place);
        }
        place = place.min(self.taken.len());
        self.taken.insert(place, (begin, end));
    }

    pub(super) fn forget(&mut self, now: u128) {
        while self.taken.front().is_some_and(|span| span.1 <= now) {
            self.taken.pop_front();
        }
    }
}
