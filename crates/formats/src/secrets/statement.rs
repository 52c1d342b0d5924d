//! What stands around one word: whether a secret follows it. Servers' own ways of leaving a value out (`<secret>`, `*****`, `?`) and
//! hashes are none.

use super::Kind;

/// A word that leads to a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Identified,
    Password,
    Aes,
    Url,
    SstAuth,
}

impl Anchor {
    pub const LENGTH_MAX: usize = 16;
    /// The word in lower case, and where in it the letters are that are looked for. Nothing before them is in two words.
    const ALL: [(Self, &'static [u8], usize); 5] = [
        (Self::Identified, b"identified", 4),
        (Self::Password, b"password", 2),
        (Self::Aes, b"aes_", 0),
        (Self::Url, b"mysql://", 4),
        (Self::SstAuth, b"wsrep_sst_auth", 6),
    ];

    /// The word whose letters are at this place, and where it begins.
    pub fn around(window: &[u8], letters: usize) -> Option<(Self, usize)> {
        Self::ALL.iter().find_map(|(anchor, word, behind)| {
            let at = letters.checked_sub(*behind)?;
            let there = window.get(at..at.checked_add(word.len())?)?;
            there.eq_ignore_ascii_case(word).then_some((*anchor, at))
        })
    }
}

/// Places in the text that was handed in.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub kind: Kind,
    /// Where the words begin that say what it is.
    pub words: usize,
    /// Where the value begins, with its quotes.
    pub value: usize,
}

/// A password of an account in a statement, or a name, has fewer bytes.
const NAME_BYTES_MAX: usize = 256;
/// `UNHEX(SHA2('key', 512))`, and a few more.
const FUNCTIONS_MAX: usize = 4;

/// `at`: where the word of `anchor` stands.
pub(super) fn read(text: &[u8], at: usize, anchor: Anchor) -> Option<Found> {
    match anchor {
        Anchor::Identified => identified(text, at),
        Anchor::Password => password(text, at),
        Anchor::Aes => aes(text, at),
        Anchor::Url => url(text, at),
        Anchor::SstAuth => sst_auth(text, at),
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c)
}

/// Whether the word at this place begins there.
fn begins_a_word(text: &[u8], at: usize) -> bool {
    at.checked_sub(1).and_then(|before| text.get(before)).is_none_or(|byte| !is_name(*byte))
}

fn identified(text: &[u8], at: usize) -> Option<Found> {
    if !begins_a_word(text, at) {
        return None;
    }
    let mut cursor = Cursor { text, at: at + b"identified".len() };
    cursor.blanks();
    if cursor.word(b"with") {
        cursor.name()?;
        cursor.blanks();
    } else if cursor.word(b"via") {
        cursor.name()?;
        cursor.blanks();
        if !cursor.word(b"using") && !cursor.word(b"as") {
            return None;
        }
        cursor.function_of_passwords()?;
        return cursor.secret(Kind::IdentifiedBy, at);
    }
    if !cursor.word(b"by") {
        return None;
    }
    cursor.secret(Kind::IdentifiedBy, at)
}

fn password(text: &[u8], at: usize) -> Option<Found> {
    let mut cursor = Cursor { text, at: at + b"password".len() };
    if cursor.peek().is_some_and(is_name) {
        return None;
    }
    let front = text.get(..at).unwrap_or_default();
    if !begins_a_word(text, at) {
        return of_source(front, cursor).or_else(|| {
            let words = at.checked_sub(b"old_".len())?;
            let is_old = text.get(words..at)?.eq_ignore_ascii_case(b"old_") && begins_a_word(text, words);
            is_old.then_some(())?;
            cursor.take(b'(')?;
            cursor.secret(Kind::PasswordFunction, words)
        });
    }
    let (set, word) = last_word(front);
    let is_set = word.eq_ignore_ascii_case(b"set") && !is_of_rows(front.get(..set).unwrap_or_default());
    cursor.blanks();
    match cursor.peek()? {
        b'(' => {
            cursor.at += 1;
            cursor.secret(Kind::PasswordFunction, at)
        }
        b'=' if is_set => {
            cursor.at += 1;
            let _ = cursor.function_of_passwords();
            cursor.password_or_hash(set)
        }
        b'=' if starts_a_replica(front) => {
            cursor.at += 1;
            cursor.secret(Kind::SourcePassword, at)
        }
        b'f' | b'F' if is_set => {
            cursor.word(b"for").then_some(())?;
            cursor.account()?;
            let _ = cursor.function_of_passwords();
            cursor.password_or_hash(set)
        }
        b'\'' | b'"' | b'\\' => {
            let before = front.iter().rev().find(|byte| !is_blank(**byte));
            let is_option = matches!(before, Some(b'(' | b',')) && has_word(front, b"options");
            is_option.then_some(())?;
            cursor.secret(Kind::ServerPassword, at)
        }
        _ => None,
    }
}

