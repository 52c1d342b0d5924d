//! A statement as it may be shown: its shape, without one literal, and whether it carries a secret.
//!
//! Every string and number becomes `?`, comments go. Where the server's mode or character set decides where a string ends
//! (`NO_BACKSLASH_ESCAPES`, GBK), the rest is left out: rather too little is shown than a password. A statement that
//! carries a secret is never shown at all.
//!
//! Sources: MySQL manual, "String Literals", "Comments"; MariaDB Knowledge Base, `CREATE USER`, `CHANGE MASTER TO`.

use memchr::memchr2;

/// Longer shapes are cut.
const SHAPE_CHARS_MAX: usize = 100;

/// What a statement gives away besides data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Secret {
    /// `IDENTIFIED BY`, `SET PASSWORD`, `PASSWORD()`.
    UserPassword,
    /// `CHANGE MASTER`, `CHANGE REPLICATION SOURCE`, `START REPLICA`, and what a replica registers with.
    ReplicationPassword,
    /// The login of `CREATE SERVER`, `wsrep_sst_auth`, or another option named so.
    OtherPassword,
    /// `AES_ENCRYPT`, `AES_DECRYPT`, `DES_ENCRYPT`, `ENCODE`.
    EncryptionKey,
    /// `IDENTIFIED … AS`, `IDENTIFIED BY PASSWORD`: for guessing, and for native passwords half a login.
    PasswordHash,
}

impl std::fmt::Display for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::UserPassword => "account password",
            Self::ReplicationPassword => "replication password",
            Self::OtherPassword => "another password",
            Self::EncryptionKey => "AES_ENCRYPT key",
            Self::PasswordHash => "password hash",
        })
    }
}

/// What [`read`] makes of a statement.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Statement {
    /// Empty when there is a secret.
    pub shape: String,
    /// Each kind once, in the order of the statement.
    pub secrets: Vec<Secret>,
}

/// May there be a secret in it? Cheap, and never wrong when it says no.
pub fn may_carry_secret(sql: &[u8]) -> bool {
    // A rare letter of each word, and what must stand around it.
    const WORDS: [(u8, &[u8], usize); 5] = [
        (b'w', b"SSWORD", 2),
        (b'f', b"TIFIED", 2),
        (b'y', b"CRYPT", 2),
        (b'c', b"CODE", 0),
        (b'h', b"ST_AUTH", 6),
    ];
    WORDS.iter().any(|(letter, word, before)| {
        let mut from = 0;
        while let Some(at) =
            sql.get(from..).and_then(|rest| memchr2(*letter, letter.to_ascii_uppercase(), rest))
        {
            let start = (from + at).checked_sub(*before);
            let seen = start.and_then(|start| sql.get(start..start + word.len()));
            if seen.is_some_and(|seen| seen.eq_ignore_ascii_case(word)) {
                return true;
            }
            from += at + 1;
        }
        false
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a [u8]),
    Quoted(&'a [u8]),
    /// A string, a number, a bit or hex value.
    Literal,
    Mark(u8),
    /// From here on nobody can say what is a literal.
    Unclear,
}

struct Tokens<'a> {
    rest: &'a [u8],
}

impl<'a> Tokens<'a> {
    fn split(&mut self, count: usize) -> &'a [u8] {
        let (head, tail) = self.rest.split_at(count.min(self.rest.len()));
        self.rest = tail;
        head
    }

    fn skip_to(&mut self, end: &[u8]) {
        let at = self.rest.windows(end.len()).position(|window| window == end);
        self.split(at.map_or(usize::MAX, |at| at + end.len()));
    }

    /// A string from its opening quote on.
    fn string(&mut self, quote: u8) -> Token<'a> {
        self.split(1);
        let mut bytes = self.rest.iter().copied().enumerate().peekable();
        while let Some((at, byte)) = bytes.next() {
            let next = bytes.peek().map(|(_, byte)| *byte);
            if byte == b'\\' && next.is_some_and(|next| matches!(next, b'\'' | b'"')) {
                // In one mode the string goes on, in the other it ends here.
                self.rest = &[];
                return Token::Unclear;
            }
            // What is escaped by a backslash, or by being doubled, does not end it.
            if byte == b'\\' || (byte == quote && next == Some(quote)) {
                bytes.next();
            } else if byte == quote {
                self.split(at + 1);
                return Token::Literal;
            }
        }
        self.rest = &[];
        Token::Literal
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'@') || byte >= 0x80
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let first = *self.rest.first()?;
            let second = self.rest.get(1).copied();
            match (first, second) {
                (b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c | 0, _) => {
                    self.split(1);
                }
                (b'#', _) => self.skip_to(b"\n"),
                (b'-', Some(b'-')) if self.rest.get(2).is_none_or(u8::is_ascii_whitespace) => {
                    self.skip_to(b"\n");
                }
                // What stands in such a comment is run.
                (b'/', Some(b'*')) if self.rest.get(2) == Some(&b'!') || self.rest.starts_with(b"/*M!") => {
                    self.split(3);
                    if self.rest.first() == Some(&b'!') {
                        self.split(1);
                    }
                    let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                    self.split(digits);
                }
                (b'/', Some(b'*')) => self.skip_to(b"*/"),
                (b'*', Some(b'/')) => {
                    self.split(2);
                }
                (b'\'' | b'"', _) => return Some(self.string(first)),
                (b'x' | b'X' | b'b' | b'B' | b'n' | b'N', Some(b'\'')) => {
                    self.split(1);
                    return Some(self.string(b'\''));
                }
                (b'`', _) => {
                    self.split(1);
                    let Some(end) = self.rest.iter().position(|byte| *byte == b'`') else {
                        self.rest = &[];
                        return Some(Token::Unclear);
                    };
                    let name = self.split(end);
                    self.split(1);
                    return Some(Token::Quoted(name));
                }
                (b'0'..=b'9', _) => {
                    let count = self.rest.iter().take_while(|byte| is_word(**byte) || **byte == b'.').count();
                    self.split(count);
                    return Some(Token::Literal);
                }
                _ if is_word(first) => {
                    let count = self.rest.iter().take_while(|byte| is_word(**byte)).count();
                    return Some(Token::Word(self.split(count)));
                }
                _ => {
                    self.split(1);
                    return Some(Token::Mark(first));
                }
            }
        }
    }
}

