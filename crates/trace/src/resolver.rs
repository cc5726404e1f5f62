//! From a place on the disk to the file that lies there.

use crate::extents::ExtentMap;

/// What lies at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'a> {
    File {
        /// Relative to the mount point.
        path: &'a str,
        offset: u64,
        /// Whether the map before and the map after the moment say so both; otherwise one of them does, the other says something else, or there
        /// is none.
        agreed: bool,
    },
    /// No file, as all files are mapped: the filesystem's own (its log, its tables, folders), or a file that came and went between two maps.
    Metadata,
    /// Not known, because there is no map, or a map does not tell where all files lie.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    pub offset: u64,
    pub length: u64,
    pub place: Place<'a>,
}

/// Finds what lies where, by maps that were taken at several times.
#[derive(Debug)]
pub struct Resolver<'a> {
    layouts: Vec<Layout<'a>>,
}

#[derive(Debug)]
struct Layout<'a> {
    time_ns: u64,
    complete: bool,
    /// In order of place, none over another.
    spans: Vec<Span<'a>>,
}

#[derive(Clone, Copy, Debug)]
struct Span<'a> {
    start: u64,
    end: u64,
    path: &'a str,
    /// In the file, of the span's first byte.
    offset: u64,
}

impl<'a> Resolver<'a> {
    /// By these maps, in any order.
    pub fn new(maps: &'a [ExtentMap]) -> Self {
        let mut layouts: Vec<Layout<'a>> = maps.iter().map(Layout::of).collect();
        layouts.sort_by_key(|layout| layout.time_ns);
        Self { layouts }
    }

    /// What lay in `length` bytes from `offset` on at a time (nanoseconds of `CLOCK_MONOTONIC`): pieces in order, without gaps, all of it. A piece
    /// comes from the last map up to this time; where this knows of no file, or is missing, by the next map after. A place that two files share is reported as
    /// that of one.
    pub fn resolve(&self, time_ns: u64, offset: u64, length: u64) -> Vec<Piece<'a>> {
        let next = self.layouts.partition_point(|layout| layout.time_ns <= time_ns);
        let before = next.checked_sub(1).map(|index| &self.layouts[index]);
        let after = self.layouts.get(next);
        let end = offset.saturating_add(length);
        let mut pieces: Vec<Piece<'a>> = Vec::new();
        let mut at = offset;
        while at < end {
            let (earlier, earlier_end) = found(before, at, end);
            let (later, later_end) = found(after, at, end);
            let piece_end = earlier_end.min(later_end);
            let place = match earlier.or(later) {
                Some((path, offset)) => Place::File { path, offset, agreed: earlier == later },
                None => {
                    let mut known = before.into_iter().chain(after).peekable();
                    if known.peek().is_some() && known.all(|layout| layout.complete) {
                        Place::Metadata
                    } else {
                        Place::Unknown
                    }
                }
            };
            let piece = Piece { offset: at, length: piece_end - at, place };
            match pieces.last_mut() {
                Some(last) if last.goes_on_with(&piece) => last.length += piece.length,
                _ => pieces.push(piece),
            }
            at = piece_end;
        }
        pieces
    }
}

impl Piece<'_> {
    fn goes_on_with(&self, next: &Self) -> bool {
        match (self.place, next.place) {
            (
                Place::File { path, offset, agreed },
                Place::File { path: next_path, offset: next_offset, agreed: next_agreed },
            ) => path == next_path && offset + self.length == next_offset && agreed == next_agreed,
            (here, there) => here == there,
        }
    }
}

