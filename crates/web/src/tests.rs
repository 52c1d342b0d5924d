//! The whole router, without a socket.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use report::shape::{FleetReport, WatchReport};
use tower::ServiceExt;

use super::*;
use fill::{EVIL, FIRST_RUN, PLAN, SECOND_RUN, fill};

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
    let app = router(Site::new(path.to_owned(), guard::Hosts::of(HOST.parse().unwrap(), &[]), Some(&token)));
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
        for path in [
            "/",
            "/c/prod",
            "/c/prod/s/db1",
            "/certificates",
            "/certificates.ics",
            "/runs",
            "/events",
            "/page.js",
            "/drivers",
            "/c/none",
            "/index.json",
            "/c/prod.json",
            "/none",
            "/login/",
            "/style.css/x",
        ] {
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
    let others = [
        format!("{link}/s/{}", words::segment(EVIL)),
        "/certificates".into(),
        format!("/certificates?cluster={}", words::segment(EVIL)),
        "/findings".into(),
        format!("/findings?rule={}", words::segment(EVIL)),
        format!("/findings?from={FIRST_RUN}&to={SECOND_RUN}"),
        format!("/runs/{SECOND_RUN}"),
        format!("/c/prod/change/{PLAN}"),
        format!("/drivers?q={}", words::segment(EVIL)),
        format!("/?q={}", words::segment(EVIL)),
    ];
    let others: Vec<Answer> = others.iter().map(|path| bench.get(path, &cookie)).collect();
    for answer in [&fleet, &page].into_iter().chain(&others) {
        let text = &answer.text;
        assert_eq!(answer.status, StatusCode::OK, "{text}");
        assert!(text.contains("&lt;script&gt;alert(1)&lt;"), "{text}");
        let own = text.replace("<script src=\"/page.js\" defer></script>", "");
        assert!(!own.to_ascii_lowercase().contains("<script"), "{text}");
        // The CSP would refuse them, so a page with one would be broken.
        assert!(!own.contains(" style=") && !own.contains("<style") && !own.contains(" onclick="), "{text}");
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
        fleet.contains("6 watched, 3 with links in cleartext, 1 no longer encrypted at rest, 2 with changed option files, 1 with something unknown for \
             more than six hours, 1 stale, 1 whose last check failed."),
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
        "require_secure_transport is OFF, and sealion had set ON",
        "<span class=\"state unknown\">unknown</span></td><td class=\"wrap\">the change",
        "<b class=\"bad\">fell back</b>",
        "nobody knows since",
    ] {
        assert!(prod.contains(words), "{words}: {prod}");
    }
    let server = |name: &str| bench.get(&format!("/c/prod/s/{name}"), &cookie).text;
    let (db1, db2, db4) = (server("db1"), server("db2"), server("db4"));
    assert!(db1.contains("fell back") && !db1.contains("Option files differ"), "{db1}");
    assert!(db2.contains("<b>Option files differ from what the last change wrote.</b>"), "{db2}");
    assert!(db4.contains("is not known.</b>") && db4.contains("nobody knows since"), "{db4}");
    for words in [
        "no longer encrypted at rest: 1 of",
        "option files differ from what the last change wrote: 1 server<",
    ] {
        assert!(fleet.contains(words), "{words}: {fleet}");
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
fn a_server_has_what_is_about_it_and_nothing_else() {
    let bench = filled();
    let cookie = bench.cookie();
    let page = bench.get("/c/prod/s/db1", &cookie).text;
    for words in [
        "3 sessions in cleartext: app@10.0.1.7",
        "<td>cleartext <b class=\"soon\">restart pending</b></td>",
        "reload pending",
        "Accounts may log in without TLS",
        "<td>link</td><td>galera db1 - db3</td>",
        "sealion status rest",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    for words in ["galera db2 - db3", "12 sessions, each followed as TLS", "SST is in cleartext"] {
        assert!(!page.contains(words), "{words}: {page}");
    }
    let json: report::shape::WatchServerReport =
        serde_json::from_str(&bench.get("/c/prod/s/db1.json", &cookie).text).unwrap();
    assert_eq!((json.server.server.as_str(), json.settings.len(), json.certificates.len()), ("db1", 2, 2));
    let silent = bench.get("/c/prod/s/db4", &cookie).text;
    assert!(silent.contains("<span class=\"state silent\">silent</span>"), "{silent}");
    assert!(!silent.contains("No finding is about"), "{silent}");
}

#[test]
fn certificates_of_all_clusters_are_by_their_ends_and_as_appointments() {
    let bench = filled();
    let cookie = bench.cookie();
    let page = bench.get("/certificates", &cookie).text;
    let at = |words: &str| page.find(words).unwrap_or_else(|| panic!("{words}: {page}"));
    assert!(at("Ended <") < at("Week of "), "{page}");
    assert!(at("reload pending") > 0);
    // One that was never read has no date, and is told.
    assert!(at("Not known <") > at("Week of "), "{page}");
    // What was read hours ago is no news, on whichever page.
    assert_eq!(page.matches("stale</a> <span class=\"badge bad\">stale</span>").count(), 3, "{page}");
    let of_prod = bench.get("/certificates?cluster=prod", &cookie).text;
    assert!(of_prod.contains("<p class=\"lead\">5 by the week"), "{of_prod}");
    let ics = bench.get("/certificates.ics", &cookie);
    assert_eq!(ics.headers.get("content-type").unwrap(), "text/calendar; charset=utf-8");
    let json: report::shape::WatchCertificatesReport =
        serde_json::from_str(&bench.get("/certificates.json", &cookie).text).unwrap();
    let ends = json.certificates.iter().filter(|one| one.row.not_after_unix.is_some()).count();
    assert_eq!(ics.text.matches("BEGIN:VEVENT").count(), ends);
    assert!(json.certificates.is_sorted_by_key(|one| one.row.not_after_unix.unwrap_or(i64::MAX)));
    let pending = json.certificates.iter().filter(|one| one.row.reload_pending == Some(true)).count();
    assert_eq!(pending, 2, "both places where it was read");
}

#[test]
fn findings_are_those_of_all_clusters_or_what_two_runs_differ_in() {
    let bench = filled();
    let cookie = bench.cookie();
    let page = bench.get("/findings", &cookie).text;
    assert!(page.contains("<p class=\"lead\">4 failed, 1 could not be judged"), "{page}");
    let one = bench.get("/findings?rule=SL1107", &cookie).text;
    assert!(one.contains("1 failed, 0 could not") && !one.contains("SL1001"), "{one}");
    let between = format!("/findings?from={FIRST_RUN}&to={SECOND_RUN}");
    let page = bench.get(&between, &cookie).text;
    for words in [
        "<h2>New <span class=\"soft\">1</span></h2>",
        "<h2>Still <span class=\"soft\">1</span></h2>",
        "<h2>Not known now <span class=\"soft\">1</span></h2>",
        "<h2>Fixed <span class=\"soft\">1</span></h2>",
        "not judged in the later run; before: rsync without stunnel",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let turned = bench.get(&format!("/findings?from={SECOND_RUN}&to={FIRST_RUN}"), &cookie).text;
    assert!(turned.contains("The first of the two is the later one"), "{turned}");
    let json: serde_json::Value =
        serde_json::from_str(&bench.get(&between.replace("findings?", "findings.json?"), &cookie).text)
            .unwrap();
    assert_eq!(
        (json["schema"].as_str(), json["rows"][0]["became"].as_str()),
        (Some("sealion/findings-difference/1"), Some("new"))
    );
    for (path, status) in [
        ("/findings?from=none&to=none", StatusCode::NOT_FOUND),
        ("/findings?from=x", StatusCode::NOT_FOUND),
        ("/findings?from=a&from=b", StatusCode::BAD_REQUEST),
        ("/findings.json?to=x", StatusCode::NOT_FOUND),
    ] {
        assert_eq!(bench.get(path, &cookie).status, status, "{path}");
    }
}

#[test]
fn runs_and_changes_are_shown_and_a_plan_with_what_it_writes() {
    let bench = filled();
    let cookie = bench.cookie();
    let page = bench.get("/runs", &cookie).text;
    for words in [
        FIRST_RUN,
        SECOND_RUN,
        "enable galera,clients",
        "not finished: failed at step E2.n1",
        "none looked at",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let run = bench.get(&format!("/runs/{FIRST_RUN}"), &cookie).text;
    assert!(run.contains("rsync without stunnel") && run.contains("1 passed"), "{run}");
    let json: serde_json::Value =
        serde_json::from_str(&bench.get(&format!("/runs/{FIRST_RUN}.json"), &cookie).text).unwrap();
    assert_eq!(json["run"]["id"], FIRST_RUN);
    let plan = bench.get(&format!("/c/prod/change/{PLAN}"), &cookie).text;
    for words in [
        "<b>Not finished:</b> failed at step E2.n1.",
        "<span class=\"added\">+ssl_ca=&lt;script&gt;",
        "<span class=\"gone\">-ssl=OFF</span>",
        "3 files of mode 0600",
        "<span class=\"state fail\">failed</span>",
        "<span class=\"state \">not begun</span>",
    ] {
        assert!(plan.contains(words), "{words}: {plan}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&bench.get(&format!("/c/prod/change/{PLAN}.json"), &cookie).text).unwrap();
    assert_eq!((json["plan"]["id"].as_str(), json["records"].as_array().unwrap().len()), (Some(PLAN), 4));
    // What is damaged is said, and hides nothing else.
    let damaged = bench.path.with_file_name("journals").join("prod/damaged.journal");
    std::fs::write(damaged, "{}\n{}\n").unwrap();
    let page = bench.get("/runs", &cookie).text;
    assert!(page.contains("damaged.journal") && page.contains("enable galera,clients"), "{page}");
}

#[test]
fn drivers_are_filtered() {
    let bench = filled();
    let cookie = bench.cookie();
    let all = bench.get("/drivers", &cookie).text;
    let broken = bench.get("/drivers?kept=broken&q=mysql", &cookie).text;
    let rows = |text: &str| text.matches("<tr").count();
    assert!(
        rows(&all) > 150 && rows(&broken) < rows(&all) && rows(&broken) > 1,
        "{} {}",
        rows(&all),
        rows(&broken)
    );
    assert_eq!(broken.matches("broken by").count(), rows(&broken) - 1);
    assert!(bench.get("/drivers.json", &cookie).text.contains("sealion/prove-clients/1"));
}

/// Ten thousand servers: the page stays small, and shows the worst first.
#[test]
fn the_first_page_of_thousands_of_clusters_is_small_and_has_the_worst() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("runs.sqlite");
    fill::many(&path, 2500, now()).unwrap();
    let bench = at(&path, place);
    let cookie = bench.cookie();
    let page = bench.get("/", &cookie);
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.text.len() < 200 * 1024, "{} bytes", page.text.len());
    assert!(page.text.contains("10000 servers") && page.text.contains("Page 1 of 25"), "{}", page.text);
    let (worst, last) = (page.text.find("/c/many-0000").unwrap(), bench.get("/?page=25", &cookie).text);
    assert!(worst > 0 && !last.contains("badge bad") && last.contains("Page 25 of 25"));
    let found = bench.get("/?q=MANY-17&grade=bad", &cookie).text;
    assert!(
        found.contains("of 2500 clusters")
            && found.contains("/c/many-1700")
            && !found.contains("/c/many-1701"),
        "{found}"
    );
    for path in ["/?page=0", "/?page=99999", "/?grade=none"] {
        assert_eq!(bench.get(path, &cookie).status, StatusCode::OK, "{path}");
    }
    assert_eq!(bench.get("/?page=x", &cookie).status, StatusCode::BAD_REQUEST);
    for path in ["/certificates", "/findings"] {
        let text = bench.get(path, &cookie).text;
        assert!(text.len() < 500 * 1024, "{path}: {}", text.len());
    }
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
        "/c/prod/s/none",
        "/c/none/s/db1",
        "/c/prod/s/none.json",
        "/runs/none",
        "/c/prod/change/none",
        "/c/prod/change/..%2f..%2fx",
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
    let mut site =
        Site::new(bench.path.clone(), guard::Hosts::of(HOST.parse().unwrap(), &[]), Some(&bench.token));
    site.timeout = Duration::from_millis(20);
    let cookie = bench.cookie();
    let opened = site.gate.as_ref().unwrap().exchange(bench.token.text(), Instant::now()).unwrap();
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
    let address = web.address().unwrap();
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
