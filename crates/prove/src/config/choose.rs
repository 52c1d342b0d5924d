//! Which mode of a client some settings are: those of a mode, all of them and no other.

use formats::settings::HOLE;

use super::{ANY, Setting, SettingValue, is_about_tls, is_socket_key};
use crate::client::{Client, ExpectedValue, Key, Kind, Mode, Settings, SettingsEncoding, Spelt};

/// What a client would do with the settings, as far as it was measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    Mode {
        mode: &'static str,
        /// What else must be so; often nothing.
        provided: &'static str,
    },
    /// Why it cannot be said.
    Unknown(String),
}

/// Whether these settings choose this one of two builds in a package.
pub fn is_chosen(client: &Client, given: &[Setting]) -> bool {
    let Some((name, wanted)) = client.settings.and_then(|settings| settings.chosen_by) else { return true };
    match given.iter().rev().find(|setting| setting.key == name).map(|setting| &setting.given) {
        // Its maker's own choice is the one that is installed.
        None => true,
        Some(SettingValue::Flag(is_on)) => *is_on == wanted,
        Some(SettingValue::Text(text)) => client
            .settings
            .and_then(|settings| settings.reads.switch(text))
            .is_none_or(|is_on| is_on == wanted),
        // Either: nobody can say.
        Some(SettingValue::Content | SettingValue::Unread(_)) => true,
    }
}

