//! A CA as companies have them, whose key sealion does not get: a root that signs an intermediate that signs servers.

use openssl::asn1::Asn1Time;
use openssl::bn::BigNum;
use openssl::ec::{EcGroup, EcKey};
use openssl::error::ErrorStack;
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::{HasPublic, PKey, PKeyRef, Private};
use openssl::rsa::Rsa;
use openssl::x509::extension::BasicConstraints;
use openssl::x509::{X509, X509Builder, X509Name, X509NameRef, X509Req};

const DAY_S: i64 = 86_400;

pub struct Company {
    root: X509,
    between: X509,
    key: PKey<Private>,
    now_unix: i64,
}

fn authority(subject: &str, issuer: Option<(&X509, &PKey<Private>)>, now_unix: i64) -> (X509, PKey<Private>) {
    let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).expect("known");
    let key = PKey::from_ec_key(EcKey::generate(&group).expect("made")).expect("made");
    authority_of(key, subject, issuer, now_unix)
}

fn authority_of(
    key: PKey<Private>,
    subject: &str,
    issuer: Option<(&X509, &PKey<Private>)>,
    now_unix: i64,
) -> (X509, PKey<Private>) {
    let mut name = X509Name::builder().expect("sound");
    name.append_entry_by_nid(Nid::COMMONNAME, subject).expect("sound");
    let name = name.build();
    let signer = issuer.map_or((name.as_ref(), &key), |(cert, key)| (cert.subject_name(), key));
    let cert = signed(
        &name,
        signer.0,
        key.as_ref(),
        signer.1,
        [now_unix - DAY_S, now_unix + 3650 * DAY_S],
        |builder| builder.append_extension(BasicConstraints::new().critical().ca().build().expect("sound")),
    );
    (cert, key)
}

fn signed(
    subject: &X509NameRef,
    issuer: &X509NameRef,
    public: &PKeyRef<impl HasPublic>,
    key: &PKey<Private>,
    [from_unix, to_unix]: [i64; 2],
    extend: impl FnOnce(&mut X509Builder) -> Result<(), ErrorStack>,
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
    builder.set_not_before(&time(from_unix)).expect("sound");
    builder.set_not_after(&time(to_unix)).expect("sound");
    extend(&mut builder).expect("sound");
    builder.sign(key, MessageDigest::sha256()).expect("sound");
    builder.build()
}

impl Company {
    /// Since a day before that time.
    #[must_use]
    pub fn new(now_unix: i64) -> Self {
        let (root, root_key) = authority("company root", None, now_unix);
        let (between, key) = authority("company servers", Some((&root, &root_key)), now_unix);
        Self { root, between, key, now_unix }
    }

    /// The same with a root whose key OpenSSL takes for too short.
    #[must_use]
    pub fn weak(now_unix: i64) -> Self {
        let short = PKey::from_rsa(Rsa::generate(1024).expect("made")).expect("made");
        let (root, root_key) = authority_of(short, "weak root", None, now_unix);
        let (between, key) = authority("weak servers", Some((&root, &root_key)), now_unix);
        Self { root, between, key, now_unix }
    }

    #[must_use]
    pub fn root_pem(&self) -> Vec<u8> {
        self.root.to_pem().expect("PEM")
    }

    /// As a CA that copies what a request asks for: the certificate, and the intermediate.
    #[must_use]
    pub fn signs(&self, csr_pem: &str, lasts_s: i64) -> Vec<u8> {
        let request = X509Req::from_pem(csr_pem.as_bytes()).expect("a request");
        let public = request.public_key().expect("a key");
        assert!(request.verify(&public).expect("checked"), "it is not signed with its own key");
        let leaf = signed(
            request.subject_name(),
            self.between.subject_name(),
            &public,
            &self.key,
            [self.now_unix - DAY_S, self.now_unix + lasts_s],
            |builder| {
                request.extensions()?.iter().try_for_each(|extension| builder.append_extension2(extension))
            },
        );
        [leaf.to_pem().expect("PEM"), self.between.to_pem().expect("PEM")].concat()
    }
}
