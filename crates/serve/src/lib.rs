//! The pages of a store, live: what `plimsoll report`, `compare` and `history` write, for everything that is in it, and experiments while
//! they go on.
//!
//! Nothing here measures. The store is read, the traces that its records name, and the bundles in folders. A program that measures writes into the store; a reader of it
//! sees each slice as it comes. Nothing is changed.
//!
//! ```text
//! connections  listens, and limits how many may ask, how much and for how long
//!   access     who may ask: Host, Origin, token; and what a browser may do with the answer
//!   pages      list, experiment, comparison, history, errors         ─► page draws them
//!   files      what `plimsoll export` would write, and traces        ─► export
//!   maps       disk maps: stills on the page, accesses for the player
//!   live       an experiment that goes on, as server-sent events     ◄─ one reader for each, however many look
//!   metrics    the latest figures for Prometheus
//! library      records and analyses, judged once for each version of an experiment, and what is drawn of them
//! shared       what is made once for all who ask for it, a few things at a time, within a bound of memory
//! bundles      what lies in folders, verified, in a store of the server's own
//! lookup       what is meant by the words of an address, shared with the command line
//! ```
//!
//! ```no_run
//! use plimsoll_serve::{Options, Server};
//!
//! let options = Options {
//!     store: "/home/me/.local/share/plimsoll/plimsoll.db".into(),
//!     listen: ([127, 0, 0, 1], 0).into(),
//!     token_file: None,
//!     folders: Vec::new(),
//!     tell: |_| (),
//!     engines: &[],
//! };
//! let server = Server::bind(options)?;
//! println!("{}", server.url());
//! server.run()?; // until SIGINT or SIGTERM
//! # Ok::<(), plimsoll_serve::ServeError>(())
//! ```

mod access;
mod bundles;
mod connections;
mod failure;
mod files;
mod library;
mod live;
pub mod lookup;
mod maps;
mod metrics;
mod pages;
mod shared;

#[cfg(test)]
mod tests;

pub use access::TokenError;

use access::{Access, Token};
use axum::Router;
use axum::routing::get;
use bundles::Bundles;
use library::Library;
use live::Hub;
use metrics::Metrics;
use plimsoll_plan::EngineKind;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::{Semaphore, watch};

/// Version of the program, which every page names.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What is served, where, and to whom.
#[derive(Clone, Debug)]
pub struct Options {
    /// The store's file. It need not exist yet.
    pub store: PathBuf,
    /// Where to listen: an address of the loopback; port 0 is any that is free.
    pub listen: SocketAddr,
    /// A file with the token that has to be shown. Without, one is made, and kept beside the store for the next time.
    pub token_file: Option<PathBuf>,
    /// Folders whose bundles are shown beside the store.
    pub folders: Vec<PathBuf>,
    /// Reports bundles that cannot be shown.
    pub tell: fn(&str),
    /// The available engines, for estimating how long an experiment takes.
    pub engines: &'static [EngineKind],
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    #[error("{address} is taken, perhaps by another `plimsoll serve`: choose another with --listen, such as --listen {}:0 for any port that is free", address.ip())]
    Taken { address: SocketAddr },
    /// It is not possible to listen there.
    #[error("cannot listen on {address}: {source}; --listen takes an address of this machine")]
    Listen { address: SocketAddr, source: io::Error },
    #[error(transparent)]
    Token(#[from] TokenError),
    /// The system does not give what a server needs.
    #[error("cannot serve: {0}")]
    System(#[from] io::Error),
}

/// What all answers are made from.
struct App {
    library: Arc<Library>,
    /// Files that are written at this moment.
    downloads: Arc<Semaphore>,
    hub: Hub,
    metrics: Metrics,
    engines: &'static [EngineKind],
    /// Turns true when the server ends.
    closing: watch::Receiver<bool>,
}

impl App {
    fn new(
        store: PathBuf,
        bundles: Option<Arc<Bundles>>,
        engines: &'static [EngineKind],
        closing: watch::Receiver<bool>,
    ) -> Arc<Self> {
        Arc::new(Self {
            library: Arc::new(Library::new(store.clone(), bundles)),
            downloads: Arc::new(Semaphore::new(files::DOWNLOADS)),
            hub: Hub::new(store, engines),
            metrics: Metrics::default(),
            engines,
            closing,
        })
    }
}

/// A server that listens and does not answer yet.
#[derive(Debug)]
pub struct Server {
    listener: std::net::TcpListener,
    address: SocketAddr,
    access: Access,
    options: Options,
    bundles: Option<Arc<Bundles>>,
}

impl Server {
    /// Takes the port, so that browsers can already connect.
    pub fn bind(options: Options) -> Result<Self, ServeError> {
        let token = match &options.token_file {
            Some(file) => Token::read(file)?,
            None => Token::kept(&options.store.with_file_name("serve-token"))?,
        };
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::AddrInUse => ServeError::Taken { address: options.listen },
            _ => ServeError::Listen { address: options.listen, source },
        };
        let listener = std::net::TcpListener::bind(options.listen).map_err(failed)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Self {
            listener,
            address,
            access: Access::new(address.port(), token),
            bundles: match options.folders.is_empty() {
                true => None,
                false => Some(Arc::new(Bundles::of(options.folders.clone(), options.tell)?)),
            },
            options,
        })
    }

    pub fn folders(&self) -> &[PathBuf] {
        &self.options.folders
    }

    /// The folder of its own that it writes in, where it has one.
    pub fn scratch(&self) -> Option<PathBuf> {
        self.bundles.as_ref().map(|bundles| bundles.scratch().to_owned())
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What to open in a browser on this machine, with the token.
    pub fn url(&self) -> String {
        let token = self.access.token().text();
        format!("http://{}/?token={token}", self.address)
    }

    /// Answers until SIGINT or SIGTERM, and then finishes the answers that are under way, within a few seconds.
    pub fn run(self) -> Result<(), ServeError> {
        // One thread for all connections: the machine may be measuring. What takes long happens on threads of its own.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(
                pages::LOOKS
                    + library::AT_A_TIME
                    + files::DOWNLOADS
                    + live::MOST_STREAMS
                    + bundles::THREADS,
            )
            .build()?;
        let (close, closing) = watch::channel(false);
        let bundles = self.bundles;
        let app =
            App::new(self.options.store, bundles.clone(), self.options.engines, closing.clone());
        let router = router(app, self.access);
        let served = runtime.block_on(async {
            let mut requested_end = connections::requested_end()?;
            if let Some(bundles) = bundles {
                tokio::spawn(bundles::watch(bundles));
            }
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let server = connections::serve(listener, router, closing);
            tokio::pin!(server);
            tokio::select! {
                served = &mut server => return served,
                () = requested_end.wait() => {}
            }
            let _ = close.send(true);
            server.await
        });
        // Followers check many times a second whether anybody follows.
        runtime.shutdown_timeout(connections::LAST_WORDS);
        Ok(served?)
    }
}

fn router(app: Arc<App>, access: Access) -> Router {
    let routes = Router::new()
        .route("/", get(pages::list))
        .route("/experiment/{id}", get(pages::experiment))
        .route("/experiment/{id}/live", get(live::events))
        .route("/experiment/{id}/files/{name}", get(files::file))
        .route("/experiment/{id}/map", get(maps::map))
        .route("/compare", get(pages::compare))
        .route("/history/{name}", get(pages::history))
        .route("/metrics", get(metrics::metrics))
        .fallback(pages::nothing)
        .with_state(app);
    access::guard(routes, access)
}
