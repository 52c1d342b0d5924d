//! The PROXY protocol: a line or a header that a load balancer puts in front of a connection, so that the server sees
//! the client's address. A server that expects it is silent until it comes.
//!
//! Source: HAProxy, "The PROXY protocol, versions 1 & 2" (`doc/proxy-protocol.txt`). Read here: the addresses. Left
//! out: what the extensions (TLV) of version 2 say, Unix sockets, datagrams.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::WireError;
use crate::read::Reader;

/// The longest line of version 1, its line feed included.
pub const LINE_BYTES_MAX: usize = 107;
/// What stands behind the fixed 16 bytes of version 2. Addresses take 36, a certificate's name in an extension some
/// hundreds; the length field allows 65535, which no receiver wants to wait for.
pub const V2_BYTES_MAX: u16 = 4096;

const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";
const V2_LOCAL: u8 = 0x20;
const V2_PROXY: u8 = 0x21;
const V2_TCP4: u8 = 0x11;
const V2_TCP6: u8 = 0x21;

/// Who speaks to whom, as the one in the middle says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Proxied {
    /// The connection is the balancer's own, for instance to see whether the server lives.
    Local,
    Tcp {
        source: SocketAddr,
        destination: SocketAddr,
    },
}

/// A header, and how many bytes it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Header {
    pub proxied: Proxied,
    pub bytes: usize,
}

/// Appends a line of version 1. Addresses of two families are written as IPv6.
pub fn write_v1(out: &mut Vec<u8>, proxied: &Proxied) {
    let line = match proxied {
        Proxied::Local => "PROXY UNKNOWN\r\n".to_owned(),
        Proxied::Tcp { source, destination } => {
            let (family, source_ip, destination_ip) = match (source.ip(), destination.ip()) {
                (IpAddr::V4(source), IpAddr::V4(destination)) => {
                    ("TCP4", source.to_string(), destination.to_string())
                }
                (source, destination) => ("TCP6", v6(source).to_string(), v6(destination).to_string()),
            };
            format!(
                "PROXY {family} {source_ip} {destination_ip} {} {}\r\n",
                source.port(),
                destination.port()
            )
        }
    };
    out.extend_from_slice(line.as_bytes());
}

/// Appends a header of version 2. Addresses of two families are written as IPv6.
pub fn write_v2(out: &mut Vec<u8>, proxied: &Proxied) {
    out.extend_from_slice(&SIGNATURE);
    let (source, destination) = match proxied {
        Proxied::Local => return out.extend_from_slice(&[V2_LOCAL, 0, 0, 0]),
        Proxied::Tcp { source, destination } => (source, destination),
    };
    match (source.ip(), destination.ip()) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            out.extend_from_slice(&[V2_PROXY, V2_TCP4, 0, 12]);
            out.extend_from_slice(&source.octets());
            out.extend_from_slice(&destination.octets());
        }
        (source, destination) => {
            out.extend_from_slice(&[V2_PROXY, V2_TCP6, 0, 36]);
            out.extend_from_slice(&v6(source).octets());
            out.extend_from_slice(&v6(destination).octets());
        }
    }
    out.extend_from_slice(&source.port().to_be_bytes());
    out.extend_from_slice(&destination.port().to_be_bytes());
}

fn v6(address: IpAddr) -> Ipv6Addr {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    }
}

/// Reads a header of either version at the beginning of `bytes`; `None` when more are needed.
pub fn parse(bytes: &[u8]) -> Result<Option<Header>, WireError> {
    if is_prefix_of(bytes, &SIGNATURE) {
        return parse_v2(bytes);
    }
    if is_prefix_of(bytes, b"PROXY ") {
        return parse_v1(bytes);
    }
    Err(WireError::Malformed { what: "PROXY header", reason: "it begins with none of the two signatures" })
}

/// Do the two agree as far as both go?
fn is_prefix_of(bytes: &[u8], signature: &[u8]) -> bool {
    bytes.iter().zip(signature).all(|(a, b)| a == b)
}

