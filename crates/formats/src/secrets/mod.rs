//! Secrets in what servers and clients write down: statements in logs, binary logs and histories. Bytes come in as pieces of any size, and
//! hits go out: which kind, where. The value itself never leaves.
//!
//! Two steps: [`Search`] looks for a few rare letters of each word at the speed of memory, and [`statement`] reads what stands around
//! them. A hit hangs only on the bytes within [`BEFORE_BYTES`] and [`AFTER_BYTES`] of the word, so that it is the same however the
//! bytes were cut.

mod history;
mod statement;

use history::Lines;
use statement::Anchor;

/// What stands in front of a word and belongs to its statement: `OPTIONS (`, `UPDATE table SET`.
pub const BEFORE_BYTES: usize = 512;
/// The first argument of `AES_ENCRYPT` stands in front of the key, and may be long. A key behind a longer one is not seen.
pub const AFTER_BYTES: usize = 4096;
/// What was judged is kept until so much has come together.
const KEPT_BYTES_MAX: usize = 256 * 1024;
/// Bytes that are looked at together.
const BLOCK_BYTES: usize = 1024;
/// The letters that are looked for.
const LETTERS: usize = 3;

/// What kind of secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `IDENTIFIED BY 'p'`, `IDENTIFIED VIA x USING PASSWORD('p')`.
    IdentifiedBy,
    SetPassword,
    /// `PASSWORD('p')` elsewhere.
    PasswordFunction,
    /// Of a replication channel: `MASTER_PASSWORD`, `SOURCE_PASSWORD`, `START REPLICA … PASSWORD`.
    SourcePassword,
    /// The key of `AES_ENCRYPT` or `AES_DECRYPT`.
    AesKey,
    /// `CREATE SERVER … OPTIONS (PASSWORD 'p')`.
    ServerPassword,
    /// `mysql://user:p@host`.
    ConnectionUrl,
    /// `wsrep_sst_auth`.
    SstAuth,
}

impl Kind {
    pub const ALL: [Self; 8] = [
        Self::IdentifiedBy,
        Self::SetPassword,
        Self::PasswordFunction,
        Self::SourcePassword,
        Self::AesKey,
        Self::ServerPassword,
        Self::ConnectionUrl,
        Self::SstAuth,
    ];

    /// As people know it.
    pub fn words(self) -> &'static str {
        match self {
            Self::IdentifiedBy => "password of IDENTIFIED BY",
            Self::SetPassword => "password of SET PASSWORD",
            Self::PasswordFunction => "password of PASSWORD()",
            Self::SourcePassword => "password for a replication source",
            Self::AesKey => "key of AES_ENCRYPT",
            Self::ServerPassword => "password of CREATE SERVER",
            Self::ConnectionUrl => "password in a mysql:// URL",
            Self::SstAuth => "password of wsrep_sst_auth",
        }
    }
}

/// Where a secret stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    pub kind: Kind,
    /// Of the words in front of it, in the bytes that came; of a history, of their line.
    pub offset: u64,
    /// Of those words: what is there up to the value.
    pub length: u32,
}

/// A search through one file.
#[derive(Debug)]
pub struct Search {
    window: Vec<u8>,
    /// Where the window begins.
    base: u64,
    /// Up to here, in the window, all was judged.
    judged: usize,
    /// The value of the hit before: two words may lead to one.
    last_value: Option<u64>,
    /// Of a history, whose lines are encoded.
    lines: Option<Lines>,
}

impl Search {
    /// Of logs, binary logs, and anything else that has statements as they are.
    pub fn plain() -> Self {
        Self { window: Vec::new(), base: 0, judged: 0, last_value: None, lines: None }
    }

    /// Of a client's history, in which blanks may stand as `\040`.
    pub fn history() -> Self {
        Self { lines: Some(Lines::default()), ..Self::plain() }
    }

