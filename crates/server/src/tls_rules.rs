//! Which versions and cipher suites a server takes from clients, as its own options say it; each is a variable too.

use std::collections::BTreeMap;

use model::TlsProfile;
use net::{NetError, TlsFault, TlsOptions, TlsVersion};
use serde::{Deserialize, Serialize};

use crate::capability::Flavour;
use crate::view::NodeView;

/// By the option; an empty value is what nobody has set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TlsRules(BTreeMap<String, String>);

const VERSION: &str = "tls_version";
const CIPHER: &str = "ssl_cipher";
const CIPHERSUITES: &str = "tls_ciphersuites";
/// Of MySQL, what is in use: the variables are a wish until ALTER INSTANCE RELOAD TLS.
const IN_USE: [(&str, &str); 3] = [
    (VERSION, "current_tls_version"),
    (CIPHER, "current_tls_cipher"),
    (CIPHERSUITES, "current_tls_ciphersuites"),
];

impl TlsRules {
    /// # Source
    /// Seen on MariaDB 10.11.19 and 11.8.9: `ssl_cipher` decides over TLS 1.3 too, and takes suites of both in one list. MySQL 9.7.4 has
    /// `tls_ciphersuites` for those of TLS 1.3.
    pub fn of(profile: TlsProfile, flavour: Flavour) -> Self {
        let list = |words: &[&str]| words.join(":");
        let (version, suites) = (profile.versions().join(","), list(profile.ciphersuites()));
        let options = if flavour == Flavour::MariaDb {
            let all = match profile {
                TlsProfile::Modern => suites,
                TlsProfile::Intermediate => format!("{suites}:{}", list(profile.ciphers())),
            };
            vec![(VERSION, version), (CIPHER, all)]
        } else {
            vec![(VERSION, version), (CIPHER, list(profile.ciphers())), (CIPHERSUITES, suites)]
        };
        Self(options.into_iter().map(|(option, value)| (option.to_owned(), value)).collect())
    }

    /// Those that a running server follows.
    pub fn in_use(view: &NodeView) -> Self {
        let text = |value: Option<&str>| value.unwrap_or_default().to_owned();
        let is_live = view.capabilities().live_tls_files;
        let options = IN_USE.iter().filter(|(option, _)| is_live || *option != CIPHERSUITES);
        let value = |(option, status): &(&str, &str)| {
            let value = if is_live { view.status(status) } else { view.variable(option) };
            ((*option).to_owned(), text(value))
        };
        Self(options.map(value).collect())
    }

    /// The profile that they are, if they are one.
    pub fn profile(&self) -> Option<TlsProfile> {
        let flavours = [Flavour::MariaDb, Flavour::MySql];
        let is_it = |profile: &TlsProfile| flavours.into_iter().any(|of| Self::of(*profile, of) == *self);
        TlsProfile::ALL.into_iter().find(is_it)
    }

    /// Names of the options that a profile sets.
    pub fn names(flavour: Flavour) -> Vec<String> {
        Self::of(TlsProfile::Modern, flavour).0.into_keys().collect()
    }

    /// Whether some profile sets this option to this value: then a line of a file may be one of ours.
    pub fn is_of_a_profile(flavour: Flavour, option: &str, value: &str) -> bool {
        TlsProfile::ALL.into_iter().any(|profile| Self::of(profile, flavour).get(option) == Some(value))
    }

    pub fn get(&self, option: &str) -> Option<&str> {
        self.0.get(option).map(String::as_str)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(option, value)| (option.as_str(), value.as_str()))
    }

    /// For people: what differs from `other`.
    pub fn differs_from(&self, other: &Self) -> Option<String> {
        let (option, value) = self.iter().find(|(option, value)| other.get(option) != Some(value))?;
        Some(format!("its {option} is \"{value}\", not \"{}\"", other.get(option).unwrap_or_default()))
    }
}

impl FromIterator<(String, String)> for TlsRules {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(options: T) -> Self {
        Self(options.into_iter().collect())
    }
}

/// The ports of a server on which its clients' TLS is spoken at once behind the greeting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SqlPort {
    Main,
    /// MySQL's `admin_address`.
    Admin,
}

/// What is offered to a server, to see from outside whether it takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TlsOffer {
    pub port: SqlPort,
    /// No other one; `None`: any from TLS 1.2 on.
    pub version: Option<TlsVersion>,
    /// Up to TLS 1.2; `None`: whatever OpenSSL has.
    pub ciphers: Option<&'static str>,
}

/// Suites of TLS 1.2 that no profile takes, and that every OpenSSL has: without authenticated encryption.
pub const CBC: &str = "ECDHE-ECDSA-AES128-SHA256:ECDHE-RSA-AES128-SHA256:ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:AES128-SHA";

impl TlsOffer {
    pub fn any(port: SqlPort) -> Self {
        Self { port, version: None, ciphers: None }
    }

    fn of(port: SqlPort, version: TlsVersion) -> Self {
        Self { version: Some(version), ..Self::any(port) }
    }

