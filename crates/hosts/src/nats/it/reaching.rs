//! What stands between a side and NATS.

use crate::nats::it::server::{NATS_SERVER, Server};
use crate::nats::it::{expect, pair, secret, send};
use crate::nats::{Agent, Connection, Credentials, NatsError, attach, list};
use plimsoll_testing::{assert_contains, assert_err, certificates, needs, servers::closed_port};
use std::fs::Permissions;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::PermissionsExt;

const WITH_A_USER: &str = r#"
jetstream { store_dir: "{data}" }
authorization { user: me, password: "a:secret" }
"#;

/// The errors of a list, a controller and an agent, which must be the same.
fn errors(settings: &Connection) -> [NatsError; 3] {
    [
        list(settings).unwrap_err(),
        attach(settings, "a", "the test").unwrap_err(),
        Agent::join(settings, "a", "{}".to_owned()).unwrap_err(),
    ]
}

#[test]
fn a_server_that_is_down_cannot_be_reached() {
    let url = format!("nats://me:secret@127.0.0.1:{}", closed_port());
    for error in errors(&Connection::to(&url)) {
        assert_err!(Err::<(), _>(&error), NatsError::Unreachable { .. });
        assert_contains(&error, "NATS cannot be reached at nats://127.0.0.1:");
        assert_contains(&error, "refused");
        assert!(!format!("{error} {error:?}").contains("secret"));
    }
}

#[test]
fn files_that_are_missing_or_hold_something_else_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("missing");
    let other = directory.path().join("other");
    let mut settings = Connection::to("nats://127.0.0.1:1");
    let exposed = directory.path().join("exposed");
    secret(&exposed, &nkeys::KeyPair::new_user().seed().unwrap());
    std::fs::set_permissions(&exposed, Permissions::from_mode(0o640)).unwrap();
    settings.credentials = Credentials::NkeySeedFile(exposed);
    assert_contains(list(&settings).unwrap_err(), "other users can read it: chmod 600 ");
    secret(&other, "something else");
    for path in [missing.clone(), other] {
        for credentials in
            [Credentials::NkeySeedFile(path.clone()), Credentials::CredsFile(path.clone())]
        {
            settings.credentials = credentials;
            assert_contains(list(&settings).unwrap_err(), path.to_str().unwrap());
        }
    }
    settings.credentials = Credentials::None;
    settings.ca_file = Some(missing.clone());
    assert_contains(list(&settings).unwrap_err(), missing.to_str().unwrap());
}

/// The server only claims to be old: there is no old one here.
#[test]
fn an_old_server_is_named() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        for _ in 0..3 {
            let (mut client, _) = listener.accept().unwrap();
            let info =
                r#"{"server_id":"x","version":"2.11.9","max_payload":1048576,"jetstream":true}"#;
            write!(client, "INFO {info}\r\nPONG\r\n").unwrap();
            // Until it is gone.
            let mut buffer = [0; 1024];
            while let Ok(1..) = client.read(&mut buffer) {}
        }
    });
    for error in errors(&Connection::to(&format!("nats://127.0.0.1:{port}"))) {
        assert_contains(&error, "NATS server 2.11.9 is too old: 2.12 or later is needed");
    }
    server.join().unwrap();
}

mod slow {
    use super::*;

    #[test]
    fn wrong_credentials_are_refused() {
        needs!(NATS_SERVER);
        let server = Server::start_with(WITH_A_USER);
        let mut none = server.settings();
        let in_url = format!("nats://me:wrong%3Asecret@127.0.0.1:{}", server.port);
        let in_url = Connection::to(&in_url);
        let mut settings = vec![none.clone(), in_url];
        none.credentials =
            Credentials::Password { user: "me".to_owned(), password: "wrong:secret".to_owned() };
        settings.push(none.clone());
        let seed = server.directory().join("seed");
        secret(&seed, &nkeys::KeyPair::new_user().seed().unwrap());
        none.credentials = Credentials::NkeySeedFile(seed);
        settings.push(none);
        for settings in settings {
            for error in errors(&settings) {
                assert_err!(Err::<(), _>(&error), NatsError::Refused { .. });
                assert_contains(&error, "refused the credentials");
                assert!(!format!("{error} {error:?} {settings:?}").contains("secret"));
            }
        }
    }

    #[test]
    fn a_user_with_a_password_is_let_in() {
        needs!(NATS_SERVER);
        let server = Server::start_with(WITH_A_USER);
        let mut by_settings = server.settings();
        by_settings.credentials =
            Credentials::Password { user: "me".to_owned(), password: "a:secret".to_owned() };
        let by_url = format!("nats://me:a%3Asecret@127.0.0.1:{}", server.port);
        let mut pair = pair(&by_settings, &Connection::to(&by_url), "a");
        send(&mut pair.here, 0..1);
        expect(&mut pair.there, 0..1);
    }

    #[test]
    fn a_server_without_jetstream_is_named() {
        needs!(NATS_SERVER);
        // For no account, or only for another one.
        for config in [
            "",
            r#"
        jetstream { store_dir: "{data}" }
        accounts {
          OTHER { jetstream: enabled, users: [ { user: other, password: x } ] }
          OURS { users: [ { user: me, password: x } ] }
        }
        "#,
        ] {
            let server = Server::start_with(config);
            let mut settings = server.settings();
            if !config.is_empty() {
                settings.credentials =
                    Credentials::Password { user: "me".to_owned(), password: "x".to_owned() };
            }
            for error in errors(&settings) {
                assert_err!(Err::<(), _>(&error), NatsError::NoJetStream { .. });
                assert_contains(&error, "start nats-server with --jetstream");
            }
        }
    }

    #[test]
    fn messages_must_be_long_enough() {
        needs!(NATS_SERVER);
        let server = Server::start_with("jetstream { store_dir: \"{data}\" }\nmax_payload: 64KB");
        for error in errors(&server.settings()) {
            assert_contains(&error, "raise its max_payload");
        }
    }

    #[test]
    fn an_encrypted_connection_needs_a_certificate_that_is_trusted() {
        needs!(NATS_SERVER);
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str, content: &str| {
            let path = directory.path().join(name);
            std::fs::write(&path, content).unwrap();
            path
        };
        let ours = file("ours", certificates::AUTHORITY);
        let other = file("other", certificates::OTHER_AUTHORITY);
        let certificate = file("certificate", certificates::SERVER);
        let key = file("key", certificates::SERVER_KEY);
        let server = Server::start_with(&format!(
            "jetstream {{ store_dir: \"{{data}}\" }}\ntls {{ cert_file: {certificate:?}, key_file: {key:?} }}"
        ));
        let mut settings = Connection::to(&format!("tls://127.0.0.1:{}", server.port));
        settings.ca_file = Some(ours);
        let mut pair = pair(&settings, &settings, "a");
        send(&mut pair.here, 0..100);
        expect(&mut pair.there, 0..100);
        settings.ca_file = Some(other);
        assert_contains(list(&settings).unwrap_err(), "certificate");
        // A client that asks for encryption gets it, or nothing.
        let plain = Server::start();
        settings.urls = vec![plain.url().replace("nats://", "tls://")];
        assert_err!(list(&settings), NatsError::Unreachable { .. });
    }
}
