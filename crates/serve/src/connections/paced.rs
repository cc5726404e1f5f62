//! A connection that hears only who listens: while what was sent is not taken, nothing more is read, so that no answers gather; and who takes
//! too little for too long is cut off.

use super::places::Link;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
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
    /// The last that was sent was not taken.
    is_full: bool,
    behind: Option<Behind>,
    /// Who would like to read.
    reader: Option<Waker>,
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
            is_full: false,
            behind: None,
            reader: None,
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
                self.is_full = false;
                self.link.takes();
                if let Some(behind) = &mut self.behind {
                    behind.taken += bytes;
                    if behind.taken >= ENOUGH {
                        self.behind = None;
                    }
                }
                if let Some(reader) = self.reader.take() {
                    reader.wake();
                }
            }
            Poll::Ready(Err(_)) => {}
            Poll::Pending => {
                self.is_full = true;
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
        if self.is_full {
            self.reader = Some(cx.waker().clone());
            return Poll::Pending;
        }
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
