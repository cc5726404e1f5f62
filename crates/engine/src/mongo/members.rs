//! The members of a replica set: what each of them is now, and which of them answers a read.

use crate::mongo::greeting::{Hello, Written};
use crate::mongo::host::Host;
use crate::mongo::link::Link;
use crate::mongo::message::Message;
use crate::mongo::options::{FindServer, LeanOptions};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Interval of questions to a member while no thread waits for a change.
const BETWEEN: Duration = Duration::from_millis(500);
/// The same while a thread waits.
const SOON: Duration = Duration::from_millis(10);
/// Members that answer within this time after the quickest one are as good, the default of all drivers.
const THRESHOLD: Duration = Duration::from_millis(15);

/// `{isMaster: 1}`, the name of `hello` that all versions understand.
const HELLO: &[u8] = b"\x13\0\0\0\x10isMaster\0\x01\0\0\0\0";

/// Which members may answer a read, where it is not the primary alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadMode {
    PrimaryPreferred,
    Secondary,
    SecondaryPreferred,
    Nearest,
}

impl ReadMode {
    /// The mode that a command names.
    pub fn of(word: &[u8]) -> Option<Self> {
        Some(match word {
            b"primaryPreferred" => Self::PrimaryPreferred,
            b"secondary" => Self::Secondary,
            b"secondaryPreferred" => Self::SecondaryPreferred,
            b"nearest" => Self::Nearest,
            _ => return None,
        })
    }
}

/// What a member reported itself to be in its last answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Role {
    Primary,
    Secondary,
    /// It does not answer, or does not answer reads.
    #[default]
    Away,
}

#[derive(Clone, Debug)]
struct Member {
    host: Host,
    role: Role,
    round_trip: Duration,
    written: Written,
    /// When its last answer came; `None` before the first.
    at: Option<Instant>,
}

#[derive(Debug)]
struct Known {
    members: Vec<Member>,
    /// How many wait for a change.
    waiting: u32,
    is_over: bool,
}

/// What sessions and the threads that ask the members share.
#[derive(Debug)]
struct State {
    known: Mutex<Known>,
    /// Rises with every change of a role.
    version: AtomicU64,
    /// Notified after the answer of a member.
    news: Condvar,
    /// A thread waits, or all is over.
    wake: Condvar,
}

/// The members of a set. A thread of each asks it for its role until this is dropped.
#[derive(Debug)]
pub struct Members {
    state: Arc<State>,
}

impl Members {
    /// Connects with `options`, but for their host.
    pub fn watch(hosts: Vec<Host>, options: &LeanOptions) -> Self {
        let (role, round_trip, written, at) =
            (Role::Away, Duration::ZERO, Written::default(), None);
        let members = hosts.iter().cloned();
        let members = members.map(|host| Member { host, role, round_trip, written, at }).collect();
        let state = Arc::new(State {
            known: Mutex::new(Known { members, waiting: 0, is_over: false }),
            version: AtomicU64::new(1),
            news: Condvar::new(),
            wake: Condvar::new(),
        });
        for (place, host) in hosts.into_iter().enumerate() {
            let options = LeanOptions {
                host,
                credentials: None,
                finder: None,
                takes_secondaries: true,
                call_timeout: Some(options.connect_timeout),
                open_socket: Arc::default(),
                ..options.clone()
            };
            let state = Arc::clone(&state);
            // Without a thread the member stays away.
            let name = "member".to_owned();
            let _ = std::thread::Builder::new().name(name).spawn(move || state.ask(place, options));
        }
        Self { state }
    }

    /// How the session of this number finds its member.
    pub fn choice(&self, mode: ReadMode, session: u64, within: Duration) -> MemberChoice {
        MemberChoice { state: Arc::clone(&self.state), mode, session, within }
    }

