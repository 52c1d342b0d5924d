//! IP and TCP headers: from the bytes of a packet to a segment. Knows no link layer: a packet begins with IP.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

pub(crate) const PROTOCOL_TCP: u8 = 6;
const PROTOCOL_FRAGMENT: u8 = 44;
const PROTOCOL_AUTHENTICATION: u8 = 51;
/// Nobody chains more; a packet that does is not read further.
const EXTENSIONS_MAX: usize = 8;

/// One TCP segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment<'a> {
    pub source: SocketAddr,
    pub destination: SocketAddr,
    pub sequence: u32,
    pub syn: bool,
    pub ack: bool,
    pub fin: bool,
    pub rst: bool,
    /// What was captured of the payload.
    pub payload: &'a [u8],
    /// Payload bytes that were sent but not captured (a packet cut short).
    pub cut_bytes: usize,
}

/// What an IP header says, and what follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IpPacket<'a> {
    pub source: IpAddr,
    pub destination: IpAddr,
    /// Of what follows the extension headers.
    pub protocol: u8,
    /// What was captured.
    pub body: &'a [u8],
    /// What was sent.
    pub sent_bytes: usize,
    /// Set where this is a part of a packet.
    pub fragment: Option<FragmentHeader>,
}

/// Which part of a packet it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FragmentHeader {
    pub id: u32,
    pub offset_bytes: usize,
    pub has_more: bool,
}

/// Why an IP header cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IpFault {
    /// Too little of it was captured.
    CutShort,
    Malformed,
}

/// Reads a packet; `None` for anything that is no TCP, or no whole header. A first fragment is read as far as it goes.
pub fn parse(packet: &[u8]) -> Option<Segment<'_>> {
    of(&ip(packet).ok()?)
}

/// The segment in a packet.
pub fn of<'a>(ip: &IpPacket<'a>) -> Option<Segment<'a>> {
    if ip.protocol != PROTOCOL_TCP || ip.fragment.is_some_and(|part| part.offset_bytes > 0) {
        return None;
    }
    tcp(ip.body, ip.sent_bytes, ip.source, ip.destination)
}

/// Reads IP headers, with the extension headers of IPv6 and authentication headers (their contents are not encrypted).
///
/// # Errors
/// Too little was captured, or it is no IP.
pub fn ip(packet: &[u8]) -> Result<IpPacket<'_>, IpFault> {
    let (mut ip, has_extensions) = match packet.first().map(|first| first >> 4) {
        Some(4) => (ipv4(packet)?, false),
        Some(6) => (ipv6(packet)?, true),
        Some(_) => return Err(IpFault::Malformed),
        None => return Err(IpFault::CutShort),
    };
    for _ in 0..EXTENSIONS_MAX {
        let short = if ip.body.len() < ip.sent_bytes { IpFault::CutShort } else { IpFault::Malformed };
        let first = || ip.body.first_chunk::<8>().ok_or(short);
        let extension_bytes = match ip.protocol {
            // Behind a later fragment's header come bytes of no known layer.
            _ if ip.fragment.is_some_and(|part| part.offset_bytes > 0) => return Ok(ip),
            PROTOCOL_FRAGMENT if has_extensions => {
                let &[next, _, o0, o1, i0, i1, i2, i3] = first()?;
                let offset = u16::from_be_bytes([o0, o1]);
                let part = FragmentHeader {
                    id: u32::from_be_bytes([i0, i1, i2, i3]),
                    offset_bytes: usize::from(offset & !7),
                    has_more: offset & 1 == 1,
                };
                // A packet may say that it is its only part.
                ip.fragment = (part.offset_bytes > 0 || part.has_more).then_some(part);
                ip.protocol = next;
                ip.body = ip.body.get(8..).ok_or(short)?;
                ip.sent_bytes = ip.sent_bytes.checked_sub(8).ok_or(IpFault::Malformed)?;
                if ip.fragment.is_some() {
                    return Ok(ip);
                }
                continue;
            }
            // Hop-by-hop, routing, destination options, mobility.
            0 | 43 | 60 | 135 if has_extensions => (usize::from(first()?[1]) + 1) * 8,
            // Source: RFC 4302: its length is in words of four bytes, without the first two.
            PROTOCOL_AUTHENTICATION if ip.fragment.is_none() => (usize::from(first()?[1]) + 2) * 4,
            _ => return Ok(ip),
        };
        ip.protocol = first()?[0];
        ip.body = ip.body.get(extension_bytes..).ok_or(short)?;
        ip.sent_bytes = ip.sent_bytes.checked_sub(extension_bytes).ok_or(IpFault::Malformed)?;
    }
    Err(IpFault::Malformed)
}

