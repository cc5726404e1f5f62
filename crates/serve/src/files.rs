//! Downloads: what `plimsoll export` would write, and the traces of the runs for fio. Nothing is served by its path: a name is looked for among
//! those of the experiment, and a trace is read where its record says and written anew, so that what is no trace of ours never leaves.

use crate::App;
use crate::failure::Failure;
use crate::library::Judged;
use crate::pages::aside;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use plimsoll_record::ExperimentRecord;
use plimsoll_report::export;
use plimsoll_trace::{Trace, iolog_v3};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc;

/// What is written at once, bytes.
const PIECE: usize = 64 << 10;
/// Pieces that wait for a slow reader.
const WAITING: usize = 4;

/// What a file is made from.
enum Source {
    Export { judged: Arc<Judged>, place: usize },
    Trace(Box<Trace>),
}

/// `/experiment/ID/files/NAME`
pub(crate) async fn file(
    State(app): State<Arc<App>>,
    Path((id, name)): Path<(String, String)>,
) -> Result<Response, Failure> {
    let wanted = name.clone();
    let source = aside(move || find(&app, &id, &wanted)).await?;
    let kind = match name.rsplit('.').next() {
        Some("csv") => "text/csv; charset=utf-8",
        Some("json") => "application/json",
        Some("parquet") => "application/octet-stream",
        _ => "text/plain; charset=utf-8",
    };
    let disposition = format!("attachment; filename=\"{name}\"");
    let mut response = Body::from_stream(written(source)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    // Names of exports are plain, so this is no failure that anybody can bring about.
    if let Ok(disposition) = HeaderValue::from_str(&disposition) {
        headers.insert(header::CONTENT_DISPOSITION, disposition);
    }
    Ok(response)
}

fn find(app: &App, id: &str, name: &str) -> Result<Source, Failure> {
    let judged = app.library.judged(id)?;
    let files = export::files(&judged.report());
    if let Some(place) = files.iter().position(|file| file.name == name) {
        drop(files);
        return Ok(Source::Export { judged, place });
    }
    let traces = traces(&judged.record);
    if let Some((_, path)) = traces.iter().find(|(known, _)| known == name) {
        return open(path).map(|trace| Source::Trace(Box::new(trace)));
    }
    let names = files
        .iter()
        .map(|file| file.name.as_str())
        .chain(traces.iter().map(|(name, _)| name.as_str()));
    let id = &judged.record.id;
    let links = names
        .take(200)
        .map(|name| (name.to_owned(), plimsoll_report::link::file(id, name)))
        .collect();
    Err(Failure::new(
        StatusCode::NOT_FOUND,
        "There is no such file",
        "These files are there for this experiment:",
    )
    .with_links(links))
}

/// Names for the traces of an experiment, and where they are said to be.
pub(crate) fn traces(record: &ExperimentRecord) -> Vec<(String, PathBuf)> {
    let mut traces = Vec::new();
    for (number, run) in record.runs.iter().enumerate() {
        if let Some(trace) = run.rig.as_ref().and_then(|rig| rig.trace.as_ref()) {
            traces.push((
                plimsoll_report::link::iolog_name(number, run),
                trace.path.clone(),
            ));
        }
    }
    traces
}

fn open(path: &PathBuf) -> Result<Trace, Failure> {
    let gone = |why: &str| {
        Failure::new(
            StatusCode::NOT_FOUND,
            "The trace of that run cannot be had",
            format!(
                "The record says that it is at {}; {why}. Traces stay on the machine that measured.",
                path.display()
            ),
        )
    };
    // Anything but a plain file could keep whoever opens it waiting.
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Err(gone("what is there is no file")),
        Err(_) => return Err(gone("it is there no more")),
    }
    // What is wrong with it is not told: it may be anybody's file.
    Trace::open(path).map_err(|_| gone("what is there is no trace that can be read"))
}

/// Writes on a thread of its own as fast as it is taken, and stops when nobody takes it any more.
fn written(source: Source) -> impl stream::Stream<Item = io::Result<Bytes>> {
    let (sender, receiver) = mpsc::channel(WAITING);
    tokio::task::spawn_blocking(move || {
        let mut out = BufWriter::with_capacity(PIECE, Sent(sender.clone()));
        let written = match &source {
            Source::Export { judged, place } => match export::files(&judged.report()).get(*place) {
                Some(file) => file.write_to(&mut out),
                None => Ok(()),
            },
            Source::Trace(trace) => iolog_v3(trace, &mut out),
        };
        if let Err(error) = written.and_then(|()| out.flush()) {
            // The connection then breaks off, by which the other side knows that it has not got everything.
            let _ = sender.blocking_send(Err(error));
        }
    });
    stream::unfold(receiver, |mut receiver| async {
        let piece = receiver.recv().await?;
        Some((piece, receiver))
    })
}

struct Sent(mpsc::Sender<io::Result<Bytes>>);

impl Write for Sent {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .blocking_send(Ok(Bytes::copy_from_slice(bytes)))
            .map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
