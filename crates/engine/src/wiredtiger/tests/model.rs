//! Any sequence of operations gives what it gives on a sorted map.

use super::*;
use plimsoll_workload::FieldLength;
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug)]
enum Step {
    Insert(u8),
    UpdateOne(u8),
    UpdateAll(u8),
    Read(u8),
    Delete(u8),
    Scan(u8, u32),
    Settle,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let key = 0..12_u8;
    prop_oneof![
        6 => key.clone().prop_map(Step::Insert),
        4 => key.clone().prop_map(Step::UpdateOne),
        2 => key.clone().prop_map(Step::UpdateAll),
        4 => key.clone().prop_map(Step::Read),
        2 => key.clone().prop_map(Step::Delete),
        4 => (key, 1..15_u32).prop_map(|(key, count)| Step::Scan(key, count)),
        1 => Just(Step::Settle),
        1 => Just(Step::Reopen),
    ]
}

/// Keys of different lengths, some the beginnings of others, one with a zero inside.
fn key(number: u8) -> Vec<u8> {
    match number {
        0 => b"user".to_vec(),
        1 => b"user\0".to_vec(),
        number => format!("user{}", u32::from(number) * 7).into_bytes(),
    }
}

mod slow {
    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

        #[test]
        fn it_behaves_as_a_sorted_map(
            steps in proptest::collection::vec(step(), 1..60),
            longest in 1..300_u32,
            constant in any::<bool>(),
        ) {
            let mut data = DataSpec::with_records(1);
            data.field_count = 6;
            data.field_length = match constant {
                true => FieldLength::Constant(longest),
                false => FieldLength::Uniform { min: 0, max: longest },
            };
            let key_space = KeySpace::new(&data).unwrap();
            let (mut one, mut all) = (updates(&key_space, false), updates(&key_space, true));
            let directory = tempfile::tempdir().unwrap();
            let mut engine = open(directory.path(), &data, &[]).unwrap();
            let mut session = engine.session().unwrap();
            let mut model: BTreeMap<Vec<u8>, Record> = BTreeMap::new();

            for step in steps {
                match step {
                    Step::Insert(number) => {
                        let fields = changes(&mut all);
                        let outcome = session.insert(&key(number), fields);
                        match model.entry(key(number)) {
                            std::collections::btree_map::Entry::Vacant(entry) => {
                                assert_ok(outcome);
                                entry.insert(record(fields));
                            }
                            std::collections::btree_map::Entry::Occupied(_) => {
                                prop_assert!(matches!(outcome, Outcome::Error(_)));
                            }
                        }
                    }
                    Step::UpdateOne(number) | Step::UpdateAll(number) => {
                        let generator = if matches!(step, Step::UpdateOne(_)) { &mut one } else { &mut all };
                        let fields = changes(generator);
                        let outcome = session.update(&key(number), fields);
                        match model.get_mut(&key(number)) {
                            Some(known) => {
                                assert_ok(outcome);
                                for (index, _, value) in fields {
                                    known[index as usize].1 = value.to_vec();
                                }
                            }
                            None => assert_not_found(outcome),
                        }
                    }
                    Step::Read(number) => {
                        let known = model.get(&key(number));
                        let found = read(&mut *session, &key(number), FieldChoice::All);
                        prop_assert_eq!(found.as_ref(), known);
                        let chosen = [0, 2, 5];
                        let known = known.map(|known| chosen.map(|index| known[index as usize].clone()).to_vec());
                        prop_assert_eq!(read(&mut *session, &key(number), FieldChoice::Some(&chosen)), known);
                    }
                    Step::Delete(number) => {
                        let outcome = session.delete(&key(number));
                        match model.remove(&key(number)) {
                            Some(_) => assert_ok(outcome),
                            None => assert_not_found(outcome),
                        }
                    }
                    Step::Scan(number, count) => {
                        let expected = model.range(key(number)..).take(count as usize).count();
                        prop_assert_eq!(rows(&mut *session, &key(number), count) as usize, expected);
                    }
                    Step::Settle => {
                        drop(session);
                        engine.settle().unwrap();
                        session = engine.session().unwrap();
                    }
                    Step::Reopen => {
                        drop(session);
                        engine.close().unwrap();
                        engine = open(directory.path(), &data, &[]).unwrap();
                        session = engine.session().unwrap();
                    }
                }
            }
            prop_assert_eq!(engine.count().unwrap(), Some(model.len() as u64));
            for (key, known) in &model {
                let found = read(&mut *session, key, FieldChoice::All);
                prop_assert_eq!(found.as_ref(), Some(known));
            }
            drop(session);
            engine.close().unwrap();
        }
    }
}
