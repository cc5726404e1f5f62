//! `objective`: what counts as good service.

use crate::Collector;
use crate::document::{Checked, Value, join};
use crate::elements::file::file;
use crate::elements::metric::PERCENTILES;
use crate::elements::search::SEARCH;
use crate::mistake::Mistake;
use crate::origins::Origins;
use crate::table::*;
use plimsoll_plan::{Objective, Search, SettingValue, percentile};
use plimsoll_record::quantities::units;

object! {
    /// What counts as good service.
    OBJECTIVE objective: "What counts as good service: all of it must hold."
    response = Shape::keyed(Keys::Words(&PERCENTILES), &Shape::duration(1, LONGEST_NS), 1, 20), Optional, "{p99: 10ms}";
        "Highest response time at these percentiles.";
    errors = SHARE, Default("0"), "0.1%";
        "Highest share of operations that may fail.";
    achieved = SHARE, Default("99%"), "99%";
        "Lowest share of an offered rate that must be achieved.";
    search = Shape::Any(&[FLAG, Shape::Object(&SEARCH)]), Optional, "{trial: 10s, warm_up: 2s}";
        "Whether the plimsoll line is searched, the highest rate that holds the objective, and how. Without it: where `response` is bounded \
         and the load has no stages.";
}

const PATH: &str = file::objective.name;

/// Reads what counts as good service.
pub(crate) fn objective(
    map: &Checked,
    search: Option<Search>,
    origins: &mut Origins<'_>,
    problems: &mut Collector<'_>,
) -> Option<Objective> {
    if let Value::Map(fields) = &map.value
        && fields.is_empty()
    {
        problems.add(PATH, Some(map.place), Mistake::EmptyObjective);
        return None;
    }
    let mut response = Vec::new();
    for field in map.get(objective::response).map_or(&[][..], Checked::fields) {
        let (Some(percentile), Some(nanos)) = (percentile(&field.key), field.checked.whole())
        else {
            continue;
        };
        origins.add_file(
            &join(&objective::response.under(PATH), &field.key),
            units::duration(nanos),
            field.checked.place,
        );
        response.push((percentile, nanos));
    }
    response.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut share = |key: &Key| match origins.settle(PATH, Some(map), key) {
        Some(SettingValue::Number(share)) => Some(share),
        _ => None,
    };
    Some(Objective {
        response,
        errors: share(objective::errors)?,
        achieved: share(objective::achieved)?,
        search,
    })
}
