//! Measuring path: no allocation, lock, log or formatting here after it is made.
//!
//! Servers with one queue before them, first come first served.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// When each server will be free.
#[derive(Debug)]
pub(super) struct Servers {
    free_at_ns: BinaryHeap<Reverse<u64>>,
}

impl Servers {
    pub(super) fn new(count: usize) -> Self {
        Self { free_at_ns: vec![Reverse(0); count].into() }
    }

    /// When an operation is complete that arrives now, after all that arrived before it: the soonest free server takes it and ends
    /// when `end_ns` of the start says.
    pub(super) fn completion_ns(
        &mut self,
        arrival_ns: u64,
        end_ns: impl FnOnce(u64) -> u64,
    ) -> u64 {
        let mut soonest = self.free_at_ns.peek_mut().expect("there is at least one server");
        let end = end_ns(arrival_ns.max(soonest.0));
        soonest.0 = end;
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::law::{Law, stream};

    /// Mean response time of Poisson arrivals, in service times.
    fn mean_response(servers: usize, law: fn(u64) -> Law, utilisation: f64) -> f64 {
        let service_ns = 1_000_000;
        let law = law(service_ns);
        let gap = Law::exponential((service_ns as f64 / servers as f64 / utilisation) as u64);
        let mut queue = Servers::new(servers);
        let (mut arrivals, mut services) = (stream(1, 0), stream(1, 1));
        let (mut now_ns, mut total_ns) = (0, 0);
        let count = 1_000_000;
        for _ in 0..count {
            now_ns += gap.draw_ns(&mut arrivals);
            let drawn_ns = law.draw_ns(&mut services);
            total_ns += queue.completion_ns(now_ns, |start_ns| start_ns + drawn_ns) - now_ns;
        }
        total_ns as f64 / f64::from(count) / service_ns as f64
    }

    fn assert_close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 0.025, "{found} in place of {expected}");
    }

    #[test]
    fn one_exponential_server_follows_the_law() {
        // M/M/1: 1 / (1 - utilisation) service times.
        assert_close(mean_response(1, Law::exponential, 0.7), 1.0 / 0.3);
        assert_close(mean_response(1, Law::exponential, 0.3), 1.0 / 0.7);
    }

    #[test]
    fn one_constant_server_follows_the_law() {
        // M/D/1, Pollaczek and Khinchine: 1 + utilisation / (2 (1 - utilisation)).
        assert_close(mean_response(1, Law::constant, 0.7), 1.0 + 0.7 / 0.6);
    }

    #[test]
    fn four_exponential_servers_follow_the_law() {
        // M/M/4 at 80 %, Erlang C: with a = 3.2 the probability of waiting is 0.5964, the wait that / (4 (1 - 0.8)).
        assert_close(mean_response(4, Law::exponential, 0.8), 1.0 + 0.5964 / 0.8);
    }

    #[test]
    fn the_soonest_free_server_takes_the_next() {
        let mut servers = Servers::new(2);
        assert_eq!(servers.completion_ns(100, |start| start + 50), 150);
        assert_eq!(servers.completion_ns(100, |start| start + 10), 110);
        assert_eq!(servers.completion_ns(100, |start| start + 10), 120);
        assert_eq!(servers.completion_ns(200, |start| start + 1), 201);
    }
}
