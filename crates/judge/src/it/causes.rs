//! Points with a planted limit.

use crate::it::laboratory::{Laboratory, SECOND_NS, Shown, histogram};
use crate::it::watched::{Watched, analyse, cause, disk, named, one_point, only_point, watch};
use crate::{CapKind, CauseKind};
use insta::assert_snapshot;
use plimsoll_plan::SettingValue;
use plimsoll_record::{
    DiskChoice, ForeignCpu, Latencies, LimitsSpec, Operation, OperationSlice, ShapedFrom, Slice,
    Status, figures,
};

/// Far beyond both caches: the disk works at its limit, and nearly all time is waiting.
fn beyond_caches() -> Watched {
    Watched {
        reads: 0.117,
        read_ns: 26e6,
        requested_bytes: 0.117 * 16_384.0,
        processors: 0.3,
        kernel: 0.3,
        ..Watched::default()
    }
}

#[test]
fn a_disk_at_its_iops() {
    let mut lab = one_point(Some(disk(Some(600.0))), 16, 5_088.0);
    watch(&mut lab, &beyond_caches(), &[]);
    let cause = cause(&lab);
    assert_eq!(cause.kind, CauseKind::DiskIops);
    assert_snapshot!(cause.sentence, @"disk IOPS: 595 of 600 used, 0.117 device reads per operation, so at most 5,128 op/s; measured 5,088");
    let check = cause.identities[0];
    assert_eq!((check.kind, check.binding), (CapKind::Iops, true));
    assert!((check.at_most - 5_128.2).abs() < 0.1, "{check:?}");
    assert!((check.ratio - 0.992).abs() < 0.001, "{check:?}");
}

#[test]
fn pages_that_are_read_in_pieces() {
    let mut lab = one_point(Some(disk(Some(600.0))), 16, 850.0);
    // Half of the operations read a page of 28 KiB, one in five of them from the disk.
    let watched = Watched {
        reads: 0.7,
        request_bytes: 4_096.0,
        requested_bytes: 0.5 * 28_672.0,
        ..beyond_caches()
    };
    let pages = [(figures::ENGINE_PAGES_READ, 0.5 * 850.0)];
    watch(&mut lab, &watched, &pages);
    let (kind, sentence) = named(&lab);
    assert_eq!(kind, CauseKind::DiskIops);
    assert_snapshot!(sentence, @"disk IOPS: 595 of 600 used, 0.7 device reads per operation, so at most 857 op/s; measured 850; each missed page took 7 requests of 4 KiB");
    lab.plan.arms[0].rig.readahead_bytes = Some(0);
    assert_snapshot!(named(&lab).1, @"disk IOPS: 595 of 600 used, 0.7 device reads per operation, so at most 857 op/s; measured 850; each missed page took 7 requests of 4 KiB: readahead is 0");
    // What is read ahead does not explain it where that is longer than a page.
    let whole = Watched { request_bytes: 28_672.0, ..watched };
    watch(&mut lab, &whole, &pages);
    assert_snapshot!(named(&lab).1, @"disk IOPS: 595 of 600 used, 0.7 device reads per operation, so at most 857 op/s; measured 850");
}

#[test]
fn a_disk_at_its_bandwidth() {
    let mut spec = disk(Some(1e6));
    spec.bandwidth.read = Some(64.0 * 1024.0 * 1024.0);
    let mut lab = one_point(Some(spec), 16, 4_080.0);
    let watched = Watched { reads: 1.0, read_ns: 3.8e6, ..beyond_caches() };
    watch(&mut lab, &watched, &[]);
    let (kind, sentence) = named(&lab);
    assert_eq!(kind, CauseKind::DiskBandwidth);
    assert_snapshot!(sentence, @"disk bandwidth: 63.8 MiB/s of 64 MiB/s used, 16 KiB read per operation, so at most 4,096 op/s; measured 4,080");
}

#[test]
fn a_disk_with_few_places() {
    let mut spec = disk(None);
    spec.queue_depth = Some(4);
    let mut lab = one_point(Some(spec), 16, 1_000.0);
    let watched = Watched { reads: 1.0, read_ns: 14e6, ..beyond_caches() };
    watch(&mut lab, &watched, &[]);
    assert_eq!(named(&lab).0, CauseKind::DiskQueueDepth);
}

