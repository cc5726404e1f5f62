//! One workload, split over several hosts: together they ask what one host asks.

#![allow(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

use crate::schedule::Share;
use crate::{
    Ask, DataSpec, FieldLength, KeyOrder, KeySpace, Mix, OpGenerator, RequestDistribution, Workload,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const RECORDS: u64 = 1_000;
const SEED: u64 = 42;

fn data() -> DataSpec {
    let mut data = DataSpec::with_records(RECORDS);
    data.key_order = KeyOrder::Ordered;
    data.field_count = 1;
    data.field_length = FieldLength::Constant(8);
    data
}

fn shares(hosts: u32) -> Vec<Share> {
    (0..hosts).map(|index| Share::new(index, hosts).unwrap()).collect()
}

fn distributions() -> [RequestDistribution; 6] {
    [
        RequestDistribution::Uniform,
        RequestDistribution::Sequential,
        RequestDistribution::Zipfian,
        RequestDistribution::Latest,
        RequestDistribution::hotspot(),
        RequestDistribution::exponential(),
    ]
}

/// Reads with a share of inserts.
fn mix(request_distribution: RequestDistribution, insert: f64) -> Mix {
    Mix { read: 1.0 - insert, insert, request_distribution, ..Mix::preset("c").unwrap() }
}

fn number(key: &[u8]) -> u64 {
    std::str::from_utf8(&key[4..]).unwrap().parse().unwrap()
}

/// One operation: whether it is an insert, and its key. Inserts are acknowledged.
fn step(generator: &mut OpGenerator) -> (bool, u64) {
    let requested = match generator.next() {
        Ask::Insert { number, .. } => (true, number),
        Ask::Read { key, .. } => (false, number(key)),
        other => unreachable!("{other:?}"),
    };
    if requested.0 {
        generator.acknowledge(requested.1);
    }
    requested
}

/// One host with its key space, which outlives the points.
struct Host {
    key_space: Arc<KeySpace>,
    share: Share,
}

impl Host {
    fn all(hosts: u32) -> Vec<Self> {
        let host = |share| Self { key_space: KeySpace::with_share(&data(), share).unwrap(), share };
        shares(hosts).into_iter().map(host).collect()
    }

    /// A session of each host, of the point with this mix.
    fn generators(hosts: &[Self], mix: &Mix, seed: u64, planned: Option<u64>) -> Vec<OpGenerator> {
        let agreed = hosts.iter().map(|host| host.key_space.records());
        let agreed = agreed.min().unwrap();
        let generator = |host: &Self| {
            let workload =
                Workload::with_records(&host.key_space, mix, seed, planned, agreed).unwrap();
            let sessions = host.share.sessions(hosts.len() as u32);
            Arc::new(workload).generator(u64::from(sessions.start))
        };
        hosts.iter().map(generator).collect()
    }

    /// Each host inserts this many records.
    fn insert(hosts: &[Self], each: u64) {
        let inserts = mix(RequestDistribution::Uniform, 1.0);
        for mut generator in Self::generators(hosts, &inserts, SEED, None) {
            for _ in 0..each {
                step(&mut generator);
            }
        }
    }
}

/// What all sessions of a closed loop ask: session number and questions in words, in the order of the sessions.
fn closed_streams(mix: &Mix, sessions: u32, hosts: u32, each: u64) -> Vec<(u32, Vec<String>)> {
    let mut streams = Vec::new();
    for share in shares(hosts) {
        let key_space = KeySpace::with_share(&DataSpec::with_records(RECORDS), share).unwrap();
        let workload = Arc::new(Workload::new(&key_space, mix, SEED, None).unwrap());
        for session in share.sessions(sessions) {
            let mut generator = workload.generator(u64::from(session));
            let said = (0..each).map(|_| format!("{:?}", generator.next()));
            streams.push((session, said.collect()));
        }
    }
    streams
}

#[test]
fn sequential_keys_of_all_hosts_are_those_of_one() {
    // Three times round and a part.
    let operations = 3_600;
    let read = |hosts: u32| {
        let hosts = Host::all(hosts);
        let sequential = mix(RequestDistribution::Sequential, 0.0);
        let mut met: Vec<u64> = Host::generators(&hosts, &sequential, SEED, None)
            .iter_mut()
            .flat_map(|generator| {
                (0..operations / hosts.len()).map(|_| step(generator).1).collect::<Vec<_>>()
            })
            .collect();
        met.sort_unstable();
        met
    };
    let mut expected: Vec<u64> = (0..operations as u64).map(|turn| turn % RECORDS).collect();
    expected.sort_unstable();
    for hosts in [1, 2, 3, 4] {
        assert_eq!(read(hosts), expected, "{hosts} hosts");
    }
}

/// Two sessions on five hosts: three hosts have none.
#[test]
fn hosts_without_a_session_take_no_turns() {
    let mut met = BTreeSet::new();
    for share in shares(5) {
        let key_space = KeySpace::with_share(&data(), share).unwrap();
        let sequential = mix(RequestDistribution::Sequential, 0.0);
        let workload = Arc::new(Workload::new(&key_space, &sequential, SEED, None).unwrap());
        for session in share.sessions(2) {
            let mut generator = workload.generator_among(u64::from(session), 2);
            met.extend((0..RECORDS / 2).map(|_| step(&mut generator).1));
        }
    }
    assert!(met.into_iter().eq(0..RECORDS));
}

/// Inserts of several points one after the other, of hosts that are unequally fast.
#[test]
fn inserts_never_meet_and_only_stored_records_are_asked_for() {
    for hosts in [1, 2, 4] {
        let hosts = Host::all(hosts);
        let mut taken = BTreeSet::new();
        for (point, distribution) in distributions().into_iter().enumerate() {
            let mix = mix(distribution, 0.3);
            let mut generators = Host::generators(&hosts, &mix, point as u64, Some(4_000));
            let mut asked_for_new = 0;
            for (index, generator) in generators.iter_mut().enumerate() {
                let mut own: BTreeSet<u64> = taken.clone();
                // The first host is twice as fast as the last.
                for _ in 0..2_000 - 1_000 * index / hosts.len() {
                    let (is_insert, number) = step(generator);
                    if is_insert {
                        assert!(number >= RECORDS);
                        assert!(taken.insert(number), "{number} was inserted twice");
                        own.insert(number);
                        let place = (number - RECORDS) % hosts.len() as u64;
                        assert_eq!(place, index as u64);
                    } else if number >= RECORDS {
                        // Also not of an insert that another host has made in this point.
                        assert!(own.contains(&number), "{number} is not there");
                        let place = (number - RECORDS) % hosts.len() as u64;
                        assert_eq!(place, index as u64);
                        asked_for_new += 1;
                    }
                }
            }
            let is_first = point == 0;
            assert!(is_first || asked_for_new > 50, "{distribution:?}");
        }
    }
}

/// Asserts that two samples of keys come from one law, by the chi-square of two samples over ranges of keys that hold about equally many draws of the
/// first. The bound is mean plus six standard deviations of the law with one degree of freedom less than there are ranges. Ranges end between
/// groups of four neighbours.
fn assert_same_law(first: &[u64], second: &[u64], what: &str) {
    const GROUP: u64 = 4;
    const LEAST: u64 = 100;
    let count = |keys: &[u64]| {
        let mut counts = BTreeMap::<u64, u64>::new();
        for key in keys {
            *counts.entry(key / GROUP).or_default() += 1;
        }
        counts
    };
    assert_eq!(RECORDS % GROUP, 0);
    let (first_counts, second_counts) = (count(first), count(second));
    let groups: BTreeSet<u64> = first_counts.keys().chain(second_counts.keys()).copied().collect();
    let mut ranges = vec![(0_u64, 0_u64)];
    for group in groups {
        let range = ranges.last_mut().unwrap();
        range.0 += first_counts.get(&group).copied().unwrap_or(0);
        range.1 += second_counts.get(&group).copied().unwrap_or(0);
        if range.0 + range.1 >= 2 * LEAST {
            ranges.push((0, 0));
        }
    }
    let rest = ranges.pop().unwrap();
    let last = ranges.last_mut().unwrap();
    *last = (last.0 + rest.0, last.1 + rest.1);
    assert!(ranges.len() > 20, "{what}: {} ranges", ranges.len());
    let (all_first, all_second) = (first.len() as f64, second.len() as f64);
    let (ratio, inverse) = ((all_second / all_first).sqrt(), (all_first / all_second).sqrt());
    let chi_square: f64 = ranges
        .iter()
        .map(|(first, second)| {
            let (first, second) = (*first as f64, *second as f64);
            (ratio * first - inverse * second).powi(2) / (first + second)
        })
        .sum();
    let freedom = (ranges.len() - 1) as f64;
    let bound = freedom + 6.0 * (2.0 * freedom).sqrt();
    assert!(
        chi_square < bound,
        "{what}: chi-square {chi_square} with {freedom} degrees of freedom"
    );
}

/// The keys that all hosts together read in a point after one in which each host has inserted equally much.
fn read_after_inserts(distribution: RequestDistribution, hosts: u32, seed: u64) -> Vec<u64> {
    const INSERTS: u64 = 400;
    const READS: u64 = 60_000;
    let each = u64::from(hosts);
    let hosts = Host::all(hosts);
    Host::insert(&hosts, INSERTS / each);
    let reads = mix(distribution, 0.0);
    let mut read = Vec::new();
    for mut generator in Host::generators(&hosts, &reads, seed, None) {
        read.extend((0..READS / each).map(|_| step(&mut generator).1));
    }
    assert!(read.iter().any(|number| *number >= RECORDS + INSERTS - 4));
    read
}

/// The keys that all hosts together read while they insert: of each round, four inserts and then 256 reads are spread over the hosts. Were the inserts
/// drawn at random, the reads of a newest key would depend on how long it stays the newest, and no two samples would agree.
fn read_between_inserts(distribution: RequestDistribution, hosts: u32, seed: u64) -> Vec<u64> {
    const ROUNDS: u64 = 250;
    let each = u64::from(hosts);
    let hosts = Host::all(hosts);
    let inserts = mix(RequestDistribution::Uniform, 1.0);
    let mut inserting = Host::generators(&hosts, &inserts, seed, None);
    let mut reading = Host::generators(&hosts, &mix(distribution, 0.0), seed, None);
    let mut read = Vec::new();
    for _ in 0..ROUNDS {
        for generator in &mut inserting {
            (0..4 / each).for_each(|_| assert!(step(generator).0));
        }
        for generator in &mut reading {
            // A multiple of how many choices are made ahead where a mix has no inserts, so that none is left for the next round.
            read.extend((0..256 / each).map(|_| step(generator).1));
        }
    }
    assert!(hosts.iter().all(|host| host.key_space.records() == RECORDS + 4 * ROUNDS));
    read
}

/// The keys that all hosts together read while they insert, in turns, one operation in five. The numbers of inserts differ by chance.
fn zipfian_while_inserting(hosts: u32, seed: u64) -> Vec<u64> {
    const OPERATIONS: u64 = 60_000;
    let mix = mix(RequestDistribution::Zipfian, 0.2);
    let hosts = Host::all(hosts);
    let mut generators = Host::generators(&hosts, &mix, seed, Some(OPERATIONS));
    let mut read = Vec::new();
    for turn in 0..OPERATIONS {
        let host = turn % hosts.len() as u64;
        let (is_insert, number) = step(&mut generators[host as usize]);
        if !is_insert {
            read.push(number);
        }
    }
    read
}

#[test]
fn zipfian_keys_during_inserts_do_not_depend_on_the_number_of_hosts() {
    let whole = zipfian_while_inserting(1, 1);
    let new = whole.iter().filter(|number| **number >= RECORDS).count();
    assert!(new > 10_000, "{new}");
    for hosts in [1, 2, 4] {
        let split = zipfian_while_inserting(hosts, 2);
        assert_same_law(&whole, &split, &format!("{hosts} hosts"));
    }
}

/// Hosts that have inserted different numbers of records agree on how many there are before the next point: the favourite is the same.
#[test]
fn hosts_that_agree_have_the_same_favourite() {
    let hosts = Host::all(2);
    let inserts = mix(RequestDistribution::Uniform, 1.0);
    let mut generators = Host::generators(&hosts, &inserts, SEED, None);
    for _ in 0..100 {
        step(&mut generators[0]);
    }
    for _ in 0..51 {
        step(&mut generators[1]);
    }
    let records: Vec<u64> = hosts.iter().map(|host| host.key_space.records()).collect();
    assert_eq!(records, [RECORDS + 200, RECORDS + 102]);
    let reads = mix(RequestDistribution::Zipfian, 0.0);
    // The hash of rank 0, and one key more than there are, as in YCSB.
    let favourite = 6_284_781_860_667_377_211 % (RECORDS + 102 + 1);
    assert!(favourite < RECORDS, "no host puts another in its place");
    for mut generator in Host::generators(&hosts, &reads, SEED, None) {
        let mut counts = BTreeMap::new();
        for _ in 0..10_000 {
            *counts.entry(step(&mut generator).1).or_insert(0) += 1;
        }
        let most = counts.iter().max_by_key(|(_, count)| **count).unwrap();
        assert_eq!(*most.0, favourite);
    }
}

mod slow {
    use super::*;

    #[test]
    fn a_closed_loop_has_the_streams_of_one_host() {
        for distribution in distributions() {
            // Whose turn it is decides there, not the session.
            if distribution == RequestDistribution::Sequential {
                continue;
            }
            let mut mix = mix(distribution, 0.0);
            (mix.update, mix.scan, mix.read_modify_write) = (0.5, 0.2, 0.2);
            let whole = closed_streams(&mix, 7, 1, 200);
            assert_eq!(whole.len(), 7);
            for hosts in [2, 4, 9] {
                let split = closed_streams(&mix, 7, hosts, 200);
                assert_eq!(split, whole, "{distribution:?} on {hosts} hosts");
            }
        }
    }

    #[test]
    fn arrivals_of_an_open_loop_ask_what_they_ask_on_one_host() {
        for distribution in distributions() {
            let mut mix = mix(distribution, 0.0);
            (mix.update, mix.scan, mix.read_modify_write) = (0.5, 0.2, 0.2);
            let questions = |hosts: u32| {
                let mut questions = BTreeMap::new();
                for share in shares(hosts) {
                    let key_space =
                        KeySpace::with_share(&DataSpec::with_records(RECORDS), share).unwrap();
                    let workload = Arc::new(Workload::new(&key_space, &mix, SEED, None).unwrap());
                    let mut generator = workload.generator(0);
                    let own = (0..).map(|own| share.number(own));
                    for arrival in own.take_while(|arrival| *arrival < 1_000) {
                        questions.insert(arrival, format!("{:?}", generator.at(arrival)));
                    }
                }
                questions
            };
            let whole = questions(1);
            assert_eq!(whole.len(), 1_000);
            for hosts in [2, 4, 7] {
                assert_eq!(questions(hosts), whole, "{distribution:?} on {hosts} hosts");
            }
        }
    }

    #[test]
    fn keys_after_inserts_do_not_depend_on_the_number_of_hosts() {
        for distribution in distributions() {
            let whole = read_after_inserts(distribution, 1, 1);
            for hosts in [1, 2, 4] {
                let split = read_after_inserts(distribution, hosts, 2);
                assert_same_law(&whole, &split, &format!("{distribution:?}, {hosts} hosts"));
            }
        }
    }

    #[test]
    fn hosts_load_their_own_records_and_together_all() {
        let mut data = DataSpec::with_records(700);
        (data.insert_start, data.insert_count) = (100, Some(501));
        data.field_length = FieldLength::Uniform { min: 1, max: 50 };
        let load = |hosts: u32, sessions: u32, most: Option<u64>| {
            let mut records = BTreeMap::new();
            for share in shares(hosts) {
                let key_space = KeySpace::with_share(&data, share).unwrap();
                let loader = key_space.loader(5).part(share, sessions, most);
                let own = share.sessions(sessions).len();
                let mut numbers = Vec::new();
                let mut generator = loader.generator(0);
                while let Some(Ask::Insert { key, fields, number }) = generator.next() {
                    numbers.push(number);
                    let record = (key.to_vec(), format!("{fields:?}"));
                    assert_eq!(records.insert(number, record), None);
                }
                let first = numbers.first().copied().unwrap_or(0);
                let are_neighbours =
                    numbers.iter().copied().eq(first..first + numbers.len() as u64);
                assert!(are_neighbours, "{numbers:?}");
                assert_eq!(numbers.is_empty(), own == 0, "{share:?}");
            }
            records
        };
        let whole = load(1, 4, None);
        assert!(whole.keys().copied().eq(100..601));
        for (hosts, sessions) in [(2, 4), (3, 4), (4, 4), (4, 3), (4, 1), (2, 101)] {
            assert_eq!(load(hosts, sessions, None), whole, "{hosts} {sessions}");
            let some = load(hosts, sessions, Some(203));
            assert!(some.keys().copied().eq(100..303), "{hosts} {sessions}");
        }
    }

    #[test]
    fn newest_keys_do_not_depend_on_the_number_of_hosts() {
        for distribution in [RequestDistribution::Latest, RequestDistribution::exponential()] {
            let whole = read_between_inserts(distribution, 1, 1);
            for hosts in [1, 2, 4] {
                let split = read_between_inserts(distribution, hosts, 2);
                assert_same_law(&whole, &split, &format!("{distribution:?}, {hosts} hosts"));
            }
        }
    }
}
