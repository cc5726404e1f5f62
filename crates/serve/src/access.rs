//! Who may ask, and what a browser may do with the answer.
//!
//! A page on the internet can make a browser ask this server: through an address that its name suddenly points to (DNS rebinding), or by
//! embedding what is here. So the `Host` must be an address, not a name that anybody could own; what other pages ask for is refused; and
//! no answer may be framed, sniffed or kept.

mod host;
mod token;

pub(crate) use token::Token;
pub use token::TokenError;

use crate::failure::Failure;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use plimsoll_report::page::shell::{self, Place};
use std::sync::Arc;

/// Longest valid address.
const LONGEST_ADDRESS: usize = 8 << 10;

#[derive(Clone, Debug)]
pub(crate) struct Access {
    token: Token,
    /// Cookies are shared by all ports of a host, so each server has one of its own name.
    cookie: String,
}

/// The answer to a request, before anything is looked up for it.
enum Answered {
    /// It is allowed, and what is requested is at another address.
    Elsewhere(Response),
    Refused(Response),
}

impl From<Failure> for Box<Answered> {
    fn from(failure: Failure) -> Self {
        Answered::Refused(failure.into_response()).into()
    }
}

impl Access {
    pub(crate) fn new(port: u16, token: Token) -> Self {
        Self { token, cookie: format!("plimsoll-token-{port}") }
    }

    pub(crate) fn token(&self) -> &Token {
        &self.token
    }

    /// What is wrong with a request, before anything is looked up for it.
    fn check(&self, request: &Request) -> Result<(), Box<Answered>> {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let failure = Failure::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "Pages are only read here",
                "Nothing can be changed through this server.",
            );
            let mut response = failure.into_response();
            let allowed = HeaderValue::from_static("GET, HEAD");
            response.headers_mut().insert(header::ALLOW, allowed);
            return Err(Answered::Refused(response).into());
        }
        if request.uri().to_string().len() > LONGEST_ADDRESS {
            let failure = Failure::new(
                StatusCode::URI_TOO_LONG,
                "That address is too long",
                "Go to the list of all experiments and choose there.",
            );
            return Err(failure.into());
        }
        let headers = request.headers();
        let Some(host) = host::requested(request.uri(), headers) else {
            let failure = Failure::new(
                StatusCode::FORBIDDEN,
                "This server answers to its address only",
                "Open it by the address that `plimsoll serve` printed. A name that points to this machine is refused, because any web site could have one.",
            );
            return Err(failure.into());
        };
        if !is_asked_by_ourselves(headers, host) {
            let failure = Failure::new(
                StatusCode::FORBIDDEN,
                "Another web site asked for this page",
                "Open it in a window of its own.",
            );
            return Err(failure.into());
        }
        self.check_token(request)
    }

    fn check_token(&self, request: &Request) -> Result<(), Box<Answered>> {
        let headers = request.headers();
        let shown = bearer(headers).or_else(|| cookie(headers, &self.cookie));
        let is_shown = shown.is_some_and(|shown| self.token.is(shown));
        self.without_token_in_address(request, (!is_shown).then_some(&self.token))
    }

    /// A token in the address is kept in a cookie, and taken out of the address so that it is neither copied on nor kept in a history. `needed`:
    /// it has to be the right one.
    fn without_token_in_address(
        &self,
        request: &Request,
        needed: Option<&Token>,
    ) -> Result<(), Box<Answered>> {
        let query = request.uri().query().unwrap_or_default();
        let mut rest = form_urlencoded::Serializer::new(String::new());
        let mut shown = None;
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "token" => shown = Some(value.into_owned()),
                _ => _ = rest.append_pair(&name, &value),
            }
        }
        match (shown, needed) {
            (None, None) => Ok(()),
            (Some(shown), Some(token)) if !token.is(&shown) => {
                Err(Answered::Refused(needs_token()).into())
            }
            (None, Some(_)) => Err(Answered::Refused(needs_token()).into()),
            (Some(_), needed) => {
                // `//host/` would lead to another server.
                let path = request.uri().path().trim_start_matches(['/', '\\']);
                let path = format!("/{path}");
                let rest = rest.finish();
                let place = if rest.is_empty() { path } else { format!("{path}?{rest}") };
                let mut response = Failure::see_other(&place).into_response();
                if let Some(token) = needed {
                    let cookie =
                        format!("{}={}; Path=/; HttpOnly; SameSite=Lax", self.cookie, token.text());
                    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
                        response.headers_mut().insert(header::SET_COOKIE, cookie);
                    }
                }
                Err(Answered::Elsewhere(response).into())
            }
        }
    }
}

fn needs_token() -> Response {
    let failure = Failure::new(
        StatusCode::UNAUTHORIZED,
        "A token is needed",
        "Open the address that `plimsoll serve` printed, with its `?token=`. Programs show the token as `Authorization: Bearer`.",
    );
    let mut response = failure.into_response();
    let scheme = HeaderValue::from_static("Bearer");
    response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
    response
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let cookies = headers.get_all(header::COOKIE).iter();
    cookies.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(';')).find_map(
        |pair| {
            let (key, value) = pair.trim().split_once('=')?;
            (key == name).then_some(value)
        },
    )
}

/// Whether the request comes from a page of this server, from the user themselves, or from a program that is no browser. From elsewhere only a link may be followed, in a
/// window of its own: the page that it stands on cannot see the answer.
fn is_asked_by_ourselves(headers: &HeaderMap, host: &str) -> bool {
    if let Some(origin) = headers.get(header::ORIGIN) {
        let own = format!("http://{host}");
        if !origin.to_str().is_ok_and(|origin| origin.eq_ignore_ascii_case(&own)) {
            return false;
        }
    }
    let says = |name: &'static str, value: &str| {
        let found = headers.get(HeaderName::from_static(name));
        found.is_some_and(|found| found.as_bytes() == value.as_bytes())
    };
    match headers.get("sec-fetch-site") {
        None => true,
        Some(site) if site == "same-origin" || site == "none" => true,
        Some(_) => says("sec-fetch-mode", "navigate") && says("sec-fetch-dest", "document"),
    }
}

/// Puts the rules around the routes.
pub(crate) fn guard(routes: Router, access: Access) -> Router {
    routes.layer(from_fn_with_state(Arc::new(access), guarded))
}

async fn guarded(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    let mut response = match access.check(&request).map_err(|answered| *answered) {
        Ok(()) => next.run(request).await,
        Err(Answered::Elsewhere(response)) => response,
        Err(Answered::Refused(mut response)) => {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
            response
        }
    };
    let headers = response.headers_mut();
    let policy = match headers.get(header::CONTENT_SECURITY_POLICY) {
        Some(policy) => policy.to_str().unwrap_or_default().to_owned(),
        None => shell::policy(Place::Served),
    };
    let policy = format!("{policy}; frame-ancestors 'none'");
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
