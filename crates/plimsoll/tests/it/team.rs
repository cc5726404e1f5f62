//! `plimsoll serve --accept`, `push` and `pull`: results of several machines in one place.

use crate::laboratory::{Laboratory, Running, Said, has_slices, wait_until};
use crate::proxy::TlsProxy;
use crate::serving::{SHORT, Serving};
use crate::stores::{TINY, with_a_record};
use plimsoll_store::{Filter, Store};
use plimsoll_testing::assert_contains;
use rustix::process::Signal;
use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;

const TOKEN: &str = "0123456789abcdef0123";

/// The machine that results are sent to, and its server.
fn team(arguments: &[&str]) -> (Laboratory, Serving) {
    let team = Laboratory::new();
    let senders = team.write("senders", format!("# the CI\nci {TOKEN}\n"));
    fs::set_permissions(&senders, fs::Permissions::from_mode(0o600)).unwrap();
    let senders = senders.to_str().unwrap().to_owned();
    let mut all = vec!["--accept", &senders];
    all.extend(arguments);
    let serving = Serving::start(&team, &all);
    (team, serving)
}

fn with_token(laboratory: &Laboratory, token: &str, arguments: &[&str]) -> Said {
    let environment = vec![("PLIMSOLL_PUSH_TOKEN", OsString::from(token))];
    laboratory.start_with(arguments, environment).end()
}

/// Starts `plimsoll run experiment.yaml` that is shown elsewhere while it goes on.
fn shown_elsewhere(laboratory: &Laboratory, url: &str, certificate: &str) -> Running {
    let certificate = laboratory.write("certificate.pem", certificate);
    let environment = vec![
        ("PLIMSOLL_PUSH_TOKEN", OsString::from(TOKEN)),
        ("SSL_CERT_FILE", certificate.into_os_string()),
    ];
    let run = ["run", "experiment.yaml", "--push", url, "--live"];
    laboratory.start_with(&run, environment)
}

/// Waits until a server's store has a slice of a point that goes on.
fn wait_for_slices(team: &Laboratory) {
    wait_until("slices to come", || {
        team.record_so_far().as_ref().is_some_and(has_slices)
    });
}

fn stored(laboratory: &Laboratory) -> usize {
    match Store::open_read_only(&laboratory.store()) {
        Ok(store) => store.list(&Filter::default()).unwrap().len(),
        Err(_) => 0,
    }
}

/// A file of senders that others can read is no secret.
#[test]
fn senders_are_a_secret() {
    let team = Laboratory::new();
    let senders = team.write("senders", format!("ci {TOKEN}\n"));
    fs::set_permissions(&senders, fs::Permissions::from_mode(0o644)).unwrap();
    let said = team.run(&["serve", "--listen", "0", "--accept", "senders"]);
    assert_eq!(said.code, Some(1));
    assert_contains(&said.err, "others can read");
    team.write("senders", "ci\n");
    fs::set_permissions(&senders, fs::Permissions::from_mode(0o600)).unwrap();
    let said = team.run(&["serve", "--listen", "0", "--accept", "senders"]);
    assert_contains(&said.err, "line 1 of senders is not two words");
    assert!(!said.err.contains(TOKEN));
}

mod slow {
    use super::*;

    #[test]
    fn a_run_sends_its_result_at_its_end() {
        let (team, serving) = team(&[]);
        let url = format!("http://{}/", serving.address);
        let machine = Laboratory::new();
        machine.write("experiment.yaml", TINY);
        let run = ["run", "experiment.yaml", "--quiet", "--push", &url];
        let said = with_token(&machine, TOKEN, &run);
        assert_contains(&said.out, "sent ");
        let there = Store::open_read_only(&team.store()).unwrap();
        let sent = there.load("last").unwrap();
        assert_eq!(sent, machine.record());
        assert!(!sent.command.contains(TOKEN) && !sent.to_json().contains(TOKEN));
        serving.end();

        // Where it cannot be sent it is kept, and how to send it later is said.
        let gone = with_token(
            &machine,
            TOKEN,
            &[
                "run",
                "experiment.yaml",
                "--fresh",
                "--quiet",
                "--push",
                &url,
            ],
        );
        let id = machine.record().id;
        assert_ne!(id, sent.id);
        assert_contains(&gone.err, &format!("plimsoll push {url} {id}"));
        assert_ne!(gone.code, Some(0));
    }

    #[test]
    fn an_experiment_elsewhere_is_shown_while_it_goes_on() {
        let (team, serving) = team(&[]);
        let proxy = TlsProxy::before(serving.address);
        let machine = Laboratory::new();
        machine.write("experiment.yaml", SHORT.replace("400ms", "60s"));
        let run = shown_elsewhere(&machine, &proxy.url, &proxy.certificate);
        wait_for_slices(&team);
        let list = serving.page("/");
        assert_contains(&list, "</span> running</span>");
        assert_contains(&list, "sent by ci");
        let id = machine.record().id;
        let page = serving.page(&format!("/experiment/{id}"));
        assert_contains(&page, &format!("data-live=\"/experiment/{id}/live\""));

        // A server that was started anew gets all of it again.
        serving.kill();
        let mut store = Store::open(&team.store()).unwrap();
        store.delete(&id).unwrap();
        drop(store);
        let serving = Serving::start(&team, &["--accept", "senders"]);
        proxy.stand_before(serving.address);
        wait_for_slices(&team);

        // Nobody works on it any more.
        run.send(Signal::INT);
        let said = run.end();
        assert_eq!(said.code, Some(105), "{said:?}");
        let there = Store::open_read_only(&team.store()).unwrap();
        assert!(!there.is_running(&id).unwrap());
        assert_contains(serving.page("/"), "interrupted");
        drop(there);
        // What is sent as a whole takes its place.
        let plain = format!("http://{}", serving.address);
        let sent = with_token(&machine, TOKEN, &["push", &plain, "--live"]);
        assert_contains(&sent.out, "sent what was new of");
        assert_eq!(team.record(), machine.record());
        serving.end();
    }

