//! TLS 1.3 with both ends authenticated.

use std::net::TcpStream;
use std::path::PathBuf;
use std::time::Duration;

use openssl::asn1::{Asn1Integer, Asn1Time};
use openssl::bn::BigNum;
use openssl::error::ErrorStack;
use openssl::hash::MessageDigest;
use openssl::pkey::{PKey, PKeyRef, Private, Public};
use openssl::ssl::{
    HandshakeError, SslAcceptor, SslConnector, SslContextBuilder, SslFiletype, SslMethod, SslMode,
    SslOptions, SslRef, SslSessionCacheMode, SslVerifyMode, SslVersion,
};
use openssl::x509::{X509, X509Name};

use crate::StreamError;
use crate::code::{Code, Role};
use crate::link::{Buffered, Channel};

/// How each end knows the other.
#[derive(Debug)]
pub enum Identity {
    Code(Code),
    Certificates(Certificates),
    /// Nobody knows anybody, and nothing is encrypted.
    #[cfg(feature = "clear")]
    Clear,
}

/// Of a CA that both ends know. The sender also wants the name in the receiver's certificate to be that which it connects to.
#[derive(Debug, Clone)]
pub struct Certificates {
    pub ca: PathBuf,
    pub cert: PathBuf,
    pub key: PathBuf,
}

const HANDSHAKE_MAX: Duration = Duration::from_secs(15);

/// What one end makes its connections with.
pub struct Tls {
    is_receiver: bool,
    is_by_code: bool,
    acceptor: Option<SslAcceptor>,
    connector: Option<SslConnector>,
}

fn setup(what: &str) -> impl Fn(ErrorStack) -> StreamError + '_ {
    move |error| StreamError::Setup {
        what: what.to_owned(),
        why: error.to_string(),
        next:
            "check the files of --ssl-ca, --ssl-cert and --ssl-key; the key must be that of the certificate"
                .into(),
    }
}

impl Tls {
    pub fn new(identity: &Identity, role: Role, suites: Option<&str>) -> Result<Self, StreamError> {
        let is_by_code = matches!(identity, Identity::Code(_));
        let said = setup("TLS cannot be set up");
        let (mut acceptor, mut connector) = (None, None);
        #[cfg(feature = "clear")]
        if matches!(identity, Identity::Clear) {
            return Ok(Self { is_receiver: role == Role::Receiver, is_by_code, acceptor, connector });
        }
        match role {
            Role::Receiver => {
                let mut builder = SslAcceptor::mozilla_modern_v5(SslMethod::tls_server()).map_err(&said)?;
                configure(&mut builder, identity, role, suites)?;
                builder.set_num_tickets(0).map_err(&said)?;
                acceptor = Some(builder.build());
            }
            Role::Sender => {
                let mut builder = SslConnector::builder(SslMethod::tls_client()).map_err(&said)?;
                configure(&mut builder, identity, role, suites)?;
                connector = Some(builder.build());
            }
        }
        Ok(Self { is_receiver: role == Role::Receiver, is_by_code, acceptor, connector })
    }

    /// `name`: what the sender called the receiver.
    pub fn handshake(&self, tcp: TcpStream, peer: &str, name: &str) -> Result<Channel, StreamError> {
        let broken = |error: std::io::Error| StreamError::Connect {
            peer: peer.to_owned(),
            why: error.to_string(),
            next: "try again".into(),
        };
        tcp.set_nodelay(true).map_err(broken)?;
        tcp.set_read_timeout(Some(HANDSHAKE_MAX)).map_err(broken)?;
        tcp.set_write_timeout(Some(HANDSHAKE_MAX)).map_err(broken)?;
        let tcp = Buffered::new(tcp).ends_within(HANDSHAKE_MAX);
        let shaken = match (&self.acceptor, &self.connector) {
            (Some(acceptor), _) => acceptor.accept(tcp),
            (None, Some(connector)) => {
                let config = connector.configure().map_err(setup("TLS cannot be set up"))?;
                // A code names no host.
                config
                    .verify_hostname(!self.is_by_code)
                    .use_server_name_indication(!self.is_by_code)
                    .connect(name, tcp)
            }
            #[cfg(feature = "clear")]
            (None, None) => {
                let mut tcp = tcp;
                tcp.set_timeouts().map_err(broken)?;
                return Ok(Channel::Clear(tcp));
            }
            #[cfg(not(feature = "clear"))]
            (None, None) => return Err(StreamError::Stopped),
        };
        let mut stream = shaken.map_err(|error| self.refused(peer, &error))?;
        // The receiver's refusal of our certificate comes behind the handshake, with the first read.
        let _ = std::io::Write::flush(stream.get_mut());
        if stream.ssl().version2() != Some(SslVersion::TLS1_3) || stream.ssl().peer_certificate().is_none() {
            return Err(StreamError::Identity {
                peer: peer.to_owned(),
                why: "it did not show a certificate over TLS 1.3".into(),
                next: "use the same version of sealion at both ends".into(),
            });
        }
        stream.get_mut().set_timeouts().map_err(broken)?;
        Ok(Channel::Tls(stream))
    }

