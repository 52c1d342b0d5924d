//! TLS sessions with OpenSSL: contexts from options, handshakes, and what a session turned out to be.

use std::io::{self, Read, Write};
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use openssl::error::ErrorStack;
use openssl::pkey::PKey;
use openssl::ssl::{
    self, HandshakeError, Ssl, SslContext, SslContextBuilder, SslFiletype, SslMethod, SslOptions, SslStream,
    SslVerifyMode, SslVersion,
};
use openssl::x509::store::X509Lookup;
use openssl::x509::verify::X509VerifyFlags;
use openssl::x509::{X509, X509VerifyResult};
use secrecy::ExposeSecret;

use crate::dial::Socket;
use crate::error::{Doing, NetError, TlsFault, reason_of, ssl_error_text};
use crate::options::{PemSet, TlsLibrary, TlsOptions, TlsVersion};
use crate::tls_info::{TlsInfo, Verified, hex};
use crate::tls_input::{key_pem, record_bytes, usage};
use crate::tls_rustls;

/// `SSL_OP_LEGACY_SERVER_CONNECT` (openssl/ssl.h), which the binding has no name for.
const LEGACY_SERVER_CONNECT: u64 = 1 << 2;

/// A context as the options want it. Verification is set for each session ([`handshake`]).
pub(crate) fn context(options: &TlsOptions) -> Result<SslContext, NetError> {
    let mut builder = SslContext::builder(SslMethod::tls_client())
        .map_err(|error| usage(format!("OpenSSL cannot make a TLS context: {error}"), "report this"))?;
    let min = options.min_version.unwrap_or(TlsVersion::Tls12);
    if options.max_version.is_some_and(|max| max < min) {
        return Err(usage(
            format!("the newest TLS version allowed is older than the oldest one, {min}"),
            "allow an older one with --tls-min",
        ));
    }
    let set = |builder: &mut SslContextBuilder| {
        builder.set_min_proto_version(Some(min.openssl()))?;
        builder.set_max_proto_version(options.max_version.map(TlsVersion::openssl))?;
        if min.openssl() == SslVersion::TLS1 || min.openssl() == SslVersion::TLS1_1 {
            // OpenSSL 3 and newer sign nothing with SHA-1 above level 0, and these versions need that.
            builder.set_security_level(0);
            builder.set_cipher_list("DEFAULT:@SECLEVEL=0")?;
            // yaSSL (MySQL 5.5 to 5.7) knows nothing of RFC 5746, and OpenSSL 3 speaks with nobody else. Nothing is ever
            // renegotiated here.
            builder.set_options(SslOptions::from_bits_retain(LEGACY_SERVER_CONNECT));
        }
        Ok::<_, openssl::error::ErrorStack>(())
    };
    if !options.is_unmarked {
        builder
            .set_alpn_protos(wire::tls::mark::ALPN_LIST)
            .map_err(|error| usage(format!("OpenSSL cannot mark a session: {error}"), "report this"))?;
    }
    set(&mut builder)
        .map_err(|error| usage(format!("OpenSSL refuses these TLS versions: {error}"), "choose others"))?;
    for list in [&options.ciphers, &options.ciphersuites, &options.groups, &options.signature_algorithms] {
        // The binding takes no such text, and ends the program.
        if list.as_ref().is_some_and(|list| list.contains('\0')) {
            return Err(usage("a list of TLS has a NUL in it".to_owned(), "take it out"));
        }
    }
    if let Some(ciphers) = &options.ciphers {
        builder.set_cipher_list(ciphers).map_err(|error| list_error("ciphers", ciphers, &error))?;
    }
    if let Some(suites) = &options.ciphersuites {
        builder
            .set_ciphersuites(suites)
            .map_err(|error| list_error("TLS 1.3 cipher suites", suites, &error))?;
    }
    if let Some(groups) = &options.groups {
        builder.set_groups_list(groups).map_err(|error| list_error("groups", groups, &error))?;
    }
    if let Some(algorithms) = &options.signature_algorithms {
        builder
            .set_sigalgs_list(algorithms)
            .map_err(|error| list_error("signature algorithms", algorithms, &error))?;
    }
    record_bytes(options)?;
    builder.set_read_ahead(options.read_ahead);
    if options.reads_system_cas {
        let file = openssl_probe::probe().cert_file.ok_or_else(|| {
            usage(
                "the file of the system's CAs was not found".to_owned(),
                "install ca-certificates, or say where it is with SSL_CERT_FILE",
            )
        })?;
        builder.set_ca_file(&file).map_err(|error| file_error("CA", &file, &error))?;
    }
    if let Some(pem) = &options.pem {
        in_memory(&mut builder, pem).map_err(|error| {
            usage(
                format!("the CA, certificate and key that were read elsewhere do not fit: {error}"),
                "put back the three files that belong together",
            )
        })?;
    } else if let Some(ca) = &options.ca {
        builder.set_ca_file(ca).map_err(|error| file_error("CA", ca, &error))?;
    } else if options.mode.verifies_chain() && !options.reads_system_cas {
        return Err(usage(
            format!("ssl-mode {} needs a CA to trust", options.mode),
            "give the CA certificate with --ssl-ca, or use ssl-mode REQUIRED",
        ));
    }
    if let Some(crl) = &options.crl {
        let load = |builder: &mut SslContextBuilder| {
            let lookup = builder.cert_store_mut().add_lookup(X509Lookup::file())?;
            lookup.load_crl_file(crl, SslFiletype::PEM)?;
            builder.verify_param_mut().set_flags(X509VerifyFlags::CRL_CHECK)
        };
        load(&mut builder).map_err(|error| file_error("CRL", crl, &error))?;
    }
    match (&options.cert, &options.key) {
        (None, None) => {}
        (Some(cert), Some(key)) => client_certificate(&mut builder, cert, key)?,
        _ => {
            return Err(usage(
                "a client certificate and its key are only of use together".to_owned(),
                "give both --ssl-cert and --ssl-key",
            ));
        }
    }
    Ok(builder.build())
}

