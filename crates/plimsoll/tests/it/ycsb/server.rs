//! The binding `mongodb` against real servers.

use super::{read, ycsb};
use crate::laboratory::{Laboratory, wait_until};
use plimsoll_testing::{Need, has};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Servers that speak MongoDB's protocol.
const SERVERS: [&str; 2] = ["ferretdb", "mongod"];

/// One server with its data in a folder. It ends when this is dropped.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    /// Starts it, or says that it is not here.
    fn start_or_skip(test: &str, name: &str, folder: &Path) -> Option<Self> {
        let test = format!("{test} with {name}");
        if !has(&test, &[Need::Server(name)]) {
            return None;
        }
        let program = plimsoll_testing::server(name).unwrap();
        std::fs::create_dir_all(folder).unwrap();
        let data = folder.display();
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let mut command = Command::new(program);
        match name {
            "ferretdb" => command.args([
                "--handler=sqlite".to_owned(),
                format!("--sqlite-url=file:{data}/"),
                format!("--state-dir={data}"),
                "--telemetry=disable".into(),
                format!("--listen-addr=127.0.0.1:{port}"),
                "--debug-addr=-".into(),
            ]),
            _ => command.args([
                format!("--dbpath={data}"),
                format!("--port={port}"),
                "--bind_ip=127.0.0.1".into(),
            ]),
        };
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let server = Self { child, port };
        wait_until("the server to listen", || {
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        Some(server)
    }

    fn options(&self) -> String {
        format!(
            "-p mongodb.url=mongodb://127.0.0.1:{}/mine -p dataintegrity=true",
            self.port
        )
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn every_workload_on_a_server() {
    for name in SERVERS {
        let laboratory = Laboratory::new();
        let test = "every_workload_on_a_server";
        let Some(server) = Server::start_or_skip(test, name, &laboratory.path("server")) else {
            continue;
        };
        for (number, letter) in ['a', 'b', 'c', 'd', 'e', 'f'].into_iter().enumerate() {
            let client = ["lean", "driver"][number % 2];
            // Scans of one of these servers read whole collections.
            let asked: u64 = if letter == 'e' { 20 } else { 200 };
            let options = format!(
                "-P @{letter} {} -p recordcount=200 -p operationcount={asked} -p maxscanlength=5 -p table={letter} -p plimsoll.client={client} -threads 2",
                server.options()
            );
            let loaded = read(&ycsb(&laboratory, &format!("load mongodb {options}")), 0);
            assert_eq!(loaded.value("INSERT", "Return=OK"), 200.0);
            assert!(
                loaded.preamble[1]
                    .starts_with("mongo client connection created with mongodb://127.0.0.1")
            );
            let ran = read(&ycsb(&laboratory, &format!("run mongodb {options}")), 0);
            let of = |name| ran.operations(name);
            let whole = match letter {
                'f' => of("READ"),
                _ => of("READ") + of("UPDATE") + of("INSERT") + of("SCAN"),
            };
            assert_eq!(whole, asked, "{name} {letter}");
            let verified = ran
                .blocks
                .get("VERIFY")
                .map_or(0.0, |block| block["Return=OK"]);
            assert_eq!(verified, of("READ") as f64, "{name} {letter}");
        }
    }
}

#[test]
fn the_last_batch_is_sent() {
    for name in SERVERS {
        let laboratory = Laboratory::new();
        let Some(server) =
            Server::start_or_skip("the_last_batch_is_sent", name, &laboratory.path("server"))
        else {
            continue;
        };
        let options = format!(
            "-P @c {} -p recordcount=100 -p operationcount=100",
            server.options()
        );
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
        let upserted = read(
            &ycsb(&laboratory, &format!("{load} -p mongodb.upsert=true")),
            0,
        );
        assert_eq!(upserted.operations("INSERT"), 100);
    }
}

#[test]
fn no_server_is_a_clear_failure_without_passwords() {
    let laboratory = Laboratory::new();
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let said = ycsb(
        &laboratory,
        &format!(
            "load mongodb -P @c -p mongodb.url=mongodb://me:s3cret@127.0.0.1:{port}/x?serverSelectionTimeoutMS=200"
        ),
    );
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains(&port.to_string()), "{}", said.err);
    assert!(
        !said.err.contains("s3cret") && !said.out.contains("s3cret"),
        "{said:?}"
    );
}

/// Nothing listens at the address, so that what is said is that, and not that an option is wrong.
#[test]
fn options_that_the_java_driver_accepts_are_accepted() {
    let laboratory = Laboratory::new();
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
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
            &[
                "mongodb.url: compression has no effect",
                "mongodb.url: maxPoolSize has no effect",
            ][..],
        ),
        (
            &every,
            &[
                "mongodb.url: fsync has no effect",
                "mongodb.url: replicaSet has no effect",
            ],
        ),
        (
            "serverSelectionTimeoutMS=100&tls=true&tlsInsecure=true",
            &[],
        ),
    ] {
        let said = ycsb(
            &laboratory,
            &format!(
                "load mongodb -P @c -p mongodb.url=mongodb://me:s3cret@127.0.0.1:{port}/x?{options}"
            ),
        );
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.err.contains("Connection refused"), "{}", said.err);
        for words in says {
            assert!(said.err.contains(words), "{words}: {}", said.err);
        }
        assert!(!said.err.contains("s3cret"), "{}", said.err);
    }
}
