//! What properties say of records and operations.

use crate::properties::Properties;
use crate::properties::fault::PropertyError;
use crate::{
    DataSpec, FieldLength, KeyOrder, Mix, RequestDistribution, ScanDistribution, ScanLength,
};

/// The number of records that YCSB takes where the properties name none.
const UNTOLD_RECORDS: u64 = i32::MAX as u64;

/// The properties that [`Core::read`] reads.
pub const CORE_PROPERTIES: [&str; 33] = [
    "dataintegrity",
    "exponential.frac",
    "exponential.percentile",
    "fieldcount",
    "fieldlength",
    "fieldlengthdistribution",
    "fieldlengthhistogram",
    "fieldnameprefix",
    "hotspotdatafraction",
    "hotspotopnfraction",
    "insertcount",
    "insertorder",
    "insertproportion",
    "insertstart",
    "maxscanlength",
    "minfieldlength",
    "minscanlength",
    "operationcount",
    "readallfields",
    "readallfieldsbyname",
    "readmodifywriteproportion",
    "readproportion",
    "recordcount",
    "requestdistribution",
    "scanlengthdistribution",
    "scanproportion",
    "table",
    "updateproportion",
    "workload",
    "writeallfields",
    "zeropadding",
    "core_workload_insertion_retry_limit",
    "core_workload_insertion_retry_interval",
];

/// What properties say of records and operations.
#[derive(Clone, Debug, PartialEq)]
pub struct Core {
    /// Number of records: `recordcount`, or 2,147,483,647 where it is 0 or missing.
    pub records: u64,
    /// `recordcount` as it was given; 0 where it is missing.
    pub record_count: u64,
    /// First key number of this client.
    pub insert_start: u64,
    /// How many key numbers this client has, where it was given.
    pub insert_count: Option<u64>,
    /// Operations of the run phase; 0 for no end.
    pub operations: u64,
    /// The records as the run phase finds them.
    pub data: DataSpec,
    /// The operations of the run phase.
    pub mix: Mix,
    /// Values that were given and are replaced, in words, as YCSB says it.
    pub remarks: Vec<String>,
}

impl Core {
    /// Reads them. `name` is that of the mix. `read_file` gives the text of the file that `fieldlengthhistogram` names.
    ///
    /// # Errors
    /// When a property cannot be read or is impossible, with its name.
    pub fn read(
        name: &str,
        properties: &Properties,
        read_file: &dyn Fn(&str) -> std::io::Result<String>,
    ) -> Result<Self, PropertyError> {
        let record_count = properties.count("recordcount")?.unwrap_or(0);
        let records = if record_count == 0 { UNTOLD_RECORDS } else { record_count };
        let insert_start = properties.count("insertstart")?.unwrap_or(0);
        let insert_count = properties.count("insertcount")?;
        let mut remarks = Vec::new();
        let mut data = data(properties, read_file)?;
        data.records = records;
        data.insert_start = insert_start;
        data.insert_count = insert_count;
        let mix = mix(name, properties, &mut remarks)?;
        let core = Self {
            records,
            record_count,
            insert_start,
            insert_count,
            operations: properties.count("operationcount")?.unwrap_or(0),
            data,
            mix,
            remarks,
        };
        core.check()?;
        Ok(core)
    }

    /// The records as the load phase stores them: as many as `insertcount` says, or else as `recordcount` says, from `insertstart` on. The
    /// second is YCSB's way, also where the keys then go beyond `recordcount`. `None` where it has no end: from `insertstart` on.
    pub fn to_load(&self) -> (DataSpec, Option<u64>) {
        let count = self.insert_count.unwrap_or(self.record_count);
        let mut data = self.data.clone();
        let last = (1_u64 << 62).saturating_sub(self.insert_start);
        let stored = if count == 0 { last } else { count.min(last) };
        data.records = self.insert_start.saturating_add(stored);
        data.insert_count = Some(stored);
        (data, (count > 0).then_some(count))
    }

