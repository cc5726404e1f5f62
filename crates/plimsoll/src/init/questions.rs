//! Questions on a terminal: lines of text and numbers, which every terminal and every screen reader can do.

use crate::screen::tell;
use std::io::{self, IsTerminal};

/// Whether a person can answer.
pub fn somebody_is_there() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// One of several, by its number; an empty line takes the first. Asks again until the answer is one of them.
pub fn choose<T: Clone>(question: &str, choices: &[(T, String)]) -> io::Result<T> {
    choose_or(question, choices, |_| None)
}

/// One of several by its number, or something else that `other` understands.
pub fn choose_or<T: Clone>(
    question: &str,
    choices: &[(T, String)],
    other: impl Fn(&str) -> Option<T>,
) -> io::Result<T> {
    loop {
        tell(format_args!("\n{question}"));
        for (number, (_, words)) in choices.iter().enumerate() {
            tell(format_args!("  {}  {words}", number + 1));
        }
        let line = line("1")?;
        let chosen = line.parse::<usize>().ok();
        let chosen = chosen.and_then(|number| choices.get(number.checked_sub(1)?));
        let chosen = chosen.map(|(choice, _)| choice.clone());
        match chosen.or_else(|| other(&line)) {
            Some(choice) => return Ok(choice),
            None => tell(format_args!(
                "`{line}` is none of them: type a number from 1 to {}",
                choices.len()
            )),
        }
    }
}

/// Words of one's own; an empty line takes the usual ones. Asks again until `read` understands them.
pub fn ask<T>(
    question: &str,
    usual: &str,
    read: impl Fn(&str) -> Result<T, String>,
) -> io::Result<T> {
    loop {
        tell(format_args!("\n{question}"));
        match read(&line(usual)?) {
            Ok(answer) => return Ok(answer),
            Err(why) => tell(why),
        }
    }
}

/// What is typed, or the usual answer. The end of the input, by Ctrl-D, is an answer too: no more questions.
fn line(usual: &str) -> io::Result<String> {
    tell(format_args!("[{usual}] >"));
    let mut line = String::new();
    if io::stdin().read_line(&mut line)? == 0 {
        return Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "the input ended before every question was answered",
        ));
    }
    let line = line.trim();
    Ok(if line.is_empty() { usual } else { line }.to_owned())
}
