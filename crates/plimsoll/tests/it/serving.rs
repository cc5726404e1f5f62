//! `plimsoll serve`, over the network, with a client of a few lines.

use crate::laboratory::{Laboratory, Running, wait_until};
use crate::stores::{TINY, with_a_record};
use plimsoll_record::{RigRecord, TraceReference};
use plimsoll_store::Store;
use plimsoll_testing::assert_contains;
use plimsoll_trace::{Head, Writer};
use rustix::process::Signal;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

/// Two arms in two blocks, each run some tenths of a second.
pub const SHORT: &str = "
plimsoll: 1
name: short
question: Are two servers faster than one?
workload: {records: 10, preset: c}
defaults: {engine: simulated, service: constant, service_mean: 1ms}
arms: {one: , two: {servers: 2}}
load: {closed: {threads: 1}}
measurement: {warm_up: 0s, duration: 400ms, blocks: 2}
";

pub struct Serving {
    running: Running,
    pub address: SocketAddr,
    pub token: String,
}

impl Serving {
    pub fn start(laboratory: &Laboratory, arguments: &[&str]) -> Self {
        let mut all = vec!["serve", "--listen", "0"];
        all.extend(arguments);
        let running = laboratory.start_apart("serve", &all);
        let out = laboratory.path("serve-out");
        let mut url = String::new();
        wait_until("the server to say where it is", || {
            url = fs::read_to_string(&out).unwrap_or_default();
            url.ends_with('\n')
        });
        let url = url.trim().to_owned();
        let rest = url.strip_prefix("http://").unwrap();
        let (address, token) = rest.split_once("/?token=").unwrap();
        let (address, token) = (address.parse().unwrap(), token.to_owned());
        Self { running, address, token }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        let patience = Some(Duration::from_secs(90));
        stream.set_read_timeout(patience).unwrap();
        stream
    }

    /// Sends the lines of a head and reads to the end.
    fn send(&self, lines: &[&str]) -> (u16, String) {
        let mut stream = self.connect();
        // At once: the server may close as soon as it has read enough to refuse.
        let head = format!("{}\r\nConnection: close\r\n\r\n", lines.join("\r\n"));
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer)
    }

    fn get(&self, path: &str) -> (u16, String) {
        let host = format!("Host: {}", self.address);
        let bearer = format!("Authorization: Bearer {}", self.token);
        self.send(&[&format!("GET {path} HTTP/1.1"), &host, &bearer])
    }

    /// A page that must be there.
    pub fn page(&self, path: &str) -> String {
        let (status, answer) = self.get(path);
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    /// The lines of an event stream.
    fn events(&self, path: &str) -> impl Iterator<Item = String> + use<> {
        let mut stream = self.connect();
        let (host, token) = (self.address, &self.token);
        let bearer = format!("Authorization: Bearer {token}");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n{bearer}\r\n\r\n").unwrap();
        BufReader::new(stream).lines().map_while(Result::ok)
    }

    pub fn end(self) {
        self.running.send(Signal::INT);
        let said = self.running.end();
        assert_eq!(said.code, Some(0), "{said:?}");
        assert!(!said.err.contains("panicked"), "{said:?}");
    }
}

/// Options of MongoDB's connection strings, and one that there is not.
#[cfg(feature = "mongodb")]
const OPTIONS: &str = "appName authMechanism authMechanismProperties authSource compressors connectTimeoutMS \
    directConnection heartbeatFrequencyMS journal loadBalanced localThresholdMS maxConnecting maxIdleTimeMS \
    maxPoolSize maxStalenessSeconds minPoolSize proxyHost proxyPassword proxyPort proxyUsername readConcernLevel \
    readPreference readPreferenceTags replicaSet retryReads retryWrites serverMonitoringMode \
    serverSelectionTimeoutMS serverSelectionTryOnce socketTimeoutMS srvMaxHosts srvServiceName ssl \
    sslClientCertificateKeyPassword sslPEMKeyPassword timeoutMS tls tlsAllowInvalidCertificates \
    tlsAllowInvalidHostnames tlsCAFile tlsCertificateKeyFile tlsCertificateKeyFilePassword \
    tlsDisableCertificateRevocationCheck tlsDisableOCSPEndpointCheck tlsInsecure w waitQueueTimeoutMS wTimeoutMS \
    zlibCompressionLevel sslPEMPassword tls%43ertificateKeyFilePassword %70assword password tomorrow";

