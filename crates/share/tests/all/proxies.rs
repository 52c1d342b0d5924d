use std::os::unix::fs::DirBuilderExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use share::audit::{self, Doubt};
use share::client::{self, Failure};
use share::grant::{NewGrant, ProxyUrl, Terms};
use share::keys::{Identity, PublicIdentity, Role};
use share::now_unix_s;
use share::open::{OpenRequest, open};
use share::proxy::log::LogHead;
use share::proxy::protocol::{AuditWish, PutGrant, Reason, Refusal, SignedWish, StateAnswer, Wish};
use share::proxy::serve::Proxy;
use share::proxy::store::Store;

use super::support::{Case, NOW, proxy, terms};

struct Kept {
    case: Case,
    new: NewGrant,
    store: Store,
    dir: tempfile::TempDir,
}

impl Kept {
    fn new(terms: &Terms) -> Self {
        let (case, dir) = (Case::new(), tempfile::tempdir().unwrap());
        let new = case.grant(terms);
        let mut store = Store::open(dir.path(), case.owner.public.clone(), proxy(1).certificate).unwrap();
        store.put(&put(&new, 0), NOW).unwrap();
        Self { case, new, store, dir }
    }

    fn wish(&self, wish: Wish, who: &Identity) -> SignedWish {
        let challenge = self.store.challenge(NOW).unwrap();
        SignedWish::new(wish, self.new.policy.id, challenge, &proxy(1).certificate, who).unwrap()
    }

    /// As the owner reads it.
    fn is_log_whole(&self) -> bool {
        let challenge = self.store.challenge(NOW).unwrap();
        let wish = AuditWish::new(0, challenge, &proxy(1).certificate, &self.case.owner).unwrap();
        let page = self.store.audit(&wish, NOW).unwrap();
        let end = page.lines.iter().try_fold(LogHead::START, |head, line| head.follow(line));
        end.is_some_and(|head| head.number == page.last)
    }

    fn open(&mut self, now: i64) -> Result<u32, Reason> {
        let challenge = self.store.challenge(now).unwrap();
        let wish = SignedWish::new(
            Wish::Open,
            self.new.policy.id,
            challenge,
            &proxy(1).certificate,
            &self.case.reader,
        );
        let answer = self.store.open_share(&wish.unwrap(), now);
        answer.map(|answer| answer.opens).map_err(|refusal| refusal.reason)
    }
}

fn put(new: &NewGrant, at: usize) -> PutGrant {
    let json = serde_json::json!({ "grant": new.signed, "share": "" });
    let mut put: PutGrant = serde_json::from_value(json).unwrap();
    put.share.0.clone_from(&new.shares[at]);
    put
}

fn reason<T>(answer: Result<T, Refusal>) -> Option<Reason> {
    answer.err().map(|refusal| refusal.reason)
}

#[test]
fn a_share_is_given_so_often_and_until_then() {
    let mut kept = Kept::new(&terms(2, 3));
    for opens in 1..=3 {
        assert_eq!(kept.open(NOW + 1000), Ok(opens));
    }
    assert_eq!(kept.open(NOW), Err(Reason::UsedUp));
    assert!(kept.is_log_whole());
    let mut kept = Kept::new(&terms(2, 3));
    assert_eq!(kept.open(NOW), Ok(1));
    assert_eq!(kept.open(NOW + 1001), Err(Reason::Expired));
    assert_eq!(kept.open(NOW), Err(Reason::Expired), "a clock that is set back begins nothing again");
}

#[test]
fn revoked_is_revoked_for_ever() {
    let mut kept = Kept::new(&terms(2, 3));
    assert_eq!(kept.open(NOW), Ok(1));
    let stranger = Identity::new(Role::Owner).unwrap();
    let by_stranger = kept.wish(Wish::Revoke, &stranger);
    assert_eq!(reason(kept.store.revoke(&by_stranger, NOW)), Some(Reason::NotAllowed));
    let by_reader = kept.wish(Wish::Revoke, &kept.case.reader);
    assert_eq!(reason(kept.store.revoke(&by_reader, NOW)), Some(Reason::NotAllowed));
    for _ in 0..2 {
        let wish = kept.wish(Wish::Revoke, &kept.case.owner);
        assert_eq!(kept.store.revoke(&wish, NOW).unwrap().opens, 1);
    }
    assert_eq!(kept.open(NOW), Err(Reason::Revoked));
    assert_eq!(reason(kept.store.put(&put(&kept.new, 0), NOW)), Some(Reason::Revoked), "the tombstone");
    assert_eq!(kept.open(NOW), Err(Reason::Revoked));
    let state = kept.wish(Wish::State, &kept.case.owner);
    assert!(kept.store.state(&state, NOW).unwrap().is_revoked);
    assert!(kept.is_log_whole());
}

