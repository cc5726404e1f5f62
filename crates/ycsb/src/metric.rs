//! What a report distinguishes: names of operations, and how they ended.

use plimsoll_record::{Operation, Status};

/// What is measured under one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Metric {
    Read,
    Update,
    Insert,
    Scan,
    ReadModifyWrite,
    Delete,
    Verify,
    /// The time of a scan over the records that it gave.
    ScanPerRecord,
    /// A last batch that had not filled.
    Flush,
    Cleanup,
}

impl Metric {
    pub(crate) const ALL: [Self; 10] = [
        Self::Read,
        Self::Update,
        Self::Insert,
        Self::Scan,
        Self::ReadModifyWrite,
        Self::Delete,
        Self::Verify,
        Self::ScanPerRecord,
        Self::Flush,
        Self::Cleanup,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Read => "READ",
            Self::Update => "UPDATE",
            Self::Insert => "INSERT",
            Self::Scan => "SCAN",
            Self::ReadModifyWrite => "READ-MODIFY-WRITE",
            Self::Delete => "DELETE",
            Self::Verify => "VERIFY",
            Self::ScanPerRecord => "SCAN-LATENCY-PER-RECORD",
            Self::Flush => "FLUSH",
            Self::Cleanup => "CLEANUP",
        }
    }

    /// The metric of one of YCSB's operations.
    pub(crate) fn of(operation: Operation) -> Option<Self> {
        Some(match operation {
            Operation::Read => Self::Read,
            Operation::Update => Self::Update,
            Operation::Insert => Self::Insert,
            Operation::Scan => Self::Scan,
            Operation::ReadModifyWrite => Self::ReadModifyWrite,
            Operation::Delete => Self::Delete,
            Operation::Verify => Self::Verify,
            Operation::Own(_) => return None,
        })
    }
}

/// How an operation ended, in YCSB's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Return {
    Ok,
    BatchedOk,
    NotFound,
    Error,
    /// A record that was read does not hold what was stored.
    UnexpectedState,
}

impl Return {
    pub(crate) const ALL: [Self; 5] =
        [Self::Ok, Self::BatchedOk, Self::NotFound, Self::Error, Self::UnexpectedState];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::BatchedOk => "BATCHED_OK",
            Self::NotFound => "NOT_FOUND",
            Self::Error => "ERROR",
            Self::UnexpectedState => "UNEXPECTED_STATE",
        }
    }

    pub(crate) fn is_good(self) -> bool {
        matches!(self, Self::Ok | Self::BatchedOk)
    }

    pub(crate) fn of(status: Status) -> Self {
        match status {
            Status::Ok => Self::Ok,
            Status::Batched => Self::BatchedOk,
            Status::NotFound => Self::NotFound,
            Status::Error => Self::Error,
        }
    }
}
