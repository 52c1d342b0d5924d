//! An archive that was made once and opens for ever, in each of its ways; and a reader that was written from the page alone.

use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use share::grant::{NewGrant, combine, open_share};
use share::header::Slot;
use share::keys::{Identity, Role};

use super::support::{Case, NOW, terms};

fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

/// Keys that are written down here are nobody's.
fn keys(dir: &Path, role: Role) -> (Identity, Value) {
    let identity = Identity::make(dir, role).unwrap();
    let text = std::fs::read(dir.join("secret.json")).unwrap();
    (identity, serde_json::from_slice(&text).unwrap())
}

/// Of random keys: only `UPDATE_VECTORS=1` makes them anew, and that is another version of the format.
fn make() -> (Value, Vec<u8>) {
    let dir = tempfile::tempdir().unwrap();
    let (owner, owner_file) = keys(&dir.path().join("owner"), Role::Owner);
    let (friend, friend_file) = keys(&dir.path().join("friend"), Role::Reader);
    let (auditor, auditor_file) = keys(&dir.path().join("auditor"), Role::Reader);
    let case = Case { owner, ..Case::new() };
    let header =
        share::header::Header::new((share::header::ROWS, "shop.orders"), NOW, &case.owner, &case.key)
            .unwrap();
    let header = header
        .with_slot(header.slot_for(&friend.public, &case.key).unwrap(), &case.owner, &case.key)
        .unwrap();
    let new = NewGrant::new(&header, &case.key, &case.owner, &auditor.public, &terms(2, 3)).unwrap();
    let header = header.with_slot(Slot::HpkeShare(new.signed.clone()), &case.owner, &case.key).unwrap();
    let plain = "id\tnote\n1\tan archive of version 1\n".repeat(2500);
    let archive = case.archive(&header, plain.as_bytes());
    let hex = |bytes: &[u8]| bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    let all = json!({
        "plain_line": "id\tnote\n1\tan archive of version 1\n", "plain_lines": 2500,
        "owner": owner_file, "hpke": friend_file, "hpke_share": auditor_file,
        "shares": new.shares.iter().map(|share| hex(share)).collect::<Vec<_>>(),
    });
    (all, archive)
}

fn bytes(hex: &Value) -> Vec<u8> {
    let text = hex.as_str().unwrap();
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

struct Vectors {
    dir: tempfile::TempDir,
    archive: Vec<u8>,
    plain: Vec<u8>,
    shares: Vec<Vec<u8>>,
}

impl Vectors {
    fn read() -> Self {
        if std::env::var_os("UPDATE_VECTORS").is_some() {
            let (all, archive) = make();
            std::fs::create_dir_all(place("")).unwrap();
            std::fs::write(place("vectors.json"), serde_json::to_string_pretty(&all).unwrap() + "\n")
                .unwrap();
            std::fs::write(place("vectors.share"), archive).unwrap();
        }
        let all: Value = serde_json::from_slice(&std::fs::read(place("vectors.json")).unwrap()).unwrap();
        let dir = tempfile::tempdir().unwrap();
        for who in ["owner", "hpke", "hpke_share"] {
            let keys = dir.path().join(who);
            std::fs::DirBuilder::new().mode(0o700).create(&keys).unwrap();
            let file = keys.join("secret.json");
            std::fs::write(&file, all[who].to_string()).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
            std::fs::write(keys.join("public.json"), all[who]["public"].to_string()).unwrap();
        }
        let lines = usize::try_from(all["plain_lines"].as_u64().unwrap()).unwrap();
        let plain = all["plain_line"].as_str().unwrap().repeat(lines).into_bytes();
        let archive = std::fs::read(place("vectors.share")).unwrap();
        std::fs::write(dir.path().join("archive"), &archive).unwrap();
        Self { dir, archive, plain, shares: all["shares"].as_array().unwrap().iter().map(bytes).collect() }
    }

    fn identity(&self, who: &str, role: Role) -> Identity {
        Identity::read(&self.dir.path().join(who), role).unwrap()
    }
}

#[test]
fn each_slot_of_the_vectors_opens() {
    let vectors = Vectors::read();
    let owner = vectors.identity("owner", Role::Owner);
    let mut from = vectors.archive.as_slice();
    let header = share::archive::read_header(&mut from, "vectors").unwrap();
    header.is_by(&owner.public).unwrap();
    let auditor = vectors.identity("hpke_share", Role::Reader);
    let signed = header.slots.iter().find_map(|slot| match slot {
        Slot::HpkeShare(signed) => Some(signed),
        _ => None,
    });
    let policy = signed.unwrap().by(&owner.public).unwrap();
    let opened = |at: usize| open_share(&policy, at, &vectors.shares[at], &auditor).unwrap();
    let mut keys = vec![
        header.key_of_owner(&owner).unwrap(),
        header.key_of_reader(&vectors.identity("hpke", Role::Reader)).unwrap(),
    ];
    for pair in [[0, 1], [1, 2], [2, 0]] {
        keys.push(combine(&policy, &pair.map(opened)).unwrap());
    }
    assert!(combine(&policy, &[opened(1)]).is_none());
    assert!(header.key_of_reader(&auditor).is_none(), "its way is by proxies");
    for key in keys {
        let mut out = Vec::new();
        let plain_bytes = share::archive::open_chunks(&mut { from }, &header, &key, &mut out).unwrap();
        assert!(plain_bytes == vectors.plain.len() as u64 && out == vectors.plain);
    }
}

#[test]
fn a_reader_that_was_written_from_the_page_reads_them() {
    let vectors = Vectors::read();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/share_reader.py");
    let python = |archive: &str, who: &str| {
        let at = |path: &str| vectors.dir.path().join(path);
        let said = std::process::Command::new("python3")
            .args([Path::new("-B"), &script])
            .args([at(archive), at(who).join("secret.json"), at("owner/public.json")])
            .output()
            .expect("python3 is not there: make setup");
        said.status.success().then_some(said.stdout)
    };
    assert!(python("archive", "owner").as_deref() == Some(&vectors.plain));
    assert!(python("archive", "hpke").as_deref() == Some(&vectors.plain));
    assert_eq!(python("archive", "hpke_share"), None, "it has no way but by proxies");
    // In the core, the slots, the proofs, a chunk and its end.
    let count = vectors.archive.len();
    for at in [40, 700, count - 70_000, count - 1] {
        let mut flipped = vectors.archive.clone();
        flipped[at] ^= 1;
        std::fs::write(vectors.dir.path().join("flipped"), &flipped).unwrap();
        assert_eq!(python("flipped", "owner"), None, "{at}");
    }
    for cut in [1, 16, 65_552] {
        std::fs::write(vectors.dir.path().join("cut"), &vectors.archive[..count - cut]).unwrap();
        assert_eq!(python("cut", "hpke"), None, "{cut}");
    }
}
