//! Connections, and how many of them, how much they may say and how long they may take.

use crate::access::TakenAt;
use axum::Router;
use axum::body::Body;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use socket2::SockRef;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{Semaphore, watch};
use tower::ServiceExt;

/// Connections at a time; more wait until one is free. A browser takes up to six.
pub(crate) const MOST: usize = 64;

/// How long answers that are under way may take when the server ends.
pub(crate) const LAST_WORDS: Duration = Duration::from_secs(2);

/// Longest wait for the head of a request, also of the next one on the same connection.
const LONGEST_HEAD: Duration = Duration::from_secs(20);
/// Longest head of a request, bytes.
const LARGEST_HEAD: usize = 16 << 10;
/// Lines in a head.
const MOST_HEADERS: usize = 64;
/// Longest wait for somebody to take what was sent.
const LONGEST_SILENCE: Duration = Duration::from_secs(30);
/// Pause after the system gave no connection, such as for want of file descriptors.
const BREATH: Duration = Duration::from_millis(100);

/// The signals by which a program is asked to end. SIGHUP is left as it was found, so that `nohup` works.
pub(crate) struct AskedToEnd {
    interrupt: Signal,
    terminate: Signal,
}

/// Begins to listen for them. Both are heard also where they were ignored when the program began, as they are in the background of a script.
pub(crate) fn asked_to_end() -> io::Result<AskedToEnd> {
    Ok(AskedToEnd {
        interrupt: signal(SignalKind::interrupt())?,
        terminate: signal(SignalKind::terminate())?,
    })
}

impl AskedToEnd {
    pub(crate) async fn wait(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Answers until it closes.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    mut closing: watch::Receiver<bool>,
) -> io::Result<()> {
    let places = Arc::new(Semaphore::new(MOST));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(LONGEST_HEAD)
        .max_buf_size(LARGEST_HEAD)
        .max_headers(MOST_HEADERS);
    let graceful = GracefulShutdown::new();
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            break;
        };
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(_) => {
                    tokio::time::sleep(BREATH).await;
                    continue;
                }
            },
            _ = closing.wait_for(|closing| *closing) => break,
        };
        let Ok(taken_at) = prepared(&stream) else {
            continue;
        };
        let router = router.clone();
        let service =
            tower::service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
                request.extensions_mut().insert(taken_at);
                router.clone().oneshot(request.map(Body::new))
            });
        let connection =
            http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // It ends in an error when the other side goes away or takes too long, which is its own affair.
            let _ = connection.await;
            drop(place);
        });
    }
    let _ = tokio::time::timeout(LAST_WORDS, graceful.shutdown()).await;
    Ok(())
}

fn prepared(stream: &TcpStream) -> io::Result<TakenAt> {
    let socket = SockRef::from(stream);
    socket.set_tcp_user_timeout(Some(LONGEST_SILENCE))?;
    socket.set_keepalive(true)?;
    stream.set_nodelay(true)?;
    Ok(TakenAt(stream.local_addr()?.ip()))
}
