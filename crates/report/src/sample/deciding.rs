//! What the made-up experiment gets when it searched for lines, its arms have prices, and probe tasks were timed. Every number is invented, but they agree with
//! each other.

use super::{Noise, Shape, estimate, median_of};
use plimsoll_judge::{
    Acknowledgement, AgainstItself, Analysis, BlockLine, BlocksNeeded, Cause, CauseKind,
    CostResult, CurvePoint, DriftResult, Estimate, EventResult, EventsResult, Judgement,
    LineResult, Repeatability, SeriesEvent, TrialResult,
};
use plimsoll_plan::Metric;
use plimsoll_record::{ExperimentRecord, LoadKind, Price, ProbeTime};

/// The objective's highest p99, nanoseconds.
const LIMIT: f64 = 10e6;
const IDLE: f64 = 0.9e6;
/// Price of an hour of each arm.
const PRICES: [f64; 4] = [0.36, 0.21, 0.29, 0.48];
const SHARES: [f64; 2] = [0.5, 0.8];

/// The rate at which the arm would need forever.
fn capacity(arm: usize, mix: usize) -> f64 {
    [22_600.0, 16_100.0, 19_400.0, 12_800.0][arm % 4] * [1.0, 1.9][mix % 2]
}

fn p99(rate: f64, capacity: f64) -> f64 {
    let share = rate / capacity;
    if share >= 0.995 {
        return 180e6 * share;
    }
    IDLE / (1.0 - share)
}

/// One block's search: doubling until it does not hold, then halving the gap until it is 2 % wide.
fn search(arm: usize, mix: usize, block: u32, noise: &mut Noise) -> BlockLine {
    let capacity = capacity(arm, mix) * (1.0 + 0.012 * noise.next());
    let mut line = BlockLine { block, lower: None, upper: None, trials: Vec::new() };
    let mut rate = 5_000.0;
    while line.trials.len() < 16 {
        let p99 = p99(rate, capacity) * (1.0 + 0.04 * noise.next());
        let is_good = p99 <= LIMIT;
        line.trials.push(TrialResult {
            rate,
            seconds: 12.0,
            is_good,
            // Something disturbed the third trial of the second block; it was made again.
            valid: !(block == 1 && line.trials.len() == 2),
            p99_ns: Some(p99),
            achieved: Some((capacity / rate).min(1.0)),
            missed: Vec::new(),
        });
        if !line.trials[line.trials.len() - 1].valid {
            continue;
        }
        if is_good {
            line.lower = Some(rate);
        } else {
            line.upper = Some(rate);
        }
        rate = match (line.lower, line.upper) {
            (Some(lower), Some(upper)) if (upper - lower) / upper <= 0.02 => break,
            (Some(lower), Some(upper)) => (lower * upper).sqrt(),
            (Some(lower), None) => lower * 2.0,
            _ => rate / 2.0,
        };
    }
    line
}

fn open(
    point: &CurvePoint,
    index: u32,
    label: &str,
    arm: usize,
    mix: usize,
    share: f64,
) -> CurvePoint {
    let mut noise = Noise::new(u64::from(index) * 7 + arm as u64);
    let line = capacity(arm, mix) * (1.0 - IDLE / LIMIT);
    let rate = line * share;
    let over = |of: f64, spread: f64, noise: &mut Noise| {
        let values = point.throughput.values.iter();
        estimate(values.map(|(block, _)| (*block, of * (1.0 + spread * noise.next()))).collect())
    };
    let mut made = point.clone();
    made.point = Some(index);
    made.load_label = label.into();
    made.load = LoadKind::Open { rate, sessions: 16 };
    made.throughput = over(rate, 0.001, &mut noise);
    let tail = p99(rate, capacity(arm, mix));
    for (estimate, factor) in [
        (&mut made.response.mean, 0.2),
        (&mut made.response.p50, 0.15),
        (&mut made.response.p95, 0.6),
        (&mut made.response.p99, 1.0),
        (&mut made.response.p999, 2.1),
    ] {
        *estimate = over(tail * factor, 0.05, &mut noise);
    }
    made.meets_objective = Some(share <= 1.0);
    for (result, (_, rate)) in made.results.iter_mut().zip(&made.throughput.values) {
        result.throughput = *rate;
        result.achieved = Some(1.0);
        result.generator_share = None;
        result.generator_lag_p99_ns = Some(18_000.0);
    }
    made
}

