//! Texts that say how to connect: URLs, Go's DSN, and the DSNs of PDO and DBI.
//!
//! User and password are dropped while reading: nobody who gets a [`Parts`] can print them.

use crate::optfile::is_secret_key;

/// What such a text says, without user and password.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Parts {
    /// `mysql+pymysql`, `jdbc:mariadb`; in small letters.
    pub scheme: String,
    /// Empty where none is said; several with commas between them.
    pub host: String,
    /// What stands behind the question mark, or all pairs of a DSN.
    pub params: Vec<(String, String)>,
}

impl Parts {
    pub fn get(&self, key: &str) -> Option<&str> {
        self.params.iter().rev().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }
}

/// `scheme://[user[:password]@]host[:port]/database[?key=value&…]`, also behind `jdbc:`.
pub fn url(text: &str) -> Option<Parts> {
    let text = text.trim();
    let (scheme, rest) = text.split_once("://")?;
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | ':' | '_');
    if scheme.is_empty() || !scheme.chars().all(is_scheme) {
        return None;
    }
    // A password may hold every sign that means something later, @ included: what is in front of the last @ is theirs, if it
    // stands in front of the last question mark.
    let (before, query) = match rest.split_once('?') {
        Some((before, query)) if before.contains('@') || !query.contains('@') => (before, query),
        Some(_) => {
            // The question mark belongs to the password; or the @ to a parameter, where there is no password.
            match rest.rsplit_once('@') {
                Some((login, host)) if login.split_once('?').is_some_and(|(user, _)| user.contains(':')) => {
                    return Some(with_query(scheme, host.split_once('?').unwrap_or((host, ""))));
                }
                _ => rest.split_once('?').unwrap_or((rest, "")),
            }
        }
        None => (rest, ""),
    };
    // What stands in parentheses has its login inside.
    let hosts =
        if has_pairs(before) { before } else { before.rsplit_once('@').map_or(before, |(_, host)| host) };
    Some(with_query(scheme, (hosts, query)))
}

fn with_query(scheme: &str, (place, query): (&str, &str)) -> Parts {
    let authority = outside(place, &['/', '#']).into_iter().next().unwrap_or_default();
    let query = query.split('#').next().unwrap_or_default();
    Parts {
        scheme: scheme.to_ascii_lowercase(),
        host: outside(authority, &[','])
            .into_iter()
            .map(|one| {
                if one.contains('(') {
                    without_login(one)
                } else {
                    without_port(one.rsplit_once('@').map_or(one, |(_, host)| host)).to_owned()
                }
            })
            .collect::<Vec<_>>()
            .join(","),
        params: pairs(query, '&'),
    }
}

fn has_pairs(place: &str) -> bool {
    place.starts_with("address=") || place.starts_with('(')
}

/// The pieces between these signs, where the signs stand in no parentheses.
fn outside<'t>(text: &'t str, signs: &[char]) -> Vec<&'t str> {
    let mut depth = 0_u32;
    text.split(move |letter: char| {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && signs.contains(&letter)
    })
    .collect()
}

/// `address=(host=a)(port=1)(password=…)`: the same, without the values of a login.
fn without_login(place: &str) -> String {
    place
        .split_inclusive(['(', ')', ','])
        .map(|part| match part.split_once('=') {
            Some((key, value)) if is_secret_key(key.trim()) || key.trim().eq_ignore_ascii_case("user") => {
                let end = value.chars().last().filter(|last| matches!(last, ')' | ','));
                format!("{key}={}", end.map(String::from).unwrap_or_default())
            }
            _ => part.to_owned(),
        })
        .collect()
}

fn without_port(place: &str) -> &str {
    if let Some(inner) = place.strip_prefix('[') {
        if let Some((address, _)) = inner.split_once(']') {
            return address;
        }
        // The first of a list in brackets.
        return without_port(inner);
    }
    place.split([':', ']']).next().unwrap_or_default()
}

/// `key=value` between `between`; a key alone has an empty value. Percent signs are undone, and the value of a secret is dropped.
fn pairs(text: &str, between: char) -> Vec<(String, String)> {
    text.split(between)
        .filter(|part| !part.is_empty())
        .map(|part| {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let key = unescape(key.trim());
            let value = if is_secret_key(&key) { String::new() } else { unescape(value.trim()) };
            (key, value)
        })
        .collect()
}

