//! Whether a connection waits for its answer, seen by a relay that holds answers back.

use super::{Real, TABLES, number};
use std::collections::HashMap;
use std::io::ErrorKind;
use std::io::Read;
use std::io::Write;
use std::net::TcpListener;
use std::net::TcpStream;
use std::process::Command;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;
use std::time::Instant;
use wire::AnswerReader;
use wire::Capabilities;
use wire::answers::Rows;
use wire::prepared::Cell;
use wire::prepared::PrepareOk;

/// What a client said, and what came back.
type Turns = Vec<[Vec<u8>; 2]>;

/// A relay that holds back the end of every answer, and looks whether the client speaks meanwhile.
#[derive(Clone, Default)]
struct Hold {
    /// What was said out of turn.
    faults: Arc<Mutex<Vec<String>>>,
    turns: Arc<Mutex<u64>>,
    /// Of each connection, its packets and their answers in turn.
    heard: Arc<Mutex<Vec<Turns>>>,
}

/// A server that is silent for so long has mostly said all. If it has not, the last byte that is held back is not the last
/// one of the answer, and the client has still less reason to speak: slowness makes the test weaker, and never wrong.
const SILENCE: Duration = Duration::from_millis(8);

/// Time for the client to speak out of turn.
const HELD: Duration = Duration::from_millis(5);

impl Hold {
    /// Answers on the port that comes back, until the test ends.
    fn before(&self, server_port: u16) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let hold = self.clone();
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (hold, server) = (hold.clone(), TcpStream::connect(("127.0.0.1", server_port)).unwrap());
                std::thread::spawn(move || hold.relay(client.unwrap(), server));
            }
        });
        port
    }

    fn fault(&self, text: String) {
        self.faults.lock().unwrap().push(text);
    }

    /// The server speaks first; then they take turns. Nothing here knows what an answer looks like.
    fn relay(&self, mut client: TcpStream, mut server: TcpStream) {
        let number = {
            let mut heard = self.heard.lock().unwrap();
            heard.push(Vec::new());
            heard.len() - 1
        };
        let mut said = Vec::new();
        loop {
            let Some(answer) = everything(&mut server) else { return };
            self.heard.lock().unwrap()[number].push([std::mem::take(&mut said), answer.clone()]);
            let (last, most) = answer.split_last().unwrap();
            if client.write_all(most).is_err() {
                return;
            }
            match within(&mut client, HELD) {
                None => {}
                Some(early) if early.is_empty() => return,
                Some(early) => {
                    return self.fault(format!("{} bytes came before the answer was whole", early.len()));
                }
            }
            if client.write_all(&[*last]).is_err() {
                return;
            }
            // One packet, and no more until there is an answer.
            let deadline = Instant::now() + Duration::from_secs(60);
            loop {
                match within(&mut client, SILENCE) {
                    Some(rest) if !rest.is_empty() => said.extend(rest),
                    // It has gone, with a goodbye that has no answer.
                    Some(_) => return,
                    None if Instant::now() > deadline => return,
                    // The server was slow, and has said the rest of its answer.
                    None => {
                        let Some(rest) = within(&mut server, Duration::from_millis(1)) else { continue };
                        if rest.is_empty() || client.write_all(&rest).is_err() {
                            return;
                        }
                        if let Some([_, answer]) = self.heard.lock().unwrap()[number].last_mut() {
                            answer.extend(rest);
                        }
                        continue;
                    }
                }
                match packets(&said) {
                    Some(1) => break,
                    // The rest of a packet, or one that has an answer, is to come.
                    Some(0) | None => {}
                    Some(more) => return self.fault(format!("{more} packets came at once")),
                }
            }
            if let Some(second) = within(&mut client, HELD).filter(|second| !second.is_empty()) {
                return self.fault(format!("{} bytes came while a statement was outstanding", second.len()));
            }
            *self.turns.lock().unwrap() += 1;
            if server.write_all(&said).is_err() {
                return;
            }
        }
    }
}

/// What comes within this time; empty at the end of the stream, `None` for nothing.
fn within(stream: &mut TcpStream, time: Duration) -> Option<Vec<u8>> {
    stream.set_read_timeout(Some(time)).unwrap();
    let mut bytes = vec![0; 64 * 1024];
    match stream.read(&mut bytes) {
        Ok(count) => {
            bytes.truncate(count);
            Some(bytes)
        }
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => None,
        Err(_) => Some(Vec::new()),
    }
}

/// Until the server is silent. `None`: it has ended.
fn everything(server: &mut TcpStream) -> Option<Vec<u8>> {
    let mut all = within(server, Duration::from_secs(60)).filter(|first| !first.is_empty())?;
    while let Some(more) = within(server, SILENCE).filter(|more| !more.is_empty()) {
        all.extend(more);
    }
    Some(all)
}

/// `None`: the last one is not whole. Those without an answer (COM_STMT_CLOSE, COM_QUIT) do not count.
fn packets(mut bytes: &[u8]) -> Option<usize> {
    let mut count = 0;
    while let [a, b, c, _, rest @ ..] = bytes {
        let length = usize::from(*a) | usize::from(*b) << 8 | usize::from(*c) << 16;
        let command = rest.get(..length)?.first();
        count += usize::from(!matches!(command, Some(0x19 | 0x01)));
        bytes = &rest[length..];
    }
    bytes.is_empty().then_some(count)
}

fn payloads(mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut all = Vec::new();
    while let [a, b, c, _, rest @ ..] = bytes {
        let (payload, more) = rest.split_at(usize::from(*a) | usize::from(*b) << 8 | usize::from(*c) << 16);
        all.push(payload);
        bytes = more;
    }
    all
}