/// It may be under way: the owner was told that nobody answered.
#[test]
fn a_grant_that_is_revoked_before_it_comes_does_not_come_any_more() {
    let mut kept = Kept::new(&terms(2, 3));
    let late = kept.case.grant(&terms(2, 3));
    let wish = |kept: &Kept, wish, who| {
        let challenge = kept.store.challenge(NOW).unwrap();
        SignedWish::new(wish, late.policy.id, challenge, &proxy(1).certificate, who).unwrap()
    };
    let stranger = Identity::new(Role::Owner).unwrap();
    for who in [&stranger, &kept.case.reader] {
        let by_other = wish(&kept, Wish::Revoke, who);
        assert_eq!(reason(kept.store.revoke(&by_other, NOW)), Some(Reason::NotAllowed));
    }
    let asked = wish(&kept, Wish::State, &kept.case.owner);
    assert_eq!(reason(kept.store.state(&asked, NOW)), Some(Reason::NoSuchGrant));
    for _ in 0..2 {
        let revoked = wish(&kept, Wish::Revoke, &kept.case.owner);
        let answer = kept.store.revoke(&revoked, NOW).unwrap();
        assert_eq!(answer, StateAnswer { opens: 0, is_revoked: true, was_never_held: true });
    }
    assert_eq!(reason(kept.store.put(&put(&late, 0), NOW)), Some(Reason::Revoked));
    let opened = wish(&kept, Wish::Open, &kept.case.reader);
    assert_eq!(reason(kept.store.open_share(&opened, NOW)), Some(Reason::NoSuchGrant));
    let asked = wish(&kept, Wish::State, &kept.case.owner);
    assert!(kept.store.state(&asked, NOW).unwrap().is_revoked);
    assert_eq!(kept.open(NOW), Ok(1), "the other one");
    assert!(kept.is_log_whole());
}

#[test]
fn what_a_first_start_left_half_made_is_made_again_or_said() {
    let case = Case::new();
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("p");
    let start = || Proxy::new(&place, case.owner.public.clone(), "127.0.0.1:0".parse().unwrap());
    drop(start().unwrap());
    for half in ["certificate.der", "grants.sqlite", "store.key"] {
        std::fs::remove_file(place.join(half)).unwrap();
    }
    drop(start().unwrap());
    for short in [&b""[..], &[1], &[1; 31]] {
        std::fs::write(place.join("store.key"), short).unwrap();
        let why = start().err().unwrap().to_string();
        assert!(why.contains("is no key of a proxy"), "{why}");
    }
    // Its hash is in grants by now.
    std::fs::remove_file(place.join("certificate.der")).unwrap();
    assert!(start().is_err());
    let keys = dir.path().join("k");
    let made = Identity::make(&keys, Role::Reader).unwrap();
    std::fs::remove_file(keys.join("public.json")).unwrap();
    assert!(Identity::is_half(&keys));
    assert_eq!(Identity::read_or_make(&keys, Role::Reader).unwrap().public, made.public);
    assert_eq!(PublicIdentity::read(&keys.join("public.json"), Role::Reader).unwrap(), made.public);
}

