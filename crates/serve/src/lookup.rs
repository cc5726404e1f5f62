//! What is meant by a word on the command line or in an address: experiments and their arms, and all records of one experiment.

use plimsoll_judge::{History, HistoryBuilder, HistoryError, HistoryQuestion, JudgeError, plan_of};
use plimsoll_record::{ExperimentRecord, ExperimentState};
use plimsoll_store::{Filter, Store, StoreError, Summary};

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Judge(#[from] JudgeError),
    #[error(transparent)]
    History(#[from] HistoryError),
    /// An experiment of several arms was named where one arm is requested.
    #[error("say which arm of {text} is meant: {text}:{}", arms.join(&format!(" or {text}:")))]
    WhichArm { text: String, arms: Vec<String> },
    /// Nothing to make a history of.
    #[error(
        "no record of {wanted} is finished ({unfinished} unfinished): a history is made of finished ones"
    )]
    NoneFinished {
        wanted: String,
        /// Records that are not finished.
        unfinished: usize,
    },
}

/// One side of a comparison, spelled `EXPERIMENT:ARM`; the arm may be left out where there is only one. Both may have colons in their names: of
/// the readings that are possible, the one is taken that names an arm that there is.
pub fn side<E>(
    text: &str,
    load: impl Fn(&str) -> Result<ExperimentRecord, E>,
) -> Result<(ExperimentRecord, String), E>
where
    E: From<LookupError>,
{
    let arms = |record: &ExperimentRecord| -> Result<Vec<String>, E> {
        let plan = plan_of(record).map_err(LookupError::from)?;
        Ok(plan.arms.into_iter().map(|arm| arm.name).collect())
    };
    let mut nearest = None;
    let mut refused = None;
    for (place, _) in text.rmatch_indices(':') {
        let (experiment, arm) = (&text[..place], &text[place + 1..]);
        match load(experiment) {
            Ok(record) if arms(&record)?.iter().any(|name| name == arm) => {
                return Ok((record, arm.to_owned()));
            }
            Ok(record) => nearest = nearest.or(Some((record, arm.to_owned()))),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    if let Some(nearest) = nearest {
        // The caller compares, and says which arms there are.
        return Ok(nearest);
    }
    let record = match (load(text), refused) {
        (Ok(record), _) => record,
        (Err(_), Some(refused)) => return Err(refused),
        (Err(error), None) => return Err(error),
    };
    let mut names = arms(&record)?;
    match names.as_slice() {
        [_] => Ok((record, names.remove(0))),
        _ => Err(LookupError::WhichArm { text: text.to_owned(), arms: names }.into()),
    }
}

/// One metric over all records of an experiment in these stores. Records are read one by one, the newest first, because all of them together may be large.
pub fn history(
    stores: &[Store],
    wanted: &str,
    question: &HistoryQuestion,
) -> Result<History, LookupError> {
    let found = of_one_name(stores, wanted)?;
    let (finished, unfinished): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|(_, summary)| summary.state == ExperimentState::Finished);
    let Some(((store, newest), older)) = finished.split_first() else {
        return Err(LookupError::NoneFinished {
            wanted: wanted.to_owned(),
            unfinished: unfinished.len(),
        });
    };
    let mut builder = HistoryBuilder::begin(&store.load(&newest.id)?, question)?;
    for (store, older) in older {
        builder.add(&store.load(&older.id)?)?;
    }
    for _ in &unfinished {
        builder.add_unfinished();
    }
    Ok(builder.finish())
}

/// All records of the experiment that is meant, the newest first, each with its store. The same result in two stores is one.
fn of_one_name<'s>(
    stores: &'s [Store],
    wanted: &str,
) -> Result<Vec<(&'s Store, Summary)>, StoreError> {
    let named = |name: &str| {
        let mut found: Vec<(&Store, Summary)> = Vec::new();
        for store in stores {
            let filter = Filter { name: Some(name.to_owned()), state: None };
            for summary in store.list(&filter)? {
                if found.iter().all(|(_, known)| known.id != summary.id) {
                    found.push((store, summary));
                }
            }
        }
        found.sort_by(|(_, one), (_, other)| other.started_at.cmp(&one.started_at));
        Ok::<_, StoreError>(found)
    };
    let found = named(wanted)?;
    if !found.is_empty() {
        return Ok(found);
    }
    // An id, its beginning, or `last`.
    let mut unknown = None;
    for store in stores {
        match store.load(wanted) {
            Ok(record) => return named(&record.name),
            Err(error) => unknown = unknown.or(Some(error)),
        }
    }
    match unknown {
        Some(error) => Err(error),
        None => Ok(found),
    }
}
