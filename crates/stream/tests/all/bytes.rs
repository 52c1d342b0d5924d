//! What programs write, to whoever shall have it.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use secrecy::SecretSlice;
use stream::archive::{CreateOptions, KeyFile, Keys, Packing, Place, Seal, extract};
use stream::xbstream::{Algorithm, Decryption, encrypt};
use stream::{Code, Command, Compress, From, Identity, Into, Layers, Progress, SendOptions, StreamError};

use tar::EntryType as Kind;

use super::{Ends, between, code, random, receiving, sending, source, tree};

fn program(bytes: Vec<u8>) -> From {
    From::Bytes { read: Box::new(io::Cursor::new(bytes)), ended_well: Box::new(|| Ok(())) }
}

fn copied(from: From, into: Into, with: impl FnOnce(SendOptions) -> SendOptions) -> Ends {
    let (text, identity) = code();
    let sender = Identity::Code(Code::parse(&text).unwrap());
    between(|to| with(sending(from, to)), receiving(into), &identity, sender, |_| ())
}

/// Keeps what was written.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn bytes_arrive_in_order_compressed_or_not() {
    let text = "a line that is like the next one\n".repeat(600_000).into_bytes();
    for (bytes, compress) in [
        (random(30_000_001), Compress::None),
        (random(30_000_001), Compress::Zstd),
        (text.clone(), Compress::Zstd),
        (text, Compress::Auto),
        (vec![], Compress::Auto),
    ] {
        let kept = Kept::default();
        let into = Into::Writer(Box::new(kept.clone()));
        let ends = copied(program(bytes.clone()), into, |options| SendOptions {
            compress,
            connections: 3,
            // On the way, too.
            renew_bytes: 4 << 20,
            ..options
        });
        let (sent, received) = (ends.sent.unwrap(), ends.received.unwrap());
        assert_eq!((sent.data_bytes, received.data_bytes), (bytes.len() as u64, bytes.len() as u64));
        assert!(*kept.0.lock().unwrap() == bytes, "{compress:?}");
    }
}

#[test]
fn a_program_that_fails_at_either_end_is_told_at_both() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    let bytes = random(9_000_000);
    let command = |text: String| Into::Command(Command(text));
    let ends = copied(program(bytes.clone()), command(format!("cat > {}", out.display())), |options| options);
    assert_eq!(ends.sent.unwrap().data_bytes, ends.received.unwrap().data_bytes);
    assert!(fs::read(&out).unwrap() == bytes);

    for fails in ["exit 3", "head -c 100 > /dev/null; exit 3", "cat > /dev/null; exit 3"] {
        let ends = copied(program(bytes.clone()), command(fails.into()), |options| options);
        let told = ends.received.unwrap_err().to_string();
        assert!(told.contains("the input of") || told.contains("the program that reads"), "{fails}: {told}");
        assert!(matches!(ends.sent, Err(StreamError::Peer { .. })), "{fails}: {:?}", ends.sent);
    }

    // The program that writes fails behind its last byte: who reads must not take that for the end.
    let failed = StreamError::Source {
        what: "mariabackup".into(),
        why: "it ended with 1".into(),
        next: "see its log".into(),
    };
    let from =
        From::Bytes { read: Box::new(io::Cursor::new(bytes)), ended_well: Box::new(move || Err(failed)) };
    let marker = place.path().join("ended");
    let ends =
        copied(from, command(format!("cat > /dev/null; touch {}", marker.display())), |options| options);
    assert!(ends.sent.unwrap_err().to_string().contains("it ended with 1"));
    let told = ends.received.unwrap_err().to_string();
    assert!(told.contains("it ended with 1"), "{told}");
    assert!(!marker.exists(), "it has seen an end");
}

