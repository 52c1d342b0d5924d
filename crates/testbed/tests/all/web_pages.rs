//! Every page of `sealion web` in Chromium: both colour schemes, nothing that its policy or its console complains of, and names of
//! strangers shown as text.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use watch::keep;

use crate::support::browser::Browser;
use fill::{EVIL, FIRST_RUN, PLAN, SECOND_RUN, fill};

#[allow(dead_code)]
#[path = "../../../web/examples/fill.rs"]
mod fill;

/// Where pictures go that somebody wants to look at.
const PICTURES: &str = "SEALION_WEB_PICTURES";

struct Web {
    child: Child,
    url: String,
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn web(store: &Path) -> Web {
    let mut child = Command::new(testbed::real::sealion())
        .args(["web", "--listen", "127.0.0.1:0", "--store"])
        .arg(store)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut url = String::new();
    let out = child.stdout.take().expect("it is piped");
    BufReader::new(out).read_line(&mut url).expect("it says its address");
    Web { child, url: url.trim().to_owned() }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock");
    u64::try_from(since.as_millis()).expect("a time")
}

fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |text, byte| text + &format!("%{byte:02X}"))
}

#[test]
fn every_page_is_whole_in_chromium() {
    let place = tempfile::tempdir().expect("a directory");
    let store = place.path().join("runs.sqlite");
    fill(&store, now()).expect("it is filled");
    let web = web(&store);
    let (site, token) = web.url.split_once("/login#").expect("an address with a token");
    let mut browser = Browser::start(&place.path().join("profile"));

    // Without a session, and with a token that is none.
    browser.open(&format!("{site}/c/prod"));
    assert_eq!(browser.evaluate("document.querySelector('h1').textContent"), "You are not logged in");
    let complaints = browser.complaints();
    assert!(complaints.iter().all(|text| text.contains("401")), "{complaints:?}");
    browser.open(&format!("{site}/login#token=0"));
    browser.wait_for("document.getElementById('state').textContent.includes('This token was used before')");
    browser.complaints();
    browser.open(&format!("{site}/login#{token}"));
    browser.wait_for("location.pathname === '/' && document.querySelector('h1')?.textContent === 'Clusters'");
    assert_eq!(browser.complaints(), [""; 0], "after the login");

    let evil = encoded(EVIL);
    let pages = [
        ("fleet", "/".to_owned(), "Clusters"),
        ("cluster", "/c/prod".into(), "prod"),
        ("wide", "/c/wide".into(), "wide"),
        ("stale", "/c/stale".into(), "stale"),
        ("evil", format!("/c/{evil}"), EVIL),
        ("server", "/c/prod/s/db1".into(), "db1"),
        ("evil-server", format!("/c/{evil}/s/{evil}"), EVIL),
        ("certificates", "/certificates".into(), "Certificates"),
        ("findings", "/findings".into(), "Findings"),
        (
            "difference",
            format!("/findings?from={FIRST_RUN}&to={SECOND_RUN}"),
            "What changed between two runs",
        ),
        ("runs", "/runs".into(), "Runs and changes"),
        ("run", format!("/runs/{SECOND_RUN}"), "status"),
        ("plan", format!("/c/prod/change/{PLAN}"), "enable galera,clients"),
        ("drivers", "/drivers?kept=broken".into(), "Drivers under attack"),
    ];
    for (name, path, heading) in &pages {
        let mut grounds = Vec::new();
        for scheme in ["light", "dark"] {
            browser.prefer(scheme);
            browser.open(&format!("{site}{path}"));
            assert_eq!(browser.evaluate("document.querySelector('h1').textContent"), *heading, "{path}");
            assert_eq!(browser.complaints(), [""; 0], "{path}, {scheme}");
            let wide = browser
                .evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
            assert_eq!(wide, 0, "{path} is wider than the window");
            // What names hold is text, and every script is ours.
            let scripts =
                browser.evaluate("[...document.scripts].every(one => one.src.endsWith('/page.js'))");
            assert_eq!(scripts, true, "{path}");
            grounds.push(browser.evaluate("getComputedStyle(document.body).backgroundColor"));
            if let Some(dir) = std::env::var_os(PICTURES) {
                let picture = openssl::base64::decode_block(&browser.picture()).expect("base64");
                std::fs::write(Path::new(&dir).join(format!("{name}-{scheme}.png")), picture)
                    .expect("writable");
            }
        }
        assert_ne!(grounds[0], grounds[1], "{path}: one ground in both schemes");
        let json = browser.evaluate("fetch(document.querySelector('footer a').href).then(one => one.json()).then(one => one.schema ?? 'run')");
        assert!(json.as_str().is_some_and(|schema| schema.starts_with("sealion/")), "{path}: {json}");
        assert_eq!(browser.complaints(), [""; 0], "the JSON of {path}");
    }

    // A page that is open says what has changed, without being asked, and what was filtered stays so.
    browser.open(&format!("{site}/?q=go"));
    browser.evaluate("window.isSame = true");
    assert_eq!(browser.evaluate("document.body.textContent.includes('whose certificate ended')"), false);
    let mut open = store::Store::open(&store).expect("it opens");
    let sights =
        watch::state::Sights { not_looked_at: vec!["whose certificate ended".into()], ..Default::default() };
    let look =
        watch::state::Look { servers: vec!["db1".into()], took_ms: 1, interval_s: 60, outcome: Ok(sights) };
    keep::record(&mut open, "good", &watch::state::State::default(), &look, now()).expect("it is kept");
    browser.wait_for("document.body.textContent.includes('whose certificate ended')");
    assert_eq!(
        browser.evaluate("window.isSame && document.querySelectorAll('tbody th a').length === 1"),
        true
    );
    assert_eq!(browser.complaints(), [""; 0], "a page that was renewed");

    // A script in an address.
    browser.open(&format!("{site}/?q={evil}"));
    assert_eq!(browser.complaints(), [""; 0]);
}

