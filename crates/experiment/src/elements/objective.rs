//! `objective`: what counts as good service.

use crate::Collector;
use crate::document::{Checked, Value, join};
use crate::keys::file::file;
use crate::keys::objective::objective;
use crate::mistake::Mistake;
use crate::origins::Origins;
use crate::table::*;
use plimsoll_plan::{Objective, Search, SettingValue, percentile};
use plimsoll_record::quantities::units;

const PATH: &str = file::objective.name;

pub(crate) fn search_path() -> String {
    objective::search.under(PATH)
}

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
