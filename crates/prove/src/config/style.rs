//! A mode, written the way that a file is written: what somebody copies into it.

use super::urls;
use crate::client::{Client, ExpectedValue, SettingsEncoding, Spelt};

/// Stands for the CA in what is proposed.
pub const CA: &str = "/path/to/ca.pem";

/// Stands for what is in the file of the CA, where no program reads a file.
const PEM: &str = "-----BEGIN CERTIFICATE-----…";

/// How settings are written where a connection was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    OptionFile,
    /// Behind the question mark of a URL or DSN.
    Query,
    Semicolons,
    Yaml,
    Json,
    JavaScript,
    /// Words of a call: `ssl_ca="…"`.
    Python,
    /// Of a dictionary: `"ssl_ca": "…"`.
    PythonDict,
    Php,
    /// Constants of a `wp-config.php`.
    WordPress,
    Ruby,
    Perl,
    Env,
    Properties,
}

/// The settings of a mode, one a line, with the CA at `ca`.
pub fn write(style: Style, client: &Client, spelt: &Spelt, named: Option<&str>, ca: &str) -> Vec<String> {
    let value = |is: ExpectedValue| match is {
        ExpectedValue::Named => named.unwrap_or("custom").to_owned(),
        other => other.text(ca).to_owned(),
    };
    let flat = |joint: &str| -> Vec<String> {
        spelt.settings.iter().map(|(name, is)| format!("{name}{joint}{}", value(*is))).collect()
    };
    match style {
        Style::OptionFile | Style::Env | Style::Properties => flat("="),
        Style::Query => {
            let family = client.settings.map_or("", |settings| settings.family);
            let word = |name: &str| urls::word_of_sqlalchemy(family, name).unwrap_or_else(|| name.to_owned());
            let pairs: Vec<String> =
                spelt.settings.iter().map(|(name, is)| format!("{}={}", word(name), value(*is))).collect();
            vec![pairs.join("&")]
        }
        Style::Semicolons => vec![flat("=").join(";")],
        Style::Yaml => nested(spelt, &|name, is| format!("{name}: {}", value(is)), &|name, inner| {
            format!("{name}: {{ {} }}", inner.join(", "))
        }),
        Style::Json => nested(
            spelt,
            &|name, is| match is {
                // Node's drivers take what the file holds, and a path is none.
                ExpectedValue::Ca => format!("\"{name}\": \"{PEM}\""),
                is => format!("\"{name}\": {}", literal(is, &value(is), "true", "false", '"')),
            },
            &|name, inner| format!("\"{name}\": {{ {} }}", inner.join(", ")),
        ),
        Style::JavaScript => nested(
            spelt,
            &|name, is| match is {
                ExpectedValue::Ca => format!("{name}: fs.readFileSync(\"{ca}\")"),
                is => format!("{name}: {}", literal(is, &value(is), "true", "false", '"')),
            },
            &|name, inner| format!("{name}: {{ {} }}", inner.join(", ")),
        ),
        Style::Python | Style::PythonDict => python(style, spelt, &value, ca),
        Style::WordPress => {
            let flags: Vec<&str> = spelt.settings.iter().map(|(name, _)| *name).collect();
            vec![format!("define('MYSQL_CLIENT_FLAGS', {});", flags.join(" | "))]
        }
        Style::Php if client.settings.is_some_and(|settings| settings.family == "php-mysqli") => {
            mysqli(spelt, ca)
        }
        Style::Php => spelt
            .settings
            .iter()
            .map(|(name, is)| format!("PDO::{name} => {},", literal(*is, &value(*is), "true", "false", '\'')))
            .collect(),
        Style::Ruby => spelt
            .settings
            .iter()
            .map(|(name, is)| match is {
                ExpectedValue::Word(word) => format!("{name}: :{word},"),
                is => format!("{name}: {},", literal(*is, &value(*is), "true", "false", '\'')),
            })
            .collect(),
        // DBD takes a number: of `true` it makes 0.
        Style::Perl => {
            let pairs: Vec<String> = spelt
                .settings
                .iter()
                .map(|(name, is)| {
                    format!("{name}={}", literal(*is, &value(*is), "1", "0", '\0').replace('\0', ""))
                })
                .collect();
            vec![pairs.join(";")]
        }
    }
}

