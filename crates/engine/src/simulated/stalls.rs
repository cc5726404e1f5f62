//! A script of times at which nothing is served.

use plimsoll_record::quantities::units::parse_duration;

/// Beginnings and ends, nanoseconds from the beginning of the script, in order, not touching.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stalls {
    windows: Vec<(u64, u64)>,
}

impl Stalls {
    /// Reads `3s+1s, 10s+500ms`: at 3 s for 1 s, at 10 s for half a second.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut windows = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let Some((at, length)) = part.split_once('+') else {
                return Err(format!(
                    "`{part}` is not a stall: write for example 3s+1s for one at 3 s that lasts 1 s"
                ));
            };
            let at_ns = parse_duration(at.trim()).map_err(|error| error.to_string())?;
            let length_ns = parse_duration(length.trim()).map_err(|error| error.to_string())?;
            let Some(end_ns) = at_ns.checked_add(length_ns) else {
                return Err(format!("`{part}` ends beyond all time"));
            };
            if length_ns == 0 {
                return Err(format!("`{part}` lasts no time"));
            }
            windows.push((at_ns, end_ns));
        }
        windows.sort_unstable();
        let mut merged: Vec<(u64, u64)> = Vec::new();
        for (begin, end) in windows {
            match merged.last_mut() {
                Some(last) if begin <= last.1 => last.1 = last.1.max(end),
                _ => merged.push((begin, end)),
            }
        }
        Ok(Self { windows: merged })
    }

    /// When work of `service_ns` ends that starts at `start_ns`, when the script began at `begin_ns`. Work stands still while the
    /// database does. Measuring path.
    pub(super) fn end_ns(&self, begin_ns: u64, start_ns: u64, service_ns: u64) -> u64 {
        // What was queued before the script began may start before it.
        let start = start_ns.saturating_sub(begin_ns);
        let mut end_ns = start_ns + service_ns;
        let mut end = start + service_ns;
        for (stall_begin, stall_end) in &self.windows {
            if *stall_end <= start {
                continue;
            }
            // Work that is done at the very instant at which a stall begins is done; work that would start then is not.
            if end <= *stall_begin && start < *stall_begin {
                break;
            }
            let lost = stall_end - start.max(*stall_begin);
            end += lost;
            end_ns += lost;
        }
        end_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn scripts_are_read() {
        let stalls = Stalls::parse("10s+500ms, 3s + 1s").unwrap();
        assert_eq!(
            stalls.windows,
            [(3 * SECOND, 4 * SECOND), (10 * SECOND, 10 * SECOND + SECOND / 2)]
        );
        assert_eq!(Stalls::parse(" ").unwrap(), Stalls::default());
        let found = Stalls::parse("1s+2s,2s+3s,5s+1s").unwrap().windows;
        assert_eq!(found, [(SECOND, 6 * SECOND)]);
        assert!(Stalls::parse("3s").unwrap_err().contains("write for example 3s+1s"));
        assert!(Stalls::parse("3s+1").unwrap_err().contains("has no unit"));
        assert!(Stalls::parse("3s+0s").unwrap_err().contains("lasts no time"));
    }

    #[test]
    fn work_stands_still_while_the_database_does() {
        let stalls = Stalls::parse("100ns+50ns, 200ns+10ns").unwrap();
        let end = |start: u64, service: u64| stalls.end_ns(1_000, 1_000 + start, service) - 1_000;
        assert_eq!(end(0, 99), 99);
        assert_eq!(end(0, 100), 100);
        assert_eq!(end(0, 101), 151);
        assert_eq!(end(100, 1), 151);
        assert_eq!(end(120, 5), 155);
        assert_eq!(end(149, 50), 200);
        assert_eq!(end(149, 51), 211);
        assert_eq!(end(90, 100), 250);
        assert_eq!(end(150, 0), 150);
        assert_eq!(end(210, 7), 217);
        assert_eq!(stalls.end_ns(1_000, 950, 20), 970);
    }
}
