//! One MySQL connection as an eavesdropper reads it: packets of both ends in, what was given away out.
//!
//! It believes nobody: a packet that does not fit where the talk stands is stepped over, never an error, and what could not
//! be followed is counted. Nothing secret is kept: of a login only how it could be guessed, of a statement its shape.
//!
//! Sources: MySQL source documentation, "Client/Server Protocol"; MariaDB Knowledge Base, "Client/Server Protocol"; the
//! events of `COM_BINLOG_DUMP`: MySQL "Binlog Event", MariaDB "Replication Protocol".

use std::collections::BTreeMap;

use wire::greeting::FirstPacket;
use wire::{AuthAnswer, Capabilities, ErrPacket, HandshakeResponse, SslRequest, printable};

use super::frames::Packet;
use super::place::Place;
use super::sql::{self, Secret};

/// Different shapes of statements that are kept as samples.
const SAMPLES_MAX: usize = 3;
/// Statements that are read for samples: after so many, new shapes are rare.
const SAMPLED_MAX: u64 = 64;
const ERROR_CODES_MAX: usize = 8;
/// Users of one connection that are listed: a pool may log in thousands, one after another.
const USERS_MAX: usize = 32;
/// Names of users and databases are shorter; MariaDB allows 128 characters of a user.
const NAME_CHARS_MAX: usize = 128;
/// MySQL 8.0.18 and newer.
pub const CLIENT_ZSTD: Capabilities = Capabilities(1 << 26);
/// MySQL 8.0.23 and newer: parameters stand before a query's text.
const CLIENT_QUERY_ATTRIBUTES: Capabilities = Capabilities(1 << 27);
/// MariaDB 10.6 and newer, of the extended capabilities: column definitions may be left out.
const MARIADB_CACHE_METADATA: u32 = 1 << 4;
/// An EOF packet has exactly this length, an OK in its place is longer.
const EOF_BYTES: u64 = 5;

pub const COM_QUIT: u8 = 0x01;
const COM_INIT_DB: u8 = 0x02;
const COM_QUERY: u8 = 0x03;
const COM_FIELD_LIST: u8 = 0x04;
const COM_CHANGE_USER: u8 = 0x11;
const COM_BINLOG_DUMP: u8 = 0x12;
const COM_REGISTER_SLAVE: u8 = 0x15;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_EXECUTE: u8 = 0x17;
const COM_STMT_SEND_LONG_DATA: u8 = 0x18;
const COM_STMT_CLOSE: u8 = 0x19;
const COM_STMT_FETCH: u8 = 0x1c;
const COM_BINLOG_DUMP_GTID: u8 = 0x1e;
const COM_LAST: u8 = 0x20;
/// MariaDB: one prepared statement with many rows of parameters.
const COM_STMT_BULK_EXECUTE: u8 = 0xfa;

/// What a login gave away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    pub plugin: String,
    /// Bytes of the answer; the answer itself is forgotten.
    pub answer_bytes: usize,
}

/// What was read on one connection. Counters are of what passed in clear.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MysqlTraffic {
    pub server_version: Option<String>,
    pub flavour: Option<wire::Flavour>,
    pub offers_tls: bool,
    /// The login had begun before the first packet that we know.
    pub joined_in_the_middle: bool,
    /// The newest one.
    pub user: Option<String>,
    /// All of them, the first one first: `COM_CHANGE_USER` logs another one in on the same connection.
    pub users: Vec<String>,
    pub database: Option<String>,
    pub program: Option<String>,
    /// The client asked for TLS.
    pub asked_tls: bool,
    /// `zlib` or `zstd`.
    pub compressed: Option<&'static str>,
    pub logins: Vec<Login>,
    /// The password itself, not an answer computed from it.
    pub passwords_in_clear: u64,
    pub logged_in: bool,
    pub queries: u64,
    pub prepared: u64,
    pub executed: u64,
    /// Bytes of executions, in which parameters stand.
    pub parameter_bytes: u64,
    pub results: u64,
    pub rows: u64,
    pub row_bytes: u64,
    pub files_sent: u64,
    pub file_bytes: u64,
    pub binlog_dumps: u64,
    pub binlog_events: u64,
    pub row_events: u64,
    pub row_event_bytes: u64,
    pub statement_events: u64,
    pub errors: u64,
    /// Codes only: their texts quote values.
    pub error_codes: BTreeMap<u16, u64>,
    pub secrets: BTreeMap<Secret, u64>,
    pub samples: Vec<String>,
    /// Gaps after which the talk had to be found again.
    pub lost: u64,
}

