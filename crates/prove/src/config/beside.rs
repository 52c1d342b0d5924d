//! Words about TLS beside a URL: where a connection is found by its URL alone, in a file that no form reads whole, whatever stands
//! around it may reach the driver too.
//!
//! They are looked for as text, anywhere in the file but in connection URLs: in a remark, in a name, in a value, in any case. One too
//! many costs an `unknown`; nobody is assured falsely.

use super::{CONNECTIONS_MAX, Setting, is_socket_key, obstacle, urls};
use crate::clients::CLIENTS;

/// Parts of words, in small letters. The first that stands in a text is told, so the longer ones come first.
const PARTS: [&str; 43] = [
    "sslmode",
    "ssl",
    "tls",
    "cert",
    "verif",
    "trust",
    "keystore",
    "key_store",
    "key-store",
    "plaintext",
    "secure",
    "encrypt",
    "cipher",
    "x509",
    "pkcs",
    "unauthorized",
    "identity",
    "require",
    "cafile",
    "capath",
    "cadata",
    "connect_args",
    "connect-args",
    "connectargs",
    "propert",
    "option",
    "param",
    "default_file",
    "default-file",
    "defaultfile",
    "defaults_file",
    "defaults-file",
    "defaultsfile",
    "use_pure",
    "usepure",
    "socketfactory",
    "socket_factory",
    "socket-factory",
    "interceptor",
    "client_flag",
    "clientflag",
    "client-flag",
    "paranoid",
];

/// Whole words, between signs that are neither letter nor digit.
const WHOLE: [&str; 6] = ["ca", "pem", "p12", "jks", "flags", "crl"];

/// Signs that a word may be written with.
const ESCAPES: [&str; 3] = ["\\u", "\\x", "&#"];

/// What makes a data source in a program: it has settings of its own.
pub(super) const DATA_SOURCES: [&str; 6] = ["datasource", "data_source", "hikari", "dbcp", "c3p0", "agroal"];

/// What brings other files in.
pub(super) const OTHER_FILES: [&str; 4] = ["include", "import", "extends", "<!entity"];

/// Longest URL that is one.
const URL_BYTES_MAX: usize = 4096;

/// What stands beside the URLs of this text and may be about TLS; `more` are parts of words that count too.
pub(super) fn doubt(text: &str, more: &[&str]) -> Option<Setting> {
    let text = without_urls(text);
    let small = text.to_ascii_lowercase();
    let parts = PARTS.iter().chain(more).filter_map(|part| Some((part_at(&small, part)?, *part)));
    let whole = WHOLE.iter().filter_map(|word| Some((whole_at(&small, word)?, *word)));
    let escapes = ESCAPES.iter().filter_map(|escape| Some((small.find(escape)?, *escape)));
    let (at, part) = parts.chain(whole).chain(escapes).min_by_key(|(at, _)| *at)?;
    let line = small.get(..at).map_or(1, |before| before.matches('\n').count() + 1);
    let why = if ESCAPES.contains(&part) {
        "a word beside the URL may be written with escapes".to_owned()
    } else {
        format!("{} stands beside the URL, and may reach the driver too", shown(&text, at, part))
    };
    Some(obstacle(line, &why))
}

/// A value that is filled in when the program runs, and may be the URL itself or go on with it: any that is not on the line of a
/// login or a place.
pub(super) fn filled_in(text: &str) -> Option<Setting> {
    const OTHERS: [&str; 8] = ["pass", "user", "host", "port", "secret", "name", "pwd", "schema"];
    const OPEN: [&str; 5] = ["${", "$(", "{{", "<%", "#{"];
    without_urls(text).lines().enumerate().find_map(|(index, line)| {
        let small = line.to_ascii_lowercase();
        let is_open = OPEN.iter().any(|open| small.contains(open));
        (is_open && !OTHERS.iter().any(|word| small.contains(word)))
            .then(|| obstacle(index + 1, "what is filled in here when the program runs may be for the URL"))
    })
}

