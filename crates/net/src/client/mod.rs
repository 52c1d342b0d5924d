//! The MySQL client: dial, greeting, TLS, login, statements.

mod channel;
mod login;
mod modes;
mod session;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use wire::packet::{BEFORE_LOGIN_BYTES_MAX, HEADER_BYTES, PAYLOAD_BYTES_MAX};
use wire::prepared::{Cell, Parameter, PrepareOk};
use wire::{
    AuthAnswer, Capabilities, ColumnDef, ErrPacket, Greeting, OkPacket, PacketBuffer, TextEvent,
    TextResponse, TextRow, command,
};

use crate::auth::Channel;
use crate::dial::{Socket, Traffic};
use crate::error::{Doing, NetError, TlsFault};
use crate::options::{ConnectOptions, SessionModes};
use crate::probe::Outcome;
use crate::rows::Rows;
use crate::tls;
use crate::tls_info::{TlsInfo, Verified};

pub use session::Session;

use channel::{PacketChannel, Stream};
use login::{log_in, read_greeting, request, start_tls, wanted_capabilities};

/// One read of the socket takes up to this much; a TLS record fits once.
const READ_BYTES: usize = 32 * 1024;
/// And before the login is over, where packets are short: the room is cleared before each read.
const LOGIN_READ_BYTES: usize = 2 * 1024;
/// [`Client::query`] keeps no more than this in memory; [`Client::query_each`] has no limit.
const ROWS_BYTES_MAX: usize = 256 << 20;
/// Of `LOAD DATA LOCAL`; below the smallest max_allowed_packet that is met.
const ROWS_PACKET_BYTES: usize = 1_000_000;
/// Bit 4 of the extended capabilities: `MARIADB_CLIENT_CACHE_METADATA` (MariaDB, "Connection").
const MARIADB_CACHE_METADATA: u32 = 1 << 4;

/// How long the parts of a login took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConnectTimings {
    pub dial: Duration,
    pub greeting: Duration,
    /// Zero without TLS.
    pub tls: Duration,
    pub login: Duration,
}

/// A connection whose server has greeted.
fn greeted(
    options: &ConnectOptions,
    timings: &mut ConnectTimings,
) -> Result<(PacketChannel, Greeting), NetError> {
    let started = Instant::now();
    let deadline = started + options.connect_timeout;
    let endpoint: Arc<str> = options.endpoint.to_string().into();
    let dialling = Doing { endpoint: &endpoint, step: "connecting", after: options.connect_timeout };
    let mut socket = Socket::connect(&options.endpoint, deadline, options.given_up.clone())
        .map_err(|error| dialling.io(&error))?;
    if options.is_application {
        socket.disown();
    }
    timings.dial = started.elapsed();
    let mut channel = PacketChannel {
        stream: Stream::Plain(socket),
        incoming: PacketBuffer::new(BEFORE_LOGIN_BYTES_MAX),
        read_bytes: LOGIN_READ_BYTES,
        outgoing: Vec::new(),
        sequence: 0,
        endpoint: Arc::clone(&endpoint),
        timeout: options.connect_timeout,
    };

    let since = Instant::now();
    let greeting = read_greeting(&mut channel)?;
    timings.greeting = since.elapsed();
    Ok((channel, greeting))
}

/// A byte came back.
#[derive(Debug, Clone)]
pub struct Echoed {
    pub timings: ConnectTimings,
    pub tls: Option<TlsInfo>,
    pub traffic: Traffic,
}

/// What a statement did, where its rows are not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Done {
    pub affected_rows: u64,
    pub last_insert_id: u64,
    pub warnings: u16,
    pub rows: u64,
}

/// Options that are checked and their certificates loaded; makes many connections alike.
#[derive(Debug, Clone)]
pub struct Connector {
    options: ConnectOptions,
    context: Option<tls::Context>,
}

impl Connector {
    pub fn new(options: ConnectOptions) -> Result<Self, NetError> {
        let context = options.may_use_tls().then(|| tls::Context::new(&options.tls)).transpose()?;
        Ok(Self { options, context })
    }

