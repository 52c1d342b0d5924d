#![allow(clippy::unwrap_used, clippy::indexing_slicing)]
use super::*;
use proptest::prelude::*;

const MAC: [u8; 12] = [0x0a; 12];

fn segment(payload: &[u8]) -> Segment<'_> {
    Segment {
        source: "10.0.0.1:40000".parse().unwrap(),
        destination: "10.0.0.2:3306".parse().unwrap(),
        sequence: 7,
        syn: false,
        ack: true,
        fin: false,
        rst: false,
        payload,
        cut_bytes: 0,
    }
}

fn tcp() -> Vec<u8> {
    checked(segment::encode(&segment(b"hello")))
}

/// With the checksum of its IPv4 header.
fn checked(mut packet: Vec<u8>) -> Vec<u8> {
    let sum: u32 = packet[..20].chunks(2).map(|two| u32::from(two[0]) << 8 | u32::from(two[1])).sum();
    let sum = u16::try_from(!((sum & 0xffff) + (sum >> 16)) & 0xffff).unwrap();
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    packet
}

fn ipv4(protocol: u8, body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(body.len() + 20).unwrap().to_be_bytes();
    let head =
        [0x45, 0, length[0], length[1], 0, 1, 0, 0, 64, protocol, 0, 0, 192, 168, 0, 1, 192, 168, 0, 2];
    checked([&head[..], body].concat())
}

fn ipv6(next_header: u8, body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(body.len()).unwrap().to_be_bytes();
    [&[0x60, 0, 0, 0, length[0], length[1], next_header, 64][..], &[0xfe; 32], body].concat()
}

fn udp_to(port: u16, body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(body.len() + 8).unwrap();
    let head = [50_000_u16, port, length, 0].map(u16::to_be_bytes).concat();
    ipv4(17, &[&head, body].concat())
}

fn ether(kind: u16, body: &[u8]) -> Vec<u8> {
    [&MAC[..], &kind.to_be_bytes(), body].concat()
}

fn read(frame: &[u8]) -> Content<'_> {
    super::frame(Link::Ethernet, frame)
}

/// Each way around the same segment.
fn wrapped() -> Vec<(&'static str, Vec<u8>)> {
    let inner = ether(0x0800, &tcp());
    let over_ip = |protocol, head: &[u8], body: &[u8]| ether(0x0800, &ipv4(protocol, &[head, body].concat()));
    let over_udp = |port, head: &[u8], body: &[u8]| ether(0x0800, &udp_to(port, &[head, body].concat()));
    let tcp = tcp();
    let ah = [&[6, 4, 0, 0][..], &[9; 20]].concat();
    let pppoe = |head: &[u8], body: &[u8]| {
        let length = u16::try_from(head.len() + body.len()).unwrap().to_be_bytes();
        ether(0x8864, &[&[0x11, 0, 0, 1, length[0], length[1]], head, body].concat())
    };
    vec![
        ("nothing", inner.clone()),
        ("VLAN", ether(0x8100, &[b"\x00\x05\x08\x00", &tcp[..]].concat())),
        ("QinQ", ether(0x88a8, &[b"\x00\x05\x81\x00\x00\x06\x08\x00", &tcp[..]].concat())),
        ("SNAP", ether(60, &[b"\xaa\xaa\x03\x00\x00\x00\x08\x00", &tcp[..]].concat())),
        ("MPLS", ether(0x8847, &[b"\x00\x01\x00\x40\x00\x02\x01\x40", &tcp[..]].concat())),
        ("MPLS, Ethernet", ether(0x8847, &[b"\x00\x01\x01\x40", &inner[..]].concat())),
        ("MPLS, control word", ether(0x8847, &[b"\x00\x01\x01\x40\0\0\0\0", &inner[..]].concat())),
        ("PPPoE", pppoe(b"\x00\x21", &tcp)),
        ("PPPoE, short", pppoe(b"\x21", &tcp)),
        ("IPIP", over_ip(4, b"", &tcp)),
        ("6in4", over_ip(41, b"", &ipv6(4, &tcp))),
        ("4in6", ether(0x86dd, &ipv6(4, &tcp))),
        ("AH", over_ip(51, &[&[4], &ah[1..]].concat(), &tcp)),
        ("GRE", over_ip(47, b"\x00\x00\x08\x00", &tcp)),
        ("GRE with all", over_ip(47, b"\xb0\x00\x08\x00ccccKKKKSSSS", &tcp)),
        ("NVGRE", over_ip(47, b"\x20\x00\x65\x58\x00\x00\x05\x00", &inner)),
        ("ERSPAN I", over_ip(47, b"\x00\x00\x88\xbe", &inner)),
        ("ERSPAN II", over_ip(47, b"\x10\x00\x88\xbe\0\0\0\x01\x10\0\0\0\0\0\0\0", &inner)),
        ("ERSPAN III", over_ip(47, b"\x10\x00\x22\xeb\0\0\0\x01\x20\0\0\0\0\0\0\0\0\0\0\0", &inner)),
        ("PPTP", over_ip(47, b"\x30\x01\x88\x0b\x00\x32\x00\x01\0\0\0\x01\xff\x03\x00\x21", &tcp)),
        ("EtherIP", over_ip(97, b"\x30\x00", &inner)),
        ("VXLAN", over_udp(4789, b"\x08\0\0\0\0\0\x05\0", &inner)),
        ("VXLAN of Linux", over_udp(8472, b"\x08\0\0\0\0\0\x05\0", &inner)),
        ("VXLAN elsewhere", over_udp(12_345, b"\x08\0\0\0\0\0\x05\0", &inner)),
        ("VXLAN-GPE", over_udp(4790, b"\x0c\0\0\x01\0\0\x05\0", &tcp)),
        ("Geneve", over_udp(6081, b"\x01\0\x65\x58\0\0\x05\0oooo", &inner)),
        ("MPLS in UDP", over_udp(6635, b"\x00\x01\x01\x40", &tcp)),
        ("GRE in UDP", over_udp(4754, b"\x00\x00\x08\x00", &tcp)),
        ("VXLAN in GRE in VLAN", {
            let vxlan = udp_to(4789, &[b"\x08\0\0\0\0\0\x05\0", &inner[..]].concat());
            ether(
                0x8100,
                &[b"\x00\x05\x08\x00", &ipv4(47, &[b"\0\0\x08\0", &vxlan[..]].concat())[..]].concat(),
            )
        }),
    ]
}