fn parse_v1(bytes: &[u8]) -> Result<Option<Header>, WireError> {
    let malformed = |reason| WireError::Malformed { what: "PROXY line", reason };
    let within = bytes.get(..LINE_BYTES_MAX).unwrap_or(bytes);
    let Some(end) = within.windows(2).position(|pair| pair == b"\r\n") else {
        if within.len() == LINE_BYTES_MAX {
            return Err(WireError::OverLimit {
                what: "PROXY line",
                announced: bytes.len() as u64,
                max: LINE_BYTES_MAX as u64,
            });
        }
        return Ok(None);
    };
    let line = within.get(..end).unwrap_or_default();
    let line = std::str::from_utf8(line).map_err(|_| malformed("it is no text"))?;
    let bytes = end + 2;
    let mut words = line.split(' ').skip(1);
    let family = words.next().unwrap_or_default();
    // What follows UNKNOWN must be ignored.
    if family == "UNKNOWN" {
        return Ok(Some(Header { proxied: Proxied::Local, bytes }));
    }
    let (Some(source), Some(destination), Some(source_port), Some(destination_port), None) =
        (words.next(), words.next(), words.next(), words.next(), words.next())
    else {
        return Err(malformed("it has not six words"));
    };
    let address = |word: &str| match family {
        "TCP4" => {
            word.parse::<Ipv4Addr>().map(IpAddr::V4).map_err(|_| malformed("an address is none of IPv4"))
        }
        "TCP6" => {
            word.parse::<Ipv6Addr>().map(IpAddr::V6).map_err(|_| malformed("an address is none of IPv6"))
        }
        _ => Err(malformed("its family is none of TCP4, TCP6, UNKNOWN")),
    };
    let port = |word: &str| {
        let canonical = word == "0" || !word.starts_with(['0', '+']);
        word.parse::<u16>()
            .ok()
            .filter(|_| canonical)
            .ok_or_else(|| malformed("a port is no number to 65535"))
    };
    let proxied = Proxied::Tcp {
        source: SocketAddr::new(address(source)?, port(source_port)?),
        destination: SocketAddr::new(address(destination)?, port(destination_port)?),
    };
    Ok(Some(Header { proxied, bytes }))
}

fn parse_v2(bytes: &[u8]) -> Result<Option<Header>, WireError> {
    let malformed = |reason| Err(WireError::Malformed { what: "PROXY header", reason });
    let Some([command, family, l0, l1, body @ ..]) = bytes.get(SIGNATURE.len()..) else { return Ok(None) };
    let length = u16::from_be_bytes([*l0, *l1]);
    if length > V2_BYTES_MAX {
        return Err(WireError::OverLimit {
            what: "PROXY header",
            announced: u64::from(length),
            max: u64::from(V2_BYTES_MAX),
        });
    }
    let Some(body) = body.get(..usize::from(length)) else { return Ok(None) };
    let bytes = SIGNATURE.len() + 4 + body.len();
    let mut reader = Reader::new("PROXY header", body);
    let proxied = match (*command, *family) {
        (V2_LOCAL, _) => Proxied::Local,
        (V2_PROXY, V2_TCP4) => {
            let (source, destination) = (Ipv4Addr::from(reader.u32_be()?), Ipv4Addr::from(reader.u32_be()?));
            tcp(source.into(), destination.into(), &mut reader)?
        }
        (V2_PROXY, V2_TCP6) => {
            let mut address = || {
                let mut octets = [0; 16];
                octets.copy_from_slice(reader.take(16)?);
                Ok::<_, WireError>(IpAddr::from(octets))
            };
            let (source, destination) = (address()?, address()?);
            tcp(source, destination, &mut reader)?
        }
        // Unspecified, datagrams, Unix sockets: the receiver goes by the connection itself.
        (V2_PROXY, 0x00 | 0x12 | 0x22 | 0x31 | 0x32) => Proxied::Local,
        (V2_PROXY, _) => return malformed("its family is not known"),
        _ => return malformed("its version or command is not known"),
    };
    Ok(Some(Header { proxied, bytes }))
}

