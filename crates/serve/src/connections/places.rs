//! Who is connected, and who has to go when places are short.
//!
//! A connection is a stranger's until it has asked for something that it may have: until it has shown the token, where there is one. Strangers
//! have a few places of their own, so they never take the place of anybody else. Nobody waits for a place: whoever comes gets one, and the
//! connection that needs its own the least is closed.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Connections of those who may ask. A browser takes up to six.
pub(crate) const MOST: usize = 64;
/// Connections that have not shown yet that they may ask.
pub(crate) const MOST_STRANGERS: usize = 32;
/// Of those, at most so many of one peer.
pub(crate) const MOST_STRANGERS_OF_A_PEER: usize = 16;
/// Who takes nothing for so long is held up, not slow.
const HELD_UP: Duration = Duration::from_secs(10);

/// Who is at the other end, as far as an address tells: of IPv6 the network, of which one machine has as many addresses as it likes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Peer(IpAddr);

impl Peer {
    pub(crate) fn of(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(ip) if !ip.is_loopback() => {
                let network = u128::from(ip) >> 64 << 64;
                IpAddr::V6(network.into())
            }
            other => other,
        })
    }
}

/// All connections.
#[derive(Debug, Default)]
pub(crate) struct Places(Mutex<Vec<Arc<Link>>>);

/// A connection.
#[derive(Debug)]
pub(crate) struct Link {
    peer: Peer,
    state: Mutex<State>,
    closed: Notify,
}

#[derive(Clone, Copy, Debug)]
struct State {
    is_stranger: bool,
    /// A request is being answered.
    is_asking: bool,
    /// What was sent is not taken.
    is_blocked: bool,
    /// When anything went through last.
    moved: Instant,
}

impl State {
    /// Who waits for an answer needs the place more than who waits for nothing, or takes nothing.
    fn need(&self) -> (bool, Instant) {
        (self.is_asking && !self.is_blocked, self.moved)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Everything behind these locks is whole at every moment.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Link {
    fn state(&self) -> State {
        *lock(&self.state)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = lock(&self.state);
        change(&mut state);
        state.moved = Instant::now();
    }

    pub(crate) fn is_stranger(&self) -> bool {
        self.state().is_stranger
    }

    /// A request is being answered, or none is.
    pub(crate) fn asks(&self, is_asking: bool) {
        self.change(|state| state.is_asking = is_asking);
    }

    /// Something was taken.
    pub(crate) fn takes(&self) {
        self.change(|state| state.is_blocked = false);
    }

    /// What was sent is not taken at this moment.
    pub(crate) fn is_blocked(&self) {
        lock(&self.state).is_blocked = true;
    }

    /// Comes back when the connection has to be closed.
    pub(crate) async fn closed(&self) {
        self.closed.notified().await;
    }
}

impl Places {
    /// A place for a new connection.
    pub(crate) fn enter(self: &Arc<Self>, peer: Peer) -> Place {
        let link = Arc::new(Link {
            peer,
            state: Mutex::new(State {
                is_stranger: true,
                is_asking: false,
                is_blocked: false,
                moved: Instant::now(),
            }),
            closed: Notify::new(),
        });
        let mut links = lock(&self.0);
        let is_strange = |link: &Link| link.is_stranger();
        let of_peer = |link: &Link| link.is_stranger() && link.peer == peer;
        make_place(&mut links, MOST_STRANGERS_OF_A_PEER, of_peer);
        make_place(&mut links, MOST_STRANGERS, is_strange);
        links.push(Arc::clone(&link));
        Place {
            places: Arc::clone(self),
            link,
        }
    }

    /// The other end of this connection may ask.
    pub(crate) fn admit(&self, link: &Arc<Link>) {
        if !link.is_stranger() {
            return;
        }
        let mut links = lock(&self.0);
        // It may have been closed just now.
        if links.iter().any(|known| Arc::ptr_eq(known, link)) {
            make_place(&mut links, MOST, |link| !link.is_stranger());
            link.change(|state| state.is_stranger = false);
        }
    }

    /// Closes the connection that has taken nothing for the longest time, because what is kept for it is needed by others.
    pub(crate) fn close_blocked(&self) {
        let is_held_up = |link: &Link| {
            let state = link.state();
            state.is_blocked && state.moved.elapsed() >= HELD_UP
        };
        close_one(&mut lock(&self.0), is_held_up);
    }

    #[cfg(test)]
    pub(crate) fn count(&self) -> (usize, usize) {
        let links = lock(&self.0);
        let strangers = links.iter().filter(|link| link.is_stranger()).count();
        (strangers, links.len() - strangers)
    }
}

/// Makes place for one more of a kind of which there may be so many.
fn make_place(links: &mut Vec<Arc<Link>>, most: usize, is_so: impl Fn(&Link) -> bool) {
    if links.iter().filter(|link| is_so(link)).count() >= most {
        close_one(links, is_so);
    }
}

/// Closes a connection of a kind: of the peer that has the most of them, the one that needs it the least.
fn close_one(links: &mut Vec<Arc<Link>>, is_so: impl Fn(&Link) -> bool) {
    let mut of_peers: BTreeMap<Peer, usize> = BTreeMap::new();
    for link in links.iter().filter(|link| is_so(link)) {
        *of_peers.entry(link.peer).or_default() += 1;
    }
    let largest = of_peers.values().copied().max();
    let of_largest = |link: &Link| of_peers.get(&link.peer).copied() == largest;
    let candidates = links.iter().enumerate();
    let least = candidates
        .filter(|(_, link)| is_so(link) && of_largest(link))
        .min_by_key(|(_, link)| link.state().need());
    if let Some((at, _)) = least {
        links.swap_remove(at).closed.notify_one();
    }
}

/// A place that is taken until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    places: Arc<Places>,
    link: Arc<Link>,
}

impl Place {
    pub(crate) fn link(&self) -> &Arc<Link> {
        &self.link
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.places.0).retain(|link| !Arc::ptr_eq(link, &self.link));
    }
}

