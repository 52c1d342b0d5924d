//! Archives: what a reader believes, and that another reader, written from the page alone, reads them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use stream::archive::head::{Aead, Parsed, parse};
use stream::archive::{
    CreateOptions, KeyFile, Keys, Packing, Place, Seal, check, create, create_of_bytes, extract,
};
use stream::{Progress, StreamError};

use super::{random, source, tree};

/// A recipient of age, and its identity.
fn pair() -> (String, String) {
    let identity = age::x25519::Identity::generate();
    let text = age::secrecy::ExposeSecret::expose_secret(&identity.to_string()).to_owned();
    (identity.to_public().to_string(), text)
}

fn private(path: &Path, text: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    path.to_owned()
}

fn key_file(place: &Path, name: &str, digit: char) -> KeyFile {
    let text: String = std::iter::repeat_n(digit, 64).collect();
    KeyFile::read(&private(&place.join(name), &format!("{text}\n"))).unwrap()
}

fn options(seal: Seal, packing: Packing, aead: Option<Aead>) -> CreateOptions {
    CreateOptions { seal, aead, packing }
}

fn opened(bytes: &[u8], keys: &Keys, place: Place<'_>) -> Result<stream::archive::Contents, StreamError> {
    extract(bytes, Path::new("the.archive"), keys, place, &Progress::default())
}

