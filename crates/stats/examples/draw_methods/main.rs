//! Draws the pictures of `docs/methods.md` with the functions that they explain.
//!
//! `cargo run -p plimsoll-stats --example draw_methods` writes `docs/img/method-*.svg`; the same code gives the same bytes.

mod svg;

use std::path::Path;

use plimsoll_stats::{
    Comparison, Grounds, LineGoal, LineSearch, LineStep, LineTrial, LoadPoint, Rule, Scalability,
    ScalabilityPoint, Scale, Signal, StatsError, WarmUp, judge, power_knee, warm_up,
};
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use svg::{ACCENT, Anchor, FAINT, INK, MAIN, Picture, Plot};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/img");
    std::fs::create_dir_all(&folder)?;
    for (name, picture) in [
        ("timing", timing()),
        ("warm-up", warming_up()?),
        ("verdicts", verdicts()?),
        ("knee", knee()?),
        ("scalability", scalability()?),
        ("line", line()?),
    ] {
        std::fs::write(folder.join(format!("method-{name}.svg")), picture.finish())?;
    }
    Ok(())
}

/// Normal draws from a fixed seed.
fn noise(seed: u64, count: usize) -> Vec<f64> {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..count)
        .map(|_| StandardNormal.sample(&mut generator))
        .collect()
}

/// One session, an operation due every 10 ms, each served in 4 ms but for one that takes 34.
fn timing() -> Picture {
    let mut picture = Picture::new(
        640.0,
        250.0,
        "Wait, service and response of operations around a stall",
    );
    let x = |ms: f64| 70.0 + ms * 6.2;
    picture.text(
        x(0.0),
        24.0,
        Anchor::Start,
        INK,
        "one session, one operation due every 10 ms; the third is served slowly",
    );
    let mut free_at = 0.0_f64;
    for operation in 0..7 {
        let due = f64::from(operation) * 10.0;
        let dispatched = due.max(free_at);
        let completed = dispatched + if operation == 2 { 34.0 } else { 4.0 };
        free_at = completed;
        let y = 50.0 + f64::from(operation) * 24.0;
        picture.text(
            60.0,
            y + 5.0,
            Anchor::End,
            INK,
            &format!("op {}", operation + 1),
        );
        picture.line(x(due), y - 9.0, x(due), y + 9.0, INK, 1.5);
        if dispatched > due {
            picture.bar(x(due), y - 5.0, x(dispatched) - x(due), 10.0, FAINT);
        }
        picture.bar(
            x(dispatched),
            y - 5.0,
            x(completed) - x(dispatched),
            10.0,
            MAIN,
        );
        let response = format!("response {} ms", completed - due);
        picture.text(x(completed) + 6.0, y + 5.0, Anchor::Start, INK, &response);
    }
    picture.line(70.0, 228.0, 70.0, 242.0, INK, 1.5);
    picture.text(78.0, 240.0, Anchor::Start, INK, "due (intended)");
    picture.bar(220.0, 230.0, 30.0, 10.0, FAINT);
    picture.text(256.0, 240.0, Anchor::Start, INK, "wait");
    picture.bar(330.0, 230.0, 30.0, 10.0, MAIN);
    picture.text(366.0, 240.0, Anchor::Start, INK, "service");
    picture
}