    pub fn options(&self) -> &ConnectOptions {
        &self.options
    }

    pub fn connect(&self) -> Result<Client, NetError> {
        let own = self.own_context()?;
        Client::open(&self.options, own.as_ref().or(self.context.as_ref()))
    }

    /// For those whose every connection makes one.
    fn own_context(&self) -> Result<Option<tls::Context>, NetError> {
        let makes_one = self.options.tls.reads_system_cas && self.context.is_some();
        makes_one.then(|| tls::Context::new(&self.options.tls)).transpose()
    }

    /// Does the TLS handshake and hangs up: what the server showed, and what was agreed on. Nobody logs in.
    ///
    /// # Errors
    /// As [`Connector::handshake_only`].
    pub fn handshake(&self) -> Result<TlsInfo, NetError> {
        self.shake().map(|(_, info)| info)
    }

    /// Does the TLS handshake and says nothing more, for up to `wait`: a server that does not take our certificate says so then. Whoever
    /// logs in at once may be hung up on before that can be read.
    ///
    /// # Errors
    /// As [`Connector::connect`], up to the handshake; a server that offers no TLS is an error of TLS.
    pub fn handshake_only(&self, wait: Duration) -> Result<Outcome, NetError> {
        let (mut channel, _) = self.shake()?;
        channel.stream.socket_mut().set_deadline(Instant::now() + wait);
        Ok(Outcome::of_read(channel.stream.read(&mut [0; 64])))
    }

    fn shake(&self) -> Result<(PacketChannel, TlsInfo), NetError> {
        let options = &self.options;
        let (channel, greeting) = greeted(options, &mut ConnectTimings::default())?;
        let context =
            self.context.as_ref().filter(|_| greeting.offers_tls()).ok_or_else(|| NetError::Tls {
                endpoint: channel.endpoint.to_string(),
                fault: TlsFault::NotOffered,
                why: "the greeting of the server does not offer TLS".to_owned(),
            })?;
        let capabilities = wanted_capabilities(options, &greeting) | Capabilities::SSL;
        start_tls(channel, context, options, request(capabilities, 0))
    }

    /// Dials something that is no database, does TLS at once unless it is switched off, and has one byte given back: what the
    /// connection to a database would cost without the database. The greeting's time is that of the byte.
    ///
    /// # Errors
    /// As [`Connector::connect`]; `Misbehaved` for another byte.
    pub fn echo(&self) -> Result<Echoed, NetError> {
        const DOING: &str = "waiting for a byte to come back";
        const BYTE: u8 = 0x55;
        let options = &self.options;
        let started = Instant::now();
        let deadline = started + options.connect_timeout;
        let endpoint = options.endpoint.to_string();
        let about = Doing { endpoint: &endpoint, step: DOING, after: options.connect_timeout };
        let socket = Socket::connect(&options.endpoint, deadline, options.given_up.clone())
            .map_err(|error| about.io(&error))?;
        let mut timings = ConnectTimings { dial: started.elapsed(), ..ConnectTimings::default() };
        let since = Instant::now();
        let own = self.own_context()?;
        let (mut stream, info) = match own.as_ref().or(self.context.as_ref()) {
            None => (Stream::Plain(socket), None),
            Some(context) => {
                let name = options.endpoint.verified_name();
                let (stream, info) = tls::Session::begin(context, &options.tls, name, socket, &about)?;
                timings.tls = since.elapsed();
                (Stream::Tls(stream), Some(info))
            }
        };
        let since = Instant::now();
        stream.write_all(&[BYTE]).map_err(|error| about.io(&error))?;
        let mut back = [0; 16];
        let count = stream.read(&mut back).map_err(|error| about.io(&error))?;
        match back.get(..count) {
            Some([BYTE]) => {}
            Some([]) | None => return Err(about.closed()),
            Some(_) => return Err(about.misbehaved("it gave back something else")),
        }
        timings.greeting = since.elapsed();
        Ok(Echoed { timings, tls: info, traffic: stream.socket().traffic() })
    }
}