#[test]
fn the_segment_is_found_in_each_tunnel_and_no_cut_hides_it() {
    let payload = segment(b"hello");
    for (name, frame) in wrapped() {
        assert_eq!(read(&frame), Content::Segment(payload), "{name}");
        for cut in 0..frame.len() {
            match read(&frame[..cut]) {
                Content::Segment(seen) => {
                    assert_eq!(seen.payload.len() + seen.cut_bytes, 5, "{name} cut at {cut}");
                }
                Content::Unread(_) => {}
                other => panic!("{name} cut at {cut}: {other:?}"),
            }
        }
    }
}

#[test]
fn what_cannot_be_read_is_told_by_its_kind() {
    let rows: [(Vec<u8>, &str, Option<u16>); 19] = [
        (ether(0x88e5, b"secret"), "encrypted", None),
        (ether(0x88b5, b"experiment"), "ethertype", Some(0x88b5)),
        (ether(0x22f3, b"trill"), "tunnel", None),
        (ether(40, b"\xe0\xe0\x03ipx"), "tunnel", None),
        (ether(0x8847, b"\x00\x01\x01\x40\xc0what"), "tunnel", None),
        (ether(0x0800, &ipv4(50, &[7; 40])), "encrypted", None),
        (ether(0x86dd, &ipv6(50, &[7; 40])), "encrypted", None),
        (ether(0x0800, &ipv4(115, &[7; 40])), "tunnel", None),
        (ether(0x0800, &ipv4(132, &[7; 40])), "ip-protocol", Some(132)),
        (ether(0x0800, &ipv4(47, b"\x00\x00\x12\x34rest")), "ethertype", Some(0x1234)),
        (
            ether(0x0800, &ipv4(47, b"\x30\x01\x88\x0b\x00\x04\x00\x01\0\0\0\x01\x00\xfdxx")),
            "encrypted",
            None,
        ),
        (ether(0x0800, &udp_to(4500, &[7; 40])), "encrypted", None),
        (ether(0x0800, &udp_to(9999, &[&[4, 0, 0, 0][..], &[7; 60]].concat())), "encrypted", None),
        (ether(0x0800, &udp_to(1194, &[7; 40])), "encrypted", None),
        (ether(0x0800, &udp_to(2152, &[7; 40])), "tunnel", None),
        (ether(0x0800, &udp_to(23_456, &[7; 40])), "udp", Some(23_456)),
        (ether(0x0800, &[0x25; 40]), "malformed", None),
        (ether(0x0800, &tcp()[..30]), "cut-short", None),
        ([&MAC[..], &b"\x81\x00\x00\x01".repeat(40)].concat(), "too-many-layers", None),
    ];
    for (frame, id, number) in rows {
        let Content::Unread(kind) = read(&frame) else { panic!("{id}: {:?}", read(&frame)) };
        assert_eq!((kind.id(), kind.number()), (id, number), "{}", kind.text());
        assert!(!kind.text().is_empty());
    }
    let Content::Unread(kind) = super::frame(Link::of(105), b"802.11") else { panic!() };
    assert_eq!((kind.id(), kind.number()), ("link-type", Some(105)));
}

