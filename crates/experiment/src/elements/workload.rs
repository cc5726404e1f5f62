//! `workload`: what is stored and which operations are measured.

use crate::Collector;
use crate::document::{Checked, Node, Span};
use crate::elements::arm::{self, ReadArm};
use crate::elements::working_set::{MeasureRecords, RecordSizes};
use crate::keys::arm::arm as arm_keys;
use crate::keys::fields::fields;
use crate::keys::file::file;
use crate::keys::workload::{ORDERED, workload};
use crate::mistake::Mistake;
use crate::origins::{Origins, written_count};
use crate::surroundings::Surroundings;
use crate::table::*;
use plimsoll_plan::words::working_set_words;
use plimsoll_plan::{EngineKind, SettingValue, Settings, WorkingSet, standing_alone};
use plimsoll_record::ServerSpec;
use plimsoll_record::quantities::units;
use plimsoll_record::quantities::words::decimal_bytes;
use plimsoll_workload::documents::{DocumentProblem, DocumentsSpec, Literal};
use plimsoll_workload::properties::Core;
use plimsoll_workload::{DataSpec, KeyOrder, Wrong};

pub(crate) const PATH: &str = file::workload.name;
/// Keys for the amount of data.
const AMOUNTS: [&Key; 3] = [workload::records, workload::size, workload::working_set];

/// A description of documents, or everything that is wrong with it.
type ReadDocuments = Result<DocumentsSpec, Vec<DocumentProblem>>;

/// Reads what is stored and which operations are measured.
pub(crate) struct WorkloadReader<'w, 's> {
    pub problems: &'w mut Collector<'s>,
    pub origins: &'w mut Origins<'s>,
    pub given: &'w Surroundings<'w>,
    /// The checked map, and the place of its key.
    pub workload: &'w Checked,
    /// The map as it was written, and the seed of the documents that it may describe.
    pub node: Option<&'w Node>,
    pub seed: u64,
    pub key_place: Span,
    /// Measured sizes of records on disk.
    pub measured: RecordSizes,
    /// The property file, if the workload names one.
    pub file: Option<Core>,
    /// What arms choose of collections, with the documents that come of it.
    pub choices: Vec<((u64, Literal), ReadDocuments)>,
    /// The same documents in other sizes, each read once: bytes of all together.
    pub sizes: Vec<(f64, ReadDocuments)>,
}

impl WorkloadReader<'_, '_> {
    fn place(&self, path: &[&Key]) -> Span {
        let mut checked = self.workload;
        for key in path {
            match checked.get(key) {
                Some(inner) => checked = inner,
                None => break,
            }
        }
        if std::ptr::eq(checked, self.workload) { self.key_place } else { checked.place }
    }

    fn settle(&mut self, key: &Key) -> Option<SettingValue> {
        // A property file replaces the defaults.
        if self.file.is_some() && self.workload.get(key).is_none() {
            return None;
        }
        self.origins.settle(PATH, Some(self.workload), key)
    }

    /// Everything about the records but their number.
    pub(crate) fn data(&mut self) -> DataSpec {
        if let Some(documents) = self.documents() {
            return documents;
        }
        self.file = self.property_file();
        let mut data = match &self.file {
            Some(core) => core.data.clone(),
            None => DataSpec::with_records(1),
        };
        // The amounts are decided arm by arm; these are the origins of the workload's own.
        self.settle(workload::records);
        self.settle(workload::size);
        if let Some(share) = self.workload.get(workload::working_set)
            && let Some(number) = share.number()
        {
            let path = workload::working_set.under(PATH);
            self.origins.add_file(&path, units::share(number), share.place);
        }
        self.fields(&mut data);
        if let Some(SettingValue::Text(order)) = self.settle(workload::key_order) {
            data.key_order = if order == ORDERED { KeyOrder::Ordered } else { KeyOrder::Hashed };
        }
        if let Some(digits) = self.settle(workload::zero_padding).and_then(|value| value.whole()) {
            data.zero_padding = u32::try_from(digits).unwrap_or(u32::MAX);
        }
        if let Some(SettingValue::Flag(integrity)) = self.settle(workload::data_integrity) {
            data.data_integrity = integrity;
        }
        if let Some(start) = self.settle(workload::insert_start).and_then(|value| value.whole()) {
            data.insert_start = start;
        }
        if let Some(count) = self.settle(workload::insert_count).and_then(|value| value.whole()) {
            data.insert_count = Some(count);
        }
        if let Some(SettingValue::Text(table)) = self.settle(workload::table) {
            data.table = table;
        }
        data
    }

