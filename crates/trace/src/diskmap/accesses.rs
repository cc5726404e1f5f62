//! Which requests of a trace went where in which file.

use crate::{Kind, Mark, Place, Resolver, Trace, TraceError};
use plimsoll_record::NotedOperation;
use std::collections::BTreeMap;

/// Files that are drawn; those with the most bytes accessed.
const MOST_FILES: usize = 12;

/// Why there is nothing to draw.
#[derive(Debug, thiserror::Error)]
pub enum DiskmapError {
    /// The trace says of no request to which file it went.
    #[error(
        "the trace does not say where the files lay: only traces of runs on an emulated disk that were kept with their maps can be drawn"
    )]
    NoMaps,
    /// Nothing is left of what was selected.
    #[error(
        "no request of the trace {what}; it holds {requests} requests in {seconds:.3} s{marks}"
    )]
    Nothing {
        what: String,
        requests: usize,
        /// From the first to the last.
        seconds: f64,
        /// The marks in words, to choose from.
        marks: String,
    },
    /// The picture cannot be written.
    #[error("the picture cannot be written: {0}")]
    Picture(String),
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A run without a trace.
    #[error("the run kept no trace: arms on an emulated disk do, unless `trace: off`")]
    NotTraced,
    /// More than is read for a page.
    #[error(
        "the trace holds {requests} requests, more than the {most} that a page draws; `plimsoll disk map` draws it"
    )]
    TooMany { requests: u64, most: u64 },
    #[error("these are no packed accesses that this program can read: {0}")]
    Packed(&'static str),
}

/// What of a trace is drawn.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// From here on, nanoseconds after the first request.
    pub from_ns: Option<u64>,
    /// Until here, nanoseconds after the first request.
    pub to_ns: Option<u64>,
    /// From each mark whose text holds this to the next mark.
    pub mark: Option<String>,
    /// Only files whose path holds one of these; empty: all.
    pub files: Vec<String>,
    /// `true`: only writes, `false`: only reads.
    pub writes: Option<bool>,
    /// Only accesses while one of these operations was under way.
    pub operations: Option<Vec<NotedOperation>>,
}

/// A file that is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Relative to the mount point.
    pub path: String,
    /// Bytes: the largest that was seen.
    pub size: u64,
    pub accesses: u64,
    pub bytes: u64,
}

/// One read or write of a part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Nanoseconds after the first request of the trace.
    pub time_ns: u64,
    pub file: u16,
    pub offset: u64,
    pub length: u64,
    pub is_write: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accesses {
    /// The files, those with the most accessed bytes first.
    pub files: Vec<File>,
    /// In the order of time.
    pub all: Vec<Access>,
    /// Files that were accessed and are not drawn.
    pub files_left_out: usize,
    /// The marks of the trace, in the order of time.
    pub moments: Vec<Moment>,
    /// The first request of the trace, from which times are counted: nanoseconds of `CLOCK_MONOTONIC`.
    pub start_ns: u64,
    /// Reads and writes of the trace that went to no known file: the filesystem's own, or not mapped.
    pub elsewhere: u64,
    /// Requests before the first of the trace, which made room for later ones.
    pub overwritten: u64,
}

/// A mark of the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Nanoseconds after the first request of the trace; 0 where it was set before.
    pub time_ns: u64,
    /// Such as `reads, 1 thread: measuring`.
    pub label: String,
}

impl Accesses {
    /// What of a trace was selected.
    pub fn of(trace: &Trace, selection: &Selection) -> Result<Self, DiskmapError> {
        let requests = trace.requests();
        if trace.maps().is_empty() {
            return Err(DiskmapError::NoMaps);
        }
        let start = requests.first().map_or(0, |request| request.time_ns);
        let spans = spans(trace, selection, start);
        let under_way = selection.operations.as_deref().map(UnderWay::of);
        let resolver = Resolver::new(trace.maps());
        let mut files: BTreeMap<&str, (u16, File)> = BTreeMap::new();
        let mut all = Vec::new();
        let mut elsewhere = 0;
        for request in requests {
            let is_write = match request.kind {
                Kind::Read => false,
                Kind::Write => true,
                _ => continue,
            };
            let time_ns = request.time_ns - start;
            if selection.writes.is_some_and(|writes| writes != is_write)
                || !spans.iter().any(|(from, to)| (*from..*to).contains(&time_ns))
                || under_way.as_ref().is_some_and(|under_way| !under_way.at(request.time_ns))
            {
                continue;
            }
            let length = u64::from(request.length);
            let mut is_known = false;
            for piece in resolver.resolve(request.time_ns, request.offset, length) {
                let Place::File { path, offset, .. } = piece.place else {
                    continue;
                };
                is_known = true;
                let wanted = selection.files.is_empty()
                    || selection.files.iter().any(|part| path.contains(part.as_str()));
                if !wanted {
                    continue;
                }
                let next = u16::try_from(files.len()).unwrap_or(u16::MAX);
                let (file, known) = files.entry(path).or_insert_with(|| {
                    let file = File { path: path.to_owned(), size: 0, accesses: 0, bytes: 0 };
                    (next, file)
                });
                known.size = known.size.max(offset + piece.length);
                known.accesses += 1;
                known.bytes += piece.length;
                all.push(Access { time_ns, file: *file, offset, length: piece.length, is_write });
            }
            elsewhere += u64::from(!is_known);
        }
        if all.is_empty() {
            return Err(nothing(trace, selection, start));
        }
        for mapped in trace.maps().iter().flat_map(|map| &map.files) {
            if let Some((_, file)) = files.get_mut(mapped.path.as_str()) {
                file.size = file.size.max(mapped.size);
            }
        }
        let moment = |mark: &Mark| Moment {
            time_ns: mark.time_ns.saturating_sub(start),
            label: mark.label.clone(),
        };
        Ok(Self {
            moments: trace.marks().iter().map(moment).collect(),
            start_ns: start,
            elsewhere,
            overwritten: trace.overwritten(),
            ..Self::sorted(files.into_values().collect(), all)
        })
    }