    /// The next bytes.
    pub fn push(&mut self, bytes: &[u8], hits: &mut Vec<Hit>) {
        match &mut self.lines {
            Some(lines) => lines.decode(bytes, &mut self.window, self.base),
            None => self.window.extend_from_slice(bytes),
        }
        let until = self.window.len().saturating_sub(AFTER_BYTES);
        self.judge(until, hits);
        if self.judged > KEPT_BYTES_MAX {
            // An anchor begins a few letters in front of those that were found.
            let gone = self.judged.saturating_sub(BEFORE_BYTES + Anchor::LENGTH_MAX);
            self.window.drain(..gone);
            self.judged -= gone;
            self.base += gone as u64;
            if let Some(lines) = &mut self.lines {
                lines.forget_before(self.base);
            }
        }
    }

    /// Nothing more comes.
    pub fn finish(mut self, hits: &mut Vec<Hit>) {
        if let Some(lines) = &mut self.lines {
            lines.end(&mut self.window);
        }
        self.judge(self.window.len(), hits);
    }

    /// What begins in front of `until` and was not judged yet.
    fn judge(&mut self, until: usize, hits: &mut Vec<Hit>) {
        let mut marks = [0; BLOCK_BYTES];
        while self.judged < until {
            let from = self.judged;
            let length = BLOCK_BYTES.min(until - from);
            let rest = self.window.get(from..).unwrap_or_default();
            if let Some(block) = rest.first_chunk() {
                mark(block, &mut marks);
            } else {
                let mut last = [0; BLOCK_BYTES + LETTERS - 1];
                for (to, byte) in last.iter_mut().zip(rest) {
                    *to = *byte;
                }
                mark(&last, &mut marks);
            }
            for at in memchr::memchr_iter(1, marks.get(..length).unwrap_or_default()) {
                self.judge_at(from + at, hits);
            }
            self.judged = from + length;
        }
    }

    fn judge_at(&mut self, letters: usize, hits: &mut Vec<Hit>) {
        let Some((anchor, at)) = Anchor::around(&self.window, letters) else { return };
        let (from, to) = (at.saturating_sub(BEFORE_BYTES), (at + AFTER_BYTES).min(self.window.len()));
        let text = self.window.get(from..to).unwrap_or_default();
        let Some(found) = statement::read(text, at - from, anchor) else { return };
        let in_all = |place: usize| self.base + (from + place) as u64;
        let value = in_all(found.value);
        if self.last_value.replace(value) == Some(value) {
            return;
        }
        let offset = in_all(found.words);
        hits.push(Hit {
            kind: found.kind,
            offset: self.lines.as_ref().map_or(offset, |lines| lines.line_of(offset)),
            length: u32::try_from(found.value - found.words).unwrap_or(u32::MAX),
        });
    }
}

