//! `objective.search`: whether and how the plimsoll line is searched.

use crate::Collector;
use crate::document::{Checked, Value};
use crate::elements::file::file;
use crate::elements::load::{
    ARRIVALS, LoadPoint, Loads, OpenLoop, SESSIONS_OR_FOUND, SESSIONS_TILL_FOUND, arrivals_of,
    count_of, too_many_due,
};
use crate::elements::objective::objective;
use crate::elements::sweep::six_digits;
use crate::mistake::Mistake;
use crate::origins::Origins;
use crate::table::*;
use plimsoll_plan::estimate::window_ns;
use plimsoll_plan::{Measurement, PointRole, Search, Sessions, SettingValue, Source};
use plimsoll_record::quantities::units;
use plimsoll_workload::schedule::{Arrivals, Load, MOST_ARRIVALS};

/// The narrowest and the widest interval at which a search can end.
const WIDTH: Shape = Shape::number(0.001, 0.5);
/// Default of the lowest and the highest rate, operations per second.
const RATES: (f64, f64) = (10.0, 1e6);

object! {
    /// How the plimsoll line is searched.
    SEARCH search: "How the plimsoll line is searched: by trials at rates that follow from each other, about 25 of them, until the highest rate that \
        holds the objective is known closely enough. It is searched after the closed loop and before the open one."
    trial = Shape::duration(SHORTEST_NS, LONGEST_NS), Optional, "10s";
        "Time that each trial is measured, after its warm-up; without it, that of a point.";
    warm_up = Shape::duration(0, LONGEST_NS), Optional, "2s";
        "Time under load before each trial, not counted; without it, that of a point.";
    width = WIDTH, Default("2%"), "5%";
        "The search ends when the interval in which the line lies is at most so wide, as a share of its upper end.";
    rates = Shape::list(&RATE, 2, 2), Default("[10, 1M]"), "[1k, 200k]";
        "Lowest and highest rate that may be tried.";
    sessions = SESSIONS_OR_FOUND, Optional, "64";
        "Sessions that serve the operations, as in the open loop; without it, those of the open loop, else `found` where there is a closed \
         loop, else 64.";
    arrivals = ARRIVALS, Optional, "poisson";
        "Gaps between operations; without it, those of the open loop, else `poisson`.";
}

pub(crate) fn path() -> String {
    objective::search.under(file::objective.name)
}

/// A search with its point.
pub(crate) struct Line {
    pub search: Search,
    pub point: LoadPoint,
}

/// Whether the plimsoll line is searched.
pub(crate) enum LineSearch {
    Yes(Line),
    No,
    /// Unknown, because the file has a mistake there.
    Unknown,
}

impl LineSearch {
    /// The search, where it is made.
    pub(crate) fn line(&self) -> Option<&Line> {
        match self {
            Self::Yes(line) => Some(line),
            Self::No | Self::Unknown => None,
        }
    }
}

/// Reads whether the line is searched: by default, if the objective bounds the response time and the load has no stages.
pub(crate) fn line_search<'s>(
    objective: Option<&Checked>,
    loads: &Loads,
    measurement: &Measurement,
    origins: &mut Origins<'s>,
    problems: &mut Collector<'s>,
) -> LineSearch {
    let Some(objective) = objective else {
        return LineSearch::No;
    };
    let mut reader = SearchReader { loads, measurement, origins, problems };
    let Some(given) = objective.get(objective::search) else {
        if objective.get(objective::response).is_none() || loads.stages_ns.is_some() {
            let text = if loads.stages_ns.is_some() {
                "false: the load has stages"
            } else {
                "false: no response time is bounded"
            };
            reader.origins.add(&path(), text, Source::Default);
            return LineSearch::No;
        }
        reader.origins.add(&path(), "true", Source::Default);
        return reader.read(None);
    };
    match (&given.value, given.flag()) {
        (Value::Wrong, _) => return LineSearch::Unknown,
        (_, Some(flag)) => {
            reader.origins.add_file(&path(), flag.to_string(), given.place);
            if !flag {
                return LineSearch::No;
            }
        }
        _ => {}
    }
    if loads.stages_ns.is_some() {
        let mistake = Mistake::SearchOfStages;
        reader.problems.add(&path(), Some(given.place), mistake);
        return LineSearch::Unknown;
    }
    reader.read(Some(given))
}

struct SearchReader<'r, 's> {
    loads: &'r Loads,
    measurement: &'r Measurement,
    origins: &'r mut Origins<'s>,
    problems: &'r mut Collector<'s>,
}

