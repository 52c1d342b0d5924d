//! What one connection asks: a ClientHello, described by what is offered in it.

use openssl::bn::BigNumContext;
use openssl::derive::Deriver;
use openssl::ec::{EcGroup, EcKey, EcPoint, PointConversionForm};
use openssl::error::ErrorStack;
use openssl::nid::Nid;
use openssl::pkey::{Id, PKey, Private};
use wire::tls::registry::{CipherSuite, GroupKind, Version, groups};
use wire::tls::registry::{GROUPS, SIGNATURE_SCHEMES, signature_schemes};
use wire::tls::{ClientHello, HelloError, KeyShare, PreSharedKey};

use crate::classes;
use crate::finish::{Session, can_finish};
use crate::intrude::Probe;
use crate::tls13::Suite;

/// Groups whose secret we can compute, in the order in which we would like them.
pub const OWN_GROUPS: [u16; 4] = [groups::X25519, groups::SECP256R1, groups::SECP384R1, groups::SECP521R1];

/// The keys behind our key shares: one set for a whole run. Nothing secret ever travels under them.
pub struct Keys {
    keys: Vec<(u16, PKey<Private>, Vec<u8>)>,
}

impl Keys {
    pub fn generate() -> Result<Self, ErrorStack> {
        let mut keys = Vec::new();
        for group in OWN_GROUPS {
            let key = match curve(group) {
                None => PKey::generate_x25519()?,
                Some(nid) => PKey::from_ec_key(EcKey::generate(&*EcGroup::from_curve_name(nid)?)?)?,
            };
            let share = match curve(group) {
                None => key.raw_public_key()?,
                Some(nid) => {
                    let curve = EcGroup::from_curve_name(nid)?;
                    let mut numbers = BigNumContext::new()?;
                    key.ec_key()?.public_key().to_bytes(
                        &curve,
                        PointConversionForm::UNCOMPRESSED,
                        &mut numbers,
                    )?
                }
            };
            keys.push((group, key, share));
        }
        Ok(Self { keys })
    }

    /// Our share of a group of ours.
    pub fn share(&self, group: u16) -> Option<&[u8]> {
        self.keys.iter().find(|(own, ..)| *own == group).map(|(.., share)| share.as_slice())
    }

    /// What both ends would agree on. `None` for a group that is not ours, or a share that is no point of it.
    pub fn shared_secret(&self, group: u16, peer_share: &[u8]) -> Option<Vec<u8>> {
        let (_, key, _) = self.keys.iter().find(|(own, ..)| *own == group)?;
        let peer = match curve(group) {
            None => PKey::public_key_from_raw_bytes(peer_share, Id::X25519).ok()?,
            Some(nid) => {
                let curve = EcGroup::from_curve_name(nid).ok()?;
                let mut numbers = BigNumContext::new().ok()?;
                let point = EcPoint::from_bytes(&curve, peer_share, &mut numbers).ok()?;
                PKey::from_ec_key(EcKey::from_public_key(&curve, &point).ok()?).ok()?
            }
        };
        let mut deriver = Deriver::new(key).ok()?;
        deriver.set_peer(&peer).ok()?;
        deriver.derive_to_vec().ok()
    }
}

fn curve(group: u16) -> Option<Nid> {
    match group {
        groups::SECP256R1 => Some(Nid::X9_62_PRIME256V1),
        groups::SECP384R1 => Some(Nid::SECP384R1),
        groups::SECP521R1 => Some(Nid::SECP521R1),
        _ => None,
    }
}

/// Which key shares go along in TLS 1.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shares {
    /// Ours, so that the encrypted part of the first flight can be read.
    Own,
    /// None: the server names its favourite of the groups in a HelloRetryRequest.
    Asked,
}

/// What follows the server's first flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FollowUp {
    /// Nothing: the connection is closed.
    Close,
    /// The rest of the handshake; in TLS 1.2 and older, with `renegotiate`, the wish for another one.
    Finish { renegotiate: bool },
    /// Bytes that no sound client sends. Only where somebody has asked for it.
    Intrude(Probe),
}

/// A ClientHello to be sent once, and what is read of the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Offered, newest first. SSL 3.0 to TLS 1.2 offer the newest and everything below it: that is how they work.
    pub versions: Vec<Version>,
    pub suites: Vec<u16>,
    pub groups: Vec<u16>,
    pub schemes: Vec<u16>,
    pub shares: Shares,
    /// Offer DEFLATE too.
    pub compression: bool,
    pub server_name: Option<String>,
    /// As clients do that send no server name, although the target has one.
    pub is_nameless: bool,
    /// Ask for a session ticket.
    pub session_ticket: bool,
    /// A session to go on with.
    pub resume: Option<Session>,
    pub then: FollowUp,
}

impl Question {
    /// TLS 1.3 and 1.2, with everything that belongs to them.
    pub fn modern() -> Self {
        Self {
            versions: vec![Version::TLS13, Version::TLS12],
            suites: suites(|suite| suite.works_with(Version::TLS13) || suite.works_with(Version::TLS12)),
            ..Self::up_to(Version::TLS12)
        }
    }

