//! `status rest` of a tablespace that is larger than any disk here: a sparse file of a tebibyte.
#![allow(clippy::unwrap_used)]

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::process::{Command, Stdio};

use serde_json::Value;
use testbed::real::sealion;

const PAGE_BYTES: usize = 16_384;
const SPACE_BYTES: u64 = 1 << 40;
/// Twice and more what it needs; a list with a byte for each page would be as large.
const RESIDENT_KIB_MAX: u64 = 64 << 10;
/// Its rows in the JSON are more than a pipe holds, so that the program stands still in the middle of them.
const SMALL_FILES: usize = 400;

/// A page of MySQL as it stands in the file, with an LSN at both ends.
fn page(number: u32, kind: u16) -> Vec<u8> {
    let mut page = vec![b'd'; PAGE_BYTES];
    page[..38].fill(0);
    page[4..8].copy_from_slice(&number.to_be_bytes());
    page[20..24].copy_from_slice(&9_u32.to_be_bytes());
    page[24..26].copy_from_slice(&kind.to_be_bytes());
    page[37] = 7;
    page[PAGE_BYTES - 4..].copy_from_slice(&9_u32.to_be_bytes());
    if number == 0 {
        page[38..].fill(0);
        page[41] = 7;
        page[54..58].copy_from_slice(&0x4021_u32.to_be_bytes());
    }
    page
}

#[test]
fn a_tebibyte_of_holes_is_counted_without_being_read_or_remembered() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("auto.cnf"), "[auto]\nserver-uuid=u-1\n").unwrap();
    for n in 0..SMALL_FILES {
        std::fs::write(home.path().join(format!("small{n}.MYD")), "rows").unwrap();
    }
    let file = File::create(home.path().join("large.ibd")).unwrap();
    file.set_len(SPACE_BYTES).unwrap();
    let pages = SPACE_BYTES / PAGE_BYTES as u64;
    let last = u32::try_from(pages - 1).unwrap();
    // Beside the ends of what a thread takes at a time, in the middle of nothing, and at the very end.
    let plain = [1, 16_383, 33_333_333];
    let encrypted = [16_384, 40_000_001, last];
    for (numbers, kind) in [(&plain, 17_855), (&encrypted, 15), (&[0, 0, 0], 8)] {
        for number in numbers {
            file.write_all_at(&page(*number, kind), u64::from(*number) * PAGE_BYTES as u64).unwrap();
        }
    }

    let mut child = Command::new(sealion())
        .args(["status", "rest", "--format", "json", "--datadir"])
        .arg(home.path())
        .env("HOME", home.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    // It writes when all is read, and cannot end before somebody takes what it writes.
    let mut said = vec![0];
    stdout.read_exact(&mut said).unwrap();
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    stdout.read_to_end(&mut said).unwrap();
    assert!(child.wait().unwrap().success());
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_else(|| panic!("{status}"));
    let peak_kib: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak_kib < RESIDENT_KIB_MAX, "{peak_kib} KiB");

    let whole: Value = serde_json::from_slice(&said).unwrap();
    let rows = whole["artefacts"].as_array().unwrap();
    // Dumps in the directory above, which is everybody's, are listed too.
    assert_eq!(rows.iter().filter(|one| one["named_by"].is_null()).count(), SMALL_FILES + 2);
    let large = rows.iter().find(|one| one["path"] == "large.ibd").unwrap();
    for (count, number) in [("plain", 3), ("encrypted", 3), ("never", 1), ("zero", pages - 7), ("unknown", 0)]
    {
        assert_eq!(large[count], number, "{count}: {large:#}");
    }
    assert_eq!(large["verdict"], "mixed");
    let of = |name: &str| whole[name].as_u64().unwrap();
    assert_eq!(of("read_bytes") + of("hole_bytes"), SPACE_BYTES);
    // Of a hole nothing is read, but for what stands around a page.
    assert!(of("read_bytes") < 32 << 20, "{} bytes were read", of("read_bytes"));
}