    /// What a server with this profile must take.
    pub fn taken_by(profile: TlsProfile, port: SqlPort) -> Vec<Self> {
        let versions: &[TlsVersion] = match profile {
            TlsProfile::Modern => &[TlsVersion::Tls13],
            TlsProfile::Intermediate => &[TlsVersion::Tls13, TlsVersion::Tls12],
        };
        versions.iter().map(|version| Self::of(port, *version)).collect()
    }

    /// What it must refuse, and would take without.
    pub fn refused_by(profile: TlsProfile, port: SqlPort) -> Self {
        let ciphers = match profile {
            TlsProfile::Modern => None,
            TlsProfile::Intermediate => Some(CBC),
        };
        Self { ciphers, ..Self::of(port, TlsVersion::Tls12) }
    }

    pub(crate) fn options(&self) -> TlsOptions {
        TlsOptions {
            min_version: self.version,
            max_version: self.version,
            ciphers: self.ciphers.map(str::to_owned),
            ..TlsOptions::with_mode(net::SslMode::Required)
        }
    }
}

impl std::fmt::Display for TlsOffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.version {
            Some(version) => write!(f, "{version}")?,
            None => f.write_str("TLS")?,
        }
        f.write_str(if self.ciphers.is_some() { " without AEAD" } else { "" })
    }
}

/// What a server said to an offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OfferAnswer {
    /// PEM of the leaf that it showed.
    Taken(String),
    /// In the words of its alert.
    Refused(String),
    /// Its greeting offers no TLS at all.
    NoTls,
}

impl OfferAnswer {
    /// A refusal is an alert about the offer itself; everything else tells nothing of it.
    ///
    /// # Source
    /// RFC 8446, 6.2: protocol_version, handshake_failure, insufficient_security; OpenSSL's words for them.
    pub(crate) fn of_error(error: &NetError) -> Option<Self> {
        let NetError::Tls { why, fault, .. } = error else { return None };
        if *fault == TlsFault::NotOffered {
            return Some(Self::NoTls);
        }
        let words = why.to_ascii_lowercase();
        let is_of_offer = ["protocol version", "handshake failure", "insufficient security"]
            .iter()
            .any(|alert| words.contains(alert));
        (is_of_offer && words.contains("alert")).then(|| Self::Refused(why.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_known_again_as_the_profile_that_they_are() {
        for flavour in [Flavour::MariaDb, Flavour::MySql] {
            for profile in TlsProfile::ALL {
                let rules = TlsRules::of(profile, flavour);
                assert_eq!(rules.profile(), Some(profile));
                for (option, value) in rules.iter() {
                    assert!(TlsRules::is_of_a_profile(flavour, option, value), "{option}={value}");
                    assert!(!TlsRules::is_of_a_profile(flavour, option, &format!("{value}:X")));
                }
            }
        }
        assert_eq!(TlsRules::default().profile(), None);
        assert!(!TlsRules::is_of_a_profile(Flavour::MariaDb, "tls_version", ""));
    }

    #[test]
    fn what_is_in_use_is_read_where_each_flavour_says_it() {
        let map = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
        };
        let mysql = NodeView {
            variables: map(&[("version", "9.7.4"), ("tls_version", "a wish")]),
            status: map(&[("current_tls_version", "TLSv1.3"), ("current_tls_cipher", "")]),
            ..NodeView::default()
        };
        let rules = TlsRules::in_use(&mysql);
        assert_eq!(
            (rules.get(VERSION), rules.get(CIPHER), rules.get(CIPHERSUITES)),
            (Some("TLSv1.3"), Some(""), Some(""))
        );
        let mariadb = NodeView {
            variables: map(&[("version", "10.11.19-MariaDB"), ("tls_version", "TLSv1.2,TLSv1.3")]),
            ..NodeView::default()
        };
        let rules = TlsRules::in_use(&mariadb);
        assert_eq!((rules.get(VERSION), rules.get(CIPHERSUITES)), (Some("TLSv1.2,TLSv1.3"), None));
        let modern = TlsRules::of(TlsProfile::Modern, Flavour::MariaDb);
        let why = rules.differs_from(&modern).expect("they differ");
        assert!(why.contains("ssl_cipher"), "{why}");
        assert_eq!(modern.differs_from(&modern), None);
    }

    #[test]
    fn only_an_alert_about_the_offer_is_a_refusal() {
        let error = |why: &str| NetError::Tls {
            endpoint: "127.0.0.1:3306".into(),
            fault: TlsFault::Handshake,
            why: why.into(),
        };
        for (why, is_refusal) in [
            ("tlsv1 alert protocol version", true),
            ("sslv3 alert handshake failure", true),
            ("ssl/tls alert handshake failure", true),
            ("no protocols available", false),
            ("tlsv1 alert unknown ca", false),
            ("unexpected eof while reading", false),
            ("unsupported protocol version", false),
        ] {
            assert_eq!(OfferAnswer::of_error(&error(why)).is_some(), is_refusal, "{why}");
        }
        let bare = NetError::Tls { endpoint: String::new(), fault: TlsFault::NotOffered, why: String::new() };
        assert_eq!(OfferAnswer::of_error(&bare), Some(OfferAnswer::NoTls));
    }
}
