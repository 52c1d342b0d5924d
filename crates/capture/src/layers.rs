//! From a frame to the TCP segment in it: takes off link headers, tags and tunnels, and says what it could not look into.
//!
//! Read: VLAN and QinQ, 802.2 SNAP, MPLS (with IP or Ethernet inside), PPP and PPPoE, IP in IP (4 and 6), AH, GRE (NVGRE, ERSPAN,
//! PPTP without its compression), EtherIP, VXLAN (with GPE), Geneve, MPLS and GRE in UDP. Whatever else may carry a connection of a
//! database is [`Unread`] and is counted by its kind: of such a capture nobody can say that nothing readable passed.
//! Left out: two networks with the same addresses in different VLANs or tunnels are one network here.
//!
//! The parsers on crates.io that are well kept end at VLAN, MACsec, IP and TCP, so the tunnels are read here.
//! Sources: RFC 2784, 2890, 2637, 7637 (GRE), 7348 (VXLAN), 8926 (Geneve), 3032 and 4385 (MPLS), 2516 (PPPoE), 1661 (PPP), 4302 (AH),
//! draft-foschiano-erspan-03.

use std::net::IpAddr;

use crate::link::{Link, LinkStart};
use crate::segment::{self, IpPacket, Segment};

/// Three tunnels in one another are a lot, and each has up to four headers.
const LAYERS_MAX: usize = 24;
/// Below this, the field is the length of an 802.3 frame. The kernel's own numbers for such frames are small, too.
const ETHERTYPE_MIN: u16 = 0x0600;
const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;
/// Transparent Ethernet bridging: a whole frame.
const ETHERTYPE_BRIDGED: u16 = 0x6558;

/// What a frame holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content<'a> {
    Segment(Segment<'a>),
    /// A part of an IP packet: [`crate::fragments`] puts them together.
    Fragment(Fragment<'a>),
    /// It carries no connection of a database: name lookups, neighbours, routing, time.
    Harmless,
    Unread(Unread),
}

/// A part of an IP packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment<'a> {
    pub source: IpAddr,
    pub destination: IpAddr,
    pub protocol: u8,
    pub id: u32,
    pub offset_bytes: usize,
    /// Others follow it.
    pub has_more: bool,
    pub body: &'a [u8],
    /// Not all of it was captured.
    pub is_cut: bool,
}

/// Why nobody knows what a packet holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unread {
    /// The number that the file gives to the headers of an interface.
    LinkType(u16),
    EtherType(u16),
    IpProtocol(u8),
    /// By the lower port.
    Udp(u16),
    /// Encrypted, or compressed: what is inside may be anything.
    Encrypted(&'static str),
    /// Known, and not read here.
    Tunnel(&'static str),
    /// The other parts of an IP packet are not in the capture.
    Fragment,
    /// Too little of it was captured.
    CutShort,
    Malformed,
    TooManyLayers,
}

impl Unread {
    /// The word for programs.
    pub fn id(self) -> &'static str {
        match self {
            Self::LinkType(_) => "link-type",
            Self::EtherType(_) => "ethertype",
            Self::IpProtocol(_) => "ip-protocol",
            Self::Udp(_) => "udp",
            Self::Encrypted(_) => "encrypted",
            Self::Tunnel(_) => "tunnel",
            Self::Fragment => "ip-fragment",
            Self::CutShort => "cut-short",
            Self::Malformed => "malformed",
            Self::TooManyLayers => "too-many-layers",
        }
    }

    /// The number of the protocol, the port or the link type.
    pub fn number(self) -> Option<u16> {
        match self {
            Self::LinkType(number) | Self::EtherType(number) | Self::Udp(number) => Some(number),
            Self::IpProtocol(number) => Some(number.into()),
            _ => None,
        }
    }

    /// For people; it follows "packets: ".
    pub fn text(self) -> String {
        match self {
            Self::LinkType(number) => format!("link type {number}, which sealion does not read"),
            Self::EtherType(number) => format!("ethertype 0x{number:04x}, which sealion does not read"),
            Self::IpProtocol(number) => format!("IP protocol {number}, which sealion does not read"),
            Self::Udp(port) => format!("UDP port {port}: an unknown protocol, which may be a tunnel"),
            Self::Encrypted(what) => format!("{what}: encrypted or compressed, its contents are unknown"),
            Self::Tunnel(what) => format!("{what}: sealion does not read inside it"),
            Self::Fragment => "IP fragments of packets that are not complete in the capture".into(),
            Self::CutShort => {
                "cut short when they were captured (tcpdump -s 0 captures whole packets)".into()
            }
            Self::Malformed => "damaged: their headers cannot be read".into(),
            Self::TooManyLayers => "more tunnels inside each other than sealion reads".into(),
        }
    }
}

