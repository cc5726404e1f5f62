//! `plimsoll serve`.

use crate::arguments;
use crate::exit::Exit;
use crate::read::store_path;
use crate::screen::print;
use plimsoll_serve::{Options, Server};
use std::path::Path;

/// `plimsoll serve`: says where on the standard output when it can be reached, and answers until it is asked to end.
pub fn serve(arguments: &arguments::Serve, store: Option<&Path>) -> anyhow::Result<Exit> {
    let store = store_path(store)?;
    let server = Server::bind(Options {
        store: store.clone(),
        listen: arguments.listen,
        token_file: arguments.token_file.clone(),
        engines: plimsoll_engine::kinds(),
    })?;
    if !store.exists() {
        anstream::eprintln!(
            "there is no store at {} yet: experiments appear on the page when one is run",
            store.display()
        );
    }
    if server.address().ip().is_unspecified() {
        anstream::eprintln!(
            "from other machines: the same address with the address of this machine in place of {}",
            server.local_ip()
        );
    }
    print(format_args!("{}\n", server.url()))?;
    server.run()?;
    Ok(Exit::Good)
}
