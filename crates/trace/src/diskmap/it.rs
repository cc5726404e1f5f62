//! Pictures of traces that were made for it, looked at pixel by pixel.

mod packing;

use crate::diskmap::{
    Accesses, Animation, Canvas, DiskmapError, Layout, PALETTE, Selection, animation, heat,
    write_animated_png, write_gif, write_png,
};
use crate::{
    Extent, ExtentMap, Head, Kind, MappedFile, Request, Trace, Writer, finish, monotonic_ns,
};
use plimsoll_record::DiskSpec;

const MIB: u64 = 1 << 20;
const BLUE: [u8; 3] = [0, 58, 112];
const ORANGE: [u8; 3] = [163, 58, 0];
const EMPTY: [u8; 3] = [238, 241, 245];

/// A collection of 4 MiB at 1 MiB of the disk, its second half moved to 16 MiB, and a journal of 1 MiB at 8 MiB.
fn map(time_ns: u64) -> ExtentMap {
    let extent = |logical, physical, length| Extent { logical, physical, length, flags: 0 };
    let file =
        |path: &str, size, extents| MappedFile { path: path.into(), size, extents, unmapped: None };
    ExtentMap {
        time_ns,
        files: vec![
            file(
                "data/collection.wt",
                4 * MIB,
                vec![extent(0, MIB, 2 * MIB), extent(2 * MIB, 16 * MIB, 2 * MIB)],
            ),
            file("data/journal", MIB, vec![extent(0, 8 * MIB, MIB)]),
        ],
    }
}

fn trace(requests: &[(Kind, u64, u32)], marks: &[(usize, &str)]) -> Trace {
    let folder = tempfile::tempdir().expect("there is room");
    let (live, kept) = (folder.path().join("live"), folder.path().join("kept"));
    let head = Head::new(&DiskSpec::unlimited(32 * MIB));
    let writer = Writer::create(&live, 1_000, &head).expect("a new file");
    let begin = monotonic_ns();
    for (index, (kind, offset, length)) in requests.iter().enumerate() {
        let time_ns = begin + index as u64 * 1_000_000;
        for (_, label) in marks.iter().filter(|(at, _)| *at == index) {
            writer.mark(time_ns, label);
        }
        writer.record(&Request {
            time_ns,
            offset: *offset,
            length: *length,
            kind: *kind,
            latency_ns: 1_000,
            in_flight: 1,
            lateness_ns: 0,
        });
    }
    drop(writer);
    finish(&live, &kept, &[map(begin)]).expect("the requests can be kept");
    Trace::open(&kept).expect("what was kept can be read")
}

fn colour(canvas: &Canvas, x: usize, y: usize) -> [u8; 3] {
    PALETTE[usize::from(canvas.pixels[y * canvas.width + x])]
}

#[test]
fn every_access_is_at_its_place_in_its_file() {
    // The first kilobytes, the moved half, and the journal twice.
    let trace = trace(
        &[
            (Kind::Read, MIB, 4096),
            (Kind::Read, 16 * MIB, 4096),
            (Kind::Write, 8 * MIB + 512 * 1024, 4096),
            (Kind::Flush, 0, 0),
            (Kind::Write, 8 * MIB + 512 * 1024, 4096),
            (Kind::Read, 30 * MIB, 4096),
        ],
        &[],
    );
    let accesses = Accesses::of(&trace, &Selection::default()).expect("four are known");
    let parts: Vec<(&str, u64, u64)> =
        accesses.files.iter().map(|file| (file.path.as_str(), file.size, file.accesses)).collect();
    let expected = [("data/collection.wt", 4 * MIB, 2), ("data/journal", MIB, 2)];
    assert_eq!(parts, expected);

    // 5 MiB on 64 × 64 cells are 1,280 bytes a cell, in whole sectors 1,536; a row is 96 KiB.
    let layout = Layout::of(&accesses, 128);
    assert_eq!((layout.columns, layout.cell_bytes), (64, 1536));
    assert_eq!(layout.blocks[0].rows, 43);
    assert_eq!(layout.blocks[1].rows, 11);
    let picture = heat(&accesses, &layout);
    assert_eq!((picture.width, picture.height), (128, layout.height));
    let at = |file: usize, offset: u64| {
        let cell = (offset / 1536) as usize;
        let y = layout.blocks[file].y + cell / 64 * 2;
        colour(&picture, cell % 64 * 2, y)
    };
    // One access of two at most is in the middle of the logarithmic scale, two are at its end.
    assert_ne!(at(0, 0), EMPTY);
    assert_eq!(at(0, 0), at(0, 2 * MIB));
    assert_ne!(at(0, 0), BLUE);
    assert_eq!(at(0, 4096 + 1536), EMPTY);
    assert_eq!(at(1, 512 * 1024), ORANGE);
    assert_eq!(at(1, 0), EMPTY);
}

#[test]
fn a_still_says_that_it_hides_the_less_frequent_kind_where_it_does() {
    const FAINT: [u8; 3] = [107, 114, 128];
    let faint = |written_at: u64| {
        let requests =
            [(Kind::Read, MIB, 4096), (Kind::Read, MIB, 4096), (Kind::Write, written_at, 4096)];
        let accesses = Accesses::of(&trace(&requests, &[]), &Selection::default());
        let accesses = accesses.expect("all are known");
        let picture = heat(&accesses, &Layout::of(&accesses, 640));
        let words = &picture.pixels[..picture.width * 32];
        let is_faint = |pixel: &&u8| PALETTE[usize::from(**pixel)] == FAINT;
        words.iter().filter(is_faint).count()
    };
    assert!(faint(MIB) > faint(2 * MIB) + 200);
}