/// The matrix of the book: whole as it is, and filtered by its own script. mdBook copies the HTML of a page as it stands.
#[test]
fn the_books_page_of_drivers_filters_itself() {
    let place = tempfile::tempdir().expect("a directory");
    let page = include_str!("../../../../docs/src/reference/drivers.md");
    let html = page.split_once("<form").expect("a form").1;
    let path = place.path().join("drivers.html");
    std::fs::write(&path, format!("<!doctype html><meta charset=utf-8><form{html}")).expect("writable");
    let mut browser = Browser::start(&place.path().join("profile"));
    browser.open(&format!("file://{}", path.display()));
    let shown = "[...document.querySelectorAll('#drivers tbody tr')].filter(row => !row.hidden).length";
    let all = browser.evaluate(shown).as_u64().expect("a number");
    assert!(all > 200, "{all}");
    assert_eq!(browser.evaluate("document.getElementById('driver-filter').hidden"), false);
    let choose = |browser: &mut Browser, name: &str, value: &str| {
        browser.evaluate(&format!(
            "(() => {{ const field = document.getElementById('driver-filter').elements['{name}']; field.value = '{value}'; \
             field.dispatchEvent(new Event('input', {{ bubbles: true }})); return true; }})()"
        ));
    };
    choose(&mut browser, "kept", "broken");
    let broken = browser.evaluate(shown).as_u64().expect("a number");
    assert!(broken > 20 && broken < all, "{broken} of {all}");
    choose(&mut browser, "q", "mariadb cli");
    let few = browser.evaluate(shown).as_u64().expect("a number");
    assert!(few > 0 && few < broken, "{few} of {broken}");
    assert_eq!(browser.evaluate("document.getElementById('driver-count').textContent"), few.to_string());
    assert_eq!(browser.complaints(), [""; 0]);
}

