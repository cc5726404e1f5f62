//! Hot path: the sequence lock of one record.
//!
//! The last word of a record says whether it is whole and in which round through the file it was written; it is set to "being written"
//! before the other words and to its value after them. A writer that finds its place in use (another thread was held up in the middle of
//! it for a whole round), or used by a later round, gives its record up: the reader counts it as incomplete.

use crate::request::{RECORD_WORDS, is_after_lap, is_being_written, is_of_lap, writing};
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// A word that several threads, or processes, write and read.
pub(crate) trait Word {
    fn load(&self, ordering: Ordering) -> u64;
    fn store(&self, value: u64, ordering: Ordering);
    /// From `current` to `new`, with acquire; whether it was `current`.
    fn exchange(&self, current: u64, new: u64) -> bool;
    fn fence(ordering: Ordering);
}

impl Word for AtomicU64 {
    #[inline(always)]
    fn load(&self, ordering: Ordering) -> u64 {
        self.load(ordering)
    }

    #[inline(always)]
    fn store(&self, value: u64, ordering: Ordering) {
        self.store(value, ordering);
    }

    #[inline(always)]
    fn exchange(&self, current: u64, new: u64) -> bool {
        self.compare_exchange(current, new, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[inline(always)]
    fn fence(ordering: Ordering) {
        fence(ordering);
    }
}

/// Writes a record, unless its place is in use.
#[inline(always)]
pub(crate) fn write<W: Word>(record: &[W], packed: [u64; RECORD_WORDS], lap: u64) {
    let last = &record[RECORD_WORDS - 1];
    let before = last.load(Ordering::Relaxed);
    if is_being_written(before) || is_after_lap(before, lap) {
        return;
    }
    if !last.exchange(before, writing(lap)) {
        return;
    }
    // A reader that sees one of the following words sees that the record is being written, too.
    W::fence(Ordering::Release);
    for (word, value) in record.iter().zip(packed).take(RECORD_WORDS - 1) {
        word.store(value, Ordering::Relaxed);
    }
    last.store(packed[RECORD_WORDS - 1], Ordering::Release);
}

/// The words of a record that is whole, of this round, and was not written to meanwhile.
pub(crate) fn read<W: Word>(record: &[W], lap: u64) -> Option<[u64; RECORD_WORDS]> {
    let last = record[RECORD_WORDS - 1].load(Ordering::Acquire);
    if !is_of_lap(last, lap) {
        return None;
    }
    let mut words = [last; RECORD_WORDS];
    for (value, word) in words.iter_mut().zip(record).take(RECORD_WORDS - 1) {
        *value = word.load(Ordering::Relaxed);
    }
    W::fence(Ordering::Acquire);
    (record[RECORD_WORDS - 1].load(Ordering::Relaxed) == last).then_some(words)
}

/// The orders in which threads can meet, and every value that the memory model lets them see.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{Kind, Request};
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicU64 as LoomWord;

    impl Word for LoomWord {
        fn load(&self, ordering: Ordering) -> u64 {
            self.load(ordering)
        }

        fn store(&self, value: u64, ordering: Ordering) {
            self.store(value, ordering);
        }

        fn exchange(&self, current: u64, new: u64) -> bool {
            self.compare_exchange(current, new, Ordering::Acquire, Ordering::Relaxed).is_ok()
        }

        fn fence(ordering: Ordering) {
            loom::sync::atomic::fence(ordering);
        }
    }

    /// Every field is made of the number, so that a mix of two is seen.
    fn request(number: u64) -> Request {
        Request {
            time_ns: number,
            offset: number,
            length: number as u32,
            kind: Kind::Read,
            latency_ns: number,
            in_flight: number as u16,
            lateness_ns: number as u32,
        }
    }

    fn slot() -> Arc<Vec<LoomWord>> {
        Arc::new((0..RECORD_WORDS).map(|_| LoomWord::new(0)).collect())
    }

    /// What can be read while these rounds are written to one place at the same time, as often as a reader looks. There are records of
    /// earlier rounds.
    fn explore(earlier: &'static [u64], laps: &'static [u64], looks_at: &'static [u64]) {
        let mut model = loom::model::Builder::new();
        // With more than two threads, only orders with this many interruptions: all orders are too many.
        model.preemption_bound = (laps.len() > 1).then_some(2);
        model.check(move || {
            let record = slot();
            for &lap in earlier {
                write(&record, request(lap + 1).packed(lap), lap);
            }
            let writers: Vec<_> = laps
                .iter()
                .map(|&lap| {
                    let record = record.clone();
                    loom::thread::spawn(move || {
                        write(&record, request(lap + 1).packed(lap), lap);
                    })
                })
                .collect();
            for &lap in looks_at {
                if let Some(request_read) = read(&record, lap).and_then(Request::unpacked) {
                    assert_eq!(request_read, request(lap + 1));
                }
            }
            for writer in writers {
                writer.join().unwrap();
            }
            let whole = earlier
                .iter()
                .chain(laps)
                .filter_map(|&lap| read(&record, lap).and_then(Request::unpacked));
            // A writer gives up only where another one has the place.
            assert_eq!(whole.count(), 1);
        });
    }

    mod slow {
        use super::*;

        #[test]
        fn a_reader_sees_a_whole_record_or_none() {
            explore(&[], &[0], &[0, 0]);
        }

        #[test]
        fn a_reader_sees_no_mix_of_two_rounds() {
            explore(&[0], &[1], &[0]);
            explore(&[0], &[1], &[1]);
            explore(&[], &[0, 1], &[0]);
            explore(&[], &[0, 1], &[1]);
        }
    }
}
