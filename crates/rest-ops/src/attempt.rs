//! Whether a key opens what was encrypted: a few bytes are decrypted in memory, and looked at. So a wrong key is told from a damaged
//! page, which the server calls by one name.

use disk::SpaceNeed;
use formats::innodb::page::{CIPHERTEXT_BYTES, Ciphertext, SPACE_ID_IN_TEXT};
use formats::innodb::space::{Crypt, Layout, SpaceHeader};
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

/// What became of trying keys on a tablespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fit {
    /// It decrypts, with this algorithm where there are two.
    Opens(Option<Algorithm>),
    /// The key has the right name and is another one: what it should decrypt is whole by its checksum.
    Wrong,
    /// There is no key of that name.
    NoKey,
    /// Why nothing could be tried.
    CannotTell(String),
}

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
        Some(Crypt::MySql { master_key_id, server_uuid, .. }) if header.is_flagged_encrypted => {
            Some(format!("INNODBKey-{server_uuid}-{master_key_id}"))
        }
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

fn of_pages(need: &SpaceNeed, key: &[u8], iv: &[u8; 16]) -> Fit {
    if need.header.layout != Layout::FullCrc32 {
        return Fit::CannotTell(
            "its pages are of the layout before MariaDB 10.5, on which no key can be tried".into(),
        );
    }
    if need.ciphertexts.is_empty() {
        let why = if need.encrypted > 0 { "no encrypted page that is whole" } else { "no encrypted page" };
        return Fit::CannotTell(format!("{why} among the {} that were read", need.pages_read));
    }
    let opens_all = |algorithm| {
        need.ciphertexts
            .iter()
            .all(|one| mariadb(key, iv, need.header.space_id, one, algorithm) == Some(true))
    };
    for algorithm in [Algorithm::Cbc, Algorithm::Ctr] {
        if opens_all(algorithm) {
            return Fit::Opens(Some(algorithm));
        }
    }
    Fit::Wrong
}

/// The space id stands within the ciphertext, and is known.
///
/// # Source
/// MariaDB 10.11, `fil_space_encrypt_full_crc32` in `storage/innobase/fil/fil0crypt.cc` and `do_crypt` in `sql/encryption.cc`: the
/// key of a tablespace is its initialization vector under the key, by AES-ECB; that of a page is space id, page number (both 32
/// bits) and LSN, little-endian.
fn mariadb(key: &[u8], iv: &[u8; 16], space_id: u32, one: &Ciphertext, algorithm: Algorithm) -> Option<bool> {
    let of_key = match key.len() {
        16 => Cipher::aes_128_ecb(),
        24 => Cipher::aes_192_ecb(),
        32 => Cipher::aes_256_ecb(),
        _ => return None,
    };
    let own_key = blocks(of_key, Mode::Encrypt, key, iv)?;
    let mut start = [0; CIPHERTEXT_BYTES];
    start[..4].copy_from_slice(&space_id.to_le_bytes());
    start[4..8].copy_from_slice(&one.number.to_le_bytes());
    start[8..].copy_from_slice(&one.lsn.to_le_bytes());
    let (mask, text) = match algorithm {
        Algorithm::Ctr => {
            (blocks(Cipher::aes_128_ecb(), Mode::Encrypt, &own_key, &start)?, one.start.to_vec())
        }
        Algorithm::Cbc => (
            Zeroizing::new(start.to_vec()),
            blocks(Cipher::aes_128_ecb(), Mode::Decrypt, &own_key, &one.start)?.to_vec(),
        ),
    };
    let clear: Vec<u8> = text.iter().zip(mask.iter()).map(|(text, mask)| text ^ mask).collect();
    Some(clear.get(SPACE_ID_IN_TEXT..SPACE_ID_IN_TEXT + 4)? == space_id.to_be_bytes())
}

/// # Source
/// MySQL 9.7, `Encryption::decode_encryption_info` in `storage/innobase/os/os0enc.cc`: AES-256-ECB without padding, then a CRC-32C
/// of what comes out.
fn mysql(key: &[u8], wrapped: &[u8], checksum: u32) -> Option<bool> {
    if key.len() != 32 {
        return None;
    }
    let clear = blocks(Cipher::aes_256_ecb(), Mode::Decrypt, key, wrapped)?;
    Some(crc32c::crc32c(&clear) == checksum)
}

/// Whole blocks, without padding.
fn blocks(cipher: Cipher, mode: Mode, key: &[u8], data: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let mut crypter = Crypter::new(cipher, mode, key, None).ok()?;
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
        let page = |number, lsn, hex| Ciphertext { number, lsn, key_version: 1, start: bytes(hex) };
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
        // One page that does not decrypt is enough for doubt.
        let mut half = table.clone();
        half.ciphertexts[1].start[9] ^= 1;
        assert_eq!(fit(&half, &keys(&format!("1;{KEY_1}"))), Some(Fit::Wrong));
        let none = SpaceNeed { ciphertexts: vec![], ..table.clone() };
        assert!(matches!(fit(&none, &keys(&format!("1;{KEY_1}"))), Some(Fit::CannotTell(_))));
        let mut old = table;
        old.header.layout = Layout::MariaDb;
        assert!(matches!(fit(&old, &keys(&format!("1;{KEY_1}"))), Some(Fit::CannotTell(_))));
    }

    #[test]
    fn the_other_algorithm_is_found_where_pages_are_of_it() {
        let (iv, key) = ([7; 16], keys(&format!("1;{KEY_1}")));
        let own = blocks(Cipher::aes_256_ecb(), Mode::Encrypt, key.get("1").unwrap(), &iv).unwrap();
        let mut nonce = [0; 16];
        nonce[0] = 5;
        nonce[4] = 9;
        nonce[8] = 200;
        let mut text = [0_u8; 16];
        text[11] = 5;
        let mixed: Vec<u8> = text.iter().zip(nonce).map(|(text, nonce)| text ^ nonce).collect();
        let start = blocks(Cipher::aes_128_ecb(), Mode::Encrypt, &own, &mixed).unwrap();
        let page =
            Ciphertext { number: 9, lsn: 200, key_version: 1, start: start.as_slice().try_into().unwrap() };
        let table = space("d/c.ibd", header(Layout::FullCrc32, mariadb_block(1, iv)), vec![page]);
        assert_eq!(fit(&table, &key), Some(Fit::Opens(Some(Algorithm::Cbc))));
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
        assert_eq!(key_name(&decrypted), None);
    }
}