/// Answers of `sealion web` at a unix socket, as another user sees them: `None` is the user of this test.
fn curl(socket: &Path, uid: Option<u32>, path: &str) -> (String, String) {
    let mut command = Command::new("curl");
    command.args([
        "--silent",
        "--show-error",
        "--max-time",
        "60",
        "--write-out",
        "\n%{http_code}",
        "--unix-socket",
    ]);
    command.arg(socket).arg(format!("http://localhost{path}"));
    if let Some(uid) = uid {
        command.uid(uid).gid(uid);
    }
    let answer = command.output().expect("curl is there");
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    let (body, code) = text.rsplit_once('\n').unwrap_or(("", "none"));
    (body.to_owned(), code.to_owned())
}

fn at_socket(store: &Path, socket: &Path, words: &[&str]) -> Web {
    let mut child = Command::new(testbed::real::sealion())
        .args(["web", "--store"])
        .arg(store)
        .arg("--socket")
        .arg(socket)
        .args(words)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut url = String::new();
    let out = child.stdout.take().expect("it is piped");
    BufReader::new(out).read_line(&mut url).expect("it says where");
    assert_eq!(url.trim(), format!("unix:{}", socket.display()));
    Web { child, url: String::new() }
}

/// Of nobody's, on any Debian.
const NOBODY: u32 = 65_534;

#[test]
fn another_user_is_refused_at_the_socket_unless_he_was_named() {
    assert!(nix::unistd::geteuid().is_root(), "only root can ask as somebody else; run this test as root");
    let place = tempfile::tempdir().expect("a directory");
    std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    let (store, socket) = (place.path().join("runs.sqlite"), place.path().join("web.sock"));
    fill(&store, now()).expect("it is filled");
    // Somebody else was named, so that everybody reaches the socket, and only its owner is let in.
    let web = at_socket(&store, &socket, &["--allow-user", "12345"]);
    let (page, code) = curl(&socket, None, "/");
    assert!(code == "200" && page.contains("Clusters"), "{code} {page}");
    let (page, code) = curl(&socket, Some(NOBODY), "/");
    assert!(code == "403" && !page.contains("Clusters"), "{code} {page}");
    drop(web);
    let web = at_socket(&store, &socket, &["--allow-user", "nobody"]);
    let (page, code) = curl(&socket, Some(NOBODY), "/index.json");
    assert!(code == "200" && page.contains("sealion/fleet/1"), "{code} {page}");
    drop(web);
    // Nobody else was named: the file lets nobody else connect either.
    let web = at_socket(&store, &socket, &[]);
    assert_eq!(curl(&socket, Some(NOBODY), "/").1, "000");
    drop(web);
}

/// The first page of 10,000 servers (2,500 clusters): its size is held, its times are printed for docs/src/tasks/web.md.
#[test]
fn the_first_page_of_ten_thousand_servers_is_small() {
    let place = tempfile::tempdir().expect("a directory");
    let (store, socket) = (place.path().join("runs.sqlite"), place.path().join("web.sock"));
    fill::many(&store, 2_500, now()).expect("it is filled");
    let _web = at_socket(&store, &socket, &[]);
    let mut times_ms = Vec::new();
    for _ in 0..50 {
        let began = Instant::now();
        let mut stream = UnixStream::connect(&socket).expect("it listens");
        stream
            .write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            .expect("it is sent");
        let mut page = Vec::new();
        stream.read_to_end(&mut page).expect("it answers");
        times_ms.push(began.elapsed().as_secs_f64() * 1e3);
        assert!(page.starts_with(b"HTTP/1.1 200") && page.len() < 200 * 1024, "{} bytes", page.len());
        if times_ms.len() == 1 {
            println!("{} bytes", page.len());
        }
    }
    let first = times_ms.first().copied().unwrap_or_default();
    times_ms.sort_by(f64::total_cmp);
    let at = |place: usize| times_ms.get(place).copied().unwrap_or_default();
    println!("50 requests: first {first:.0} ms, median {:.0} ms, slowest {:.0} ms", at(25), at(49));
}
