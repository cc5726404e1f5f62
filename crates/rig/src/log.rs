//! What the process logs: lines over the socket, which the program logs as its own.

use crate::orders::Answer;
use serde::{Deserialize, Serialize};
use std::fmt::{Debug, Write};
use std::sync::Arc;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

use crate::process::Output;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LogLine {
    level: LogLevel,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
}

impl LogLine {
    /// Logs it in this program.
    pub(crate) fn log(&self) {
        let text = &self.text;
        match self.level {
            LogLevel::Error => tracing::error!("{text}"),
            LogLevel::Warn => tracing::warn!("{text}"),
            LogLevel::Info => tracing::info!("{text}"),
            LogLevel::Debug => tracing::debug!("{text}"),
        }
    }
}

/// Sends every line but those of level trace to the program.
pub(crate) struct SocketLayer(pub(crate) Arc<Output>);

impl<S: Subscriber> Layer<S> for SocketLayer {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let level = match *event.metadata().level() {
            Level::ERROR => LogLevel::Error,
            Level::WARN => LogLevel::Warn,
            Level::INFO => LogLevel::Info,
            Level::DEBUG => LogLevel::Debug,
            Level::TRACE => return,
        };
        let mut text = Text(String::new());
        event.record(&mut text);
        let line = LogLine { level, text: text.0 };
        // A program that is gone reads nothing, which the next order shows.
        let _ = self.0.write(&Answer::Logged(line));
    }
}

/// The message, and other fields as `name=value`.
struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let separator = if self.0.is_empty() { "" } else { " " };
        let _ = match field.name() {
            "message" => write!(self.0, "{separator}{value:?}"),
            name => write!(self.0, "{separator}{name}={value:?}"),
        };
    }
}
