//! In place of the module `imitate` where the program is built without MongoDB.

use crate::arguments;
use crate::exit::Exit;
use crate::log::Log;
use crate::rig::Rigs;
use anyhow::bail;
use std::path::Path;

pub fn imitate(_: &arguments::Imitate, _: Option<&Path>, _: Rigs, _: &Log) -> anyhow::Result<Exit> {
    bail!(
        "this plimsoll was built without MongoDB (the feature `mongodb`), so it cannot read a server"
    )
}
