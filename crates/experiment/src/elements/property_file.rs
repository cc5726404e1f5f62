//! `workload.ycsb`: a property file of YCSB in place of the workload's own keys.

use crate::document::join;
use crate::elements::mix::mix_values;
use crate::elements::workload::{PATH, WorkloadReader};
use crate::keys::workload::workload;
use crate::mistake::Mistake;
use plimsoll_plan::Source;
use plimsoll_workload::properties::{CORE_PROPERTIES, Core, Properties};
use std::path::Path;

/// Properties that are the measurement's business here, and that every workload file of YCSB has.
const TOLERATED: [&str; 2] = ["operationcount", "workload"];

/// Core properties that have no place in an experiment.
const NOT_HERE: [&str; 2] =
    ["core_workload_insertion_retry_limit", "core_workload_insertion_retry_interval"];

impl WorkloadReader<'_, '_> {
    /// The property file of `workload.ycsb`; `None` if there is none or it has a mistake.
    pub(crate) fn property_file(&mut self) -> Option<Core> {
        let named = self.workload.get(workload::ycsb)?;
        let (written, place) = (named.text()?.to_owned(), named.place);
        match self.read_property_file(&written) {
            Ok(core) => {
                self.origins.add_file(&workload::ycsb.under(PATH), &written, place);
                let source = Source::Preset { name: written.clone() };
                if core.record_count > 0 && self.workload.get(workload::records).is_none() {
                    let records = core.record_count.to_string();
                    self.origins.add(&workload::records.under(PATH), records, source.clone());
                }
                let path = join(&workload::mixes.under(PATH), &core.mix.name);
                for (key, value) in mix_values(&core.mix) {
                    self.origins.add(&key.under(&path), value, source.clone());
                }
                Some(core)
            }
            Err(mistakes) => {
                for mistake in mistakes {
                    self.problems.add(&workload::ycsb.under(PATH), Some(place), mistake);
                }
                None
            }
        }
    }

    fn read_property_file(&self, written: &str) -> Result<Core, Vec<Mistake>> {
        let wrong = |reason: String| Mistake::Properties { path: written.to_owned(), reason };
        let path = self.given.base_dir.join(written);
        let text = (self.given.read_file)(&path).map_err(|error| {
            vec![Mistake::File { path: written.to_owned(), reason: error.to_string() }]
        })?;
        let properties =
            Properties::parse(text.as_bytes()).map_err(|error| vec![wrong(error.to_string())])?;
        let mut mistakes = Vec::new();
        for (name, _) in properties.iter() {
            let has_place = CORE_PROPERTIES.contains(&name) && !NOT_HERE.contains(&name);
            if !has_place && !TOLERATED.contains(&name) {
                mistakes.push(wrong(format!(
                    "`{name}` is not about records and operations: say it elsewhere in the experiment, or leave it out"
                )));
            }
        }
        let stem = Path::new(written).file_stem().unwrap_or_default();
        let folder = path.parent().unwrap_or(self.given.base_dir);
        let read = |file: &str| (self.given.read_file)(&folder.join(file));
        match Core::read(&stem.to_string_lossy(), &properties, &read) {
            Ok(core) if mistakes.is_empty() => Ok(core),
            Ok(_) => Err(mistakes),
            Err(error) => {
                mistakes.push(wrong(error.to_string()));
                Err(mistakes)
            }
        }
    }
}