/// `%2F` is `/`. What is no UTF-8 afterwards stays as it was written.
pub fn unescape(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let mut ahead = bytes.clone();
        let hex = |digit: Option<u8>| digit.and_then(|digit| char::from(digit).to_digit(16));
        match (byte, hex(ahead.next()), hex(ahead.next())) {
            (b'%', Some(high), Some(low)) => {
                out.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
                bytes = ahead;
            }
            _ => out.push(byte),
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

/// The scheme of a DSN of Go that its driver takes apart at another slash than the one that was meant.
pub const GO_SLASH: &str = "go:slash";

/// `user:password@tcp(host:port)/database?key=value&…` of Go. `None` where it has neither the parentheses nor `user:password@/` or
/// `user:password@tcp/`: everything else could be some other text.
// Source: go-sql-driver/mysql 1.9, dsn.go, ParseDSN(): the last slash divides, then the last @ in front of it.
pub fn go_dsn(text: &str) -> Option<Parts> {
    let text = text.trim();
    go_dsn_at(text, text.rfind('/')?, false).or_else(|| {
        let (before, _) = text.split_once('?')?;
        let parts = go_dsn_at(text, before.rfind('/')?, false)?;
        Some(Parts { scheme: GO_SLASH.into(), ..parts })
    })
}

/// The same of a text that is known to be one: `/`, `user@tcp/database`.
pub fn go_dsn_given(text: &str) -> Option<Parts> {
    let text = text.trim();
    go_dsn(text).or_else(|| go_dsn_at(text, text.rfind('/')?, true))
}

fn go_dsn_at(text: &str, slash: usize, is_told: bool) -> Option<Parts> {
    let (front, back) = (text.get(..slash)?, text.get(slash + 1..)?);
    let (login, address) =
        front.rsplit_once('@').map_or((None, front), |(login, address)| (Some(login), address));
    let is_word = |text: &str| {
        !text.is_empty()
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '.'))
    };
    let (network, place) = if let Some(inner) = address.strip_suffix(')') {
        let (network, place) = inner.split_once('(')?;
        let is_known = matches!(network, "tcp" | "tcp4" | "tcp6" | "unix" | "cloudsql");
        (is_known || (login.is_some() && is_word(network))).then_some((network, Some(place)))?
    } else {
        // Its own server: 127.0.0.1, by TCP.
        let network = if address.is_empty() { "tcp" } else { address };
        let database = back.split_once('?').map_or(back, |(name, _)| name);
        let user = login.and_then(|login| login.split_once(':')).map_or("", |(user, _)| user);
        let is_clear = matches!(network, "tcp" | "tcp4" | "tcp6")
            && is_word(user)
            && is_word(database)
            && !text.contains(char::is_whitespace);
        (is_clear || (is_told && is_word(network))).then_some((network, None))?
    };
    let query = back.split_once('?').map_or("", |(_, query)| query);
    let host = if network == "unix" { "" } else { place.map_or("127.0.0.1", without_port) };
    // It undoes percent signs in some values, and in no key: `%74ls` is no `tls` to it.
    let mut params = pairs(query, '&');
    let written = query.split('&').filter(|part| !part.is_empty());
    for ((key, _), part) in params.iter_mut().zip(written) {
        part.split_once('=').map_or(part, |(key, _)| key).clone_into(key);
    }
    Some(Parts { scheme: format!("go:{network}"), host: host.to_owned(), params })
}

