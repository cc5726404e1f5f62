//! The socket that a client waits on, for another thread that ends the wait.

use crate::mongo::connection::Socket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The open socket of one client, if it has one.
#[derive(Debug, Default)]
pub struct OpenSocket {
    is_interrupted: AtomicBool,
    socket: Mutex<Weak<Socket>>,
}

impl OpenSocket {
    /// Closes the connection under the client: the call that it is in fails, and no other is made.
    pub fn interrupt(&self) {
        self.is_interrupted.store(true, Ordering::SeqCst);
        let socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(socket) = socket.upgrade() {
            socket.shut_down();
        }
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.is_interrupted.load(Ordering::SeqCst)
    }

    /// The client has connected again.
    pub(crate) fn is(&self, socket: &Arc<Socket>) {
        *self.socket.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(socket);
        // Who interrupts sets the mark first, so one of the two sees the other.
        if self.is_interrupted() {
            socket.shut_down();
        }
    }
}
