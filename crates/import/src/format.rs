//! The tools whose outputs are read, and what a user says of a file.

use plimsoll_record::Operation;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The text of YCSB with or without status lines, or its JSON.
    Ycsb,
    YcsbCpp,
    /// The text, table or JSON of go-ycsb.
    GoYcsb,
    HdrLog,
    Fio,
}

impl Format {
    pub const ALL: [Self; 5] = [Self::Ycsb, Self::YcsbCpp, Self::GoYcsb, Self::HdrLog, Self::Fio];

    /// The word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ycsb => "ycsb",
            Self::YcsbCpp => "ycsb-cpp",
            Self::GoYcsb => "go-ycsb",
            Self::HdrLog => "hdr",
            Self::Fio => "fio",
        }
    }

    /// The tool, as its users call it.
    pub fn tool(self) -> &'static str {
        match self {
            Self::Ycsb => "YCSB",
            Self::YcsbCpp => "YCSB-cpp",
            Self::GoYcsb => "go-ycsb",
            Self::HdrLog => "HdrHistogram log",
            Self::Fio => "fio",
        }
    }
}

/// The unit of the values in a log of HdrHistogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Nanos,
    Micros,
    Millis,
}

impl Unit {
    pub fn nanos(self) -> f64 {
        match self {
            Self::Nanos => 1.0,
            Self::Micros => 1e3,
            Self::Millis => 1e6,
        }
    }
}

/// What the user says about a file that it may not say itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Its format; `None` to find it by looking.
    pub format: Option<Format>,
    /// The unit of a log of HdrHistogram; `None`: the unit that the log names, or else microseconds.
    pub unit: Option<Unit>,
    /// The operation of a log of HdrHistogram without tags, or with tags that name no operation.
    pub operation: Option<Operation>,
}
