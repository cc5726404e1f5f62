//! What a plan would do: in which order, for how long, needing how much, and where each value comes from.

use crate::cautions::cautions;
use crate::estimate::data_bytes;
use crate::explained_arm::ArmExplanation;
use crate::grid::{GridExplanation, without_cells};
use crate::needs::{cache_bytes, held_bytes, needs, run_ns};
use crate::point_words::{looks_words, point_lines};
use crate::power_cuts::power_cuts;
use crate::server::server_line;
use crate::shares::shares;
use crate::words::{
    disk_line, event_in_words, filesystem_line, limits_line, price_words, write_table,
};
use crate::{Arm, CONTROLLER, EngineKind, Looks, Needs, Order, Origin, Pairing, Plan, PointRole};
use plimsoll_record::kernel_line;
use plimsoll_record::quantities::units;
use plimsoll_record::quantities::units::{about, shortened_to, to_the_second};
use plimsoll_record::quantities::words::{counted, decimal_bytes};
use plimsoll_record::{Act, EventSpec};
use plimsoll_workload::documents::DocumentsSpec;
use serde::Serialize;
use std::collections::BTreeSet;

/// Arms that are listed one by one in a grid.
const MOST_ARMS_IN_TABLES: usize = 24;

const IN_PROPORTION: &str = "as written: data, operations, caches, memory, burst credits, checkpoint intervals and durations (10 s or more) are smaller in proportion; threads, rates and \
     what a disk does in a second are not, nor what a process takes beside its cache, nor processors";

/// What a plan would do. The figures of [`Needs`] are estimates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlanExplanation {
    /// Name of the experiment, from the file.
    pub name: String,
    /// Question of the experiment, from the file.
    pub question: Option<String>,
    /// The scale of the file, and how much smaller than the file as written it is, where it is so in proportion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<String>,
    /// What [`Plan::hash`] gives, for comparison with records.
    pub hash: String,
    /// What is varied, where arms are cells of a grid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grid: Option<GridExplanation>,
    /// The arms, in the order of the file.
    pub arms: Vec<ArmExplanation>,
    /// The points of each run in words, in the order in which they are measured: a sweep and a search are one line each.
    pub points: Vec<String>,
    /// What is done to the servers and disks at each point, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
    /// Points of each run, at most where there are sweeps; a search counts as one.
    pub point_count: usize,
    /// Whether a run leaves out points of a sweep when its curve has bent.
    pub has_sweeps: bool,
    /// Whether it is one arm against itself.
    pub against_itself: bool,
    /// Blocks that are measured again at most, where a gate refused a point in them.
    pub spare_blocks: u32,
    /// When the experiment may end before all blocks are made.
    pub looks: Option<Looks>,
    /// Names of the arms in the order in which they run, for each block.
    pub blocks: Vec<Vec<String>>,
    /// How that order came about.
    pub order: Order,
    /// Whether the arms of a block run in turn.
    pub pairing: Pairing,
    /// Seed of everything that is random.
    pub seed: u64,
    /// Estimated time, disk space and memory.
    pub needs: Needs,
    /// What points of this length cannot tell, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cautions: Vec<String>,
    /// Whether points can end before their time, after a number of operations.
    pub may_end_early: bool,
    /// Every value with its origin.
    pub origins: Vec<Origin>,
}