/// A session that is logged in. Dropping it closes the socket; [`Client::quit`] says goodbye first.
#[derive(Debug)]
pub struct Client {
    channel: PacketChannel,
    greeting: Greeting,
    tls: Option<TlsInfo>,
    capabilities: Capabilities,
    /// Answers say whether column definitions follow: [`Client::run`] cannot read them.
    caches_metadata: bool,
    timings: ConnectTimings,
    /// Set while an answer is being read; stays set when that fails, because the rest would be misread.
    broken: bool,
    scratch: Vec<u8>,
}

impl Client {
    /// Dials, does TLS as asked for, logs in, and gives the session its modes ([`SessionModes::Own`] unless the options say otherwise).
    pub fn connect(options: &ConnectOptions) -> Result<Self, NetError> {
        let context = options.may_use_tls().then(|| tls::Context::new(&options.tls)).transpose()?;
        Self::open(options, context.as_ref())
    }

    fn open(options: &ConnectOptions, context: Option<&tls::Context>) -> Result<Self, NetError> {
        let mut timings = ConnectTimings::default();
        let (channel, greeting) = greeted(options, &mut timings)?;

        let mut capabilities = wanted_capabilities(options, &greeting);
        let mariadb_capabilities =
            if options.cache_metadata { greeting.mariadb_capabilities & MARIADB_CACHE_METADATA } else { 0 };
        if mariadb_capabilities != 0 {
            // MariaDB reads the extended ones only where this one is not set.
            capabilities = capabilities.without(Capabilities::LONG_PASSWORD);
        }
        let since = Instant::now();
        let (mut channel, tls) = match context {
            Some(context) if greeting.offers_tls() => {
                capabilities = capabilities | Capabilities::SSL;
                let (channel, info) =
                    start_tls(channel, context, options, request(capabilities, mariadb_capabilities))?;
                timings.tls = since.elapsed();
                (channel, Some(info))
            }
            Some(_) if options.tls.mode.requires_tls() => {
                return Err(NetError::Tls {
                    endpoint: channel.endpoint.to_string(),
                    fault: TlsFault::NotOffered,
                    why: format!(
                        "ssl-mode is {}, and the greeting of the server ({}) does not offer TLS",
                        options.tls.mode,
                        greeting.version_text()
                    ),
                });
            }
            _ => (channel, None),
        };

        let since = Instant::now();
        let protection = match (&tls, &options.endpoint) {
            (_, endpoint) if endpoint.is_unix_socket() => Channel::UnixSocket,
            (None, _) => Channel::Clear,
            (Some(info), _) if info.verified > Verified::Nothing => Channel::TlsVerified,
            // As if everybody could read it: whoever answers may be anybody.
            (Some(_), _) if options.keeps_password => Channel::Clear,
            (Some(_), _) => Channel::TlsUnverified,
        };
        let head = request(capabilities, mariadb_capabilities);
        log_in(&mut channel, options, &greeting, head, protection)?;
        timings.login = since.elapsed();

        channel.incoming.set_payload_bytes_max(PAYLOAD_BYTES_MAX);
        channel.read_bytes = READ_BYTES;
        let caches_metadata = mariadb_capabilities != 0;
        let (broken, scratch) = (false, Vec::new());
        let mut client =
            Self { channel, greeting, tls, capabilities, caches_metadata, timings, broken, scratch };
        if options.modes == SessionModes::Own {
            // A server that keeps the login waiting here is as silent as one that does so before.
            modes::set(&mut client)?;
        }
        client.set_io_timeout(options.io_timeout)?;
        Ok(client)
    }

    fn unfit(&self, setting: &'static str, found: &str, wanted: &'static str) -> NetError {
        let endpoint = self.channel.endpoint.to_string();
        NetError::Modes { endpoint, setting, found: found.to_owned(), wanted }
    }