    fn check(&self) -> Result<(), PropertyError> {
        if let Some(problem) = self.data.check().into_iter().next() {
            let name = match problem.field.split('.').next().unwrap_or_default() {
                "records" => "recordcount",
                "field_count" => "fieldcount",
                "field_length" => "fieldlength",
                "zero_padding" => "zeropadding",
                "data_integrity" => {
                    return Err(PropertyError::impossible(
                        "dataintegrity",
                        "it needs fields of one length: set fieldlengthdistribution=constant",
                    ));
                }
                "insert_start" | "insert_count" => {
                    return Err(PropertyError::impossible(
                        "insertstart",
                        format!(
                            "invalid combination of insertstart, insertcount and recordcount: {} keys from {} on do not lie below {}; \
                             recordcount must be at least insertstart + insertcount",
                            self.insert_count.unwrap_or(0),
                            self.insert_start,
                            self.records,
                        ),
                    ));
                }
                other => other,
            };
            return Err(PropertyError::problem(name, &problem));
        }
        if let Some(problem) = self.mix.check().into_iter().next() {
            let name = match problem.field {
                "read" => "readproportion",
                "update" => "updateproportion",
                "insert" => "insertproportion",
                "scan" => "scanproportion",
                "read_modify_write" => "readmodifywriteproportion",
                "scan_length" | "scan_length.min" => "minscanlength",
                "request_distribution.percentile" => "exponential.percentile",
                "request_distribution.fraction" => "exponential.frac",
                other => other,
            };
            return Err(PropertyError::problem(name, &problem));
        }
        Ok(())
    }
}

fn data(
    properties: &Properties,
    read_file: &dyn Fn(&str) -> std::io::Result<String>,
) -> Result<DataSpec, PropertyError> {
    let mut data = DataSpec::with_records(0);
    if let Some(count) = properties.small_count("fieldcount")? {
        data.field_count = count;
    }
    if let Some(prefix) = properties.get("fieldnameprefix") {
        data.field_name_prefix = prefix.into();
    }
    if let Some(digits) = properties.small_count("zeropadding")? {
        data.zero_padding = digits;
    }
    // Any word but this one means the order of the numbers, in YCSB too.
    data.key_order = match properties.get("insertorder") {
        None | Some("hashed") => KeyOrder::Hashed,
        Some(_) => KeyOrder::Ordered,
    };
    if let Some(table) = properties.get("table") {
        data.table = table.into();
    }
    data.data_integrity = properties.flag("dataintegrity", false);
    let longest = properties.small_count("fieldlength")?.unwrap_or(100);
    let shortest = properties.small_count("minfieldlength")?.unwrap_or(1);
    let law = properties.get("fieldlengthdistribution").unwrap_or("constant");
    data.field_length = match law {
        "constant" => FieldLength::Constant(longest),
        "uniform" => FieldLength::Uniform { min: shortest, max: longest },
        "zipfian" => FieldLength::Zipfian { min: shortest, max: longest },
        "histogram" => {
            let file = properties.get("fieldlengthhistogram").unwrap_or("hist.txt");
            let text = read_file(file).map_err(|error| {
                PropertyError::impossible(
                    "fieldlengthhistogram",
                    format!("cannot read {file}: {error}"),
                )
            })?;
            FieldLength::from_histogram(&text).map_err(|error| {
                PropertyError::impossible("fieldlengthhistogram", format!("{file}: {error}"))
            })?
        }
        other => {
            return Err(PropertyError::word(
                "fieldlengthdistribution",
                other,
                "constant, uniform, zipfian, histogram",
            ));
        }
    };
    Ok(data)
}

