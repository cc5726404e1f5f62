//! Servers that run by themselves: examined before a run, which says what it will do to them, and left as they were after `run --uri`.

use crate::exit::Exit;
use crate::screen::tell;
use plimsoll_plan::{Arm, Plan, measures_existing, needs, server_uri};
use plimsoll_record::DiskChoice;
use plimsoll_record::quantities::units;
use plimsoll_record::quantities::words::{self, counted};
use plimsoll_record::redact::redact;
use std::io::{self, IsTerminal};

/// Looks at every server that runs by itself, before anything is stored there or here. Where other machines make the load, they look, since an address may mean
/// something only there. Says what is wrong; `None` is nothing.
pub fn look(plan: &Plan) -> Option<Exit> {
    if !plan.hosts.is_empty() {
        return None;
    }
    let mut seen = Vec::new();
    for arm in &plan.arms {
        let place = (&arm.settings, &arm.data);
        if server_uri(&arm.settings).is_none() || seen.contains(&place) {
            continue;
        }
        seen.push(place);
        let documents = arm.data.documents.as_ref();
        let collections = documents.map(|documents| documents.collections()).unwrap_or_default();
        let actions = actions(plan, arm);
        let looked = plimsoll_engine::look(&arm.settings, &arm.data, &collections, &actions);
        if let Err(error) = looked {
            tell(format_args!("nothing was begun: arm {}: {error}", arm.name));
            return Some(Exit::Failed);
        }
    }
    None
}

/// What a user must be allowed to do in the collection of an arm, in MongoDB's words.
fn actions(plan: &Plan, arm: &Arm) -> Vec<&'static str> {
    let mut mixes = plan.mixes.iter();
    let inserts = mixes.clone().any(|mix| mix.insert > 0.0);
    let mut actions = vec!["find"];
    if !measures_existing(&arm.settings) || inserts {
        actions.push("insert");
    }
    if mixes.any(|mix| mix.update + mix.read_modify_write > 0.0) {
        actions.push("update");
    }
    actions
}

/// Lists the programs, devices and servers that a bundle names, which may come from anyone, and asks whether to use them. `None` is yes.
pub fn announce_bundle(plan: &Plan, yes: bool) -> io::Result<Option<Exit>> {
    let mut named = std::collections::BTreeSet::new();
    for arm in &plan.arms {
        if let Some(server) = &arm.rig.server {
            let words = [std::slice::from_ref(&server.program), &server.arguments[..]].concat();
            named.insert(format!("starts   {}", words.join(" ")));
            if !server.after_start.is_empty() {
                named.insert(format!("runs     {}", server.after_start.join(" ")));
            }
        }
        if let Some(DiskChoice::Device { path }) = &arm.rig.disk {
            named.insert(format!("ERASES   {}", path.display()));
        }
        if let Some(uri) = server_uri(&arm.settings) {
            named.insert(format!("loads    {}", redact(uri)));
        }
    }
    for host in &plan.hosts {
        named.insert(format!("reaches  {} by {}", host.name, host.way));
    }
    if named.is_empty() {
        return Ok(None);
    }
    let lines: Vec<String> = named.into_iter().map(|line| format!("  {line}")).collect();
    tell(format_args!("The experiment in this bundle\n{}", lines.join("\n")));
    confirmed(yes)
}

/// Says what `run --uri` will do to the server, and asks whether it may. `None` is yes.
pub fn announce(plan: &Plan, yes: bool, keep: bool, quiet: bool) -> io::Result<Option<Exit>> {
    let Some(arm) = plan.arms.first() else {
        return Ok(None);
    };
    if !quiet || !yes {
        tell(announcement(plan, arm, keep));
    }
    confirmed(yes)
}

fn confirmed(yes: bool) -> io::Result<Option<Exit>> {
    if yes {
        return Ok(None);
    }
    if !io::stdin().is_terminal() {
        tell("Nothing was started: there is no terminal to confirm on. Confirm with --yes.");
        return Ok(Some(Exit::Usage));
    }
    tell("Start? Type yes.");
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    let is_yes = ["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str());
    if !is_yes {
        tell("Nothing was begun.");
    }
    Ok((!is_yes).then_some(Exit::Interrupted))
}

fn announcement(plan: &Plan, arm: &Arm, keep: bool) -> String {
    let uri = redact(server_uri(&arm.settings).unwrap_or_default());
    let collection = match arm.settings.text("database") {
        Some(database) => format!("{database}.{}", arm.data.table),
        None => format!("{} of the database in the URI", arm.data.table),
    };
    let records = arm.data.key_count();
    let bytes = records as f64 * arm.data.mean_record_bytes();
    let at_the_end = match keep {
        true => "They stay there.",
        false => "They are removed at the end; --keep leaves them there.",
    };
    let threads = plan.points.iter().map(|point| point.load.sessions());
    let (least, most) = (threads.clone().min().unwrap_or(1), threads.max().unwrap_or(1));
    let threads = match least == most {
        true => counted(most as usize, "thread"),
        false => format!("{least} to {most} threads"),
    };
    let writes: Vec<String> = plan
        .mixes
        .iter()
        .map(|mix| {
            let share = mix.update + mix.insert + mix.read_modify_write;
            match share > 0.0 {
                true => format!("{}: {:.0} % of operations write", mix.name, share * 100.0),
                false => format!("{}: reads only", mix.name),
            }
        })
        .collect();
    format!(
        "This loads {uri} as fast as it goes:\n  documents  {}, {}, stored {} in {collection}. {at_the_end}\n  operations {threads}; workload {}\n  time       about {}",
        units::count(records),
        words::bytes(bytes),
        counted(plan.runs.len(), "time"),
        writes.join("; "),
        units::about(needs(plan, plimsoll_engine::kinds()).total_ns()),
    )
}

/// Removes what `run --uri` stored in the server.
pub fn tidy_up(plan: &Plan, quiet: bool) {
    for arm in &plan.arms {
        match plimsoll_engine::remove(&arm.settings, &arm.data, &[]) {
            Ok(true) if !quiet => tell(format_args!(
                "The documents in {} were removed from the server; --keep leaves them there.",
                arm.data.table
            )),
            Ok(_) => {}
            Err(error) => tell(format_args!(
                "the documents of this experiment are still in the server: {error}"
            )),
        }
    }
}