    /// TLS 1.3 alone.
    pub fn tls13() -> Self {
        Self {
            versions: vec![Version::TLS13],
            suites: suites(|suite| suite.works_with(Version::TLS13)),
            ..Self::up_to(Version::TLS12)
        }
    }

    /// `newest` and what is older, with every suite that can be used with it.
    pub fn up_to(newest: Version) -> Self {
        Self {
            versions: vec![newest],
            suites: suites(|suite| suite.works_with(newest)),
            groups: all_groups(),
            schemes: all_schemes(),
            shares: Shares::Own,
            compression: true,
            server_name: None,
            is_nameless: false,
            session_ticket: true,
            resume: None,
            then: FollowUp::Close,
        }
    }

    /// SSL 2.0, with all its kinds.
    pub fn ssl2() -> Self {
        Self { versions: vec![Version::SSL2], ..Self::up_to(Version::SSL3) }
    }

    pub fn is_ssl2(&self) -> bool {
        self.newest() == Version::SSL2
    }

    /// Only with groups whose secret we can compute: then the encrypted part of a first flight of TLS 1.3 can be read.
    #[must_use]
    pub fn in_own_groups(mut self) -> Self {
        self.groups.retain(|code| OWN_GROUPS.contains(code));
        self
    }

    /// A hello that offers TLS 1.3 must not offer any (RFC 8446 4.1.2).
    pub fn offers_compression(&self) -> bool {
        self.compression && !self.versions.contains(&Version::TLS13)
    }

    #[must_use]
    pub fn only(mut self, keep: impl Fn(&CipherSuite) -> bool) -> Self {
        self.suites.retain(|&code| wire::tls::registry::cipher_suite(code).is_some_and(&keep));
        self
    }

    /// Only what a handshake can be finished with here, and no more than that needs.
    #[must_use]
    pub fn to_be_finished(mut self, renegotiate: bool) -> Self {
        self = self.in_own_groups();
        if !self.versions.contains(&Version::TLS13) {
            self = self.only(can_finish);
        }
        self.compression = false;
        self.then = FollowUp::Finish { renegotiate };
        self
    }

    /// The same, as a client that comes back; what is answered to its hello is all that is wanted.
    #[must_use]
    pub fn resuming(mut self, session: Session) -> Self {
        if let Session::Psk { suite, .. } = &session {
            self.suites = vec![*suite];
        }
        self.resume = Some(session);
        self.then = FollowUp::Close;
        self
    }

    pub fn newest(&self) -> Version {
        self.versions.first().copied().unwrap_or(Version::TLS12)
    }

    /// Writes the hello in its records, and gives the bare message: a transcript begins with it.
    ///
    /// # Errors
    /// A list too long for its length field.
    pub fn write(&self, keys: &Keys, random: [u8; 32], out: &mut Vec<u8>) -> Result<Vec<u8>, HelloError> {
        if self.newest() == Version::SSL2 {
            let challenge = random.first_chunk().copied().unwrap_or_default();
            wire::tls::ssl2::client_hello(out, &challenge);
            return Ok(Vec::new());
        }
        let offers_tls13 = self.versions.contains(&Version::TLS13);
        let newest = self.newest();
        let legacy = if newest >= Version::TLS12 { Version::TLS12 } else { newest };
        let own: Vec<KeyShare<'_>> = keys
            .keys
            .iter()
            .filter(|(group, ..)| self.groups.contains(group))
            .map(|(group, _, share)| KeyShare { group: *group, key: share })
            .collect();
        // SSL 3.0 has no extensions, and old servers end the handshake over them.
        let extends = newest > Version::SSL3;
        let has_curves = extends && !self.groups.is_empty();
        let mut hello = ClientHello {
            // Seen: yaSSL in MySQL 5.5.9 refuses a first record that says more than TLS 1.0.
            record_version: legacy.min(Version::TLS10),
            legacy_version: legacy,
            cipher_suites: &self.suites,
            compression_methods: if self.offers_compression() { &[1, 0] } else { &[0] },
            groups: if has_curves { &self.groups } else { &[] },
            ec_point_formats: if has_curves { &[0] } else { &[] },
            extended_master_secret: extends,
            // A handshake to be finished needs no second way to do the same; and a session goes on only as it began.
            encrypt_then_mac: extends && self.then == FollowUp::Close && self.resume.is_none(),
            renegotiation_info: extends.then_some(&[]),
            session_ticket: (extends && self.session_ticket).then_some(&[]),
            heartbeat: extends.then_some(1),
            status_request: extends,
            server_name: self.server_name.as_deref(),
            ..ClientHello::new(random)
        };
        if newest >= Version::TLS12 {
            hello.signature_algorithms = &self.schemes;
        }
        if offers_tls13 {
            hello.supported_versions = &self.versions;
            hello.psk_key_exchange_modes = &[1];
            hello.session_id = &[0x53; 32]; // "Middlebox compatibility", RFC 8446 appendix D.4.
            hello.key_shares = Some(match self.shares {
                Shares::Own => &own,
                Shares::Asked => &[],
            });
        }
        let key = match &self.resume {
            Some(Session::Id(id)) => {
                hello.session_id = id;
                None
            }
            Some(Session::Ticket(ticket)) => {
                hello.session_ticket = Some(ticket);
                None
            }
            Some(Session::Psk { suite, ticket, age_add, key }) => Suite::of(*suite).map(|suite| {
                hello.session_ticket = None;
                // Its age is that number and how long we have had it: no time at all.
                (suite.schedule, key, (ticket.as_slice(), *age_add))
            }),
            None => None,
        };
        let mut message = Vec::new();
        let binder;
        if let Some((schedule, key, (identity, obfuscated_ticket_age))) = key {
            // RFC 8446 4.2.11.2: the binder covers the hello up to the binders, whose lengths count already.
            let zeros = vec![0; schedule.digest.bytes()];
            let psk = PreSharedKey { identity, obfuscated_ticket_age, binder: &zeros };
            let unbound = ClientHello { pre_shared_key: Some(psk), ..hello.clone() };
            unbound.encode_message(&mut message)?;
            let covered = message.get(..message.len() - unbound.binders_bytes()).unwrap_or_default();
            let base =
                schedule.secret(&schedule.extract(&zeros, key), "res binder", &schedule.digest.of(&[]));
            binder = schedule.verify_data(&base, &schedule.digest.of(&[covered]));
            message.clear();
            hello.pre_shared_key = Some(PreSharedKey { identity, obfuscated_ticket_age, binder: &binder });
        }
        hello.encode(out)?;
        hello.encode_message(&mut message)?;
        Ok(message)
    }
}