#[test]
fn sessions_that_wait_for_a_disk_with_room() {
    // One session, 7 ms each: 143 of 600.
    let mut lab = one_point(Some(disk(Some(600.0))), 1, 140.0);
    let watched = Watched { reads: 1.0, read_ns: 7e6, processors: 0.02, ..beyond_caches() };
    watch(&mut lab, &watched, &[]);
    let (kind, sentence) = named(&lab);
    assert_eq!(kind, CauseKind::DiskLatency);
    assert_snapshot!(sentence, @"disk latency: 1 session, 1 device reads of 7.00 ms per operation, so at most 143 op/s; measured 140; of the disk's IOPS, 23 % are used");
    // More than one session can wait for: the disk reads ahead, or for the engine's own threads, and what the sessions wait for is no bound.
    let mut lab = one_point(Some(disk(Some(600.0))), 1, 200.0);
    watch(&mut lab, &watched, &[]);
    let (kind, sentence) = named(&lab);
    assert_eq!(kind, CauseKind::DiskLatency);
    assert_snapshot!(sentence, @"disk latency: 1 session, 1 device reads of 7.00 ms per operation, 1.4 in flight on average, so no session waits for some of them; measured 200; of the disk's IOPS, 33 % are used");
}

#[test]
fn a_device_without_known_limits() {
    let mut lab = one_point(None, 16, 2_000.0);
    lab.plan.arms[0].rig.disk = Some(DiskChoice::Device { path: "/dev/disk/by-id/one".into() });
    let watched = Watched { reads: 1.0, read_ns: 7.5e6, ..beyond_caches() };
    watch(&mut lab, &watched, &[]);
    let (kind, sentence) = named(&lab);
    assert_eq!(kind, CauseKind::DiskBusy);
    assert_snapshot!(sentence, @"disk: busy for 100 % of the time, 15 requests in flight, reads take 94 % of the sessions' time; what it could do at most is not known");
}

#[test]
fn full_processors() {
    let mut lab = one_point(Some(disk(Some(600.0))), 16, 1e5);
    watch(&mut lab, &Watched::default(), &[]);
    let (kind, sentence) = named(&lab);
    assert_eq!(kind, CauseKind::Cpu);
    assert_snapshot!(sentence, @"CPU: 98 % of 2 processors busy, 1.9 by engine and client in the worker, 0.05 by everything else");
}

#[test]
fn the_emulated_disk_takes_its_part_of_the_processors() {
    let mut lab = one_point(Some(disk(Some(600.0))), 16, 1e5);
    let watched = Watched { processors: 1.6, others: 0.35, ..Watched::default() };
    watch(&mut lab, &watched, &[(figures::DEVICE_CPU, 3e8)]);
    let (kind, sentence) = named(&lab);
    assert_eq!(kind, CauseKind::Cpu);
    assert_snapshot!(sentence, @"CPU: 98 % of 2 processors busy, 1.6 by engine and client in the worker, 0.3 by the emulated disk, 0.05 by everything else");
}

#[test]
fn one_session_can_fill_one_processor_only() {
    let mut lab = one_point(Some(disk(Some(600.0))), 1, 1e5);
    let watched = Watched { processors: 0.97, ..Watched::default() };
    watch(&mut lab, &watched, &[]);
    let (kind, sentence) = named(&lab);
    assert_eq!(kind, CauseKind::Cpu);
    assert_snapshot!(sentence, @"CPU: 51 % of 2 processors busy, 0.97 by engine and client in the worker, 0.05 by everything else; 1 session can use no more than 1 processor");
}

#[test]
fn background_threads_may_use_more_than_the_one_processor_of_one_session() {
    let mut lab = one_point(Some(disk(Some(600.0))), 1, 1e5);
    let watched = Watched { processors: 1.71, ..Watched::default() };
    watch(&mut lab, &watched, &[]);
    let (kind, sentence) = named(&lab);
    assert_eq!(kind, CauseKind::Cpu);
    assert_snapshot!(sentence, @"CPU: 88 % of 2 processors busy, 1.71 by engine and client in the worker, 0.05 by everything else; 1 session can use no more than 1 processor of that, and background threads of the engine use the rest");
}