#[test]
fn only_the_reader_opens_and_each_request_once() {
    let mut kept = Kept::new(&terms(2, 3));
    let stranger = Identity::new(Role::Reader).unwrap();
    for who in [&stranger, &kept.case.owner] {
        let wish = kept.wish(Wish::Open, who);
        assert_eq!(reason(kept.store.open_share(&wish, NOW)), Some(Reason::NotAllowed));
    }
    let wish = kept.wish(Wish::Open, &kept.case.reader);
    assert_eq!(kept.store.open_share(&wish, NOW).unwrap().share.0, kept.new.shares[0]);
    assert_eq!(reason(kept.store.open_share(&wish, NOW)), Some(Reason::Challenge), "replayed");
    // A clock that goes forward and back.
    let later = kept.store.challenge(NOW + 300).unwrap();
    let id = kept.new.policy.id;
    let later = SignedWish::new(Wish::Open, id, later, &proxy(1).certificate, &kept.case.reader).unwrap();
    assert!(kept.store.open_share(&later, NOW + 300).is_ok());
    assert_eq!(reason(kept.store.open_share(&wish, NOW)), Some(Reason::Challenge), "replayed");
    // Made for another proxy, or for something else.
    let challenge = kept.store.challenge(NOW).unwrap();
    let for_other =
        SignedWish::new(Wish::Open, id, challenge, &proxy(2).certificate, &kept.case.reader).unwrap();
    assert_eq!(reason(kept.store.open_share(&for_other, NOW)), Some(Reason::NotAllowed));
    let state = kept.wish(Wish::State, &kept.case.owner);
    assert_eq!(reason(kept.store.revoke(&state, NOW)), Some(Reason::NotAllowed));
    let mut forged = kept.wish(Wish::Open, &kept.case.reader);
    forged.challenge.0[0] ^= 1;
    assert_eq!(reason(kept.store.open_share(&forged, NOW)), Some(Reason::Challenge));
    assert_eq!(kept.open(NOW), Ok(3), "what was refused was not counted");
    let wish = kept.wish(Wish::Open, &kept.case.reader);
    assert_eq!(reason(kept.store.open_share(&wish, NOW + 421 + 1)), Some(Reason::Challenge), "old");
}

#[test]
fn a_proxy_takes_only_what_its_owner_gave_to_it() {
    let mut kept = Kept::new(&terms(2, 3));
    assert!(kept.store.put(&put(&kept.new, 0), NOW).is_ok(), "the same again");
    assert_eq!(reason(kept.store.put(&put(&kept.new, 1), NOW)), Some(Reason::NotAllowed), "another's share");
    let foreign = Case::new().grant(&terms(2, 3));
    assert_eq!(reason(kept.store.put(&put(&foreign, 0), NOW)), Some(Reason::NotAllowed), "another owner");
    let mut elsewhere = terms(1, 1);
    elsewhere.proxies = vec![proxy(9)];
    let new = kept.case.grant(&elsewhere);
    assert_eq!(reason(kept.store.put(&put(&new, 0), NOW)), Some(Reason::NotAllowed), "another proxy");
    assert_eq!(kept.open(NOW), Ok(1));
}

#[test]
fn an_edited_file_grants_nothing_and_an_edited_log_is_seen() {
    for (sql, expected) in [
        (
            "UPDATE grants SET policy = replace(CAST(policy AS TEXT), '\"max_opens\":3', '\"max_opens\":9')",
            Reason::Internal,
        ),
        ("UPDATE grants SET share = zeroblob(109)", Reason::Internal),
    ] {
        let mut kept = Kept::new(&terms(2, 3));
        let file = rusqlite::Connection::open(kept.dir.path().join("grants.sqlite")).unwrap();
        // STRICT wants a BLOB.
        let sql = sql.replace("replace(", "CAST(replace(").replace("9')", "9') AS BLOB)");
        assert_eq!(file.execute(&sql, []).unwrap(), 1);
        assert_eq!(kept.open(NOW), Err(expected), "{sql}");
        assert!(kept.is_log_whole());
        file.execute("UPDATE audit SET unix_s = unix_s + 1 WHERE number = 1", []).unwrap();
        assert!(!kept.is_log_whole());
    }
}

