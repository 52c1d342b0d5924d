//! What `sst-tools` and its kin measure: programs that copy all data of a donor from one end to the other. No server is started on the
//! copy; for real state transfers see [`super::joiner`].
//!
//! mariabackup reads a server that runs. The others read a copy of its files that nobody writes to: of a donor that runs, their state
//! transfers hold a lock for as long. A copy counts when it is whole, see [`listing`].

mod commands;
pub mod listing;
mod programs;
pub mod proof;
mod writer;

use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ::bench::cpu;
use ::bench::experiments::{Key, Line, Tool, Transport, TransportCipher};
use ::bench::load::TlsShape;
use ::bench::load::tables::Plan;
use capture::Canary;
use capture::relay::{Relays, Route};
use lab::bundle::Servers;
use net::ConnectOptions;
use report::shape::CopyRow;
use site::OpsError;
use site::servers::{Server, internal};

use super::keys;
use super::transfer::{self, Receiver, Taken};
use listing::Listing;
use programs::Programs;
use writer::{OFFERED_PER_S, Writer};

pub use commands::missing;

/// Of all tables together, at least: with fewer the time is that of the programs' start.
pub const ROWS_MIN: u32 = 128_000;
/// The same where a rough figure is enough.
pub const QUICK_ROWS_MIN: u32 = 24_000;
/// Of one INSERT: some 4 MB.
const ROWS_AT_ONCE: u32 = 2_000;
/// How long the client writes while nothing is copied.
const ALONE: Duration = Duration::from_secs(2);
/// Of a table that is written to meanwhile.
pub(super) const WRITTEN: &str = "written_to";
const WORD_SCHEMA: &str = "sealion_bench_word";
const POLL: Duration = Duration::from_millis(20);
/// All pages are to be written by then.
const CHECKPOINT_MAX: Duration = Duration::from_secs(120);

/// Directories and files in the donor's own.
const FROM: &str = "from";
const INTO: &str = "into";
const TARGET: &str = "target";
const CODE: &str = "code";
/// Of the certificates of each end.
const RECEIVING: &str = "receiving";
const SENDING: &str = "sending";

/// Of this machine's loopback. The receiver has the same one for each copy.
struct Ports {
    receiver: u16,
    /// Behind stunnel, and before it.
    daemon: u16,
    entry: u16,
}

/// A server with data, the same data as files that nobody writes to, and what both ends of a copy need.
pub struct Donor {
    server: Server,
    servers: Servers,
    dir: PathBuf,
    schema: String,
    ports: Ports,
    word: Canary,
    from: Listing,
    relays: Vec<(Option<Line>, Relays, u16)>,
    alone_per_s: f64,
}

impl Donor {
    /// Fills a server that was just started, and makes the files of it.
    ///
    /// # Errors
    /// What the server refuses; programs that fail; somebody wanted the end.
    pub fn fill(
        server: Server,
        target: &ConnectOptions,
        tables: &Plan,
        ports: [u16; 3],
        stop: &AtomicBool,
        say: &mut dyn FnMut(&str),
    ) -> Result<Self, OpsError> {
        ::bench::load::tables::check_name(&tables.schema).map_err(super::of_tables)?;
        let word = transfer::plant(target)?;
        say(&format!(
            "filling {} of {} rows",
            model::text::counted(tables.tables, "table", "tables"),
            tables.table_size
        ));
        fill(&server, tables, stop)?;
        let dir = server.dir.clone();
        for end in [RECEIVING, SENDING] {
            keys::make(&dir.join(end), Key::P256, 0)?;
        }
        let [receiver, daemon, entry] = ports;
        let mut donor = Self {
            server,
            servers: Servers::find(false)?,
            dir,
            schema: tables.schema.clone(),
            ports: Ports { receiver, daemon, entry },
            word,
            from: Listing::default(),
            relays: vec![],
            alone_per_s: 0.0,
        };
        donor.take_files(stop)?;
        donor.alone_per_s = donor.written_alone(stop)?;
        Ok(donor)
    }

