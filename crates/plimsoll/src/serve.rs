use crate::arguments;
use crate::confine::{Confined, Reach, confine};
use crate::exit::Exit;
use crate::read::store_path;
use crate::screen::{print, tell};
use anyhow::{Context, bail};
use plimsoll_serve::{Options, Server};
use plimsoll_store::Store;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// `plimsoll serve`: prints its address once it can be reached, and answers until it is stopped.
pub fn serve(arguments: &arguments::Serve, store: Option<&Path>) -> anyhow::Result<Exit> {
    let store = store_path(store)?;
    let own = reach(&store);
    let server = Server::bind(Options {
        store: store.clone(),
        listen: arguments.listen,
        token_file: arguments.token_file.clone(),
        folders: folders(&arguments.folders)?,
        tell: |what| tell(what),
        engines: plimsoll_engine::kinds(),
    })?;
    if !store.exists() {
        tell(format_args!(
            "there is no store at {} yet: experiments appear on the page when one is run",
            store.display()
        ));
    }
    // Its clients may mean harm, and so may the authors of the records. There is no other thread yet.
    let reach = Reach {
        read: [own.read, server.folders().to_vec()].concat(),
        write: [own.write, server.scratch().into_iter().collect()].concat(),
    };
    match confine(&reach) {
        Ok(Confined::Wholly) => {}
        Ok(Confined::Partly) => anstream::eprintln!(
            "this kernel confines the server only in part: it is older than Linux 6.12"
        ),
        Ok(Confined::Not) => anstream::eprintln!(
            "this kernel does not confine the server: it has no Landlock, or has it switched off"
        ),
        Err(error) => anstream::eprintln!("the server is not confined: {error}"),
    }
    print(format_args!("{}\n", server.url()))?;
    server.run()?;
    Ok(Exit::Good)
}

/// Canonical paths of the folders. A path that is no folder is an error before anything is served.
fn folders(named: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let whole = |folder: &PathBuf| {
        let found = folder.canonicalize();
        let found = found.with_context(|| format!("cannot serve {}", folder.display()))?;
        if !found.is_dir() {
            bail!("cannot serve {}: it is no folder", folder.display());
        }
        Ok(found)
    };
    named.iter().map(whole).collect()
}

/// The folder of the store, where SQLite keeps its log beside it, and where the runs of this user keep their traces: a store that was copied names
/// those of the other.
fn reach(store: &Path) -> Reach {
    let folder = |path: &Path| match path.parent() {
        Some(folder) if folder != Path::new("") => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    // A store that is not there yet is found in it as soon as a run makes it. Where no folder can be made nothing appears.
    let _ = DirBuilder::new().recursive(true).mode(0o700).create(folder(store));
    let mut write = vec![folder(store)];
    // Where the store is a link, SQLite keeps its log beside the file.
    write.extend(store.canonicalize().ok().map(|real| folder(&real)));
    let stores = [Some(store.to_owned()), Store::default_path().ok()];
    let traces = |store: PathBuf| store.with_file_name("traces");
    Reach { read: stores.into_iter().flatten().map(traces).collect(), write }
}
