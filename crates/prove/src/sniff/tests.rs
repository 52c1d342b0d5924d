#![allow(clippy::unwrap_used, clippy::indexing_slicing)]
use std::path::Path;

use super::*;
use capture::file::Reader;
use capture::link::Link;
use proptest::prelude::*;

pub fn recording(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/sniff").join(format!("{name}.pcap"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn sniff(file: &[u8]) -> Report {
    sniff_for(file, &[])
}

/// Looks for these words too.
fn sniff_for(file: &[u8], words: &[&str]) -> Report {
    let words: Vec<Vec<u8>> = words.iter().map(|word| word.as_bytes().to_vec()).collect();
    let mut sniffer = Sniffer::with_words(&[], Words::new(&words).unwrap());
    let _ = Reader::new().read(file, &mut |packet| {
        sniffer.frame(packet.link, packet.bytes, packet.unix_ms);
    });
    sniffer.finish()
}

/// The one connection of a recording, what was found on it, and the canaries in it.
fn one(name: &str) -> (Listed, Vec<What>, Vec<String>) {
    let report = sniff(&recording(name));
    // tcpdump lost a packet of this one, and tshark says so too: "Previous segment not captured", 102 to 146.
    let missing_bytes = if name == "sst-rsync" { 44 } else { 0 };
    assert_eq!(report.missing_bytes, missing_bytes, "{name}");
    let [listed] = report.listed.as_slice() else { panic!("{name}: {:#?}", report.listed) };
    let found = listed.findings.iter().map(|finding| finding.what).collect();
    let canaries = listed.told.canaries.keys().map(|tag| tag.trim_start_matches('0').to_owned()).collect();
    (listed.clone(), found, canaries)
}

fn mysql(name: &str) -> mysql::MysqlTraffic {
    one(name).0.told.mysql.expect("MySQL")
}

#[test]
fn a_login_and_a_query_in_clear_are_read() {
    let (listed, found, canaries) = one("query");
    let seen = listed.told.mysql.as_ref().unwrap();
    assert_eq!((seen.user.as_deref(), seen.flavour), (Some("app"), Some(wire::Flavour::MariaDb)));
    assert!(seen.server_version.as_deref().unwrap().starts_with("10.11."));
    assert_eq!(seen.logins, [mysql::Login { plugin: "mysql_native_password".into(), answer_bytes: 20 }]);
    assert!(
        seen.logged_in && !listed.told.is_tls && listed.told.server_is_a != (listed.ends.b.port() == 3306)
    );
    for what in [What::GuessableLogin, What::Statements, What::ResultRows, What::Canary] {
        assert!(found.contains(&what), "{what:?} {found:?}");
    }
    assert_eq!(canaries, ["b1"]);
    assert!(seen.samples.contains(&"select ?".to_owned()), "{:?}", seen.samples);
}

#[test]
fn a_canary_in_a_result_row_a_parameter_and_a_file_is_found() {
    assert_eq!(one("row").2, ["a1"]);
    assert!(mysql("row").rows >= 1);
    let (_, found, canaries) = one("parameter");
    assert_eq!(canaries, ["c1"]);
    assert!(found.contains(&What::Parameters), "{found:?}");
    let (_, found, canaries) = one("infile");
    assert_eq!(canaries, ["f1"]);
    assert!(found.contains(&What::FileContents), "{found:?}");
    assert!(mysql("infile").file_bytes >= 24);
}

/// Where the canaries of a recording stood: the last digits of the tag, the place, how often.
fn places(name: &str) -> Vec<(String, &'static str, u64)> {
    let found = sniff(&recording(name)).canary_places;
    found
        .into_iter()
        .map(|((tag, place), (connections, times))| {
            assert_eq!(connections, 1);
            (tag.trim_start_matches('0').to_owned(), place.id(), times)
        })
        .collect()
}

#[test]
fn each_canary_is_told_with_where_it_stood() {
    let check = |name: &str, wanted: &[(&str, &str)]| {
        let all = places(name);
        let found: Vec<(&str, &str)> = all.iter().map(|(tag, place, _)| (tag.as_str(), *place)).collect();
        assert_eq!(found, wanted, "{name}: {all:?}");
    };
    check("row", &[("a1", "result-row")]);
    check("parameter", &[("c1", "parameter"), ("c1", "result-row")]);
    check("infile", &[("f1", "file")]);
    check("galera", &[("61", "write-set"), ("62", "write-set")]);
    // A column without a name is called as its expression.
    for tag in ["d1", "d2"] {
        let all = places("compressed");
        let of: Vec<&str> = all.iter().filter(|(one, ..)| one == tag).map(|(_, place, _)| *place).collect();
        assert_eq!(of, ["statement", "result-head", "result-row"], "{all:?}");
    }
    check("sst-rsync", &[]);
    for name in ["tls", "binlog-tls"] {
        check(name, &[]);
    }
    let binlog = places("binlog");
    assert!(
        binlog.iter().any(|(tag, place, _)| (tag.as_str(), *place) == ("a1", "binlog-rows")),
        "{binlog:?}"
    );
}