#[test]
fn a_database_from_an_older_backup_is_told_by_its_mark_and_by_the_owner() {
    let case = Case::new();
    let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (mark, place) = (elsewhere.path().join("mark"), dir.path().join("p"));
    let backup = elsewhere.path().join("backup");
    let new = |mark: &std::path::Path| {
        Proxy::new(&place, case.owner.public.clone(), "127.0.0.1:0".parse().unwrap())
            .unwrap()
            .marked(mark, &place)
    };
    assert!(
        new(&place.join("mark")).err().unwrap().to_string().contains("lies in the directory"),
        "beside it"
    );
    let running = Running::of(new(&mark).unwrap());
    let terms = Terms {
        until_unix_s: now_unix_s() + 1000,
        max_opens: 1,
        need: 1,
        proxies: vec![running.url.clone()],
    };
    let grant = case.grant(&terms);
    client::put(&running.url, &grant.signed, &grant.shares[0]).unwrap();
    let heard = |url: &ProxyUrl| {
        let mut lines = Vec::new();
        let followed = audit::follow(dir.path(), url, &case.owner, &mut |line| lines.push(line.wish.clone()));
        (followed.unwrap().unwrap(), lines)
    };
    std::fs::copy(place.join("grants.sqlite"), &backup).unwrap();
    client::open(&running.url, grant.policy.id, &case.reader).unwrap();
    let (seen, lines) = heard(&running.url);
    assert_eq!(
        (seen.lines, seen.new_lines, &seen.faults, lines),
        (2, 2, &vec![], vec!["grant".into(), "open".into()])
    );
    let (_, certificate) = (running.url.clone(), running.url.certificate);
    drop(running);
    std::fs::copy(&backup, place.join("grants.sqlite")).unwrap();
    let why = new(&mark).err().unwrap().to_string();
    assert!(why.contains("line 2 of it was seen") && why.contains("older backup"), "{why}");
    // Without the mark it starts, and the owner sees it.
    let again = Running::of(new(&elsewhere.path().join("another")).unwrap());
    assert_eq!(again.url.certificate, certificate);
    let (seen, _) = heard(&again.url);
    assert!(seen.faults.len() == 1 && seen.faults[0].contains("line 2 was seen"), "{seen:?}");
    // It counts again; the line it now has in place of the old one is another.
    client::state(&again.url, grant.policy.id, &case.owner).unwrap();
    let (mut seen, _) = heard(&again.url);
    assert!(seen.faults.len() == 1 && seen.faults[0].contains("another than it was"), "{seen:?}");
    seen.faults.clear();
    seen.count(grant.policy.id, 0, 1);
    assert!(seen.faults.is_empty(), "opened while it was read: {seen:?}");
    seen.count(grant.policy.id, 1, 1);
    assert!(
        seen.faults[0].contains("counts 1 opens") && seen.faults[0].contains("its log has 0"),
        "{seen:?}"
    );
    // What its owner has revoked is not held.
    assert_eq!(audit::revoked_unix_s(dir.path(), &grant.policy.id).unwrap(), None);
    audit::note_revoked(dir.path(), &grant.policy.id).unwrap();
    let at = audit::revoked_unix_s(dir.path(), &grant.policy.id).unwrap();
    let state = |is_revoked, was_never_held| StateAnswer { opens: 0, is_revoked, was_never_held };
    let said =
        |state: Option<&StateAnswer>| match audit::forgotten(dir.path(), &again.url, &grant.policy, state)
            .unwrap()
        {
            None => String::new(),
            Some(Doubt::Contradicted(why)) => format!("contradicted: {why}"),
            Some(Doubt::NotKnown(why)) => format!("not known: {why}"),
        };
    assert!(at.is_some() && said(Some(&state(true, false))).is_empty());
    assert!(said(Some(&state(false, false))).starts_with("contradicted: it holds grant"));
    // Without a note a revocation is not counted on.
    assert!(said(None).is_empty());
    let told = said(Some(&state(true, true)));
    assert!(told.starts_with("not known: ") && told.contains("not noted"), "{told}");
    std::fs::create_dir(dir.path().join("taken")).unwrap();
    let note = |word: &str| {
        let taken = format!("{} yes\n{} {word}\n", proxy(1).certificate.hex(), again.url.certificate.hex());
        std::fs::write(dir.path().join("taken").join(grant.policy.id.hex()), taken).unwrap();
    };
    // Whoever has never said that it holds it may have never had it.
    for word in ["no", "unknown"] {
        note(word);
        assert!(said(None).is_empty() && said(Some(&state(true, true))).is_empty(), "{word}");
    }
    note("yes");
    for state in [None, Some(&state(true, true))] {
        let told = said(state);
        assert!(told.starts_with("contradicted: ") && told.contains("which it had taken"), "{told}");
    }
}

