//! What is done to the members of a server on purpose while it is measured, and how they come back.

use super::{Member, MemberState, Server, ServerPlace, Starting, Unstarted, address};
use crate::testbed::TestbedError;
use crate::testbed::rig_parts::RigParts;
use plimsoll_record::{PowerCut, Role, RoleCommands};
use plimsoll_trace::monotonic_ns;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// Something to do to a member. Members are numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Disturb {
    StepDown,
    Kill(Role),
    Pause(Role),
    /// A stopped member continues.
    Resume(u32),
    /// A member that was killed is started again. It is not waited for.
    Restart(u32),
    /// Looks whether a member that was started again takes connections.
    LookFor(u32),
    /// The power of the emulated disk is cut and all members are killed. Then the filesystem is mounted and they are started again, which is not waited for.
    CutPower {
        seed: u64,
        sector_bytes: u64,
    },
}

/// What was done, in nanoseconds of `CLOCK_MONOTONIC`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disturbed {
    /// 0 where it was done to the disk.
    pub member: u32,
    /// Address of the member; `None` if the event concerns the disk.
    pub address: Option<String>,
    pub at_ns: u64,
    /// When it was over; `None` where the member is not back.
    pub until_ns: Option<u64>,
    /// What a power cut left.
    pub cut: Option<PowerCut>,
    /// Why the filesystem or a member does not come back after a power cut.
    pub unusable: Option<String>,
}

impl Server {
    /// Does something to a member.
    pub(crate) fn disturb(
        &mut self,
        what: Disturb,
        place: &ServerPlace<'_>,
        made: &RigParts,
    ) -> Result<Disturbed, TestbedError> {
        let starting = self.beginning.at(place, made);
        let member = match what {
            Disturb::StepDown => self.find(Role::Primary, &starting)?,
            Disturb::Kill(role) | Disturb::Pause(role) => self.find(role, &starting)?,
            Disturb::Resume(member) | Disturb::Restart(member) | Disturb::LookFor(member) => {
                member as usize
            }
            Disturb::CutPower { .. } => return Err(self.refused("it is no disk".into())),
        };
        if member >= self.members.len() {
            return Err(self.refused(format!("it has no member {}", member + 1)));
        }
        let at_ns = monotonic_ns();
        let mut until_ns = None;
        let mut unusable = None;
        match what {
            Disturb::CutPower { .. } => {}
            Disturb::StepDown => {
                self.command(|roles| &roles.step_down, &starting)?;
                until_ns = Some(monotonic_ns());
            }
            Disturb::Kill(_) => {
                self.members[member].state = MemberState::Down;
                self.members[member].kill();
            }
            Disturb::Pause(_) => {
                if !self.members[member].stand_still() {
                    self.members[member].is_alive()?;
                }
            }
            Disturb::Resume(_) => {
                self.members[member].go_on();
                until_ns = Some(at_ns);
            }
            Disturb::Restart(_) => self.start_again(member, place, made)?,
            Disturb::LookFor(_) => {
                let member = &mut self.members[member];
                match member.is_alive() {
                    Ok(()) if address::answers(&member.address) => {
                        member.state = MemberState::Up;
                        until_ns = Some(at_ns);
                    }
                    Ok(()) => {}
                    Err(error) if member.state == MemberState::Up => return Err(error),
                    Err(error) => {
                        member.state = MemberState::Down;
                        unusable = Some(error.to_string());
                    }
                }
            }
        }
        Ok(Disturbed {
            member: member as u32,
            address: Some(self.layout.hosts[member].clone()),
            at_ns,
            until_ns,
            cut: None,
            unusable,
        })
    }

    /// All members stand still, and acknowledge nothing.
    pub(crate) fn stand_still(&self) {
        for member in &self.members {
            member.stand_still();
        }
    }