    /// A backup of the server, as it will be copied by those who read files.
    fn take_files(&mut self, stop: &AtomicBool) -> Result<(), OpsError> {
        let from = self.dir.join(FROM);
        fs::create_dir_all(&from).map_err(internal("cannot create a directory of the lab"))?;
        let mut programs = Programs::new(&self.dir);
        let backup = programs.piped(commands::mariabackup(self, true), programs::Input::Nothing)?;
        programs.sink(commands::mbstream(self, FROM, true), backup)?;
        if !programs.wait(self.patience(), stop)? {
            return Err(super::rig::ended());
        }
        drop(programs);
        self.from = listing::of(&from).map_err(internal("cannot read the files of a donor"))?;
        let held = listing::count(&from.join(WORD_SCHEMA).join("word.ibd"), self.word.token())
            .map_err(internal("cannot read the files of a donor"))?;
        if held >= u64::from(transfer::WORDS) {
            return Ok(());
        }
        Err(OpsError::internal(
            "a text that was written is not in the files of a donor",
            format!("it was found {held} times, of {}", transfer::WORDS),
        ))
    }

    fn written_alone(&self, stop: &AtomicBool) -> Result<f64, OpsError> {
        // A disk that still writes the tables and the files lets each commit wait.
        sync(&self.dir).map_err(internal("cannot write the files of a donor to the disk"))?;
        let writer = Writer::start(&self.server, &self.schema)?;
        let began = Instant::now();
        while began.elapsed() < ALONE {
            if stop.load(Ordering::Relaxed) {
                return Err(super::rig::ended());
            }
            std::thread::sleep(POLL);
        }
        let written = writer.end()?;
        Ok(written.rows as f64 / began.elapsed().as_secs_f64())
    }

    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// A line of this kind, which leads to the receiver; `None` is one that only looks at what passes.
    ///
    /// # Errors
    /// No port is free.
    pub fn line(&mut self, line: Option<Line>) -> Result<(), OpsError> {
        if self.relays.iter().any(|(known, _, _)| *known == line) {
            return Ok(());
        }
        let relays = Relays::new(|ip| ip);
        if let Some(Line { one_way_ms, mbit_per_s }) = line {
            relays.set_delay(Duration::from_millis(one_way_ms.into()));
            relays.set_rate(u64::from(mbit_per_s) * 1_000_000 / 8);
        }
        let local = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
        let at = relays
            .add(Route { listen: local(0), target: local(self.ports.receiver) })
            .map_err(internal("cannot create a relay"))?;
        self.relays.push((line, relays, at.port()));
        Ok(())
    }

    fn relay(&self, line: Option<Line>) -> Result<(&Relays, u16), OpsError> {
        let found = self.relays.iter().find(|(known, _, _)| *known == line);
        found
            .map(|(_, relays, port)| (relays, *port))
            .ok_or_else(|| OpsError::internal("a relay is missing", "it was just created"))
    }

    /// Ready to be made: nothing of the last copy is left.
    ///
    /// # Errors
    /// Files that cannot be removed.
    pub fn copy(&self, transport: Transport, tls: Option<&TlsShape>) -> Result<DataCopy<'_>, OpsError> {
        let to = match transport.line {
            None => self.ports.receiver,
            line @ Some(_) => self.relay(line)?.1,
        };
        let copy = DataCopy { donor: self, transport, to, tls: tls.cloned() };
        copy.clear().map_err(internal("cannot remove the files of a copy"))?;
        Ok(copy)
    }

    /// Makes a copy that is watched: a text that lies in the data must pass in cleartext, or each connection must be TLS with the cipher
    /// that was asked for and the text must not be seen. What TLS turned out to be; `None` of cleartext.
    ///
    /// # Errors
    /// It is not as it was to be, or not whole; somebody wanted the end.
    pub fn watched(&self, transport: Transport, stop: &AtomicBool) -> Result<Option<TlsShape>, OpsError> {
        let (relays, port) = self.relay(transport.line)?;
        let copy = DataCopy { to: port, ..self.copy(transport, None)? };
        relays.begin();
        let taken = copy.take(stop);
        let seen = relays.end();
        if taken?.is_none() {
            return Err(super::rig::ended());
        }
        copy.is_whole()?;
        let seen = seen.ok_or_else(|| OpsError::internal("nobody looked at a copy", "it was just begun"))?;
        proof::judge(&seen, &self.word, transport.cipher).map_err(|why| {
            OpsError::internal(format!("a copy by {} is not what it should be", describe(transport)), why)
        })
    }

    fn data_bytes(&self) -> u64 {
        self.from.values().map(|file| file.bytes).sum()
    }

    /// A copy has failed that takes longer: a minute, and a second for each megabyte.
    fn patience(&self) -> Duration {
        const SLOWEST_BYTES_PER_S: u64 = 1_000_000;
        Duration::from_secs(60 + self.data_bytes() / SLOWEST_BYTES_PER_S)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Of tables that nobody writes to: in all copies they are the same.
    fn is_steady(&self, path: &Path) -> bool {
        let in_schema = |schema: &str| path.starts_with(schema);
        let is_written = path.file_stem().is_some_and(|stem| stem == WRITTEN);
        in_schema(WORD_SCHEMA) || in_schema(&self.schema) && !is_written
    }
}