    fn sorted(mut files: Vec<(u16, File)>, mut all: Vec<Access>) -> Self {
        files.sort_by(|(_, a), (_, b)| b.bytes.cmp(&a.bytes).then_with(|| a.path.cmp(&b.path)));
        let files_left_out = files.len().saturating_sub(MOST_FILES);
        let places: BTreeMap<u16, u16> = (0_u16..)
            .zip(files.iter().take(MOST_FILES))
            .map(|(place, (file, _))| (*file, place))
            .collect();
        all.retain_mut(|access| match places.get(&access.file) {
            Some(place) => {
                access.file = *place;
                true
            }
            None => false,
        });
        all.sort_by_key(|access| access.time_ns);
        Self {
            files: files.into_iter().take(MOST_FILES).map(|(_, file)| file).collect(),
            all,
            files_left_out,
            moments: Vec::new(),
            start_ns: 0,
            elsewhere: 0,
            overwritten: 0,
        }
    }
}

/// The spans of some operations, joined where they overlap: nanoseconds of `CLOCK_MONOTONIC`, both ends included, in order.
struct UnderWay(Vec<(u64, u64)>);

impl UnderWay {
    fn of(operations: &[NotedOperation]) -> Self {
        let mut all: Vec<(u64, u64)> =
            operations.iter().map(|operation| (operation.begin_ns, operation.end_ns)).collect();
        all.sort_unstable();
        let mut joined: Vec<(u64, u64)> = Vec::with_capacity(all.len());
        for (begin, end) in all {
            match joined.last_mut() {
                Some(last) if begin <= last.1 => last.1 = last.1.max(end),
                _ => joined.push((begin, end)),
            }
        }
        Self(joined)
    }

    fn at(&self, time_ns: u64) -> bool {
        let next = self.0.partition_point(|(begin, _)| *begin <= time_ns);
        next.checked_sub(1).is_some_and(|index| time_ns <= self.0[index].1)
    }
}

/// The spans of time that were selected, nanoseconds after the first request, the ends exclusive.
fn spans(trace: &Trace, selection: &Selection, start: u64) -> Vec<(u64, u64)> {
    let from = selection.from_ns.unwrap_or(0);
    let to = selection.to_ns.unwrap_or(u64::MAX);
    let Some(wanted) = &selection.mark else {
        return vec![(from, to)];
    };
    let marks = trace.marks();
    let mut spans = Vec::new();
    for (index, mark) in marks.iter().enumerate() {
        if mark.label.contains(wanted.as_str()) {
            let begin = mark.time_ns.saturating_sub(start);
            let end =
                marks.get(index + 1).map_or(u64::MAX, |next| next.time_ns.saturating_sub(start));
            spans.push((begin.max(from), end.min(to)));
        }
    }
    spans
}

fn nothing(trace: &Trace, selection: &Selection, start: u64) -> DiskmapError {
    let mut what = Vec::new();
    if selection.mark.is_some() || selection.from_ns.is_some() || selection.to_ns.is_some() {
        what.push("lies in that span of time");
    }
    if selection.operations.is_some() {
        what.push("came while one of those operations was under way");
    }
    if !selection.files.is_empty() {
        what.push("went to such a file");
    }
    what.push(match selection.writes {
        Some(true) => "is a write to a known file",
        Some(false) => "is a read of a known file",
        None => "went to a known file",
    });
    let labels: Vec<String> =
        trace.marks().iter().map(|mark| format!("`{}`", mark.label)).collect();
    let last = trace.requests().last().map_or(start, |request| request.time_ns);
    DiskmapError::Nothing {
        what: what.join(" and "),
        requests: trace.requests().len(),
        seconds: (last - start) as f64 / 1e9,
        marks: if labels.is_empty() {
            String::new()
        } else {
            format!(", and these marks: {}", labels.join(", "))
        },
    }
}
