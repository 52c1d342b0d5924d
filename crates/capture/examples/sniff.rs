//! By hand: `sniff IFACE PORT[,PORT…] SECONDS` prints what passed.

use std::error::Error;
use std::time::Duration;

use capture::{Direction, Spec};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [iface, ports, seconds] = arguments.as_slice() else {
        return Err("sniff IFACE PORT[,PORT…] SECONDS".into());
    };
    let ports = ports.split(',').map(str::parse).collect::<Result<_, _>>()?;
    let capture = match capture::start(Spec { iface: iface.clone(), ports, ring_bytes: 0 }) {
        Ok(capture) => capture,
        Err(error) => {
            println!("{error}");
            return Ok(());
        }
    };
    std::thread::sleep(Duration::from_secs(seconds.parse()?));
    let report = capture.stop();
    println!(
        "{}: {} packets, {} drops, complete: {}",
        report.method,
        report.packets,
        report.kernel_drops,
        report.is_complete()
    );
    for flow in &report.flows {
        println!("{} - {} client {:?} start {}", flow.a, flow.b, flow.client, flow.saw_start);
        for (name, direction) in [("ab", &flow.ab), ("ba", &flow.ba)] {
            let Direction {
                bytes,
                segments,
                tls_segments,
                tls_bytes,
                client_hello,
                missing_bytes,
                canaries,
                ..
            } = direction;
            println!(
                "  {name} {bytes} B in {segments} segments, TLS {tls_bytes} B, {tls_segments} segments, hello {client_hello}, missing {missing_bytes}, {canaries:?}"
            );
        }
    }
    Ok(())
}