/// Whether a value may say something of TLS.
pub(super) fn speaks_of_tls(text: &str) -> bool {
    const ALL: [&str; 9] = [
        "ssl",
        "tls",
        "cert",
        "verif",
        "truststore",
        "keystore",
        "plaintext",
        "connect_args",
        "unauthorized",
    ];
    let small = text.to_ascii_lowercase();
    ALL.iter().any(|part| small.contains(part))
}

/// Where the part stands, `require('…')` of a program apart.
fn part_at(small: &str, part: &str) -> Option<usize> {
    let loads_a_module = |at: &usize| {
        let rest = small.get(at + part.len()..).unwrap_or_default();
        rest.starts_with(['(', '_']) || rest.starts_with(" '") || rest.starts_with(" \"")
    };
    let mut all = small.match_indices(part).map(|(at, _)| at);
    if part == "require" { all.find(|at| !loads_a_module(at)) } else { all.next() }
}

fn whole_at(small: &str, word: &str) -> Option<usize> {
    let is_letter = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = small.as_bytes();
    small.match_indices(word).map(|(at, _)| at).find(|&at| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        !is_letter(before) && !is_letter(bytes.get(at + word.len()))
    })
}

/// The word that it stands in, where that is a driver's own; anything else may be a secret, and only the part is shown.
fn shown(text: &str, at: usize, part: &str) -> String {
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let front = text.get(..at).unwrap_or_default();
    let start = at - front.chars().rev().take_while(|c| is_of_word(*c)).count();
    let rest = text.get(at..).unwrap_or_default();
    let end = at + rest.chars().take_while(|c| is_of_word(*c)).count();
    let word = text.get(start..end).unwrap_or_default();
    let folded = |word: &str| word.replace(['-', '_'], "").to_ascii_lowercase();
    let is_word = |known: &str| folded(known) == folded(word);
    let is_known = is_word(part)
        || ["connectionProperties", "properties", "options", "verify", "certificate"]
            .iter()
            .any(|one| is_word(one))
        || CLIENTS
            .iter()
            .filter_map(|client| client.settings)
            .flat_map(|settings| settings.keys)
            .any(|key| is_word(key.name) || key.name.split('.').any(is_word));
    if is_known { format!("\"{word}\"") } else { format!("a word with \"{part}\" in it") }
}

/// The text with blanks for its connection URLs, each of which is a connection of its own.
fn without_urls(text: &str) -> String {
    // As JSON may write a slash.
    let text = text.replace("\\/", "/");
    let mut out = text.clone().into_bytes();
    let mut done = 0;
    let mut left = 2 * CONNECTIONS_MAX;
    for (at, _) in
        text.match_indices("://").chain(text.match_indices("@tcp(")).chain(text.match_indices("@unix("))
    {
        let Some(less) = left.checked_sub(1) else { break };
        left = less;
        let Some((start, end)) = quoted(&text, at).or_else(|| bare(&text, at)) else { continue };
        out.get_mut(start..end).unwrap_or_default().fill(b' ');
        done += 1;
    }
    if done == 0 { text } else { String::from_utf8_lossy(&out).into_owned() }
}

fn is_url(text: &str) -> bool {
    !text.contains(char::is_whitespace) && urls::found(text, 1, "").is_some()
}

/// A whole text between quotes.
fn quoted(text: &str, at: usize) -> Option<(usize, usize)> {
    let is_quote = |c: char| matches!(c, '"' | '\'' | '`' | '\n');
    let start = text.get(..at)?.rfind(is_quote)?;
    let quote = text.get(start..)?.chars().next().filter(|quote| *quote != '\n')?;
    let end = at + text.get(at..)?.find(is_quote)?;
    let whole = text.get(start + 1..end)?;
    (whole.len() <= URL_BYTES_MAX && text.get(end..)?.starts_with(quote) && is_url(whole))
        .then_some((start + 1, end))
}

