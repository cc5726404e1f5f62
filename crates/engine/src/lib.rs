//! Engines and sessions: the databases that Plimsoll measures.
