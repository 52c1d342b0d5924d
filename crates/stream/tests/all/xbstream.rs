//! Streams of backup tools, as they should be and as they should not. Encrypted ones are written here from the
//! description of the format (no XtraBackup is at hand), with the program `openssl` for AES, which is another than
//! the library that reads them.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use formats::xbstream::{write_end, write_payload_head};
use secrecy::SecretSlice;
use stream::xbstream::{
    Algorithm, Decryption, ExtractOptions, Extracted, create, decrypt, encrypt, extract, list, unwrap,
};
use stream::{Progress, StreamError};

const MARK: &str = ".sealion-incomplete";

fn piece(out: &mut Vec<u8>, path: &str, offset: u64, bytes: &[u8]) {
    write_payload_head(out, path.as_bytes(), offset, bytes);
    out.extend(bytes);
}

fn whole(out: &mut Vec<u8>, path: &str, bytes: &[u8]) {
    if !bytes.is_empty() {
        piece(out, path, 0, bytes);
    }
    write_end(out, path.as_bytes());
}

struct Done {
    _dir: tempfile::TempDir,
    root: PathBuf,
    result: Result<Extracted, StreamError>,
}

fn run(stream: &[u8], options: impl FnOnce(&mut ExtractOptions)) -> Done {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("new");
    let mut all = ExtractOptions {
        into: root.clone(),
        decryption: None,
        decompresses: true,
        workers: 3,
        is_synced: false,
    };
    options(&mut all);
    let result = extract(stream, &all, &Progress::default());
    Done { _dir: dir, root, result }
}

fn tree(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut all, mut open) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                all.insert(path.strip_prefix(root).unwrap().to_owned(), std::fs::read(&path).unwrap());
            }
        }
    }
    all
}

/// It failed, says so about `what`, names the place, and the directory says that it is not whole.
#[track_caller]
fn fails(stream: &[u8], what: &str, why: &str) -> u64 {
    let done = run(stream, |_| {});
    let Err(StreamError::Content { what: subject, at_bytes, why: reason, .. }) = &done.result else {
        panic!("{:?}", done.result);
    };
    assert_eq!(subject, what, "{reason}");
    assert!(reason.contains(why), "{reason}");
    assert!(done.root.join(MARK).exists());
    let parent: Vec<_> = std::fs::read_dir(done.root.parent().unwrap()).unwrap().collect();
    assert_eq!(parent.len(), 1, "something lies beside the directory");
    *at_bytes
}

fn openssl(algorithm: &str, key: &[u8], iv: [u8; 16], plain: &[u8]) -> Vec<u8> {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    let mut child = Command::new("openssl")
        .args(["enc", algorithm, "-K", &hex(key), "-iv", &hex(&iv)])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program openssl is needed");
    let mut stdin = child.stdin.take().unwrap();
    let plain = plain.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(&plain).unwrap());
    let out = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(out.status.success());
    out.stdout
}

/// A file as XtraBackup encrypts it, with a chunk for each part.
fn xbcrypt(version: u8, algorithm: &str, key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let mut out = vec![];
    for (index, part) in parts.iter().enumerate() {
        // The counter runs over from its lower half.
        let mut iv = [0xff; 16];
        iv[0] = u8::try_from(index).unwrap();
        let (used, hash) = match version {
            b'3' => (iv, openssl::sha::sha256(part).to_vec()),
            _ => ([0; 16], vec![]),
        };
        let encrypted = openssl(algorithm, key, used, &[part, &hash[..]].concat());
        out.extend(b"XBCRYP0");
        out.push(version);
        out.extend([0; 8]);
        out.extend((encrypted.len() as u64).to_le_bytes());
        out.extend((encrypted.len() as u64).to_le_bytes());
        out.extend(crc32fast::hash(&encrypted).to_le_bytes());
        if version != b'1' {
            out.extend(16_u64.to_le_bytes());
            out.extend(iv);
        }
        out.extend(encrypted);
    }
    out
}

fn decryption(algorithm: Algorithm, key: &[u8]) -> Decryption {
    Decryption::new(algorithm, SecretSlice::from(key.to_vec())).unwrap()
}

