//! The whole router, without a socket.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use report::shape::{FleetReport, WatchReport};
use tower::ServiceExt;

use super::*;
use fill::{EVIL, fill};

#[allow(dead_code)]
#[path = "../examples/fill.rs"]
mod fill;

const HOST: &str = "127.0.0.1:9543";

struct Bench {
    _place: tempfile::TempDir,
    path: PathBuf,
    app: Router,
    token: Token,
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    text: String,
}

fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    u64::try_from(since.as_millis()).unwrap()
}

fn at(path: &Path, place: tempfile::TempDir) -> Bench {
    let token = Token::new().unwrap();
    let app = router(Site::new(path.to_owned(), HOST.parse().unwrap(), &token));
    Bench { _place: place, path: path.to_owned(), app, token }
}

fn filled() -> Bench {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("runs.sqlite");
    fill(&path, now()).unwrap();
    at(&path, place)
}

impl Bench {
    fn ask(&self, request: Request<Body>) -> Answer {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let response = self.app.clone().oneshot(request).await.unwrap();
            let (parts, body) = response.into_parts();
            let text = String::from_utf8(to_bytes(body, 1 << 22).await.unwrap().to_vec()).unwrap();
            Answer { status: parts.status, headers: parts.headers, text }
        })
    }

    fn login(&self, token: &str) -> Answer {
        let request = Request::post("/login").header("host", HOST).header("sec-fetch-site", "same-origin");
        self.ask(request.body(Body::from(token.to_owned())).unwrap())
    }

    /// The cookie of a session, as a browser sends it.
    fn cookie(&self) -> String {
        let answer = self.login(self.token.text());
        assert_eq!(answer.status, StatusCode::NO_CONTENT);
        let cookie = answer.headers.get("set-cookie").unwrap().to_str().unwrap();
        assert!(cookie.contains("; HttpOnly; SameSite=Strict; Path=/; Max-Age=43200"), "{cookie}");
        cookie.split(';').next().unwrap().to_owned()
    }

    fn get(&self, path: &str, cookie: &str) -> Answer {
        let request = Request::get(path).header("host", HOST).header("cookie", cookie);
        self.ask(request.body(Body::empty()).unwrap())
    }
}

#[test]
fn another_name_than_ours_is_refused() {
    let bench = filled();
    let cookie = bench.cookie();
    let asked = |hosts: &[&str], uri: &str| {
        let request = hosts.iter().fold(Request::get(uri), |request, host| request.header("host", *host));
        bench.ask(request.header("cookie", &cookie).body(Body::empty()).unwrap()).status
    };
    for host in [HOST, "localhost:9543", "LocalHost:9543", "[::1]:9543"] {
        assert_eq!(asked(&[host], "/"), StatusCode::OK, "{host}");
    }
    for host in [
        "evil.example",
        "evil.example:9543",
        "127.0.0.1",
        "127.0.0.1:9542",
        "localhost",
        "",
        "127.0.0.1:9543.evil",
    ] {
        assert_eq!(asked(&[host], "/"), StatusCode::MISDIRECTED_REQUEST, "{host}");
        assert_eq!(asked(&[host], "/login"), StatusCode::MISDIRECTED_REQUEST, "{host}");
    }
    assert_eq!(asked(&[], "/"), StatusCode::MISDIRECTED_REQUEST);
    assert_eq!(asked(&[HOST, "evil.example"], "/"), StatusCode::MISDIRECTED_REQUEST);
    assert_eq!(asked(&[HOST], "http://evil.example/"), StatusCode::MISDIRECTED_REQUEST);
}

#[test]
fn without_a_session_only_the_login_and_its_assets_are_there() {
    let bench = filled();
    for cookie in ["", "sl=", "sl=0", "other=1; sl=abc", "sl"] {
        for path in
            ["/", "/c/prod", "/c/none", "/index.json", "/c/prod.json", "/none", "/login/", "/style.css/x"]
        {
            let answer = bench.get(path, cookie);
            assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{path} {cookie}");
            assert!(answer.text.contains("open the address that sealion web printed"), "{}", answer.text);
            assert!(!answer.text.contains("prod"), "{}", answer.text);
        }
    }
    for path in ["/login", "/login.js", "/style.css", "/icon.svg"] {
        assert_eq!(bench.get(path, "").status, StatusCode::OK, "{path}");
    }
    assert_eq!(bench.get("/", &format!("a=b; sl=0; {}", bench.cookie())).status, StatusCode::OK);
}