/// `MASTER_PASSWORD = 'p'`.
fn of_source(front: &[u8], mut cursor: Cursor<'_>) -> Option<Found> {
    const BEGIN: usize = b"master_".len();
    let words = front.len().checked_sub(BEGIN)?;
    let begin = front.get(words..)?;
    let is_one = begin.eq_ignore_ascii_case(b"master_") || begin.eq_ignore_ascii_case(b"source_");
    (is_one && begins_a_word(front, words)).then_some(())?;
    cursor.blanks();
    cursor.take(b'=')?;
    cursor.secret(Kind::SourcePassword, words)
}

/// Where the last word of a text begins, and the word.
fn last_word(text: &[u8]) -> (usize, &[u8]) {
    let end = text.iter().rposition(|byte| !is_blank(*byte)).map_or(0, |last| last + 1);
    let begin = text.get(..end).and_then(|text| text.iter().rposition(|byte| !is_name(*byte)));
    let begin = begin.map_or(0, |before| before + 1);
    (begin, text.get(begin..end).unwrap_or_default())
}

/// Whether what stands before SET is `UPDATE table` or `INSERT INTO table`: then the password is a column.
fn is_of_rows(front: &[u8]) -> bool {
    let statement = front.rsplit(|byte| *byte == b';').next().unwrap_or_default();
    let words = statement.split(|byte| !is_name(*byte)).filter(|word| !word.is_empty());
    let mut is_of_rows = false;
    for word in words {
        if [&b"update"[..], b"insert", b"replace"].iter().any(|one| word.eq_ignore_ascii_case(one)) {
            is_of_rows = true;
        } else if word.eq_ignore_ascii_case(b"set") {
            // That was another statement, in the line before.
            is_of_rows = false;
        }
    }
    is_of_rows
}

fn has_word(text: &[u8], wanted: &[u8]) -> bool {
    text.split(|byte| !is_name(*byte)).any(|word| word.eq_ignore_ascii_case(wanted))
}

/// `START REPLICA USER = 'u'`.
fn starts_a_replica(front: &[u8]) -> bool {
    let statement = front.rsplit(|byte| *byte == b';').next().unwrap_or_default();
    let is_replica =
        [&b"replica"[..], b"slave", b"group_replication"].iter().any(|word| has_word(statement, word));
    is_replica && has_word(statement, b"start") && has_word(statement, b"user")
}

fn aes(text: &[u8], at: usize) -> Option<Found> {
    if !begins_a_word(text, at) {
        return None;
    }
    let mut cursor = Cursor { text, at: at + b"aes_".len() };
    if !cursor.word(b"encrypt") && !cursor.word(b"decrypt") {
        return None;
    }
    cursor.blanks();
    cursor.take(b'(')?;
    cursor.argument()?;
    for _ in 0..FUNCTIONS_MAX {
        cursor.blanks();
        let here = cursor.at;
        match cursor.peek()? {
            b'\'' | b'"' | b'\\' => return cursor.secret(Kind::AesKey, at),
            b'0' if matches!(text.get(here + 1), Some(b'x' | b'X')) => {
                return Some(Found { kind: Kind::AesKey, words: at, value: here });
            }
            byte if is_name(byte) => {
                let name = cursor.plain_name()?;
                // A string in hexadecimal, or with its character set.
                if matches!(cursor.peek(), Some(b'\'' | b'"')) {
                    let is_text = name.eq_ignore_ascii_case(b"x")
                        || name.eq_ignore_ascii_case(b"n")
                        || name.starts_with(b"_");
                    is_text.then_some(())?;
                    return cursor.secret(Kind::AesKey, at);
                }
                cursor.blanks();
                cursor.take(b'(')?;
            }
            _ => return None,
        }
    }
    None
}