#[test]
fn words_of_the_user_are_found_by_number_and_never_shown() {
    let report = sniff_for(&recording("secret"), &["the-key", "not-there", "pw-of"]);
    let found: Vec<_> =
        report.canary_places.keys().map(|(name, place)| (name.as_str(), place.id())).collect();
    assert_eq!(found, [("given-1", "statement"), ("given-1", "result-head"), ("given-3", "statement")]);
    assert!(!format!("{report:?}").contains("the-key"));
    assert!(sniff_for(&recording("tls"), &["SELECT", "select", "root"]).canary_places.is_empty());
}

#[test]
fn the_compressed_protocol_hides_nothing() {
    let (listed, found, canaries) = one("compressed");
    assert_eq!(canaries, ["d1", "d2"]);
    assert!(found.contains(&What::ResultRows), "{found:?}");
    assert_eq!((mysql("compressed").compressed, listed.told.unread_bytes), (Some("zlib"), 0));
    // As bytes on the wire the repeated one is not there.
    let file = recording("compressed");
    assert!(memchr::memmem::find_iter(&file, b"SLCANARY00000000000000d2").count() < 10);
    assert!(listed.told.canaries["00000000000000d2"] >= 200);
}

#[test]
fn statements_with_secrets_are_told_and_shown_nowhere() {
    use sql::Secret::{EncryptionKey, UserPassword};
    let seen = mysql("secret");
    assert!(seen.secrets[&UserPassword] >= 2 && seen.secrets[&EncryptionKey] >= 1, "{seen:?}");
    let told = format!("{:?}", sniff(&recording("secret")));
    for secret in ["pw-of", "the-key"] {
        assert!(
            memchr::memmem::find(&recording("secret"), secret.as_bytes()).is_some(),
            "the recording has it"
        );
        assert!(!told.contains(secret), "{told}");
    }
}

#[test]
fn row_events_of_the_binary_log_are_found() {
    let (_, found, canaries) = one("binlog");
    assert!(canaries.contains(&"a1".to_owned()), "{canaries:?}");
    assert_eq!(found.first(), Some(&What::SecretInStatement), "the log says CREATE USER: {found:?}");
    assert!(found.contains(&What::ReplicationRows), "{found:?}");
    let seen = mysql("binlog");
    assert!(seen.binlog_dumps == 1 && seen.row_events >= 1 && seen.statement_events >= 1, "{seen:?}");
}

#[test]
fn write_sets_between_nodes_are_found_and_only_they_are_counted() {
    let (listed, found, canaries) = one("galera");
    assert_eq!((listed.told.kind, canaries), (Kind::Galera, vec!["61".to_owned(), "62".to_owned()]));
    // One INSERT and one UPDATE; the rest is the group's housekeeping.
    assert_eq!((listed.told.galera.writesets, found.first()), (2, Some(&What::WriteSets)));
    assert!(listed.told.galera.data_messages > 10 && listed.told.missing_bytes == 0);
}

#[test]
fn a_state_transfer_by_rsync_is_recognised() {
    let (listed, found, _) = one("sst-rsync");
    assert_eq!((listed.told.kind, found), (Kind::SstRsync, vec![What::FullTransfer]));
}

#[test]
fn a_state_transfer_of_a_backup_is_recognised_on_any_port() {
    for (first, kind) in [(&b"XBSTCK01\x00P"[..], Kind::SstBackup), (b"@RSYNCD: 31.0\n", Kind::SstRsync)] {
        let token = capture::Canary::new([7; 16]);
        let payload = [first, token.token().as_bytes()].concat();
        let mut sniffer = Sniffer::new(&[]);
        for (sequence, payload) in [(1_u32, &payload[..3]), (4, &payload[3..])] {
            let segment = capture::segment::Segment {
                source: "10.0.0.1:50000".parse().unwrap(),
                destination: "10.0.0.2:5555".parse().unwrap(),
                sequence,
                syn: false,
                ack: true,
                fin: false,
                rst: false,
                payload,
                cut_bytes: 0,
            };
            sniffer.packet(&capture::segment::encode(&segment), 1);
        }
        let report = sniffer.finish();
        assert_eq!((report.listed[0].told.kind, report.listed[0].told.canaries.len()), (kind, 1));
    }
}

