//! How hard the database is driven at one point.

use crate::schedule::problem::{Problem, Wrong};
use crate::schedule::ramp;
use crate::schedule::stage::Stage;
use serde::{Deserialize, Serialize};

const MOST_SESSIONS: f64 = 1e6;
/// Ten thousand times what one host can send.
const MOST_RATE: f64 = 1e12;
/// One operation in thirty years.
const LEAST_RATE: f64 = 1e-9;
const MOST_NANOS: f64 = 1e18;

/// How hard the database is driven at one point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Load {
    /// Each session asks again as soon as it has its answer, after a think time where there is one.
    Closed {
        /// How many ask at the same time.
        sessions: u32,
        /// From an answer to the next question, nanoseconds.
        #[serde(default)]
        think_time_ns: u64,
        /// Operations per second, of all sessions together, to which they pace themselves: see [`Pace`](crate::schedule::Pace).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<f64>,
    },
    /// Operations are due at times fixed beforehand, at one rate.
    Open {
        /// Operations that are due per second.
        rate: f64,
        /// How the gaps are spread.
        arrivals: Arrivals,
        /// How many can be under way at the same time.
        sessions: u32,
    },
    /// Operations are due at times fixed beforehand, at rates that change. Nothing is due after the last stage.
    Stages {
        /// One after the other, the first at the start of the point.
        stages: Vec<Stage>,
        /// How the gaps are spread.
        arrivals: Arrivals,
        /// How many can be under way at the same time.
        sessions: u32,
    },
}

/// How the gaps between arrivals are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// Equal gaps, the first operation at once.
    Constant,
    /// A Poisson process: exponential gaps, as from many clients who know nothing of each other.
    Poisson,
}

impl Load {
    /// A closed loop that neither thinks nor paces itself.
    pub fn closed(sessions: u32) -> Self {
        Self::Closed { sessions, think_time_ns: 0, target: None }
    }

    /// How many operations can be under way at the same time.
    pub fn sessions(&self) -> u32 {
        match self {
            Self::Closed { sessions, .. }
            | Self::Open { sessions, .. }
            | Self::Stages { sessions, .. } => *sessions,
        }
    }

    /// How many arrivals there will be from the start of the point to `window_ns`, on average. `None` for a closed loop, where nobody can know.
    pub fn expected_arrivals(&self, window_ns: u64) -> Option<f64> {
        match self {
            Self::Closed { .. } => None,
            Self::Open { rate, .. } => Some(rate * window_ns as f64 / 1e9),
            Self::Stages { stages, .. } => Some(ramp::count(stages, window_ns)),
        }
    }

    /// Everything impossible in this description.
    pub fn check(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        in_range(&mut problems, "sessions", f64::from(self.sessions()), 1.0, MOST_SESSIONS);
        match self {
            Self::Closed { think_time_ns, target, .. } => {
                in_range(&mut problems, "think_time_ns", *think_time_ns as f64, 0.0, MOST_NANOS);
                if let Some(target) = target {
                    in_range(&mut problems, "target", *target, LEAST_RATE, MOST_RATE);
                }
            }
            Self::Open { rate, .. } => {
                in_range(&mut problems, "rate", *rate, LEAST_RATE, MOST_RATE)
            }
            Self::Stages { stages, .. } => check_stages(&mut problems, stages),
        }
        problems
    }
}

fn check_stages(problems: &mut Vec<Problem>, stages: &[Stage]) {
    if stages.is_empty() {
        problems.push(Problem { field: "stages".into(), wrong: Wrong::NoStages });
        return;
    }
    let mut highest = 0.0_f64;
    let mut total_ns = 0.0;
    for (index, stage) in stages.iter().enumerate() {
        let field = |name: &str| format!("stages[{index}].{name}");
        in_range(problems, &field("rate_from"), stage.rate_from, 0.0, MOST_RATE);
        in_range(problems, &field("rate_to"), stage.rate_to, 0.0, MOST_RATE);
        in_range(problems, &field("duration_ns"), stage.duration_ns as f64, 1.0, MOST_NANOS);
        highest = highest.max(stage.rate_from).max(stage.rate_to);
        total_ns += stage.duration_ns as f64;
    }
    in_range(problems, "stages", total_ns, 0.0, MOST_NANOS);
    if highest == 0.0 {
        problems.push(Problem { field: "stages".into(), wrong: Wrong::NothingArrives });
    }
}