/// For progress and reports.
pub fn describe(Transport { tool, cipher, aes_ni, line }: Transport) -> String {
    let tool = match tool {
        Tool::Mariabackup => "mariabackup and socat",
        Tool::Tar => "tar and socat",
        Tool::Rsync if cipher == TransportCipher::ClearText => "rsync",
        Tool::Rsync => "rsync and stunnel",
        Tool::SealionLive => "sealion send of mariabackup",
        Tool::Sealion => "sealion send",
    };
    let cipher = match cipher {
        TransportCipher::ClearText => "cleartext",
        TransportCipher::Default => "TLS",
        TransportCipher::Aes128 => "AES-128-GCM",
        TransportCipher::Aes256 => "AES-256-GCM",
        TransportCipher::ChaCha20 => "ChaCha20-Poly1305",
    };
    let aes_ni = if aes_ni { "" } else { ", no AES-NI" };
    let line = line.map_or_else(String::new, |Line { one_way_ms, mbit_per_s }| match mbit_per_s {
        0 => format!(", {one_way_ms} ms"),
        _ => format!(", {one_way_ms} ms and {mbit_per_s} Mbit/s"),
    });
    format!("{tool}, {cipher}{aes_ni}{line}")
}

/// Half of each row is random, the other half a text that repeats. All of it goes into the files: what is only in the log is no data to
/// copy.
fn fill(server: &Server, tables: &Plan, stop: &AtomicBool) -> Result<(), OpsError> {
    let schema = &tables.schema;
    server.run(&[
        &format!("CREATE DATABASE {schema}"),
        &format!("CREATE TABLE {schema}.{WRITTEN} (id INT AUTO_INCREMENT PRIMARY KEY, word VARCHAR(20)) ENGINE=InnoDB"),
    ])?;
    let into_the_file =
        |table: &str| server.run(&[&format!("FLUSH TABLES {table} FOR EXPORT"), "UNLOCK TABLES"]);
    into_the_file(&format!("{WORD_SCHEMA}.word"))?;
    for number in 1..=tables.tables {
        let table = format!("{schema}.t{number}");
        server.run(&[&format!(
            "CREATE TABLE {table} (id INT AUTO_INCREMENT PRIMARY KEY, noise BLOB, text BLOB) ENGINE=InnoDB"
        )])?;
        let mut left = tables.table_size;
        while left > 0 {
            if stop.load(Ordering::Relaxed) {
                return Err(super::rig::ended());
            }
            let rows = left.min(ROWS_AT_ONCE);
            server.run(&[&format!(
                "INSERT INTO {table} (noise, text) SELECT RANDOM_BYTES(1000), \
                 REPEAT('a row that is like the next one ', 31) FROM {schema}.seq_1_to_{rows}"
            )])?;
            left -= rows;
        }
        into_the_file(&table)?;
    }
    checkpointed(server, stop)
}

