//! The MySQL bytes of one connection to the rogue, sans-I/O: whoever holds the socket hands in what was read, sends what
//! [`Talk::output`] gives, and puts TLS in between when [`Talk::wants_tls`] says so.
//!
//! What the client gives away is compared with what the caller knows, and then forgotten: [`TalkRecord`] has no place for it.

use net::auth::{scramble_caching_sha2, scramble_native};
use openssl::pkey::Private;
use openssl::rsa::{Padding, Rsa};
use secrecy::{ExposeSecret, SecretString};
use wire::answer::encode_auth_switch;
use wire::greeting;
use wire::login::{CHARSET_UTF8MB4, HandshakeResponse, SslRequest};
use wire::packet::{PacketBuffer, write_payload};
use wire::{Capabilities, ColumnDef, ErrPacket, Greeting, OkPacket};
use zeroize::Zeroizing;

use crate::attack::{Attack, BeforeTls, Login, Noise};
use crate::query_answer::{QueryAnswer, asked};
use crate::trace::{self, Trace};

/// A client may send a file here: the canary is small, and what is no canary is not read on.
const PAYLOAD_BYTES_MAX: usize = 1 << 20;
/// After so many commands a client is in nobody's interest any more.
const COMMANDS_MAX: u32 = 10_000;
const NATIVE: &str = "mysql_native_password";
const CACHING_SHA2: &str = "caching_sha2_password";
/// `MYSQL_TYPE_VAR_STRING`.
const TYPE_VAR_STRING: u8 = 0xfd;

/// The column of the landing page.
const PAGE_COLUMN: &str = "sealion";

/// How a row is written: for a query, or for a prepared statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    Binary,
}

/// What carried something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Channel {
    Clear,
    Tls,
}

/// What the caller knows of the client: only to compare with.
pub struct ClientSecrets<'a> {
    pub password: &'a SecretString,
    /// The contents of the file that is asked for; sealion made it.
    pub canary: &'a [u8],
    /// Its path on the client's machine.
    pub canary_path: &'a str,
    pub key: &'a Rsa<Private>,
    pub key_pem: &'a [u8],
}

/// Something was given away: over what, and whether it is what the caller knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disclosure {
    pub over: Channel,
    pub is_right: bool,
}

/// What one connection showed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TalkRecord {
    /// The client asked for TLS.
    pub asked_for_tls: bool,
    pub finished_tls: bool,
    /// Why the handshake ended, where it did not finish.
    pub tls_failure: Option<String>,
    /// The name of SNI.
    pub server_name: Option<String>,
    /// A login with user name and an answer to the nonce, over what.
    pub login: Option<Channel>,
    /// The answer fits the password, so it is fit for guessing offline. `None`: there was none, or of a kind that is not checked.
    pub login_fits: Option<bool>,
    /// What the client says about itself: `_client_name` and version.
    pub client: Option<String>,
    pub password: Option<Disclosure>,
    pub file: Option<Disclosure>,
    /// A command arrived, so the client takes us for its server.
    pub command: Option<Channel>,
    pub commands: u32,
    /// It wants the binary log.
    pub asked_for_binlog: bool,
    /// Bytes that cannot be read as this protocol.
    pub broken: Option<String>,
    /// The same packet by packet, for people.
    pub trace: Trace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// For a login, or the wish for TLS.
    Login,
    /// For the transport to be made.
    Tls,
    /// For the answer to a switch of plugin.
    Switched,
    /// For a public key to be asked for, or the password.
    Sha2,
    Commands,
    File,
    Ended,
}

/// One connection.
pub struct Talk<'a> {
    attack: &'a Attack,
    known: &'a ClientSecrets<'a>,
    nonce: [u8; 20],
    packets: PacketBuffer,
    state: State,
    over: Channel,
    sequence: u8,
    deprecates_eof: bool,
    /// The login was not answered, and will not be.
    is_mute: bool,
    /// Of each statement that was prepared, whether its answer has rows; its id is the place, from 1.
    prepared: Vec<bool>,
    file: Zeroizing<Vec<u8>>,
    output: Vec<u8>,
    seen: TalkRecord,
}

