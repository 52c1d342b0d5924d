//! The other TLS library: rustls, with ring's cryptography. For `bench`, which compares libraries, and which resumes sessions:
//! with the `openssl` crate only `unsafe` code can.

use std::io::Write;
use std::net::IpAddr;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{
    Resumption, Tls12Resumption, WebPkiServerVerifier, verify_server_cert_signed_by_trust_anchor,
};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, HandshakeKind, NamedGroup, RootCertStore,
    SignatureScheme, StreamOwned, SupportedCipherSuite, SupportedProtocolVersion, version,
};
use wire::tls::registry;

use crate::dial::Socket;
use crate::error::{Doing, NetError, TlsFault};
use crate::options::{Resumes, SslMode, TlsOptions, TlsVersion};
use crate::tls_info::{TlsInfo, Verified, hex};
use crate::tls_input::{key_pem, record_bytes, usage};

/// Sessions that are remembered, of all servers together.
const SESSIONS_MAX: usize = 256;
const RECORD_HEADER_BYTES: usize = 5;

/// A configuration as the options want it.
pub(crate) fn config(options: &TlsOptions, resumes: Resumes) -> Result<Arc<ClientConfig>, NetError> {
    let absent = |what: &str| {
        usage(format!("{what} cannot be chosen with rustls"), "leave it out, or let OpenSSL do TLS")
    };
    if options.crl.is_some() {
        return Err(absent("a CRL"));
    }
    if options.signature_algorithms.is_some() {
        return Err(absent("signature algorithms"));
    }
    if options.reads_system_cas {
        return Err(absent("reading the system's CAs for each connection"));
    }
    let min = options.min_version.unwrap_or(TlsVersion::Tls12);
    let versions: Vec<&SupportedProtocolVersion> =
        [(TlsVersion::Tls12, &version::TLS12), (TlsVersion::Tls13, &version::TLS13)]
            .into_iter()
            .filter(|(version, _)| *version >= min && options.max_version.is_none_or(|max| *version <= max))
            .map(|(_, version)| version)
            .collect();
    if versions.is_empty() {
        return Err(absent("TLS older than 1.2, or no version at all,"));
    }
    let mut provider = ring::default_provider();
    if let Some(list) = &options.ciphers {
        keep_suites(&mut provider, list, false)?;
    }
    if let Some(list) = &options.ciphersuites {
        keep_suites(&mut provider, list, true)?;
    }
    if let Some(list) = &options.groups {
        keep_groups(&mut provider, list)?;
    }
    let provider = Arc::new(provider);
    let algorithms = provider.signature_verification_algorithms;
    let failed = |error: rustls::Error| usage(format!("rustls: {error}"), "choose other TLS options");
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&versions)
        .map_err(failed)?;
    let roots = roots(options)?;
    let verifier: Arc<dyn ServerCertVerifier> = match options.mode {
        SslMode::VerifyIdentity => WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .map_err(|error| usage(format!("rustls: {error}"), "give a CA file with --ssl-ca"))?,
        mode => Arc::new(Lenient { roots: mode.verifies_chain().then_some(roots), algorithms }),
    };
    let builder = builder.dangerous().with_custom_certificate_verifier(verifier);
    let mut config = match (&options.cert, &options.key) {
        (None, None) => builder.with_no_client_auth(),
        (Some(cert), Some(key)) => {
            let chain = certificates(cert)?;
            let key = PrivateKeyDer::from_pem_slice(&key_pem(key)?).map_err(|error| {
                usage(
                    format!("the key {} cannot be used: {error}", key.display()),
                    "give a PEM file with --ssl-key",
                )
            })?;
            builder.with_client_auth_cert(chain, key).map_err(failed)?
        }
        _ => {
            return Err(usage(
                "a client certificate and its key are only of use together".to_owned(),
                "give both --ssl-cert and --ssl-key",
            ));
        }
    };
    let remembered = |of_tls12| Resumption::in_memory_sessions(SESSIONS_MAX).tls12_resumption(of_tls12);
    config.resumption = match resumes {
        Resumes::No => Resumption::disabled(),
        Resumes::Any => remembered(Tls12Resumption::SessionIdOrTickets),
        Resumes::ById => remembered(Tls12Resumption::SessionIdOnly),
    };
    // It counts a header along.
    config.max_fragment_size = record_bytes(options)?.map(|bytes| bytes + RECORD_HEADER_BYTES);
    Ok(Arc::new(config))
}

fn certificates(path: &std::path::Path) -> Result<Vec<CertificateDer<'static>>, NetError> {
    let unusable = |error: &dyn ToString| {
        usage(
            format!("the certificate file {} cannot be used: {}", path.display(), error.to_string()),
            "give a PEM file that you may read",
        )
    };
    CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unusable(&error))
}

fn roots(options: &TlsOptions) -> Result<RootCertStore, NetError> {
    let mut store = RootCertStore::empty();
    match &options.ca {
        None if options.mode.verifies_chain() => {
            return Err(usage(
                format!("ssl-mode {} needs a CA to trust", options.mode),
                "give the CA certificate with --ssl-ca, or use ssl-mode REQUIRED",
            ));
        }
        None => {}
        Some(path) => {
            for certificate in certificates(path)? {
                store.add(certificate).map_err(|error| {
                    usage(format!("{} is no CA for rustls: {error}", path.display()), "let OpenSSL do TLS")
                })?;
            }
        }
    }
    Ok(store)
}

