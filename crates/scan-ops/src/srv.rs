//! Places that DNS names for a service: SRV records, asked of the system's name servers.
//!
//! Sources: RFC 2782 (SRV), RFC 1035 4.2 (UDP, and TCP with a length in front), RFC 7766 5 (a truncated answer is asked for
//! again over TCP), RFC 5452 (an id that cannot be guessed, the question checked in the answer), resolv.conf(5). The system's
//! resolver (`getaddrinfo`) has no SRV, so this is asked by hand. Left out: search domains, EDNS, caching.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::path::Path;
use std::time::{Duration, Instant};

use ::scan::target::host_and_port;
use simple_dns::rdata::RData;
use simple_dns::{CLASS, Name, Packet, PacketFlag, QTYPE, Question, RCODE, TYPE, header_buffer};

/// resolv.conf(5): MAXNS.
const SERVERS_MAX: usize = 3;
/// resolv.conf(5): `timeout` and `attempts` when nothing is said.
const ATTEMPT: Duration = Duration::from_secs(5);
const ATTEMPTS: u32 = 2;
/// An answer over UDP without EDNS has at most 512 bytes (RFC 1035 4.2.1); what is longer is read and refused as a whole.
const UDP_BYTES_MAX: usize = 4096;
/// Places of one service that are looked at: more is a mistake, or means harm.
const PLACES_MAX: usize = 256;
/// An alias of an alias of an alias.
const ALIASES_MAX: usize = 8;
const RESOLV_CONF_BYTES_MAX: u64 = 64 * 1024;

/// What a service's records say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// Host and port, in the order in which clients try them.
    pub places: Vec<(String, u16)>,
    /// How many there are beyond those.
    pub left_out: usize,
}

/// The name servers of /etc/resolv.conf; this machine where it names none.
pub fn system_nameservers() -> Vec<SocketAddr> {
    let path = Path::new("/etc/resolv.conf");
    let bytes = host::ReadHost::read(&host::Local, path, RESOLV_CONF_BYTES_MAX).ok().flatten();
    nameservers(&String::from_utf8_lossy(&bytes.unwrap_or_default()))
}

fn nameservers(text: &str) -> Vec<SocketAddr> {
    let mut found: Vec<SocketAddr> = text
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            (words.next() == Some("nameserver")).then(|| words.next()?.parse::<IpAddr>().ok()).flatten()
        })
        .take(SERVERS_MAX)
        .map(|ip| SocketAddr::new(ip, 53))
        .collect();
    if found.is_empty() {
        found.push((Ipv4Addr::LOCALHOST, 53).into());
    }
    found
}

/// Asks each server in turn, twice.
///
/// # Errors
/// Why there is no list of places: the first answer that is one counts, also one that says "there is no such name".
pub fn look_up(name: &str, servers: &[SocketAddr]) -> Result<Places, String> {
    look_up_within(name, servers, ATTEMPT)
}

fn look_up_within(name: &str, servers: &[SocketAddr], attempt: Duration) -> Result<Places, String> {
    let mut faults: Vec<String> = Vec::new();
    for server in (0..ATTEMPTS).flat_map(|_| servers) {
        match ask(name, *server, attempt) {
            Ok(SrvAnswer::Places(places)) => return Ok(places),
            Ok(SrvAnswer::Nothing(why)) => return Err(format!("{server}: {why}")),
            Err(error) => {
                let fault = format!("{server}: {error}");
                if !faults.contains(&fault) {
                    faults.push(fault);
                }
            }
        }
    }
    Err(if faults.is_empty() { "no name server is known".into() } else { faults.join("; ") })
}

enum SrvAnswer {
    Places(Places),
    /// An answer that ends the search.
    Nothing(String),
}

fn ask(name: &str, server: SocketAddr, attempt: Duration) -> io::Result<SrvAnswer> {
    let mut id = [0; 2];
    openssl::rand::rand_bytes(&mut id).map_err(io::Error::other)?;
    let id = u16::from_be_bytes(id);
    let query = query(name, id).map_err(io::Error::other)?;
    let heard = match over_udp(&query, id, name, server, attempt)? {
        DnsReply::Truncated => read(&over_tcp(&query, server, attempt)?, id, name),
        heard => heard,
    };
    match heard {
        DnsReply::SrvAnswer(said) => Ok(said),
        DnsReply::Truncated => Err(io::Error::other("its answer is truncated, also over TCP")),
        DnsReply::Fault(why) => Err(io::Error::other(why)),
        DnsReply::Noise => Err(io::Error::other("its answer over TCP does not match the question")),
    }
}