fn line(shape: &Shape, analysis: &Analysis, arm: usize, mix: usize, index: u32) -> LineResult {
    let mut noise = Noise::new(100 + arm as u64 * 13 + mix as u64);
    let blocks: Vec<BlockLine> =
        (0..shape.blocks).map(|block| search(arm, mix, block, &mut noise)).collect();
    let lower = blocks.iter().filter_map(|block| block.lower).fold(f64::INFINITY, f64::min);
    let upper = blocks.iter().filter_map(|block| block.upper).fold(0.0, f64::max);
    let rate = estimate(
        blocks
            .iter()
            .filter_map(|block| Some((block.block, (block.lower? * block.upper?).sqrt())))
            .collect(),
    );
    let curve = analysis
        .curves
        .iter()
        .find(|curve| curve.arm == shape.arms[arm] && curve.mix == shape.mixes[mix]);
    let at_line = curve
        .and_then(|curve| curve.points.first())
        .map(|point| open(point, index, "the plimsoll line", arm, mix, 1.0));
    let limit = "journal: sessions waited 61 % of their time for it";
    LineResult {
        arm: shape.arms[arm].clone(),
        mix: shape.mixes[mix].clone(),
        point: index,
        objective: "p99 of the response at most 10 ms, no errors, 99 % of the rate achieved".into(),
        lower: Some(lower),
        upper: Some(upper),
        confidence: rate.interval.map(|_| 0.969),
        rate,
        blocks,
        at_line,
        limit: Some(Cause {
            kind: CauseKind::Journal,
            sentence: limit.into(),
            identities: Vec::new(),
            rules: Vec::new(),
        }),
        sentence: format!(
            "{} holds its objective up to between {} and {} op/s; beyond, it is limited by the {limit}.",
            shape.arms[arm],
            grouped(lower),
            grouped(upper)
        ),
    }
}

/// A rate below a million with a comma before its last three digits.
fn grouped(rate: f64) -> String {
    let whole = rate.round() as u64;
    if whole < 1_000 {
        return whole.to_string();
    }
    format!("{},{:03}", whole / 1_000, whole % 1_000)
}

/// Lines, points at shares of them, prices, spreads, drift, blocks needed.
pub fn furnish_analysis(shape: &Shape, analysis: &mut Analysis) {
    let fixed = (shape.mixes.len() * shape.sessions.len()) as u32;
    for mix in 0..shape.mixes.len() {
        for arm in 0..shape.arms.len() {
            let index = fixed + mix as u32 * 3;
            let line = line(shape, analysis, arm, mix, index);
            analysis.lines.push(line);
            let curve = &mut analysis.curves[mix * shape.arms.len() + arm];
            let Some(first) = curve.points.first().cloned() else {
                continue;
            };
            for (number, share) in SHARES.into_iter().enumerate() {
                let label = format!("{} % of the line", share * 100.0);
                let index = index + 1 + number as u32;
                curve.points.push(open(&first, index, &label, arm, mix, share));
            }
        }
    }
    prices(shape, analysis);
    spreads(analysis);
    needs(analysis);
    drift(shape, analysis);
}

