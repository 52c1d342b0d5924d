//! The header in front of IP, by the link type that a capture file names.
//!
//! Source: <https://www.tcpdump.org/linktypes.html>.

/// How packets of one interface begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Link {
    Ethernet,
    /// With its IP header.
    Raw,
    /// An address family of four bytes, in the byte order of the machine that captured.
    Null,
    /// An address family of four bytes, in network byte order (OpenBSD).
    Loop,
    /// Linux "any", 16 bytes.
    LinuxCooked,
    /// Linux "any" of newer tools, 20 bytes.
    LinuxCooked2,
    Ppp,
    /// Cisco's, or PPP in frames of HDLC.
    Hdlc,
    /// PPPoE without Ethernet in front of it.
    Pppoe,
    Mpls,
    /// One that we do not read: such packets are counted.
    Other(u16),
}

impl Link {
    /// By its `LINKTYPE_` number.
    pub fn of(number: u16) -> Self {
        match number {
            1 => Self::Ethernet,
            // 12 and 14 are what some systems' DLT_RAW was written as.
            12 | 14 | 101 | 228 | 229 => Self::Raw,
            0 => Self::Null,
            108 => Self::Loop,
            113 => Self::LinuxCooked,
            276 => Self::LinuxCooked2,
            9 | 166 => Self::Ppp,
            50 | 104 => Self::Hdlc,
            51 => Self::Pppoe,
            219 => Self::Mpls,
            other => Self::Other(other),
        }
    }

    /// What the header in front says, without it; `None` where it was cut.
    pub(crate) fn start(self, frame: &[u8]) -> Option<LinkStart<'_>> {
        let number = |at: usize| frame.get(at..)?.first_chunk().map(|two| u16::from_be_bytes(*two));
        Some(match self {
            Self::Raw => LinkStart::Ip(frame),
            Self::Ethernet => LinkStart::Ethernet,
            Self::LinuxCooked => LinkStart::EtherType(number(14)?, frame.get(16..)?),
            Self::LinuxCooked2 => LinkStart::EtherType(number(0)?, frame.get(20..)?),
            // The numbers of AF_INET6 differ between systems; the IP header says its version itself.
            Self::Null | Self::Loop => LinkStart::Ip(frame.get(4..)?),
            Self::Ppp => LinkStart::Ppp(frame),
            Self::Hdlc if frame.starts_with(&[0xff, 0x03]) => LinkStart::Ppp(frame),
            Self::Hdlc => LinkStart::EtherType(number(2)?, frame.get(4..)?),
            Self::Pppoe => LinkStart::PppoeSession(frame),
            Self::Mpls => LinkStart::Mpls(frame),
            Self::Other(number) => LinkStart::Unknown(number),
        })
    }
}

/// What a link header says about what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkStart<'a> {
    /// The frame begins with its addresses.
    Ethernet,
    Ip(&'a [u8]),
    EtherType(u16, &'a [u8]),
    Ppp(&'a [u8]),
    PppoeSession(&'a [u8]),
    Mpls(&'a [u8]),
    Unknown(u16),
}
