//! Secrets, kept out of JSON values.

use plimsoll_record::redact::redact;

/// A JSON value without the secrets in its texts, keys excepted.
pub fn redact_json(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::String(text) => *text = redact(text),
        serde_json::Value::Array(items) => items.iter_mut().for_each(redact_json),
        serde_json::Value::Object(map) => map.values_mut().for_each(redact_json),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_vanish_at_every_depth() {
        let mut value = serde_json::json!({ "a": [{ "b": "x://c:d@e" }, "c:d@e", 1, null] });
        redact_json(&mut value);
        assert_eq!(value, serde_json::json!({ "a": [{ "b": "x://c:***@e" }, "c:***@e", 1, null] }));
    }
}