/// The mode of `client` that `given` are.
pub fn choose(client: &'static Client, given: &[Setting]) -> Choice {
    let Some(settings) = client.settings else { return Choice::Unknown("it has no settings".into()) };
    let mut facts: Vec<(&'static str, ValueFact)> = Vec::new();
    let mut has_beside = false;
    for setting in given {
        if settings.chosen_by.is_some_and(|(name, _)| name == setting.key) {
            continue;
        }
        if is_socket_key(&setting.key) {
            match &setting.given {
                SettingValue::Unread(why) if settings.socket == Some(setting.key.as_str()) => {
                    return Choice::Unknown(format!("{}: {why}", setting.key));
                }
                _ => continue,
            }
        }
        let Some(key) = key(settings, &setting.key) else {
            if !is_about_tls(&setting.key) {
                continue;
            }
            return Choice::Unknown(match &setting.given {
                SettingValue::Unread(why) if setting.key == ANY => match &setting.file {
                    Some(file) => format!("{file}:{}: {why}", setting.line),
                    None => format!("line {}: {why}", setting.line),
                },
                SettingValue::Unread(why) => why.clone(),
                _ => format!("{} was not measured with {}", client.name, setting.key),
            });
        };
        if settings.carry == SettingsEncoding::Lines
            && matches!(key.kind, Kind::Ca | Kind::Beside)
            && facts.iter().any(|(_, fact)| *fact == ValueFact::Off)
        {
            // Source: sslopt-case.h of the client programs sets opt_use_ssl for each of these.
            return Choice::Unknown(format!(
                "{} may switch TLS on again behind what switches it off; that was not measured",
                setting.key
            ));
        }
        match fact(settings, key, &setting.given) {
            Ok(None) => {
                has_beside |= key.kind == Kind::Beside;
                // A later one takes back what an earlier one said.
                facts.retain(|(name, _)| *name != key.name);
            }
            Ok(Some(fact)) => {
                facts.retain(|(name, _)| *name != key.name);
                facts.push((key.name, fact));
            }
            Err(why) => return Choice::Unknown(format!("{}: {why}", setting.key)),
        }
    }
    let spelt = settings.spelt.iter().find(|spelt| is_spelt(settings, spelt, &facts));
    // A key alone switches TLS on for some.
    if has_beside && (facts.is_empty() || spelt.is_some_and(|spelt| spelt.mode == "default")) {
        return Choice::Unknown(
            "nothing but a certificate of its own, or ciphers, is set; that was not measured".into(),
        );
    }
    if let Some(spelt) = spelt {
        return Choice::Mode { mode: spelt.mode, provided: spelt.provided };
    }
    let words: Vec<&str> = facts.iter().map(|(name, _)| *name).collect();
    Choice::Unknown(format!(
        "{} was not measured with these values of {} together",
        client.name,
        words.join(", ")
    ))
}

/// The mode of this id.
pub fn mode(client: &'static Client, id: &str) -> Option<&'static Mode> {
    client.modes.iter().find(|mode| mode.id == id)
}

/// How many settings somebody would have to change to get from `given` to `spelt`.
pub fn changes(client: &'static Client, spelt: &Spelt, given: &[Setting]) -> usize {
    let Some(settings) = client.settings else { return 0 };
    let facts: Vec<(&'static str, ValueFact)> = given
        .iter()
        .filter_map(|setting| {
            let key = key(settings, &setting.key)?;
            Some((key.name, fact(settings, key, &setting.given).ok()??))
        })
        .collect();
    let is_there = |(name, is): &&(&'static str, ExpectedValue)| {
        facts.iter().any(|(known, fact)| known == name && fits(settings, name, *is, fact))
    };
    let to_set = spelt.settings.iter().filter(|one| !is_there(one)).count();
    let to_remove =
        facts.iter().filter(|(known, _)| spelt.settings.iter().all(|(name, _)| name != known)).count();
    to_set + to_remove
}

/// The driver's own word for a key: `-` and `_` are the same to option files alone. sqlx, say, passes over `ssl_mode`.
pub fn key(settings: &'static Settings, name: &str) -> Option<&'static Key> {
    settings.keys.iter().find(|key| key.name == name).or_else(|| {
        if settings.carry != SettingsEncoding::Lines {
            return None;
        }
        let folded = |text: &str| text.replace('-', "_");
        settings.keys.iter().find(|key| folded(key.name) == folded(name))
    })
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum ValueFact {
    Ca,
    On,
    Off,
    Word(String),
}

/// Who takes an empty path of a CA for none, as it was seen. mysqlnd, libmariadb and Node take it for TLS with a CA that is not there.
fn is_nothing_when_empty(settings: &Settings, key: &Key) -> bool {
    match settings.family {
        "pymysql" | "mysql-connector-python" => key.name == "ssl_ca",
        "connector-j" | "mariadb-connector-j" => true,
        _ => false,
    }
}

/// `None`: as if it were not there.
fn fact(settings: &Settings, key: &Key, given: &SettingValue) -> Result<Option<ValueFact>, String> {
    let not_in_the_file = "its value is not in the file";
    let is_nothing = key.kind == Kind::Ca && is_nothing_when_empty(settings, key);
    match (key.kind, given) {
        (Kind::Beside, _) => Ok(None),
        (Kind::Elsewhere, _) => Err("the settings stand in the file that it names; check that one".into()),
        (_, SettingValue::Unread(why)) => Err(why.clone()),
        (_, SettingValue::Text(text)) if text.is_empty() && is_nothing => Ok(None),
        (_, SettingValue::Text(text)) if text.is_empty() => {
            Err("it is empty, and that was not measured".into())
        }
        // A path with a variable in it is a path; a variable alone may be nothing.
        (_, SettingValue::Text(text)) if text.chars().all(|c| c == HOLE) => Err(not_in_the_file.into()),
        (Kind::Ca, SettingValue::Flag(false)) if is_nothing => Ok(None),
        (Kind::Ca, SettingValue::Flag(false)) => Err("a CA that is switched off was not measured".into()),
        (Kind::Ca, SettingValue::Text(_) | SettingValue::Content) => Ok(Some(ValueFact::Ca)),
        (_, SettingValue::Text(text)) if text.contains(HOLE) => Err(not_in_the_file.into()),
        (Kind::Flag | Kind::Switch, SettingValue::Flag(_) | SettingValue::Text(_)) => {
            let is_on = match given {
                SettingValue::Text(text) => settings.reads.switch(text),
                SettingValue::Flag(is_on) => Some(*is_on),
                _ => None,
            };
            match (is_on, key.kind) {
                (Some(true), _) => Ok(Some(ValueFact::On)),
                (Some(false), Kind::Switch) => Ok(Some(ValueFact::Off)),
                (Some(false), _) => Ok(None),
                (None, _) => Err("whether it takes this value for on or for off was not measured".into()),
            }
        }
        (Kind::Word, SettingValue::Text(text)) => Ok(Some(ValueFact::Word(text.clone()))),
        // `ssl: false` is no TLS; a word inside of it is looked at by itself.
        (Kind::Word, SettingValue::Flag(is_on)) if key.name.contains('.') => {
            Ok(Some(ValueFact::Word(is_on.to_string())))
        }
        (Kind::Word, SettingValue::Flag(false)) => Ok(None),
        (Kind::Word, SettingValue::Flag(true)) => Ok(Some(ValueFact::Word("true".into()))),
        (_, SettingValue::Content) | (Kind::Ca, SettingValue::Flag(true)) => {
            Err("a file's content was not measured here".into())
        }
    }
}

fn is_spelt(settings: &Settings, spelt: &Spelt, facts: &[(&'static str, ValueFact)]) -> bool {
    spelt.settings.len() == facts.len()
        && spelt.settings.iter().all(|(name, is)| {
            facts.iter().any(|(known, fact)| known == name && fits(settings, name, *is, fact))
        })
}

fn fits(settings: &Settings, name: &str, is: ExpectedValue, fact: &ValueFact) -> bool {
    match (is, fact) {
        (ExpectedValue::Ca, ValueFact::Ca)
        | (ExpectedValue::On, ValueFact::On)
        | (ExpectedValue::Off, ValueFact::Off) => true,
        (ExpectedValue::Word(word), ValueFact::Word(said)) => settings.reads.is_same(word, said),
        (ExpectedValue::Named, ValueFact::Word(said)) => is_named(settings, name, said),
        _ => false,
    }
}

/// Whether a word is a name that the program has given: where there are such names, and it is no word of the driver.
pub fn is_named(settings: &Settings, name: &str, said: &str) -> bool {
    let mut all = settings.spelt.iter().flat_map(|spelt| spelt.settings).filter(|(other, _)| *other == name);
    settings.reads.switch(said).is_none()
        && all.clone().any(|(_, is)| *is == ExpectedValue::Named)
        && all.all(|(_, is)| !matches!(is, ExpectedValue::Word(word) if is_like(word, said)))
}

/// A word that is nearly one of the driver's own is a slip of the pen, and no name.
fn is_like(one: &str, other: &str) -> bool {
    one.replace('-', "_").eq_ignore_ascii_case(&other.replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::family;

    fn set(pairs: &[(&str, &str)]) -> Vec<Setting> {
        pairs
            .iter()
            .map(|(key, text)| {
                let given = match *text {
                    "True" => SettingValue::Flag(true),
                    "False" => SettingValue::Flag(false),
                    "?" => SettingValue::Unread("taken from the environment".into()),
                    "content" => SettingValue::Content,
                    text => SettingValue::Text(text.into()),
                };
                Setting::new(*key, given, 1)
            })
            .collect()
    }

    #[test]
    fn settings_are_a_mode_or_unknown_and_nothing_in_between() {
        let check = |name: &str, pairs: &[(&str, &str)], want: Option<&str>| {
            let client = *family(name).first().expect("a family");
            let choice = choose(client, &set(pairs));
            let mode = match &choice {
                Choice::Mode { mode, .. } => Some(*mode),
                Choice::Unknown(_) => None,
            };
            assert_eq!(mode, want, "{name} {pairs:?}: {choice:?}");
        };
        check("pymysql", &[], Some("default"));
        check("pymysql", &[("ssl_ca", "/ca")], Some("ca"));
        check("pymysql", &[("ssl_ca", "")], Some("default"));
        check("pymysql", &[("ssl_ca", "/ca"), ("ssl_verify_cert", "False")], Some("ca"));
        check(
            "pymysql",
            &[("ssl_ca", "/ca"), ("ssl_verify_cert", "True"), ("ssl_cert", "/c")],
            Some("verify-cert"),
        );
        check("pymysql", &[("ssl_ca", "?")], None);
        check("pymysql", &[("ssl_ca", "\u{fffc}")], None);
        check("pymysql", &[("ssl_ca", "\u{fffc}/ca.pem")], Some("ca"));
        check("pymysql", &[("ssl_cert", "/c")], None);
        // An empty path is a path to who does not ask: TLS with no CA, and for PyMySQL's own word none.
        check("pymysql", &[("ssl.ca", ""), ("ssl.check_hostname", "False")], None);
        check("php-pdo", &[("MYSQL_ATTR_SSL_CA", "")], None);
        check("php-pdo", &[("MYSQL_ATTR_SSL_CA", "False")], None);
        check("node-mysql2", &[("ssl.ca", "")], None);
        check("node-mariadb", &[("ssl.ca", "")], None);
        check("ruby-mysql2", &[("sslca", "")], None);
        check("mysqlclient", &[("ssl.ca", "")], None);
        check("dbd-mariadb", &[("mariadb_ssl", "1"), ("mariadb_ssl_ca_file", "")], None);
        check("php-pdo", &[("MYSQL_ATTR_SSL_VERIFY_SERVER_CERT", "True")], Some("default"));
        check(
            "php-pdo",
            &[("MYSQL_ATTR_SSL_VERIFY_SERVER_CERT", "True"), ("MYSQL_ATTR_SSL_KEY", "/k")],
            None,
        );
        // Off inside of a value is no absence.
        check("pymysql", &[("ssl.ca", "/ca"), ("ssl.verify_mode", "False")], None);
        check(
            "pymysql",
            &[("ssl.ca", "/ca"), ("ssl.check_hostname", "False"), ("ssl.verify_mode", "False")],
            Some("ssl-dict"),
        );
        check("ruby-mysql2", &[("sslverify", "False")], None);
        check("pymysql", &[("ssl_new_word", "1")], None);
        check("pymysql", &[("charset", "utf8mb4")], Some("default"));
        check("pymysql", &[("read_default_file", "/etc/my.cnf")], None);
        check("mysql-cli", &[("ssl_mode", "verify_identity"), ("ssl-ca", "/ca")], Some("verify-identity"));
        check("mysql-cli", &[("ssl-mode", "VERIFY_IDENTITY")], None);
        check(
            "node-mysql2",
            &[("ssl.ca", "content"), ("ssl.rejectUnauthorized", "False")],
            Some("unverified"),
        );
        check(
            "go-sql-driver",
            &[("tls", "custom-cfg"), ("allowFallbackToPlaintext", "true")],
            Some("custom-fallback"),
        );
        check("go-sql-driver", &[("tls", "skip-verify"), ("allowFallbackToPlaintext", "true")], None);
        check("go-sql-driver", &[("tls", "true")], Some("true"));
        check("go-sql-driver", &[("tls", "1")], None);
        check("connector-j", &[("useSSL", "false")], Some("no-ssl"));
        check("connector-j", &[("useSSL", "\u{fffc}")], None);
    }

    #[test]
    fn the_same_word_means_another_thing_to_another_driver() {
        let given = set(&[("useSSL", "true"), ("trustCertificateKeyStoreUrl", "file:/ca.p12")]);
        let [before, latest, old] = family("connector-j")[..] else { panic!("three versions") };
        for new in [before, latest] {
            assert!(matches!(choose(new, &given), Choice::Unknown(_)));
        }
        assert_eq!(choose(old, &given), Choice::Mode { mode: "verify", provided: "" });
    }

    #[test]
    fn one_of_two_builds_is_chosen_by_its_switch() {
        let ids = |given: &[Setting]| -> Vec<&str> {
            family("mysql-connector-python")
                .into_iter()
                .filter(|client| is_chosen(client, given))
                .map(|one| one.id)
                .collect()
        };
        assert_eq!(ids(&[]).len(), 5, "either, as long as nothing says which");
        assert_eq!(
            ids(&set(&[("use_pure", "False")])),
            ["mysql-connector-python-c", "mysql-connector-python-c-latest", "mysql-connector-python-c-8.0"]
        );
        assert_eq!(
            ids(&set(&[("use_pure", "True")])),
            ["mysql-connector-python", "mysql-connector-python-8.0"]
        );
        assert_eq!(ids(&set(&[("use_pure", "?")])).len(), 5);
    }
}