    /// Waits until each secondary that answers has what the primary has now, and a majority with it. Says whether that came true in time.
    pub fn wait_until_replicated(&self, within: Duration) -> bool {
        let begun = Instant::now();
        let mut all = None;
        let is_there = |known: &Known| {
            let fresh = |one: &&Member| one.at.is_some_and(|at| at > begun);
            let mut primaries =
                known.members.iter().filter(fresh).filter(|one| one.role == Role::Primary);
            let all = *all.get_or_insert(primaries.next()?.written.last);
            let mut secondaries = known.members.iter().filter(|one| one.role == Role::Secondary);
            secondaries.all(|one| one.written.by_majority >= all).then_some(())
        };
        self.state.wait(within, is_there).is_some()
    }
}

impl Drop for Members {
    fn drop(&mut self) {
        self.state.known().is_over = true;
        self.state.wake.notify_all();
    }
}

impl State {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks a member again and again.
    fn ask(&self, place: usize, options: LeanOptions) {
        let mut link = None;
        loop {
            let at = Instant::now();
            let asked = ask_once(&mut link, &options);
            let mut known = self.known();
            let member = &mut known.members[place];
            let role = asked.as_ref().map_or(Role::Away, |(hello, _)| role(hello));
            let is_other = role != member.role;
            (member.role, member.at) = (role, Some(at));
            if let Some((hello, round_trip)) = asked {
                (member.written, member.round_trip) = (hello.written, round_trip);
            }
            if is_other {
                self.version.fetch_add(1, Ordering::Relaxed);
            }
            self.news.notify_all();
            let pause = if known.waiting > 0 { SOON } else { BETWEEN };
            let (known, _) = match known.is_over {
                true => return,
                false => {
                    self.wake.wait_timeout(known, pause).unwrap_or_else(PoisonError::into_inner)
                }
            };
            if known.is_over {
                return;
            }
        }
    }

    /// Waits until `look` finds something. Meanwhile the members are asked more often.
    fn wait<T>(&self, within: Duration, mut look: impl FnMut(&Known) -> Option<T>) -> Option<T> {
        let deadline = Instant::now() + within;
        let mut known = self.known();
        known.waiting += 1;
        self.wake.notify_all();
        let found = loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match look(&known) {
                Some(found) => break Some(found),
                None if left.is_zero() => break None,
                None => {}
            }
            let waited = self.news.wait_timeout(known, left);
            known = waited.unwrap_or_else(PoisonError::into_inner).0;
        };
        known.waiting -= 1;
        found
    }
}

/// Asks by the connection there is, or by a new one.
fn ask_once(link: &mut Option<Link>, options: &LeanOptions) -> Option<(Hello, Duration)> {
    if link.is_none() {
        *link = Link::open(options.clone()).ok();
    }
    let begun = Instant::now();
    let body = link.as_mut()?.call(&mut Message::command("admin", HELLO));
    let hello = body.ok().and_then(|body| Hello::of(body).ok());
    if hello.is_none() {
        *link = None;
    }
    Some((hello?, begun.elapsed()))
}

fn role(hello: &Hello) -> Role {
    match (hello.is_writable, hello.is_secondary) {
        (true, _) => Role::Primary,
        (false, true) => Role::Secondary,
        (false, false) => Role::Away,
    }
}

/// The member that one session reads from.
#[derive(Debug)]
pub struct MemberChoice {
    state: Arc<State>,
    mode: ReadMode,
    session: u64,
    within: Duration,
}

