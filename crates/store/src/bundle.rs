//! One file that holds an experiment with all that belongs to it: anybody can open it, verify it, and run it again.
//!
//! ```text
//! record, page, analysis ─► write ─► NAME.plimsoll ─► read ─► Bundle {manifest, record}, every file verified
//! ```
//!
//! A bundle is a ZIP archive. `manifest.json` lists each file with its SHA-256; the others are `experiment.yaml`, which the record holds to the letter, `record.json`,
//! `analysis.json`, `page.html`, `README.txt`, and `maps.json` where the page has disk maps. A small one has neither analysis nor page, which
//! follow from the record, and that as `record.json.zst`, in two thirds of what an archive makes of it. The same record makes the same bundle, byte for byte, but for the
//! program that wrote it, and for maps whose traces are gone by then. Nothing is unpacked to a disk here, and no more is read than a bundle may hold.

use plimsoll_plan::{sha256, sha256_of};
use plimsoll_record::{ExperimentRecord, FormatError, Program};
use serde::{Deserialize, Serialize};
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::path::Path;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// What the names of bundles end with.
pub const EXTENSION: &str = "plimsoll";
/// 2 of a small one, 1 of the others, which earlier programs read as well.
pub const BUNDLE_VERSION: u32 = 2;

/// The list of all others.
const MANIFEST: &str = "manifest.json";
const EXPERIMENT: &str = "experiment.yaml";
const RECORD: &str = "record.json";
const ANALYSIS: &str = "analysis.json";
const PAGE: &str = "page.html";
const MAPS: &str = "maps.json";
const README: &str = "README.txt";
/// What the name of a file that is compressed by itself ends with, and how much is tried for that: seconds for 10 MB.
const COMPRESSED: &str = ".zst";
const COMPRESSION: i32 = 19;
/// Bytes of a manifest, of a record, of another file that is kept in memory, and of all files together, at most.
const LARGEST_MANIFEST: u64 = 1 << 20;
const LARGEST_RECORD: u64 = 256 << 20;
const LARGEST_TEXT: u64 = 64 << 20;
const LARGEST: u64 = 2 << 30;
const MOST_FILES: u16 = 100;
/// Bytes of the end record of an archive without a comment.
const END_RECORD: u64 = 22;

/// What a bundle says of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// At most [`BUNDLE_VERSION`] of the program that wrote it.
    pub plimsoll_bundle: u32,
    pub id: String,
    pub name: String,
    /// When it was begun, UTC, RFC 3339.
    pub started_at: String,
    pub program: Program,
    /// The machine that was measured on.
    pub machine: String,
    /// The program that wrote the bundle, and so its analysis and its page.
    pub bundled_by: Program,
    pub files: Vec<Listed>,
}

/// A file of a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    pub name: String,
    pub bytes: u64,
    pub sha256: String,
}

/// A bundle that was read, every file as its manifest says.
#[derive(Clone, Debug)]
pub struct Bundle {
    /// What it says of itself.
    pub manifest: Manifest,
    pub record: ExperimentRecord,
    /// The disk maps of the page as JSON, which a page that is made again shows too: the traces behind them stay on the machine that measured.
    pub maps: Option<String>,
}

/// Why a file cannot be used as a bundle.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    #[error("cannot read it: {0}")]
    Read(#[from] io::Error),
    /// It is no archive, or a damaged one.
    #[error("it is no bundle, or a damaged one ({0}): get it again from where it came from")]
    Archive(String),
    /// Written by a later program.
    #[error("it has version {found}, this program reads up to {BUNDLE_VERSION}: update plimsoll")]
    Newer { found: u64 },
    /// Something is not what the manifest says.
    #[error(
        "{name} is not what the bundle says it is ({why}): get it again from where it came from"
    )]
    Differs { name: String, why: String },
    /// What it holds as a record is none.
    #[error("its record cannot be used: {0}")]
    Record(#[from] FormatError),
}

impl From<ZipError> for BundleError {
    fn from(error: ZipError) -> Self {
        match error {
            ZipError::Io(error) => Self::Read(error),
            other => Self::Archive(other.to_string()),
        }
    }
}

/// Whether a path is that of a bundle, by its name.
pub fn is_bundle(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == EXTENSION)
}

/// What follows from a record.
#[derive(Clone, Copy, Debug)]
pub struct Derived<'a> {
    /// The analysis as JSON.
    pub analysis: &'a str,
    pub page: &'a str,
}