fn url(text: &[u8], at: usize) -> Option<Found> {
    let mut cursor = Cursor { text, at: at + b"mysql://".len() };
    let ends = |byte: u8| is_blank(byte) || matches!(byte, b'/' | b'\'' | b'"' | b'`' | b'<' | b'>' | 0);
    cursor.until(|byte| byte == b':' || byte == b'@' || ends(byte))?;
    cursor.take(b':')?;
    let value = cursor.at;
    let password = cursor.until(|byte| byte == b'@' || ends(byte))?;
    cursor.take(b'@')?;
    is_secret(password).then_some(Found { kind: Kind::ConnectionUrl, words: at, value })
}

fn sst_auth(text: &[u8], at: usize) -> Option<Found> {
    if !begins_a_word(text, at) {
        return None;
    }
    let mut cursor = Cursor { text, at: at + b"wsrep_sst_auth".len() };
    cursor.blanks();
    let _ = cursor.take(b':');
    cursor.take(b'=')?;
    cursor.blanks();
    while matches!(cursor.peek(), Some(b'\'' | b'"' | b'\\')) {
        cursor.at += 1;
    }
    let ends = |byte: u8| is_blank(byte) || matches!(byte, b'\'' | b'"' | b'\\' | b';' | b',' | 0);
    cursor.until(|byte| byte == b':' || ends(byte))?;
    cursor.take(b':')?;
    let value = cursor.at;
    // The file may end with it.
    let password = cursor.until(ends).unwrap_or_else(|| text.get(value..).unwrap_or_default());
    is_secret(password).then_some(Found { kind: Kind::SstAuth, words: at, value })
}

/// Not what servers and plugins write in the place of one, and no hash.
fn is_secret(value: &[u8]) -> bool {
    let is_hex = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_hexdigit);
    let is_left_out = value.is_empty()
        || value == b"?"
        || value.eq_ignore_ascii_case(b"<secret>")
        || value.iter().all(|byte| *byte == b'*');
    let is_hash = value.strip_prefix(b"*").is_some_and(|hash| hash.len() == 40 && is_hex(hash))
        || value.starts_with(b"$A$")
        || value.strip_prefix(b"0x").is_some_and(is_hex);
    !is_left_out && !is_hash
}

