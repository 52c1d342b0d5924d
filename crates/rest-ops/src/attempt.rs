//! Whether a key opens what was encrypted: a few bytes are decrypted in memory, and looked at. So a wrong key is told from a damaged
//! page, which the server calls by one name.

use disk::{AriaNeed, LogNeed, SpaceNeed};
use formats::innodb::page::{self, Ciphertext, Known};
use formats::innodb::space::{Crypt, Layout, SpaceHeader};
use formats::{aria, binlog};
use openssl::symm::{Cipher, Crypter, Mode};
use zeroize::Zeroizing;

use crate::material::Keys;

/// `file_key_management_encryption_algorithm`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    Cbc,
    Ctr,
}

impl Algorithm {
    pub fn word(self) -> &'static str {
        match self {
            Self::Cbc => "AES_CBC",
            Self::Ctr => "AES_CTR",
        }
    }
}

/// What became of trying keys on a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fit {
    /// It decrypts, with this algorithm where there are two.
    Opens(Option<Algorithm>),
    /// The key has the right name and is another one: what a right one would have opened it does not.
    Wrong,
    /// It does not open it, and damage would look the same.
    Doubt,
    /// There is no key of that name.
    NoKey,
    /// Why nothing could be tried.
    CannotTell(String),
}

/// By which everything is encrypted that MariaDB's server itself writes: Aria's tables, binary and relay logs.
pub const SYSTEM_KEY: &str = "1";
/// A stream of zlib begins with two bytes that one page in 16 thousand has by chance.
const ZLIB_PAGES_MIN: usize = 2;
/// `compress2` has a window of 32 KiB; the second byte depends on the level alone.
const ZLIB_STARTS: [[u8; 2]; 4] = [[0x78, 0x01], [0x78, 0x5e], [0x78, 0x9c], [0x78, 0xda]];

/// Which key a tablespace needs, by the name that key files have for it; `None`: none.
pub fn key_name(need: &SpaceNeed) -> Option<String> {
    key_name_of(&need.header, need.encrypted > 0)
}

fn key_name_of(header: &SpaceHeader, has_encrypted_pages: bool) -> Option<String> {
    match &header.crypt {
        // The block stays where a table was decrypted; pages tell.
        Some(Crypt::MariaDb { scheme, key_id, .. }) if *scheme != 0 || has_encrypted_pages => {
            Some(key_id.to_string())
        }
        Some(Crypt::MySql { master_key_id, server_uuid, .. })
            if header.is_flagged_encrypted || has_encrypted_pages =>
        {
            Some(format!("INNODBKey-{server_uuid}-{master_key_id}"))
        }
        _ => None,
    }
}

/// It needs a key, and page 0 does not say which.
pub fn is_nameless(need: &SpaceNeed) -> bool {
    (need.encrypted > 0 || need.header.is_flagged_encrypted) && key_name(need).is_none()
}

/// Which key a log needs.
pub fn log_key_name(need: &LogNeed) -> Option<String> {
    match &need.log {
        binlog::Binlog::MariaDbEncrypted { .. } => Some(SYSTEM_KEY.to_owned()),
        binlog::Binlog::MySqlEncrypted { key_id } => Some(key_id.clone()),
        _ => None,
    }
}

/// Tries the key that the tablespace names.
pub fn fit(need: &SpaceNeed, keys: &Keys) -> Option<Fit> {
    let name = key_name(need)?;
    let Some(key) = keys.get(&name) else { return Some(Fit::NoKey) };
    Some(match &need.header.crypt {
        Some(Crypt::MySql { wrapped, checksum, .. }) => match mysql(key, wrapped, *checksum) {
            Some(true) => Fit::Opens(None),
            Some(false) => Fit::Wrong,
            None => Fit::CannotTell("the master key has another length than MySQL's".into()),
        },
        Some(Crypt::MariaDb { iv, .. }) => of_pages(need, key, iv),
        None => return None,
    })
}

/// The same of a table of Aria.
pub fn fit_aria(need: &AriaNeed, keys: &Keys) -> Fit {
    let Some(key) = keys.get(SYSTEM_KEY) else { return Fit::NoKey };
    let Some((crypt, page)) = &need.trial else {
        return Fit::CannotTell(
            "no page with a checksum was read of it: other files with the same key tell".into(),
        );
    };
    let start = start(crypt.space, page.number, page.lsn);
    let opens = |algorithm| {
        let own_key = own_key(key, &crypt.iv)?;
        let clear = decrypted(&own_key, &start, &page.text, algorithm)?;
        Some(aria::is_clear_text(page, &clear))
    };
    told(opens, Fit::Doubt)
}

