//! Which runs of a plan are due, in which order, and what came of them: pure, so that it can be tested by itself.

use plimsoll_plan::{Plan, PlannedRun};
use plimsoll_record::{RunRecord, RunState};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// An arm that failed in this many blocks and never succeeded is not tried again.
const TRIES_OF_A_BROKEN_ARM: u32 = 2;

/// Block and index of the arm.
type RunKey = (u32, u32);

/// How a turn stands: one run, or the two of a duet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnState {
    Done,
    /// One of its arms has only failed so far.
    GivenUp,
    /// One of its arms is not measured this time.
    LeftOut,
    Due,
}

/// The turns that are gone through at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    /// Every turn of the plan.
    Plan,
    /// The turns whose machine was lost, once more.
    Lost,
    /// The blocks that a gate refused, once more.
    Refused,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    successes: u32,
    failures: u32,
}

/// The turns of a plan that is executed.
pub(crate) struct Turns<'p> {
    plan: &'p Plan,
    /// Whether each arm is measured this time; `None`: all are.
    only: Option<&'p [bool]>,
    /// The latest attempt of each run that was begun.
    attempts: BTreeMap<RunKey, u32>,
    finished: BTreeSet<RunKey>,
    /// By index of the arm.
    tallies: Vec<Tally>,
    queue: VecDeque<&'p [PlannedRun]>,
    lost: Vec<&'p [PlannedRun]>,
    pass: Pass,
}

impl<'p> Turns<'p> {
    /// The turns of a plan after these runs.
    pub(crate) fn new(plan: &'p Plan, only: Option<&'p [bool]>, earlier: &[RunRecord]) -> Self {
        let key_of = |run: &RunRecord| {
            let arm = plan.arms.iter().position(|arm| arm.name == run.arm)?;
            Some((run.block, arm as u32))
        };
        let mut attempts: BTreeMap<RunKey, u32> = BTreeMap::new();
        let mut last_finished: BTreeMap<RunKey, u32> = BTreeMap::new();
        for run in earlier {
            let Some(key) = key_of(run) else { continue };
            let attempt = attempts.entry(key).or_insert(0);
            *attempt = run.attempt.max(*attempt);
            if run.state == RunState::Finished {
                let attempt = last_finished.entry(key).or_insert(0);
                *attempt = run.attempt.max(*attempt);
            }
        }
        let mut finished = BTreeSet::new();
        for turn in plan.runs.chunks(plan.at_once()) {
            // A duet counts when both of its runs are finished, which then are of one attempt.
            let last = |run: &PlannedRun| last_finished.get(&key(run)).copied();
            let first = last(&turn[0]);
            if first.is_some() && turn.iter().all(|run| last(run) == first) {
                finished.extend(turn.iter().map(key));
            }
        }
        Self {
            plan,
            only,
            attempts,
            finished,
            tallies: vec![Tally::default(); plan.arms.len()],
            queue: plan.runs.chunks(plan.at_once()).collect(),
            lost: Vec::new(),
            pass: Pass::Plan,
        }
    }

    /// Runs that are not finished.
    pub(crate) fn missing(&self) -> u32 {
        let is_missing = |run: &&PlannedRun| !self.finished.contains(&key(run));
        self.plan.runs.iter().filter(is_missing).count() as u32
    }

    /// Unfinished runs that are made this time.
    pub(crate) fn to_make(&self) -> u32 {
        let is_due =
            |run: &&PlannedRun| !self.finished.contains(&key(run)) && !self.is_left_out(run);
        self.plan.runs.iter().filter(is_due).count() as u32
    }

    /// The next turn. Turns whose machine was lost are tried once more when the others are made.
    pub(crate) fn next(&mut self) -> Option<&'p [PlannedRun]> {
        if self.queue.is_empty() && self.pass == Pass::Plan && !self.lost.is_empty() {
            self.pass = Pass::Lost;
            self.queue.extend(std::mem::take(&mut self.lost));
        }
        self.queue.pop_front()
    }

    /// Whether a turn is the first of its block, when the plan is gone through.
    pub(crate) fn begins_block(&self, turn: &[PlannedRun]) -> bool {
        self.pass == Pass::Plan && turn[0].position == 0
    }

    /// Whether everything is made, and no block was measured again yet.
    pub(crate) fn can_repeat(&self) -> bool {
        self.pass != Pass::Refused && self.only.is_none() && self.missing() == 0
    }

    /// Has these blocks measured again.
    pub(crate) fn repeat(&mut self, blocks: &[u32]) {
        self.pass = Pass::Refused;
        self.finished.retain(|(block, _)| !blocks.contains(block));
        let chunks = self.plan.runs.chunks(self.plan.at_once());
        self.queue.extend(chunks.filter(|turn| blocks.contains(&turn[0].block)));
    }

    pub(crate) fn state(&self, turn: &[PlannedRun]) -> TurnState {
        let is_broken = |run: &PlannedRun| {
            let tally = self.tallies[run.arm as usize];
            tally.successes == 0 && tally.failures >= TRIES_OF_A_BROKEN_ARM
        };
        if turn.iter().all(|run| self.finished.contains(&key(run))) {
            TurnState::Done
        } else if turn.iter().any(|run| self.is_left_out(run)) {
            TurnState::LeftOut
        } else if turn.iter().any(is_broken) {
            TurnState::GivenUp
        } else {
            TurnState::Due
        }
    }

    /// Whether nothing of its block is due after this turn.
    pub(crate) fn ends_block(&self, turn: &[PlannedRun]) -> bool {
        self.plan
            .runs
            .chunks(self.plan.at_once())
            .skip_while(|other| other[0] != turn[0])
            .skip(1)
            .take_while(|later| later[0].block == turn[0].block)
            .all(|later| self.state(later) != TurnState::Due)
    }

    /// The number of the attempt that a turn is about to make, counted from 1. The runs of a duet are one attempt.
    pub(crate) fn next_attempt(&self, turn: &[PlannedRun]) -> u32 {
        let attempts = turn.iter().filter_map(|run| self.attempts.get(&key(run)));
        attempts.max().copied().unwrap_or(0) + 1
    }

    /// Counts a turn that was done before.
    pub(crate) fn count_done(&mut self, turn: &[PlannedRun]) {
        for run in turn {
            self.tallies[run.arm as usize].successes += 1;
        }
    }

    /// Notes the attempt of a turn whose machine was lost.
    pub(crate) fn lose(&mut self, turn: &'p [PlannedRun], attempt: u32) {
        self.attempts.extend(turn.iter().map(|run| (key(run), attempt)));
        self.lost.push(turn);
    }

    /// Notes that a run is finished.
    pub(crate) fn finish(&mut self, run: &PlannedRun, attempt: u32) {
        self.attempts.insert(key(run), attempt);
        self.tallies[run.arm as usize].successes += 1;
        self.finished.insert(key(run));
    }

    /// Notes that a run failed. Returns how often its arm has, if it is given up by that.
    pub(crate) fn fail(&mut self, run: &PlannedRun, attempt: u32) -> Option<u32> {
        self.attempts.insert(key(run), attempt);
        let tally = &mut self.tallies[run.arm as usize];
        tally.failures += 1;
        let is_given_up = tally.successes == 0 && tally.failures == TRIES_OF_A_BROKEN_ARM;
        is_given_up.then_some(tally.failures)
    }

    fn is_left_out(&self, run: &PlannedRun) -> bool {
        self.only.is_some_and(|only| !only[run.arm as usize])
    }
}

