//! What share of the data fits into the engine's cache and into the page cache.

use crate::estimate::{Copies, MEMORY_OF_ENGINE, loaded_bytes_of};
use crate::needs::cache_bytes;
use crate::{Arm, EngineKind};
use serde::{Deserialize, Serialize};

/// Shares of the data, each at most 1. What is in one cache may be in the other as well: a page that the engine reads goes through both.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DataShares {
    /// Fits into the engine's cache.
    pub engine_cache: f64,
    /// Fits into the page cache beside it.
    pub page_cache: f64,
}

impl DataShares {
    /// The shares of this many bytes of data, with this many bytes of each cache. `None` without data.
    pub fn of(data: f64, engine_cache: f64, page_cache: f64) -> Option<Self> {
        let share = |cache: f64| (cache / data).clamp(0.0, 1.0);
        (data > 0.0)
            .then(|| Self { engine_cache: share(engine_cache), page_cache: share(page_cache) })
    }

    /// Share that fits into neither and must be read from the disk: the least, if no page is in both caches, and the most, if the larger contains the smaller.
    pub fn neither(&self) -> (f64, f64) {
        let least = 1.0 - self.engine_cache - self.page_cache;
        (least.max(0.0), 1.0 - self.engine_cache.max(self.page_cache))
    }
}

/// Shares of an arm whose memory is limited: an estimate, unless the file gives the page cache.
pub(crate) fn shares(arm: &Arm, engines: &[EngineKind]) -> Option<DataShares> {
    let kind = engines.iter().find(|kind| kind.name == arm.engine)?;
    let usable = cache_bytes(arm, engines)? as f64 * kind.usable_cache;
    let limits = &arm.rig.limits;
    let copies = Copies::of(arm.rig.server.as_ref()).number;
    let page_cache = match (limits.page_cache_bytes, limits.memory_bytes) {
        (Some(bytes), _) => bytes as f64,
        (None, Some(bytes)) => {
            let own = usable + MEMORY_OF_ENGINE as f64;
            (bytes as f64 - own * copies).max(0.0)
        }
        (None, None) => return None,
    };
    DataShares::of(loaded_bytes_of(arm), usable, page_cache / copies)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_into_neither_depends_on_what_is_in_both() {
        let shares = |engine, page| DataShares::of(400.0, engine, page).unwrap();
        assert_eq!(shares(400.0, 100.0).neither(), (0.0, 0.0));
        assert_eq!(shares(100.0, 900.0).neither(), (0.0, 0.0));
        assert_eq!(shares(200.0, 100.0).neither(), (0.25, 0.5));
        assert_eq!(shares(200.0, 300.0).neither(), (0.0, 0.25));
        assert_eq!(DataShares::of(0.0, 1.0, 1.0), None);
    }
}