#[test]
fn a_token_is_spent_by_its_first_use() {
    let bench = filled();
    assert_eq!(bench.login("").status, StatusCode::UNAUTHORIZED);
    assert_eq!(bench.login(&"0".repeat(64)).status, StatusCode::UNAUTHORIZED);
    let cookie = bench.cookie();
    let again = bench.login(bench.token.text());
    assert_eq!(again.status, StatusCode::UNAUTHORIZED);
    assert!(!again.headers.contains_key("set-cookie"));
    assert_eq!(bench.get("/", &cookie).status, StatusCode::OK, "the session is still good");
    assert_eq!(bench.get("/", &format!("sl={}", bench.token.text())).status, StatusCode::UNAUTHORIZED);
}

#[test]
fn a_login_of_another_site_is_refused_and_spends_nothing() {
    let bench = filled();
    let with = |headers: &[(&str, &str)]| {
        let start = Request::post("/login").header("host", HOST);
        let request = headers.iter().fold(start, |request, (name, value)| request.header(*name, *value));
        bench.ask(request.body(Body::from(bench.token.text().to_owned())).unwrap()).status
    };
    let own = ("origin", "http://127.0.0.1:9543");
    for headers in [
        &[][..],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site")],
        &[("sec-fetch-site", "none")],
        &[("sec-fetch-site", "cross-site"), own],
        &[("sec-fetch-site", "same-origin"), ("origin", "http://evil.example")],
        &[("origin", "null")],
        &[("origin", "https://127.0.0.1:9543")],
        &[own, ("origin", "http://evil.example")],
    ] {
        assert_eq!(with(headers), StatusCode::FORBIDDEN, "{headers:?}");
    }
    assert_eq!(with(&[own]), StatusCode::NO_CONTENT);
}

