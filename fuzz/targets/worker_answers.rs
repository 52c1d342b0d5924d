//! What a worker of a scan says that it has found: it may be anybody who has the worker's key. The first byte says for which target, and
//! whether the rest is the answer itself or the rows in it, so that the compression around them does not hide them.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use scan_ops::TargetSpec;
use scan_ops::workers::answer_rows;

static SPECS: LazyLock<Vec<TargetSpec>> = LazyLock::new(|| {
    ["db1:3306", "db1", "192.0.2.1:3306", "[2001:db8::1]:3306", "srv:_mysql._tcp.example.org"]
        .into_iter()
        .map(|word| TargetSpec::parse(word).expect("a target"))
        .collect()
});

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    let spec = &SPECS[usize::from(first >> 1) % SPECS.len()];
    let rows = if first & 1 == 0 {
        answer_rows(spec, rest)
    } else {
        answer_rows(spec, &zstd::bulk::compress(rest, 1).expect("memory"))
    };
    let Ok(rows) = rows else { return };
    assert!(!rows.is_empty());
    for row in &rows {
        let is_shown = |text: &str| text.chars().all(|each| !each.is_control());
        assert!(is_shown(&row.target) && is_shown(&row.host), "{row:?}");
        if let TargetSpec::Place { host, port } = spec {
            assert!(row.host == *host && port.is_none_or(|port| port == row.port), "{row:?}");
        }
    }
});