#[test]
fn what_is_selected_is_what_is_drawn() {
    let requests = [
        (Kind::Write, MIB, 4096),
        (Kind::Read, MIB + 4096, 4096),
        (Kind::Read, 8 * MIB, 4096),
        (Kind::Write, 8 * MIB, 4096),
    ];
    let trace = trace(&requests, &[(0, "load"), (1, "reads: measuring"), (3, "over")]);
    let count =
        |selection: Selection| Accesses::of(&trace, &selection).map(|found| found.all.len());
    let all = Selection::default;
    assert_eq!(count(all()).ok(), Some(4));
    let measuring = Selection { mark: Some("measuring".into()), ..all() };
    assert_eq!(count(measuring.clone()).ok(), Some(2));
    let writes = Selection { writes: Some(true), ..all() };
    assert_eq!(count(writes).ok(), Some(2));
    let journal = Selection { files: vec!["journal".into()], ..measuring.clone() };
    assert_eq!(count(journal).ok(), Some(1));
    let late = Selection { from_ns: Some(2_000_000), to_ns: Some(3_000_000), ..all() };
    assert_eq!(count(late).ok(), Some(1));
    let none = Selection { writes: Some(true), ..measuring };
    let error = count(none).expect_err("no write was measured").to_string();
    assert_eq!(
        error,
        "no request of the trace lies in that span of time and is a write to a known file; it holds 4 requests in 0.003 s, and these \
         marks: `load`, `reads: measuring`, `over`"
    );
}

#[test]
fn a_trace_without_maps_says_so() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("live");
    let head = Head::new(&DiskSpec::unlimited(MIB));
    drop(Writer::create(&path, 10, &head).expect("a new file"));
    let trace = Trace::open(&path).expect("it can be read");
    let result = Accesses::of(&trace, &Selection::default());
    assert!(matches!(result, Err(DiskmapError::NoMaps)));
}

fn frames(animation: Animation<'_>) -> Vec<Canvas> {
    animation.collect()
}

#[test]
fn animations_show_each_access_once_and_can_be_read_back() {
    let requests: Vec<(Kind, u64, u32)> =
        (0..10).map(|index| (Kind::Read, MIB + index * 64 * 1024, 4096)).collect();
    let trace = trace(&requests, &[]);
    let accesses = Accesses::of(&trace, &Selection::default()).expect("all are known");
    let layout = Layout::of(&accesses, 256);
    let of_five = frames(animation(&accesses, &layout, 5));
    assert_eq!(of_five.len(), 5);
    // More frames than accesses would show nothing in some.
    assert_eq!(animation(&accesses, &layout, 1_000).frames(), 10);
    let now = |canvas: &Canvas| {
        let blue = PALETTE.iter().position(|colour| *colour == BLUE);
        let blue = u8::try_from(blue.expect("it is in the palette")).expect("it is small");
        let y = layout.blocks[0].y;
        canvas.pixels[y * canvas.width..].iter().filter(|pixel| **pixel == blue).count()
    };
    for frame in &of_five {
        assert!(now(frame) > 0);
    }
    assert_ne!(of_five[0], of_five[4]);

    let mut bytes = Vec::new();
    write_animated_png(&mut bytes, animation(&accesses, &layout, 5), 10).expect("into memory");
    let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().expect("a PNG");
    let control = reader.info().animation_control.expect("it is animated");
    assert_eq!(control.num_frames, 5);
    let mut buffer = vec![0; reader.output_buffer_size().expect("it is small")];
    for frame in &of_five {
        reader.next_frame(&mut buffer).expect("five frames");
        assert!(buffer == frame.pixels);
    }

    let mut bytes = Vec::new();
    write_gif(&mut bytes, animation(&accesses, &layout, 5), 10).expect("into memory");
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::Indexed);
    let mut reader = options.read_info(std::io::Cursor::new(&bytes)).expect("a GIF");
    let mut screen = vec![0; layout.width * layout.height];
    for frame in &of_five {
        let read = reader.read_next_frame().expect("it can be read").expect("five frames");
        for (pixel, new) in screen.iter_mut().zip(read.buffer.iter()) {
            if Some(*new) != read.transparent {
                *pixel = *new;
            }
        }
        assert!(screen == frame.pixels);
    }
    assert!(reader.read_next_frame().expect("its end").is_none());
}

#[test]
fn a_still_is_a_png_of_its_size() {
    let trace = trace(&[(Kind::Write, MIB, 65_536)], &[]);
    let accesses = Accesses::of(&trace, &Selection::default()).expect("it is known");
    let layout = Layout::of(&accesses, 300);
    let picture = heat(&accesses, &layout);
    let mut bytes = Vec::new();
    write_png(&mut bytes, &picture).expect("into memory");
    let reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().expect("a PNG");
    let size = (reader.info().width as usize, reader.info().height as usize);
    assert_eq!(size, (picture.width, picture.height));
    assert!(reader.info().animation_control.is_none());
}