#[test]
fn the_log_is_the_owners_alone_and_metrics_are_for_prometheus() {
    use std::io::{Read, Write};
    let case = Case::new();
    let running = Running::start(&case.owner.public);
    let other = Identity::new(Role::Owner).unwrap();
    let refused = client::audit(&running.url, 0, &other);
    assert!(
        matches!(&refused, Err(Failure::Refused(refusal)) if refusal.reason == Reason::NotAllowed),
        "{refused:?}"
    );
    assert_eq!(client::audit(&running.url, 0, &case.owner).unwrap().lines, []);
    let mut builder = openssl::ssl::SslConnector::builder(openssl::ssl::SslMethod::tls_client()).unwrap();
    builder.set_verify(openssl::ssl::SslVerifyMode::NONE);
    let config = builder.build().configure().unwrap().verify_hostname(false);
    let tcp = std::net::TcpStream::connect((running.url.host.as_str(), running.url.port)).unwrap();
    let mut stream = config.connect("x", tcp).unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let text = String::from_utf8_lossy(&answer);
    for line in ["sealion_share_grants 0", "sealion_share_refused_total{reason=\"not_allowed\"} 1"] {
        assert!(text.lines().any(|one| one == line), "{line}: {text}");
    }
}

#[test]
fn the_api_is_as_its_file_says() {
    let text = include_str!("../../../../docs/src/reference/share-proxy.openapi.json");
    let api: serde_json::Value = serde_json::from_str(text).unwrap();
    let source = include_str!("../../src/proxy/serve.rs");
    let routes: std::collections::BTreeSet<String> = source
        .lines()
        .filter_map(|line| line.trim().strip_prefix(".route(\"")?.split_once("\", "))
        .map(|(path, method)| format!("{} {path}", method.split('(').next().unwrap()))
        .collect();
    let paths = api["paths"].as_object().unwrap().iter();
    let told = paths.flat_map(|(path, methods)| {
        methods.as_object().unwrap().keys().map(move |method| format!("{method} {path}"))
    });
    assert_eq!(told.collect::<std::collections::BTreeSet<_>>(), routes);
    let reasons = &api["components"]["schemas"]["Refusal"]["properties"]["reason"]["enum"];
    for reason in [
        Reason::NotAllowed,
        Reason::Challenge,
        Reason::NoSuchGrant,
        Reason::Revoked,
        Reason::Expired,
        Reason::UsedUp,
        Reason::Conflict,
        Reason::Busy,
        Reason::BadRequest,
        Reason::Internal,
    ] {
        assert_eq!(serde_json::to_value(reason).unwrap(), reason.name());
        assert!(reasons.as_array().unwrap().contains(&reason.name().into()), "{reason:?}");
    }
}

/// A proxy that answers until it is dropped.
struct Running {
    url: ProxyUrl,
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
    dir: tempfile::TempDir,
}

impl Running {
    fn start(owner: &PublicIdentity) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let proxy = Proxy::new(&dir.path().join("p"), owner.clone(), "127.0.0.1:0".parse().unwrap()).unwrap();
        let mut running = Self::of(proxy);
        running.dir = dir;
        running
    }

    /// Its directory is the caller's.
    fn of(proxy: Proxy) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (url, stop) = (proxy.url().parse().unwrap(), Arc::new(AtomicBool::new(false)));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            proxy.run(move || stopped.load(Ordering::Relaxed)).unwrap();
        });
        Self { url, stop, thread: Some(thread), dir }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(std::thread::JoinHandle::join);
    }
}

#[test]
fn fifty_readers_at_once_get_exactly_as_many_shares_as_were_granted() {
    let case = Case::new();
    let proxy = Running::start(&case.owner.public);
    let terms =
        Terms { until_unix_s: now_unix_s() + 1000, max_opens: 7, need: 1, proxies: vec![proxy.url.clone()] };
    let new = case.grant(&terms);
    client::put(&proxy.url, &new.signed, &new.shares[0]).unwrap();
    let answers: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..50).map(|_| scope.spawn(|| client::open(&proxy.url, new.policy.id, &case.reader))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let given = answers.iter().filter(|answer| answer.is_ok()).count();
    let is_used_up = |answer: &Result<_, Failure>| matches!(answer, Err(Failure::Refused(refusal)) if refusal.reason == Reason::UsedUp);
    assert_eq!((given, answers.iter().filter(|answer| is_used_up(answer)).count()), (7, 43), "{answers:?}");
    assert_eq!(client::state(&proxy.url, new.policy.id, &case.owner).unwrap().opens, 7);
}

