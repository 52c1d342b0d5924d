//! What one first flight adds to the facts.

use wire::tls::registry::{Mode, Version, cipher_suite, dh_prime};
use wire::tls::server_flight::ServerParameters;

use super::Survey;
use crate::facts::Found;
use crate::reply::Accepted;

impl Survey {
    /// What a first flight shows besides the suite.
    pub(super) fn begin(&mut self, accepted: &Accepted) {
        let version = accepted.hello.version;
        self.tls.versions.insert(version, Found::Yes);
        if version < Version::TLS13 {
            self.tls.versions.entry(Version::TLS13).or_insert(Found::No);
        }
        self.note(accepted);
    }

    pub(super) fn note(&mut self, accepted: &Accepted) {
        let hello = &accepted.hello;
        self.note_suite(hello.version, hello.cipher_suite);
        if let Some(code) = accepted.group {
            self.note_group(hello.version, code);
        }
        self.tls.signature_schemes.extend(accepted.scheme);
        self.note_chain(&accepted.chain);
        let yes = |is: bool| Some(if is { Found::Yes } else { Found::No });
        // A "yes" stays: another suite or version may not carry the extension.
        let keep = |slot: &mut Option<Found>, is: bool| {
            if *slot != Some(Found::Yes) {
                *slot = yes(is);
            }
        };
        if accepted.is_whole || accepted.asks_certificate {
            keep(&mut self.tls.client_certificate_asked, accepted.asks_certificate);
        }
        if accepted.is_whole || accepted.is_ocsp_stapled {
            keep(&mut self.tls.ocsp_staple, accepted.is_ocsp_stapled);
        }
        if hello.version < Version::TLS13 {
            if self.offered_compression {
                keep(&mut self.tls.compression, hello.compression_method != 0);
            }
            if hello.version > Version::SSL3 {
                keep(&mut self.tls.secure_renegotiation, hello.extensions.renegotiation_info.is_some());
                keep(&mut self.tls.extended_master_secret, hello.extensions.extended_master_secret);
                keep(&mut self.tls.heartbeat, hello.extensions.heartbeat.is_some());
                keep(&mut self.tls.session_ticket, hello.extensions.session_ticket);
                // RFC 7366: only with a block cipher in CBC mode there is a MAC to be moved.
                if cipher_suite(hello.cipher_suite).is_some_and(|suite| suite.mode == Mode::Cbc) {
                    keep(&mut self.tls.encrypt_then_mac, hello.extensions.encrypt_then_mac);
                }
            }
        }
        if let Some(exchange) = &accepted.key_exchange
            && let ServerParameters::Dhe { p, .. } = &exchange.parameters
        {
            let bits = p.bits();
            if self.tls.dh_bits.is_none_or(|before| bits < before) {
                self.tls.dh_bits = Some(bits);
                self.tls.dh_prime = dh_prime(&p.0).map(|prime| prime.name.to_owned());
            }
        }
    }

    pub(super) fn note_suite(&mut self, version: Version, code: u16) {
        let list = self.tls.suites.entry(version).or_default();
        if !list.contains(&code) {
            list.push(code);
        }
    }

    /// Groups are kept for TLS 1.3 and for everything before it.
    pub(super) fn note_group(&mut self, version: Version, code: u16) {
        let version = if version == Version::TLS13 { Version::TLS13 } else { Version::TLS12 };
        let list = self.tls.groups.entry(version).or_default();
        if !list.contains(&code) {
            list.push(code);
        }
    }

    pub(super) fn note_chain(&mut self, chain: &[Vec<u8>]) {
        // Reading one takes OpenSSL as long as everything else about a handshake, and most show the same.
        if chain.is_empty() || self.known_chains.iter().any(|known| known == chain) {
            return;
        }
        self.known_chains.push(chain.to_vec());
        match trust::inspect_der(chain) {
            Ok(infos) => {
                let is_known = |other: &Vec<trust::CertificateInfo>| {
                    other.first().map(|leaf| &leaf.sha256_fingerprint)
                        == infos.first().map(|leaf| &leaf.sha256_fingerprint)
                };
                if !self.tls.chains.iter().any(is_known) {
                    self.compare_leaves(&infos);
                    self.tls.chains.push(infos);
                    self.tls.chains_der.push(chain.to_vec());
                }
            }
            Err(error) => {
                let text =
                    format!("the certificate: {}", error.to_string().lines().next().unwrap_or_default());
                if !self.facts.not_seen.contains(&text) {
                    self.facts.not_seen.push(text);
                }
            }
        }
    }
}
