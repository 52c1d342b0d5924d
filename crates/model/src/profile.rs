//! Which TLS a server takes from its clients, by the name under which people know it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// # Source
/// Mozilla, Server Side TLS 5.7: "modern" and "intermediate", the latter without the DHE suites, which need parameters of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TlsProfile {
    /// TLS 1.3 only.
    Modern,
    /// TLS 1.2 with forward secrecy and authenticated encryption, and TLS 1.3.
    Intermediate,
}

const TLS13: [&str; 3] = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"];
const TLS12: [&str; 6] = [
    "ECDHE-ECDSA-AES128-GCM-SHA256",
    "ECDHE-RSA-AES128-GCM-SHA256",
    "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384",
    "ECDHE-ECDSA-CHACHA20-POLY1305",
    "ECDHE-RSA-CHACHA20-POLY1305",
];

impl TlsProfile {
    pub const ALL: [Self; 2] = [Self::Modern, Self::Intermediate];

    /// As `tls_version` spells them.
    pub fn versions(self) -> &'static [&'static str] {
        match self {
            Self::Modern => &["TLSv1.3"],
            Self::Intermediate => &["TLSv1.2", "TLSv1.3"],
        }
    }

    /// Of TLS 1.2, as OpenSSL spells them. Of a server that takes TLS 1.3 only they have no effect.
    pub fn ciphers(self) -> &'static [&'static str] {
        &TLS12
    }

    /// Of TLS 1.3.
    pub fn ciphersuites(self) -> &'static [&'static str] {
        &TLS13
    }

    /// Whether a connection like this one would still be made; `suite` as OpenSSL spells it, where it is known.
    pub fn takes(self, version: &str, suite: Option<&str>) -> bool {
        let suites: &[&str] = if version == "TLSv1.3" { &TLS13 } else { &TLS12 };
        self.versions().contains(&version) && suite.is_none_or(|suite| suites.contains(&suite))
    }

    /// For people.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Modern => "TLS 1.3 only",
            Self::Intermediate => "TLS 1.2 with ECDHE and AEAD, and TLS 1.3",
        }
    }
}

impl fmt::Display for TlsProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Modern => "modern",
            Self::Intermediate => "intermediate",
        })
    }
}

impl FromStr for TlsProfile {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|profile| profile.to_string() == word).ok_or_else(|| {
            format!(
                "\"{word}\" is not a profile of TLS; there are modern ({}) and intermediate ({})",
                Self::Modern.meaning(),
                Self::Intermediate.meaning()
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_negotiated_is_held_against_a_profile() {
        use TlsProfile::{Intermediate, Modern};
        let gcm = Some("ECDHE-RSA-AES128-GCM-SHA256");
        for (version, suite, modern, intermediate) in [
            ("TLSv1.3", Some("TLS_AES_256_GCM_SHA384"), true, true),
            ("TLSv1.3", None, true, true),
            ("TLSv1.3", Some("TLS_AES_128_CCM_SHA256"), false, false),
            ("TLSv1.2", gcm, false, true),
            ("TLSv1.2", None, false, true),
            ("TLSv1.2", Some("ECDHE-RSA-AES128-SHA256"), false, false),
            ("TLSv1.2", Some("AES128-GCM-SHA256"), false, false),
            ("TLSv1.1", None, false, false),
            ("", None, false, false),
        ] {
            let taken = [Modern, Intermediate].map(|profile| profile.takes(version, suite));
            assert_eq!(taken, [modern, intermediate], "{version} {suite:?}");
        }
        assert_eq!("modern".parse(), Ok(Modern));
        assert!("old".parse::<TlsProfile>().is_err_and(|why| why.contains("intermediate")));
    }
}
