//! Passwords, kept out of everything that is printed.

/// The text with the password of every address in it replaced by stars: what stands between `://`, a colon, and the last `@` before the
/// address goes on.
pub(crate) fn masked(text: &str) -> String {
    let mut masked = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (front, behind) = rest.split_at(at + 3);
        masked.push_str(front);
        // A password should have these characters escaped; if it has not, it is hidden all the same.
        let end = behind
            .find(|letter: char| letter.is_whitespace())
            .unwrap_or(behind.len());
        let address = &behind[..end];
        if let Some(host) = address.rfind('@')
            && let Some(colon) = address[..host].find(':')
        {
            masked.push_str(&address[..=colon]);
            masked.push_str("***");
            masked.push_str(&address[host..]);
        } else {
            masked.push_str(address);
        }
        rest = &behind[end..];
    }
    masked.push_str(rest);
    masked
}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn passwords_are_not_shown() {
        for (text, shown) in [
            (
                "mongodb://localhost:27017/ycsb?w=1",
                "mongodb://localhost:27017/ycsb?w=1",
            ),
            ("-p", "-p"),
            (
                "mongodb.url=mongodb://me:s3cret@h1:1,h2:2/db",
                "mongodb.url=mongodb://me:***@h1:1,h2:2/db",
            ),
            (
                "mongodb+srv://me:p@ss@host/db",
                "mongodb+srv://me:***@host/db",
            ),
            ("mongodb://me@host/db", "mongodb://me@host/db"),
            ("a://b:c@d e://f:g@h i", "a://b:***@d e://f:***@h i"),
        ] {
            assert_eq!(masked(text), shown);
        }
    }
}