/// The same of a binary or relay log.
pub fn fit_log(need: &LogNeed, keys: &Keys) -> Option<Fit> {
    let name = log_key_name(need)?;
    let Some(key) = keys.get(&name) else { return Some(Fit::NoKey) };
    let Some(event) = &need.trial else {
        return Some(Fit::CannotTell("a key is not tried on it: other files with the same key tell".into()));
    };
    let opens = |algorithm| {
        let clear = decrypted(key, &event.iv, &event.start, algorithm)?;
        Some(clear.get(binlog::END_IN_TEXT..binlog::END_IN_TEXT + 4)? == event.end.to_le_bytes())
    };
    Some(told(opens, Fit::Wrong))
}

fn told(opens: impl Fn(Algorithm) -> Option<bool>, else_it_is: Fit) -> Fit {
    for algorithm in [Algorithm::Cbc, Algorithm::Ctr] {
        match opens(algorithm) {
            Some(true) => return Fit::Opens(Some(algorithm)),
            Some(false) => {}
            None => return Fit::CannotTell("the key has a length that AES does not have".into()),
        }
    }
    else_it_is
}

fn of_pages(need: &SpaceNeed, key: &[u8], iv: &[u8; 16]) -> Fit {
    if need.ciphertexts.is_empty() {
        let header = &need.header;
        let why = match () {
            () if header.is_zipped => {
                "pages of ROW_FORMAT=COMPRESSED have nothing that is known in the clear: no key can be tried on them".into()
            }
            () if need.encrypted > 0 && header.layout == Layout::MariaDb => {
                format!("none of the {} pages that were read has something that is known in the clear", need.pages_read)
            }
            () if need.encrypted > 0 => format!(
                "none of the {} pages that were read has something that is known in the clear: they are compressed, or freed",
                need.pages_read
            ),
            () => format!("no encrypted page among the {} that were read", need.pages_read),
        };
        return Fit::CannotTell(why);
    }
    let Some(own_key) = own_key(key, iv) else {
        return Fit::CannotTell("the key has a length that AES does not have".into());
    };
    let of = |algorithm| {
        let opened = need.ciphertexts.iter().filter(|one| opens_page(&own_key, one, algorithm) == Some(true));
        let (zlib, sure): (Vec<_>, Vec<_>) = opened.partition(|one| one.known == Known::Zlib);
        (zlib.len() + sure.len(), !sure.is_empty() || zlib.len() >= ZLIB_PAGES_MIN)
    };
    let all = need.ciphertexts.len();
    let most =
        [Algorithm::Cbc, Algorithm::Ctr].into_iter().map(|one| (of(one), one)).max_by_key(|(of, _)| *of);
    match most {
        Some(((opened, true), algorithm)) if opened == all => Fit::Opens(Some(algorithm)),
        Some(((0, _), _)) | None => Fit::Wrong,
        // Pages that were freed before an import may be of another time; two bytes may be as they should by chance.
        Some(((opened, _), _)) => {
            Fit::CannotTell(format!("the key fits {opened} of the {all} pages on which it was tried"))
        }
    }
}

/// Of a tablespace of InnoDB or a table of Aria: its initialization vector under the key.
///
/// # Source
/// MariaDB 10.11, `do_crypt` and `scheme_get_key` in `sql/encryption.cc`, `fil0crypt.cc` of InnoDB and `ma_crypt.c` of Aria.
fn own_key(key: &[u8], iv: &[u8; 16]) -> Option<Zeroizing<Vec<u8>>> {
    let of_key = match key.len() {
        16 => Cipher::aes_128_ecb(),
        24 => Cipher::aes_192_ecb(),
        32 => Cipher::aes_256_ecb(),
        _ => return None,
    };
    blocks(of_key, Mode::Encrypt, key, None, iv)
}

/// What a page is encrypted from: tablespace, page (both 32 bits) and LSN, little-endian.
fn start(space: u32, page: u32, lsn: u64) -> [u8; page::BLOCK_BYTES] {
    let mut start = [0; page::BLOCK_BYTES];
    start[..4].copy_from_slice(&space.to_le_bytes());
    start[4..8].copy_from_slice(&page.to_le_bytes());
    start[8..].copy_from_slice(&lsn.to_le_bytes());
    start
}