/// Waits until all that was done so far is behind the last checkpoint. A backup that finds in the redo log how a table was created has
/// another file of it (`.new`), and the next one has not.
fn checkpointed(server: &Server, stop: &AtomicBool) -> Result<(), OpsError> {
    let lsn = |name: &str| -> Result<u64, OpsError> {
        let sql = format!(
            "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME='{name}'"
        );
        let text = server.asked(&sql)?;
        text.parse().map_err(|error| OpsError::internal(format!("a server has no {name}: \"{text}\""), error))
    };
    let flushed = ["SET GLOBAL innodb_max_dirty_pages_pct_lwm=0", "SET GLOBAL innodb_max_dirty_pages_pct=0"];
    let usual = ["SET GLOBAL innodb_max_dirty_pages_pct=90"];
    let until = lsn("INNODB_LSN_CURRENT")?;
    server.run(&flushed)?;
    let deadline = Instant::now() + CHECKPOINT_MAX;
    while lsn("INNODB_LSN_LAST_CHECKPOINT")? < until {
        if stop.load(Ordering::Relaxed) {
            return Err(super::rig::ended());
        }
        if Instant::now() > deadline {
            return Err(OpsError::cannot_look(
                "a donor makes no checkpoint",
                format!("its pages were not written for {} s", CHECKPOINT_MAX.as_secs()),
                "try again when the disk has less load",
            ));
        }
        std::thread::sleep(POLL);
    }
    server.run(&usual)
}

/// One copy, by these programs.
pub struct DataCopy<'d> {
    donor: &'d Donor,
    transport: Transport,
    /// Where the sender connects to.
    to: u16,
    /// As it was seen when such a copy was watched.
    tls: Option<TlsShape>,
}

impl DataCopy<'_> {
    fn clear(&self) -> std::io::Result<()> {
        for name in [INTO, TARGET] {
            match fs::remove_dir_all(self.donor.path(name)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        match fs::remove_file(self.donor.path(CODE)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fs::create_dir(self.donor.path(INTO))?;
        sync(&self.donor.dir)
    }
}

/// All that the file system of a directory has not written yet.
fn sync(dir: &Path) -> std::io::Result<()> {
    let dir = fs::File::open(dir)?;
    nix::unistd::syncfs(&dir).map_err(Into::into)
}

impl Receiver for DataCopy<'_> {
    /// From the sender's start until all is on the disk.
    fn take(&self, stop: &AtomicBool) -> Result<Option<Taken>, OpsError> {
        let donor = self.donor;
        let mut programs = Programs::new(&donor.dir);
        let writer = Writer::start(&donor.server, &donor.schema)?;
        if !self.start_receiver(&mut programs, stop)? {
            return Ok(None);
        }
        writer.count_from_now();
        let began = Instant::now();
        self.start_sender(&mut programs)?;
        if !programs.wait(donor.patience(), stop)? {
            return Ok(None);
        }
        sync(&donor.dir).map_err(internal("cannot write the files of a copy to the disk"))?;
        let took = began.elapsed();
        let written = writer.end()?;
        programs.end_daemons()?;
        let bytes = listing::bytes(&donor.path(INTO)).map_err(internal("cannot read the files of a copy"))?;
        let seconds = took.as_secs_f64().max(1e-9);
        let is_of_running_donor = self.transport.tool.reads_running_server();
        Ok(Some(Taken {
            took,
            tls: self.tls.clone(),
            copy: Some(CopyRow {
                bytes,
                bytes_per_s: bytes as f64 / seconds,
                cpu_s_per_gb: None,
                is_of_running_donor,
                donor_rows_offered_per_s: f64::from(OFFERED_PER_S),
                donor_rows_alone_per_s: donor.alone_per_s,
                donor_rows_per_s: is_of_running_donor.then(|| written.rows as f64 / seconds),
                donor_row_ms_max: written
                    .longest
                    .filter(|_| is_of_running_donor)
                    .map(|longest| longest.as_secs_f64() * 1e3),
            }),
        }))
    }

    /// Of all programs at both ends: they have ended. The donor's server serves its client meanwhile, and is not among them.
    fn spent_us(&self) -> Option<u64> {
        Some(cpu::ended_children_us())
    }

    fn is_whole(&self) -> Result<(), OpsError> {
        let into =
            listing::of(&self.donor.path(INTO)).map_err(internal("cannot read the files of a copy"))?;
        let must_match =
            |path: &Path| !self.transport.tool.reads_running_server() || self.donor.is_steady(path);
        match listing::difference(&self.donor.from, &into, &must_match) {
            None => Ok(()),
            Some(what) => Err(OpsError::cannot_look(
                format!("a copy by {} is not whole", describe(self.transport)),
                what,
                "check these programs and the disk: what they copy cannot be relied on",
            )),
        }
    }
}