fn zstd(plain: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(plain, ruzstd::encoding::CompressionLevel::Fastest)
}

#[test]
fn files_that_come_interleaved_are_placed_by_their_paths() {
    let long = vec![7; 3 << 20];
    let mut stream = vec![];
    piece(&mut stream, "a/b/one", 0, b"first ");
    piece(&mut stream, "two", 0, &long);
    piece(&mut stream, "a/b/one", 6, b"second");
    whole(&mut stream, "a/empty", b"");
    write_end(&mut stream, b"a/b/one");
    piece(&mut stream, "two", long.len() as u64, &long);
    write_end(&mut stream, b"two");
    let done = run(&stream, |_| {});
    let extracted = done.result.unwrap();
    assert_eq!((extracted.files, extracted.stream_bytes), (3, stream.len() as u64));
    let mut wanted = BTreeMap::new();
    wanted.insert(PathBuf::from("a/b/one"), b"first second".to_vec());
    wanted.insert(PathBuf::from("a/empty"), vec![]);
    wanted.insert(PathBuf::from("two"), [&long[..], &long].concat());
    assert_eq!(tree(&done.root), wanted);
    let mut listed = vec![];
    let count = list(&stream[..], &Progress::default(), &mut |file| listed.push(file.clone())).unwrap();
    assert_eq!((count, listed[2].path.as_str(), listed[2].stored_bytes), (3, "two", 6 << 20));
}

/// A compressed file of nothing has a frame; a file without any has lost it.
#[test]
fn nothing_at_all_is_no_compressed_file() {
    for (name, bytes, is_whole) in [
        ("a.zst", zstd(b""), true),
        ("b.zst", vec![], false),
        ("c.lz4", vec![], false),
        ("d.qp", vec![], false),
    ] {
        let mut stream = vec![];
        whole(&mut stream, name, &bytes);
        let done = run(&stream, |options| options.decompresses = true);
        assert_eq!(done.result.is_ok(), is_whole, "{name}: {:?}", done.result);
    }
}

#[test]
fn layers_are_taken_off_in_one_pass_however_the_chunks_are_cut() {
    let plain: Vec<u8> = (0..70_000_u32).flat_map(|n| (n / 9).to_le_bytes()).collect();
    let packed = [zstd(&plain[..100_000]), zstd(&plain[100_000..])].concat();
    for (algorithm, name, key) in [
        (Algorithm::Aes128, "-aes-128-ctr", &b"0123456789abcdef"[..]),
        (Algorithm::Aes192, "-aes-192-ctr", b"0123456789abcdef01234567"),
        (Algorithm::Aes256, "-aes-256-ctr", b"0123456789abcdef0123456789abcdef"),
    ] {
        for version in [b'1', b'2', b'3'] {
            let parts: Vec<&[u8]> = packed.chunks(5_000).collect();
            let sealed = xbcrypt(version, name, key, &parts);
            let mut stream = vec![];
            let mut offset = 0;
            for cut in sealed.chunks(777) {
                piece(&mut stream, "d/t.ibd.zst.xbcrypt", offset, cut);
                offset += cut.len() as u64;
            }
            write_end(&mut stream, b"d/t.ibd.zst.xbcrypt");
            whole(&mut stream, "plain", b"not encrypted");
            let done = run(&stream, |options| options.decryption = Some(decryption(algorithm, key)));
            let extracted = done.result.unwrap();
            assert_eq!((extracted.decrypted, extracted.not_encrypted), (1, 1));
            assert_eq!(tree(&done.root).get(Path::new("d/t.ibd")), Some(&plain));
            // Decrypted only.
            let done = run(&stream, |options| {
                options.decryption = Some(decryption(algorithm, key));
                options.decompresses = false;
            });
            assert_eq!(tree(&done.root).get(Path::new("d/t.ibd.zst")), Some(&packed));
            // As it is.
            let done = run(&stream, |options| options.decompresses = false);
            assert_eq!(tree(&done.root).get(Path::new("d/t.ibd.zst.xbcrypt")), Some(&sealed));
            // Another key: told by the hash, or by what is inside.
            let other = vec![b'x'; key.len()];
            let done = run(&stream, |options| options.decryption = Some(decryption(algorithm, &other)));
            let error = done.result.unwrap_err().to_string();
            assert!(error.contains(if version == b'3' { "hash" } else { "Zstandard" }), "{error}");
            fails(&stream, "d/t.ibd.zst.xbcrypt", "give --decrypt");
        }
    }
}

