//! Any result of a power cut is checked against a model that knows every version of every sector.

use super::*;
use plimsoll_record::DiskSpec;

const SECTOR: u64 = 4096;
const SECTORS: u64 = 24;

fn blocks() -> Blocks {
    Blocks::create(&DiskSpec::unlimited(SECTORS * SECTOR), None).unwrap()
}

/// What is in each part of this many bytes, which must be one value throughout.
fn contents(blocks: &Blocks, part_bytes: u64) -> Vec<u8> {
    let mut all = vec![0; (SECTORS * SECTOR) as usize];
    blocks.read(&mut all, 0).unwrap();
    let parts = all.chunks(part_bytes as usize);
    parts
        .map(|part| {
            assert!(part.iter().all(|byte| *byte == part[0]), "a part is torn");
            part[0]
        })
        .collect()
}

/// A disk that is used at random, with the versions that each sector may have after a power cut.
struct Model {
    blocks: Blocks,
    log: WriteLog,
    random: Xoshiro256PlusPlus,
    /// For each sector its values since the last durable one, oldest first, each with the number of its write.
    versions: Vec<Vec<(u64, u8)>>,
    /// Writes that are not acknowledged, with their numbers in the log.
    pending: Vec<(u64, Range<u64>)>,
    acknowledged: HashSet<u64>,
    /// Flushes that are not completed, with what they cover.
    flushes: Vec<(u64, HashSet<u64>)>,
    writes: u64,
    /// A log that is not told of completed flushes, to show that the model finds it.
    ignores_flushes: bool,
}

impl Model {
    fn new(seed: u64) -> Self {
        Self {
            blocks: blocks(),
            log: WriteLog::new(MOST_BYTES),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            versions: vec![vec![(0, 0)]; SECTORS as usize],
            pending: Vec::new(),
            acknowledged: HashSet::new(),
            flushes: Vec::new(),
            writes: 0,
            ignores_flushes: false,
        }
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.random.next_u64() % bound
    }

    /// Writes one value to some sectors, or discards them.
    fn write(&mut self) {
        self.writes += 1;
        let first = self.below(SECTORS);
        let count = 1 + self.below((SECTORS - first).min(6));
        let (offset, length) = (first * SECTOR, count * SECTOR);
        let value = if self.below(5) == 0 { 0 } else { 1 + self.below(255) as u8 };
        let numbers = if value == 0 {
            let range = offset..offset + length;
            let numbers = self.log.remember_data(&self.blocks, range).unwrap();
            self.blocks.discard(offset, length).unwrap();
            numbers
        } else {
            let log = &mut self.log;
            let number = log.remember(&self.blocks, offset, length).unwrap();
            self.blocks.write(&vec![value; length as usize], offset).unwrap();
            number..number + 1
        };
        for sector in first..first + count {
            self.versions[sector as usize].push((self.writes, value));
        }
        self.pending.push((self.writes, numbers));
    }

    fn acknowledge(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let place = self.below(self.pending.len() as u64) as usize;
        let (write, numbers) = self.pending.swap_remove(place);
        self.log.acknowledge(numbers);
        self.acknowledged.insert(write);
    }

    fn complete_flush(&mut self) {
        if self.flushes.is_empty() {
            return;
        }
        let place = self.below(self.flushes.len() as u64) as usize;
        let (number, covered) = self.flushes.swap_remove(place);
        if !self.ignores_flushes {
            self.log.complete_flush(number);
        }
        for versions in &mut self.versions {
            if let Some(last) = versions.iter().rposition(|(write, _)| covered.contains(write)) {
                versions.drain(..last);
            }
        }
    }

    fn step(&mut self) {
        match self.below(10) {
            0..=4 => self.write(),
            5..=7 => self.acknowledge(),
            8 => {
                let number = self.log.receive_flush();
                self.flushes.push((number, self.acknowledged.clone()));
            }
            _ => self.complete_flush(),
        }
    }

    /// Cuts the power, and returns the sectors that have a version that they may not have.
    fn cut(&mut self, seed: u64) -> Vec<usize> {
        self.log.cut(&self.blocks, seed, SECTOR).unwrap();
        let found = contents(&self.blocks, SECTOR);
        let of_sectors = found.iter().zip(&self.versions).enumerate();
        let wrong = of_sectors
            .filter(|(_, (value, versions))| versions.iter().all(|(_, allowed)| allowed != *value));
        wrong.map(|(sector, _)| sector).collect()
    }
}

#[test]
fn each_sector_has_a_version_that_it_had_since_it_was_last_durable() {
    for seed in 0..300 {
        let mut model = Model::new(seed);
        for _ in 0..seed {
            model.step();
        }
        assert_eq!(model.cut(seed), [0; 0], "seed {seed}");
    }
}

#[test]
fn a_log_that_ignores_flushes_is_found() {
    let is_found = (0..50).any(|seed| {
        let mut model = Model::new(seed);
        model.ignores_flushes = true;
        for _ in 0..100 {
            model.step();
        }
        !model.cut(seed).is_empty()
    });
    assert!(is_found);
}

#[test]
fn the_same_seed_loses_the_same_and_another_one_something_else() {
    let after = |seed| {
        let mut model = Model::new(1);
        for _ in 0..200 {
            model.step();
        }
        let cut = model.log.cut(&model.blocks, seed, SECTOR).unwrap();
        (contents(&model.blocks, SECTOR), PowerCut { since_flush_ns: None, ..cut })
    };
    assert_eq!(after(5), after(5));
    assert!((6..16).any(|seed| after(seed).0 != after(5).0));
}

