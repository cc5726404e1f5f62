//! What this terminal can show, and the one place that writes to it.

use indicatif::{ProgressBar, ProgressStyle};
use plimsoll_record::redact::{lines, visible};
use plimsoll_report::terminal::Screen;
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};

/// Columns that tables may take: of the terminal, or what suits a file.
const COLUMNS_OF_A_FILE: usize = 100;

/// The screen behind the standard output.
pub fn screen() -> Screen {
    Screen { width: columns(), unicode: knows_unicode() }
}

/// Writes a result to the standard output. Nothing in it is obeyed by a terminal: names, messages and paths may come from strangers. A reader that
/// went away, as `head` does, wanted no more, which is no failure; a full disk is.
pub fn print(text: impl Display) -> io::Result<()> {
    written(io::stdout(), &lines(&text.to_string()))
}

/// The same for one of many lines. Returns whether there still is a reader.
pub fn print_one(text: impl Display) -> io::Result<bool> {
    is_read(io::stdout(), &lines(&text.to_string()))
}

/// As [`print()`], for what `report` drew, which has made foreign text harmless and coloured its own: colours are let through, where they are wanted, and nothing
/// else.
pub fn print_drawn(text: &str) -> io::Result<()> {
    written(anstream::stdout(), &drawn(text))
}

/// Writes a result as JSON. What a terminal could obey is in strings, where JSON can spell it without changing it.
pub fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(value)?;
    written(io::stdout(), &format!("{}\n", spelled(&text)))?;
    Ok(())
}

fn written(out: impl Write, text: &str) -> io::Result<()> {
    is_read(out, text).map(|_| ())
}

fn is_read(mut out: impl Write, text: &str) -> io::Result<bool> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        written => written.map(|()| true),
    }
}

/// A line on the standard error that is rewritten; nothing where that is no terminal.
pub fn rewritten_line() -> ProgressBar {
    let style = ProgressStyle::with_template("{msg}").expect("the template is constant");
    ProgressBar::new_spinner().with_style(style)
}

/// Writes a line about progress to the standard error, as [`print()`] does. If its reader is gone, the work continues.
pub fn tell(text: impl Display) {
    let _ = writeln!(io::stderr(), "{}", lines(&text.to_string()));
}

/// As [`print_drawn`], to the standard error.
pub fn tell_drawn(text: &str) {
    let _ = writeln!(anstream::stderr(), "{}", drawn(text));
}

/// A text in which only our own styles are obeyed.
fn drawn(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for (number, part) in text.split(ESCAPE).enumerate() {
        let style = if number > 0 { style(part) } else { "" };
        match (number, style) {
            (0, _) => {}
            (_, "") => shown.push(visible(ESCAPE)),
            (_, style) => {
                shown.push(ESCAPE);
                shown.push_str(style);
            }
        }
        shown.push_str(&lines(&part[style.len()..]));
    }
    shown
}

const ESCAPE: char = '\x1b';

/// What follows an escape character and is one of our styles: colours, bold, dim, italic and underlined, and their ends. Empty where it is something else.
fn style(text: &str) -> &str {
    let Some(end) = text.find('m').filter(|_| text.starts_with('[')) else {
        return "";
    };
    let is_ours = |number: &str| {
        matches!(number, "0" | "1" | "2" | "3" | "4" | "22" | "23" | "24" | "39")
            || (number.len() == 2 && number.starts_with(['3', '9']) && number != "38")
    };
    if text[1..end].split(';').all(is_ours) { &text[..=end] } else { "" }
}

/// JSON in which what [`visible`] replaces is spelled in ASCII.
fn spelled(json: &str) -> Cow<'_, str> {
    let is_harmless = |character| character == '\n' || visible(character) == character;
    if json.chars().all(is_harmless) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        if is_harmless(character) {
            out.push(character);
        } else {
            out.push_str(&format!("\\u{:04x}", u32::from(character)));
        }
    }
    Cow::Owned(out)
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_styles_are_obeyed() {
        for ours in [
            "\x1b[1mbold\x1b[0m",
            "\x1b[2m\x1b[36ma\x1b[0m",
            "\x1b[31;1;4mb\x1b[39m",
            "\x1b[3ma question\x1b[0m",
        ] {
            assert_eq!(drawn(ours), ours);
        }
        for (foreign, shown) in [
            ("\x1b[2J", "␛[2J"),
            ("\x1b]0;title\x07", "␛]0;title␇"),
            ("\x1b[38;5;1mx", "␛[38;5;1mx"),
            ("\x1b[8mhidden", "␛[8mhidden"),
            ("\x1b[m", "␛[m"),
            ("\x1b", "␛"),
            ("\x1b\x1b[1m", "␛\x1b[1m"),
            ("a\rb\u{9b}2Jc", "a␍b\u{fffd}2Jc"),
        ] {
            assert_eq!(drawn(foreign), shown);
        }
    }

    #[test]
    fn json_keeps_its_meaning() {
        let text = "a\x1b[2J\u{9b}\u{7f}\u{202e}é\n";
        let json = serde_json::to_string_pretty(&[text]).unwrap();
        let shown = spelled(&json);
        assert!(shown.chars().all(|c| c == '\n' || visible(c) == c), "{shown}");
        assert_eq!(serde_json::from_str::<[String; 1]>(&shown).unwrap(), [text]);
    }
}
