//! Directories made by hand; those of real servers are in `testbed`.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::*;

const PAGE: usize = 16_384;

/// A page of MySQL with an LSN at both ends.
fn page(number: u32, kind: u16) -> Vec<u8> {
    let mut page = vec![b'd'; PAGE];
    page[..38].fill(0);
    page[4..8].copy_from_slice(&number.to_be_bytes());
    page[20..24].copy_from_slice(&9_u32.to_be_bytes());
    page[24..26].copy_from_slice(&kind.to_be_bytes());
    page[37] = 7;
    page[PAGE - 4..].copy_from_slice(&9_u32.to_be_bytes());
    page
}

/// A tablespace of MySQL: page 0, then these types; 0 is a page that was never written.
fn space(kinds: &[u16]) -> Vec<u8> {
    let mut bytes = page(0, 8);
    bytes[38..PAGE].fill(0);
    bytes[41] = 7;
    bytes[54..58].copy_from_slice(&0x4021_u32.to_be_bytes());
    for (number, kind) in (1..).zip(kinds) {
        bytes.extend(if *kind == 0 { vec![0; PAGE] } else { page(number, *kind) });
    }
    bytes
}

fn put(dir: &Path, name: &str, bytes: &[u8]) {
    let path = dir.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn looked(dir: &Path) -> DataDirectory {
    look(dir, &Progress::default()).unwrap()
}

fn of<'d>(seen: &'d DataDirectory, path: &str) -> &'d Artefact {
    seen.artefacts.iter().find(|one| one.path == path).unwrap_or_else(|| panic!("{path}: {seen:#?}"))
}

#[test]
fn every_page_is_counted_and_no_file_is_left_out() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path();
    put(dir, "auto.cnf", b"[auto]\nserver-uuid=u-1\n");
    put(dir, "d/plain.ibd", &space(&[3, 17_855, 0, 0]));
    put(dir, "d/encrypted.ibd", &space(&[15, 16, 17, 0]));
    put(dir, "d/mixed.ibd", &space(&[15, 17_855, 15]));
    put(dir, "d/new.ibd", &vec![0; 4 * PAGE]);
    put(dir, "d/empty.ibd", &[]);
    put(dir, "d/cut.ibd", &space(&[15, 15])[..2 * PAGE + 100]);
    put(dir, "d/strange.ibd", &[b'x'; PAGE]);
    put(dir, "d/other.ibd", &space(&[15, 999]));
    put(dir, "binlog.000001", b"\xfebin");
    put(dir, "binlog.000002", b"none any more");
    put(dir, "d/t.MYD", b"rows");
    put(dir, "notes.txt", b"buy milk");
    put(dir, "keyring", b"{\"version\":\"1.0\",\"elements\":[]}");
    put(dir, "a/b/c/deep.ibd", &space(&[17_855]));
    let seen = looked(dir);
    assert_eq!((seen.family, seen.server_uuid.as_deref()), (Some(Family::MySql), Some("u-1")));
    for (path, verdict, counts) in [
        ("d/plain.ibd", Verdict::Plain, [2, 0, 1, 2, 0]),
        ("d/encrypted.ibd", Verdict::Encrypted, [0, 3, 1, 1, 0]),
        ("d/mixed.ibd", Verdict::Mixed, [1, 2, 1, 0, 0]),
        ("d/new.ibd", Verdict::Empty, [0, 0, 0, 4, 0]),
        ("d/empty.ibd", Verdict::Empty, [0; 5]),
        ("d/cut.ibd", Verdict::Unknown, [0, 1, 1, 0, 1]),
        ("d/strange.ibd", Verdict::Unknown, [0, 0, 0, 0, 1]),
        ("d/other.ibd", Verdict::Unknown, [0, 1, 1, 0, 1]),
        ("binlog.000001", Verdict::Empty, [0; 5]),
        ("d/t.MYD", Verdict::Never, [1, 0, 0, 0, 0]),
        ("notes.txt", Verdict::Unknown, [0, 0, 0, 0, 1]),
        ("binlog.000002", Verdict::Unknown, [0, 0, 0, 0, 1]),
        ("keyring", Verdict::Never, [1, 0, 0, 0, 0]),
        ("a/b/c/deep.ibd", Verdict::Plain, [1, 0, 1, 0, 0]),
    ] {
        let one = of(&seen, path);
        let tally = &one.tally;
        let counted = [tally.plain, tally.encrypted, tally.never, tally.zero, tally.unknown];
        assert_eq!((one.verdict, counted), (verdict, counts), "{path}: {tally:?}");
        assert_eq!(tally.unknown > 0, !tally.whys.is_empty(), "{path}: {tally:?}");
    }
    assert_eq!(of(&seen, "keyring").kind, Kind::KeyFile);
    assert_eq!(seen.artefacts.len(), 15);
    // A MariaDB that was a MySQL before, in a copy without its log of Aria.
    put(dir, "mysql/db.MAI", b"");
    assert_eq!(looked(dir).family, Some(Family::MariaDb));
    put(dir, "mysql.ibd", b"");
    assert_eq!(looked(dir).family, None, "signs of both");
    // A key behind a long chain, and rows in a file with the name of something small.
    let chain =
        [&b"-----BEGIN CERTIFICATE-----\n".repeat(400)[..], b"-----BEGIN PRIVATE KEY-----\n"].concat();
    put(dir, "bundle.pem", &chain);
    put(dir, "rows.index", &vec![b'r'; 2 << 20]);
    let seen = looked(dir);
    assert_eq!(of(&seen, "bundle.pem").kind, Kind::PrivateKey);
    assert_eq!(
        (of(&seen, "rows.index").kind, of(&seen, "rows.index").verdict),
        (Kind::Other, Verdict::Unknown)
    );
}