/// Adds a problem unless `value` lies between the bounds. Not-a-number lies nowhere.
fn in_range(problems: &mut Vec<Problem>, field: &str, value: f64, least: f64, most: f64) {
    let inside = value >= least && value <= most;
    if !inside {
        problems
            .push(Problem { field: field.into(), wrong: Wrong::OutOfRange { value, least, most } });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(load: &Load) -> Vec<String> {
        load.check().into_iter().map(|problem| problem.field).collect()
    }

    #[test]
    fn possible_loads_have_no_problems() {
        let stage = Stage { rate_from: 0.0, rate_to: 5.0, duration_ns: 1 };
        for load in [
            Load::closed(1),
            Load::Open { rate: 0.5, arrivals: Arrivals::Poisson, sessions: 1 },
            Load::Stages { stages: vec![stage], arrivals: Arrivals::Constant, sessions: 1 },
        ] {
            assert_eq!(fields(&load), Vec::<String>::new());
        }
    }

    #[test]
    fn every_problem_is_reported_at_once() {
        let paced = |target| Load::Closed { sessions: 1, think_time_ns: 0, target: Some(target) };
        assert_eq!(fields(&paced(1_000.0)), Vec::<String>::new());
        for target in [0.0, -1.0, f64::NAN, 1e13] {
            assert_eq!(fields(&paced(target)), ["target"]);
        }
        assert_eq!(
            fields(&Load::Closed { sessions: 0, think_time_ns: u64::MAX, target: None }),
            ["sessions", "think_time_ns"]
        );
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e13] {
            let load = Load::Open { rate, arrivals: Arrivals::Constant, sessions: 0 };
            assert_eq!(fields(&load), ["sessions", "rate"]);
        }
        let first = Stage { rate_from: -1.0, rate_to: f64::NAN, duration_ns: 0 };
        let second = Stage { rate_from: 1.0, rate_to: 2.0, duration_ns: u64::MAX };
        let load =
            Load::Stages { stages: vec![first, second], arrivals: Arrivals::Constant, sessions: 1 };
        let expected = [
            "stages[0].rate_from",
            "stages[0].rate_to",
            "stages[0].duration_ns",
            "stages[1].duration_ns",
            "stages",
        ];
        assert_eq!(fields(&load), expected);
    }

    #[test]
    fn something_must_arrive() {
        let stages = |stages| Load::Stages { stages, arrivals: Arrivals::Constant, sessions: 1 };
        assert_eq!(stages(vec![]).check()[0].wrong, Wrong::NoStages);
        let pause = Stage { rate_from: 0.0, rate_to: 0.0, duration_ns: 5 };
        assert_eq!(stages(vec![pause]).check()[0].wrong, Wrong::NothingArrives);
    }

    #[test]
    fn expectations_are_integrals_of_the_rate() {
        let second = 1_000_000_000;
        assert_eq!(Load::closed(1).expected_arrivals(second), None);
        let open = Load::Open { rate: 250.0, arrivals: Arrivals::Poisson, sessions: 1 };
        assert_eq!(open.expected_arrivals(3 * second), Some(750.0));
        let up = Stage { rate_from: 0.0, rate_to: 100.0, duration_ns: 10 * second };
        let flat = Stage { rate_from: 100.0, rate_to: 100.0, duration_ns: 5 * second };
        let load =
            Load::Stages { stages: vec![up, flat], arrivals: Arrivals::Poisson, sessions: 1 };
        assert_eq!(load.expected_arrivals(5 * second), Some(125.0));
        assert_eq!(load.expected_arrivals(12 * second), Some(700.0));
        assert_eq!(load.expected_arrivals(90 * second), Some(1_000.0));
    }

    #[test]
    fn serialised_forms_are_plain() {
        let load: Load = serde_json::from_str(r#"{"closed": {"sessions": 16}}"#).unwrap();
        assert_eq!(load, Load::closed(16));
        let text = r#"{"open":{"rate":20000.0,"arrivals":"poisson","sessions":64}}"#;
        let load: Load = serde_json::from_str(text).unwrap();
        assert_eq!(load, Load::Open { rate: 20_000.0, arrivals: Arrivals::Poisson, sessions: 64 });
        assert_eq!(serde_json::to_string(&load).unwrap(), text);
        assert!(serde_json::from_str::<Load>(r#"{"closed": {"session": 16}}"#).is_err());
    }
}