impl SearchReader<'_, '_> {
    fn read(&mut self, given: Option<&Checked>) -> LineSearch {
        let trial_ns = self.time(given, search::trial, self.measurement.duration_ns);
        let warm_up_ns = self.time(given, search::warm_up, self.measurement.warm_up_ns);
        let width = match self.origins.settle(&path(), given, search::width) {
            Some(SettingValue::Number(width)) => width,
            _ => return LineSearch::Unknown,
        };
        let (Some(trial_ns), Some(warm_up_ns)) = (trial_ns, warm_up_ns) else {
            return LineSearch::Unknown;
        };
        let open_loop = self.open_loop(given);
        let window_ns = window_ns(warm_up_ns, trial_ns);
        let Some(rates) = self.rates(given, open_loop, window_ns) else {
            return LineSearch::Unknown;
        };
        // Nothing is known of the line yet: the middle, as ratios go.
        let first = six_digits((rates.0 * rates.1).sqrt()).clamp(rates.0, rates.1);
        LineSearch::Yes(Line {
            search: Search { trial_ns, warm_up_ns, width, rates },
            point: LoadPoint {
                load: open(first, open_loop),
                role: PointRole::Line,
                sessions: open_loop.sessions,
            },
        })
    }

    /// A time of a trial, which is that of a point where nothing is said.
    fn time(&mut self, given: Option<&Checked>, key: &Key, of_points_ns: u64) -> Option<u64> {
        match given.and_then(|given| given.get(key)) {
            Some(_) => self.origins.settle(&path(), given, key).and_then(|value| value.whole()),
            None => {
                let text = format!("{}, as of points", units::duration(of_points_ns));
                self.origins.add(&key.under(&path()), text, Source::Default);
                Some(of_points_ns)
            }
        }
    }

    fn rates(
        &mut self,
        given: Option<&Checked>,
        open_loop: OpenLoop,
        window_ns: u64,
    ) -> Option<(f64, f64)> {
        let path = search::rates.under(&path());
        let words =
            |rates: (f64, f64)| format!("{} to {}", units::rate(rates.0), units::rate(rates.1));
        let Some(listed) = given.and_then(|given| given.get(search::rates)) else {
            // All operations of a trial are computed before it begins.
            let most = MOST_ARRIVALS as f64 / (window_ns as f64 / 1e9);
            let rates = (RATES.0.min(most / 2.0), RATES.1.min(most));
            self.origins.add(&path, words(rates), Source::Default);
            return Some(rates);
        };
        let [low, high] = listed.items() else {
            return None;
        };
        let rates = (low.number()?, high.number()?);
        if rates.0 >= rates.1 {
            let (low, high) = (units::rate(rates.0), units::rate(rates.1));
            let mistake = Mistake::LowNotBelowHigh { low, high };
            self.problems.add(&path, Some(listed.place), mistake);
            return None;
        }
        if let Some(mistake) = too_many_due(&open(rates.1, open_loop), window_ns) {
            self.problems.add(&path, Some(high.place), mistake);
            return None;
        }
        self.origins.add_file(&path, words(rates), listed.place);
        Some(rates)
    }

    /// Arrivals and sessions: those of the open loop where nothing is given, else those of the closed loop.
    fn open_loop(&mut self, given: Option<&Checked>) -> OpenLoop {
        let get = |key: &Key| given.and_then(|given| given.get(key));
        let mut open_loop = self.loads.open_loop.unwrap_or(OpenLoop {
            arrivals: Arrivals::Poisson,
            count: SESSIONS_TILL_FOUND,
            sessions: if self.loads.closed.is_empty() || self.loads.pauses {
                Sessions::Given
            } else {
                Sessions::Found
            },
        });
        if get(search::arrivals).is_some() {
            let value = self.origins.settle(&path(), given, search::arrivals);
            open_loop.arrivals = arrivals_of(value.as_ref());
        } else {
            let word = match open_loop.arrivals {
                Arrivals::Constant => "constant",
                Arrivals::Poisson => "poisson",
            };
            self.origins.add(&search::arrivals.under(&path()), word, Source::Default);
        }
        if get(search::sessions).is_some() {
            let value = self.origins.settle(&path(), given, search::sessions);
            (open_loop.count, open_loop.sessions) = count_of(value.as_ref());
        } else {
            let text = match open_loop.sessions {
                Sessions::Found => "found".to_owned(),
                Sessions::Given => open_loop.count.to_string(),
            };
            self.origins.add(&search::sessions.under(&path()), text, Source::Default);
        }
        open_loop
    }
}

fn open(rate: f64, open_loop: OpenLoop) -> Load {
    Load::Open { rate, arrivals: open_loop.arrivals, sessions: open_loop.count }
}