fn opens_page(own_key: &[u8], one: &Ciphertext, algorithm: Algorithm) -> Option<bool> {
    let start = start(one.space_id, one.number, one.lsn);
    let clear = decrypted(own_key, &start, &one.start, algorithm)?;
    Some(match one.known {
        Known::SpaceId => {
            clear.get(page::SPACE_ID_IN_TEXT..page::SPACE_ID_IN_TEXT + 4)? == one.space_id.to_be_bytes()
        }
        Known::Zlib => ZLIB_STARTS.iter().any(|start| clear.starts_with(start)),
        Known::Infimum => page::INFIMUM_IN_TEXT
            .iter()
            .any(|at| clear.get(*at..).is_some_and(|text| text.starts_with(page::INFIMUM))),
    })
}

/// What is no whole block at the end is mixed with its own mask by the server, in either algorithm.
///
/// # Source
/// `MyCTX_nopad` in `mysys_ssl/my_crypt.cc` of MariaDB: the rest is mixed with the starting block under the key.
fn decrypted(
    key: &[u8],
    start: &[u8; page::BLOCK_BYTES],
    text: &[u8],
    algorithm: Algorithm,
) -> Option<Zeroizing<Vec<u8>>> {
    let (cbc, ctr, ecb) = match key.len() {
        16 => (Cipher::aes_128_cbc(), Cipher::aes_128_ctr(), Cipher::aes_128_ecb()),
        24 => (Cipher::aes_192_cbc(), Cipher::aes_192_ctr(), Cipher::aes_192_ecb()),
        32 => (Cipher::aes_256_cbc(), Cipher::aes_256_ctr(), Cipher::aes_256_ecb()),
        _ => return None,
    };
    if algorithm == Algorithm::Ctr {
        return blocks(ctr, Mode::Decrypt, key, Some(start), text);
    }
    let whole = text.len() / page::BLOCK_BYTES * page::BLOCK_BYTES;
    let (whole, rest) = text.split_at_checked(whole)?;
    let mut clear = blocks(cbc, Mode::Decrypt, key, Some(start), whole)?;
    let mask = blocks(ecb, Mode::Encrypt, key, None, start)?;
    clear.extend(rest.iter().zip(mask.iter()).map(|(text, mask)| text ^ mask));
    Some(clear)
}

/// # Source
/// MySQL 9.7, `Encryption::decode_encryption_info` in `storage/innobase/os/os0enc.cc`: AES-256-ECB without padding, then a CRC-32C
/// of what comes out.
fn mysql(key: &[u8], wrapped: &[u8], checksum: u32) -> Option<bool> {
    if key.len() != 32 {
        return None;
    }
    let clear = blocks(Cipher::aes_256_ecb(), Mode::Decrypt, key, None, wrapped)?;
    Some(crc32c::crc32c(&clear) == checksum)
}