#[test]
fn the_reader_hears_which_proxy_is_damaged_and_which_is_another() {
    let case = Case::new();
    let proxies = [0; 3].map(|_| Running::start(&case.owner.public));
    let mut terms = Terms {
        until_unix_s: now_unix_s() + 1000,
        max_opens: 9,
        need: 2,
        proxies: proxies.iter().map(|proxy| proxy.url.clone()).collect(),
    };
    // One of them is somebody else with another certificate.
    terms.proxies[2].certificate.0[0] ^= 1;
    let new = case.grant(&terms);
    let header = case
        .header
        .with_slot(share::header::Slot::HpkeShare(new.signed.clone()), &case.owner, &case.key)
        .unwrap();
    for (proxy, share) in proxies.iter().zip(&new.shares).take(2) {
        client::put(&proxy.url, &new.signed, share).unwrap();
    }
    let failed = client::put(&terms.proxies[2], &new.signed, &new.shares[2]);
    assert!(matches!(failed, Err(Failure::Misbehaved(_))), "{failed:?}");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.share");
    std::fs::write(&path, case.archive(&header, b"id\n1\n")).unwrap();
    let keys = dir.path().join("keys");
    std::fs::DirBuilder::new().mode(0o700).create(&keys).unwrap();
    let asked = |out: &str| {
        let out = dir.path().join(out);
        let request = OpenRequest {
            archive: &path,
            out: &out,
            reader: &case.reader,
            keys: &keys,
            owner: &case.owner.public,
            grant: None,
        };
        let mut heard = Vec::new();
        let opened = open(&request, &mut |answer| heard.push(answer.clone()));
        (opened.map(|_| std::fs::read(&out).unwrap()).map_err(|error| error.to_string()), heard)
    };
    assert_eq!(asked("one").0, Ok(b"id\n1\n".to_vec()));
    // In the second one's file the share of another grant takes the place of this one's.
    let file = rusqlite::Connection::open(proxies[1].dir.path().join("p/grants.sqlite")).unwrap();
    let other = case.grant(&Terms { proxies: vec![proxies[1].url.clone()], need: 1, ..terms.clone() });
    client::put(&proxies[1].url, &other.signed, &other.shares[0]).unwrap();
    let own: Vec<u8> = file
        .query_row("SELECT share FROM grants WHERE id = ?1", [&new.policy.id.0[..]], |row| row.get(0))
        .unwrap();
    let swapped = file
        .execute(
            "UPDATE grants SET share = (SELECT share FROM grants WHERE id = ?2) WHERE id = ?1",
            [&new.policy.id.0[..], &other.policy.id.0[..]],
        )
        .unwrap();
    assert_eq!(swapped, 1);
    let (opened, heard) = asked("two");
    let why = opened.unwrap_err();
    assert!(why.contains("1 of 2 shares"), "{why}");
    assert!(heard[0].what.is_ok() && matches!(heard[1].what, Err(Failure::Refused(_))), "{heard:?}");
    assert!(matches!(heard[2].what, Err(Failure::Misbehaved(_))), "{heard:?}");
    assert!(!dir.path().join("two").exists() && !dir.path().join("two.part").exists());
    // What the first one gave was counted there, and serves the next time.
    let id = &new.policy.id.0[..];
    file.execute("UPDATE grants SET share = ?1 WHERE id = ?2", rusqlite::params![own, id]).unwrap();
    let (opened, heard) = asked("three");
    assert_eq!((opened, heard.len()), (Ok(b"id\n1\n".to_vec()), 1), "{heard:?}");
    assert!(heard[0].url == proxies[1].url && heard[0].what.is_ok(), "{heard:?}");
    assert_eq!(std::fs::read_dir(keys.join("given")).unwrap().count(), 0);
}