/// Writes a bundle of a record: a small one where nothing derived is given. `maps` are its disk maps as JSON, where there are any.
pub fn write(
    record: &ExperimentRecord,
    derived: Option<Derived<'_>>,
    maps: Option<&str>,
    bundled_by: Program,
    out: impl Write + Seek,
) -> io::Result<()> {
    let json = serde_json::to_string(record)?;
    let (readme, compressed) = (readme(record, derived.is_none()), format!("{RECORD}{COMPRESSED}"));
    let mut files = vec![(README, readme.into_bytes())];
    // What was imported has none.
    if !record.file_text.is_empty() {
        files.push((EXPERIMENT, record.file_text.clone().into_bytes()));
    }
    match derived {
        Some(Derived { analysis, page }) => files.extend([
            (PAGE, page.into()),
            (RECORD, json.into_bytes()),
            (ANALYSIS, analysis.into()),
        ]),
        None => files.push((&compressed, zstd::bulk::compress(json.as_bytes(), COMPRESSION)?)),
    }
    files.extend(maps.map(|maps| (MAPS, maps.into())));
    let manifest = Manifest {
        plimsoll_bundle: if derived.is_some() { 1 } else { BUNDLE_VERSION },
        id: record.id.clone(),
        name: record.name.clone(),
        started_at: record.started_at.clone(),
        program: record.program.clone(),
        machine: record.machine.fingerprint(),
        bundled_by,
        files: files
            .iter()
            .map(|(name, bytes)| Listed {
                name: (*name).to_owned(),
                bytes: bytes.len() as u64,
                sha256: sha256(bytes),
            })
            .collect(),
    };
    let manifest = serde_json::to_string_pretty(&manifest)?;
    let mut archive = ZipWriter::new(out);
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .unix_permissions(0o644);
    for (name, bytes) in [(MANIFEST, manifest.into_bytes())].into_iter().chain(files) {
        archive.start_file(name, options).map_err(io::Error::other)?;
        archive.write_all(&bytes)?;
    }
    archive.finish().map_err(io::Error::other)?.flush()
}

/// For somebody who has this file and nothing else.
fn readme(record: &ExperimentRecord, is_small: bool) -> String {
    let again = match record.file_text.is_empty() {
        true => "its figures were imported from the output of another tool",
        false => "    plimsoll run FILE.plimsoll        measures it again here, a gate as a gate",
    };
    let (result, page) = match is_small {
        false => (
            "    page.html                         its result; any browser opens it
    record.json, analysis.json        what was measured, and what follows from it",
            "",
        ),
        true => (
            "    record.json.zst                   what was measured, compressed with zstd",
            ", with --page PAGE.html as a page",
        ),
    };
    format!(
        "\
An experiment of Plimsoll, a database benchmark laboratory: {} ({}).

{result}
    experiment.yaml                   the experiment file
    maps.json                         where on the disk, if that was traced
    manifest.json                     the SHA-256 of each file

    plimsoll report FILE.plimsoll     verifies all of it and prints the result{page}
{again}
",
        record.name, record.id
    )
}

/// Reads a bundle and verifies every file of it.
pub fn read(path: &Path) -> Result<Bundle, BundleError> {
    read_from(plimsoll_record::files::open(path)?, LARGEST)
}

/// Reads a bundle that came over a network, of files of no more than `most` bytes in all, and verifies every file of it.
pub fn read_bytes(bytes: &[u8], most: u64) -> Result<Bundle, BundleError> {
    read_from(Cursor::new(bytes), most)
}

/// Looks at the two ends of an archive before anything searches in it: it begins with a file, and its only end record is the last of it, so that every program
/// that reads archives finds the same files. Returns how many it lists.
fn entries(source: &mut (impl Read + Seek)) -> Result<u16, BundleError> {
    let odd = |why: &str| BundleError::Archive(why.into());
    let length = source.seek(SeekFrom::End(0))?;
    let directory_end = length.checked_sub(END_RECORD).ok_or_else(|| odd("too short"))?;
    let mut first = [0; 4];
    source.rewind()?;
    source.read_exact(&mut first)?;
    if first != *b"PK\x03\x04" {
        return Err(odd("it does not begin as an archive does"));
    }
    let mut end = [0; END_RECORD as usize];
    source.seek(SeekFrom::Start(directory_end))?;
    source.read_exact(&mut end)?;
    let short = |at: usize| u16::from_le_bytes([end[at], end[at + 1]]);
    let long = |at: usize| u64::from(short(at)) | u64::from(short(at + 2)) << 16;
    if end[..4] != *b"PK\x05\x06" || short(20) != 0 {
        return Err(odd("it does not end as an archive does"));
    }
    let count = short(10);
    if short(4) != 0 || short(6) != 0 || short(8) != count || count > MOST_FILES {
        return Err(odd("it has too many files or parts"));
    }
    if long(16) + long(12) != directory_end {
        return Err(odd("its list of files is not where it should be"));
    }
    source.rewind()?;
    Ok(count)
}