fn tcp(source: IpAddr, destination: IpAddr, reader: &mut Reader<'_>) -> Result<Proxied, WireError> {
    let source = SocketAddr::new(source, reader.u16_be()?);
    Ok(Proxied::Tcp { source, destination: SocketAddr::new(destination, reader.u16_be()?) })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tcp4() -> Proxied {
        Proxied::Tcp {
            source: "192.0.2.1:56324".parse().unwrap(),
            destination: "198.51.100.7:3306".parse().unwrap(),
        }
    }

    #[test]
    fn writes_the_bytes_of_the_specification() {
        let mut out = Vec::new();
        write_v1(&mut out, &tcp4());
        assert_eq!(out, b"PROXY TCP4 192.0.2.1 198.51.100.7 56324 3306\r\n");
        out.clear();
        write_v2(&mut out, &tcp4());
        let expected =
            b"\r\n\r\n\0\r\nQUIT\n\x21\x11\x00\x0c\xc0\x00\x02\x01\xc6\x33\x64\x07\xdc\x04\x0c\xea";
        assert_eq!(out, expected);
        out.clear();
        write_v2(&mut out, &Proxied::Local);
        assert_eq!(out, b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0");
    }

    #[test]
    fn every_prefix_needs_more_and_what_follows_is_left() {
        let longest: SocketAddr = "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe]:65535".parse().unwrap();
        let longest = Proxied::Tcp { source: longest, destination: longest };
        for proxied in [Proxied::Local, tcp4(), longest] {
            for write in [write_v1, write_v2] {
                let mut out = Vec::new();
                write(&mut out, &proxied);
                assert!(out.len() <= LINE_BYTES_MAX);
                for cut in 0..out.len() {
                    assert_eq!(parse(&out[..cut]), Ok(None), "cut at {cut}");
                }
                let bytes = out.len();
                out.extend_from_slice(b"\x4a\0\0\0\x0a");
                assert_eq!(parse(&out), Ok(Some(Header { proxied, bytes })));
            }
        }
    }

    #[test]
    fn refuses_what_is_no_header() {
        for wrong in [
            &b"PROXY TCP4 192.0.2.1 198.51.100.7 56324\r\n"[..],
            b"PROXY TCP4 ::1 ::1 1 2\r\n",
            b"PROXY TCP4 1.2.3.4 1.2.3.4 01 2\r\n",
            b"PROXY TCP4 1.2.3.4 1.2.3.4 1 70000\r\n",
            b"PROXY TCP9 1.2.3.4 1.2.3.4 1 2\r\n",
            b"PROXY \xff\r\n",
            b"GET / HTTP/1.1\r\n",
            b"\r\n\r\n\0\r\nQUIT\n\x21\x11\x00\x04\x01\x02\x03\x04",
            b"\r\n\r\n\0\r\nQUIT\n\x11\x11\x00\x00",
            b"\r\n\r\n\0\r\nQUIT\n\x21\x77\x00\x00",
        ] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
        let endless = [&b"PROXY UNKNOWN "[..], &[b'x'; 200]].concat();
        assert!(matches!(parse(&endless), Err(WireError::OverLimit { .. })));
        let long = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\xff\xff";
        assert!(matches!(parse(long), Err(WireError::OverLimit { announced: 65535, .. })));
    }

    proptest! {
        #[test]
        fn any_addresses_read_back(
            source in any::<(u128, u16)>(),
            destination in any::<(u128, u16)>(),
            is_v4 in any::<bool>(),
        ) {
            let address = |(bits, port): (u128, u16)| {
                let v6 = Ipv6Addr::from(bits);
                let [.., a, b, c, d] = v6.octets();
                let ip = if is_v4 { IpAddr::from([a, b, c, d]) } else { IpAddr::from(v6) };
                SocketAddr::new(ip, port)
            };
            let proxied = Proxied::Tcp { source: address(source), destination: address(destination) };
            for write in [write_v1, write_v2] {
                let mut out = Vec::new();
                write(&mut out, &proxied);
                prop_assert_eq!(parse(&out), Ok(Some(Header { proxied, bytes: out.len() })));
            }
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100), start in 0_usize..4) {
            let starts = [&b""[..], b"PROXY ", b"PROXY TCP4 ", b"\r\n\r\n\0\r\nQUIT\n\x21"];
            let _ = parse(&[starts[start], &bytes[..]].concat());
        }
    }
}
