//! What `replication` measures: a replica that reads the binary log of its source from the beginning.
//!
//! Only its I/O thread runs: what is measured is the stream, and not how fast statements are done again.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ::bench::cpu;
use net::{Client, NetError};

use super::keys;
use super::transfer::{Receiver, Taken, WORDS_HELD, Watched};
use site::OpsError;
use site::servers::{MARIADB, Server};

/// In steps of 32 KiB, a row each.
const LOG_ROWS: u32 = 12_000;
/// What a transaction has of them.
const LOG_ROWS_AT_ONCE: u32 = 1_000;
/// Nothing moves for so long.
const SILENT_MAX: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(2);

/// A source with its log, and a replica, empty.
pub struct Replicas {
    source: Server,
    replica: Server,
    ca: PathBuf,
}

/// How far a log goes, or has been read.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    file: String,
    byte: String,
}

impl Replicas {
    /// Both in directories below `dir`; `files` are the source's.
    ///
    /// # Errors
    /// One does not come up.
    pub fn start(
        dir: &Path,
        files: &keys::Files,
        ports: [u16; 2],
        common: &[&str],
    ) -> Result<Self, OpsError> {
        let start = |name: &str, port: u16, options: &[String]| {
            let common = common.iter().map(|option| (*option).to_owned());
            let all: Vec<String> = common.chain(options.iter().cloned()).collect();
            Server::start(MARIADB, port, &dir.join(name), &all)
        };
        let [source_port, replica_port] = ports;
        let keys::Files { pair, ca } = files;
        let source = start(
            "source",
            source_port,
            &[
                "--server-id=1".into(),
                "--log-bin=binlog".into(),
                "--binlog-format=ROW".into(),
                format!("--ssl-cert={}", pair.cert.display()),
                format!("--ssl-key={}", pair.key.display()),
                format!("--ssl-ca={}", ca.display()),
            ],
        )?;
        let replica = start(
            "replica",
            replica_port,
            &["--server-id=2".into(), "--relay-log=relay".into(), "--skip-slave-start".into()],
        )?;
        Ok(Self { source, replica, ca: ca.clone() })
    }

    pub fn source(&self) -> &Server {
        &self.source
    }

    /// Makes the log as long as it is to be.
    ///
    /// # Errors
    /// What the source refuses.
    pub fn fill(&self, stop: &AtomicBool) -> Result<(), OpsError> {
        self.source.run(&[
            "CREATE DATABASE sealion_bench",
            "CREATE TABLE sealion_bench.log (id INT PRIMARY KEY, text LONGTEXT) ENGINE=InnoDB",
        ])?;
        for first in (1..=LOG_ROWS).step_by(LOG_ROWS_AT_ONCE as usize) {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let last = first + LOG_ROWS_AT_ONCE - 1;
            let insert = format!(
                "INSERT INTO sealion_bench.log SELECT seq, REPEAT(MD5(seq), 1024) \
                 FROM sealion_bench.seq_{first}_to_{last}"
            );
            // It is in the log then, and nobody reads it elsewhere.
            self.source.run(&[&insert, "SET sql_log_bin=0", "TRUNCATE sealion_bench.log"])?;
        }
        Ok(())
    }

    /// # Errors
    /// The replica does not do as it is told.
    pub fn prepare(&self, is_tls: bool) -> Result<Replica<'_>, OpsError> {
        let tls = if is_tls {
            let ca = self.ca.display().to_string();
            format!(
                "MASTER_SSL=1, MASTER_SSL_CA='{}', MASTER_SSL_VERIFY_SERVER_CERT=1",
                ca.replace('\\', "\\\\").replace('\'', "''")
            )
        } else {
            "MASTER_SSL=0, MASTER_SSL_VERIFY_SERVER_CERT=0".to_owned()
        };
        let port = self.source.port;
        self.replica.run(&[
            "STOP SLAVE",
            "RESET SLAVE ALL",
            "DROP DATABASE IF EXISTS sealion_bench_word",
            "DROP DATABASE IF EXISTS sealion_bench",
            &format!(
                "CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={port}, MASTER_USER='root', \
                 MASTER_LOG_FILE='binlog.000001', MASTER_LOG_POS=4, {tls}"
            ),
        ])?;
        Ok(Replica { pair: self })
    }

    fn end(&self) -> Result<Place, OpsError> {
        let mut session = session(&self.source)?;
        let [file, byte] = columns(&mut session, "SHOW MASTER STATUS", ["File", "Position"])?;
        Ok(Place { file, byte })
    }
}

