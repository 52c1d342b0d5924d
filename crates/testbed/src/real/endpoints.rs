//! Many servers in one process: listeners that greet as MySQL without TLS does, on every address of 127.0.0.0/8.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use wire::{Capabilities, Greeting};

/// Each serves as many endpoints as there are addresses.
const LISTENERS: usize = 100;
/// A scanner that was killed does not hold a thread.
const HOLD: Duration = Duration::from_secs(5);

pub struct Endpoints {
    ports: Vec<u16>,
    asked: Arc<AtomicUsize>,
}

impl Endpoints {
    /// They are there until the test program ends.
    #[must_use]
    pub fn start() -> Self {
        let greeting: Arc<[u8]> = greeting().into();
        let asked = Arc::<AtomicUsize>::default();
        let ports = (0..LISTENERS)
            .map(|_| {
                let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("a port");
                let port = listener.local_addr().expect("bound").port();
                let (greeting, asked) = (Arc::clone(&greeting), Arc::clone(&asked));
                std::thread::spawn(move || serve(&listener, &greeting, &asked));
                port
            })
            .collect();
        Self { ports, asked }
    }

    /// Connections so far.
    #[must_use]
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }

    /// Endpoint `number`: 100 ports on each address, from 127.20.0.1 on.
    #[must_use]
    pub fn address(&self, number: usize) -> SocketAddr {
        let host = u32::from(Ipv4Addr::new(127, 20, 0, 1)) + u32::try_from(number / LISTENERS).expect("few");
        SocketAddr::from((Ipv4Addr::from(host), self.ports[number % LISTENERS]))
    }
}

fn serve(listener: &TcpListener, greeting: &[u8], asked: &AtomicUsize) {
    for stream in listener.incoming() {
        let Ok(mut stream) = stream else { continue };
        // Whoever looks for a server of another test at a port that is free for it on 127.0.0.1 is no scanner.
        if stream.local_addr().is_ok_and(|at| at.ip() == Ipv4Addr::LOCALHOST) {
            continue;
        }
        asked.fetch_add(1, Ordering::Relaxed);
        let _ = stream.set_read_timeout(Some(HOLD));
        // The scanner says nothing to a server without TLS, or hangs up.
        if stream.write_all(greeting).is_ok() {
            let _ = stream.read(&mut [0; 64]);
        }
    }
}

fn greeting() -> Vec<u8> {
    let payload = wire::greeting::encode(&Greeting {
        protocol: 10,
        version: "5.5.5-10.11.19-MariaDB-played".into(),
        connection_id: 7,
        nonce: vec![0x41; 20],
        capabilities: Capabilities::PROTOCOL_41 | Capabilities::SECURE_CONNECTION | Capabilities::PLUGIN_AUTH,
        mariadb_capabilities: 0x1d,
        charset: 8,
        status: 2,
        auth_plugin: Some("mysql_native_password".into()),
    });
    let mut bytes = u32::try_from(payload.len()).expect("short").to_le_bytes()[..3].to_vec();
    bytes.push(0);
    bytes.extend_from_slice(&payload);
    bytes
}