/// The file and the offset in it at a place, and where this ends at the latest.
fn found<'a>(layout: Option<&Layout<'a>>, at: u64, end: u64) -> (Option<(&'a str, u64)>, u64) {
    let Some(layout) = layout else {
        return (None, end);
    };
    let index = layout.spans.partition_point(|span| span.end <= at);
    match layout.spans.get(index) {
        None => (None, end),
        Some(span) if span.start > at => (None, end.min(span.start)),
        Some(span) => {
            let place = (span.path, span.offset + (at - span.start));
            (Some(place), end.min(span.end))
        }
    }
}

impl<'a> Layout<'a> {
    fn of(map: &'a ExtentMap) -> Self {
        let mut all: Vec<Span<'a>> = Vec::new();
        for file in &map.files {
            for extent in file.extents.iter().filter(|extent| extent.is_placed()) {
                all.push(Span {
                    start: extent.physical,
                    end: extent.physical.saturating_add(extent.length),
                    path: &file.path,
                    offset: extent.logical,
                });
            }
        }
        all.sort_by_key(|span| span.start);
        let mut spans: Vec<Span<'a>> = Vec::with_capacity(all.len());
        for mut span in all {
            let free_from = spans.last().map_or(0, |last| last.end);
            if span.start < free_from {
                span.offset += free_from - span.start;
                span.start = free_from;
            }
            if span.start < span.end {
                spans.push(span);
            }
        }
        Self { time_ns: map.time_ns, complete: map.is_complete(), spans }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extents::{Extent, MappedFile, Unmapped};
    use proptest::collection::vec;
    use proptest::prelude::*;

    const DISK: u64 = 200;

    /// For each byte of the disk: the file and the byte of it that lie there.
    type Bytes = Vec<Option<(u8, u64)>>;

    /// Extents drawn one after the other; each takes the bytes that are still free.
    fn map(time_ns: u64, drawn: &[(u64, u64, u8, u64)]) -> (ExtentMap, Bytes) {
        let mut bytes: Bytes = vec![None; DISK as usize];
        let mut files: Vec<MappedFile> = (0..3)
            .map(|file| MappedFile {
                path: file.to_string(),
                size: 10_000,
                extents: Vec::new(),
                unmapped: None,
            })
            .collect();
        for &(physical, length, file, logical) in drawn {
            let free = (physical..DISK.min(physical + length))
                .take_while(|at| bytes[*at as usize].is_none())
                .count() as u64;
            for at in 0..free {
                bytes[(physical + at) as usize] = Some((file, logical + at));
            }
            files[usize::from(file)].extents.push(Extent {
                logical,
                physical,
                length: free,
                flags: 0,
            });
        }
        (ExtentMap { time_ns, files }, bytes)
    }

    fn drawn() -> impl Strategy<Value = Vec<(u64, u64, u8, u64)>> {
        vec((0..DISK, 1..40_u64, 0..3_u8, 0..1000_u64), 0..15)
    }

    proptest! {
        #[test]
        fn pieces_are_what_the_maps_say_byte_by_byte(
            first in drawn(), second in drawn(),
            time in 0..30_u64, offset in 0..DISK, length in 0..100_u64,
        ) {
            let (first, first_bytes) = map(10, &first);
            let (second, second_bytes) = map(20, &second);
            let maps = [second, first];
            let resolver = Resolver::new(&maps);
            let (before, after) = match time {
                0..10 => (None, Some(&first_bytes)),
                10..20 => (Some(&first_bytes), Some(&second_bytes)),
                _ => (Some(&second_bytes), None),
            };
            let pieces = resolver.resolve(time, offset, length);
            let mut at = offset;
            for piece in &pieces {
                prop_assert_eq!(piece.offset, at);
                prop_assert!(piece.length > 0);
                for byte in 0..piece.length {
                    let at = (piece.offset + byte) as usize;
                    let earlier = before.and_then(|bytes| *bytes.get(at)?);
                    let later = after.and_then(|bytes| *bytes.get(at)?);
                    match piece.place {
                        Place::File { path, offset, agreed } => {
                            let access = (path.parse().unwrap(), offset + byte);
                            prop_assert_eq!(Some(access), earlier.or(later));
                            prop_assert_eq!(agreed, earlier == later);
                        }
                        Place::Metadata => prop_assert_eq!(earlier.or(later), None),
                        Place::Unknown => prop_assert!(false, "all is mapped"),
                    }
                }
                at += piece.length;
            }
            prop_assert_eq!(at, offset + length);
            for (piece, next) in pieces.iter().zip(pieces.iter().skip(1)) {
                prop_assert!(!piece.goes_on_with(next));
            }
        }

        #[test]
        fn extents_over_each_other_leave_one_file_a_byte(drawn in drawn()) {
            let mut map = map(0, &drawn).0;
            for (file, &(physical, length, _, logical)) in drawn.iter().enumerate() {
                map.files[file % 3].extents.push(Extent { logical, physical, length, flags: Extent::SHARED });
            }
            let layout = Layout::of(&map);
            for (span, next) in layout.spans.iter().zip(layout.spans.iter().skip(1)) {
                prop_assert!(span.start < span.end && span.end <= next.start);
            }
        }
    }

    #[test]
    fn without_a_whole_map_nothing_is_called_metadata() {
        let whole = |place| [Piece { offset: 5, length: 7, place }];
        assert_eq!(Resolver::new(&[]).resolve(0, 5, 7), whole(Place::Unknown));
        let (mut map, _) = map(10, &[]);
        let found = Resolver::new(std::slice::from_ref(&map)).resolve(0, 5, 7);
        assert_eq!(found, whole(Place::Metadata));
        map.files[1].unmapped = Some(Unmapped::Encoded);
        let expected = whole(Place::Unknown);
        assert_eq!(Resolver::new(&[map]).resolve(0, 5, 7), expected);
    }
}