/// Rows of all prepared statements of a connection, and their sum, by what went over the wire.
fn rows_of(heard: &[[Vec<u8>; 2]]) -> (u64, u64) {
    // Its greeting, and its login with what it can do.
    let login = payloads(&heard[1][0])[0];
    let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
    let flags = Capabilities(number(&login[..4]));
    let extended = if flags.contains(Capabilities::LONG_PASSWORD) { 0 } else { number(&login[28..32]) };
    let [extends_metadata, caches_metadata] = [3, 4].map(|bit| extended & (1 << bit) != 0);
    // Behind six texts, or seven, and a length: character set, length, type. All are short here.
    let cell = |column: &&[u8]| {
        let mut rest = *column;
        for _text in 0..6 + usize::from(extends_metadata) {
            rest = &rest[1 + usize::from(rest[0])..];
        }
        Cell::of(rest[7]).unwrap()
    };
    let mut cells: HashMap<u32, Vec<Cell>> = HashMap::new();
    let (mut rows, mut checksum) = (0, 0_u64);
    for [said, answer] in &heard[2..] {
        match *payloads(said).last().unwrap() {
            [0x16, ..] => {
                let answer = payloads(answer);
                let head = PrepareOk::parse(answer[0]).unwrap();
                let ends = usize::from(!flags.contains(Capabilities::DEPRECATE_EOF) && head.parameters > 0);
                let columns = answer.iter().skip(1 + usize::from(head.parameters) + ends);
                let columns = columns.take(usize::from(head.columns));
                cells.insert(head.statement_id, columns.map(cell).collect());
            }
            [0x17, a, b, c, d, ..] => {
                let mut reader = AnswerReader::new(flags, caches_metadata);
                reader.begin();
                let cells = &cells[&u32::from_le_bytes([*a, *b, *c, *d])];
                let answer = reader.feed(answer, Rows::Binary(cells)).unwrap().expect("all of it");
                rows += answer.rows;
                checksum = checksum.wrapping_add(answer.checksum);
            }
            _ => {}
        }
    }
    (rows, checksum)
}

/// All ids are the same one: whoever sends the same statements gets the same rows.
#[test]
fn the_rows_and_their_sum_are_those_that_sysbench_gets() {
    const ONE: [&str; 8] = ["--database", "one", "--tables", "1", "--table-size", "1", "--range-size", "1"];
    let server = Real::start("galera-10.11", &[]);
    let said = server.bench(&[&["prepare"], &ONE[..6]].concat());
    assert!(said.status.success(), "{said:?}");
    for (workload, rows) in [("oltp_point_select", 1), ("oltp_read_only", 14)] {
        let hold = Hold::default();
        let port = hold.before(server.port).to_string();
        let said = Command::new("sysbench")
            .args([workload, "--db-driver=mysql", "--mysql-host=127.0.0.1", "--mysql-user=root", "--time=0"])
            .args([&format!("--mysql-port={port}"), "--mysql-db=one", "--tables=1", "--table-size=1"])
            .args(["--range-size=1", "--events=5", "run"])
            .stdin(Stdio::null())
            .output()
            .expect("sysbench is not here: scripts/setup.sh tools");
        assert!(said.status.success(), "{said:?}");
        let theirs: Vec<(u64, u64)> = hold.heard.lock().unwrap().iter().map(|heard| rows_of(heard)).collect();
        let words = [workload, "--events", "5", "--warm-up", "0", "--ssl-mode", "DISABLED"];
        let ours = server.load(&[&words[..], &ONE].concat(), 0);
        assert_eq!(number(&ours, "rows"), 5 * rows, "{workload}");
        let checksum = u64::from_str_radix(ours["rows_checksum"].as_str().unwrap(), 16).unwrap();
        assert_eq!(theirs, [(5 * rows, checksum)], "{workload}");
    }
}

#[test]
fn a_connection_never_has_two_statements_outstanding() {
    let server = Real::start("galera-10.11", &[]);
    server.prepare();
    let hold = Hold::default();
    let port = hold.before(server.port).to_string();
    for workload in ["oltp_read_write", "oltp_insert", "stream"] {
        let words =
            [workload, "-P", &port, "-c", "3", "--events", "6", "--warm-up", "0", "--ssl-mode", "DISABLED"];
        let report = server.load(&[&words[..], &TABLES].concat(), 0);
        assert_eq!(number(&report, "events"), 6, "{report:#}");
    }
    assert_eq!(*hold.faults.lock().unwrap(), Vec::<String>::new());
    assert!(*hold.turns.lock().unwrap() > 6 * 20, "it has not seen them");
    // A client that does not wait is found: two COM_PING at once, and one before the greeting was whole.
    let connect = |login: bool| {
        let hold = Hold::default();
        let mut client = TcpStream::connect(("127.0.0.1", hold.before(server.port))).unwrap();
        let mut greeting = [0; 4];
        client.read_exact(&mut greeting).unwrap();
        if login {
            let mut rest = vec![0; usize::from(greeting[0])];
            client.read_exact(&mut rest).unwrap();
        }
        let ping = [1, 0, 0, 0, 0x0e];
        client.write_all(&[ping, ping].concat()).unwrap();
        let _ = client.read_to_end(&mut Vec::new());
        hold.faults.lock().unwrap().join(", ")
    };
    assert!(connect(true).contains("2 packets"), "{}", connect(true));
    assert!(connect(false).contains("before the answer was whole"), "{}", connect(false));
}
