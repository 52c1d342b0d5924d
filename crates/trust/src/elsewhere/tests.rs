use openssl::asn1::Asn1Time;
use openssl::bn::BigNum;
use openssl::pkey::PKeyRef;
use openssl::x509::X509NameRef;
use openssl::x509::extension::BasicConstraints;
use tempfile::TempDir;

use super::*;

const NOW: i64 = 1_795_219_200;
const DAY_S: i64 = 86_400;

fn passphrase() -> SecretString {
    "correct horse".to_owned().into()
}

fn spec(name: &str) -> LeafSpec {
    LeafSpec {
        common_name: name.into(),
        dns: vec![name.into(), "localhost".into()],
        ips: vec!["10.0.0.1".parse().expect("an address")],
        valid_days: 1,
        key: KeyKind::EcP256,
        not_before_unix: None,
        not_after_unix: None,
    }
}

/// A root that signs an intermediate that signs servers, as companies have them.
struct Company {
    root: X509,
    between: X509,
    key: PKey<Private>,
}

fn authority(subject: &str, issuer: Option<(&X509, &PKey<Private>)>) -> (X509, PKey<Private>) {
    let key = KeyKind::EcP256.generate().expect("made");
    let name = common_name(subject).expect("sound");
    let signer = issuer.map_or((name.as_ref(), &key), |(cert, key)| (cert.subject_name(), key));
    let cert = signed(&name, signer.0, key.as_ref(), signer.1, 3650 * DAY_S, |builder| {
        builder.append_extension(BasicConstraints::new().critical().ca().build().expect("sound"))
    });
    (cert, key)
}

fn signed(
    subject: &X509NameRef,
    issuer: &X509NameRef,
    public: &PKeyRef<impl openssl::pkey::HasPublic>,
    key: &PKey<Private>,
    lasts_s: i64,
    extend: impl FnOnce(&mut openssl::x509::X509Builder) -> std::result::Result<(), openssl::error::ErrorStack>,
) -> X509 {
    let mut builder = X509::builder().expect("sound");
    builder.set_version(2).expect("sound");
    let mut random = [1; 8];
    openssl::rand::rand_bytes(&mut random[1..]).expect("seeded");
    let serial = BigNum::from_slice(&random).and_then(|number| number.to_asn1_integer()).expect("sound");
    builder.set_serial_number(&serial).expect("sound");
    builder.set_subject_name(subject).expect("sound");
    builder.set_issuer_name(issuer).expect("sound");
    builder.set_pubkey(public).expect("sound");
    let time = |unix| Asn1Time::from_unix(unix).expect("sound");
    builder.set_not_before(&time(NOW - DAY_S)).expect("sound");
    builder.set_not_after(&time(NOW + lasts_s)).expect("sound");
    extend(&mut builder).expect("sound");
    builder.sign(key, MessageDigest::sha256()).expect("sound");
    builder.build()
}

impl Company {
    fn new() -> Self {
        let (root, root_key) = authority("company root", None);
        let (between, key) = authority("company servers", Some((&root, &root_key)));
        Self { root, between, key }
    }

    fn root_pem(&self) -> Vec<u8> {
        self.root.to_pem().expect("PEM")
    }

    /// As a CA that copies what a request asks for.
    fn signs(&self, csr_pem: &str, lasts_s: i64) -> Vec<u8> {
        let request = X509Req::from_pem(csr_pem.as_bytes()).expect("a request");
        let public = request.public_key().expect("a key");
        assert!(request.verify(&public).expect("checked"), "it is not signed with its own key");
        let leaf = signed(
            request.subject_name(),
            self.between.subject_name(),
            &public,
            &self.key,
            lasts_s,
            |builder| {
                request.extensions()?.iter().try_for_each(|extension| builder.append_extension2(extension))
            },
        );
        [leaf.to_pem().expect("PEM"), self.between.to_pem().expect("PEM")].concat()
    }
}