fn prices(shape: &Shape, analysis: &mut Analysis) {
    for (arm, summary) in analysis.arms.iter_mut().enumerate() {
        summary.rig.price = Some(Price {
            per_hour: PRICES[arm % 4],
            currency: "EUR".into(),
            source: Some("price list of Imaginary Cloud".into()),
            date: Some("2026-02".into()),
        });
    }
    for (place, curve) in analysis.curves.iter().enumerate() {
        let arm = place % shape.arms.len();
        let per_hour = PRICES[arm % 4];
        let cost = |values: &[(u32, f64)]| {
            estimate(
                values
                    .iter()
                    .map(|(block, rate)| (*block, per_hour / (rate * 3_600.0) * 1e6))
                    .collect(),
            )
        };
        let knee = curve.knee.as_ref().map(|knee| knee.load_label.as_str());
        let at_knee = curve.points.iter().find(|point| Some(point.load_label.as_str()) == knee);
        let rate = |point: &&CurvePoint| median_of(&point.throughput);
        let best = curve.points.iter().max_by(|a, b| rate(a).total_cmp(&rate(b)));
        let of = |point: &CurvePoint| (point.load_label.clone(), cost(&point.throughput.values));
        analysis.costs.push(CostResult {
            arm: curve.arm.clone(),
            mix: curve.mix.clone(),
            currency: "EUR".into(),
            per_hour,
            source: Some("price list of Imaginary Cloud, 2026-02".into()),
            at_knee: at_knee.map(of),
            at_best: best.map(of),
            at_line: analysis.lines.get(place).map(|line| cost(&line.rate.values)),
        });
    }
}

fn spreads(analysis: &mut Analysis) {
    for curve in &analysis.curves {
        let Some(point) = curve.points.get(1) else {
            continue;
        };
        let noted = [
            (Metric::Throughput, &point.throughput, None),
            (Metric::Response { percentile: 99.0 }, &point.response.p99, Some(0.031)),
        ];
        for (metric, values, trend) in noted {
            let logs: Vec<f64> = values.values.iter().map(|(_, value)| value.ln()).collect();
            let mean = logs.iter().sum::<f64>() / logs.len() as f64;
            let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
            let spread = (squares / (logs.len() as f64 - 1.0).max(1.0)).sqrt();
            let sorted =
                |choose: fn(f64, f64) -> f64| logs.iter().copied().reduce(choose).unwrap_or(0.0);
            let range = (sorted(f64::max) - sorted(f64::min)).exp() - 1.0;
            analysis.repeatability.push(Repeatability {
                arm: curve.arm.clone(),
                mix: curve.mix.clone(),
                point: point.point.unwrap_or_default(),
                load_label: point.load_label.clone(),
                metric,
                values: values.clone(),
                spread,
                spread_interval: (spread * 0.62, spread * 2.45),
                range,
                trend,
                visible: Some(spread * 2.0),
                sentence: format!(
                    "The blocks of {} lie {:.1} % apart at most.",
                    curve.arm,
                    range * 100.0
                ),
            });
        }
    }
}

/// The first deciding comparison becomes one that is not settled yet.
fn needs(analysis: &mut Analysis) {
    let Some(comparison) = analysis.comparisons.iter_mut().find(|comparison| comparison.primary)
    else {
        return;
    };
    let verdict = &mut comparison.verdict;
    verdict.judgement = Judgement::Inconclusive;
    verdict.estimate = Some(0.012);
    verdict.interval = Some((-0.021, 0.046));
    verdict.reason = Some("the interval extends beyond the margin and includes zero".into());
    comparison.sentence = format!(
        "It is unclear whether throughput of {} differs from that of {} under workload {} at {}: 1.2 % higher (96.9 % interval 2.1 % lower to 4.6 % higher, {} blocks).",
        comparison.arm, comparison.baseline, comparison.mix, comparison.load_label, verdict.blocks
    );
    analysis.headline[0].clone_from(&comparison.sentence);
    analysis.blocks_needed.push(BlocksNeeded {
        baseline: comparison.baseline.clone(),
        arm: comparison.arm.clone(),
        mix: comparison.mix.clone(),
        metric: comparison.metric,
        half_width: 0.03,
        reached: Some(0.0335),
        blocks: Some(14),
    });
}

