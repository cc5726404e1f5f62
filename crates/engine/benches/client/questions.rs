//! The operations: the same for every client.

use bson::spec::BinarySubtype;
use bson::{Binary, Document, doc};
use plimsoll_workload::{Ask, DataSpec, KeySpace, Mix, OpGenerator, RequestDistribution, Workload};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub struct Questions {
    key_space: Arc<KeySpace>,
    workload: Arc<Workload>,
    /// In a whole turn, by all sessions together.
    pub operations: u64,
    /// How many streams were given out.
    streams: AtomicU64,
}

impl Questions {
    pub fn new(records: u64, mix: &str, operations: u64) -> Self {
        let key_space = KeySpace::new(&DataSpec::with_records(records)).expect("it is possible");
        let mut mix = Mix::preset(mix).expect("the mix is one of YCSB's workloads, such as c");
        mix.request_distribution = RequestDistribution::Uniform;
        let workload = Workload::new(&key_space, &mix, 1, None).expect("the mix is possible");
        Self { key_space, workload: Arc::new(workload), operations, streams: AtomicU64::new(0) }
    }

    pub fn key_space(&self) -> &Arc<KeySpace> {
        &self.key_space
    }

    /// Another stream each time: changing a value to itself would cost a server next to nothing.
    pub fn generator(&self) -> OpGenerator {
        self.workload.generator(self.streams.fetch_add(1, Ordering::Relaxed))
    }

    pub fn per_session(&self, sessions: usize) -> u64 {
        self.operations / sessions as u64
    }
}

/// The search for a record, or the command that changes it, as documents.
pub enum Command {
    Find(Document),
    Update { filter: Document, set: Document },
}

pub fn command(ask: Ask<'_>) -> Command {
    let by_id = |key: &[u8]| {
        let key = str::from_utf8(key).expect("keys are text");
        doc! { "_id": key }
    };
    match ask {
        Ask::Read { key, .. } => Command::Find(by_id(key)),
        Ask::Update { key, changes } => {
            let mut fields = Document::new();
            for (_, name, value) in changes {
                let name = str::from_utf8(name).expect("names are text");
                let subtype = BinarySubtype::Generic;
                let bytes = value.to_vec();
                fields.insert(name, Binary { subtype, bytes });
            }
            Command::Update { filter: by_id(key), set: doc! { "$set": fields } }
        }
        other => unreachable!("there are only reads and updates, not {other:?}"),
    }
}
