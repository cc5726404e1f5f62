//! HdrHistogram interval logs: one file for each name, in microseconds.

use crate::error::YcsbError;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};
use jiff::Zoned;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// The third column of a line is the highest value divided by this, as the logs of HdrHistogram's own tools have it for nanoseconds.
const MAX_UNIT: f64 = 1e6;

/// The logs of a run.
pub(crate) struct HdrLogs {
    prefix: String,
    begin: Zoned,
    files: BTreeMap<String, (PathBuf, BufWriter<File>)>,
}

impl HdrLogs {
    /// `prefix` stands in front of every file name, without a separator.
    pub(crate) fn new(prefix: &str, begin: Zoned) -> Self {
        Self { prefix: prefix.into(), begin, files: BTreeMap::new() }
    }

    /// One line: from and to, seconds from the begin.
    pub(crate) fn write(
        &mut self,
        name: &str,
        (from, to): (f64, f64),
        histogram: &Histogram<u64>,
    ) -> Result<(), YcsbError> {
        if !self.files.contains_key(name) {
            let path = PathBuf::from(format!("{}{name}.hdr", self.prefix));
            let open = || {
                let mut file = BufWriter::new(File::create(&path)?);
                file.write_all(head(name, &self.begin).as_bytes())?;
                Ok(file)
            };
            let file = open().map_err(|source| YcsbError::Path { path: path.clone(), source })?;
            self.files.insert(name.into(), (path, file));
        }
        let (path, file) = self.files.get_mut(name).expect("it was opened above");
        file.write_all(line((from, to), histogram).as_bytes())
            .and_then(|()| file.flush())
            .map_err(|source| YcsbError::Path { path: path.clone(), source })
    }
}

fn head(name: &str, begin: &Zoned) -> String {
    format!(
        "#[Logging for: {name}]\n\
         #[Histogram log format version 1.3]\n\
         #[StartTime: {:.3} (seconds since epoch), {}]\n\
         \"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
        begin.timestamp().as_millisecond() as f64 / 1e3,
        begin.strftime("%a %b %d %H:%M:%S %Z %Y"),
    )
}

fn line((from, to): (f64, f64), histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(histogram, &mut bytes)
        .expect("writing a histogram into memory does not fail");
    format!(
        "{from:.3},{:.3},{:.3},{}\n",
        to - from,
        histogram.max() as f64 / MAX_UNIT,
        STANDARD.encode(&bytes)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    #[test]
    fn a_log_can_be_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let prefix = format!("{}/run-", folder.path().display());
        let begin: Zoned = "2026-11-21T01:20:24.034+00:00[UTC]".parse().unwrap();
        let mut logs = HdrLogs::new(&prefix, begin);
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        histogram.record_n(1_500_000, 7).unwrap();
        logs.write("READ", (0.0, 10.0), &histogram).unwrap();
        logs.write("READ", (10.0, 12.5), &histogram).unwrap();
        let bytes = std::fs::read(format!("{prefix}READ.hdr")).unwrap();
        let text = String::from_utf8(bytes.clone()).unwrap();
        assert!(text.starts_with("#[Logging for: READ]\n#[Histogram log format version 1.3]\n#[StartTime: 1795224024.034 (seconds since epoch), Sat Nov 21 01:20:24 UTC 2026]\n"), "{text}");
        assert!(text.contains("\n10.000,2.500,1.500,"), "{text}");
        let mut read = Vec::new();
        for entry in IntervalLogIterator::new(&bytes) {
            if let LogEntry::Interval(interval) = entry.unwrap() {
                let packed = STANDARD.decode(interval.encoded_histogram()).unwrap();
                let histogram: Histogram<u64> = hdrhistogram::serialization::Deserializer::new()
                    .deserialize(&mut packed.as_slice())
                    .unwrap();
                read.push(histogram);
            }
        }
        assert_eq!(read, [histogram.clone(), histogram]);
        assert!(matches!(
            HdrLogs::new("/nowhere/at/all/", Zoned::now()).write("READ", (0.0, 1.0), &read[0]),
            Err(YcsbError::Path { .. })
        ));
    }
}