/// Without padding.
fn blocks(
    cipher: Cipher,
    mode: Mode,
    key: &[u8],
    start: Option<&[u8]>,
    data: &[u8],
) -> Option<Zeroizing<Vec<u8>>> {
    let mut crypter = Crypter::new(cipher, mode, key, start).ok()?;
    crypter.pad(false);
    let mut out = Zeroizing::new(vec![0; data.len() + cipher.block_size()]);
    let mut count = crypter.update(data, &mut out).ok()?;
    count += crypter.finalize(out.get_mut(count..)?).ok()?;
    out.truncate(count);
    Some(out)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(crate) mod tests {
    use std::collections::BTreeSet;

    use disk::Kind;
    use formats::innodb::space::Wish;

    use super::*;
    use crate::material;

    /// Made for these files alone, on a server of MariaDB 10.11.19 with AES_CTR.
    pub(crate) const KEY_1: &str = "8c12be1943aea2fe0313d9e0ff8421a50d127761d1613c2da9c81cc89c65209f";

    pub(crate) fn keys(list: &str) -> Keys {
        material::mariadb(list.as_bytes(), None).unwrap()
    }

    fn bytes<const N: usize>(hex: &str) -> [u8; N] {
        let pairs = (0..N).map(|at| u8::from_str_radix(&hex[at * 2..at * 2 + 2], 16).unwrap());
        pairs.collect::<Vec<u8>>().try_into().unwrap()
    }

    pub(crate) fn space(path: &str, header: SpaceHeader, ciphertexts: Vec<Ciphertext>) -> SpaceNeed {
        SpaceNeed {
            path: path.into(),
            kind: Kind::Table,
            header,
            pages_read: 8,
            encrypted: ciphertexts.len() as u64,
            damaged: 0,
            first_damaged: None,
            key_versions: BTreeSet::from([1]),
            ciphertexts,
        }
    }

    fn header(layout: Layout, crypt: Crypt) -> SpaceHeader {
        let is_flagged_encrypted = layout == Layout::MySql;
        SpaceHeader {
            space_id: 5,
            flags: 0x15,
            layout,
            page_bytes: 16_384,
            is_zipped: false,
            crypt: Some(crypt),
            is_flagged_encrypted,
            doublewrite: None,
        }
    }

    fn mariadb_block(key_id: u32, iv: [u8; 16]) -> Crypt {
        Crypt::MariaDb { scheme: 1, key_id, min_key_version: 1, wish: Wish::Default, iv }
    }

    /// Two pages of a table of MariaDB 10.11.19, whose key has this id.
    pub(crate) fn mariadb_table(path: &str, key_id: u32) -> SpaceNeed {
        let iv = bytes("20fe8d009e8b9a49f6bc6c5f238d42e7");
        let page = |number, lsn, hex| Ciphertext {
            number,
            space_id: 5,
            lsn,
            key_version: 1,
            start: bytes::<16>(hex).to_vec(),
            known: Known::SpaceId,
        };
        let pages = vec![
            page(3, 513_907, "242f1fd72d48e53751b423ddebfada28"),
            page(5, 104_589, "302f9f72d1825205f6dbcca06da59e14"),
        ];
        space(path, header(Layout::FullCrc32, mariadb_block(key_id, iv)), pages)
    }

    /// A table of MySQL 9.7.4 after one rotation.
    pub(crate) fn mysql_table(path: &str) -> SpaceNeed {
        let wrapped = "49a89626fe78a9796bacad8367b22d885e2d441766d334c0368262985a7f3e1459f3b006f78358b90d5274d12793c568d78ff2295e749d0a13761eb3e90fe9a2";
        let crypt = Crypt::MySql {
            master_key_id: 2,
            server_uuid: "5508c6de-ea1a-11f1-bb1a-02fc00000001".into(),
            wrapped: bytes(wrapped),
            checksum: 0xa145_e7ce,
        };
        space(path, header(Layout::MySql, crypt), vec![])
    }

    pub(crate) fn ring(keys: &[(&str, &str)]) -> Keys {
        let elements = keys.iter().map(|(name, hex)| serde_json::json!({ "data_id": name, "data": hex }));
        let whole = serde_json::json!({ "version": "1.0", "elements": elements.collect::<Vec<_>>() });
        material::keyring(whole.to_string().as_bytes()).unwrap()
    }

    pub(crate) const MASTER_1: (&str, &str) = (
        "INNODBKey-5508c6de-ea1a-11f1-bb1a-02fc00000001-1",
        "A0B0B1FE817B14AD23C80BDE364710E7B202543A9BDDD445F2450BA958F70DF8",
    );
    pub(crate) const MASTER_2: (&str, &str) = (
        "INNODBKey-5508c6de-ea1a-11f1-bb1a-02fc00000001-2",
        "48FA5848C750A6ECF994A49BACB87BBD422E597A50C60DDD8705F57DA7C3BF90",
    );

    #[test]
    fn a_right_key_is_told_from_a_wrong_one_on_pages_of_a_real_server() {
        let table = mariadb_table("d/t1.ibd", 1);
        assert_eq!(key_name(&table).as_deref(), Some("1"));
        assert_eq!(fit(&table, &keys(&format!("1;{KEY_1}"))), Some(Fit::Opens(Some(Algorithm::Ctr))));
        assert_eq!(fit(&table, &keys(&format!("1;{}", "ab".repeat(32)))), Some(Fit::Wrong));
        assert_eq!(fit(&table, &keys(&format!("2;{KEY_1}"))), Some(Fit::NoKey));
        // One page that does not decrypt is enough for doubt, and no proof.
        let mut half = table.clone();
        half.ciphertexts[1].start[9] ^= 1;
        assert!(matches!(fit(&half, &keys(&format!("1;{KEY_1}"))), Some(Fit::CannotTell(_))));
        assert_eq!(fit(&half, &keys(&format!("1;{}", "ab".repeat(32)))), Some(Fit::Wrong));
        let none = SpaceNeed { ciphertexts: vec![], ..table.clone() };
        assert!(matches!(fit(&none, &keys(&format!("1;{KEY_1}"))), Some(Fit::CannotTell(_))));
        let short = Zeroizing::new(vec![1_u8; 5]);
        assert_eq!(own_key(&short, &[0; 16]), None);
    }

    /// As a server encrypts: with what the right key gives, whatever is tried on it later.
    fn encrypted(key: &[u8], start: &[u8; 16], text: &[u8], algorithm: Algorithm) -> Vec<u8> {
        let (cbc, ctr, ecb) = if key.len() == 32 {
            (Cipher::aes_256_cbc(), Cipher::aes_256_ctr(), Cipher::aes_256_ecb())
        } else {
            (Cipher::aes_128_cbc(), Cipher::aes_128_ctr(), Cipher::aes_128_ecb())
        };
        if algorithm == Algorithm::Ctr {
            return blocks(ctr, Mode::Encrypt, key, Some(start), text).unwrap().to_vec();
        }
        let whole = text.len() / 16 * 16;
        let mut out = blocks(cbc, Mode::Encrypt, key, Some(start), &text[..whole]).unwrap().to_vec();
        let mask = blocks(ecb, Mode::Encrypt, key, None, start).unwrap();
        out.extend(text[whole..].iter().zip(mask.iter()).map(|(text, mask)| text ^ mask));
        out
    }

    fn page_of(algorithm: Algorithm, number: u32, known: Known, text: &[u8]) -> Ciphertext {
        let key = keys(&format!("1;{KEY_1}"));
        let own = own_key(key.get("1").unwrap(), &[7; 16]).unwrap();
        let start = encrypted(&own, &start(5, number, 200), text, algorithm);
        Ciphertext { number, space_id: 5, lsn: 200, key_version: 1, start, known }
    }

    #[test]
    fn whatever_is_known_of_a_page_tells_a_right_key_from_a_wrong_one() {
        let mut infimum = [0_u8; 80];
        infimum[61..69].copy_from_slice(page::INFIMUM);
        let mut redundant = [0_u8; 80];
        redundant[63..71].copy_from_slice(page::INFIMUM);
        let mut space_id = [0_u8; 16];
        space_id[11] = 5;
        let mut zlib = [9_u8; 16];
        zlib[..2].copy_from_slice(&[0x78, 0x5e]);
        for algorithm in [Algorithm::Cbc, Algorithm::Ctr] {
            for (known, text, layout) in [
                (Known::SpaceId, &space_id[..], Layout::FullCrc32),
                (Known::Zlib, &zlib[..], Layout::FullCrc32),
                (Known::Zlib, &zlib[..], Layout::MariaDb),
                (Known::Infimum, &infimum[..], Layout::MariaDb),
                (Known::Infimum, &redundant[..], Layout::MariaDb),
            ] {
                let pages: Vec<Ciphertext> = (3..6).map(|nr| page_of(algorithm, nr, known, text)).collect();
                let table = |pages| space("d/c.ibd", header(layout, mariadb_block(1, [7; 16])), pages);
                let right = keys(&format!("1;{KEY_1}"));
                let opens = Some(Fit::Opens(Some(algorithm)));
                assert_eq!(fit(&table(pages.clone()), &right), opens, "{known:?}");
                let wrong = keys(&format!("1;{}", "ab".repeat(32)));
                assert_eq!(fit(&table(pages.clone()), &wrong), Some(Fit::Wrong), "{known:?}");
                // Two bytes of one page are no proof.
                let one = fit(&table(pages[..1].to_vec()), &right);
                assert_eq!(matches!(one, Some(Fit::CannotTell(_))), known == Known::Zlib, "{one:?}");
            }
        }
    }

    #[test]
    fn a_table_of_aria_is_told_by_the_checksum_of_its_clear_text() {
        let right = keys(&format!("1;{KEY_1}"));
        let own = own_key(right.get("1").unwrap(), &[7; 16]).unwrap();
        let clear: Vec<u8> = (0..8172_u32).map(|at| (at % 251) as u8).collect();
        let mut page = aria::Ciphertext { number: 2, lsn: 77, head: vec![1; 16], text: vec![], checksum: 0 };
        for algorithm in [Algorithm::Cbc, Algorithm::Ctr] {
            page.text = encrypted(&own, &start(9, 2, 77), &clear, algorithm);
            // CRC-32 as zlib has it, of another implementation than the one that is tried.
            page.checksum = crc_of(2, &[&page.head[..], &clear].concat());
            let crypt = aria::Crypt { space: 9, iv: [7; 16] };
            let need = AriaNeed { path: "d/a.MAI".into(), trial: Some((crypt, page.clone())) };
            assert_eq!(fit_aria(&need, &right), Fit::Opens(Some(algorithm)));
            assert_eq!(fit_aria(&need, &keys(&format!("1;{}", "ab".repeat(32)))), Fit::Doubt);
            assert_eq!(fit_aria(&need, &keys(&format!("2;{KEY_1}"))), Fit::NoKey);
            let none = AriaNeed { trial: None, ..need };
            assert!(matches!(fit_aria(&none, &right), Fit::CannotTell(_)));
        }
    }

    fn crc_of(start: u32, bytes: &[u8]) -> u32 {
        let table: Vec<u32> = (0..256_u32)
            .map(|byte| {
                (0..8).fold(byte, |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
            })
            .collect();
        !bytes.iter().fold(!start, |crc, byte| table[(crc as usize ^ usize::from(*byte)) & 0xff] ^ crc >> 8)
    }

    #[test]
    fn a_binary_log_is_told_by_where_its_first_event_ends() {
        let right = keys(&format!("1;{KEY_1}"));
        let mut clear = [3_u8; 16];
        clear[binlog::END_IN_TEXT..binlog::END_IN_TEXT + 4].copy_from_slice(&331_u32.to_le_bytes());
        for algorithm in [Algorithm::Cbc, Algorithm::Ctr] {
            let start = encrypted(right.get("1").unwrap(), &[4; 16], &clear, algorithm).try_into().unwrap();
            let trial = Some(binlog::Ciphertext { iv: [4; 16], start, end: 331 });
            let log = binlog::Binlog::MariaDbEncrypted { key_version: 1 };
            let need = LogNeed { path: "binlog.000001".into(), log, trial };
            assert_eq!(fit_log(&need, &right), Some(Fit::Opens(Some(algorithm))));
            assert_eq!(fit_log(&need, &keys(&format!("1;{}", "ab".repeat(32)))), Some(Fit::Wrong));
            assert_eq!(fit_log(&need, &keys(&format!("2;{KEY_1}"))), Some(Fit::NoKey));
            let relay = LogNeed { trial: None, ..need };
            assert!(matches!(fit_log(&relay, &right), Some(Fit::CannotTell(_))));
        }
    }

    #[test]
    fn a_master_key_is_told_by_what_it_unwraps() {
        let table = mysql_table("d/t1.ibd");
        assert_eq!(key_name(&table).as_deref(), Some(MASTER_2.0));
        assert_eq!(fit(&table, &ring(&[MASTER_1, MASTER_2])), Some(Fit::Opens(None)));
        assert_eq!(fit(&table, &ring(&[MASTER_1])), Some(Fit::NoKey));
        assert_eq!(fit(&table, &ring(&[(MASTER_2.0, MASTER_1.1)])), Some(Fit::Wrong));
        assert!(matches!(fit(&table, &ring(&[(MASTER_2.0, "00")])), Some(Fit::CannotTell(_))));
    }

    #[test]
    fn a_table_that_is_not_encrypted_needs_no_key() {
        let mut plain = mysql_table("d/p.ibd");
        plain.header.is_flagged_encrypted = false;
        assert_eq!((key_name(&plain), fit(&plain, &ring(&[]))), (None, None));
        let mut decrypted = mariadb_table("d/t.ibd", 1);
        decrypted.encrypted = 0;
        decrypted.header.crypt =
            Some(Crypt::MariaDb { scheme: 0, key_id: 1, min_key_version: 0, wish: Wish::No, iv: [0; 16] });
        assert_eq!((key_name(&decrypted), is_nameless(&decrypted)), (None, false));
        // Its page 0 is of before, or damaged.
        decrypted.header.crypt = None;
        decrypted.encrypted = 3;
        assert_eq!((key_name(&decrypted), is_nameless(&decrypted)), (None, true));
    }
}