/// What a frame of an interface with this link type holds.
pub fn frame(link: Link, bytes: &[u8]) -> Content<'_> {
    let Some(start) = link.start(bytes) else { return Content::Unread(Unread::CutShort) };
    match start {
        LinkStart::Ethernet => ethernet(bytes, 0),
        LinkStart::Ip(packet) => ip(packet, 0),
        LinkStart::EtherType(kind, rest) => ethertype(kind, rest, 0),
        LinkStart::Ppp(rest) => ppp(rest, 0),
        LinkStart::PppoeSession(rest) => pppoe_session(rest, 0),
        LinkStart::Mpls(rest) => mpls(rest, 0),
        LinkStart::Unknown(number) => Content::Unread(Unread::LinkType(number)),
    }
}

/// The same for a packet that begins behind its link header, whose ethertype is known.
pub fn packet(kind: u16, bytes: &[u8]) -> Content<'_> {
    ethertype(kind, bytes, 0)
}

/// The same for a packet that begins with its IP header.
pub fn ip_packet(bytes: &[u8]) -> Content<'_> {
    ip(bytes, 0)
}

/// What an IP packet holds that was put together of its fragments.
pub fn ip_body(source: IpAddr, destination: IpAddr, protocol: u8, body: &[u8]) -> Content<'_> {
    let whole = IpPacket { source, destination, protocol, body, sent_bytes: body.len(), fragment: None };
    // Its own layers are not known any more; a packet of 64 KiB holds no endless nest.
    ip_payload(&whole, LAYERS_MAX / 2)
}

const CUT: Content<'static> = Content::Unread(Unread::CutShort);

fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|two| u16::from_be_bytes(*two))
}

fn ethernet(bytes: &[u8], layers: usize) -> Content<'_> {
    match (be16(bytes, 12), bytes.get(14..)) {
        (Some(kind), Some(rest)) => ethertype(kind, rest, layers + 1),
        _ => CUT,
    }
}

fn ethertype(kind: u16, rest: &[u8], layers: usize) -> Content<'_> {
    if layers > LAYERS_MAX {
        return Content::Unread(Unread::TooManyLayers);
    }
    let next = layers + 1;
    match kind {
        ETHERTYPE_IPV4 | ETHERTYPE_IPV6 => ip(rest, next),
        // 802.1Q, 802.1ad, and the numbers that came before it was one.
        0x8100 | 0x88a8 | 0x9100 | 0x9200 => match (be16(rest, 2), rest.get(4..)) {
            (Some(kind), Some(rest)) => ethertype(kind, rest, next),
            _ => CUT,
        },
        ETHERTYPE_BRIDGED => ethernet(rest, next),
        0x8847 | 0x8848 => mpls(rest, next),
        0x8864 => pppoe_session(rest, next),
        0x880b => ppp(rest, next),
        0..ETHERTYPE_MIN => llc(rest, next),
        // Addresses, neighbours, ports and time: ARP, RARP, wake on LAN, flow control, link aggregation, PPPoE's discovery, 802.1X,
        // HomePlug, LLDP, MRP and MVRP, connectivity faults, PTP, loops.
        0x0806 | 0x8035 | 0x0842 | 0x8808 | 0x8809 | 0x8863 | 0x888e | 0x887b | 0x88e1 | 0x8912 | 0x88cc
        | 0x88e3 | 0x88f5 | 0x88f6 | 0x88f7 | 0x8902 | 0x9000 => Content::Harmless,
        0x88e5 => Content::Unread(Unread::Encrypted("MACsec")),
        0x22f3 => Content::Unread(Unread::Tunnel("TRILL")),
        0x894f => Content::Unread(Unread::Tunnel("NSH")),
        0x88e7 => Content::Unread(Unread::Tunnel("802.1ah (PBB)")),
        other => Content::Unread(Unread::EtherType(other)),
    }
}

/// 802.2, as spanning trees and Cisco's own protocols use it.
fn llc(rest: &[u8], layers: usize) -> Content<'_> {
    match rest {
        // SNAP: an organisation, and its ethertype.
        [0xaa, 0xaa, 0x03, organisation @ ..] => match organisation {
            [0, 0, 0 | 0xf8, k0, k1, rest @ ..] if u16::from_be_bytes([*k0, *k1]) >= ETHERTYPE_MIN => {
                ethertype(u16::from_be_bytes([*k0, *k1]), rest, layers + 1)
            }
            [0, 0, 0x0c, ..] => Content::Harmless,
            [a, b, c, ..] if [*a, *b, *c] != [0, 0, 0] => Content::Unread(Unread::Tunnel("802.2 SNAP")),
            _ => CUT,
        },
        // Spanning tree, IS-IS, and tests of the link itself.
        [0x42 | 0xfe, ..] | [0, _, ..] => Content::Harmless,
        [_, _, _, ..] => Content::Unread(Unread::Tunnel("802.2 LLC")),
        _ => CUT,
    }
}