    /// The data of one arm: from the arm, else the defaults, else the workload.
    pub(crate) fn data_of(
        &mut self,
        base: &DataSpec,
        arm: &ReadArm,
        engine: &EngineKind,
        settings: &Settings,
        server: Option<&ServerSpec>,
    ) -> Option<(DataSpec, Option<WorkingSet>)> {
        if self.workload.get(workload::collections).is_some() {
            base.documents.as_ref()?;
            return self.documents_of(base, arm, engine, settings);
        }
        if self.refuses_choices(arm) {
            return None;
        }
        let mut data = base.clone();
        let said = amount(arm, self.workload);
        if said.is_none() && self.file.is_none() && self.workload.get(workload::ycsb).is_some() {
            // The file could not be taken; the problem is already reported.
            return None;
        }
        if said.is_none()
            && let (Some(core), Some(named)) = (&self.file, self.workload.get(workload::ycsb))
            && core.record_count > 0
        {
            let place = named.place;
            return self.check_data(&data, place).then_some((data, None));
        }
        let Some((key, checked, own)) = said else {
            self.problems.add(
                PATH,
                Some(self.key_place),
                Mistake::NoRecords { arm: arm.name.clone() },
            );
            return None;
        };
        if key == workload::working_set.name {
            return self.working_set(arm, checked, base, (engine, settings, server));
        }
        let amount = checked.whole()?;
        data.records = amount;
        if key == workload::size.name {
            let record_bytes = mean_record_bytes(base, amount);
            data.records = (amount as f64 / record_bytes).round() as u64;
            if data.records == 0 {
                let mistake = Mistake::SizeBelowRecord { size: units::size(amount), record_bytes };
                self.problems.add(
                    if own { file::arms.name } else { PATH },
                    Some(checked.place),
                    mistake,
                );
                return None;
            }
        }
        let path = arm_keys::records.under(&arm.path());
        let is_size = key == workload::size.name;
        let text = if is_size {
            format!("{} ({})", data.records, units::size(amount))
        } else {
            written_count(data.records)
        };
        // Where all arms have the workload's records, the workload's own origin shows them.
        if own || is_size {
            self.origins.add_file(&path, text, checked.place);
        }
        self.check_data(&data, checked.place).then_some((data, None))
    }