/// It has nothing, and knows its source.
pub struct Replica<'p> {
    pair: &'p Replicas,
}

impl Receiver for Replica<'_> {
    fn take(&self, stop: &AtomicBool) -> Result<Option<Taken>, OpsError> {
        let end = self.pair.end()?;
        let mut session = session(&self.pair.replica)?;
        let began = Instant::now();
        session.execute("START SLAVE IO_THREAD").map_err(failed)?;
        let (mut last, mut moved) = (None, Instant::now());
        while !stop.load(Ordering::Relaxed) {
            let names = ["Master_Log_File", "Read_Master_Log_Pos", "Last_IO_Error"];
            let [file, byte, why] = columns(&mut session, "SHOW SLAVE STATUS", names)?;
            let at = Place { file, byte };
            if at == end {
                return Ok(Some(Taken::within(began.elapsed())));
            }
            if !why.is_empty() {
                return Err(OpsError::internal("a replica does not read the log of its source", why));
            }
            if last.as_ref() != Some(&at) {
                (last, moved) = (Some(at), Instant::now());
            } else if moved.elapsed() > SILENT_MAX {
                return Err(OpsError::internal(
                    "a replica does not read the log of its source",
                    format!("nothing was received for {} s", SILENT_MAX.as_secs()),
                ));
            }
            std::thread::sleep(POLL);
        }
        Ok(None)
    }

    fn spent_us(&self) -> Option<u64> {
        [&self.pair.source, &self.pair.replica].map(|server| cpu::process_us(server.pid()?)).into_iter().sum()
    }
}

impl Watched for Replica<'_> {
    fn told(&self) -> String {
        "replication".into()
    }

    fn port(&self) -> u16 {
        self.pair.source.port
    }

    /// It does what it has read, until then.
    fn words(&self, word: &str) -> Result<String, OpsError> {
        let mut session = session(&self.pair.replica)?;
        session.execute("START SLAVE SQL_THREAD").map_err(failed)?;
        let Place { file, byte } = self.pair.end()?;
        let done_s = SILENT_MAX.as_secs();
        // What it says is seen in what it has.
        session.query(&format!("SELECT MASTER_POS_WAIT('{file}', {byte}, {done_s})")).map_err(failed)?;
        let counted = session.query(&format!("{WORDS_HELD} = '{word}'")).map_err(failed)?;
        Ok(counted.scalar().unwrap_or_default().into_owned())
    }
}

fn failed(error: NetError) -> OpsError {
    OpsError::internal("a server of the lab does not do what it should", error)
}

fn session(server: &Server) -> Result<Client, OpsError> {
    server.session().map_err(failed)
}

/// Of its answer's only row.
fn columns<const N: usize>(
    session: &mut Client,
    sql: &str,
    names: [&str; N],
) -> Result<[String; N], OpsError> {
    let answer = session.query(sql).map_err(failed)?;
    let row = answer.rows.first().map(Vec::as_slice).unwrap_or_default();
    Ok(names.map(|name| {
        let at = answer.columns.iter().position(|column| column == name);
        let cell = at.and_then(|at| row.get(at)).and_then(Option::as_deref).unwrap_or_default();
        wire::printable(&String::from_utf8_lossy(cell))
    }))
}