#[test]
fn writing_back_in_the_background_does_not_make_a_point_disk_bound() {
    // In cache, with the last of the load still being written at all that the disk can do.
    let mut lab = one_point(Some(disk(Some(600.0))), 16, 1e5);
    let watched = Watched { writes_per_second: 600.0, ..Watched::default() };
    watch(&mut lab, &watched, &[]);
    let cause = cause(&lab);
    assert_eq!(cause.kind, CauseKind::Cpu);
    assert!(cause.identities[0].ratio > 0.99);
}

#[test]
fn a_cpu_limit() {
    let mut lab = one_point(Some(disk(None)), 16, 1e5);
    lab.plan.arms[0].rig.limits = LimitsSpec { cpus: Some(0.5), ..LimitsSpec::default() };
    let watched = Watched { processors: 0.5, ..Watched::default() };
    let more = [
        (figures::GROUP_CPU, 0.49 * SECOND_NS as f64),
        (figures::GROUP_CPU_THROTTLED, 0.6 * SECOND_NS as f64),
    ];
    watch(&mut lab, &watched, &more);
    let (kind, sentence) = named(&lab);
    assert_eq!(kind, CauseKind::CpuLimit);
    assert_snapshot!(sentence, @"CPU limit: 0.49 of 0.5 processors used, throttled for 60 % of the time");
}

#[test]
fn data_from_the_page_cache() {
    let mut lab = one_point(Some(disk(Some(600.0))), 16, 30_000.0);
    let watched = Watched {
        reads: 0.002,
        read_ns: 7e6,
        requested_bytes: 14_000.0,
        processors: 1.9,
        kernel: 0.5,
        ..Watched::default()
    };
    watch(&mut lab, &watched, &[]);
    let (kind, sentence) = named(&lab);
    assert_eq!(kind, CauseKind::PageCache);
    assert_snapshot!(sentence, @"page cache: 100 % of 401 MiB/s that the engine requests, 13.6 KiB an operation; 50 % of the worker's CPU time is spent in the kernel");
}

#[test]
fn an_engine_cache_without_room() {
    let mut lab = one_point(Some(disk(Some(600.0))), 16, 5_000.0);
    let watched = Watched { processors: 0.6, ..Watched::default() };
    let more = [
        (figures::ENGINE_CACHE_WAIT, 9.6e9),
        (figures::ENGINE_EVICTIONS_BY_APPLICATION, 2_000.0),
        (figures::ENGINE_CACHE_USED, 95e6),
        (figures::ENGINE_CACHE_MAXIMUM, 100e6),
        (figures::ENGINE_CACHE_DIRTY, 20e6),
    ];
    watch(&mut lab, &watched, &more);
    let (kind, sentence) = named(&lab);
    assert_eq!(kind, CauseKind::EngineCache);
    assert_snapshot!(sentence, @"engine cache: sessions spend 60 % of their time evicting or waiting for room, 0.4 pages an operation, 95 % full, 20 % dirty");
}

/// A server that is named by a URI, on processors with room.
fn server(more: &[(&str, f64)]) -> Laboratory {
    let mut lab = one_point(None, 300, 5_000.0);
    let uri = SettingValue::Text("mongodb://db".into());
    lab.plan.arms[0].settings.0.insert("uri".into(), uri);
    let watched = Watched { processors: 0.6, ..Watched::default() };
    watch(&mut lab, &watched, more);
    lab
}

