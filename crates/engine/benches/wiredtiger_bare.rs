//! What the WiredTiger session costs over a bare loop of the same calls on the same open database.
//!
//! `cargo bench -p plimsoll-engine --features wiredtiger --bench wiredtiger_bare -- --records 1M --seconds 5 --threads 1`
//!
//! Both read the same uniform keys, drawn beforehand, in short turns, because the machine's speed drifts. Rates are per second of the
//! thread's CPU time, so that other programs on the machine count for less. The data fits in the cache.

use plimsoll_engine::bare::{Bare, BareReader};
use plimsoll_engine::{Opening, Outcome, Session};
use plimsoll_plan::{SettingValue, Settings};
use plimsoll_record::quantities::units;
use plimsoll_workload::{Ask, DataSpec, FieldChoice, KeySpace, Stream};
use rustix::time::{ClockId, clock_gettime};
use std::process::exit;
use std::sync::Barrier;
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const TURN: Duration = Duration::from_millis(50);

struct Arguments {
    records: u64,
    seconds: u64,
    threads: usize,
}

fn arguments() -> Arguments {
    let mut arguments = Arguments { records: 1_000_000, seconds: 5, threads: 1 };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if word == "--bench" {
            continue;
        }
        let number = words
            .next()
            .and_then(|text| units::parse_count(&text).ok())
            .filter(|number| *number > 0);
        match (word.as_str(), number) {
            ("--records", Some(number)) => arguments.records = number,
            ("--seconds", Some(number)) => arguments.seconds = number,
            ("--threads", Some(number)) => arguments.threads = number as usize,
            _ => {
                eprintln!("usage: wiredtiger_bare [--records N] [--seconds N] [--threads N]");
                exit(2);
            }
        }
    }
    arguments
}

/// All keys in one piece, as the load generator has them.
struct Keys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Keys {
    fn get(&self, number: usize) -> &[u8] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.bytes[start..self.ends[number]]
    }
}

fn load(bare: &Bare, data: &DataSpec) -> Keys {
    let key_space = KeySpace::new(data).expect("YCSB's defaults are possible");
    let mut generator = key_space.loader(1).generator(0);
    let mut session = bare.engine().session().expect("a session");
    let mut keys = Keys { bytes: Vec::new(), ends: Vec::new() };
    while let Some(Ask::Insert { key, fields, .. }) = generator.next() {
        assert!(matches!(session.insert(key, fields), Outcome::Ok));
        keys.bytes.extend_from_slice(key);
        keys.ends.push(keys.bytes.len());
    }
    keys
}

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Reads for one turn and returns the operations per second of CPU time.
fn turn(order: &[u32], at: &mut usize, mut read: impl FnMut(usize)) -> f64 {
    let (begin, cpu_begin) = (Instant::now(), cpu_seconds());
    let mut operations = 0_u32;
    while begin.elapsed() < TURN {
        for _ in 0..256 {
            read(order[*at] as usize);
            *at = (*at + 1) % order.len();
        }
        operations += 256;
    }
    f64::from(operations) / (cpu_seconds() - cpu_begin)
}

/// Operations per second of the bare loop and of the session, turn by turn.
fn measure(
    mut bare: BareReader,
    mut session: Box<dyn Session>,
    keys: &Keys,
    thread: usize,
    turns: u64,
    barrier: &Barrier,
) -> Vec<(f64, f64)> {
    let mut stream = Stream::from_state(thread as u64 * 0x9e37_79b9_7f4a_7c15);
    let order: Vec<u32> =
        (0..1 << 20).map(|_| stream.below(keys.ends.len() as u64) as u32).collect();
    let (mut bare_at, mut session_at) = (0, 0);
    let mut rates = Vec::new();
    for number in 0..turns {
        let mut one = 0.0;
        let mut other = 0.0;
        // The first of one pair is the last of the next.
        for second in [false, true] {
            barrier.wait();
            if second == (number % 2 == 0) {
                one = turn(&order, &mut bare_at, |number| {
                    bare.read(number);
                });
            } else {
                other = turn(&order, &mut session_at, |number| {
                    let outcome = session.read(keys.get(number), FieldChoice::All, None);
                    assert!(matches!(outcome, Outcome::Ok));
                });
            }
        }
        rates.push((one, other));
    }
    rates
}

fn main() {
    let arguments = arguments();
    let directory = tempfile::tempdir().expect("a temporary directory");
    let data = DataSpec::with_records(arguments.records);
    let mut settings = Settings::default();
    // Twice the data and some more, so that nothing is evicted.
    let cache_bytes = 256 * 1024 * 1024 + 2 * arguments.records * 1_300;
    settings.0.insert("cache_size".into(), SettingValue::Bytes(cache_bytes));
    let opening = Opening {
        directory: Some(directory.path()),
        allocator: "mimalloc",
        ..Opening::new(&settings, &data)
    };
    let bare = Bare::open(&opening).expect("WiredTiger opens in a new directory");
    let begin = Instant::now();
    let keys = load(&bare, &data);
    println!("loaded {} records in {:.1} s", arguments.records, begin.elapsed().as_secs_f64());
    bare.engine().settle().expect("the database is opened again");
    let expected = Some(arguments.records);
    assert_eq!(bare.engine().count().expect("counted"), expected);

    // One pair of turns warms up.
    let turns = (arguments.seconds * 1_000 / (2 * TURN.as_millis() as u64)).max(1) + 1;
    let barrier = Barrier::new(arguments.threads);
    let mut rates = vec![(0.0, 0.0); turns as usize];
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for thread in 0..arguments.threads {
            let all_keys = (0..keys.ends.len()).map(|number| keys.get(number));
            let reader = bare.reader(all_keys).expect("a bare session");
            let session = bare.engine().session().expect("a session");
            let (keys, barrier) = (&keys, &barrier);
            threads
                .push(scope.spawn(move || measure(reader, session, keys, thread, turns, barrier)));
        }
        for thread in threads {
            for (sum, (one, other)) in rates.iter_mut().zip(thread.join().expect("reads succeed")) {
                sum.0 += one;
                sum.1 += other;
            }
        }
    });
    let mut ratios = Vec::new();
    let (mut bare_sum, mut session_sum) = (0.0, 0.0);
    for (one, other) in &rates[1..] {
        ratios.push(other / one);
        bare_sum += one;
        session_sum += other;
    }
    ratios.sort_by(f64::total_cmp);
    let pairs = ratios.len() as f64;
    println!("threads            {:>12}", arguments.threads);
    println!("bare loop          {:>12.0} reads per CPU second", bare_sum / pairs);
    println!("Session::read      {:>12.0} reads per CPU second", session_sum / pairs);
    println!(
        "ratio, median of {:>2} {:>11.4}  ({:.4} to {:.4})",
        ratios.len(),
        ratios[ratios.len() / 2],
        ratios[0],
        ratios[ratios.len() - 1]
    );
    bare.close().expect("all sessions are gone");
}
