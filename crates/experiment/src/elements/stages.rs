//! `load.stages`: one open loop with a rate that changes.

use crate::document::Checked;
use crate::elements::load::{LoadPoint, Loads};
use crate::elements::open::open_loop;
use crate::keys::stages::{stage, stages};
use crate::origins::Origins;
use crate::table::*;
use plimsoll_plan::{PointRole, SettingValue};
use plimsoll_workload::schedule::{Load, Stage};

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