fn read_from(mut source: impl Read + Seek, most: u64) -> Result<Bundle, BundleError> {
    let count = entries(&mut source)?;
    let mut archive = ZipArchive::new(source)?;
    if archive.len() != usize::from(count) {
        return Err(BundleError::Archive("two files of one name".into()));
    }
    let manifest = bytes_of(&mut archive, MANIFEST, LARGEST_MANIFEST)?;
    let manifest: serde_json::Value =
        serde_json::from_slice(&manifest).map_err(|why| BundleError::Archive(why.to_string()))?;
    let version = manifest["plimsoll_bundle"].as_u64();
    let version = version.ok_or_else(|| BundleError::Archive("no version".into()))?;
    if version > u64::from(BUNDLE_VERSION) {
        return Err(BundleError::Newer { found: version });
    }
    let manifest: Manifest =
        serde_json::from_value(manifest).map_err(|why| BundleError::Archive(why.to_string()))?;
    let (mut record, mut maps, mut experiment) = (None, None, None);
    let mut left = most;
    for listed in &manifest.files {
        let differs = |why: String| BundleError::Differs { name: listed.name.clone(), why };
        if listed.bytes > left {
            return Err(BundleError::Archive(format!(
                "with {} its files have more than the {left} bytes that may still come",
                listed.name
            )));
        }
        left -= listed.bytes;
        let kept = match listed.name.as_str() {
            name if is_record(name) => Some(bytes_of(&mut archive, name, LARGEST_RECORD)?),
            name @ (MAPS | EXPERIMENT) => Some(bytes_of(&mut archive, name, LARGEST_TEXT)?),
            _ => None,
        };
        let (hash, bytes) = match &kept {
            Some(kept) => (sha256(kept), kept.len() as u64),
            // Only its hash is of use here.
            None => sha256_of(archive.by_name(&listed.name)?.take(listed.bytes + 1))?,
        };
        if bytes != listed.bytes {
            let expected = listed.bytes;
            return Err(differs(format!("{bytes} bytes, {expected} expected")));
        }
        if hash != listed.sha256 {
            return Err(differs("another SHA-256".into()));
        }
        let kept = kept.unwrap_or_default();
        if is_record(&listed.name) && record.is_some() {
            return Err(BundleError::Archive("two records".into()));
        }
        match listed.name.as_str() {
            RECORD => record = Some(ExperimentRecord::from_json(&text(RECORD, kept)?)?),
            MAPS => maps = Some(text(MAPS, kept)?),
            EXPERIMENT => experiment = Some(text(EXPERIMENT, kept)?),
            name if is_record(name) => {
                let most = LARGEST_RECORD.min(left);
                let mut whole = Vec::new();
                let decoder = zstd::Decoder::new(kept.as_slice())?;
                decoder.take(most + 1).read_to_end(&mut whole)?;
                no_more_than(most, name, &whole)?;
                left -= whole.len() as u64;
                record = Some(ExperimentRecord::from_json(&text(name, whole)?)?);
            }
            _ => {}
        }
    }
    if archive.len() != manifest.files.len() + 1 {
        return Err(BundleError::Archive("files that its manifest does not list".into()));
    }
    let record = record.ok_or_else(|| BundleError::Archive(format!("no {RECORD}")))?;
    let differs = |name: &str, why: String| {
        let name = name.into();
        Err(BundleError::Differs { name, why })
    };
    if record.id != manifest.id {
        return differs(RECORD, format!("it is experiment {}", record.id));
    }
    let of_record = (&record.name, &record.started_at, &record.program);
    if of_record != (&manifest.name, &manifest.started_at, &manifest.program) {
        return differs(MANIFEST, "its record has another name, begin or program".into());
    }
    // What is shown is what is run.
    if experiment.unwrap_or_default() != record.file_text {
        return differs(EXPERIMENT, "its record holds another file".into());
    }
    Ok(Bundle { manifest, record, maps })
}