fn in_memory(builder: &mut SslContextBuilder, pem: &PemSet) -> Result<(), ErrorStack> {
    for ca in X509::stack_from_pem(&pem.ca)? {
        builder.cert_store_mut().add_cert(ca)?;
    }
    for (at, cert) in X509::stack_from_pem(&pem.cert)?.into_iter().enumerate() {
        if at == 0 {
            builder.set_certificate(&cert)?;
        } else {
            builder.add_extra_chain_cert(cert)?;
        }
    }
    let key = PKey::private_key_from_pem_callback(pem.key.expose_secret().as_bytes(), |_| Ok(0))?;
    builder.set_private_key(&key)?;
    builder.check_private_key()
}

fn client_certificate(builder: &mut SslContextBuilder, cert: &Path, key: &Path) -> Result<(), NetError> {
    builder.set_certificate_chain_file(cert).map_err(|error| file_error("certificate", cert, &error))?;
    let pem = key_pem(key)?;
    // The callback is there so that OpenSSL never asks for a passphrase on the terminal.
    let key_pair = PKey::private_key_from_pem_callback(&pem, |_| Ok(0)).map_err(|_| {
        usage(
            format!("{} holds no private key, or one with a passphrase", key.display()),
            "take the passphrase off with `openssl pkey` into a file of mode 0600",
        )
    })?;
    builder.set_private_key(&key_pair).and_then(|()| builder.check_private_key()).map_err(|_| {
        usage(
            format!("the key {} does not belong to the certificate {}", key.display(), cert.display()),
            "give the two files of one pair",
        )
    })
}

fn list_error(what: &str, list: &str, error: &openssl::error::ErrorStack) -> NetError {
    usage(
        format!("OpenSSL does not take the {what} \"{}\": {}", wire::printable(list), reason_of(error)),
        match what {
            "groups" => {
                "give names as OpenSSL spells them, with `:` between: X25519:P-256, and from 3.5 on X25519MLKEM768"
            }
            "signature algorithms" => {
                "give names as OpenSSL spells them, with `:` between: ECDSA+SHA256:rsa_pss_rsae_sha256:RSA+SHA256"
            }
            _ => "give names as `openssl ciphers` spells them, with `:` between",
        },
    )
}

fn file_error(what: &str, path: &Path, error: &openssl::error::ErrorStack) -> NetError {
    let reason = match std::fs::metadata(path) {
        Err(error) => error.to_string(),
        Ok(_) => reason_of(error),
    };
    usage(
        format!("the {what} file {} cannot be used: {reason}", path.display()),
        "give a PEM file that you may read",
    )
}

/// What the options want, for the library that they want.
#[derive(Debug, Clone)]
pub(crate) enum Context {
    OpenSsl(SslContext),
    Rustls(Arc<rustls::ClientConfig>),
}

impl Context {
    pub(crate) fn new(options: &TlsOptions) -> Result<Self, NetError> {
        Ok(match options.library {
            TlsLibrary::OpenSsl => Self::OpenSsl(context(options)?),
            TlsLibrary::Rustls { resumes } => Self::Rustls(tls_rustls::config(options, resumes)?),
        })
    }
}

/// A session, of either library.
#[derive(Debug)]
pub(crate) enum Session {
    /// Each write is a record of its own, of so many bytes at most.
    OpenSsl(Box<SslStream<Socket>>, usize),
    Rustls(Box<tls_rustls::Stream>),
}

impl Session {
    /// Does the handshake. `name` is the host name or address to verify, where the mode wants that.
    pub(crate) fn begin(
        context: &Context,
        options: &TlsOptions,
        name: &str,
        socket: Socket,
        doing: &Doing<'_>,
    ) -> Result<(Self, TlsInfo), NetError> {
        match context {
            Context::OpenSsl(context) => {
                handshake(context, options, name, socket, doing).map(|(stream, info)| {
                    let record_bytes = options.record_bytes.map_or(usize::MAX, usize::from);
                    (Self::OpenSsl(Box::new(stream), record_bytes), info)
                })
            }
            Context::Rustls(config) => tls_rustls::handshake(config, options, name, socket, doing)
                .map(|(stream, info)| (Self::Rustls(Box::new(stream)), info)),
        }
    }

