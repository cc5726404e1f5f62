//! Numbered messages, put back into their order.

use crate::nats::wire::{Body, Numbered};
use std::collections::BTreeMap;

/// How many messages may be ahead of one that has not arrived. Far more than a window admits.
const MOST_EARLY: u64 = 1 << 16;

#[derive(Debug, Default)]
pub(crate) struct Arrived {
    /// The number of the next message.
    next: u64,
    early: BTreeMap<u64, Body>,
}

/// Messages that will never arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("message {from} of the session is lost")]
pub(crate) struct Lost {
    from: u64,
}

impl Arrived {
    /// Takes a message, and gives those whose turn it is now. A repetition gives none.
    pub(crate) fn take(&mut self, message: Numbered) -> Result<Vec<Body>, Lost> {
        let Numbered { number, floor, body } = message;
        if number < self.next {
            return Ok(Vec::new());
        }
        // A message that was acknowledged before this one was sent would have come before it.
        let missing = (self.next..floor).find(|number| !self.early.contains_key(number));
        if let Some(from) = missing {
            return Err(Lost { from });
        }
        if number - self.next > MOST_EARLY {
            return Err(Lost { from: self.next });
        }
        self.early.entry(number).or_insert(body);
        let mut ready = Vec::new();
        while let Some(body) = self.early.remove(&self.next) {
            ready.push(body);
            self.next += 1;
        }
        Ok(ready)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn message(number: u64, floor: u64) -> Numbered {
        let body = Body::Credit(number as u32);
        Numbered { number, floor, body }
    }

    #[test]
    fn what_is_lost_is_known_as_soon_as_it_is_certain() {
        let mut arrived = Arrived::default();
        assert_eq!(arrived.take(message(0, 0)).unwrap().len(), 1);
        // 1 may still come.
        assert_eq!(arrived.take(message(2, 1)), Ok(vec![]));
        // 1 was acknowledged before 3 was sent.
        assert_eq!(arrived.take(message(3, 2)), Err(Lost { from: 1 }));
    }

    #[test]
    fn the_number_of_early_ones_is_bounded() {
        let mut arrived = Arrived::default();
        assert!(arrived.take(message(MOST_EARLY, 0)).is_ok());
        assert!(arrived.take(message(MOST_EARLY + 1, 0)).is_err());
    }

    proptest! {
        /// Any order in which each is at most a window late, with any repetitions.
        #[test]
        fn all_come_out_once_and_in_order(
            numbers in prop::collection::vec(0..40_u64, 0..200),
        ) {
            let mut arrived = Arrived::default();
            let mut found = Vec::new();
            for number in numbers.into_iter().chain(0..40) {
                found.extend(arrived.take(message(number, 0)).unwrap());
            }
            let wanted: Vec<_> = (0..40).map(Body::Credit).collect();
            prop_assert_eq!(found, wanted);
        }
    }
}