/// What the next packet of the server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Answer {
    #[default]
    None,
    Head,
    Columns {
        left: u64,
    },
    /// Rows, or an EOF first where a server still ends columns with one.
    ColumnsEnd,
    Rows,
    /// Packets that say nothing more about secrets.
    Rest,
    /// Joined in the middle, or bytes are missing: whatever it is, it is not read.
    Unknown,
    Binlog,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Phase {
    #[default]
    Greeting,
    Login,
    /// Turns of plugin and client.
    Auth,
    Command,
    /// The client sends the file that was asked for.
    File,
    /// After an SSLRequest: nothing can be read.
    Tls,
}

/// Follows one connection.
#[derive(Debug, Default)]
pub struct MySql {
    phase: Phase,
    answer: Answer,
    capabilities: Capabilities,
    skips_metadata: bool,
    plugin: String,
    /// The server wants the password itself or wants it encrypted with its key (`caching_sha2_password`, `0x04`).
    full_auth: bool,
    is_semi_sync: bool,
    sampled: u64,
    commands: u64,
    /// What the last packet was.
    pub place: Place,
    /// Bytes of packets that passed, and of which nobody knows what they are.
    pub unfollowed_bytes: u64,
    pub seen: MysqlTraffic,
}

/// What the bytes after this packet are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    Packets,
    /// Compressed in both directions.
    Compressed,
    /// TLS in both directions.
    Tls,
}

fn name(bytes: &[u8]) -> Option<String> {
    let text = printable(&String::from_utf8_lossy(bytes));
    (!text.is_empty()).then(|| text.chars().take(NAME_CHARS_MAX).collect())
}

fn until_nul(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    (bytes.get(..end).unwrap_or_default(), bytes.get(end + 1..).unwrap_or_default())
}

/// Which plugin an answer is of, where nobody names it.
fn plugin_by_length(bytes: usize) -> &'static str {
    match bytes {
        9 => "mysql_old_password",
        20 => "mysql_native_password",
        32 => "caching_sha2_password",
        64 => "client_ed25519",
        _ => "unknown",
    }
}

impl MySql {
    /// A connection whose login was not seen.
    pub fn in_the_middle() -> Self {
        let seen = MysqlTraffic { joined_in_the_middle: true, ..MysqlTraffic::default() };
        Self { phase: Phase::Command, answer: Answer::Unknown, seen, ..Self::default() }
    }

    /// It speaks MySQL in clear, beyond a greeting and beyond doubt: no TLS can follow. One command is no proof, where the
    /// login was not seen: chance makes one of some 30,000 segments that are encrypted.
    pub fn is_surely_clear(&self) -> bool {
        self.seen.logged_in || self.seen.user.is_some() || self.commands > 1
    }

    /// Nobody knows where packets begin, or whether these are packets.
    pub fn is_out_of_step(&self) -> bool {
        self.seen.joined_in_the_middle || self.seen.lost > 0
    }

    /// Not known yet is whether the client asked for compression, or when it begins.
    pub fn may_begin_compression(&self) -> bool {
        self.phase == Phase::Command && !self.seen.logged_in
    }

    /// The next packets are compressed: what they look like says it.
    pub fn begin_compression(&mut self, how: &'static str) {
        self.seen.compressed = Some(how);
        self.answer = Answer::Unknown;
    }

    /// Is the client in the midst of its login, as far as was seen?
    pub fn is_in_login(&self) -> bool {
        self.phase == Phase::Auth
    }

    /// The client has sent a command: the server let it in, though its answer is not in the capture.
    pub fn login_is_over(&mut self) -> Next {
        self.phase = Phase::Command;
        self.answer = Answer::Unknown;
        self.first_login()
    }

    /// It is TLS, whatever was asked for.
    pub fn tls_began(&mut self) {
        self.phase = Phase::Tls;
    }

    /// Nothing that follows is read as packets.
    pub fn has_begun_tls(&self) -> bool {
        self.phase == Phase::Tls
    }