#[test]
fn a_server_whose_tickets_are_used_up() {
    let tickets = [
        (figures::SERVER_READ_TICKETS, 100.0),
        (figures::SERVER_READ_TICKETS_TOTAL, 128.0),
        (figures::SERVER_READS_QUEUED, 0.0),
        (figures::SERVER_WRITE_TICKETS, 128.0),
        (figures::SERVER_WRITE_TICKETS_TOTAL, 128.0),
        (figures::SERVER_WRITES_QUEUED, 40.0),
    ];
    let mut lab = server(&tickets);
    let (kind, sentence) = named(&lab);
    assert_eq!(kind, CauseKind::ServerTickets);
    assert_snapshot!(sentence, @"server tickets: all 128 write tickets are in use while writes queue for them in 100 % of the seconds, with 40 writes in the queue on average");
    // In every fourth second an operation enters at once.
    for point in lab.points() {
        for slice in point.slices.iter_mut().step_by(4) {
            slice.telemetry.insert(figures::SERVER_WRITES_QUEUED.into(), 0.0);
        }
    }
    let (kind, sentence) = named(&lab);
    assert_eq!(kind, CauseKind::ServerTickets);
    assert_snapshot!(sentence, @"server tickets: all 128 write tickets are in use while writes queue for them in 75 % of the seconds, with 30 writes in the queue on average");
    // All are in use, but no session waits: there are as many tickets as sessions.
    for slice in lab.points().flat_map(|point| &mut point.slices) {
        slice.telemetry.insert(figures::SERVER_WRITES_QUEUED.into(), 0.0);
    }
    assert_ne!(named(&lab).0, CauseKind::ServerTickets);
}

#[test]
fn tickets_without_figures_are_not_known_of_a_server_and_none_of_an_embedded_engine() {
    let rule = |lab: &Laboratory, kind| {
        let rules = cause(lab).rules;
        rules.into_iter().find(|rule| rule.kind == kind).unwrap()
    };
    let mut embedded = one_point(None, 16, 5_000.0);
    watch(&mut embedded, &Watched::default(), &[]);
    for kind in [CauseKind::ServerTickets, CauseKind::FlowControl] {
        assert_eq!(rule(&server(&[]), kind).holds, None);
        assert_eq!(rule(&embedded, kind).holds, Some(false));
    }
}

#[test]
fn a_server_that_waits_for_its_secondaries() {
    // 300 sessions have 300 s in a second, and spend 150 of them waiting.
    let flow_control =
        [(figures::SERVER_FLOW_CONTROL_WAIT, 150e9), (figures::SERVER_FLOW_CONTROL_LAGGED, 1.0)];
    let lab = server(&flow_control);
    let (kind, sentence) = named(&lab);
    assert_eq!(kind, CauseKind::FlowControl);
    assert_snapshot!(sentence, @"flow control: sessions wait for it for 50 % of their time; secondaries lag too far behind for 100 % of the time");
    // The cost of taking a ticket on a server whose secondaries keep up.
    let lab = server(&[(figures::SERVER_FLOW_CONTROL_WAIT, 14e3)]);
    assert_ne!(named(&lab).0, CauseKind::FlowControl);
}

/// This many updates that take this many nanoseconds each.
fn updates(count: u64, service_ns: u64) -> Vec<OperationSlice> {
    vec![OperationSlice {
        operation: Operation::Update,
        status: Status::Ok,
        latencies: Latencies { service: histogram(service_ns, count), open: None },
    }]
}

/// Lets a checkpoint run in the first `running` of every ten seconds, and changes each second by whether one runs in it.
fn checkpoint(lab: &mut Laboratory, running: u32, mut change: impl FnMut(&mut Slice, bool)) {
    for slice in lab.points().flat_map(|point| &mut point.slices) {
        let runs = slice.index % 10 < running;
        let name = figures::ENGINE_CHECKPOINT_RUNNING.to_owned();
        slice.telemetry.insert(name, f64::from(u8::from(runs)));
        change(slice, runs);
    }
}

#[test]
fn writes_that_wait_for_the_journal() {
    let mut lab = one_point(Some(disk(Some(5_000.0))), 8, 1_000.0);
    let watched = Watched { writes_per_second: 140.0, processors: 0.2, ..Watched::default() };
    let more = [
        (figures::ENGINE_JOURNAL_SYNCS, 135.0),
        (figures::ENGINE_JOURNAL_SYNC_TIME, 135.0 * 7.1e6),
    ];
    watch(&mut lab, &watched, &more);
    for slice in lab.points().flat_map(|point| &mut point.slices) {
        slice.operations = updates(slice.completed.ok, 8_000_000);
    }
    let (kind, sentence) = named(&lab);
    assert_eq!(kind, CauseKind::Journal);
    assert_snapshot!(sentence, @"journal: a sync takes 7.10 ms, one is under way for 96 % of the time, 135 syncs for 1,000 writing operations a second, which take 8.00 ms each");
}