#[derive(Clone, Copy)]
struct Cursor<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Cursor<'t> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn rest(&self) -> &'t [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek() == Some(byte)).then(|| self.at += 1)
    }

    /// Blanks, comments, and the marks of comments that a server executes.
    fn blanks(&mut self) {
        loop {
            let rest = self.rest();
            self.at += match rest {
                [byte, ..] if is_blank(*byte) => 1,
                [b'*', b'/', ..] => 2,
                [b'/', b'*', b'!' | b'M', ..] => {
                    let mark = |byte: &&u8| byte.is_ascii_digit() || matches!(**byte, b'!' | b'M');
                    2 + rest.iter().skip(2).take_while(mark).count()
                }
                [b'#', ..] | [b'-', b'-', b' ' | b'\t' | b'\n', ..] => match memchr::memchr(b'\n', rest) {
                    Some(end) => end + 1,
                    None => return,
                },
                [b'/', b'*', ..] => match memchr::memmem::find(rest, b"*/") {
                    Some(end) => end + 2,
                    None => return,
                },
                _ => return,
            };
        }
    }

    /// A word in lower case that ends there.
    fn word(&mut self, word: &[u8]) -> bool {
        let rest = self.rest();
        let is_it = rest.get(..word.len()).is_some_and(|there| there.eq_ignore_ascii_case(word))
            && rest.get(word.len()).is_none_or(|byte| !is_name(*byte));
        if is_it {
            self.at += word.len();
        }
        is_it
    }

    fn plain_name(&mut self) -> Option<&'t [u8]> {
        let length = self.rest().iter().take(NAME_BYTES_MAX).take_while(|byte| is_name(**byte)).count();
        let name = self.rest().get(..length).filter(|name| !name.is_empty())?;
        self.at += length;
        Some(name)
    }

    /// A name, in quotes or not.
    fn name(&mut self) -> Option<()> {
        self.blanks();
        match self.peek()? {
            quote @ (b'\'' | b'"' | b'`') => {
                self.at += 1;
                self.until(|byte| byte == quote)?;
                self.take(quote)
            }
            _ => self.plain_name().map(|_| ()),
        }
    }

    /// What stands in front of a byte like that, which has to come soon.
    fn until(&mut self, ends: impl Fn(u8) -> bool) -> Option<&'t [u8]> {
        let length = self.rest().iter().take(NAME_BYTES_MAX).position(|byte| ends(*byte))?;
        let there = self.rest().get(..length)?;
        self.at += length;
        Some(there)
    }

    /// `'user'@'host' =`.
    fn account(&mut self) -> Option<()> {
        for _ in 0..2 {
            self.name()?;
            self.blanks();
            match self.peek()? {
                b'@' => self.at += 1,
                b'=' => {
                    self.at += 1;
                    return Some(());
                }
                _ => {
                    // `user@host`, of which the host may have dots, or be `current_user()`.
                    self.until(|byte| byte == b'=' || byte == b';' || byte == b'\n')?;
                    return self.take(b'=');
                }
            }
        }
        self.until(|byte| byte == b'=' || byte == b';' || byte == b'\n')?;
        self.take(b'=')
    }

    /// `PASSWORD(`, if it stands there.
    fn function_of_passwords(&mut self) -> Option<()> {
        let mut there = *self;
        there.blanks();
        let is_one = there.word(b"password") || there.word(b"old_password") || there.word(b"encrypt");
        is_one.then_some(())?;
        there.blanks();
        there.take(b'(')?;
        *self = there;
        Some(())
    }

    /// To behind the comma that ends it.
    fn argument(&mut self) -> Option<()> {
        let (mut deep, mut quote) = (0_usize, None);
        let mut bytes = self.rest().iter().enumerate();
        while let Some((at, byte)) = bytes.next() {
            match (quote, byte) {
                (Some(_), b'\\') => {
                    bytes.next();
                }
                (Some(open), byte) if open == *byte => quote = None,
                (Some(_), _) => {}
                (None, b'\'' | b'"' | b'`') => quote = Some(*byte),
                (None, b'(') => deep += 1,
                (None, b')') => deep = deep.checked_sub(1)?,
                (None, b',') if deep == 0 => {
                    self.at += at + 1;
                    return Some(());
                }
                (None, _) => {}
            }
        }
        None
    }

    /// A string that holds a secret.
    fn secret(mut self, kind: Kind, words: usize) -> Option<Found> {
        self.blanks();
        let value = self.at;
        is_secret(self.string()?).then_some(Found { kind, words, value })
    }

    /// MariaDB takes a hash there, also one from before MySQL 4.1.
    fn password_or_hash(mut self, words: usize) -> Option<Found> {
        self.blanks();
        let value = self.at;
        let string = self.string()?;
        let is_old_hash = string.len() == 16 && string.iter().all(u8::is_ascii_hexdigit);
        (is_secret(string) && !is_old_hash).then_some(Found { kind: Kind::SetPassword, words, value })
    }

    /// What is in quotes: of their own, escaped, or doubled, as inside of another string. Its end need not be there.
    fn string(&mut self) -> Option<&'t [u8]> {
        let escapes = self.rest().iter().take_while(|byte| **byte == b'\\').count();
        self.at += escapes;
        let quote = self.peek().filter(|byte| matches!(byte, b'\'' | b'"'))?;
        self.at += 1;
        if escapes == 0 && self.peek() == Some(quote) {
            let behind = self.text.get(self.at + 1).copied();
            let is_empty = behind.is_none_or(|byte| is_blank(byte) || matches!(byte, b';' | b',' | b')' | 0));
            if is_empty {
                return Some(&[]);
            }
            self.at += 1;
        }
        let rest = self.rest();
        let end = rest.iter().position(|byte| *byte == quote || (escapes > 0 && *byte == b'\\'));
        rest.get(..end.unwrap_or(rest.len()))
    }
}
