//! The three forms of the final report.

use crate::number::double;
use crate::report::{ReportLine, Value};

/// In which form the final report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exporter {
    Text,
    /// JSON objects, one after the other.
    Json,
    /// One JSON array of objects.
    JsonArray,
}

impl Exporter {
    /// By the name of YCSB's class, old packages included. `None` where there is no such class.
    pub(crate) fn by_class(class: &str) -> Option<Self> {
        match class.rsplit('.').next()? {
            "TextMeasurementsExporter" => Some(Self::Text),
            "JSONMeasurementsExporter" => Some(Self::Json),
            "JSONArrayMeasurementsExporter" => Some(Self::JsonArray),
            _ => None,
        }
    }
}

pub(crate) fn write(exporter: Exporter, lines: &[ReportLine]) -> String {
    match exporter {
        Exporter::Text => {
            let mut text = String::new();
            for line in lines {
                text.push_str(&format!(
                    "[{}], {}, {}\n",
                    line.metric,
                    line.measurement,
                    plain(line.value)
                ));
            }
            text
        }
        // The pretty printer of Java's Jackson puts a space between the values of a sequence and of an array.
        Exporter::Json => objects(lines).join(" "),
        Exporter::JsonArray => format!("[ {} ]", objects(lines).join(", ")),
    }
}

fn plain(value: Value) -> String {
    match value {
        Value::Whole(value) => value.to_string(),
        Value::Double(value) => double(value),
    }
}

fn objects(lines: &[ReportLine]) -> Vec<String> {
    let object = |line: &ReportLine| {
        let value = match line.value {
            Value::Double(value) if !value.is_finite() => quoted(&double(value)),
            value => plain(value),
        };
        format!(
            "{{\n  \"metric\" : {},\n  \"measurement\" : {},\n  \"value\" : {value}\n}}",
            quoted(&line.metric),
            quoted(&line.measurement)
        )
    };
    lines.iter().map(object).collect()
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(letter);
            }
            letter if letter.is_control() => quoted.push_str(&format!("\\u{:04X}", letter as u32)),
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines() -> Vec<ReportLine> {
        let line = |measurement: &str, value| ReportLine {
            metric: "READ".into(),
            measurement: measurement.into(),
            value,
        };
        vec![line("Operations", Value::Whole(5)), line("AverageLatency(us)", Value::Double(2.0))]
    }

    const OBJECTS: [&str; 2] = [
        "{\n  \"metric\" : \"READ\",\n  \"measurement\" : \"Operations\",\n  \"value\" : 5\n}",
        "{\n  \"metric\" : \"READ\",\n  \"measurement\" : \"AverageLatency(us)\",\n  \"value\" : 2.0\n}",
    ];

    #[test]
    fn a_report_has_three_forms() {
        let [first, second] = OBJECTS;
        let expected = "[READ], Operations, 5\n[READ], AverageLatency(us), 2.0\n";
        assert_eq!(write(Exporter::Text, &lines()), expected);
        assert_eq!(write(Exporter::Json, &lines()), format!("{first} {second}"));
        let expected = format!("[ {first}, {second} ]");
        assert_eq!(write(Exporter::JsonArray, &lines()), expected);
    }

    #[test]
    fn exporters_are_found_by_class() {
        let package = "site.ycsb.measurements.exporter";
        for (class, exporter) in [
            ("TextMeasurementsExporter", Some(Exporter::Text)),
            ("JSONMeasurementsExporter", Some(Exporter::Json)),
            ("JSONArrayMeasurementsExporter", Some(Exporter::JsonArray)),
            ("XmlMeasurementsExporter", None),
        ] {
            assert_eq!(Exporter::by_class(&format!("{package}.{class}")), exporter);
        }
        assert_eq!(
            Exporter::by_class("com.yahoo.ycsb.measurements.exporter.TextMeasurementsExporter"),
            Some(Exporter::Text)
        );
    }

    #[test]
    fn names_are_quoted() {
        assert_eq!(quoted("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000A\"");
    }
}
