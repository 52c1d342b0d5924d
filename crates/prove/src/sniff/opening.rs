//! What a connection began with: its kind, told by the first bytes of an end, else by its ports.

use wire::packet::whole_packet;
use wire::{HandshakeResponse, SegmentShape, SslRequest, classify_segment, gcomm};

use super::galera;
use super::joined::begins_with_hello;
use super::mysql;
use super::place::Place;
use super::unpack::looks_packed;

pub const PORT_MYSQL: u16 = 3306;
pub const PORT_X: u16 = 33_060;
pub const PORT_SST: u16 = 4444;
pub const PORT_GALERA: u16 = 4567;
pub const PORT_IST: u16 = 4568;
const GREETING_BYTES: std::ops::RangeInclusive<u32> = 20..=1024;

/// What passes on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Kind {
    MySql,
    /// MySQL's X Protocol, which is not read: only whether it is in clear.
    MySqlX,
    /// Messages between Galera nodes.
    Galera,
    /// Galera's incremental transfer.
    Ist,
    /// A transfer of all data: rsync.
    SstRsync,
    /// A transfer of all data: `mariadb-backup`, `xtrabackup`.
    SstBackup,
    /// Something else on the port of such transfers.
    SstOther,
    /// None of these.
    #[default]
    Other,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::MySql => "MySQL",
            Self::MySqlX => "MySQL X",
            Self::Galera => "Galera",
            Self::Ist => "Galera IST",
            Self::SstRsync => "SST rsync",
            Self::SstBackup => "SST xbstream",
            Self::SstOther => "SST",
            Self::Other => "other",
        })
    }
}

impl Kind {
    /// Where something stands that passes on such a connection, as far as the kind tells.
    pub(super) fn place(self) -> Place {
        match self {
            Self::Galera => Place::GroupMessage,
            Self::Ist => Place::Ist,
            Self::SstRsync | Self::SstBackup | Self::SstOther => Place::Sst,
            Self::MySql | Self::MySqlX | Self::Other => Place::Other,
        }
    }
}

/// What the first bytes of one end say.
pub(super) enum Opening {
    /// This end is the server of MySQL.
    Greeting,
    /// This end is the client, and begins its login.
    Login,
    Client,
    /// Packets of MySQL, compressed.
    Packed,
    Tls,
    /// A record of TLS, it may be: what follows it will tell.
    Record,
    Is(Kind),
    More,
    Nothing,
}

/// The ports of a connection's two ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ports {
    pub(super) a: u16,
    pub(super) b: u16,
}

impl Ports {
    pub(super) fn of(self, is_a: bool) -> u16 {
        if is_a { self.a } else { self.b }
    }

    fn has(self, port: u16) -> bool {
        self.a == port || self.b == port
    }

    /// What a connection on these ports should be.
    pub(super) fn kind(self, mysql_ports: &[u16]) -> Kind {
        if mysql_ports.iter().any(|port| self.has(*port)) {
            Kind::MySql
        } else if self.has(PORT_X) {
            Kind::MySqlX
        } else if self.has(PORT_GALERA) {
            Kind::Galera
        } else if self.has(PORT_IST) {
            Kind::Ist
        } else if self.has(PORT_SST) {
            Kind::SstOther
        } else {
            Kind::Other
        }
    }
}

/// What `first` says, which one end sent at the start, or was met in the middle.
pub(super) fn recognise(
    ports: Ports,
    from_a: bool,
    first: &[u8],
    from_start: bool,
    mysql_ports: &[u16],
) -> Opening {
    let by_port = ports.kind(mysql_ports);
    if classify_segment(first) != SegmentShape::NotTls {
        // On a port of no database nothing hangs on it.
        let is_sure = by_port == Kind::Other || begins_with_hello(first);
        return if is_sure { Opening::Tls } else { Opening::Record };
    }
    // Source: MySQL source documentation, "X Protocol": the server says hello with a notice (type 11) of type 5.
    let is_hello = matches!(first, [_, 0, 0, 0, 11, 0x08, 5, ..]);
    if by_port == Kind::MySqlX || (is_hello && by_port == Kind::Other) {
        return Opening::Is(Kind::MySqlX);
    }
    match gcomm::parse(first) {
        Ok(Some(_)) => return Opening::Is(Kind::Galera),
        Ok(None) if from_start && first.len() >= 4 && by_port == Kind::Galera => return Opening::More,
        _ => {}
    }
    if first.starts_with(b"@RSYNCD:") {
        return Opening::Is(Kind::SstRsync);
    }
    if first.starts_with(b"XBSTCK01") {
        return Opening::Is(Kind::SstBackup);
    }
    let port = ports.of(from_a);
    let is_server = mysql_ports.contains(&port);
    // Commands without more, a ping among them.
    if by_port == Kind::MySql
        && !is_server
        && let [1, 0, 0, 0, kind] = first
        && mysql::is_command(*kind)
    {
        return Opening::Client;
    }
    let [a, b, c, sequence, kind, after, ..] = first else {
        return if from_start { Opening::More } else { Opening::Nothing };
    };
    let length = u32::from_le_bytes([*a, *b, *c, 0]);
    if *sequence == 0 && *kind == 10 && GREETING_BYTES.contains(&length) {
        // Versions begin with a digit, but for those that somebody has made up.
        let is_version = after.is_ascii_digit() || (is_server && after.is_ascii_graphic());
        if is_version || is_greeting(first) {
            return Opening::Greeting;
        }
    }
    if from_start && is_login(first) {
        return Opening::Login;
    }
    if by_port == Kind::MySql {
        if looks_packed(first).is_some() {
            return Opening::Packed;
        }
        if is_server {
            // An error in place of a greeting; joined in the middle, whatever the server's port says.
            return if *sequence == 0 && *kind == 0xff { Opening::Greeting } else { Opening::Nothing };
        }
        let is_command = *sequence == 0 && mysql::is_command(*kind) && length < 1 << 20;
        let fits = match first.len().cmp(&(length as usize + 4)) {
            std::cmp::Ordering::Less => mysql::may_be_long(*kind),
            std::cmp::Ordering::Equal => true,
            std::cmp::Ordering::Greater => false,
        };
        return if is_command && fits { Opening::Client } else { Opening::Nothing };
    }
    // Messages of Galera that are no handshake: joined in the middle. The middle of a record of TLS looks like anything, but not like
    // messages up to the last byte.
    if by_port == Kind::Galera && galera::are_whole_messages(first) {
        return Opening::Is(Kind::Galera);
    }
    Opening::Nothing
}

fn is_greeting(bytes: &[u8]) -> bool {
    late_greeting(bytes).is_some()
}

/// A whole greeting, and what follows it.
pub(super) fn late_greeting(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (sequence, payload, rest) = whole_packet(bytes)?;
    let is_greeting = sequence == 0
        && payload.first() == Some(&10)
        && payload.get(1).is_some_and(u8::is_ascii_graphic)
        && wire::greeting::parse(payload).is_ok();
    is_greeting.then_some((payload, rest))
}

/// An SSLRequest, or a login: nothing else has so many zeros there.
fn is_login(bytes: &[u8]) -> bool {
    let Some((1, payload, _)) = whole_packet(bytes) else { return false };
    payload.get(9..28).is_some_and(|zeros| zeros.iter().all(|byte| *byte == 0))
        && (SslRequest::parse(payload).is_ok() || HandshakeResponse::parse(payload).is_ok())
}