    /// After an SSLRequest came no TLS: the login goes on in clear.
    pub fn tls_did_not_begin(&mut self) {
        self.phase = Phase::Login;
    }

    /// Bytes of one end are missing: what it answers now is not known until the next command.
    pub fn gap(&mut self) {
        self.seen.lost += 1;
        if matches!(self.phase, Phase::Command | Phase::File) {
            self.phase = Phase::Command;
            if self.answer != Answer::Binlog {
                self.answer = Answer::Unknown;
            }
        } else if self.phase != Phase::Tls {
            // The capabilities may have been in the gap. Commands look alike with all of them.
            self.phase = Phase::Command;
            self.answer = Answer::Unknown;
        }
    }

    pub fn from_server(&mut self, packet: Packet<'_>) -> Next {
        self.place = Place::Other;
        match self.phase {
            Phase::Greeting => {
                self.greeting(packet);
                Next::Packets
            }
            // Two directions may be recorded each on its own: the client's answer came before the greeting.
            Phase::Auth if packet.sequence == 0 && self.seen.server_version.is_none() => {
                let plugin = std::mem::take(&mut self.plugin);
                self.greeting(packet);
                self.phase = Phase::Auth;
                if !plugin.is_empty() {
                    self.plugin = plugin;
                }
                Next::Packets
            }
            Phase::Login | Phase::Auth => self.auth_answer(packet),
            Phase::Command => {
                self.result(packet);
                Next::Packets
            }
            Phase::File => {
                // It answers before the file is over: an error.
                self.phase = Phase::Command;
                self.answer = Answer::Head;
                self.result(packet);
                Next::Packets
            }
            Phase::Tls => Next::Tls,
        }
    }

    pub fn from_client(&mut self, packet: Packet<'_>) -> Next {
        self.place = match self.phase {
            Phase::Greeting | Phase::Login | Phase::Auth => Place::Login,
            Phase::Command => Place::Command,
            Phase::File => Place::FileContents,
            Phase::Tls => Place::Other,
        };
        match self.phase {
            Phase::Greeting | Phase::Login => self.login(packet),
            // It gives up: no answer to the server's question.
            Phase::Auth if packet.sequence == 0 && packet.head == [COM_QUIT] => Next::Packets,
            Phase::Auth => {
                self.auth_client(packet.head);
                Next::Packets
            }
            Phase::Command => {
                self.command(packet);
                Next::Packets
            }
            Phase::File => {
                self.seen.file_bytes += packet.bytes;
                if packet.bytes == 0 {
                    self.phase = Phase::Command;
                    self.answer = Answer::Head;
                }
                Next::Packets
            }
            Phase::Tls => Next::Tls,
        }
    }

    /// Only names are taken from it: the client's answer was seen before.
    pub fn late_greeting(&mut self, payload: &[u8]) {
        let phase = self.phase;
        self.greeting(Packet { sequence: 0, head: payload, bytes: payload.len() as u64 });
        self.phase = phase;
    }

    fn greeting(&mut self, packet: Packet<'_>) {
        match wire::greeting::parse(packet.head) {
            Ok(FirstPacket::Greeting(greeting)) => {
                self.seen.flavour = Some(greeting.flavour().flavour);
                self.seen.server_version = name(greeting.version_text().as_bytes());
                self.seen.offers_tls = greeting.offers_tls();
                self.plugin = greeting.auth_plugin.unwrap_or_default();
                self.phase = Phase::Login;
            }
            Ok(FirstPacket::Refused(error)) => self.error(error.code),
            Err(_) => {}
        }
    }

    fn error(&mut self, code: u16) {
        self.seen.errors += 1;
        let codes = &mut self.seen.error_codes;
        if codes.len() < ERROR_CODES_MAX || codes.contains_key(&code) {
            *codes.entry(code).or_default() += 1;
        }
    }

    fn error_packet(&mut self, packet: Packet<'_>) {
        self.place = Place::Error;
        self.error(ErrPacket::parse(packet.head).map_or(0, |error| error.code));
    }