fn tar(from: &Path) -> From {
    let mut child = std::process::Command::new("tar")
        .args(["cf", "-", "-C"])
        .arg(from)
        .arg(".")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let read = Box::new(child.stdout.take().unwrap());
    From::Bytes {
        read,
        ended_well: Box::new(move || {
            assert!(child.wait().unwrap().success());
            Ok(())
        }),
    }
}

#[test]
fn a_tar_and_a_backup_stream_become_directories_and_nothing_else_does() {
    let place = tempfile::tempdir().unwrap();
    let from = place.path().join("from");
    source(&from);
    fs::remove_file(from.join("mysql.sock")).unwrap();
    let into = place.path().join("of_tar");
    let ends = copied(tar(&from), Into::directory(into.clone()), |options| options);
    ends.sent.unwrap();
    ends.received.unwrap();
    let (there, here) = (tree(&from), tree(&into));
    assert_eq!(there.keys().collect::<Vec<_>>(), here.keys().collect::<Vec<_>>());
    for (path, was) in &there {
        // A tar has whole seconds.
        let (kind, mode, mtime_s, _, content) = &here[path];
        assert!((kind, mode, content) == (&was.0, &was.1, &was.4), "{}", path.display());
        assert_eq!(*mtime_s, was.2, "{}", path.display());
    }

    let mut stream = Vec::new();
    let chunks = [(&b"db/t.ibd"[..], random(100_000)), (b"xtrabackup_info", b"info".to_vec())];
    for (path, payload) in &chunks {
        formats::xbstream::write_payload_head(&mut stream, path, 0, payload);
        stream.extend_from_slice(payload);
        formats::xbstream::write_end(&mut stream, path);
    }
    let into = place.path().join("of_xbstream");
    copied(program(stream), Into::directory(into.clone()), |options| options).received.unwrap();
    assert!(fs::read(into.join("db/t.ibd")).unwrap() == chunks[0].1);
    assert!(!into.join(".sealion-incomplete").exists());

    let ends =
        copied(program(random(5000)), Into::directory(place.path().join("of_noise")), |options| options);
    assert!(ends.received.unwrap_err().to_string().contains("neither a tar nor a stream"));
    let Err(StreamError::Peer { why, .. }) = ends.sent else { panic!("{:?}", ends.sent) };
    assert!(why.contains("neither a tar nor a stream"), "{why}");
}

#[test]
fn layers_of_a_backup_stream_are_taken_off_while_it_comes_and_of_nothing_else() {
    let place = tempfile::tempdir().unwrap();
    let key = || SecretSlice::from(b"0123456789abcdef0123456789abcdef".to_vec());
    let layers = || Layers {
        decryption: Some(Decryption::new(Algorithm::Aes256, key()).unwrap()),
        decompresses: true,
    };
    let plain = [random(3 << 20), vec![7; 3 << 20]].concat();
    let packed = zstd::bulk::compress(&plain, 1).unwrap();
    let mut encrypted = Vec::new();
    let encryption = layers().decryption.unwrap();
    encrypt(&packed[..], &mut encrypted, &encryption, &Progress::default()).unwrap();
    let mut stream = Vec::new();
    let path = b"db/t.ibd.zst.xbcrypt";
    formats::xbstream::write_payload_head(&mut stream, path, 0, &encrypted);
    stream.extend_from_slice(&encrypted);
    formats::xbstream::write_end(&mut stream, path);
    let root = place.path().join("of_stream");
    let into = Into::Directory { root: root.clone(), layers: layers() };
    copied(program(stream), into, |options| options).received.unwrap();
    assert!(fs::read(root.join("db/t.ibd")).unwrap() == plain);
    assert_eq!(fs::read_dir(root.join("db")).unwrap().count(), 1);

    let from = place.path().join("from");
    fs::create_dir(&from).unwrap();
    fs::write(from.join("t.ibd.zst"), b"as it is").unwrap();
    for (name, sent) in [("a tar", tar(&from)), ("a directory", From::Directory(from.clone()))] {
        let into = Into::Directory { root: place.path().join(name), layers: layers() };
        let ends = copied(sent, into, |options| options);
        let told = ends.received.unwrap_err().to_string();
        assert!(told.contains(&format!("the sender sends {name}")), "{told}");
        assert!(ends.sent.unwrap_err().to_string().contains(name));
    }
}

