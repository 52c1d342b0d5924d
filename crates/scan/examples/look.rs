//! `cargo run -p scan --example look -- [--full|--first] HOST:PORT…`: everything that was seen, as Rust prints it.

fn main() {
    let mut depth = scan::interrogation::Depth::Classes;
    let mut targets = Vec::new();
    for word in std::env::args().skip(1) {
        match word.as_str() {
            "--full" => depth = scan::interrogation::Depth::Full,
            "--first" => depth = scan::interrogation::Depth::First,
            text => match text.parse::<std::net::SocketAddr>() {
                Ok(address) => {
                    targets.push(scan::Target::new(
                        address.ip().to_string(),
                        address.ip(),
                        address.port(),
                        true,
                    ));
                }
                Err(error) => eprintln!("{text}: {error}"),
            },
        }
    }
    let mut targets = targets.into_iter();
    let mut source = || targets.next().map_or(scan::Next::End, scan::Next::Target);
    let ended = scan::run(&mut source, depth, &scan::Limits::default(), &mut |seen| {
        println!("{}\n{:#?}", seen.target, seen.facts);
        true
    });
    if let Err(error) = ended {
        eprintln!("{error}");
    }
}
