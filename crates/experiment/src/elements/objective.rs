//! `objective`: what counts as good service.

use crate::document::{Checked, Value, join};
use crate::elements::compare::JudgedReader;
use crate::keys::file::file;
use crate::keys::objective::{objective, operation_objective};
use crate::mistake::Mistake;
use crate::table::*;
use plimsoll_plan::{Objective, OperationObjective, Search, SettingValue, percentile};
use plimsoll_record::quantities::units;

const PATH: &str = file::objective.name;

pub(crate) fn search_path() -> String {
    objective::search.under(PATH)
}

impl JudgedReader<'_, '_> {
    /// Reads what counts as good service.
    pub(crate) fn objective(&mut self, map: &Checked, search: Option<Search>) -> Option<Objective> {
        if let Value::Map(fields) = &map.value
            && fields.is_empty()
        {
            self.problems.add(PATH, Some(map.place), Mistake::EmptyObjective);
            return None;
        }
        let response =
            self.response(map.get(objective::response), &objective::response.under(PATH));
        let mut operations = Vec::new();
        for field in map.get(objective::operations).map_or(&[][..], Checked::fields) {
            let path = join(&objective::operations.under(PATH), &field.key);
            let operation = self.operation(&path, (&field.key, field.key_place), None);
            let response = self.response(
                field.checked.get(operation_objective::response),
                &operation_objective::response.under(&path),
            );
            operations
                .extend(operation.map(|operation| OperationObjective { operation, response }));
        }
        operations.sort_by_key(|one| one.operation);
        let mut share = |key: &Key| match self.origins.settle(PATH, Some(map), key) {
            Some(SettingValue::Number(share)) => Some(share),
            _ => None,
        };
        Some(Objective {
            response,
            errors: share(objective::errors)?,
            achieved: share(objective::achieved)?,
            operations,
            search,
        })
    }

    /// Percentiles with their highest response times.
    fn response(&mut self, map: Option<&Checked>, path: &str) -> Vec<(f64, u64)> {
        let mut response = Vec::new();
        for field in map.map_or(&[][..], Checked::fields) {
            let (Some(percentile), Some(nanos)) = (percentile(&field.key), field.checked.whole())
            else {
                continue;
            };
            let path = join(path, &field.key);
            self.origins.add_file(&path, units::duration(nanos), field.checked.place);
            response.push((percentile, nanos));
        }
        response.sort_by(|a, b| a.0.total_cmp(&b.0));
        response
    }
}
