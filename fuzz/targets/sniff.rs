//! A capture of databases' connections, from the file to what is told: sums are those of what is listed.
#![no_main]

use capture::file::Reader;
use libfuzzer_sys::fuzz_target;
use prove::sniff::{Kind, Sniffer};

fuzz_target!(|bytes: &[u8]| {
    let mut sniffer = Sniffer::new(&[40_000]);
    let _ = Reader::new().read(bytes, &mut |packet| match packet.link.ip(packet.bytes) {
        Some(ip) => sniffer.packet(ip, packet.unix_ms),
        None => sniffer.other_packet(),
    });
    let report = sniffer.finish();
    for one in &report.listed {
        let told = &one.told;
        assert!(told.tls_bytes <= told.bytes_a + told.bytes_b);
        assert!(one.findings.is_sorted_by_key(|finding| finding.what));
    }
    let listed = report.listed.iter().filter(|one| one.told.kind != Kind::Other).count() as u64;
    assert_eq!(report.looked_at(), listed);
    let _ = format!("{report:?}");
});
