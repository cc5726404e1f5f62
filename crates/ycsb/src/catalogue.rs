//! Every property that is known, and what becomes of it.

/// What becomes of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// It does what it does in YCSB.
    Honoured,
    /// It has no effect here, and a message says so.
    Ignored,
    /// Some of its values are refused.
    Partly,
    /// It is not one of YCSB's own.
    Ours,
}

/// A property that is known.
#[derive(Clone, Copy, Debug)]
pub struct KnownProperty {
    /// Its name; one that ends in a dot stands for all that begin so.
    pub name: &'static str,
    /// Its default, as a file would say it; empty where there is none.
    pub default: &'static str,
    pub treatment: Treatment,
    /// What it means, in one line; for properties without effect, why.
    pub about: &'static str,
}

macro_rules! catalogue {
    ($($name:literal $default:literal $treatment:ident $about:literal;)*) => {
        /// Every property that is known, in the order of the documentation.
        pub static PROPERTIES: &[KnownProperty] = &[
            $(KnownProperty { name: $name, default: $default, treatment: Treatment::$treatment, about: $about },)*
        ];
    };
}

catalogue! {
    "workload" "" Partly "name of the workload's class; only `site.ycsb.workloads.CoreWorkload`, which must be named as in YCSB, or `core` as in go-ycsb";
    "recordcount" "0" Honoured "number of records; 0 means 2147483647, and a load without end";
    "operationcount" "0" Honoured "operations of the run phase, 64 bits; 0 means no end";
    "insertstart" "0" Honoured "first key number of this client";
    "insertcount" "recordcount - insertstart" Honoured "number of keys of this client; a load takes recordcount where it is missing, as YCSB does";
    "threadcount" "1" Honoured "sessions, each in a thread of its own";
    "target" "0" Honoured "operations per second of all sessions together; 0 or less means as fast as can be";
    "maxexecutiontime" "0" Honoured "seconds after which no operation is begun; 0 means no limit";
    "dotransactions" "true" Honoured "set by the command: false for load, true for run";
    "db" "" Partly "name of the binding's class; only those of the existing bindings";
    "exporter" "site.ycsb.measurements.exporter.TextMeasurementsExporter" Honoured "form of the report: text, JSON or JSON array; with an unknown class the text form, and a line that says so";
    "exportfile" "" Honoured "file for the report, in place of the standard output";
    "status" "false" Honoured "status lines, as -s";
    "status.interval" "10" Honoured "seconds from one status line to the next";
    "label" "" Honoured "in front of every status line, as -l";
    "measurementtype" "hdrhistogram" Honoured "hdrhistogram, histogram, hdrhistogram+histogram, hdrhistogram+raw, timeseries, raw";
    "measurement.interval" "op" Honoured "op, intended or both; where a target is given and this is not, both";
    "measurement.trackjvm" "false" Ignored "there is no Java machine";
    "measurement.histogram.verbose" "false" Honoured "every bucket as well";
    "measurement.raw.output_file" "" Honoured "file to which raw rows are added, in place of the standard output";
    "measurement.raw.no_summary" "false" Honoured "no summary behind raw rows";
    "hdrhistogram.percentiles" "50,95,99" Honoured "percentiles of the report, with commas";
    "hdrhistogram.fileoutput" "false" Honoured "an HdrHistogram log for each name";
    "hdrhistogram.output.path" "" Honoured "in front of the names of these files, without a separator";
    "histogram.buckets" "1000" Honoured "buckets of a millisecond";
    "timeseries.granularity" "1000" Honoured "milliseconds of each mean";
    "reportlatencyforeacherror" "false" Honoured "latencies of failures under a name for each way of failing";
    "latencytrackederrors" "" Honoured "ways of failing that have a name of their own, with commas";
    "spin.sleep" "false" Ignored "sessions sleep, with wake-ups exact to the nanosecond";
    "htrace." "" Ignored "there is no tracing";
    "core_workload_insertion_retry_limit" "0" Honoured "how often a failed insert of a load is repeated";
    "core_workload_insertion_retry_interval" "3" Honoured "seconds before that, a fifth more or less";
    "core_workload_insertion_keep_going_on_error" "false" Honoured "whether a session continues after an insert that failed for good";
    "table" "usertable" Honoured "name of the table or collection";
    "fieldcount" "10" Honoured "fields of each record";
    "fieldnameprefix" "field" Honoured "fields are called by this and their number";
    "fieldlength" "100" Honoured "bytes of each field, or the most";
    "minfieldlength" "1" Honoured "the least, where lengths differ";
    "fieldlengthdistribution" "constant" Honoured "constant, uniform, zipfian, histogram";
    "fieldlengthhistogram" "hist.txt" Honoured "file with a histogram of lengths";
    "readallfields" "true" Honoured "reads ask for all fields, otherwise for one";
    "readallfieldsbyname" "false" Honoured "and name each of them";
    "writeallfields" "false" Honoured "updates change all fields, otherwise one";
    "dataintegrity" "false" Honoured "values follow from key and field, and are verified when they are read";
    "insertorder" "hashed" Honoured "hashed, or any other word for the order of the numbers";
    "zeropadding" "1" Honoured "least number of digits in a key";
    "readproportion" "0.95" Honoured "weight of reads";
    "updateproportion" "0.05" Honoured "weight of updates";
    "insertproportion" "0" Honoured "weight of inserts";
    "scanproportion" "0" Honoured "weight of scans";
    "readmodifywriteproportion" "0" Honoured "weight of read-modify-writes";
    "requestdistribution" "uniform" Honoured "uniform, sequential, zipfian, latest, hotspot, exponential";
    "hotspotdatafraction" "0.2" Honoured "share of the keys that is hot";
    "hotspotopnfraction" "0.8" Honoured "share of the operations that goes there";
    "exponential.percentile" "95" Honoured "percentage of the operations";
    "exponential.frac" "0.8571428571" Honoured "go to this share of the records";
    "minscanlength" "1" Honoured "shortest scan";
    "maxscanlength" "1000" Honoured "longest scan";
    "scanlengthdistribution" "uniform" Honoured "uniform, zipfian";
    "basicdb.verbose" "false" Honoured "with the binding basic: each operation on the standard output; in YCSB the default is true";
    "basicdb.simulatedelay" "0" Honoured "with the binding basic: milliseconds of each operation";
    "basicdb.randomizedelay" "true" Honoured "with the binding basic: a random number of milliseconds, up to simulatedelay";
    "basicdb.count" "false" Partly "with the binding basic: only false, since counts of keys are not kept";
    "mongodb.url" "mongodb://localhost:27017/ycsb?w=1" Honoured "address of the server, with all options that MongoDB's Java driver accepts; those that have no effect here are named";
    "mongodb.upsert" "false" Honoured "inserts replace an existing record";
    "batchsize" "1" Honoured "with the binding mongodb: records of one insert; the last batch is sent too";
    "mongodb.batchsize" "1" Honoured "with mongodb-async: the same; with mongodb it has no effect, as in YCSB";
    "mongodb.maxconnections" "" Ignored "every session has a connection of its own";
    "mongodb.threadsAllowedToBlockForConnectionMultiplier" "" Ignored "no session ever waits for a connection";
    "mongodb.writeConcern" "" Honoured "becomes w or journal of the address, where that says nothing";
    "mongodb.readPreference" "" Honoured "becomes readPreference of the address, where that says nothing";
    "plimsoll.client" "lean" Ours "with the binding mongodb: lean, or driver for the official driver; where it is not given and lean lacks what the address asks for, driver";
    "plimsoll.seed" "" Ours "random seed; the same seed gives the same operations";
    "plimsoll.count" "true" Ours "whether the records are counted after a load";
    "plimsoll.engine." "" Ours "a setting of the engine by its own name, such as plimsoll.engine.read_concern";
    "wiredtiger.dir" "" Ours "with the binding wiredtiger: directory of the database, kept from load to run";
    "wiredtiger." "" Ours "with the binding wiredtiger: a setting of the engine, such as wiredtiger.cache_size=1GiB";
}

/// The property of this name.
pub fn find(name: &str) -> Option<&'static KnownProperty> {
    let exact = PROPERTIES.iter().find(|known| known.name == name);
    exact.or_else(|| {
        PROPERTIES.iter().find(|known| known.name.ends_with('.') && name.starts_with(known.name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_there_once() {
        for (index, known) in PROPERTIES.iter().enumerate() {
            assert!(
                PROPERTIES[..index].iter().all(|other| other.name != known.name),
                "{}",
                known.name
            );
        }
    }

    #[test]
    fn everything_that_the_workload_reads_is_known() {
        for name in plimsoll_workload::properties::CORE_PROPERTIES {
            assert!(find(name).is_some(), "{name}");
        }
    }

    #[test]
    fn families_are_found() {
        let found = find("htrace.sampler").map(|known| known.name);
        assert_eq!(found, Some("htrace."));
        let expected = Some("wiredtiger.dir");
        assert_eq!(find("wiredtiger.dir").map(|known| known.name), expected);
        let found = find("wiredtiger.cache_size").map(|known| known.name);
        assert_eq!(found, Some("wiredtiger."));
        assert!(find("redis.host").is_none());
    }
}