/// Codes of all suites of the registry that `keep` wants, the better ones first.
pub fn suites(keep: impl Fn(&CipherSuite) -> bool) -> Vec<u16> {
    classes::in_order().iter().filter(|suite| keep(suite)).map(|suite| suite.code).collect()
}

/// Ours first, then what browsers and servers use, then the rest; explicit curves are not asked for.
pub fn all_groups() -> Vec<u16> {
    let mut codes = OWN_GROUPS.to_vec();
    let rest = GROUPS.iter().filter(|group| group.kind != GroupKind::Explicit).map(|group| group.code);
    codes.extend(rest.filter(|code| !OWN_GROUPS.contains(code)));
    codes
}

/// What clients offer stands in front.
/// Seen: wolfSSL (MariaDB's own builds of 10.11.5 and 11.4.5) reads the first 22 or so, and ends a handshake of TLS 1.3 with alert
/// 40 when there is nothing for its key among them.
fn all_schemes() -> Vec<u16> {
    let usual = [
        signature_schemes::ECDSA_SECP256R1_SHA256,
        signature_schemes::ECDSA_SECP384R1_SHA384,
        signature_schemes::ECDSA_SECP521R1_SHA512,
        signature_schemes::ED25519,
        signature_schemes::ED448,
        signature_schemes::RSA_PSS_RSAE_SHA256,
        signature_schemes::RSA_PSS_RSAE_SHA384,
        signature_schemes::RSA_PSS_RSAE_SHA512,
        signature_schemes::RSA_PSS_PSS_SHA256,
        signature_schemes::RSA_PSS_PSS_SHA384,
        signature_schemes::RSA_PSS_PSS_SHA512,
        signature_schemes::RSA_PKCS1_SHA256,
        signature_schemes::RSA_PKCS1_SHA384,
        signature_schemes::RSA_PKCS1_SHA512,
        signature_schemes::ECDSA_SHA1,
        signature_schemes::RSA_PKCS1_SHA1,
    ];
    let rest = SIGNATURE_SCHEMES.iter().map(|scheme| scheme.code).filter(|code| !usual.contains(code));
    usual.into_iter().chain(rest).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn two_ends_agree_on_a_secret_in_every_group_of_ours() {
        let (one, other) = (Keys::generate().unwrap(), Keys::generate().unwrap());
        for ((group, _, share), (_, _, other_share)) in one.keys.iter().zip(&other.keys) {
            let secret = one.shared_secret(*group, other_share).unwrap();
            assert_eq!(Some(&secret), other.shared_secret(*group, share).as_ref(), "{group:04x}");
            assert_eq!(
                one.shared_secret(*group, share.get(1..).unwrap()),
                None,
                "a share cut short, {group:04x}"
            );
        }
        assert_eq!(one.shared_secret(groups::FFDHE2048, &[4; 256]), None);
    }

    #[test]
    fn every_version_can_be_asked_for() {
        let keys = Keys::generate().unwrap();
        for question in [
            Question::modern(),
            Question::tls13(),
            Question::up_to(Version::TLS12),
            Question::up_to(Version::TLS11),
            Question::up_to(Version::TLS10),
            Question::up_to(Version::SSL3),
        ] {
            let mut out = Vec::new();
            let message = question.write(&keys, [7; 32], &mut out).unwrap();
            assert!(!question.suites.is_empty() && out.len() > message.len(), "{question:?}");
        }
    }
}
