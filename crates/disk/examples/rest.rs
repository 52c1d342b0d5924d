//! What `disk` says of a directory, one line a file: for whoever works on it.
fn main() {
    let dir = std::env::args().nth(1).expect("a data directory");
    let seen = disk::look(std::path::Path::new(&dir), &disk::Progress::default()).expect("it can be read");
    println!("{:?} {:?} {} bytes", seen.family, seen.server_uuid, seen.read_bytes);
    for one in &seen.artefacts {
        let t = &one.tally;
        println!(
            "{:<40} {:<18} {:<9} p{} e{} n{} z{} u{} {:?} {:?} {:?}",
            one.path,
            one.kind.word(),
            one.verdict.word(),
            t.plain,
            t.encrypted,
            t.never,
            t.zero,
            t.unknown,
            t.keys,
            t.whys,
            one.claim
        );
    }
}
