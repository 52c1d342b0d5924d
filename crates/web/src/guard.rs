//! Who is answered at all, and what every answer carries.

use std::net::SocketAddr;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::{Site, auth, pages};

const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                   form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
const ALWAYS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, CSP),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];
/// Without a session.
const OPEN: [&str; 4] = ["/login", "/login.js", "/style.css", "/icon.svg"];
const SEC_FETCH_SITE: &str = "sec-fetch-site";

/// The names that this site has. Any other is that of somebody who let his own name point here (DNS rebinding).
pub struct Hosts {
    /// With a port, unless it is the one that a browser leaves out.
    whole: Vec<String>,
    /// With any port: `ssh -L` has one of its own for a unix socket.
    bare: Vec<String>,
}

const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
/// A browser leaves these out, of http and of https.
const LEFT_OUT: [u16; 2] = [80, 443];

impl Hosts {
    /// `names`: without a port.
    pub fn of(listen: SocketAddr, names: &[String]) -> Self {
        let port = listen.port();
        let own = match listen {
            SocketAddr::V4(own) => own.ip().to_string(),
            SocketAddr::V6(own) => format!("[{}]", own.ip()),
        };
        let all = LOOPBACK.map(str::to_owned).into_iter().chain([own]).chain(names.iter().cloned());
        let with_port = |name: String| {
            let whole = format!("{name}:{port}");
            if LEFT_OUT.contains(&port) { vec![whole, name] } else { vec![whole] }
        };
        Self { whole: all.flat_map(with_port).collect(), bare: vec![] }
    }

    /// A name of loopback is nobody else's, whatever the port.
    pub fn of_socket(names: &[String]) -> Self {
        Self {
            whole: vec![],
            bare: LOOPBACK.map(str::to_owned).into_iter().chain(names.iter().cloned()).collect(),
        }
    }

    fn has(&self, host: &str) -> bool {
        let is = |name: &String, host: &str| name.eq_ignore_ascii_case(host);
        let without_port = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        };
        self.whole.iter().any(|name| is(name, host)) || self.bare.iter().any(|name| is(name, without_port))
    }
}

/// The one header of this name, if it is text.
fn only<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let mut all = headers.get_all(name).iter();
    let value = all.next()?;
    all.next().is_none().then_some(())?;
    value.to_str().ok()
}

fn is_for_us(hosts: &Hosts, headers: &HeaderMap, uri: &Uri) -> bool {
    let is_ours = |name: &str| hosts.has(name);
    only(headers, "host").is_some_and(is_ours)
        && uri.authority().is_none_or(|authority| is_ours(authority.as_str()))
}

/// Whether a page of this site sent it: the browser must say so, and nothing that it says may speak against it.
pub fn is_of_this_site(headers: &HeaderMap) -> bool {
    let own = only(headers, "host").map(|host| format!("http://{host}"));
    let site = (SEC_FETCH_SITE, only(headers, SEC_FETCH_SITE) == Some("same-origin"));
    let origin = ("origin", own.is_some_and(|own| only(headers, "origin") == Some(own.as_str())));
    let mut said = [site, origin].into_iter().filter(|(name, _)| headers.contains_key(*name)).peekable();
    said.peek().is_some() && said.all(|(_, is_own)| is_own)
}

fn has_session(site: &Site, headers: &HeaderMap) -> bool {
    let Some(gate) = &site.gate else { return true };
    let now = Instant::now();
    let pairs = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    pairs
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        // Another program on this host may have set one of the same name: ports do not part cookies.
        .any(|(name, value)| name == auth::COOKIE && gate.is_open(value, now))
}

pub async fn guard(State(site): State<Site>, request: Request, next: Next) -> Response {
    let mut response = answer(&site, request, next).await;
    for (name, value) in ALWAYS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

async fn answer(site: &Site, request: Request, next: Next) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let is_json = pages::is_json(&path);
    if !is_for_us(&site.hosts, request.headers(), request.uri()) {
        return (StatusCode::MISDIRECTED_REQUEST, "this site has another name; use the printed address")
            .into_response();
    }
    let is_login = method == Method::POST && path == "/login";
    if !is_login && method != Method::GET && method != Method::HEAD {
        return (
            StatusCode::METHOD_NOT_ALLOWED,
            [(header::ALLOW, "GET, HEAD")],
            "these pages are for reading",
        )
            .into_response();
    }
    if !OPEN.contains(&path.as_str()) && !has_session(site, request.headers()) {
        return site.pages.not_logged_in(is_json);
    }
    match tokio::time::timeout(site.timeout, next.run(request)).await {
        Ok(response) => response,
        Err(_) => site.pages.too_slow(is_json),
    }
}
