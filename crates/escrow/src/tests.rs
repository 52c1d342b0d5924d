use std::os::unix::fs::PermissionsExt;

use secrecy::ExposeSecret;

use crate::*;

fn set() -> KeySet {
    KeySet {
        cluster: "c".into(),
        plan_id: "p".into(),
        made_unix_ms: 7,
        keys: vec![
            DataKey { id: 1, key: vec![0xab; KEY_BYTES].into() },
            DataKey { id: 2, key: vec![0; 16].into() },
        ],
        files: vec![KeptFile { name: "data-keys.enc".into(), bytes: vec![0, 255, 10].into() }],
    }
}

fn by(dir: &std::path::Path, passphrase: &str) -> Escrow {
    Escrow::new(dir, Seal::Passphrase(passphrase.to_owned().into())).with_work_factor(2)
}

#[test]
fn what_was_put_opens_with_its_passphrase_and_no_other() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("escrow");
    let escrow = by(&dir, "right");
    assert_eq!(escrow.names().unwrap(), Vec::<String>::new());
    let copy = escrow.put("c-keys-1", &set()).unwrap();
    assert_eq!(escrow.copy("c-keys-1").unwrap(), Some(copy.clone()));
    assert_eq!(escrow.names().unwrap(), ["c-keys-1"]);
    let back = escrow.get("c-keys-1").unwrap().unwrap();
    assert_eq!(back.key(1).unwrap().key.expose_secret(), &[0xab; KEY_BYTES]);
    assert_eq!(back.file("data-keys.enc").unwrap().bytes.expose_secret(), &[0, 255, 10]);
    assert!(back.key(3).is_none() && escrow.get("other").unwrap().is_none());
    // Nothing of it in clear text, for nobody else to read, and nothing beside it.
    let bytes = std::fs::read(&copy.path).unwrap();
    assert!(bytes.starts_with(b"age-encryption.org/v1\n"));
    assert!(memchr::memmem::find(&bytes, b"abababab").is_none());
    assert_eq!(std::fs::metadata(&copy.path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::metadata(&dir).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 1);
    let said = by(&dir, "wrong").get("c-keys-1").unwrap_err().to_string();
    assert!(said.contains("does not open") && !said.contains("abab"), "{said}");
}

#[test]
fn a_copy_is_never_written_over() {
    let home = tempfile::tempdir().unwrap();
    let escrow = by(home.path(), "p");
    escrow.put("k", &set()).unwrap();
    let other = KeySet { plan_id: "q".into(), ..set() };
    assert!(matches!(escrow.put("k", &other), Err(EscrowError::Exists { .. })));
    assert_eq!(escrow.get("k").unwrap().unwrap().plan_id, "p");
    for name in ["", ".k", "a/b", "..", "a b"] {
        assert!(matches!(escrow.put(name, &set()), Err(EscrowError::Name { .. })), "{name}");
    }
}

#[test]
fn a_copy_for_recipients_is_opened_before_it_counts() {
    let home = tempfile::tempdir().unwrap();
    let (own, other) = (age::x25519::Identity::generate(), age::x25519::Identity::generate());
    let file = home.path().join("identity");
    std::fs::write(&file, format!("# mine\n{}\n", own.to_string().expose_secret())).unwrap();
    let escrow = |to: &[String]| {
        Escrow::new(home.path(), Seal::Recipients { to: to.to_vec(), identity_file: file.clone() })
    };
    let (own, other) = (own.to_public().to_string(), other.to_public().to_string());
    let said = escrow(std::slice::from_ref(&own)).put("open", &set()).unwrap_err().to_string();
    assert!(said.contains("may be read by others"), "{said}");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let both = escrow(&[own.clone(), other.clone()]);
    both.put("both", &set()).unwrap();
    assert!(both.get("both").unwrap().unwrap().key(1).is_some());
    // Sealed, and nobody here can say whether it is good.
    assert!(matches!(escrow(&[other]).put("theirs", &set()), Err(EscrowError::NotOpened { .. })));
    for to in [vec![], vec!["age1nobody".to_owned()]] {
        assert!(matches!(escrow(&to).put("none", &set()), Err(EscrowError::Seal { .. })), "{to:?}");
    }
}

#[test]
fn a_damaged_copy_is_said_to_be_one() {
    let home = tempfile::tempdir().unwrap();
    let escrow = by(home.path(), "p");
    let copy = escrow.put("k", &set()).unwrap();
    let whole = std::fs::read(&copy.path).unwrap();
    for at in [3, whole.len() / 2, whole.len() - 1] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        std::fs::write(&copy.path, &bytes).unwrap();
        assert!(matches!(escrow.get("k"), Err(EscrowError::NotOpened { .. })), "{at}");
    }
    std::fs::write(&copy.path, &whole[..whole.len() - 20]).unwrap();
    assert!(matches!(escrow.get("k"), Err(EscrowError::NotOpened { .. })));
}
