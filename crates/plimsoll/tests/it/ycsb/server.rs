//! The binding `mongodb` against real servers.

use super::{read, ycsb};
use crate::laboratory::{Laboratory, Said};
use plimsoll_testing::servers::{Kind, Server, closed_port};
use plimsoll_testing::{assert_contains, assert_starts};

fn options(server: &Server) -> String {
    let port = server.port;
    format!("-p mongodb.url=mongodb://127.0.0.1:{port}/mine -p dataintegrity=true")
}

/// At a port at which nothing listens.
fn nowhere(laboratory: &Laboratory, options: &str) -> (u16, Said) {
    let port = closed_port();
    let url = format!("mongodb://me:s3cret@127.0.0.1:{port}/x?{options}");
    let said = ycsb(laboratory, &format!("load mongodb -P @c -p mongodb.url={url}"));
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(!format!("{said:?}").contains("s3cret"), "{said:?}");
    (port, said)
}

#[test]
fn no_server_is_a_clear_failure_without_passwords() {
    let laboratory = Laboratory::new();
    let (port, said) = nowhere(&laboratory, "serverSelectionTimeoutMS=200");
    assert_contains(&said.err, &port.to_string());
}

/// Nothing listens at the address, so that what is said is that, and not that an option is wrong.
#[test]
fn options_that_the_java_driver_accepts_are_accepted() {
    let laboratory = Laboratory::new();
    let mut every = String::from("serverSelectionTimeoutMS=100&w=1&j=true&compression=snappy");
    for option in [
        "maxPoolSize=100000",
        "minPoolSize=10",
        "maxIdleTimeMS=5",
        "maxLifeTimeMS=5",
        "maxConnecting=5",
        "waitQueueMultiple=10",
        "waitQueueTimeoutMS=-1",
        "connectTimeoutMS=1000",
        "socketTimeoutMS=1000",
        "heartbeatFrequencyMS=100",
        "localThresholdMS=5",
        "serverMonitoringMode=poll",
        "retryWrites=1",
        "retryReads=yes",
        "readConcernLevel=majority",
        "readPreference=secondaryPreferred",
        "readPreferenceTags=dc:ny",
        "readPreferenceTags=dc:nj",
        "maxStalenessSeconds=120",
        "appName=PerfKit",
        "uuidRepresentation=standard",
        "compressors=zlib,snappy",
        "zlibCompressionLevel=5",
        "directConnection=false",
        "authSource=admin",
        "wtimeout=500",
        "slaveOk=true",
        "safe=true",
        "fsync=true",
        "timeoutMS=1000",
        "replicaSet=",
    ] {
        every.push('&');
        every.push_str(option);
    }
    for (options, says) in [
        (
            "serverSelectionTimeoutMS=100&w=1&j=true&compression=snappy&maxPoolSize=100000",
            &["mongodb.url: compression has no effect", "mongodb.url: maxPoolSize has no effect"][..],
        ),
        (&every, &["mongodb.url: fsync has no effect", "mongodb.url: replicaSet has no effect"]),
        ("serverSelectionTimeoutMS=100&tls=true&tlsInsecure=true", &[]),
    ] {
        let (_, said) = nowhere(&laboratory, options);
        assert_contains(&said.err, "Connection refused");
        for words in says {
            assert_contains(&said.err, words);
        }
    }
}

mod slow {
    use super::*;

    #[test]
    fn every_workload_on_a_server() {
        for kind in Kind::there() {
            let (laboratory, server) = (Laboratory::new(), Server::start(kind));
            for (number, letter) in ['a', 'b', 'c', 'd', 'e', 'f'].into_iter().enumerate() {
                let client = ["lean", "driver"][number % 2];
                // Scans of one of these servers read whole collections.
                let requested: u64 = if letter == 'e' { 20 } else { 200 };
                let options = format!(
                    "-P @{letter} {} -p recordcount=200 -p operationcount={requested} -p maxscanlength=5 -p table={letter} -p plimsoll.client={client} -threads 2",
                    options(&server)
                );
                let loaded = read(&ycsb(&laboratory, &format!("load mongodb {options}")), 0);
                assert_eq!(loaded.value("INSERT", "Return=OK"), 200.0);
                let connected = "mongo client connection created with mongodb://127.0.0.1";
                assert_starts(&loaded.preamble[1], connected);
                let ran = read(&ycsb(&laboratory, &format!("run mongodb {options}")), 0);
                let of = |name| ran.operations(name);
                let whole = match letter {
                    'f' => of("READ"),
                    _ => of("READ") + of("UPDATE") + of("INSERT") + of("SCAN"),
                };
                assert_eq!(whole, requested, "{kind:?} {letter}");
                let verified = ran.blocks.get("VERIFY");
                let verified = verified.map_or(0.0, |block| block["Return=OK"]);
                assert_eq!(verified, of("READ") as f64, "{kind:?} {letter}");
            }
        }
    }

    #[test]
    fn the_last_batch_is_sent() {
        for kind in Kind::there() {
            let (laboratory, server) = (Laboratory::new(), Server::start(kind));
            let options = options(&server);
            let options = format!("-P @c {options} -p recordcount=100 -p operationcount=100");
            let load = format!("load mongodb {options} -p batchsize=30 -threads 2");
            let loaded = read(&ycsb(&laboratory, &load), 0);
            // Of 50 records in each session one batch fills, and 20 are left for the last.
            assert_eq!(loaded.value("INSERT", "Return=OK"), 2.0);
            assert_eq!(loaded.value("INSERT", "Return=BATCHED_OK"), 98.0);
            assert_eq!(loaded.value("FLUSH", "Return=OK"), 2.0);
            let ran = read(&ycsb(&laboratory, &format!("run mongodb {options}")), 0);
            assert_eq!(ran.value("READ", "Return=OK"), 100.0);
            assert_eq!(ran.value("VERIFY", "Return=OK"), 100.0);
            // The same records once more, in place of those that are there.
            let upserted = ycsb(&laboratory, &format!("{load} -p mongodb.upsert=true"));
            let upserted = read(&upserted, 0);
            assert_eq!(upserted.operations("INSERT"), 100);
        }
    }
}
