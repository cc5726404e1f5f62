//! What the program says of itself: schema, reference, completions, manual page. All from the definitions that it runs by.

use crate::arguments::{self, Arguments};
use crate::exit::Exit;
use crate::screen::print;
use clap_complete::Shell;
use plimsoll_experiment::{reference_markdown, schema_text};

pub fn schema(arguments: &arguments::Schema) -> anyhow::Result<Exit> {
    let engines = plimsoll_engine::kinds();
    let text = if arguments.reference { reference_markdown(engines) } else { schema_text(engines) };
    print(text)?;
    Ok(Exit::Good)
}

pub fn completions(shell: Shell) -> anyhow::Result<Exit> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::described(), "plimsoll", &mut text);
    print(String::from_utf8(text)?)?;
    Ok(Exit::Good)
}

pub fn man() -> anyhow::Result<Exit> {
    let mut text = Vec::new();
    let command = Arguments::described();
    clap_mangen::Man::new(command.clone()).render(&mut text)?;
    let mut text = String::from_utf8(text)?;
    // There is this one page: commands are named as they are called, and have their help.
    for name in command.get_subcommands().map(clap::Command::get_name).chain(["help"]) {
        text = text.replace(&format!("plimsoll\\-{name}(1)"), &format!("plimsoll {name}"));
    }
    print(text)?;
    Ok(Exit::Good)
}
