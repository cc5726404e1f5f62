//! Decides whether and how the plimsoll line is searched.

use crate::load::{
    Asking, LoadPoint, Loads, SESSIONS_TILL_FOUND, arrivals_of, count_of, too_many_due,
};
use crate::load_format::SEARCH;
use crate::mistake::Mistake;
use crate::problems::Collector;
use crate::reader::{Checked, Value, join};
use crate::settle::Origins;
use crate::sweep::six_digits;
use plimsoll_plan::estimate::window_ns;
use plimsoll_plan::{Measurement, PointRole, Search, Sessions, SettingValue, Source};
use plimsoll_quantities::units;
use plimsoll_schedule::{Arrivals, Load, MOST_ARRIVALS};

const PATH: &str = "objective.search";
/// Lowest and highest rate where the file says nothing, operations per second.
const RATES: (f64, f64) = (10.0, 1e6);

/// A search with its point.
pub(crate) struct Line {
    pub search: Search,
    pub point: LoadPoint,
}

/// What is known of a search.
pub(crate) enum Searched {
    /// It is made.
    Yes(Line),
    /// It is not.
    No,
    /// What the file says of it was not understood.
    Unknown,
}

impl Searched {
    /// The search, where it is made.
    pub(crate) fn line(&self) -> Option<&Line> {
        match self {
            Self::Yes(line) => Some(line),
            Self::No | Self::Unknown => None,
        }
    }
}

/// Reads whether the line is searched: where the objective bounds the response time, unless it says otherwise or the load has stages.
pub(crate) fn searched<'s>(
    objective: Option<&Checked>,
    loads: &Loads,
    measurement: &Measurement,
    origins: &mut Origins<'s>,
    problems: &mut Collector<'s>,
) -> Searched {
    let Some(objective) = objective else {
        return Searched::No;
    };
    let mut reader = SearchReader {
        loads,
        measurement,
        origins,
        problems,
    };
    let Some(given) = objective.get("search") else {
        if objective.get("response").is_none() || loads.stages_ns.is_some() {
            let text = if loads.stages_ns.is_some() {
                "false: the load has stages"
            } else {
                "false: no response time is bounded"
            };
            reader.origins.add(PATH, text, Source::Default);
            return Searched::No;
        }
        reader.origins.add(PATH, "true", Source::Default);
        return reader.read(None);
    };
    match (&given.value, given.flag()) {
        (Value::Wrong, _) => return Searched::Unknown,
        (_, Some(flag)) => {
            reader.origins.add_file(PATH, flag.to_string(), given.place);
            if !flag {
                return Searched::No;
            }
        }
        _ => {}
    }
    if loads.stages_ns.is_some() {
        let mistake = Mistake::SearchOfStages;
        reader.problems.add(PATH, Some(given.place), mistake);
        return Searched::Unknown;
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
    fn read(&mut self, given: Option<&Checked>) -> Searched {
        let trial_ns = self.time(given, "trial", self.measurement.duration_ns);
        let warm_up_ns = self.time(given, "warm_up", self.measurement.warm_up_ns);
        let width = match self.origins.settle(PATH, &SEARCH, given, "width") {
            Some(SettingValue::Number(width)) => width,
            _ => return Searched::Unknown,
        };
        let (Some(trial_ns), Some(warm_up_ns)) = (trial_ns, warm_up_ns) else {
            return Searched::Unknown;
        };
        let asking = self.asking(given);
        let window_ns = window_ns(warm_up_ns, trial_ns);
        let Some(rates) = self.rates(given, asking, window_ns) else {
            return Searched::Unknown;
        };
        // Nothing is known of the line yet: the middle, as ratios go.
        let first = six_digits((rates.0 * rates.1).sqrt()).clamp(rates.0, rates.1);
        Searched::Yes(Line {
            search: Search {
                trial_ns,
                warm_up_ns,
                width,
                rates,
            },
            point: LoadPoint {
                load: open(first, asking),
                role: PointRole::Line,
                sessions: asking.sessions,
            },
        })
    }

    /// A time of a trial, which is that of a point where nothing is said.
    fn time(&mut self, given: Option<&Checked>, key: &str, of_points_ns: u64) -> Option<u64> {
        match given.and_then(|given| given.get(key)) {
            Some(_) => self
                .origins
                .settle(PATH, &SEARCH, given, key)
                .and_then(|value| value.whole()),
            None => {
                let text = format!("{}, as of points", units::duration(of_points_ns));
                self.origins.add(&join(PATH, key), text, Source::Default);
                Some(of_points_ns)
            }
        }
    }

    /// Lowest and highest rate.
    fn rates(
        &mut self,
        given: Option<&Checked>,
        asking: Asking,
        window_ns: u64,
    ) -> Option<(f64, f64)> {
        let path = join(PATH, "rates");
        let words =
            |rates: (f64, f64)| format!("{} to {}", units::rate(rates.0), units::rate(rates.1));
        let Some(listed) = given.and_then(|given| given.get("rates")) else {
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
        if let Some(mistake) = too_many_due(&open(rates.1, asking), window_ns) {
            self.problems.add(&path, Some(high.place), mistake);
            return None;
        }
        self.origins.add_file(&path, words(rates), listed.place);
        Some(rates)
    }

    /// Arrivals and sessions: what is not said is as in the open loop, and else as in the closed loop.
    fn asking(&mut self, given: Option<&Checked>) -> Asking {
        let get = |key: &str| given.and_then(|given| given.get(key));
        let mut asking = self.loads.asking.unwrap_or(Asking {
            arrivals: Arrivals::Poisson,
            count: SESSIONS_TILL_FOUND,
            sessions: if self.loads.closed.is_empty() || self.loads.pauses {
                Sessions::Given
            } else {
                Sessions::Found
            },
        });
        if get("arrivals").is_some() {
            let value = self.origins.settle(PATH, &SEARCH, given, "arrivals");
            asking.arrivals = arrivals_of(value.as_ref());
        } else {
            let word = match asking.arrivals {
                Arrivals::Constant => "constant",
                Arrivals::Poisson => "poisson",
            };
            self.origins
                .add(&join(PATH, "arrivals"), word, Source::Default);
        }
        if get("sessions").is_some() {
            let value = self.origins.settle(PATH, &SEARCH, given, "sessions");
            (asking.count, asking.sessions) = count_of(value.as_ref());
        } else {
            let text = match asking.sessions {
                Sessions::Found => "found".to_owned(),
                Sessions::Given => asking.count.to_string(),
            };
            self.origins
                .add(&join(PATH, "sessions"), text, Source::Default);
        }
        asking
    }
}

fn open(rate: f64, asking: Asking) -> Load {
    Load::Open {
        rate,
        arrivals: asking.arrivals,
        sessions: asking.count,
    }
}