impl<'a> Talk<'a> {
    pub fn new(attack: &'a Attack, known: &'a ClientSecrets<'a>, nonce: [u8; 20]) -> Self {
        let mut this = Self {
            attack,
            known,
            // A zero would end the nonce for clients that read it as text.
            nonce: nonce.map(|byte| byte.max(1) & 0x7f | 1),
            packets: PacketBuffer::new(PAYLOAD_BYTES_MAX),
            state: State::Login,
            over: Channel::Clear,
            sequence: 0,
            deprecates_eof: false,
            is_mute: false,
            prepared: Vec::new(),
            file: Zeroizing::default(),
            output: Vec::new(),
            seen: TalkRecord::default(),
        };
        this.greet();
        this
    }

    fn greet(&mut self) {
        if self.attack.noise == Noise::MaliciousError {
            self.seen.trace.note("rogue, cleartext: error 1040 instead of a greeting".into());
            let message =
                "\u{1b}]0;owned\u{7}\u{1b}[2J<script>alert(1)</script>\r\n'; DROP TABLE t; --".into();
            return self.refuse(1040, "08004", message);
        }
        let greeting = self.greeting();
        self.seen.trace.greeting(greeting.capabilities);
        let payload = greeting::encode(&greeting);
        match self.attack.noise {
            Noise::Truncated => {
                self.send(&payload);
                self.output.truncate(payload.len() / 2);
                self.state = State::Ended;
                return;
            }
            Noise::Oversized => {
                self.output.extend_from_slice(&[0xff, 0xff, 0xff, 0]);
                self.output.extend_from_slice(&payload);
                return;
            }
            Noise::None | Noise::MaliciousError => self.send(&payload),
        }
        if self.attack.before_tls == BeforeTls::Ok {
            self.seen
                .trace
                .note("rogue, cleartext: OK 0x00 after the greeting, with sequence number 3".into());
            // The number that the answer to a login over TLS has: greeting 0, request 1, login 2.
            self.sequence = 3;
            self.ok();
        }
    }

    fn greeting(&self) -> Greeting {
        let look = self.attack.greeting;
        let mut capabilities = Capabilities::FOUND_ROWS
            | Capabilities::LONG_FLAG
            | Capabilities::CONNECT_WITH_DB
            | Capabilities::LOCAL_FILES
            | Capabilities::PROTOCOL_41
            | Capabilities::TRANSACTIONS
            | Capabilities::SECURE_CONNECTION
            | Capabilities::MULTI_RESULTS
            | Capabilities::PLUGIN_AUTH
            | Capabilities::CONNECT_ATTRS
            | Capabilities::PLUGIN_AUTH_LENENC_DATA
            | Capabilities::DEPRECATE_EOF;
        if !look.is_mariadb {
            capabilities = capabilities | Capabilities::LONG_PASSWORD;
        }
        if self.attack.tls.is_some() || self.attack.before_tls == BeforeTls::Error {
            capabilities = capabilities | Capabilities::SSL;
        }
        Greeting {
            protocol: 10,
            version: look.version.into(),
            connection_id: 7,
            nonce: self.nonce.to_vec(),
            capabilities,
            mariadb_capabilities: 0,
            charset: CHARSET_UTF8MB4,
            status: 2,
            auth_plugin: Some(look.plugin.into()),
        }
    }

