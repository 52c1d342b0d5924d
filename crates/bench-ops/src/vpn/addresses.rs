//! Which VPNs there are, and who has which address in them.

use std::net::{IpAddr, Ipv4Addr};

use ::bench::experiments::Via;

/// Which one it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    OpenVpn,
    WireGuard,
}

impl Kind {
    pub const ALL: [Self; 2] = [Self::OpenVpn, Self::WireGuard];

    pub fn of(via: Via) -> Option<Self> {
        match via {
            Via::OpenVpn => Some(Self::OpenVpn),
            Via::WireGuard => Some(Self::WireGuard),
            Via::Direct | Via::Line { .. } | Via::Stunnel | Via::Ssh => None,
        }
    }

    /// Of the program, and of Debian's package.
    pub fn program(self) -> &'static str {
        match self {
            Self::OpenVpn => "openvpn",
            Self::WireGuard => "wireguard-go",
        }
    }

    /// As their makers chose.
    pub fn port(self) -> u16 {
        match self {
            Self::OpenVpn => 1194,
            Self::WireGuard => 51_820,
        }
    }

    pub fn number(self) -> u8 {
        match self {
            Self::OpenVpn => 1,
            Self::WireGuard => 2,
        }
    }

    pub fn outer(self, side: Side) -> Ipv4Addr {
        Ipv4Addr::new(10, 76, self.number(), side.number())
    }

    pub fn inner(self, side: Side) -> Ipv4Addr {
        Ipv4Addr::new(10, 77, self.number(), side.number())
    }

    /// `what`: "outer" or "inner".
    pub fn device(self, side: Side, what: &str) -> String {
        match side {
            Side::Server => format!("{what}{}", self.number()),
            Side::Client => what.to_owned(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Server,
    Client,
}

impl Side {
    const fn number(self) -> u8 {
        match self {
            Self::Server => 1,
            Self::Client => 2,
        }
    }
}

/// What servers are called behind VPNs, for their certificates.
pub fn server_ips() -> impl Iterator<Item = IpAddr> {
    Kind::ALL.into_iter().map(|kind| kind.inner(Side::Server).into())
}
