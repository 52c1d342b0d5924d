//! Copies that are cut off and gone on with, until the trees are the same.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use stream::{Code, From, Identity, Into, Progress, ReceiveOptions, Receiver, Summary};

use super::{Ends, between, code, receiving, sending, source, tree};

/// A line that is cut when so many bytes have passed.
struct Line {
    address: SocketAddr,
}

fn pass(mut from: TcpStream, mut to: TcpStream, left: &AtomicI64) {
    let mut room = vec![0; 64 << 10];
    while let Ok(count @ 1..) = from.read(&mut room) {
        if left.fetch_sub(i64::try_from(count).unwrap(), Ordering::Relaxed) < 0
            || to.write_all(&room[..count]).is_err()
        {
            break;
        }
    }
    let _ = from.shutdown(std::net::Shutdown::Both);
    let _ = to.shutdown(std::net::Shutdown::Both);
}

impl Line {
    fn new(to: SocketAddr, bytes: i64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let left: &'static AtomicI64 = Box::leak(Box::new(AtomicI64::new(bytes)));
        // It ends with the process: a test's own address, which nobody else knows.
        std::thread::spawn(move || {
            for one in listener.incoming() {
                let (Ok(one), Ok(other)) = (one, TcpStream::connect(to)) else { continue };
                let (back, forth) = (other.try_clone().unwrap(), one.try_clone().unwrap());
                std::thread::spawn(move || pass(one, other, left));
                std::thread::spawn(move || pass(back, forth, left));
            }
        });
        Self { address }
    }
}

/// One attempt over a line that ends after so many bytes.
fn attempt(from: &Path, into: &Path, resumes: bool, bytes: i64) -> Ends {
    let (text, identity) = code();
    let sender = Identity::Code(Code::parse(&text).unwrap());
    let receive = ReceiveOptions { resumes, ..receiving(Into::directory(into.to_owned())) };
    let from = From::Directory(from.to_owned());
    let send = |to: String| sending(from, Line::new(to.parse().unwrap(), bytes).address.to_string());
    between(send, receive, &identity, sender, |_| ())
}

#[test]
fn a_copy_that_was_cut_off_anywhere_is_gone_on_with() {
    let place = tempfile::tempdir().unwrap();
    let from = place.path().join("from");
    source(&from);
    fs::remove_file(from.join("mysql.sock")).unwrap();
    let there = tree(&from);
    let seed = fastrand::u64(..);
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut attempts = 0;
    for round in 0..4 {
        let into = place.path().join(format!("into{round}"));
        let mut all: Option<Summary> = None;
        let mut is_begun = false;
        for number in 0.. {
            assert!(number < 40, "seed {seed}: no end");
            attempts += 1;
            // Each gets a little further; the last ones are not cut.
            let bytes = if number > 20 { i64::MAX } else { rng.i64(5_000..12_000_000) };
            let ends = attempt(&from, &into, is_begun, bytes);
            is_begun = into.join(".sealion-incomplete").exists();
            match (&ends.sent, &ends.received) {
                (_, Ok(summary)) => {
                    // The last word may have been cut off: then the receiver has all of it, and the sender does not know.
                    all = Some(summary.clone());
                    break;
                }
                (sent, Err(_)) => assert!(sent.is_err(), "seed {seed}: {sent:?}"),
            }
            if !is_begun {
                // It was cut off before a file was announced.
                assert_eq!(fs::read_dir(&into).unwrap().count(), 0, "seed {seed}");
            }
        }
        let all = all.unwrap();
        assert_eq!(
            (all.files, all.size_bytes),
            (205, there.values().filter(|one| one.0 == "file").map(|one| one.4.len() as u64).sum())
        );
        let here = tree(&into);
        assert_eq!(there.keys().collect::<Vec<_>>(), here.keys().collect::<Vec<_>>(), "seed {seed}");
        for (path, was) in &there {
            assert!(here[path] == *was, "seed {seed}: {} is another one", path.display());
        }
        let blocks =
            std::os::unix::fs::MetadataExt::blocks(&fs::metadata(into.join("db/sparse.ibd")).unwrap());
        assert!(blocks * 512 < 32 << 20, "seed {seed}: a hole became {blocks} blocks");
    }
    println!("{attempts} attempts for 4 copies, seed {seed}");
}

