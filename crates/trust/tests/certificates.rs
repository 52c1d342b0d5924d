//! Our certificates judged by the `openssl` program, and our judge by certificates that must fall.

use std::fs;
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{SystemTime, UNIX_EPOCH};

use secrecy::{ExposeSecret, SecretString};
use tempfile::TempDir;
use trust::{
    Ca, CaSpec, KeyKind, Leaf, LeafSpec, TrustError, chain_ok, generate_passphrase, inspect, pair_matches,
};

const DAY_S: i64 = 86_400;

fn now_unix() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is after 1970");
    i64::try_from(since.as_secs()).expect("fits")
}

fn ca_spec(common_name: &str, key: KeyKind) -> CaSpec {
    CaSpec { common_name: common_name.to_owned(), valid_days: 3650, key }
}

fn ca() -> Ca {
    Ca::create(&ca_spec("test CA", KeyKind::EcP256), now_unix()).expect("can be made")
}

fn leaf_spec(key: KeyKind) -> LeafSpec {
    LeafSpec {
        common_name: "db1".to_owned(),
        dns: vec!["db1.example.org".to_owned(), "*.db.example.org".to_owned()],
        ips: vec!["192.0.2.1".parse().expect("an address"), "2001:db8::1".parse().expect("an address")],
        valid_days: 30,
        key,
        not_before_unix: None,
        not_after_unix: None,
    }
}

fn leaf(ca: &Ca) -> Leaf {
    ca.issue(&leaf_spec(KeyKind::EcP256), now_unix()).expect("can be issued")
}

fn chain(leaf: &Leaf, ca: &Ca) -> trust::Result<()> {
    chain_ok(leaf.cert_pem.as_bytes(), ca.cert_pem().as_bytes(), now_unix())
}

fn openssl(dir: &Path, arguments: &[&str]) -> Output {
    Command::new("openssl")
        .current_dir(dir)
        .args(arguments)
        .output()
        .expect("the openssl program is needed; run: make setup")
}

/// Runs openssl, which must succeed, and gives what it printed.
fn openssl_says(dir: &Path, arguments: &[&str]) -> String {
    let output = openssl(dir, arguments);
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "openssl {arguments:?}: {text}");
    text
}

/// A directory with ca.pem, leaf.pem and leaf-key.pem.
fn on_disk(ca: &Ca, leaf: &Leaf) -> TempDir {
    let dir = tempfile::tempdir().expect("a directory can be made");
    fs::write(dir.path().join("ca.pem"), ca.cert_pem()).expect("is ours");
    fs::write(dir.path().join("leaf.pem"), &leaf.cert_pem).expect("is ours");
    fs::write(dir.path().join("leaf-key.pem"), leaf.key_pem.expose_secret()).expect("is ours");
    dir
}

#[test]
fn the_openssl_program_accepts_our_leaf_on_both_ends_of_a_connection() {
    for key in [KeyKind::EcP256, KeyKind::Rsa { bits: 2048 }] {
        let ca = Ca::create(&ca_spec("test CA", key), now_unix()).expect("can be made");
        let leaf = ca.issue(&leaf_spec(key), now_unix()).expect("can be issued");
        let dir = on_disk(&ca, &leaf);
        for purpose in ["sslserver", "sslclient"] {
            for host in [
                ["-verify_hostname", "db1.example.org"],
                ["-verify_hostname", "x.db.example.org"],
                ["-verify_ip", "192.0.2.1"],
                ["-verify_ip", "2001:db8::1"],
            ] {
                let mut arguments = vec!["verify", "-x509_strict", "-purpose", purpose, "-CAfile", "ca.pem"];
                arguments.extend(host);
                arguments.push("leaf.pem");
                assert!(openssl_says(dir.path(), &arguments).contains("leaf.pem: OK"));
            }
        }
        let text = openssl_says(dir.path(), &["x509", "-in", "leaf.pem", "-noout", "-text"]);
        for part in [
            "CA:FALSE",
            "TLS Web Server Authentication, TLS Web Client Authentication",
            "Digital Signature",
            "Subject Key Identifier",
            "Authority Key Identifier",
        ] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
        assert_eq!(text.contains("Key Encipherment"), key != KeyKind::EcP256);
        let certificate_key = openssl_says(dir.path(), &["x509", "-in", "leaf.pem", "-noout", "-pubkey"]);
        assert_eq!(openssl_says(dir.path(), &["pkey", "-in", "leaf-key.pem", "-pubout"]), certificate_key);
        chain(&leaf, &ca).expect("we say the same");
        pair_matches(leaf.cert_pem.as_bytes(), leaf.key_pem.expose_secret().as_bytes())
            .expect("we say the same");
    }
}