    #[test]
    fn what_was_shown_is_in_the_end_what_was_measured() {
        let (team, serving) = team(&[]);
        let proxy = TlsProxy::before(serving.address);
        let machine = Laboratory::new();
        machine.write("experiment.yaml", SHORT);
        let said = shown_elsewhere(&machine, &proxy.url, &proxy.certificate).end();
        assert_contains(&said.out, "sent what was new of");
        assert_eq!(team.record(), machine.record());
        assert_eq!(stored(&team), 1);
        serving.end();
    }

    #[test]
    fn a_result_is_sent_once_and_fetched_elsewhere() {
        let (team, serving) = team(&[]);
        let url = format!("http://{}", serving.address);
        let (machine, record) = with_a_record();
        let first = with_token(&machine, TOKEN, &["push", &url]);
        assert_eq!(first.code, Some(0), "{first:?}");
        let page = format!("{url}/experiment/{}", record.id);
        assert_contains(&first.out, &format!("sent {} (tiny): {page}", record.id));
        let again = with_token(&machine, TOKEN, &["push", &url, "tiny"]);
        assert_contains(&again.out, "has already been there");
        let there = Store::open_read_only(&team.store()).unwrap();
        assert_eq!(there.load("last").unwrap(), record);
        assert_eq!(stored(&team), 1);
        drop(there);

        // On the loopback pages need no token.
        let other = Laboratory::new();
        let fetched = other.run(&["pull", &url, "tiny"]);
        assert_eq!(fetched.code, Some(0), "{fetched:?}");
        assert_contains(&fetched.out, &format!("fetched {} (tiny)", record.id));
        assert_eq!(other.record(), record);
        let listed = other.run(&["list", "--json"]);
        let from = format!("\"sent_by\": \"{}\"", serving.address);
        assert_contains(&listed.out, &from);
        // What was fetched is a result as any other.
        let report = other.run(&["report", "last"]);
        assert_eq!(report.code, machine.run(&["report", "last"]).code);
        assert_contains(&other.run(&["pull", &url]).out, "has already been here");
        let unknown = other.run(&["pull", &url, "nothing"]);
        assert_eq!(unknown.code, Some(1));
        assert_contains(&unknown.err, "has no experiment \"nothing\"");
        serving.end();
    }

    #[test]
    fn who_may_not_send_is_told_so() {
        let (team, serving) = team(&[]);
        let url = format!("http://{}", serving.address);
        let (machine, _) = with_a_record();
        let without = machine.run(&["push", &url]);
        assert_eq!(without.code, Some(1), "{without:?}");
        for token in ["", "0123456789abcdef0124"] {
            let said = with_token(&machine, token, &["push", &url]);
            assert_eq!(said.code, Some(1));
            assert_contains(&said.err, "--accept");
        }
        assert_eq!(stored(&team), 0);
        serving.end();
        let wrong = machine.run(&["push", "team.example"]);
        assert_contains(&wrong.err, "no address of a server");
        let run = [
            "run",
            "experiment.yaml",
            "--push",
            "http://h/?token=0123456789abcdef",
        ];
        let kept = machine.run(&run);
        assert_eq!(kept.code, Some(2));
        assert_contains(&kept.err, "PLIMSOLL_PUSH_TOKEN");
    }

    /// A server that is killed while a bundle comes keeps all of it or nothing, and the next one takes it.
    #[test]
    fn a_killed_server_leaves_nothing_half_written() {
        let (team, serving) = team(&[]);
        let (machine, record) = with_a_record();
        assert_eq!(
            machine.run(&["bundle", "--to", "one.plimsoll"]).code,
            Some(0)
        );
        let bytes = fs::read(machine.path("one.plimsoll")).unwrap();
        let mut stream = TcpStream::connect(serving.address).unwrap();
        let head = format!(
            "PUT /bundles/00 HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: {}\r\nExpect: 100-continue\r\n\r\n",
            serving.address,
            bytes.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        // It listens, so it has let us in.
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 100");
        stream.write_all(&bytes[..bytes.len() / 2]).unwrap();
        serving.kill();
        assert_eq!(stored(&team), 0);
        for entry in fs::read_dir(team.store().parent().unwrap()).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(name.starts_with("plimsoll.db"), "{name}");
        }
        let next = Serving::start(&team, &["--accept", "senders"]);
        let url = format!("http://{}", next.address);
        let sent = with_token(&machine, TOKEN, &["push", &url, &record.id]);
        assert_eq!(sent.code, Some(0), "{sent:?}");
        assert_eq!(stored(&team), 1);
        next.end();
    }

    /// Another try would not help.
    #[test]
    fn a_certificate_that_nobody_knows_is_refused_at_once() {
        let (team, serving) = team(&[]);
        let proxy = TlsProxy::before(serving.address);
        let (machine, _) = with_a_record();
        let said = with_token(&machine, TOKEN, &["push", &proxy.url]);
        assert_eq!(said.code, Some(1), "{said:?}");
        assert_contains(&said.err, "does not take");
        assert_contains(&said.err, "certificate");
        assert!(!said.err.contains("once more"), "{said:?}");
        assert_eq!(stored(&team), 0);
        serving.end();
    }
}
