//! The hash of a plan: equal when the same things would be measured.

use crate::{Plan, Settings, redact_json};
use plimsoll_record::{DiskChoice, RigSpec, ShapedFrom};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

impl Plan {
    /// SHA-256, in hexadecimal digits, of everything that affects the measurement: arms with their engines, settings, data, directories, disks,
    /// filesystems and limits; mixes, points, load phase, measurement, events, and the runs in their order.
    ///
    /// What does not count: comments, layout and the order of keys in the file, where a value comes from, the experiment's name and
    /// question, what the arms are about, what they cost, whether disks are traced, and what is judged afterwards (objective, comparison,
    /// thresholds). Where the plimsoll line is searched the objective does count, because the trials follow from it. So the runs of an experiment are still its runs after a threshold was changed. Where the data is a share of the cache,
    /// the share counts and not the number of records, which follows from a measurement.
    ///
    /// # Panics
    /// Never: all parts of a plan can be written as JSON.
    pub fn hash(&self) -> String {
        let mut arms = Vec::new();
        for arm in &self.arms {
            let mut measured = json!({
                "name": arm.name,
                "engine": arm.engine,
                "settings": without_passwords(&arm.settings),
                "data": arm.data,
                "directory": arm.directory,
            });
            if let Some(planted) = arm.planted {
                measured["planted"] = json!(planted);
            }
            if let Some(on) = &arm.on {
                measured["on"] = json!(on);
            }
            if let Some(set) = arm.working_set {
                measured["data"]["records"] = Value::Null;
                measured["working_set"] = json!([set.share, set.usable_cache_bytes]);
            }
            let rig = without_bystanders(&arm.rig);
            // Arms without a rig keep the hash that they had before there were disks.
            if rig != RigSpec::default() {
                measured["rig"] = json!(rig);
                // Rigs without a server keep the hash that they had before there were servers.
                if rig.server.is_none()
                    && let Some(map) = measured["rig"].as_object_mut()
                {
                    map.remove("server");
                }
            }
            arms.push(measured);
        }
        let mut measurement = json!(self.measurement);
        if self.measurement.shaped_from == ShapedFrom::default()
            && let Some(map) = measurement.as_object_mut()
        {
            map.remove("shaped_from");
        }
        let mut measured = json!({
            "version": self.version,
            "arms": arms,
            "mixes": self.mixes,
            "points": self.points,
            "load_phase": self.load_phase,
            "measurement": measurement,
            "runs": self.runs,
        });
        if !self.load_hosts.is_empty() {
            measured["load_hosts"] = json!(self.load_hosts);
        }
        if !self.events.is_empty() {
            measured["events"] = json!(self.events);
        }
        if let Some(objective) = &self.objective
            && objective.search.is_some()
        {
            measured["objective"] = json!(objective);
        }
        let mut text = String::new();
        write_sorted(&measured, &mut text);
        sha256(&text)
    }
}

/// The settings as records keep them: a changed password does not affect the measurement.
fn without_passwords(settings: &Settings) -> Value {
    let mut settings = json!(settings);
    redact_json(&mut settings);
    settings
}

/// The parts of a rig that affect the measurement.
fn without_bystanders(rig: &RigSpec) -> RigSpec {
    let mut rig = RigSpec { price: None, ..rig.clone() };
    if let Some(DiskChoice::Emulated { spec }) = &mut rig.disk {
        spec.trace_requests = 0;
    }
    rig
}

/// SHA-256 of bytes, in hexadecimal digits: of an experiment file, of what a bundle holds, of a bundle.
pub fn sha256(bytes: impl AsRef<[u8]>) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// The same of all that comes from a reader, and how many bytes that is.
///
/// # Errors
/// When it cannot be read.
pub fn sha256_of(mut reader: impl std::io::Read) -> std::io::Result<(String, u64)> {
    let mut hasher = Sha256::new();
    let mut part = vec![0; 1 << 16];
    let mut bytes = 0;
    loop {
        let read = reader.read(&mut part)?;
        if read == 0 {
            return Ok((hexadecimal(&hasher.finalize()), bytes));
        }
        hasher.update(&part[..read]);
        bytes += read as u64;
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// JSON without spaces and with sorted keys, whatever order the map keeps.
fn write_sorted(value: &Value, text: &mut String) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| key.as_str());
            text.push('{');
            for (index, (key, value)) in entries.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write_sorted(value, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_sorted(item, text);
            }
            text.push(']');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_text_has_sorted_keys_and_no_spaces() {
        let value =
            json!({ "b": [1, 0.5, null], "a": { "d": "x\"y", "c": true }, "é": {}, "[": [] });
        let mut text = String::new();
        write_sorted(&value, &mut text);
        assert_eq!(text, r#"{"[":[],"a":{"c":true,"d":"x\"y"},"b":[1,0.5,null],"é":{}}"#);
    }

    /// The digest that is published with the algorithm.
    #[test]
    fn hash_of_a_text_is_its_sha_256() {
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256("abc"), digest);
    }
}
