//! What this terminal can show.

use plimsoll_report::terminal::Screen;
use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};

/// Columns that tables may take: of the terminal, or what suits a file.
const COLUMNS_OF_A_FILE: usize = 100;

/// The screen behind the standard output.
pub fn screen() -> Screen {
    Screen {
        width: columns(),
        unicode: knows_unicode(),
    }
}

/// Writes a result to the standard output. A reader that went away, as `head` does, wanted no more, which is no failure; a full disk is.
pub fn print(text: impl Display) -> io::Result<()> {
    let mut out = anstream::stdout();
    match write!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Columns of the terminal.
pub fn columns() -> usize {
    match terminal_size::terminal_size() {
        Some((width, _)) => usize::from(width.0).max(40),
        None => COLUMNS_OF_A_FILE,
    }
}

/// Whether the environment promises UTF-8. Files are always UTF-8.
pub fn knows_unicode() -> bool {
    if !std::io::stdout().is_terminal() && !std::io::stderr().is_terminal() {
        return true;
    }
    // The first of these that is set decides, as for every program.
    for name in ["LC_ALL", "LC_CTYPE", "LANG"] {
        if let Ok(locale) = std::env::var(name)
            && !locale.is_empty()
        {
            let locale = locale.to_ascii_lowercase();
            return locale.contains("utf-8") || locale.contains("utf8");
        }
    }
    false
}

/// Whether to colour what goes to the standard error.
pub fn colours() -> bool {
    anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never
}