    fn login(&mut self, packet: Packet<'_>) -> Next {
        if packet.is_whole() && SslRequest::parse(packet.head).is_ok() {
            self.seen.asked_tls = true;
            self.phase = Phase::Tls;
            return Next::Tls;
        }
        self.phase = Phase::Auth;
        let Ok(login) = HandshakeResponse::parse(packet.head) else {
            self.seen.lost += 1;
            return Next::Packets;
        };
        self.capabilities = login.head.capabilities;
        self.skips_metadata = !self.capabilities.contains(Capabilities::LONG_PASSWORD)
            && login.head.mariadb_capabilities & MARIADB_CACHE_METADATA != 0;
        self.user(login.user);
        self.seen.database = login.database.and_then(name);
        self.seen.program = ["program_name", "_client_name"].iter().find_map(|key| {
            login
                .attributes
                .iter()
                .find(|(name, _)| name == key)
                .and_then(|(_, value)| name(value.as_bytes()))
        });
        if let Some(plugin) = login.auth_plugin {
            self.plugin = printable(plugin);
        }
        self.answered(login.auth_response);
        Next::Packets
    }

    fn user(&mut self, bytes: &[u8]) {
        self.seen.user = name(bytes);
        if let Some(user) = &self.seen.user
            && self.seen.users.len() < USERS_MAX
            && !self.seen.users.contains(user)
        {
            self.seen.users.push(user.clone());
        }
    }

    /// An answer of the client to a nonce, or the password.
    fn answered(&mut self, answer: &[u8]) {
        if answer.is_empty() || answer == [0] {
            return;
        }
        if matches!(self.plugin.as_str(), "mysql_clear_password" | "dialog") {
            self.seen.passwords_in_clear += 1;
            return;
        }
        // The name may be of the client's default plugin, while the answer is of the server's.
        let by_length = plugin_by_length(answer.len());
        let plugin = if self.plugin.is_empty() { by_length } else { self.plugin.as_str() };
        // sha256_password sends one byte to ask for the key, then the password encrypted with it: nothing to guess.
        if plugin == "sha256_password" {
            return;
        }
        if self.seen.logins.len() < SAMPLES_MAX {
            self.seen.logins.push(Login { plugin: plugin.to_owned(), answer_bytes: answer.len() });
        }
    }

    fn auth_client(&mut self, bytes: &[u8]) {
        if std::mem::take(&mut self.full_auth) {
            // 0x02 asks for the key, 256 bytes and more are encrypted with it; anything else is the password.
            match bytes {
                [0x02] => self.full_auth = true,
                [password @ .., 0] if !password.is_empty() && password.len() < 255 => {
                    self.seen.passwords_in_clear += 1;
                }
                _ => {}
            }
            return;
        }
        let answer = bytes;
        self.answered(answer);
    }

    fn auth_answer(&mut self, packet: Packet<'_>) -> Next {
        match AuthAnswer::parse(packet.head) {
            Ok(AuthAnswer::Ok(_)) => {
                self.phase = Phase::Command;
                self.answer = Answer::None;
                return self.first_login();
            }
            Ok(AuthAnswer::Err(error)) => self.error(error.code),
            Ok(AuthAnswer::Switch(switch)) => self.plugin = switch.plugin,
            Ok(AuthAnswer::SwitchToOldPassword) => "mysql_old_password".clone_into(&mut self.plugin),
            Ok(AuthAnswer::More([0x04])) => self.full_auth = true,
            // The server's key: what follows is encrypted with it.
            Ok(AuthAnswer::More(_)) | Err(_) => {}
        }
        Next::Packets
    }

    /// Compression begins behind the first login, if the client asked for it.
    fn first_login(&mut self) -> Next {
        let first = !std::mem::replace(&mut self.seen.logged_in, true);
        if first && self.capabilities.contains(Capabilities::COMPRESS) {
            self.seen.compressed = Some("zlib");
            return Next::Compressed;
        }
        if first && self.capabilities.contains(CLIENT_ZSTD) {
            self.seen.compressed = Some("zstd");
            return Next::Compressed;
        }
        Next::Packets
    }

