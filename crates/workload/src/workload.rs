//! A mix of operations on a key space: what all sessions of a point share.

use crate::chooser::{KeyChooser, Keys};
use crate::counter::Counter;
use crate::data::FieldLength;
use crate::documents::StatementDesk;
use crate::keyspace::KeySpace;
use crate::length::Lengths;
use crate::mix::{Mix, RequestDistribution, ScanDistribution, ScanLength};
use crate::operation::Operations;
use crate::problem::{Problem, WorkloadError, none_of};
use crate::stream::{Family, Purpose};
use plimsoll_record::OwnOperation;
use std::sync::Arc;

/// A mix of operations on a key space, from one seed: what all sessions of a point share.
#[derive(Debug)]
pub struct Workload {
    pub(crate) key_space: Arc<KeySpace>,
    pub(crate) operations: Operations,
    /// `None` when there is nothing but inserts.
    pub(crate) chooser: Option<KeyChooser>,
    /// For sequential keys in a closed loop: this host's turns, which its sessions share.
    pub(crate) turns: Counter,
    pub(crate) scan_lengths: Lengths,
    pub(crate) reads: ReadFields,
    pub(crate) write_all_fields: bool,
    /// Whether choices can be made before they are needed: no insert changes what there is to choose from, and sessions take no turns.
    pub(crate) looks_ahead: bool,
    pub(crate) sessions: Family,
    pub(crate) session_contents: Family,
    pub(crate) arrivals: Family,
    pub(crate) contents: Family,
    /// What draws the operations of an application.
    pub(crate) own: Option<StatementDesk>,
    own_operations: Vec<OwnOperation>,
}

/// Which fields an operation that reads asks for. Names are given by plain reads only.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ReadFields {
    All,
    AllByName,
    One,
}

impl Workload {
    /// Prepares a mix for the records that are in the key space now.
    ///
    /// `planned_operations` matters for Zipfian keys in mixes that insert: as in YCSB, keys are then drawn also from among twice the planned
    /// number of inserts, and drawn again until one is met that is there. Without it only keys that are there from the start are read
    /// for, and one more. Of several hosts each passes the plan of all together.
    ///
    /// # Errors
    /// When the mix is impossible, by itself or for these records, with all its problems.
    pub fn new(
        key_space: &Arc<KeySpace>,
        mix: &Mix,
        seed: u64,
        planned_operations: Option<u64>,
    ) -> Result<Self, WorkloadError> {
        let records = key_space.records();
        Self::with_records(key_space, mix, seed, planned_operations, records)
    }

    /// As [`Workload::new`], for the first `records` records of the key space, at most as many as it [holds](KeySpace::records).
    ///
    /// For hosts that have inserted different numbers of records at earlier points: all pass the same number, the least of what their key spaces hold, so
    /// that all draw from the same keys. Zipfian keys need this most: their frequent keys follow from the number of records, so hosts that disagree about it
    /// by one record have different favourites. The newest keys, which `latest` and `exponential` prefer, are counted from what each host knows.
    ///
    /// # Errors
    /// As [`Workload::new`].
    pub fn with_records(
        key_space: &Arc<KeySpace>,
        mix: &Mix,
        seed: u64,
        planned_operations: Option<u64>,
        records: u64,
    ) -> Result<Self, WorkloadError> {
        let present = records.min(key_space.records());
        none_of(mix.check())?;
        let operations = Operations::new(mix);
        let own = match &key_space.documents {
            Some(space) => Some(StatementDesk::new(space, mix)?),
            None => None,
        };
        let chooser = if operations.only_inserts() || own.is_some() {
            None
        } else {
            let keys = keys(key_space, mix, planned_operations, present);
            Some(KeyChooser::new(mix, keys).map_err(impossible)?)
        };
        let ScanLength { min, max, distribution } = mix.scan_length;
        let scan_lengths = match distribution {
            ScanDistribution::Uniform => FieldLength::Uniform { min, max },
            ScanDistribution::Zipfian => FieldLength::Zipfian { min, max },
        };
        let by_name = mix.read_all_fields_by_name || key_space.data().data_integrity;
        let reads = match (mix.read_all_fields, by_name) {
            (false, _) => ReadFields::One,
            (true, true) => ReadFields::AllByName,
            (true, false) => ReadFields::All,
        };
        Ok(Self {
            key_space: Arc::clone(key_space),
            operations,
            chooser,
            turns: Counter::new(0),
            scan_lengths: Lengths::new(&scan_lengths),
            reads,
            write_all_fields: mix.write_all_fields,
            looks_ahead: mix.insert == 0.0
                && mix.request_distribution != RequestDistribution::Sequential,
            sessions: Family::new(seed, Purpose::Sessions),
            session_contents: Family::new(seed, Purpose::SessionContents),
            arrivals: Family::new(seed, Purpose::Arrivals),
            contents: Family::new(seed, Purpose::Records),
            own,
            own_operations: mix.operations.iter().map(|(own, _)| *own).collect(),
        })
    }

    /// The operations of an application, in the order of their slots; none of YCSB's.
    pub fn own_operations(&self) -> Vec<OwnOperation> {
        self.own_operations.clone()
    }

    /// The key space that the operations go to.
    pub fn key_space(&self) -> &Arc<KeySpace> {
        &self.key_space
    }
}

fn keys(key_space: &KeySpace, mix: &Mix, planned_operations: Option<u64>, present: u64) -> Keys {
    let data = key_space.data();
    let first = data.insert_start;
    // Shares in place of YCSB's raw proportions: the same where they sum to 1, and right where they do not.
    let expected = (planned_operations.unwrap_or(0) as f64 * mix.insert_share() * 2.0) as u64;
    Keys { first, count: data.insert_count.unwrap_or(present - first), present, expected }
}

fn impossible(problem: Problem) -> WorkloadError {
    WorkloadError::Impossible { problems: vec![problem] }
}