/// What a connection to port 33060 comes to: pieces of the client and of the server, in turn.
fn x_protocol(pieces: &[(bool, &[u8])]) -> Listed {
    let (client, server) = ("10.0.0.1:50000".parse().unwrap(), "10.0.0.2:33060".parse().unwrap());
    let (mut sniffer, mut sent) = (Sniffer::new(&[]), [1_u32, 1]);
    for (from_client, payload) in pieces {
        let (source, destination) = if *from_client { (client, server) } else { (server, client) };
        let sequence = &mut sent[usize::from(*from_client)];
        let segment = capture::segment::Segment {
            source,
            destination,
            sequence: *sequence,
            syn: false,
            ack: true,
            fin: false,
            rst: false,
            payload,
            cut_bytes: 0,
        };
        *sequence += u32::try_from(payload.len()).unwrap();
        sniffer.packet(&capture::segment::encode(&segment), 1);
    }
    sniffer.finish().listed[0].clone()
}

#[test]
fn of_the_x_protocol_it_is_told_whether_it_is_in_clear() {
    let hello: &[u8] = &[5, 0, 0, 0, 11, 8, 5, 0x1a, 0];
    let wish: &[u8] = &[1, 0, 0, 0, 1];
    let token = capture::Canary::new([8; 16]);
    let clear = x_protocol(&[(false, hello), (true, wish), (true, token.token().as_bytes())]);
    let found: Vec<What> = clear.findings.iter().map(|finding| finding.what).collect();
    assert_eq!((clear.told.kind, found), (Kind::MySqlX, vec![What::Canary, What::OtherInClear]));

    let client_hello = [&[0x16, 3, 1, 0, 6, 1, 0, 0, 2, 3, 3][..]].concat();
    let tls = x_protocol(&[
        (false, hello),
        (true, wish),
        (false, &[1, 0, 0, 0, 0]),
        (true, &client_hello),
        (false, &[0x16, 3, 3, 0, 2, 2, 0]),
        (true, &[0x17, 3, 3, 0, 3, 1, 2, 3]),
    ]);
    assert!(tls.told.is_tls && tls.findings.is_empty(), "{tls:#?}");
    assert_eq!((tls.told.tls_bytes, tls.told.clear_bytes_in_tls), (11 + 7 + 8, 0));
}

#[test]
fn under_tls_nothing_is_found() {
    for name in ["tls", "binlog-tls"] {
        let (listed, found, canaries) = one(name);
        assert_eq!((found, canaries), (vec![], vec![]), "{name}");
        let told = &listed.told;
        assert!(told.is_tls && told.tls_bytes > 1000 && told.clear_bytes_in_tls == 0, "{told:#?}");
        // Everything but the greeting and the SSLRequest lies in records.
        let (client_from, server_from) = if told.server_is_a {
            (told.tls_from_b, told.tls_from_a)
        } else {
            (told.tls_from_a, told.tls_from_b)
        };
        assert_eq!(client_from, Some(36), "{name}");
        assert!(server_from.is_some_and(|from| from > 60), "{name}");
        assert_eq!(told.bytes_a + told.bytes_b, told.tls_bytes + 36 + server_from.unwrap());
        assert!(!sniff(&recording(name)).is_readable());
    }
}

#[test]
fn a_capture_that_begins_in_the_middle_is_still_read() {
    // Without the packets of the login: the first that has a command is kept.
    let file = recording("query");
    let mut packets = vec![];
    let _ = Reader::new().read(&file, &mut |packet| packets.push((packet.link, packet.bytes.to_vec())));
    let login_end =
        packets.iter().position(|(_, bytes)| bytes.windows(6).any(|window| window == b"select")).unwrap();
    let mut sniffer = Sniffer::new(&[]);
    for (link, packet) in &packets[login_end..] {
        sniffer.frame(*link, packet, 1);
    }
    let report = sniffer.finish();
    let seen = report.listed[0].told.mysql.as_ref().unwrap();
    assert!(seen.joined_in_the_middle && seen.queries >= 1, "{seen:?}");
    assert_eq!(report.findings[&What::Canary].0, 1);
}