#[test]
fn a_key_that_does_not_fit_is_told_without_being_shown() {
    let key = b"0123456789abcdef0123456789abcdef\n".to_vec();
    let error = Decryption::new(Algorithm::Aes256, SecretSlice::from(key)).unwrap_err().to_string();
    assert!(error.contains("has 33 bytes") && error.contains("line feed"), "{error}");
    assert!(!error.contains("0123"), "{error}");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("key");
    std::fs::write(&file, [1; 32]).unwrap();
    let set = |mode| {
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        Decryption::from_file(Algorithm::Aes256, &file)
    };
    assert!(set(0o600).is_ok());
    assert!(set(0o640).unwrap_err().to_string().contains("others may read it (mode 640)"));
}

#[test]
fn nothing_is_written_outside_nor_through_a_link() {
    for path in ["/etc/x", "../x", "a/../../x", "./x", "a//x", "x/", "a\0b", ".."] {
        let mut stream = vec![];
        whole(&mut stream, path, b"x");
        assert_eq!(fails(&stream, &path.escape_debug().to_string(), "leads out"), 0);
    }
    // Nothing is left of the name, or what leads out.
    for path in [".qp", "a/.zst", "..zst", "...lz4"] {
        let mut stream = vec![];
        whole(&mut stream, path, b"x");
        fails(&stream, path, "nothing of its name is left");
    }
    // A file where a directory should be, and the other way round.
    for (first, second) in [("a", "a/b"), ("a/b", "a")] {
        let mut stream = vec![];
        whole(&mut stream, first, b"x");
        let begin = stream.len() as u64;
        whole(&mut stream, second, b"x");
        let done = run(&stream, |options| options.workers = 1);
        let error = done.result.unwrap_err();
        assert!(matches!(&error, StreamError::Content { at_bytes, .. } if *at_bytes == begin), "{error}");
    }
    // A link that somebody has put there meanwhile.
    let dir = tempfile::tempdir().unwrap();
    let (root, outside) = (dir.path().join("new"), dir.path().join("outside"));
    std::fs::create_dir(&outside).unwrap();
    let mut stream = vec![];
    whole(&mut stream, "a", b"x");
    let cut = stream.len();
    whole(&mut stream, "d/b", b"x");
    let read = Between { bytes: &stream, cut, root: &root, outside: &outside };
    let options = ExtractOptions {
        into: root.clone(),
        decryption: None,
        decompresses: false,
        workers: 1,
        is_synced: false,
    };
    let error = extract(read, &options, &Progress::default()).unwrap_err().to_string();
    assert!(error.starts_with("d/b, at byte"), "{error}");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
}

/// Puts a link into the directory when the reader is at a place.
struct Between<'b> {
    bytes: &'b [u8],
    cut: usize,
    root: &'b Path,
    outside: &'b Path,
}

impl std::io::Read for Between<'_> {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        if self.cut == 0 && !self.root.join("d").exists() {
            std::os::unix::fs::symlink(self.outside, self.root.join("d"))?;
        }
        let most = if self.cut > 0 { self.cut } else { self.bytes.len() };
        let (now, later) = self.bytes.split_at(most.min(room.len()));
        room[..now.len()].copy_from_slice(now);
        self.bytes = later;
        self.cut = self.cut.saturating_sub(now.len());
        Ok(now.len())
    }
}

