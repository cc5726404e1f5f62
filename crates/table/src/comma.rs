//! CSV: a line with the names, and one for each row.

use crate::{Cell, Column, Rows};
use csv::Writer;
use std::io::{self, Write};

/// Writes a table as CSV. Numbers are as short as they can be and still be read back to the last bit.
///
/// # Errors
/// When `out` cannot be written to, or `rows` fails.
pub fn write_csv(
    columns: &[Column],
    rows: impl FnOnce(&mut Rows<'_>) -> io::Result<()>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut writer = Writer::from_writer(out);
    writer.write_record(columns.iter().map(|column| column.name.as_ref()))?;
    rows(&mut |row| {
        debug_assert_eq!(row.len(), columns.len());
        for cell in row {
            match cell {
                Cell::Unknown => writer.write_field("")?,
                Cell::Text(text) => writer.write_field(text.as_ref())?,
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
