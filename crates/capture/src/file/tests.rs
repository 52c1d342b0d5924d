#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::cast_possible_truncation)]
use super::*;
use proptest::prelude::*;

type Seen = Vec<(Link, u64, Vec<u8>)>;

/// Reads a file that comes `step` bytes at a time.
fn read(file: &[u8], step: usize) -> Result<(Seen, bool), FileError> {
    let (mut reader, mut held, mut seen) = (Reader::new(), Vec::new(), Vec::new());
    for piece in file.chunks(step.max(1)) {
        held.extend_from_slice(piece);
        let used = reader.read(&held, &mut |packet: FilePacket<'_>| {
            seen.push((packet.link, packet.unix_ms, packet.bytes.to_vec()));
        })?;
        held.drain(..used);
        assert!(held.len() <= HELD_BYTES_MAX);
    }
    Ok((seen, reader.is_cut_short(held.len())))
}

struct Writer {
    big: bool,
    out: Vec<u8>,
}

impl Writer {
    fn u16(&mut self, value: u16) -> &mut Self {
        self.out.extend(if self.big { value.to_be_bytes() } else { value.to_le_bytes() });
        self
    }
    fn u32(&mut self, value: u32) -> &mut Self {
        self.out.extend(if self.big { value.to_be_bytes() } else { value.to_le_bytes() });
        self
    }
    fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.out.extend_from_slice(bytes);
        self
    }
    fn block(&mut self, kind: u32, body: impl Fn(&mut Writer)) -> &mut Self {
        let mut inner = Writer { big: self.big, out: vec![] };
        body(&mut inner);
        let padded = inner.out.len().next_multiple_of(4);
        inner.out.resize(padded, 0);
        let length = padded as u32 + 12;
        self.u32(kind).u32(length).bytes(&inner.out).u32(length)
    }
    fn section(&mut self) -> &mut Self {
        self.block(BLOCK_SECTION, |body| {
            body.u32(BYTE_ORDER_MAGIC).u16(1).u16(0).bytes(&[0xff; 8]);
        })
    }
    fn interface(&mut self, link: u16, options: &[(u16, &[u8])]) -> &mut Self {
        self.block(BLOCK_INTERFACE, |body| {
            body.u16(link).u16(0).u32(0x4_0000);
            for (code, value) in options {
                body.u16(*code).u16(value.len() as u16).bytes(value);
                body.bytes(&[0; 3][..value.len().wrapping_neg() % 4]);
            }
            body.u16(0).u16(0);
        })
    }
    fn packet(&mut self, interface: u32, ticks: u64, bytes: &[u8]) -> &mut Self {
        self.block(BLOCK_ENHANCED_PACKET, |body| {
            body.u32(interface).u32((ticks >> 32) as u32).u32(ticks as u32);
            body.u32(bytes.len() as u32).u32(1500).bytes(bytes);
        })
    }
}

fn pcap(magic: u32, big: bool) -> Vec<u8> {
    let mut writer = Writer { big, out: vec![] };
    writer.u32(magic).u16(2).u16(4).u32(0).u32(0).u32(65_535).u32(1);
    writer.u32(12).u32(3_000_000).u32(5).u32(1500).bytes(b"hello");
    writer.u32(13).u32(0).u32(0).u32(60);
    writer.out
}

fn pcapng(big: bool) -> Vec<u8> {
    let mut writer = Writer { big, out: vec![] };
    writer.section().interface(1, &[]).interface(101, &[(2, b"eth7"), (9, &[9]), (14, &[0; 8])]);
    writer.packet(0, 12_003_000, b"hello").packet(1, 12_003_000_000, b"x");
    // Name resolution, which nobody here reads, and the two forms of packets that are rare.
    writer.block(4, |body| {
        body.bytes(&[7; 300]);
    });
    writer.block(BLOCK_SIMPLE_PACKET, |body| {
        body.u32(3).bytes(b"abc");
    });
    writer.block(BLOCK_PACKET, |body| {
        body.u16(1).u16(0).u32(0).u32(5_000_000).u32(2).u32(2).bytes(b"ab");
    });
    writer.section().interface(276, &[(9, &[0x8a])]).packet(0, 2048 + 512, b"y");
    writer.out
}

#[test]
fn reads_pcap_in_both_byte_orders_and_resolutions() {
    for big in [false, true] {
        for (magic, first_ms) in [(PCAP_MICROSECONDS, 15_000), (PCAP_NANOSECONDS, 12_003)] {
            let seen = read(&pcap(magic, big), 7).unwrap();
            let expected =
                vec![(Link::Ethernet, first_ms, b"hello".to_vec()), (Link::Ethernet, 13_000, vec![])];
            assert_eq!(seen, (expected, false), "big endian: {big}");
        }
    }
}