fn has_word(words: &[&[u8]], word: &str) -> bool {
    words.iter().any(|seen| seen.eq_ignore_ascii_case(word.as_bytes()))
}

/// Which secret a literal is, by the words and marks before it.
fn secret(before: &[&[u8]], is_replication: bool, key_depth: bool) -> Option<Secret> {
    if key_depth {
        return Some(Secret::EncryptionKey);
    }
    let [.., second, last] = before else { return None };
    let is = |word: &[u8], text: &str| word.eq_ignore_ascii_case(text.as_bytes());
    // `IDENTIFIED BY 'x'`, `BY PASSWORD 'hash'`, `WITH plugin BY 'x'`, `AS 'hash'`, `USING 'hash'`, `REPLACE 'old'`.
    if is(last, "BY") && has_word(before, "IDENTIFIED") {
        return Some(Secret::UserPassword);
    }
    if has_word(before, "IDENTIFIED")
        && (is(last, "AS") || is(last, "USING") || (is(second, "BY") && is(last, "PASSWORD")))
    {
        return Some(Secret::PasswordHash);
    }
    if is(last, "REPLACE") && has_word(before, "IDENTIFIED") {
        return Some(Secret::UserPassword);
    }
    let name = if matches!(last, [b'=' | b'(' | b',']) { second } else { last };
    let upper = name.to_ascii_uppercase();
    let upper = upper.as_slice();
    if upper.ends_with(b"SST_AUTH") {
        return Some(Secret::OtherPassword);
    }
    if upper.ends_with(b"PASSWORD") {
        return Some(match upper {
            b"MASTER_PASSWORD" | b"SOURCE_PASSWORD" => Secret::ReplicationPassword,
            _ if is_replication => Secret::ReplicationPassword,
            b"PASSWORD" | b"OLD_PASSWORD" if last != b"," && (last == b"=" || last == b"(") => {
                Secret::UserPassword
            }
            _ => Secret::OtherPassword,
        });
    }
    None
}