fn mpls(mut rest: &[u8], layers: usize) -> Content<'_> {
    for _ in 0..LAYERS_MAX {
        let Some((label, after)) = rest.split_first_chunk::<4>() else { return CUT };
        rest = after;
        if label[2] & 1 == 0 {
            continue;
        }
        // Nothing says what follows. A whole frame is the stronger sign: two of its fields must fit. Some put a control word in front.
        let behind_word = rest.get(4..).unwrap_or_default();
        return match rest.first() {
            None => CUT,
            _ if is_frame(rest) => ethernet(rest, layers + 1),
            Some(0..=0x0f) if is_frame(behind_word) => ethernet(behind_word, layers + 1),
            Some(_) if is_ip(rest) => ip(rest, layers + 1),
            // The channel for operation and maintenance.
            Some(0x10..=0x1f) => Content::Harmless,
            Some(_) => Content::Unread(Unread::Tunnel("MPLS")),
        };
    }
    Content::Unread(Unread::TooManyLayers)
}

/// Does this look like an Ethernet frame with IP or a neighbour's question in it?
fn is_frame(bytes: &[u8]) -> bool {
    let Some(rest) = bytes.get(14..) else { return false };
    match be16(bytes, 12) {
        Some(ETHERTYPE_IPV4) => rest.first().is_some_and(|first| first >> 4 == 4) && is_ip(rest),
        Some(ETHERTYPE_IPV6) => rest.first().is_some_and(|first| first >> 4 == 6) && is_ip(rest),
        Some(0x8100 | 0x88a8) => {
            matches!(be16(rest, 2), Some(ETHERTYPE_IPV4 | ETHERTYPE_IPV6 | 0x0806 | 0x8100))
        }
        Some(0x0806) => rest.starts_with(&[0, 1, 8, 0, 6, 4]),
        _ => false,
    }
}

/// Does this look like an IP header? The checksum of IPv4 says it; IPv6 has none.
fn is_ip(bytes: &[u8]) -> bool {
    match bytes.first().map(|first| first >> 4) {
        Some(4) => {
            let header_bytes = bytes.first().map_or(0, |first| usize::from(first & 0x0f) * 4);
            let Some(header) = bytes.get(..header_bytes).filter(|header| header.len() >= 20) else {
                return false;
            };
            let words = header.chunks_exact(2).map(|two| u32::from(be16(two, 0).unwrap_or(0)));
            let mut sum: u32 = words.sum();
            while sum > 0xffff {
                sum = (sum & 0xffff) + (sum >> 16);
            }
            // Zero where the network card would have written it.
            sum == 0xffff || be16(header, 10) == Some(0)
        }
        Some(6) => {
            let next_header = bytes.get(6).copied().unwrap_or(59);
            let is_used = matches!(
                next_header,
                0 | 4 | 6 | 17 | 41 | 43 | 44 | 47 | 50 | 51 | 58 | 60 | 89 | 103 | 132
            );
            bytes.len() >= 40 && is_used && bytes.get(7).is_some_and(|hops| *hops > 0)
        }
        _ => false,
    }
}

/// Version and type, code, session, length.
fn pppoe_session(rest: &[u8], layers: usize) -> Content<'_> {
    match rest {
        [0x11, 0, _, _, l0, l1, rest @ ..] => {
            let length = usize::from(u16::from_be_bytes([*l0, *l1])).min(rest.len());
            ppp(rest.get(..length).unwrap_or_default(), layers + 1)
        }
        // Discovery and its ends: they belong to another ethertype, and carry nothing.
        [0x11, 1..=0xff, ..] => Content::Harmless,
        [0x11, ..] | [] => CUT,
        _ => Content::Unread(Unread::Malformed),
    }
}