/// A URL without quotes ends with the first sign that is none of a URL's.
fn bare(text: &str, at: usize) -> Option<(usize, usize)> {
    let is_of_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | ':');
    let is_end = |c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '"' | '\'' | '`' | '<' | '>' | ',' | ';' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '\\'
            )
    };
    if !text.get(at..)?.starts_with("://") {
        return None;
    }
    let start = at - text.get(..at)?.chars().rev().take_while(|c| is_of_scheme(*c)).count();
    let rest = text.get(at..)?;
    // Between several hosts a comma is part of it: `://a,b/x`.
    let hosts = rest.get(3..).and_then(|rest| rest.find('/')).map_or(0, |end| end + 3);
    let is_in_hosts = |end: usize| {
        rest.get(3..hosts).is_some_and(|hosts| !hosts.contains(|c: char| is_end(c) && c != ','))
            && end < hosts
    };
    let mut ends = rest.match_indices(is_end).map(|(end, _)| end).filter(|end| !is_in_hosts(*end));
    let end = at + ends.next().unwrap_or(rest.len());
    let whole = text.get(start..end)?;
    (whole.len() <= URL_BYTES_MAX && is_url(whole)).then_some((start, end))
}

/// XML without its remarks, with as many lines. Whatever else may look like one leaves them in.
pub(super) fn without_xml_remarks(text: &str) -> Option<String> {
    const OPEN: &str = "<!--";
    if !text.trim_start().starts_with('<') || text.contains("<![CDATA[") || !text.contains(OPEN) {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, inner)) = rest.split_once(OPEN) {
        let (remark, after) = inner.split_once("-->")?;
        // In a value between quotes it would be no remark: XML has no < there, and no -- in a remark.
        if remark.contains("--") {
            return None;
        }
        out.push_str(before);
        out.extend(remark.chars().filter(|c| *c == '\n'));
        rest = after;
    }
    out.push_str(rest);
    Some(out)
}

/// A variable about TLS that is some other system's, by a word of its name.
pub(super) fn is_of_another(key: &str) -> bool {
    const OTHERS: [&str; 32] = [
        "MAIL",
        "MAILER",
        "SMTP",
        "IMAP",
        "EMAIL",
        "REDIS",
        "KAFKA",
        "AMQP",
        "RABBITMQ",
        "ELASTICSEARCH",
        "OPENSEARCH",
        "MONGO",
        "MONGODB",
        "POSTGRES",
        "PG",
        "PGSSLMODE",
        "LDAP",
        "AWS",
        "S3",
        "MINIO",
        "HTTP",
        "HTTPS",
        "NGINX",
        "DOCKER",
        "GIT",
        "CURL",
        "REQUESTS",
        "SESSION",
        "COOKIE",
        "VAULT",
        "CONSUL",
        "ETCD",
    ];
    let key = key.rsplit('.').next().unwrap_or(key).to_ascii_uppercase();
    key.split(['_', '-']).any(|word| OTHERS.contains(&word)) && !is_socket_key(&key)
}

