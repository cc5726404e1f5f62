//! Lines of another process, which may never end one.

use std::io::{self, BufRead, ErrorKind};

/// Reads the next line into `line`, without its end, as [`BufRead::read_line`] does; `false` at the end of all. Bytes that are no UTF-8 are replaced.
///
/// # Errors
/// [`ErrorKind::InvalidData`] where the line has more than `most` bytes, or what the reader says.
pub fn read_line_within(
    from: &mut impl BufRead,
    line: &mut String,
    most: usize,
) -> io::Result<bool> {
    let mut bytes = Vec::new();
    loop {
        let part = match from.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            part => part?,
        };
        let end = part.iter().position(|byte| *byte == b'\n');
        let taken = end.unwrap_or(part.len());
        if bytes.len() + taken > most {
            let why = format!("a line of more than {most} bytes");
            return Err(io::Error::new(ErrorKind::InvalidData, why));
        }
        bytes.extend_from_slice(&part[..taken]);
        let is_over = part.is_empty() || end.is_some();
        from.consume(taken + usize::from(end.is_some()));
        if is_over {
            let is_there = end.is_some() || !bytes.is_empty();
            *line = String::from_utf8_lossy(&bytes).into_owned();
            return Ok(is_there);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    #[test]
    fn lines_come_one_by_one_and_none_is_without_end() {
        let mut from = BufReader::with_capacity(3, &b"one\n\ntwo\xff\nlonger than that"[..]);
        let mut line = String::new();
        for expected in ["one", "", "two\u{fffd}"] {
            assert!(read_line_within(&mut from, &mut line, 8).unwrap());
            assert_eq!(line, expected);
        }
        let error = read_line_within(&mut from, &mut line, 8).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        let mut rest = &b"end"[..];
        assert!(read_line_within(&mut rest, &mut line, 8).unwrap());
        assert!(!read_line_within(&mut rest, &mut line, 8).unwrap());
    }
}