#[test]
fn further_files_of_the_system_tablespace_are_read_as_its_first_one_says() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path();
    let numbered = |mut bytes: Vec<u8>| {
        for at in [34, 38] {
            bytes[at..at + 4].fill(0);
        }
        bytes
    };
    let first = numbered(space(&[3, 17_855, 0]));
    put(dir, "ibdata1", &first);
    put(dir, "mysql.ibd", &space(&[15]));
    let zero = || vec![0; PAGE];
    // Used from its first page on, and from its third one.
    put(dir, "ibdata2", &[page(4, 17_855), page(5, 15), zero()].concat());
    put(dir, "ibdata3", &[zero(), zero(), page(9, 15), page(10, 15)].concat());
    put(dir, "ibdata4", &[zero(), zero()].concat());
    // One of its pages is at a wrong place; it claims to be before the first file's end; another kind of file.
    put(dir, "ibdata5", &[page(13, 15), page(99, 15), page(15, 15)].concat());
    put(dir, "ibdata6", &page(2, 15));
    put(dir, "d/t.ibd", &[page(4, 15), page(5, 15)].concat());
    let seen = looked(dir);
    for (path, verdict, counts) in [
        ("ibdata2", Verdict::Mixed, [1, 1, 1, 0]),
        ("ibdata3", Verdict::Encrypted, [0, 2, 2, 0]),
        ("ibdata4", Verdict::Empty, [0, 0, 2, 0]),
        ("ibdata5", Verdict::Unknown, [0, 2, 0, 1]),
        ("ibdata6", Verdict::Unknown, [0, 0, 0, 1]),
        ("d/t.ibd", Verdict::Unknown, [0, 0, 0, 1]),
    ] {
        let one = of(&seen, path);
        let tally = &one.tally;
        let counted = [tally.plain, tally.encrypted, tally.zero, tally.unknown];
        assert_eq!((one.verdict, counted), (verdict, counts), "{path}: {tally:?}");
    }
    assert_eq!(of(&seen, "ibdata2").space_id, Some(0));
    let seen = needs(dir).unwrap();
    let of = |path: &str| {
        let one = seen.spaces.iter().find(|space| space.path == path);
        one.map(|space| (space.pages_read, space.encrypted, space.damaged, space.first_damaged))
    };
    assert_eq!(of("ibdata2"), Some((3, 1, 0, None)));
    assert_eq!(of("ibdata3"), Some((4, 2, 0, None)));
    assert_eq!(of("ibdata5"), Some((3, 2, 1, Some(14))));
    // A copy beside it helps as well; one that is laid out in another way leaves it open which of them it is of.
    put(dir, "ibdata0", &[&first[..], &zero()].concat());
    assert_eq!(self::of(&looked(dir), "ibdata3").verdict, Verdict::Encrypted);
    let mut other = first.clone();
    other[54..58].copy_from_slice(&0x15_u32.to_be_bytes());
    put(dir, "ibdata0", &other);
    assert_eq!(self::of(&looked(dir), "ibdata3").verdict, Verdict::Unknown);
}