/// One letter group of each [`Anchor`], in lower case: rare in statements and in prose. Written so that the compiler makes it work on many
/// bytes at once: no branch, and every length is known.
fn mark(block: &[u8; BLOCK_BYTES + LETTERS - 1], marks: &mut [u8; BLOCK_BYTES]) {
    // Also makes `_` and `:` others, which the anchor then is compared with as a whole.
    const LOWER: u8 = 0x20;
    let (second, third) = (block.iter().skip(1), block.iter().skip(2));
    for (((mark, a), b), c) in marks.iter_mut().zip(block).zip(second).zip(third) {
        let (a, b, c) = (a | LOWER, b | LOWER, c | LOWER);
        let is = |letters: [u8; LETTERS]| {
            u8::from(a == letters[0]) & u8::from(b == letters[1]) & u8::from(c == letters[2])
        };
        *mark = is(*b"tif") | is(*b"ssw") | is(*b"aes") | is(*b"l:/") | is(*b"sst");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hits_of(mut search: Search, text: &[u8], pieces: impl Iterator<Item = usize>) -> Vec<Hit> {
        let (mut hits, mut rest, mut pieces) = (Vec::new(), text, pieces);
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at(pieces.next().unwrap_or(rest.len()).clamp(1, rest.len()));
            search.push(piece, &mut hits);
            rest = behind;
        }
        search.finish(&mut hits);
        hits
    }

    fn whole(text: &[u8]) -> Vec<Hit> {
        hits_of(Search::plain(), text, std::iter::empty())
    }

    /// What stands where a hit points to, up to the value, which has to be SECRET.
    fn words<'t>(text: &'t str, hit: &Hit) -> &'t str {
        let from = usize::try_from(hit.offset).expect("short");
        let (words, value) = text[from..].split_at(hit.length as usize);
        let value = value.trim_start_matches(['\\', '\'', '"']);
        assert!(value.starts_with("SECRET"), "{text}: the value is said to be at {value:?}");
        words
    }

    #[test]
    fn each_kind_of_secret_is_found_in_every_way_of_writing_it() {
        use Kind::*;
        for (text, kind, expected) in [
            ("CREATE USER a IDENTIFIED BY 'SECRET'", IdentifiedBy, "IDENTIFIED BY "),
            ("create user a identified  by \"SECRET\"", IdentifiedBy, "identified  by "),
            ("GRANT ALL ON *.* TO a IDENTIFIED/* x */BY\n'SECRET'", IdentifiedBy, "IDENTIFIED/* x */BY\n"),
            ("CREATE USER a IDENTIFIED -- x\n BY 'SECRET'", IdentifiedBy, "IDENTIFIED -- x\n BY "),
            ("CREATE USER a IDENTIFIED # x\n BY 'SECRET'", IdentifiedBy, "IDENTIFIED # x\n BY "),
            ("/*!50000 CREATE USER a IDENTIFIED BY 'SECRET' */", IdentifiedBy, "IDENTIFIED BY "),
            ("CREATE USER a IDENTIFIED /*!50000 BY */ 'SECRET'", IdentifiedBy, "IDENTIFIED /*!50000 BY */ "),
            ("PREPARE s FROM 'CREATE USER a IDENTIFIED BY ''SECRET'''", IdentifiedBy, "IDENTIFIED BY "),
            (r#"{"sql": "ALTER USER a IDENTIFIED BY \"SECRET\""}"#, IdentifiedBy, "IDENTIFIED BY "),
            (r"EXECUTE IMMEDIATE 'ALTER USER a IDENTIFIED BY \'SECRET\''", IdentifiedBy, "IDENTIFIED BY "),
            (
                "ALTER USER a IDENTIFIED WITH mysql_native_password BY 'SECRET'",
                IdentifiedBy,
                "IDENTIFIED WITH mysql_native_password BY ",
            ),
            (
                "ALTER USER a IDENTIFIED WITH 'caching_sha2_password' BY 'SECRET'",
                IdentifiedBy,
                "IDENTIFIED WITH 'caching_sha2_password' BY ",
            ),
            (
                "CREATE USER a IDENTIFIED VIA ed25519 USING PASSWORD('SECRET')",
                IdentifiedBy,
                "IDENTIFIED VIA ed25519 USING PASSWORD(",
            ),
            ("SET PASSWORD = PASSWORD('SECRET')", SetPassword, "SET PASSWORD = PASSWORD("),
            ("5 Query\tSET PASSWORD='SECRET'", SetPassword, "SET PASSWORD="),
            (
                "SET PASSWORD FOR 'a'@'%' = OLD_PASSWORD('SECRET')",
                SetPassword,
                "SET PASSWORD FOR 'a'@'%' = OLD_PASSWORD(",
            ),
            (
                "UPDATE t SET a=1;\n7 Query\tset password for a@b='SECRET'",
                SetPassword,
                "set password for a@b=",
            ),
            ("UPDATE mysql.user SET Password=PASSWORD('SECRET')", PasswordFunction, "PASSWORD("),
            ("CHANGE MASTER TO MASTER_PASSWORD = 'SECRET'", SourcePassword, "MASTER_PASSWORD = "),
            ("CHANGE REPLICATION SOURCE TO source_password='SECRET'", SourcePassword, "source_password="),
            ("START REPLICA USER='r' PASSWORD='SECRET'", SourcePassword, "PASSWORD="),
            (
                "UPDATE t SET a=AES_ENCRYPT('it''s, (plain)', 'SECRET')",
                AesKey,
                "AES_ENCRYPT('it''s, (plain)', ",
            ),
            (
                "SELECT aes_decrypt(concat(a, ',', b),UNHEX(SHA2('SECRET',512)))",
                AesKey,
                "aes_decrypt(concat(a, ',', b),UNHEX(SHA2(",
            ),
            (
                "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'h', PASSWORD 'SECRET')",
                ServerPassword,
                "PASSWORD ",
            ),
            ("CREATE TABLE t (a INT) CONNECTION='mysql://u:SECRET@h/d/t'", ConnectionUrl, "mysql://u:"),
            ("SET GLOBAL wsrep_sst_auth = 'sst:SECRET'", SstAuth, "wsrep_sst_auth = 'sst:"),
            ("wsrep_sst_auth=sst:SECRET\n", SstAuth, "wsrep_sst_auth=sst:"),
        ] {
            let hits = whole(text.as_bytes());
            let said: Vec<_> = hits.iter().map(|hit| (hit.kind, words(text, hit))).collect();
            assert_eq!(said, [(kind, expected)], "{text}");
            // Far behind other bytes, in a binary file, and in either case.
            let far = [&vec![0; 300_000], text.as_bytes()].concat();
            assert_eq!(whole(&far).len(), 1, "{text}");
        }
        assert_eq!(whole(b"SELECT AES_ENCRYPT(AES_ENCRYPT('a','SECRET'),'SECRET')").len(), 2);
        assert_eq!(whole(b"SELECT AES_DECRYPT(a, 0x0102), AES_DECRYPT(a, x'0102')").len(), 2);
        assert_eq!(
            whole(b"IDENTIFIED VIA ed25519 USING PASSWORD('a') OR unix_socket OR x USING PASSWORD('b')")
                .len(),
            2
        );
    }

    #[test]
    fn what_holds_no_secret_is_no_hit() {
        for text in [
            "CREATE USER a IDENTIFIED BY <secret>",
            "CREATE USER a IDENTIFIED BY '<secret>'",
            "CREATE USER a IDENTIFIED BY ***** ",
            "CREATE USER a IDENTIFIED BY '*****'",
            "CREATE USER a IDENTIFIED BY ?",
            "CREATE USER a IDENTIFIED BY '?'",
            "CREATE USER a IDENTIFIED BY ''",
            "CREATE USER a IDENTIFIED BY '', b IDENTIFIED BY ''",
            "CREATE USER a IDENTIFIED BY PASSWORD '*94BDCEBE19083CE2A1F959FD02F964C7AF4CFC29'",
            "CREATE USER a IDENTIFIED BY PASSWORD '5d2e19393cc5ef67'",
            "CREATE USER a IDENTIFIED BY RANDOM PASSWORD",
            "CREATE USER a IDENTIFIED WITH 'caching_sha2_password' AS '$A$005$abc'",
            "CREATE USER a IDENTIFIED WITH caching_sha2_password AS 0x244124303035",
            "CREATE USER a IDENTIFIED VIA ed25519 USING 'F6Ma2DXnTBFsGkZWJbkOd3AwAhAf0Rt2y9C8qQe8UKo'",
            "CREATE USER a IDENTIFIED VIA unix_socket",
            "SET PASSWORD FOR 'a'@'%' = '*94BDCEBE19083CE2A1F959FD02F964C7AF4CFC29'",
            "SET PASSWORD FOR 'a'@'%' = '5d2e19393cc5ef67'",
            "SET PASSWORD FOR `a`@`%`=<secret>",
            "SET PASSWORD FOR a TO RANDOM",
            "CHANGE MASTER TO MASTER_PASSWORD = <secret>",
            "CHANGE REPLICATION SOURCE TO SOURCE_PASSWORD = '*****'",
            "SELECT AES_ENCRYPT(?, ?)",
            "SELECT AES_ENCRYPT(a, @key), AES_DECRYPT(a, t.k)",
            "SELECT AES_ENCRYPT('a', KEY_FROM(id))",
            "CREATE SERVER s OPTIONS (USER 'u', PASSWORD <secret>)",
            "UPDATE users SET password='5f4dcc3b5aa765d61d8327deb882cf99'",
            "UPDATE users u JOIN a ON a.id = u.id\nSET password = 'x'",
            "INSERT INTO users SET password='x'",
            "INSERT INTO users (password) VALUES ('x')",
            "SELECT * FROM users WHERE password='x'",
            "ALTER TABLE t ADD password VARCHAR(64) COMMENT 'x', ADD hashed_password 'y'",
            "mysql://h/d",
            "mysql://u@h/d",
            "mysql://u:@h",
            "mysql://u:***@h",
            "see http://h:1@x",
            "| wsrep_sst_auth | ******** |",
            "wsrep_sst_auth=********",
            "wsrep_sst_auth=root:",
            "wsrep_sst_auth = ''",
            "passwords are identified by their owners' names",
            "they are identified by 7",
            "Access denied for user 'a'@'h' (using password: YES)",
        ] {
            assert_eq!(whole(text.as_bytes()), [], "{text}");
        }
    }

    #[test]
    fn a_history_is_decoded_and_its_line_is_told() {
        let text = b"_HiStOrY_V2_\nSELECT\\0401;\nCREATE\\040USER\\040a\\040IDENTIFIED\\040BY\\040'it\\\\'s';\nx\\04";
        assert_eq!(whole(text), []);
        let hits = hits_of(Search::history(), text, std::iter::empty());
        assert_eq!(hits, [Hit { kind: Kind::IdentifiedBy, offset: 26, length: 14 }]);
        assert!(text[26..].starts_with(b"CREATE"));
        // MariaDB's client of a version with another library writes them as they are.
        let plain = hits_of(Search::history(), b"CREATE USER a IDENTIFIED BY 'p';\n", std::iter::empty());
        assert_eq!(plain.len(), 1);
    }

    fn fragments() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            4 => proptest::sample::select(&[
                "IDENTIFIED", " BY ", "'p'", "PASSWORD", "SET ", " = ", "(", ",", "AES_ENCRYPT(", "'", "\\", "\\040", "mysql://u:p@h",
                "wsrep_sst_auth=a:b", "OPTIONS (", "MASTER_PASSWORD='x'", "/*", "*/", "UPDATE t ", "\n", "identified by \"x\"", "''", "?",
            ][..]).prop_map(|text| text.as_bytes().to_vec()),
            1 => proptest::collection::vec(any::<u8>(), 0..20),
            1 => (any::<u8>(), 0..6000_usize).prop_map(|(byte, count)| vec![byte; count]),
        ];
        proptest::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn hits_are_the_same_however_the_bytes_were_cut(
            text in fragments(),
            cuts in proptest::collection::vec(1..3000_usize, 1..20),
            is_history: bool,
        ) {
            let search = || if is_history { Search::history() } else { Search::plain() };
            let at_once = hits_of(search(), &text, std::iter::empty());
            let cut = hits_of(search(), &text, cuts.into_iter().cycle());
            prop_assert_eq!(&at_once, &cut);
            for hit in at_once {
                prop_assert!(hit.offset < text.len() as u64);
            }
        }
    }
}
