//! Writes a capture for measurements: `big_pcap FILE [MIB] [STREAMS] [PAYLOAD]`, 1024 MiB of 10,000 streams in segments of
//! 1448 bytes when not said. Half of the streams are MySQL in clear (a login, then queries with rows), half begin TLS after
//! the greeting; all are under way at the same time, and each stream's segments come in turn with the others'.

use std::io::{BufWriter, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use capture::file::write;
use capture::segment::{Segment, encode};
use wire::packet::write_payload;
use wire::{Capabilities, ColumnDef, Greeting, HandshakeResponse, OkPacket, SslRequest};

struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

struct Stream {
    client: SocketAddr,
    server: SocketAddr,
    sent: [u32; 2],
    is_tls: bool,
}

impl Stream {
    fn segment(&mut self, from_client: bool, flags: (bool, bool), payload: &[u8]) -> Vec<u8> {
        let (source, destination) =
            if from_client { (self.client, self.server) } else { (self.server, self.client) };
        let sent = &mut self.sent[usize::from(from_client)];
        let sequence = *sent;
        *sent = sent.wrapping_add(u32::try_from(payload.len()).expect("a segment") + u32::from(flags.0));
        encode(&Segment {
            source,
            destination,
            sequence,
            syn: flags.0,
            ack: flags.1,
            fin: false,
            rst: false,
            payload,
            cut_bytes: 0,
        })
    }
}

fn framed(first: u8, payloads: &[Vec<u8>]) -> Vec<u8> {
    let (mut out, mut sequence) = (vec![], first);
    for payload in payloads {
        write_payload(&mut out, &mut sequence, payload);
    }
    out
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default: usize| arguments.get(at).map_or(Ok(default), |text| text.parse());
    let path = arguments.first().ok_or("big_pcap FILE [MIB] [STREAMS] [PAYLOAD]")?;
    let (mib, streams, payload_bytes) = (number(1, 1024)?, number(2, 10_000)?, number(3, 1448)?);
    let mut rng = Rng(0x5ea1_1011);
    let mut out = BufWriter::with_capacity(1 << 20, std::fs::File::create(path)?);
    out.write_all(&write::header())?;
    let mut written = 0_usize;
    let mut unix_ms = 1_700_000_000_000_u64;
    let mut put = |packet: &[u8]| -> std::io::Result<usize> {
        let mut record = vec![];
        unix_ms += u64::from(written % 16_384 < 100);
        write::packet(&mut record, unix_ms, packet);
        out.write_all(&record)?;
        written += record.len();
        Ok(written)
    };
    let all = Capabilities(0xffff_ffff).without(Capabilities::COMPRESS).without(Capabilities(0xfe00_0000));
    let greeting = wire::greeting::encode(&Greeting {
        protocol: 10,
        version: "8.4.3".into(),
        connection_id: 1,
        nonce: vec![7; 20],
        capabilities: all,
        mariadb_capabilities: 0,
        charset: 45,
        status: 2,
        auth_plugin: Some("mysql_native_password".into()),
    });
    let head = SslRequest {
        capabilities: Capabilities::PROTOCOL_41
            | Capabilities::LONG_PASSWORD
            | Capabilities::SECURE_CONNECTION
            | Capabilities::PLUGIN_AUTH,
        mariadb_capabilities: 0,
        max_packet_bytes: 1 << 24,
        charset: 45,
    };
    let mut login = vec![];
    HandshakeResponse {
        head,
        user: b"bench",
        auth_response: &[9; 20],
        database: None,
        auth_plugin: Some("mysql_native_password"),
        attributes: vec![],
    }
    .encode(&mut login)?;
    let mut ssl_request = vec![];
    SslRequest { capabilities: head.capabilities | Capabilities::SSL, ..head }.encode(&mut ssl_request);
    let mut table = vec![];
    for at in 0..streams {
        let at = u32::try_from(at)?;
        let client = IpAddr::V4(Ipv4Addr::from(0x0a00_0000 | (at / 50_000 + 1)));
        let mut stream = Stream {
            client: SocketAddr::new(client, 10_000 + u16::try_from(at % 50_000)?),
            server: "192.168.1.1:3306".parse()?,
            sent: [u32::try_from(rng.next() & 0xffff_ffff)?, 77],
            is_tls: at % 2 == 1,
        };
        put(&stream.segment(true, (true, false), b""))?;
        put(&stream.segment(false, (true, true), b""))?;
        put(&stream.segment(false, (false, true), &framed(0, std::slice::from_ref(&greeting))))?;
        if stream.is_tls {
            put(&stream.segment(true, (false, true), &framed(1, std::slice::from_ref(&ssl_request))))?;
        } else {
            put(&stream.segment(true, (false, true), &framed(1, std::slice::from_ref(&login))))?;
            put(&stream.segment(false, (false, true), &framed(2, &[OkPacket::default().encode(0)])))?;
        }
        table.push(stream);
    }
    // An answer of some 40 rows, and as many bytes of noise in a record.
    let column = ColumnDef { name: "c".into(), charset: 45, length_bytes: 200, column_type: 253, flags: 0 };
    let mut round = 0_u64;
    'out: loop {
        for stream in &mut table {
            round += 1;
            if stream.is_tls {
                let mut record = vec![0x17, 3, 3];
                let noise: Vec<u8> = (0..1024).flat_map(|_| rng.next().to_le_bytes()).collect();
                record.extend_from_slice(&u16::try_from(noise.len())?.to_be_bytes());
                record.extend_from_slice(&noise);
                put(&stream.segment(true, (false, true), &record[..133]))?;
                for piece in record.chunks(payload_bytes) {
                    put(&stream.segment(false, (false, true), piece))?;
                }
                // What the client sent was the head of a record: its rest follows.
                if put(&stream.segment(true, (false, true), &record[133..]))? >= mib << 20 {
                    break 'out;
                }
                continue;
            }
            let mut sql = vec![3];
            sql.extend_from_slice(
                format!("SELECT c FROM sbtest1 WHERE id BETWEEN {round} AND {}", round + 99).as_bytes(),
            );
            put(&stream.segment(true, (false, true), &framed(0, &[sql])))?;
            let mut answer = vec![vec![1], column.encode()];
            for _ in 0..60 {
                let mut row = vec![120];
                row.extend((0..120).map(|_| b'a' + u8::try_from(rng.next() % 26).unwrap_or(0)));
                answer.push(row);
            }
            answer.push(OkPacket { status: 2, ..OkPacket::default() }.encode(0xfe));
            for piece in framed(1, &answer).chunks(payload_bytes) {
                if put(&stream.segment(false, (false, true), piece))? >= mib << 20 {
                    break 'out;
                }
            }
        }
    }
    out.flush()?;
    Ok(())
}