fn key(run: &PlannedRun) -> RunKey {
    (run.block, run.arm)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_plan::{Order, planned_runs};
    use serde_json::json;

    fn plan(blocks: u32) -> Plan {
        let arm = |name: &str| {
            json!({
                "name": name, "about": null, "engine": "noop", "settings": {}, "data": {"records": 1000},
                "directory": null
            })
        };
        let plan = json!({
            "version": 1, "name": "turns", "question": null, "mixes": [], "points": [],
            "load_phase": {"sessions": 1}, "arms": [arm("one"), arm("two")],
            "measurement": {
                "warm_up_ns": 0, "duration_ns": 0, "operations": null, "blocks": blocks, "order": "as-written", "seed": 1
            },
            "objective": null,
            "compare": {"baseline": "one", "primary": [], "at": null, "margins": {}},
            "thresholds": [], "origins": [], "runs": planned_runs(2, blocks, Order::AsWritten, 1)
        });
        serde_json::from_value(plan).unwrap()
    }

    fn finish_all(turns: &mut Turns<'_>) -> Vec<RunKey> {
        let mut made = Vec::new();
        while let Some(turn) = turns.next() {
            if turns.state(turn) != TurnState::Due {
                continue;
            }
            let attempt = turns.next_attempt(turn);
            for run in turn {
                turns.finish(run, attempt);
                made.push(key(run));
            }
        }
        made
    }

    #[test]
    fn a_repeated_block_is_a_further_attempt() {
        let plan = plan(3);
        let mut turns = Turns::new(&plan, None, &[]);
        assert_eq!((turns.missing(), turns.to_make()), (6, 6));
        assert!(!turns.can_repeat());
        assert_eq!(finish_all(&mut turns).len(), 6);
        assert!(turns.can_repeat());
        turns.repeat(&[1]);
        assert_eq!(turns.missing(), 2);
        let turn = turns.next().unwrap();
        assert_eq!((turn[0].block, turns.next_attempt(turn)), (1, 2));
        assert!(!turns.begins_block(turn));
        turns.finish(&turn[0], 2);
        finish_all(&mut turns);
        assert_eq!(turns.missing(), 0);
        assert!(!turns.can_repeat(), "each block is measured again once");
    }

    #[test]
    fn an_arm_that_only_fails_is_given_up() {
        let plan = plan(4);
        let mut turns = Turns::new(&plan, None, &[]);
        let mut given_up = Vec::new();
        let mut tried = 0;
        while let Some(turn) = turns.next() {
            match turns.state(turn) {
                TurnState::Due if turn[0].arm == 1 => {
                    tried += 1;
                    given_up.extend(turns.fail(&turn[0], 1));
                }
                TurnState::Due => turns.finish(&turn[0], 1),
                state => assert_eq!(state, TurnState::GivenUp),
            }
        }
        assert_eq!((tried, given_up), (2, vec![2]));
        assert_eq!(turns.missing(), 4);
    }

    #[test]
    fn a_turn_whose_machine_was_lost_is_tried_once_more_at_the_end() {
        let plan = plan(2);
        let mut turns = Turns::new(&plan, None, &[]);
        let first = turns.next().unwrap();
        turns.lose(first, turns.next_attempt(first));
        assert_eq!(finish_all(&mut turns), [(0, 1), (1, 0), (1, 1), (0, 0)]);
        assert_eq!(turns.attempts[&(0, 0)], 2);
    }

    #[test]
    fn arms_that_are_left_out_are_missing_and_nothing_is_repeated() {
        let plan = plan(2);
        let only = [true, false];
        let mut turns = Turns::new(&plan, Some(&only), &[]);
        assert_eq!((turns.missing(), turns.to_make()), (4, 2));
        assert!(turns.ends_block(&plan.runs[0..1]));
        assert_eq!(finish_all(&mut turns), [(0, 0), (1, 0)]);
        assert!(!turns.can_repeat());
    }
}