/// Whether a file is the record, compressed by itself or not.
fn is_record(name: &str) -> bool {
    name.strip_suffix(COMPRESSED).unwrap_or(name) == RECORD
}

/// A file, no longer than it may be.
fn bytes_of(
    archive: &mut ZipArchive<impl Read + Seek>,
    name: &str,
    most: u64,
) -> Result<Vec<u8>, BundleError> {
    let file = archive.by_name(name)?;
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    no_more_than(most, name, &bytes)?;
    Ok(bytes)
}

fn no_more_than(most: u64, name: &str, bytes: &[u8]) -> Result<(), BundleError> {
    if bytes.len() as u64 > most {
        return Err(BundleError::Archive(format!(
            "with {name} its files have more than the {most} bytes that may still come"
        )));
    }
    Ok(())
}

fn text(name: &str, bytes: Vec<u8>) -> Result<String, BundleError> {
    String::from_utf8(bytes)
        .map_err(|why| BundleError::Differs { name: name.into(), why: why.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_testing::assert_contains;

    fn experiment() -> ExperimentRecord {
        ExperimentRecord {
            plimsoll_record: plimsoll_record::RECORD_VERSION,
            id: "k3f9q".into(),
            name: "quickstart".into(),
            file_text: "plimsoll: 1\n".into(),
            ..ExperimentRecord::default()
        }
    }

    fn program() -> Program {
        Program { version: "0.1.0".into(), commit: "abc".into() }
    }

    fn bundled(small: bool) -> Vec<u8> {
        let mut out = Cursor::new(Vec::new());
        let derived = (!small).then_some(Derived { analysis: "{}", page: "<p>" });
        write(&experiment(), derived, Some("[]"), program(), &mut out).unwrap();
        out.into_inner()
    }

    fn bundle() -> Vec<u8> {
        bundled(false)
    }

    fn refused(bytes: Vec<u8>) -> String {
        read_bytes(&bytes, LARGEST).unwrap_err().to_string()
    }

    /// The same archive with other texts, and without what is `None`.
    fn changed(bytes: &[u8], change: impl Fn(&str, String) -> Option<String>) -> Vec<u8> {
        let mut archive = ZipArchive::new(Cursor::new(bytes)).unwrap();
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for place in 0..archive.len() {
            let mut file = archive.by_index(place).unwrap();
            let mut text = String::new();
            file.read_to_string(&mut text).unwrap();
            let name = file.name().to_owned();
            if let Some(text) = change(&name, text) {
                writer.start_file(name, SimpleFileOptions::default()).unwrap();
                writer.write_all(text.as_bytes()).unwrap();
            }
        }
        writer.finish().unwrap().into_inner()
    }

    #[test]
    fn a_record_comes_back_with_its_file() {
        let read = read_bytes(&bundle(), LARGEST).unwrap();
        assert_eq!(read.record, experiment());
        assert_eq!(read.manifest.bundled_by, program());
        let names: Vec<&str> = read.manifest.files.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, [README, EXPERIMENT, PAGE, RECORD, ANALYSIS, MAPS]);
        assert_eq!(read.maps.as_deref(), Some("[]"));
        assert_eq!(bundle(), bundle(), "byte for byte");
    }

    #[test]
    fn a_small_one_holds_its_record_compressed_and_nothing_that_follows_from_it() {
        let small = bundled(true);
        let read = read_bytes(&small, LARGEST).unwrap();
        assert_eq!((read.record, read.manifest.plimsoll_bundle), (experiment(), 2));
        let names: Vec<&str> = read.manifest.files.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, [README, EXPERIMENT, "record.json.zst", MAPS]);
        let mut said = String::new();
        let mut files = ZipArchive::new(Cursor::new(&small)).unwrap();
        files.by_name(README).unwrap().read_to_string(&mut said).unwrap();
        assert!(!said.contains("page.html") && said.contains("record.json.zst"), "{said}");
        // What it becomes counts as well.
        let stored: u64 = read.manifest.files.iter().map(|one| one.bytes).sum();
        let error = read_bytes(&small, stored).unwrap_err().to_string();
        assert_contains(error, "with record.json.zst its files have more");
        let both = [bundled(false), small];
        let versions = both.map(|one| read_bytes(&one, LARGEST).unwrap().manifest.plimsoll_bundle);
        assert_eq!(versions, [1, 2], "earlier programs read what is not small");
    }

    #[test]
    fn a_bundle_has_one_record() {
        let second = serde_json::to_string(&experiment()).unwrap();
        let listed =
            Listed { name: RECORD.into(), bytes: second.len() as u64, sha256: sha256(&second) };
        let listed = serde_json::to_string(&listed).unwrap();
        let mut archive = ZipWriter::new_append(Cursor::new(bundled(true))).unwrap();
        archive.start_file(RECORD, SimpleFileOptions::default()).unwrap();
        archive.write_all(second.as_bytes()).unwrap();
        let both = archive.finish().unwrap().into_inner();
        let mut files = ZipArchive::new(Cursor::new(&both)).unwrap();
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for place in 0..files.len() {
            let mut file = files.by_index(place).unwrap();
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).unwrap();
            if file.name() == MANIFEST {
                let text = String::from_utf8(bytes).unwrap();
                bytes = text.replacen("\"files\": [", &format!("\"files\": [{listed},"), 1).into();
            }
            writer.start_file(file.name().to_owned(), SimpleFileOptions::default()).unwrap();
            writer.write_all(&bytes).unwrap();
        }
        assert_contains(refused(writer.finish().unwrap().into_inner()), "two records");
    }

    /// A small archive can hold much more than a machine has memory.
    #[test]
    fn no_more_is_unpacked_than_may_be() {
        let good = bundle();
        let read = read_bytes(&good, LARGEST).unwrap();
        let files = read.manifest.files.iter();
        let all: u64 = files.map(|file| file.bytes).sum();
        assert!(read_bytes(&good, all).is_ok());
        let refused = read_bytes(&good, all - 1).unwrap_err().to_string();
        // The last one is too much.
        assert_contains(refused, "maps.json");
    }

    /// Another program that reads archives must not find other files in it, and none may need a search.
    #[test]
    fn an_archive_has_one_beginning_and_one_end() {
        let good = bundle();
        let end = good.len() - END_RECORD as usize;
        let mut commented = good.clone();
        commented[end + 20] = 4;
        commented.extend(b"more");
        let mut longer = good.clone();
        longer.extend(&good[end..]);
        let mut many = good.clone();
        many[end + 8..end + 12].copy_from_slice(&[0xff; 4]);
        let prefixed = [b"MZ".to_vec(), good].concat();
        for odd in [prefixed, commented, longer, many, b"PK\x05\x06".repeat(100_000)] {
            assert_contains(refused(odd), "no bundle, or a damaged one");
        }
    }

    #[test]
    fn whatever_was_changed_is_noticed() {
        let good = bundle();
        let page =
            changed(&good, |name, text| Some(if name == PAGE { "<b>".into() } else { text }));
        assert_contains(
            refused(page),
            "page.html is not what the bundle says it is (another SHA-256)",
        );
        let longer =
            changed(&good, |name, text| Some(if name == RECORD { text + " " } else { text }));
        assert_contains(refused(longer), "record.json is not what");
        let without = changed(&good, |name, text| (name != ANALYSIS).then_some(text));
        assert_contains(refused(without), "no bundle, or a damaged one");
        let newer = changed(&good, |name, text| {
            Some(match name {
                MANIFEST => text.replace("\"plimsoll_bundle\": 1", "\"plimsoll_bundle\": 3"),
                _ => text,
            })
        });
        assert_contains(refused(newer), "update plimsoll");
        let other = changed(&good, |name, text| {
            Some(if name == MANIFEST { text.replace("k3f9q", "other") } else { text })
        });
        assert_contains(refused(other), "it is experiment k3f9q");
        let twofaced = changed(&good, |name, text| {
            let yaml = "plimsoll: 1\nname: harmless\n";
            Some(match name {
                EXPERIMENT => yaml.into(),
                MANIFEST => text
                    .replace(&sha256("plimsoll: 1\n"), &sha256(yaml))
                    .replace("\"bytes\": 12,", &format!("\"bytes\": {},", yaml.len())),
                _ => text,
            })
        });
        assert_contains(refused(twofaced), "its record holds another file");
        let renamed = changed(&good, |name, text| {
            Some(match name {
                MANIFEST => text.replace("quickstart", "filesystems"),
                _ => text,
            })
        });
        assert_contains(refused(renamed), "another name, begin or program");
        assert_contains(refused(good[..good.len() / 2].to_vec()), "no bundle");
        assert_contains(refused(b"plimsoll: 1\n".to_vec()), "no bundle");
    }
}