fn mix(
    name: &str,
    properties: &Properties,
    remarks: &mut Vec<String>,
) -> Result<Mix, PropertyError> {
    let share = |name: &str, default: f64| -> Result<f64, PropertyError> {
        Ok(properties.double(name)?.unwrap_or(default))
    };
    let shortest = properties.small_count("minscanlength")?.unwrap_or(1);
    let longest = properties.small_count("maxscanlength")?.unwrap_or(1_000);
    let scan_law = match properties.get("scanlengthdistribution") {
        None | Some("uniform") => ScanDistribution::Uniform,
        Some("zipfian") => ScanDistribution::Zipfian,
        Some(other) => {
            return Err(PropertyError::word("scanlengthdistribution", other, "uniform, zipfian"));
        }
    };
    Ok(Mix {
        operations: Vec::new(),
        name: name.into(),
        read: share("readproportion", 0.95)?,
        update: share("updateproportion", 0.05)?,
        insert: share("insertproportion", 0.0)?,
        scan: share("scanproportion", 0.0)?,
        read_modify_write: share("readmodifywriteproportion", 0.0)?,
        request_distribution: request_distribution(properties, remarks)?,
        scan_length: ScanLength { min: shortest, max: longest, distribution: scan_law },
        read_all_fields: properties.flag("readallfields", true),
        read_all_fields_by_name: properties.flag("readallfieldsbyname", false),
        write_all_fields: properties.flag("writeallfields", false),
    })
}

