//! Rings for the daemons of new disks: the kernel's switch is on while one begins, and off again at once.

use crate::testbed::TestbedError;
use crate::testbed::rig_parts::RigParts;
use crate::testbed::step::{Step, Undone};
use plimsoll_disk::RingSwitch;
use std::fs;
use std::path::Path;

/// Turns the switch on for as long as `begin` takes. A disk goes without rings where it cannot be turned on.
pub(crate) fn on_while<T>(
    made: &RigParts,
    begin: impl FnOnce() -> Result<T, TestbedError>,
) -> Result<T, TestbedError> {
    let Some(mut switch) = RingSwitch::lock() else {
        return begin();
    };
    if RingSwitch::is_on() {
        return begin();
    }
    let id = made.making(Step::Rings)?;
    let _ = switch.turn(true);
    let begun = begin();
    made.undo_one(id)?;
    begun
}

/// A connection that began with rings keeps them. Without the lock: it may be the undoer's own.
pub(crate) fn turn_off() -> Result<Undone, TestbedError> {
    if !RingSwitch::is_on() {
        return Ok(Undone::WasGone);
    }
    let file = Path::new(RingSwitch::FILE);
    fs::write(file, "N").map_err(|error| TestbedError::io("write to", file, error))?;
    Ok(Undone::Gone)
}