fn ppp(rest: &[u8], layers: usize) -> Content<'_> {
    let rest = rest.strip_prefix(&[0xff, 0x03]).unwrap_or(rest);
    let (protocol, rest) = match rest {
        // An odd first byte is a protocol number that was shortened.
        [short, rest @ ..] if short & 1 == 1 => (u16::from(*short), rest),
        [p0, p1, rest @ ..] => (u16::from_be_bytes([*p0, *p1]), rest),
        _ => return CUT,
    };
    match protocol {
        0x0021 | 0x0057 => ip(rest, layers + 1),
        0x0281 | 0x0283 => mpls(rest, layers + 1),
        0x0031 => Content::Unread(Unread::Tunnel("PPP bridging")),
        0x003d => Content::Unread(Unread::Tunnel("PPP multilink")),
        0x0053 | 0x0055 | 0x00fb | 0x00fd => Content::Unread(Unread::Encrypted("PPP (MPPE or CCP)")),
        // What the two ends agree on.
        0x8000.. => Content::Harmless,
        _ => Content::Unread(Unread::Tunnel("PPP")),
    }
}

fn ip(packet: &[u8], layers: usize) -> Content<'_> {
    if layers > LAYERS_MAX {
        return Content::Unread(Unread::TooManyLayers);
    }
    match segment::ip(packet) {
        Ok(ip) => ip_payload(&ip, layers + 1),
        Err(segment::IpFault::CutShort) => CUT,
        Err(segment::IpFault::Malformed) => Content::Unread(Unread::Malformed),
    }
}

fn ip_payload<'a>(ip: &IpPacket<'a>, layers: usize) -> Content<'a> {
    if is_harmless(ip.protocol) {
        return Content::Harmless;
    }
    if let Some(part) = ip.fragment {
        return Content::Fragment(Fragment {
            source: ip.source,
            destination: ip.destination,
            protocol: ip.protocol,
            id: part.id,
            offset_bytes: part.offset_bytes,
            has_more: part.has_more,
            body: ip.body,
            is_cut: ip.body.len() < ip.sent_bytes,
        });
    }
    let rest = ip.body;
    let next = layers + 1;
    match ip.protocol {
        segment::PROTOCOL_TCP => match segment::of(ip) {
            Some(segment) => Content::Segment(segment),
            None if rest.len() < ip.sent_bytes => CUT,
            None => Content::Unread(Unread::Malformed),
        },
        17 => udp(rest, next),
        4 | 41 => self::ip(rest, next),
        47 => gre(rest, next),
        137 => mpls(rest, next),
        // EtherIP: version 3, and a frame.
        97 => match rest {
            [0x30, _, rest @ ..] => ethernet(rest, next),
            _ => Content::Unread(Unread::Malformed),
        },
        50 => Content::Unread(Unread::Encrypted("IPsec ESP")),
        108 => Content::Unread(Unread::Encrypted("IPComp")),
        115 => Content::Unread(Unread::Tunnel("L2TPv3")),
        other => Content::Unread(Unread::IpProtocol(other)),
    }
}

/// ICMP, IGMP, EGP, IGP, ICMPv6, nothing, EIGRP, OSPF, PIM, VRRP, RSVP.
fn is_harmless(protocol: u8) -> bool {
    matches!(protocol, 1 | 2 | 8 | 9 | 46 | 58 | 59 | 88 | 89 | 103 | 112)
}

fn gre(bytes: &[u8], layers: usize) -> Content<'_> {
    let (Some(flags), Some(kind)) = (be16(bytes, 0), be16(bytes, 2)) else { return CUT };
    let word = |flag: u16| if flags & flag == 0 { 0 } else { 4 };
    let (has_key, has_sequence) = (0x2000, 0x1000);
    match flags & 0x0007 {
        // A list of routes stands in front of what it carries, where anybody still uses it.
        0 if flags & 0x4000 != 0 => Content::Unread(Unread::Tunnel("GRE with source routes")),
        0 => {
            let header_bytes = 4 + word(0x8000) + word(has_key) + word(has_sequence);
            let Some(rest) = bytes.get(header_bytes..) else { return CUT };
            match kind {
                // ERSPAN: with a sequence number it has a header of its own.
                0x88be if flags & has_sequence == 0 => ethernet(rest, layers + 1),
                0x88be => rest.get(8..).map_or(CUT, |rest| ethernet(rest, layers + 1)),
                0x22eb => {
                    let has_more = rest.get(11).is_some_and(|last| last & 1 == 1);
                    rest.get(if has_more { 20 } else { 12 }..).map_or(CUT, |rest| ethernet(rest, layers + 1))
                }
                // A keep-alive that answers itself has nothing inside.
                0 => Content::Harmless,
                kind => ethertype(kind, rest, layers + 1),
            }
        }
        // PPTP: the key is a length and a call, and always there; an acknowledgement alone carries nothing.
        1 if kind == 0x880b => {
            let rest = bytes.get(8 + word(has_sequence) + word(0x0080)..);
            match (be16(bytes, 4), rest) {
                (Some(0), _) => Content::Harmless,
                (_, Some(rest)) => ppp(rest, layers + 1),
                _ => CUT,
            }
        }
        _ => Content::Unread(Unread::Malformed),
    }
}

