//! The start of a binary or relay log: whether what follows is encrypted. Each file decides for itself.
//!
//! Sources: `Log_event` of both families and `rpl_log_encryption.cc` of MySQL; seen in files of MariaDB 10.11.19 and
//! MySQL 9.7.4.

use crate::bytes::{array, le32, text};

/// Enough of a file's start for [`read`]: the magic, the format description event and the event behind it.
pub const START_BYTES: usize = 4096;
/// A format description is some 250 bytes; a longer one is not one.
const FORMAT_BYTES_MAX: usize = 2048;
const EVENT_HEADER: usize = 19;
const FORMAT_DESCRIPTION: u8 = 15;
/// `START_ENCRYPTION_EVENT` of MariaDB: everything behind it is ciphertext.
const START_ENCRYPTION: u8 = 164;
const PLAIN: [u8; 4] = [0xfe, b'b', b'i', b'n'];
/// MySQL 8.0.14 and newer: a header with the wrapped key, then all of it encrypted.
const MYSQL_ENCRYPTED: [u8; 4] = [0xfd, b'b', b'i', b'n'];
const MYSQL_VERSION: u8 = 1;
const MYSQL_KEY_ID: u8 = 1;

/// What the start of a file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Binlog {
    Plain,
    /// MariaDB: everything behind the format description.
    MariaDbEncrypted {
        key_version: u32,
    },
    /// MySQL: everything behind the header.
    MySqlEncrypted {
        /// Name of the key in the keyring; the key is not here.
        key_id: String,
    },
    /// Nothing but the magic yet.
    Empty,
    /// It is a binary log, and this is not known of it.
    Unknown(&'static str),
    /// It is none.
    Other,
}

/// The first [`START_BYTES`] of a file, or all of it.
pub fn read(start: &[u8]) -> Binlog {
    match array::<4>(start, 0) {
        Some(PLAIN) if start.len() == PLAIN.len() => Binlog::Empty,
        Some(PLAIN) => behind_format(start),
        Some(MYSQL_ENCRYPTED) => mysql(start).unwrap_or(Binlog::Unknown("its header is not known")),
        _ => Binlog::Other,
    }
}

fn behind_format(start: &[u8]) -> Binlog {
    let event = |at: usize| {
        let bytes = start.get(at..at.checked_add(EVENT_HEADER)?)?;
        Some((*bytes.get(4)?, usize::try_from(le32(bytes, 9)?).ok()?))
    };
    let Some((kind, length)) = event(PLAIN.len()) else {
        return Binlog::Unknown("its first event is cut off");
    };
    if kind != FORMAT_DESCRIPTION || !(EVENT_HEADER..=FORMAT_BYTES_MAX).contains(&length) {
        return Binlog::Unknown("it does not begin with a format description");
    }
    let next = PLAIN.len() + length;
    match event(next) {
        Some((START_ENCRYPTION, _)) => le32(start, next + EVENT_HEADER + 1)
            .map_or(Binlog::Unknown("its event of encryption is cut off"), |key_version| {
                Binlog::MariaDbEncrypted { key_version }
            }),
        Some(_) => Binlog::Plain,
        // Written with the format description, so it would be there.
        None if start.len() == next => Binlog::Plain,
        None => Binlog::Unknown("its second event is cut off"),
    }
}

/// The beginning of the first encrypted event of a binary log of MariaDB, with what beside the key it was encrypted with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ciphertext {
    /// Nonce of the file, and the place of the event in it.
    pub iv: [u8; BLOCK_BYTES],
    pub start: [u8; BLOCK_BYTES],
    /// Where the event ends. In a binary log, not in a relay log, it stands at [`END_IN_TEXT`] in the clear, little-endian.
    pub end: u32,
}

pub const BLOCK_BYTES: usize = 16;
/// Ciphertext begins behind the place of the timestamp.
const TEXT: usize = 4;
const EVENT_LENGTH: usize = 9;
const EVENT_END: usize = 13;
pub const END_IN_TEXT: usize = EVENT_END - TEXT;
const NONCE_BYTES: usize = 12;
const FLAGS: usize = 17;
/// `LOG_EVENT_RELAY_LOG_F`, in the format description of a relay log.
const FLAG_RELAY: u8 = 0x40;

