//! `plimsoll imitate`: an experiment file from a running MongoDB.

mod check;

use crate::arguments;
use crate::exit::Exit;
use crate::log::Log;
use crate::rig::Rigs;
use crate::screen::{print, tell};
use anyhow::Context;
use plimsoll_imitate::{Request, observe, rename, write};
use plimsoll_record::files::write_whole;
use std::path::Path;
use std::time::Duration;

/// The scales that a file has room for.
const SCALES: std::ops::RangeInclusive<f64> = 0.000_001..=10.0;

pub fn imitate(
    arguments: &arguments::Imitate,
    store: Option<&Path>,
    rigs: Rigs,
    log: &Log,
) -> anyhow::Result<Exit> {
    if let Some(file) = arguments.output.as_ref().filter(|file| file.exists()) {
        tell(format_args!("{} already exists: name another file", file.display()));
        return Ok(Exit::Usage);
    }
    if arguments.scale.is_some_and(|scale| !SCALES.contains(&scale)) {
        tell("--scale is a share from 0.0001% to 1000%");
        return Ok(Exit::Usage);
    }
    let request = Request {
        uri: &arguments.uri,
        database: arguments.database.as_deref(),
        log: arguments.server_log.as_deref(),
        watch: Duration::from_nanos(arguments.watch),
    };
    let mut observed = observe(&request, &mut |line| tell(line))?;
    let omitted = observed
        .collections
        .iter()
        .flat_map(|stored| stored.omitted.iter().map(move |why| format!("{}, {why}", stored.name)));
    for why in observed.omitted.iter().cloned().chain(omitted) {
        tell(format_args!("left out: {why}"));
    }
    if let Some(file) = &arguments.check {
        return check::check(file, &observed, store, rigs, log);
    }
    if arguments.rename {
        rename(&mut observed);
    }
    let text = write(&observed, arguments.scale);
    match &arguments.output {
        Some(file) => {
            write_whole(file, text.as_bytes())
                .with_context(|| format!("cannot write {}", file.display()))?;
            tell(format_args!("Next: plimsoll plan {} --documents", file.display()));
        }
        None => print(text)?,
    }
    Ok(Exit::Good)
}
