//! Measuring path: no allocation, log or formatting here after [`Records::new`], and no waiting for a lock unless a million inserts are under way.
//!
//! The records that are there, and the numbers of new ones, as one load host knows them.

use crate::counter::AcknowledgedCounter;
use crate::remainder::Divisor;
use crate::schedule::Share;

/// The records of a database into which several load hosts insert.
///
/// The new key numbers, from `start` on, lie in groups of as many neighbours as there are hosts, and each host inserts one of each group. A host knows of
/// its own inserts only. It takes all groups for present in which its own record is acknowledged, and asks for its own record where another host's was
/// drawn. So everything that it asks for is certain to be there.
#[derive(Debug)]
pub(crate) struct Records {
    /// From `start` on, counts this host's own inserts.
    own: AcknowledgedCounter,
    /// Records that existed before the first insert.
    start: u64,
    share: Share,
    hosts: Divisor,
    /// From here on numbers may be those of other hosts. The only host has no such number.
    others_from: u64,
}

impl Records {
    pub(crate) fn new(start: u64, share: Share) -> Self {
        Self {
            own: AcknowledgedCounter::new(start),
            start,
            share,
            hosts: Divisor::new(u64::from(share.of())),
            others_from: if share.is_whole() { u64::MAX } else { start },
        }
    }

    pub(crate) fn share(&self) -> Share {
        self.share
    }

    /// The key number of a new record, which no other session and no other host has.
    #[inline]
    pub(crate) fn take(&self) -> u64 {
        self.start + self.share.number(self.own.take() - self.start)
    }

    /// Acknowledges a number that was given by [`take`](Self::take). To be called once for each.
    #[inline]
    pub(crate) fn acknowledge(&self, number: u64) {
        let own = if self.share.is_whole() {
            number
        } else {
            self.start + (number - self.start) / u64::from(self.share.of())
        };
        self.own.acknowledge(own);
    }

    /// Takes several numbers at once, as this host counts its inserts: the first of them.
    #[inline]
    pub(crate) fn take_own(&self, count: u32) -> u64 {
        self.own.take_many(count.into())
    }

    /// What [`take_own`](Self::take_own) gave, as numbers of all hosts: the first, and the step from one to the next.
    #[inline]
    pub(crate) fn numbers(&self, first: u64) -> (u64, u64) {
        (self.start + self.share.number(first - self.start), u64::from(self.share.of()))
    }

    /// Acknowledges one of the numbers that [`take_own`](Self::take_own) gave.
    #[inline]
    pub(crate) fn acknowledge_own(&self, own: u64) {
        self.own.acknowledge(own);
    }

    /// No number from this one on was taken, as far as this host knows.
    #[inline]
    pub(crate) fn issued(&self) -> u64 {
        let own = self.own.upcoming();
        self.start + (own - self.start) * u64::from(self.share.of())
    }

    /// Numbers below the first are present for certain, and none from the second on was taken by any host. Where other hosts may insert as well, this host knows
    /// of those that were there before alone.
    #[inline]
    pub(crate) fn bounds(&self, others_insert: bool) -> (u64, u64) {
        if others_insert && !self.share.is_whole() {
            (self.start, u64::MAX)
        } else {
            (self.limit(), self.issued())
        }
    }

    /// Key numbers below this one are present, as far as this host knows.
    #[inline]
    pub(crate) fn limit(&self) -> u64 {
        let own = self.own.limit();
        if self.share.is_whole() {
            return own;
        }
        self.start + (own - self.start) * u64::from(self.share.of())
    }

    /// The end of the numbers that are present with all before them. Of those that other hosts insert none is certain.
    #[inline]
    pub(crate) fn newest(&self) -> u64 {
        if self.share.is_whole() { self.own.limit() } else { self.start }
    }

    /// The number in place of one below the limit, which may be another host's: the same before `start`, and this host's own number in its group from
    /// there on.
    #[inline]
    pub(crate) fn certain(&self, number: u64) -> u64 {
        if number < self.others_from {
            return number;
        }
        let place = self.hosts.remainder(number - self.start);
        number - place + u64::from(self.share.index())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hosts_insert_every_number_once() {
        let hosts: Vec<_> =
            (0..3).map(|index| Records::new(100, Share::new(index, 3).unwrap())).collect();
        let taken: Vec<u64> = (0..4).flat_map(|_| hosts.iter().map(Records::take)).collect();
        assert!(taken.into_iter().eq(100..112));
        // The second host's first two inserts: groups 100 to 102 and 103 to 105.
        hosts[1].acknowledge(104);
        assert_eq!(hosts[1].limit(), 100);
        hosts[1].acknowledge(101);
        assert_eq!(hosts[1].limit(), 106);
        let certain = (98..106).map(|number| hosts[1].certain(number));
        assert!(certain.eq([98, 99, 101, 101, 101, 104, 104, 104]));
        assert_eq!(hosts[0].limit(), 100);
    }

    mod slow {
        use super::*;

        proptest! {
        /// Whatever was inserted: each number below the limit stands for a record that this host has inserted and seen acknowledged.
        #[test]
        fn what_is_certain_is_there(
            start in 0..1_000_u64,
            of in 1..9_u32,
            index in 0..9_u32,
            order in Just((0..40_usize).collect::<Vec<_>>()).prop_shuffle(),
            acknowledged in 0..40_usize,
        ) {
            let share = Share::new(index % of, of).unwrap();
            let records = Records::new(start, share);
            let taken: Vec<u64> = order.iter().map(|_| records.take()).collect();
            let mut there: std::collections::BTreeSet<u64> = (0..start).collect();
            for place in &order[..acknowledged] {
                records.acknowledge(taken[*place]);
                there.insert(taken[*place]);
            }
            for number in 0..records.limit() {
                let certain = records.certain(number);
                prop_assert!(there.contains(&certain), "{number} {certain}");
                prop_assert_eq!(number < start, certain == number && number < start);
                // In the same group.
                if number >= start {
                    let group = |number: u64| (number - start) / u64::from(of);
                    prop_assert_eq!(group(number), group(certain));
                }
            }
            if share.is_whole() {
                prop_assert!((0..records.limit()).all(|number| records.certain(number) == number));
            }
        }
        }
    }
}