#[test]
fn a_file_cut_at_any_byte_is_read_as_far_as_it_goes() {
    for name in ["query", "compressed", "tls"] {
        let file = recording(name);
        let whole = sniff(&file).segments;
        let mut last = 0;
        for cut in (0..file.len()).step_by(3) {
            let segments = sniff(&file[..cut]).segments;
            assert!(segments >= last && segments <= whole);
            last = segments;
        }
        assert!(last + 1 >= whole);
    }
}

#[test]
fn a_lost_packet_is_told_and_what_follows_is_read() {
    let file = recording("compressed");
    let mut packets = vec![];
    let _ = Reader::new().read(&file, &mut |packet| packets.push((packet.link, packet.bytes.to_vec())));
    for without in 0..packets.len() {
        let mut sniffer = Sniffer::new(&[]);
        for (number, (link, packet)) in packets.iter().enumerate() {
            if number != without {
                sniffer.frame(*link, packet, 1);
            }
        }
        let report = sniffer.finish();
        assert_eq!(report.listed.len(), 1, "without packet {without}");
    }
}

#[test]
fn sums_are_of_all_connections_not_of_those_that_are_listed() {
    let mut sniffer = Sniffer::new(&[]);
    let count = u32::try_from(LISTED_MAX).unwrap() + 50;
    let query = b"\x09\0\0\0\x03SELECT 1";
    for number in 0..count {
        let ip = std::net::Ipv4Addr::from(0x0b00_0000 + number);
        let segment = capture::segment::Segment {
            source: (ip, 40_000).into(),
            destination: "10.0.0.2:3306".parse().unwrap(),
            sequence: 1,
            syn: false,
            ack: true,
            fin: false,
            rst: false,
            payload: query,
            cut_bytes: 0,
        };
        sniffer.packet(&capture::segment::encode(&segment), 1);
    }
    let report = sniffer.finish();
    assert_eq!((report.listed.len(), report.not_listed), (LISTED_MAX, 50));
    assert_eq!((report.clear, report.joined_in_the_middle), (u64::from(count), u64::from(count)));
}

proptest! {
    #[test]
    fn no_altered_recording_panics_or_shows_a_secret(
        name in 0_usize..4, changes in proptest::collection::vec((any::<u16>(), any::<u8>()), 0..30),
    ) {
        let mut file = recording(["query", "secret", "compressed", "binlog"][name]);
        for (at, byte) in changes {
            // Behind the file's own header.
            let at = 24 + usize::from(at) % (file.len() - 24);
            file[at] = byte;
        }
        let report = sniff(&file);
        for one in &report.listed {
            if let Some(seen) = &one.told.mysql {
                let samples = seen.samples.join(" ");
                prop_assert!(!samples.contains("the-key") && !samples.contains("pw-of"), "{}", samples);
            }
        }
    }
}

/// The frames of a recording, each of them changed.
fn frames(name: &str, change: impl Fn(&[u8]) -> Vec<u8>) -> Report {
    let mut sniffer = Sniffer::new(&[]);
    let _ = Reader::new().read(&recording(name), &mut |packet| {
        assert_eq!(packet.link, Link::Ethernet, "{name}");
        sniffer.frame(packet.link, &change(packet.bytes), packet.unix_ms);
    });
    sniffer.finish()
}

/// In an IP packet of its own, behind this header.
fn in_ip(protocol: u8, head: &[u8], body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(20 + head.len() + body.len()).unwrap().to_be_bytes();
    let ip = [0x45, 0, length[0], length[1], 0, 0, 0, 0, 64, protocol, 0, 0, 192, 168, 0, 1, 192, 168, 0, 2];
    [&[0x0a; 12][..], b"\x08\x00", &ip, head, body].concat()
}

/// What puts a frame into a tunnel.
type Wrap<'a> = &'a dyn Fn(&[u8]) -> Vec<u8>;