fn drift(shape: &Shape, analysis: &mut Analysis) {
    let mut noise = Noise::new(5);
    let (mut cpu, mut disk) = (Vec::new(), Vec::new());
    for block in 0..shape.blocks {
        for place in [ProbeTime::BeforeBlock, ProbeTime::AfterBlock] {
            let disturbed = block == 3 && place == ProbeTime::AfterBlock;
            let off = if disturbed { 1.11 } else { 1.0 };
            cpu.push((block, place, off * (1.0 + 0.012 * noise.next())));
            disk.push((block, place, 1.0 + 0.09 * noise.next()));
        }
    }
    analysis.drift = Some(DriftResult {
        cpu,
        disk,
        allowed: (0.05, 0.25),
        marked: if shape.blocks > 3 { vec![3] } else { Vec::new() },
        sentence: if shape.blocks > 3 {
            "After block 4 a fixed test of the CPU took 11 % longer than usual (5.0 % is allowed)."
        } else {
            "The machine was the same in every block: a fixed test of the CPU within 5 % and a fixed test of the disk within 25 % of the median."
        }
        .into(),
    });
}

/// Makes it an experiment of one arm against itself.
pub fn against_itself(analysis: &mut Analysis) {
    analysis.against_itself = Some(AgainstItself {
        comparisons: 10,
        unjudged: 0,
        different: 1,
        largest: Some(0.018),
        sentence: "This machine passed off 1 of 10 differences as real, though there are none; the largest estimate was 1.8 %.".into(),
    });
}

/// The objective in the plan, as the program writes it.
pub fn furnish_record(record: &mut ExperimentRecord) {
    record.plan = serde_json::json!({
        "version": 1,
        "objective": {"response": [[99.0, 10_000_000]], "errors": 0.0, "achieved": 0.99},
    });
}

/// Makes it an experiment in which the primary was killed and stepped down: the first arm loses something.
pub fn disturbed(analysis: &mut Analysis) {
    let over = |values: [f64; 3]| Estimate {
        median: Some(values[1]),
        interval: None,
        values: (0..).zip(values).collect(),
    };
    let arms: Vec<String> = analysis.arms.iter().map(|arm| arm.name.clone()).collect();
    for (number, arm) in arms.into_iter().enumerate() {
        let lost = if number == 0 { 12 } else { 0 };
        analysis.events.push(EventsResult {
            arm,
            mix: "A".into(),
            point: 0,
            load_label: "400 op/s".into(),
            events: vec![
                EventResult {
                    words: "at 8s: the primary is killed, and started again after 6s".into(),
                    without_writes: over([10.2, 10.65, 11.43]),
                    without_reads: over([10.1, 10.6, 11.4]),
                    errors: over([0.0, 0.0, 3.0]),
                    p99_back: over([12.0, 13.0, 13.0]),
                    not_back: 0,
                    blocks: 3,
                },
                EventResult {
                    words: "at 30s: the primary steps down".into(),
                    without_writes: over([0.0, 0.0, 0.0]),
                    without_reads: over([0.0, 0.0, 0.0]),
                    errors: over([0.0, 0.0, 0.0]),
                    p99_back: Estimate::default(),
                    not_back: 3,
                    blocks: 3,
                },
            ],
            acknowledged: Some(Acknowledgement {
                blocks: 3,
                writes: 36_000,
                in_doubt: 4,
                records: 21_000,
                lost,
                blocks_with_loss: u32::from(lost > 0),
                lost_keys: (lost > 0)
                    .then(|| "user7356840935196145670".to_owned())
                    .into_iter()
                    .collect(),
                ..Acknowledgement::default()
            }),
            sentence: "The arm could not be written for 10.65 s.".into(),
        });
    }
    for series in analysis.series.iter_mut().filter(|series| series.point.is_some()) {
        let words = "at 8s: the primary is killed, and started again after 6s (127.0.0.1:27017)";
        series.events = vec![SeriesEvent { at: 5.0, until: Some(6.5), words: words.into() }];
    }
}
