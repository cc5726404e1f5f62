//! fio replays what is exported for it; others read lines.

use crate::it::requests::head;
use crate::{
    Extent, ExtentMap, Head, Kind, MappedFile, Request, Resolver, Trace, Writer, csv, finish,
    iolog_v3,
};
use plimsoll_testing::{Need, needs};
use std::path::Path;
use std::process::Command;
use tempfile::tempdir;

fn trace(folder: &Path, head: &Head, requests: &[Request], maps: &[ExtentMap]) -> Trace {
    let live = folder.join("live.trace");
    let kept = folder.join("disk.trace");
    let writer = Writer::create(&live, 1000, head).unwrap();
    for request in requests {
        writer.record(request);
    }
    finish(&live, &kept, maps).unwrap();
    Trace::open(&kept).unwrap()
}

fn request(time_ns: u64, kind: Kind, offset: u64, length: u32) -> Request {
    Request { time_ns, offset, length, kind, latency_ns: 7_000_000, in_flight: 2, lateness_ns: 800 }
}

#[test]
fn the_iolog_is_as_fio_has_it() {
    let folder = tempdir().unwrap();
    let requests = [
        request(5_000_000_000, Kind::Read, 8192, 4096),
        request(5_001_500_999, Kind::Write, 0, 512),
        request(5_002_000_000, Kind::Flush, 0, 0),
        request(5_002_000_000, Kind::Discard, 4096, 1 << 20),
    ];
    let trace = trace(folder.path(), &head(), &requests, &[]);
    let mut out = Vec::new();
    iolog_v3(&trace, &mut out).unwrap();
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "fio version 3 iolog\n\
         0 emulated-disk add\n\
         0 emulated-disk open\n\
         1 emulated-disk read 8192 4096\n\
         1501 emulated-disk write 0 512\n\
         2001 emulated-disk sync 0 0\n\
         2001 emulated-disk trim 4096 1048576\n\
         2001 emulated-disk close\n"
    );
}

#[test]
fn a_line_tells_which_file_a_request_went_to() {
    let folder = tempdir().unwrap();
    let head = head();
    let extent = |logical, physical| Extent { logical, physical, length: 4096, flags: 0 };
    let file = |path: &str, extents: &[Extent]| MappedFile {
        path: path.into(),
        size: 8192,
        extents: extents.to_vec(),
        unmapped: None,
    };
    let start = head.monotonic_start_ns;
    let map = ExtentMap {
        time_ns: start,
        files: vec![
            file("db/collection.wt", &[extent(0, 40960), extent(4096, 8192)]),
            file("odd, \"name\"", &[extent(0, 45056)]),
        ],
    };
    let requests = [
        request(start + 10, Kind::Read, 9216, 512),
        request(start + 20, Kind::Write, 40960, 8192),
        request(start + 30, Kind::Write, 45056, 4096),
        request(start + 40, Kind::Read, 0, 512),
        request(start + 50, Kind::Flush, 0, 0),
    ];
    let trace = trace(folder.path(), &head, &requests, &[map]);
    let mut out = Vec::new();
    csv(&trace, &Resolver::new(trace.maps()), &mut out).unwrap();
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "time_ns,kind,offset,length,latency_ns,in_flight,lateness_ns,pieces,place,file,file_offset,agreed\n\
         10,read,9216,512,7000000,2,800,1,file,db/collection.wt,5120,false\n\
         20,write,40960,8192,7000000,2,800,2,file,db/collection.wt,0,false\n\
         30,write,45056,4096,7000000,2,800,1,file,\"odd, \"\"name\"\"\",0,false\n\
         40,read,0,512,7000000,2,800,1,metadata,,,\n\
         50,flush,0,0,7000000,2,800,0,,,,\n"
    );
}

mod slow {
    use super::*;

    #[test]
    fn fio_replays_every_request() {
        needs!([Need::Program("fio")]);
        let folder = tempdir().unwrap();
        let mut requests = Vec::new();
        for number in 0..300_u64 {
            let offset = number * 7919 % 1000 * 4096;
            let length = 512 << (number % 5);
            let kind = match number % 10 {
                0..6 => Kind::Read,
                6..9 => Kind::Write,
                _ => Kind::Flush,
            };
            let request = match kind {
                Kind::Flush => request(number * 100_000, kind, 0, 0),
                _ => request(number * 100_000, kind, offset, length),
            };
            requests.push(request);
        }
        let trace = trace(folder.path(), &head(), &requests, &[]);
        let iolog = folder.path().join("disk.iolog");
        iolog_v3(&trace, &mut std::fs::File::create(&iolog).unwrap()).unwrap();
        let disk = folder.path().join("disk");
        std::fs::File::create(&disk).unwrap().set_len(8 << 20).unwrap();

        let output = Command::new("fio")
            .args(["--name=replay", "--ioengine=psync", "--output-format=json"])
            .arg(format!("--read_iolog={}", iolog.display()))
            .arg(format!("--replay_redirect={}", disk.display()))
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let job = &said["jobs"][0];
        for (kind, name) in [(Kind::Read, "read"), (Kind::Write, "write")] {
            let requested: Vec<&Request> =
                requests.iter().filter(|found| found.kind == kind).collect();
            let bytes: u64 = requested.iter().map(|found| u64::from(found.length)).sum();
            assert_eq!(job[name]["total_ios"], requested.len(), "{name}s");
            assert_eq!(job[name]["io_bytes"], bytes, "bytes of {name}s");
        }
        assert_eq!(job["sync"]["total_ios"], 30, "syncs");
    }
}