    /// Runs one statement and keeps its rows (of the first result set, where a procedure gives several).
    pub fn query(&mut self, sql: &str) -> Result<Rows, NetError> {
        let mut rows = Rows::default();
        let mut kept_bytes = 0;
        let mut result_set = 0;
        let done = self.run(sql, |event| {
            match event {
                Seen::Columns => result_set += 1,
                Seen::Column(name) if result_set == 1 => rows.columns.push(name.to_owned()),
                Seen::Row(row) if result_set == 1 => {
                    let mut cells = Vec::with_capacity(rows.columns.len());
                    for cell in row {
                        let cell = cell?;
                        kept_bytes += size_of::<Option<Vec<u8>>>() + cell.map_or(0, <[u8]>::len);
                        cells.push(cell.map(<[u8]>::to_vec));
                    }
                    if kept_bytes > ROWS_BYTES_MAX {
                        return Err(wire::WireError::OverLimit {
                            what: "the rows of a statement that keeps them",
                            announced: kept_bytes as u64,
                            max: ROWS_BYTES_MAX as u64,
                        });
                    }
                    rows.rows.push(cells);
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(Rows {
            affected_rows: done.affected_rows,
            last_insert_id: done.last_insert_id,
            warnings: done.warnings,
            ..rows
        })
    }

    /// Runs one statement, reads its rows to the end and drops them.
    pub fn execute(&mut self, sql: &str) -> Result<Done, NetError> {
        self.run(sql, |_| Ok(()))
    }

    /// Runs one statement and shows each row as it comes; nothing is copied.
    pub fn query_each(&mut self, sql: &str, mut each: impl FnMut(TextRow<'_>)) -> Result<Done, NetError> {
        self.run(sql, |event| {
            if let Seen::Row(row) = event {
                each(row);
            }
            Ok(())
        })
    }

    /// Runs a `LOAD DATA LOCAL INFILE`, whose file name means nothing. `next` fills the buffer, which it gets empty, with the next bytes
    /// of the rows; what it leaves empty is the end. Needs [`ConnectOptions::loads_local`].
    ///
    /// # Errors
    /// Also what `next` says. The connection is of no use then: closed, so that the server rolls the statement back.
    pub fn load(&mut self, sql: &str, next: &mut RowSource<'_>) -> Result<Done, NetError> {
        self.run_with(sql, |_| Ok(()), Some(next))
    }

    fn run(
        &mut self,
        sql: &str,
        see: impl FnMut(Seen<'_>) -> Result<(), wire::WireError>,
    ) -> Result<Done, NetError> {
        self.run_with(sql, see, None)
    }

    fn run_with(
        &mut self,
        sql: &str,
        mut see: impl FnMut(Seen<'_>) -> Result<(), wire::WireError>,
        mut rows: Option<&mut RowSource<'_>>,
    ) -> Result<Done, NetError> {
        const DOING: &str = "waiting for the answer to a statement";
        self.begin_command()?;
        command::query(&mut self.scratch, sql);
        self.channel.send(&self.scratch, "sending a statement")?;
        let mut response = TextResponse::new(self.capabilities);
        let mut done = Done::default();
        let mut infile_refused = false;
        let endpoint = Arc::clone(&self.channel.endpoint);
        let about = Doing { endpoint: &endpoint, step: DOING, after: self.channel.timeout };
        while !response.is_over() {
            let payload = self.channel.receive(DOING)?;
            let event = response.feed(payload).map_err(|error| about.wire(&error))?;
            let seen = match event {
                TextEvent::Done(ok) | TextEvent::RowsEnd(ok) => {
                    note(&mut done, &ok);
                    Ok(())
                }
                TextEvent::Failed(error) => {
                    // The answer is over and the session is as good as before, unless we were asked for a file.
                    self.broken = infile_refused;
                    return Err(if infile_refused { infile(&about) } else { about.refused(error) });
                }
                TextEvent::LocalInfile { .. } if infile_refused => return Err(infile(&about)),
                TextEvent::LocalInfile { .. } if rows.is_some() => {
                    // Once a statement.
                    if let Some(next) = rows.take() {
                        send_rows(&mut self.channel, next)?;
                    }
                    Ok(())
                }
                TextEvent::LocalInfile { .. } => {
                    infile_refused = true;
                    self.channel.send(&[], "refusing to send a file")?;
                    Ok(())
                }
                TextEvent::Columns(_) => see(Seen::Columns),
                TextEvent::Column(column) => see(Seen::Column(&column.name)),
                TextEvent::ColumnsEnd => Ok(()),
                TextEvent::Row(row) => {
                    done.rows += 1;
                    see(Seen::Row(row))
                }
            };
            seen.map_err(|error| about.wire(&error))?;
        }
        if infile_refused {
            return Err(infile(&about));
        }
        self.broken = false;
        Ok(done)
    }

    /// Runs one statement by the binary protocol, its parameters apart from its text; all are sent as strings. Rows are read to
    /// the end and dropped. The statement is closed again.
    pub fn execute_prepared(&mut self, sql: &str, parameters: &[&[u8]]) -> Result<Done, NetError> {
        const DOING: &str = "waiting for the answer to a prepared statement";
        let prepared = self.prepare(sql)?;
        if usize::from(prepared.parameters) != parameters.len() {
            return Err(NetError::Usage {
                why: format!(
                    "the statement has {} parameters, {} are given",
                    prepared.parameters,
                    parameters.len()
                ),
                next: "give one for each question mark",
            });
        }
        self.begin_command()?;
        let values: Vec<Parameter<'_>> = parameters.iter().map(|value| Parameter::Text(value)).collect();
        let mut packet = Vec::new();
        wire::prepared::append_execute(&mut packet, prepared.statement_id, &values, true)
            .map_err(|error| self.channel.doing(DOING).wire(&error))?;
        let payload = packet.get(HEADER_BYTES..).unwrap_or_default();
        self.channel.send(payload, "executing a prepared statement")?;
        let ends_definitions = !self.capabilities.contains(Capabilities::DEPRECATE_EOF);
        let mut done = Done::default();
        let first = self.channel.receive(DOING)?.to_vec();
        match first.first() {
            Some(0x00) => note(&mut done, &self.ok(&first, DOING)?),
            Some(0xff) | None => return Err(self.failed(&first, DOING)),
            Some(_) => {
                let (columns, used) =
                    wire::lenenc::read_int(&first).map_err(|error| self.channel.doing(DOING).wire(&error))?;
                // A server that knows that we know the columns says so, and leaves them out.
                let are_left_out = self.caches_metadata && first.get(used) == Some(&0);
                let columns = if are_left_out { 0 } else { columns };
                for _ in 0..columns.saturating_add(u64::from(ends_definitions)) {
                    self.channel.receive(DOING)?;
                }
                loop {
                    let payload = self.channel.receive(DOING)?;
                    match payload.first() {
                        Some(0xff) | None => {
                            let payload = payload.to_vec();
                            return Err(self.failed(&payload, DOING));
                        }
                        // A binary row begins with a zero.
                        Some(0xfe) => break,
                        Some(_) => done.rows += 1,
                    }
                }
            }
        }
        self.channel.sequence = 0;
        // Nothing answers it.
        wire::prepared::close(&mut self.scratch, prepared.statement_id);
        self.channel.send(&self.scratch, "closing a statement")?;
        self.broken = false;
        Ok(done)
    }

    fn ok(&self, payload: &[u8], doing: &'static str) -> Result<OkPacket, NetError> {
        OkPacket::parse(payload).map_err(|error| self.channel.doing(doing).wire(&error))
    }

    /// The error that a packet is, or that it is none. The answer is over: the session is as good as before.
    fn failed(&mut self, payload: &[u8], doing: &'static str) -> NetError {
        let about = self.channel.doing(doing);
        match wire::ErrPacket::parse(payload) {
            Ok(error) => {
                let refused = about.refused(error);
                self.broken = false;
                refused
            }
            Err(_) => {
                about.misbehaved("its answer to a prepared statement is neither of the kinds that there are")
            }
        }
    }

    fn begin_command(&mut self) -> Result<(), NetError> {
        if self.broken {
            return Err(NetError::Unreachable {
                endpoint: self.channel.endpoint.to_string(),
                why: "an earlier statement on this connection was aborted, so its responses can no longer be assigned"
                    .to_owned(),
                is_of_agent: false,
                is_refused: false,
            });
        }
        self.broken = true;
        self.channel.sequence = 0;
        Ok(())
    }

    /// Prepares a statement. Its id is of this session alone.
    pub fn prepare(&mut self, sql: &str) -> Result<Prepared, NetError> {
        const DOING: &str = "waiting for a statement to be prepared";
        self.begin_command()?;
        wire::prepared::prepare(&mut self.scratch, sql);
        self.channel.send(&self.scratch, "sending a statement to prepare")?;
        let endpoint = Arc::clone(&self.channel.endpoint);
        let about = Doing { endpoint: &endpoint, step: DOING, after: self.channel.timeout };
        let payload = self.channel.receive(DOING)?;
        if payload.first() == Some(&0xff) {
            let error = ErrPacket::parse(payload).map_err(|error| about.wire(&error))?;
            self.broken = false;
            return Err(about.refused(error));
        }
        let head = PrepareOk::parse(payload).map_err(|error| about.wire(&error))?;
        let has_ends = !self.capabilities.contains(Capabilities::DEPRECATE_EOF);
        for _parameter in 0..head.parameters {
            self.channel.receive(DOING)?;
        }
        if has_ends && head.parameters > 0 {
            self.channel.receive(DOING)?;
        }
        let mut cells = Vec::with_capacity(usize::from(head.columns));
        for _column in 0..head.columns {
            let column =
                ColumnDef::parse(self.channel.receive(DOING)?).map_err(|error| about.wire(&error))?;
            let cell = Cell::of(column.column_type);
            cells.push(cell.ok_or_else(|| about.misbehaved("a column has a type that does not exist"))?);
        }
        if has_ends && head.columns > 0 {
            self.channel.receive(DOING)?;
        }
        self.broken = false;
        Ok(Prepared { statement_id: head.statement_id, parameters: head.parameters, cells })
    }

    /// Hands the session over to an event loop: from here on its bytes are read and written without waiting.
    pub fn into_session(mut self) -> Result<Session, NetError> {
        self.begin_command()?;
        self.set_io_timeout(Duration::ZERO)?;
        if self.channel.incoming.unread_bytes() > 0 {
            let about = self.channel.doing("handing a session over");
            return Err(about.misbehaved("unsolicited bytes arrived"));
        }
        let set = self.channel.stream.socket().set_nonblocking();
        set.map_err(|error| self.channel.doing("handing a session over").io(&error))?;
        Ok(Session {
            stream: self.channel.stream,
            capabilities: self.capabilities,
            caches_metadata: self.caches_metadata,
        })
    }

    /// Asks whether the server is still there.
    pub fn ping(&mut self) -> Result<(), NetError> {
        self.ask(command::COM_PING, "waiting for the answer to a ping")
    }

    /// The session begins anew, with the global variables.
    fn reset(&mut self) -> Result<(), NetError> {
        self.ask(command::COM_RESET_CONNECTION, "waiting for a session to begin anew")
    }

    /// A command of one byte, which is answered by OK or an error.
    fn ask(&mut self, command: u8, doing: &'static str) -> Result<(), NetError> {
        self.begin_command()?;
        self.channel.send(&[command], "sending a command")?;
        let answer = AuthAnswer::parse(self.channel.receive(doing)?).map(|answer| match answer {
            AuthAnswer::Ok(_) => Ok(()),
            AuthAnswer::Err(error) => Err(Some(error)),
            _ => Err(None),
        });
        let about = self.channel.doing(doing);
        match answer.map_err(|error| about.wire(&error))? {
            Ok(()) => {
                self.broken = false;
                Ok(())
            }
            Err(Some(error)) => {
                let refused = about.refused(error);
                self.broken = false;
                Err(refused)
            }
            Err(None) => Err(about.misbehaved("its answer to a command is neither OK nor an error")),
        }
    }

    /// Says goodbye, so that the server counts no aborted client.
    pub fn quit(self) -> Result<(), NetError> {
        self.leave().map(|_| ())
    }

    /// The same; what has gone over the connection from its first byte to its last.
    pub fn leave(mut self) -> Result<Traffic, NetError> {
        self.channel.sequence = 0;
        self.channel.send(&[command::COM_QUIT], "saying goodbye")?;
        if let Stream::Tls(stream) = &mut self.channel.stream {
            // The server may be gone already: it does not wait for our close_notify.
            stream.shutdown();
        }
        Ok(self.traffic())
    }

    /// The longest silence that is put up with from now on; zero waits for ever.
    pub fn set_io_timeout(&mut self, timeout: Duration) -> Result<(), NetError> {
        self.channel.timeout = timeout;
        let set = self.channel.stream.socket_mut().set_io_timeout(timeout);
        set.map_err(|error| self.channel.doing("setting a timeout").io(&error))
    }

    /// `None` means cleartext.
    pub fn tls(&self) -> Option<&TlsInfo> {
        self.tls.as_ref()
    }

    pub fn greeting(&self) -> &Greeting {
        &self.greeting
    }

    /// The server's own version text, without MariaDB's `5.5.5-`.
    pub fn server_version(&self) -> &str {
        self.greeting.version_text()
    }

    /// The thread id of the greeting; `CONNECTION_ID()` tells more where it is over 32 bits.
    pub fn connection_id(&self) -> u64 {
        u64::from(self.greeting.connection_id)
    }

    pub fn timings(&self) -> ConnectTimings {
        self.timings
    }

    /// Since the connection was dialled.
    pub fn traffic(&self) -> Traffic {
        self.channel.stream.socket().traffic()
    }

    /// `None` over a unix socket.
    pub fn local_addr(&self) -> Option<SocketAddr> {
        self.channel.stream.socket().local_addr()
    }

    /// `None` over a unix socket.
    pub fn peer_addr(&self) -> Option<SocketAddr> {
        self.channel.stream.socket().peer_addr()
    }
}

/// A prepared statement of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    pub statement_id: u32,
    pub parameters: u16,
    /// Of its rows.
    pub cells: Vec<Cell>,
}

/// Fills an empty buffer with the next bytes of rows; says why it cannot.
pub type RowSource<'r> = dyn FnMut(&mut Vec<u8>) -> Result<(), String> + 'r;

enum Seen<'a> {
    Columns,
    Column(&'a str),
    Row(TextRow<'a>),
}

fn note(done: &mut Done, ok: &OkPacket) {
    done.affected_rows = ok.affected_rows;
    done.last_insert_id = ok.last_insert_id;
    done.warnings = ok.warnings;
}

/// Rows in packets, and an empty one behind them. Source: MySQL source documentation, LOCAL INFILE Request.
fn send_rows(channel: &mut PacketChannel, next: &mut RowSource<'_>) -> Result<(), NetError> {
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        next(&mut bytes)
            .map_err(|why| NetError::Usage { why, next: "see what has failed there, and load again" })?;
        if bytes.is_empty() {
            return channel.send(&[], "sending rows");
        }
        // Rows can be cut anywhere, and a server takes no packet that is larger than its max_allowed_packet.
        for part in bytes.chunks(ROWS_PACKET_BYTES) {
            channel.send(part, "sending rows")?;
        }
    }
}

fn infile(about: &Doing<'_>) -> NetError {
    about.misbehaved(
        "it requested a file of this machine (LOCAL INFILE), which sealion never offers; nothing was sent",
    )
}
