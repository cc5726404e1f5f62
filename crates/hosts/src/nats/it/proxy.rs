//! A way to a server that can be cut, and one that can be held: then nothing passes, and neither side notices.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

pub struct Proxy {
    pub port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    upstream: u16,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    is_cut: bool,
    is_held: bool,
    is_dropped: bool,
    /// How many were turned away while it was cut.
    refused: u32,
    sockets: Vec<TcpStream>,
}

impl Proxy {
    pub fn to(upstream: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared =
            Arc::new(Shared { upstream, state: Mutex::default(), changed: Condvar::new() });
        let of_thread = shared.clone();
        std::thread::spawn(move || {
            for client in listener.incoming() {
                if !of_thread.admit(client.unwrap()) {
                    return;
                }
            }
        });
        Self { port, shared }
    }

    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Closes all connections, and admits none.
    pub fn cut(&self) {
        let mut state = self.shared.state.lock().unwrap();
        state.is_cut = true;
        state.refused = 0;
        state.close_all();
    }

    /// Until an attempt to connect has failed.
    pub fn await_refusal(&self) {
        let state = self.shared.state.lock().unwrap();
        let refused = self.shared.changed.wait_while(state, |state| state.refused == 0);
        drop(refused.unwrap());
    }

    pub fn mend(&self) {
        self.shared.state.lock().unwrap().is_cut = false;
    }

    pub fn hold(&self, is_held: bool) {
        self.shared.state.lock().unwrap().is_held = is_held;
        self.shared.changed.notify_all();
    }
}

impl State {
    fn close_all(&mut self) {
        for socket in self.sockets.drain(..) {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }
}

impl Shared {
    fn admit(self: &Arc<Self>, client: TcpStream) -> bool {
        let mut state = self.state.lock().unwrap();
        if state.is_dropped {
            return false;
        }
        if state.is_cut {
            state.refused += 1;
            self.changed.notify_all();
            return true;
        }
        // A server that is down turns it away.
        let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, self.upstream)) else {
            return true;
        };
        for socket in [&client, &server] {
            socket.set_nodelay(true).unwrap();
            state.sockets.push(socket.try_clone().unwrap());
        }
        let back = (server.try_clone().unwrap(), client.try_clone().unwrap());
        for (from, to) in [(client, server), back] {
            let shared = self.clone();
            std::thread::spawn(move || shared.pass(from, to));
        }
        true
    }

    fn pass(&self, mut from: TcpStream, mut to: TcpStream) {
        let mut bytes = vec![0; 64 << 10];
        while let Ok(length @ 1..) = from.read(&mut bytes) {
            let state = self.state.lock().unwrap();
            let passing = self.changed.wait_while(state, |state| state.is_held);
            drop(passing.unwrap());
            if to.write_all(&bytes[..length]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
        let _ = from.shutdown(Shutdown::Both);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock().unwrap();
        state.is_dropped = true;
        state.is_held = false;
        state.close_all();
        drop(state);
        self.shared.changed.notify_all();
        // So that the thread sees it.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
    }
}
