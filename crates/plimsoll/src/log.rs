//! The log: what this program does, to the standard error for those who ask, and of each experiment into a file beside the store.

use crate::arguments::{Arguments, Command};
use crate::screen;
use plimsoll_record::files::OwnFolder;
use plimsoll_record::redact::redact;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::{MakeWriter, layer};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// The crates of this program. Others may log what is in addresses.
const OURS: &str = "plimsoll";

/// The log of this process.
#[derive(Clone, Debug)]
pub struct Log {
    file: LogFile,
    /// Whether anything goes to the standard error.
    pub is_shown: bool,
}

/// Begins to log. Of an experiment that runs, everything but slices is kept, until it is known which one it is.
pub fn begin(arguments: &Arguments) -> Log {
    let shown = match &arguments.log {
        // These have no terminal, and what they log goes to the program that started them.
        _ if arguments.command.is_hidden() => Targets::new(),
        // A level alone is meant for this program, not for its libraries.
        Some(levels) => match levels.default_level() {
            Some(level) => Targets::new()
                .with_target(OURS, level)
                .with_targets(levels.clone())
                .with_default(LevelFilter::OFF),
            None => levels.clone(),
        },
        None => Targets::new().with_target(
            OURS,
            match arguments.verbose {
                0 => LevelFilter::OFF,
                1 => LevelFilter::INFO,
                2 => LevelFilter::DEBUG,
                _ => LevelFilter::TRACE,
            },
        ),
    };
    let kept = match arguments.command {
        Command::Run(_) | Command::Gate(_) => LevelFilter::DEBUG,
        _ => LevelFilter::OFF,
    };
    let log = Log {
        file: LogFile::default(),
        is_shown: shown.iter().any(|(_, level)| level != LevelFilter::OFF),
    };
    if !log.is_shown && kept == LevelFilter::OFF {
        return log;
    }
    tracing_subscriber::registry()
        .with(layer().with_ansi(false).with_writer(|| ErrorLines).with_filter(shown))
        .with(
            layer()
                .with_ansi(false)
                .with_writer(log.file.clone())
                .with_filter(Targets::new().with_target(OURS, kept)),
        )
        .init();
    log
}

impl Log {
    /// Appends everything so far and from now on to the file of an experiment: `logs/ID.log` beside the store.
    pub fn keep(&self, folder: &Path, id: &str) -> io::Result<PathBuf> {
        let folder = OwnFolder::make(folder)?;
        let name = format!("{id}.log");
        let mut file = folder.open(name.as_ref())?;
        file.seek(SeekFrom::End(0))?;
        let mut kept = self.file.lock();
        if let LogTarget::InMemory(lines) = &*kept {
            file.write_all(lines)?;
        }
        *kept = LogTarget::InFile(file);
        Ok(folder.path().join(name))
    }
}

/// Lines on the standard error, in which nothing is obeyed by a terminal.
struct ErrorLines;

impl Write for ErrorLines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        screen::tell(redact(String::from_utf8_lossy(line).trim_end()));
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Where the lines of an experiment go.
#[derive(Clone, Debug, Default)]
struct LogFile(Arc<Mutex<LogTarget>>);

#[derive(Debug)]
enum LogTarget {
    /// It is not known yet which experiment it is.
    InMemory(Vec<u8>),
    InFile(File),
}

impl Default for LogTarget {
    fn default() -> Self {
        Self::InMemory(Vec::new())
    }
}

impl LogFile {
    fn lock(&self) -> MutexGuard<'_, LogTarget> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for LogFile {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = redact(&String::from_utf8_lossy(line));
        match &mut *self.lock() {
            LogTarget::InMemory(lines) => lines.extend_from_slice(text.as_bytes()),
            LogTarget::InFile(file) => file.write_all(text.as_bytes())?,
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for LogFile {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