#[test]
fn what_is_there_is_not_sent_again_and_what_is_wrong_there_is() {
    let place = tempfile::tempdir().unwrap();
    let (from, into) = (place.path().join("from"), place.path().join("into"));
    source(&from);
    fs::remove_file(from.join("mysql.sock")).unwrap();
    let first = attempt(&from, &into, false, i64::MAX);
    let data_bytes = first.received.unwrap().data_bytes;
    // As if it had ended right before its mark was taken, with one page written wrong, a piece lost, and bytes in a hole.
    fs::write(into.join(".sealion-incomplete"), "").unwrap();
    fs::set_permissions(into.join("ibdata1"), fs::Permissions::from_mode(0o600)).unwrap();
    let file = fs::OpenOptions::new().write(true).open(into.join("ibdata1")).unwrap();
    file.write_all_at(&[0xaa; 4096], 9 << 20).unwrap();
    fs::OpenOptions::new().write(true).open(into.join("db/t.ibd")).unwrap().set_len(100).unwrap();
    let sparse = fs::OpenOptions::new().write(true).open(into.join("db/sparse.ibd")).unwrap();
    sparse.write_all_at(b"stale", 3 << 20).unwrap();
    sparse.write_all_at(b"stale", (64 << 20) + 100).unwrap();
    let again = attempt(&from, &into, true, i64::MAX);
    let (sent, received) = (again.sent.unwrap(), again.received.unwrap());
    assert_eq!(sent.data_bytes, received.data_bytes);
    // A cell of ibdata1, t.ibd, two of the sparse file.
    assert!(received.data_bytes < 7 << 20, "{} of {data_bytes}", received.data_bytes);
    assert!(received.kept_bytes > 8 << 20, "{received:?}");
    assert!(tree(&from) == tree(&into));

    // What is nobody's is not removed.
    fs::write(into.join(".sealion-incomplete"), "").unwrap();
    fs::write(into.join("db/stranger"), "").unwrap();
    let told = attempt(&from, &into, true, i64::MAX);
    for end in [&told.sent, &told.received] {
        let told = end.as_ref().unwrap_err().to_string();
        assert!(told.contains("db/stranger lies there"), "{told}");
    }
    // A copy that has ended is not resumed.
    fs::remove_file(into.join(".sealion-incomplete")).unwrap();
    let receive = ReceiveOptions { resumes: true, ..receiving(Into::directory(into)) };
    let refused = Receiver::new(receive, &code().1).err().unwrap().to_string();
    assert!(refused.contains("a copy that was received there has ended"), "{refused}");
}

#[test]
fn a_sender_that_does_not_read_what_it_announced_is_found_out() {
    // Bytes that change on the way to the disk: a cell of the receiver is not what the sender has read.
    let place = tempfile::tempdir().unwrap();
    let (from, into) = (place.path().join("from"), place.path().join("into"));
    fs::create_dir(&from).unwrap();
    fs::write(from.join("a"), vec![7; 40 << 20]).unwrap();
    let (text, identity) = code();
    let receive = receiving(Into::directory(into.clone()));
    let directory = From::Directory(from.clone());
    let slow = |to| stream::SendOptions { bytes_per_s_max: Some(20 << 20), ..sending(directory, to) };
    let sender = Identity::Code(Code::parse(&text).unwrap());
    let ends = between(slow, receive, &identity, sender, |progress: &Progress| {
        while progress.done_bytes() < 4 << 20 {
            std::thread::sleep(Duration::from_millis(1));
        }
        // Its time is set back, as nobody can set the time of its change.
        let file = fs::OpenOptions::new().write(true).open(from.join("a")).unwrap();
        let when = file.metadata().unwrap().modified().unwrap();
        file.write_all_at(b"x", 39 << 20).unwrap();
        file.set_modified(when).unwrap();
    });
    let told = ends.sent.unwrap_err().to_string();
    assert!(told.contains("it changed while"), "{told}");
    assert!(ends.received.is_err() && into.join(".sealion-incomplete").exists());
    let _ = io::stdout().flush();
}