/// Explains a plan. `engines` are those that it was checked against.
pub fn explain(plan: &Plan, engines: &[EngineKind]) -> PlanExplanation {
    let mut blocks: Vec<Vec<String>> = Vec::new();
    for run in &plan.runs {
        if run.position == 0 {
            blocks.push(Vec::new());
        }
        if let Some(block) = blocks.last_mut() {
            block.push(plan.arms[run.arm as usize].name.clone());
        }
    }
    let needs = needs(plan, engines);
    let alike = alike(plan);
    let explained = |arm| explain_arm(plan, arm, &alike, &needs, engines);
    PlanExplanation {
        name: plan.name.clone(),
        question: plan.question.clone(),
        scale: plan.scale.as_ref().map(|scale| scale_words(plan, scale)),
        hash: plan.hash(),
        grid: GridExplanation::of(plan),
        arms: plan.arms.iter().map(explained).collect(),
        points: point_lines(plan),
        events: plan.events.iter().map(|event| event_line(plan, *event)).collect(),
        point_count: plan.points.len(),
        has_sweeps: plan.points.iter().any(|point| point.role == PointRole::Sweep),
        against_itself: plan.against_itself,
        looks: plan.measurement.looks,
        spare_blocks: plan.measurement.spare(),
        blocks,
        order: plan.measurement.order,
        pairing: plan.measurement.pairing,
        seed: plan.measurement.seed,
        needs,
        cautions: cautions(plan, engines),
        may_end_early: plan.measurement.operations.is_some(),
        origins: plan.origins.clone(),
    }
}

/// An event in words, and how many power cuts it comes to.
fn event_line(plan: &Plan, event: EventSpec) -> String {
    let words = event_in_words(event);
    match event.act {
        Act::PowerCut(spec) if spec.every_ns.is_some() => {
            let cuts = power_cuts(spec, event.at_ns, plan.measurement.duration_ns, 0);
            format!("{words}: {}", counted(cuts.len(), "power cut"))
        }
        _ => words,
    }
}

/// `laptop, 1/20 of the file: …`
fn scale_words(plan: &Plan, scale: &str) -> String {
    let path = format!("scales.{scale}.ratio");
    let ratio = plan.origins.iter().find(|origin| origin.path == path);
    match ratio {
        Some(ratio) => format!("{scale}, {} of the file {IN_PROPORTION}", ratio.value),
        None => scale.to_owned(),
    }
}

fn explain_arm(
    plan: &Plan,
    arm: &Arm,
    alike: &BTreeSet<(String, String)>,
    needs: &Needs,
    engines: &[EngineKind],
) -> ArmExplanation {
    ArmExplanation {
        name: arm.name.clone(),
        levels: arm.levels.clone(),
        run_ns: run_ns(plan, arm, needs, engines),
        about: arm.about.clone(),
        engine: arm.engine.clone(),
        records: arm.data.key_count(),
        data_bytes: data_bytes(&arm.data) as u64,
        cache_bytes: cache_bytes(arm, engines),
        working_set: arm.working_set,
        shares: shares(arm, engines),
        disk_bytes: held_bytes(plan, arm, engines) as u64,
        collections: parts(arm).into_iter().filter(|part| !alike.contains(part)).collect(),
        on: arm.on.clone(),
        load_hosts: load_hosts(plan, arm, engines),
        disk: arm.rig.disk.as_ref().map(disk_line),
        filesystem: filesystem_line(&arm.rig),
        kernel: kernel_line(&arm.rig.kernel),
        limits: limits_line(&arm.rig.limits),
        server: server_line(arm),
        machine: arm.rig.machine.clone(),
        price: arm.rig.price.as_ref().map(price_words),
    }
}

/// What an arm says of its collections and operations, piece by piece.
fn parts(arm: &Arm) -> Vec<(String, String)> {
    arm.data.documents.as_ref().map(DocumentsSpec::parts).unwrap_or_default()
}

/// What all arms say alike.
fn alike(plan: &Plan) -> BTreeSet<(String, String)> {
    let mut each = plan.arms.iter().map(|arm| BTreeSet::from_iter(parts(arm)));
    let first = each.next().unwrap_or_default();
    each.fold(first, |alike, other| &alike & &other)
}

/// Who asks an arm, where there are several machines.
fn load_hosts(plan: &Plan, arm: &Arm, engines: &[EngineKind]) -> Vec<String> {
    let kind = engines.iter().find(|kind| kind.name == arm.engine);
    let Some(kind) = kind.filter(|_| !plan.hosts.is_empty()) else {
        return Vec::new();
    };
    let hosts = plan.load_hosts_of(arm, kind).into_iter();
    hosts.map(|host| host.unwrap_or(CONTROLLER).to_owned()).collect()
}

