//! Logins that a real server accepts and refuses.

use crate::mongo::it::records::{command, load, small_data};
use crate::mongo::it::servers::{Kind, Server, User, each_of};
use crate::mongo::{Credentials, LeanClient, LeanErrorKind, Mechanism};
use bson::doc;
use plimsoll_workload::FieldChoice;

const USER: User = User { name: "me", password: "s3cret, p=ss" };

/// With all characters that mean something in a SCRAM message. FerretDB 1.24 does not know such users again.
const STRANGE_USER: User = User { name: "me,=you", password: "s3cret, p=ss" };

fn credentials(user: User, mechanism: Option<Mechanism>) -> Credentials {
    Credentials {
        user: user.name.into(),
        password: user.password.into(),
        source: "admin".into(),
        mechanism,
    }
}

/// Makes the user, which a mongod lets anyone on the same machine do while there is none.
fn make_user(server: &Server, user: User) {
    if server.kind == Kind::Mongod {
        let mut client = server.connect(&small_data(1));
        let user = doc! { "createUser": user.name, "pwd": user.password, "roles": ["root"] };
        client.command("admin", &user.to_vec().unwrap()).unwrap();
    }
}

fn is_let_in(server: &Server, user: User, mechanisms: &[Option<Mechanism>]) {
    let data = small_data(3);
    for (number, mechanism) in mechanisms.iter().enumerate() {
        let mut options = server.options(&data);
        options.collection = format!("table{number}");
        options.credentials = Some(credentials(user, *mechanism));
        let mut client = LeanClient::connect(&options).unwrap();
        load(&mut client, &data);
        assert!(client.read(b"user000002", FieldChoice::All, None).unwrap());
    }
}

#[test]
fn users_are_let_in() {
    each_of(&Kind::ALL, Some(USER), |server| {
        make_user(server, USER);
        is_let_in(server, USER, &[None, Some(Mechanism::ScramSha256)]);
    });
}

#[test]
fn users_with_strange_names_are_let_in_by_either_mechanism() {
    each_of(&[Kind::Mongod], Some(STRANGE_USER), |server| {
        make_user(server, STRANGE_USER);
        let mechanisms = [None, Some(Mechanism::ScramSha256), Some(Mechanism::ScramSha1)];
        is_let_in(server, STRANGE_USER, &mechanisms);
    });
}

#[test]
fn others_are_told_why_not() {
    each_of(&Kind::ALL, Some(USER), |server| {
        make_user(server, USER);
        let data = small_data(3);
        let mut options = server.options(&data);
        let wrong_password = "an0ther";
        let (name, password) = (USER.name, USER.password);
        for (name, password) in [(name, wrong_password), ("nobody", password)] {
            options.credentials = Some(credentials(User { name, password }, None));
            let error = LeanClient::connect(&options).err().unwrap();
            assert_eq!(error.kind(), LeanErrorKind::Authentication, "{error}");
            let said = format!("{error} {error:?} {options:?}");
            assert!(said.contains(&server.host().to_string()), "{said}");
            assert!(!said.contains(USER.password), "{said}");
            assert!(!said.contains(wrong_password), "{said}");
        }
        // Without credentials a client may connect and do nothing.
        options.credentials = None;
        let mut client = LeanClient::connect(&options).unwrap();
        let error = command(&mut client, &doc! { "count": "usertable" }).unwrap_err();
        assert!(matches!(error.kind(), LeanErrorKind::Refused), "{error}");
    });
}
