//! Rings for the daemons of new disks: the kernel's switch is on while one begins, and off again at once.

use crate::testbed::TestbedError;
use crate::testbed::rig_parts::RigParts;
use crate::testbed::step::{Step, Undone};
use plimsoll_disk::RingSwitch;
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
    drop(switch);
    made.undo_one(id)?;
    begun
}

/// A connection that began with rings keeps them.
pub(crate) fn turn_off() -> Result<Undone, TestbedError> {
    match RingSwitch::lock() {
        Some(mut switch) if RingSwitch::is_on() => {
            let turned = switch.turn(false);
            turned.map_err(|error| {
                TestbedError::io("write to", Path::new(RingSwitch::FILE), error)
            })?;
            Ok(Undone::Gone)
        }
        _ => Ok(Undone::WasGone),
    }
}
