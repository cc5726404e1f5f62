//! `objective.search`: whether and how the plimsoll line is searched.

use crate::Collector;
use crate::document::{Checked, Value};
use crate::elements::load::{
    LoadPoint, Loads, OpenLoop, SESSIONS_TILL_FOUND, arrivals_of, count_of, too_many_due,
};
use crate::elements::objective::search_path;
use crate::elements::sweep::six_digits;
use crate::keys::objective::objective;
use crate::keys::search::search;
use crate::mistake::Mistake;
use crate::origins::Origins;
use crate::table::*;
use plimsoll_plan::estimate::window_ns;
use plimsoll_plan::{Measurement, PointRole, Search, Sessions, SettingValue, Source};
use plimsoll_record::quantities::units;
use plimsoll_workload::schedule::{Arrivals, Load, MOST_ARRIVALS};

/// Default of the lowest and the highest rate, operations per second.
const RATES: (f64, f64) = (10.0, 1e6);

/// A search with its point.
pub(crate) struct SearchedLine {
    pub search: Search,
    pub point: LoadPoint,
}

/// Whether the plimsoll line is searched.
pub(crate) enum LineSearch {
    Yes(SearchedLine),
    No,
    /// Unknown, because the file has a mistake there.
    Unknown,
}

impl LineSearch {
    /// The search, where it is made.
    pub(crate) fn line(&self) -> Option<&SearchedLine> {
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
        let is_bounded = [objective::response, objective::operations]
            .into_iter()
            .any(|key| objective.get(key).is_some());
        if !is_bounded || loads.stages_ns.is_some() {
            let text = if loads.stages_ns.is_some() {
                "false: the load has stages"
            } else {
                "false: no response time is bounded"
            };
            reader.origins.add(&search_path(), text, Source::Default);
            return LineSearch::No;
        }
        reader.origins.add(&search_path(), "true", Source::Default);
        return reader.read(None);
    };
    match (&given.value, given.flag()) {
        (Value::Wrong, _) => return LineSearch::Unknown,
        (_, Some(flag)) => {
            reader.origins.add_file(&search_path(), flag.to_string(), given.place);
            if !flag {
                return LineSearch::No;
            }
        }
        _ => {}
    }
    if loads.stages_ns.is_some() {
        let mistake = Mistake::SearchOfStages;
        reader.problems.add(&search_path(), Some(given.place), mistake);
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
        let width = match self.origins.settle(&search_path(), given, search::width) {
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
        LineSearch::Yes(SearchedLine {
            search: Search { trial_ns, warm_up_ns, width, rates },
            point: LoadPoint {
                load: open(first, open_loop),
                role: PointRole::Line,
                sessions: open_loop.sessions,
            },
        })
    }

    /// A time of a trial; by default that of a point.
    fn time(&mut self, given: Option<&Checked>, key: &Key, of_points_ns: u64) -> Option<u64> {
        match given.and_then(|given| given.get(key)) {
            Some(_) => {
                self.origins.settle(&search_path(), given, key).and_then(|value| value.whole())
            }
            None => {
                let text = format!("{}, as of points", units::duration(of_points_ns));
                self.origins.add(&key.under(&search_path()), text, Source::Default);
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
        let path = search::rates.under(&search_path());
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
            let value = self.origins.settle(&search_path(), given, search::arrivals);
            open_loop.arrivals = arrivals_of(value.as_ref());
        } else {
            let word = match open_loop.arrivals {
                Arrivals::Constant => "constant",
                Arrivals::Poisson => "poisson",
            };
            self.origins.add(&search::arrivals.under(&search_path()), word, Source::Default);
        }
        if get(search::sessions).is_some() {
            let value = self.origins.settle(&search_path(), given, search::sessions);
            (open_loop.count, open_loop.sessions) = count_of(value.as_ref());
        } else {
            let text = match open_loop.sessions {
                Sessions::Found => "found".to_owned(),
                Sessions::Given => open_loop.count.to_string(),
            };
            self.origins.add(&search::sessions.under(&search_path()), text, Source::Default);
        }
        open_loop
    }
}

fn open(rate: f64, open_loop: OpenLoop) -> Load {
    Load::Open { rate, arrivals: open_loop.arrivals, sessions: open_loop.count }
}