#[test]
fn only_reading_is_answered_and_bodies_are_small() {
    let bench = filled();
    let cookie = bench.cookie();
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PURGE"] {
        for path in ["/", "/c/prod", "/index.json", "/style.css"] {
            let request =
                Request::builder().method(method).uri(path).header("host", HOST).header("cookie", &cookie);
            let answer = bench.ask(request.body(Body::empty()).unwrap());
            assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED, "{method} {path}");
        }
    }
    let head = Request::head("/").header("host", HOST).header("cookie", &cookie).body(Body::empty()).unwrap();
    let head = bench.ask(head);
    assert_eq!((head.status, head.text.as_str()), (StatusCode::OK, ""));
    assert_eq!(bench.login(&"a".repeat(BODY_MAX)).status, StatusCode::UNAUTHORIZED);
    assert_eq!(bench.login(&"a".repeat(BODY_MAX + 1)).status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[test]
fn every_answer_has_the_headers() {
    let bench = filled();
    let cookie = bench.cookie();
    let foreign = Request::get("/").header("host", "evil.example").body(Body::empty()).unwrap();
    let odd = Request::delete("/").header("host", HOST).body(Body::empty()).unwrap();
    let answers = [
        bench.get("/", &cookie),
        bench.get("/c/prod", &cookie),
        bench.get("/c/prod.json", &cookie),
        bench.get("/c/none", &cookie),
        bench.get("/none", &cookie),
        bench.get("/c/%ff", &cookie),
        bench.get("/", ""),
        bench.get("/login", ""),
        bench.get("/login.js", ""),
        bench.get("/style.css", ""),
        bench.login("x"),
        bench.login(&"x".repeat(5000)),
        bench.ask(foreign),
        bench.ask(odd),
    ];
    for answer in answers {
        let has = |name: &str| answer.headers.get(name).map_or("", |value| value.to_str().unwrap());
        assert_eq!(
            has("content-security-policy"),
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; \
             base-uri 'none'; frame-ancestors 'none'",
            "{}",
            answer.status
        );
        assert_eq!(has("x-content-type-options"), "nosniff");
        assert_eq!(has("referrer-policy"), "no-referrer");
        assert_eq!(has("cache-control"), "no-store");
    }
}

#[test]
fn names_are_never_markup() {
    let bench = filled();
    let cookie = bench.cookie();
    let fleet = bench.get("/", &cookie);
    assert_eq!(fleet.status, StatusCode::OK, "{}", fleet.text);
    let link = format!("/c/{}", words::segment(EVIL));
    assert!(fleet.text.contains(&format!("href=\"{link}\"")), "{}", fleet.text);
    let page = bench.get(&link, &cookie);
    assert_eq!(page.status, StatusCode::OK, "{}", page.text);
    for text in [&fleet.text, &page.text] {
        assert!(text.contains("&lt;script&gt;alert(1)&lt;"), "{text}");
        assert!(!text.to_ascii_lowercase().contains("<script"), "{text}");
        // The CSP would refuse them, so a page with one would be broken.
        assert!(
            !text.contains(" style=") && !text.contains("<style") && !text.contains(" onclick="),
            "{text}"
        );
    }
    let svg = page.text.split("<svg class=\"net").nth(1).unwrap().split("</svg>").next().unwrap();
    assert!(svg.contains("&lt;script&gt;"), "{svg}");
    let none = bench.get("/c/%3Cscript%3Ealert(2)%3C%2Fscript%3E", &cookie);
    assert_eq!(none.status, StatusCode::NOT_FOUND);
    assert!(!none.text.contains("<script"), "{}", none.text);
}

#[test]
fn json_is_the_published_shape() {
    let bench = filled();
    let cookie = bench.cookie();
    let store = store::Store::open_read_only(&bench.path).unwrap();
    let fleet = bench.get("/index.json", &cookie);
    assert_eq!(fleet.headers.get("content-type").unwrap(), "application/json");
    let fleet: FleetReport = serde_json::from_str(&fleet.text).unwrap();
    assert_eq!(fleet, watch::view::read_fleet(&store, fleet.at_unix_ms).unwrap());
    for summary in &fleet.clusters {
        let one = bench.get(&format!("/c/{}.json", words::segment(&summary.cluster)), &cookie);
        let one: WatchReport = serde_json::from_str(&one.text).unwrap();
        let own = watch::view::read_cluster(&store, &summary.cluster, one.at_unix_ms).unwrap().unwrap();
        assert_eq!(one, own);
    }
}

#[test]
fn the_pages_say_what_is_plain_unknown_old_and_was_not_looked_at() {
    let bench = filled();
    let cookie = bench.cookie();
    let fleet = bench.get("/", &cookie).text;
    for words in [
        "<span class=\"badge bad\">critical</span>",
        "<span class=\"badge good\">no findings</span>",
        "<span class=\"badge bad\">stale</span>",
        "12 s ago</span>",
        "not checked: SST: none ran while traffic was captured",
        "the last check failed: packets may not be captured",
        "1 silent",
    ] {
        // The test itself takes a second.
        let later = words.replace("12 s", "13 s");
        assert!(fleet.contains(words) || fleet.contains(&later), "{words}: {fleet}");
    }
    assert!(
        fleet.contains("6 watched, 3 with links in cleartext, 1 stale, 1 whose last check failed."),
        "{fleet}"
    );
    let at = |name: &str| fleet.find(&format!("href=\"/c/{name}\"")).unwrap();
    assert!(
        at("prod") < at("dark") && at("dark") < at("stale") && at("stale") < at("good"),
        "the worst first: {fleet}"
    );
    let prod = bench.get("/c/prod", &cookie).text;
    for words in [
        "class=\"link plain\"",
        "class=\"link encrypted\"",
        "class=\"link unknown\"",
        ">galera: plain</text>",
        ">client: encrypted</text>",
        "3 sessions in cleartext: app@10.0.1.7",
        "ALTER USER app@",
        "would be high",
        "reload pending",
        "db4 did not answer",
    ] {
        assert!(prod.contains(words), "{words}: {prod}");
    }
    let wide = bench.get("/c/wide", &cookie).text;
    for words in [">E</text>", ">?</text>", ">replication: plain</text>", "encrypted (E): seen as TLS"] {
        assert!(wide.contains(words), "{words}: {wide}");
    }
    assert!(!wide.contains("galera: encrypted</text>"), "{wide}");
    let stale = bench.get("/c/stale", &cookie).text;
    assert!(
        stale.contains("<b>Stale.</b> The last check ended 3 h ago") && stale.contains("class=\"net old\""),
        "{stale}"
    );
}

#[test]
fn what_is_not_watched_is_404() {
    let bench = filled();
    let cookie = bench.cookie();
    for path in [
        "/c/none",
        "/c/none.json",
        "/c/.json",
        "/c/prod.json.json",
        "/c/",
        "/c/prod/x",
        "/index.html",
        "/..%2f..%2fetc",
    ] {
        assert_eq!(bench.get(path, &cookie).status, StatusCode::NOT_FOUND, "{path}");
    }
    let answer: serde_json::Value = serde_json::from_str(&bench.get("/c/none.json", &cookie).text).unwrap();
    assert_eq!(answer["error"]["what"], "Not watched");
}

#[test]
fn a_store_that_cannot_be_read_is_a_503_that_says_what_to_do() {
    let place = tempfile::tempdir().unwrap();
    let missing = place.path().join("none.sqlite");
    let bench = at(&missing, place);
    let cookie = bench.cookie();
    let answer = bench.get("/", &cookie);
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(answer.text.contains("run sealion watch, which makes it"), "{}", answer.text);
    assert!(!missing.exists(), "it is never made");
    std::fs::write(&missing, "not a database, but long enough to have a header ".repeat(40)).unwrap();
    for path in ["/", "/c/prod"] {
        let answer = bench.get(path, &cookie);
        assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(answer.text.contains("is not a sealion store"), "{}", answer.text);
        assert!(answer.text.contains("name another file"), "{}", answer.text);
    }
    let json: serde_json::Value = serde_json::from_str(&bench.get("/index.json", &cookie).text).unwrap();
    assert_eq!(json["error"]["what"], "The store cannot be read");
    // No restart is needed when it is there.
    std::fs::remove_file(&missing).unwrap();
    fill(&missing, now()).unwrap();
    assert_eq!(bench.get("/", &cookie).status, StatusCode::OK);
}

#[test]
fn nobody_watched_is_said() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("runs.sqlite");
    drop(store::Store::open(&path).unwrap());
    let bench = at(&path, place);
    let answer = bench.get("/", &bench.cookie());
    assert_eq!(answer.status, StatusCode::OK);
    assert!(answer.text.contains("No cluster is watched yet."), "{}", answer.text);
}

