//! A proxy that speaks TLS and stands in front of a server, as a team has one.

use plimsoll_testing::certificates::{AUTHORITY, SERVER, SERVER_KEY};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Ends when it is dropped.
pub struct TlsProxy {
    /// By which it is reached.
    pub url: String,
    /// PEM of its authority, which no system trusts.
    pub certificate: String,
    behind: Arc<Mutex<SocketAddr>>,
    _runtime: Runtime,
}

impl TlsProxy {
    pub fn before(address: SocketAddr) -> Self {
        let key = PrivateKeyDer::from_pem_slice(SERVER_KEY.as_bytes()).unwrap();
        let certificate = CertificateDer::from_pem_slice(SERVER.as_bytes()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_io()
            .build()
            .unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        let behind = Arc::new(Mutex::new(address));
        let known = Arc::clone(&behind);
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, known) = (acceptor.clone(), Arc::clone(&known));
                tokio::spawn(async move {
                    let Ok(mut client) = acceptor.accept(stream).await else {
                        return;
                    };
                    let address = *known.lock().unwrap();
                    if let Ok(mut server) = TcpStream::connect(address).await {
                        let _ = copy_bidirectional(&mut client, &mut server).await;
                    }
                });
            }
        });
        Self {
            url: format!("https://localhost:{port}"),
            certificate: AUTHORITY.to_owned(),
            behind,
            _runtime: runtime,
        }
    }

    /// From now on it stands in front of another one.
    pub fn stand_before(&self, address: SocketAddr) {
        *self.behind.lock().unwrap() = address;
    }
}