#[test]
fn checkpoints_that_cost() {
    let mut lab = Laboratory::closed(&["arm"], &["c"], &[8], 6)
        .measure(|case| Shown { seconds: 40, ..Shown::closed(case, 10_000.0) });
    let watched = Watched { processors: 0.8, ..Watched::default() };
    watch(&mut lab, &watched, &[]);
    checkpoint(&mut lab, 5, |slice, runs| {
        if runs && !slice.warm_up {
            slice.completed.ok = 2_000;
            slice.operations[0].latencies.service = histogram(800_000, 2_000);
        }
    });
    // Sessions that are slower part of the time are in calls all the time; the mean of the point says so.
    let (kind, sentence) = named(&lab);
    assert_eq!(kind, CauseKind::Checkpoint, "{sentence}");
    assert!(sentence.ends_with("2,000 op/s then and 10,000 op/s otherwise"), "{sentence}");
}

#[test]
fn sessions_that_wait_for_each_other() {
    let mut lab = one_point(Some(disk(Some(600.0))), 16, 40_000.0);
    let watched = Watched { processors: 0.9, ..Watched::default() };
    let more = [(figures::MACHINE_CONTEXT_SWITCHES, 88_000.0)];
    watch(&mut lab, &watched, &more);
    let (kind, sentence) = named(&lab);
    assert_eq!(kind, CauseKind::Contention);
    assert_snapshot!(sentence, @"contention: of 16 sessions 0.9 compute and 0 wait for device reads, the others wait for each other; 48 % of 2 processors busy, 2.2 context switches an operation");
}

/// An engine without data has no disk to wait for; with data but without telemetry nothing is known.
#[test]
fn sessions_that_wait_for_each_other_without_a_disk() {
    let without_device = |storage: Option<plimsoll_record::Storage>| {
        let mut lab = one_point(None, 16, 40_000.0);
        let watched = Watched { processors: 0.9, ..Watched::default() };
        watch(&mut lab, &watched, &[]);
        for point in lab.points() {
            for slice in &mut point.slices {
                slice.telemetry.retain(|name, _| !name.starts_with("device."));
            }
        }
        for run in &mut lab.runs {
            run.storage.clone_from(&storage);
        }
        named(&lab).0
    };
    assert_eq!(without_device(None), CauseKind::Contention);
    let somewhere = plimsoll_record::Storage::default();
    assert_eq!(without_device(Some(somewhere)), CauseKind::Unknown);
}

/// Puts `watched` into every slice, with its `others` as the CPU time of other programs. Together, the threads under test wait `waited` seconds in each second for a
/// processor; `None` if the kernel does not report it.
fn crowd(lab: &mut Laboratory, watched: &Watched, waited: Option<f64>) {
    let waited = waited.map(|seconds| (figures::WAITED_FOR_PROCESSOR, 1e9 * seconds));
    watch(lab, watched, waited.as_slice());
    for point in lab.points() {
        point.end.as_mut().unwrap().foreign = Some(Box::new(ForeignCpu {
            cpu_ns: (watched.others * 13e9) as u64,
            elapsed_ns: 13 * SECOND_NS,
            programs: Vec::new(),
        }));
    }
}

#[test]
fn processors_that_others_have_taken() {
    let named_with = |waited| {
        let mut lab = one_point(Some(disk(Some(600.0))), 4, 40_000.0);
        let watched = Watched { processors: 0.6, others: 1.38, ..Watched::default() };
        crowd(&mut lab, &watched, waited);
        named(&lab)
    };
    let (kind, sentence) = named_with(Some(3.2));
    assert_eq!(kind, CauseKind::Others);
    assert_snapshot!(sentence, @"other programs: they used 1.38 of 2 processors, what is under test 0.6; operations compute or wait for a processor for 95 % of the time");
    assert_eq!(named_with(None).0, CauseKind::Others, "a kernel that does not tell");
    // Busy processors alone are no cause: who waits for a lock sleeps, and has a processor as soon as it needs one.
    assert_eq!(named_with(Some(0.04)).0, CauseKind::Contention);
    assert_eq!(named_with(Some(0.8)).0, CauseKind::Unknown);
}

