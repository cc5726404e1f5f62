//! The volatile write cache of a disk: which writes no flush has covered yet, and what a power cut leaves of them.
//!
//! A write is applied at once, and what it replaces is remembered. A flush that completes makes the writes durable that were acknowledged before it
//! was received. A power cut goes through the others from the newest to the oldest and decides for each sector whether its former contents come
//! back. So a sector may keep any of the versions that it had since it was last durable, in whatever order they were written.

use crate::blocks::{Blocks, Buffer};
use plimsoll_record::PowerCut;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::{HashSet, VecDeque};
use std::io;
use std::ops::Range;
use std::time::Instant;

/// Memory for what is remembered, bytes. Beyond it the oldest writes are durable: a real cache writes back sooner or later, too.
pub(crate) const MOST_BYTES: u64 = 1 << 30;
/// Memory that a remembered write takes beside its former contents, bytes.
const OVERHEAD_BYTES: u64 = 80;
/// The longest part of a discarded range that is remembered at a time, bytes.
const LONGEST_PART: u64 = 1 << 20;

/// The writes since the last flush, in the order in which they were applied.
pub(crate) struct WriteLog {
    writes: VecDeque<LoggedWrite>,
    /// The number of the first of them; the others follow.
    first: u64,
    /// Flushes that were received.
    flushes: u64,
    bytes: u64,
    most_bytes: u64,
    written_back: u64,
    flushed_at: Option<Instant>,
    /// Into which is read what a write replaces.
    spare: Buffer,
}

struct LoggedWrite {
    offset: u64,
    length: u64,
    before: Before,
    /// How many flushes had been received when it was acknowledged; `None`: it was not.
    acknowledged: Option<u64>,
}

/// What a write has replaced.
enum Before {
    Zeros,
    Bytes(Box<[u8]>),
    /// Nothing comes back, neither this nor what is older: a flush has covered the write.
    Nothing,
}

impl LoggedWrite {
    fn memory_bytes(&self) -> u64 {
        match &self.before {
            Before::Bytes(bytes) => OVERHEAD_BYTES + bytes.len() as u64,
            Before::Zeros | Before::Nothing => OVERHEAD_BYTES,
        }
    }

    fn is_durable(&self) -> bool {
        matches!(self.before, Before::Nothing)
    }

    /// Its parts, with the number of the sector that each lies in.
    fn parts(&self, sector_bytes: u64) -> impl Iterator<Item = (u64, Range<u64>)> + use<> {
        let (begin, end) = (self.offset, self.offset + self.length);
        (begin / sector_bytes..end.div_ceil(sector_bytes)).map(move |sector| {
            let first = sector * sector_bytes;
            (sector, first.max(begin)..(first + sector_bytes).min(end))
        })
    }

    /// Puts back what a part of it has replaced.
    fn undo(&self, blocks: &Blocks, part: Range<u64>) -> io::Result<()> {
        match &self.before {
            Before::Zeros => blocks.discard(part.start, part.end - part.start),
            Before::Bytes(bytes) => {
                let within = (part.start - self.offset) as usize..(part.end - self.offset) as usize;
                blocks.write(&bytes[within], part.start)
            }
            Before::Nothing => Ok(()),
        }
    }
}

impl WriteLog {
    pub(crate) fn new(most_bytes: u64) -> Self {
        Self {
            writes: VecDeque::new(),
            first: 0,
            flushes: 0,
            bytes: 0,
            most_bytes,
            written_back: 0,
            flushed_at: None,
            spare: Buffer::default(),
        }
    }

    /// Remembers what a write will replace, and returns its number.
    pub(crate) fn remember(
        &mut self,
        blocks: &Blocks,
        offset: u64,
        length: u64,
    ) -> io::Result<u64> {
        let there = self.spare.of_length(length as usize);
        blocks.read(there, offset)?;
        let before = match there.iter().all(|byte| *byte == 0) {
            true => Before::Zeros,
            false => Before::Bytes(Box::from(&*there)),
        };
        let write = LoggedWrite { offset, length, before, acknowledged: None };
        self.bytes += write.memory_bytes();
        self.writes.push_back(write);
        let number = self.first + self.writes.len() as u64 - 1;
        while self.bytes > self.most_bytes {
            self.written_back += u64::from(self.forget_first());
        }
        Ok(number)
    }

    /// The same of all in a range that a discard will change. Zeros are remembered only where an earlier write is not acknowledged yet: a flush may cover the
    /// discard and not that write, which then must not be undone.
    pub(crate) fn remember_data(
        &mut self,
        blocks: &Blocks,
        range: Range<u64>,
    ) -> io::Result<Range<u64>> {
        let first = self.first + self.writes.len() as u64;
        let pending = self.writes.iter().filter(|write| write.acknowledged.is_none());
        let shared = pending.map(|write| {
            write.offset.max(range.start)..(write.offset + write.length).min(range.end)
        });
        for shared in shared.filter(|shared| !shared.is_empty()).collect::<Vec<_>>() {
            self.remember(blocks, shared.start, shared.end - shared.start)?;
        }
        let mut at = range.start;
        while let Some(data) = blocks.next_data(at)?.filter(|data| data.start < range.end) {
            let begin = data.start.max(at);
            at = data.end.min(range.end).min(begin + LONGEST_PART);
            self.remember(blocks, begin, at - begin)?;
        }
        Ok(first..self.first + self.writes.len() as u64)
    }