#[test]
fn a_tree_comes_back_by_either_key_and_with_either_cipher() {
    let place = tempfile::tempdir().unwrap();
    let (from, identity) = (place.path().join("from"), place.path().join("identity"));
    let (recipient, secret) = pair();
    source(&from);
    fs::remove_file(from.join("mysql.sock")).unwrap();
    fs::write(from.join("text"), "the same line\n".repeat(500_000)).unwrap();
    private(&identity, &format!("# a comment\n{secret}\n"));
    for (at, (packing, aead)) in
        [(Packing::Zstd, Aead::Aes256Gcm), (Packing::None, Aead::Chacha20Poly1305)].into_iter().enumerate()
    {
        let file = place.path().join(format!("archive{at}"));
        let seal =
            Seal::new(std::slice::from_ref(&recipient), Some(key_file(place.path(), "key", 'a'))).unwrap();
        let (summary, bytes) =
            create(&from, &file, &options(seal, packing, Some(aead)), &Progress::default()).unwrap();
        assert_eq!((summary.files, bytes), (206, fs::metadata(&file).unwrap().len()));
        let shrinks = bytes < summary.data_bytes - (6 << 20);
        assert_eq!(shrinks, packing == Packing::Zstd, "{bytes} of {}", summary.data_bytes);
        let key = Keys::new(None, Some(key_file(place.path(), "key", 'a'))).unwrap();
        let identity = Keys::new(Some(&identity), None).unwrap();
        for (name, keys) in [("by_key", key), ("by_identity", identity)] {
            let into = place.path().join(format!("{name}{at}"));
            let open = fs::File::open(&file).unwrap();
            let done = extract(open, &file, &keys, Place::Directory(&into), &Progress::default()).unwrap();
            assert_eq!((done.summary.files, done.archive_bytes), (206, bytes));
            assert!(tree(&from) == tree(&into), "{name} {at}");
            let checked = check(fs::File::open(&file).unwrap(), &file, &keys, &Progress::default()).unwrap();
            assert_eq!(checked.summary, done.summary);
        }
        let again = options(Seal::new(std::slice::from_ref(&recipient), None).unwrap(), packing, None);
        let refused = create(&from, &file, &again, &Progress::default()).unwrap_err().to_string();
        assert!(refused.contains("it is there already"), "{refused}");
    }
    let left: Vec<_> = fs::read_dir(place.path())
        .unwrap()
        .filter(|one| one.as_ref().unwrap().file_name().to_string_lossy().contains("incomplete"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn what_a_program_wrote_counts_only_if_it_ended_well() {
    let place = tempfile::tempdir().unwrap();
    let (file, bytes) = (place.path().join("archive"), random((3 << 20) + 5));
    let seal = || Seal::new(&[], Some(key_file(place.path(), "key", 'b'))).unwrap();
    let failed = create_of_bytes(
        &mut bytes.as_slice(),
        &mut || Err(StreamError::Stopped),
        &file,
        &options(seal(), Packing::Zstd, None),
        &Progress::default(),
    );
    assert!(matches!(failed, Err(StreamError::Stopped)) && !file.exists());
    create_of_bytes(
        &mut bytes.as_slice(),
        &mut || Ok(()),
        &file,
        &options(seal(), Packing::Zstd, None),
        &Progress::default(),
    )
    .unwrap();
    let keys = Keys::new(None, Some(key_file(place.path(), "key", 'b'))).unwrap();
    let (mut out, archive) = (Vec::new(), fs::read(&file).unwrap());
    opened(&archive, &keys, Place::Writer(&mut out)).unwrap();
    assert!(out == bytes);
    let into = place.path().join("into");
    assert!(opened(&archive, &keys, Place::Directory(&into)).is_err() && !into.exists());
}

/// An archive with many small chunks, and where each begins.
fn small(place: &Path) -> (Vec<u8>, usize, usize) {
    let from = place.join("small");
    fs::create_dir_all(from.join("db")).unwrap();
    fs::write(from.join("db/a"), random(700)).unwrap();
    fs::write(from.join("b"), "bb").unwrap();
    let seal = Seal::new(&[], Some(key_file(place, "key", 'c'))).unwrap();
    let chunk_bytes = 128;
    let archive = stream::archive::in_memory(&from, seal, Aead::Aes256Gcm, chunk_bytes).unwrap();
    let Ok(Parsed::Head(_, head_bytes)) = parse(&archive) else { panic!("no head") };
    (archive, head_bytes, chunk_bytes + 16)
}

#[test]
fn nothing_changed_cut_swapped_or_repeated_is_taken_for_the_archive() {
    let place = tempfile::tempdir().unwrap();
    let (archive, head, chunk) = small(place.path());
    let keys = Keys::new(None, Some(key_file(place.path(), "key", 'c'))).unwrap();
    opened(&archive, &keys, Place::Nowhere).unwrap();
    let wrong = Keys::new(None, Some(key_file(place.path(), "other", 'd'))).unwrap();
    let said = opened(&archive, &wrong, Place::Nowhere).err().unwrap().to_string();
    assert!(said.contains("does not open with this key"), "{said}");

    // Every bit of it.
    for at in 0..archive.len() {
        for bit in 0..8 {
            let mut flipped = archive.clone();
            flipped[at] ^= 1 << bit;
            assert!(opened(&flipped, &keys, Place::Nowhere).is_err(), "byte {at}, bit {bit}");
        }
    }
    // Every length, chunk borders among them.
    for end in 0..archive.len() {
        assert!(opened(&archive[..end], &keys, Place::Nowhere).is_err(), "{end} bytes");
    }
    let said = opened(&archive[..head + 2 * chunk], &keys, Place::Nowhere).err().unwrap().to_string();
    assert!(said.contains("this is not its end"), "{said}");
    let chunks: Vec<&[u8]> = archive[head..].chunks(chunk).collect();
    assert!(chunks.len() > 6);
    let made = |order: &[usize]| {
        let body: Vec<u8> = order.iter().flat_map(|at| chunks[*at]).copied().collect();
        [&archive[..head], &body].concat()
    };
    let straight: Vec<usize> = (0..chunks.len()).collect();
    assert!(made(&straight) == archive);
    for at in 0..chunks.len() - 1 {
        for other in at + 1..chunks.len() {
            let mut order = straight.clone();
            order.swap(at, other);
            assert!(opened(&made(&order), &keys, Place::Nowhere).is_err(), "{at} and {other} swapped");
        }
        let mut repeated = straight.clone();
        repeated.insert(at, at);
        assert!(opened(&made(&repeated), &keys, Place::Nowhere).is_err(), "{at} twice");
        let mut without = straight.clone();
        without.remove(at);
        assert!(opened(&made(&without), &keys, Place::Nowhere).is_err(), "without {at}");
    }
    assert!(opened(&[&archive[..], b"x"].concat(), &keys, Place::Nowhere).is_err());
}

#[test]
fn a_copy_that_has_not_come_to_its_end_is_no_source() {
    let place = tempfile::tempdir().unwrap();
    let (from, file) = (place.path().join("from"), place.path().join("archive"));
    fs::create_dir(&from).unwrap();
    fs::write(from.join("a"), b"rows").unwrap();
    fs::write(from.join(".sealion-incomplete"), b"").unwrap();
    let seal = || Seal::new(&[], Some(key_file(place.path(), "key", 'e'))).unwrap();
    let refused =
        create(&from, &file, &options(seal(), Packing::None, None), &Progress::default()).err().unwrap();
    let StreamError::Source { why, next, .. } = &refused else { panic!("{refused}") };
    assert!(why.contains("has not come to its end") && next.contains("receive --resume"), "{refused}");
    assert!(!file.exists() && stream::can_be_sent(&from).is_err());
    fs::remove_file(from.join(".sealion-incomplete")).unwrap();
    create(&from, &file, &options(seal(), Packing::None, None), &Progress::default()).unwrap();
}

#[test]
fn what_was_extracted_of_a_damaged_archive_is_marked_and_nothing_behind_the_damage_is_written() {
    let place = tempfile::tempdir().unwrap();
    let (from, file) = (place.path().join("from"), place.path().join("archive"));
    fs::create_dir(&from).unwrap();
    fs::write(from.join("a"), random(3 << 20)).unwrap();
    fs::write(from.join("b"), random((3 << 20) + 1)).unwrap();
    let seal = Seal::new(&[], Some(key_file(place.path(), "key", 'e'))).unwrap();
    create(&from, &file, &options(seal, Packing::None, None), &Progress::default()).unwrap();
    let keys = Keys::new(None, Some(key_file(place.path(), "key", 'e'))).unwrap();
    let mut archive = fs::read(&file).unwrap();
    let at = archive.len() - (1 << 20);
    archive[at] ^= 1;
    let into = place.path().join("into");
    let failed = opened(&archive, &keys, Place::Directory(&into)).err().unwrap();
    let StreamError::Content { at_bytes, why, .. } = &failed else { panic!("{failed}") };
    assert!(why.contains("its tag is another one") && *at_bytes < at as u64, "{failed}");
    assert!(into.join(".sealion-incomplete").exists());
    assert!(fs::read(into.join("a")).unwrap() == fs::read(from.join("a")).unwrap());
    let (mut half, whole) = (fs::read(into.join("b")).unwrap(), fs::read(from.join("b")).unwrap());
    let written = half.iter().rposition(|byte| *byte != 0).unwrap();
    half.truncate(written);
    assert!(whole.starts_with(&half) && written < whole.len() - (1 << 19), "only what was authenticated");

    let (mut out, stream) = (Vec::new(), place.path().join("stream"));
    let seal = Seal::new(&[], Some(key_file(place.path(), "key", 'e'))).unwrap();
    let plain = options(seal, Packing::None, None);
    create_of_bytes(&mut whole.as_slice(), &mut || Ok(()), &stream, &plain, &Progress::default()).unwrap();
    let mut archive = fs::read(&stream).unwrap();
    archive.truncate(2 << 20);
    opened(&archive, &keys, Place::Writer(&mut out)).err().unwrap();
    assert!(whole.starts_with(&out) && out.len() < 2 << 20);
}

fn python(arguments: &[&std::ffi::OsStr]) -> std::process::Output {
    let reader = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/archive_reader.py");
    Command::new("python3").arg(reader).args(arguments).output().expect("python3 is not there: make setup")
}

/// tests/all/archive_reader.py knows the page and nothing of this crate.
#[test]
fn a_reader_that_was_written_from_the_page_reads_ours_and_its_vectors() {
    let place = tempfile::tempdir().unwrap();
    let (recipient, secret) = pair();
    let (from, identity) = (place.path().join("from"), private(&place.path().join("identity"), &secret));
    source(&from);
    fs::remove_file(from.join("mysql.sock")).unwrap();
    let key = private(&place.path().join("key"), &"f".repeat(64));
    for (at, aead) in [Aead::Aes256Gcm, Aead::Chacha20Poly1305].into_iter().enumerate() {
        let file = place.path().join(format!("archive{at}"));
        let seal = Seal::new(std::slice::from_ref(&recipient), Some(KeyFile::read(&key).unwrap())).unwrap();
        create(&from, &file, &options(seal, Packing::None, Some(aead)), &Progress::default()).unwrap();
        for (name, by) in [("--key-file", &key), ("--identity", &identity)] {
            let into = place.path().join(format!("by{name}{at}"));
            let said = python(&[
                name.as_ref(),
                by.as_os_str(),
                file.as_os_str(),
                "--into".as_ref(),
                into.as_os_str(),
            ]);
            assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
            for (path, was) in tree(&from) {
                let full = into.join(&path);
                match was.0.as_str() {
                    "file" => assert!(fs::read(full).unwrap() == was.4, "{}", path.display()),
                    "link" => assert_eq!(fs::read_link(full).unwrap().as_os_str().as_encoded_bytes(), was.4),
                    _ => assert!(full.is_dir()),
                }
            }
        }
        let mut cut = fs::read(&file).unwrap();
        cut.truncate(cut.len() / 2);
        let half = place.path().join("cut");
        fs::write(&half, &cut).unwrap();
        let into = place.path().join("cut_into");
        let said = python(&[
            "--key-file".as_ref(),
            key.as_os_str(),
            half.as_os_str(),
            "--into".as_ref(),
            into.as_os_str(),
        ]);
        assert!(!said.status.success(), "a cut archive was read");
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/reference/archive-format.md");
    let said = python(&["--vectors".as_ref(), page.as_os_str()]);
    let told = String::from_utf8_lossy(&said.stdout);
    assert!(
        said.status.success() && told.contains("2 vectors"),
        "{told}{}",
        String::from_utf8_lossy(&said.stderr)
    );
}

/// The page has what these make: `UPDATE_DOCS=1` writes it.
#[test]
fn the_vectors_of_the_page_are_those_that_are_written() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/reference/archive-format.md");
    let text = fs::read_to_string(&page).unwrap();
    let place = tempfile::tempdir().unwrap();
    let key = || KeyFile::read(&private(&place.path().join("key"), &"0123456789abcdef".repeat(4))).unwrap();
    let mut made = String::new();
    for (name, aead) in [("AES-256-GCM", Aead::Aes256Gcm), ("ChaCha20-Poly1305", Aead::Chacha20Poly1305)] {
        let seal = Seal::new(&[], Some(key())).unwrap();
        let archive = stream::archive::vector(
            seal,
            aead,
            b"sealed by sealion, to be opened by anybody who has the key\n",
        )
        .unwrap();
        let keys = Keys::new(None, Some(key())).unwrap();
        let mut out = Vec::new();
        opened(&archive, &keys, Place::Writer(&mut out)).unwrap();
        assert!(out.starts_with(b"sealed by sealion"));
        let hex = archive.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
        let lines: Vec<&str> =
            (0..hex.len()).step_by(64).map(|at| &hex[at..hex.len().min(at + 64)]).collect();
        made.push_str(&format!("\n{name}:\n\n```\n{}\n```\n", lines.join("\n")));
    }
    let (front, rest) = text.split_once("<!-- vectors -->\n").unwrap();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let (_, end) = rest.split_once("<!-- end of vectors -->").unwrap();
        fs::write(&page, format!("{front}<!-- vectors -->\n{made}\n<!-- end of vectors -->{end}")).unwrap();
    } else {
        assert!(rest.starts_with(&made), "UPDATE_DOCS=1 cargo test -p stream vectors");
    }
}
