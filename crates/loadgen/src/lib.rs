//! Drives sessions on a schedule and records what happened: the hot path.
