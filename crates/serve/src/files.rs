//! Downloads: what `plimsoll export` would write, and the traces of the runs for fio. Nothing is served by its path: a name is looked for among
//! those of the experiment, and a trace is read where its record says and encoded again, so that nothing but a trace leaves.

use crate::App;
use crate::failure::Failure;
use crate::library::{Judged, SharedTrace};
use crate::pages::aside;
use crate::shared::patiently;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use plimsoll_record::ExperimentRecord;
use plimsoll_report::export::{Form, files, write};
use plimsoll_trace::{Trace, iolog_v3};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

/// What is written at once, bytes.
const PIECE: usize = 64 << 10;
/// Pieces that wait for a slow reader.
const WAITING: usize = 4;

/// Downloads at a time, each written by a thread of its own while its client reads.
pub(crate) const DOWNLOADS: usize = 8;

/// What a file is made from.
enum Source {
    Export { judged: Arc<Judged>, place: usize },
    Trace(Arc<SharedTrace>),
}

enum ExportSource {
    /// One that is made as a whole, by its place among the files of the export.
    Whole(usize),
    /// One that is written as it is taken.
    Written(usize),
    /// A trace of this many bytes.
    Trace(PathBuf, u64),
}

pub(crate) async fn file(
    State(app): State<Arc<App>>,
    Path((id, name)): Path<(String, String)>,
) -> Result<Response, Failure> {
    let judged = app.library.judged(&id).await?;
    let found = {
        let (judged, name) = (Arc::clone(&judged), name.clone());
        aside(move || find(&judged, &name)).await?
    };
    let body = match found {
        ExportSource::Whole(place) => Body::from(app.library.file(judged, &name, place).await?),
        ExportSource::Written(place) => written(&app, Source::Export { judged, place }).await?,
        ExportSource::Trace(path, length) => {
            drop(judged);
            let named = path.clone();
            let open = move || {
                // The answer does not say what is wrong with it: it may be anybody's file.
                Trace::open(&named).map_err(|_| {
                    gone(&named, "this server cannot read it: it reads the traces beside the store")
                })
            };
            let trace = app.library.trace(path, length, open).await?;
            written(&app, Source::Trace(trace)).await?
        }
    };
    let kind = match name.rsplit('.').next() {
        Some("csv") => "text/csv; charset=utf-8",
        Some("json") => "application/json",
        Some("parquet") => "application/octet-stream",
        _ => "text/plain; charset=utf-8",
    };
    let disposition = format!("attachment; filename=\"{name}\"");
    let mut response = body.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    // Names of exports are plain, so this is no failure that anybody can bring about.
    if let Ok(disposition) = HeaderValue::from_str(&disposition) {
        headers.insert(header::CONTENT_DISPOSITION, disposition);
    }
    Ok(response)
}

fn find(judged: &Judged, name: &str) -> Result<ExportSource, Failure> {
    let files = files(&judged.report());
    if let Some(place) = files.iter().position(|file| file.name == name) {
        return Ok(match files[place].form {
            Form::Parquet => ExportSource::Whole(place),
            _ => ExportSource::Written(place),
        });
    }
    let traces = traces(&judged.record);
    if let Some((_, path)) = traces.iter().find(|(known, _)| known == name) {
        return length(path).map(|length| ExportSource::Trace(path.clone(), length));
    }
    let names = files
        .iter()
        .map(|file| file.name.as_str())
        .chain(traces.iter().map(|(name, _)| name.as_str()));
    let id = &judged.record.id;
    let links = names
        .take(200)
        .map(|name| (name.to_owned(), plimsoll_report::page::link::file(id, name)))
        .collect();
    Err(Failure::new(
        StatusCode::NOT_FOUND,
        "There is no such file",
        "This experiment has these files:",
    )
    .with_links(links))
}

/// Names for the traces of an experiment, and their paths in the record.
pub(crate) fn traces(record: &ExperimentRecord) -> Vec<(String, PathBuf)> {
    let mut traces = Vec::new();
    for (number, run) in record.runs.iter().enumerate() {
        if let Some(trace) = run.rig.as_ref().and_then(|rig| rig.trace.as_ref()) {
            traces.push((plimsoll_report::page::link::iolog_name(number, run), trace.path.clone()));
        }
    }
    traces
}

fn gone(path: &std::path::Path, why: &str) -> Failure {
    Failure::new(
        StatusCode::NOT_FOUND,
        "The trace of that run is not available",
        format!(
            "The record says that it is at {}; {why}. Traces stay on the machine that measured.",
            path.display()
        ),
    )
}

fn length(path: &std::path::Path) -> Result<u64, Failure> {
    // To open anything but a plain file can block.
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(metadata.len()),
        Ok(_) => Err(gone(path, "it is not a file")),
        Err(_) => Err(gone(path, "it no longer exists")),
    }
}

/// Writes on a thread of its own as fast as the receiver reads, and stops when the receiver is gone.
async fn written(app: &App, source: Source) -> Result<Body, Failure> {
    let place: OwnedSemaphorePermit = patiently(&app.downloads, 1).await?;
    let (sender, receiver) = mpsc::channel(WAITING);
    tokio::task::spawn_blocking(move || {
        let _place = place;
        let mut out = BufWriter::with_capacity(PIECE, Sent(sender.clone()));
        let written = match &source {
            Source::Export { judged, place } => match files(&judged.report()).get(*place) {
                Some(file) => write(file, &mut out),
                None => Ok(()),
            },
            Source::Trace(trace) => iolog_v3(&trace.trace, &mut out),
        };
        if let Err(error) = written.and_then(|()| out.flush()) {
            // The connection then breaks off, by which the other side knows that it has not got everything.
            let _ = sender.blocking_send(Err(error));
        }
    });
    Ok(Body::from_stream(stream::unfold(receiver, |mut receiver| async {
        let piece = receiver.recv().await?;
        Some((piece, receiver))
    })))
}

struct Sent(mpsc::Sender<io::Result<Bytes>>);

impl Write for Sent {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A long text comes at once.
        let piece = &bytes[..bytes.len().min(PIECE)];
        self.0
            .blocking_send(Ok(Bytes::copy_from_slice(piece)))
            .map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
