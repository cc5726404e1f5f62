//! The order of the blocks of a report: that of Java's concurrent hash map.

use crate::number::string_hash;

/// The names in the order in which such a map lists them, given in the order in which they came into it: by bucket, and within a bucket as they
/// came. The map has 16 buckets and doubles them whenever it is three quarters full.
pub(crate) fn in_map_order<T>(named: Vec<T>, name: impl Fn(&T) -> String) -> Vec<T> {
    let mut buckets = 16;
    while named.len() * 4 >= buckets * 3 {
        buckets *= 2;
    }
    let mut keyed: Vec<(usize, T)> =
        named.into_iter().map(|item| (bucket(&name(&item), buckets), item)).collect();
    keyed.sort_by_key(|(bucket, _)| *bucket);
    keyed.into_iter().map(|(_, item)| item).collect()
}

/// The map spreads the upper half of the hash over the lower.
fn bucket(name: &str, buckets: usize) -> usize {
    let hash = string_hash(name).cast_unsigned();
    (hash ^ (hash >> 16)) as usize & (buckets - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the compatibility page, section 9.
    #[test]
    fn names_lie_in_the_buckets_of_the_page() {
        for (name, expected) in [
            ("READ", 0),
            ("UPDATE-FAILED", 0),
            ("SCAN-FAILED", 1),
            ("DELETE", 2),
            ("READ-MODIFY-WRITE", 3),
            ("CLEANUP", 8),
            ("DELETE-FAILED", 8),
            ("SCAN-LATENCY-PER-RECORD", 9),
            ("UPDATE", 10),
            ("INSERT", 10),
            ("VERIFY", 10),
            ("READ-FAILED", 10),
            ("SCAN", 11),
            ("INSERT-FAILED", 15),
        ] {
            assert_eq!(bucket(name, 16), expected, "{name}");
        }
    }

    #[test]
    fn names_of_one_bucket_stay_as_they_came() {
        let order = |names: &[&'static str]| in_map_order(names.to_vec(), |name| (*name).into());
        assert_eq!(
            order(&["UPDATE", "CLEANUP", "SCAN", "READ", "READ-MODIFY-WRITE"]),
            ["READ", "READ-MODIFY-WRITE", "CLEANUP", "UPDATE", "SCAN"]
        );
        assert_eq!(order(&["INSERT", "UPDATE"]), ["INSERT", "UPDATE"]);
        assert_eq!(order(&["UPDATE", "INSERT"]), ["UPDATE", "INSERT"]);
    }
}
