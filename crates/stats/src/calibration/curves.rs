//! Do knees and fits come out where they were put?

use crate::{LoadPoint, Peak, Scalability, ScalabilityPoint, knee, median_interval};

use crate::calibration::simulate::Source;
use crate::calibration::study::{Promise, Studies, Study};
use Promise::AtLeast;

const SESSIONS: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
const SIGMA: f64 = 0.03;
const KAPPA: f64 = 0.0005;

fn law(sessions: f64) -> f64 {
    1000.0 * sessions / (1.0 + SIGMA * (sessions - 1.0) + KAPPA * sessions * (sessions - 1.0))
}

/// Throughput of one block's sweep with this noise on each point.
fn sweep(source: &mut Source, noise: f64) -> Vec<(f64, f64)> {
    SESSIONS.iter().map(|&n| (n, law(n) * (noise * source.normal()).exp())).collect()
}

fn curve(sweep: &[(f64, f64)]) -> Vec<LoadPoint> {
    sweep
        .iter()
        .map(|&(load, throughput_per_second)| LoadPoint {
            load,
            throughput_per_second,
            mean_response_ns: load / throughput_per_second * 1e9,
        })
        .collect()
}

fn fit(points: impl Iterator<Item = (f64, f64)>) -> Scalability {
    let points: Vec<_> = points.map(|(n, x)| ScalabilityPoint::new(n, x)).collect();
    Scalability::fit(&points).expect("a noisy law can be fitted")
}

fn peak_sessions(fit: &Scalability) -> f64 {
    match fit.peak() {
        Peak::At { sessions, .. } => sessions,
        Peak::BeyondReach | Peak::Never => f64::MAX,
    }
}

pub fn studies() -> Vec<Study> {
    let mut studies = Studies::repeated(1000);
    let noiseless: Vec<(f64, f64)> = SESSIONS.iter().map(|&n| (n, law(n))).collect();
    let truth =
        knee(&[curve(&noiseless)], 0.95).expect("valid curve").expect("the law has a knee").load;
    let simulated = "knee by power, 8 blocks, 10 % noise";
    let counted = "interval holds the knee of the law, 95 %";
    studies.add(31, simulated, counted, AtLeast(0.95), |source| {
        let blocks: Vec<_> = (0..8).map(|_| curve(&sweep(source, 0.1))).collect();
        let found = knee(&blocks, 0.95).expect("valid curves").expect("noise leaves a knee");
        Some(found.interval.contains(truth))
    });
    // Throughput that grows with the sessions up to 16 of them and not at all from there on.
    let corner = |sessions: f64| 1000.0 * sessions.min(16.0);
    let simulated = "knee by power of a curve with a corner, one block, 3 % noise";
    let counted = "within one step of the corner";
    studies.add(34, simulated, counted, AtLeast(0.95), |source| {
        let block: Vec<(f64, f64)> =
            SESSIONS.iter().map(|&n| (n, corner(n) * (0.03 * source.normal()).exp())).collect();
        let found = knee(&[curve(&block)], 0.95).expect("valid curve");
        Some(found.is_some_and(|found| (8.0..=32.0).contains(&found.load)))
    });
    let truth = ((1.0 - SIGMA) / KAPPA).sqrt();
    let simulated = "N* of each of 8 blocks, 3 % noise";
    let counted = "interval of the median holds the truth, 95 %";
    studies.repeats = 500;
    studies.add(32, simulated, counted, AtLeast(0.95), |source| {
        let peaks: Vec<f64> =
            (0..8).map(|_| peak_sessions(&fit(sweep(source, 0.03).into_iter()))).collect();
        Some(median_interval(&peaks, 0.95).expect("finite").interval.contains(truth))
    });
    let simulated = "one fit over 8 blocks, 3 % noise";
    let counted = "N* within 5 % of the truth";
    studies.add(33, simulated, counted, AtLeast(0.95), |source| {
        let all: Vec<(f64, f64)> = (0..8).flat_map(|_| sweep(source, 0.03)).collect();
        Some((peak_sessions(&fit(all.into_iter())) / truth - 1.0).abs() < 0.05)
    });
    studies.all
}