/// What a request carries of its connection.
#[derive(Clone, Debug)]
pub(crate) struct Requester {
    pub(crate) places: Arc<Places>,
    pub(crate) link: Arc<Link>,
}

impl Requester {
    pub(crate) fn admit(&self) {
        self.places.admit(&self.link);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(last: u8) -> Peer {
        Peer::of([192, 168, 1, last].into())
    }

    fn is_here(places: &Arc<Places>, place: &Place) -> bool {
        lock(&places.0)
            .iter()
            .any(|link| Arc::ptr_eq(link, &place.link))
    }

    #[test]
    fn strangers_take_places_of_strangers_only_and_the_most_greedy_goes_first() {
        let places = Arc::new(Places::default());
        let owner = places.enter(peer(1));
        places.admit(owner.link());
        let modest = places.enter(peer(2));
        let greedy: Vec<Place> = (0..500).map(|_| places.enter(peer(3))).collect();
        assert_eq!(places.count(), (1 + MOST_STRANGERS_OF_A_PEER, 1));
        let many: Vec<Place> = (0..250).map(|last| places.enter(peer(last))).collect();
        assert_eq!(places.count(), (MOST_STRANGERS, 1));
        assert!(is_here(&places, &owner));
        assert!(many.last().is_some_and(|last| is_here(&places, last)));
        drop((greedy, many, modest));
        assert_eq!(places.count(), (0, 1));
    }

    /// On the loopback all users are one peer, and what may be asked without a token may be asked by all of them.
    #[test]
    fn of_one_peer_who_waits_for_nothing_goes_before_who_waits_for_an_answer() {
        let places = Arc::new(Places::default());
        let admitted = |is_asking: bool| {
            let place = places.enter(peer(1));
            places.admit(place.link());
            place.link().asks(is_asking);
            place
        };
        let asking = admitted(true);
        let idle: Vec<Place> = (0..MOST - 1).map(|_| admitted(false)).collect();
        let blocked = &idle[0];
        blocked.link().asks(true);
        blocked.link().is_blocked();
        let _more = [admitted(true), admitted(true)];
        assert_eq!(places.count(), (0, MOST));
        assert!(is_here(&places, &asking) && is_here(&places, blocked));
        assert!(!is_here(&places, &idle[1]) && !is_here(&places, &idle[2]));
        // Where all wait for an answer, the one goes that has waited the longest: nobody is kept out.
        idle.iter().for_each(|place| {
            place.link().asks(true);
            place.link().takes();
        });
        let last = admitted(true);
        assert!(is_here(&places, &last) && !is_here(&places, &asking));
        assert_eq!(places.count(), (0, MOST));
    }

    #[test]
    fn one_machine_is_one_peer_whatever_its_addresses() {
        let of = |text: &str| Peer::of(text.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:1"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:192.168.1.4"), of("192.168.1.4"));
        assert_ne!(of("192.168.1.4"), of("192.168.1.5"));
    }
}