fn query(name: &str, id: u16) -> Result<Vec<u8>, simple_dns::SimpleDnsError> {
    let mut packet = Packet::new_query(id);
    packet.set_flags(PacketFlag::RECURSION_DESIRED);
    packet.questions.push(Question::new(Name::new(name)?, TYPE::SRV.into(), CLASS::IN.into(), false));
    packet.build_bytes_vec()
}

fn over_udp(
    query: &[u8],
    id: u16,
    name: &str,
    server: SocketAddr,
    attempt: Duration,
) -> io::Result<DnsReply> {
    let any = if server.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let socket = UdpSocket::bind(any)?;
    // Connected: the kernel drops what others send.
    socket.connect(server)?;
    socket.send(query)?;
    let until = Instant::now() + attempt;
    let mut buffer = vec![0; UDP_BYTES_MAX];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::Error::other("no answer"));
        }
        socket.set_read_timeout(Some(left))?;
        let count = match socket.recv(&mut buffer) {
            Ok(count) => count,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                continue;
            }
            Err(error) => return Err(error),
        };
        // What does not answer our question may be somebody's guess at it: the true answer may still come.
        match read(buffer.get(..count).unwrap_or_default(), id, name) {
            DnsReply::Noise => {}
            heard => return Ok(heard),
        }
    }
}

fn over_tcp(query: &[u8], server: SocketAddr, attempt: Duration) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect_timeout(&server, attempt)?;
    stream.set_write_timeout(Some(attempt))?;
    let length = u16::try_from(query.len()).map_err(io::Error::other)?;
    stream.write_all(&[&length.to_be_bytes()[..], query].concat())?;
    let until = Instant::now() + attempt;
    let mut take = |bytes: &mut [u8]| -> io::Result<()> {
        let mut done = 0;
        while let Some(rest) = bytes.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::Error::other("no complete answer over TCP"));
            }
            stream.set_read_timeout(Some(left))?;
            match stream.read(rest) {
                Ok(0) => return Err(io::Error::other("it closed before its answer was complete")),
                Ok(count) => done += count,
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    };
    let mut length = [0; 2];
    take(&mut length)?;
    let mut bytes = vec![0; usize::from(u16::from_be_bytes(length))];
    take(&mut bytes)?;
    Ok(bytes)
}

enum DnsReply {
    SrvAnswer(SrvAnswer),
    /// The whole answer is to be had over TCP.
    Truncated,
    /// The server cannot tell; another one may.
    Fault(String),
    /// No answer to our question.
    Noise,
}

/// Reads an answer to the question `id`.
fn read(bytes: &[u8], id: u16, name: &str) -> DnsReply {
    let (Ok(packet), Ok(asked)) = (Packet::parse(bytes), Name::new(name)) else {
        // A truncated answer may end within a record.
        let is_truncated = header_buffer::id(bytes).is_ok_and(|found| found == id)
            && header_buffer::has_flags(bytes, PacketFlag::RESPONSE | PacketFlag::TRUNCATION)
                .unwrap_or(false);
        return if is_truncated { DnsReply::Truncated } else { DnsReply::Noise };
    };
    let is_ours = |question: &Question<'_>| {
        is_same(&question.qname, &asked) && question.qtype == QTYPE::TYPE(TYPE::SRV)
    };
    if packet.id() != id
        || !packet.has_flags(PacketFlag::RESPONSE)
        || !matches!(packet.questions.as_slice(), [question] if is_ours(question))
    {
        return DnsReply::Noise;
    }
    if packet.has_flags(PacketFlag::TRUNCATION) {
        return DnsReply::Truncated;
    }
    match packet.rcode() {
        RCODE::NoError => DnsReply::SrvAnswer(said(&packet, asked)),
        RCODE::NameError => DnsReply::SrvAnswer(SrvAnswer::Nothing("there is no such name".into())),
        other => DnsReply::Fault(format!("it answered {other:?}")),
    }
}

fn said(packet: &Packet<'_>, asked: Name<'_>) -> SrvAnswer {
    let mut owner = asked;
    for _ in 0..ALIASES_MAX {
        let alias = packet.answers.iter().find_map(|record| match &record.rdata {
            RData::CNAME(alias) if is_same(&record.name, &owner) => Some(alias.0.clone()),
            _ => None,
        });
        match alias {
            Some(alias) => owner = alias,
            None => break,
        }
    }
    let mut records: Vec<(u16, u16, String, u16)> = packet
        .answers
        .iter()
        .filter(|record| is_same(&record.name, &owner))
        .filter_map(|record| match &record.rdata {
            RData::SRV(srv) => Some((srv.priority, u16::MAX - srv.weight, host_of(&srv.target), srv.port)),
            _ => None,
        })
        .collect();
    records.sort();
    records.dedup();
    if records.is_empty() {
        return SrvAnswer::Nothing("the name has no SRV record".into());
    }
    // RFC 2782: a target of "." means that the service is decidedly not there.
    records.retain(|(_, _, host, port)| !host.is_empty() && *port > 0);
    if records.is_empty() {
        return SrvAnswer::Nothing("the service is not offered (its SRV record names no host)".into());
    }
    let count = records.len();
    // What is no host name goes into no output and to no resolver.
    records.retain(|(_, _, host, _)| matches!(host_and_port(host), Ok((_, None))));
    records.truncate(PLACES_MAX);
    SrvAnswer::Places(Places {
        left_out: count - records.len(),
        places: records.into_iter().map(|(_, _, host, port)| (host, port)).collect(),
    })
}

