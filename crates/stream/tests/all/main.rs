//! Copies of real directories over loopback.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod archive;
mod bytes;
mod resume;
mod xbstream;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use secrecy::SecretString;
use stream::{
    Code, Compress, From, Identity, Into, Progress, ReceiveOptions, Receiver, SendOptions, StreamError,
    Summary,
};

struct Ends {
    sent: Result<Summary, StreamError>,
    received: Result<Summary, StreamError>,
    turned_away: Vec<String>,
}

fn code() -> (SecretString, Identity) {
    let code = Code::new().unwrap();
    (code.text(), Identity::Code(code))
}

fn copy(from: &Path, into: &Path, connections: u16) -> Ends {
    let (text, identity) = code();
    copy_as(from, into, connections, &identity, Identity::Code(Code::parse(&text).unwrap()), |_| ())
}

fn copy_as(
    from: &Path,
    into: &Path,
    connections: u16,
    of_receiver: &Identity,
    of_sender: Identity,
    meanwhile: impl FnOnce(&Progress),
) -> Ends {
    let directory = From::Directory(from.to_owned());
    let into = Into::directory(into.to_owned());
    let options = |to| SendOptions { connections, ..sending(directory, to) };
    between(options, receiving(into), of_receiver, of_sender, meanwhile)
}

fn sending(from: From, to: String) -> SendOptions {
    let (cipher_suites, bytes_per_s_max) = (None, None);
    let renew_bytes = stream::RENEW_BYTES;
    SendOptions {
        from,
        to,
        connections: 2,
        cipher_suites,
        compress: Compress::Auto,
        bytes_per_s_max,
        renew_bytes,
    }
}

fn receiving(into: Into) -> ReceiveOptions {
    ReceiveOptions { into, listen: "127.0.0.1:0".parse().unwrap(), resumes: false }
}

fn between(
    send: impl FnOnce(String) -> SendOptions,
    receive: ReceiveOptions,
    of_receiver: &Identity,
    of_sender: Identity,
    meanwhile: impl FnOnce(&Progress),
) -> Ends {
    let receiver = Receiver::new(receive, of_receiver).unwrap();
    let options = send(receiver.address().unwrap().to_string());
    let turned_away = Arc::new(Mutex::new(Vec::new()));
    let progress = Progress::default();
    std::thread::scope(|scope| {
        let (turned, progress) = (Arc::clone(&turned_away), &progress);
        let thread = scope.spawn(move || {
            receiver.receive(progress, &|error| turned.lock().unwrap().push(error.to_string()))
        });
        let sending = scope.spawn(move || stream::send(options, &of_sender, &Progress::default()));
        meanwhile(progress);
        let sent = sending.join().unwrap();
        if sent.is_err() {
            progress.stop();
        }
        let received = thread.join().unwrap();
        Ends { sent, received, turned_away: turned_away.lock().unwrap().clone() }
    })
}

/// What a tree is, by path: what it is, its mode, its time, its content.
fn tree(root: &Path) -> BTreeMap<PathBuf, (String, u32, i64, i64, Vec<u8>)> {
    let (mut all, mut open) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(directory) = open.pop() {
        for one in fs::read_dir(&directory).unwrap() {
            let path = one.unwrap().path();
            let about = fs::symlink_metadata(&path).unwrap();
            let (kind, content) = if about.is_dir() {
                open.push(path.clone());
                ("directory", vec![])
            } else if about.is_symlink() {
                ("link", fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes())
            } else {
                ("file", fs::read(&path).unwrap())
            };
            let mode = if kind == "link" { 0 } else { about.mode() & 0o7777 };
            let below = path.strip_prefix(root).unwrap().to_owned();
            all.insert(below, (kind.to_owned(), mode, about.mtime(), about.mtime_nsec(), content));
        }
    }
    all
}

fn random(bytes: usize) -> Vec<u8> {
    let mut rng = fastrand::Rng::with_seed(bytes as u64);
    let mut all = vec![0; bytes];
    rng.fill(&mut all);
    all
}

