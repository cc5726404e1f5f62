//! In place of the module `imitate` where the program is built without MongoDB.

use crate::arguments;
use crate::exit::Exit;
use anyhow::bail;

pub fn imitate(_: &arguments::Imitate) -> anyhow::Result<Exit> {
    bail!(
        "this plimsoll was built without MongoDB (the feature `mongodb`), so it cannot read a server"
    )
}