impl PlanExplanation {
    /// Who does what, where there are several machines.
    fn write_hosts(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let remote = self.arms.iter().filter(|arm| !arm.load_hosts.is_empty());
        let rows: Vec<Vec<String>> = remote
            .map(|arm| {
                vec![
                    arm.name.clone(),
                    format!("on {}", arm.on.as_deref().unwrap_or(CONTROLLER)),
                    format!("load from {}", arm.load_hosts.join(", ")),
                ]
            })
            .collect();
        if rows.is_empty() {
            return Ok(());
        }
        writeln!(f, "\nhosts")?;
        write_table(f, &rows)
    }

    /// The rigs of the arms, if there are any.
    fn write_rigs(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut rows = Vec::new();
        for arm in &self.arms {
            let machine = match (&arm.machine, &arm.price) {
                (Some(machine), Some(price)) => Some(format!("{machine}, {price}")),
                (one, other) => one.clone().or_else(|| other.clone()),
            };
            let parts = [&arm.disk, &arm.filesystem, &arm.limits, &machine];
            if parts.iter().all(|part| part.is_none()) {
                continue;
            }
            let mut row = vec![arm.name.clone()];
            row.extend(parts.map(|part| part.clone().unwrap_or_else(|| "-".to_owned())));
            rows.push(row);
        }
        if rows.is_empty() {
            return Ok(());
        }
        writeln!(f, "\ndisk, filesystem, limits, machine")?;
        write_table(f, &rows)
    }

    /// A line for each arm that has this.
    fn write_of_arms(
        &self,
        f: &mut std::fmt::Formatter<'_>,
        title: &str,
        of: impl Fn(&ArmExplanation) -> Option<String>,
    ) -> std::fmt::Result {
        let each = self.arms.iter().filter_map(|arm| Some(vec![arm.name.clone(), of(arm)?]));
        let rows: Vec<Vec<String>> = each.collect();
        if rows.is_empty() {
            return Ok(());
        }
        writeln!(f, "\n{title}")?;
        write_table(f, &rows)
    }

    /// The settings of the kernel, where arms have some.
    fn write_kernels(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.write_of_arms(f, "kernel, set for each run and restored", |arm| arm.kernel.clone())
    }

    /// The servers that are started, where there are any.
    fn write_servers(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.write_of_arms(f, "server, started for each run", |arm| arm.server.clone())
    }

    /// What arms chose of their collections, where they differ.
    fn write_collections(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut rows = Vec::new();
        for arm in &self.arms {
            for (what, value) in &arm.collections {
                rows.push(vec![arm.name.clone(), what.clone(), shortened_to(value, 120)]);
            }
        }
        if rows.is_empty() {
            return Ok(());
        }
        writeln!(f, "\ncollections, where arms differ")?;
        write_table(f, &rows)
    }

    /// What will have to be read from the disks, where memory is limited.
    fn write_shares(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        let neither = |(least, most): (f64, f64)| {
            let (least, most) = (percent(least), percent(most));
            if least == most { most } else { format!("{} to {most}", least.trim_end_matches(" %")) }
        };
        let description = self.arms.iter().filter_map(|arm| {
            let shares = arm.shares?;
            Some(vec![
                arm.name.clone(),
                format!("{} the engine's cache", percent(shares.engine_cache)),
                format!("{} the page cache", percent(shares.page_cache)),
                format!("{} neither", neither(shares.neither())),
            ])
        });
        let rows: Vec<Vec<String>> = description.collect();
        if rows.is_empty() {
            return Ok(());
        }
        writeln!(f, "\nwhat the data fits into, about")?;
        write_table(f, &rows)?;
        let unread = self.arms.iter().filter(|arm| {
            arm.disk.is_some() && arm.shares.is_some_and(|shares| shares.neither().1 == 0.0)
        });
        let names: Vec<&str> = unread.map(|arm| arm.name.as_str()).collect();
        if !names.is_empty() {
            writeln!(
                f,
                "  hardly a read will reach the disk of {}: less memory, `limits: {{page_cache: …}}` or more records would change that",
                names.join(", ")
            )?;
        }
        Ok(())
    }
}