#[test]
fn a_tablespace_is_found_whatever_it_is_called_and_wherever_a_link_of_a_table_leads() {
    let (home, away) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let dir = home.path();
    let numbered = |id: u32| {
        let mut bytes = space(&[15, 17_855]);
        for at in [34, 38] {
            bytes[at..at + 4].copy_from_slice(&id.to_be_bytes());
        }
        bytes
    };
    put(dir, "ib_logfile0", b"");
    put(dir, "sys.dat", &numbered(0));
    put(dir, "tmp.dat", &numbered(0xffff_fffe));
    put(dir, "more.dat", b"the second file of a system tablespace has no header");
    put(dir, "d/far.isl", away.path().join("d/far.ibd").to_str().unwrap().as_bytes());
    put(dir, "d/gone.isl", away.path().join("d/gone.ibd").to_str().unwrap().as_bytes());
    put(away.path(), "d/far.ibd", &numbered(7));
    let more = crate::Place {
        path: dir.join("more.dat"),
        takes: crate::Takes::File(Kind::System),
        named_by: "innodb_data_file_path".into(),
    };
    let elsewhere = crate::Elsewhere { places: vec![more], ..crate::Elsewhere::default() };
    let seen = crate::look_also(dir, &elsewhere, &Progress::default()).unwrap();
    for (path, kind) in [("sys.dat", Kind::System), ("tmp.dat", Kind::Temp), ("more.dat", Kind::System)] {
        assert_eq!(of(&seen, path).kind, kind, "{path}");
    }
    assert_eq!(of(&seen, "sys.dat").verdict, of(&seen, "tmp.dat").verdict);
    assert_eq!(of(&seen, "more.dat").verdict, Verdict::Unknown);
    let far = seen.artefacts.iter().find(|one| one.path.ends_with("/d/far.ibd")).unwrap();
    assert_eq!(
        (far.kind, far.verdict, far.named_by.as_deref()),
        (Kind::Table, Verdict::Mixed, Some("d/far.isl"))
    );
    let gone = of(&seen, "what d/gone.isl names");
    assert_eq!((gone.kind, gone.verdict, gone.is_unread), (Kind::Table, Verdict::Unknown, true));
}

#[test]
fn what_cannot_be_read_is_unknown_and_not_absent() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path();
    put(dir, "ibdata1", &space(&[3]));
    put(dir, "elsewhere", b"");
    symlink(dir.join("elsewhere"), dir.join("link.ibd")).unwrap();
    put(dir, "closed.ibd", &space(&[15]));
    fs::set_permissions(dir.join("closed.ibd"), fs::Permissions::from_mode(0o000)).unwrap();
    let seen = looked(dir);
    let link = of(&seen, "link.ibd");
    assert_eq!((link.verdict, link.is_unread), (Verdict::Unknown, true));
    // root reads whatever the mode is.
    if !nix::unistd::geteuid().is_root() {
        let closed = of(&seen, "closed.ibd");
        assert_eq!((closed.verdict, closed.is_unread), (Verdict::Unknown, true), "{closed:?}");
    }
    assert!(matches!(look(&dir.join("nowhere"), &Progress::default()), Err(DiskError::Unreadable { .. })));
    let empty = tempfile::tempdir().unwrap();
    let error = look(empty.path(), &Progress::default());
    assert!(matches!(error, Err(DiskError::NotADataDirectory { .. })), "{error:?}");
}

#[test]
fn a_file_that_goes_or_shrinks_while_it_is_read_is_unknown() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path();
    for name in ["goes.ibd", "shrinks.ibd", "is_replaced.ibd"] {
        put(dir, name, &space(&[15, 15, 15]));
    }
    let found = walk::walk(dir).unwrap();
    fs::remove_file(dir.join("goes.ibd")).unwrap();
    fs::write(dir.join("shrinks.ibd"), space(&[15])).unwrap();
    let progress = Progress::default();
    let artefacts = pages::read_all(found, Some(Family::MySql), &progress);
    let seen = DataDirectory {
        root: dir.to_owned(),
        family: None,
        server_uuid: None,
        artefacts,
        read_bytes: progress.read_bytes(),
        hole_bytes: progress.hole_bytes(),
    };
    for path in ["goes.ibd", "shrinks.ibd"] {
        let one = of(&seen, path);
        assert_eq!((one.verdict, one.is_unread), (Verdict::Unknown, true), "{one:?}");
    }
    assert_eq!(of(&seen, "shrinks.ibd").tally.unknown, 2, "the pages that are gone");
    assert_eq!(of(&seen, "is_replaced.ibd").verdict, Verdict::Encrypted);
}

#[test]
fn a_large_file_is_read_in_pieces_that_meet() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path();
    // Sparse: longer than one piece, with a page in each, and one at the very end.
    let path = dir.join("t.ibd");
    put(dir, "t.ibd", &space(&[]));
    let file = fs::File::options().write(true).open(&path).unwrap();
    let last: u32 = 20_000;
    let end = u64::from(last + 1) * PAGE as u64;
    file.set_len(end).unwrap();
    for (number, kind) in [(1, 15), (16_383, 15), (16_384, 17_855), (last, 15)] {
        let at = u64::from(number) * PAGE as u64;
        std::os::unix::fs::FileExt::write_all_at(&file, &page(number, kind), at).unwrap();
    }
    let progress = Progress::default();
    let seen = look(dir, &progress).unwrap();
    let tally = &of(&seen, "t.ibd").tally;
    assert_eq!((tally.plain, tally.encrypted, tally.never, tally.unknown), (1, 3, 1, 0), "{tally:?}");
    assert_eq!(tally.zero, u64::from(last) + 1 - 5);
    // Whether a file system keeps holes is its own affair; nothing is counted twice, or not at all.
    assert_eq!(progress.read_bytes() + progress.hole_bytes(), end);
    assert_eq!(progress.all_bytes(), progress.read_bytes());
}
