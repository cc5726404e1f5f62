use super::*;
use std::sync::mpsc::{Receiver, Sender, channel};

fn shared(most_kept: usize, memory: &Memory, hands: usize) -> Arc<Shared<u32, Arc<u32>>> {
    Arc::new(Shared::new(most_kept, memory.clone(), &Arc::new(Semaphore::new(hands))))
}

/// Made without ado, and kept.
fn at_once(value: u32) -> impl FnOnce(Reserved) -> Result<Cached<Arc<u32>>, Failure> {
    move |_| Ok(Cached { value: Arc::new(value), kept: Some(UNIT) })
}

/// Says that it has begun, and is made when the test says so.
fn when_told(
    value: u32,
    begun: Sender<()>,
    receiver: Receiver<()>,
) -> impl FnOnce(Reserved) -> Result<Cached<Arc<u32>>, Failure> {
    move |reserved| {
        begun.send(()).unwrap();
        receiver.recv().unwrap();
        at_once(value)(reserved)
    }
}

#[tokio::test]
async fn all_who_ask_at_the_same_time_share_one_thing() {
    let memory = Memory::new(64 * UNIT);
    let shared = shared(UNIT, &memory, 2);
    let all = (0..50).map(|value| shared.get(7, UNIT, at_once(value)));
    let all: Vec<Arc<u32>> = future::try_join_all(all).await.unwrap();
    assert!(all.iter().all(|one| Arc::ptr_eq(one, &all[0])));
    assert_eq!(shared.made(), 1);
}

/// A request for something small waited behind one for something large.
#[tokio::test]
async fn nobody_waits_for_what_another_asked_for() {
    let memory = Memory::new(64 * UNIT);
    let shared = shared(UNIT, &memory, 2);
    let (begun, is_begun) = channel();
    let (tell, receiver) = channel();
    let other = Arc::clone(&shared);
    let large =
        tokio::spawn(async move { other.get(1, UNIT, when_told(1, begun, receiver)).await });
    tokio::task::spawn_blocking(move || is_begun.recv().unwrap()).await.unwrap();
    assert_eq!(*shared.get(2, UNIT, at_once(2)).await.unwrap(), 2);
    tell.send(()).unwrap();
    assert_eq!(*large.await.unwrap().unwrap(), 1);
}

/// A client that asks for much and goes away each time would otherwise leave work for hours.
#[tokio::test]
async fn who_asks_and_goes_away_leaves_nothing_to_do() {
    let memory = Memory::new(64 * UNIT);
    let shared = shared(UNIT, &memory, 1);
    let (begun, is_begun) = channel();
    let (tell, receiver) = channel();
    // What is begun is made for who comes next.
    let mut first = Box::pin(shared.get(0, UNIT, when_told(0, begun, receiver)));
    assert!((&mut first).now_or_never().is_none());
    drop(first);
    let is_begun = tokio::task::spawn_blocking(move || is_begun.recv().unwrap());
    is_begun.await.unwrap();
    for key in 1..100 {
        let mut requested = Box::pin(shared.get(key, UNIT, at_once(key)));
        assert!((&mut requested).now_or_never().is_none());
    }
    tell.send(()).unwrap();
    assert_eq!(*shared.get(0, UNIT, at_once(100)).await.unwrap(), 0);
    assert_eq!(*shared.get(200, UNIT, at_once(200)).await.unwrap(), 200);
    assert_eq!(shared.made(), 2);
}

/// An error goes to all who wait for the result, and the next one tries again.
#[tokio::test]
async fn a_failure_is_shared_and_not_kept() {
    let memory = Memory::new(64 * UNIT);
    let shared = shared(UNIT, &memory, 1);
    let fails = |_| -> Result<Cached<Arc<u32>>, Failure> { panic!("a mistake") };
    let (one, other) = tokio::join!(shared.get(1, UNIT, fails), shared.get(1, UNIT, fails));
    assert!(one.is_err() && other.is_err());
    assert_eq!(*shared.get(1, UNIT, at_once(3)).await.unwrap(), 3);
    drop(shared);
    assert_eq!(memory.reserved(), 0);
}

/// Memory is counted as long as anybody holds what is in it, kept or not.
#[tokio::test(start_paused = true)]
async fn there_is_never_more_than_the_memory_for_it() {
    let memory = Memory::new(10 * UNIT);
    let shared: Shared<u32, Bytes> =
        Shared::new(6 * UNIT, memory.clone(), &Arc::new(Semaphore::new(2)));
    let make = |bytes: usize| {
        move |reserved| {
            let value = counted(vec![0; bytes], reserved)?;
            let kept = Some(value.len());
            Ok(Cached { value, kept })
        }
    };
    // What is reserved for the worst case and not needed is given back.
    let first = shared.get(1, 8 * UNIT, make(3 * UNIT)).await.unwrap();
    assert_eq!(memory.reserved(), 3 * UNIT);
    let copies: Vec<Bytes> = vec![first.clone(); 1_000];
    assert_eq!(memory.reserved(), 3 * UNIT);
    drop((first, copies));
    for key in 2..20 {
        let held = shared.get(key, 4 * UNIT, make(3 * UNIT)).await.unwrap();
        assert!(memory.reserved() <= 9 * UNIT);
        drop(held);
        assert!(memory.reserved() <= 6 * UNIT, "more is kept than may be");
    }
    // What is kept makes place, what is read does not.
    let held = shared.get(20, 9 * UNIT, make(9 * UNIT)).await.unwrap();
    assert_eq!(memory.reserved(), 9 * UNIT);
    assert!(shared.get(21, 2 * UNIT, make(UNIT)).await.is_err());
    drop(held);
    // More than there is has all of it, where it turns out to be less; what turns out to be more is refused.
    assert!(shared.get(22, 99 * UNIT, make(UNIT)).await.is_ok());
    assert!(shared.get(23, UNIT, make(11 * UNIT)).await.is_err());
    drop(shared);
    assert_eq!(memory.reserved(), 0);
}