/// A run that starts cold, with the cut that is found in it.
fn warming_up() -> Result<Picture, StatsError> {
    let mut level = 0.0;
    let mut series = Vec::new();
    for (second, draw) in noise(12, 90).into_iter().enumerate() {
        level = 0.5 * level + 0.87 * draw;
        series.push(9000.0 * (1.0 - 0.55 * (-(second as f64) / 6.0).exp()) * (1.0 + 0.025 * level));
    }
    let found = warm_up(
        &[Signal {
            samples: &series,
            scale: Scale::Linear,
        }],
        &[],
    )?;
    let WarmUp::Steady { cut } = found else {
        unreachable!("the series was made to settle")
    };
    let mut picture = Picture::new(
        640.0,
        280.0,
        "Throughput over time with the warm-up that MSER-5 cuts",
    );
    let plot = Plot::new((0.0, 90.0), (0.0, 10_000.0));
    plot.axes(
        &mut picture,
        &[0.0, 30.0, 60.0, 90.0],
        &[0.0, 5000.0, 10_000.0],
        "seconds",
        "operations per second",
    );
    let steady = &series[cut..];
    let mean = steady.iter().sum::<f64>() / steady.len() as f64;
    let (left, top) = plot.at(0.0, 10_000.0);
    let (cut_x, bottom) = plot.at(cut as f64, 0.0);
    picture.bar(left, top, cut_x - left, bottom - top, "#f0f0f0");
    plot.curve(
        &mut picture,
        series
            .iter()
            .enumerate()
            .map(|(second, x)| (second as f64, *x)),
        MAIN,
    );
    let (x, y) = plot.at(cut as f64, mean);
    picture.line(x, y, plot.at(90.0, mean).0, y, ACCENT, 1.5);
    picture.line(cut_x, top, cut_x, bottom, ACCENT, 1.5);
    picture.text(
        cut_x + 6.0,
        bottom - 10.0,
        Anchor::Start,
        ACCENT,
        &format!("cut after {cut} s"),
    );
    picture.text(
        plot.at(90.0, mean).0,
        y + 34.0,
        Anchor::End,
        ACCENT,
        "mean of the steady rest",
    );
    Ok(picture)
}

/// Eight blocks at seven true differences, each with its word.
fn verdicts() -> Result<Picture, StatsError> {
    use Grounds::*;
    let mut picture = Picture::new(
        640.0,
        340.0,
        "Intervals against the margin and the word that each one gets",
    );
    let x = |change: f64| 220.0 + change * 1400.0;
    picture.bar(x(-0.03), 36.0, x(0.03) - x(-0.03), 262.0, "#eef3f7");
    picture.line(x(0.0), 36.0, x(0.0), 298.0, INK, 1.0);
    picture.text(x(0.0), 26.0, Anchor::Middle, INK, "margin ± 3 %");
    // True difference, spread between blocks, and the grounds that the row is to show.
    let cases = [
        (0.10, 0.015, SurelyBeyondMargin),
        (0.06, 0.03, LikelyBeyondMargin),
        (0.02, 0.015, SizeUnclear),
        (0.018, 0.006, WithinMargin),
        (0.0, 0.012, WithinMargin),
        (0.02, 0.04, DirectionUnclear),
        (-0.07, 0.015, SurelyBeyondMargin),
    ];
    for (row, (difference, spread, grounds)) in cases.into_iter().enumerate() {
        let y = 58.0 + row as f64 * 36.0;
        // The first seed whose eight blocks show what the row is about.
        let mut seed = row as u64;
        let (b, judgement) = loop {
            let draws = noise(seed, 8);
            let b: Vec<f64> = draws
                .iter()
                .map(|draw| (1.0 + difference) * (spread * draw).exp())
                .collect();
            let judgement = judge(
                &Comparison::paired(&[1.0; 8], &b)?,
                Rule::throughput(),
                0.95,
            )?;
            if judgement.grounds == grounds {
                break (b, judgement);
            }
            seed += 100;
        };
        let interval = judgement.change.interval;
        for value in &b {
            picture.dot(x(value - 1.0), y + 9.0, 2.0, FAINT);
        }
        picture.line(x(interval.lower), y, x(interval.upper), y, MAIN, 3.0);
        picture.dot(x(judgement.change.value), y, 4.5, MAIN);
        picture.text(
            490.0,
            y + 1.0,
            Anchor::Start,
            INK,
            &judgement.verdict.to_string(),
        );
        picture.small(490.0, y + 15.0, &words(&format!("{grounds:?}")));
    }
    for (change, label) in [
        (-0.1, "-10 %"),
        (-0.05, "-5 %"),
        (0.0, "0"),
        (0.05, "+5 %"),
        (0.1, "+10 %"),
    ] {
        picture.text(x(change), 316.0, Anchor::Middle, INK, label);
    }
    picture.text(
        x(0.0),
        334.0,
        Anchor::Middle,
        INK,
        "throughput of B against A, 8 blocks each",
    );
    Ok(picture)
}