    /// Forgets the oldest write, and returns whether it was not durable before.
    fn forget_first(&mut self) -> bool {
        let Some(write) = self.writes.pop_front() else { return false };
        self.first += 1;
        self.bytes -= write.memory_bytes();
        !write.is_durable()
    }

    /// The writes of these numbers are acknowledged now.
    pub(crate) fn acknowledge(&mut self, numbers: Range<u64>) {
        for number in numbers {
            let place = number.checked_sub(self.first);
            if let Some(write) = place.and_then(|place| self.writes.get_mut(place as usize)) {
                write.acknowledged = Some(self.flushes);
            }
        }
    }

    /// A flush is received. Returns its number.
    pub(crate) fn receive_flush(&mut self) -> u64 {
        self.flushes += 1;
        self.flushes
    }

    /// A flush is completed: durable is what was acknowledged before it was received.
    pub(crate) fn complete_flush(&mut self, number: u64) {
        for write in &mut self.writes {
            if write.acknowledged.is_some_and(|flushes| flushes < number) {
                self.bytes -= write.memory_bytes();
                write.before = Before::Nothing;
                self.bytes += write.memory_bytes();
            }
        }
        while self.writes.front().is_some_and(LoggedWrite::is_durable) {
            self.forget_first();
        }
        self.written_back = 0;
        self.flushed_at = Some(Instant::now());
    }

    /// Takes away what a power cut loses. The same log and seed lose the same.
    pub(crate) fn cut(
        &mut self,
        blocks: &Blocks,
        seed: u64,
        sector_bytes: u64,
    ) -> io::Result<PowerCut> {
        // The numbers of these writes are not used again.
        self.first += self.writes.len() as u64;
        let since_flush = self.flushed_at.map(|flushed| flushed.elapsed().as_nanos());
        let mut cut = PowerCut {
            seed,
            sector_bytes,
            unflushed_writes: 0,
            unflushed_bytes: 0,
            acknowledged_writes: 0,
            kept_writes: 0,
            lost_writes: 0,
            torn_writes: 0,
            kept_sectors: 0,
            lost_sectors: 0,
            written_back: self.written_back,
            since_flush_ns: since_flush.map(|ns| u64::try_from(ns).unwrap_or(u64::MAX)),
        };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        // Sectors whose contents are decided, and those whose newest contents are lost.
        let (mut decided, mut lost) = (HashSet::new(), HashSet::new());
        while let Some(write) = self.writes.pop_back() {
            self.bytes -= write.memory_bytes();
            if write.is_durable() {
                decided.extend(write.parts(sector_bytes).map(|(sector, _)| sector));
                continue;
            }
            let fate = Fate::draw(&mut random, write.parts(sector_bytes).count() as u64);
            let (mut kept_parts, mut lost_parts) = (0_u64, 0_u64);
            for (place, (sector, part)) in (0..).zip(write.parts(sector_bytes)) {
                let keeps = fate.keeps(place, &mut random);
                if decided.contains(&sector) {
                    kept_parts += 1;
                } else if keeps {
                    kept_parts += 1;
                    decided.insert(sector);
                    cut.kept_sectors += u64::from(!lost.contains(&sector));
                } else {
                    lost_parts += 1;
                    lost.insert(sector);
                    write.undo(blocks, part)?;
                }
            }
            cut.unflushed_writes += 1;
            cut.unflushed_bytes += write.length;
            cut.acknowledged_writes += u64::from(write.acknowledged.is_some());
            match (kept_parts, lost_parts) {
                (_, 0) => cut.kept_writes += 1,
                (0, _) => cut.lost_writes += 1,
                _ => cut.torn_writes += 1,
            }
        }
        cut.lost_sectors = lost.len() as u64;
        Ok(cut)
    }
}

/// What a power cut does to one write.
enum Fate {
    Kept,
    Lost,
    /// Only this many of its first sectors are kept.
    Prefix(u64),
    /// Each of its sectors is kept or lost by itself.
    Mixed,
}

impl Fate {
    /// Two writes of five are kept, two are lost, one is torn: a disk tears only what it was writing at the instant.
    fn draw(random: &mut impl Rng, sectors: u64) -> Self {
        match random.next_u64() % 10 {
            0..=3 => Self::Kept,
            4..=7 => Self::Lost,
            8 => Self::Prefix(random.next_u64() % (sectors + 1)),
            _ => Self::Mixed,
        }
    }

    fn keeps(&self, place: u64, random: &mut impl Rng) -> bool {
        match self {
            Self::Kept => true,
            Self::Lost => false,
            Self::Prefix(kept) => place < *kept,
            Self::Mixed => random.next_u64().is_multiple_of(2),
        }
    }
}

#[cfg(test)]
mod tests;
