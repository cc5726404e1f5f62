mod calibrate;
mod characterise;
mod emulated;
mod mount;
mod mounted;
mod presets;
mod progress;
mod trace;

use crate::arguments::Disk;
use crate::exit::Exit;
use crate::rig::Rigs;
use crate::screen::tell;
use plimsoll_rig::RigError;
use std::path::Path;

pub use mount::in_background;

pub fn disk(command: &Disk, rigs: &Rigs, store: Option<&Path>) -> anyhow::Result<Exit> {
    let ended = match command {
        Disk::Presets(presets) => presets::presets(presets),
        Disk::Characterise(characterise) => characterise::characterise(characterise, rigs),
        Disk::Calibrate(calibrate) => calibrate::calibrate(calibrate, rigs),
        Disk::Mount(mount) => mount::mount(mount, rigs),
        Disk::Unmount(unmount) => mount::unmount(unmount, rigs),
        Disk::Set(set) => mounted::set(set),
        Disk::Log(log) => mounted::log(log),
        Disk::Trace(trace) => trace::trace(trace),
        Disk::Map(map) => crate::diskmap::diskmap(map, store),
    };
    match ended {
        Err(error) if matches!(error.downcast_ref(), Some(RigError::Interrupted)) => {
            tell("interrupted; everything that was made is removed");
            Ok(Exit::Interrupted)
        }
        ended => ended,
    }
}

/// The process behind an emulated disk, on the orders of the one that started it.
pub fn daemon() -> anyhow::Result<Exit> {
    plimsoll_disk::serve(std::io::stdin(), std::io::stdout())?;
    Ok(Exit::Good)
}