mod slow {
    use super::*;

    /// Two clients follow a run, and both see it to its end.
    #[test]
    fn an_experiment_is_followed_to_its_end() {
        let laboratory = Laboratory::new();
        laboratory.write("experiment.yaml", SHORT);
        let serving = Serving::start(&laboratory, &[]);
        let mut run = laboratory.start(&["run", "experiment.yaml"]);
        let record = laboratory
            .wait_for_record(&mut run, |record| !record.runs.is_empty())
            .expect("a run takes longer than a look at the store");
        let path = format!("/experiment/{}/live", record.id);
        let (mut first, second) = (serving.events(&path), serving.events(&path));
        let live = serving.page(&format!("/experiment/{}", record.id));
        assert_contains(&live, &format!("data-live=\"{path}\""));
        assert!(serving.page("/").contains("</span> running</span>"));
        let snapshot = first.find(|line| line.starts_with("event:"));
        assert_eq!(snapshot.unwrap(), "event: snapshot");
        for mut events in [Box::new(first) as Box<dyn Iterator<Item = String>>, Box::new(second)] {
            let mut last = String::new();
            let ended = events.any(|line| {
                if line.starts_with("data: {\"runs") || line.starts_with("data: {\"arms") {
                    last.clone_from(&line);
                }
                line == "event: end"
            });
            assert!(ended, "{last}");
            assert_contains(&last, "\"runs_finished\":4,");
        }
        assert!(matches!(run.end().code, Some(0 | 106)));
        let page = serving.page(&format!("/experiment/{}", record.id));
        assert!(!page.contains("data-live=\"") && page.contains("Are two servers faster"));
        serving.end();
    }

    #[test]
    fn the_pages_of_a_store() {
        let (laboratory, record) = with_a_record();
        let serving = Serving::start(&laboratory, &[]);
        assert!(serving.address.ip().is_loopback());
        let list = serving.page("/");
        assert!(list.contains(&format!("/experiment/{}", record.id)) && list.contains("finished"));
        let page = serving.page(&format!("/experiment/{}", record.id));
        assert!(page.contains("<svg") && !page.contains("data-live=\""));
        let again = serving.page(&format!("/experiment/{}", record.id));
        let body = |answer: &str| answer.split_once("\r\n\r\n").unwrap().1.to_owned();
        assert_eq!(body(&page), body(&again));
        let same = format!("/compare?first={0}:one&second={0}:one", record.id);
        let named = format!("one ({0}) against one ({0})", record.id);
        assert!(serving.page(&same).contains(&named));
        assert!(serving.page("/history/tiny").contains("tiny over time"));
        let (status, json) = serving.get(&format!("/experiment/{}/files/record.json", record.id));
        assert_eq!(status, 200);
        assert!(json.contains(&record.plan_hash));
        assert_eq!(serving.get("/experiment/nothing").0, 404);
        serving.end();
    }

    #[test]
    fn a_place_without_a_store() {
        let laboratory = Laboratory::new();
        let serving = Serving::start(&laboratory, &[]);
        let advice = "plimsoll run studies/quickstart.yaml";
        assert_contains(serving.page("/"), advice);
        assert!(!laboratory.store().exists());
        let token = fs::read_to_string(laboratory.store().with_file_name("serve-token"));
        assert_eq!(token.unwrap().trim(), serving.token);
        // What is run now appears without the server being started again, valid or not.
        let code = laboratory.experiment(TINY).code;
        assert!([Some(0), Some(106)].contains(&code), "{code:?}");
        assert!(serving.page("/").contains("tiny"));
        serving.end();
    }

