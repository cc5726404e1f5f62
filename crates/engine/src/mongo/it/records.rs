//! Records and questions about them, and what they are in BSON.

use crate::mongo::{LeanClient, LeanError};
use bson::spec::BinarySubtype;
use bson::{Binary, Bson, Document};
use plimsoll_workload::{
    Ask, DataSpec, FieldChoice, Fields, InsertGenerator, KeyOrder, KeySpace, Mix, Workload,
};
use std::sync::Arc;

/// Few small records under keys that rise.
pub fn small_data(records: u64) -> DataSpec {
    let mut data = DataSpec::with_records(records);
    data.field_count = 3;
    data.field_length = plimsoll_workload::FieldLength::Constant(20);
    data.key_order = KeyOrder::Ordered;
    data.zero_padding = 6;
    data
}

pub fn loader(data: &DataSpec) -> InsertGenerator {
    KeySpace::new(data).unwrap().loader(1).generator(0)
}

/// Inserts all records, and what is left of the last batch.
pub fn load(client: &mut LeanClient, data: &DataSpec) {
    let mut loader = loader(data);
    while let Some(Ask::Insert { key, fields, .. }) = loader.next() {
        client.insert(key, fields).unwrap();
    }
    if let Some(flushed) = client.flush() {
        flushed.unwrap();
    }
}

/// The document of a record.
pub fn document(key: &[u8], fields: Fields<'_>) -> Document {
    let mut document = Document::new();
    document.insert("_id", String::from_utf8(key.to_vec()).unwrap());
    for (_, name, value) in fields {
        document.insert(String::from_utf8(name.to_vec()).unwrap(), binary(value));
    }
    document
}

pub fn binary(bytes: &[u8]) -> Bson {
    Bson::Binary(Binary { subtype: BinarySubtype::Generic, bytes: bytes.to_vec() })
}

/// A workload of nothing but updates of one field.
pub fn updates(data: &DataSpec) -> Arc<Workload> {
    let mut mix = Mix::preset("a").unwrap();
    (mix.read, mix.update) = (0.0, 1.0);
    let key_space = KeySpace::new(data).unwrap();
    Arc::new(Workload::new(&key_space, &mix, 1, None).unwrap())
}

/// A field: its name and its value.
pub type NamedBytes = (String, Vec<u8>);

/// The fields that are read of a record, by name; nothing if there is no such record.
pub fn read(
    client: &mut LeanClient,
    key: &[u8],
    fields: FieldChoice<'_>,
) -> Result<Option<Vec<NamedBytes>>, LeanError> {
    let mut found = Vec::new();
    let mut visitor = |name: &[u8], value: &[u8]| {
        found.push((String::from_utf8(name.to_vec()).unwrap(), value.to_vec()));
    };
    let is_there = client.read(key, fields, Some(&mut visitor))?;
    Ok(is_there.then_some(found))
}

/// Runs a command that is given and answered as a document.
pub fn command(client: &mut LeanClient, command: &Document) -> Result<Document, LeanError> {
    let reply = client.command("ycsb", &command.to_vec().unwrap())?;
    Ok(Document::from_reader(&reply[..]).unwrap())
}
