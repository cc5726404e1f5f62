//! `workload`: what is stored and what is asked.

use crate::Collector;
use crate::check::Surroundings;
use crate::document::{Checked, Place};
use crate::elements::arm::{self, ReadArm};
use crate::elements::fields::{FIELDS, fields};
use crate::elements::file::file;
use crate::elements::mix::{MIX, PRESET};
use crate::elements::working_set::{MeasureRecords, RecordSizes};
use crate::mistake::Mistake;
use crate::origins::{Origins, written_count};
use crate::table::*;
use plimsoll_plan::words::working_set_words;
use plimsoll_plan::{EngineKind, SettingValue, Settings, WorkingSet, standing_alone};
use plimsoll_record::ServerSpec;
use plimsoll_record::quantities::units;
use plimsoll_record::quantities::words::decimal_bytes;
use plimsoll_workload::properties::Core;
use plimsoll_workload::{DataSpec, KeyOrder, Wrong};

const MOST_RECORDS: u64 = 1_000_000_000_000;
pub(crate) const RECORDS: Shape = Shape::count(1, MOST_RECORDS);
pub(crate) const DATA_SIZE: Shape = Shape::size(1, 1 << 50);
/// Of the cache that an engine can use; the data can be many times as large.
pub(crate) const WORKING_SET: Shape = Shape::number(1e-4, 1e4);
const ORDERED: &str = "ordered";
static EACH_MIX: Shape = Shape::Object(&MIX);

object! {
    /// What is stored and what is asked.
    WORKLOAD workload: "What is stored and what is asked. Names and defaults are those of YCSB's core workload."
    records = RECORDS, Optional, "100k";
        "Number of records. Arms can have their own.";
    size = DATA_SIZE, Optional, "120MB";
        "Size of the data instead of a number of records: keys, field names and values, before the engine adds or \
         compresses anything. The number of records follows from the mean size of one.";
    working_set = WORKING_SET, Optional, "138%";
        "Size of the data on disk as a share of the cache that the engine can use, instead of a number of records. A small load \
         measures what a record takes on disk.";
    preset = PRESET, Optional, "a";
        "One of YCSB's core workloads: a (half reads, half updates), b (95 % reads, 5 % updates), c (reads), d (reads \
         of the latest, 5 % inserts), e (short scans, 5 % inserts), f (half reads, half read-modify-writes).";
    mixes = Shape::Any(&[Shape::list(&PRESET, 1, 100), Shape::keyed(Keys::Names("mix"), &EACH_MIX, 1, 100)]), Optional, "[a, c]";
        "Several mixes of operations, each measured at every point of the load, one after the other on the same data: a \
         list of presets, or names with every parameter.";
    ycsb = Shape::Text { most: 1_000 }, Optional, "workloads/workloada";
        "A property file of YCSB, found from the folder of the experiment file: it says what the records are and names one mix, called after the \
         file. Other keys of the workload win over it. Properties that are not about records and operations are refused by name.";
    fields = Shape::Object(&FIELDS), Optional, "{count: 10, length: 100}";
        "What a record is made of.";
    key_order = Shape::choice(&["hashed", ORDERED]), Default("hashed"), "ordered";
        "Whether keys are scattered by a hash of their number, or follow it.";
    zero_padding = Shape::count(0, 1_000), Default("1"), "12";
        "Least number of digits in a key; shorter ones get zeros in front.";
    data_integrity = FLAG, Default("false"), "true";
        "Makes each value follow from its key and field, and verifies it when it is read. Needs fields of constant \
         length.";
    insert_start = Shape::count(0, MOST_RECORDS), Default("0"), "50k";
        "First key number that is loaded and asked for.";
    insert_count = Shape::count(1, MOST_RECORDS), Optional, "50k";
        "How many key numbers are loaded and asked for; without it, all from `insert_start` on.";
    table = Shape::Name, Default("usertable"), "usertable";
        "Name of the table or collection.";
    => one of [preset, mixes, ycsb];
    => at most one of [records, size, working_set];
}

pub(crate) const PATH: &str = file::workload.name;
/// Keys for the amount of data.
const AMOUNTS: [&Key; 3] = [workload::records, workload::size, workload::working_set];

/// Reads what is stored and what is asked.
pub(crate) struct WorkloadReader<'w, 's> {
    pub problems: &'w mut Collector<'s>,
    pub origins: &'w mut Origins<'s>,
    pub given: &'w Surroundings<'w>,
    /// The checked map, and the place of its key.
    pub workload: &'w Checked,
    pub key_place: Place,
    /// Measured sizes of records on disk.
    pub measured: RecordSizes,
    /// The property file, if the workload names one.
    pub file: Option<Core>,
}

impl WorkloadReader<'_, '_> {
    fn place(&self, path: &[&Key]) -> Place {
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
        let mut data = base.clone();
        let of_arm = arm::AMOUNTS
            .into_iter()
            .find_map(|key| arm.get(key).map(|given| (key.name, &given.checked, true)));
        let of_workload =
            || AMOUNTS.into_iter().find_map(|key| Some((key.name, self.workload.get(key)?, false)));
        let said = of_arm.or_else(of_workload);
        if said.is_none() && self.file.is_none() && self.workload.get(workload::ycsb).is_some() {
            // The file could not be taken, which is said already.
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
        let path = arm::arm::records.under(&arm.path());
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
                let path = match arm.get(arm::arm::working_set) {
                    Some(given) => given.path.clone(),
                    None => workload::working_set.under(PATH),
                };
                self.problems.add(&path, Some(share.place), mistake);
                return None;
            }
        };
        let path = arm::arm::records.under(&arm.path());
        self.origins.add_file(&path, working_set_words(records, &set), share.place);
        let data = DataSpec { records, ..base.clone() };
        self.check_data(&data, share.place).then_some((data, Some(set)))
    }

    /// Reports what `plimsoll_workload` refuses about the data, at the place of the key.
    fn check_data(&mut self, data: &DataSpec, records: Place) -> bool {
        let problems = data.check();
        for problem in &problems {
            // The names of the description, and the keys from which each comes.
            let keys: &[&Key] = match problem.field.split('.').next().unwrap_or_default() {
                "records" => &[workload::records],
                "field_count" => &[workload::fields, fields::count],
                "field_length" => &[workload::fields, fields::length],
                "data_integrity" => &[workload::data_integrity],
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