    /// SIGTERM ends it also while a client follows.
    #[test]
    fn it_ends_while_somebody_looks_and_on_both_signals() {
        let laboratory = Laboratory::new();
        let mut run = laboratory.start_experiment(SHORT.replace("400ms", "60s"));
        let record =
            laboratory.wait_for_record(&mut run, |record| !record.runs.is_empty()).unwrap();
        for signal in [Signal::INT, Signal::TERM] {
            let serving = Serving::start(&laboratory, &[]);
            let mut events = serving.events(&format!("/experiment/{}/live", record.id));
            assert!(events.any(|line| line == "event: snapshot"));
            serving.running.send(signal);
            assert_eq!(serving.running.end().code, Some(0));
            assert_eq!(events.filter(|line| line == "event: end").count(), 0);
        }
        run.send(Signal::INT);
        assert_eq!(run.end().code, Some(105));
        // Its program ended before its time, which the list says.
        let serving = Serving::start(&laboratory, &[]);
        assert!(serving.page("/").contains("interrupted"));
        serving.end();
    }

    #[test]
    fn who_is_not_meant_is_refused() {
        let (laboratory, record) = with_a_record();
        let serving = Serving::start(&laboratory, &[]);
        let host = format!("Host: {}", serving.address);
        for lines in [
            &["GET / HTTP/1.1", "Host: rebound.example"][..],
            &["GET / HTTP/1.1", &host, "Origin: http://evil.example"],
            &["GET / HTTP/1.1", &host, "Sec-Fetch-Site: cross-site"],
            &["GET / HTTP/1.0"],
        ] {
            assert_eq!(serving.send(lines).0, 403, "{lines:?}");
        }
        assert_eq!(serving.send(&["POST / HTTP/1.1", &host]).0, 405);
        let long = format!("X: {}", "x".repeat(40_000));
        let (status, _) = serving.send(&["GET / HTTP/1.1", &host, &long]);
        assert!(matches!(status, 400 | 431), "{status}");
        serving.end();

        // A second one on the same port fails and says so.
        let first = Serving::start(&laboratory, &[]);
        let taken = laboratory.run(&["serve", "--listen", &first.address.to_string()]);
        assert_eq!(taken.code, Some(1));
        assert_contains(&taken.err, "is taken");
        first.end();

        for others in ["203.0.113.7:0", "0.0.0.0", "[::]:80"] {
            let refused = laboratory.run(&["serve", "--listen", others]);
            assert_eq!(refused.code, Some(2), "{refused:?}");
            assert_contains(&refused.err, "can be reached from other machines");
            assert_contains(&refused.err, "ssh -L");
        }

        let token = laboratory.write("token", "short");
        fs::set_permissions(token, fs::Permissions::from_mode(0o600)).unwrap();
        let unfit = laboratory.run(&["serve", "--listen", "0", "--token-file", "token"]);
        assert_eq!(unfit.code, Some(1));
        assert_contains(&unfit.err, "holds no token");

        // One that others cannot read.
        let token = laboratory.write("token", "0123456789abcdef0123\n");
        fs::set_permissions(token, fs::Permissions::from_mode(0o644)).unwrap();
        let exposed = laboratory.run(&["serve", "--listen", "0", "--token-file", "token"]);
        assert_eq!(exposed.code, Some(1));
        assert_contains(&exposed.err, "`chmod 600 token`");
        let private = fs::Permissions::from_mode(0o600);
        fs::set_permissions(laboratory.path("token"), private).unwrap();
        let serving = Serving::start(&laboratory, &["--token-file", "token"]);
        assert_eq!(serving.token, "0123456789abcdef0123");
        let page = format!("/experiment/{}", record.id);
        let host = format!("Host: {}", serving.address);
        let get = format!("GET {page} HTTP/1.1");
        assert_eq!(serving.send(&[&get, &host]).0, 401);
        assert_eq!(serving.get(&page).0, 200);
        serving.end();

        // One that was made is the same at the next start, so that an open page goes on.
        let first = Serving::start(&laboratory, &[]);
        let token = first.token.clone();
        first.end();
        let second = Serving::start(&laboratory, &[]);
        assert_eq!(second.token, token);
        second.end();
    }