#[test]
fn a_little_of_others_does_not_hide_the_page_cache() {
    let mut lab = one_point(Some(disk(Some(600.0))), 16, 30_000.0);
    let watched = |processors, others| Watched {
        reads: 0.002,
        read_ns: 7e6,
        requested_bytes: 14_000.0,
        processors,
        kernel: 0.5,
        others,
        ..Watched::default()
    };
    crowd(&mut lab, &watched(1.68, 0.24), Some(13.0));
    assert_eq!(named(&lab).0, CauseKind::PageCache);
    crowd(&mut lab, &watched(1.0, 0.98), Some(13.0));
    assert_eq!(named(&lab).0, CauseKind::Others);
}

/// Full processors are named where nothing says what fills them.
#[test]
fn sessions_that_evict_on_full_processors() {
    let mut lab = one_point(Some(disk(Some(600.0))), 16, 5_000.0);
    let more = [(figures::ENGINE_CACHE_WAIT, 9.6e9)];
    watch(&mut lab, &Watched::default(), &more);
    assert_eq!(named(&lab).0, CauseKind::EngineCache);
}

/// Both write to one disk: while a checkpoint fills it, a sync takes as long.
#[test]
fn checkpoints_in_whose_way_the_journal_stands() {
    let mut lab = Laboratory::closed(&["arm"], &["c"], &[8], 6)
        .measure(|case| Shown { seconds: 40, ..Shown::closed(case, 1_000.0) });
    let watched = Watched { processors: 0.2, ..Watched::default() };
    let more = [
        (figures::ENGINE_JOURNAL_SYNCS, 135.0),
        (figures::ENGINE_JOURNAL_SYNC_TIME, 135.0 * 7.1e6),
    ];
    watch(&mut lab, &watched, &more);
    let slowed_to = |then: u64| {
        move |slice: &mut Slice, runs: bool| {
            slice.completed.ok = if runs { then } else { 1_000 };
            slice.operations = updates(slice.completed.ok, 8_000_000_000 / slice.completed.ok);
        }
    };
    checkpoint(&mut lab, 7, slowed_to(100));
    let (kind, sentence) = named(&lab);
    assert_eq!(kind, CauseKind::Checkpoint, "{sentence}");
    checkpoint(&mut lab, 3, slowed_to(500));
    assert_eq!(named(&lab).0, CauseKind::Journal);
}

#[test]
fn an_open_loop_at_ease() {
    let mut lab = Laboratory::open(&["arm"], &["c"], &[2_000.0], 6);
    lab.plan.arms[0].rig.disk = Some(DiskChoice::Emulated { spec: disk(Some(600.0)) });
    let mut lab = lab.measure(|_| Shown {
        throughput: 2_000.0,
        response_ns: 200_000.0,
        errors: 0,
        seconds: 12,
        busy: 0.25,
    });
    watch(&mut lab, &beyond_caches(), &[]);
    let (kind, sentence) = named(&lab);
    assert_eq!(kind, CauseKind::Offered);
    assert_snapshot!(sentence, @"load as requested: 100.0 % of 2,000 op/s done; of the disk's IOPS, 39 % are used");
}

#[test]
fn a_generator_that_is_the_limit() {
    let mut lab = Laboratory::closed(&["arm"], &["c"], &[8], 6).measure(|case| Shown {
        busy: 0.5,
        response_ns: 40_000.0,
        ..Shown::closed(case, 1e5)
    });
    watch(&mut lab, &Watched::default(), &[]);
    let (kind, sentence) = named(&lab);
    assert_eq!(kind, CauseKind::Generator);
    assert_snapshot!(sentence, @"load generator: 50 % of the sessions' time spent outside the engine");
}

#[test]
fn what_is_unknown_says_what_it_is_not() {
    // One session that neither computes nor waits for reads.
    let mut lab = one_point(Some(disk(Some(600.0))), 1, 1_000.0);
    let watched = Watched { processors: 0.2, ..Watched::default() };
    watch(&mut lab, &watched, &[]);
    let (kind, sentence) = named(&lab);
    assert_eq!(kind, CauseKind::Unknown);
    assert_snapshot!(sentence, @"unknown: ruled out are disk IOPS (the disk is idle), page cache (not used), CPU (12 % of 2 processors busy, 0.2 by engine and client in the worker, 0.05 by everything else) and disk latency (reads take 0 % of the sessions' time); nothing is known of engine cache, journal and checkpoints");
}

