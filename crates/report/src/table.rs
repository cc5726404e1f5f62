//! Tables of typed cells, written row by row as CSV or column by column as Parquet.
//!
//! The source of a table says its [`Column`]s and hands over its rows one after the other; no table is ever held whole. What is not known is an empty field in CSV and
//! null in Parquet, and so is a number that is not finite.
//!
//! ```
//! use plimsoll_report::table::{Cell, Column, Kind, Rows, write_csv, write_parquet};
//!
//! let columns = [Column::new("arm", Kind::Text), Column::new("response_p99_ns", Kind::Number)];
//! let rows = |take: &mut Rows<'_>| {
//!     take(&[Cell::from("ext4"), Cell::from(1_250_000.5)])?;
//!     take(&[Cell::from("xfs"), Cell::Unknown])
//! };
//! let mut text = Vec::new();
//! write_csv(&columns, rows, &mut text)?;
//! assert_eq!(text, b"arm,response_p99_ns\next4,1250000.5\nxfs,\n");
//!
//! let mut packed = Vec::new();
//! write_parquet(&columns, rows, &mut packed)?;
//! assert!(packed.starts_with(b"PAR1") && packed.ends_with(b"PAR1"));
//! # Ok::<(), std::io::Error>(())
//! ```

/// Makes `columns()` and a function that makes a row: each line of the table has the name of a column, the kind of its values, and the value.
macro_rules! table {
    (
        fn $row:ident<$life:lifetime>($($name:ident: $type:ty),*);
        $(let $of:pat = $what:expr;)*
        $($column:literal: $kind:ident = $value:expr;)*
    ) => {
        pub(super) fn columns() -> Vec<$crate::table::Column> {
            use $crate::table::{Column, Kind};
            [$(($column, Kind::$kind)),*].map(|(name, kind)| Column::new(name, kind)).into()
        }

        fn $row<$life>($($name: $type),*) -> Vec<$crate::table::Cell<$life>> {
            $(let $of = $what;)*
            vec![$($value.into()),*]
        }
    };
}
pub(crate) use table;

mod cell;
mod comma;
mod packed;

pub use cell::{Cell, Column, Kind};
pub use comma::write_csv;
pub use packed::write_parquet;

/// Takes a row, which has a cell for each column. An error ends the table.
pub type Rows<'a> = dyn FnMut(&[Cell<'_>]) -> std::io::Result<()> + 'a;