#[test]
fn what_carries_no_database_is_no_reason_to_doubt() {
    for frame in [
        ether(0x0806, b"arp"),
        ether(0x88cc, b"lldp"),
        ether(38, b"\x42\x42\x03stp"),
        ether(100, b"\xaa\xaa\x03\x00\x00\x0c\x20\x00cdp"),
        ether(0x0800, &ipv4(1, b"ping")),
        ether(0x86dd, &ipv6(58, b"neighbour")),
        ether(0x86dd, &ipv6(0, b"\x3a\0\x05\x02\0\0\0\0listener")),
        ether(0x0800, &udp_to(53, b"name?")),
        ether(0x0800, &udp_to(4500, &[0xff])),
        ether(0x8864, b"\x11\x00\x00\x01\x00\x04\xc0\x21\x09\x01"),
    ] {
        assert_eq!(read(&frame), Content::Harmless, "{frame:02x?}");
    }
}

#[test]
fn parts_of_a_packet_are_given_as_such_in_both_families() {
    let mut first = tcp();
    first[6] = 0x20;
    let Content::Fragment(part) = super::ip_packet(&first) else { panic!() };
    assert_eq!((part.offset_bytes, part.has_more, part.protocol, part.body.len()), (0, true, 6, 25));
    let later = ipv6(44, &[&[6, 0, 0, 0x10, 0, 0, 0, 9][..], b"more"].concat());
    let Content::Fragment(part) = super::ip_packet(&later) else { panic!() };
    assert_eq!((part.offset_bytes, part.has_more, part.id, part.body), (16, false, 9, &b"more"[..]));
    // "I am my only part": that is a whole packet.
    let atomic = ipv6(44, &[&[6, 0, 0, 0, 0, 0, 0, 9][..], &tcp()[20..]].concat());
    assert!(matches!(super::ip_packet(&atomic), Content::Segment(_)));
}

#[test]
fn link_headers_are_taken_off() {
    let tcp = tcp();
    let rows: [(u16, &[u8]); 13] = [
        (101, b""),
        (12, b""),
        (0, b"\x02\x00\x00\x00"),
        (108, b"\x00\x00\x00\x02"),
        (113, b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x08\x00"),
        (276, b"\x08\x00\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
        (276, b"\x81\x00\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x00\x05\x08\x00"),
        (9, b"\xff\x03\x00\x21"),
        (50, b"\xff\x03\x00\x21"),
        (104, b"\x0f\x00\x08\x00"),
        (51, b"\x11\x00\x00\x01\x00\x2f\x00\x21"),
        (219, b"\x00\x01\x01\x40"),
        (1, b"\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x08\x00"),
    ];
    for (number, head) in rows {
        let frame = [head, &tcp].concat();
        assert_eq!(super::frame(Link::of(number), &frame), Content::Segment(segment(b"hello")), "{number}");
    }
    assert_eq!(
        super::packet(0x8100, &[b"\x00\x05\x08\x00", &tcp[..]].concat()),
        Content::Segment(segment(b"hello"))
    );
}

proptest! {
    #[test]
    fn no_bytes_panic_and_none_recurse_without_end(
        number in any::<u16>(),
        which in 0_usize..29,
        changes in proptest::collection::vec((any::<u16>(), any::<u8>()), 0..6),
        noise in proptest::collection::vec(any::<u8>(), 0..80),
    ) {
        let _ = super::frame(Link::of(number), &noise);
        let _ = super::packet(number, &noise);
        let mut frame = wrapped().swap_remove(which).1;
        for (at, byte) in changes {
            let at = usize::from(at) % frame.len();
            frame[at] = byte;
        }
        let _ = read(&frame);
    }
}