#[test]
fn who_says_nothing_or_too_much_keeps_nobody_waiting() {
    use std::io::{Read, Write};
    let case = Case::new();
    let proxy = Running::start(&case.owner.public);
    let address = (proxy.url.host.as_str(), proxy.url.port);
    // From another address than the owner's: an address by itself has fewer places.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let silent: Vec<_> = (0..300)
        .map(|_| {
            let socket = tokio::net::TcpSocket::new_v4().unwrap();
            socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
            let to = std::net::SocketAddr::new(proxy.url.host.parse().unwrap(), proxy.url.port);
            runtime
                .block_on(async {
                    let _guard = runtime.enter();
                    socket.connect(to).await
                })
                .unwrap()
        })
        .collect();
    let unknown = client::state(&proxy.url, case.grant(&terms(1, 1)).policy.id, &case.owner);
    assert!(
        matches!(&unknown, Err(Failure::Refused(refusal)) if refusal.reason == Reason::NoSuchGrant),
        "{unknown:?}"
    );
    drop(silent);
    let mut builder = openssl::ssl::SslConnector::builder(openssl::ssl::SslMethod::tls_client()).unwrap();
    builder.set_verify(openssl::ssl::SslVerifyMode::NONE);
    let config = builder.build().configure().unwrap().verify_hostname(false);
    let mut stream = config.connect("x", std::net::TcpStream::connect(address).unwrap()).unwrap();
    let head = "POST /v1/open HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n";
    write!(stream, "{head}Content-Length: 9999999\r\n\r\n").unwrap();
    // It may be gone before all of it was sent.
    let _ = stream.write_all(&vec![b' '; 200_000]);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let text = String::from_utf8_lossy(&answer);
    assert!(answer.is_empty() || text.starts_with("HTTP/1.1 400"), "{text}");
}

/// Puts a share into a proxy's file as the proxy itself would: with its key it can give whatever it likes.
fn lie(proxy: &Running, id: &[u8], share: &[u8]) {
    use chacha20poly1305::aead::{Aead, KeyInit, Payload};
    let dir = proxy.dir.path().join("p");
    let mut key = [0; 32];
    hkdf::Hkdf::<sha2::Sha256>::new(
        Some(&proxy.url.certificate.0),
        &std::fs::read(dir.join("store.key")).unwrap(),
    )
    .expand(b"sealion share v1 shares of a proxy", &mut key)
    .unwrap();
    let sealed = chacha20poly1305::ChaCha20Poly1305::new(&key.into())
        .encrypt(&[7; 12].into(), Payload { msg: share, aad: id })
        .unwrap();
    let file = rusqlite::Connection::open(dir.join("grants.sqlite")).unwrap();
    let changed = file.execute(
        "UPDATE grants SET share = ?1 WHERE id = ?2",
        rusqlite::params![[&[7; 12][..], &sealed].concat(), id],
    );
    assert_eq!(changed.unwrap(), 1);
}

#[test]
fn the_reader_names_the_proxy_that_lies_and_opens_with_the_others() {
    let case = Case::new();
    let proxies = [0; 3].map(|_| Running::start(&case.owner.public));
    let terms = Terms {
        until_unix_s: now_unix_s() + 1000,
        max_opens: 9,
        need: 2,
        proxies: proxies.iter().map(|proxy| proxy.url.clone()).collect(),
    };
    let (new, earlier) = (case.grant(&terms), case.grant(&terms));
    let slot = share::header::Slot::HpkeShare(new.signed.clone());
    let header = case.header.with_slot(slot, &case.owner, &case.key).unwrap();
    for (proxy, share) in proxies.iter().zip(&new.shares) {
        client::put(&proxy.url, &new.signed, share).unwrap();
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.share");
    std::fs::write(&path, case.archive(&header, b"id\n1\n")).unwrap();
    let keys = dir.path().join("keys");
    std::fs::DirBuilder::new().mode(0o700).create(&keys).unwrap();
    // Of another grant, of another proxy, and noise.
    for (number, share) in [&earlier.shares[0], &new.shares[1], &vec![1; 81]].into_iter().enumerate() {
        lie(&proxies[0], &new.policy.id.0, share);
        let out = dir.path().join(number.to_string());
        let request = OpenRequest {
            archive: &path,
            out: &out,
            reader: &case.reader,
            keys: &keys,
            owner: &case.owner.public,
            grant: None,
        };
        let mut heard = Vec::new();
        open(&request, &mut |answer| heard.push(answer.what.clone())).unwrap();
        assert!(
            matches!(&heard[0], Err(Failure::Misbehaved(why)) if why.contains("another share")),
            "{heard:?}"
        );
        assert!(heard.len() == 3 && heard[1].is_ok() && heard[2].is_ok(), "{heard:?}");
        assert_eq!(std::fs::read(&out).unwrap(), b"id\n1\n");
    }
}