fn request_distribution(
    properties: &Properties,
    remarks: &mut Vec<String>,
) -> Result<RequestDistribution, PropertyError> {
    let mut fraction = |name: &str, default: f64| -> Result<f64, PropertyError> {
        let fraction = properties.double(name)?.unwrap_or(default);
        if (0.0..=1.0).contains(&fraction) {
            return Ok(fraction);
        }
        remarks.push(format!("{name}={fraction} is not between 0 and 1: 0.0 is taken"));
        Ok(0.0)
    };
    Ok(match properties.get("requestdistribution") {
        None | Some("uniform") => RequestDistribution::Uniform,
        Some("sequential") => RequestDistribution::Sequential,
        Some("zipfian") => RequestDistribution::Zipfian,
        Some("latest") => RequestDistribution::Latest,
        Some("hotspot") => RequestDistribution::Hotspot {
            data_fraction: fraction("hotspotdatafraction", 0.2)?,
            operation_fraction: fraction("hotspotopnfraction", 0.8)?,
        },
        Some("exponential") => RequestDistribution::Exponential {
            percentile: properties.double("exponential.percentile")?.unwrap_or(95.0),
            fraction: properties.double("exponential.frac")?.unwrap_or(0.857_142_857_1),
        },
        Some(other) => {
            return Err(PropertyError::word(
                "requestdistribution",
                other,
                "uniform, sequential, zipfian, latest, hotspot, exponential",
            ));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Core, PropertyError> {
        let properties = Properties::parse(text.as_bytes()).unwrap();
        Core::read("mine", &properties, &|file| match file {
            "hist.txt" => Ok("BlockSize\t10\n0\t1\n1\t2\n2\t3\n".into()),
            _ => Err(std::io::ErrorKind::NotFound.into()),
        })
    }

    fn message(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    #[test]
    fn defaults_are_those_of_the_program_and_not_of_its_template() {
        let core = read("").unwrap();
        assert_eq!(core.records, 2_147_483_647);
        assert_eq!((core.mix.read, core.mix.update), (0.95, 0.05));
        assert_eq!(core.mix.request_distribution, RequestDistribution::Uniform);
        assert_eq!(core.mix.scan_length, ScanLength::default());
        assert!(core.mix.read_all_fields && !core.mix.write_all_fields);
        let mut expected = DataSpec::with_records(2_147_483_647);
        expected.insert_start = 0;
        assert_eq!(core.data, expected);
        assert_eq!(core.operations, 0);
    }

    /// A proportion that is not given keeps its default, so that reads alone are 0.5 to 0.05.
    #[test]
    fn a_proportion_that_is_not_given_keeps_its_default() {
        let core = read("readproportion=0.5").unwrap();
        assert_eq!((core.mix.read, core.mix.update), (0.5, 0.05));
        for name in [
            "readproportion",
            "updateproportion",
            "insertproportion",
            "scanproportion",
            "readmodifywriteproportion",
            "hotspotdatafraction",
            "hotspotopnfraction",
            "exponential.percentile",
            "exponential.frac",
        ] {
            let law = if name.starts_with("hotspot") { "hotspot" } else { "exponential" };
            for (value, fault) in [
                ("NaN", "NaN is no finite number"),
                ("Infinity", "inf is no finite number"),
                ("-1", "-1 is below 0"),
            ] {
                let found = message(&format!("requestdistribution={law}\n{name}={value}"));
                assert_eq!(found, format!("`{name}`: {fault}"));
            }
        }
    }

    #[test]
    fn the_load_phase_has_ycsbs_own_count() {
        let (data, count) = read("recordcount=5\ninsertstart=3").unwrap().to_load();
        assert_eq!(data.insert_start, 3);
        assert_eq!(data.key_count(), 5);
        assert_eq!(count, Some(5));
        assert!(data.check().is_empty());
        let core = read("recordcount=10\ninsertstart=3\ninsertcount=2").unwrap();
        let (data, count) = core.to_load();
        assert_eq!(data.insert_start, 3);
        assert_eq!(data.key_count(), 2);
        assert_eq!(count, Some(2));
        assert_eq!(core.data.key_count(), 2);
        let (data, count) = read("insertstart=3").unwrap().to_load();
        assert_eq!(count, None);
        assert!(data.check().is_empty());
        // 64 bits where YCSB has 32.
        let (data, count) = read("recordcount=3000000000").unwrap().to_load();
        assert_eq!((data.records, count), (3_000_000_000, Some(3_000_000_000)));
    }

    #[test]
    fn laws_are_chosen_by_name() {
        let core = read("fieldlengthdistribution=histogram\nrecordcount=1").unwrap();
        let counts = vec![1, 2, 3];
        let expected = FieldLength::Histogram { block_size: 10, counts };
        assert_eq!(core.data.field_length, expected);
        let core =
            read("fieldlengthdistribution=zipfian\nminfieldlength=5\nfieldlength=9").unwrap();
        let found = core.data.field_length;
        assert_eq!(found, FieldLength::Zipfian { min: 5, max: 9 });
        let core = read("requestdistribution=hotspot\nhotspotdatafraction=2\nhotspotopnfraction=0")
            .unwrap();
        let expected = RequestDistribution::Hotspot { data_fraction: 0.0, operation_fraction: 0.0 };
        assert_eq!(core.mix.request_distribution, expected);
        assert_eq!(core.remarks.len(), 1);
        for (order, expected) in [
            ("hashed", KeyOrder::Hashed),
            ("ordered", KeyOrder::Ordered),
            ("Hashed", KeyOrder::Ordered),
        ] {
            assert_eq!(read(&format!("insertorder={order}")).unwrap().data.key_order, expected);
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let expected = "`requestdistribution`: there is no `Zipfian`; there are uniform, sequential, zipfian, latest, hotspot, exponential";
        assert_eq!(message("requestdistribution=Zipfian"), expected);
        assert!(message("recordcount=10\ninsertstart=5\ninsertcount=6").starts_with(
            "`insertstart`: invalid combination of insertstart, insertcount and recordcount: 6 keys from 5 on do not lie below 10"
        ));
        assert!(
            message("dataintegrity=true\nfieldlengthdistribution=uniform")
                .starts_with("`dataintegrity`: ")
        );
        assert!(
            message("readproportion=0\nupdateproportion=0")
                .starts_with("`readproportion`: all proportions are zero")
        );
        assert!(
            message("fieldlengthdistribution=histogram\nfieldlengthhistogram=no")
                .contains("cannot read no")
        );
        assert!(message("minscanlength=9\nmaxscanlength=3").starts_with("`minscanlength`: "));
        assert!(message("fieldcount=0").starts_with("`fieldcount`: "));
        assert!(message("recordcount=1e6").starts_with("`recordcount`: `1e6` is no whole number"));
        assert!(message("scanlengthdistribution=latest").starts_with("`scanlengthdistribution`"));
        assert!(message("fieldlengthdistribution=normal").starts_with("`fieldlengthdistribution`"));
    }
}
