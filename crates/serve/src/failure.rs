//! What went wrong, as a page with the way back.

use crate::VERSION;
use crate::lookup::LookupError;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use plimsoll_judge::{HistoryError, JudgeError};
use plimsoll_report::page::message::{Message, page, policy};
use plimsoll_store::StoreError;

/// An answer that is not the page that was requested.
#[derive(Clone, Debug)]
pub(crate) struct Failure(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Elsewhere(String),
    Said {
        status: StatusCode,
        title: &'static str,
        text: String,
        /// Where to go instead: words and address.
        links: Vec<(String, String)>,
    },
}

impl Failure {
    pub(crate) fn new(status: StatusCode, title: &'static str, text: impl Into<String>) -> Self {
        Self(Kind::Said { status, title, text: text.into(), links: Vec::new() })
    }

    /// What was requested is at another place, which a browser then asks for.
    pub(crate) fn see_other(place: &str) -> Self {
        Self(Kind::Elsewhere(place.to_owned()))
    }

    pub(crate) fn with_links(mut self, more: Vec<(String, String)>) -> Self {
        if let Kind::Said { links, .. } = &mut self.0 {
            *links = more;
        }
        self
    }

    /// The program failed on it.
    pub(crate) fn of_the_program() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "This page could not be made",
            "The program failed on it, which it should never do. The other pages are not affected; what it said is where `plimsoll serve` was started.",
        )
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        match self.0 {
            Kind::Elsewhere(place) => {
                let Ok(place) = HeaderValue::from_str(&place) else {
                    return StatusCode::BAD_REQUEST.into_response();
                };
                (StatusCode::SEE_OTHER, [(header::LOCATION, place)]).into_response()
            }
            Kind::Said { status, title, text, links } => {
                let message = Message { title, text: &text, links: &links };
                let page = Html(page(&message, VERSION));
                let policy = [(header::CONTENT_SECURITY_POLICY, policy())];
                (status, policy, page).into_response()
            }
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let text = error.to_string();
        match error {
            StoreError::Unknown { .. } => {
                Self::new(StatusCode::NOT_FOUND, "There is no such experiment", text)
            }
            StoreError::Missing { .. } => {
                Self::new(StatusCode::NOT_FOUND, "There is no store yet", text)
            }
            StoreError::Ambiguous { ids, .. } => {
                let links = ids
                    .iter()
                    .map(|id| (id.clone(), plimsoll_report::page::link::experiment(id)))
                    .collect();
                Self::new(
                    StatusCode::MULTIPLE_CHOICES,
                    "That could be any of several experiments",
                    text,
                )
                .with_links(links)
            }
            StoreError::Format { .. } | StoreError::Damaged { .. } => Self::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "This record cannot be read",
                format!("{text}. Other experiments in the store are not affected by it."),
            ),
            StoreError::Locked { .. } => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "The store is busy", text)
            }
            _ => Self::new(StatusCode::INTERNAL_SERVER_ERROR, "The store cannot be read", text),
        }
    }
}

impl From<JudgeError> for Failure {
    fn from(error: JudgeError) -> Self {
        let text = error.to_string();
        match error {
            JudgeError::UnknownArm { .. } => {
                Self::new(StatusCode::NOT_FOUND, "There is no such arm", text)
            }
            _ => Self::new(StatusCode::INTERNAL_SERVER_ERROR, "This record cannot be judged", text),
        }
    }
}

impl From<HistoryError> for Failure {
    fn from(error: HistoryError) -> Self {
        match error {
            HistoryError::Judge(error) => error.into(),
            other => {
                Self::new(StatusCode::NOT_FOUND, "There is no such history", other.to_string())
            }
        }
    }
}

impl From<LookupError> for Failure {
    fn from(error: LookupError) -> Self {
        match error {
            LookupError::Store(error) => error.into(),
            LookupError::Judge(error) => error.into(),
            LookupError::History(error) => error.into(),
            LookupError::WhichArm { .. } => {
                Self::new(StatusCode::BAD_REQUEST, "Which arm is meant?", error.to_string())
            }
            LookupError::NoneFinished { .. } => {
                Self::new(StatusCode::NOT_FOUND, "There is no history yet", error.to_string())
            }
        }
    }
}