fn literal(is: ExpectedValue, text: &str, on: &str, off: &str, quote: char) -> String {
    match is {
        ExpectedValue::On => on.into(),
        ExpectedValue::Off => off.into(),
        // An object without anything in it is no text.
        ExpectedValue::Word("{}") => text.into(),
        _ => format!("{quote}{text}{quote}"),
    }
}

/// `ssl.ca` is the key `ca` of what `ssl` is.
fn nested(
    spelt: &Spelt,
    one: &dyn Fn(&str, ExpectedValue) -> String,
    outer: &dyn Fn(&str, &[String]) -> String,
) -> Vec<String> {
    let mut lines = Vec::new();
    let mut inner: Vec<(&str, Vec<String>)> = Vec::new();
    for (name, is) in spelt.settings {
        match name.split_once('.') {
            None => lines.push(one(name, *is)),
            Some((parent, child)) => match inner.iter_mut().find(|(known, _)| *known == parent) {
                Some((_, children)) => children.push(one(child, *is)),
                None => inner.push((parent, vec![one(child, *is)])),
            },
        }
    }
    lines.extend(inner.iter().map(|(parent, children)| outer(parent, children)));
    lines
}

fn python(style: Style, spelt: &Spelt, value: &dyn Fn(ExpectedValue) -> String, ca: &str) -> Vec<String> {
    let (joint, quote) = if style == Style::Python { ("=", "") } else { (": ", "\"") };
    let entry = |name: &str, text: &str| format!("{quote}{name}{quote}{joint}{text},");
    let has_context = spelt
        .settings
        .iter()
        .any(|(name, is)| *name == "ssl" && matches!(is, ExpectedValue::Word(word) if *word != "{}"));
    if has_context {
        let has = |wanted: &str| spelt.settings.iter().any(|(name, _)| *name == wanted);
        let cafile = if has("ssl.cafile") { format!("cafile=\"{ca}\"") } else { String::new() };
        return vec![entry("ssl", &format!("ssl.create_default_context({cafile})"))];
    }
    let text = |is: ExpectedValue| literal(is, &value(is), "True", "False", '"');
    nested(spelt, &|name, is| format!("{name}\u{0}{}", text(is)), &|name, inner| {
        let inner: Vec<String> = inner
            .iter()
            .filter_map(|one| one.split_once('\u{0}'))
            .map(|(key, value)| format!("\"{key}\": {value}"))
            .collect();
        format!("{name}\u{0}{{{}}}", inner.join(", "))
    })
    .iter()
    .filter_map(|one| one.split_once('\u{0}'))
    .map(|(name, value)| entry(name, value))
    .collect()
}

fn mysqli(spelt: &Spelt, ca: &str) -> Vec<String> {
    let flags: Vec<&str> = spelt
        .settings
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| name.starts_with("MYSQLI_CLIENT_"))
        .collect();
    let mut lines = Vec::new();
    for (name, is) in spelt.settings {
        match *name {
            "ssl_set" => lines.push(format!("$link->ssl_set(null, null, '{ca}', null, null);")),
            name if name.starts_with("MYSQLI_OPT_") => {
                lines.push(format!("$link->options({name}, {});", is.text(ca)));
            }
            _ => {}
        }
    }
    if !flags.is_empty() {
        lines.push(format!("flags of real_connect(): {}", flags.join(" | ")));
    }
    lines
}

/// What the program of the project is told with the word `settings`; `ca` stands in for the CA that they name.
pub fn carried(carry: SettingsEncoding, pairs: &[(String, Carried)]) -> String {
    match carry {
        SettingsEncoding::Json => {
            let inner: Vec<String> = pairs
                .iter()
                .map(|(name, value)| {
                    let value = match value {
                        Carried::Flag(is_on) => is_on.to_string(),
                        Carried::Text(text) => json(text),
                    };
                    format!("{}:{value}", json(name))
                })
                .collect();
            format!("{{{}}}", inner.join(","))
        }
        SettingsEncoding::Query => joined(pairs, "&", &escape),
        SettingsEncoding::Semicolons => joined(pairs, ";", &|text| text.replace(';', "")),
        // An option of an option file ends with its line, and a value with a quote inside has none outside.
        SettingsEncoding::Lines => joined(pairs, "\n", &|text| text.replace(['\n', '\r'], "")),
    }
}