impl std::fmt::Display for PlanExplanation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let plural = |count: usize, thing: &str| {
            format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
        };
        writeln!(f, "experiment {}", self.name)?;
        if let Some(question) = &self.question {
            writeln!(f, "  {question}")?;
        }
        writeln!(f)?;
        if let Some(scale) = &self.scale {
            writeln!(f, "scale   {scale}")?;
        }
        if self.against_itself {
            let words = "one arm against a copy of itself: whatever differs is the machine's doing";
            writeln!(f, "        {words}")?;
        }
        let blocks = match &self.looks {
            Some(looks) => looks_words(looks, self.blocks.len()),
            None => plural(self.blocks.len(), "block"),
        };
        let most = |is_bound: bool| if is_bound { "at most " } else { "" };
        writeln!(
            f,
            "runs    {}{}: {}, {blocks}; {}{} in each",
            most(self.looks.is_some()),
            self.needs.runs,
            plural(self.arms.len(), "arm"),
            most(self.has_sweeps),
            plural(self.point_count, "point"),
        )?;
        let total = self.needs.total_ns();
        let each_run = total.saturating_sub(self.needs.calibration_ns);
        let is_bound = self.may_end_early || self.has_sweeps;
        let searching = (self.needs.searching_ns, self.needs.searching_longer_ns);
        if searching.0 > 0 {
            let longer = total.saturating_add(searching.1 - searching.0);
            write!(f, "time    about {} to {}", about(total), about(longer))?;
        } else {
            let most = most(is_bound || self.looks.is_some());
            write!(f, "time    {most}about {}", about(total))?;
        }
        if let Some(looks) = &self.looks {
            let share = f64::from(looks.first) / self.blocks.len().max(1) as f64;
            let least = (each_run as f64 * share) as u64;
            let least = about(least.saturating_add(self.needs.calibration_ns));
            write!(f, ", about {least} for {}", plural(looks.first as usize, "block"))?;
        }
        write!(f, ":")?;
        if self.needs.measuring_ns > 0 || self.needs.searching_ns == 0 {
            let measuring = to_the_second(self.needs.measuring_ns);
            write!(f, " {}{measuring} of warm-up and measuring", most(is_bound))?;
        }
        if self.needs.searching_ns > 0 {
            let comma = if self.needs.measuring_ns > 0 { "," } else { "" };
            let (usual, longer) = (about(searching.0), about(searching.1));
            write!(
                f,
                "{comma} {usual} to {longer} of searching the line, by how much trials vary (never more than {})",
                about(self.needs.searching_most_ns)
            )?;
        }
        for (nanos, what) in [
            (self.needs.loading_ns, "storing data"),
            (self.needs.filling_ns, "filling caches"),
            (self.needs.starting_ns, "starting and stopping"),
            (self.needs.calibration_ns, "holding disks against their description"),
        ] {
            if nanos >= 500_000_000 {
                write!(f, ", about {} of {what}", about(nanos))?;
            }
        }
        writeln!(f)?;
        if self.arms.len() > 1 && self.looks.is_none() {
            match self.spare_blocks {
                0 => writeln!(f, "reserve none: a block in which a gate refuses a point is lost")?,
                spare => writeln!(
                    f,
                    "reserve {}, measured again where a gate refuses a point",
                    plural(spare as usize, "block")
                )?,
            }
        }
        match self.needs.disk_bytes {
            0 => writeln!(f, "disk    nothing but the results")?,
            disk_bytes => writeln!(
                f,
                "disk    up to about {}, {} at a time",
                decimal_bytes(disk_bytes as f64),
                if self.pairing.is_in_turn() { "one run" } else { "two runs" }
            )?,
        }
        write!(
            f,
            "memory  about {} without the page cache",
            decimal_bytes(self.needs.memory_bytes as f64)
        )?;
        if self.needs.disk_memory_bytes > 0 {
            let disks = decimal_bytes(self.needs.disk_memory_bytes as f64);
            write!(f, ", up to about {disks} for emulated disks")?;
        }
        writeln!(f)?;
        let mut needed = Vec::new();
        if self.needs.root {
            needed.push("root".to_owned());
        }
        if !self.needs.packages.is_empty() {
            needed.push(format!("the packages {}", self.needs.packages.join(", ")));
        }
        if !needed.is_empty() {
            writeln!(f, "needs   {}", needed.join(", "))?;
        }
        for caution in &self.cautions {
            writeln!(f, "caution {caution}")?;
        }

        if let Some(grid) = &self.grid {
            grid.write(f, &self.arms)?;
        }
        if self.is_large_grid() {
            return self.write_end(f);
        }
        writeln!(f, "\narms")?;
        let mut rows = Vec::new();
        for arm in &self.arms {
            rows.push(vec![
                arm.name.clone(),
                arm.engine.clone(),
                format!("{} records", units::count(arm.records)),
                format!("{} of data", decimal_bytes(arm.data_bytes as f64)),
                arm.cache_bytes.map_or_else(
                    || "no cache".to_owned(),
                    |cache| format!("cache {}", units::size(cache)),
                ),
                arm.working_set.map_or_else(String::new, |set| {
                    format!("working set {}", units::share(set.share))
                }),
                arm.about.clone().unwrap_or_default(),
            ]);
        }
        write_table(f, &rows)?;
        self.write_collections(f)?;
        self.write_rigs(f)?;
        self.write_kernels(f)?;
        self.write_shares(f)?;
        self.write_hosts(f)?;
        self.write_servers(f)?;

        self.write_end(f)
    }
}