    /// A record from elsewhere may name any file as a trace, so that a mistake in the server would give away all files of its user.
    #[test]
    fn the_server_reaches_nothing_but_its_store() {
        let (laboratory, record) = with_a_record();
        let traces = laboratory.store().with_file_name("traces");
        fs::create_dir_all(&traces).unwrap();
        let (ours, other) = (traces.join("disk.trace"), laboratory.path("disk.trace"));
        let mut foreign = record.clone();
        foreign.id = "foreign".to_owned();
        for path in [&ours, &other] {
            let disk = plimsoll_record::DiskSpec::unlimited(1 << 30);
            drop(Writer::create(path, 10, &Head::new(&disk)).unwrap());
            let mut run = record.runs[0].clone();
            run.block = foreign.runs.len() as u32;
            run.rig = Some(RigRecord {
                trace: Some(TraceReference { path: path.clone(), requests: 0, overwritten: 0 }),
                ..RigRecord::default()
            });
            foreign.runs.push(run);
        }
        let mut store = Store::open(&laboratory.store()).unwrap();
        store.import(foreign).unwrap();
        drop(store);
        let serving = Serving::start(&laboratory, &[]);
        let process = Path::new("/proc").join(serving.running.id().to_string());
        for thread in fs::read_dir(process.join("task")).unwrap() {
            let status = fs::read_to_string(thread.unwrap().path().join("status")).unwrap();
            assert_contains(&status, "NoNewPrivs:\t1");
        }
        // The run before them kept none.
        let file = |number: usize| {
            let name = format!("trace-{number}-block-{number}-one.iolog");
            serving.get(&format!("/experiment/foreign/files/{name}"))
        };
        let (status, answer) = file(2);
        assert_eq!(status, 200, "{answer}");
        let (status, answer) = file(3);
        let said = fs::read_to_string(laboratory.path("serve-err")).unwrap();
        if said.contains("confine") {
            plimsoll_testing::skip("serving: a file beside the store", &said);
        } else {
            assert_eq!(status, 404, "{answer}");
            assert_contains(&answer, "beside the store");
        }
        serving.end();
    }

    /// What a program left in the log of the store when it was killed is found, also by a server that may write nowhere else.
    #[test]
    fn a_store_whose_writer_was_killed_is_served() {
        let (laboratory, record) = with_a_record();
        let mut writer = Store::open(&laboratory.store()).unwrap();
        let mut other = record;
        other.id = "9b2c".to_owned();
        writer.import(other).unwrap();
        let copy = laboratory.path("copy");
        fs::create_dir(&copy).unwrap();
        for name in ["plimsoll.db", "plimsoll.db-wal"] {
            fs::copy(laboratory.store().with_file_name(name), copy.join(name)).unwrap();
        }
        drop(writer);
        let copied = copy.join("plimsoll.db");
        let serving = Serving::start(&laboratory, &["--store", copied.to_str().unwrap()]);
        assert!(serving.page("/").contains("/experiment/9b2c"));
        assert!(serving.page("/experiment/9b2c").contains("<svg"));
        serving.end();
    }