fn udp(bytes: &[u8], layers: usize) -> Content<'_> {
    let (Some(source), Some(destination), Some(length)) = (be16(bytes, 0), be16(bytes, 2), be16(bytes, 4))
    else {
        return CUT;
    };
    let end = usize::from(length).clamp(8, bytes.len().max(8));
    let Some(rest) = bytes.get(8..if length == 0 { bytes.len() } else { end }) else { return CUT };
    let has = |port| source == port || destination == port;
    let next = layers + 1;
    match destination {
        // VXLAN: its own port, Linux's old one, and with other protocols inside.
        4789 | 8472 | 4790 => return vxlan(rest, next),
        6081 => return geneve(rest, next),
        6635 => return mpls(rest, next),
        4754 => return gre(rest, next),
        _ => {}
    }
    if rest.is_empty() {
        return if length > 8 { CUT } else { Content::Harmless };
    }
    // VXLAN on a port of somebody's own choice.
    if let [0x08, 0, 0, 0, _, _, _, 0, inner @ ..] = rest
        && is_frame(inner)
    {
        return ethernet(inner, next);
    }
    match rest {
        // A byte that keeps an address translation alive, or the exchange of keys.
        [0xff] | [0, 0, 0, 0, ..] if has(4500) => return Content::Harmless,
        _ if has(4500) => return Content::Unread(Unread::Encrypted("IPsec ESP in UDP")),
        [1..=4, 0, 0, 0, ..] if is_wireguard(rest) => return Content::Unread(Unread::Encrypted("WireGuard")),
        _ => {}
    }
    let named = [(1194, "OpenVPN"), (51820, "WireGuard")];
    if let Some((_, name)) = named.iter().find(|(port, _)| has(*port)) {
        return Content::Unread(Unread::Encrypted(name));
    }
    let named = [
        (1701, "L2TP"),
        (2152, "GTP-U"),
        (3544, "Teredo"),
        (4341, "LISP"),
        (4567, "Galera over multicast"),
        (5555, "FOU"),
        (6080, "GUE"),
    ];
    if let Some((_, name)) = named.iter().find(|(port, _)| has(*port)) {
        return Content::Unread(Unread::Tunnel(name));
    }
    if HARMLESS_UDP.iter().any(|port| has(*port)) {
        return Content::Harmless;
    }
    Content::Unread(Unread::Udp(source.min(destination)))
}

/// Names, addresses, time, logs, neighbours, the keys of IPsec, and the web.
const HARMLESS_UDP: [u16; 26] = [
    53, 67, 68, 69, 88, 111, 123, 137, 138, 161, 162, 319, 320, 389, 443, 500, 514, 546, 547, 1812, 1813,
    1900, 3478, 3702, 5353, 5355,
];

/// Source: wireguard.com/protocol: the type, three zeros; the lengths of the first three are fixed, data comes in sixteens.
fn is_wireguard(bytes: &[u8]) -> bool {
    match (bytes.first(), bytes.len()) {
        (Some(1), 148) | (Some(2), 92) | (Some(3), 64) => true,
        (Some(4), length) => length >= 32 && length % 16 == 0,
        _ => false,
    }
}

fn vxlan(bytes: &[u8], layers: usize) -> Content<'_> {
    let Some((&[flags, _, _, next_protocol, ..], rest)) = bytes.split_first_chunk::<8>() else { return CUT };
    match (flags & 0x08 != 0, flags & 0x04 != 0, next_protocol) {
        (false, ..) => Content::Unread(Unread::Malformed),
        (true, false, _) | (true, true, 3) => ethernet(rest, layers + 1),
        (true, true, 1 | 2) => ip(rest, layers + 1),
        (true, true, 5) => mpls(rest, layers + 1),
        _ => Content::Unread(Unread::Tunnel("VXLAN-GPE with another protocol inside")),
    }
}

fn geneve(bytes: &[u8], layers: usize) -> Content<'_> {
    let Some((&[first, _, k0, k1, ..], rest)) = bytes.split_first_chunk::<8>() else { return CUT };
    if first >> 6 != 0 {
        return Content::Unread(Unread::Malformed);
    }
    let options_bytes = usize::from(first & 0x3f) * 4;
    rest.get(options_bytes..).map_or(CUT, |rest| ethertype(u16::from_be_bytes([k0, k1]), rest, layers + 1))
}

#[cfg(test)]
#[path = "layers/tests.rs"]
mod tests;