    pub fn output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output)
    }

    /// Waits for what the client does where nobody answers it: that shows soon, or never.
    pub fn is_mute(&self) -> bool {
        self.is_mute
    }

    pub fn is_over(&self) -> bool {
        self.state == State::Ended
    }

    /// The client has asked for TLS: from the next byte on it speaks that. Gives the bytes of it that came already.
    pub fn wants_tls(&mut self) -> Option<Vec<u8>> {
        if self.state != State::Tls {
            return None;
        }
        Some(self.packets.take_unread())
    }

    /// Whether the next byte of the client is TLS.
    pub fn wants_tls_now(&self) -> bool {
        self.state == State::Tls
    }

    /// `version` is what was agreed on, for people.
    pub fn tls_finished(&mut self, version: &str, server_name: Option<String>) {
        self.seen.trace.tls_finished(version, server_name.as_deref());
        self.seen.finished_tls = true;
        self.seen.server_name = server_name;
        self.over = Channel::Tls;
        self.state = State::Login;
    }

    pub fn tls_failed(&mut self, why: String, server_name: Option<String>) {
        self.seen.trace.tls_failed(&why);
        self.seen.tls_failure = Some(why);
        self.seen.server_name = server_name;
        self.state = State::Ended;
    }

    /// The client is not there any more: it has closed, or says nothing.
    pub fn gone(&mut self, is_silent: bool) {
        let what = if is_silent { "sends nothing more" } else { "closes" };
        self.seen.trace.note(format!("client: {what}"));
    }

    pub fn into_seen(self) -> TalkRecord {
        self.seen
    }

    pub fn input(&mut self, bytes: &[u8]) {
        self.packets.push(bytes);
        while !matches!(self.state, State::Ended | State::Tls) {
            let payload = match self.packets.next_packet() {
                Ok(Some(packet)) => {
                    self.sequence = packet.last_sequence.wrapping_add(1);
                    Zeroizing::new(packet.payload.to_vec())
                }
                Ok(None) => return,
                Err(error) => {
                    self.seen.broken = Some(error.to_string());
                    self.state = State::Ended;
                    return;
                }
            };
            self.packet(&payload);
        }
    }

    fn packet(&mut self, payload: &[u8]) {
        match self.state {
            State::Login => self.login(payload),
            State::Switched => self.switched(payload),
            State::Sha2 => self.sha2(payload),
            State::Commands => self.command(payload),
            State::File => self.file(payload),
            State::Tls | State::Ended => {}
        }
    }

    fn login(&mut self, payload: &[u8]) {
        if self.over == Channel::Clear
            && let Ok(request) = SslRequest::parse(payload)
        {
            self.seen.asked_for_tls = true;
            self.seen.trace.wish(&request, payload.len());
            if self.attack.before_tls == BeforeTls::Error {
                self.seen.trace.note("rogue, cleartext: error 1043 as the answer".into());
                return self.refuse(1043, "08S01", "Bad handshake".into());
            }
            // A client that asks although nothing was offered gets what a server without TLS does: nothing.
            self.state = if self.attack.tls.is_some() { State::Tls } else { State::Ended };
            return;
        }
        let login = match HandshakeResponse::parse(payload) {
            Ok(login) => login,
            Err(error) => {
                self.seen.broken = Some(error.to_string());
                self.state = State::Ended;
                return;
            }
        };
        self.seen.login = Some(self.over);
        self.deprecates_eof = login.head.capabilities.contains(Capabilities::DEPRECATE_EOF);
        let attribute =
            |name: &str| login.attributes.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        self.seen.client = attribute("_client_name").map(|name| {
            let version =
                attribute("_client_version").or(attribute("_client_library_version")).unwrap_or_default();
            wire::printable(&format!("{name} {version}")).trim().to_owned()
        });
        let password = self.known.password.expose_secret().as_bytes();
        let fits = match login.auth_plugin.unwrap_or(NATIVE) {
            NATIVE => Some(scramble_native(password, &self.nonce)),
            CACHING_SHA2 => Some(scramble_caching_sha2(password, &self.nonce)),
            _ => None,
        };
        if !login.auth_response.is_empty() {
            self.seen.login_fits = fits.map(|fits| fits == login.auth_response);
        }
        self.seen.trace.login(self.over, &login, payload.len(), self.seen.login_fits);
        self.go_on();
    }

    /// What comes after a login.
    fn go_on(&mut self) {
        let nonce = self.nonce;
        if self.attack.before_tls == BeforeTls::Ok && self.over == Channel::Tls {
            // Who goes on now was answered by the bytes in cleartext: nobody else has said anything.
            self.seen.trace.note("rogue, TLS: sends nothing".into());
            self.is_mute = true;
            self.state = State::Commands;
            return;
        }
        match self.attack.login {
            Login::Accept => self.let_in(),
            Login::ClearPassword => self.switch("mysql_clear_password", &[]),
            Login::Dialog => {
                // 4: an ordinary question, 2: one for a password; the text is what a person would be asked.
                self.switch("dialog", b"\x04Password: ");
            }
            Login::Sha256 => self.switch("sha256_password", &nonce),
            Login::CachingSha2 => self.switch(CACHING_SHA2, &nonce),
            Login::OldPassword => {
                self.send(&[0xfe]);
                self.seen.trace.note(format!("rogue, {}: only 0xfe", self.over));
                self.state = State::Switched;
            }
        }
    }

    fn switch(&mut self, plugin: &str, data: &[u8]) {
        let mut payload = encode_auth_switch(plugin, data);
        if data.len() != self.nonce.len() {
            // As the servers send it: a zero closes a nonce, and nothing else. PyMySQL looks for just "Password: ".
            payload.pop();
        }
        self.send(&payload);
        self.seen.trace.note(format!("rogue, {}: requests {plugin}", self.over));
        self.state = State::Switched;
    }

    fn switched(&mut self, payload: &[u8]) {
        match self.attack.login {
            Login::ClearPassword | Login::Dialog => self.clear_password(payload),
            Login::OldPassword => {
                self.seen.trace.note(format!("client, {}: response of {} bytes", self.over, payload.len()));
                // Eight bytes of the old hash: broken for decades, so the pair is as good as the password.
                self.seen.login_fits = (payload.len() >= 8).then_some(true).or(self.seen.login_fits);
                self.let_in();
            }
            // TLS: the password itself comes at once.
            Login::Sha256 if self.over == Channel::Tls && payload != [1] => self.clear_password(payload),
            Login::Sha256 => {
                self.state = State::Sha2;
                self.sha2(payload);
            }
            Login::CachingSha2 => {
                let password = self.known.password.expose_secret().as_bytes();
                if !payload.is_empty() {
                    self.seen.login_fits = Some(scramble_caching_sha2(password, &self.nonce) == payload);
                }
                self.seen.trace.note(format!("client, {}: response of {} bytes", self.over, payload.len()));
                self.send(&[1, 4]);
                self.seen
                    .trace
                    .note(format!("rogue, {}: 0x01 0x04, requests the password itself", self.over));
                self.state = State::Sha2;
            }
            Login::Accept => self.let_in(),
        }
    }

    /// The last turn of both SHA-2 plugins: a question for our key, the password under it, or the password itself.
    fn sha2(&mut self, payload: &[u8]) {
        let question: &[u8] = if self.attack.login == Login::Sha256 { &[1] } else { &[2] };
        if payload == question {
            self.seen
                .trace
                .note(format!("client, {}: requests the RSA key; the rogue sends its own", self.over));
            let mut answer = vec![1];
            answer.extend_from_slice(self.known.key_pem);
            self.send(&answer);
            return;
        }
        let key_bytes = self.known.key.size() as usize;
        if payload.len() != key_bytes {
            return self.clear_password(payload);
        }
        let mut plain = Zeroizing::new(vec![0; key_bytes]);
        let opened = self.known.key.private_decrypt(payload, &mut plain, Padding::PKCS1_OAEP);
        let is_right = opened.is_ok_and(|bytes| {
            let password: Zeroizing<Vec<u8>> = Zeroizing::new(
                plain
                    .iter()
                    .take(bytes)
                    .zip(self.nonce.iter().cycle())
                    .map(|(byte, nonce)| byte ^ nonce)
                    .collect(),
            );
            self.is_password(&password)
        });
        self.seen.trace.note(format!(
            "client, {}: {key_bytes} bytes, encrypted with the rogue's key: {}",
            self.over,
            if is_right { "the password" } else { "not the password" }
        ));
        self.seen.password = Some(Disclosure { over: self.over, is_right });
        self.let_in();
    }

    fn clear_password(&mut self, payload: &[u8]) {
        // An empty answer gives nothing away.
        if payload.iter().any(|byte| *byte != 0) {
            let is_right = self.is_password(payload);
            self.seen.trace.note(format!(
                "client, {}: {} bytes, unencrypted: {}",
                self.over,
                payload.len(),
                if is_right { "the password" } else { "not the password" }
            ));
            self.seen.password = Some(Disclosure { over: self.over, is_right });
        } else {
            self.seen.trace.note(format!("client, {}: an empty response", self.over));
        }
        self.let_in();
    }

    fn is_password(&self, bytes: &[u8]) -> bool {
        bytes.strip_suffix(&[0]).unwrap_or(bytes) == self.known.password.expose_secret().as_bytes()
    }

    fn let_in(&mut self) {
        self.ok();
        self.state = State::Commands;
    }

    fn command(&mut self, payload: &[u8]) {
        self.is_mute = false;
        let Some((&command, rest)) = payload.split_first() else {
            self.state = State::Ended;
            return;
        };
        if command == wire::command::COM_QUIT {
            self.state = State::Ended;
            return;
        }
        self.seen.trace.note(format!(
            "client, {}: {}, {} bytes",
            self.over,
            trace::command(command),
            payload.len()
        ));
        self.seen.command.get_or_insert(self.over);
        self.seen.commands += 1;
        if self.seen.commands > COMMANDS_MAX {
            self.state = State::Ended;
            return;
        }
        match command {
            wire::command::COM_QUERY => self.query(rest),
            COM_BINLOG_DUMP | COM_BINLOG_DUMP_GTID => {
                self.seen.asked_for_binlog = true;
                self.refuse(1236, "HY000", "sealion has no binary log: this is a rogue server".into());
            }
            COM_STMT_PREPARE => self.prepare(rest),
            COM_STMT_EXECUTE => self.execute(rest),
            // Nobody waits for an answer to these.
            COM_STMT_CLOSE | COM_STMT_SEND_LONG_DATA => {}
            COM_FIELD_LIST => self.eof(),
            _ => self.ok(),
        }
    }

    fn query(&mut self, sql: &[u8]) {
        if self.attack.asks_for_file && self.seen.file.is_none() {
            let mut payload = vec![0xfb];
            payload.extend_from_slice(self.known.canary_path.as_bytes());
            self.send(&payload);
            self.seen.trace.note(format!("rogue, {}: 0xfb and a path as the answer", self.over));
            self.state = State::File;
            return;
        }
        let version = self.attack.greeting.version;
        match asked(sql, version.strip_prefix("5.5.5-").unwrap_or(version)) {
            QueryAnswer::Settings(settings) => {
                let names: Vec<&str> = settings.iter().map(|(name, _)| name.as_str()).collect();
                let row: Vec<&str> = settings.iter().map(|(_, value)| value.as_str()).collect();
                self.rows(&names, &[row], Form::Text);
            }
            QueryAnswer::Page => self.landing_page(Form::Text),
            QueryAnswer::Nothing => self.rows(&[PAGE_COLUMN], &[], Form::Text),
            QueryAnswer::Done => self.ok(),
            QueryAnswer::Unknown => {
                self.answer_error(1054, "42S22", "Unknown column '$$' in 'field list'".into());
            }
        }
    }

    /// Whatever is prepared with rows for an answer has those of the landing page.
    fn prepare(&mut self, sql: &[u8]) {
        let has_rows = !matches!(asked(sql, ""), QueryAnswer::Done);
        self.prepared.push(has_rows);
        let id = u32::try_from(self.prepared.len()).unwrap_or(u32::MAX);
        let parameters = u16::try_from(sql.iter().filter(|byte| **byte == b'?').count()).unwrap_or(u16::MAX);
        let mut payload = vec![0];
        payload.extend_from_slice(&id.to_le_bytes());
        payload.extend_from_slice(&u16::from(has_rows).to_le_bytes());
        payload.extend_from_slice(&parameters.to_le_bytes());
        payload.extend_from_slice(&[0, 0, 0]);
        self.send(&payload);
        for (name, count) in [("?", parameters), (PAGE_COLUMN, u16::from(has_rows))] {
            for _ in 0..count {
                self.send(&column(name).encode());
            }
            if count > 0 && !self.deprecates_eof {
                self.eof();
            }
        }
    }

    fn execute(&mut self, rest: &[u8]) {
        let id = rest.first_chunk().map(|id| u32::from_le_bytes(*id)).and_then(|id| id.checked_sub(1));
        match id.and_then(|id| self.prepared.get(usize::try_from(id).ok()?)) {
            Some(true) => self.landing_page(Form::Binary),
            Some(false) => self.ok(),
            None => self.answer_error(1243, "HY000", "Unknown prepared statement handler".into()),
        }
    }

    /// What a person who connects by hand reads.
    fn landing_page(&mut self, form: Form) {
        let lines = [
            format!("You are connected to sealion's rogue server, attack {}.", self.attack.id),
            self.attack.does.to_owned(),
            match self.over {
                Channel::Clear => "Your client is connected in cleartext.".to_owned(),
                Channel::Tls => "Your client is connected over TLS.".to_owned(),
            },
            match self.seen.password {
                Some(Disclosure { is_right: true, .. }) => {
                    "It sent your password to the rogue server.".to_owned()
                }
                _ => String::new(),
            },
            if self.attack.defence.is_empty() {
                String::new()
            } else {
                format!("To fix: {}", self.attack.defence)
            },
        ];
        let rows: Vec<Vec<&str>> =
            lines.iter().filter(|line| !line.is_empty()).map(|line| vec![line.as_str()]).collect();
        self.rows(&[PAGE_COLUMN], &rows, form);
    }

    fn rows(&mut self, names: &[&str], rows: &[Vec<&str>], form: Form) {
        let mut count = Vec::new();
        wire::lenenc::write_int(&mut count, names.len() as u64);
        self.send(&count);
        for name in names {
            self.send(&column(name).encode());
        }
        if !self.deprecates_eof {
            self.eof();
        }
        for values in rows {
            let mut row = match form {
                Form::Text => vec![],
                // A zero, and two bits in front of those that say what is NULL: nothing is.
                Form::Binary => vec![0; 1 + (values.len() + 9) / 8],
            };
            for value in values {
                wire::lenenc::write_bytes(&mut row, value.as_bytes());
            }
            self.send(&row);
        }
        if self.deprecates_eof {
            let end = OkPacket { status: 2, ..OkPacket::default() }.encode(0xfe);
            self.send(&end);
        } else {
            self.eof();
        }
    }

    fn file(&mut self, payload: &[u8]) {
        if !payload.is_empty() {
            self.file.extend_from_slice(payload);
            if self.file.len() <= self.known.canary.len() {
                return;
            }
            // More than the canary has: it is another file, and nothing of it is read on.
        }
        if !self.file.is_empty() {
            let is_right = *self.file == self.known.canary;
            self.seen.trace.note(format!(
                "client, {}: {} bytes of a file: {}",
                self.over,
                self.file.len(),
                if is_right { "the one that was requested" } else { "another one" }
            ));
            self.seen.file = Some(Disclosure { over: self.over, is_right });
        }
        let is_whole = payload.is_empty();
        self.file = Zeroizing::default();
        self.state = State::Commands;
        if is_whole {
            self.ok();
        } else {
            self.state = State::Ended;
        }
    }

    fn send(&mut self, payload: &[u8]) {
        write_payload(&mut self.output, &mut self.sequence, payload);
    }

    fn ok(&mut self) {
        let ok = OkPacket { status: 2, ..OkPacket::default() }.encode(0);
        self.send(&ok);
    }

    fn eof(&mut self) {
        self.send(&[0xfe, 0, 0, 2, 0]);
    }

    fn answer_error(&mut self, code: u16, state: &str, message: String) {
        self.send(&ErrPacket { code, sqlstate: Some(state.into()), message }.encode());
    }

    fn refuse(&mut self, code: u16, state: &str, message: String) {
        self.answer_error(code, state, message);
        self.state = State::Ended;
    }
}

