//! What is done to the server and the disk of a run while it is measured, at its time.

use crate::below::Below;
use crate::frames::PowerCuts;
use plimsoll_plan::power_cuts;
use plimsoll_record::{Act, EventRecord, EventSpec};
use plimsoll_rig::{Disturb, RigError};
use std::time::{Duration, Instant};

/// Time between two checks whether a member that was started again takes connections.
const LOOK: Duration = Duration::from_millis(50);

/// The events of one point after the other.
pub(crate) struct Agenda<'a> {
    events: &'a [EventSpec],
    /// How long a point is measured, nanoseconds.
    measured_ns: u64,
    /// Seed of the run: power cuts draw from it.
    seed: u64,
    due: Vec<Due>,
    /// Events of the running point; times are of `CLOCK_MONOTONIC`.
    done: Vec<EventRecord>,
    /// Why the database does not come back after a power cut: nothing more is done at the point.
    unusable: Option<String>,
}

struct Due {
    at: Instant,
    /// Place in the list of events.
    event: usize,
    what: Disturb,
}

impl<'a> Agenda<'a> {
    pub(crate) fn of(events: &'a [EventSpec], measured_ns: u64, seed: u64) -> Self {
        Self { events, measured_ns, seed, due: Vec::new(), done: Vec::new(), unusable: None }
    }

    /// The measured part of a point begins then: at `start_ns` of the rig's monotonic clock. Events of the disk are done by the disk itself.
    pub(crate) fn begins(
        &mut self,
        start: Instant,
        start_ns: u64,
        below: &dyn Below,
    ) -> Result<(), RigError> {
        self.done.clear();
        self.due.clear();
        self.unusable = None;
        for (event, spec) in self.events.iter().enumerate() {
            let what = match spec.act {
                Act::PowerCut(cut) => {
                    let sector_bytes = cut.sector_bytes;
                    for cut in power_cuts(cut, spec.at_ns, self.measured_ns, self.seed) {
                        let what = Disturb::CutPower { seed: cut.seed, sector_bytes };
                        let at = start + Duration::from_nanos(cut.at_ns);
                        self.due.push(Due { at, event, what });
                    }
                    continue;
                }
                Act::StepDown => Disturb::StepDown,
                Act::Kill { member, .. } => Disturb::Kill(member),
                Act::Pause { member, .. } => Disturb::Pause(member),
                Act::Disk { .. } => continue,
            };
            self.due.push(Due { at: start + Duration::from_nanos(spec.at_ns), event, what });
        }
        if self.is_of_disk() {
            below.timeline(self.events, start_ns)?;
        }
        Ok(())
    }

    /// The point is over: events that are still due are dropped, and the disk is as before.
    pub(crate) fn is_over(&mut self, below: &dyn Below) -> Result<(), RigError> {
        self.due.clear();
        if self.is_of_disk() {
            self.done.extend(below.timeline(&[], 0)?);
            self.done.sort_by_key(|record| record.at_ns);
        }
        Ok(())
    }

    fn is_of_disk(&self) -> bool {
        self.events.iter().any(|event| event.of_disk().is_some())
    }

    /// How long there is nothing to do, at most `longest`.
    pub(crate) fn rest(&self, longest: Duration) -> Duration {
        let next = self.due.iter().map(|due| due.at).min();
        next.map_or(longest, |next| next.saturating_duration_since(Instant::now()).min(longest))
    }

