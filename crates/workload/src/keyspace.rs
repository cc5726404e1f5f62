//! The records of a database, as far as the questions need to know them.

use crate::ask::{CommandProbes, CommandSamples};
use crate::data::DataSpec;
use crate::documents::DocumentSpace;
use crate::inserted::Records;
use crate::integrity::Verifier;
use crate::mix::Mix;
use crate::problem::{WorkloadError, none_of};
use crate::record::RecordShape;
use crate::schedule::Share;
use crate::stream::Stream;
use std::sync::Arc;

/// The records of one database and how they are made. It outlives the workloads that are run against the database one after the other,
/// since what one of them inserts stays there for the next.
#[derive(Debug)]
pub struct KeySpace {
    data: DataSpec,
    pub(crate) shape: RecordShape,
    /// Numbers of all fields, for reads that name each.
    pub(crate) all_fields: Box<[u32]>,
    pub(crate) records: Records,
    /// The collections of an application.
    pub(crate) documents: Option<Arc<DocumentSpace>>,
}

impl KeySpace {
    /// The key space of a database that holds, or will hold after its load, the records described.
    ///
    /// # Errors
    /// When the description is impossible, with all its problems.
    pub fn new(data: &DataSpec) -> Result<Arc<Self>, WorkloadError> {
        Self::with_share(data, Share::WHOLE)
    }

    /// The same database as one of several load hosts knows it. The hosts generate one workload and do not talk to each other meanwhile.
    ///
    /// **Inserts.** Host k of n inserts the key numbers `records` + j n + k, for j from 0 on, through all points of a run. So the new numbers lie in
    /// groups of n neighbours, of which each host inserts one. Of the others' inserts a host knows nothing: it takes a group for present as soon as its
    /// own record is acknowledged, draws keys from all present numbers, and asks for its own number where it has drawn another of the group. Everything
    /// that it asks for is certain to be there.
    ///
    /// **What is exact.** Keys that were there from the start are drawn as on one host. So are the groups of new keys, where hosts have inserted equally
    /// much.
    ///
    /// **What is not.** Within a group, the union of all hosts asks for each of the n neighbours equally often. A host that has inserted more (or less)
    /// than another draws from more (or fewer) groups, so the newest keys are those of the fast hosts. With one session per host and the same service
    /// times the number of inserts differs by chance alone, by about its square root. Before a later point, hosts must agree on the number of records
    /// that the point begins with: see [`Workload::with_records`](crate::Workload::with_records).
    ///
    /// # Errors
    /// When the description is impossible, with all its problems.
    pub fn with_share(data: &DataSpec, share: Share) -> Result<Arc<Self>, WorkloadError> {
        none_of(data.check())?;
        let documents = match &data.documents {
            Some(spec) => Some(Arc::new(DocumentSpace::new(spec, share)?)),
            None => None,
        };
        Ok(Arc::new(Self {
            documents,
            shape: RecordShape::new(data),
            all_fields: (0..data.field_count).collect(),
            records: Records::new(data.records, share),
            data: data.clone(),
        }))
    }

    /// What the records look like.
    pub fn data(&self) -> &DataSpec {
        &self.data
    }

    /// Which part of the workload this host generates.
    pub fn share(&self) -> Share {
        self.records.share()
    }

    /// Records that are certain to have been stored: key numbers below this one. An insert counts when it and all with lower key numbers
    /// are acknowledged. One of several hosts knows its own inserts, and takes those of the others for as many.
    pub fn records(&self) -> u64 {
        self.records.limit()
    }

    /// Of each operation of an application in `mixes`, `count` whole commands as they are drawn for measuring, from `seed`: to be explained by the server. Inserts
    /// have no plan and are left out.
    ///
    /// # Errors
    /// When a distribution is impossible for the documents there are.
    pub fn samples(
        &self,
        mixes: &[Mix],
        seed: u64,
        count: u32,
    ) -> Result<CommandSamples, WorkloadError> {
        match &self.documents {
            Some(space) => space.samples(mixes, &mut Stream::from_state(seed), count),
            None => Ok(Vec::new()),
        }
    }

    /// Commands that find single documents of an application's load by their `_id`, `count` of each collection, spread over all of them, with the collection's
    /// name: to prove that they are there.
    pub fn probes(&self, count: u64) -> CommandProbes {
        self.documents.as_ref().map(|space| space.probes(count)).unwrap_or_default()
    }

    /// Verifies a record that was read under this key. Meaningful when the data has `data_integrity`.
    pub fn verifier<'a>(&self, key: &'a [u8]) -> Verifier<'a> {
        Verifier::new(key, self.data.field_length.longest() as usize)
    }

    /// The name of a field by its number, which must be below the number of fields.
    pub fn field_name(&self, index: u32) -> &[u8] {
        self.shape.names.get(index)
    }
}