/// `mysql:host=…;port=…` of PDO, `dbi:mysql:database=…;mysql_ssl=1` and `DBI:MariaDB:…` of DBI.
pub fn dsn(text: &str) -> Option<Parts> {
    let text = text.trim();
    let (scheme, rest) = match text.get(..4) {
        Some(start) if start.eq_ignore_ascii_case("dbi:") => {
            let (driver, rest) = text.get(4..)?.split_once(':')?;
            // `dbi:mysql(RaiseError=>1):…`
            (format!("dbi:{}", driver.split('(').next().unwrap_or_default().to_ascii_lowercase()), rest)
        }
        _ => ("pdo:mysql".to_owned(), text.strip_prefix("mysql:")?),
    };
    if rest.starts_with("//") {
        return None;
    }
    // `dbi:mysql:name` and `dbi:mysql:name@host:port`: no pairs, and no settings.
    let mut params: Vec<(String, String)> =
        rest.split(';').filter(|part| part.contains('=')).flat_map(|part| pairs(part, ';')).collect();
    let host =
        params.iter().find(|(key, _)| key == "host" || key == "hostname").map(|(_, value)| value.clone());
    params.retain(|(key, _)| !matches!(key.as_str(), "password" | "user" | "username"));
    Some(Parts { scheme, host: host.unwrap_or_default(), params })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_url_is_taken_apart_without_its_login() {
        let check = |text: &str, scheme: &str, host: &str, params: &str| {
            let parts = url(text).unwrap_or_else(|| panic!("{text}"));
            let said: Vec<String> =
                parts.params.iter().map(|(key, value)| format!("{key}={value}")).collect();
            assert_eq!(
                (parts.scheme.as_str(), parts.host.as_str(), said.join(" ").as_str()),
                (scheme, host, params),
                "{text}"
            );
            assert!(!format!("{parts:?}").contains("geheim"), "{parts:?}");
        };
        check("mysql://u:geheim@db:3306/x?ssl-mode=REQUIRED&a", "mysql", "db", "ssl-mode=REQUIRED a=");
        check("mysql+pymysql://u:ge@heim@db/x?ssl_ca=%2Fca.pem", "mysql+pymysql", "db", "ssl_ca=/ca.pem");
        check("mysql://u:geheim?x@db/x?a=1", "mysql", "db", "a=1");
        check("jdbc:mysql://db/x?sslMode=REQUIRED#f", "jdbc:mysql", "db", "sslMode=REQUIRED");
        check("jdbc:mysql://db/x?user=a@b&password=geheim", "jdbc:mysql", "db", "user=a@b password=");
        check("jdbc:mysql:loadbalance://a:1,b:2/x?k=v", "jdbc:mysql:loadbalance", "a,b", "k=v");
        check("mysql://[::1]:3306/x", "mysql", "::1", "");
        check("jdbc:mysql://[::1]:1,[::2]/x", "jdbc:mysql", "::1,::2", "");
        check("jdbc:mysql://u:geheim@[a:1,b:2]/x", "jdbc:mysql", "a,b", "");
        check(
            "jdbc:mysql://address=(host=a)(user=geheim)(password=ge@heim),(host=b,password=geheim,port=2),c:3/x?k=v",
            "jdbc:mysql",
            "address=(host=a)(user=)(password=),(host=b,password=,port=2),c",
            "k=v",
        );
        assert_eq!(url("no url"), None);
        assert_eq!(url("a b://c"), None);
    }

    #[test]
    fn the_dsn_of_go_is_told_by_its_parentheses() {
        let parts = go_dsn("app:ge/he@im@tcp(db.example:3306)/shop?tls=custom&allowFallbackToPlaintext=true")
            .expect("a DSN");
        assert_eq!(parts.host, "db.example");
        assert_eq!(parts.get("tls"), Some("custom"));
        assert_eq!(parts.get("allowFallbackToPlaintext"), Some("true"));
        assert_eq!(go_dsn("u:p@unix(/run/m.sock)/d").map(|parts| parts.host), Some(String::new()));
        assert_eq!(go_dsn("http://a/b?c"), None);
        assert_eq!(go_dsn("f(x)/2"), None);
    }

    #[test]
    fn the_dsns_of_php_and_perl_are_pairs() {
        let parts = dsn("mysql:host=db;port=3306;dbname=x").expect("PDO");
        assert_eq!((parts.scheme.as_str(), parts.host.as_str()), ("pdo:mysql", "db"));
        let parts = dsn("DBI:MariaDB:database=x;host=db;mariadb_ssl=1;password=geheim").expect("DBI");
        assert_eq!(
            (parts.scheme.as_str(), parts.get("mariadb_ssl"), parts.get("password")),
            ("dbi:mariadb", Some("1"), None)
        );
        assert_eq!(dsn("mysql://u@h/x"), None);
        assert_eq!(dsn("DBI"), None);
        assert_eq!(dsn("é1:a:b"), None);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,80}") {
            let _ = (url(&text), go_dsn(&text), dsn(&text), unescape(&text));
        }

        #[test]
        fn the_password_of_a_url_is_nowhere(password in "[!-~]{6,20}") {
            // Signs that end a place are escaped by everybody who writes such a URL.
            prop_assume!(!password.contains(['/', '#', '?', '@']));
            let parts = url(&format!("mysql+pymysql://u:{password}@h/d?ssl_ca=/x")).expect("a URL");
            let said = format!("{parts:?}");
            prop_assert!(!said.contains(&password) && parts.host == "h", "{}", said);
            let parts = go_dsn(&format!("u:{password}@tcp(h)/d?tls=true")).expect("a DSN");
            let said = format!("{parts:?}");
            prop_assert!(!said.contains(&password), "{}", said);
        }
    }
}
