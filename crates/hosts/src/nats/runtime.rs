//! The thread that drives all connections of this process.

use std::future::Future;
use std::sync::OnceLock;
use std::sync::mpsc::channel;
use tokio::runtime::{Builder, Runtime};

/// One thread serves dozens of connections, and each that is waited for has a waiting thread of its own. It is never ended, because carriers may be dropped at any
/// time and anywhere.
///
/// # Panics
/// When the system gives no more threads or files, as [`std::thread::spawn`] does.
pub(crate) fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("nats")
            .enable_all()
            .build()
            .expect("the system gives a thread and a few files")
    })
}

/// Waits for something on that thread. Unlike [`Runtime::block_on`] it may be called wherever one may wait, such as in a thread of another runtime that is
/// there for it.
pub(crate) fn wait<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    let (tell, result) = channel();
    runtime().spawn(async move {
        let _ = tell.send(work.await);
    });
    result.recv().expect("the work neither panics nor is aborted")
}