/// `None` where there is none, or not all of it, and of a relay log.
///
/// # Source
/// `decrypt_event` of MariaDB's `sql/log_event.cc`, and `Binlog_crypt_data::set_iv`; tried on binary logs of 10.11.19.
pub fn ciphertext(start: &[u8]) -> Option<Ciphertext> {
    let Binlog::MariaDbEncrypted { .. } = read(start) else { return None };
    if start.get(PLAIN.len() + FLAGS)? & FLAG_RELAY != 0 {
        return None;
    }
    let length = |at: usize| usize::try_from(le32(start, at + EVENT_LENGTH)?).ok();
    let encryption = PLAIN.len() + length(PLAIN.len())?;
    let nonce: [u8; NONCE_BYTES] = array(start, encryption + EVENT_HEADER + 1 + 4)?;
    let at = encryption.checked_add(length(encryption)?)?;
    let place = u32::try_from(at).ok()?;
    let end = place.checked_add(u32::try_from(length(at)?).ok()?)?;
    let mut iv = [0; BLOCK_BYTES];
    iv.get_mut(..NONCE_BYTES)?.copy_from_slice(&nonce);
    iv.get_mut(NONCE_BYTES..)?.copy_from_slice(&place.to_le_bytes());
    // The length stands in the clear where the ciphertext has four bytes that stand at the place of the timestamp instead.
    let mut text: [u8; BLOCK_BYTES] = array(start, at.checked_add(TEXT)?)?;
    let moved = text.get_mut(EVENT_LENGTH - TEXT..EVENT_END - TEXT)?;
    moved.copy_from_slice(start.get(at..at.checked_add(TEXT)?)?);
    Some(Ciphertext { iv, start: text, end })
}

/// Type, length and value, until the key's name is there.
fn mysql(start: &[u8]) -> Option<Binlog> {
    if *start.get(4)? != MYSQL_VERSION {
        return None;
    }
    // It is the first field, with a length of one byte.
    let (kind, length) = (*start.get(5)?, usize::from(*start.get(6)?));
    let name = start.get(7..7 + length)?;
    (kind == MYSQL_KEY_ID).then(|| Binlog::MySqlEncrypted { key_id: text(name) })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn event(kind: u8, body: &[u8]) -> Vec<u8> {
        let mut bytes = vec![1; EVENT_HEADER];
        bytes[4] = kind;
        let length = u32::try_from(EVENT_HEADER + body.len()).unwrap();
        bytes[9..13].copy_from_slice(&length.to_le_bytes());
        bytes.extend(body);
        bytes
    }

    #[test]
    fn what_follows_is_told_by_the_start() {
        let format = event(FORMAT_DESCRIPTION, &[0; 233]);
        let start = |rest: &[u8]| [&PLAIN[..], &format, rest].concat();
        assert_eq!(read(&start(&event(35, &[0; 20]))), Binlog::Plain);
        assert_eq!(read(&start(&[])), Binlog::Plain);
        let encryption = event(START_ENCRYPTION, &[&[1][..], &5_u32.to_le_bytes(), &[0; 12]].concat());
        assert_eq!(read(&start(&encryption)), Binlog::MariaDbEncrypted { key_version: 5 });
        let key = b"MySQLReplicationKey_u_1";
        let length = u8::try_from(key.len()).unwrap();
        let mysql = [&MYSQL_ENCRYPTED[..], &[1, 1, length], key, &[0; 400]].concat();
        assert_eq!(read(&mysql), Binlog::MySqlEncrypted { key_id: "MySQLReplicationKey_u_1".into() });
        assert_eq!(read(b"general log"), Binlog::Other);
        assert_eq!(read(&PLAIN), Binlog::Empty);
        // Cut anywhere, an encrypted one is never called plain, but where the event of encryption is not there at all.
        let whole = start(&encryption);
        for end in 5..whole.len() {
            let is_before = end == PLAIN.len() + format.len();
            assert_eq!(read(&whole[..end]) == Binlog::Plain, is_before, "{end}");
        }
    }

    #[test]
    fn the_first_encrypted_event_says_where_it_ends() {
        let format = event(FORMAT_DESCRIPTION, &[0; 233]);
        let encryption = event(START_ENCRYPTION, &[&[1][..], &5_u32.to_le_bytes(), &[3; 12]].concat());
        let whole = [&PLAIN[..], &format, &encryption, &event(200, &[6; 20])].concat();
        let place = u32::try_from(4 + 252 + 36).unwrap();
        let found = ciphertext(&whole).unwrap();
        assert_eq!((&found.iv[..12], &found.iv[12..]), (&[3; 12][..], &place.to_le_bytes()[..]));
        assert_eq!((found.start[0], found.end), (200, place + 39));
        // At the place of the length, what stands at that of the timestamp.
        assert_eq!(found.start[5..9], [1; 4]);
        assert_eq!(ciphertext(&whole[..whole.len() - 25]), None, "it is cut off");
        let mut relay = whole.clone();
        relay[4 + FLAGS] |= FLAG_RELAY;
        assert_eq!(ciphertext(&relay), None, "a relay log");
        assert_eq!(ciphertext(&[&PLAIN[..], &format, &event(35, &[0; 20])].concat()), None, "a plain one");
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600), is_plain: bool) {
            let _ = read(&bytes);
            let magic = if is_plain { PLAIN } else { MYSQL_ENCRYPTED };
            let _ = read(&[&magic[..], &bytes].concat());
            let encryption = [&PLAIN[..], &event(FORMAT_DESCRIPTION, &[0; 9]), &event(START_ENCRYPTION, &bytes)].concat();
            let _ = ciphertext(&encryption);
            let _ = ciphertext(&bytes);
        }
    }
}
