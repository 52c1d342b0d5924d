//! A series of archives, its writer, its owner, its reader, and proxies on loopback.
#![allow(clippy::unwrap_used)]

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use share::client::Failure;
use share::grant::{Policy, ProxyUrl, SignedGrant, Terms};
use share::header::Slot;
use share::keys::{Identity, PublicIdentity, Role};
use share::proxy::protocol::Reason;
use share::proxy::serve::Proxy;
use share::{archive, client, now_unix_s};
use share_umbral::scope::{Receiver, Scope, Signed, UmbralSlot};
use share_umbral::series::{self, Answer};
use share_umbral::umbral::Umbral;

/// A proxy that answers until it is dropped.
struct Running {
    url: ProxyUrl,
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
    _dir: tempfile::TempDir,
}

impl Running {
    fn start(owner: &PublicIdentity, reencrypts: bool) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let proxy = Proxy::new(&dir.path().join("p"), owner.clone(), "127.0.0.1:0".parse().unwrap()).unwrap();
        let proxy = if reencrypts { proxy.reencrypting(Arc::new(Umbral)) } else { proxy };
        let (url, stop) = (proxy.url().parse().unwrap(), Arc::new(AtomicBool::new(false)));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || proxy.run(move || stopped.load(Ordering::Relaxed)).unwrap());
        Self { url, stop, thread: Some(thread), _dir: dir }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(std::thread::JoinHandle::join);
    }
}

struct Case {
    dir: tempfile::TempDir,
    owner: Identity,
    writer: Identity,
    reader: Identity,
    scope: Scope,
    signed: Signed,
}

const ROWS: &[u8] = b"INSERT INTO orders VALUES (1);\n";

