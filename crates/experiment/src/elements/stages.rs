//! `load.stages`: one open loop with a rate that changes.

use crate::document::Checked;
use crate::elements::load::{ARRIVALS, LoadPoint, Loads};
use crate::elements::open::open_loop;
use crate::origins::Origins;
use crate::table::*;
use plimsoll_plan::{PointRole, SettingValue};
use plimsoll_workload::schedule::{Load, Stage};

/// A stage may pause the load.
const STAGE_RATE: Shape = rate_from(0.0);
static EACH_STAGE: Shape = Shape::Object(&STAGE);

object! {
    /// An open loop of stages.
    STAGES stages: "Open loop with a rate that changes."
    steps = Shape::list(&EACH_STAGE, 1, 1_000), Required, "[{to: 20k, duration: 60s}, {rate: 20k, duration: 30s}]";
        "The stages, in order. Together they are one point, which lasts as long as they do.";
    arrivals = ARRIVALS, Default("poisson"), "constant";
        "Gaps between operations: all equal, or as of independent callers.";
    sessions = SESSIONS, Default("64"), "64";
        "Sessions that serve the operations: how many can be under way at once. Operations that are due wait while all \
         are busy, and the wait counts.";
}

object! {
    STAGE stage: "One stage: a constant rate, or a ramp."
    rate = STAGE_RATE, Optional, "20k";
        "Operations per second from beginning to end.";
    from = STAGE_RATE, Optional, "5k";
        "Rate at the beginning of a ramp; without it, where the last stage ended, or 0.";
    to = STAGE_RATE, Optional, "20k";
        "Rate at the end of a ramp.";
    duration = Shape::duration(SHORTEST_NS, LONGEST_NS), Required, "60s";
        "How long the stage lasts.";
    => one of [rate, to];
    => at most one of [rate, from];
}

impl Loads {
    /// The one point of the stages.
    pub(crate) fn read_stages(&mut self, path: &str, map: &Checked, origins: &mut Origins<'_>) {
        match read(path, map, origins) {
            Some((load, total_ns)) => {
                self.open.push(LoadPoint::new(load, PointRole::Fixed));
                self.stages_ns = Some(total_ns);
            }
            None => self.complete = false,
        }
    }
}

fn read(path: &str, map: &Checked, origins: &mut Origins<'_>) -> Option<(Load, u64)> {
    let steps = map.get(stages::steps)?;
    let keys = (stages::arrivals, stages::sessions);
    let open_loop = open_loop(path, map, keys, origins);
    let (mut stages, mut total_ns, mut last_rate) = (Vec::new(), 0u64, 0.0);
    for (index, step) in steps.items().iter().enumerate() {
        let path = format!("{}[{index}]", stages::steps.under(path));
        let mut rate = |key: &Key| match origins.settle(&path, Some(step), key) {
            Some(SettingValue::Number(rate)) => Some(rate),
            _ => None,
        };
        let constant = rate(stage::rate);
        let rate_from = constant.or_else(|| rate(stage::from)).unwrap_or(last_rate);
        let rate_to = constant.or_else(|| rate(stage::to)).unwrap_or(rate_from);
        let duration_ns =
            origins.settle(&path, Some(step), stage::duration).and_then(|value| value.whole())?;
        stages.push(Stage { rate_from, rate_to, duration_ns });
        total_ns = total_ns.saturating_add(duration_ns);
        last_rate = rate_to;
    }
    Some((
        Load::Stages { stages, arrivals: open_loop.arrivals, sessions: open_loop.count },
        total_ns,
    ))
}