    /// Says that nothing more comes. The peer may be gone, and nobody waits for its answer.
    pub(crate) fn shutdown(&mut self) {
        match self {
            Self::OpenSsl(stream, _) => {
                let _ = stream.shutdown();
            }
            Self::Rustls(stream) => {
                stream.conn.send_close_notify();
                let _ = stream.flush();
            }
        }
    }

    pub(crate) fn holds_back(&self) -> bool {
        match self {
            Self::OpenSsl(..) => false,
            Self::Rustls(stream) => stream.conn.wants_write(),
        }
    }

    pub(crate) fn socket(&self) -> &Socket {
        match self {
            Self::OpenSsl(stream, _) => stream.get_ref(),
            Self::Rustls(stream) => stream.get_ref(),
        }
    }

    pub(crate) fn socket_mut(&mut self) -> &mut Socket {
        match self {
            Self::OpenSsl(stream, _) => stream.get_mut(),
            Self::Rustls(stream) => stream.get_mut(),
        }
    }
}

impl Read for Session {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::OpenSsl(stream, _) => stream.read(buffer),
            Self::Rustls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Session {
    /// rustls takes what the socket has no room for into its own buffer, and sends it with the next call.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::OpenSsl(stream, record_bytes) => stream.write(bytes.get(..*record_bytes).unwrap_or(bytes)),
            Self::Rustls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::OpenSsl(stream, _) => stream.flush(),
            Self::Rustls(stream) => stream.flush(),
        }
    }
}

/// Does the handshake. `name` is the host name or address to verify, where the mode wants that.
pub(crate) fn handshake(
    context: &SslContext,
    options: &TlsOptions,
    name: &str,
    socket: Socket,
    doing: &Doing<'_>,
) -> Result<(SslStream<Socket>, TlsInfo), NetError> {
    let setup = |error: openssl::error::ErrorStack| usage(format!("OpenSSL: {error}"), "report this");
    let mut ssl = Ssl::new(context).map_err(setup)?;
    ssl.set_verify(if options.mode.verifies_chain() { SslVerifyMode::PEER } else { SslVerifyMode::NONE });
    let address = name.parse::<IpAddr>().ok();
    if address.is_none() {
        // SNI is for names; a name that OpenSSL does not accept as SNI is simply not told.
        let _ = ssl.set_hostname(name);
    }
    let verified = if options.mode == crate::options::SslMode::VerifyIdentity {
        match address {
            Some(address) => ssl.param_mut().set_ip(address).map_err(setup)?,
            None => ssl.param_mut().set_host(name).map_err(setup)?,
        }
        Verified::ChainAndName
    } else if options.mode.verifies_chain() {
        Verified::Chain
    } else {
        Verified::Nothing
    };
    match ssl.connect(socket) {
        Ok(stream) => {
            let info = TlsInfo::of(stream.ssl(), verified);
            Ok((stream, info))
        }
        Err(HandshakeError::SetupFailure(error)) => Err(setup(error)),
        Err(HandshakeError::WouldBlock(_)) => Err(NetError::TimedOut {
            endpoint: doing.endpoint.to_owned(),
            doing: "the TLS handshake",
            after: doing.after,
        }),
        Err(HandshakeError::Failure(stopped)) => Err(failure(
            stopped.ssl().verify_result(),
            options,
            name,
            stopped.error(),
            stopped.get_ref().not_tls(),
            doing,
        )),
    }
}

fn failure(
    verdict: X509VerifyResult,
    options: &TlsOptions,
    name: &str,
    error: &ssl::Error,
    not_tls: Option<&[u8]>,
    doing: &Doing<'_>,
) -> NetError {
    let endpoint = doing.endpoint.to_owned();
    if let Some(bytes) = not_tls {
        return doing.misbehaved(format!(
            "instead of the first TLS record it sent cleartext, beginning with {}",
            hex(bytes)
        ));
    }
    if options.mode.verifies_chain() && verdict != X509VerifyResult::OK {
        let reason = verdict.error_string();
        // X509_V_ERR_HOSTNAME_MISMATCH and X509_V_ERR_IP_ADDRESS_MISMATCH.
        if matches!(verdict.as_raw(), 62 | 64) {
            let why = format!("its certificate is valid, but not for {name}: {reason}");
            return NetError::Tls { endpoint, fault: TlsFault::NameMismatch, why };
        }
        let why = format!("its certificate is not trusted: {reason}");
        return NetError::Tls { endpoint, fault: TlsFault::ChainNotTrusted, why };
    }
    if let Some(io) = error.io_error() {
        return doing.io(io);
    }
    NetError::Tls { endpoint, fault: TlsFault::Handshake, why: ssl_error_text(error) }
}
