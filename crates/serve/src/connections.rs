//! Connections, how many there are, and how long they may take.

#[cfg(test)]
mod tests;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulConnection, GracefulShutdown};
use hyper_util::service::TowerToHyperService;
use socket2::SockRef;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{Semaphore, watch};

/// How long answers that are under way may take when the server ends.
pub(crate) const LAST_WORDS: Duration = Duration::from_secs(2);

/// Connections at a time: those of a browser, live views, and some that are idle. Others wait until one ends.
const MOST: usize = 128;
/// Longest wait for the head of the next request on the same connection.
const LONGEST_HEAD: Duration = Duration::from_secs(20);
/// Longest wait for a client to read any of what was sent, after which the system ends the connection.
const LONGEST_SILENCE: Duration = Duration::from_secs(30);
/// Longest head of a request, bytes.
const LARGEST_HEAD: usize = 16 << 10;
const MOST_HEADERS: usize = 64;
/// Bytes that the system buffers for a client that does not read, and of one that is not read from.
const SYSTEM_BUFFER: usize = 128 << 10;
/// Pause after the system gave no connection, such as for want of file descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// The signals that end the server. SIGHUP is left as it was found, so that `nohup` works.
pub(crate) struct AskedToEnd {
    interrupt: Signal,
    terminate: Signal,
}

/// Begins to listen for them. Both are heard also where they were ignored when the program began, as they are in the background of a script.
pub(crate) fn requested_end() -> io::Result<AskedToEnd> {
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

pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    mut closing: watch::Receiver<bool>,
) -> io::Result<()> {
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(MOST));
    let next = async || {
        let place = Arc::clone(&places).acquire_owned().await;
        (place, listener.accept().await)
    };
    loop {
        let (place, accepted) = tokio::select! {
            next = next() => next,
            _ = closing.wait_for(|closing| *closing) => break,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        if prepare(&stream).is_err() {
            continue;
        }
        let connection = graceful.watch(answered(stream, router.clone()));
        tokio::spawn(async move {
            // It ends in an error when the other side goes away or takes too long, which is its own affair.
            let _ = connection.await;
            drop(place);
        });
    }
    let _ = tokio::time::timeout(LAST_WORDS, graceful.shutdown()).await;
    Ok(())
}

/// Answers what comes through a connection, one request after the other.
fn answered<S: AsyncRead + AsyncWrite + Unpin + 'static>(
    stream: S,
    router: Router,
) -> impl GracefulConnection {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(LONGEST_HEAD)
        .max_buf_size(LARGEST_HEAD)
        .max_headers(MOST_HEADERS);
    http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
}

fn prepare(stream: &TcpStream) -> io::Result<()> {
    let socket = SockRef::from(stream);
    socket.set_tcp_user_timeout(Some(LONGEST_SILENCE))?;
    socket.set_send_buffer_size(SYSTEM_BUFFER)?;
    socket.set_recv_buffer_size(SYSTEM_BUFFER)?;
    stream.set_nodelay(true)
}