    fn command(&mut self, packet: Packet<'_>) {
        let Some((command, body)) = packet.head.split_first() else { return };
        if packet.sequence != 0 {
            self.unfollowed_bytes += packet.bytes;
            return;
        }
        self.commands += u64::from(is_command(*command));
        self.answer = Answer::Rest;
        match *command {
            COM_QUERY => {
                self.place = Place::Statement;
                self.seen.queries += 1;
                self.answer = Answer::Head;
                self.statement(self.query_text(body));
            }
            COM_STMT_PREPARE => {
                self.place = Place::PreparedStatement;
                self.seen.prepared += 1;
                self.statement(body);
            }
            COM_STMT_EXECUTE | COM_STMT_BULK_EXECUTE => {
                self.place = Place::Parameter;
                self.seen.executed += 1;
                self.seen.parameter_bytes += packet.bytes;
                self.answer = Answer::Head;
            }
            COM_STMT_SEND_LONG_DATA => {
                self.place = Place::Parameter;
                self.seen.parameter_bytes += packet.bytes;
            }
            COM_STMT_FETCH => self.answer = Answer::Rows,
            COM_INIT_DB => self.seen.database = name(body),
            COM_BINLOG_DUMP | COM_BINLOG_DUMP_GTID => {
                self.seen.binlog_dumps += 1;
                self.answer = Answer::Binlog;
            }
            COM_REGISTER_SLAVE => {
                // server id, then host, user and password, each behind a length of one byte.
                let mut rest = body.get(4..).unwrap_or_default();
                for field in 0..3 {
                    let Some((length, after)) = rest.split_first() else { break };
                    let Some((text, after)) = after.split_at_checked(usize::from(*length)) else { break };
                    if field == 2 && !text.is_empty() {
                        self.secret(Secret::ReplicationPassword);
                    }
                    rest = after;
                }
            }
            COM_CHANGE_USER => {
                let (user, rest) = until_nul(body);
                self.user(user);
                let (length, rest) = rest.split_first().unwrap_or((&0, &[]));
                let (answer, rest) = rest.split_at_checked(usize::from(*length)).unwrap_or_default();
                let (database, rest) = until_nul(rest);
                self.seen.database = name(database);
                self.plugin = name(until_nul(rest.get(2..).unwrap_or_default()).0).unwrap_or_default();
                self.answered(answer);
                self.phase = Phase::Auth;
            }
            COM_QUIT | COM_STMT_CLOSE => self.answer = Answer::None,
            COM_FIELD_LIST | 0..=COM_LAST => {}
            _ => self.seen.lost += 1,
        }
    }

