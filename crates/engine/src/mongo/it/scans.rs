//! Reading in the order of keys, over many batches.

use crate::mongo::LeanClient;
use crate::mongo::it::records::{load, small_data};
use crate::mongo::it::servers::each;
use plimsoll_workload::FieldChoice;

#[test]
fn scans_read_on_until_all_is_there() {
    each(|server| {
        let data = small_data(1_200);
        let mut options = server.options(&data);
        options.batch = 100;
        let mut client = LeanClient::connect(&options).unwrap();
        load(&mut client, &data);
        let mut scan = |start: &str, count| {
            let [rows, some] = [FieldChoice::All, FieldChoice::Some(&[1])]
                .map(|fields| client.scan(start.as_bytes(), count, fields).unwrap());
            assert_eq!(rows, some);
            rows
        };
        // Servers put 101 records into the first batch.
        for count in [1, 50, 100, 101, 102, 103, 202, 1_000] {
            assert_eq!(scan("user000100", count), count, "{count}");
        }
        for (start, count, expected) in [
            ("user000000", 5_000, 1_200),
            ("user001190", 100, 10),
            ("user001199", 1, 1),
            // Between two keys, before all, behind all, and nothing at all.
            ("user0001000", 5, 5),
            ("a", 5, 5),
            ("v", 5, 0),
            ("user000000", 0, 0),
        ] {
            assert_eq!(scan(start, count), expected, "{count} from {start}");
        }
    });
}