/// `LikelyBeyondMargin` as "likely beyond margin".
fn words(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push(' ');
        }
        text.extend(letter.to_lowercase());
    }
    text
}

/// A closed loop that saturates, with its power.
fn knee() -> Result<Picture, StatsError> {
    let mut curve = Vec::new();
    for (sessions, draw) in (0..24).map(|i| 1.0 + f64::from(i)).zip(noise(5, 24)) {
        let soft = sessions / (1.0 + (sessions / 9.0_f64).powi(4)).powf(0.25);
        let throughput = 1000.0 * soft * (1.0 + 0.01 * draw);
        let response = sessions / throughput * 1e9;
        curve.push(LoadPoint {
            load: sessions,
            throughput_per_second: throughput,
            mean_response_ns: response,
        });
    }
    let index = power_knee(&curve)?.expect("the curve has points");
    let power = |point: &LoadPoint| point.throughput_per_second / point.mean_response_ns;
    let greatest = power(&curve[index]);
    let mut picture = Picture::new(
        640.0,
        280.0,
        "Throughput against sessions with the knee where power is greatest",
    );
    let plot = Plot::new((0.0, 24.0), (0.0, 10_000.0));
    plot.axes(
        &mut picture,
        &[0.0, 8.0, 16.0, 24.0],
        &[0.0, 5000.0, 10_000.0],
        "sessions",
        "operations per second",
    );
    plot.curve(
        &mut picture,
        curve
            .iter()
            .map(|point| (point.load, power(point) / greatest * 6000.0)),
        FAINT,
    );
    plot.curve(
        &mut picture,
        curve
            .iter()
            .map(|point| (point.load, point.throughput_per_second)),
        MAIN,
    );
    let (x, bottom) = plot.at(curve[index].load, 0.0);
    let (_, y) = plot.at(0.0, curve[index].throughput_per_second);
    picture.line(x, y, x, bottom, ACCENT, 1.5);
    picture.dot(x, y, 5.0, ACCENT);
    let label = format!("knee: {} sessions", curve[index].load);
    picture.text(x + 8.0, bottom - 10.0, Anchor::Start, ACCENT, &label);
    let (label_x, label_y) = plot.at(13.2, 5600.0);
    picture.text(
        label_x,
        label_y,
        Anchor::Start,
        "#6b6b6b",
        "throughput / response (power)",
    );
    let (label_x, label_y) = plot.at(17.0, 8000.0);
    picture.text(label_x, label_y, Anchor::Start, MAIN, "throughput");
    Ok(picture)
}