#[test]
fn inspect_reads_what_the_openssl_program_reads() {
    let ca = ca();
    let leaf = leaf(&ca);
    let dir = on_disk(&ca, &leaf);
    let bundle = leaf.cert_pem.clone() + "a comment\n" + &ca.cert_pem();
    let all = inspect(bundle.as_bytes()).expect("both can be read");
    let [ours, authority] = all.as_slice() else { panic!("two certificates, not {}", all.len()) };

    let fingerprint =
        openssl_says(dir.path(), &["x509", "-in", "leaf.pem", "-noout", "-fingerprint", "-sha256"]);
    let fingerprint =
        fingerprint.trim().rsplit('=').next().expect("one part").replace(':', "").to_lowercase();
    assert_eq!(ours.sha256_fingerprint, fingerprint);
    openssl_says(dir.path(), &["x509", "-in", "leaf.pem", "-noout", "-pubkey", "-out", "public.pem"]);
    openssl_says(
        dir.path(),
        &["pkey", "-pubin", "-in", "public.pem", "-outform", "DER", "-out", "public.der"],
    );
    let digest = openssl_says(dir.path(), &["dgst", "-sha256", "-r", "public.der"]);
    assert_eq!(Some(ours.key_sha256.as_str()), digest.split(' ').next());
    let serial = openssl_says(dir.path(), &["x509", "-in", "leaf.pem", "-noout", "-serial"]);
    assert_eq!(serial.trim(), format!("serial={}", ours.serial_hex));
    assert_eq!(ours.serial_hex.len(), 32, "128 bits");

    assert_eq!((ours.subject.as_str(), ours.issuer.as_str()), ("CN=db1", "CN=test CA"));
    assert_eq!(ours.dns, ["db1.example.org", "*.db.example.org"]);
    let ips: Vec<IpAddr> = leaf_spec(KeyKind::EcP256).ips;
    assert_eq!(ours.ips, ips);
    assert_eq!(ours.key, "EC P-256");
    assert!(ours.server_auth && ours.client_auth && !ours.is_ca && !ours.self_signed);
    assert!(authority.is_ca && authority.self_signed);
    let age_s = now_unix() - ours.not_before_unix;
    assert!((300..360).contains(&age_s), "begins {age_s} s ago");
    let left_s = ours.not_after_unix - now_unix();
    assert!((30 * DAY_S - 60..=30 * DAY_S).contains(&left_s), "ends in {left_s} s");
}

#[test]
fn a_value_cannot_look_like_another_attribute() {
    let dir = TempDir::new().expect("a directory");
    openssl_says(
        dir.path(),
        &[
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-keyout",
            "k.pem",
            "-out",
            "c.pem",
            "-subj",
            "/O=Sea, CN=db1/CN=other",
        ],
    );
    let pem = fs::read(dir.path().join("c.pem")).expect("it was made");
    let subject = inspect(&pem).expect("it can be read").remove(0).subject;
    assert_eq!(subject.split(", ").collect::<Vec<_>>(), ["O=Sea\\2C CN=db1", "CN=other"]);
}

#[test]
fn no_two_serial_numbers_are_the_same() {
    let ca = ca();
    let serials: std::collections::BTreeSet<String> = (0..20)
        .map(|_| inspect(leaf(&ca).cert_pem.as_bytes()).expect("can be read").swap_remove(0).serial_hex)
        .collect();
    assert_eq!(serials.len(), 20);
}

