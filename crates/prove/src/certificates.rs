//! What the rogue shows in TLS: good and bad certificates, made for one run and forgotten with it.

use std::net::IpAddr;
use std::time::{SystemTime, UNIX_EPOCH};

use openssl::asn1::{Asn1Integer, Asn1IntegerRef, Asn1Time};
use openssl::bn::{BigNum, MsbOption};
use openssl::error::ErrorStack;
use openssl::hash::MessageDigest;
use openssl::pkey::{PKey, Private};
use openssl::rsa::Rsa;
use openssl::ssl::{SslAcceptor, SslAcceptorBuilder, SslMethod, SslOptions, SslVerifyMode, SslVersion};
use openssl::x509::extension::{BasicConstraints, ExtendedKeyUsage, KeyUsage, SubjectAlternativeName};
use openssl::x509::{X509, X509Name, X509NameBuilder};

use crate::attack::{Chain, Dates, Key, Names, Speaks, TlsLook};
use crate::crl;

const DAY_S: i64 = 24 * 3600;
/// Long enough for a lecture, too short to matter when a file is forgotten.
const VALID_S: i64 = 7 * DAY_S;
const STRANGER: &str = "someone-else.example";

struct Authority {
    certificate: X509,
    key: PKey<Private>,
}

/// The CAs of one run, and the keys of its leaves: RSA keys take a tenth of a second each.
pub struct Certificates {
    given: Authority,
    unknown: Authority,
    intermediate: Authority,
    key: PKey<Private>,
    short_key: PKey<Private>,
    revoked: Asn1Integer,
}

impl Certificates {
    /// # Errors
    /// Only where OpenSSL cannot make keys.
    pub fn new() -> Result<Self, ErrorStack> {
        let unknown = authority("sealion rogue: unknown CA", None)?;
        Ok(Self {
            given: authority("sealion rogue: the CA to be trusted", None)?,
            intermediate: authority("sealion rogue: unknown intermediate CA", Some(&unknown))?,
            unknown,
            key: rsa(2048)?,
            short_key: rsa(1024)?,
            revoked: serial()?,
        })
    }

    /// The CA that clients are told to trust.
    pub fn ca_pem(&self) -> Result<Vec<u8>, ErrorStack> {
        self.given.certificate.to_pem()
    }

    /// The list of certificates that this CA has revoked.
    pub fn crl_pem(&self) -> Result<Vec<u8>, ErrorStack> {
        crl::pem(
            &self.given.certificate,
            &self.given.key,
            &[&self.revoked],
            now_unix() - DAY_S,
            now_unix() + VALID_S,
        )
    }

    /// TLS as `look` wants it, for clients that connect to `host`.
    ///
    /// # Errors
    /// Where OpenSSL cannot do it: that is a bug of ours, every look is tested.
    pub fn acceptor(&self, look: &TlsLook, host: &str) -> Result<SslAcceptor, ErrorStack> {
        let mut builder = SslAcceptor::mozilla_intermediate_v5(SslMethod::tls_server())?;
        builder.set_verify(SslVerifyMode::NONE);
        speak(&mut builder, look.speaks)?;
        if look.speaks == Speaks::Anonymous {
            return Ok(builder.build());
        }
        let key = if look.key == Key::Rsa1024 { &self.short_key } else { &self.key };
        let issuer = match look.chain {
            Chain::Given => Some(&self.given),
            Chain::SelfSigned => None,
            Chain::UnknownWithRoot | Chain::UnknownLeafOnly => Some(&self.unknown),
            Chain::UnknownWithIntermediate => Some(&self.intermediate),
        };
        let number = if look.is_revoked { &self.revoked } else { &serial()? };
        let leaf = leaf(*look, host, key, issuer, number)?;
        builder.set_private_key(key)?;
        builder.set_certificate(&leaf)?;
        match look.chain {
            Chain::UnknownWithRoot => builder.add_extra_chain_cert(self.unknown.certificate.clone())?,
            Chain::UnknownWithIntermediate => {
                builder.add_extra_chain_cert(self.intermediate.certificate.clone())?;
            }
            // Clients without a CA of their own shall see the whole chain: what a bare leaf does has a case of its own.
            Chain::Given => builder.add_extra_chain_cert(self.given.certificate.clone())?,
            Chain::SelfSigned | Chain::UnknownLeafOnly => {}
        }
        Ok(builder.build())
    }
}