impl Case {
    fn new() -> Self {
        let owner = Identity::new(Role::Owner).unwrap();
        let writer = Identity::new(Role::Owner).unwrap();
        let reader = Identity::new(Role::Reader).unwrap();
        let (scope, signed) = Scope::new("orders/2026-11", &owner, &writer.public).unwrap();
        let dir = tempfile::tempdir().unwrap();
        std::fs::DirBuilder::new().mode(0o700).create(dir.path().join("own")).unwrap();
        Self { dir, owner, writer, reader, scope, signed }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(
        &self,
        owner: &PublicIdentity,
        signed: &Signed,
        name: &str,
        path: &Path,
    ) -> Result<u64, share::ShareError> {
        series::create((&self.writer, owner), signed, name, &mut &ROWS[..], path)
    }

    fn archive(&self, name: &str, signed: &Signed) -> PathBuf {
        let path = self.path(name);
        self.write(&self.owner.public, signed, name, &path).unwrap();
        path
    }

    fn grant(&self, reader: &Identity, proxies: &[&Running], max_opens: u32) -> (Policy, SignedGrant) {
        let (receiver, signed) = Receiver::new(reader).unwrap();
        assert_eq!(Receiver::of(&signed).unwrap(), receiver);
        let terms = Terms {
            until_unix_s: now_unix_s() + 1000,
            max_opens,
            need: 2,
            proxies: proxies.iter().map(|proxy| proxy.url.clone()).collect(),
        };
        let granted = series::grant(&self.path("own"), &self.owner, &self.scope, &receiver, &terms);
        let (policy, signed, answers) = granted.unwrap();
        assert!(answers.iter().all(|(_, answer)| answer.is_ok()), "{answers:?}");
        (policy, signed)
    }

    /// What it holds, or why not; and what each proxy said.
    fn open(
        &self,
        archive: &Path,
        grant: &SignedGrant,
        reader: &Identity,
    ) -> (Result<Vec<u8>, String>, Vec<Answer>) {
        let out = self.path("opened");
        let _ = std::fs::remove_file(&out);
        let mut heard = Vec::new();
        let opened = series::open(
            archive,
            grant,
            &self.owner.public,
            (reader, &self.path("own")),
            &out,
            &mut |answer| {
                heard.push(answer.clone());
            },
        );
        let opened = opened.map(|_| std::fs::read(&out).unwrap()).map_err(|error| error.to_string());
        assert_eq!(opened.is_ok(), out.exists(), "nothing is left of what was refused");
        (opened, heard)
    }
}

#[test]
fn a_reader_opens_what_comes_after_the_grant_and_the_writer_opens_nothing() {
    let case = Case::new();
    let proxies = [0; 3].map(|_| Running::start(&case.owner.public, true));
    let first = case.archive("first", &case.signed);
    let (policy, grant) = case.grant(&case.reader, &proxies.each_ref(), 3);
    let later = case.archive("later", &case.signed);
    for path in [&first, &later] {
        let (opened, heard) = case.open(path, &grant, &case.reader);
        assert_eq!(opened.unwrap(), ROWS);
        assert_eq!(heard.len(), 2, "two of three are enough: {heard:?}");
    }
    // The owner needs nobody.
    series::open_own(&later, &case.owner, &case.path("own-copy")).unwrap();
    assert_eq!(std::fs::read(case.path("own-copy")).unwrap(), ROWS);
    // The writer has signed them, and has no way in.
    let (_, header) = archive::begin(&later).unwrap();
    header.is_by(&case.writer.public).unwrap();
    assert!(header.key_of_owner(&case.writer).is_err());
    assert!(series::open_own(&later, &case.writer, &case.path("no")).is_err());
    // What counts are archives.
    assert_eq!(case.open(&first, &grant, &case.reader).0.unwrap(), ROWS);
    let (opened, heard) = case.open(&first, &grant, &case.reader);
    assert!(opened.unwrap_err().contains("used up"), "{heard:?}");
    assert!(heard[2].1.is_ok(), "the third one was asked for nothing before: {heard:?}");
    for proxy in &proxies {
        let state = client::state(&proxy.url, policy.id, &case.owner).unwrap();
        assert!(state.opens <= 3, "{state:?}");
        client::revoke(&proxy.url, policy.id, &case.owner).unwrap();
    }
    assert!(case.open(&later, &grant, &case.reader).0.unwrap_err().contains("has revoked this grant"));
}

#[test]
fn another_reader_another_scope_another_writer_and_another_header_are_refused() {
    let case = Case::new();
    let proxies = [0; 3].map(|_| Running::start(&case.owner.public, true));
    let (_, grant) = case.grant(&case.reader, &proxies.each_ref(), 9);
    let path = case.archive("a", &case.signed);
    let stranger = Identity::new(Role::Reader).unwrap();
    assert!(case.open(&path, &grant, &stranger).0.unwrap_err().contains("another reader's"));
    // Of another writer it is another scope, though it is called so.
    let (changed, _) = Scope::new("orders/2026-11", &case.owner, &stranger.public).unwrap();
    assert_ne!(changed.delegating, case.scope.delegating);
    for label in ["", "a b", "a\u{202e}b", " a", "a\nb", &"x".repeat(256)] {
        assert!(Scope::new(label, &case.owner, &case.writer.public).is_err(), "{label:?}");
    }
    // The next period has keys of its own.
    let (next, signed) = Scope::new("orders/2026-12", &case.owner, &case.writer.public).unwrap();
    assert_ne!(next.delegating, case.scope.delegating);
    let of_next = case.archive("next", &signed);
    let (opened, heard) = case.open(&of_next, &grant, &case.reader);
    assert!(opened.unwrap_err().contains("not for archives of orders/2026-12") && heard.is_empty());
    // A scope that somebody else has signed, for a name of ours.
    let other = Identity::new(Role::Owner).unwrap();
    let (_, forged) = Scope::new("orders/2026-11", &other, &case.writer.public).unwrap();
    let of_other = case.path("forged");
    assert!(
        case.write(&case.owner.public, &forged, "x", &of_other).is_err(),
        "it would open for the other one"
    );
    case.write(&other.public, &forged, "x", &of_other).unwrap();
    assert!(case.open(&of_other, &grant, &case.reader).0.unwrap_err().contains("of no scope of that owner"));
    // Who is not its writer writes nothing, and nobody takes what was written all the same.
    let impostor = Identity::new(Role::Owner).unwrap();
    let out = case.path("impostor");
    let why =
        series::create((&impostor, &case.owner.public), &case.signed, "x", &mut &ROWS[..], &out).unwrap_err();
    assert!(why.to_string().contains("its writer is") && !out.exists(), "{why}");
    // The slot of one archive in the header of another.
    let (_, header) = archive::begin(&path).unwrap();
    let slot = UmbralSlot::of(&header.slots[0]).unwrap();
    let key = share::DataKey::new().unwrap();
    let what = (share::header::BYTES, "moved");
    let moved = share::header::Header::by_writer(what, 1, &case.writer, &key, &|_| Ok(vec![slot.to_slot()?]))
        .unwrap();
    let spliced = case.path("moved");
    share::owner::write(&moved, &key, &spliced, &mut |put| put(ROWS)).unwrap();
    assert!(case.open(&spliced, &grant, &case.reader).0.unwrap_err().contains("made for another header"));
    // Any flipped byte of the file, or a piece that is missing.
    let whole = std::fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(37) {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        let broken = case.path("broken");
        std::fs::write(&broken, &damaged).unwrap();
        assert!(series::open_own(&broken, &case.owner, &case.path("none")).is_err(), "byte {at}");
    }
    let cut = case.path("cut");
    std::fs::write(&cut, &whole[..whole.len() - 1]).unwrap();
    assert!(case.open(&cut, &grant, &case.reader).0.is_err());
}

#[test]
fn a_proxy_takes_only_fragments_of_its_owner_and_one_that_does_not_reencrypt_takes_none() {
    let case = Case::new();
    let proxies = [true, true, false].map(|reencrypts| Running::start(&case.owner.public, reencrypts));
    let (receiver, _) = Receiver::new(&case.reader).unwrap();
    let terms =
        |proxies: Vec<ProxyUrl>| Terms { until_unix_s: now_unix_s() + 1000, max_opens: 9, need: 2, proxies };
    let all = proxies.iter().map(|proxy| proxy.url.clone()).collect();
    let granted = series::grant(&case.path("own"), &case.owner, &case.scope, &receiver, &terms(all)).unwrap();
    let (policy, _, answers) = &granted;
    let last = &answers[2].1;
    assert!(
        matches!(last, Err(Failure::Refused(refusal)) if refusal.reason == Reason::NotAllowed && refusal.text.contains("does not re-encrypt")),
        "{last:?}"
    );
    // Fragments for another reader, in a grant for this one.
    let stranger = Identity::new(Role::Reader).unwrap();
    let (other, _) = Receiver::new(&stranger).unwrap();
    let keys =
        share_umbral::umbral::ScopeKeys::of(&case.owner, &case.scope.label, &case.scope.writer).unwrap();
    let fragments = keys.fragments(&other.receiving.0, 2, 2).unwrap();
    let two = terms(proxies.iter().take(2).map(|proxy| proxy.url.clone()).collect());
    let mut wrong = policy.clone();
    wrong.id = share::b64::Fixed([7; 16]);
    wrong.proxies = two.places(&fragments);
    let refused = share::owner::grant_scope(&case.path("own"), &case.owner, &wrong, &fragments);
    assert!(refused.unwrap_err().to_string().contains("not of this owner, scope and reader"));
}

#[test]
fn a_lying_proxy_is_named_and_the_others_open() {
    let case = Case::new();
    let proxies = [0; 3].map(|_| Running::start(&case.owner.public, true));
    let (policy, grant) = case.grant(&case.reader, &proxies.each_ref(), 9);
    let [one, other] = ["one", "other"].map(|name| case.archive(name, &case.signed));
    let slot = |path: &Path| UmbralSlot::of(&archive::begin(path).unwrap().1.slots[0]).unwrap();
    // What is right for the one archive is a lie for the other.
    let capsules = [slot(&other).capsule.0];
    let answer = client::reencrypt(&proxies[0].url, policy.id, &case.reader, &capsules).unwrap();
    let terms = policy.scope.as_ref().unwrap();
    let of =
        |path: &Path| share_umbral::umbral::checked(terms, &slot(path).capsule.0, &answer.fragments[0].0);
    assert!(of(&other).is_ok());
    assert!(of(&one).unwrap_err().contains("not of this archive"));
    for damaged in [&[][..], &[1, 2, 3], &answer.fragments[0].0[1..]] {
        assert!(share_umbral::umbral::checked(terms, &slot(&one).capsule.0, damaged).is_err());
    }
    // As many as are asked for, and none of another request.
    let none = client::reencrypt(&proxies[0].url, policy.id, &case.reader, &[]);
    assert!(matches!(none, Err(Failure::Refused(_))), "{none:?}");
    let noise = client::reencrypt(&proxies[0].url, policy.id, &case.reader, &[vec![1; 105]]);
    assert!(
        matches!(&noise, Err(Failure::Refused(refusal)) if refusal.reason == Reason::BadRequest),
        "{noise:?}"
    );
    assert_eq!(client::state(&proxies[0].url, policy.id, &case.owner).unwrap().opens, 1, "noise is no open");
    assert_eq!(case.open(&one, &grant, &case.reader).0.unwrap(), ROWS);
}

#[test]
fn a_fragment_that_was_counted_is_not_lost_when_the_others_are_away() {
    let case = Case::new();
    let [one, other] = [0; 2].map(|_| Running::start(&case.owner.public, true));
    let (policy, grant) = case.grant(&case.reader, &[&one, &other], 1);
    let path = case.archive("a", &case.signed);
    let away = other.url.clone();
    drop(other);
    let (opened, heard) = case.open(&path, &grant, &case.reader);
    let why = opened.unwrap_err();
    assert!(why.contains("1 of 2 fragments") && why.contains("kept beside your keys"), "{why}");
    assert!(heard[0].1.is_ok() && heard[1].0 == away, "{heard:?}");
    // It gave all that it may, and is not asked again.
    let (_, heard) = case.open(&path, &grant, &case.reader);
    assert_eq!(heard.len(), 1, "{heard:?}");
    assert_eq!(client::state(&one.url, policy.id, &case.owner).unwrap().opens, 1);
    // What cannot be written is said before anybody counts.
    let nowhere = case.path("nowhere/out");
    let keys = case.path("own");
    let asked = series::open(&path, &grant, &case.owner.public, (&case.reader, &keys), &nowhere, &mut |_| {
        panic!("nobody is asked")
    });
    assert!(asked.is_err());
}

#[test]
fn each_archive_is_a_line_of_the_log() {
    let case = Case::new();
    let proxies = [0; 2].map(|_| Running::start(&case.owner.public, true));
    let (policy, _) = case.grant(&case.reader, &proxies.each_ref(), 9);
    let slot = |name: &str| {
        let (_, header) = archive::begin(&case.archive(name, &case.signed)).unwrap();
        UmbralSlot::of(&header.slots[0]).unwrap().capsule.0
    };
    let capsules = [slot("a"), slot("b"), slot("c")];
    let url = &proxies[0].url;
    assert_eq!(client::reencrypt(url, policy.id, &case.reader, &capsules).unwrap().opens, 3);
    let mut seen = share::audit::follow(&case.path("own"), url, &case.owner, &mut |_| {}).unwrap().unwrap();
    seen.count(policy.id, 3, 3);
    assert!(seen.faults.is_empty(), "{seen:?}");
}

/// Made once by `SEALION_WRITE_VECTORS=1`, and read ever since.
#[test]
fn the_slot_of_the_vectors_opens() {
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    if std::env::var_os("SEALION_WRITE_VECTORS").is_some() {
        std::fs::create_dir_all(&vectors).unwrap();
        let keys = vectors.join("owner");
        let owner = Identity::make(&keys, Role::Owner).unwrap();
        let writer = Identity::new(Role::Owner).unwrap();
        let (_, signed) = Scope::new("vectors/1", &owner, &writer.public).unwrap();
        let path = vectors.join("vectors.share");
        series::create((&writer, &owner.public), &signed, "vectors", &mut &ROWS[..], &path).unwrap();
    }
    let kept = tempfile::tempdir().unwrap();
    let keys = kept.path().join("owner");
    std::fs::DirBuilder::new().mode(0o700).create(&keys).unwrap();
    // A clone has other modes.
    let secret = std::fs::read(vectors.join("owner/secret.json")).unwrap();
    share::files::write_new(&keys.join("secret.json"), &secret, share::files::PRIVATE).unwrap();
    let owner = Identity::read(&keys, Role::Owner).unwrap();
    let out = kept.path().join("out");
    let opened = series::open_own(&vectors.join("vectors.share"), &owner, &out).unwrap();
    assert_eq!((opened.table.as_str(), std::fs::read(&out).unwrap()), ("vectors", ROWS.to_vec()));
    let (_, header) = archive::begin(&vectors.join("vectors.share")).unwrap();
    assert!(matches!(&header.slots[0], Slot::Unknown(value) if value["kind"] == "umbral"));
}

/// `sealion` is under other licences than what this crate links.
#[test]
fn no_other_crate_of_the_workspace_depends_on_this_one() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut seen = 0;
    for entry in std::fs::read_dir(crates).unwrap() {
        let entry = entry.unwrap();
        let Ok(manifest) = std::fs::read_to_string(entry.path().join("Cargo.toml")) else { continue };
        seen += 1;
        let is_named = manifest.contains("share-umbral") || manifest.contains("umbral-pre");
        assert_eq!(is_named, entry.file_name() == "share-umbral", "{:?}", entry.path());
    }
    assert!(seen > 30, "{seen}");
}
