//! `load.closed`: sessions that ask again when they are answered.

use crate::Collector;
use crate::document::Checked;
use crate::elements::load::{LoadPoint, Loads, SWEPT, sessions_of};
use crate::elements::sweep::{Sweep, THREADS_SWEEP, distinct, sweep_of_threads};
use crate::origins::Origins;
use crate::table::*;
use plimsoll_plan::{PointRole, SettingValue};
use plimsoll_workload::schedule::Load;

object! {
    CLOSED closed: "Closed loop."
    threads = Shape::Any(&[Shape::list(&SESSIONS, 1, 1_000), SWEPT, Shape::Object(&THREADS_SWEEP)]), Required, "[1, 2, 4, 8, 16]";
        "Sessions at once, each in its own thread: one point for each number. `until-bent`, or bounds, is a sweep: 1, 2, 4 and so on, until the \
         curve has bent.";
    think_time = Shape::duration(0, 3_600_000_000_000), Default("0s"), "10ms";
        "Pause of a session between an answer and its next question.";
    target = RATE, Optional, "10k";
        "Operations per second to which all sessions together pace themselves, as YCSB's `-target`. Each session still waits \
         for its answers, so this is no open loop; when each operation was due is known, and response time counts from then.";
}

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