fn remember<'a>(last_eight: &mut [&'a [u8]; 8], what: &'a [u8]) {
    last_eight.rotate_left(1);
    if let Some(last) = last_eight.last_mut() {
        *last = what;
    }
}

/// Reads a statement, or as much of it as there is.
pub fn read(sql: &[u8]) -> Statement {
    let mut out = Statement::default();
    let may_carry_secret = may_carry_secret(sql);
    let mut first_word: &[u8] = b"";
    let mut last_eight: [&[u8]; 8] = [b""; 8];
    let mut depth = 0_u32;
    let mut key_depth: Option<u32> = None;
    let mut is_set_password = false;
    let mut is_tight = true;
    for token in (Tokens { rest: sql }) {
        if !may_carry_secret && out.shape.len() >= SHAPE_CHARS_MAX {
            break;
        }
        let text = match token {
            Token::Word(word) => {
                if first_word.is_empty() {
                    first_word = word;
                }
                is_set_password |=
                    first_word.eq_ignore_ascii_case(b"SET") && word.eq_ignore_ascii_case(b"PASSWORD");
                remember(&mut last_eight, word);
                wire::printable(&String::from_utf8_lossy(word))
            }
            // The name may be a person's, but it is no value.
            Token::Quoted(name) => {
                remember(&mut last_eight, b"`");
                format!("`{}`", wire::printable(&String::from_utf8_lossy(name)))
            }
            Token::Mark(mark) => {
                if mark == b'(' {
                    depth += 1;
                    let function = last_eight.last().copied().unwrap_or_default().to_ascii_uppercase();
                    if matches!(
                        function.as_slice(),
                        b"AES_ENCRYPT"
                            | b"AES_DECRYPT"
                            | b"DES_ENCRYPT"
                            | b"DES_DECRYPT"
                            | b"ENCODE"
                            | b"DECODE"
                            | b"ENCRYPT"
                    ) {
                        key_depth.get_or_insert(depth);
                    }
                } else if mark == b')' {
                    if key_depth == Some(depth) {
                        key_depth = None;
                    }
                    depth = depth.saturating_sub(1);
                }
                remember(
                    &mut last_eight,
                    match mark {
                        b'=' => b"=",
                        b'(' => b"(",
                        b',' => b",",
                        _ => b".",
                    },
                );
                char::from(mark).to_string()
            }
            Token::Literal | Token::Unclear => {
                let is_replication =
                    ["CHANGE", "START"].iter().any(|word| first_word.eq_ignore_ascii_case(word.as_bytes()));
                let mut found = secret(&last_eight, is_replication, key_depth.is_some());
                if found.is_none() && is_set_password {
                    found = Some(Secret::UserPassword);
                }
                if let Some(found) = found
                    && !out.secrets.contains(&found)
                {
                    out.secrets.push(found);
                }
                remember(&mut last_eight, b"?");
                if token == Token::Unclear { "? …".to_owned() } else { "?".to_owned() }
            }
        };
        if out.shape.len() < SHAPE_CHARS_MAX {
            let joins = matches!(token, Token::Mark(b',' | b')' | b'.' | b';' | b'('));
            if !is_tight && !joins {
                out.shape.push(' ');
            }
            is_tight = matches!(token, Token::Mark(b'(' | b'.'));
            out.shape.push_str(&text);
        }
    }
    if let Some((cut, _)) = out.shape.char_indices().nth(SHAPE_CHARS_MAX) {
        out.shape.truncate(cut);
        out.shape.push('…');
    }
    if !out.secrets.is_empty() {
        out.shape.clear();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shapes_have_no_literal() {
        for (sql, shape) in [
            ("SELECT a, b FROM t WHERE c='x' AND d = 17", "SELECT a, b FROM t WHERE c = ? AND d = ?"),
            (
                "INSERT INTO `s`.`t` VALUES (1,'it''s',\"q\",0xff,x'41',1.5e3,N'u')",
                "INSERT INTO `s`.`t` VALUES(?, ?, ?, ?, ?, ?, ?)",
            ),
            ("SELECT /* user 17 */ 1 -- secret\n + 2 # more", "SELECT ? + ?"),
            ("SELECT 'a\\\\b', c", "SELECT ?, c"),
            ("SELECT 'a\\', hidden, 'b' FROM t", "SELECT ? …"),
            ("SELECT 'open", "SELECT ?"),
            ("SELECT `open", "SELECT ? …"),
            ("/*!40101 SET NAMES utf8 */", "SET NAMES utf8"),
            ("SELECT\n\t@@version_comment   limit 1", "SELECT @@version_comment limit ?"),
            ("SELECT \x1b[2J", "SELECT \u{1b} [ ?"),
        ] {
            let seen = read(sql.as_bytes());
            assert_eq!((seen.shape.as_str(), seen.secrets), (shape, vec![]), "{sql}");
        }
    }

    #[test]
    fn statements_that_carry_secrets_are_told_and_not_shown() {
        use Secret::{EncryptionKey, OtherPassword, PasswordHash, ReplicationPassword, UserPassword};
        for (sql, secret) in [
            ("SET PASSWORD = 'x'", UserPassword),
            ("SET PASSWORD FOR 'u'@'%' = PASSWORD('x')", UserPassword),
            ("set password for u = 'x'", UserPassword),
            ("CREATE USER u@h IDENTIFIED BY 'x'", UserPassword),
            ("ALTER USER u IDENTIFIED WITH caching_sha2_password BY 'x' REPLACE 'y'", UserPassword),
            ("GRANT ALL ON *.* TO u@`%` identified by \"x\"", UserPassword),
            ("/*!50700 CREATE USER u IDENTIFIED BY 'x' */", UserPassword),
            ("CREATE USER u IDENTIFIED BY PASSWORD '*AB'", PasswordHash),
            ("CREATE USER u IDENTIFIED WITH mysql_native_password AS '*AB'", PasswordHash),
            ("CREATE USER u IDENTIFIED VIA ed25519 USING 'AB'", PasswordHash),
            ("CREATE USER u IDENTIFIED VIA ed25519 USING PASSWORD('x')", UserPassword),
            ("CHANGE MASTER TO master_host='h', master_password='x'", ReplicationPassword),
            ("CHANGE REPLICATION SOURCE TO SOURCE_PASSWORD = 'x'", ReplicationPassword),
            ("START SLAVE USER='u' PASSWORD='x'", ReplicationPassword),
            ("CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (USER 'u', PASSWORD 'x')", OtherPassword),
            ("SET GLOBAL wsrep_sst_auth = 'u:x'", OtherPassword),
            ("SELECT AES_ENCRYPT(name, 'x') FROM t", EncryptionKey),
            ("select aes_decrypt(unhex(c), sha2('x', 512))", EncryptionKey),
        ] {
            let seen = read(sql.as_bytes());
            assert!(seen.secrets.contains(&secret), "{sql}: {seen:?}");
            assert_eq!(seen.shape, "", "{sql}");
        }
    }

    #[test]
    fn ordinary_statements_carry_none() {
        for sql in [
            "SELECT password FROM users WHERE name = 'x'",
            "SHOW VARIABLES LIKE 'password'",
            "SELECT encode FROM jobs LIMIT 5",
            "CREATE TABLE t (password VARCHAR(30))",
            "CREATE USER u IDENTIFIED VIA unix_socket",
        ] {
            assert_eq!(read(sql.as_bytes()).secrets, [], "{sql}");
        }
    }

    proptest! {
        #[test]
        fn no_literal_is_ever_shown(
            before in "[A-PR-Za-pr-z_ (,=`]{0,20}", quote in "['\"]", secret in "qz[a-z ]{0,9}zq", after in "[A-PR-Za-pr-z '\"\\\\,)=]{0,20}",
        ) {
            // A backtick that is open may not close inside the literal: then it is a name, and no server takes it so.
            let before = before.replace('`', "");
            let sql = format!("{before} {quote}{secret}{quote} {after}");
            prop_assert!(!read(sql.as_bytes()).shape.contains("qz"), "{}", sql);
        }

        #[test]
        fn no_bytes_panic(sql in proptest::collection::vec(any::<u8>(), 0..200)) {
            let seen = read(&sql);
            prop_assert!(seen.shape.chars().count() <= SHAPE_CHARS_MAX + 1);
            prop_assert!(seen.secrets.is_empty() || may_carry_secret(&sql));
        }
    }
}
