//! What the network between load and server did at a point.

use crate::{Slice, figures};
use serde::{Deserialize, Serialize};

/// What one machine saw of the network to the others. All counts are of the measured part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NetworkPoint {
    /// Length of the seconds in which its interface was watched, nanoseconds.
    pub length_ns: u64,
    /// Bytes that its interface received.
    pub received_bytes: u64,
    /// Bytes that its interface sent.
    pub sent_bytes: u64,
    /// Speed of the link each way, bytes a second, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_bytes_per_second: Option<u64>,
    /// TCP segments that its network namespace sent.
    pub segments: u64,
    /// TCP segments that it sent again.
    pub retransmitted: u64,
    /// Round trips to the server, where this machine made load and its kernel reports them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_trips: Option<RoundTrips>,
}

/// Round trips of the connections from a load generator to the server. Of each connection it is the shortest that the kernel has timed by the begin of the
/// measured part: the way there and back, without the server's work and without queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundTrips {
    /// The shortest of all connections, nanoseconds.
    pub least_ns: u64,
    /// The median over the connections, the lower one of two, nanoseconds.
    pub median_ns: u64,
    /// How many connections there were.
    pub connections: u32,
}

impl NetworkPoint {
    /// Adds a slice of the measured part.
    pub fn add(&mut self, slice: &Slice) {
        let of = |name: &str| slice.telemetry.get(name).map(|value| *value as u64);
        if slice.warm_up {
            return;
        }
        if let (Some(received), Some(sent)) =
            (of(figures::NETWORK_RECEIVED_BYTES), of(figures::NETWORK_SENT_BYTES))
        {
            self.length_ns = self.length_ns.saturating_add(slice.length_ns);
            self.received_bytes = self.received_bytes.saturating_add(received);
            self.sent_bytes = self.sent_bytes.saturating_add(sent);
        }
        self.link_bytes_per_second = of(figures::NETWORK_LINK).or(self.link_bytes_per_second);
        let segments = of(figures::NETWORK_SEGMENTS).unwrap_or(0);
        self.segments = self.segments.saturating_add(segments);
        let again = of(figures::NETWORK_RETRANSMITTED).unwrap_or(0);
        self.retransmitted = self.retransmitted.saturating_add(again);
    }

    /// Bytes a second that were received, and sent; `None` where its interface was not watched.
    pub fn bytes_per_second(&self) -> Option<(f64, f64)> {
        let seconds = self.length_ns as f64 / 1e9;
        let each = |bytes: u64| bytes as f64 / seconds;
        (seconds > 0.0).then(|| (each(self.received_bytes), each(self.sent_bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measured_seconds_are_added_up() {
        let slice = |warm_up, factor: f64| Slice {
            length_ns: 500_000_000,
            warm_up,
            telemetry: [
                (figures::NETWORK_RECEIVED_BYTES, 300.0 * factor),
                (figures::NETWORK_SENT_BYTES, 100.0 * factor),
                (figures::NETWORK_SEGMENTS, 40.0 * factor),
                (figures::NETWORK_RETRANSMITTED, 2.0 * factor),
                (figures::NETWORK_LINK, 1_250.0),
            ]
            .map(|(name, value)| (name.to_owned(), value))
            .into(),
            ..Slice::default()
        };
        let mut network = NetworkPoint::default();
        assert_eq!(network.bytes_per_second(), None);
        network.add(&slice(true, 1_000.0));
        assert_eq!(network, NetworkPoint::default(), "the warm-up");
        network.add(&slice(false, 1.0));
        network.add(&slice(false, 2.0));
        // A second without values.
        network.add(&Slice { length_ns: 1_000_000_000, ..Slice::default() });
        let expected = NetworkPoint {
            length_ns: 1_000_000_000,
            received_bytes: 900,
            sent_bytes: 300,
            link_bytes_per_second: Some(1_250),
            segments: 120,
            retransmitted: 6,
            round_trips: None,
        };
        assert_eq!(network, expected);
        assert_eq!(network.bytes_per_second(), Some((900.0, 300.0)));
    }
}