const COM_FIELD_LIST: u8 = 0x04;
const COM_BINLOG_DUMP: u8 = 0x12;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_EXECUTE: u8 = 0x17;
const COM_STMT_SEND_LONG_DATA: u8 = 0x18;
const COM_STMT_CLOSE: u8 = 0x19;
const COM_BINLOG_DUMP_GTID: u8 = 0x1e;

fn column(name: &str) -> ColumnDef<'_> {
    ColumnDef {
        name: name.into(),
        charset: u16::from(CHARSET_UTF8MB4),
        length_bytes: 1024,
        column_type: TYPE_VAR_STRING,
        flags: 0,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    /// Packets that the honest server answers with to each of these, after a login in cleartext.
    fn answers(eof: Capabilities, said: &[&[u8]]) -> Vec<Vec<Vec<u8>>> {
        let mut all = talk(&Attack::HONEST, eof, said);
        assert_eq!(all.remove(0)[0][0], 0, "let in");
        all
    }

    /// The same, with the answer to the login in front.
    fn talk(attack: &Attack, eof: Capabilities, said: &[&[u8]]) -> Vec<Vec<Vec<u8>>> {
        let password = SecretString::from("secret");
        let key = Rsa::generate(2048).unwrap();
        let known = ClientSecrets {
            password: &password,
            canary: b"",
            canary_path: "/canary",
            key: &key,
            key_pem: b"",
        };
        let mut talk = Talk::new(attack, &known, [1; 20]);
        talk.output();
        let head = SslRequest {
            capabilities: Capabilities::PROTOCOL_41 | Capabilities::SECURE_CONNECTION | eof,
            mariadb_capabilities: 0,
            max_packet_bytes: 1 << 20,
            charset: CHARSET_UTF8MB4,
        };
        let (user, attributes) = (&b"app"[..], vec![]);
        let login = HandshakeResponse {
            head,
            user,
            auth_response: &[],
            database: None,
            auth_plugin: None,
            attributes,
        };
        let mut payload = Vec::new();
        login.encode(&mut payload).unwrap();
        let mut ask = |payload: &[u8], mut sequence: u8| {
            let (mut packet, mut packets, mut all) = (Vec::new(), PacketBuffer::new(1 << 16), vec![]);
            write_payload(&mut packet, &mut sequence, payload);
            talk.input(&packet);
            packets.push(&talk.output());
            while let Some(packet) = packets.next_packet().unwrap() {
                all.push(packet.payload.to_vec());
            }
            all
        };
        let mut all = vec![ask(&payload, 1)];
        all.extend(said.iter().map(|payload| ask(payload, 0)));
        all
    }

    const NO_CAPABILITY: Capabilities = Capabilities(0);

    // Source: MySQL Internals, COM_STMT_PREPARE Response and Binary Protocol Resultset.
    #[test]
    fn a_statement_can_be_prepared_executed_and_closed() {
        let said: &[&[u8]] = &[
            b"\x16SELECT ?, ?",
            b"\x17\x01\0\0\0\0\x01\0\0\0",
            b"\x19\x01\0\0\0",
            b"\x16SET x = 1",
            b"\x17\x02\0\0\0\0\x01\0\0\0",
            b"\x17\x03\0\0\0\0\x01\0\0\0",
            b"\x17",
        ];
        for (eof, ends) in [(Capabilities::DEPRECATE_EOF, 0), (NO_CAPABILITY, 1)] {
            let all = answers(eof, said);
            // Two parameters and one column; nothing ends their lists where EOF has gone.
            assert_eq!(all[0][0], [0, 1, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0]);
            assert_eq!(all[0].len(), 1 + 2 + ends + 1 + ends);
            let first = &all[1][2 + ends];
            // A zero, one byte of NULLs, and a text with its length.
            assert_eq!((first[0], first[1], usize::from(first[2])), (0, 0, first.len() - 3));
            assert!(first.ends_with(b"rogue server, attack honest."));
            assert_eq!(all[1].last().unwrap()[0], 0xfe);
            assert_eq!(all[2], Vec::<Vec<u8>>::new(), "nobody reads an answer to a close");
            assert_eq!(all[3], [[0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]);
            assert_eq!((all[4].len(), all[4][0][0]), (1, 0));
            // One that was never prepared, and one without a number.
            assert_eq!((all[5][0][0], all[6][0][0]), (0xff, 0xff));
        }
    }

    #[test]
    fn a_switch_ends_as_the_servers_end_it() {
        let switch = |id| talk(crate::attacks::attack(id).unwrap(), NO_CAPABILITY, &[]).remove(0).remove(0);
        // PyMySQL 1.2.4 and asyncmy 0.2.18 give their password to just this question.
        assert_eq!(switch("dialog"), b"\xfedialog\0\x04Password: ");
        assert_eq!(switch("clear-password"), b"\xfemysql_clear_password\0");
        let nonce = [&b"\xfesha256_password\0"[..], &[1; 20], b"\0"].concat();
        assert_eq!(switch("sha256-key"), nonce);
    }

    #[test]
    fn settings_come_as_one_row_and_what_no_server_knows_is_an_error() {
        let all = answers(
            Capabilities::DEPRECATE_EOF,
            &[
                b"\x03SELECT @@max_allowed_packet, @@wait_timeout",
                b"\x03select $$",
                b"\x03/*!40103 SET a=1 */",
            ],
        );
        assert_eq!((all[0].len(), &all[0][0][..]), (1 + 2 + 1 + 1, &[2][..]));
        assert_eq!(all[0][3], b"\x0816777216\x0528800");
        assert_eq!((all[1].len(), all[1][0][0]), (1, 0xff));
        assert_eq!((all[2].len(), all[2][0][0]), (1, 0));
    }
}