#[test]
fn a_tar_that_leads_out_writes_nothing_outside() {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("outside")).unwrap();
    let header = |kind: Kind, path: &str, target: &str, content: &[u8]| {
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(kind);
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(1);
        let bytes = header.as_mut_bytes();
        bytes[..path.len()].copy_from_slice(path.as_bytes());
        bytes[157..157 + target.len()].copy_from_slice(target.as_bytes());
        header.set_cksum();
        let mut padded = content.to_vec();
        padded.resize(content.len().next_multiple_of(512), 0);
        [header.as_bytes().as_slice(), &padded].concat()
    };
    let end = vec![0; 1024];
    let cases: [(&str, Vec<Vec<u8>>); 6] = [
        ("parent", vec![header(Kind::Regular, "../outside/a", "", b"x")]),
        ("absolute", vec![header(Kind::Regular, &format!("{}/outside/a", place.path().display()), "", b"x")]),
        ("link", vec![header(Kind::Symlink, "l", "../outside", b""), header(Kind::Regular, "l/a", "", b"x")]),
        (
            "inside",
            vec![header(Kind::Symlink, "l", "d", b""), header(Kind::Regular, "l/../../outside/a", "", b"x")],
        ),
        ("hard", vec![header(Kind::Link, "h", "../outside/a", b"")]),
        ("device", vec![header(Kind::Char, "dev", "", b"")]),
    ];
    for (name, parts) in cases {
        let into = place.path().join(name);
        let bytes = [parts.concat(), end.clone()].concat();
        let ends = copied(program(bytes), Into::directory(into.clone()), |options| options);
        assert!(ends.received.is_err() && ends.sent.is_err(), "{name}");
        assert_eq!(fs::read_dir(place.path().join("outside")).unwrap().count(), 0, "{name}");
        assert!(into.join(".sealion-incomplete").exists(), "{name}");
    }
    // A tar that is cut says so.
    let whole = header(Kind::Regular, "a", "", &random(100_000));
    let ends =
        copied(program(whole[..60_000].to_vec()), Into::directory(place.path().join("cut")), |options| {
            options
        });
    assert!(ends.received.is_err(), "a cut tar");
    // Between two members as well, and what stands behind its end is not passed over.
    let (one, other) = (header(Kind::Regular, "a", "", b"x"), header(Kind::Regular, "b", "", b"y"));
    let block = vec![0; 512];
    let member = [one.clone(), other.clone()].concat();
    let sparse = "28 GNU.sparse.realname=a.ibd\n";
    for (name, bytes, is_whole) in [
        ("whole", [&one[..], &end].concat(), true),
        ("record", [&one[..], &end, &[0; 8192]].concat(), true),
        ("between", one.clone(), false),
        ("one block", [&one[..], &block].concat(), false),
        ("one block and more", [&one[..], &block, &other].concat(), false),
        ("two tars", [&one[..], &end, &other, &end].concat(), false),
        ("noise", [&member[..], &end, &random(700)].concat(), false),
        ("sparse", [&header(Kind::XHeader, "x", "", sparse.as_bytes())[..], &one, &end].concat(), false),
    ] {
        let into = place.path().join(name);
        let ends = copied(program(bytes), Into::directory(into.clone()), |options| options);
        assert_eq!((ends.received.is_ok(), ends.sent.is_ok()), (is_whole, is_whole), "{name}");
        assert_eq!(into.join(".sealion-incomplete").exists(), !is_whole, "{name}");
    }
}

/// Says nothing, for ever; and counts how often it was asked.
struct Silent(Arc<Mutex<u32>>);

