//! What a read and an update cost three clients: a bare socket with messages that were written before, the lean client, and the official
//! driver, side by side. With reads only, the lean client also sends an application's operations: finds by `_id` of documents as large,
//! from a mix of one operation and from one of 32.
//!
//! `cargo bench -p plimsoll-engine --bench client -- --pairs 20`
//!
//! `--uri mongodb://HOST:PORT` asks a real server, into which 200,000 records are loaded first, into a database of its own that is dropped
//! in the end. Otherwise it is a stub: a process of its own that answers at once, so that what is seen is the client. `--mix a` has as
//! many updates as reads, `--sessions 1,4,16` are the numbers of connections.
//!
//! The clients take short turns one after the other, because the machine's speed drifts, and who begins changes. Costs are in CPU time of
//! the whole client process. The lean client draws its questions as it goes, as it does in a run; the driver does so too.

mod bare;
#[cfg(feature = "mongodb")]
mod driver;
mod lean;
mod own;
mod questions;
mod stub;
mod turn;

use plimsoll_engine::mongo::{Host, LeanClient, LeanOptions};
use plimsoll_workload::Ask;
use questions::Questions;
use std::process::exit;
use turn::Cost;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Records of a real server.
const RECORDS: u64 = 200_000;

struct Arguments {
    server: Option<Host>,
    mix: String,
    pairs: usize,
    operations: u64,
    sessions: Vec<usize>,
}

fn arguments() -> Result<Arguments, String> {
    let mut arguments = Arguments {
        server: None,
        mix: "c".into(),
        pairs: 11,
        operations: 40_000,
        sessions: vec![1, 4, 16],
    };
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    while let Some(word) = words.next() {
        let value = words.next().ok_or(format!("{word} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{word} needs a number"));
        match word.as_str() {
            "--uri" => arguments.server = Some(host(&value)?),
            "--mix" => arguments.mix = value,
            "--pairs" => arguments.pairs = number()?.max(1) as usize,
            "--operations" => arguments.operations = number()?.max(1),
            "--sessions" => {
                let sessions = value.split(',').map(str::parse);
                arguments.sessions = sessions
                    .collect::<Result<_, _>>()
                    .map_err(|_| "--sessions needs numbers with commas".to_owned())?;
            }
            _ => return Err(format!("there is no {word}")),
        }
    }
    Ok(arguments)
}

fn host(uri: &str) -> Result<Host, String> {
    let address = uri.strip_prefix("mongodb://").unwrap_or(uri);
    let parts = address.trim_end_matches('/').rsplit_once(':');
    let host = parts.and_then(|(host, port)| {
        Some(Host::Tcp { host: host.to_owned(), port: port.parse().ok()? })
    });
    host.ok_or_else(|| "--uri takes mongodb://HOST:PORT".to_owned())
}

/// The clients that are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Client {
    Bare,
    Lean,
    /// The lean client with an application's operations: a mix of as many.
    Own(usize),
    #[cfg(feature = "mongodb")]
    Driver,
}

impl Client {
    const ALL: &[Self] = &[
        Self::Bare,
        Self::Lean,
        Self::Own(1),
        Self::Own(32),
        #[cfg(feature = "mongodb")]
        Self::Driver,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Bare => "bare socket",
            Self::Lean => "lean client",
            Self::Own(1) => "1 own op",
            Self::Own(_) => "32 own ops",
            #[cfg(feature = "mongodb")]
            Self::Driver => "driver",
        }
    }

    fn turn(self, options: &LeanOptions, questions: &Questions, sessions: usize) -> Cost {
        match self {
            Self::Own(operations) => own::turn(options, questions, sessions, operations),
            Self::Bare => bare::turn(options, questions, sessions),
            Self::Lean => lean::turn(options, questions, sessions),
            #[cfg(feature = "mongodb")]
            Self::Driver => driver::turn(options, questions, sessions),
        }
    }
}

fn load(options: &LeanOptions, questions: &Questions) {
    let mut options = options.clone();
    options.batch = 1_000;
    let mut client = LeanClient::connect(&options).expect("the server is there");
    let mut loader = questions.key_space().loader(1).generator(0);
    while let Some(Ask::Insert { key, fields, .. }) = loader.next() {
        client.insert(key, fields).expect("the record is stored");
    }
    if let Some(flushed) = client.flush() {
        flushed.expect("the last records are stored");
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn compare(
    options: &LeanOptions,
    questions: &Questions,
    sessions: usize,
    pairs: usize,
    has_own: bool,
) {
    // A server's documents are YCSB's.
    let is_own = |client: &&Client| matches!(client, Client::Own(_));
    let clients: Vec<Client> =
        Client::ALL.iter().filter(|client| has_own || !is_own(client)).copied().collect();
    let mut costs: Vec<Vec<Cost>> = vec![Vec::new(); clients.len()];
    for round in 0..=pairs {
        for place in 0..clients.len() {
            let index = (round + place) % clients.len();
            let cost = clients[index].turn(options, questions, sessions);
            // The first round warms up.
            if round > 0 {
                costs[index].push(cost);
            }
        }
    }
    for (client, own) in clients.iter().zip(&costs) {
        let over_bare =
            own.iter().zip(&costs[0]).map(|(own, bare)| own.per_second / bare.per_second);
        let over_lean = own.iter().zip(&costs[1]).map(|(own, lean)| own.cpu_ns / lean.cpu_ns);
        println!(
            "{sessions:3} sessions  {:12} {:6.2} µs of CPU time per operation ({:6.2} at least; {:5.3} × the lean client's)  {:9.0} op/s  {:5.3} × the bare socket's",
            client.name(),
            median(own.iter().map(|cost| cost.cpu_ns)) / 1e3,
            own.iter().map(|cost| cost.cpu_ns).fold(f64::INFINITY, f64::min) / 1e3,
            median(over_lean),
            median(own.iter().map(|cost| cost.per_second)),
            median(over_bare),
        );
    }
}

fn main() {
    if std::env::args().nth(1).as_deref() == Some("--stub") {
        stub::serve();
    }
    let arguments = arguments().unwrap_or_else(|problem| {
        eprintln!("client: {problem}");
        eprintln!(
            "usage: client [--uri URI] [--mix a|c] [--pairs N] [--operations N] [--sessions N,...]"
        );
        exit(2);
    });
    let questions = Questions::new(RECORDS, &arguments.mix, arguments.operations);
    let (stub, host) = match &arguments.server {
        Some(host) => (None, host.clone()),
        None => {
            let stub = stub::Stub::start();
            let port = stub.port;
            let host = Host::Tcp { host: "127.0.0.1".into(), port };
            (Some(stub), host)
        }
    };
    let database = format!("plimsoll_bench_{}", std::process::id());
    let options = LeanOptions::new(host, database, questions.key_space().data());
    if stub.is_none() {
        load(&options, &questions);
        println!("{RECORDS} records are loaded");
    }
    println!(
        "workload {}, {} turns of {} operations each, medians",
        arguments.mix, arguments.pairs, arguments.operations
    );
    for sessions in &arguments.sessions {
        let has_own = stub.is_some() && arguments.mix == "c";
        compare(&options, &questions, *sessions, arguments.pairs, has_own);
    }
    if stub.is_none() {
        let mut client = LeanClient::connect(&options).expect("the server is there");
        let drop = bson::doc! { "dropDatabase": 1 };
        let drop = drop.to_vec().expect("it is a document");
        let dropped = client.command(&options.database, &drop);
        dropped.expect("the records are removed");
    }
}