    /// Does what is due by now.
    pub(crate) fn carry_out(&mut self, below: &dyn Below) -> Result<(), RigError> {
        let now = Instant::now();
        let (mut due, later) =
            std::mem::take(&mut self.due).into_iter().partition(|due| due.at <= now);
        self.due = later;
        due.sort_by_key(|due: &Due| due.at);
        for Due { event, what, .. } in due {
            if self.unusable.is_some() {
                return Ok(());
            }
            let done = below.disturb(what)?;
            let next = |what, after: Duration| Due { at: Instant::now() + after, event, what };
            self.unusable = done.unusable;
            match (what, self.events[event].act) {
                (
                    Disturb::StepDown
                    | Disturb::Kill(_)
                    | Disturb::Pause(_)
                    | Disturb::CutPower { .. },
                    act,
                ) => {
                    self.done.push(EventRecord {
                        event: event as u32,
                        at_ns: done.at_ns,
                        until_ns: done.until_ns,
                        member: done.address,
                        cut: done.cut.map(Box::new),
                    });
                    match act {
                        Act::Kill { restart_after_ns: Some(nanos), .. } => self
                            .due
                            .push(next(Disturb::Restart(done.member), Duration::from_nanos(nanos))),
                        Act::Pause { for_ns, .. } => self
                            .due
                            .push(next(Disturb::Resume(done.member), Duration::from_nanos(for_ns))),
                        Act::PowerCut(_) if done.until_ns.is_none() => {
                            self.due.push(next(Disturb::LookFor(done.member), LOOK));
                        }
                        _ => {}
                    }
                }
                (Disturb::Restart(member), _) => {
                    self.due.push(next(Disturb::LookFor(member), LOOK));
                }
                (Disturb::Resume(member) | Disturb::LookFor(member), _) => {
                    let mut records = self.done.iter_mut().rev();
                    let record = records.find(|one| one.event as usize == event);
                    if let (Some(record), Some(_)) = (record, done.until_ns) {
                        record.until_ns = done.until_ns;
                    } else {
                        self.due.push(next(Disturb::LookFor(member), LOOK));
                    }
                }
            }
        }
        Ok(())
    }

    /// The point is over, and everybody was to come back: `healed` says whether they did. That they did not is a result after a power cut, and an error otherwise.
    pub(crate) fn healed(&mut self, healed: Result<(), RigError>) -> Result<PowerCuts, RigError> {
        let cuts = self.done.iter().filter(|record| record.cut.is_some());
        let at_ns: Vec<u64> = cuts.map(|record| record.at_ns).collect();
        match healed {
            Err(RigError::Gone(why)) => return Err(RigError::Gone(why)),
            Err(error) if at_ns.is_empty() => return Err(error),
            Err(error) => drop(self.unusable.get_or_insert(error.to_string())),
            Ok(()) => {}
        }
        Ok(PowerCuts { at_ns, unusable: self.unusable.take() })
    }