/// Writes the values to all of the first two sectors, one after the other, each acknowledged.
fn written(values: &[u8]) -> (Blocks, WriteLog) {
    let (blocks, mut log) = (blocks(), WriteLog::new(MOST_BYTES));
    for value in values {
        let number = log.remember(&blocks, 0, 2 * SECTOR).unwrap();
        blocks.write(&vec![*value; 2 * SECTOR as usize], 0).unwrap();
        log.acknowledge(number..number + 1);
    }
    (blocks, log)
}

#[test]
fn every_version_that_may_be_left_is_left_by_some_seed() {
    let mut found = HashSet::new();
    let mut torn = 0;
    for seed in 0..300 {
        let (blocks, mut log) = written(&[1, 2, 3]);
        let cut = log.cut(&blocks, seed, SECTOR).unwrap();
        let left = contents(&blocks, SECTOR);
        found.insert((left[0], left[1]));
        torn += cut.torn_writes;
        assert_eq!((cut.unflushed_writes, cut.acknowledged_writes), (3, 3));
        assert_eq!(cut.unflushed_bytes, 6 * SECTOR);
        assert_eq!(cut.kept_writes + cut.lost_writes + cut.torn_writes, 3);
        assert_eq!(cut.kept_sectors + cut.lost_sectors, 2);
        let newest = left[..2].iter().filter(|value| **value == 3).count();
        assert_eq!(cut.kept_sectors, newest as u64);
    }
    assert!(torn > 0);
    for version in 0..=3 {
        assert!(found.contains(&(version, version)), "{version}: {found:?}");
    }
    assert!(found.iter().any(|(first, second)| first != second), "{found:?}");
}

#[test]
fn smaller_sectors_are_torn_within_a_larger_one() {
    let torn = (0..100).any(|seed| {
        let (blocks, mut log) = written(&[1]);
        log.cut(&blocks, seed, 512).unwrap();
        let parts = contents(&blocks, 512);
        parts[..8].contains(&0) && parts[..8].contains(&1)
    });
    assert!(torn);
}

#[test]
fn a_flush_covers_what_was_acknowledged_before_it_was_received_and_only_once_it_is_completed() {
    let lost_by_some_seed = |prepare: &dyn Fn(&mut WriteLog)| {
        (0..40).any(|seed| {
            let (blocks, mut log) = written(&[]);
            let number = log.remember(&blocks, 0, SECTOR).unwrap();
            assert_eq!(number, 0);
            blocks.write(&vec![1; SECTOR as usize], 0).unwrap();
            prepare(&mut log);
            log.cut(&blocks, seed, SECTOR).unwrap();
            contents(&blocks, SECTOR)[0] == 0
        })
    };
    assert!(!lost_by_some_seed(&|log| {
        log.acknowledge(0..1);
        let flush = log.receive_flush();
        log.complete_flush(flush);
    }));
    assert!(lost_by_some_seed(&|log| {
        log.acknowledge(0..1);
        log.receive_flush();
    }));
    assert!(lost_by_some_seed(&|log| {
        let flush = log.receive_flush();
        log.acknowledge(0..1);
        log.complete_flush(flush);
    }));
}

/// The older write was not acknowledged when the flush that covers the newer one was received.
#[test]
fn what_is_older_than_a_durable_write_does_not_come_back() {
    for seed in 0..40 {
        let (blocks, mut log) = (blocks(), WriteLog::new(MOST_BYTES));
        for value in [1, 2] {
            log.remember(&blocks, 0, SECTOR).unwrap();
            blocks.write(&vec![value; SECTOR as usize], 0).unwrap();
        }
        log.acknowledge(1..2);
        let flush = log.receive_flush();
        log.complete_flush(flush);
        let cut = log.cut(&blocks, seed, SECTOR).unwrap();
        assert_eq!(contents(&blocks, SECTOR)[0], 2, "seed {seed}");
        assert_eq!(cut.unflushed_writes, 1);
    }
}

#[test]
fn the_oldest_writes_are_durable_where_memory_ends() {
    let mut lost = HashSet::new();
    for seed in 0..40 {
        let most_bytes = 4 * (SECTOR + OVERHEAD_BYTES);
        let (blocks, mut log) = (blocks(), WriteLog::new(most_bytes));
        blocks.write(&vec![1; (8 * SECTOR) as usize], 0).unwrap();
        for sector in 0..8 {
            let offset = sector * SECTOR;
            let number = log.remember(&blocks, offset, SECTOR).unwrap();
            blocks.write(&vec![2; SECTOR as usize], offset).unwrap();
            log.acknowledge(number..number + 1);
        }
        let cut = log.cut(&blocks, seed, SECTOR).unwrap();
        assert_eq!((cut.written_back, cut.unflushed_writes), (4, 4));
        let left = contents(&blocks, SECTOR);
        lost.extend((0..8).filter(|sector| left[*sector] == 1));
        // It goes on with an empty log.
        assert_eq!(log.bytes, 0);
        assert_eq!(log.cut(&blocks, seed, SECTOR).unwrap().unflushed_writes, 0);
    }
    let mut lost: Vec<usize> = lost.into_iter().collect();
    lost.sort_unstable();
    assert_eq!(lost, [4, 5, 6, 7]);
}