fn ipv4(packet: &[u8]) -> Result<IpPacket<'_>, IpFault> {
    let header: &[u8; 20] = packet.first_chunk().ok_or(IpFault::CutShort)?;
    let &[first, _, l0, l1, i0, i1, f0, f1, _, protocol, _, _, s0, s1, s2, s3, d0, d1, d2, d3] = header;
    let header_bytes = usize::from(first & 0x0f) * 4;
    if header_bytes < header.len() {
        return Err(IpFault::Malformed);
    }
    // Zero where the kernel has joined more than 64 KiB ("BIG TCP"): then the packet is all there is.
    let total_bytes = match u16::from_be_bytes([l0, l1]) {
        0 => packet.len(),
        total => usize::from(total),
    };
    let flags = u16::from_be_bytes([f0, f1]);
    let (offset_bytes, has_more) = (usize::from(flags & 0x1fff) * 8, flags & 0x2000 != 0);
    let part = FragmentHeader { id: u32::from(u16::from_be_bytes([i0, i1])), offset_bytes, has_more };
    if packet.len() < header_bytes {
        return Err(IpFault::CutShort);
    }
    Ok(IpPacket {
        source: IpAddr::V4(Ipv4Addr::new(s0, s1, s2, s3)),
        destination: IpAddr::V4(Ipv4Addr::new(d0, d1, d2, d3)),
        protocol,
        // Ethernet pads short packets: what is beyond the IP length is not payload.
        body: packet.get(header_bytes..total_bytes.min(packet.len())).ok_or(IpFault::Malformed)?,
        sent_bytes: total_bytes.checked_sub(header_bytes).ok_or(IpFault::Malformed)?,
        fragment: (offset_bytes > 0 || has_more).then_some(part),
    })
}

fn ipv6(packet: &[u8]) -> Result<IpPacket<'_>, IpFault> {
    let header: &[u8; 40] = packet.first_chunk().ok_or(IpFault::CutShort)?;
    let &[_, _, _, _, l0, l1, protocol, _, ..] = header;
    let address = |at: usize| {
        let bytes = header.get(at..).and_then(<[u8]>::first_chunk::<16>).copied().unwrap_or_default();
        IpAddr::V6(Ipv6Addr::from(bytes))
    };
    let after_header = packet.get(header.len()..).ok_or(IpFault::CutShort)?;
    let sent_bytes = match u16::from_be_bytes([l0, l1]) {
        0 => after_header.len(),
        length => usize::from(length),
    };
    Ok(IpPacket {
        source: address(8),
        destination: address(24),
        protocol,
        body: after_header.get(..sent_bytes.min(after_header.len())).unwrap_or_default(),
        sent_bytes,
        fragment: None,
    })
}

fn tcp(body: &[u8], sent_bytes: usize, source: IpAddr, destination: IpAddr) -> Option<Segment<'_>> {
    let header: &[u8; 20] = body.first_chunk()?;
    let &[s0, s1, d0, d1, q0, q1, q2, q3, _, _, _, _, offset, flags, ..] = header;
    let header_bytes = usize::from(offset >> 4) * 4;
    if header_bytes < header.len() {
        return None;
    }
    let payload = body.get(header_bytes..)?;
    Some(Segment {
        source: SocketAddr::new(source, u16::from_be_bytes([s0, s1])),
        destination: SocketAddr::new(destination, u16::from_be_bytes([d0, d1])),
        sequence: u32::from_be_bytes([q0, q1, q2, q3]),
        syn: flags & 0x02 != 0,
        ack: flags & 0x10 != 0,
        fin: flags & 0x01 != 0,
        rst: flags & 0x04 != 0,
        payload,
        cut_bytes: sent_bytes.saturating_sub(header_bytes + payload.len()),
    })
}