/// A value on its way to a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Carried {
    Text(String),
    Flag(bool),
}

fn joined(pairs: &[(String, Carried)], between: &str, written: &dyn Fn(&str) -> String) -> String {
    let all: Vec<String> = pairs
        .iter()
        .map(|(name, value)| match value {
            Carried::Text(text) => format!("{}={}", written(name), written(text)),
            // DBI and option files know 1 and 0; every reader of a query knows these too, but for Java and Go.
            Carried::Flag(is_on) if between == "&" => format!("{}={is_on}", written(name)),
            Carried::Flag(is_on) => format!("{}={}", written(name), u8::from(*is_on)),
        })
        .collect();
    all.join(between)
}

fn json(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            control if control.is_control() => out += &format!("\\u{:04x}", u32::from(control)),
            other => out.push(other),
        }
    }
    out + "\""
}

fn escape(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~/:".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out += &format!("%{byte:02X}");
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::family;

    #[test]
    fn a_mode_is_written_as_the_file_is() {
        let check = |name: &str, mode: &str, style: Style, want: &[&str]| {
            let client = *family(name).first().expect("a family");
            let settings = client.settings.expect("a family has settings");
            let spelt = settings.spelt.iter().find(|spelt| spelt.mode == mode).expect("it is spelt");
            assert_eq!(write(style, client, spelt, None, CA), want, "{name} {mode}");
        };
        check(
            "mysql-cli",
            "verify-identity",
            Style::OptionFile,
            &["ssl-mode=VERIFY_IDENTITY", "ssl-ca=/path/to/ca.pem"],
        );
        check(
            "connector-j",
            "verify-identity",
            Style::Query,
            &["sslMode=VERIFY_IDENTITY&trustCertificateKeyStoreUrl=/path/to/ca.pem"],
        );
        check(
            "node-mysql2",
            "verify-identity",
            Style::JavaScript,
            &["ssl: { ca: fs.readFileSync(\"/path/to/ca.pem\"), verifyIdentity: true }"],
        );
        check(
            "node-mysql2",
            "verify-identity",
            Style::Json,
            &["\"ssl\": { \"ca\": \"-----BEGIN CERTIFICATE-----…\", \"verifyIdentity\": true }"],
        );
        check(
            "aiomysql",
            "verified",
            Style::Python,
            &["ssl=ssl.create_default_context(cafile=\"/path/to/ca.pem\"),"],
        );
        check(
            "mysqlclient",
            "verify-identity",
            Style::PythonDict,
            &["\"ssl_mode\": \"VERIFY_IDENTITY\",", "\"ssl\": {\"ca\": \"/path/to/ca.pem\"},"],
        );
        check("php-pdo", "ca", Style::Php, &["PDO::MYSQL_ATTR_SSL_CA => '/path/to/ca.pem',"]);
        check(
            "php-mysqli",
            "flag-ca",
            Style::Php,
            &[
                "$link->ssl_set(null, null, '/path/to/ca.pem', null, null);",
                "flags of real_connect(): MYSQLI_CLIENT_SSL",
            ],
        );
        check("ruby-mysql2", "sslverify", Style::Yaml, &["sslca: /path/to/ca.pem", "sslverify: true"]);
        check(
            "dbd-mysql",
            "optional-verify",
            Style::Perl,
            &[
                "mysql_ssl=1;mysql_ssl_optional=1;mysql_ssl_ca_file=/path/to/ca.pem;mysql_ssl_verify_server_cert=1",
            ],
        );
    }

    #[test]
    fn what_is_carried_cannot_break_out_of_its_place() {
        let pairs =
            [("a".to_owned(), Carried::Text("x\"\n&;=y".into())), ("b".to_owned(), Carried::Flag(true))];
        assert_eq!(carried(SettingsEncoding::Json, &pairs), "{\"a\":\"x\\\"\\u000a&;=y\",\"b\":true}");
        assert_eq!(carried(SettingsEncoding::Query, &pairs), "a=x%22%0A%26%3B%3Dy&b=true");
        assert_eq!(carried(SettingsEncoding::Semicolons, &pairs), "a=x\"\n&=y;b=1");
        assert_eq!(carried(SettingsEncoding::Lines, &pairs), "a=x\"&;=y\nb=1");
    }
}
