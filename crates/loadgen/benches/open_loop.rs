//! Whether an open loop keeps its times, on the simulated engine: the rate that was requested, the generator's own lag, the response of a
//! queue with a known answer, and a stall.
//!
//! `cargo bench -p plimsoll-loadgen --bench open_loop [-- --seconds 60]` (of the queue; the rest takes 18 s)

use plimsoll_engine::{Opening, open};
use plimsoll_loadgen::{PointSpec, SliceSink, run_point};
use plimsoll_plan::{SettingValue, Settings};
use plimsoll_record::{Histogram, PointEnd, Slice};
use plimsoll_workload::schedule::{Arrivals, Load, Share};
use plimsoll_workload::{DataSpec, KeySpace, Mix, Workload};
use std::process::exit;
use std::sync::Arc;

const SECOND: u64 = 1_000_000_000;
const SEED: u64 = 42;

/// All times after the warm-up.
#[derive(Default)]
struct Times {
    service: Histogram,
    response: Histogram,
}

impl SliceSink for Times {
    fn slice(&mut self, slice: Slice) {
        if slice.warm_up {
            return;
        }
        for part in &slice.operations {
            self.service.merge(&part.latencies.service);
            self.response.merge(part.latencies.response());
        }
    }
}

struct Point {
    settings: Vec<(&'static str, SettingValue)>,
    rate: f64,
    arrivals: Arrivals,
    sessions: u32,
    warm_up_ns: u64,
    duration_ns: u64,
}

fn measure(point: &Point) -> (Times, PointEnd) {
    let data = DataSpec::with_records(1_000_000);
    let mut settings = Settings::default();
    for (name, value) in &point.settings {
        settings.0.insert((*name).into(), value.clone());
    }
    let opening = Opening { seed: SEED, ..Opening::new(&settings, &data) };
    let engine = open("simulated", &opening).expect("the settings are possible");
    let mix = Mix::preset("c").expect("it is a preset");
    let key_space = KeySpace::new(&data).expect("the data is possible");
    let workload = Workload::new(&key_space, &mix, SEED, None).expect("the mix is possible");
    let spec = PointSpec {
        load: Load::Open { rate: point.rate, arrivals: point.arrivals, sessions: point.sessions },
        warm_up_ns: point.warm_up_ns,
        duration_ns: point.duration_ns,
        operations: None,
        seed: SEED,
        verify: false,
        share: Share::WHOLE,
    };
    let mut times = Times::default();
    let end = run_point(&*engine, &Arc::new(workload), &spec, &mix, &mut times)
        .expect("the simulated engine has sessions for all");
    (times, end)
}

fn percentile_us(histogram: &Histogram, percentile: f64) -> f64 {
    histogram.percentile_ns(percentile).unwrap_or(0) as f64 / 1e3
}

fn print_lag(end: &PointEnd) {
    let none = Histogram::new();
    let lag = end.generator_lag.as_ref().unwrap_or(&none);
    println!(
        "  generator lag  p50 {:.1} µs, p99 {:.1} µs, p99.9 {:.1} µs ({} operations for which a session was waiting)",
        percentile_us(lag, 50.0),
        percentile_us(lag, 99.0),
        percentile_us(lag, 99.9),
        lag.count(),
    );
}

fn rate() {
    let rate = 20_000.0;
    let (times, end) = measure(&Point {
        settings: vec![
            ("servers", SettingValue::Count(8)),
            ("service", SettingValue::Text("constant".into())),
            ("service_mean", SettingValue::Nanos(20_000)),
        ],
        rate,
        arrivals: Arrivals::Constant,
        sessions: 8,
        warm_up_ns: SECOND,
        duration_ns: 5 * SECOND,
    });
    let achieved = times.response.count() as f64 / end.measured_ns as f64 * 1e9;
    println!("20,000 op/s, 8 sessions, 8 servers of 20 µs, 5 s");
    println!(
        "  achieved       {achieved:.1} op/s, {:+.4} % of asked",
        (achieved / rate - 1.0) * 100.0
    );
    print_lag(&end);
    println!(
        "  response       p50 {:.1} µs, p99 {:.1} µs",
        percentile_us(&times.response, 50.0),
        percentile_us(&times.response, 99.0)
    );
}

/// The standard error of the mean of n successive responses of M/M/1, as a share of the mean: the asymptotic variance of the wait, in
/// squared service times, is rho (2 + 5 rho - 4 rho^2 + rho^3) / (1 - rho)^4.
fn standard_error(utilisation: f64, operations: f64) -> f64 {
    let rho = utilisation;
    let variance = rho * (2.0 + 5.0 * rho - 4.0 * rho * rho + rho.powi(3)) / (1.0 - rho).powi(4);
    (variance / operations).sqrt() * (1.0 - rho)
}

fn queue(seconds: u64) {
    let service_ns = 500_000_u32;
    let utilisation = 0.7;
    let (times, end) = measure(&Point {
        settings: vec![("service_mean", SettingValue::Nanos(service_ns.into()))],
        rate: utilisation / f64::from(service_ns) * 1e9,
        arrivals: Arrivals::Poisson,
        sessions: 16,
        warm_up_ns: SECOND,
        duration_ns: seconds * SECOND,
    });
    let theory = f64::from(service_ns) / (1.0 - utilisation);
    let operations = times.response.count() as f64;
    let mean = times.response.mean_ns().unwrap_or(f64::NAN);
    println!("M/M/1 at 70 %, service mean 500 µs, 16 sessions, {seconds} s");
    println!(
        "  mean response  {:.1} µs, theory {:.1} µs: {:+.2} % (sampling error of {operations} operations: {:.2} %, one standard error)",
        mean / 1e3,
        theory / 1e3,
        (mean / theory - 1.0) * 100.0,
        standard_error(utilisation, operations) * 100.0,
    );
    print_lag(&end);
}

fn stall() {
    let (times, end) = measure(&Point {
        settings: vec![
            ("servers", SettingValue::Count(16)),
            ("service", SettingValue::Text("constant".into())),
            ("service_mean", SettingValue::Nanos(1_000_000)),
            ("stalls", SettingValue::Text("6s+1s".into())),
        ],
        rate: 500.0,
        arrivals: Arrivals::Constant,
        sessions: 16,
        warm_up_ns: SECOND,
        duration_ns: 10 * SECOND,
    });
    println!("500 op/s of 1 ms each, 16 sessions, a stall of 1 s in 10 s");
    println!(
        "  p99            response {:.1} ms, service {:.2} ms",
        percentile_us(&times.response, 99.0) / 1e3,
        percentile_us(&times.service, 99.0) / 1e3
    );
    print_lag(&end);
}

fn main() {
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    let seconds = match (words.next().as_deref(), words.next()) {
        (None, _) => 60,
        (Some("--seconds"), Some(number))
            if number.parse::<u64>().is_ok_and(|number| number > 0) =>
        {
            number.parse().expect("it was parsed before")
        }
        _ => {
            eprintln!("usage: open_loop [--seconds N]");
            exit(2);
        }
    };
    rate();
    stall();
    queue(seconds);
}