fn host_of(name: &Name<'_>) -> String {
    name.to_string().trim_end_matches('.').to_owned()
}

/// RFC 1035 2.3.3: case does not count.
fn is_same(one: &Name<'_>, other: &Name<'_>) -> bool {
    host_of(one).eq_ignore_ascii_case(&host_of(other))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use proptest::prelude::*;
    use simple_dns::ResourceRecord;
    use simple_dns::rdata::{CNAME, SRV};

    use super::*;

    const NAME: &str = "_mysql._tcp.example.org";
    const SOON: Duration = Duration::from_millis(300);

    fn srv<'n>(owner: &'n str, priority: u16, weight: u16, port: u16, target: &'n str) -> ResourceRecord<'n> {
        let target = Name::new(target).expect("a name");
        record(owner, RData::SRV(SRV { priority, weight, port, target }))
    }

    fn record<'n>(owner: &'n str, rdata: RData<'n>) -> ResourceRecord<'n> {
        ResourceRecord::new(Name::new(owner).expect("a name"), CLASS::IN, 60, rdata)
    }

    fn answer(query: &[u8], records: Vec<ResourceRecord<'_>>) -> Vec<u8> {
        let mut reply = Packet::parse(query).expect("a query").into_reply();
        reply.set_flags(PacketFlag::RESPONSE);
        reply.answers = records;
        reply.build_bytes_vec().expect("small")
    }

    /// A name server on loopback that says what `udp` and `tcp` make of a query; `None` is silence.
    fn server(
        udp: impl Fn(&[u8]) -> Option<Vec<u8>> + Send + 'static,
        tcp: impl Fn(&[u8]) -> Vec<u8> + Send + 'static,
    ) -> SocketAddr {
        // Another test may have the same number in TCP.
        let both = || {
            let socket = UdpSocket::bind("127.0.0.1:0").ok()?;
            let address = socket.local_addr().ok()?;
            Some((socket, address, TcpListener::bind(address).ok()?))
        };
        let (socket, address, listener) = (0..64).find_map(|_| both()).expect("a port of both");
        thread::spawn(move || {
            let mut buffer = [0; 512];
            while let Ok((count, from)) = socket.recv_from(&mut buffer) {
                if let Some(reply) = udp(&buffer[..count]) {
                    let _ = socket.send_to(&reply, from);
                }
            }
        });
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut length = [0; 2];
                if stream.read_exact(&mut length).is_err() {
                    continue;
                }
                let mut query = vec![0; usize::from(u16::from_be_bytes(length))];
                let _ = stream.read_exact(&mut query);
                let reply = tcp(&query);
                let _ = stream.write_all(&u16::try_from(reply.len()).expect("small").to_be_bytes());
                let _ = stream.write_all(&reply);
            }
        });
        address
    }

    fn places(said: &[(&str, u16)]) -> Places {
        Places { places: said.iter().map(|(host, port)| ((*host).to_owned(), *port)).collect(), left_out: 0 }
    }

    #[test]
    fn places_come_in_the_order_in_which_clients_try_them() {
        let udp = |query: &[u8]| {
            Some(answer(
                query,
                vec![
                    srv(NAME, 20, 0, 3306, "late.example.org"),
                    srv(NAME, 10, 1, 3307, "light.example.org"),
                    srv(NAME, 10, 9, 3306, "heavy.example.org"),
                    srv("_other._tcp.example.org", 0, 0, 1, "stranger.example.org"),
                ],
            ))
        };
        let server = server(udp, |_| vec![]);
        let expected =
            places(&[("heavy.example.org", 3306), ("light.example.org", 3307), ("late.example.org", 3306)]);
        assert_eq!(look_up(NAME, &[server]), Ok(expected));
    }

    #[test]
    fn a_truncated_answer_is_asked_for_over_tcp() {
        let cut = |query: &[u8]| {
            let mut reply = answer(query, vec![srv(NAME, 1, 1, 3306, "a.example.org")]);
            reply[2] |= 0x02;
            // In the middle of the record.
            reply.truncate(reply.len() - 5);
            Some(reply)
        };
        let whole = |query: &[u8]| {
            answer(
                query,
                vec![srv(NAME, 1, 1, 3306, "a.example.org"), srv(NAME, 2, 1, 3306, "b.example.org")],
            )
        };
        let server = server(cut, whole);
        let expected = places(&[("a.example.org", 3306), ("b.example.org", 3306)]);
        assert_eq!(look_up(NAME, &[server]), Ok(expected));
    }

    #[test]
    fn an_alias_is_followed() {
        let udp = |query: &[u8]| {
            Some(answer(
                query,
                vec![
                    record(NAME, RData::CNAME(CNAME(Name::new("_real._tcp.example.net").expect("a name")))),
                    srv("_real._tcp.example.net", 1, 1, 3306, "a.example.net"),
                ],
            ))
        };
        let server = server(udp, |_| vec![]);
        assert_eq!(look_up(NAME, &[server]), Ok(places(&[("a.example.net", 3306)])));
    }

    #[test]
    fn what_does_not_answer_the_question_is_passed_over() {
        let udp = |query: &[u8]| {
            let mut reply = answer(query, vec![srv(NAME, 1, 1, 3306, "evil.example.org")]);
            reply[0] ^= 1;
            Some(reply)
        };
        let (liar, silent) = (server(udp, |_| vec![]), server(|_| None, |_| vec![]));
        let good =
            server(|query| Some(answer(query, vec![srv(NAME, 1, 1, 3306, "a.example.org")])), |_| vec![]);
        let found = look_up_within(NAME, &[liar, silent, good], SOON);
        assert_eq!(found, Ok(places(&[("a.example.org", 3306)])));
        let error = look_up_within(NAME, &[liar, silent], SOON).expect_err("nobody answers");
        assert!(error.contains(&liar.to_string()) && error.contains(&silent.to_string()), "{error}");
    }

    fn with_code(query: &[u8], code: u8) -> Vec<u8> {
        let mut reply = answer(query, vec![]);
        reply[3] |= code;
        reply
    }

    #[test]
    fn there_is_a_reason_where_there_is_no_place() {
        let check = |reply: fn(&[u8]) -> Vec<u8>, part: &str| {
            let server = server(move |query| Some(reply(query)), |_| vec![]);
            let error = look_up_within(NAME, &[server], SOON).expect_err(part);
            assert!(error.contains(part), "{error}");
        };
        check(|query| with_code(query, 3), "no such name");
        check(|query| with_code(query, 2), "ServerFailure");
        check(|query| answer(query, vec![]), "no SRV record");
        check(|query| answer(query, vec![srv(NAME, 0, 0, 0, ".")]), "not offered");
        assert_eq!(look_up(NAME, &[]), Err("no name server is known".into()));
    }

    #[test]
    fn what_is_no_host_name_is_left_out() {
        let udp = |query: &[u8]| {
            Some(answer(
                query,
                vec![
                    srv(NAME, 1, 1, 3306, "a.example.org"),
                    srv(NAME, 1, 1, 3306, r"a b\027[31m.example.org"),
                ],
            ))
        };
        let server = server(udp, |_| vec![]);
        let expected = Places { left_out: 1, ..places(&[("a.example.org", 3306)]) };
        assert_eq!(look_up(NAME, &[server]), Ok(expected));
    }

    #[test]
    fn name_servers_are_read_as_the_system_reads_them() {
        let text = "# made by hand\nsearch example.org\nnameserver 192.0.2.1\nnameserver  fd00::1 # two\noptions x\n\
                    nameserver bad\nnameserver 192.0.2.2\nnameserver 192.0.2.3\n";
        let found: Vec<String> = nameservers(text).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["192.0.2.1:53", "[fd00::1]:53", "192.0.2.2:53"]);
        assert_eq!(nameservers("").first().map(ToString::to_string).as_deref(), Some("127.0.0.1:53"));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600), place in 0_usize..80, is_answer in any::<bool>()) {
            let query = query(NAME, 7).expect("a name");
            let mut whole = answer(&query, vec![srv(NAME, 1, 1, 3306, "a.example.org")]);
            let _ = read(&bytes, 7, NAME);
            // A good answer with a part of it overwritten.
            let from = place.min(whole.len());
            whole.truncate(if is_answer { from } else { whole.len() });
            for (byte, noise) in whole.iter_mut().skip(from).zip(&bytes) {
                *byte = *noise;
            }
            let _ = read(&whole, 7, NAME);
        }
    }
}
