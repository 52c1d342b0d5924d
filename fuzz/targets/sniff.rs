//! A capture of databases' connections, from the file to what is told: sums are those of what is listed.
#![no_main]

use capture::file::Reader;
use capture::words::Words;
use libfuzzer_sys::fuzz_target;
use prove::sniff::{Kind, Sniffer};

fuzz_target!(|bytes: &[u8]| {
    let words = Words::new(&[b"SLCA".to_vec(), b"aaaa".to_vec()]).expect("long enough");
    let mut sniffer = Sniffer::with_words(&[40_000], words);
    let _ = Reader::new().read(bytes, &mut |packet| {
        sniffer.frame(packet.link, packet.bytes, packet.unix_ms);
    });
    let report = sniffer.finish();
    for one in &report.listed {
        let told = &one.told;
        assert!(told.tls_bytes <= told.bytes_a + told.bytes_b);
        assert_eq!(told.canaries.values().sum::<u64>(), told.canary_places.values().sum::<u64>());
        assert!(one.findings.is_sorted_by_key(|finding| finding.what));
    }
    let listed = report.listed.iter().filter(|one| one.told.kind != Kind::Other).count() as u64;
    assert_eq!(report.looked_at(), listed);
    let _ = format!("{report:?}");
});