/// Like the data directory of a server, and with what else may lie in one.
fn source(root: &Path) {
    fs::create_dir_all(root.join("db/#innodb")).unwrap();
    fs::write(root.join("ibdata1"), random(12 << 20)).unwrap();
    fs::write(root.join("db/t.ibd"), random((3 << 20) + 7)).unwrap();
    fs::write(root.join("db/empty.frm"), "").unwrap();
    for at in 0..200 {
        fs::write(root.join(format!("db/t{at}.ibd")), random(at * 97)).unwrap();
    }
    let sparse = File::create(root.join("db/sparse.ibd")).unwrap();
    sparse.set_len(128 << 20).unwrap();
    sparse.write_all_at(b"in the middle", 64 << 20).unwrap();
    symlink("../ibdata1", root.join("db/link")).unwrap();
    fs::set_permissions(root.join("ibdata1"), fs::Permissions::from_mode(0o440)).unwrap();
    fs::create_dir(root.join("read-only")).unwrap();
    fs::write(root.join("read-only/file"), "x").unwrap();
    fs::set_permissions(root.join("read-only"), fs::Permissions::from_mode(0o555)).unwrap();
    fs::set_permissions(root, fs::Permissions::from_mode(0o2751)).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(root.join("mysql.sock")).unwrap();
}

#[test]
fn a_tree_arrives_as_it_is() {
    let place = tempfile::tempdir().unwrap();
    let from = place.path().join("from");
    source(&from);
    for connections in [1, 4] {
        let into = place.path().join(format!("into{connections}"));
        let root = fs::metadata(&from).unwrap();
        let announced_root = (0o751, root.mtime(), root.mtime_nsec());
        let ends = copy(&from, &into, connections);
        let (sent, received) = (ends.sent.unwrap(), ends.received.unwrap());
        assert_eq!((sent.files, sent.directories, sent.links, sent.connections), (205, 3, 1, connections));
        assert_eq!(sent.left_out, [PathBuf::from("mysql.sock")]);
        assert_eq!(
            (received.files, received.data_bytes, received.size_bytes),
            (205, sent.data_bytes, sent.size_bytes)
        );
        assert_eq!((received.tls_version.as_str(), &received.cipher_suite), ("TLSv1.3", &sent.cipher_suite));
        assert!(sent.size_bytes > 128 << 20 && sent.data_bytes < 32 << 20, "holes do not travel: {sent:?}");
        fs::remove_file(from.join("mysql.sock")).ok();
        let (there, here) = (tree(&from), tree(&into));
        let root = fs::metadata(&into).unwrap();
        assert_eq!(
            (root.mode() & 0o7777, root.mtime(), root.mtime_nsec()),
            announced_root,
            "set-ID bits are not kept"
        );
        assert_eq!(there.keys().collect::<Vec<_>>(), here.keys().collect::<Vec<_>>());
        for (path, was) in &there {
            assert!(here[path] == *was, "{} is another one", path.display());
        }
        let blocks = fs::metadata(into.join("db/sparse.ibd")).unwrap().blocks();
        assert!(blocks * 512 < 32 << 20, "a hole became {blocks} blocks");
        std::os::unix::net::UnixListener::bind(from.join("mysql.sock")).unwrap();
    }
}

#[test]
fn nobody_else_is_let_in_and_nothing_else_is_believed() {
    let place = tempfile::tempdir().unwrap();
    let from = place.path().join("from");
    fs::create_dir(&from).unwrap();
    fs::write(from.join("a"), "secret").unwrap();
    let ends = copy_as(&from, &place.path().join("into"), 2, &code().1, code().1, |_| ());
    assert!(
        matches!(&ends.sent, Err(StreamError::Identity { why, .. }) if why.contains("the code is another one")),
        "{:?}",
        ends.sent
    );
    assert!(matches!(ends.received, Err(StreamError::Stopped)), "{:?}", ends.received);
    assert_eq!(ends.turned_away.len(), 1, "{:?}", ends.turned_away);
    assert_eq!(fs::read_dir(place.path().join("into")).unwrap().count(), 0);
}