    /// Kills all members at the end of a power cut.
    pub(crate) fn lose_power(&mut self) {
        for member in &mut self.members {
            member.state = MemberState::Down;
            member.kill();
        }
    }

    /// Starts all members again on what a power cut left of their data.
    pub(crate) fn recover(
        &mut self,
        place: &ServerPlace<'_>,
        made: &RigParts,
    ) -> Result<(), TestbedError> {
        for number in 0..self.members.len() {
            self.start_again(number, place, made)?;
            self.members[number].state = MemberState::Recovering;
        }
        Ok(())
    }

    /// Brings all members back: stopped ones continue, ended ones are started again. Waits until they are one server.
    pub(crate) fn heal(
        &mut self,
        place: &ServerPlace<'_>,
        made: &RigParts,
    ) -> Result<(), TestbedError> {
        for number in 0..self.members.len() {
            self.members[number].go_on();
            self.start_again(number, place, made)?;
        }
        let starting = self.beginning.at(place, made);
        let deadline = Instant::now() + self.ready_within();
        for member in &mut self.members {
            let came = starting.wait_for(member, &self.layout.mark, deadline);
            if came.is_err() && member.has_ended() {
                // Nothing is left to stop.
                member.state = MemberState::Down;
            }
            came.map_err(|unstarted| match unstarted {
                Unstarted::Failed(error) => error,
                Unstarted::PortTaken => TestbedError::NotDisturbed {
                    name: self.beginning.spec.name.clone(),
                    why: format!("another program took {}", member.address),
                },
            })?;
            member.state = MemberState::Up;
        }
        self.command(|roles| &roles.whole, &starting).map(drop)
    }

    fn ready_within(&self) -> Duration {
        Duration::from_nanos(self.beginning.spec.ready_within_ns)
    }

    /// On the data that it left, at the same port.
    fn start_again(
        &mut self,
        member: usize,
        place: &ServerPlace<'_>,
        made: &RigParts,
    ) -> Result<(), TestbedError> {
        if self.members[member].is_started() {
            return Ok(());
        }
        let starting = self.beginning.at(place, made);
        let places = starting.places(&self.layout);
        let again = starting.start_member(member, &places[member], &self.layout)?;
        drop(places);
        self.members[member] = again;
        Ok(())
    }

    /// The member that has this role now.
    fn find(&self, role: Role, starting: &Starting<'_>) -> Result<usize, TestbedError> {
        if self.members.len() == 1 {
            return match role {
                Role::Primary => Ok(0),
                Role::Secondary => Err(self.refused("it has one member and no secondary".into())),
            };
        }
        let answer = self.command(|roles| &roles.primary, starting)?;
        let hosts = &self.layout.hosts;
        let named = |line: &str| hosts.iter().position(|host| host == line.trim());
        let Some(primary) = answer.lines().find_map(named) else {
            return Err(self.refused("its primary is none of its members".into()));
        };
        let is_up = |member: &usize| self.members[*member].is_started();
        let found = match role {
            Role::Primary => Some(primary),
            Role::Secondary => (0..hosts.len()).find(|member| *member != primary && is_up(member)),
        };
        found.ok_or_else(|| self.refused(format!("it has no {} now", role.name())))
    }

    /// Has a command about the roles carried out, and returns what it said. One process alone has no roles.
    fn command(
        &self,
        which: impl Fn(&RoleCommands) -> &Vec<String>,
        starting: &Starting<'_>,
    ) -> Result<String, TestbedError> {
        let Some(roles) = &self.beginning.spec.roles else {
            return Ok(String::new());
        };
        let deadline = Instant::now() + self.ready_within();
        starting.run_command(which(roles), &self.layout, deadline, || {
            let mut to_run = self.members.iter().filter(|member| member.is_started());
            to_run.any(Member::has_ended)
        })
    }

    fn refused(&self, why: String) -> TestbedError {
        TestbedError::NotDisturbed { name: self.beginning.spec.name.clone(), why }
    }
}
