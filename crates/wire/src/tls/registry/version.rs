//! Protocol versions as they stand on the wire.

use std::fmt;

/// A protocol version. Ordered as the numbers are, which is the order of age from SSL 2.0 to TLS 1.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u16);

impl Version {
    pub const SSL2: Self = Self(0x0002);
    pub const SSL3: Self = Self(0x0300);
    pub const TLS10: Self = Self(0x0301);
    pub const TLS11: Self = Self(0x0302);
    pub const TLS12: Self = Self(0x0303);
    pub const TLS13: Self = Self(0x0304);

    /// From the oldest to the newest.
    pub const ALL: [Self; 6] = [Self::SSL2, Self::SSL3, Self::TLS10, Self::TLS11, Self::TLS12, Self::TLS13];

    pub const fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::SSL2 => "SSL 2.0",
            Self::SSL3 => "SSL 3.0",
            Self::TLS10 => "TLS 1.0",
            Self::TLS11 => "TLS 1.1",
            Self::TLS12 => "TLS 1.2",
            Self::TLS13 => "TLS 1.3",
            _ => return None,
        })
    }

    /// The spelling of MySQL's and MariaDB's `tls_version`, which begins with TLS 1.0.
    pub const fn mysql_name(self) -> Option<&'static str> {
        Some(match self {
            Self::TLS10 => "TLSv1",
            Self::TLS11 => "TLSv1.1",
            Self::TLS12 => "TLSv1.2",
            Self::TLS13 => "TLSv1.3",
            _ => return None,
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "version 0x{:04x}", self.0),
        }
    }
}
