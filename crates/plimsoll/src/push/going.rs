//! An experiment is sent while it goes on: `plimsoll run --push URL --live`, `plimsoll push URL ID --live`.
//!
//! What is sent is what a reader of the store is told, as for the live view of `plimsoll serve`: nothing of it is on the path of what is measured. The
//! bundle at the end takes its place there.

use super::server::{NotSent, Server};
use crate::screen::tell;
use plimsoll_store::{News, Part, Store};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Between two looks into the store.
const LOOK: Duration = Duration::from_secs(1);
/// So often something is sent where nothing is new. A server believes that nobody works on it after a minute.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);
/// Before something is sent again.
const PAUSE: Duration = Duration::from_secs(5);
/// For one part.
const LONGEST: Duration = Duration::from_secs(60);
/// Slices in one part: some MiB.
const SLICES: usize = 200;

/// Sends the experiments of a run, one after the other, on a thread of its own.
pub struct Sending {
    server: Arc<Server>,
    store: PathBuf,
    say: Say,
    /// Of the experiment that goes on.
    going: Option<(Arc<AtomicBool>, JoinHandle<()>)>,
}

type Say = Arc<dyn Fn(&str) + Send + Sync>;

impl Sending {
    /// Nothing is sent yet. `say` is told what the user should know.
    pub fn new(
        server: Arc<Server>,
        store: PathBuf,
        say: impl Fn(&str) + Send + Sync + 'static,
    ) -> Self {
        Self {
            server,
            store,
            say: Arc::new(say),
            going: None,
        }
    }

    /// An experiment begins.
    pub fn begin(&mut self, id: &str) {
        self.end();
        let over = Arc::new(AtomicBool::new(false));
        let (server, store, say) = (
            Arc::clone(&self.server),
            self.store.clone(),
            Arc::clone(&self.say),
        );
        let (id, ends) = (id.to_owned(), Arc::clone(&over));
        let thread = std::thread::spawn(move || {
            let follower = Follower {
                server: &server,
                say: &*say,
                over: &ends,
            };
            let open = Store::open_read_only(&store).map_err(|error| error.to_string());
            if let Err(why) = open.and_then(|store| follower.follow(&store, &id)) {
                say(&format!(
                    "{} does not show it while it goes on: {why}",
                    server.name()
                ));
            }
        });
        self.going = Some((over, thread));
    }

    /// Nobody works on it any more: waits until that is sent, or cannot be.
    pub fn end(&mut self) {
        if let Some((over, thread)) = self.going.take() {
            over.store(true, Ordering::Relaxed);
            let _ = thread.join();
        }
    }
}

/// Sends an experiment as long as a program works on it, which may have begun long ago.
pub fn follow(server: &Server, store: &Path, wanted: &str) -> anyhow::Result<()> {
    let store = Store::open_read_only(store)?;
    let (id, _) = store.version(wanted)?;
    if !store.is_running(&id)? {
        return Ok(());
    }
    let follower = Follower {
        server,
        say: &|line: &str| tell(line),
        over: &AtomicBool::new(false),
    };
    follower.follow(&store, &id).map_err(anyhow::Error::msg)
}

struct Follower<'a> {
    server: &'a Server,
    say: &'a dyn Fn(&str),
    /// Nobody works on it any more, so what cannot be sent now is not sent at all.
    over: &'a AtomicBool,
}

impl Follower<'_> {
    /// Sends what is written until nobody works on it any more.
    fn follow(&self, store: &Store, id: &str) -> Result<(), String> {
        while !self.send_all(store, id)? && !self.over.load(Ordering::Relaxed) {
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// The same, and false where the server has lost the begin.
    fn send_all(&self, store: &Store, id: &str) -> Result<bool, String> {
        let broken = |error: plimsoll_store::StoreError| error.to_string();
        let head = store.head(id).map_err(broken)?.to_json();
        let mut following = store.follow(id).map_err(broken)?;
        let mut number = 0;
        let mut sent = Instant::now();
        loop {
            let news = store.news(&mut following).map_err(broken)?;
            let (more, is_last) = (news.more, !news.running && !news.more);
            let is_due = number == 0 || is_last || sent.elapsed() >= SIGN_OF_LIFE;
            if is_due || !news.is_empty() {
                for news in pieces(news) {
                    let part = Part {
                        head: (number == 0).then(|| head.clone()),
                        news,
                    };
                    if self.wanted_after(id, number, &part)? != number + 1 {
                        return Ok(is_last);
                    }
                    number += 1;
                }
                sent = Instant::now();
            }
            if is_last {
                return Ok(true);
            }
            if !more {
                std::thread::sleep(LOOK);
            }
        }
    }

    /// Sends a part, as often as is needed, and returns which one is wanted next.
    fn wanted_after(&self, id: &str, number: u64, part: &Part) -> Result<u64, String> {
        let path = format!("experiment/{id}/parts/{number}");
        let bytes = serde_json::to_vec(part).map_err(|error| error.to_string())?;
        let mut is_told = false;
        loop {
            let why = match self.server.put(&path, "application/json", &bytes, LONGEST) {
                Ok(answer) => return next(&answer),
                Err(NotSent::Refused(why)) => return Err(why),
                Err(NotSent::NotNow(why)) => why,
            };
            if self.over.load(Ordering::Relaxed) {
                return Err(why);
            }
            if !is_told {
                let name = self.server.name();
                (self.say)(&format!(
                    "{name}: {why}; it is tried again as long as the experiment goes on"
                ));
                is_told = true;
            }
            std::thread::sleep(PAUSE);
        }
    }
}

/// Which part a server wants next.
fn next(answer: &str) -> Result<u64, String> {
    let answer: Option<serde_json::Value> = serde_json::from_str(answer).ok();
    answer
        .and_then(|answer| answer.get("next")?.as_u64())
        .ok_or_else(|| "it answers as no plimsoll serve does".to_owned())
}

/// The same in pieces that a server takes.
fn pieces(mut news: News) -> Vec<News> {
    let mut pieces = Vec::new();
    while news.slices.len() > SLICES {
        let rest = News {
            runs: Vec::new(),
            points: Vec::new(),
            slices: news.slices.split_off(SLICES),
            ended: std::mem::take(&mut news.ended),
            ..news
        };
        news.more = true;
        pieces.push(std::mem::replace(&mut news, rest));
    }
    pieces.push(news);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_record::{ExperimentState, Slice};

    #[test]
    fn pieces_are_the_whole() {
        let key = serde_json::from_str("7").unwrap();
        let slice = |index| {
            (
                key,
                Slice {
                    index,
                    ..Slice::default()
                },
            )
        };
        let news = News {
            state: ExperimentState::Unfinished,
            running: true,
            runs: Vec::new(),
            points: Vec::new(),
            slices: (0..2 * SLICES as u32 + 1).map(slice).collect(),
            ended: vec![(key, plimsoll_record::PointEnd::default())],
            more: false,
        };
        let pieces = pieces(news.clone());
        let lengths: Vec<usize> = pieces.iter().map(|piece| piece.slices.len()).collect();
        assert_eq!(lengths, [SLICES, SLICES, 1]);
        let together = pieces.iter().flat_map(|piece| piece.slices.clone());
        assert_eq!(together.collect::<Vec<_>>(), news.slices);
        // A point ends after its last slice, and only then there is no more.
        assert!(
            pieces[..2]
                .iter()
                .all(|piece| piece.ended.is_empty() && piece.more)
        );
        assert_eq!(pieces[2].ended, news.ended);
        assert!(!pieces[2].more);
    }
}