#[test]
fn a_saved_ca_is_private_encrypted_and_opens_again() {
    let parent = tempfile::tempdir().expect("a directory can be made");
    let dir = parent.path().join("ca");
    let passphrase = generate_passphrase();
    let ca = ca();
    ca.save(&dir, &passphrase).expect("can be saved");
    let mode = |name: &str| fs::metadata(dir.join(name)).expect("is there").mode() & 0o7777;
    assert_eq!((mode("."), mode("ca.pem"), mode("ca-key.pem")), (0o700, 0o644, 0o600));
    assert_eq!(fs::read_dir(&dir).expect("is ours").count(), 2, "no temporary file is left");

    let key_pem = fs::read_to_string(dir.join("ca-key.pem")).expect("is ours");
    assert!(key_pem.contains("ENCRYPTED PRIVATE KEY"));
    let key = dir.join("ca-key.pem").display().to_string();
    let pass = format!("pass:{}", passphrase.expose_secret());
    openssl_says(&dir, &["pkey", "-in", &key, "-passin", &pass, "-noout"]);
    assert!(!openssl(&dir, &["pkey", "-in", &key, "-passin", "pass:wrong", "-noout"]).status.success());
    let algorithms = openssl_says(&dir, &["asn1parse", "-in", &key]);
    assert!(algorithms.contains("PBKDF2") && algorithms.contains("aes-256-cbc"), "{algorithms}");

    let wrong = Ca::open(&dir, &SecretString::from("wrong")).expect_err("another passphrase");
    assert!(matches!(wrong, TrustError::WrongPassphrase { .. }), "{wrong}");
    let again = Ca::open(&dir, &passphrase).expect("opens");
    assert_eq!(again.cert_pem(), ca.cert_pem());
    chain(&leaf(&again), &ca).expect("the opened CA signs with the same key");
    ca.save(&dir, &SecretString::from("another")).expect("the same CA may be saved again");
    Ca::open(&dir, &SecretString::from("another")).expect("opens with the new passphrase");
}

