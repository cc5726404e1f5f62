//! `load.closed`: sessions that ask again when they are answered.

use crate::Collector;
use crate::document::Checked;
use crate::elements::load::{LoadPoint, Loads, sessions_of};
use crate::elements::sweep::{Sweep, distinct, sweep_of_threads};
use crate::keys::closed::closed;
use crate::origins::Origins;
use plimsoll_plan::{PointRole, SettingValue};
use plimsoll_workload::schedule::Load;

impl Loads {
    /// Points of the closed loop.
    pub(crate) fn read_closed(
        &mut self,
        path: &str,
        map: &Checked,
        origins: &mut Origins<'_>,
        problems: &mut Collector<'_>,
    ) {
        let Some(threads) = map.get(closed::threads) else {
            self.complete = false;
            return;
        };
        let path_of_threads = closed::threads.under(path);
        let swept = sweep_of_threads(&path_of_threads, threads, origins, problems);
        let (listed, role) = match swept {
            Sweep::Points(points) => (points, PointRole::Sweep),
            Sweep::Wrong => {
                self.complete = false;
                (Vec::new(), PointRole::Sweep)
            }
            Sweep::List => {
                let listed = distinct(&path_of_threads, threads, origins, problems, |item| {
                    item.whole().map(|sessions| (sessions, sessions.to_string()))
                });
                self.complete &= listed.len() == threads.items().len() && !listed.is_empty();
                (listed, PointRole::Fixed)
            }
        };
        let think_time = origins.settle(path, Some(map), closed::think_time);
        let think_time_ns = think_time.and_then(|value| value.whole()).unwrap_or(0);
        let target = match origins.settle(path, Some(map), closed::target) {
            Some(SettingValue::Number(target)) => Some(target),
            _ => None,
        };
        self.pauses = think_time_ns > 0 || target.is_some();
        for sessions in listed {
            let load = Load::Closed { sessions: sessions_of(sessions), think_time_ns, target };
            self.closed.push(LoadPoint::new(load, role));
        }
    }
}