/// Whether a text that is no connection as a whole names one somewhere inside: `-Ddb.url=jdbc:mysql://…`, or
/// `./app --db mysql2://…`.
pub(super) fn has_connection_inside(text: &str) -> bool {
    const SIGNS: [&str; 8] = [
        "jdbc:mysql:",
        "jdbc:mariadb:",
        "mysql://",
        "mysql2://",
        "mariadb://",
        "trilogy://",
        "@tcp(",
        "@unix(",
    ];
    SIGNS.iter().any(|sign| text.contains(sign))
        || (text.contains("://") && (text.contains("mysql+") || text.contains("mariadb+")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(text: &str) -> Option<String> {
        let Setting { line, given, .. } = doubt(text, &[])?;
        let super::super::SettingValue::Unread(why) = given else { return None };
        Some(format!("{line}: {why}"))
    }

    #[test]
    fn a_word_about_tls_beside_a_url_is_a_doubt_in_any_spelling() {
        const URL: &str = "jdbc:mysql://db/x?sslMode=VERIFY_IDENTITY";
        for word in [
            "sslMode",
            "SSLMODE",
            "connection.sslMode",
            "driver.sslMode",
            "useSSL",
            "requireSSL",
            "tls",
            "TlsMode",
            "verifyServerCertificate",
            "trustStore",
            "trust-store",
            "connect_args",
            "connectionProperties",
            "\"properties\"",
            "require",
            "ca",
            "db_ca",
            "CERT",
            "rejectUnauthorized",
            "s\\u0073lMode",
            "&#115;slMode",
        ] {
            for text in [
                format!("url={URL}\n{word}=x"),
                format!("{word}=x\nurl={URL}"),
                format!("{{\"url\": \"{URL}\", \"{word}\": null}}"),
                format!("# {word}\nurl = '{URL}'"),
            ] {
                assert!(why(&text).is_some(), "{text}");
            }
        }
        let said = why(&format!("url={URL}\nflyway.jdbcProperties.sslMode=DISABLED\n"));
        assert_eq!(
            said.as_deref(),
            Some("2: a word with \"propert\" in it stands beside the URL, and may reach the driver too")
        );
        let said = why(&format!("url={URL}\nsslMode=DISABLED\n"));
        assert_eq!(
            said.as_deref(),
            Some("2: \"sslMode\" stands beside the URL, and may reach the driver too")
        );
        let said = why(&format!("url={URL}\npassword=sslgeheim\n")).expect("a doubt");
        assert!(!said.contains("geheim"), "{said}");
    }

    #[test]
    fn what_says_nothing_about_tls_is_none() {
        for text in [
            "url=jdbc:mysql://db/x?sslMode=VERIFY_IDENTITY\nuser=u\npassword=p\n",
            "{\"url\": \"jdbc:mysql:\\/\\/db\\/x?sslMode=VERIFY_IDENTITY\", \"user\": \"u\"}",
            "{ \"dsn\": \"u:p@tcp(db:3306)/x?tls=true\", \"pool\": 5 }",
            "see <mysql+pymysql://u@db/x?ssl_ca=/ca> and mysql://u@db/y?ssl-mode=REQUIRED\n",
            "const a = require('mysql2'); const u = `mysql2://db/x?sslca=/ca`;",
            "require 'sequel'\nu = 'mysql2://db/x?sslca=/ca'\n",
        ] {
            assert_eq!(why(text), None, "{text}");
        }
        // What is behind the end of a URL is none of it.
        assert!(why("url=jdbc:mysql://db/x?user=u;sslMode=DISABLED\n").is_some());
    }

    #[test]
    fn what_is_filled_in_may_go_on_with_the_url() {
        const URL: &str = "\"jdbc:mysql://db/x?sslMode=VERIFY_IDENTITY\"";
        for text in [
            format!("url = {URL}${{EXTRA}}\n"),
            format!("url = {URL} ${{EXTRA}}\n"),
            format!("url = {URL}\nurl = ${{?DATABASE_URL}}\n"),
            format!("base = {URL}\nurl = ${{base}}\"&a=b\"\n"),
        ] {
            assert!(filled_in(&text).is_some(), "{text}");
        }
        for text in [
            format!("url = {URL}\npassword = ${{PW}}\n"),
            "url=jdbc:mysql://${HOST}/x?useSSL=true\n".to_owned(),
        ] {
            assert_eq!(filled_in(&text), None, "{text}");
        }
    }

    #[test]
    fn remarks_of_xml_are_left_out() {
        let text = "<a>\n<!-- jdbc:mysql://db/x\n -->\n<b/></a>";
        assert_eq!(without_xml_remarks(text).as_deref(), Some("<a>\n\n\n<b/></a>"));
        assert_eq!(without_xml_remarks("<a><!-- x</a>"), None);
        assert_eq!(without_xml_remarks("<![CDATA[<!-- x -->]]>"), None);
        assert_eq!(without_xml_remarks("a <!-- x -->"), None);
    }
}
