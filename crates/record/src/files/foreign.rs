//! Reading files that others may have placed.

use crate::files::{Refusal, kind};
use rustix::fs::{FileType, Mode, OFlags, fcntl_getfl, fcntl_setfl, fstat, open as open_at};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Opens a regular file for reading.
///
/// What the caller of the program opened for it is read whatever it is: `/dev/stdin`, and what a shell puts in the place of `<(…)`. Nothing else
/// but a regular file is opened, so that nothing can keep the program waiting.
///
/// # Errors
/// [`Refusal::Unreadable`], or what the operating system says.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = open_at(path, flags, Mode::empty())?;
    let found = FileType::from_raw_mode(fstat(&file)?.st_mode);
    if found != FileType::RegularFile {
        if found == FileType::Directory || !is_open_already(path) {
            let advice = match found {
                FileType::Fifo => ": give what is written into it as /dev/stdin",
                _ => "",
            };
            let kind = kind(found);
            return Err(Refusal::Unreadable { kind, advice }.into());
        }
        fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    }
    Ok(file.into())
}

/// Whether a path names a descriptor of this process, which it has from its caller.
fn is_open_already(path: &Path) -> bool {
    let Some(path) = path.to_str() else {
        return false;
    };
    let number = path.strip_prefix("/dev/fd/").or_else(|| path.strip_prefix("/proc/self/fd/"));
    path == "/dev/stdin"
        || number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// All of a file that [`open`] opens.
///
/// # Errors
/// As [`open`]; [`Refusal::TooLarge`] where it has more than this many bytes.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let length = file.metadata()?.len();
    if length > most {
        return Err(Refusal::TooLarge { most }.into());
    }
    let mut bytes = Vec::new();
    // The length of a pipe or device is 0, and a file may grow meanwhile.
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(Refusal::TooLarge { most }.into());
    }
    Ok(bytes)
}

/// All of a text file that [`open`] opens.
///
/// # Errors
/// As [`read`]; [`io::ErrorKind::InvalidData`] where it is not UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read(path, most)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsRawFd;

    fn refusal(path: &Path) -> String {
        let error = read(path, 1 << 20).unwrap_err();
        assert!(error.get_ref().is_some_and(|inner| inner.is::<Refusal>()));
        error.to_string()
    }

    #[test]
    fn what_would_keep_a_reader_waiting_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, FileType::Fifo, Mode::RWXU, 0).unwrap();
        let shown = refusal(&fifo);
        assert!(shown.starts_with("it is a FIFO, not a regular file"), "{shown}");
        assert!(refusal(Path::new("/dev/zero")).contains("is a character device"));
        assert!(refusal(folder.path()).contains("is a directory"));
    }

    #[test]
    fn a_file_that_is_too_large_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        File::create(&path).unwrap().set_len((1 << 20) + 1).unwrap();
        assert!(refusal(&path).contains("has more than 1 MiB"));
        File::create(&path).unwrap().set_len(1 << 20).unwrap();
        assert_eq!(read(&path, 1 << 20).unwrap().len(), 1 << 20);
    }

    #[test]
    fn a_pipe_that_is_open_already_is_read_to_its_end_or_to_the_limit() {
        let (reader, mut writer) = io::pipe().unwrap();
        let path = format!("/dev/fd/{}", reader.as_raw_fd());
        let text = std::thread::scope(|scope| {
            // Waits for its writer, as every reader of a pipe does.
            let text = scope.spawn(|| read_text(Path::new(&path), 1 << 20));
            writer.write_all(b"one").unwrap();
            writer.write_all(b" two").unwrap();
            drop(writer);
            text.join().unwrap()
        });
        assert_eq!(text.unwrap(), "one two");
        let zero = File::open("/dev/zero").unwrap();
        let path = format!("/proc/self/fd/{}", zero.as_raw_fd());
        assert!(refusal(Path::new(&path)).contains("has more than 1 MiB"));
    }
}