/// A fit with its peak, its reach and its residuals.
fn scalability() -> Result<Picture, StatsError> {
    let sessions = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
    let law = |n: f64| 1100.0 * n / (1.0 + 0.04 * (n - 1.0) + 0.0008 * n * (n - 1.0));
    let points: Vec<_> = sessions
        .iter()
        .zip(noise(8, 7))
        .map(|(&n, draw)| ScalabilityPoint::new(n, law(n) * (1.0 + 0.03 * draw)))
        .collect();
    let fit = Scalability::fit(&points)?;
    let mut picture = Picture::new(
        640.0,
        280.0,
        "The scalability law fitted to measured points",
    );
    let plot = Plot::new((0.0, 116.0), (0.0, 14_000.0));
    plot.axes(
        &mut picture,
        &[0.0, 32.0, 64.0, 96.0],
        &[0.0, 7000.0, 14_000.0],
        "sessions",
        "operations per second",
    );
    let reach = 96;
    let fitted: Result<Vec<_>, StatsError> = (1..=reach)
        .map(|n| Ok((f64::from(n), fit.predict(f64::from(n))?)))
        .collect();
    plot.curve(&mut picture, fitted?.into_iter(), MAIN);
    for point in &fit.residuals {
        let (x, measured) = plot.at(point.sessions, point.measured_per_second);
        let (_, on_curve) = plot.at(point.sessions, point.fitted_per_second);
        picture.line(x, measured, x, on_curve, ACCENT, 1.5);
        picture.dot(x, measured, 4.0, ACCENT);
    }
    if let plimsoll_stats::Peak::At {
        sessions,
        throughput_per_second,
    } = fit.peak()
    {
        let (x, y) = plot.at(sessions, throughput_per_second);
        let (_, bottom) = plot.at(0.0, 0.0);
        picture.line(x, y, x, bottom, FAINT, 1.5);
        picture.text(
            x + 6.0,
            bottom - 10.0,
            Anchor::Start,
            "#6b6b6b",
            &format!("N* = {sessions:.0}"),
        );
    }
    let (x, top) = plot.at(f64::from(reach), 14_000.0);
    let (_, bottom) = plot.at(0.0, 0.0);
    picture.line(x, top, x, bottom, INK, 1.0);
    picture.text(x + 5.0, top + 14.0, Anchor::Start, INK, "no prediction");
    let figures = format!(
        "λ = {:.0} op/s   σ = {:.3}   κ = {:.5}",
        fit.lambda, fit.sigma, fit.kappa
    );
    picture.text(
        plot.at(40.0, 0.0).0,
        top + 14.0,
        Anchor::Start,
        INK,
        &figures,
    );
    Ok(picture)
}

/// A search whose trials are good below a capacity that varies by half a percent.
fn line() -> Result<Picture, StatsError> {
    let mut search = LineSearch::new(LineGoal::with_trials_of(10.0), 100.0, 1e6, 2_500.0)?;
    let mut draws = noise(9, 200).into_iter();
    let found = loop {
        match search.next() {
            LineStep::Done(line) => break line,
            LineStep::Try { rate } => {
                let capacity = 7_350.0 * (1.0 + 0.005 * draws.next().unwrap_or(0.0));
                let is_good = rate <= capacity;
                let seconds = 10.0;
                search.add(LineTrial {
                    rate,
                    seconds,
                    is_good,
                })?;
            }
        }
    };
    let trials = search.trials();
    let mut picture = Picture::new(
        640.0,
        280.0,
        "Trials of a search for the plimsoll line: first far apart, then at both ends of the interval",
    );
    let last = trials.len() as f64 + 1.0;
    let plot = Plot::new((0.0, last), (0.0, 11_000.0));
    plot.axes(
        &mut picture,
        &[5.0, 10.0, 15.0, 20.0],
        &[0.0, 5000.0, 10_000.0],
        "trials",
        "operations per second",
    );
    for end in [found.lower, found.upper].into_iter().flatten() {
        let ((left, y), (right, _)) = (plot.at(0.0, end), plot.at(last, end));
        picture.line(left, y, right, y, FAINT, 1.0);
    }
    for (number, trial) in (1..).map(f64::from).zip(trials) {
        let (x, y) = plot.at(number, trial.rate);
        let colour = if trial.is_good { MAIN } else { ACCENT };
        picture.dot(x, y, 4.0, colour);
    }
    let (x, y) = plot.at(last * 0.55, 3_000.0);
    picture.text(x, y, Anchor::Start, MAIN, "objective met");
    let (x, y) = plot.at(last * 0.55, 1_900.0);
    picture.text(x, y, Anchor::Start, ACCENT, "objective missed");
    Ok(picture)
}