impl io::Read for Silent {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        *self.0.lock().unwrap() += 1;
        std::thread::sleep(std::time::Duration::from_millis(1));
        Err(io::ErrorKind::WouldBlock.into())
    }
}

#[test]
fn a_program_that_says_nothing_hides_from_nobody_that_the_other_end_has_gone() {
    let asked = Arc::new(Mutex::new(0));
    let from = From::Bytes { read: Box::new(Silent(Arc::clone(&asked))), ended_well: Box::new(|| Ok(())) };
    let (text, identity) = code();
    let sender = Identity::Code(Code::parse(&text).unwrap());
    let kept = Into::Writer(Box::new(Kept::default()));
    let ends = between(
        |to| SendOptions { connections: 2, ..sending(from, to) },
        receiving(kept),
        &identity,
        sender,
        |receiver| {
            while *asked.lock().unwrap() < 20 {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            receiver.stop();
        },
    );
    assert!(ends.sent.is_err() && ends.received.is_err());
}

#[test]
fn a_program_that_does_not_read_or_does_not_end_is_ended_with_the_copy() {
    for command in ["sleep 1000", "cat > /dev/null; sleep 1000"] {
        let (text, identity) = code();
        let sender = Identity::Code(Code::parse(&text).unwrap());
        let into = Into::Command(Command(command.into()));
        let bytes = if command.starts_with("cat") { 1000 } else { 90_000_000 };
        let ends = between(
            |to| sending(program(vec![7; bytes]), to),
            receiving(into),
            &identity,
            sender,
            |receiver| {
                while receiver.done_bytes() == 0 {
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
                receiver.stop();
            },
        );
        assert!(ends.sent.is_err() && ends.received.is_err(), "{command}");
    }
}

#[test]
fn a_copy_becomes_an_archive_without_lying_on_the_disk_in_between() {
    let place = tempfile::tempdir().unwrap();
    let (from, key) = (place.path().join("from"), place.path().join("key"));
    source(&from);
    fs::remove_file(from.join("mysql.sock")).unwrap();
    fs::write(&key, "7".repeat(64)).unwrap();
    fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let options = || {
        let seal = Seal::new(&[], Some(KeyFile::read(&key).unwrap())).unwrap();
        CreateOptions { seal, aead: None, packing: Packing::Zstd }
    };
    let keys = || Keys::new(None, Some(KeyFile::read(&key).unwrap())).unwrap();
    let path: PathBuf = place.path().join("tree.archive");
    let into = Into::Archive { path: path.clone(), options: options() };
    let sent = From::Directory(from.clone());
    let ends =
        copied(sent, into, |options| SendOptions { connections: 4, compress: Compress::Zstd, ..options });
    assert_eq!(ends.sent.unwrap().files, ends.received.unwrap().files);
    let extracted = place.path().join("extracted");
    let open = fs::File::open(&path).unwrap();
    extract(open, &path, &keys(), Place::Directory(&extracted), &Progress::default()).unwrap();
    assert!(tree(&from) == tree(&extracted));

    let (path, bytes) = (place.path().join("bytes.archive"), random(20_000_000));
    let into = Into::Archive { path: path.clone(), options: options() };
    copied(program(bytes.clone()), into, |options| options).received.unwrap();
    let mut out = Vec::new();
    let open = fs::File::open(&path).unwrap();
    extract(open, &path, &keys(), Place::Writer(&mut out), &Progress::default()).unwrap();
    assert!(out == bytes);

    // A sender that fails leaves none.
    let failed =
        From::Bytes { read: Box::new(io::Cursor::new(bytes).chain(Broken)), ended_well: Box::new(|| Ok(())) };
    let path = place.path().join("none.archive");
    let into = Into::Archive { path: path.clone(), options: options() };
    assert!(copied(failed, into, |options| options).received.is_err());
    assert!(!path.exists());
}

struct Broken;

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("the disk is gone"))
    }
}
