//! The header in front of IP, by the link type that a capture file names.
//!
//! Source: <https://www.tcpdump.org/linktypes.html>.

const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;
/// 802.1Q, 802.1ad, and the number that came before it was one.
const ETHERTYPES_VLAN: [u16; 3] = [0x8100, 0x88a8, 0x9100];
/// Two are the standard's limit (a provider's and a customer's).
const VLANS_MAX: usize = 4;

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
            other => Self::Other(other),
        }
    }

    /// The packet from its IP header on; `None` where there is none.
    pub fn ip(self, frame: &[u8]) -> Option<&[u8]> {
        match self {
            Self::Raw => Some(frame),
            Self::Ethernet => {
                let (_addresses, rest) = frame.split_first_chunk::<12>()?;
                behind_ethertype(rest)
            }
            Self::LinuxCooked => behind_ethertype(frame.get(14..)?),
            Self::LinuxCooked2 => {
                let (kind, rest) = frame.split_first_chunk::<2>()?;
                is_ip(u16::from_be_bytes(*kind)).then(|| rest.get(18..)).flatten()
            }
            // The numbers of AF_INET6 differ between systems; the IP header says its version itself.
            Self::Null | Self::Loop => frame.get(4..),
            Self::Other(_) => None,
        }
    }
}

fn is_ip(ethertype: u16) -> bool {
    matches!(ethertype, ETHERTYPE_IPV4 | ETHERTYPE_IPV6)
}

fn behind_ethertype(mut rest: &[u8]) -> Option<&[u8]> {
    for _ in 0..=VLANS_MAX {
        let (kind, after) = rest.split_first_chunk::<2>()?;
        let kind = u16::from_be_bytes(*kind);
        if is_ip(kind) {
            return Some(after);
        }
        if !ETHERTYPES_VLAN.contains(&kind) {
            return None;
        }
        rest = after.get(2..)?;
    }
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Link type, frame, what begins with IP.
    type Row = (u16, Vec<u8>, Option<&'static [u8]>);

    #[test]
    fn takes_each_header_off_and_nothing_that_is_no_ip() {
        let mac = [0xaa; 12];
        let rows: [Row; 12] = [
            (1, [&mac[..], b"\x08\x00IP"].concat(), Some(b"IP")),
            (1, [&mac[..], b"\x86\xddIP"].concat(), Some(b"IP")),
            (1, [&mac[..], b"\x81\x00\x00\x05\x08\x00IP"].concat(), Some(b"IP")),
            (1, [&mac[..], b"\x88\xa8\x00\x05\x81\x00\x00\x06\x08\x00IP"].concat(), Some(b"IP")),
            (1, [&mac[..], b"\x08\x06ARP"].concat(), None),
            (101, b"IP".to_vec(), Some(b"IP")),
            (0, b"\x02\x00\x00\x00IP".to_vec(), Some(b"IP")),
            (108, b"\x00\x00\x00\x02IP".to_vec(), Some(b"IP")),
            (113, [&[0; 14][..], b"\x08\x00IP"].concat(), Some(b"IP")),
            (276, [&b"\x08\x00"[..], &[0; 18], b"IP"].concat(), Some(b"IP")),
            (276, [&b"\x08\x06"[..], &[0; 18], b"IP"].concat(), None),
            (147, b"IP".to_vec(), None),
        ];
        for (number, frame, expected) in rows {
            assert_eq!(Link::of(number).ip(&frame), expected, "link type {number}, {frame:02x?}");
            for cut in 0..frame.len() - 2 {
                let seen = Link::of(number).ip(&frame[..cut]);
                assert!(seen.is_none_or(<[u8]>::is_empty) || number == 101, "{number} cut at {cut}");
            }
        }
    }

    #[test]
    fn vlan_tags_without_end_are_given_up() {
        let frame = [&[0; 12][..], &b"\x81\x00\x00\x01".repeat(9), b"\x08\x00IP"].concat();
        assert_eq!(Link::Ethernet.ip(&frame), None);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(number in any::<u16>(), known in 0_usize..9, frame in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = Link::of(number).ip(&frame);
            let _ = Link::of([0, 1, 12, 14, 101, 108, 113, 228, 276][known]).ip(&frame);
        }
    }
}