    fn refused(&self, peer: &str, error: &HandshakeError<Buffered>) -> StreamError {
        let next = match (self.is_by_code, self.is_receiver) {
            (true, _) => "give the sender the code that this receiver has shown: a code is for one copy",
            (false, true) => "the sender needs a certificate of the CA of --ssl-ca",
            (false, false) => {
                "connect to a name that is in the receiver's certificate, and use the CA that has signed it"
            }
        };
        let (why, is_io) = match error {
            HandshakeError::SetupFailure(stack) => (stack.to_string(), false),
            HandshakeError::Failure(mid) | HandshakeError::WouldBlock(mid) => {
                let verified = mid.ssl().verify_result();
                if mid.error().io_error().is_some() {
                    (
                        format!("no answer to the handshake within {} s, or none", HANDSHAKE_MAX.as_secs()),
                        true,
                    )
                } else if verified == openssl::x509::X509VerifyResult::OK {
                    (mid.error().to_string(), false)
                } else {
                    (verified.error_string().to_owned(), false)
                }
            }
        };
        if is_io {
            let next = "check that sealion receive is there, and not another program".into();
            return StreamError::Connect { peer: peer.to_owned(), why, next };
        }
        // Ours was refused, or theirs; whoever says nothing of that is no sender with another code.
        let is_refusal = match error {
            HandshakeError::SetupFailure(_) => false,
            HandshakeError::Failure(mid) | HandshakeError::WouldBlock(mid) => {
                mid.ssl().verify_result() != openssl::x509::X509VerifyResult::OK || why.contains("alert")
            }
        };
        let why = match (self.is_by_code, is_refusal) {
            (true, true) => format!("the code is another one ({why})"),
            (true, false) => format!("it made no handshake as sealion does ({why})"),
            (false, _) => why,
        };
        StreamError::Identity { peer: peer.to_owned(), why, next: next.into() }
    }
}

fn configure(
    builder: &mut SslContextBuilder,
    identity: &Identity,
    role: Role,
    suites: Option<&str>,
) -> Result<(), StreamError> {
    let said = setup("TLS cannot be set up");
    builder.set_min_proto_version(Some(SslVersion::TLS1_3)).map_err(&said)?;
    builder.set_session_cache_mode(SslSessionCacheMode::OFF);
    builder.set_options(SslOptions::NO_TICKET | SslOptions::NO_RENEGOTIATION);
    builder.set_mode(SslMode::AUTO_RETRY);
    if let Some(suites) = suites {
        builder.set_ciphersuites(suites).map_err(&said)?;
    }
    let verify = SslVerifyMode::PEER | SslVerifyMode::FAIL_IF_NO_PEER_CERT;
    match identity {
        Identity::Code(code) => {
            let key = code.key(role).map_err(&said)?;
            let certificate = self_signed(&key).map_err(&said)?;
            builder.set_private_key(&key).map_err(&said)?;
            builder.set_certificate(&certificate).map_err(&said)?;
            let wanted = code.key(role.other()).and_then(|key| key.raw_public_key()).map_err(&said)?;
            // Nothing but the key counts: there is no CA, and the dates of the certificate mean nothing.
            builder.set_verify_callback(verify, move |_, chain| {
                chain.error_depth() == 0
                    && chain.current_cert().is_some_and(|leaf| is_of(&leaf.to_owned(), &wanted))
            });
        }
        Identity::Certificates(files) => {
            builder
                .set_ca_file(&files.ca)
                .map_err(setup(&format!("{} cannot be read", files.ca.display())))?;
            builder
                .set_certificate_chain_file(&files.cert)
                .map_err(setup(&format!("{} cannot be read", files.cert.display())))?;
            builder
                .set_private_key_file(&files.key, SslFiletype::PEM)
                .and_then(|()| builder.check_private_key())
                .map_err(setup(&format!("{} is not the key of the certificate", files.key.display())))?;
            builder.set_verify(verify);
        }
        #[cfg(feature = "clear")]
        Identity::Clear => {}
    }
    Ok(())
}

fn is_of(certificate: &X509, raw_public_key: &[u8]) -> bool {
    let key: Result<PKey<Public>, _> = certificate.public_key();
    key.and_then(|key| key.raw_public_key()).is_ok_and(|shown| shown == raw_public_key)
}

/// TLS 1.3 has no other form for a key that both ends have agreed on than a certificate.
fn self_signed(key: &PKeyRef<Private>) -> Result<X509, ErrorStack> {
    let mut name = X509Name::builder()?;
    name.append_entry_by_text("CN", "sealion stream")?;
    let name = name.build();
    let mut builder = X509::builder()?;
    builder.set_version(2)?;
    let serial = Asn1Integer::from_bn(&*BigNum::from_u32(1)?)?;
    builder.set_serial_number(&serial)?;
    builder.set_subject_name(&name)?;
    builder.set_issuer_name(&name)?;
    builder.set_pubkey(key)?;
    builder.set_not_before(&*Asn1Time::from_str("20200101000000Z")?)?;
    builder.set_not_after(&*Asn1Time::from_str("20991231235959Z")?)?;
    builder.sign(key, MessageDigest::null())?;
    Ok(builder.build())
}

/// As OpenSSL names them.
pub fn version_and_suite(ssl: &SslRef) -> (String, String) {
    let suite = ssl.current_cipher().map_or("", |suite| suite.standard_name().unwrap_or(suite.name()));
    (ssl.version_str().to_owned(), suite.to_owned())
}