    /// As much data as is a share of the cache.
    fn working_set(
        &mut self,
        arm: &ReadArm,
        share: &Checked,
        base: &DataSpec,
        (engine, settings, server): (&EngineKind, &Settings, Option<&ServerSpec>),
    ) -> Option<(DataSpec, Option<WorkingSet>)> {
        // Measuring takes its time, and of a file with mistakes nothing comes anyway.
        let measure: &MeasureRecords<'_> = if self.problems.is_empty() {
            self.given.measure
        } else {
            &|_, _, _, data| Ok(data.mean_record_bytes())
        };
        let alone = server.map(standing_alone);
        let chosen =
            self.measured.choose(share, engine, settings, alone.as_ref(), base, measure)?;
        let (records, set) = match chosen {
            Ok(chosen) => chosen,
            Err(mistake) => {
                let path = match arm.get(arm_keys::working_set) {
                    Some(given) => given.path.clone(),
                    None => workload::working_set.under(PATH),
                };
                self.problems.add(&path, Some(share.place), mistake);
                return None;
            }
        };
        let path = arm_keys::records.under(&arm.path());
        self.origins.add_file(&path, working_set_words(records, &set), share.place);
        let data = DataSpec { records, ..base.clone() };
        self.check_data(&data, share.place).then_some((data, Some(set)))
    }

    /// Reports what `plimsoll_workload` refuses about the data, at the place of the key.
    fn check_data(&mut self, data: &DataSpec, records: Span) -> bool {
        let problems = data.check();
        for problem in &problems {
            // The names of the description, and the keys from which each comes.
            let keys: &[&Key] = match problem.field.split('.').next().unwrap_or_default() {
                "records" => &[workload::records],
                "field_count" => &[workload::fields, fields::count],
                "field_length" => &[workload::fields, fields::length],
                "data_integrity" => &[workload::data_integrity],
                "compressible" => &[workload::fields, fields::compressible],
                "zero_padding" => &[workload::zero_padding],
                "insert_start" => &[workload::insert_start],
                "insert_count" => &[workload::insert_count],
                _ => &[],
            };
            let path = keys.iter().fold(PATH.to_owned(), |path, key| key.under(&path));
            let place = match keys {
                [key] if key.name == workload::records.name => records,
                keys => self.place(keys),
            };
            let what = match problem.wrong {
                Wrong::OutOfRange { value, most, .. } if problem.field == "field_length" => {
                    format!(
                        "the fields of one record can take {} together, the most is {}",
                        decimal_bytes(value),
                        decimal_bytes(most)
                    )
                }
                _ => words(&problem.wrong),
            };
            self.problems.add(&path, Some(place), Mistake::Workload { what });
        }
        problems.is_empty()
    }
}

/// The key that says how much data an arm has, with its value, and whether it is the arm's own: from the arm, else from the workload.
pub(crate) fn amount<'a>(
    arm: &'a ReadArm,
    workload: &'a Checked,
) -> Option<(&'static str, &'a Checked, bool)> {
    let of_arm = arm::AMOUNTS
        .into_iter()
        .find_map(|key| arm.get(key).map(|given| (key.name, &given.checked, true)));
    let of_workload =
        || AMOUNTS.into_iter().find_map(|key| Some((key.name, workload.get(key)?, false)));
    of_arm.or_else(of_workload)
}

/// Mean bytes of a record where there are as many as fit into `size`. Ordered keys grow with their number, so that the mean depends on the
/// number of records: two rounds come within a byte.
fn mean_record_bytes(base: &DataSpec, size: u64) -> f64 {
    let mut data = base.clone();
    (data.insert_start, data.insert_count) = (0, None);
    for _ in 0..2 {
        data.records = ((size as f64 / data.mean_record_bytes()) as u64).max(1);
    }
    data.mean_record_bytes()
}

/// A refusal of `plimsoll_workload`, in the words of the file.
pub(crate) fn words(wrong: &Wrong) -> String {
    match wrong {
        Wrong::OutOfRange { value, least, most } => {
            format!("{value} is out of range: at least {least}, at most {most}")
        }
        Wrong::NothingToDo => {
            "all proportions are zero: write for example `preset: a`, or `read: 0.5`".into()
        }
        Wrong::NeedsConstantLength => {
            "data integrity needs fields of constant length, such as `fields: {length: 100}`".into()
        }
        Wrong::NotWithIntegrity => {
            "`data_integrity` derives each value from its key, so that no part of it can repeat: leave out one of the two".into()
        }
        Wrong::OutsideRecords { start, count, records } => {
            format!("{count} keys from {start} on do not lie within {records} records")
        }
        Wrong::TooFewRecords { needed, records } => {
            format!(
                "this request distribution needs at least {needed} records, there are {records}"
            )
        }
        Wrong::EmptyPart { keys, all } => {
            format!(
                "{keys} of {all} keys are hot, so that one part has none: choose another data_fraction"
            )
        }
        Wrong::MinimumAboveMaximum { .. } | Wrong::Empty => wrong.to_string(),
    }
}