/// Everything is allowed that the case is not about: a client that refuses shall refuse for the case's reason.
fn speak(builder: &mut SslAcceptorBuilder, speaks: Speaks) -> Result<(), ErrorStack> {
    builder.clear_options(
        SslOptions::NO_TLSV1 | SslOptions::NO_TLSV1_1 | SslOptions::NO_TLSV1_2 | SslOptions::NO_TLSV1_3,
    );
    let (from, to, suites) = match speaks {
        Speaks::Modern => (SslVersion::TLS1, SslVersion::TLS1_3, "DEFAULT:@SECLEVEL=0"),
        Speaks::Tls10 => (SslVersion::TLS1, SslVersion::TLS1, "ALL:@SECLEVEL=0"),
        Speaks::Tls11 => (SslVersion::TLS1_1, SslVersion::TLS1_1, "ALL:@SECLEVEL=0"),
        Speaks::NullCipher => (SslVersion::TLS1_2, SslVersion::TLS1_2, "eNULL:!aNULL:@SECLEVEL=0"),
        Speaks::Anonymous => (SslVersion::TLS1_2, SslVersion::TLS1_2, "aNULL:!eNULL:@SECLEVEL=0"),
    };
    builder.set_security_level(0);
    builder.set_cipher_list(suites)?;
    builder.set_min_proto_version(Some(from))?;
    builder.set_max_proto_version(Some(to))
}

fn rsa(bits: u32) -> Result<PKey<Private>, ErrorStack> {
    PKey::from_rsa(Rsa::generate(bits)?)
}

fn name(common_name: &str) -> Result<X509Name, ErrorStack> {
    let mut builder = X509NameBuilder::new()?;
    builder.append_entry_by_text("CN", common_name)?;
    Ok(builder.build())
}

fn serial() -> Result<Asn1Integer, ErrorStack> {
    let mut number = BigNum::new()?;
    number.rand(127, MsbOption::MAYBE_ZERO, false)?;
    number.to_asn1_integer()
}

fn now_unix() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

fn authority(common_name: &str, issuer: Option<&Authority>) -> Result<Authority, ErrorStack> {
    let key = rsa(2048)?;
    let mut builder = X509::builder()?;
    builder.set_version(2)?;
    builder.set_serial_number(serial()?.as_ref())?;
    let subject = name(common_name)?;
    builder.set_subject_name(&subject)?;
    builder.set_issuer_name(issuer.map_or(subject.as_ref(), |issuer| issuer.certificate.subject_name()))?;
    builder.set_pubkey(&key)?;
    builder.set_not_before(Asn1Time::from_unix(now_unix() - DAY_S * 3)?.as_ref())?;
    builder.set_not_after(Asn1Time::from_unix(now_unix() + VALID_S)?.as_ref())?;
    builder.append_extension(BasicConstraints::new().critical().ca().build()?)?;
    builder.append_extension(KeyUsage::new().critical().key_cert_sign().crl_sign().build()?)?;
    builder.sign(issuer.map_or(&key, |issuer| &issuer.key), MessageDigest::sha256())?;
    Ok(Authority { certificate: builder.build(), key })
}

fn leaf(
    look: TlsLook,
    host: &str,
    key: &PKey<Private>,
    issuer: Option<&Authority>,
    number: &Asn1IntegerRef,
) -> Result<X509, ErrorStack> {
    let address: Option<IpAddr> = host.parse().ok();
    let mut san = SubjectAlternativeName::new();
    let mut has_san = true;
    let mut add = |text: &str| match text.parse::<IpAddr>() {
        Ok(_) => drop(san.ip(text)),
        Err(_) => drop(san.dns(text)),
    };
    let common_name = match look.names {
        Names::San => {
            add(host);
            "sealion rogue"
        }
        Names::Other => {
            add(STRANGER);
            STRANGER
        }
        Names::CnOnly | Names::AddressInCn => {
            has_san = false;
            host
        }
        Names::CnBesideOtherSan => {
            add(STRANGER);
            host
        }
        Names::Wildcard => {
            add(&format!("*.{}", host.split_once('.').map_or(host, |(_, rest)| rest)));
            "sealion rogue"
        }
        Names::AddressAsDns => {
            san.dns(&address.map_or_else(|| "127.0.0.1".to_owned(), |address| address.to_string()));
            "sealion rogue"
        }
    };
    let (from, until) = match look.dates {
        Dates::Valid => (-DAY_S, VALID_S),
        Dates::Expired => (-2 * DAY_S, -DAY_S),
        Dates::NotYet => (DAY_S, VALID_S),
    };
    let mut builder = X509::builder()?;
    builder.set_version(2)?;
    builder.set_serial_number(number)?;
    let subject = name(common_name)?;
    builder.set_subject_name(&subject)?;
    builder.set_issuer_name(issuer.map_or(subject.as_ref(), |issuer| issuer.certificate.subject_name()))?;
    builder.set_pubkey(key)?;
    builder.set_not_before(Asn1Time::from_unix(now_unix() + from)?.as_ref())?;
    builder.set_not_after(Asn1Time::from_unix(now_unix() + until)?.as_ref())?;
    builder.append_extension(BasicConstraints::new().critical().build()?)?;
    builder.append_extension(ExtendedKeyUsage::new().server_auth().build()?)?;
    if has_san {
        let extension = san.build(&builder.x509v3_context(None, None))?;
        builder.append_extension(extension)?;
    }
    let digest = if look.key == Key::Sha1 { MessageDigest::sha1() } else { MessageDigest::sha256() };
    builder.sign(issuer.map_or(key, |issuer| &issuer.key), digest)?;
    Ok(builder.build())
}