#[test]
fn nothing_watched_has_no_cause() {
    let lab = one_point(None, 4, 1e5);
    assert_eq!(only_point(&lab.analyse()).cause, None);
}

#[test]
fn a_disk_that_is_shaped_later_has_no_limits_in_the_load() {
    let mut lab = one_point(Some(disk(Some(600.0))), 16, 5_088.0);
    watch(&mut lab, &beyond_caches(), &[]);
    for run in &mut lab.runs {
        let mut load = run.points[0].clone();
        load.label.point = None;
        run.load = Some(load);
    }
    let of_load = |lab: &Laboratory| analyse(lab).load_phase[0].cause.clone().unwrap();
    assert_eq!(of_load(&lab).kind, CauseKind::DiskIops);
    lab.plan.measurement.shaped_from = ShapedFrom::WarmUp;
    let cause = of_load(&lab);
    assert_eq!(cause.identities, []);
    assert_ne!(cause.kind, CauseKind::DiskIops);
}

#[test]
fn figures_are_derived_and_summed_up() {
    let mut lab = one_point(Some(disk(Some(600.0))), 16, 5_000.0);
    let watched = Watched { requested_bytes: 0.4 * 16_384.0, reads: 0.1, ..beyond_caches() };
    let more = [
        (figures::ENGINE_PAGES_REQUESTED, 20_000.0),
        (figures::ENGINE_PAGES_READ, 2_000.0),
        (figures::WATCHING, 4e6),
    ];
    watch(&mut lab, &watched, &more);
    let analysis = analyse(&lab);
    let summary = &only_point(&analysis).figures;
    let close = |found: Option<f64>, expected: f64| {
        assert!(
            (found.unwrap() - expected).abs() < 1e-6 * expected.max(1.0),
            "{found:?} {expected}"
        );
    };
    let of = &summary.median;
    close(of.engine_cache_hit_ratio, 0.9);
    close(of.page_cache_hit_ratio, 0.75);
    close(of.page_cache_bytes_per_second, 0.3 * 16_384.0 * 5_000.0);
    close(of.device_reads_per_second, 500.0);
    close(of.device_reads_per_operation, 0.1);
    close(of.device_read_ns, 26e6);
    close(of.device_queue, 13.0);
    close(of.device_utilisation, 1.0);
    close(of.worker_cpu_ns_per_operation, 0.3e9 / 5_000.0);
    close(of.machine_busy, 0.175);
    close(of.watching, 0.002);
    assert_eq!(of.journal_sync_ns, None);
    assert_eq!((&summary.lowest, &summary.highest), (of, of));
    assert_eq!(analysis.series[0].figures.len(), 13);
}

/// The processors of a server are not those of its client.
#[test]
fn a_server_and_its_client() {
    let mut lab = one_point(None, 16, 20_000.0);
    let watched = Watched { processors: 0.4, others: 1.55, ..Watched::default() };
    let more = [
        (figures::SERVER_CPU, 1.5 * SECOND_NS as f64),
        (figures::SERVER_MEMORY, f64::from(1 << 30)),
    ];
    watch(&mut lab, &watched, &more);
    let (kind, sentence) = named(&lab);
    assert_eq!(kind, CauseKind::Cpu);
    assert_snapshot!(sentence, @"CPU: 98 % of 2 processors busy, 1.5 by the server and 0.4 by its client, 0.05 by everything else");
}

/// Both processors are full, and half of that time is spent in the kernel: for the network between server and client. That the server also reads 365 MiB/s from the page
/// cache takes a tenth of it.
#[test]
fn the_kernel_of_a_server_is_not_the_page_cache() {
    let mut lab = one_point(None, 16, 20_000.0);
    let watched =
        Watched { processors: 0.4, others: 1.55, requested_bytes: 19_136.0, ..Watched::default() };
    let second = SECOND_NS as f64;
    let more = [
        (figures::SERVER_CPU, 1.5 * second),
        (figures::MACHINE_CPU_SYSTEM, 1.0 * second),
        (figures::MACHINE_CPU_USER, 0.95 * second),
    ];
    watch(&mut lab, &watched, &more);
    let (kind, sentence) = named(&lab);
    assert_eq!(kind, CauseKind::Cpu);
    assert_snapshot!(sentence, @"CPU: 98 % of 2 processors busy, 1.5 by the server and 0.4 by its client, 0.05 by everything else");
}

