//! A connection by which who takes too little of what is sent for too long is cut off. Meanwhile hyper reads no further requests from it, so that
//! no answers gather.

use super::places::Link;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// Longest wait for somebody to take [`ENOUGH`] of what was sent, or all of it.
pub(super) const LONGEST_SILENCE: Duration = Duration::from_secs(30);
/// Bytes.
const ENOUGH: usize = 64 << 10;

pub(super) struct Paced<S> {
    stream: S,
    link: Arc<Link>,
    behind: Option<Behind>,
}

/// Since somebody is slow.
struct Behind {
    until: Pin<Box<Sleep>>,
    taken: usize,
}

impl<S> Paced<S> {
    pub(super) fn new(stream: S, link: Arc<Link>) -> Self {
        Self {
            stream,
            link,
            behind: None,
        }
    }

    /// After an attempt to send.
    fn sent(
        &mut self,
        cx: &mut Context<'_>,
        sent: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match &sent {
            Poll::Ready(Ok(bytes)) => {
                self.link.takes();
                if let Some(behind) = &mut self.behind {
                    behind.taken += bytes;
                    if behind.taken >= ENOUGH {
                        self.behind = None;
                    }
                }
            }
            Poll::Ready(Err(_)) => {}
            Poll::Pending => {
                self.link.is_blocked();
                let behind = self.behind.get_or_insert_with(|| Behind {
                    until: Box::pin(sleep_until(Instant::now() + LONGEST_SILENCE)),
                    taken: 0,
                });
                ready!(behind.until.as_mut().poll(cx));
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
        }
        sent
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Paced<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Paced<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.sent(cx, sent)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        self.sent(cx, sent)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// All that there was to send has been taken.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.behind = None;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
