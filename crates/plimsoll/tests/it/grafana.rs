//! The queries of the Grafana dashboard, sent to a real Prometheus that watches `plimsoll serve` while an experiment runs.

use crate::laboratory::{Laboratory, MARK, wait_until};
use crate::serving::Serving;
use plimsoll_testing::{Need, needs};
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

/// On disks of their own and under limits, so that all is there to be watched: device, control group, engine, server.
const EXPERIMENT: &str = "
plimsoll: 1
name: watched
workload: {records: 20k, mixes: {half: {read: 1, update: 1, request_distribution: uniform}}}
defaults: {filesystem: xfs, disk: {capacity: 2GiB, iops: 3000}, limits: {memory: 900MiB}}
arms:
  embedded: {engine: wiredtiger, cache_size: 16MiB, direct_io: true}
  server: {engine: mongodb, server: mongod, cache_size: 256MiB}
load: {closed: {threads: [4]}}
measurement: {warm_up: 1s, duration: 8s, blocks: 1}";

/// A Prometheus that asks one server each second.
struct Prometheus {
    child: Child,
    address: SocketAddr,
}

impl Prometheus {
    fn watching(laboratory: &Laboratory, serving: &Serving) -> Self {
        let (target, token) = (serving.address, &serving.token);
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let configuration = format!(
            "scrape_configs:\n  - {{job_name: plimsoll, scrape_interval: 1s, authorization: {{credentials: {token}}}, static_configs: [{{targets: ['{target}']}}]}}\n"
        );
        let file = laboratory.write("prometheus.yml", configuration);
        let said = fs::File::create(laboratory.path("prometheus.log")).unwrap();
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", file.display()))
            .arg(format!("--storage.tsdb.path={}", laboratory.path("tsdb").display()))
            .arg(format!("--web.listen-address={address}"))
            .env(MARK, laboratory.path(""))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(said)
            .spawn()
            .unwrap();
        wait_until("prometheus to listen", || TcpStream::connect(address).is_ok());
        Self { child, address }
    }

    /// How many of the series that an expression gives since then have a value that is a number.
    fn series(&self, expression: &str, since: u64) -> usize {
        let encoded: String = url::form_urlencoded::byte_serialize(expression.as_bytes()).collect();
        let path =
            format!("/api/v1/query_range?query={encoded}&start={since}&end={}&step=1", now());
        let mut stream = TcpStream::connect(self.address).unwrap();
        write!(stream, "GET {path} HTTP/1.0\r\nHost: {}\r\n\r\n", self.address).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(body["status"], "success", "{expression}: {body}");
        let is_number = |point: &serde_json::Value| {
            let value = point[1].as_str().unwrap();
            value.parse::<f64>().is_ok_and(f64::is_finite)
        };
        let series = body["data"]["result"].as_array().unwrap().iter();
        series.filter(|series| series["values"].as_array().unwrap().iter().any(is_number)).count()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

mod slow {
    use super::*;

    #[test]
    fn every_query_of_the_dashboard_has_data() {
        needs!([
            Need::Root,
            Need::Server("mongod"),
            Need::Program("mkfs.xfs"),
            Need::Program("prometheus"),
        ]);
        let laboratory = Laboratory::new();
        laboratory.write("experiment.yaml", EXPERIMENT);
        let serving = Serving::start(&laboratory, &[]);
        let prometheus = Prometheus::watching(&laboratory, &serving);
        let since = now();
        let mut run =
            laboratory.command(&["run", "experiment.yaml", "--no-calibration", "--quiet"]);
        let server = plimsoll_testing::server("mongod").unwrap();
        let servers = server.parent().unwrap();
        let path = format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", servers.display());
        let said = run.env("PATH", path).output().unwrap();
        let record = laboratory.record_so_far();
        let record = record.unwrap_or_else(|| panic!("{said:?}"));
        assert!(record.runs.iter().all(|run| run.points[0].end.is_some()), "{said:?}");

        let dashboard = include_str!("../../../../docs/grafana/plimsoll.json");
        let dashboard: serde_json::Value = serde_json::from_str(dashboard).unwrap();
        let panels = dashboard["panels"].as_array().unwrap().iter();
        let targets = panels.flat_map(|panel| panel["targets"].as_array().unwrap());
        let mut empty = Vec::new();
        let mut requested = 0;
        for target in targets {
            let expression = target["expr"].as_str().unwrap();
            let of_all = expression.replace("$experiment", ".*").replace("$arm", ".*");
            requested += 1;
            if prometheus.series(&of_all, since) == 0 {
                empty.push(of_all);
            }
        }
        assert!(requested > 20, "{requested}");
        assert_eq!(empty, Vec::<String>::new());
        drop(prometheus);
        serving.end();
    }
}
