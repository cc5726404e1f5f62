use crate::log::{LogError, Skipped, calls};
use proptest::prelude::*;

/// A line as a mongod 6.0 writes it.
fn line(attributes: &str) -> String {
    format!(
        r#"{{"t":{{"$date":"2026-11-29T13:57:21.271+00:00"}},"s":"I","c":"COMMAND","id":51803,"ctx":"conn4","msg":"Slow query","attr":{{{attributes}}}}}"#
    )
}

const FIND: &str = r#""type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customer":"Miller"},"$db":"shop","lsid":{"id":{"$uuid":"527e2eeb-58f8-4b73-85d7-f22488529327"}},"signature":{"hash":{"$binary":{"base64":"AAAAAAAAAAAAAAAAAAAAAAAAAAA=","subType":"0"}},"keyId":0}},"planSummary":"IXSCAN { customer: 1 }","keysExamined":5,"docsExamined":4,"cursorExhausted":true,"nreturned":3,"reslen":680,"durationMillis":3"#;

#[test]
fn lines_that_tell_of_no_operation_are_skipped() {
    let own = FIND.replace(r#""ns""#, r#""appName":"plimsoll imitate","ns""#);
    let cut = line(FIND).replace(
        r#""attr""#,
        r#""truncated":{"command":{"filter":{"type":"string","size":99999}}},"attr""#,
    );
    let cut_in_command =
        line(&FIND.replace(r#""find":"orders""#, r#""$truncated":"{ find: \"orders\"""#));
    let lines = [
        line(FIND),
        line(&own),
        line(&FIND.replace("shop.orders", "admin.orders")),
        line(&FIND.replace("shop.orders", "shop.system.profile")),
        line(&FIND.replace("shop.orders", "shop.plimsoll.marks")),
        line(&FIND.replace(r#""find":"orders""#, r#""ping":1"#)),
        line(&FIND.replace(r#""durationMillis""#, r#""errCode":11000,"durationMillis""#)),
        line(FIND).replace("51803", "51800"),
        String::new(),
        line(FIND)[..100].to_owned() + "\nsomething else\n{}\n[1]",
        cut,
        cut_in_command,
    ];
    let text = lines.join("\n");
    let mut read = calls(text.as_bytes()).unwrap();
    let found: Vec<_> = read.by_ref().collect();
    let [first, failed] = found.as_slice() else { panic!("{found:#?}") };
    assert_eq!(
        (first.keys_examined, first.documents_examined, first.returned, first.bytes, first.micros),
        (5, 4, Some(3), 680, 3_000)
    );
    let texts = [&first.namespace, &first.plan];
    assert_eq!(texts, ["shop.orders", "IXSCAN { customer: 1 }"]);
    assert!(!first.failed && failed.failed);
    assert_eq!(read.skipped(), Skipped { broken: 4, truncated: 2 });
}

/// As a mongod 6.0 writes them; what looks after the server is no work of an application.
#[test]
fn commands_that_no_file_has_are_listed_with_their_share() {
    let find = line(FIND);
    let map = line(&FIND.replace(r#""find":"orders","filter":{"customer":"Miller"}"#, r#""mapReduce":"orders","map":"function(){emit('secret',1)}","query":{"customer":"Miller"},"out":{"inline":1}"#));
    let of_database = |command: &str| {
        let other = FIND.replace(r#""find":"orders","filter":{"customer":"Miller"}"#, command);
        line(&other.replace("shop.orders", "shop.$cmd"))
    };
    let unknown = of_database(r#""eval":"secret()","filter":{}"#);
    let upkeep = [r#""ping":1"#, r#""validate":"orders""#, r#""a b":1"#].map(of_database);
    let text = [&find, &map, &map, &unknown].into_iter().chain(&upkeep).map(|line| line.as_str());
    let text = text.collect::<Vec<_>>().join("\n");
    let shapes = crate::shapes(calls(text.as_bytes()).unwrap(), &super::shop());
    let observed =
        crate::Observed { shapes, collections: super::shop(), ..crate::Observed::default() };
    let section = crate::operations::write(&observed);
    assert_eq!(section.mix, ["orders-by-customer: 100%"]);
    let why = "of the server's time, left out: an experiment file has no";
    let expected = [
        format!("orders-mapReduce: 50.0 % {why} `mapReduce`"),
        format!("eval: 25.0 % {why} `eval`"),
    ];
    assert_eq!(section.omitted, expected);
    assert!(!format!("{observed:?}").contains("secret"));
}

#[test]
fn the_line_of_a_command_completes_its_statements() {
    let statement = r#""type":"update","ns":"shop.orders","command":{"q":{"_id":1},"u":{"$set":{"a":1}},"multi":false,"upsert":false},"nMatched":1,"durationMillis":0"#;
    let command = r#""type":"command","ns":"shop.$cmd","command":{"update":"orders","ordered":true,"writeConcern":{"w":"majority"},"lsid":{"id":{"$uuid":"5"}},"txnNumber":7,"autocommit":false,"$db":"shop"},"durationMillis":0"#;
    let text = [
        line(statement),
        line(statement).replace("conn4", "conn5"),
        line(statement),
        line(command),
        line(command),
    ]
    .join("\n");
    let found: Vec<_> = calls(text.as_bytes()).unwrap().collect();
    assert_eq!(found.iter().map(|call| call.statements).collect::<Vec<_>>(), [2, 2, 1]);
    assert_eq!(found[0].transaction.as_ref().map(|(_, number)| *number), Some(7));
    assert!(found[0].command.contains_key("writeConcern") && found[2].transaction.is_none());
}

#[test]
fn a_text_log_is_refused_and_an_empty_one_has_no_calls() {
    let text = "2021-03-04T05:06:07.890+0000 I  COMMAND  [conn4] command shop.orders command: find { find: \"orders\" }\n";
    assert!(matches!(calls(text.as_bytes()), Err(LogError::Text)));
    assert_eq!(calls(&b""[..]).unwrap().count(), 0);
}

#[test]
fn a_line_without_end_is_no_line_and_what_follows_is_read() {
    let mut text = vec![b'x'; 17 << 20];
    text.push(b'\n');
    text.extend(line(FIND).bytes());
    let mut read = calls(text.as_slice()).unwrap();
    assert_eq!(read.by_ref().count(), 1);
    assert_eq!(read.skipped().broken, 1);
}

proptest! {
    /// Lines in which bytes are replaced, left out and repeated.
    #[test]
    fn no_line_makes_it_panic(changes in prop::collection::vec((0_usize..700, any::<u8>(), 0_u8..4), 0..12)) {
        let mut bytes = line(FIND).into_bytes();
        for (at, byte, how) in changes {
            bytes.push(b' ');
            let at = at % bytes.len();
            match how {
                0 => bytes[at] = byte,
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, b"{}[]\",:$0"[usize::from(byte) % 9]),
                _ => bytes.truncate(at + 1),
            }
        }
        let mut read = calls(bytes.as_slice()).unwrap();
        let shapes = crate::shapes(&mut read, &super::shop());
        let observed = crate::Observed { shapes, collections: super::shop(), ..crate::Observed::default() };
        let _ = crate::operations::write(&observed);
    }
}
