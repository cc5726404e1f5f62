//! The network between load and server at one point, where they are on different machines.

use crate::words;
use plimsoll_record::{NetworkPoint, PointRecord};

/// Segments from which on the share of those that were sent again is known: one in a hundred is ten of them then.
const FEWEST_SEGMENTS: u64 = 1_000;

/// What all machines of a point saw.
#[derive(Clone, Debug)]
pub(crate) struct NetworkSample {
    pub(crate) link: Option<LinkUse>,
    /// Share of the sent TCP segments that were sent again.
    pub(crate) retransmitted: Option<f64>,
    /// The median round trip; of several load hosts the median of theirs, nanoseconds.
    pub(crate) round_trip_ns: Option<f64>,
}

/// How much of a link is used in the direction in which it carries more.
#[derive(Clone, Debug)]
pub(crate) struct LinkUse {
    /// Whose, where several machines took part.
    pub(crate) host: Option<String>,
    pub(crate) used: f64,
    /// Bytes a second that it can carry.
    pub(crate) link: f64,
}

impl LinkUse {
    pub(crate) fn share(&self) -> f64 {
        self.used / self.link
    }
}

impl NetworkSample {
    /// `None` where no machine saw any.
    pub(crate) fn of(point: &PointRecord) -> Option<Self> {
        let end = point.end.as_ref()?;
        let mut all: Vec<(Option<String>, &NetworkPoint)> = Vec::new();
        for host in &end.hosts {
            let name = words::host(host.host.as_deref());
            all.extend(host.network.as_deref().map(|network| (Some(name), network)));
        }
        if end.hosts.is_empty() {
            all.extend(end.network.as_deref().map(|network| (None, network)));
        }
        if all.is_empty() {
            return None;
        }
        let links = all.iter().filter_map(|(host, network)| {
            let (received, sent) = network.bytes_per_second()?;
            let link = network.link_bytes_per_second.filter(|link| *link > 0)?;
            Some(LinkUse { host: host.clone(), used: received.max(sent), link: link as f64 })
        });
        let link = links.max_by(|one, other| one.share().total_cmp(&other.share()));
        let mut round_trips = Vec::new();
        for (_, network) in &all {
            round_trips.extend(network.round_trips.map(|one| one.median_ns as f64));
        }
        Some(Self {
            link,
            retransmitted: retransmitted(all.iter().map(|(_, network)| *network)),
            round_trip_ns: plimsoll_stats::median(&round_trips),
        })
    }
}

/// The share of TCP segments that were sent again; `None` where there were too few to know it.
pub(crate) fn retransmitted<'a>(of: impl Iterator<Item = &'a NetworkPoint>) -> Option<f64> {
    let (mut sent, mut again) = (0_u64, 0_u64);
    for network in of {
        sent = sent.saturating_add(network.segments);
        again = again.saturating_add(network.retransmitted);
    }
    (sent >= FEWEST_SEGMENTS).then(|| again as f64 / sent as f64)
}