impl MemberChoice {
    /// The members that the mode allows.
    fn candidates<'a>(&self, members: impl Iterator<Item = &'a Member> + Clone) -> Vec<&'a Member> {
        let of = |role: Role| {
            let found: Vec<&Member> = members.clone().filter(|one| one.role == role).collect();
            found
        };
        let or = |first: Vec<&'a Member>, role| if first.is_empty() { of(role) } else { first };
        match self.mode {
            ReadMode::PrimaryPreferred => or(of(Role::Primary), Role::Secondary),
            ReadMode::Secondary => of(Role::Secondary),
            ReadMode::SecondaryPreferred => or(of(Role::Secondary), Role::Primary),
            ReadMode::Nearest => members.filter(|one| one.role != Role::Away).collect(),
        }
    }

    /// One of the quickest, by the session's number.
    fn one_of(&self, candidates: Vec<&Member>) -> Option<Host> {
        let least = candidates.iter().map(|one| one.round_trip).min()?;
        let quick = candidates.into_iter().filter(|one| one.round_trip <= least + THRESHOLD);
        let quick: Vec<&Member> = quick.collect();
        Some(quick[self.session as usize % quick.len()].host.clone())
    }

    /// A member to begin with, once all have answered.
    pub fn first(&self) -> Option<Host> {
        self.state.wait(self.within, |known| {
            let are_known = known.members.iter().all(|one| one.at.is_some());
            let candidates = self.candidates(known.members.iter());
            self.one_of(candidates).filter(|_| are_known)
        })
    }
}

impl FindServer for MemberChoice {
    /// What was known about the lost member before it was lost no longer counts.
    fn find(&self, lost_host: &Host, lost: Instant) -> Option<Host> {
        self.state.wait(self.within, |known| {
            let is_fresh =
                |one: &&Member| one.host != *lost_host || one.at.is_some_and(|at| at >= lost);
            self.one_of(self.candidates(known.members.iter().filter(is_fresh)))
        })
    }

    fn has_left(&self, host: &Host, version: &mut u64) -> bool {
        let now = self.state.version.load(Ordering::Relaxed);
        if *version == now {
            return false;
        }
        *version = now;
        let known = self.state.known();
        !self.candidates(known.members.iter()).iter().any(|one| one.host == *host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(port: u16, role: Role, millis: u64) -> Member {
        Member {
            host: Host::Tcp { host: "h".into(), port },
            role,
            round_trip: Duration::from_millis(millis),
            written: Written::default(),
            at: None,
        }
    }

    /// The ports that sessions 0 to 3 read from.
    fn ports(members: &[Member], mode: ReadMode) -> Vec<u16> {
        let known = Known { members: members.to_vec(), waiting: 0, is_over: false };
        let state = Arc::new(State {
            known: Mutex::new(known),
            version: AtomicU64::new(1),
            news: Condvar::new(),
            wake: Condvar::new(),
        });
        let chosen = (0..4).filter_map(|session| {
            let within = Duration::ZERO;
            let choice = MemberChoice { state: Arc::clone(&state), mode, session, within };
            match choice.one_of(choice.candidates(members.iter()))? {
                Host::Tcp { port, .. } => Some(port),
                Host::Unix(_) => None,
            }
        });
        chosen.collect()
    }

    #[test]
    fn sessions_are_spread_over_the_members_that_the_mode_allows() {
        use ReadMode::{Nearest, PrimaryPreferred, Secondary, SecondaryPreferred};
        let mut members = [
            member(1, Role::Primary, 1),
            member(2, Role::Secondary, 2),
            member(3, Role::Secondary, 9),
        ];
        assert_eq!(ports(&members, PrimaryPreferred), [1, 1, 1, 1]);
        assert_eq!(ports(&members, Secondary), [2, 3, 2, 3]);
        assert_eq!(ports(&members, SecondaryPreferred), [2, 3, 2, 3]);
        assert_eq!(ports(&members, Nearest), [1, 2, 3, 1]);
        // One that is far away answers only where there is no other.
        members[2].round_trip = Duration::from_millis(18);
        assert_eq!(ports(&members, Secondary), [2, 2, 2, 2]);
        members[1].role = Role::Away;
        assert_eq!(ports(&members, Secondary), [3, 3, 3, 3]);
        members[2].role = Role::Away;
        assert!(ports(&members, Secondary).is_empty());
        assert_eq!(ports(&members, SecondaryPreferred), [1, 1, 1, 1]);
        members[0].role = Role::Secondary;
        assert_eq!(ports(&members, PrimaryPreferred), [1, 1, 1, 1]);
    }
}