#[test]
fn a_stream_that_is_cut_anywhere_is_never_taken_for_whole() {
    let mut stream = vec![];
    piece(&mut stream, "one", 0, b"abc");
    whole(&mut stream, "d/two.zst", &zstd(&[5; 400]));
    piece(&mut stream, "one", 3, b"def");
    write_end(&mut stream, b"one");
    assert!(run(&stream, |_| {}).result.is_ok());
    for end in 0..stream.len() {
        let done = run(&stream[..end], |_| {});
        assert!(matches!(done.result, Err(StreamError::Content { .. })), "{end}: {:?}", done.result);
        assert!(done.root.join(MARK).exists());
        assert!(list(&stream[..end], &Progress::default(), &mut |_| {}).is_err() || end == 0, "{end}");
    }
    // Between two chunks, where the format itself sees nothing.
    fails(&stream[..stream.len() - 17], "one", "the end of this file never came");
    fails(b"", "the stream", "empty");
}

#[test]
fn one_changed_bit_anywhere_is_found_or_changes_no_byte_of_a_file() {
    let mut stream = vec![];
    whole(&mut stream, "one", b"abcdef");
    whole(&mut stream, "two", b"ghi");
    let wanted = tree(&run(&stream, |_| {}).root);
    for at in 0..stream.len() {
        for bit in 0..8 {
            let mut other = stream.clone();
            other[at] ^= 1 << bit;
            let done = run(&other, |_| {});
            if done.result.is_ok() {
                // Names have no checksum, and flags of known types mean nothing: the bytes are those that were written.
                let found: Vec<_> = tree(&done.root).into_values().collect();
                assert_eq!(found.len(), wanted.len(), "byte {at}");
                assert!(wanted.values().all(|bytes| found.contains(bytes)), "byte {at}");
            }
        }
    }
}

#[test]
fn what_no_tool_writes_is_refused_with_its_place() {
    let mut twice = vec![];
    whole(&mut twice, "a", b"x");
    let begin = twice.len() as u64;
    write_end(&mut twice, b"a");
    // The first file is told where it is still open when the second end of it comes.
    let told = fails(&twice, "a", "there already");
    assert!(told == begin || told == 0, "{told}");

    // Two names of one file.
    let mut twice = vec![];
    whole(&mut twice, "a", b"x");
    whole(&mut twice, "a.zst", &zstd(b"y"));
    let done = run(&twice, |_| {});
    assert!(done.result.unwrap_err().to_string().contains("there already"));

    let mut marked = vec![];
    whole(&mut marked, MARK, b"x");
    fails(&marked, MARK, "there already");

    let mut gap = vec![];
    piece(&mut gap, "a", 0, b"x");
    let begin = gap.len() as u64;
    piece(&mut gap, "a", 5, b"x");
    write_end(&mut gap, b"a");
    assert_eq!(fails(&gap, "a", "for its byte 5 came where that for byte 1"), begin);

    let mut wrong = vec![];
    piece(&mut wrong, "a", 0, b"right");
    let last = wrong.len() - 1;
    wrong[last] ^= 1;
    write_end(&mut wrong, b"a");
    assert_eq!(fails(&wrong, "a", "CRC-32"), 0);

    let mut long = vec![];
    write_payload_head(&mut long, b"a", 0, b"");
    long[15..23].copy_from_slice(&(1_u64 << 40).to_le_bytes());
    fails(&long, "the stream", "1099511627776 bytes of payload");

    let mut many = vec![];
    for number in 0..300 {
        piece(&mut many, &format!("f{number}"), 0, b"x");
    }
    fails(&many, "f256", "256 files were begun");

    let mut unknown = vec![];
    whole(&mut unknown, "a", b"x");
    let at = unknown.len();
    piece(&mut unknown, "a", 0, b"later");
    unknown[at + 9] = b'Q';
    assert_eq!(fails(&unknown, "the stream", "unknown type"), at as u64);
    unknown[at + 8] = 1;
    assert!(run(&unknown, |_| {}).result.is_ok(), "it may be skipped");

    for (path, bytes) in
        [("a.qp", &b"qpress11"[..]), ("a.zst", b"(\xb5/\xfe...."), ("a.lz4", b"\x04\x22\x4d\x19...")]
    {
        let mut bad = vec![];
        whole(&mut bad, path, bytes);
        fails(&bad, path, "begins there");
    }
    let mut bomb = vec![];
    // A frame that asks for a window of 3.75 TiB.
    whole(&mut bomb, "a.zst", b"(\xb5/\xfd\x00\xff.......");
    fails(&bomb, "a.zst", "Zstandard");
}

