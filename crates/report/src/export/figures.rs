//! What was watched: one row for each point of each run, one column for each figure in the unit that its name or its share says.

use csv::Writer;
use plimsoll_judge::{Analysis, CurvePoint, Figures};
use std::io::Write;

const WHERE: [&str; 9] = [
    "experiment_id",
    "experiment",
    "arm",
    "mix",
    "point",
    "load",
    "block",
    "attempt",
    "valid",
];

pub(super) fn write(analysis: &Analysis, out: &mut dyn Write) -> csv::Result<()> {
    let mut table = Writer::from_writer(out);
    let names = Figures::ALL.iter().map(|kind| kind.name);
    table.write_record(WHERE.into_iter().chain(names).chain(["cause"]))?;
    for curve in &analysis.curves {
        for point in &curve.points {
            rows(&mut table, analysis, &curve.mix, point)?;
        }
    }
    for point in &analysis.load_phase {
        rows(&mut table, analysis, "load", point)?;
    }
    table.flush()?;
    Ok(())
}

fn rows(
    table: &mut Writer<&mut dyn Write>,
    analysis: &Analysis,
    mix: &str,
    point: &CurvePoint,
) -> csv::Result<()> {
    for result in &point.results {
        let mut row = vec![
            analysis.id.clone(),
            analysis.name.clone(),
            point.arm.clone(),
            mix.to_owned(),
            point
                .point
                .map_or_else(String::new, |index| index.to_string()),
            point.load_label.clone(),
            result.block.to_string(),
            result.attempt.to_string(),
            result.valid.to_string(),
        ];
        for value in result.figures.values() {
            let known = value.filter(|value| value.is_finite());
            row.push(known.map_or_else(String::new, |value| value.to_string()));
        }
        // The cause is that of the point over all its runs.
        let cause = point.cause.as_ref();
        row.push(cause.map_or_else(String::new, |cause| cause.kind.name().to_owned()));
        table.write_record(&row)?;
    }
    Ok(())
}