#[test]
fn a_page_that_takes_too_long_is_a_503() {
    let mut bench = filled();
    let mut site = Site::new(bench.path.clone(), HOST.parse().unwrap(), &bench.token);
    site.timeout = Duration::from_millis(20);
    let cookie = bench.cookie();
    let opened = site.gate.exchange(bench.token.text(), Instant::now()).unwrap();
    let never = axum::routing::get(std::future::pending::<()>);
    bench.app = crate::guarded(site, axum::Router::new().route("/never", never));
    assert_eq!(bench.get("/never", &cookie).status, StatusCode::UNAUTHORIZED, "a session of another start");
    let answer = bench.get("/never", opened.split(';').next().unwrap());
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(answer.text.contains("it did not answer in time"), "{}", answer.text);
    assert!(answer.headers.contains_key("content-security-policy"));
}

/// A real socket: it answers, and ends when it is told to, with a connection still open.
#[test]
fn it_serves_until_it_is_told_to_stop() {
    use std::io::{Read, Write};

    let place = tempfile::tempdir().unwrap();
    let web =
        Web::bind("127.0.0.1:0".parse().unwrap(), place.path().join("none"), Token::new().unwrap()).unwrap();
    let address = web.address();
    let stop = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&stop);
    let thread = std::thread::spawn(move || web.serve(&told));
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    write!(stream, "GET /login HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    stop.store(true, Ordering::Relaxed);
    thread.join().unwrap().unwrap();
}