    /// What was done at the point that began then, from its start.
    pub(crate) fn take(&mut self, started_ns: u64) -> Vec<EventRecord> {
        let mut done = std::mem::take(&mut self.done);
        for record in &mut done {
            record.at_ns = record.at_ns.saturating_sub(started_ns);
            record.until_ns = record.until_ns.map(|at| at.saturating_sub(started_ns));
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_record::{DiskFault, PowerCut, PowerCutSpec, Role};
    use plimsoll_rig::Disturbed;
    use std::cell::RefCell;

    /// Notes the requests, and the number of events of each timeline with its start; a member is back at the second look.
    #[derive(Default)]
    struct Noting(RefCell<Vec<Disturb>>, RefCell<Vec<(usize, u64)>>);

    impl Below for Noting {
        fn admit(&self, _: u32) -> Result<(), RigError> {
            Ok(())
        }

        fn is_sound(&self) -> bool {
            true
        }

        fn shape(&self, _: bool, _: &str) -> Result<(), RigError> {
            Ok(())
        }

        fn map(&self) -> Result<(), RigError> {
            Ok(())
        }

        fn size_memory(&self) -> Result<(), RigError> {
            Ok(())
        }

        fn drop_page_cache(&self) -> Result<(), RigError> {
            Ok(())
        }

        fn disturb(&self, what: Disturb) -> Result<Disturbed, RigError> {
            let mut requested = self.0.borrow_mut();
            requested.push(what);
            let looked = requested.iter().filter(|one| **one == Disturb::LookFor(2)).count();
            let is_over = looked > 1 || matches!(what, Disturb::StepDown | Disturb::Resume(_));
            Ok(Disturbed {
                member: 2,
                address: Some("there".into()),
                at_ns: 1_000,
                until_ns: is_over.then_some(2_000),
                cut: matches!(what, Disturb::CutPower { .. }).then(PowerCut::default),
                ..Disturbed::default()
            })
        }

        fn timeline(
            &self,
            events: &[EventSpec],
            start_ns: u64,
        ) -> Result<Vec<EventRecord>, RigError> {
            let mut timelines = self.1.borrow_mut();
            timelines.push((events.len(), start_ns));
            let stall =
                EventRecord { event: 1, at_ns: 900, until_ns: Some(950), ..EventRecord::default() };
            Ok(if events.is_empty() { vec![stall] } else { Vec::new() })
        }

        fn heal(&self) -> Result<(), RigError> {
            Ok(())
        }
    }

    #[test]
    fn the_disk_does_its_events_itself_and_tells_when_it_did() {
        const HOUR_NS: u64 = 3_600_000_000_000;
        let events = [
            EventSpec { at_ns: HOUR_NS, act: Act::StepDown },
            EventSpec { at_ns: 0, act: Act::Disk { for_ns: 50, fault: DiskFault::Stall } },
        ];
        let below = Noting::default();
        let mut agenda = Agenda::of(&events, 0, 1);
        agenda.begins(Instant::now(), 900, &below).unwrap();
        agenda.carry_out(&below).unwrap();
        assert!(below.0.borrow().is_empty(), "nothing is sent to a server");
        agenda.is_over(&below).unwrap();
        assert_eq!(*below.1.borrow(), [(2, 900), (0, 0)]);
        let done = agenda.take(600);
        assert_eq!(done.len(), 1);
        assert_eq!((done[0].event, done[0].at_ns, done[0].until_ns), (1, 300, Some(350)));
    }

    #[test]
    fn a_database_that_does_not_come_back_after_a_power_cut_is_a_result() {
        let cut = PowerCutSpec { seed: 7, sector_bytes: 512, every_ns: None };
        let events = [
            EventSpec { at_ns: 0, act: Act::PowerCut(cut) },
            EventSpec {
                at_ns: 0,
                act: Act::Kill { member: Role::Primary, restart_after_ns: None },
            },
        ];
        let below = Noting::default();
        let refused = || Err(RigError::Refused("the server mongod is gone".into()));
        let mut agenda = Agenda::of(&events[1..], 1, 42);
        agenda.begins(Instant::now(), 0, &below).unwrap();
        agenda.carry_out(&below).unwrap();
        assert!(agenda.healed(refused()).is_err(), "what was killed is meant to come back");
        let mut agenda = Agenda::of(&events[..1], 1, 42);
        agenda.begins(Instant::now(), 0, &below).unwrap();
        agenda.carry_out(&below).unwrap();
        let requested = below.0.borrow().last().copied();
        let is_cut = |what| matches!(what, Disturb::CutPower { sector_bytes: 512, .. });
        assert!(requested.is_some_and(is_cut), "{requested:?}");
        let cuts = agenda.healed(refused()).unwrap();
        assert_eq!(cuts.at_ns, [1_000]);
        assert_eq!(cuts.unusable.as_deref(), Some("the server mongod is gone"));
        let gone = Err(RigError::Gone("the process has ended".into()));
        assert!(agenda.healed(gone).is_err(), "a rig that is gone is no result");
        assert_eq!(agenda.take(0)[0].cut.as_deref(), Some(&PowerCut::default()));
    }

    #[test]
    fn a_member_that_is_killed_is_started_again_and_looked_for() {
        let events = [
            EventSpec {
                at_ns: 0,
                act: Act::Kill { member: Role::Primary, restart_after_ns: Some(1) },
            },
            EventSpec { at_ns: 3_600_000_000_000, act: Act::StepDown },
        ];
        let below = Noting::default();
        let mut agenda = Agenda::of(&events, 0, 1);
        assert_eq!(agenda.rest(LOOK), LOOK, "nothing is measured yet");
        agenda.begins(Instant::now(), 0, &below).unwrap();
        while below.0.borrow().len() < 4 {
            std::thread::sleep(agenda.rest(LOOK));
            agenda.carry_out(&below).unwrap();
        }
        assert_eq!(
            *below.0.borrow(),
            [
                Disturb::Kill(Role::Primary),
                Disturb::Restart(2),
                Disturb::LookFor(2),
                Disturb::LookFor(2),
            ]
        );
        agenda.is_over(&below).unwrap();
        assert!(below.1.borrow().is_empty(), "the disk is left alone");
        assert_eq!(agenda.rest(LOOK), LOOK, "the rest is not done any more");
        let done = agenda.take(600);
        assert_eq!(done.len(), 1);
        assert_eq!((done[0].at_ns, done[0].until_ns), (400, Some(1_400)));
        assert_eq!((done[0].event, done[0].member.as_deref()), (0, Some("there")));
    }
}
