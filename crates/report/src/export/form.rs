//! The forms of an export, by the programs that read them.

/// Who reads a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Form {
    /// Spreadsheets and everything else.
    Csv,
    /// pandas, DuckDB, Polars, Spark.
    Parquet,
    /// Programs, and `plimsoll` itself.
    Json,
    /// The HdrHistogram tools.
    Hdr,
    /// What fio said of emulated disks.
    Fio,
    /// PerfKit Benchmarker.
    Perfkit,
    /// Prometheus.
    Prometheus,
}

impl Form {
    /// All of them, in the order in which help lists them.
    pub const ALL: [Self; 7] = [
        Self::Csv,
        Self::Parquet,
        Self::Json,
        Self::Hdr,
        Self::Fio,
        Self::Perfkit,
        Self::Prometheus,
    ];

    /// As it is called on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Parquet => "parquet",
            Self::Json => "json",
            Self::Hdr => "hdr",
            Self::Fio => "fio",
            Self::Perfkit => "perfkit",
            Self::Prometheus => "prometheus",
        }
    }
}
