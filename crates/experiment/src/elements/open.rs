//! `load.open`: operations that are due at times fixed beforehand.

use crate::Collector;
use crate::document::Checked;
use crate::elements::load::{LoadPoint, Loads, OpenLoop, arrivals_of, count_of};
use crate::elements::sweep::{Sweep, distinct, sweep_of_rates};
use crate::keys::open::open;
use crate::keys::sweep::rates_sweep;
use crate::origins::Origins;
use crate::table::*;
use plimsoll_plan::PointRole;
use plimsoll_record::quantities::units;
use plimsoll_workload::schedule::Load;

/// Rate of a point at a share of the line while the line is not known, operations per second.
const PLACEHOLDER_RATE: f64 = 1_000.0;

impl Loads {
    /// Points of the open loop.
    pub(crate) fn read_open(
        &mut self,
        path: &str,
        map: &Checked,
        origins: &mut Origins<'_>,
        problems: &mut Collector<'_>,
    ) {
        let Some(rates) = map.get(open::rates) else {
            self.complete = false;
            return;
        };
        let path_of_rates = open::rates.under(path);
        let swept = sweep_of_rates(&path_of_rates, rates, origins, problems);
        let listed = match swept {
            Sweep::Points(points) => {
                self.unrequested_rates = rates.get(rates_sweep::to).is_none();
                points.into_iter().map(|rate| (rate, PointRole::Sweep)).collect()
            }
            Sweep::Wrong => {
                self.complete = false;
                Vec::new()
            }
            Sweep::List => {
                let listed = distinct(&path_of_rates, rates, origins, problems, rate_or_share);
                self.complete &= listed.len() == rates.items().len() && !listed.is_empty();
                listed
            }
        };
        let (arrivals, sessions) = (open::arrivals, open::sessions);
        let open_loop = open_loop(path, map, (arrivals, sessions), origins);
        self.open_loop = Some(open_loop);
        for (rate, role) in listed {
            if let PointRole::ShareOfLine { .. } = role {
                self.shares = Some(rates.place);
            }
            let load = Load::Open { rate, arrivals: open_loop.arrivals, sessions: open_loop.count };
            self.open.push(LoadPoint { load, role, sessions: open_loop.sessions });
        }
    }
}

/// A rate, or a share of the line with a rate in its place.
fn rate_or_share(item: &Checked) -> Option<((f64, PointRole), String)> {
    if let Some(rate) = item.number() {
        return Some(((rate, PointRole::Fixed), units::rate(rate)));
    }
    let text = item.text()?;
    let share = units::parse_share(text).ok()?;
    let role = PointRole::ShareOfLine { share };
    Some(((PLACEHOLDER_RATE, role), text.to_owned()))
}

/// Reads arrivals and sessions of an open loop.
pub(crate) fn open_loop(
    path: &str,
    map: &Checked,
    (arrivals, sessions): (&Key, &Key),
    origins: &mut Origins<'_>,
) -> OpenLoop {
    let arrivals = origins.settle(path, Some(map), arrivals);
    let sessions = origins.settle(path, Some(map), sessions);
    let (count, sessions) = count_of(sessions.as_ref());
    OpenLoop { arrivals: arrivals_of(arrivals.as_ref()), count, sessions }
}
