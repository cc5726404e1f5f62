//! Connections, and how many of them, how much they may say and how long they may take.

mod paced;
mod places;
#[cfg(test)]
mod tests;

pub(crate) use places::{Places, Requester};

use crate::access::TakenAt;
use axum::Router;
use axum::body::{Body, Bytes};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulConnection, GracefulShutdown};
use hyper_util::service::TowerToHyperService;
use paced::{LONGEST_SILENCE, Paced};
use places::{Link, Peer};
use socket2::SockRef;
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tower::ServiceExt;

/// How long answers that are under way may take when the server ends.
pub(crate) const LAST_WORDS: Duration = Duration::from_secs(2);

/// Longest time until a connection has asked for something that it may have.
const LONGEST_STRANGENESS: Duration = Duration::from_secs(5);
/// Longest wait for the head of the next request on the same connection.
const LONGEST_HEAD: Duration = Duration::from_secs(20);
/// Longest head of a request, bytes.
const LARGEST_HEAD: usize = 16 << 10;
/// Lines in a head.
const MOST_HEADERS: usize = 64;
/// What the system holds for somebody who does not take it, and of somebody who is not heard, bytes.
const SYSTEM_BUFFER: usize = 128 << 10;
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
    places: Arc<Places>,
    mut closing: watch::Receiver<bool>,
) -> io::Result<()> {
    let graceful = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = closing.wait_for(|closing| *closing) => break,
        };
        let Ok((stream, from)) = accepted else {
            tokio::time::sleep(BREATH).await;
            continue;
        };
        let Ok(taken_at) = prepared(&stream) else {
            continue;
        };
        let place = places.enter(Peer::of(from.ip()));
        let requester = Requester {
            places: Arc::clone(&places),
            link: Arc::clone(place.link()),
        };
        let connection = graceful.watch(answered(stream, router.clone(), requester, taken_at));
        tokio::spawn(async move {
            let link = place.link();
            tokio::select! {
                // It ends in an error when the other side goes away or takes too long, which is its own affair.
                _ = connection => {}
                () = link.closed() => {}
                () = remains_strange(link) => {}
            }
        });
        // Whoever is there already is heard before anybody else is let in.
        tokio::task::yield_now().await;
    }
    let _ = tokio::time::timeout(LAST_WORDS, graceful.shutdown()).await;
    Ok(())
}

/// Answers what comes through a connection, one request after the other.
fn answered<S: AsyncRead + AsyncWrite + Unpin + 'static>(
    stream: S,
    router: Router,
    requester: Requester,
    taken_at: TakenAt,
) -> impl GracefulConnection {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(LONGEST_HEAD)
        .max_buf_size(LARGEST_HEAD)
        .max_headers(MOST_HEADERS);
    let stream = Paced::new(stream, Arc::clone(&requester.link));
    let service = tower::service_fn(move |mut request: hyper::Request<Incoming>| {
        let asking = Asking::begin(&requester.link);
        request.extensions_mut().insert(taken_at);
        request.extensions_mut().insert(requester.clone());
        let answer = router.clone().oneshot(request.map(Body::new));
        async move {
            let answer = answer.await?;
            Ok::<_, Infallible>(answer.map(|body| Answer {
                body,
                _asking: asking,
            }))
        }
    });
    http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(service))
}

/// Comes back where a connection has asked for nothing that it may have, when it should have.
async fn remains_strange(link: &Link) {
    tokio::time::sleep(LONGEST_STRANGENESS).await;
    if !link.is_stranger() {
        std::future::pending::<()>().await;
    }
}

fn prepared(stream: &TcpStream) -> io::Result<TakenAt> {
    let socket = SockRef::from(stream);
    socket.set_tcp_user_timeout(Some(LONGEST_SILENCE))?;
    socket.set_send_buffer_size(SYSTEM_BUFFER)?;
    socket.set_recv_buffer_size(SYSTEM_BUFFER)?;
    socket.set_keepalive(true)?;
    stream.set_nodelay(true)?;
    Ok(TakenAt(stream.local_addr()?.ip()))
}

/// As long as a request is being answered.
struct Asking(Arc<Link>);

impl Asking {
    fn begin(link: &Arc<Link>) -> Self {
        link.asks(true);
        Self(Arc::clone(link))
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.0.asks(false);
    }
}

/// What is answered, until all of it is sent.
struct Answer {
    body: Body,
    _asking: Asking,
}

impl hyper::body::Body for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