#[test]
fn holes_stay_holes() {
    let mut map = vec![];
    for (skip, write) in [(1_u32 << 20, 3_u32), (5, 0)] {
        map.extend(skip.to_le_bytes());
        map.extend(write.to_le_bytes());
    }
    map.extend(b"abc");
    let mut stream = b"XBSTCK01\0S\x01\0\0\0a".to_vec();
    stream.extend(2_u32.to_le_bytes());
    stream.extend(3_u64.to_le_bytes());
    stream.extend(0_u64.to_le_bytes());
    stream.extend(crc32fast::hash(&map).to_le_bytes());
    stream.extend(&map);
    piece(&mut stream, "a", (1 << 20) + 8, b"z");
    write_end(&mut stream, b"a");
    let done = run(&stream, |_| {});
    done.result.unwrap();
    let bytes = tree(&done.root).remove(Path::new("a")).unwrap();
    assert_eq!(bytes.len(), (1 << 20) + 9);
    assert_eq!(&bytes[1 << 20..], b"abc\0\0\0\0\0z");
    assert!(bytes[..1 << 20].iter().all(|byte| *byte == 0));
}

#[test]
fn what_was_made_is_what_is_extracted() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("f");
    std::fs::write(&file, b"x").unwrap();
    let refused = create(&[file], &mut vec![], &Progress::default()).unwrap_err().to_string();
    assert!(refused.contains("relative paths"), "{refused}");
}

/// The program openssl decrypts what is encrypted here, chunk by chunk.
#[test]
fn a_stream_is_encrypted_as_the_tool_does_it_and_every_version_is_decrypted() {
    let plain: Vec<u8> = (0..200_001_u32).map(|at| at.to_le_bytes()[usize::from(at % 3 == 0)]).collect();
    for (algorithm, name) in [
        (Algorithm::Aes128, "-aes-128-ctr"),
        (Algorithm::Aes192, "-aes-192-ctr"),
        (Algorithm::Aes256, "-aes-256-ctr"),
    ] {
        let key = vec![0x5a; algorithm.key_bytes()];
        let ours = decryption(algorithm, &key);
        let mut sealed = Vec::new();
        let count = encrypt(plain.as_slice(), &mut sealed, &ours, &Progress::default()).unwrap();
        assert_eq!(count, sealed.len() as u64);
        let (mut rest, mut found, mut ivs) =
            (sealed.as_slice(), Vec::new(), std::collections::BTreeSet::new());
        while !rest.is_empty() {
            let formats::xbcrypt::Parsed::Head { head, bytes } = formats::xbcrypt::parse(rest).unwrap()
            else {
                panic!("a chunk is cut short");
            };
            assert_eq!(head.version, formats::xbcrypt::Version::Three);
            assert!(ivs.insert(head.iv), "an IV is used twice");
            let body = &rest[bytes..bytes + head.body_bytes];
            let opened = openssl(name, &key, head.iv, body);
            let (text, hash) = opened.split_at(opened.len() - 32);
            assert_eq!(hash, openssl::sha::sha256(text));
            found.extend_from_slice(text);
            rest = &rest[bytes + head.body_bytes..];
        }
        assert!(found == plain, "{name}");
        for (version, by) in [(b'1', &plain), (b'2', &plain), (b'3', &plain)] {
            let made = xbcrypt(version, name, &key, &by.chunks(70_000).collect::<Vec<_>>());
            let mut out = Vec::new();
            decrypt(made.as_slice(), &mut out, &ours, &Progress::default()).unwrap();
            assert!(out == plain, "version {version}");
            let cut = &made[..made.len() - 1];
            assert!(
                decrypt(cut, &mut Vec::new(), &ours, &Progress::default()).is_err(),
                "version {version}, cut"
            );
        }
        let other = decryption(algorithm, &vec![1; algorithm.key_bytes()]);
        let mut out = Vec::new();
        let said =
            decrypt(sealed.as_slice(), &mut out, &other, &Progress::default()).unwrap_err().to_string();
        assert!(said.contains("the key or the algorithm is another") && out.is_empty(), "{said}");
    }
}