#[test]
fn what_is_in_clear_is_read_in_a_tunnel_as_without_one() {
    let plain = frames("query", <[u8]>::to_vec);
    let vxlan = |frame: &[u8]| {
        let length = u16::try_from(16 + frame.len()).unwrap();
        let udp = [40_000_u16, 4789, length, 0].map(u16::to_be_bytes).concat();
        in_ip(17, &[&udp, &b"\x08\0\0\0\0\0\x05\0"[..]].concat(), frame)
    };
    let ways: [(&str, Wrap<'_>); 5] = [
        ("VXLAN", &vxlan),
        ("NVGRE", &|frame| in_ip(47, b"\x20\x00\x65\x58\x00\x00\x05\x00", frame)),
        ("IPIP", &|frame| in_ip(4, b"", &frame[14..])),
        ("MPLS", &|frame| [&frame[..12], b"\x88\x47\x00\x01\x01\x40", &frame[14..]].concat()),
        ("QinQ", &|frame| [&frame[..12], b"\x88\xa8\x00\x05\x81\x00\x00\x06\x08\x00", &frame[14..]].concat()),
    ];
    for (name, way) in ways {
        let report = frames("query", way);
        assert_eq!(report.conclusion(), Conclusion::Readable, "{name}");
        assert_eq!((report.segments, &report.findings), (plain.segments, &plain.findings), "{name}");
        assert_eq!(report.packets_not_looked_at(), 0, "{name}");
    }
}

#[test]
fn what_could_not_be_looked_into_is_counted_and_never_reassuring() {
    let esp = frames("query", |frame| in_ip(50, b"\0\0\0\x01\0\0\0\x01", frame));
    assert_eq!((esp.conclusion(), esp.segments), (Conclusion::NotKnown, 0));
    let (kind, packets) = esp.not_looked_at.first_key_value().unwrap();
    assert_eq!((kind.id(), *packets, esp.not_looked_at.len()), ("encrypted", esp.other_packets, 1));
    assert!(kind.text().contains("ESP"));

    // A connection under TLS beside something that nobody could read.
    let mut sniffer = Sniffer::new(&[]);
    let tls = |sniffer: &mut Sniffer| {
        let _ = Reader::new().read(&recording("tls"), &mut |packet| {
            sniffer.frame(packet.link, packet.bytes, packet.unix_ms);
        });
    };
    tls(&mut sniffer);
    assert_eq!(sniffer.finish().conclusion(), Conclusion::NothingReadable);
    let mut sniffer = Sniffer::new(&[]);
    tls(&mut sniffer);
    sniffer.frame(Link::Other(105), b"802.11", 1);
    sniffer.frame(Link::Ethernet, &[&[0x0a; 12][..], b"\x88\xe5MACsec"].concat(), 1);
    let report = sniffer.finish();
    assert_eq!((report.conclusion(), report.packets_not_looked_at()), (Conclusion::NotKnown, 2));
    // Kinds without end do not cost memory without end.
    let mut sniffer = Sniffer::new(&[]);
    for port in 20_000_u16..21_000 {
        let udp = [port, port, 8 + 4, 0].map(u16::to_be_bytes).concat();
        sniffer.frame(Link::Ethernet, &in_ip(17, &udp, b"what"), 1);
    }
    let report = sniffer.finish();
    assert_eq!((report.not_looked_at.len(), report.packets_not_looked_at()), (UNREAD_KINDS_MAX, 1000));
}

#[test]
fn parts_of_ip_packets_are_put_together_and_those_without_the_rest_are_counted() {
    /// Each frame as two, as a router with a small MTU sends it.
    fn parts(frame: &[u8], id: u16) -> Vec<Vec<u8>> {
        let (head, body) = frame[14..].split_at(usize::from(frame[14] & 15) * 4);
        let length = usize::from(u16::from_be_bytes([head[2], head[3]])) - head.len();
        let body = &body[..length];
        let cut = body.len() / 2 / 8 * 8;
        let part = |flags: u16, body: &[u8]| {
            let mut head = head.to_vec();
            let length = u16::try_from(head.len() + body.len()).unwrap();
            head[2..4].copy_from_slice(&length.to_be_bytes());
            head[4..6].copy_from_slice(&id.to_be_bytes());
            head[6..8].copy_from_slice(&flags.to_be_bytes());
            [&frame[..14], &head, body].concat()
        };
        let offset = u16::try_from(cut / 8).unwrap();
        vec![part(offset, &body[cut..]), part(0x2000, &body[..cut])]
    }
    let read = |keep: &dyn Fn(usize) -> bool| {
        let (mut sniffer, mut number) = (Sniffer::new(&[]), 0);
        let _ = Reader::new().read(&recording("query"), &mut |packet| {
            number += 1;
            for (which, part) in parts(packet.bytes, number).iter().enumerate() {
                if keep(which) {
                    sniffer.frame(packet.link, part, packet.unix_ms);
                }
            }
        });
        sniffer.finish()
    };
    let (plain, whole) = (frames("query", <[u8]>::to_vec), read(&|_| true));
    assert_eq!((whole.segments, &whole.findings), (plain.segments, &plain.findings));
    assert_eq!((whole.packets_not_looked_at(), whole.other_packets), (0, plain.segments));
    let half = read(&|which| which == 0);
    assert_eq!(half.not_looked_at.get(&Unread::Fragment), Some(&plain.segments));
    assert_eq!(half.conclusion(), Conclusion::NotKnown);
}