/// Writes packets: what the tests of this crate and of others feed a [`crate::FlowTable`].
pub fn encode(segment: &Segment<'_>) -> Vec<u8> {
    let mut tcp = Vec::new();
    tcp.extend_from_slice(&segment.source.port().to_be_bytes());
    tcp.extend_from_slice(&segment.destination.port().to_be_bytes());
    tcp.extend_from_slice(&segment.sequence.to_be_bytes());
    tcp.extend_from_slice(&[0; 4]);
    let flags = [(segment.fin, 0x01), (segment.syn, 0x02), (segment.rst, 0x04), (segment.ack, 0x10)];
    let flags = flags.iter().filter(|(set, _)| *set).fold(0, |all, (_, bit)| all | bit);
    tcp.extend_from_slice(&[0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
    tcp.extend_from_slice(segment.payload);
    let sent_bytes = tcp.len() + segment.cut_bytes;
    let length = |bytes: usize| u16::try_from(bytes).unwrap_or(0).to_be_bytes();
    let mut packet = Vec::new();
    match (segment.source.ip(), segment.destination.ip()) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            packet.extend_from_slice(&[0x45, 0]);
            packet.extend_from_slice(&length(sent_bytes + 20));
            packet.extend_from_slice(&[0, 0, 0x40, 0, 64, PROTOCOL_TCP, 0, 0]);
            packet.extend_from_slice(&source.octets());
            packet.extend_from_slice(&destination.octets());
        }
        (source, destination) => {
            let octets = |ip| match ip {
                IpAddr::V4(ip) => Ipv4Addr::to_ipv6_mapped(&ip).octets(),
                IpAddr::V6(ip) => ip.octets(),
            };
            packet.extend_from_slice(&[0x60, 0, 0, 0]);
            packet.extend_from_slice(&length(sent_bytes));
            packet.extend_from_slice(&[PROTOCOL_TCP, 64]);
            packet.extend_from_slice(&octets(source));
            packet.extend_from_slice(&octets(destination));
        }
    }
    packet.extend_from_slice(&tcp);
    packet
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn segment<'a>(source: &str, destination: &str, payload: &'a [u8]) -> Segment<'a> {
        Segment {
            source: source.parse().unwrap(),
            destination: destination.parse().unwrap(),
            sequence: 0xdead_beef,
            syn: false,
            ack: true,
            fin: false,
            rst: false,
            payload,
            cut_bytes: 0,
        }
    }

    #[test]
    fn reads_ipv4_and_ipv6_and_each_cut_is_harmless() {
        for (source, destination) in [("10.0.0.1:4567", "10.0.0.2:40000"), ("[::1]:4567", "[fe80::2]:40000")]
        {
            let written = segment(source, destination, b"hello");
            let packet = encode(&written);
            assert_eq!(parse(&packet), Some(written));
            for cut in 0..packet.len() {
                let seen = parse(&packet[..cut]);
                let headers = packet.len() - 5;
                assert_eq!(seen.is_some(), cut >= headers, "cut at {cut}");
                assert_eq!(seen.map_or(5, |seen| seen.cut_bytes + seen.payload.len()), 5);
            }
        }
    }

    #[test]
    fn ethernet_padding_is_no_payload() {
        let mut packet = encode(&segment("10.0.0.1:1", "10.0.0.2:2", b""));
        packet.extend_from_slice(&[0; 6]);
        assert_eq!(parse(&packet).unwrap().payload, b"");
    }

    #[test]
    fn steps_over_ipv6_extension_headers() {
        let packet = encode(&segment("[::1]:1", "[::1]:2", b"x"));
        let mut with_options = packet.clone();
        with_options[6] = 0;
        with_options[5] += 8;
        with_options.splice(40..40, [PROTOCOL_TCP, 0, 1, 4, 0, 0, 0, 0]);
        assert_eq!(parse(&with_options), parse(&packet));
    }

    #[test]
    fn udp_and_later_fragments_are_none_of_ours() {
        let mut packet = encode(&segment("10.0.0.1:1", "10.0.0.2:2", b"x"));
        packet[7] = 1;
        assert_eq!(parse(&packet), None);
        packet[7] = 0;
        packet[9] = 17;
        assert_eq!(parse(&packet), None);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..200), v6 in any::<bool>()) {
            let _ = parse(&bytes);
            if bytes.len() > 9 {
                bytes[0] = if v6 { 0x60 } else { 0x45 | (bytes[0] & 0x0f) };
                bytes[if v6 { 6 } else { 9 }] = PROTOCOL_TCP;
                let _ = parse(&bytes);
            }
        }
    }
}