#[test]
fn files_that_lie_on_the_disk_are_unwrapped_beside_themselves() {
    let place = tempfile::tempdir().unwrap();
    let plain = b"page ".repeat(40_000);
    let key = [0x5a; 32];
    let wrapped = xbcrypt(b'3', "-aes-256-ctr", &key, &zstd(&plain).chunks(5000).collect::<Vec<_>>());
    let file = place.path().join("t.ibd.zst.xbcrypt");
    std::fs::write(&file, &wrapped).unwrap();
    let key = decryption(Algorithm::Aes256, &key);
    let (to, count) = unwrap(&file, Some(&key), &Progress::default()).unwrap();
    assert_eq!((to, count), (place.path().join("t.ibd"), plain.len() as u64));
    assert!(
        std::fs::read(place.path().join("t.ibd")).unwrap() == plain
            && std::fs::read(&file).unwrap() == wrapped
    );
    let said = unwrap(&file, Some(&key), &Progress::default()).unwrap_err().to_string();
    assert!(said.contains("cannot unwrap") && said.contains("exists"), "{said}");
    std::fs::remove_file(place.path().join("t.ibd")).unwrap();
    assert!(unwrap(&file, None, &Progress::default()).is_err());
    std::fs::write(&file, &wrapped[..wrapped.len() - 1]).unwrap();
    let said = unwrap(&file, Some(&key), &Progress::default()).unwrap_err().to_string();
    assert!(said.contains("ends inside"), "{said}");
    assert!(!place.path().join("t.ibd").exists(), "a part of it lies there");
    let plain_name = place.path().join("t.ibd.gz");
    std::fs::write(&plain_name, "x").unwrap();
    assert!(unwrap(&plain_name, Some(&key), &Progress::default()).is_err());
}

#[test]
fn what_a_killed_unwrap_has_left_is_no_whole_file_and_is_taken_over() {
    let place = tempfile::tempdir().unwrap();
    let key = b"0123456789abcdef0123456789abcdef";
    let with = decryption(Algorithm::Aes256, key);
    let file = place.path().join("t.ibd.xbcrypt");
    let plain = vec![7; 300_000];
    let mut sealed = Vec::new();
    encrypt(&plain[..], &mut sealed, &with, &Progress::default()).unwrap();
    std::fs::write(&file, &sealed).unwrap();
    // As SIGKILL leaves it.
    let partial = place.path().join("t.ibd.sealion-incomplete");
    std::fs::write(&partial, vec![9; 400_000]).unwrap();
    let (to, bytes) = unwrap(&file, Some(&with), &Progress::default()).unwrap();
    assert_eq!((to.clone(), bytes), (place.path().join("t.ibd"), 300_000));
    assert!(std::fs::read(&to).unwrap() == plain && !partial.exists());
    // Nobody's file is written over, and what fails leaves nothing.
    assert!(unwrap(&file, Some(&with), &Progress::default()).is_err());
    assert!(std::fs::read(&to).unwrap() == plain);
    std::fs::remove_file(&to).unwrap();
    std::fs::write(&file, &sealed[..sealed.len() - 9]).unwrap();
    assert!(unwrap(&file, Some(&with), &Progress::default()).is_err());
    assert!(!to.exists() && !partial.exists());
}

#[test]
fn nothing_is_encrypted_to_nothing_and_back() {
    let place = tempfile::tempdir().unwrap();
    let with = decryption(Algorithm::Aes256, b"0123456789abcdef0123456789abcdef");
    let mut out = Vec::new();
    assert_eq!(decrypt(&b""[..], &mut out, &with, &Progress::default()).unwrap(), 0);
    for (name, is_fine) in [("e.xbcrypt", true), ("e.zst.xbcrypt", false), ("e.zst", false)] {
        let file = place.path().join(name);
        std::fs::write(&file, b"").unwrap();
        let said = unwrap(&file, Some(&with), &Progress::default());
        assert_eq!(said.is_ok(), is_fine, "{name}");
        assert_eq!(place.path().join("e").exists(), is_fine);
        let _ = std::fs::remove_file(place.path().join("e"));
    }
}
