//! What share of the data fits where: into the engine's cache, into the page cache, into neither.

use crate::estimate::{Copies, loaded_bytes_of};
use crate::needs::cache_bytes;
use crate::rig_mistake::MEMORY_OF_ENGINE;
use crate::{Arm, EngineKind};
use serde::{Deserialize, Serialize};

/// Shares of the data, which add up to 1. What is in both caches counts for the engine's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DataShares {
    /// Fits into the engine's cache.
    pub engine_cache: f64,
    /// Fits into the page cache beside it.
    pub page_cache: f64,
    /// Must be read from the disk.
    pub neither: f64,
}

impl DataShares {
    /// Of so many bytes of data, with so many bytes of each cache. `None` without data.
    #[must_use]
    pub fn of(data: f64, engine_cache: f64, page_cache: f64) -> Option<Self> {
        if data <= 0.0 {
            return None;
        }
        let in_engine = (engine_cache / data).clamp(0.0, 1.0);
        let in_page_cache = (page_cache / data).clamp(0.0, 1.0 - in_engine);
        Some(Self {
            engine_cache: in_engine,
            page_cache: in_page_cache,
            neither: 1.0 - in_engine - in_page_cache,
        })
    }
}

/// What is to be expected of an arm whose memory is limited: an estimate, unless the file says how much page cache there is.
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
    fn what_is_in_the_engine_s_cache_is_not_counted_twice() {
        let shares = |data, engine, page| DataShares::of(data, engine, page).unwrap();
        let all = DataShares {
            engine_cache: 1.0,
            page_cache: 0.0,
            neither: 0.0,
        };
        assert_eq!(shares(100.0, 100.0, 50.0), all);
        assert_eq!(shares(100.0, 500.0, 500.0), all);
        let some = DataShares {
            engine_cache: 0.5,
            page_cache: 0.25,
            neither: 0.25,
        };
        assert_eq!(shares(400.0, 200.0, 100.0), some);
        let most = DataShares {
            engine_cache: 0.5,
            page_cache: 0.5,
            neither: 0.0,
        };
        assert_eq!(shares(400.0, 200.0, 900.0), most);
        assert_eq!(DataShares::of(0.0, 1.0, 1.0), None);
    }
}