#[test]
fn what_cannot_be_sent_is_told_and_a_copy_that_did_not_end_is_marked() {
    let place = tempfile::tempdir().unwrap();
    let from = place.path().join("from");
    fs::create_dir(&from).unwrap();
    symlink("/etc/passwd", from.join("link")).unwrap();
    let ends = copy(&from, &place.path().join("into"), 1);
    assert!(
        matches!(&ends.sent, Err(StreamError::Source { why, .. }) if why.contains("leads out")),
        "{:?}",
        ends.sent
    );

    fs::remove_file(from.join("link")).unwrap();
    fs::write(from.join("a"), vec![7; 200 << 20]).unwrap();
    let (text, identity) = code();
    let into = place.path().join("half");
    let sender = Identity::Code(Code::parse(&text).unwrap());
    let ends = copy_as(&from, &into, 2, &identity, sender, |progress| {
        while progress.done_bytes() == 0 {
            std::thread::yield_now();
        }
        // It grows while it is read.
        fs::OpenOptions::new().append(true).open(from.join("a")).unwrap().set_len(201 << 20).unwrap();
    });
    let told = |end: &Result<Summary, StreamError>| end.as_ref().unwrap_err().to_string();
    assert!(told(&ends.sent).contains("it changed while"), "{}", told(&ends.sent));
    assert!(
        told(&ends.received).contains("gave up") && told(&ends.received).contains("it changed while"),
        "{}",
        told(&ends.received)
    );
    assert!(into.join(".sealion-incomplete").exists());

    // What is made or removed meanwhile is in no list.
    // Who is about to open it sees that it is gone.
    for (what, says) in [("made", ["was made"; 2]), ("gone", ["was removed", "No such file"])] {
        fs::write(from.join("gone"), "x").unwrap();
        let (text, identity) = code();
        let sender = Identity::Code(Code::parse(&text).unwrap());
        let ends = copy_as(&from, &place.path().join(what), 2, &identity, sender, |progress| {
            while progress.done_bytes() == 0 {
                std::thread::yield_now();
            }
            if what == "made" {
                fs::write(from.join("made"), "y")
            } else {
                fs::remove_file(from.join("gone"))
            }
            .unwrap();
        });
        for end in [&ends.sent, &ends.received] {
            let told = told(end);
            assert!(told.contains(what) && says.iter().any(|words| told.contains(words)), "{told}");
        }
    }
    let refused = Receiver::new(receiving(Into::directory(into)), &code().1).err().unwrap().to_string();
    assert!(refused.contains("a copy that did not end lies there"), "{refused}");
}

#[test]
fn no_key_encrypts_more_than_it_may_and_the_copy_is_the_same() {
    let place = tempfile::tempdir().unwrap();
    let from = place.path().join("from");
    fs::create_dir(&from).unwrap();
    fs::write(from.join("large.ibd"), random(21 << 20)).unwrap();
    fs::write(from.join("other.ibd"), random((5 << 20) + 77)).unwrap();
    fs::write(from.join("small.frm"), b"small").unwrap();
    for (connections, renew_bytes) in [(1, 3 << 20), (3, 2 << 20), (2, 1)] {
        let into = place.path().join(format!("into{connections}"));
        let (text, identity) = code();
        let options = |to| {
            let compress = Compress::None;
            SendOptions { connections, renew_bytes, compress, ..sending(From::Directory(from.clone()), to) }
        };
        let of_sender = Identity::Code(Code::parse(&text).unwrap());
        let ends = between(options, receiving(Into::directory(into.clone())), &identity, of_sender, |_| ());
        let (sent, received) = (ends.sent.unwrap(), ends.received.unwrap());
        assert!(tree(&from) == tree(&into), "{connections}");
        assert_eq!(sent.renewed, received.renewed, "{connections}");
        // A connection may have its last cell behind the limit, and no connection more than a cell beyond it.
        let cells = if renew_bytes == 1 { 1 } else { renew_bytes / (1 << 20) + 1 };
        let least = (26_u64).div_ceil(cells).saturating_sub(u64::from(connections));
        assert!(sent.renewed >= least && sent.renewed <= 28, "{connections}: {} renewed", sent.renewed);
    }
}