    /// The statement of a query, behind its attributes.
    fn query_text<'a>(&self, body: &'a [u8]) -> &'a [u8] {
        if !self.capabilities.contains(CLIENT_QUERY_ATTRIBUTES) {
            return body;
        }
        match body {
            [0, 1, sql @ ..] => sql,
            // With attributes, text begins somewhere behind them: secrets are still found, and no sample is right.
            _ => body,
        }
    }

    fn secret(&mut self, secret: Secret) {
        *self.seen.secrets.entry(secret).or_default() += 1;
    }

    fn statement(&mut self, sql: &[u8]) {
        let wants_sample = self.seen.samples.len() < SAMPLES_MAX && self.sampled < SAMPLED_MAX;
        if !wants_sample && !sql::may_carry_secret(sql) && self.seen.binlog_dumps + self.seen.queries > 16 {
            return;
        }
        self.sampled += 1;
        // A replica that wants to confirm says so in a user variable, and then each event has two bytes in front.
        self.is_semi_sync |= contains(sql, b"rpl_semi_sync_");
        let statement = sql::read(sql);
        for secret in &statement.secrets {
            self.secret(*secret);
        }
        let is_behind_attributes = self.capabilities.contains(CLIENT_QUERY_ATTRIBUTES)
            && !sql.first().is_some_and(u8::is_ascii_graphic);
        if wants_sample
            && !is_behind_attributes
            && !statement.shape.is_empty()
            && !self.seen.samples.contains(&statement.shape)
        {
            self.seen.samples.push(statement.shape);
        }
    }

    fn result(&mut self, packet: Packet<'_>) {
        let first = packet.head.first().copied();
        match self.answer {
            // Joined in the middle, an error is still one; a row cannot begin so.
            Answer::Rest | Answer::Unknown if first == Some(0xff) && packet.sequence == 1 => {
                self.error_packet(packet);
            }
            Answer::Rest => {}
            // Unasked a server says why it ends the connection, no more. Other packets are answers to what was not seen.
            Answer::None if first == Some(0xff) => {}
            Answer::None | Answer::Unknown => self.unfollowed_bytes += packet.bytes,
            Answer::Head => match first {
                Some(0x00) => self.after_ok(packet, 0x00),
                Some(0xff) => {
                    self.error_packet(packet);
                    self.answer = Answer::None;
                }
                Some(0xfb) => {
                    self.seen.files_sent += 1;
                    self.phase = Phase::File;
                }
                _ => match wire::lenenc::read_int(packet.head) {
                    Ok((left, used)) => {
                        self.seen.results += 1;
                        let definitions_follow = packet.head.get(used).copied();
                        self.answer = if self.skips_metadata && definitions_follow == Some(0) {
                            Answer::ColumnsEnd
                        } else {
                            Answer::Columns { left }
                        };
                    }
                    Err(_) => self.answer = Answer::Rest,
                },
            },
            Answer::Columns { left } => {
                self.place = Place::ResultHead;
                self.answer = match left.saturating_sub(1) {
                    0 => Answer::ColumnsEnd,
                    left => Answer::Columns { left },
                };
            }
            Answer::ColumnsEnd => {
                self.answer = Answer::Rows;
                if first != Some(0xfe) || packet.bytes != EOF_BYTES {
                    self.result(packet);
                }
            }
            Answer::Rows => match first {
                Some(0xff) => {
                    self.error_packet(packet);
                    self.answer = Answer::None;
                }
                Some(0xfe) if packet.bytes < wire::packet::FRAME_BYTES_MAX as u64 => {
                    self.after_ok(packet, 0xfe);
                }
                _ => {
                    self.place = Place::ResultRow;
                    self.seen.rows += 1;
                    self.seen.row_bytes += packet.bytes;
                }
            },
            Answer::Binlog => self.binlog(packet),
        }
    }

    fn after_ok(&mut self, packet: Packet<'_>, marker: u8) {
        let ok = if marker == 0xfe && packet.bytes == EOF_BYTES {
            wire::OkPacket::parse_eof(packet.head)
        } else {
            wire::OkPacket::parse(packet.head)
        };
        self.answer = if ok.is_ok_and(|ok| ok.has_more_results()) { Answer::Head } else { Answer::None };
    }

    fn binlog(&mut self, packet: Packet<'_>) {
        self.place = Place::BinlogOther;
        let event = match packet.head {
            [0x00, 0xef, 0 | 1, event @ ..] if self.is_semi_sync => event,
            [0x00, event @ ..] => event,
            [0xff, ..] => {
                self.error_packet(packet);
                self.answer = Answer::None;
                return;
            }
            _ => return,
        };
        // Source: MySQL "Binlog Event Header": time, type, server id, length, position, flags.
        let Some((header, body)) = event.split_first_chunk::<19>() else { return };
        self.seen.binlog_events += 1;
        match header.get(4).copied().unwrap_or_default() {
            // WRITE, UPDATE and DELETE of versions 1 and 2, of one column's part (39), and compressed (MariaDB).
            23..=25 | 30..=32 | 39 | 166..=171 => {
                self.place = Place::BinlogRows;
                self.seen.row_events += 1;
                self.seen.row_event_bytes += packet.bytes;
            }
            2 => {
                self.place = Place::BinlogStatement;
                self.seen.statement_events += 1;
                // thread, seconds, length of the database, error, length of the status variables.
                let Some(fixed) = body.first_chunk::<13>() else { return };
                let status_bytes = usize::from(u16::from_le_bytes([fixed[11], fixed[12]]));
                let database_bytes = usize::from(fixed[8]);
                let sql = body.get(13 + status_bytes + database_bytes + 1..).unwrap_or_default();
                if sql::may_carry_secret(sql) {
                    for secret in sql::read(sql).secrets {
                        self.secret(secret);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Does a packet of a client begin so?
pub fn is_command(command: u8) -> bool {
    (COM_QUIT..=COM_LAST).contains(&command) || command == COM_STMT_BULK_EXECUTE
}

/// Commands that may be longer than a segment.
pub fn may_be_long(command: u8) -> bool {
    matches!(
        command,
        COM_QUERY | COM_STMT_PREPARE | COM_STMT_EXECUTE | COM_STMT_SEND_LONG_DATA | COM_STMT_BULK_EXECUTE
    )
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(haystack, needle).is_some()
}

#[cfg(test)]
#[path = "mysql_tests.rs"]
mod tests;