#[test]
fn what_a_company_signs_is_taken_with_its_intermediate_and_served_by_its_key() {
    let (company, home) = (Company::new(), TempDir::new().expect("made"));
    let dir = home.path().join("ca");
    let specs = ["db1", "db2"].map(spec);
    let asked = specs.each_ref().map(|one| request(&dir, one, &passphrase(), false).expect("made"));
    assert!(asked.iter().all(|one| one.is_new));
    let again = request(&dir, &specs[0], &passphrase(), false).expect("there");
    assert_eq!((again.csr_pem, again.is_new), (asked[0].csr_pem.clone(), false));
    assert!(!Elsewhere::is_at(&dir));

    // In any order, all in one, and the root beside them.
    let given = [company.signs(&asked[1].csr_pem, DAY_S), company.signs(&asked[0].csr_pem, DAY_S)].concat();
    let told = import(&dir, &given, Some(&company.root_pem()), &specs, NOW).expect("they hold");
    assert_eq!(told.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["db2", "db1"]);
    let signer = Signer::open(&dir, &passphrase()).expect("it opens");
    for one in &specs {
        let leaf = signer.leaf(one, NOW).expect("imported");
        crate::pair_matches(leaf.cert_pem.as_bytes(), leaf.key_pem.expose_secret().as_bytes())
            .expect("a pair");
        // For who knows the root only, and for who is shown the leaf only.
        chain_ok(leaf.cert_pem.as_bytes(), &company.root_pem(), NOW).expect("it holds");
        let alone =
            certificates(leaf.cert_pem.as_bytes()).expect("PEM").swap_remove(0).to_pem().expect("PEM");
        chain_ok(&alone, signer.ca_pem().as_bytes(), NOW).expect("it holds");
    }
    let left = fs::read_dir(dir.join(REQUESTS)).expect("there").count();
    assert_eq!(left, 0, "a key lies there that nobody needs");
    for file in ["issued/db1.pem", "issued/db2.pem"] {
        let text = fs::read_to_string(dir.join(file)).expect("there");
        assert!(text.contains("ENCRYPTED PRIVATE KEY") && !text.contains("BEGIN PRIVATE KEY"), "{file}");
    }
    assert!(matches!(
        Signer::open(&dir, &"wrong".to_owned().into()).expect("nothing to open").leaf(&specs[0], NOW),
        Err(TrustError::WrongPassphrase { .. })
    ));

    // The next ones, by the same root: without naming it again.
    let before = signer.leaf(&specs[0], NOW).expect("there").cert_pem;
    let next = request(&dir, &specs[0], &passphrase(), false).expect("made");
    assert!(next.is_new);
    assert_eq!(signer.leaf(&specs[0], NOW).expect("still there").cert_pem, before);
    import(&dir, &company.signs(&next.csr_pem, DAY_S), None, &specs, NOW).expect("it holds");
    assert_ne!(signer.leaf(&specs[0], NOW).expect("there").cert_pem, before);
    // One that ends is not placed any more.
    let late = signer.leaf(&specs[0], NOW + 2 * DAY_S).expect_err("over");
    assert!(matches!(late, TrustError::Expired { .. }), "{late}");
}

#[test]
fn what_would_not_serve_is_refused_and_nothing_is_kept() {
    let (company, other, home) = (Company::new(), Company::new(), TempDir::new().expect("made"));
    let dir = home.path().join("ca");
    let specs = ["db1", "db2"].map(spec);
    let [one, two] = specs.each_ref().map(|one| request(&dir, one, &passphrase(), false).expect("made"));
    let good = company.signs(&one.csr_pem, DAY_S);
    let files = || {
        let mut all: Vec<PathBuf> = [dir.clone(), dir.join(REQUESTS), dir.join(ISSUED)]
            .iter()
            .filter_map(|dir| fs::read_dir(dir).ok())
            .flat_map(|entries| entries.map(|entry| entry.expect("there").path()))
            .collect();
        all.sort();
        all
    };
    let before = files();
    let refused = |given: &[u8], roots: Option<&[u8]>, words: &str| {
        let error = import(&dir, given, roots, &specs, NOW).expect_err(words).to_string();
        assert!(error.contains(words), "{words}: {error}");
        assert_eq!(files(), before, "{words}");
    };
    let root = company.root_pem();
    refused(&good, None, "the root of the CA is missing");
    refused(&good, Some(&other.root_pem()), "is not signed by any CA in the bundle");
    refused(&company.signs(&one.csr_pem, -1), Some(&root), "has expired");
    refused(&root, Some(&root), "no certificate of a server was given");
    refused(b"nonsense", Some(&root), "no certificate can be read");
    // Good ones beside one that is not are not kept either.
    let foreign = LeafSpec { common_name: "web".into(), ..spec("db1") };
    let elsewhere = home.path().join("elsewhere");
    let asked = request(&elsewhere, &foreign, &passphrase(), false).expect("made");
    let both = [good.clone(), company.signs(&asked.csr_pem, DAY_S)].concat();
    refused(&both, Some(&root), "no request that waits here has its key");
    let twice = [good.clone(), company.signs(&one.csr_pem, DAY_S)].concat();
    refused(&twice, Some(&root), "two certificates for db1");
    // A name that the inventory has since then.
    let more = [LeafSpec { dns: vec!["db1.example".into()], ..spec("db1") }, spec("db2")];
    let error = import(&dir, &good, Some(&root), &more, NOW).expect_err("it lacks one").to_string();
    assert!(error.contains("does not have db1.example"), "{error}");
    assert_eq!(files(), before);

    // Another root than that which servers trust.
    import(&dir, &good, Some(&root), &specs, NOW).expect("it holds");
    let error = import(&dir, &other.signs(&two.csr_pem, DAY_S), Some(&other.root_pem()), &specs, NOW)
        .expect_err("another root")
        .to_string();
    assert!(error.contains("is not signed by any CA in the bundle"), "{error}");
}

#[test]
fn a_cluster_with_a_ca_of_its_own_asks_nobody_else() {
    let home = TempDir::new().expect("made");
    let dir = home.path().join("ca");
    let ours = crate::CaSpec { common_name: "ours".into(), valid_days: 30, key: KeyKind::EcP256 };
    let ca = Ca::create(&ours, NOW).expect("made");
    ca.save(&dir, &passphrase()).expect("saved");
    let error = request(&dir, &spec("db1"), &passphrase(), false).expect_err("refused").to_string();
    assert!(error.contains("has a CA of its own") && error.contains("ours"), "{error}");
    assert!(!dir.join(REQUESTS).exists());
    let error = import(&dir, b"", None, &[], NOW).expect_err("refused").to_string();
    assert!(error.contains("has a CA of its own"), "{error}");
    let leaf = Signer::open(&dir, &passphrase()).expect("it opens").leaf(&spec("db1"), NOW).expect("made");
    chain_ok(leaf.cert_pem.as_bytes(), ca.cert_pem().as_bytes(), NOW).expect("it holds");
}
