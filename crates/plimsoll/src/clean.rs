use crate::arguments;
use crate::exit::Exit;
use crate::rig::Rigs;
use crate::screen::{print, print_json, tell};
use anyhow::bail;
use plimsoll_record::redact::line;
use serde_json::json;
use std::io;

/// `plimsoll clean`: undoes what the journals say that programs had made which are gone: mounts, loop devices, groups, processes, data
/// directories. One journal that cannot be undone keeps no other from being.
pub fn clean(arguments: &arguments::Clean, rigs: &Rigs) -> anyhow::Result<Exit> {
    let mut output = Output { json: arguments.json, lines: Vec::new() };
    let before = if arguments.dry_run { "would undo: " } else { "" };
    let mut shown = Ok(());
    let failures = rigs.get()?.clean(arguments.dry_run, &mut |what| {
        if shown.is_ok() {
            shown = output.tell(before, what);
        }
    })?;
    shown?;
    if arguments.json {
        print_json(&json!({
            "dry_run": arguments.dry_run, "done": output.lines, "failed": failures,
        }))?;
    } else if output.lines.is_empty() && failures.is_empty() {
        tell("nothing was left behind");
    }
    if !failures.is_empty() {
        bail!("{}", failures.join("\n"));
    }
    Ok(Exit::Good)
}

/// What was done or would be, line by line; as JSON all at once at the end.
struct Output {
    json: bool,
    lines: Vec<String>,
}

impl Output {
    fn tell(&mut self, before: &str, what: &str) -> io::Result<()> {
        self.lines.push(format!("{before}{what}"));
        if self.json {
            return Ok(());
        }
        print(format_args!("{before}{}\n", line(what)))
    }
}