#[test]
fn never_overwrites_another_ca_nor_uses_an_open_directory() {
    let parent = tempfile::tempdir().expect("a directory can be made");
    let dir = &parent.path().join("two/levels");
    let passphrase = generate_passphrase();
    ca().save(dir, &passphrase).expect("can be saved");
    let before = fs::read(dir.join("ca-key.pem")).expect("is there");
    let error = ca().save(dir, &passphrase).expect_err("another CA lies there");
    assert!(matches!(error, TrustError::Refused { .. }), "{error}");
    assert_eq!(fs::read(dir.join("ca-key.pem")).expect("is there"), before);

    let open = parent.path().join("open");
    fs::create_dir(&open).expect("is ours");
    fs::set_permissions(&open, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("is ours");
    let error = ca().save(&open, &passphrase).expect_err("others may enter");
    assert!(error.to_string().contains("mode 0755"), "{error}");
    assert!(matches!(ca().save(dir, &SecretString::from("")), Err(TrustError::Usage { .. })));
}

#[test]
fn does_not_open_a_plain_key_or_a_leaf_as_ca() {
    let ca = ca();
    let leaf = leaf(&ca);
    let passphrase = generate_passphrase();
    let dir = tempfile::tempdir().expect("a directory can be made");
    let put = |name: &str, text: &str| fs::write(dir.path().join(name), text).expect("is ours");
    assert!(matches!(Ca::open(dir.path(), &passphrase), Err(TrustError::File(_))));
    put("ca.pem", &ca.cert_pem());
    put("ca-key.pem", leaf.key_pem.expose_secret());
    let error = Ca::open(dir.path(), &passphrase).expect_err("a plain key").to_string();
    assert!(error.contains("is not encrypted"), "{error}");
    put("ca.pem", &leaf.cert_pem);
    let error = Ca::open(dir.path(), &passphrase).expect_err("a leaf").to_string();
    assert!(error.contains("not the certificate of a CA"), "{error}");
}

#[test]
fn tells_a_key_of_another_certificate() {
    let ca = ca();
    let (one, other) = (leaf(&ca), leaf(&ca));
    let check =
        |key: &str| pair_matches(one.cert_pem.as_bytes(), key.as_bytes()).expect_err("does not match");
    assert!(matches!(check(other.key_pem.expose_secret()), TrustError::KeyMismatch { .. }));
    let rsa = ca.issue(&leaf_spec(KeyKind::Rsa { bits: 2048 }), now_unix()).expect("can be issued");
    let error = check(rsa.key_pem.expose_secret()).to_string();
    assert!(error.contains("EC P-256") && error.contains("RSA 2048"), "{error}");
    assert!(matches!(check("nonsense"), TrustError::NotAKey { .. }));
    assert!(matches!(check("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"), TrustError::KeyIsEncrypted));
    let key = one.key_pem.expose_secret().as_bytes();
    assert!(matches!(pair_matches(b"", key), Err(TrustError::NotACertificate { .. })));
    assert!(matches!(pair_matches(key, key), Err(TrustError::NotACertificate { .. })));
}

#[test]
fn tells_a_foreign_ca_also_if_it_has_the_same_name() {
    let (ours, foreign) = (ca(), ca());
    let error = chain(&leaf(&foreign), &ours).expect_err("another key with the same name");
    assert!(matches!(error, TrustError::UnknownCa { .. }), "{error}");
    let named = Ca::create(&ca_spec("somebody else", KeyKind::EcP256), now_unix()).expect("can be made");
    let leaf = leaf(&named);
    let error = chain(&leaf, &ours).expect_err("another name");
    assert!(
        matches!(&error, TrustError::UnknownCa { issuer, .. } if issuer == "CN=somebody else"),
        "{error}"
    );
    let both = ours.cert_pem() + &named.cert_pem();
    chain_ok(leaf.cert_pem.as_bytes(), both.as_bytes(), now_unix()).expect("a bundle of two holds");
    let error = chain_ok(named.cert_pem().as_bytes(), ours.cert_pem().as_bytes(), now_unix())
        .expect_err("self-signed");
    assert!(matches!(error, TrustError::UnknownCa { .. }), "{error}");
}

#[test]
fn tells_expired_from_not_yet_valid() {
    let ca = ca();
    let leaf_from_to = |from: i64, to: i64| {
        let mut spec = leaf_spec(KeyKind::EcP256);
        spec.not_before_unix = Some(now_unix() + from * DAY_S);
        spec.not_after_unix = Some(now_unix() + to * DAY_S);
        ca.issue(&spec, now_unix()).expect("can be issued")
    };
    let expired = chain(&leaf_from_to(-10, -1), &ca).expect_err("is over");
    assert!(matches!(&expired, TrustError::Expired { subject, .. } if subject == "CN=db1"), "{expired}");
    let early = chain(&leaf_from_to(1, 10), &ca).expect_err("is early");
    assert!(matches!(early, TrustError::NotYetValid { .. }), "{early}");
    let fine = leaf_from_to(-10, 10);
    chain(&fine, &ca).expect("is valid now");
    let later = now_unix() + 11 * DAY_S;
    let error =
        chain_ok(fine.cert_pem.as_bytes(), ca.cert_pem().as_bytes(), later).expect_err("will be over");
    assert!(matches!(error, TrustError::Expired { .. }), "{error}");

    let old_ca =
        Ca::create(&ca_spec("old CA", KeyKind::EcP256), now_unix() - 4000 * DAY_S).expect("can be made");
    let mut spec = leaf_spec(KeyKind::EcP256);
    spec.not_after_unix = Some(now_unix() + DAY_S);
    let of_old = old_ca.issue(&spec, now_unix()).expect("an explicit end is taken as it is");
    let error = chain(&of_old, &old_ca).expect_err("the CA is over");
    assert!(matches!(&error, TrustError::Expired { subject, .. } if subject == "CN=old CA"), "{error}");
    let error =
        old_ca.issue(&leaf_spec(KeyKind::EcP256), now_unix()).expect_err("would end before it begins");
    assert!(error.to_string().contains("never be valid"), "{error}");
}

#[test]
fn a_leaf_does_not_outlive_its_ca() {
    let mut spec = ca_spec("short CA", KeyKind::EcP256);
    spec.valid_days = 10;
    let ca = Ca::create(&spec, now_unix()).expect("can be made");
    let bundle = leaf(&ca).cert_pem + &ca.cert_pem();
    let ends: Vec<i64> =
        inspect(bundle.as_bytes()).expect("can be read").iter().map(|info| info.not_after_unix).collect();
    assert_eq!(ends.first(), ends.last());
}

#[test]
fn tells_a_certificate_that_only_a_server_or_only_a_client_may_use() {
    // The openssl program makes what we never issue.
    let dir = tempfile::tempdir().expect("a directory can be made");
    let usages = ["serverAuth", "clientAuth", "codeSigning", "serverAuth,clientAuth"];
    for (usage, refused) in usages.into_iter().zip([Some("client"), Some("server"), Some("server"), None]) {
        let usage = format!("extendedKeyUsage={usage}");
        let arguments = [
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-384",
            "-nodes",
            "-keyout",
            "k.pem",
            "-out",
            "c.pem",
            "-subj",
            "/CN=one end/O=Example",
            "-days",
            "2",
            "-addext",
            &usage,
        ];
        openssl_says(dir.path(), &arguments);
        let pem = fs::read(dir.path().join("c.pem")).expect("is there");
        let found = match chain_ok(&pem, &pem, now_unix() + 60) {
            Ok(()) => None,
            Err(TrustError::WrongPurpose { role, .. }) => Some(role),
            Err(other) => panic!("{usage}: {other}"),
        };
        assert_eq!(found, refused, "{usage}");
        let info = inspect(&pem).expect("can be read").swap_remove(0);
        assert_eq!(info.server_auth, usage.contains("server"), "{usage}");
        assert_eq!(info.client_auth, usage.contains("client"), "{usage}");
        assert_eq!((info.key.as_str(), info.subject.as_str()), ("EC P-384", "CN=one end, O=Example"));
        let key = fs::read(dir.path().join("k.pem")).expect("is there");
        pair_matches(&pem, &key).expect("belong together");
    }
}

#[test]
fn a_leaf_cannot_sign() {
    let ca = ca();
    let leaf = leaf(&ca);
    let dir = on_disk(&ca, &leaf);
    openssl_says(
        dir.path(),
        &[
            "req",
            "-new",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-keyout",
            "k.pem",
            "-out",
            "r.pem",
            "-subj",
            "/CN=forged",
        ],
    );
    openssl_says(
        dir.path(),
        &[
            "x509",
            "-req",
            "-in",
            "r.pem",
            "-CA",
            "leaf.pem",
            "-CAkey",
            "leaf-key.pem",
            "-out",
            "forged.pem",
            "-days",
            "2",
            "-CAcreateserial",
        ],
    );
    let forged = fs::read_to_string(dir.path().join("forged.pem")).expect("is there") + &leaf.cert_pem;
    let error =
        chain_ok(forged.as_bytes(), ca.cert_pem().as_bytes(), now_unix() + 60).expect_err("db1 is no CA");
    assert!(
        matches!(&error, TrustError::ChainBroken { subject, why } if subject == "CN=db1" && why == "invalid CA certificate"),
        "{error}"
    );
}

#[test]
fn refuses_what_a_certificate_cannot_hold() {
    let ca = ca();
    let check = |change: &dyn Fn(&mut LeafSpec), expected: &str| {
        let mut spec = leaf_spec(KeyKind::EcP256);
        change(&mut spec);
        let error = ca.issue(&spec, now_unix()).expect_err("must be refused");
        assert!(matches!(error, TrustError::Usage { .. }), "{error}");
        let text = error.to_string();
        assert!(
            text.contains(expected) && text.contains("\n  why:  ") && text.contains("\n  next: "),
            "{text}"
        );
    };
    check(&|spec| spec.common_name = "test CA".to_owned(), "cannot be named");
    check(&|spec| spec.common_name = String::new(), "common name");
    check(&|spec| spec.common_name = "x".repeat(65), "65 characters");
    check(&|spec| spec.dns.push("a,DNS:evil".to_owned()), "DNS name");
    check(&|spec| spec.dns.push("a..b".to_owned()), "DNS name");
    check(&|spec| spec.valid_days = 0, "0 days");
    check(&|spec| spec.valid_days = u32::MAX, "days");
    check(&|spec| spec.key = KeyKind::Rsa { bits: 1024 }, "1024 bits");
    check(&|spec| spec.key = KeyKind::Rsa { bits: 16_384 }, "16384 bits");
    check(&|spec| spec.not_after_unix = Some(0), "never be valid");
    check(&|spec| spec.not_after_unix = Some(i64::MAX), "cannot stand in a certificate");
    assert!(matches!(Ca::create(&ca_spec("", KeyKind::EcP256), 0), Err(TrustError::Usage { .. })));
}

#[test]
fn no_bytes_panic_the_readers() {
    let ca = ca();
    let leaf = leaf(&ca);
    let (pem, key) = (leaf.cert_pem.as_bytes(), leaf.key_pem.expose_secret().as_bytes());
    for end in 0..pem.len() {
        let cut = pem.get(..end).expect("end is within");
        let _ = inspect(cut);
        let _ = chain_ok(cut, cut, 0);
        let _ = pair_matches(pem, key.get(..end).unwrap_or(key));
    }
    assert!(matches!(
        inspect(&vec![b'x'; trust::PEM_BYTES_MAX + 1]),
        Err(TrustError::NotACertificate { .. })
    ));
}

#[test]
fn secrets_are_not_shown() {
    let ca = ca();
    let leaf = leaf(&ca);
    let shown = format!("{ca:?} {leaf:?}");
    assert!(!shown.contains("PRIVATE KEY"), "{shown}");
    let (one, other) = (generate_passphrase(), generate_passphrase());
    assert_ne!(one.expose_secret(), other.expose_secret());
    assert_eq!(one.expose_secret().len(), 43);
    assert!(
        one.expose_secret().bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    );
}
