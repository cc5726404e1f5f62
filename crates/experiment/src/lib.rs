//! The Plimsoll experiment file: parse, check, explain, plan.