impl PlanExplanation {
    /// Whether a table with a line for each arm would hide what matters: `--json` has everything.
    fn is_large_grid(&self) -> bool {
        self.grid.is_some() && self.arms.len() > MOST_ARMS_IN_TABLES
    }

    /// Order, points, events and values.
    fn write_end(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let how = match self.order {
            Order::Shuffled => format!("shuffled in each block, seed {}", self.seed),
            Order::AsWritten => "as in the file in each block".to_owned(),
        };
        let (how, between) = match self.pairing {
            Pairing::InTurn => (how, ", "),
            Pairing::Duet => {
                (format!("duets, each arm on a half of the machine, {how}"), " beside ")
            }
        };
        writeln!(f, "\norder ({how})")?;
        for (block, arms) in self.blocks.iter().enumerate() {
            if self.is_large_grid() {
                writeln!(f, "  block {:<3} {} cells", block + 1, arms.len())?;
            } else {
                writeln!(f, "  block {:<3} {}", block + 1, arms.join(between))?;
            }
        }
        writeln!(f, "\npoints of each run")?;
        for (index, point) in self.points.iter().enumerate() {
            writeln!(f, "  {:<3} {point}", index + 1)?;
        }
        if !self.events.is_empty() {
            writeln!(f, "\nevents of each point, from the beginning of its measured part")?;
            for event in &self.events {
                writeln!(f, "  {event}")?;
            }
        }
        writeln!(f, "\nvalues")?;
        let row = |origin: &Origin| {
            vec![origin.path.clone(), shortened_to(&origin.value, 80), origin.source.to_string()]
        };
        let rows: Vec<Vec<String>> = match self.grid {
            Some(_) => without_cells(&self.origins, &self.arms),
            None => self.origins.iter().map(row).collect(),
        };
        write_table(f, &rows)?;
        write!(f, "\nplan {}", self.hash)
    }
}