/// Without a server it is unknown which part of the worker is the client.
#[test]
fn a_client_without_room() {
    for (server, kind) in [(0.1, CauseKind::Generator), (0.0, CauseKind::Cpu)] {
        let mut lab = one_point(None, 16, 20_000.0);
        let watched = Watched { processors: 1.8, others: server, ..Watched::default() };
        let of_server = [(figures::SERVER_CPU, server * SECOND_NS as f64)];
        let more: &[_] = if server > 0.0 { &of_server } else { &[] };
        watch(&mut lab, &watched, more);
        assert_eq!(named(&lab).0, kind);
    }
}

/// Beside a server that runs by itself the worker is only the client.
#[test]
fn a_client_of_a_server_by_uri() {
    let mut lab = one_point(None, 16, 20_000.0);
    let uri = SettingValue::Text("mongodb://db".into());
    lab.plan.arms[0].settings.0.insert("uri".into(), uri);
    let watched = Watched { processors: 0.4, others: 1.55, ..Watched::default() };
    watch(&mut lab, &watched, &[]);
    let (kind, sentence) = named(&lab);
    assert_eq!(kind, CauseKind::Cpu);
    assert_snapshot!(sentence, @"CPU: 98 % of 2 processors busy, 0.4 by the client, 1.55 by everything else");
    // One that runs on this machine is seen.
    let of_server = [(figures::SERVER_CPU, 1.5 * SECOND_NS as f64)];
    watch(&mut lab, &watched, &of_server);
    let (kind, sentence) = named(&lab);
    assert_eq!(kind, CauseKind::Cpu);
    assert_snapshot!(sentence, @"CPU: 98 % of 2 processors busy, 1.5 by the server and 0.4 by its client, 0.05 by everything else");
    for slice in lab.points().flat_map(|point| &mut point.slices) {
        slice.telemetry.remove(figures::SERVER_CPU);
    }
    let watched = Watched { processors: 1.8, others: 0.1, ..Watched::default() };
    watch(&mut lab, &watched, &[]);
    assert_eq!(named(&lab).0, CauseKind::Generator);
}

#[test]
fn an_arm_that_has_not_run_yet_explains_nothing() {
    let mut lab = Laboratory::closed(&["slow", "fast"], &["c"], &[8], 6)
        .measure(|case| Shown::closed(case, 1e4));
    watch(&mut lab, &Watched::default(), &[]);
    let both = lab.analyse();
    assert!(both.comparisons[0].because.is_some());
    lab.runs.retain(|run| run.arm == "slow");
    let one = lab.analyse();
    assert_eq!(one.comparisons[0].verdict.estimate, None);
    assert_eq!(one.comparisons[0].because, None);
    let description = one.headline.join(" ");
    assert!(!description.contains("watched"), "{description}");
}

mod slow {
    use super::*;

    #[test]
    fn in_cache_points_are_not_disk_bound_on_any_disk() {
        for iops in [150.0, 600.0, 5_000.0] {
            for sessions in [1, 2, 16, 64] {
                for processors in [0.5, 1.0, 1.9] {
                    let mut lab = one_point(Some(disk(Some(iops))), sessions, 1e5);
                    let watched =
                        Watched { reads: 1e-5, read_ns: 7e6, processors, ..Watched::default() };
                    watch(&mut lab, &watched, &[]);
                    let (kind, sentence) = named(&lab);
                    let is_disk = matches!(
                        kind,
                        CauseKind::DiskIops
                            | CauseKind::DiskBandwidth
                            | CauseKind::DiskQueueDepth
                            | CauseKind::DiskLatency
                            | CauseKind::DiskBusy
                    );
                    assert!(!is_disk, "{sessions} sessions, {processors}: {sentence}");
                }
            }
        }
    }
}
