//! `plimsoll remote hosts`: who does what, and what each machine is and lacks.

use crate::agent::Card;
use crate::arguments::{self, ExperimentFile};
use crate::exit::Exit;
use crate::nats::{Connection, agents, connection};
use crate::plan::{complain, read};
use crate::rig::Rigs;
use crate::run::fleet;
use crate::screen::{print, print_json, tell};
use plimsoll_plan::Plan;
use plimsoll_record::quantities::words::{decimal_bytes, duration};
use plimsoll_record::redact::line;
use plimsoll_record::{ClockOffset, Machine};
use plimsoll_runner::{Hosts, RunHost};
use serde::Serialize;

/// What is known of a machine.
#[derive(Debug, Serialize)]
struct HostReport {
    /// `None`: the one that this command runs on.
    name: Option<String>,
    way: String,
    /// Arms that stand on it.
    arms: Vec<String>,
    machine: Option<Machine>,
    clock: Option<ClockOffset>,
    /// Why it cannot be used, or arms cannot stand on it.
    lacks: Vec<String>,
}

/// `plimsoll remote hosts`: good where every arm can stand where it is to stand.
pub fn hosts(arguments: &arguments::Hosts, rigs: &Rigs) -> anyhow::Result<Exit> {
    let nats = connection(&arguments.nats)?;
    if arguments.file.is_none() {
        return joined(nats.as_ref(), arguments.json);
    }
    let experiment = ExperimentFile {
        file: arguments.file.clone(),
        scale: arguments.scale.clone(),
        ..ExperimentFile::default()
    };
    let checked = read(&experiment, rigs)?;
    let plan = match checked.plan {
        Ok(plan) => plan,
        Err(problems) => return complain(&problems, arguments.json),
    };
    let fleet = fleet(rigs, &plan.hosts, nats.as_ref())?;
    let mut names: Vec<Option<&str>> = vec![None];
    names.extend(plan.hosts.iter().map(|host| Some(host.name.as_str())));
    let mut all = Vec::new();
    for name in names {
        let mut seen = HostReport {
            name: name.map(str::to_owned),
            way: way(&plan, name),
            arms: Vec::new(),
            machine: None,
            clock: None,
            lacks: Vec::new(),
        };
        let arms = plan.arms.iter().filter(|arm| arm.on.as_deref() == name);
        seen.arms = arms.map(|arm| arm.name.clone()).collect();
        match fleet.host(name) {
            Ok(host) => look(&plan, name, &*host, &mut seen),
            Err(error) => seen.lacks.push(error.to_string()),
        }
        all.push(seen);
    }
    let is_good = all.iter().all(|seen| seen.lacks.is_empty());
    if arguments.json {
        print_json(&all)?;
    } else {
        for seen in &all {
            print(format_args!("{}\n", words(seen)))?;
        }
    }
    Ok(if is_good { Exit::Good } else { Exit::Failed })
}

/// The agents that have joined.
fn joined(nats: Option<&Connection>, json: bool) -> anyhow::Result<Exit> {
    let Some(nats) = nats else {
        tell("name an experiment file, or the NATS server that agents have joined with --nats URL");
        return Ok(Exit::Usage);
    };
    let present = agents(nats)?;
    if json {
        let cards = present.iter().map(|(name, card)| {
            let card = serde_json::from_str(card).unwrap_or(serde_json::Value::Null);
            serde_json::json!({"name": name, "card": card})
        });
        print_json(&cards.collect::<Vec<_>>())?;
        return Ok(Exit::Good);
    }
    if present.is_empty() {
        tell("no agent has joined");
    }
    for (name, card) in present {
        let card: Option<Card> = serde_json::from_str(&card).ok();
        let words = card.map_or_else(String::new, |card| {
            format!(
                "{}, {} x {}, {}; may be used for {}",
                card.program,
                card.machine.cores,
                card.machine.cpu_model.as_deref().unwrap_or("unknown processors"),
                decimal_bytes(card.machine.memory_bytes as f64),
                card.allow.join(", ")
            )
        });
        print(format_args!("{}  {}\n", line(&name), line(&words)))?;
    }
    Ok(Exit::Good)
}

fn look(plan: &Plan, name: Option<&str>, host: &dyn RunHost, seen: &mut HostReport) {
    let arms: Vec<_> = plan.arms.iter().filter(|arm| arm.on.as_deref() == name).collect();
    let rigs = arms.iter().map(|arm| arm.rig.clone()).collect();
    match host.rigs().what_runs(rigs) {
        Ok(whys) => {
            let lacking = arms.iter().zip(whys);
            seen.lacks.extend(
                lacking.filter_map(|(arm, why)| Some(format!("arm {}: {}", arm.name, why?))),
            );
        }
        Err(error) => seen.lacks.push(error.to_string()),
    }
    match host.machine() {
        Ok(machine) => seen.machine = Some(machine),
        Err(error) => seen.lacks.push(error.to_string()),
    }
    match host.clock_reader()() {
        Ok(clock) => seen.clock = Some(clock),
        Err(error) => seen.lacks.push(error),
    }
}

fn way(plan: &Plan, name: Option<&str>) -> String {
    let spec = plan.hosts.iter().find(|host| Some(host.name.as_str()) == name);
    spec.map_or_else(|| "this machine".to_owned(), |host| host.way.to_string())
}

fn words(seen: &HostReport) -> String {
    let name = seen.name.as_deref().unwrap_or("controller");
    let mut text = format!("{} ({})", line(name), line(&seen.way));
    if seen.name.is_none() && seen.arms.is_empty() {
        text.push_str("\n  runs the experiment, keeps its results");
    }
    if !seen.arms.is_empty() {
        text.push_str(&format!("\n  arms        {}", line(&seen.arms.join(", "))));
    }
    if let Some(machine) = &seen.machine {
        let cpu = machine.cpu_model.as_deref().unwrap_or("unknown processors");
        let kernel = machine.kernel.as_deref().unwrap_or("unknown kernel");
        text.push_str(&format!(
            "\n  machine     {} x {}, {}, {}",
            machine.cores,
            line(cpu),
            decimal_bytes(machine.memory_bytes as f64),
            line(kernel)
        ));
    }
    if let Some(clock) = seen.clock.as_ref().filter(|_| seen.name.is_some()) {
        text.push_str(&format!(
            "\n  clock       known to {}, round trip {}",
            duration(clock.bound_ns as f64),
            duration(clock.round_trip_ns as f64)
        ));
    }
    for why in &seen.lacks {
        text.push_str(&format!("\n  LACKS       {}", line(why)));
    }
    text
}