fn keep_suites(provider: &mut CryptoProvider, list: &str, is_13: bool) -> Result<(), NetError> {
    let is_wanted = |suite: &SupportedCipherSuite| {
        let known = registry::cipher_suite(u16::from(suite.suite()));
        known.is_some_and(|known| {
            list.split(':').any(|name| name == known.name || Some(name) == known.openssl_name)
        })
    };
    let of_this_version = |suite: &SupportedCipherSuite| suite.tls13().is_some() == is_13;
    provider.cipher_suites.retain(|suite| !of_this_version(suite) || is_wanted(suite));
    if provider.cipher_suites.iter().any(of_this_version) {
        return Ok(());
    }
    Err(usage(
        format!("rustls has none of the cipher suites \"{}\"", wire::printable(list)),
        "give names of suites with ECDHE and AEAD, with `:` between, or let OpenSSL do TLS",
    ))
}

fn keep_groups(provider: &mut CryptoProvider, list: &str) -> Result<(), NetError> {
    let named = |name: &str| match name {
        "X25519" | "x25519" => Some(NamedGroup::X25519),
        "P-256" | "prime256v1" | "secp256r1" => Some(NamedGroup::secp256r1),
        "P-384" | "secp384r1" => Some(NamedGroup::secp384r1),
        _ => None,
    };
    let mut kept = Vec::new();
    for name in list.split(':') {
        let found =
            named(name).and_then(|group| provider.kx_groups.iter().find(|known| known.name() == group));
        kept.extend(found.copied());
    }
    if kept.is_empty() {
        return Err(usage(
            format!("rustls with ring has none of the groups \"{}\"", wire::printable(list)),
            "X25519, P-256 and P-384 are there; for others let OpenSSL do TLS",
        ));
    }
    provider.kx_groups = kept;
    Ok(())
}

/// What MySQL's clients do with REQUIRED and VERIFY_CA: any certificate, or any of the CA, whatever name is in it. That the
/// peer has the key is checked always.
#[derive(Debug)]
struct Lenient {
    roots: Option<RootCertStore>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if let Some(roots) = &self.roots {
            let leaf = ParsedCertificate::try_from(end_entity)?;
            verify_server_cert_signed_by_trust_anchor(&leaf, roots, intermediates, now, self.algorithms.all)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

pub(crate) type Stream = StreamOwned<ClientConnection, Socket>;

/// Does the handshake; `name` is a host name or an address.
pub(crate) fn handshake(
    config: &Arc<ClientConfig>,
    options: &TlsOptions,
    name: &str,
    socket: Socket,
    doing: &Doing<'_>,
) -> Result<(Stream, TlsInfo), NetError> {
    let server = match name.parse::<IpAddr>() {
        Ok(ip) => ServerName::from(ip),
        Err(_) => ServerName::try_from(name.to_owned()).map_err(|error| {
            usage(format!("rustls rejects this name: {error}"), "name the server by its address")
        })?,
    };
    let connection = ClientConnection::new(Arc::clone(config), server)
        .map_err(|error| usage(format!("rustls: {error}"), "let OpenSSL do TLS"))?;
    let mut stream = StreamOwned::new(connection, socket);
    while stream.conn.is_handshaking() {
        if let Err(error) = stream.conn.complete_io(&mut stream.sock) {
            return Err(failure(&error, stream.sock.not_tls(), doing));
        }
    }
    // What is left of the handshake goes out before anything else does.
    stream.flush().map_err(|error| doing.io(&error))?;
    let info = info(&stream.conn, options.mode);
    Ok((stream, info))
}

fn failure(error: &std::io::Error, not_tls: Option<&[u8]>, doing: &Doing<'_>) -> NetError {
    if let Some(bytes) = not_tls {
        return doing.misbehaved(format!(
            "instead of the first TLS record it sent cleartext, beginning with {}",
            hex(bytes)
        ));
    }
    let Some(tls) = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) else {
        return doing.io(error);
    };
    let fault = match tls {
        rustls::Error::InvalidCertificate(
            rustls::CertificateError::NotValidForName
            | rustls::CertificateError::NotValidForNameContext { .. },
        ) => TlsFault::NameMismatch,
        rustls::Error::InvalidCertificate(_) => TlsFault::ChainNotTrusted,
        _ => TlsFault::Handshake,
    };
    NetError::Tls { endpoint: doing.endpoint.to_owned(), fault, why: tls.to_string() }
}

fn info(connection: &ClientConnection, mode: SslMode) -> TlsInfo {
    let suite = connection.negotiated_cipher_suite().map(|suite| u16::from(suite.suite()));
    let known = suite.and_then(registry::cipher_suite);
    let version = match connection.protocol_version() {
        Some(rustls::ProtocolVersion::TLSv1_3) => "TLSv1.3",
        Some(rustls::ProtocolVersion::TLSv1_2) => "TLSv1.2",
        _ => "unknown",
    };
    TlsInfo {
        version: version.to_owned(),
        cipher: known.map_or_else(String::new, |known| known.openssl_name.unwrap_or(known.name).to_owned()),
        cipher_bits: known.map_or(0, |known| i32::from(known.strength_bits)),
        verified: match mode {
            SslMode::VerifyIdentity => Verified::ChainAndName,
            SslMode::VerifyCa => Verified::Chain,
            _ => Verified::Nothing,
        },
        chain_verdict: if mode.verifies_chain() { "ok" } else { "not looked at" }.to_owned(),
        chain_der: connection
            .peer_certificates()
            .unwrap_or_default()
            .iter()
            .map(|certificate| certificate.as_ref().to_vec())
            .collect(),
        session_reused: connection.handshake_kind() == Some(HandshakeKind::Resumed),
    }
}