    /// What a URI holds is redacted before it is stored, said or written, so nothing can show it: neither a password, nor what any option holds, which
    /// each driver's message about it may quote.
    #[cfg(feature = "mongodb")]
    #[test]
    fn nothing_shows_a_secret() {
        plimsoll_testing::needs!([plimsoll_testing::Need::Server("mongod")]);
        const SECRET: &str = "hunter2secret";
        let laboratory = Laboratory::new();
        let mut all = String::new();
        let mut arms = String::from("{");
        for (number, name) in OPTIONS.split_whitespace().enumerate() {
            all.push_str(&format!("&{name}={SECRET}"));
            // Alone as well, so that each is refused for itself.
            arms.push_str(&format!(
                "a{number}: {{engine: mongodb, uri: 'mongodb://127.0.0.1:9/?{name}={SECRET}'}}, "
            ));
        }
        // Where the scheme or its slashes were forgotten.
        let slips = [
            format!("ada:{SECRET}@127.0.0.1:9"),
            format!("mongodb:ada:{SECRET}@127.0.0.1:9"),
            format!("mongodb:/ada:{SECRET}@127.0.0.1:9/?w=1"),
            format!("//ada:{SECRET}@127.0.0.1:9"),
            format!("127.0.0.1:9/?password={SECRET}"),
            format!("?password={SECRET}"),
        ];
        let slipped: String = slips
            .iter()
            .enumerate()
            .map(|(number, uri)| format!("s{number}: {{engine: mongodb, uri: '{uri}'}}, "))
            .collect();
        arms.push_str(&slipped);
        let password = format!("mongodb://ada:{SECRET}@127.0.0.1:9/?serverSelectionTimeoutMS=100");
        arms.push_str(&format!(
        "b: {{engine: mongodb, uri: '{password}'}}, c: {{engine: mongodb, uri: '{password}{all}'}}}}"
    ));
        let text = |arms: &str| {
            format!(
                "
plimsoll: 1
name: secretive
workload: {{records: 10, preset: c}}
arms: {arms}
load: {{closed: {{threads: 1}}}}
measurement: {{warm_up: 0s, duration: 1s, blocks: 1}}
"
            )
        };
        let shows = |what: &str, text: &str| assert!(!text.contains(SECRET), "{what}: {text}");

        // Mistakes are underlined in the text of the file.
        let mistaken = laboratory.experiment(text(&format!(
            "{{{slipped}one: {{engine: mongodb, uri: '{password}{all}', colour: red}}}}"
        )));
        assert_eq!(mistaken.code, Some(104), "{mistaken:?}");
        shows("the mistake", &format!("{mistaken:?}"));

        // Few enough to be waited for are run; the rest is planned.
        let planned = laboratory.write("all.yaml", text(&arms));
        let planned = planned.to_str().unwrap();
        for words in [&["plan", planned][..], &["plan", planned, "--json"]] {
            let said = laboratory.run(words);
            assert!(said.out.contains("a7"), "{said:?}");
            shows("the plan", &format!("{said:?}"));
        }
        let mut refused = vec![password.clone(), format!("{password}{all}")];
        for option in
            ["authMechanismProperties", "readPreference", "serverMonitoringMode", "compressors"]
        {
            refused.push(format!("mongodb://127.0.0.1:9/?{option}={SECRET}"));
        }
        for uri in refused.iter().chain(&slips) {
            let arm = format!("{{one: {{engine: mongodb, uri: '{uri}'}}}}");
            let said = laboratory.experiment(text(&arm));
            assert!(matches!(said.code, Some(1 | 104)), "{said:?}");
            shows("what was refused", &format!("{said:?}"));
        }

        // What a server takes is run, and kept.
        let standing = crate::servers::RunningMongod::start(&laboratory);
        let taken = format!("mongodb://127.0.0.1:{}/?appName={SECRET}", standing.port);
        let arm = format!("{{engine: mongodb, uri: '{taken}', existing: drop}}");
        let said = laboratory.experiment(text(&format!("{{b: {arm}, c: {arm}}}")));
        assert_eq!(said.code, Some(0), "{said:?}");
        shows("the run", &format!("{said:?}"));
        let id = laboratory.record().id;
        shows("the store", &format!("{:?}", laboratory.record()));
        for words in [
            &["report"][..],
            &["report", "--json"],
            &["list", "--json"],
            &["export", "--to", "exported"],
        ] {
            shows("the report", &format!("{:?}", laboratory.run(words)));
        }
        for entry in fs::read_dir(laboratory.path("exported")).unwrap() {
            let bytes = fs::read(entry.unwrap().path()).unwrap();
            shows("an export", &String::from_utf8_lossy(&bytes));
        }
        let store = fs::read(laboratory.store()).unwrap();
        shows("the file of the store", &String::from_utf8_lossy(&store));

        let serving = Serving::start(&laboratory, &[]);
        for path in [
            "/".to_owned(),
            format!("/experiment/{id}"),
            format!("/experiment/{id}/files/record.json"),
            format!("/experiment/{id}/files/analysis.json"),
            format!("/compare?first={id}:b&second={id}:c"),
        ] {
            let page = serving.page(&path);
            assert!(!page.contains(SECRET), "{path}");
            assert!(page.contains("secretive"), "{path}");
        }
        serving.end();

        for url in slips.into_iter().chain([format!("{password}{all}")]) {
            let url = format!("mongodb.url={url}");
            let said = laboratory.run(&[
                "foreign",
                "ycsb",
                "load",
                "mongodb",
                "-p",
                "workload=site.ycsb.workloads.CoreWorkload",
                "-p",
                &url,
            ]);
            assert_ne!(said.code, Some(0), "{said:?}");
            shows("the drop-in for YCSB", &format!("{said:?}"));
        }
    }
}