#[test]
fn reads_pcapng_with_interfaces_resolutions_and_sections() {
    for big in [false, true] {
        let expected = vec![
            (Link::Ethernet, 12_003, b"hello".to_vec()),
            (Link::Raw, 12_003, b"x".to_vec()),
            (Link::Ethernet, 0, b"abc".to_vec()),
            (Link::Raw, 5, b"ab".to_vec()),
            (Link::LinuxCooked2, 2_500, b"y".to_vec()),
        ];
        assert_eq!(read(&pcapng(big), 11), Ok((expected, false)), "big endian: {big}");
    }
}

#[test]
fn a_file_cut_at_any_byte_gives_what_was_whole_and_says_that_it_is_cut() {
    for file in [pcap(PCAP_MICROSECONDS, false), pcapng(true), pcapng(false)] {
        let (whole, _) = read(&file, 4096).unwrap();
        let mut ends = 0;
        for cut in 0..file.len() {
            let (seen, is_cut) = read(&file[..cut], 4096).unwrap();
            assert_eq!(seen, whole[..seen.len()], "cut at {cut}");
            assert!(seen.len() <= whole.len());
            ends += usize::from(!is_cut);
        }
        // Between two blocks a file may end.
        assert!((1..=14).contains(&ends), "{ends}");
    }
}

#[test]
fn lengths_over_the_limit_and_contradictions_are_errors_and_name_the_place() {
    let mut long = pcap(PCAP_MICROSECONDS, false);
    long[32..36].copy_from_slice(&(PACKET_BYTES_MAX + 1).to_le_bytes());
    assert_eq!(
        read(&long, 4096),
        Err(FileError::OverLimit {
            what: "a packet",
            at: 24,
            announced: u64::from(PACKET_BYTES_MAX) + 1,
            max: u64::from(PACKET_BYTES_MAX)
        })
    );
    let table: [(&[u8], &str); 4] = [
        (&[0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 1, 2, 3, 4], "byte order"),
        (&[0x0a, 0x0d, 0x0d, 0x0a, 13, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a], "multiple of four"),
        (b"GET / HTTP/1.1", "neither pcap nor pcapng"),
        (&[0x1f, 0x8b, 8, 0], "gzip"),
    ];
    for (file, expected) in table {
        let text = read(file, 4096).unwrap_err().to_string();
        assert!(text.contains(expected), "{text}");
    }
    let mut writer = Writer { big: false, out: vec![] };
    writer.section().packet(0, 1, b"x");
    assert!(read(&writer.out, 4096).unwrap_err().to_string().contains("was not described"));
    let mut lengths = pcapng(false);
    let last = lengths.len() - 4;
    lengths[last] ^= 4;
    assert!(read(&lengths, 4096).unwrap_err().to_string().contains("lengths differ"));
}

#[test]
fn interfaces_without_end_are_refused() {
    let mut writer = Writer { big: false, out: vec![] };
    writer.section();
    for _ in 0..=INTERFACES_MAX {
        writer.interface(1, &[]);
    }
    assert!(matches!(read(&writer.out, 1 << 20), Err(FileError::OverLimit { .. })));
}

#[test]
fn a_long_block_of_others_is_not_held() {
    let mut writer = Writer { big: false, out: vec![] };
    writer.section().interface(1, &[]).block(0x0bad, |body| {
        body.bytes(&vec![1; HELD_BYTES_MAX * 2]);
    });
    writer.packet(0, 1_000, b"x");
    let (seen, is_cut) = read(&writer.out, 4096).unwrap();
    assert_eq!((seen.len(), is_cut), (1, false));
}

#[test]
fn reads_what_is_written_here() {
    let mut file = write::header();
    write::packet(&mut file, 1_700_000_000_123, b"E...");
    write::packet(&mut file, 5, &vec![0; PACKET_BYTES_MAX as usize + 1]);
    assert_eq!(read(&file, 9), Ok((vec![(Link::Raw, 1_700_000_000_123, b"E...".to_vec())], false)));
}

proptest! {
    #[test]
    fn packets_do_not_depend_on_how_the_file_comes(big in any::<bool>(), step in 1_usize..200) {
        prop_assert_eq!(read(&pcapng(big), step), read(&pcapng(big), 1 << 20));
    }

    #[test]
    fn no_bytes_panic(
        head in 0_usize..4,
        noise in proptest::collection::vec(any::<u8>(), 0..200),
        at in 0_usize..400,
    ) {
        let mut file = [pcapng(false), pcapng(true), pcap(PCAP_NANOSECONDS, true), vec![]][head].clone();
        let from = at.min(file.len());
        let until = (from + noise.len()).min(file.len());
        file.splice(from..until, noise);
        let _ = read(&file, 64);
    }
}
