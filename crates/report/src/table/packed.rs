//! Parquet: every column may be null, pages are compressed by Snappy, and every reader knows the types.

use crate::table::{Cell, Column, Kind, Rows};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};
use std::io::{self, Write};
use std::sync::Arc;

/// Rows that are gathered before they are written.
const GROUP: usize = 1 << 16;

/// Writes a table as Parquet.
///
/// # Panics
/// When two columns have one name, or a cell is of another kind than its column: both are mistakes of the caller.
pub fn write_parquet(
    columns: &[Column],
    rows: impl FnOnce(&mut Rows<'_>) -> io::Result<()>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("plimsoll ", env!("CARGO_PKG_VERSION")).into())
        .build();
    // The library wants an output that it may send to other threads. Packed, even a long experiment takes some megabytes.
    let mut writer = SerializedFileWriter::new(
        Vec::new(),
        schema(columns).map_err(other)?,
        Arc::new(properties),
    )
    .map_err(other)?;
    let mut group: Vec<Values> = columns.iter().map(|column| Values::of(column.kind)).collect();
    let mut gathered = 0;
    rows(&mut |row| {
        assert_eq!(row.len(), group.len(), "a row has a cell for each column");
        for (values, cell) in group.iter_mut().zip(row) {
            values.push(cell);
        }
        gathered += 1;
        if gathered == GROUP {
            gathered = 0;
            write_group(&mut writer, &mut group).map_err(other)?;
        }
        Ok(())
    })?;
    if gathered > 0 {
        write_group(&mut writer, &mut group).map_err(other)?;
    }
    let packed = writer.into_inner().map_err(other)?;
    out.write_all(&packed)
}

fn other(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

fn schema(columns: &[Column]) -> Result<TypePtr, ParquetError> {
    let mut fields = Vec::with_capacity(columns.len());
    for column in columns {
        let (physical, logical) = match column.kind {
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Kind::Integer => (Physical::INT64, Some(LogicalType::integer(64, false))),
            Kind::Number => (Physical::DOUBLE, None),
            Kind::Flag => (Physical::BOOLEAN, None),
        };
        let field = Type::primitive_type_builder(&column.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()?;
        fields.push(Arc::new(field));
    }
    let root = Type::group_type_builder("table").with_fields(fields).build()?;
    Ok(Arc::new(root))
}

/// The values of one column in one group, and for each row whether there is one.
struct Values {
    known: Vec<i16>,
    typed: Typed,
}

enum Typed {
    Text(Vec<ByteArray>),
    Integer(Vec<i64>),
    Number(Vec<f64>),
    Flag(Vec<bool>),
}

impl Values {
    fn of(kind: Kind) -> Self {
        let typed = match kind {
            Kind::Text => Typed::Text(Vec::new()),
            Kind::Integer => Typed::Integer(Vec::new()),
            Kind::Number => Typed::Number(Vec::new()),
            Kind::Flag => Typed::Flag(Vec::new()),
        };
        Self { known: Vec::new(), typed }
    }

    fn push(&mut self, cell: &Cell<'_>) {
        let known = match (&mut self.typed, cell) {
            (_, Cell::Unknown) => false,
            (Typed::Text(values), Cell::Text(text)) => {
                values.push(ByteArray::from(text.as_bytes().to_vec()));
                true
            }
            (Typed::Integer(values), Cell::Integer(number)) => {
                // Parquet keeps unsigned numbers in the bits of signed ones.
                values.push(number.cast_signed());
                true
            }
            (Typed::Number(values), Cell::Number(number)) => {
                let finite = number.is_finite();
                if finite {
                    values.push(*number);
                }
                finite
            }
            (Typed::Flag(values), Cell::Flag(flag)) => {
                values.push(*flag);
                true
            }
            (_, cell) => panic!("{cell:?} is in a column of another kind"),
        };
        self.known.push(i16::from(known));
    }

    fn write(
        &mut self,
        group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    ) -> Result<(), ParquetError> {
        match &mut self.typed {
            Typed::Text(values) => write_column::<ByteArrayType>(group, &self.known, values)?,
            Typed::Integer(values) => write_column::<Int64Type>(group, &self.known, values)?,
            Typed::Number(values) => write_column::<DoubleType>(group, &self.known, values)?,
            Typed::Flag(values) => write_column::<BoolType>(group, &self.known, values)?,
        }
        self.known.clear();
        Ok(())
    }
}

fn write_group(
    writer: &mut SerializedFileWriter<Vec<u8>>,
    columns: &mut [Values],
) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for column in columns {
        column.write(&mut group)?;
    }
    group.close()?;
    Ok(())
}

fn write_column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    known: &[i16],
    values: &mut Vec<T::T>,
) -> Result<(), ParquetError> {
    let mut column = group.next_column()?.expect("the schema has as many columns as the table");
    column.typed::<T>().write_batch(values, Some(known), None)?;
    column.close()?;
    values.clear();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::{Field, RowAccessor};

    fn columns() -> [Column; 4] {
        [
            Column::new("arm", Kind::Text),
            Column::new("seed", Kind::Integer),
            Column::new("device.read.bytes", Kind::Number),
            Column::new("valid", Kind::Flag),
        ]
    }

    #[test]
    fn what_is_written_is_read_back() {
        let mut out = Vec::new();
        write_parquet(
            &columns(),
            |take| {
                take(&["شيء \"x\",\n".into(), u64::MAX.into(), 0.1.into(), true.into()])?;
                take(&[Cell::Unknown, Cell::Unknown, f64::NAN.into(), Cell::Unknown])?;
                take(&["".into(), 0_u64.into(), f64::MIN_POSITIVE.into(), false.into()])
            },
            &mut out,
        )
        .unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(out)).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[0].get_string(0).unwrap(), "شيء \"x\",\n");
        assert_eq!(rows[0].get_ulong(1).unwrap(), u64::MAX);
        assert_eq!(rows[0].get_double(2).unwrap(), 0.1);
        assert!(rows[0].get_bool(3).unwrap());
        let unknown: Vec<&Field> = rows[1].get_column_iter().map(|(_, field)| field).collect();
        assert_eq!(unknown, [&Field::Null; 4]);
        assert_eq!(rows[2].get_string(0).unwrap(), "");
        assert_eq!(rows[2].get_double(2).unwrap(), f64::MIN_POSITIVE);
        let names: Vec<&String> = rows[0].get_column_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["arm", "seed", "device.read.bytes", "valid"]);
    }

    #[test]
    fn many_rows_are_several_groups_and_none_is_lost() {
        let columns = [Column::new("number", Kind::Integer)];
        let count = GROUP as u64 + 3;
        let mut out = Vec::new();
        write_parquet(
            &columns,
            |take| {
                for number in 0..count {
                    take(&[number.into()])?;
                }
                Ok(())
            },
            &mut out,
        )
        .unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(out)).unwrap();
        assert_eq!(reader.num_row_groups(), 2);
        let mut sum = 0;
        for row in reader.get_row_iter(None).unwrap() {
            sum += row.unwrap().get_ulong(0).unwrap();
        }
        assert_eq!(sum, count * (count - 1) / 2);
    }

    #[test]
    fn a_table_without_rows_has_its_columns() {
        let mut out = Vec::new();
        write_parquet(&columns(), |_| Ok(()), &mut out).unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(out)).unwrap();
        let metadata = reader.metadata().file_metadata();
        assert_eq!(metadata.num_rows(), 0);
        assert_eq!(metadata.schema_descr().num_columns(), 4);
    }

    #[test]
    fn what_goes_wrong_with_a_row_ends_the_table() {
        let mut out = Vec::new();
        let failed = write_parquet(&columns(), |_| Err(io::Error::other("no more")), &mut out);
        assert_eq!(failed.unwrap_err().to_string(), "no more");
        assert!(out.is_empty());
    }
}
