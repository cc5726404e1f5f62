//! Addresses of the served pages. Names and ids are foreign: whatever they hold, it stays within its part of the address.

use crate::text;
use plimsoll_record::RunRecord;

/// Letters, digits and four signs stand for themselves, everything else is written as its bytes: RFC 3986, section 2.3.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    // Two dots alone would lead up.
    if out.bytes().all(|byte| byte == b'.') {
        out = out.replace('.', "%2E");
    }
    out
}

pub fn experiment(id: &str) -> String {
    format!("/experiment/{}", escaped(id))
}

pub fn live(id: &str) -> String {
    format!("/experiment/{}/live", escaped(id))
}

pub fn file(id: &str, name: &str) -> String {
    format!("/experiment/{}/files/{}", escaped(id), escaped(name))
}

/// `/experiment/ID/map?arm=A&block=B`: the packed accesses of a run. `block` is from 0.
pub fn map(id: &str, arm: &str, block: u32) -> String {
    format!("/experiment/{}/map?arm={}&block={block}", escaped(id), escaped(arm))
}

/// `/compare?first=ID:ARM&second=ID:ARM`, the two spelled as one word each.
pub fn compare(first: &str, second: &str) -> String {
    format!("/compare?first={}&second={}", escaped(first), escaped(second))
}

pub fn history(name: &str) -> String {
    format!("/history/{}", escaped(name))
}

/// Name of a run's trace as an iolog. `number` is its place among the runs of the record.
pub fn iolog_name(number: usize, run: &RunRecord) -> String {
    format!(
        "trace-{}-block-{}-{}.iolog",
        number + 1,
        u64::from(run.block) + 1,
        text::file_stem(&run.arm)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_names_stay_within_their_part() {
        assert_eq!(experiment("1f3a"), "/experiment/1f3a");
        assert_eq!(file("k3f9q", "points.csv"), "/experiment/k3f9q/files/points.csv");
        assert_eq!(file("../a b", ".."), "/experiment/..%2Fa%20b/files/%2E%2E");
        assert_eq!(history("a/b?c=d&e#f \"<é"), "/history/a%2Fb%3Fc%3Dd%26e%23f%20%22%3C%C3%A9");
        assert_eq!(
            compare("1f3a:x=y", "9b:z&second=evil"),
            "/compare?first=1f3a%3Ax%3Dy&second=9b%3Az%26second%3Devil"
        );
    }
}
